//! One JSON object per line.
//!
//! The first line describes the file and its bodies: `{"format": "brisance", "version": 1,
//! "fps": 30, "frames": 121, "bodies": [{"name": "bunny.3", "parent": 1, "birth": 14, "end": 121,
//! "shrinks": null, "material": "clay", "colour": [r, g, b], "inner_colour": [r, g, b]}, ...]}`,
//! where a parent is an index in the list and `shrinks` the frame from which a retired piece is
//! drawn shrinking. Every other line is a frame: `{"frame": 14, "time": 0.4667,
//! "bodies": [0, 4, 5], "poses": [[x, y, z, qx, qy, qz, qw], ...]}`, with the bodies that exist in
//! it, meters and unit quaternions, body to world.

use std::io::Write;

use meshfile::{WriteError, check_poses};
use nalgebra::Isometry3;
use serde_json::{Value, json};
use sim::{Recording, Track};

use crate::spool::Paths;

/// Number of frames whose poses are in memory at a time.
const BLOCK: usize = 64;

pub(super) fn write(paths: Paths<'_>, out: &mut impl Write) -> Result<(), WriteError> {
    let Recording { fps, frames, ref tracks, .. } = *paths.recording;
    let bodies: Vec<Value> = tracks.iter().map(body).collect();
    let head = json!({ "format": "brisance", "version": 1, "fps": fps, "frames": frames,
        "bodies": bodies });
    writeln!(out, "{head}")?;
    for first in (0..frames).step_by(BLOCK) {
        let block = first..frames.min(first + BLOCK);
        let mut stretches = Vec::new();
        for (index, track) in tracks.iter().enumerate() {
            if track.birth < block.end && track.end() > block.start {
                let (start, poses) = paths.of(index, block.clone())?;
                check_poses(track, &poses)?;
                stretches.push((index, start, poses));
            }
        }
        for frame in block {
            writeln!(out, "{}", line(&stretches, frame, fps))?;
        }
    }
    Ok(())
}

fn body(track: &Track) -> Value {
    json!({ "name": track.name, "parent": track.parent, "birth": track.birth, "end": track.end(), "shrinks": track.shrinks,
        "material": track.look.material, "colour": track.look.color,
        "inner_colour": track.look.inner_color })
}

/// A frame; each stretch is a track, its first frame and the poses from there on.
fn line(stretches: &[(usize, usize, Vec<Isometry3<f64>>)], frame: usize, fps: f64) -> Value {
    let mut bodies = vec![];
    let mut poses = vec![];
    for (index, start, stretch) in stretches {
        let Some(pose) = frame.checked_sub(*start).and_then(|n| stretch.get(n)) else { continue };
        let ([x, y, z], [i, j, k, w]): ([f64; 3], [f64; 4]) =
            (pose.translation.vector.into(), pose.rotation.coords.into());
        bodies.push(*index);
        poses.push([x, y, z, i, j, k, w]);
    }
    json!({ "frame": frame, "time": frame as f64 / fps, "bodies": bodies, "poses": poses })
}
