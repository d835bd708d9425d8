//! The part of three.js that the viewer embeds.

use std::path::Path;
use std::process::Command;

use crate::{Outcome, run};

/// Folder of the lock file of npm, with the checksum of every package, and of the exported subset of three.js.
const SOURCE: &str = "xtask/vendor";
/// Working directory of npm.
pub(crate) const FOLDER: &str = "target/vendor";
const PAGE: &str = "crates/cli/src/viewer/page";

/// Installs three.js and esbuild in the versions of the lock file.
pub(crate) fn install() -> Outcome {
    let failed = |e: std::io::Error| format!("{FOLDER}: {e}");
    std::fs::create_dir_all(FOLDER).map_err(failed)?;
    for file in ["package.json", "package-lock.json", "three.js"] {
        std::fs::copy(Path::new(SOURCE).join(file), Path::new(FOLDER).join(file))
            .map_err(failed)?;
    }
    let mut npm = Command::new("npm");
    // ci, not install: npm refuses packages that differ from the lock file or its checksums
    run(npm.args(["ci", "--no-audit", "--no-fund", "--prefix", FOLDER]))
}

/// Builds `three.js` of the page, or only checks that it is up to date.
pub(crate) fn vendor(only_check: bool) -> Outcome {
    let failed = |e: std::io::Error| format!("{FOLDER}: {e}");
    install()?;
    let mut bundle = Command::new("node_modules/.bin/esbuild");
    bundle.current_dir(FOLDER).args(["three.js", "--outfile=made.js", "--bundle", "--minify"]);
    run(bundle.args(["--format=esm", "--legal-comments=inline", "--charset=utf8"]))?;
    let made = [("made.js", "three.js"), ("node_modules/three/LICENSE", "three.LICENSE.txt")];
    for (from, to) in made {
        let (from, to) = (Path::new(FOLDER).join(from), Path::new(PAGE).join(to));
        if only_check {
            let [made, kept] = [&from, &to].map(std::fs::read);
            if made.map_err(failed)? != kept.map_err(failed)? {
                return Err(format!("{} is not what `cargo xtask vendor` makes", to.display()));
            }
        } else {
            std::fs::copy(from, to).map_err(failed)?;
        }
    }
    Ok(())
}
