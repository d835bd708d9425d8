//! Universal Scene Description as text.
//!
//! Every body is an `Xform` with time samples of translation and orientation, one time code per
//! frame, and a visibility that is `inherited` while it exists. Programs that import no visibility that
//! changes, as Blender, see a scale that is 0 where the body does not exist. Prims have the names of the
//! bodies, as far as identifiers allow, and materials those of the looks. The mesh of a body has a subset for the outer
//! surface and one for cuts, each with a material; `primvars:rest` is where a vertex was in the whole
//! body, m.

use std::collections::BTreeSet;
use std::io::{self, Write};

use sim::{Look, Recording, Surface, Track};

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
    let looks = Looks::of(recording);
    looks.write(out)?;
    let mut names = Names::taken(&["Looks"]);
    for track in &recording.tracks {
        body((&names.of(&track.name), looks.names(track)), track, (frames, fps), out)?;
    }
    writeln!(out, "}}")?;
    Ok(())
}

/// The looks of a recording and the names of their materials: of the surface and of cuts.
pub(super) struct Looks<'r> {
    looks: Vec<&'r Look>,
    names: Vec<[String; 2]>,
}

impl<'r> Looks<'r> {
    pub(super) fn of(recording: &'r Recording) -> Self {
        let mut looks: Vec<&Look> = vec![];
        for track in &recording.tracks {
            if !looks.contains(&&*track.look) {
                looks.push(&track.look);
            }
        }
        let mut names = Names::default();
        let mut both = |look: &&Look| {
            let Look { material, .. } = look;
            [names.of(material), names.of(&format!("{material} inside"))]
        };
        let names = looks.iter().map(&mut both).collect();
        Self { looks, names }
    }

    pub(super) fn names(&self, track: &Track) -> &[String; 2] {
        let look = self.looks.iter().position(|look| **look == *track.look).unwrap_or(0);
        &self.names[look]
    }

    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        materials(&self.looks, &self.names, out)
    }
}

/// Names of prims, which are identifiers, each of them once.
#[derive(Default)]
pub(super) struct Names(BTreeSet<String>);

impl Names {
    pub(super) fn taken(names: &[&str]) -> Self {
        Self(names.iter().map(|&name| name.to_owned()).collect())
    }

    /// An identifier like `name`.
    pub(super) fn of(&mut self, name: &str) -> String {
        let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let mut plain: String = name.chars().map(letter).collect();
        if plain.starts_with(|c: char| c.is_ascii_digit()) || plain.is_empty() {
            plain.insert(0, '_');
        }
        let numbered = (2..).map(|n: usize| format!("{plain}_{n}"));
        let mut all = [plain.clone()].into_iter().chain(numbered);
        let free = all.find(|name| !self.0.contains(name)).unwrap_or(plain);
        self.0.insert(free.clone());
        free
    }
}

/// A material for the surface and one for cuts of each look.
fn materials(looks: &[&Look], names: &[[String; 2]], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "    def Scope \"Looks\"\n    {{")?;
    for (look, own) in looks.iter().zip(names) {
        let Look { material, color, inner_color, roughness, .. } = look;
        let name = serde_json::Value::from(material.as_str());
        for (path, [r, g, b]) in own.iter().zip([color, inner_color]) {
            writeln!(out, "        def Material \"{path}\" (\n            displayName = {name}")?;
            writeln!(out, "        )\n        {{")?;
            let output = format!("</World/Looks/{path}/Shader.outputs:surface>");
            writeln!(out, "            token outputs:surface.connect = {output}")?;
            writeln!(out, "            def Shader \"Shader\"\n            {{")?;
            writeln!(out, "                uniform token info:id = \"UsdPreviewSurface\"")?;
            writeln!(out, "                color3f inputs:diffuseColor = ({r}, {g}, {b})")?;
            writeln!(out, "                float inputs:roughness = {roughness}")?;
            writeln!(out, "                token outputs:surface")?;
            writeln!(out, "            }}\n        }}")?;
        }
    }
    writeln!(out, "    }}")
}

/// With the name of its prim and those of its materials.
fn body(
    (own, materials): (&str, &[String; 2]),
    track: &Track,
    (frames, fps): (usize, f64),
    out: &mut impl Write,
) -> io::Result<()> {
    // names of prims are identifiers; the display name is free, in JSON's escapes
    let name = serde_json::Value::from(track.name.as_str());
    writeln!(out, "    def Xform \"{own}\" (\n        displayName = {name}\n    )\n    {{")?;
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
        let mut order = vec!["\"xformOp:translate\"", "\"xformOp:orient\""];
        let sizes = sizes(track, (frames, fps));
        if !sizes.is_empty() {
            writeln!(out, "        float3 xformOp:scale.timeSamples = {{")?;
            for (time, s) in sizes {
                writeln!(out, "            {time}: ({s}, {s}, {s}),")?;
            }
            writeln!(out, "        }}")?;
            order.push("\"xformOp:scale\"");
        }
        writeln!(out, "        uniform token[] xformOpOrder = [{}]", order.join(", "))?;
    }
    visibility(track, frames, out)?;
    let surface = track.surface();
    if !surface.vertices.is_empty() {
        mesh(&surface, track.look.color, (own, materials), out)?;
    }
    writeln!(out, "    }}")
}

