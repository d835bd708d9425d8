//! `brisance play`.

use std::borrow::Cow;
use std::path::Path;

use serde_json::json;

use crate::args::PlayArguments;
use crate::commands::Failure;
use crate::commands::inputs::read_text;
use crate::commands::load::{SceneFile, read_scene};
use crate::commands::view::serve;
use crate::viewer::Part;

/// Playground files built by `cargo xtask web`, with their content types.
const PAGE: [(&str, &str); 17] = [
    ("index.html", "text/html; charset=utf-8"),
    ("viewer.css", "text/css; charset=utf-8"),
    ("play.css", "text/css; charset=utf-8"),
    ("command.js", SCRIPT),
    ("live.js", SCRIPT),
    ("main.js", SCRIPT),
    ("packed.js", SCRIPT),
    ("page.js", SCRIPT),
    ("panels.js", SCRIPT),
    ("plot.js", SCRIPT),
    ("pointer.js", SCRIPT),
    ("share.js", SCRIPT),
    ("stage.js", SCRIPT),
    ("texture.js", SCRIPT),
    ("three.js", SCRIPT),
    ("worker.js", SCRIPT),
    ("icon.svg", "image/svg+xml"),
];

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Serves the playground with a scene until a signal ends the program.
pub(super) fn play(arguments: &PlayArguments) -> Result<(), Failure> {
    let PlayArguments { scene, page, allow_outside, serving } = arguments;
    // report errors of the scene before those of a missing page
    let own = scene.as_ref().map(|path| own_parts(path, *allow_outside)).transpose()?;
    let mut parts = page_parts(page)?;
    parts.extend(own.into_iter().flatten());
    serve(parts, if scene.is_some() { "?own" } else { "" }, serving)
}

/// The files of the page.
fn page_parts(folder: &Path) -> Result<Vec<Part>, Failure> {
    let module = [("brisance.wasm", "application/wasm")];
    let mut parts = Vec::new();
    for (name, kind) in PAGE.into_iter().chain(module) {
        let path = folder.join(name);
        let body = crate::input::read(&path)
            .map_err(|source| Failure::NoPage { folder: folder.to_owned(), source })?;
        let route = if name == "index.html" { "/".to_owned() } else { format!("/{name}") };
        parts.push(Part { route, kind, body: body.into() });
    }
    Ok(parts)
}

/// A scene, its meshes and the files of these.
fn own_parts(path: &Path, anywhere: bool) -> Result<Vec<Part>, Failure> {
    let text = read_text(path)?;
    let file = read_scene(path, anywhere)?;
    check_playable(path, &file)?;
    let (mut parts, mut names) = (Vec::new(), Vec::new());
    for (n, (name, body)) in file.surfaces(path)?.into_iter().enumerate() {
        let (route, kind) = (format!("/own/{n}"), "application/octet-stream");
        parts.push(Part { route, kind, body: body.into() });
        names.push(name);
    }
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let own = json!({ "name": name, "scene": text, "files": names }).to_string();
    let (route, kind) = ("/own.json".to_owned(), "application/json");
    parts.push(Part { route, kind, body: Cow::Owned(own.into_bytes()) });
    Ok(parts)
}

/// Rejects scenes that need more than the page supports.
fn check_playable(path: &Path, file: &SceneFile) -> Result<(), Failure> {
    let mut scene = file.scene.clone();
    let refused = |what: &'static str| Failure::NotPlayable { path: path.to_owned(), what };
    if !scene.include.is_empty() {
        return Err(refused("includes other files"));
    }
    if scene.pattern_files().next().is_some() {
        return Err(refused("names files of patterns"));
    }
    if scene.tet_files().next().is_some() {
        return Err(refused("names files of tetrahedra"));
    }
    scene.set_density_maps(|_| Err::<fracture::DensityMap, _>(refused("names pictures")))?;
    scene.set_strength_images(|_| Err(refused("names pictures")))
}
