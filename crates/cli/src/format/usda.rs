//! Universal Scene Description as text.
//!
//! Every body is an `Xform` with time samples of translation and orientation, one time code per
//! frame, and a visibility that is `inherited` while it exists.

use std::io::{self, Write};

use sim::{Recording, Surface, Track};

use super::{WriteError, check};

pub(super) fn write(recording: &Recording, out: &mut impl Write) -> Result<(), WriteError> {
    check(recording)?;
    let Recording { fps, frames, .. } = *recording;
    writeln!(out, "#usda 1.0")?;
    writeln!(out, "(\n    defaultPrim = \"World\"")?;
    writeln!(out, "    startTimeCode = 0\n    endTimeCode = {}", frames - 1)?;
    writeln!(out, "    timeCodesPerSecond = {fps}\n    framesPerSecond = {fps}")?;
    writeln!(out, "    metersPerUnit = 1\n    upAxis = \"Y\"\n)\n")?;
    writeln!(out, "def Xform \"World\"\n{{")?;
    for (index, track) in recording.tracks.iter().enumerate() {
        body(index, track, frames, out)?;
    }
    writeln!(out, "}}")?;
    Ok(())
}

fn body(index: usize, track: &Track, frames: usize, out: &mut impl Write) -> io::Result<()> {
    // names of prims are identifiers; the display name is free, in JSON's escapes
    let name = serde_json::Value::from(track.name.as_str());
    writeln!(out, "    def Xform \"body_{index}\" (\n        displayName = {name}\n    )\n    {{")?;
    let samples = || (track.birth..).zip(&track.poses);
    if !track.poses.is_empty() {
        writeln!(out, "        double3 xformOp:translate.timeSamples = {{")?;
        for (frame, pose) in samples() {
            let t = pose.translation;
            writeln!(out, "            {frame}: ({}, {}, {}),", t.x, t.y, t.z)?;
        }
        writeln!(out, "        }}\n        quatd xformOp:orient.timeSamples = {{")?;
        for (frame, pose) in samples() {
            let q = pose.rotation;
            writeln!(out, "            {frame}: ({}, {}, {}, {}),", q.w, q.i, q.j, q.k)?;
        }
        writeln!(out, "        }}")?;
        writeln!(
            out,
            "        uniform token[] xformOpOrder = [\"xformOp:translate\", \"xformOp:orient\"]"
        )?;
    }
    visibility(track, frames, out)?;
    if !track.surface.triangles.is_empty() {
        mesh(&track.surface, track.colour, out)?;
    }
    writeln!(out, "    }}")
}

fn visibility(track: &Track, frames: usize, out: &mut impl Write) -> io::Result<()> {
    if track.poses.is_empty() {
        return writeln!(out, "        token visibility = \"invisible\"");
    }
    writeln!(out, "        token visibility.timeSamples = {{")?;
    if track.birth > 0 {
        writeln!(out, "            0: \"invisible\",")?;
    }
    writeln!(out, "            {}: \"inherited\",", track.birth)?;
    if track.end() < frames {
        writeln!(out, "            {}: \"invisible\",", track.end())?;
    }
    writeln!(out, "        }}")
}

fn mesh(surface: &Surface, [r, g, b]: [f32; 3], out: &mut impl Write) -> io::Result<()> {
    let corners = |pick: fn(f32, f32) -> f32| {
        let mut corner = surface.vertices[0];
        for vertex in &surface.vertices {
            corner = std::array::from_fn(|a| pick(corner[a], vertex[a]));
        }
        corner
    };
    writeln!(out, "        def Mesh \"surface\"\n        {{")?;
    writeln!(out, "            uniform token subdivisionScheme = \"none\"")?;
    write!(out, "            float3[] extent = ")?;
    tuples(&[corners(f32::min), corners(f32::max)], out)?;
    write!(out, "            color3f[] primvars:displayColor = ")?;
    tuples(&[[r, g, b]], out)?;
    write!(out, "            point3f[] points = ")?;
    tuples(&surface.vertices, out)?;
    write!(out, "            normal3f[] normals = ")?;
    tuples(&surface.normals, out)?;
    let threes = vec!["3"; surface.triangles.len()].join(", ");
    writeln!(out, "            int[] faceVertexCounts = [{threes}]")?;
    let indices: Vec<String> =
        surface.triangles.as_flattened().iter().map(u32::to_string).collect();
    writeln!(out, "            int[] faceVertexIndices = [{}]\n        }}", indices.join(", "))
}

fn tuples(vectors: &[[f32; 3]], out: &mut impl Write) -> io::Result<()> {
    let tuples: Vec<String> = vectors.iter().map(|[x, y, z]| format!("({x}, {y}, {z})")).collect();
    writeln!(out, "[{}]", tuples.join(", "))
}
