//! Randomly damaged files are read or refused; `tests/src/bin/fuzz` describes the checks.

use std::process::{Command, Output};

fn fuzz(arguments: &[&str]) -> Output {
    let failures = concat!(env!("CARGO_TARGET_TMPDIR"), "/fuzz");
    let mut fuzz = Command::new(env!("CARGO_BIN_EXE_fuzz"));
    fuzz.args(arguments).args(["--failures", failures]).output().unwrap()
}

/// A test of each target, with a number of cases that takes a few seconds without optimization.
macro_rules! targets {
    ($($name:ident: $cases:literal,)*) => {
        $(#[test]
        fn $name() {
            let output = fuzz(&[stringify!($name), "--cases", stringify!($cases)]);
            let said = String::from_utf8_lossy(&output.stdout);
            let wrong = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{said}{wrong}");
            assert!(said.contains(concat!(stringify!($cases), " cases")), "{said}");
        })*

        #[test]
        fn every_target_has_a_test() {
            let known = [$(stringify!($name)),*].join(", ");
            let output = fuzz(&["unknown"]);
            let message = String::from_utf8_lossy(&output.stderr);
            assert!(message.contains(&format!("give some of {known}\n")), "{known}: {message}");
        }
    };
}

targets! {
    scene: 300,
    obj: 300,
    stl: 100,
    ply: 600,
    glb: 400,
    recording: 600,
    dust_glb: 400,
    dust_ply: 600,
    msh: 3000,
    ele: 3000,
    node: 3000,
    vol: 3000,
    vtk: 3000,
    vtu: 3000,
    lset: 300,
    vti: 300,
    vdb: 300,
    svg: 300,
    pattern: 400,
    png: 1000,
    events: 200,
    ledger: 300,
    checkpoint: 200,
}

#[test]
fn every_kind_of_fault_is_found_and_the_file_kept() {
    let folder = tempfile::tempdir().unwrap();
    for (word, reason) in [
        ("panic", "deliberate panic"),
        ("end", "signal"),
        ("memory", "bytes for a file of 6"),
        ("all memory", "memory allocation of"),
        ("hang", "takes longer than"),
        ("leftover files", "leaves files behind"),
    ] {
        let file = folder.path().join("fault.txt");
        std::fs::write(&file, word).unwrap();
        let output = fuzz(&["faulty", "--file", file.to_str().unwrap(), "--seconds", "1"]);
        let message = String::from_utf8(output.stdout).unwrap();
        let wrong = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{word}: {message}{wrong}");
        assert!(message.contains(reason) || wrong.contains(reason), "{word}: {message}{wrong}");
        let kept = message.trim_end().rsplit(": ").next().unwrap();
        assert_eq!(std::fs::read_to_string(kept).unwrap(), word);
    }
}
