//! Universal Scene Description, as text (`.usda`) or binary (`.usdc`), with the same prims.
//!
//! Every body is an `Xform` with time samples of translation and orientation, one time code per
//! frame and additional samples at impacts, and a visibility that is `inherited` while it exists.
//! Programs that do not import animated visibility, such as Blender, see a scale that is 0 where
//! the body does not exist. Prims have the names of the bodies, as far as identifiers allow, and
//! materials those of the looks. The mesh of a body has a subset for the outer surface, or one per
//! coat, and one for cuts, each with a material; `primvars:rest` is the position of a vertex in the
//! whole body, m. Images of coats are in a folder next to the file.

mod binary;
mod encoder;
mod looks;
mod names;
mod prim;
mod text;

use std::borrow::Cow;
use std::io::{Seek, Write};
use std::path::Path;

use meshfile::WriteError;
use nalgebra::Isometry3;
use sim::{Recording, Surface, Track};

use super::check::check;
use binary::Binary;
use encoder::Encoder;
pub(super) use looks::{Looks, MaterialNames};
pub(super) use names::Names;
pub(super) use prim::{Metadata, Prim, Samples, Value};
use text::Text;

/// The encoding of prims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// `.usda`.
    Text,
    /// `.usdc`.
    Binary,
}

impl Encoding {
    /// An encoder that writes to `out`, which must be empty.
    pub(super) fn encoder<'w>(self, out: &'w mut (impl Write + Seek)) -> Box<dyn Encoder + 'w> {
        match self {
            Self::Text => Box::new(Text::new(out)),
            Self::Binary => Box::new(Binary::new(out)),
        }
    }
}

/// Metadata of a stage with time samples.
pub(super) fn timed(frames: usize, fps: f64) -> [(&'static str, Value<'static>); 6] {
    [
        ("startTimeCode", Value::Double(0.0)),
        ("endTimeCode", Value::Double((frames - 1) as f64)),
        ("timeCodesPerSecond", Value::Double(fps)),
        ("framesPerSecond", Value::Double(fps)),
        ("metersPerUnit", Value::Double(1.0)),
        ("upAxis", Value::token("Y")),
    ]
}

/// Writes to `out`, the future file at `path`, and writes the images next to it.
pub(super) fn write(
    recording: &Recording,
    path: &Path,
    encoding: Encoding,
    out: &mut (impl Write + Seek),
) -> Result<(), WriteError> {
    check(recording)?;
    let Recording { fps, frames, .. } = *recording;
    let mut encoder = encoding.encoder(out);
    encoder.begin(&timed(frames, fps))?;
    let looks = Looks::of(recording, path);
    encoder.add(looks.prim())?;
    let mut names = Names::taken(&["Looks"]);
    for track in &recording.tracks {
        let surface = track.surface();
        let name = names.of(&track.name);
        encoder.add(body((&name, looks.names(track)), (track, &surface), (frames, fps)))?;
    }
    encoder.end()?;
    drop(encoder);
    Ok(looks.write_images(path)?)
}

/// The prim of a body, given the names of the prim and of its materials.
fn body<'a>(
    (own, materials): (&str, &MaterialNames),
    (track, surface): (&'a Track, &'a Surface),
    (frames, fps): (usize, f64),
) -> Prim<'a> {
    let mut prim = Prim::new("Xform", own).shown_as(&track.name);
    let timed_poses = timed_poses(track);
    let samples = move || timed_poses.clone().into_iter();
    if !track.poses.is_empty() {
        let places = samples().map(|(time, pose)| {
            let t = pose.translation;
            (time, Value::Double3([t.x, t.y, t.z]))
        });
        prim.animate("double3", "xformOp:translate", Box::new(places));
        let rotations = samples().map(|(time, pose)| {
            let q = pose.rotation;
            (time, Value::Quatd([q.w, q.i, q.j, q.k]))
        });
        prim.animate("quatd", "xformOp:orient", Box::new(rotations));
        let mut order = vec!["xformOp:translate", "xformOp:orient"];
        let sizes = sizes(track, frames, fps);
        if !sizes.is_empty() {
            let sizes = sizes.into_iter().map(|(time, s)| (time, Value::Float3([s; 3])));
            prim.animate("float3", "xformOp:scale", Box::new(sizes));
            order.push("xformOp:scale");
        }
        prim.set_uniform("token[]", "xformOpOrder", Value::Tokens(order));
    }
    add_visibility(track, frames, &mut prim);
    if !surface.vertices.is_empty() {
        prim.add_child(mesh(surface, track.look.color, (own, materials)));
    }
    prim
}

/// Times, in frames, of the poses of a body and of its impacts, with its poses.
fn timed_poses(track: &Track) -> Vec<(f64, Isometry3<f64>)> {
    let poses = (track.birth..).zip(&track.poses).map(|(frame, pose)| (frame as f64, *pose));
    let waypoints = track.waypoints.iter().map(|waypoint| (waypoint.time, waypoint.pose));
    let mut timed_poses: Vec<_> = poses.chain(waypoints).collect();
    timed_poses.sort_by(|a, b| a.0.total_cmp(&b.0));
    timed_poses
}

