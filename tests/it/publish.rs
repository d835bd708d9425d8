//! Published crates on crates.io: each crate is complete, has categories and keywords, and names the versions of its
//! dependencies.

use std::path::{Path, PathBuf};

use toml::{Table, Value};

/// Suitable slugs of <https://crates.io/category_slugs>.
const CATEGORIES: [&str; 10] = [
    "algorithms",
    "command-line-utilities",
    "concurrency",
    "game-development",
    "graphics",
    "mathematics",
    "rendering::data-formats",
    "science",
    "simulation",
    "wasm",
];

/// A package of the workspace.
struct Package {
    folder: PathBuf,
    manifest: Table,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn manifest(folder: &Path) -> Table {
    std::fs::read_to_string(folder.join("Cargo.toml")).unwrap().parse().unwrap()
}

impl Package {
    fn of(folder: PathBuf) -> Self {
        Self { manifest: manifest(&folder), folder }
    }

    fn key(&self, name: &str) -> Option<&Value> {
        self.manifest["package"].get(name)
    }

    fn name(&self) -> &str {
        self.key("name").and_then(Value::as_str).unwrap()
    }

    fn is_published(&self) -> bool {
        self.key("publish") != Some(&Value::Boolean(false))
    }

    /// Strings of a list.
    fn list(&self, name: &str) -> Vec<&str> {
        let list = self.key(name).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    fn read(&self, file: &str) -> String {
        let path = self.folder.join(file);
        std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    }

    /// Names of the direct dependencies of the package, for all targets, with their tables.
    fn dependencies(&self) -> Vec<(&str, &Value)> {
        let targets = self.manifest.get("target").and_then(Value::as_table);
        let tables = targets.into_iter().flatten().filter_map(|(_, target)| target.as_table());
        std::iter::once(&self.manifest)
            .chain(tables)
            .flat_map(|table| ["dependencies", "build-dependencies"].map(|kind| table.get(kind)))
            .flatten()
            .flat_map(|dependencies| dependencies.as_table().unwrap())
            .map(|(name, from)| (name.as_str(), from))
            .collect()
    }
}

/// The Rust files in a folder and its subfolders; none if it does not exist.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut folders = if folder.is_dir() { vec![folder.to_owned()] } else { vec![] };
    let mut found = vec![];
    while let Some(folder) = folders.pop() {
        let entries = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
        let (inner, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
        folders.extend(inner);
        found.extend(files.into_iter().filter(|path| path.extension().is_some_and(|e| e == "rs")));
    }
    found
}

fn packages() -> Vec<Package> {
    let crates = root().join("crates").read_dir().unwrap().map(|entry| entry.unwrap().path());
    let others = ["tests", "benches", "xtask", "xtask/fingerprint"].map(|name| root().join(name));
    let mut folders: Vec<PathBuf> = crates.chain(others).collect();
    folders.sort();
    folders.into_iter().map(Package::of).collect()
}

fn published() -> Vec<Package> {
    packages().into_iter().filter(Package::is_published).collect()
}

#[test]
fn the_libraries_and_the_program_are_published_and_nothing_else() {
    let packages = published();
    let mut names: Vec<&str> = packages.iter().map(Package::name).collect();
    names.sort_unstable();
    let parts = [
        "contact", "dynamics", "fracture", "levelset", "meshfile", "serial", "sim", "tetfem",
        "visit",
    ];
    let libraries = parts.map(|part| format!("brisance-{part}"));
    assert_eq!(names[0], "brisance");
    assert_eq!(names[1..], libraries);
}

#[test]
fn published_crates_say_what_they_are() {
    for package in published() {
        let name = package.name();
        for key in ["description", "license", "repository", "rust-version", "edition", "version"] {
            assert!(package.key(key).is_some(), "{name} has no {key}");
        }
        let keywords = package.list("keywords");
        assert!((1..=5).contains(&keywords.len()), "{name}: {keywords:?}");
        let fits = |word: &&str| {
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            word.len() <= 20 && word.chars().all(plain)
        };
        assert!(keywords.iter().all(fits), "{name}: {keywords:?}");
        let categories = package.list("categories");
        assert!((1..=5).contains(&categories.len()), "{name}: {categories:?}");
        assert!(categories.iter().all(|slug| CATEGORIES.contains(slug)), "{name}: {categories:?}");
        let pages = package.key("documentation").and_then(Value::as_str);
        assert_eq!(pages, Some(&*format!("https://docs.rs/{name}")));
        let metadata = package.key("metadata").and_then(|metadata| metadata.get("docs")?.get("rs"));
        let docs = metadata.unwrap_or_else(|| panic!("{name} says nothing to docs.rs"));
        assert_eq!(docs.get("all-features"), Some(&Value::Boolean(true)), "{name}");
        assert!(docs.get("rustdoc-args").is_some_and(Value::is_array), "{name}");
    }
}

#[test]
fn published_crates_have_a_readme_with_an_example_that_is_run() {
    for package in published() {
        let name = package.name();
        assert_eq!(package.key("readme").and_then(Value::as_str), Some("README.md"), "{name}");
        let readme = package.read("README.md");
        assert!(readme.starts_with(&format!("# {name}\n")), "{name}");
        for part in ["```rust\n", "## Conventions\n", "## License\n"] {
            // the README of the program has its conventions in one sentence
            let is_there = readme.contains(part) || name == "brisance" && part.contains("Conv");
            assert!(is_there, "the README of {name} has no {part:?}");
        }
        let library = package.read("src/lib.rs");
        assert!(library.contains("#[doc = include_str!(\"../README.md\")]"), "{name}");
    }
}

#[test]
fn published_crates_hold_both_licenses() {
    for package in published() {
        for file in ["LICENSE-MIT", "LICENSE-APACHE"] {
            let own = package.read(file);
            let shared = std::fs::read_to_string(root().join(file)).unwrap();
            assert!(own == shared, "{file} of {} differs", package.name());
        }
        let includes = package.list("include");
        for needed in ["/src", "/README.md", "/LICENSE-*"] {
            assert!(includes.contains(&needed), "{} leaves out {needed}", package.name());
        }
    }
}

/// Files that a published crate includes at compile time are in its package.
#[test]
fn published_crates_compile_without_the_repository() {
    for package in published() {
        let root = package.folder.canonicalize().unwrap();
        for file in rust_files(&root.join("src")) {
            let text = std::fs::read_to_string(&file).unwrap();
            let marks = ["include_str!(\"", "include_bytes!(\"", "#[path = \""];
            for mark in marks {
                for rest in text.split(mark).skip(1) {
                    let target = file.with_file_name(rest.split('"').next().unwrap());
                    let target = target.canonicalize().unwrap_or_else(|e| {
                        panic!("{} includes {}: {e}", file.display(), target.display())
                    });
                    assert!(target.starts_with(&root), "{}: {}", file.display(), target.display());
                }
            }
        }
    }
}

#[test]
fn what_published_crates_depend_on_has_a_version_and_is_published() {
    let workspace = manifest(&root());
    let workspace = &workspace["workspace"];
    let own = workspace["package"]["version"].as_str().unwrap();
    let published = published();
    let names: Vec<&str> = published.iter().map(Package::name).collect();
    for package in &published {
        for (name, from) in package.dependencies() {
            let is_shared = from.get("workspace") == Some(&Value::Boolean(true));
            let from = if is_shared { &workspace["dependencies"][name] } else { from };
            let version = from.as_str().or_else(|| from.get("version")?.as_str());
            let version = version.unwrap_or_else(|| panic!("{}: {name}", package.name()));
            if from.get("path").is_some() {
                let real = from.get("package").and_then(Value::as_str).unwrap_or(name);
                assert!(names.contains(&real), "{} needs {real}", package.name());
                assert_eq!(version, own, "{} needs {real}", package.name());
            }
        }
    }
}

/// Examples and the documentation of crates use public crate names, not the short names of the workspace.
#[test]
fn examples_name_crates_by_their_real_names() {
    let short =
        ["contact", "dynamics", "fracture", "levelset", "meshfile", "sim", "tetfem", "visit"];
    let is_short = |line: &str| {
        let code = line.trim_start().trim_start_matches(['/', '!', '#', ' ']);
        let rest = code.strip_prefix("use ");
        rest.is_some_and(|rest| short.iter().any(|name| rest.starts_with(&format!("{name}::"))))
    };
    assert!(is_short("    /// # use contact::Shape;") && !is_short("use brisance_sim::contact;"));
    for package in published() {
        let files = ["src", "examples"].map(|folder| rust_files(&package.folder.join(folder)));
        for file in files.concat() {
            let is_example = file.components().any(|part| part.as_os_str() == "examples");
            let text = std::fs::read_to_string(&file).unwrap();
            let shown = |line: &&str| is_example || line.trim_start().starts_with("//");
            let found: Vec<&str> =
                text.lines().filter(shown).filter(|line| is_short(line)).collect();
            assert!(found.is_empty(), "{}: {found:?}", file.display());
        }
    }
}
