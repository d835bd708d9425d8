//! `brisance render`.

use std::cell::RefCell;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use sim::Recording;

use crate::args::{RenderArguments, Sheet};
use crate::commands::Failure;
use crate::commands::inputs::{dust_at, ends_in, recording_at};
use crate::commands::outputs::{check_distinct, check_folder, note_no_effect, print};
use crate::format::DustCloud;
use crate::output::{write_whole, write_whole_elsewhere, write_whole_folder};
use crate::progress::Progress;
use crate::render::{
    Apng, Gif, Images, Picture, Subject, Video, View, contact_sheet, render as draw,
};
use crate::wording;

/// Maximum number of pixels of a contact sheet: 256 MB while it is drawn.
const MAX_PIXELS: usize = 1 << 26;

/// Output kind.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// One image with all frames.
    Sheet,
    Gif,
    Apng,
    Video,
    /// One image per frame.
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

/// A recording with the frames to draw.
struct Drawing<'a> {
    recording: &'a Recording,
    images: Images,
    dust: Option<DustCloud>,
    view: View,
    /// Whether `--at` and `--from` replace the camera of the recording.
    is_fixed: bool,
    /// Times of pictures, in frames.
    sample_times: Vec<f64>,
    /// Width and height in pixels.
    size: [usize; 2],
    /// Pictures per second.
    fps: f64,
    /// Total rotation of the camera, degrees; one image after the last would reach it, so that an
    /// animation of 360 degrees loops.
    turntable: f64,
    quiet: bool,
    /// Whether the frames are listed one by one.
    is_listed: bool,
    /// Times of the drawn images without a visible body, in frames.
    empty: RefCell<Vec<f64>>,
}

/// Draws one frame, a contact sheet, an animation or a folder of pictures.
pub(super) fn render(arguments: &RenderArguments) -> Result<(), Failure> {
    let RenderArguments { recording: path, output, size, .. } = arguments;
    let kind = Kind::of(output).ok_or_else(|| Failure::Format {
        path: output.clone(),
        known: ".png, .gif, .apng or .mp4, or end it in / for a folder of .png files",
    })?;
    check_folder(output)?;
    let read = arguments.beside.iter().chain([path]).chain(&arguments.dust);
    check_distinct(output, read.map(PathBuf::as_path))?;
    for (option, is_given) in
        [("--every", arguments.every.is_some()), ("--speed", arguments.speed.is_some())]
    {
        if kind == Kind::Sheet && is_given {
            return Err(Failure::OfAnimations { path: output.clone(), option });
        }
    }
    if kind != Kind::Sheet && !arguments.beside.is_empty() {
        return Err(Failure::Beside { path: output.clone() });
    }
    let recording = recording_at(path)?;
    if kind == Kind::Video && !Video::is_possible() {
        let options = options_of_pictures(arguments);
        let fps = recording.fps / f64::from(arguments.every.unwrap_or(1));
        let (path, recording) = (output.clone(), path.clone());
        return Err(Failure::NoFfmpeg { path, recording, options, fps });
    }
    let others: Vec<Recording> =
        arguments.beside.iter().map(|path| recording_at(path)).collect::<Result<_, _>>()?;
    if let Some(&frame) = arguments.frame.iter().find(|&&frame| frame >= recording.frames) {
        let frames = recording.frames;
        return Err(Failure::NoFrame { path: path.clone(), frame, frames });
    }
    let sample_times = sample_times(arguments, kind, &recording);
    if sample_times.len() == 1 && arguments.turntable.is_some() {
        return Err(Failure::TurnsOnce { path: output.clone() });
    }
    let count = sample_times.len() * (1 + others.len());
    if kind == Kind::Sheet && count.saturating_mul(size[0] * size[1]) > MAX_PIXELS {
        return Err(Failure::TooManyPixels { frames: count, size: *size });
    }
    let columns = columns(arguments, sample_times.len());
    let beside = |other: &Recording| -> Vec<f64> {
        let last = (other.frames - 1) as f64;
        sample_times.iter().map(|time| (time / recording.fps * other.fps).min(last)).collect()
    };
    let mut drawings = vec![Drawing::new((&recording, path), arguments, sample_times.clone())?];
    for (other, path) in others.iter().zip(&arguments.beside) {
        drawings.push(Drawing::new((other, path), arguments, beside(other))?);
    }
    if let Some(dust) = &arguments.dust {
        drawings[0].dust = Some(dust_at(dust)?);
    }
    let written = match kind {
        Kind::Sheet => write_sheet(&drawings, columns, output),
        _ => drawings[0].write(kind, output),
    };
    written.map_err(|source| Failure::Write { path: output.clone(), source: source.into() })?;
    if arguments.quiet {
        return Ok(());
    }
    note_ignored_columns(arguments, kind);
    for (drawing, path) in drawings.iter().zip(std::iter::once(path).chain(&arguments.beside)) {
        drawing.note_empty_pictures(path);
    }
    let [width, height] = size;
    let frames = wording::count(count, "frame", "frames");
    print(|out| writeln!(out, "{}: {frames} of {width} x {height} pixels", output.display()))
}

