//! Progress of a run: a bar on a terminal, plain lines elsewhere.

use std::io::{IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::wording::count;

/// Reports progress on standard error.
pub struct Progress {
    bar: ProgressBar,
    frames: usize,
    lines: bool,
    start: Instant,
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

impl Progress {
    /// For a run of the given number of frames; silent if `quiet`.
    pub fn new(frames: usize, quiet: bool) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let bar = if quiet || !terminal {
            ProgressBar::hidden()
        } else {
            ProgressBar::new(frames as u64)
        };
        bar.set_style(style("{wide_bar} frame {pos} of {len}, {msg} {eta}"));
        Self { bar, frames, lines: !quiet && !terminal, start: Instant::now() }
    }

    /// For the given number of pictures; silent if `quiet`.
    pub fn of_pictures(pictures: usize, quiet: bool) -> Self {
        let progress = Self::new(pictures, quiet || pictures < 2);
        progress.bar.set_style(style("{wide_bar} picture {pos} of {len}, {per_sec}, {eta} left"));
        progress
    }

    /// Reports the number of finished pictures.
    pub fn picture(&self, picture: usize) {
        self.bar.set_position(picture as u64);
        let tenth = picture * 10 / self.frames > (picture - 1) * 10 / self.frames;
        let passed = self.start.elapsed();
        if self.lines && tenth && passed > PATIENCE {
            let rate = picture as f64 / passed.as_secs_f64();
            let left = (self.frames - picture) as f64 / rate;
            // stderr may be closed
            let mut out = std::io::stderr();
            let all = self.frames;
            let _ = writeln!(out, "picture {picture} of {all}, {rate:.1}/s, {left:.0} s left");
        }
    }

    /// Reports a finished frame and its number of bodies.
    pub fn frame(&self, frame: usize, bodies: usize) {
        let bodies = count(bodies, "body", "bodies");
        self.bar.set_message(bodies.clone());
        self.bar.set_position(frame as u64);
        // the first and ten more lines are enough for a log
        let tenth = frame * 10 / self.frames > (frame - 1) * 10 / self.frames;
        if self.lines && (frame == 1 || tenth) {
            // stderr may be closed
            let mut out = std::io::stderr();
            let _ = writeln!(out, "frame {frame} of {}, {bodies}", self.frames);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Time after which a phase is shown.
const PATIENCE: Duration = Duration::from_millis(500);

/// Runs a phase that may take long, and shows its name on standard error after half a second: with
/// a clock on a terminal, as one line elsewhere.
pub fn phase<T>(name: &'static str, quiet: bool, work: impl FnOnce() -> T) -> T {
    let _shown = (!quiet).then(|| Phase::new(name));
    work()
}

/// The current phase, shown by a separate thread until it ends.
struct Phase {
    end: Option<Sender<()>>,
    shown: Option<JoinHandle<()>>,
}

impl Phase {
    fn new(name: &'static str) -> Self {
        let (end, ended) = channel::<()>();
        let show = move || {
            let start = Instant::now();
            if ended.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let mut out = std::io::stderr();
            if !out.is_terminal() {
                // stderr may be closed
                let _ = writeln!(out, "{name} ...");
                return;
            }
            let clock = ProgressBar::new_spinner();
            while ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                clock.set_message(format!("{name}: {:.0} s", start.elapsed().as_secs_f64()));
                clock.tick();
            }
            clock.finish_and_clear();
        };
        // without a thread the phase is silent
        let shown = std::thread::Builder::new().spawn(show).ok();
        Self { end: Some(end), shown }
    }
}

impl Drop for Phase {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(shown) = self.shown.take() {
            // the thread only prints
            let _ = shown.join();
        }
    }
}
