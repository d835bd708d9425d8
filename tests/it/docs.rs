//! The pages of the documentation: their links have targets, and their scenes are valid.

use std::path::{Path, PathBuf};

use crate::cli::{Case, problem};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Every page of the repository, with its path from the root.
fn pages() -> Vec<(PathBuf, String)> {
    fn search(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in folder.read_dir().unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && !["target", "out", ".git", "node_modules"].contains(&&*name) {
                search(&path, found);
            } else if name.ends_with(".md") {
                found.push(path);
            }
        }
    }
    let mut found = vec![];
    search(&root(), &mut found);
    found.sort();
    let read = |path: PathBuf| (path.clone(), std::fs::read_to_string(&path).unwrap());
    found.into_iter().map(read).collect()
}

/// The text of a page without its blocks of code.
fn prose(page: &str) -> String {
    page.split("```").step_by(2).collect()
}

/// Targets of links and pictures.
fn links(page: &str) -> Vec<String> {
    let prose = prose(page);
    let target = |rest: &str| rest.split([')', ' ']).next().unwrap().to_owned();
    prose.split("](").skip(1).map(target).collect()
}

/// The anchors that GitHub gives to headings.
fn anchors(page: &str) -> Vec<String> {
    let headings = prose(page);
    let headings = headings.lines().filter(|line| line.starts_with('#'));
    let anchor = |line: &str| {
        let text = line.trim_start_matches('#').trim().to_lowercase();
        let kept = text.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(anchor).collect()
}

/// The links of a page without a target.
fn dangling(path: &Path, page: &str) -> Vec<String> {
    let leads = |link: &String| {
        if link.contains("://") || link.starts_with("mailto:") {
            return true;
        }
        let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
        let target = if file.is_empty() { path.to_owned() } else { path.with_file_name(file) };
        if anchor.is_empty() {
            return target.exists();
        }
        std::fs::read_to_string(&target)
            .is_ok_and(|page| anchors(&page).iter().any(|a| a == anchor))
    };
    links(page).into_iter().filter(|link| !leads(link)).collect()
}

#[test]
fn links_of_pages_lead_to_files_and_headings_that_are_there() {
    let lost =
        "[a](nowhere.md), ![b](nothing.png), [c](#no-such-heading)\n```\n[d](code.md)\n```\n";
    assert_eq!(dangling(&root().join("README.md"), lost).len(), 3);
    let pages = pages();
    assert!(pages.iter().map(|(_, page)| links(page).len()).sum::<usize>() > 150);
    for (path, page) in &pages {
        let dangling = dangling(path, page);
        assert!(dangling.is_empty(), "{} links to {dangling:?}", path.display());
    }
}

/// Readers do not find a page without links from other pages.
#[test]
fn every_page_of_the_folder_docs_is_linked_from_another() {
    let pages = pages();
    let target = |path: &Path, link: &str| {
        path.with_file_name(link.split('#').next().unwrap()).canonicalize().ok()
    };
    let linked: Vec<PathBuf> = pages
        .iter()
        .flat_map(|(path, page)| links(page).into_iter().filter_map(|link| target(path, &link)))
        .collect();
    let docs = root().join("docs").canonicalize().unwrap();
    for (path, _) in &pages {
        let path = path.canonicalize().unwrap();
        assert!(
            !path.starts_with(&docs) || linked.contains(&path),
            "no link to {}",
            path.display()
        );
    }
}

/// Blocks of TOML that begin with the version are complete scenes. Their meshes are in `assets`.
#[test]
fn whole_scenes_of_pages_pass_the_check() {
    let mut checked = 0;
    for (path, page) in pages() {
        let blocks = page.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
        for scene in blocks.filter(|scene| scene.starts_with("version = 1\n")) {
            let case = Case::new(&[("scene.toml", scene)]);
            for mesh in ["bunny.obj", "bob_small.obj"] {
                let asset = root().join("assets").join(mesh);
                std::fs::copy(asset, case.folder.path().join(mesh)).unwrap();
            }
            let output = case.run(&["check", "scene.toml"]);
            let said = problem(output.stderr);
            assert!(output.status.success(), "{}: {said}\n{scene}", path.display());
            checked += 1;
        }
    }
    assert!(checked > 3, "{checked}");
}

/// The numbers of bodies, fragments and impacts in the tutorial are those of its scenes.
#[test]
fn the_outputs_of_the_tutorial_are_of_this_build() {
    let folder = root().join("docs");
    let page = std::fs::read_to_string(folder.join("tutorial.md")).unwrap();
    let scenes: Vec<&str> = page.split("```toml\n").skip(1).collect();
    let mesh = std::fs::read_to_string(root().join("assets/bob_small.obj")).unwrap();
    for (name, scene) in [("cup", scenes[0]), ("float", scenes[1])] {
        let scene = scene.split("```").next().unwrap();
        let case = Case::new(&[("a.toml", scene), ("bob_small.obj", &mesh)]);
        let output = case.run(&["run", "a.toml", "-o", &format!("{name}.glb")]);
        assert!(output.status.success(), "{}", problem(output.stderr));
        let said = String::from_utf8(output.stdout).unwrap();
        let fixed = said.lines().map(|line| line.split(", ").take(2).collect::<Vec<_>>());
        for line in fixed.filter(|line| {
            ["frames", "fragments", "broke"].iter().any(|word| line.concat().contains(word))
        }) {
            let start =
                if line[0].contains("fragments") { line[0].to_owned() } else { line.join(", ") };
            assert!(page.contains(&start), "{name}: {start:?} is not in the tutorial");
        }
    }
}
