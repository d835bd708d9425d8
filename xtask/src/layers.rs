//! Checks that dependencies are few and follow the layers, and that only the program uses files,
//! clocks and threads.

use std::path::Path;
use std::process::Command;

use crate::Outcome;
use crate::rings::rings;

/// The allowed workspace dependencies of each package.
const LAYERS: [(&str, &[&str]); 12] = [
    ("brisance-serial", &[]),
    ("brisance-levelset", &["brisance-serial"]),
    ("brisance-dynamics", &["brisance-serial"]),
    ("brisance-tetfem", &["brisance-levelset", "brisance-serial"]),
    ("brisance-contact", &["brisance-dynamics", "brisance-levelset", "brisance-serial"]),
    ("brisance-fracture", &["brisance-levelset", "brisance-serial"]),
    (
        "brisance-sim",
        &[
            "brisance-contact",
            "brisance-dynamics",
            "brisance-fracture",
            "brisance-levelset",
            "brisance-serial",
            "brisance-tetfem",
        ],
    ),
    ("brisance-meshfile", &["brisance-levelset", "brisance-sim"]),
    ("brisance-visit", &["brisance-contact", "brisance-dynamics", "brisance-sim"]),
    (
        "brisance-web",
        &[
            "brisance-contact",
            "brisance-dynamics",
            "brisance-meshfile",
            "brisance-sim",
            "brisance-visit",
        ],
    ),
    (
        "brisance",
        &[
            "brisance-fracture",
            "brisance-levelset",
            "brisance-meshfile",
            "brisance-sim",
            "brisance-tetfem",
            "brisance-visit",
        ],
    ),
    (
        "brisance-python",
        &[
            "brisance",
            "brisance-dynamics",
            "brisance-fracture",
            "brisance-levelset",
            "brisance-sim",
            "brisance-tetfem",
        ],
    ),
];

/// Packages that may use any dependency, open files and print.
const PROGRAMS: [&str; 2] = ["brisance", "brisance-python"];

/// Allowed external dependencies of library packages.
const ALLOWED: [&str; 14] = [
    "bytemuck",
    "clarabel",
    "libm",
    "nalgebra",
    "ndarray",
    "noise-functions",
    "parry3d-f64",
    "pulp",
    "rayon",
    "robust",
    "serde",
    "spade",
    "thiserror",
    "toml",
];

/// Additional external dependencies of single library packages.
const OWN: [(&str, &[&str]); 2] = [
    (
        "brisance-meshfile",
        &["base64", "gltf", "ply-rs-bw", "roxmltree", "serde_json", "stl_io", "tobj"],
    ),
    ("brisance-web", &["serde_json"]),
];

/// Calls that only the program may make.
const FORBIDDEN: [&str; 6] =
    ["std::fs", "std::net", "std::env", "std::time", "std::thread", "std::process"];

/// Methods whose last digits depend on the platform; `libm` has replacements.
const INEXACT: [&str; 16] = [
    ".sin()",
    ".cos()",
    ".sin_cos()",
    ".tan()",
    ".asin()",
    ".acos()",
    ".atan()",
    ".atan2(",
    ".exp()",
    ".exp2()",
    ".ln()",
    ".log10()",
    ".log2()",
    ".cbrt()",
    ".hypot(",
    ".powf(",
];

/// Checks every package of [`LAYERS`].
pub(crate) fn check() -> Outcome {
    let mut faults = vec![];
    for (package, below) in LAYERS {
        let library = !PROGRAMS.contains(&package);
        for dependency in dependencies(package)? {
            let inside = dependency.starts_with("brisance");
            let allowed = if inside {
                below.contains(&dependency.as_str())
            } else {
                let own = OWN.iter().find(|(name, _)| *name == package);
                let all = ALLOWED.iter().chain(own.into_iter().flat_map(|(_, names)| *names));
                !library || all.into_iter().any(|name| *name == dependency)
            };
            if !allowed {
                faults.push(format!("{package} must not depend on {dependency}"));
            }
        }
        let folder = match package.strip_prefix("brisance-") {
            Some(name) => format!("crates/{name}/src"),
            None => "crates/cli/src".to_owned(),
        };
        if library {
            scan(Path::new(&folder), &mut faults).map_err(|e| format!("{folder}: {e}"))?;
        }
        for ring in rings(Path::new(&folder)).map_err(|e| format!("{folder}: {e}"))? {
            faults.push(format!("{folder}: these import each other: {}", ring.join(", ")));
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}

/// Names of the direct dependencies of `package`, without those of tests.
fn dependencies(package: &str) -> Result<Vec<String>, String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--edges", "normal", "--depth", "1", "--prefix", "none"])
        .args(["--format", "{p}", "--package", package])
        .output()
        .map_err(|e| e.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().skip(1).filter_map(|l| l.split(' ').next()).map(str::to_owned).collect())
}

/// Adds a fault for every line of Rust under `folder` with a forbidden call.
fn scan(folder: &Path, faults: &mut Vec<String>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            scan(&path, faults)?;
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = std::fs::read_to_string(&path)?;
            let is_test = path.file_stem().is_some_and(|stem| stem == "tests");
            // unit tests are at the end of a file
            let tests = text.lines().position(|line| line == "#[cfg(test)]" && !is_test);
            let code = if is_test { 0 } else { tests.unwrap_or(usize::MAX) };
            for (line, text) in text.lines().enumerate() {
                let own = INEXACT.iter().filter(|_| line < code);
                for name in FORBIDDEN.iter().chain(own).filter(|name| text.contains(*name)) {
                    let path = path.display();
                    faults.push(format!("{path}:{}: library code uses {name}", line + 1));
                }
            }
        }
    }
    Ok(())
}
