//! Tasks of the workspace; `cargo xtask` prints the list.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "tasks talk to a terminal")]

mod clients;
mod figures;
mod figures_solvers;
mod layers;
mod platforms;
mod python;
mod rings;
mod vendor;
mod web;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

const LIST: &str = "\
cargo xtask demo [--open]    shatter the bunny: scenes/bunny.toml -> out/bunny.glb; --open: and show it in a browser,
                             until Ctrl-C
cargo xtask test [--browser] every test, the Khronos validator included; --browser: the viewer too
cargo xtask test --python    the Python package, in an environment of its own (needs python3 and a network)
cargo xtask ci               fmt, clippy, layers, test, doc, deny
cargo xtask vectors [DIR]    every reference vector of a folder, tests/vectors unless given
cargo xtask miri             the tests of unsafe code under Miri (nightly, with miri and rust-src)
cargo xtask fuzz [TARGET ...] [--minutes N] [--seed S]
                             damaged files, of all kinds unless some are named; a minute each unless
                             given; --file FILE: this file only
cargo xtask worlds [COUNT]   random crowded scenes with fresh seeds, 1,000 unless given: energy,
                             momentum, ledger, threads
cargo xtask platforms        the same scenes on WebAssembly (node) and aarch64 (qemu), where they are
                             installed: the same bits
cargo xtask golden           write tests/golden.txt anew, after a change that is meant to change motion
cargo xtask bench [FILTER]   the benchmarks whose name contains FILTER
cargo xtask peers NAME ...   the libraries beside others: cut, fem, fracture, levelset, pile, slice
cargo xtask layers           check that dependencies and imports run one way, and that
                             dependencies stay few
cargo xtask package          what would go to crates.io, compiled from the packages alone; nothing is sent
cargo xtask figures [--large] draw docs/figures and measure docs/figures.md; --large: table_1000 too
cargo xtask figures SCENE ... draw the figures of these scenes, and measure nothing
cargo xtask figures solvers  every solver on the same scenes: table and plots in docs/solvers
cargo xtask clients [--python PATH | --install]
                             have Blender, USD, VTK, meshio, trimesh and three.js open what brisance writes,
                             as far as they are installed; --install: in an environment of their own
cargo xtask foreign          the examples beside Rapier and Bevy, in examples/foreign
cargo xtask web              the playground as a folder: out/web (needs the target wasm32-unknown-unknown)
cargo xtask vendor [--check] make the viewer's three.js, or check it";

/// The seed of property tests, so that failures are reproducible.
const SEED: &str = "20090801";

/// Version of the npm package that checks GLB files.
const VALIDATOR: &str = "gltf-validator@2.0.0-dev.3.10";

