//! The folder of the playground.

#[path = "../../crates/cli/src/viewer/frame.rs"]
mod frame;
mod order;

use std::path::Path;
use std::process::{Command, Stdio};

use crate::{Outcome, run};

/// Files that the page shares with the viewer of recordings.
const SHARED: [&str; 9] = [
    "icon.svg",
    "packed.js",
    "panels.js",
    "plot.js",
    "stage.js",
    "texture.js",
    "three.LICENSE.txt",
    "three.js",
    "viewer.css",
];
const OWN: [&str; 8] = [
    "command.js",
    "live.js",
    "main.js",
    "page.js",
    "play.css",
    "pointer.js",
    "share.js",
    "worker.js",
];
const VIEWER: &str = "crates/cli/src/viewer/page";
const PLAYGROUND: &str = "crates/web/page";
/// The page itself.
const PAGE: &str = "index.html";
const FOLDER: &str = "out/web";
const TARGET: &str = "wasm32-unknown-unknown";
/// All current browsers support 128-bit vectors. Addresses have a compact encoding. `libm` computes roots and rounding
/// by instructions, with the same bits as its own code.
const FLAGS: &str =
    "-C target-feature=+simd128 -C link-arg=--compress-relocations --cfg intrinsics_enabled";
/// The intrinsics of these instructions in `libm` are unstable in Rust: only this crate may use them.
const UNSTABLE: (&str, &str) = ("RUSTC_BOOTSTRAP", "libm");

/// Builds the playground: a folder that any static file server can host.
pub(crate) fn build() -> Outcome {
    let failed = |e: std::io::Error| format!("{FOLDER}: {e}");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--profile", "web", "--package", "brisance-web", "--target", TARGET]);
    cargo.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", FLAGS).env(UNSTABLE.0, UNSTABLE.1);
    run(&mut cargo)
        .map_err(|problem| format!("{problem}; `rustup target add {TARGET}` adds the target"))?;
    std::fs::create_dir_all(FOLDER).map_err(failed)?;
    let folder = Path::new(FOLDER);
    let pages = [(VIEWER, &SHARED[..]), (PLAYGROUND, &OWN[..])];
    for (from, names) in pages {
        for name in names {
            let source = Path::new(from).join(name);
            let at_source = |e: std::io::Error| format!("{}: {e}", source.display());
            std::fs::copy(&source, folder.join(name)).map_err(at_source)?;
        }
    }
    let read = |path: &str| std::fs::read_to_string(path).map_err(|e| format!("{path}: {e}"));
    let parts = read(&format!("{PLAYGROUND}/play.html"))?;
    let page = frame::filled(&read(&format!("{VIEWER}/frame.html"))?, &parts);
    std::fs::write(folder.join(PAGE), page).map_err(failed)?;
    let made = format!("target/{TARGET}/web/brisance_web.wasm");
    let module = folder.join("brisance.wasm");
    // wasm-opt reduces the module, but neither its compressed size nor its run time
    let named = std::fs::read(&made).map_err(|e| format!("{made}: {e}"))?;
    std::fs::write(&module, order::by_name(&named)?).map_err(failed)?;
    report(folder)
}

/// Compression programs of servers, with their arguments.
const PACKERS: [(&str, &[&str]); 2] = [("gzip", &["-9c"]), ("brotli", &["-q", "11", "-c"])];

/// Prints the sizes of the files, uncompressed and compressed.
fn report(folder: &Path) -> Outcome {
    let mut sums = [0; PACKERS.len()];
    for name in SHARED.iter().chain(&OWN).chain(&[PAGE, "brisance.wasm"]) {
        let path = folder.join(name);
        let size = std::fs::metadata(&path).map_err(|e| format!("{name}: {e}"))?.len();
        print!("{name:18} {size:8} bytes");
        for ((packer, arguments), sum) in PACKERS.iter().zip(&mut sums) {
            let packed =
                Command::new(packer).args(*arguments).arg(&path).stderr(Stdio::null()).output();
            let Some(packed) = packed.ok().filter(|packed| packed.status.success()) else {
                continue;
            };
            print!(", {:8} with {packer}", packed.stdout.len());
            *sum += packed.stdout.len();
        }
        println!();
    }
    for ((packer, _), sum) in PACKERS.iter().zip(sums).filter(|(_, sum)| *sum > 0) {
        println!("{FOLDER}: {sum} bytes as servers send them with {packer}");
    }
    Ok(())
}
