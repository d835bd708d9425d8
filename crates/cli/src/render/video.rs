//! Video output by `ffmpeg`.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::Picture;

/// An H.264 MP4 file written by `ffmpeg`.
pub struct Video {
    ffmpeg: Child,
}

impl Video {
    /// Whether `ffmpeg` can be started.
    pub fn is_possible() -> bool {
        let mut ffmpeg = Command::new("ffmpeg");
        ffmpeg.arg("-version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        ffmpeg.status().is_ok_and(|status| status.success())
    }

    /// For pictures of `size` pixels, `fps` per second, in the file `path`, which is overwritten.
    ///
    /// # Errors
    /// If `ffmpeg` cannot be started.
    pub fn new(path: &Path, [width, height]: [usize; 2], fps: f64) -> io::Result<Self> {
        let mut ffmpeg = Command::new("ffmpeg");
        ffmpeg.args(["-loglevel", "error", "-nostdin", "-f", "rawvideo", "-pix_fmt", "rgb24"]);
        ffmpeg.args(["-s", &format!("{width}x{height}"), "-r", &fps.to_string(), "-i", "pipe:0"]);
        // players require chroma subsampling, hence even dimensions
        ffmpeg.args(["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p"]);
        ffmpeg.args(["-c:v", "libx264", "-crf", "18", "-threads", "1", "-fflags", "+bitexact"]);
        ffmpeg.args(["-movflags", "+faststart", "-f", "mp4", "-y"]).arg(path);
        ffmpeg.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        Ok(Self { ffmpeg: ffmpeg.spawn()? })
    }

    /// Adds a picture of this size.
    ///
    /// # Errors
    /// If `ffmpeg` has stopped reading.
    pub fn add(&mut self, picture: &Picture) -> io::Result<()> {
        let Some(pipe) = &mut self.ffmpeg.stdin else { return Ok(()) };
        pipe.write_all(picture.bytes())
    }

    /// Waits for the end of the file; `drawn` is the result of drawing the pictures.
    ///
    /// # Errors
    /// The last line of the output of `ffmpeg` if it fails, or the error of `drawn`.
    pub fn finish(mut self, drawn: io::Result<()>) -> io::Result<()> {
        drop(self.ffmpeg.stdin.take());
        let output = self.ffmpeg.wait_with_output()?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr);
            let line = text.lines().last().unwrap_or("it gave no reason");
            return Err(io::Error::other(format!("ffmpeg failed: {line}")));
        }
        drawn
    }
}
