//! Import cycles of files.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

/// The modules of a crate with their imports. Modules are paths as in `use`; the root is empty.
struct Modules {
    imports: BTreeMap<String, BTreeSet<String>>,
}

/// The import cycles of a crate with sources in `folder`, each as the names of its modules. An import of a re-exported
/// name counts as an import of the defining module. The re-exporting module imports its exports: its submodules import
/// none of its definitions.
pub(crate) fn rings(folder: &Path) -> io::Result<Vec<Vec<String>>> {
    let mut sources = BTreeMap::new();
    read(folder, folder, &mut sources)?;
    Ok(Modules::new(&sources).rings())
}

/// Reads the source of each module, without its unit tests.
fn read(root: &Path, folder: &Path, sources: &mut BTreeMap<String, String>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path: PathBuf = entry?.path();
        if path.is_dir() {
            read(root, &path, sources)?;
            continue;
        }
        if path.extension().is_none_or(|kind| kind != "rs") {
            continue;
        }
        let inside = path.strip_prefix(root).unwrap_or(&path).with_extension("");
        let parts: Vec<_> = inside.iter().filter_map(|part| part.to_str()).collect();
        let name = match parts.as_slice() {
            ["lib" | "main"] => String::new(),
            [.., "tests"] => continue,
            [above @ .., "mod"] => above.join("::"),
            all => all.join("::"),
        };
        let text = std::fs::read_to_string(&path)?;
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        sources.insert(name, code.to_owned());
    }
    Ok(())
}

impl Modules {
    fn new(sources: &BTreeMap<String, String>) -> Self {
        let mut exported = BTreeMap::new();
        for (module, code) in sources {
            for path in EXPORTS.iter().flat_map(|word| paths(code, word)) {
                let name = path.rsplit("::").next().unwrap_or(&path);
                if let Some(full) = absolute(&path, module, sources) {
                    exported.insert(joined(module, name), full);
                }
            }
        }
        let mut imports = BTreeMap::new();
        for (module, code) in sources.iter().filter(|(module, _)| !module.is_empty()) {
            let own =
                EXPORTS.iter().flat_map(|word| paths(code, word)).chain(paths(code, "\nuse "));
            let own = own.filter_map(|path| {
                let mut full = absolute(&path, module, sources)?;
                while let Some(from) = exported.get(&full).filter(|from| **from != full) {
                    full = from.clone();
                }
                nearest(&full, sources)
            });
            let own = own.filter(|import| import != module).collect();
            imports.insert(module.clone(), own);
        }
        Self { imports }
    }

    /// All direct and indirect imports of a module.
    fn reached<'s>(&'s self, module: &'s str) -> BTreeSet<&'s str> {
        let (mut reached, mut open) = (BTreeSet::new(), vec![module]);
        while let Some(next) = open.pop() {
            let more = self.imports.get(next).into_iter().flatten();
            open.extend(more.map(String::as_str).filter(|name| reached.insert(*name)));
        }
        reached
    }

    fn rings(&self) -> Vec<Vec<String>> {
        let reached: BTreeMap<&str, _> =
            self.imports.keys().map(|name| (name.as_str(), self.reached(name))).collect();
        let ring = |name: &str| -> Vec<String> {
            let all = reached
                .iter()
                .filter(|(other, its)| its.contains(name) && reached[name].contains(*other));
            all.map(|(other, _)| (*other).to_owned()).collect()
        };
        let all: BTreeSet<_> = reached.keys().map(|name| ring(name)).collect();
        all.into_iter().filter(|ring| ring.len() > 1).collect()
    }
}

/// Keywords of exports.
const EXPORTS: [&str; 3] = ["\npub use ", "\npub(crate) use ", "\npub(super) use "];

fn joined(module: &str, path: &str) -> String {
    format!("{module}::{path}").trim_start_matches("::").to_owned()
}

/// A path that a module imports or exports, from the root; `None` for other crates.
fn absolute(path: &str, module: &str, sources: &BTreeMap<String, String>) -> Option<String> {
    let above = module.rsplit_once("::").map_or("", |(above, _)| above);
    let (base, rest) = path.split_once("::")?;
    match base {
        "crate" => Some(rest.to_owned()),
        "self" => Some(joined(module, rest)),
        "super" if rest.starts_with("super::") => absolute(rest, above, sources),
        "super" => Some(joined(above, rest)),
        _ => Some(joined(module, path)).filter(|_| sources.contains_key(&joined(module, base))),
    }
}

/// The module of a path, or the module that contains its item.
fn nearest(path: &str, sources: &BTreeMap<String, String>) -> Option<String> {
    let mut path = path;
    while !sources.contains_key(path) {
        path = path.rsplit_once("::")?.0;
    }
    Some(path.to_owned())
}

/// Each path of the `use` declarations that start with `word`, with one level of braces expanded.
fn paths<'s>(code: &'s str, word: &'static str) -> impl Iterator<Item = String> + use<'s> {
    let declarations = code.match_indices(word).map(move |(at, _)| &code[at + word.len()..]);
    declarations.filter_map(|rest| rest.split_once(';')).flat_map(|(path, _)| {
        let path: String = path.split_whitespace().collect();
        match path.split_once('{') {
            Some((before, names)) => names
                .trim_end_matches('}')
                .split(',')
                .filter(|name| !name.is_empty())
                .map(|name| format!("{before}{name}"))
                .collect(),
            None => vec![path],
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modules(files: &[(&str, &str)]) -> Modules {
        let own = files.iter().map(|(name, code)| ((*name).to_owned(), format!("\n{code}")));
        Modules::new(&own.collect())
    }

    #[test]
    fn rings_are_found_through_exports_of_the_root_and_relative_paths() {
        let files = [
            ("", "pub use a::Thing;"),
            ("a", "use crate::b::{One,\n    Two};"),
            ("b", "use crate::c::deep::Three;"),
            ("c", ""),
            ("c::deep", "use crate::Thing;\nuse super::side::Four;"),
            ("c::side", "use std::fmt;"),
        ];
        assert_eq!(modules(&files).rings(), [["a", "b", "c::deep"]]);
    }

    #[test]
    fn a_part_that_imports_what_its_module_defines_is_a_ring() {
        let files = [
            ("a", "pub use part::Part;\nstruct Whole;"),
            ("a::part", "use super::Whole;"),
            ("a::other", "use super::Part;"),
        ];
        assert_eq!(modules(&files).rings(), [["a", "a::part"]]);
    }

    #[test]
    fn imports_in_one_direction_are_no_ring() {
        let files = [
            ("", "pub use a::Thing;"),
            ("a", "use crate::b::One;"),
            ("b", "pub use one::One;\nuse two::Two;"),
            ("b::one", ""),
            ("b::two", "use super::One;"),
        ];
        assert!(modules(&files).rings().is_empty());
    }
}