/// The options that change the images of an animation, each with a space before it.
fn options_of_pictures(arguments: &RenderArguments) -> String {
    let mut options = String::new();
    let mut add = |name: &str, value: Option<String>| {
        options.extend(value.map(|value| format!(" {name} {value}")));
    };
    let [width, height] = arguments.size;
    let place = |p: [f64; 3]| p.map(|x| x.to_string()).join(",");
    let dust = arguments.dust.as_ref().map(|path| path.display().to_string());
    let frames: Vec<String> = arguments.frame.iter().map(ToString::to_string).collect();
    add("--frame", (!frames.is_empty()).then(|| frames.join(",")));
    add("--dust", dust);
    add("--every", arguments.every.map(|n| n.to_string()));
    add("--speed", arguments.speed.map(|factor| factor.to_string()));
    add("--turntable", arguments.turntable.map(|degrees| degrees.to_string()));
    add("--at", arguments.at.map(place));
    add("--from", arguments.from.map(place));
    add("--size", Some(format!("{width}x{height}")));
    options
}

/// Number of images in a row of a contact sheet.
fn columns(arguments: &RenderArguments, sample_times: usize) -> usize {
    /// Columns of a sheet that is given by its number of images.
    const COLUMNS: usize = 4;
    if !arguments.beside.is_empty() {
        return 1 + arguments.beside.len();
    }
    // individually listed frames form a sheet as square as possible
    let square = || (1..).find(|n| n * n >= sample_times).unwrap_or(1);
    let of = |sheet: Sheet| sheet.columns.unwrap_or(COLUMNS);
    arguments.sheet.map_or_else(square, of).min(sample_times)
}

fn note_ignored_columns(arguments: &RenderArguments, kind: Kind) {
    if arguments.sheet.is_none_or(|sheet| sheet.columns.is_none()) {
        return;
    }
    let columns = "the number of columns of --sheet";
    if kind != Kind::Sheet {
        note_no_effect(columns, "only a .png is a contact sheet");
    } else if !arguments.beside.is_empty() {
        note_no_effect(columns, "--beside draws the recordings of one time in a row");
    }
}