/// An error message for the user, if any.
type Outcome = Result<(), String>;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    // paths in arguments are relative to the current folder, all others to the workspace
    let here = std::env::current_dir().unwrap_or_default();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let outcome = std::env::set_current_dir(root).map_err(|e| e.to_string());
    match outcome.and_then(|()| task(&args, &here)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

fn task(args: &[&str], here: &Path) -> Outcome {
    match args {
        [] => {
            println!("{LIST}");
            Ok(())
        }
        ["demo"] => demo(),
        ["demo", "--open"] => demo().and_then(|()| brisance(&["view", DEMO])),
        ["test", "--browser", rest @ ..] => test(rest, true),
        ["test", "--python"] => python::test(),
        ["test", rest @ ..] => test(rest, false),
        ["ci"] => ci(),
        ["vectors"] => vectors(Path::new("tests/vectors")),
        ["vectors", folder] => vectors(&here.join(folder)),
        ["miri"] => miri(),
        ["fuzz", rest @ ..] => fuzz(rest, here),
        ["worlds"] => worlds("1000"),
        ["worlds", count] => worlds(count),
        ["platforms"] => platforms::check(),
        ["golden"] => golden(),
        ["bench", rest @ ..] => cargo(&[&["bench", "-p", "brisance-benches", "--"], rest].concat()),
        ["peers", name, rest @ ..] => peers(name, rest),
        ["figures", "solvers"] => figures_solvers::draw(Path::new("docs/solvers")),
        ["layers"] => layers::check(),
        // packages include uncommitted changes
        ["package"] => cargo(&["publish", "--dry-run", "--workspace", "--locked", "--allow-dirty"]),
        ["figures"] => figures::figures(false),
        ["figures", "--large"] => figures::figures(true),
        ["figures", scenes @ ..] => figures::some(scenes),
        ["clients"] => clients::clients(&clients::Options { python: "python3", install: false }),
        ["clients", "--python", python] => {
            clients::clients(&clients::Options { python, install: false })
        }
        ["clients", "--install"] => {
            clients::clients(&clients::Options { python: "python3", install: true })
        }
        ["foreign"] => foreign(),
        ["web"] => web::build(),
        ["vendor"] => vendor::vendor(false),
        ["vendor", "--check"] => vendor::vendor(true),
        other => Err(format!("no such task: {}\n{LIST}", other.join(" "))),
    }
}

/// Runs every example of the package outside the workspace. Each example checks its results.
fn foreign() -> Outcome {
    let manifest = "examples/foreign/Cargo.toml";
    for example in ["keep_energy", "break_in_rapier", "take_over", "break_in_bevy"] {
        let run = ["run", "--quiet", "--locked", "--manifest-path", manifest];
        let place = ["--target-dir", "target/foreign", "--bin", example];
        cargo(&[&run[..], &place].concat())?;
    }
    Ok(())
}

/// The recording of the demo.
const DEMO: &str = "out/bunny.glb";

fn demo() -> Outcome {
    std::fs::create_dir_all("out").map_err(|e| format!("cannot make the folder out: {e}"))?;
    brisance(&["run", "scenes/bunny.toml", "-o", DEMO])
}

/// Runs the program.
fn brisance(arguments: &[&str]) -> Outcome {
    cargo(&[&["run", "--release", "--package", "brisance", "--"], arguments].concat())
}

fn test(rest: &[&str], browser: bool) -> Outcome {
    install_validator()?;
    let skipped = std::path::absolute("target/skipped.txt").map_err(|e| e.to_string())?;
    // no recording exists before the first run
    std::fs::remove_file(&skipped).ok();
    let mut command = Command::new(env!("CARGO"));
    // the benchmarks have no tests, but engines that take minutes to build; Python has separate
    // tests
    command
        .args(["test", "--no-fail-fast", "--workspace", "--exclude", "brisance-benches"])
        .args(["--exclude", "brisance-python"])
        .args(rest);
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        command.env("PROPTEST_RNG_SEED", SEED);
    }
    if browser {
        command.env("BRISANCE_BROWSER", "1");
    }
    command.env("BRISANCE_SKIPPED", &skipped);
    let outcome = run(&mut command).and_then(|()| vectors(Path::new("tests/vectors")));
    print_skipped(&skipped);
    outcome
}

/// Prints the number of skipped tests by reason in one line, if any.
fn print_skipped(file: &Path) {
    let mut reasons = BTreeMap::<_, usize>::new();
    let lines = std::fs::read_to_string(file).unwrap_or_default();
    lines.lines().for_each(|reason| *reasons.entry(reason).or_default() += 1);
    let reasons: Vec<String> =
        reasons.iter().map(|(reason, count)| format!("{reason} ({count})")).collect();
    if !reasons.is_empty() {
        println!("skipped: {}", reasons.join("; "));
    }
}

/// Runs random scenes. A seed from the environment reproduces them; otherwise prints a fresh seed.
fn worlds(count: &str) -> Outcome {
    let mut command = Command::new(env!("CARGO"));
    command.args(["test", "--release", "--package", "brisance-tests", "--test", "it"]);
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        let seed = fresh_seed();
        println!("PROPTEST_RNG_SEED={seed}");
        command.env("PROPTEST_RNG_SEED", seed);
    }
    run(command
        .args(["random_scenes", "--", "--include-ignored", "--nocapture"])
        .env("PROPTEST_CASES", count))
}

/// The seconds since 1970.
fn fresh_seed() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(1, |since| since.as_secs()).to_string()
}

fn golden() -> Outcome {
    let mut command = Command::new(env!("CARGO"));
    command.args(["test", "--package", "brisance-tests", "--test", "it", "golden"]);
    run(command.env("BRISANCE_GOLDEN", "write"))
}

fn vectors(folder: &Path) -> Outcome {
    let mut command = Command::new(env!("CARGO"));
    command.args(["run", "--quiet", "--package", "brisance-tests", "--bin", "vectors", "--"]);
    run(command.arg(folder))
}

/// Tests only AVX2 vectors, which the unsafe code uses.
fn miri() -> Outcome {
    let mut command = Command::new("cargo");
    command.args([
        "+nightly",
        "miri",
        "test",
        "--package",
        "brisance-contact",
        "--lib",
        "wide_vectors",
    ]);
    command.env("RUSTFLAGS", "-C target-feature=+avx2");
    // the queues of rayon violate stacked borrows, and its threads outlive the tests
    let flags = "-Zmiri-disable-isolation -Zmiri-tree-borrows -Zmiri-ignore-leaks";
    run(command.env("MIRIFLAGS", flags))
}

