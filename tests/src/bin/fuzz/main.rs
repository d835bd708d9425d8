//! Runs the program on randomly damaged files.
//!
//! `fuzz [TARGET ...] [--cases N | --minutes N] [--seed S] [--failures DIR]` tries every target
//! unless some are named; `fuzz TARGET --file FILE` tries one file. A case fails when the program
//! panics, takes more memory than 64 MiB and a thousand times the size of the file (or what the
//! limits of the format allow), takes longer than 20 s, leaves files behind or does not report the
//! error in one sentence. The program keeps the file of a failed case and prints its path.
//!
//! The same seed and number of cases give the same files.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]

mod envelope;
mod mutate;
mod targets;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use brisance_tests::counting::Counting;
use clap::Parser;

use mutate::Random;
use targets::{TARGETS, Target};

/// `Ok(Some(reason))` if the program refuses a file, `Ok(None)` if it accepts it, and an error if
/// it fails.
type Outcome = Result<Option<String>, String>;

/// Limit of all allocations, to protect the machine, bytes.
const MAX_MEMORY: usize = 2 << 30;
/// Limit of allocated bytes per byte of a file.
const MEMORY_PER_BYTE: usize = 1000;
/// Number of accepted files kept for further changes.
const KEPT: usize = 64;

#[global_allocator]
static MEMORY: Counting = Counting::new(MAX_MEMORY);

#[derive(Clone, Debug, Parser)]
struct Options {
    /// Targets to try [default: all]
    targets: Vec<String>,
    /// Number of files per target
    #[arg(long, default_value_t = 1000)]
    cases: u64,
    /// Minutes to spend on each target; overrides the number of cases
    #[arg(long)]
    minutes: Option<f64>,
    /// Time limit of a case, s; other programs may share the machine
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Seed of the random numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Folder for the files of failed cases
    #[arg(long, default_value = "target/fuzz")]
    failures: PathBuf,
    /// Try this file only
    #[arg(long)]
    file: Option<PathBuf>,
    /// Working folder of the child process that tries one target; the parent process watches it
    #[arg(long, hide = true)]
    work: Option<PathBuf>,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let outcome = match &options.work {
        Some(folder) => work(&options, folder),
        None => watch(&options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// Tests targets one by one in separate processes, and keeps the files that crash them.
fn watch(options: &Options) -> Result<(), String> {
    let all = || TARGETS.iter().map(|target| target.name.to_owned()).collect();
    let names: Vec<String> =
        if options.targets.is_empty() { all() } else { options.targets.clone() };
    let mut failed = vec![];
    for name in &names {
        let target = Target::of(name)
            .ok_or_else(|| format!("no target {name}: give some of {}", all().join(", ")))?;
        if !watch_one(target, options).map_err(|e| format!("{name}: {e}"))? {
            failed.push(name.as_str());
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
}

fn watch_one(target: &Target, options: &Options) -> Result<bool, String> {
    let said = |e: std::io::Error| e.to_string();
    let folder = tempfile::tempdir().map_err(said)?;
    let mut worker = Command::new(std::env::current_exe().map_err(said)?);
    worker.arg(target.name).arg("--work").arg(folder.path());
    worker.args(["--seed", &options.seed.to_string(), "--cases", &options.cases.to_string()]);
    worker.args(["--seconds", &options.seconds.to_string()]);
    if let Some(minutes) = options.minutes {
        worker.args(["--minutes", &minutes.to_string()]);
    }
    if let Some(file) = &options.file {
        worker.arg("--file").arg(file.canonicalize().map_err(said)?);
    }
    let status = worker.status().map_err(said)?;
    if status.success() {
        return Ok(true);
    }
    std::fs::create_dir_all(&options.failures).map_err(said)?;
    let name = format!("{}-{}.{}", target.name, options.seed, target.extension);
    let kept = options.failures.join(name);
    std::fs::copy(folder.path().join(target.input()), &kept).map_err(said)?;
    println!("{}: ended with {status}: {}", target.name, kept.display());
    Ok(false)
}

/// Start time of the current case.
static BEGAN: Mutex<Option<Instant>> = Mutex::new(None);

fn set_clock(began: Option<Instant>) {
    *BEGAN.lock().unwrap_or_else(|e| e.into_inner()) = began;
}

/// Ends the process when a case takes too long.
fn guard(longest: Duration) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(100));
            let began = *BEGAN.lock().unwrap_or_else(|e| e.into_inner());
            if began.is_some_and(|began| began.elapsed() > longest) {
                eprintln!("takes longer than {} s", longest.as_secs());
                std::process::exit(1);
            }
        }
    });
}

/// Tests one target in `folder`, which always contains the current file.
fn work(options: &Options, folder: &Path) -> Result<(), String> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    std::env::set_current_dir(folder).map_err(|e| e.to_string())?;
    let target = options.targets.first().and_then(|name| Target::of(name)).ok_or("no target")?;
    let mut files = target.prepare(&repository)?;
    guard(Duration::from_secs(options.seconds));
    if let Some(file) = &options.file {
        let bytes = std::fs::read(file).map_err(|e| e.to_string())?;
        let refused = attempt(target, &bytes)?;
        println!("{}: {}", target.name, refused.as_deref().unwrap_or("accepted"));
        return Ok(());
    }
    for (n, file) in files.iter().enumerate() {
        if let Some(reason) = attempt(target, file)? {
            return Err(format!("valid file {n} of {} is refused: {reason}", target.name));
        }
    }
    let start = Instant::now();
    let ends = |cases| match options.minutes {
        Some(minutes) => start.elapsed().as_secs_f64() >= 60.0 * minutes,
        None => cases >= options.cases,
    };
    let mut random = Random::new(options.seed);
    let first = files.len();
    let (mut cases, mut accepted) = (0, 0);
    while !ends(cases) {
        let mut file = random.pick(&files).clone();
        let other = random.pick(&files).clone();
        target.envelope.mutate(&mut file, &other, &mut random);
        cases += 1;
        if attempt(target, &file)?.is_none() {
            accepted += 1;
            // accepted files are changed again
            if files.len() < first + KEPT {
                files.push(file);
            } else {
                files[first + random.below(KEPT)] = file;
            }
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("{}: {cases} cases, {accepted} accepted, {seconds:.1} s", target.name);
    Ok(())
}

fn attempt(target: &Target, file: &[u8]) -> Outcome {
    std::fs::write(target.input(), file).map_err(|e| e.to_string())?;
    let most = target.memory + MEMORY_PER_BYTE * file.len();
    set_clock(Some(Instant::now()));
    let outcome = target.read(|command| {
        let start = MEMORY.start();
        let outcome = command();
        let taken = MEMORY.growth(start);
        if taken > most {
            return Err(format!("{taken} bytes for a file of {}: {outcome:?}", file.len()));
        }
        outcome
    });
    set_clock(None);
    outcome
}
