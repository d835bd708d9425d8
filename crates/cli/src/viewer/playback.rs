//! Encoding of a recording for the page.

use meshfile::page::{Coats, Geometries, appearance, image_head, write_head, write_pose};
use serde_json::{Value, json};
use sim::{Recording, TimedWaypoint, Track};

use crate::render::View;

/// The recording as bytes, little-endian, titled `name` on the page.
///
/// A header as by [`write_head`]; then its geometries as by [`meshfile::page::Packed`]; then for
/// each body its poses, one per frame, as by [`write_pose`], followed by the time in frames, `f32`,
/// and the pose of each of its waypoints; then for each image of the header the bytes of its file.
pub fn playback(recording: &Recording, name: &str) -> Vec<u8> {
    let mut geometries = Geometries::default();
    let mut coats = Coats::default();
    let mut packed = |track| body(track, recording.fps, (&mut geometries, &mut coats));
    let bodies: Vec<Value> = recording.tracks.iter().map(&mut packed).collect();
    let geometries = geometries.take();
    let view = View::fitted(recording, 16.0 / 9.0);
    let start = view.at(recording, 0.0);
    let [center, arm]: [[f64; 3]; 2] = [start.center().into(), start.arm().into()];
    let energies: Vec<Value> = recording
        .energies
        .iter()
        .map(|e| json!({ "kinetic": e.kinetic, "potential": e.potential, "dissipated": e.dissipated }))
        .collect();
    let head = json!({
        "name": name,
        "fps": recording.fps,
        "frames": recording.frames,
        "view": { "centre": center, "arm": arm, "radius": start.radius(), "field": start.field(),
            "path": path(recording, &view) },
        "geometries": geometries.sizes,
        "bodies": bodies,
        "coats": coats.entries,
        "images": coats.images.iter().map(image_head).collect::<Vec<_>>(),
        "energies": energies,
    });
    let mut bytes = write_head(&head);
    bytes.extend(geometries.bytes);
    for Track { poses, waypoints, .. } in &recording.tracks {
        poses.iter().for_each(|pose| write_pose(pose, &mut bytes));
        for TimedWaypoint { time, pose } in waypoints {
            bytes.extend((*time as f32).to_le_bytes());
            write_pose(pose, &mut bytes);
        }
    }
    coats.images.iter().for_each(|image| bytes.extend_from_slice(&image.bytes));
    bytes
}

/// The camera target and the vector from it to the camera in each frame, if it moves.
fn path(recording: &Recording, view: &View) -> Option<Vec<[f64; 6]>> {
    let place = |frame: usize| {
        let now = view.at(recording, frame as f64);
        let ([x, y, z], [a, b, c]) = (now.center().into(), now.arm().into());
        [x, y, z, a, b, c]
    };
    let path: Vec<[f64; 6]> = (0..recording.frames).map(place).collect();
    path.windows(2).any(|pair| pair[0] != pair[1]).then_some(path)
}

fn body(track: &Track, fps: f64, (geometries, coats): (&mut Geometries, &mut Coats)) -> Value {
    // in its last frames, while it shrinks
    let shrinking = track.shrinks.unwrap_or(track.end())..track.end();
    let sizes: Vec<f64> = shrinking.map(|frame| track.scale(frame, fps)).collect();
    let stress: Vec<Value> =
        track.stresses.iter().map(|s| json!([s.frame, s.principal, s.von_mises])).collect();
    let sides = geometries.of(&track.lazy_surface, &track.look.coats);
    let mut body = appearance(&track.look, &sides, coats, track.surface().is_endless());
    body["name"] = track.name.as_str().into();
    body["parent"] = track.parent.into();
    body["birth"] = track.birth.into();
    body["frames"] = track.poses.len().into();
    body["corners"] = track.waypoints.len().into();
    body["sizes"] = sizes.into();
    body["stress"] = stress.into();
    body
}
