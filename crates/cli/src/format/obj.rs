//! A folder of Wavefront OBJ files, one per frame, in world coordinates.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use nalgebra::{Isometry3, Point3, Vector3};
use sim::{Recording, Surface};

use super::{WriteError, check};

/// Writes `frame_00000.obj` and so on; every body that exists is an object of its name.
pub(super) fn write(recording: &Recording, folder: &Path) -> Result<(), WriteError> {
    check(recording)?;
    for frame in 0..recording.frames {
        let file = File::create(folder.join(format!("frame_{frame:05}.obj")))?;
        let mut out = BufWriter::new(file);
        // OBJ counts vertices from 1, through the whole file
        let mut next = 1;
        for track in &recording.tracks {
            if let Some(pose) = track.pose(frame) {
                writeln!(out, "o {}", track.name)?;
                object(&track.surface, pose, next, &mut out)?;
                next += track.surface.vertices.len();
            }
        }
        out.flush()?;
    }
    Ok(())
}

fn object(
    surface: &Surface,
    pose: &Isometry3<f64>,
    first: usize,
    out: &mut impl Write,
) -> std::io::Result<()> {
    for vertex in &surface.vertices {
        let p = (pose * Point3::from(*vertex).cast()).cast::<f32>();
        writeln!(out, "v {} {} {}", p.x, p.y, p.z)?;
    }
    for normal in &surface.normals {
        let n = (pose * Vector3::from(*normal).cast()).cast::<f32>();
        writeln!(out, "vn {} {} {}", n.x, n.y, n.z)?;
    }
    for triangle in &surface.triangles {
        let [a, b, c] = triangle.map(|v| first + v as usize);
        writeln!(out, "f {a}//{a} {b}//{b} {c}//{c}")?;
    }
    Ok(())
}