/// Times, in frames, and sizes between which a body grows and shrinks; none if it always is as large.
fn sizes(track: &Track, (frames, fps): (usize, f64)) -> Vec<(f64, f32)> {
    /// Values between samples are interpolated: a size is held until so many frames before the next.
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

pub(super) fn mesh(
    surface: &Surface,
    [r, g, b]: [f32; 3],
    (own, [outer_material, inner_material]): (&str, &[String; 2]),
    out: &mut impl Write,
) -> io::Result<()> {
    let Surface { vertices, outer, inner, .. } = surface;
    let corners = |pick: fn(f32, f32) -> f32| {
        let mut corner = vertices[0];
        for vertex in vertices {
            corner = std::array::from_fn(|a| pick(corner[a], vertex[a]));
        }
        corner
    };
    writeln!(out, "        def Mesh \"{own}\" (")?;
    writeln!(
        out,
        "            prepend apiSchemas = [\"MaterialBindingAPI\"]\n        )\n        {{"
    )?;
    writeln!(out, "            uniform token subdivisionScheme = \"none\"")?;
    write!(out, "            float3[] extent = ")?;
    tuples(&[corners(f32::min), corners(f32::max)], out)?;
    write!(out, "            color3f[] primvars:displayColor = ")?;
    if surface.colors.is_empty() {
        tuples(&[[r, g, b]], out)?;
    } else {
        let colors: Vec<[f32; 3]> = surface.colors.iter().map(|&[r, g, b, _]| [r, g, b]).collect();
        tuples(&colors, out)?;
        writeln!(
            out,
            "            uniform token primvars:displayColor:interpolation = \"vertex\""
        )?;
    }
    write!(out, "            point3f[] points = ")?;
    tuples(vertices, out)?;
    write!(out, "            normal3f[] normals = ")?;
    tuples(&surface.normals, out)?;
    write!(out, "            point3f[] primvars:rest = ")?;
    tuples(&surface.rest, out)?;
    writeln!(out, "            uniform token primvars:rest:interpolation = \"vertex\"")?;
    if !surface.uvs.is_empty() {
        write!(out, "            texCoord2f[] primvars:st = ")?;
        tuples(&surface.uvs, out)?;
        writeln!(out, "            uniform token primvars:st:interpolation = \"vertex\"")?;
    }
    let threes = vec!["3"; outer.len() + inner.len()].join(", ");
    writeln!(out, "            int[] faceVertexCounts = [{threes}]")?;
    let indices: Vec<String> = outer.iter().chain(inner).flatten().map(u32::to_string).collect();
    writeln!(out, "            int[] faceVertexIndices = [{}]", indices.join(", "))?;
    writeln!(
        out,
        "            uniform token subsetFamily:materialBind:familyType = \"partition\""
    )?;
    let faces = outer.len() + inner.len();
    let sides =
        [("outer", outer_material, 0..outer.len()), ("inner", inner_material, outer.len()..faces)];
    for (side, material, faces) in sides {
        let faces: Vec<String> = faces.map(|f| f.to_string()).collect();
        writeln!(out, "            def GeomSubset \"{side}\" (")?;
        writeln!(out, "                prepend apiSchemas = [\"MaterialBindingAPI\"]")?;
        writeln!(out, "            )\n            {{")?;
        writeln!(out, "                uniform token elementType = \"face\"")?;
        writeln!(out, "                uniform token familyName = \"materialBind\"")?;
        writeln!(out, "                int[] indices = [{}]", faces.join(", "))?;
        writeln!(out, "                rel material:binding = </World/Looks/{material}>")?;
        writeln!(out, "            }}")?;
    }
    writeln!(out, "        }}")
}

pub(super) fn tuples<const N: usize>(vectors: &[[f32; N]], out: &mut impl Write) -> io::Result<()> {
    let tuple = |vector: &[f32; N]| format!("({})", vector.map(|x| x.to_string()).join(", "));
    let tuples: Vec<String> = vectors.iter().map(tuple).collect();
    writeln!(out, "[{}]", tuples.join(", "))
}
