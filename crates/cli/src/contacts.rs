//! Contact files: a header, then one JSON line for each contact and each fracture of a frame.

use std::io::{self, BufWriter, Read, Seek, Write};
use std::path::Path;

use nalgebra::{Isometry3, Point3, Quaternion, Translation3, Unit, Vector3};
use serde_json::json;
use sim::{BodyId, HitOutcome, Report, TouchingPair};

use crate::output::{folder_of, write_whole};

/// A contact file in progress. Lines go to an unnamed temporary file, so that memory does not grow
/// with the frames.
pub struct Contacts {
    lines: BufWriter<std::fs::File>,
    fps: f64,
}

impl Contacts {
    /// An empty file of a run at `fps` frames/s, in the folder of `path`.
    ///
    /// # Errors
    /// The system error if a file cannot be created there.
    pub fn beside(path: &Path, fps: f64) -> io::Result<Self> {
        let file = tempfile::tempfile_in(folder_of(path))?;
        let mut lines = BufWriter::new(file);
        writeln!(lines, "{}", json!({ "format": "brisance contacts", "version": 1, "fps": fps }))?;
        Ok(Self { lines, fps })
    }

    /// Adds the contacts with an impulse and the fractures of the frame of `report`. `name` returns
    /// the name of a body.
    ///
    /// # Errors
    /// If writing fails.
    pub fn add(
        &mut self,
        report: &Report,
        frame: usize,
        name: impl Fn(BodyId) -> Option<String>,
    ) -> io::Result<()> {
        let events = &report.events.contacts;
        for touching in events.touching.iter().filter(|touching| touching.impulse > 0.0) {
            let TouchingPair { bodies, point, normal, impulse, materials, .. } = touching;
            let line = json!({
                "frame": frame,
                "time": frame as f64 / self.fps,
                "bodies": bodies.map(&name),
                "materials": materials,
                "point": point.coords.as_slice(),
                "normal": normal.as_slice(),
                "impulse": impulse,
                "began": events.began.binary_search(bodies).is_ok(),
            });
            writeln!(self.lines, "{line}")?;
        }
        for event in &report.events.replayable {
            let HitOutcome::Broke(pieces) = event.outcome else { continue };
            let [x, y, z, i, j, k, w] = event.pose;
            let turn = Unit::new_unchecked(Quaternion::new(w, i, j, k));
            let pose = Isometry3::from_parts(Translation3::new(x, y, z), turn);
            let size = Vector3::from(event.impulse).norm();
            let line = json!({
                "frame": frame,
                "time": frame as f64 / self.fps,
                "broke": name(event.body),
                "pieces": pieces,
                "point": (pose * Point3::from(event.point)).coords.as_slice(),
                "normal": event.normal,
                "impulse": event.strength.map_or(size, |strength| strength.min(size)),
            });
            writeln!(self.lines, "{line}")?;
        }
        Ok(())
    }

    /// Writes the lines to `path`.
    ///
    /// # Errors
    /// If reading or writing fails; the file is then unchanged.
    pub fn write(self, path: &Path) -> io::Result<()> {
        let mut file = self.lines.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        write_whole(path, |out| {
            io::copy(&mut Read::by_ref(&mut file), out)?;
            Ok::<_, io::Error>(())
        })
    }
}