/// Writes the images of all drawings as one sheet. With several drawings a row has the images of
/// one time.
fn write_sheet(drawings: &[Drawing<'_>], columns: usize, output: &Path) -> io::Result<()> {
    let mut pictures: Vec<(usize, Picture)> = vec![];
    for drawing in drawings {
        drawing.each(|n, picture| {
            pictures.push((n, picture));
            Ok(())
        })?;
    }
    pictures.sort_by_key(|(n, _)| *n);
    let pictures: Vec<Picture> = pictures.into_iter().map(|(_, picture)| picture).collect();
    write_whole(output, |out| contact_sheet(&pictures, columns).write_png(out))
}

/// Times of pictures, in frames.
fn sample_times(arguments: &RenderArguments, kind: Kind, recording: &Recording) -> Vec<f64> {
    let last = recording.frames - 1;
    match arguments.sheet.map(|sheet| sheet.count) {
        Some(count) => (0..count).map(|i| (i * last / (count - 1).max(1)) as f64).collect(),
        None if !arguments.frame.is_empty() => {
            arguments.frame.iter().map(|&frame| frame as f64).collect()
        }
        None if kind == Kind::Sheet => vec![View::frame(recording) as f64],
        None => {
            let step = f64::from(arguments.every.unwrap_or(1)) * arguments.speed.unwrap_or(1.0);
            // the tolerance keeps the last frame in spite of rounding
            let count = (last as f64 / step + 1e-9).floor() as usize + 1;
            (0..count).map(|n| (n as f64 * step).min(last as f64)).collect()
        }
    }
}

impl<'a> Drawing<'a> {
    fn new(
        (recording, path): (&'a Recording, &Path),
        arguments: &RenderArguments,
        sample_times: Vec<f64>,
    ) -> Result<Self, Failure> {
        let size = arguments.size;
        let fitted = View::fitted(recording, size[0] as f64 / size[1] as f64);
        let view = match (arguments.at, arguments.from) {
            (Some(at), Some(from)) => {
                fitted.moved(at.into(), from.into()).ok_or(Failure::Camera)?
            }
            _ => fitted,
        };
        let images = Images::of(recording)
            .map_err(|source| Failure::Image { path: path.to_owned(), source })?;
        Ok(Self {
            recording,
            images,
            dust: None,
            view,
            is_fixed: arguments.at.is_some(),
            sample_times,
            size,
            fps: recording.fps / f64::from(arguments.every.unwrap_or(1)),
            turntable: arguments.turntable.unwrap_or(0.0),
            quiet: arguments.quiet,
            is_listed: !arguments.frame.is_empty(),
            empty: RefCell::default(),
        })
    }

    fn write(&self, kind: Kind, output: &Path) -> io::Result<()> {
        match kind {
            Kind::Sheet => write_sheet(std::slice::from_ref(self), self.sample_times.len(), output),
            Kind::Gif => write_whole(output, |out| {
                let mut gif = Gif::new(out, self.size, self.fps)?;
                self.each(|_, picture| gif.add(&picture))
            }),
            Kind::Apng => write_whole(output, |out| {
                let mut apng = Apng::new(out, self.size, self.sample_times.len(), self.fps)?;
                self.each(|_, picture| apng.add(&picture))?;
                apng.finish()
            }),
            Kind::Video => write_whole_elsewhere(output, |path| {
                let mut video = Video::new(path, self.size, self.fps)?;
                let drawn = self.each(|_, picture| video.add(&picture));
                video.finish(drawn)
            }),
            Kind::Folder => write_whole_folder(output, |folder| {
                // listed frames keep their numbers; others are numbered without gaps, for `ffmpeg`
                self.each(|n, picture| {
                    let number = if self.is_listed { self.sample_times[n] as usize } else { n };
                    let path = folder.join(format!("frame_{number:05}.png"));
                    picture.write_png(io::BufWriter::new(std::fs::File::create(path)?))
                })
            }),
        }
    }

    /// Prints a note about images without a visible body, with a suggestion.
    fn note_empty_pictures(&self, path: &Path) {
        let empty = self.empty.borrow();
        let Some(first) = empty.first() else { return };
        let frames = match empty.len() {
            1 => format!("frame {}", wording::number(*first)),
            some => format!(
                "{some} of {} pictures, first in frame {}",
                self.sample_times.len(),
                wording::number(*first)
            ),
        };
        let bodies = |frame: usize| {
            self.recording
                .tracks
                .iter()
                .any(|track| track.pose(frame).is_some() && !track.surface().is_endless())
        };
        let helps = if !bodies(*first as usize) {
            "no body exists then: give another --frame"
        } else if self.is_fixed {
            "move --at and --from, or leave them out"
        } else if self.recording.camera.is_some() {
            "give another --frame, move the [camera] of the scene, or give --at and --from"
        } else {
            "give another --frame, or --at and --from"
        };
        // stderr may be closed
        let _ = writeln!(
            io::stderr(),
            "note: {}: no body is in view in {frames}: {helps}",
            path.display()
        );
    }

    /// Draws pictures and passes them on in order.
    fn each(&self, mut take: impl FnMut(usize, Picture) -> io::Result<()>) -> io::Result<()> {
        let progress = Progress::of_pictures(self.sample_times.len(), self.quiet);
        for (n, &time) in self.sample_times.iter().enumerate() {
            let view = if self.is_fixed { self.view } else { self.view.at(self.recording, time) };
            let view = view.turned(self.turntable * n as f64 / self.sample_times.len() as f64);
            let Self { recording, images, .. } = self;
            let subject = Subject { recording, images, dust: self.dust.as_ref() };
            let picture = draw(subject, &view, time, self.size);
            if !picture.shows_body() {
                self.empty.borrow_mut().push(time);
            }
            take(n, picture)?;
            progress.picture(n + 1);
        }
        Ok(())
    }
}
