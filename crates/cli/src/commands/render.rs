//! `brisance render`.

use std::io::{self, Write};
use std::path::Path;

use sim::Recording;

use crate::args::RenderArguments;
use crate::commands::{Failure, check_distinct, check_folder, ends_in, print, read};
use crate::format::glb::read_glb;
use crate::output::{write_whole, write_whole_elsewhere, write_whole_folder};
use crate::progress::Progress;
use crate::render::{Apng, Gif, Picture, Video, View, contact_sheet, render as draw};

/// Most pixels of a contact sheet: 256 MB as it is drawn.
const MAX_PIXELS: usize = 1 << 26;

/// What the frames become.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// One picture of all.
    Sheet,
    Gif,
    Apng,
    Video,
    /// A picture of each.
    Folder,
}

impl Kind {
    fn of(output: &Path) -> Option<Self> {
        if output.as_os_str().to_string_lossy().ends_with(std::path::is_separator) {
            return Some(Self::Folder);
        }
        let kinds =
            [("png", Self::Sheet), ("gif", Self::Gif), ("apng", Self::Apng), ("mp4", Self::Video)];
        kinds.into_iter().find(|(ending, _)| ends_in(output, ending)).map(|(_, kind)| kind)
    }
}

/// The frames to draw of a recording.
struct Drawing<'a> {
    recording: &'a Recording,
    view: View,
    /// Whether options of the command line set the view and the camera of the recording is ignored.
    is_fixed: bool,
    /// When pictures are taken, counted in frames.
    moments: Vec<f64>,
    /// Pixels across and down.
    size: [usize; 2],
    /// Pictures a second.
    fps: f64,
    /// How far the camera goes around from the first picture to the one after the last, degrees.
    turntable: f64,
    quiet: bool,
}

/// Draws one frame, a contact sheet, an animation or a folder of pictures.
pub(super) fn render(arguments: &RenderArguments) -> Result<(), Failure> {
    let RenderArguments { recording: path, output, size, .. } = arguments;
    let kind = Kind::of(output).ok_or_else(|| Failure::Format {
        path: output.clone(),
        known: ".png, .gif, .apng or .mp4, or end it in / for a folder of .png files",
    })?;
    check_folder(output)?;
    check_distinct(output, [path.as_path()])?;
    for (option, is_given) in
        [("--every", arguments.every.is_some()), ("--speed", arguments.speed.is_some())]
    {
        if kind == Kind::Sheet && is_given {
            return Err(Failure::OfAnimations { path: output.clone(), option });
        }
    }
    if kind == Kind::Video && !Video::is_possible() {
        return Err(Failure::NoFfmpeg { path: output.clone(), recording: path.clone() });
    }
    let recording = read_glb(&read(path)?)
        .map_err(|source| Failure::Recording { path: path.clone(), source })?;
    if let Some(&frame) = arguments.frame.iter().find(|&&frame| frame >= recording.frames) {
        let frames = recording.frames;
        return Err(Failure::NoFrame { path: path.clone(), frame, frames });
    }
    let moments = moments(arguments, kind, recording.frames);
    let pixels = moments.len().saturating_mul(size[0] * size[1]);
    if kind == Kind::Sheet && pixels > MAX_PIXELS {
        return Err(Failure::TooManyPixels { frames: moments.len(), size: *size });
    }
    let fitted = View::fitted(&recording, size[0] as f64 / size[1] as f64);
    let view = match (arguments.at, arguments.from) {
        (Some(at), Some(from)) => fitted.moved(at.into(), from.into()).ok_or(Failure::Camera)?,
        _ => fitted,
    };
    let drawing = Drawing {
        recording: &recording,
        view,
        is_fixed: arguments.at.is_some(),
        moments,
        size: *size,
        fps: recording.fps / f64::from(arguments.every.unwrap_or(1)),
        turntable: arguments.turntable.unwrap_or(0.0),
        quiet: arguments.quiet,
    };
    // frames that are named one by one form a sheet as square as possible
    let square = (1..).find(|n| n * n >= drawing.moments.len()).unwrap_or(1);
    let columns = arguments.sheet.map_or(square, |sheet| sheet.columns);
    drawing
        .write(kind, columns, output)
        .map_err(|source| Failure::Write { path: output.clone(), source: source.into() })?;
    if arguments.quiet {
        return Ok(());
    }
    let (count, [width, height]) = (drawing.moments.len(), size);
    print(|out| writeln!(out, "{}: {count} frames of {width} x {height} pixels", output.display()))
}

/// When pictures are taken, counted in frames.
fn moments(arguments: &RenderArguments, kind: Kind, frames: usize) -> Vec<f64> {
    let last = frames - 1;
    match arguments.sheet.map(|sheet| sheet.count) {
        Some(count) => (0..count).map(|i| (i * last / (count - 1).max(1)) as f64).collect(),
        None if !arguments.frame.is_empty() => {
            arguments.frame.iter().map(|&frame| frame as f64).collect()
        }
        None if kind == Kind::Sheet => vec![0.0],
        None => {
            let step = f64::from(arguments.every.unwrap_or(1)) * arguments.speed.unwrap_or(1.0);
            // what rounding takes away does not cost the last frame
            let count = (last as f64 / step + 1e-9).floor() as usize + 1;
            (0..count).map(|n| (n as f64 * step).min(last as f64)).collect()
        }
    }
}

impl Drawing<'_> {
    fn write(&self, kind: Kind, columns: usize, output: &Path) -> io::Result<()> {
        match kind {
            Kind::Sheet => {
                let mut pictures: Vec<Picture> = vec![];
                self.each(|_, picture| {
                    pictures.push(picture);
                    Ok(())
                })?;
                let sheet = contact_sheet(&pictures, columns.min(pictures.len()));
                write_whole(output, |out| sheet.write_png(out))
            }
            Kind::Gif => write_whole(output, |out| {
                let mut gif = Gif::new(out, self.size, self.fps)?;
                self.each(|_, picture| gif.add(&picture))
            }),
            Kind::Apng => write_whole(output, |out| {
                let mut apng = Apng::new(out, self.size, self.moments.len(), self.fps)?;
                self.each(|_, picture| apng.add(&picture))?;
                apng.finish()
            }),
            Kind::Video => write_whole_elsewhere(output, |path| {
                let mut video = Video::new(path, self.size, self.fps)?;
                let drawn = self.each(|_, picture| video.add(&picture));
                video.finish(drawn)
            }),
            Kind::Folder => write_whole_folder(output, |folder| {
                // numbers are those of frames, unless there are pictures between them
                let is_whole = self.moments.iter().all(|moment| moment.fract() == 0.0);
                self.each(|n, picture| {
                    let number = if is_whole { self.moments[n] as usize } else { n };
                    let path = folder.join(format!("frame_{number:05}.png"));
                    picture.write_png(io::BufWriter::new(std::fs::File::create(path)?))
                })
            }),
        }
    }

    /// Draws pictures and hands them over in order.
    fn each(&self, mut take: impl FnMut(usize, Picture) -> io::Result<()>) -> io::Result<()> {
        let progress = Progress::of_pictures(self.moments.len(), self.quiet);
        for (n, &moment) in self.moments.iter().enumerate() {
            let view = if self.is_fixed { self.view } else { self.view.at(self.recording, moment) };
            let view = view.turned(self.turntable * n as f64 / self.moments.len() as f64);
            take(n, draw(self.recording, &view, moment, self.size))?;
            progress.picture(n + 1);
        }
        Ok(())
    }
}
