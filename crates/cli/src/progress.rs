//! How far a run is: a bar on a terminal, plain lines elsewhere.

use std::io::{IsTerminal, Write};

use indicatif::{ProgressBar, ProgressStyle};

use crate::wording::count;

/// Tells the person waiting, on standard error.
pub struct Progress {
    bar: ProgressBar,
    frames: usize,
    lines: bool,
}

impl Progress {
    /// For a run of so many frames; silent if `quiet`.
    pub fn new(frames: usize, quiet: bool) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let bar = if quiet || !terminal {
            ProgressBar::hidden()
        } else {
            ProgressBar::new(frames as u64)
        };
        let style = ProgressStyle::with_template("{wide_bar} frame {pos} of {len}, {msg} {eta}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style);
        Self { bar, frames, lines: !quiet && !terminal }
    }

    /// A frame is done, with so many bodies in it.
    pub fn frame(&self, frame: usize, bodies: usize) {
        let bodies = count(bodies, "body", "bodies");
        self.bar.set_message(bodies.clone());
        self.bar.set_position(frame as u64);
        // the first and ten more are enough for a log
        let tenth = frame * 10 / self.frames > (frame - 1) * 10 / self.frames;
        if self.lines && (frame == 1 || tenth) {
            // nobody may be listening
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
