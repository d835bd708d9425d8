//! What other programs see in the files that brisance writes. Not a part of continuous integration:
//! Blender alone is a gigabyte.

use std::path::Path;
use std::process::Command;

use crate::{Outcome, cargo, run};

/// Modules of Python, what checks with them, and the file they open.
const CLIENTS: [(&str, &str, &str); 2] = [
    ("bpy", "xtask/clients/blender.py", "clients.glb"),
    ("pxr", "xtask/clients/usd.py", "clients.usda"),
];

/// Has Blender and USD open a recording, and compares what they see with it.
pub(crate) fn clients(python: &str) -> Outcome {
    let folder = Path::new("target/clients");
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut present = vec![];
    for (module, script, file) in CLIENTS {
        let import = format!("import {module}");
        let found = Command::new(python).args(["-c", &import]).output();
        match found {
            Ok(output) if output.status.success() => present.push((script, folder.join(file))),
            _ => {
                let package = if module == "pxr" { "usd-core" } else { module };
                println!("skipped: {python} has no module {module}: pip install {package}");
            }
        }
    }
    if present.is_empty() {
        return Ok(());
    }
    let truth = folder.join("clients.jsonl");
    for file in present.iter().map(|(_, file)| file).chain([&truth]) {
        let file = file.to_string_lossy();
        let brisance = ["run", "--quiet", "--package", "brisance", "--"];
        let scene = ["run", "scenes/bunny.toml", "--frames", "40", "--quiet", "--output", &file];
        cargo(&[&brisance[..], &scene].concat())?;
    }
    for (script, file) in present {
        run(Command::new(python).arg(script).arg(&file).arg(&truth))?;
        if script.ends_with("blender.py") {
            blender(python, &file, &truth)?;
        }
    }
    Ok(())
}

/// Has Blender make its own file and a USD file of a recording, and compares what it opens of them.
fn blender(python: &str, recording: &Path, truth: &Path) -> Outcome {
    for ending in ["blend", "usdc"] {
        let made = recording.with_extension(ending);
        let [from, to] = [recording, &made].map(|path| path.to_string_lossy());
        let make = ["run", "--quiet", "--package", "brisance", "--", "blender", "--quiet"];
        cargo(&[&make[..], &["--python", python, &from, "--output", &to]].concat())?;
        run(Command::new(python).arg("xtask/clients/blend.py").arg(&made).arg(truth))?;
    }
    Ok(())
}
