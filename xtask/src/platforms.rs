//! Compares scenes on several platforms bit by bit.

use std::process::Command;

use crate::{Outcome, cargo};

/// Scenes that name no other files, and frames until after fractures.
const SCENES: [(&str, usize); 12] = [
    ("again", 40),
    ("bricks", 40),
    ("bridge", 60),
    ("cantilever", 30),
    ("cards", 30),
    ("dominoes", 60),
    ("double_pendulum", 60),
    ("rough", 40),
    ("table_25", 40),
    ("uneven", 40),
    ("wall", 60),
    ("window", 60),
];

/// A platform with the runner of its programs.
struct Platform {
    target: &'static str,
    runner: &'static [&'static str],
    ending: &'static str,
    /// Environment variables of the build.
    variables: &'static [(&'static str, &'static str)],
}

const PLATFORMS: [Platform; 2] = [
    Platform {
        target: "wasm32-wasip1",
        runner: &["node", "--no-warnings", "xtask/platforms/run.mjs"],
        ending: ".wasm",
        variables: &[],
    },
    Platform {
        target: "aarch64-unknown-linux-gnu",
        runner: &["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"],
        ending: "",
        variables: &[("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc")],
    },
];

/// Simulates the same scenes on every platform that this machine can build for and run, and compares the results.
pub(crate) fn check() -> Outcome {
    cargo(&["build", "--release", "--package", "brisance-fingerprint"])?;
    let own = fingerprints(&["target/release/brisance-fingerprint"])?;
    print!("{own}");
    for Platform { target, runner, ending, variables } in PLATFORMS {
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--release", "--package", "brisance-fingerprint"]);
        build.args(["--target", target]).envs(variables.iter().copied());
        if !is_there(runner[0]) || !is_installed(target) {
            println!("skipped: {target} needs `rustup target add {target}` and {}", runner[0]);
            continue;
        }
        crate::run(&mut build)?;
        let program = format!("target/{target}/release/brisance-fingerprint{ending}");
        let theirs = fingerprints(&[runner, &[&program[..]]].concat())?;
        if theirs != own {
            let differ = own.lines().zip(theirs.lines()).filter(|(a, b)| a != b);
            let lines: Vec<String> = differ.map(|(a, b)| format!("here {a}, there {b}")).collect();
            return Err(format!("{target} differs:\n{}", lines.join("\n")));
        }
        println!("{target}: the same");
    }
    Ok(())
}

/// Fingerprints of the scenes by a program.
fn fingerprints(program: &[&str]) -> Result<String, String> {
    let mut command = Command::new(program[0]);
    command.args(&program[1..]);
    for (name, frames) in SCENES {
        command.arg(format!("scenes/{name}.toml")).arg(frames.to_string());
    }
    let output = command.output().map_err(|e| format!("{}: {e}", program[0]))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

fn is_installed(target: &str) -> bool {
    let list = Command::new("rustup").args(["target", "list", "--installed"]).output();
    list.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).lines().any(|l| l == target))
}
