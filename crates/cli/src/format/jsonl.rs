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
use serde_json::{Value, json};
use sim::{Recording, Track};

use crate::spool::{PoseRange, SpooledRecording};

/// Number of frames whose poses are in memory at a time.
const BLOCK: usize = 64;

pub(super) fn write(spooled: SpooledRecording<'_>, out: &mut impl Write) -> Result<(), WriteError> {
    let Recording { fps, frames, ref tracks, .. } = *spooled.recording;
    let bodies: Vec<Value> = tracks.iter().map(body).collect();
    let head = json!({ "format": "brisance", "version": 1, "fps": fps, "frames": frames,
        "bodies": bodies });
    writeln!(out, "{head}")?;
    for first in (0..frames).step_by(BLOCK) {
        let block = first..frames.min(first + BLOCK);
        let mut ranges = Vec::new();
        for (index, track) in tracks.iter().enumerate() {
            if track.birth < block.end && track.end() > block.start {
                let range = spooled.poses(index, block.clone())?;
                check_poses(track, &range.poses)?;
                ranges.push((index, range));
            }
        }
        for frame in block {
            writeln!(out, "{}", line(&ranges, frame, fps))?;
        }
    }
    Ok(())
}

fn body(track: &Track) -> Value {
    json!({ "name": track.name, "parent": track.parent, "birth": track.birth, "end": track.end(), "shrinks": track.shrinks,
        "material": track.look.material, "colour": track.look.color,
        "inner_colour": track.look.inner_color })
}

/// A frame. `ranges` are poses of tracks, by the index of the track.
fn line(ranges: &[(usize, PoseRange)], frame: usize, fps: f64) -> Value {
    let mut bodies = vec![];
    let mut poses = vec![];
    for (index, range) in ranges {
        let pose = frame.checked_sub(range.first_frame).and_then(|n| range.poses.get(n));
        let Some(pose) = pose else { continue };
        let ([x, y, z], [i, j, k, w]): ([f64; 3], [f64; 4]) =
            (pose.translation.vector.into(), pose.rotation.coords.into());
        bodies.push(*index);
        poses.push([x, y, z, i, j, k, w]);
    }
    json!({ "frame": frame, "time": frame as f64 / fps, "bodies": bodies, "poses": poses })
}
