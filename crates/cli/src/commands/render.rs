//! `brisance render`.

use rayon::prelude::*;

use crate::args::RenderArguments;
use crate::commands::{Failure, check_output, read};
use crate::glb::read_glb;
use crate::output::write_whole;
use crate::render::{View, contact_sheet, render as draw};

/// Columns of a contact sheet.
const COLUMNS: usize = 4;

/// Draws one frame or a contact sheet.
pub(super) fn render(arguments: &RenderArguments) -> Result<(), Failure> {
    let RenderArguments { recording: path, output, frame, sheet, size } = arguments;
    check_output(output, ".png")?;
    let recording = read_glb(&read(path)?)
        .map_err(|source| Failure::Recording { path: path.clone(), source })?;
    let last = recording.frames - 1;
    if *frame > last {
        let frames = recording.frames;
        return Err(Failure::NoFrame { path: path.clone(), frame: *frame, frames });
    }
    let view = View::fitted(&recording, size[0] as f64 / size[1] as f64);
    let picture = match sheet.map(usize::from) {
        None => draw(&recording, &view, *frame, *size),
        Some(count) => {
            let frame = |i: usize| i * last / (count - 1).max(1);
            let pictures: Vec<_> = (0..count)
                .into_par_iter()
                .map(|i| draw(&recording, &view, frame(i), *size))
                .collect();
            contact_sheet(&pictures, COLUMNS.min(count))
        }
    };
    write_whole(output, |out| picture.write_png(out))
        .map_err(|source| Failure::Write { path: output.clone(), source: source.into() })
}
