//! `brisance blender`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::args::BlenderArguments;
use crate::commands::Failure;
use crate::commands::inputs::{ends_in, recording_at};
use crate::commands::outputs::{check_distinct, check_folder, print};
use crate::output::write_whole;
use crate::progress::phase;

/// The Python script for Blender.
const SCRIPT: &str = include_str!("blender.py");
const ENDINGS: [&str; 4] = ["blend", "abc", "fbx", "usdc"];

/// Imports a recording into Blender and saves it in a Blender format.
pub(super) fn blender(arguments: &BlenderArguments) -> Result<(), Failure> {
    let BlenderArguments { recording, output, blender, python, script, quiet } = arguments;
    if *script {
        return print(|out| out.write_all(SCRIPT.as_bytes()));
    }
    let (Some(recording), Some(output)) = (recording, output) else {
        // clap requires both without `--script`
        return Ok(());
    };
    let ending = ENDINGS.into_iter().find(|ending| ends_in(output, ending));
    let unknown = || Failure::Format { path: output.clone(), known: ".blend, .abc, .fbx or .usdc" };
    let ending = ending.ok_or_else(unknown)?;
    check_folder(output)?;
    check_distinct(output, [recording.as_path()])?;
    // reject invalid recordings before the slow start of Blender
    recording_at(recording)?;
    let host = Host::find(blender, python).ok_or(Failure::NoBlender)?;
    let failed = |e: io::Error| Failure::Write { path: output.clone(), source: e.into() };
    let source = std::path::absolute(recording).map_err(failed)?;
    let said = phase("starting Blender", *quiet, || {
        let folder = tempfile::tempdir()?;
        // Blender selects formats by file extension
        let made = folder.path().join(format!("made.{ending}"));
        let script = folder.path().join("brisance.py");
        std::fs::write(&script, SCRIPT)?;
        let said = finished(&host.start(&script, [&source, &made])?)?;
        let mut file = std::fs::File::open(&made)?;
        write_whole(output, |out| io::copy(&mut file, out).map(drop))?;
        Ok(said)
    })
    .map_err(failed)?;
    if *quiet {
        return Ok(());
    }
    print(|out| writeln!(out, "{}: {said}", output.display()))
}

/// The program that runs the script.
enum Host {
    Blender(PathBuf),
    Python(PathBuf),
}

impl Host {
    /// Blender if it can be started, otherwise Python if it has the module `bpy`.
    fn find(blender: &Path, python: &Path) -> Option<Self> {
        let starts = |program: &Path, arguments: &[&str]| {
            let mut command = Command::new(program);
            command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null());
            command.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
        };
        if starts(blender, &["--version"]) {
            return Some(Self::Blender(blender.to_owned()));
        }
        let find = "import importlib.util, sys; sys.exit(importlib.util.find_spec('bpy') is None)";
        starts(python, &["-c", find]).then(|| Self::Python(python.to_owned()))
    }

    fn start(&self, script: &Path, files: [&Path; 2]) -> io::Result<Output> {
        let mut command = match self {
            Self::Blender(program) => {
                let mut command = Command::new(program);
                command.args(["--background", "--factory-startup", "--python-exit-code", "1"]);
                command.arg("--python").arg(script);
                command
            }
            Self::Python(program) => {
                let mut command = Command::new(program);
                command.arg(script);
                command
            }
        };
        command.arg("--").args(files).stdin(Stdio::null()).output()
    }
}

/// The result line that the script printed, or the last line of its errors.
fn finished(output: &Output) -> io::Result<String> {
    let text = String::from_utf8_lossy(&output.stdout);
    let said = text.lines().find_map(|line| line.strip_prefix("brisance: "));
    match said {
        Some(said) if output.status.success() => Ok(said.to_owned()),
        _ => {
            let errors = String::from_utf8_lossy(&output.stderr);
            let line = errors.lines().rev().find(|line| !line.trim().is_empty());
            let line = line.unwrap_or("there is no error output");
            Err(io::Error::other(format!("Blender failed: {line}")))
        }
    }
}
