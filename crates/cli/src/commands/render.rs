//! `brisance render`.

use rayon::prelude::*;

use crate::args::RenderArguments;
use crate::commands::{Failure, check_folder, ends_in, read};
use crate::format::glb::read_glb;
use crate::output::write_whole;
use crate::render::{View, contact_sheet, render as draw};

/// Columns of a contact sheet.
const COLUMNS: usize = 4;
/// Most pixels of all frames together: 256 MB as they are drawn.
const MOST_PIXELS: usize = 1 << 26;

/// Draws one frame or a contact sheet.
pub(super) fn render(arguments: &RenderArguments) -> Result<(), Failure> {
    let RenderArguments { recording: path, output, frame, sheet, size, .. } = arguments;
    if !ends_in(output, "png") {
        return Err(Failure::Format { path: output.clone(), known: ".png" });
    }
    check_folder(output)?;
    let recording = read_glb(&read(path)?)
        .map_err(|source| Failure::Recording { path: path.clone(), source })?;
    let last = recording.frames - 1;
    let frames: Vec<usize> = match sheet.map(usize::from) {
        Some(count) => (0..count).map(|i| i * last / (count - 1).max(1)).collect(),
        None => frame.clone(),
    };
    if let Some(&frame) = frames.iter().find(|&&frame| frame > last) {
        let frames = recording.frames;
        return Err(Failure::NoFrame { path: path.clone(), frame, frames });
    }
    if frames.len().saturating_mul(size[0] * size[1]) > MOST_PIXELS {
        return Err(Failure::TooManyPixels { frames: frames.len(), size: *size });
    }
    let fitted = View::fitted(&recording, size[0] as f64 / size[1] as f64);
    let view = match (arguments.at, arguments.from) {
        (Some(at), Some(from)) => fitted.moved(at.into(), from.into()),
        _ => fitted,
    };
    let pictures: Vec<_> =
        frames.par_iter().map(|&frame| draw(&recording, &view, frame, *size)).collect();
    let picture = contact_sheet(&pictures, COLUMNS.min(frames.len()));
    write_whole(output, |out| picture.write_png(out))
        .map_err(|source| Failure::Write { path: output.clone(), source: source.into() })
}
