//! Builds the Python package, installs it into a separate environment and tests it there.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Outcome, cargo, run};

/// Packages that build and test the Python package.
const TOOLS: [&str; 14] = [
    "maturin",
    "numpy",
    "pytest",
    "hypothesis",
    "mypy",
    "trimesh",
    "ray",
    "pyarrow",
    "tomli-w",
    "matplotlib",
    "nbclient",
    "nbformat",
    "ipykernel",
    "jsonschema",
];

/// Runs the tests, the examples of the documentation and the type checks of the package on a wheel.
pub(crate) fn test() -> Outcome {
    let folder = std::env::current_dir().map_err(|e| e.to_string())?.join("target/python");
    let python = environment(&folder)?;
    let wheels = folder.join("wheels");
    if wheels.exists() {
        std::fs::remove_dir_all(&wheels).map_err(|e| format!("{}: {e}", wheels.display()))?;
    }
    let package = Path::new("crates/python");
    let build = ["-m", "maturin", "build", "--profile", "dev", "--out"];
    run(Command::new(&python).args(build).arg(&wheels).args(["-m", "crates/python/Cargo.toml"]))?;
    let wheel = std::fs::read_dir(&wheels)
        .map_err(|e| format!("{}: {e}", wheels.display()))?
        .find_map(|entry| Some(entry.ok()?.path()))
        .ok_or("maturin built no wheel")?;
    let install = ["-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps"];
    run(Command::new(&python).args(install).arg(wheel))?;
    cargo(&["build", "--package", "brisance"])?;
    let program =
        folder.with_file_name("debug").join(format!("brisance{}", std::env::consts::EXE_SUFFIX));
    let tests = ["-m", "pytest", "--quiet"];
    run(Command::new(&python).args(tests).current_dir(package).env("BRISANCE", program))?;
    let types = ["-m", "mypy", "--strict", "python", "tests"];
    run(Command::new(&python).args(types).current_dir(package))?;
    run(Command::new(&python).args(["-m", "mypy.stubtest", "brisance._native"]))
}

/// The Python interpreter of a virtual environment with [`TOOLS`], which is created if it does not exist.
fn environment(folder: &Path) -> Result<PathBuf, String> {
    let python = if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" };
    let python = folder.join("env").join(python);
    if !python.exists() {
        run(Command::new("python3").args(["-m", "venv"]).arg(folder.join("env")))?;
    }
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(TOOLS))?;
    Ok(python)
}
