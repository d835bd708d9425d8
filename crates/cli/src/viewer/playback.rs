//! Encoding of a recording for the page.

use meshfile::page::{Coats, Geometries, appearance, image_head, write_head, write_pose};
use serde_json::{Value, json};
use sim::{Recording, TimedWaypoint, Track};

use crate::format::DustCloud;
use crate::render::View;

/// The recording with its dust as bytes, little-endian, titled `name` on the page.
///
/// A header as by [`write_head`]; then its geometries as by [`meshfile::page::Packed`]; then for
/// each body its poses, one per frame, as by [`write_pose`], followed by the time in frames, `f32`,
/// and the pose of each of its waypoints; then of all specks of dust the
/// positions, m, the velocities, m/s, the linear colors, the diameters, m, and the start and end of
/// the lives, s, and whether they fall, 1 or 0, as `f32`; then for each image of the header the bytes of its file.
pub fn playback(recording: &Recording, dust: Option<&DustCloud>, name: &str) -> Vec<u8> {
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
        "dust": dust.map(dust_head),
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
    dust.into_iter().for_each(|dust| write_dust(dust, &mut bytes));
    coats.images.iter().for_each(|image| bytes.extend_from_slice(&image.bytes));
    bytes
}

/// The number of specks and their acceleration, m/s^2.
fn dust_head(dust: &DustCloud) -> Value {
    let count: usize = dust.groups.iter().map(|group| group.grains.len()).sum();
    json!({ "count": count, "gravity": dust.gravity.as_slice() })
}

/// Appends the positions of all specks, m, their velocities, m/s, linear colors, diameters, m, the
/// start and end of their lives, s, and whether they fall, 1 or 0, as `f32`.
fn write_dust(dust: &DustCloud, bytes: &mut Vec<u8>) {
    let all = || dust.groups.iter().flat_map(|own| own.grains.iter().map(move |one| (own, one)));
    let mut write = |numbers: &[f32]| bytes.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
    all().for_each(|(_, grain)| write(grain.position.as_slice()));
    all().for_each(|(_, grain)| write(grain.velocity.as_slice()));
    all().for_each(|(group, _)| write(&group.color));
    all().for_each(|(_, grain)| write(&[grain.size]));
    all().for_each(|(group, _)| write(&[group.birth, group.end, f32::from(group.falls)]));
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
    let sides = geometries.sides_or_insert(&track.lazy_surface, &track.look.coats);
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
