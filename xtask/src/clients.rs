//! Checks that other programs read the files of brisance correctly.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Outcome, cargo, run, vendor};

const FOLDER: &str = "target/clients";
/// Folder of the recordings, in [`FOLDER`].
const RECORDINGS: &str = "target/clients/recordings";

/// The bodies after the last frame, in [`RECORDINGS`].
const PHYSICS: &str = "physics.usda";
/// The dust, in [`RECORDINGS`].
const DUST: &str = "dust.usda";

/// A program or Python module that opens a recording.
struct Client {
    name: &'static str,
    /// Python modules with their PyPI packages; none for a Node script.
    modules: &'static [(&'static str, &'static str)],
    script: &'static str,
    /// Recordings that the script receives as arguments. The reference recording follows as the last argument.
    files: &'static [&'static str],
}

const CLIENTS: [Client; 6] = [
    Client {
        name: "Blender",
        modules: &[("bpy", "bpy")],
        script: "blender.py",
        files: &["clients.glb"],
    },
    Client {
        name: "USD",
        modules: &[("pxr", "usd-core")],
        script: "usd.py",
        files: &["clients.usda", "clients.usdc", PHYSICS, DUST],
    },
    Client {
        name: "VTK and meshio",
        modules: &[("vtk", "vtk"), ("meshio", "meshio")],
        script: "series.py",
        files: &["clients.pvd"],
    },
    Client {
        name: "trimesh",
        modules: &[("trimesh", "trimesh")],
        script: "meshes.py",
        files: &["clients.glb", "clients.obj/", "clients.ply/"],
    },
    Client { name: "three.js", modules: &[], script: "three.mjs", files: &["clients.glb"] },
    Client {
        name: "three.js, rig",
        modules: &[],
        script: "rig.mjs",
        files: &["clients.glb", "clients_rig.glb"],
    },
];

/// Arguments of `cargo xtask clients`.
pub(crate) struct Options<'a> {
    /// The Python interpreter with the modules.
    pub(crate) python: &'a str,
    /// Whether to install all modules into a separate environment, and three.js.
    pub(crate) install: bool,
}

/// Opens a recording with every installed client, and compares the result with the recording.
pub(crate) fn clients(options: &Options<'_>) -> Outcome {
    std::fs::create_dir_all(FOLDER).map_err(|e| format!("{FOLDER}: {e}"))?;
    let python = if options.install { install()? } else { options.python.to_owned() };
    let mut present = vec![];
    for client in &CLIENTS {
        match install_hint(client, &python) {
            None => present.push(client),
            Some(hint) if options.install => return Err(format!("{}: {hint}", client.name)),
            Some(hint) => {
                println!("skipped: {}: {hint}, or cargo xtask clients --install", client.name);
            }
        }
    }
    if present.is_empty() {
        return Ok(());
    }
    let reference = Path::new(RECORDINGS).join("clients.jsonl");
    record(&present, &reference)?;
    for client in present {
        let program = if client.modules.is_empty() { "node" } else { &python };
        let script = Path::new("xtask/clients").join(client.script);
        let files = client.files.iter().map(|file| Path::new(RECORDINGS).join(file));
        run(Command::new(program).arg(script).args(files).arg(&reference))?;
        match client.script {
            "blender.py" => {
                blender(&python, &Path::new(RECORDINGS).join("clients.glb"), &reference)?;
            }
            "three.mjs" => crumbs()?,
            _ => {}
        }
    }
    Ok(())
}

/// Compares the crumbs of a scene in three.js with those of its PLY files.
fn crumbs() -> Outcome {
    let [glb, ply, reference] =
        ["crumbs.glb", "crumbs.ply/", "crumbs.jsonl"].map(|name| format!("{RECORDINGS}/{name}"));
    for crumbs in [&glb, &ply] {
        let brisance = ["run", "--quiet", "--package", "brisance", "--"];
        let scene = ["run", "scenes/crumbs.toml", "--quiet", "--output", &reference];
        cargo(&[&brisance[..], &scene, &["--crumbs", crumbs]].concat())?;
    }
    run(Command::new("node").arg("xtask/clients/crumbs.mjs").args([glb, ply, reference]))
}

