//! A folder with one PLY file per frame, in world coordinates, binary and little-endian.
//!
//! A vertex has its normal, its color and the index of its body in the recording.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use meshfile::WriteError;
use nalgebra::{Isometry3, Point3, Vector3};
use sim::{Recording, Surface, Track};

use super::check::check;

/// Writes `frame_00000.ply` and so on.
pub(super) fn write(recording: &Recording, folder: &Path) -> Result<(), WriteError> {
    check(recording)?;
    for frame in 0..recording.frames {
        let file = File::create(folder.join(format!("frame_{frame:05}.ply")))?;
        let mut out = BufWriter::new(file);
        write_frame(recording, frame, &mut out)?;
        out.flush()?;
    }
    Ok(())
}

fn write_frame(recording: &Recording, frame: usize, out: &mut impl Write) -> std::io::Result<()> {
    let there: Vec<(usize, &Track, &Isometry3<f64>)> = recording
        .tracks
        .iter()
        .enumerate()
        .filter_map(|(n, track)| Some((n, track, track.pose(frame)?)))
        .collect();
    let vertices: usize = there.iter().map(|(_, t, _)| t.surface().vertices.len()).sum();
    let faces = |track: &Track| track.surface().outer.len() + track.surface().inner.len();
    let faces: usize = there.iter().map(|(_, track, _)| faces(track)).sum();
    writeln!(out, "ply\nformat binary_little_endian 1.0\nelement vertex {vertices}")?;
    for name in ["x", "y", "z", "nx", "ny", "nz"] {
        writeln!(out, "property float {name}")?;
    }
    for name in ["red", "green", "blue"] {
        writeln!(out, "property uchar {name}")?;
    }
    writeln!(out, "property int body\nelement face {faces}")?;
    writeln!(out, "property list uchar int vertex_indices\nend_header")?;
    for (n, track, pose) in &there {
        write_vertices(*n, track, pose, out)?;
    }
    let mut first = 0;
    for (_, track, _) in &there {
        let surface = track.surface();
        let Surface { vertices, outer, inner, .. } = &*surface;
        for triangle in outer.iter().chain(inner) {
            out.write_all(&[3])?;
            for corner in triangle {
                out.write_all(&(first + corner).to_le_bytes())?;
            }
        }
        first += vertices.len() as u32;
    }
    Ok(())
}

fn write_vertices(
    body: usize,
    track: &Track,
    pose: &Isometry3<f64>,
    out: &mut impl Write,
) -> std::io::Result<()> {
    let surface = track.surface();
    let Surface { vertices, normals, colors, inner, .. } = &*surface;
    let mut cut = vec![false; vertices.len()];
    inner.iter().flatten().for_each(|&v| cut[v as usize] = true);
    for (v, (vertex, normal)) in vertices.iter().zip(normals).enumerate() {
        let p = (pose * Point3::from(*vertex).cast()).cast::<f32>();
        let n = (pose * Vector3::from(*normal).cast()).cast::<f32>();
        for x in p.iter().chain(&n) {
            out.write_all(&x.to_le_bytes())?;
        }
        let own = colors.get(v).map(|&[r, g, b, _]| [r, g, b]);
        let look = if cut[v] { track.look.inner_color } else { track.look.color };
        out.write_all(&own.unwrap_or(look).map(srgb))?;
        out.write_all(&(body as i32).to_le_bytes())?;
    }
    Ok(())
}

/// The sRGB byte of linear light from 0 to 1 (IEC 61966-2-1).
fn srgb(light: f32) -> u8 {
    let light = light.clamp(0.0, 1.0);
    let value =
        if light <= 0.003_130_8 { 12.92 * light } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 };
    (value * 255.0).round() as u8
}