/// Times, in frames, and scales between which a body grows and shrinks; empty if its scale is
/// constant.
fn sizes(track: &Track, frames: usize, fps: f64) -> Vec<(f64, f32)> {
    /// Programs interpolate between samples. A scale therefore has a second sample this many frames
    /// before it changes.
    const HELD: f64 = 1e-3;
    let (birth, end) = (track.birth as f64, track.end() as f64);
    let mut sizes = vec![];
    if track.birth > 0 {
        sizes.extend([(0.0, 0.0), (birth - HELD, 0.0)]);
    }
    if track.birth > 0 || track.end() < frames || track.shrinks.is_some() {
        sizes.push((birth, 1.0));
    }
    if let Some(first) = track.shrinks {
        let whole = (first - 1).max(track.birth + 1);
        sizes.extend((whole..track.end()).map(|n| (n as f64, track.scale(n, fps) as f32)));
    }
    if track.end() < frames {
        let last = sizes.last().map_or(1.0, |last| last.1);
        sizes.extend([(end - HELD, last), (end, 0.0)]);
    }
    sizes
}

fn add_visibility(track: &Track, frames: usize, prim: &mut Prim<'_>) {
    let [hidden, seen] = ["invisible", "inherited"].map(|token| move || Value::token(token));
    if track.poses.is_empty() {
        prim.set("token", "visibility", hidden());
        return;
    }
    let mut samples = Vec::new();
    if track.birth > 0 {
        samples.push((0.0, hidden()));
    }
    samples.push((track.birth as f64, seen()));
    if track.end() < frames {
        samples.push((track.end() as f64, hidden()));
    }
    prim.animate("token", "visibility", Box::new(samples.into_iter()));
}

pub(super) fn mesh<'a>(
    surface: &'a Surface,
    color: [f32; 3],
    (own, materials): (&str, &MaterialNames),
) -> Prim<'a> {
    let Surface { vertices, inner, .. } = surface;
    let corners = |pick: fn(f32, f32) -> f32| {
        let mut corner = vertices[0];
        for vertex in vertices {
            corner = std::array::from_fn(|a| pick(corner[a], vertex[a]));
        }
        corner
    };
    let mut prim = Prim::new("Mesh", own).with_schemas(&["MaterialBindingAPI"]);
    prim.set_uniform("token", "subdivisionScheme", Value::token("none"));
    let extent = vec![corners(f32::min), corners(f32::max)];
    prim.set("float3[]", "extent", Value::Float3s(extent.into()));
    let (kind, name) = ("color3f[]", "primvars:displayColor");
    if surface.colors.is_empty() {
        prim.set(kind, name, Value::Float3s(vec![color].into()));
    } else {
        let colors: Vec<[f32; 3]> = surface.colors.iter().map(|&[r, g, b, _]| [r, g, b]).collect();
        prim.set_of_vertices(kind, name, Value::Float3s(colors.into()));
    }
    prim.set("point3f[]", "points", Value::float3s(vertices));
    prim.set("normal3f[]", "normals", Value::float3s(&surface.normals));
    prim.set_of_vertices("point3f[]", "primvars:rest", Value::float3s(&surface.rest));
    if !surface.uvs.is_empty() {
        let uvs = Value::Float2s(surface.uvs.as_slice().into());
        prim.set_of_vertices("texCoord2f[]", "primvars:st", uvs);
    }
    let mut sides: Vec<Side<'_>> = Vec::new();
    for (coat, triangles) in surface.outer_by_coat() {
        let coated = coat.and_then(|coat| Some((coat, materials.coats.get(coat as usize)?)));
        let (name, material) = match coated {
            Some((coat, material)) => (format!("outer_{coat}"), material),
            None => ("outer".to_owned(), &materials.outer),
        };
        match sides.iter_mut().find(|(other, ..)| *other == name) {
            Some((.., known)) => known.to_mut().extend_from_slice(&triangles),
            None => sides.push((name, material, triangles)),
        }
    }
    sides.push(("inner".to_owned(), &materials.inner, Cow::Borrowed(inner)));
    add_faces(sides, &mut prim);
    prim
}

/// The name of a subset, its material and its triangles.
type Side<'a> = (String, &'a str, Cow<'a, [[u32; 3]]>);

/// Adds triangles, and the subsets of their materials.
fn add_faces(sides: Vec<Side<'_>>, prim: &mut Prim<'_>) {
    let corners = sides.iter().flat_map(|(.., triangles)| triangles.as_flattened());
    add_triangles(corners.copied().collect(), prim);
    let family = "subsetFamily:materialBind:familyType";
    prim.set_uniform("token", family, Value::token("partition"));
    let mut first = 0;
    for (side, material, triangles) in sides {
        let faces = first..first + triangles.len() as i32;
        first = faces.end;
        let mut subset = Prim::new("GeomSubset", side).with_schemas(&["MaterialBindingAPI"]);
        subset.set_uniform("token", "elementType", Value::token("face"));
        subset.set_uniform("token", "familyName", Value::token("materialBind"));
        subset.set("int[]", "indices", Value::Ints(faces.collect()));
        subset.relate("material:binding", format!("/World/Looks/{material}"));
        prim.add_child(subset);
    }
}

/// Adds triangles as three indices each.
pub(super) fn add_triangles(corners: Vec<u32>, prim: &mut Prim<'_>) {
    prim.set("int[]", "faceVertexCounts", Value::Ints(vec![3; corners.len() / 3]));
    let corners = corners.into_iter().map(|v| v as i32).collect();
    prim.set("int[]", "faceVertexIndices", Value::Ints(corners));
}
