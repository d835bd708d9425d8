//! One JSON object per line.
//!
//! The first line tells what is in the file, and holds the bodies: `{"format": "brisance",
//! "version": 1, "fps": 30, "frames": 121, "bodies": [{"name": "bunny.3", "parent": 1, "birth": 14,
//! "end": 121, "shrinks": null, "material": "clay", "colour": [r, g, b], "inner_colour": [r, g, b]}, ...]}`, where a parent is a place in the list
//! and `shrinks` the frame from which on a retired piece is shown to shrink away. Every other line
//! is a frame: `{"frame": 14, "time": 0.4667, "bodies": [0, 4, 5], "poses": [[x, y, z, qx, qy, qz,
//! qw], ...]}` with the bodies that exist in it, metres and unit quaternions, body to world.

use std::io::Write;

use serde_json::{Value, json};
use sim::{Recording, Track};

use super::{WriteError, check_poses};

pub(super) fn write(recording: &Recording, out: &mut impl Write) -> Result<(), WriteError> {
    recording.tracks.iter().try_for_each(check_poses)?;
    let bodies: Vec<Value> = recording.tracks.iter().map(body).collect();
    let Recording { fps, frames, .. } = *recording;
    let head = json!({ "format": "brisance", "version": 1, "fps": fps, "frames": frames,
        "bodies": bodies });
    writeln!(out, "{head}")?;
    for frame in 0..frames {
        writeln!(out, "{}", line(recording, frame))?;
    }
    Ok(())
}

fn body(track: &Track) -> Value {
    json!({ "name": track.name, "parent": track.parent, "birth": track.birth, "end": track.end(), "shrinks": track.shrinks,
        "material": track.look.material, "colour": track.look.colour,
        "inner_colour": track.look.inner_colour })
}

fn line(recording: &Recording, frame: usize) -> Value {
    let mut bodies = vec![];
    let mut poses = vec![];
    for (index, track) in recording.tracks.iter().enumerate() {
        let Some(pose) = track.pose(frame) else { continue };
        let ([x, y, z], [i, j, k, w]): ([f64; 3], [f64; 4]) =
            (pose.translation.vector.into(), pose.rotation.coords.into());
        bodies.push(index);
        poses.push([x, y, z, i, j, k, w]);
    }
    json!({ "frame": frame, "time": frame as f64 / recording.fps, "bodies": bodies,
        "poses": poses })
}