/// Runs the fuzzer with overflow checks, and with a fresh seed by default.
fn fuzz(rest: &[&str], here: &Path) -> Outcome {
    let fuzz = ["run", "--quiet", "--package", "brisance-tests", "--bin", "fuzz", "--"];
    let seed = fresh_seed();
    let mut options = vec![];
    if !rest.contains(&"--minutes") && !rest.contains(&"--cases") {
        options.extend(["--minutes", "1"]);
    }
    if !rest.contains(&"--seed") {
        println!("seed {seed}");
        options.extend(["--seed", &seed]);
    }
    let mut rest: Vec<String> = rest.iter().map(|&option| option.to_owned()).collect();
    if let Some(at) = rest.iter().position(|option| option == "--file")
        && let Some(file) = rest.get_mut(at + 1)
    {
        *file = here.join(&*file).display().to_string();
    }
    let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
    cargo(&[&fuzz[..], &rest, &options].concat())
}

fn peers(name: &str, rest: &[&str]) -> Outcome {
    let program = format!("peers_{name}");
    let benches = ["run", "--release", "--package", "brisance-benches", "--bin", &program, "--"];
    let alone = rest.iter().any(|option| ["--ours", "--pile"].contains(option));
    if name != "pile" || alone {
        return cargo(&[&benches[..], rest].concat());
    }
    // our times, beside the rows of Box3D
    let times = ["--times", "target/peers_pile.json"];
    cargo(&[&benches[..], rest, &times].concat())?;
    box3d(&[&benches[..], rest, &times, &["--pile"]].concat(), rest)
}

/// Runs the piles from `source`, a cargo command, in Box3D, if Box3D can be built.
fn box3d(source: &[&str], rest: &[&str]) -> Outcome {
    const PACKAGE: &str = "benches/box3d/Cargo.toml";
    let target = ["--target-dir", "target/box3d"];
    let package = [&["--release", "--locked", "--manifest-path", PACKAGE], &target[..]].concat();
    let built = Command::new(env!("CARGO")).arg("build").args(&package).output();
    if !built.is_ok_and(|output| output.status.success()) {
        let package = package.join(" ");
        eprintln!("no row of Box3D: it takes cmake and libclang, see `cargo build {package}`");
        return Ok(());
    }
    let problem = |e: std::io::Error| format!("the piles cannot be given to Box3D: {e}");
    let mut piles =
        Command::new(env!("CARGO")).args(source).stdout(Stdio::piped()).spawn().map_err(problem)?;
    let mut program = Command::new("target/box3d/release/pile-box3d");
    program.args(rest.iter().filter(|&&option| option == "--json"));
    if let Some(lines) = piles.stdout.take() {
        program.stdin(lines);
    }
    run(&mut program)?;
    match piles.wait().map_err(problem)? {
        status if status.success() => Ok(()),
        status => Err(format!("the piles for Box3D ended with {status}")),
    }
}

/// Installs the GLB validator under target/npm. Only continuous integration requires it.
fn install_validator() -> Outcome {
    if Path::new("target/npm/node_modules/gltf-validator").is_dir() {
        return Ok(());
    }
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--prefix", "target/npm", VALIDATOR]);
    match run(&mut npm) {
        Err(problem) if std::env::var_os("CI").is_none() => {
            println!("GLB files will not be validated: {problem}");
            Ok(())
        }
        outcome => outcome,
    }
}

fn ci() -> Outcome {
    cargo(&["fmt", "--all", "--check"])?;
    cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])?;
    layers::check()?;
    test(&[], false)?;
    let mut doc = Command::new(env!("CARGO"));
    doc.args(["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings");
    run(&mut doc)?;
    let deny = Command::new(env!("CARGO")).args(["deny", "--version"]).output();
    if deny.is_ok_and(|output| output.status.success()) {
        cargo(&["deny", "check"])
    } else {
        println!("licences and advisories are not checked: cargo install cargo-deny");
        Ok(())
    }
}

fn cargo(args: &[&str]) -> Outcome {
    run(Command::new(env!("CARGO")).args(args))
}

fn run(command: &mut Command) -> Outcome {
    let shown = format!("{command:?}").replace('"', "");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{shown} ended with {status}")),
        Err(error) => Err(format!("{shown} cannot be started: {error}")),
    }
}