/// Creates a Python environment with all modules, and installs three.js in the version of the viewer.
fn install() -> Result<String, String> {
    let environment = std::env::current_dir().map_err(|e| e.to_string())?.join(FOLDER).join("env");
    let python = environment.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    if !python.exists() {
        run(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    }
    let packages = CLIENTS.iter().flat_map(|client| client.modules).map(|(_, package)| package);
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(packages))?;
    vendor::install()?;
    Ok(python.to_string_lossy().into_owned())
}

/// How to install the missing requirements of `client`, if any.
fn install_hint(client: &Client, python: &str) -> Option<String> {
    if client.modules.is_empty() {
        if !Command::new("node").arg("--version").output().is_ok_and(|o| o.status.success()) {
            return Some("install Node.js, https://nodejs.org".to_owned());
        }
        let is_there = Path::new(vendor::FOLDER).join("node_modules/three").is_dir();
        return (!is_there).then(|| "cargo xtask vendor --check installs three.js".to_owned());
    }
    let missing = client.modules.iter().filter(|(module, _)| {
        let import = Command::new(python).args(["-c", &format!("import {module}")]).output();
        !import.is_ok_and(|output| output.status.success())
    });
    let missing: Vec<&str> = missing.map(|(_, package)| *package).collect();
    (!missing.is_empty()).then(|| format!("{python} -m pip install {}", missing.join(" ")))
}

/// Runs the scene once for each format of the clients. Deletes the folder of recordings first, because `run` does not
/// overwrite folders.
fn record(clients: &[&Client], reference: &Path) -> Outcome {
    let failed = |e: std::io::Error| format!("{RECORDINGS}: {e}");
    if Path::new(RECORDINGS).exists() {
        std::fs::remove_dir_all(RECORDINGS).map_err(failed)?;
    }
    std::fs::create_dir_all(RECORDINGS).map_err(failed)?;
    let mut files: Vec<PathBuf> = vec![reference.to_owned()];
    // the run of a recording also writes the final bodies and the dust
    let written = |name: &&&str| ![PHYSICS, DUST].contains(name);
    for name in clients.iter().flat_map(|client| client.files).filter(written) {
        let file = Path::new(RECORDINGS).join(name);
        if !files.contains(&file) {
            files.push(file);
        }
    }
    for file in files {
        // the path of a folder of OBJ files ends in a slash, which `Path` drops
        let slash =
            if file.extension().is_some_and(|e| e == "obj" || e == "ply") { "/" } else { "" };
        let file = format!("{}{slash}", file.to_string_lossy());
        let brisance = ["run", "--quiet", "--package", "brisance", "--"];
        let scene = ["run", "scenes/bunny.toml", "--frames", "40", "--quiet", "--output", &file];
        let [physics, dust] = [PHYSICS, DUST].map(|name| Path::new(RECORDINGS).join(name));
        let beside = [physics.to_string_lossy(), dust.to_string_lossy()];
        let beside = ["--physics", &beside[0], "--dust", &beside[1]];
        let more = match &*file {
            file if file.ends_with(".usda") => &beside[..],
            file if file.ends_with("_rig.glb") => &["--rig"],
            _ => &[],
        };
        cargo(&[&brisance[..], &scene, more].concat())?;
    }
    Ok(())
}

/// Lets Blender write its own file and a USD file of a recording, and compares their contents.
fn blender(python: &str, recording: &Path, reference: &Path) -> Outcome {
    for ending in ["blend", "usdc"] {
        let made = recording.with_file_name(format!("blender.{ending}"));
        let [from, to] = [recording, &made].map(|path| path.to_string_lossy());
        let make = ["run", "--quiet", "--package", "brisance", "--", "blender", "--quiet"];
        cargo(&[&make[..], &["--python", python, &from, "--output", &to]].concat())?;
        run(Command::new(python).arg("xtask/clients/blend.py").arg(&made).arg(reference))?;
    }
    // the tests of the command need a Python with bpy
    let mut tests = Command::new(env!("CARGO"));
    tests.args(["test", "--quiet", "--package", "brisance-tests", "--test", "it", "clients::"]);
    run(tests.env("BRISANCE_BPY", python))
}
