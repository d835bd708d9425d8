//! `brisance render`.

use std::io::{self, Write};
use std::path::Path;

use rayon::prelude::*;
use sim::Recording;

use crate::args::RenderArguments;
use crate::commands::{Failure, check_distinct, check_folder, ends_in, print, read};
use crate::format::glb::read_glb;
use crate::output::{write_whole, write_whole_folder};
use crate::render::{Apng, Gif, Picture, View, contact_sheet, render as draw};

/// Most pixels of a contact sheet: 256 MB as it is drawn.
const MAX_PIXELS: usize = 1 << 26;

/// What the frames become.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// One picture of all.
    Sheet,
    Gif,
    Apng,
    /// A picture of each.
    Folder,
}

impl Kind {
    fn of(output: &Path) -> Option<Self> {
        if output.as_os_str().to_string_lossy().ends_with(std::path::is_separator) {
            return Some(Self::Folder);
        }
        let kinds = [("png", Self::Sheet), ("gif", Self::Gif), ("apng", Self::Apng)];
        kinds.into_iter().find(|(ending, _)| ends_in(output, ending)).map(|(_, kind)| kind)
    }
}

/// The frames to draw of a recording.
struct Drawing<'a> {
    recording: &'a Recording,
    view: View,
    frames: Vec<usize>,
    /// Pixels across and down.
    size: [usize; 2],
    /// Frames from one picture to the next.
    every: usize,
}

/// Draws one frame, a contact sheet, an animation or a folder of pictures.
pub(super) fn render(arguments: &RenderArguments) -> Result<(), Failure> {
    let RenderArguments { recording: path, output, size, .. } = arguments;
    let kind = Kind::of(output).ok_or_else(|| Failure::Format {
        path: output.clone(),
        known: ".png, .gif or .apng, or end it in / for a folder of .png files",
    })?;
    check_folder(output)?;
    check_distinct(output, [path.as_path()])?;
    if kind == Kind::Sheet && arguments.every.is_some() {
        return Err(Failure::EveryOfOne { path: output.clone() });
    }
    let recording = read_glb(&read(path)?)
        .map_err(|source| Failure::Recording { path: path.clone(), source })?;
    let frames = frames(arguments, kind, recording.frames);
    if let Some(&frame) = frames.iter().find(|&&frame| frame >= recording.frames) {
        let frames = recording.frames;
        return Err(Failure::NoFrame { path: path.clone(), frame, frames });
    }
    let pixels = frames.len().saturating_mul(size[0] * size[1]);
    if kind == Kind::Sheet && pixels > MAX_PIXELS {
        return Err(Failure::TooManyPixels { frames: frames.len(), size: *size });
    }
    let fitted = View::fitted(&recording, size[0] as f64 / size[1] as f64);
    let view = match (arguments.at, arguments.from) {
        (Some(at), Some(from)) => fitted.moved(at.into(), from.into()).ok_or(Failure::Camera)?,
        _ => fitted,
    };
    let every = arguments.every.unwrap_or(1).into();
    let drawing = Drawing { recording: &recording, view, frames, size: *size, every };
    let columns = arguments.sheet.map_or(4, |sheet| sheet.columns);
    drawing
        .write(kind, columns, output)
        .map_err(|source| Failure::Write { path: output.clone(), source: source.into() })?;
    if arguments.quiet {
        return Ok(());
    }
    let (count, [width, height]) = (drawing.frames.len(), size);
    print(|out| writeln!(out, "{}: {count} frames of {width} x {height} pixels", output.display()))
}

fn frames(arguments: &RenderArguments, kind: Kind, frames: usize) -> Vec<usize> {
    let last = frames - 1;
    match arguments.sheet.map(|sheet| sheet.count) {
        Some(count) => (0..count).map(|i| i * last / (count - 1).max(1)).collect(),
        None if !arguments.frame.is_empty() => arguments.frame.clone(),
        None if kind == Kind::Sheet => vec![0],
        None => (0..frames).step_by(arguments.every.unwrap_or(1).into()).collect(),
    }
}

impl Drawing<'_> {
    fn write(&self, kind: Kind, columns: usize, output: &Path) -> io::Result<()> {
        let fps = self.recording.fps / self.every as f64;
        match kind {
            Kind::Sheet => {
                let pictures: Vec<Picture> =
                    self.frames.par_iter().map(|&frame| self.picture(frame)).collect();
                let sheet = contact_sheet(&pictures, columns.min(pictures.len()));
                write_whole(output, |out| sheet.write_png(out))
            }
            Kind::Gif => write_whole(output, |out| {
                let mut gif = Gif::new(out, self.size, fps)?;
                self.each(|_, picture| gif.add(picture))
            }),
            Kind::Apng => write_whole(output, |out| {
                let mut apng = Apng::new(out, self.size, self.frames.len(), fps)?;
                self.each(|_, picture| apng.add(picture))?;
                apng.finish()
            }),
            Kind::Folder => write_whole_folder(output, |folder| {
                self.each(|frame, picture| {
                    let path = folder.join(format!("frame_{frame:05}.png"));
                    picture.write_png(io::BufWriter::new(std::fs::File::create(path)?))
                })
            }),
        }
    }

    /// Draws the frames, a few at a time, and hands them over in order.
    fn each(&self, mut take: impl FnMut(usize, &Picture) -> io::Result<()>) -> io::Result<()> {
        const AT_ONCE: usize = 16;
        for frames in self.frames.chunks(AT_ONCE) {
            let pictures: Vec<Picture> =
                frames.par_iter().map(|&frame| self.picture(frame)).collect();
            frames.iter().zip(&pictures).try_for_each(|(&frame, picture)| take(frame, picture))?;
        }
        Ok(())
    }

    fn picture(&self, frame: usize) -> Picture {
        draw(self.recording, &self.view, frame, self.size)
    }
}
