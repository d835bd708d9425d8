//! The solids of bodies.

use levelset::Grid;
use nalgebra::Vector3;
use serde::Deserialize;

use super::{Combined, Extruded, Heightfield, Polygon, up};

/// Cells of margin that a level set has on every side of a solid.
pub(crate) const MARGIN: usize = 3;

/// The solid of a body.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// A closed triangle mesh from a file.
    Mesh(Mesh),
    /// A mesh of tetrahedra from a file, with which `stress` goes to work as they are.
    Tets(Mesh),
    /// Closed meshes from a folder or a file, each a body of its own.
    Pieces(Pieces),
    /// A ball about the origin.
    Sphere(Sphere),
    /// A box about the origin, edges along the axes.
    Box(Cuboid),
    /// A cylinder about the origin, its axis along y.
    Cylinder(Cylinder),
    /// A cylinder with round ends about the origin, its axis along y.
    Capsule(Capsule),
    /// A cone about the origin, its tip up the y axis.
    Cone(Cone),
    /// A ring about the y axis.
    Torus(Torus),
    /// Others put together, hollow or with round edges.
    Combined(Combined),
    /// A convex polygon across the z axis.
    Polygon(Polygon),
    /// What is dark in a picture, across the z axis.
    Extruded(Extruded),
    /// What an SVG file fills, across the z axis.
    Svg(Svg),
    /// Ground that is high where a picture is light.
    Heightfield(Heightfield),
    /// A half space without end; only for static bodies.
    Plane(Plane),
    /// The triangles of a file as they are, open or closed; only for static and kinematic bodies.
    Trimesh(Trimesh),
}

/// `shape = { mesh = { file = "bunny.obj", size = 0.5 } }`, and the same of `tets`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mesh {
    /// Path of the mesh, relative to the scene file.
    pub file: String,
    /// Longest edge of the bounding box after scaling, m; as in the file unless given. A mesh that
    /// is given a size is also moved: the center of its bounding box comes to the origin.
    pub size: Option<f64>,
    /// Spacing of the level set, m; see [`default_spacing`] for the default.
    pub spacing: Option<f64>,
    /// Most nodes of the level set, instead of `spacing`.
    pub nodes: Option<usize>,
    /// What decides which side of the triangles is inside; `"auto"` unless given.
    #[serde(default)]
    pub sign: MeshSign,
    /// Mirrored in the plane through the origin across this axis, before `size` moves it; not unless given.
    pub mirror: Option<Axis>,
    /// What of it collides; `"samples"` unless given, where it is not convex.
    #[serde(default)]
    pub collide: Collide,
}

/// `shape = { pieces = { file = "pieces", bonds = {} } }`: a body that starts in pieces. Each becomes a body once the
/// files are read, see [`separate`](crate::separate).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pieces {
    /// Path of a folder of meshes, or of a mesh with an object for each piece, relative to the scene file.
    pub file: String,
    /// As [`Mesh::size`], of the box around all pieces.
    pub size: Option<f64>,
    /// As [`Mesh::mirror`].
    pub mirror: Option<Axis>,
    /// As [`Mesh::spacing`], of each piece.
    pub spacing: Option<f64>,
    /// As [`Mesh::nodes`], of each piece.
    pub nodes: Option<usize>,
    /// What holds pieces together whose faces touch; nothing unless given.
    pub bonds: Option<PieceBonds>,
}

/// `bonds = { strength = 2e5, gap = 1e-4 }`: fixed joints that bear the strength times the area in which two pieces
/// touch.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PieceBonds {
    /// The stress that they bear, Pa; that of the body's material unless given.
    pub strength: Option<f64>,
    /// How far faces that touch may be apart, m; a 10,000th of the longest edge of the box around all pieces unless
    /// given.
    pub gap: Option<f64>,
}

/// An axis of the coordinates of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// The first.
    X,
    /// The second.
    Y,
    /// The third.
    Z,
}

/// What of a mesh collides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Collide {
    /// Points on the surface with the signed distance of samples, or faces, edges and corners of a convex mesh.
    #[default]
    Samples,
    /// Vertices with tetrahedra (Mu01 section 2.9); of `tets` alone.
    Tets,
}

/// What decides which side of the triangles of a mesh is inside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MeshSign {
    /// As `Strict` where the mesh is closed, else as `Winding`, with a warning.
    #[default]
    Auto,
    /// The mesh must be closed and wound outwards.
    Strict,
    /// The generalised winding number (Jacobson et al. 2013), which closes holes smoothly.
    Winding,
}

/// `shape = { trimesh = { file = "terrain.obj" } }`: solid is what is behind the triangles, seen from
/// the side from which their corners run counter-clockwise.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trimesh {
    /// Path of the mesh, relative to the scene file.
    pub file: String,
    /// As [`Mesh::size`].
    pub size: Option<f64>,
    /// As [`Mesh::mirror`].
    pub mirror: Option<Axis>,
    /// How much solid there is behind the triangles, m: for sheets that bodies may be on both sides
    /// of. All that is behind them unless given.
    pub thickness: Option<f64>,
}

/// `shape = { svg = { file = "letter.svg", size = 0.5, depth = 0.1 } }`: all that an SVG file fills, halved by z = 0,
/// with the middle of its box at the origin and y upwards.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Svg {
    /// Path of the file, relative to the scene file.
    pub file: String,
    /// Longest edge of the box around what is filled, m; as in the file, with 96 pixels to an inch, unless given.
    pub size: Option<f64>,
    /// Thickness along z, m.
    pub depth: f64,
    /// Mirrored in the plane through the origin across this axis; not unless given.
    pub mirror: Option<Axis>,
    /// As [`Mesh::spacing`].
    pub spacing: Option<f64>,
    /// As [`Mesh::nodes`].
    pub nodes: Option<usize>,
}

/// `shape = { sphere = { radius = 0.1 } }`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sphere {
    /// Radius, m.
    pub radius: f64,
    /// Spacing of the level set, m; see [`Shape::spacing`] for the default.
    pub spacing: Option<f64>,
    /// Most nodes of the level set, instead of `spacing`.
    pub nodes: Option<usize>,
}

/// `shape = { box = { half_extents = [1, 0.5, 0.1] } }`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cuboid {
    /// Half the edge lengths, m.
    pub half_extents: [f64; 3],
    /// Spacing of the level set, m; see [`Shape::spacing`] for the default.
    pub spacing: Option<f64>,
    /// Most nodes of the level set, instead of `spacing`.
    pub nodes: Option<usize>,
}

/// `shape = { cylinder = { radius = 0.1, half_height = 0.5 } }`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cylinder {
    /// Radius, m.
    pub radius: f64,
    /// Half the length along y, m.
    pub half_height: f64,
    /// Spacing of the level set, m; see [`Shape::spacing`] for the default.
    pub spacing: Option<f64>,
    /// Most nodes of the level set, instead of `spacing`.
    pub nodes: Option<usize>,
}

/// `shape = { capsule = { radius = 0.1, half_height = 0.5 } }`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capsule {
    /// Radius, m.
    pub radius: f64,
    /// Half the length along y of the part between the round ends, m.
    pub half_height: f64,
    /// Spacing of the level set, m; see [`Shape::spacing`] for the default.
    pub spacing: Option<f64>,
    /// Most nodes of the level set, instead of `spacing`.
    pub nodes: Option<usize>,
}

/// `shape = { cone = { radius = 0.1, half_height = 0.2 } }`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cone {
    /// Radius of the base, m.
    pub radius: f64,
    /// Half the height along y, m.
    pub half_height: f64,
    /// Spacing of the level set, m; see [`Shape::spacing`] for the default.
    pub spacing: Option<f64>,
    /// Most nodes of the level set, instead of `spacing`.
    pub nodes: Option<usize>,
}

/// `shape = { torus = { major = 0.2, minor = 0.05 } }`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Torus {
    /// From the axis to the middle of the tube, m.
    pub major: f64,
    /// Radius of the tube, m.
    pub minor: f64,
    /// Spacing of the level set, m; see [`Shape::spacing`] for the default.
    pub spacing: Option<f64>,
    /// Most nodes of the level set, instead of `spacing`.
    pub nodes: Option<usize>,
}

/// `shape = { plane = { normal = [0, 1, 0] } }`: the solid is where `normal . x < offset`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plane {
    /// Points out of the solid, of any length but zero; `[0, 1, 0]` unless given.
    #[serde(default = "up")]
    pub normal: [f64; 3],
    /// Height of the surface along the unit normal, m; 0 unless given.
    #[serde(default)]
    pub offset: f64,
}

impl Shape {
    /// The files it is in.
    pub(super) fn files_mut(&mut self) -> Vec<&mut String> {
        match self {
            Self::Mesh(mesh) | Self::Tets(mesh) => vec![&mut mesh.file],
            Self::Trimesh(mesh) => vec![&mut mesh.file],
            Self::Pieces(pieces) => vec![&mut pieces.file],
            Self::Svg(svg) => vec![&mut svg.file],
            other => other.pictures_mut().into_iter().map(|picture| &mut picture.file).collect(),
        }
    }

    /// Edge lengths of the bounding box, m; `None` where the scene does not tell (mesh, plane).
    pub fn extents(&self) -> Option<[f64; 3]> {
        match self {
            Self::Mesh(_) | Self::Tets(_) | Self::Plane(_) | Self::Trimesh(_) => None,
            Self::Pieces(_) | Self::Svg(_) => None,
            Self::Sphere(s) => Some([2.0 * s.radius; 3]),
            Self::Box(b) => Some(b.half_extents.map(|h| 2.0 * h)),
            Self::Cylinder(c) => Some([2.0 * c.radius, 2.0 * c.half_height, 2.0 * c.radius]),
            Self::Capsule(c) => {
                let length = 2.0 * (c.half_height + c.radius);
                Some([2.0 * c.radius, length, 2.0 * c.radius])
            }
            Self::Cone(c) => Some([2.0 * c.radius, 2.0 * c.half_height, 2.0 * c.radius]),
            Self::Torus(t) => {
                let across = 2.0 * (t.major + t.minor);
                Some([across, 2.0 * t.minor, across])
            }
            Self::Combined(combined) => combined.bounds().map(|b| b.extents().into()),
            Self::Polygon(p) => Some(p.bounds().extents().into()),
            Self::Extruded(e) => Some([e.size[0], e.size[1], e.depth]),
            Self::Heightfield(h) => Some([h.size[0], h.base + h.height, h.size[1]]),
        }
    }

    /// The `spacing` and `nodes` that the scene gives.
    pub(super) fn fineness(&self) -> (Option<f64>, Option<usize>) {
        match self {
            Self::Plane(_) | Self::Trimesh(_) => (None, None),
            Self::Mesh(m) | Self::Tets(m) => (m.spacing, m.nodes),
            Self::Pieces(p) => (p.spacing, p.nodes),
            Self::Sphere(s) => (s.spacing, s.nodes),
            Self::Box(b) => (b.spacing, b.nodes),
            Self::Cylinder(c) => (c.spacing, c.nodes),
            Self::Capsule(c) => (c.spacing, c.nodes),
            Self::Cone(c) => (c.spacing, c.nodes),
            Self::Torus(t) => (t.spacing, t.nodes),
            Self::Combined(c) => (c.spacing, c.nodes),
            Self::Polygon(p) => (p.spacing, p.nodes),
            Self::Extruded(e) => (e.spacing, e.nodes),
            Self::Svg(s) => (s.spacing, s.nodes),
            Self::Heightfield(h) => (h.spacing, h.nodes),
        }
    }

    /// Multiplies the distance between the nodes of its level set by `factor`. Planes and `trimesh` have none.
    pub fn scale_spacing(&mut self, factor: f64) {
        let scaled = self.spacing().map(|spacing| spacing * factor);
        let (spacing, nodes) = match self {
            Self::Plane(_) | Self::Trimesh(_) => return,
            Self::Mesh(m) | Self::Tets(m) => (&mut m.spacing, &mut m.nodes),
            Self::Pieces(p) => (&mut p.spacing, &mut p.nodes),
            Self::Sphere(s) => (&mut s.spacing, &mut s.nodes),
            Self::Box(b) => (&mut b.spacing, &mut b.nodes),
            Self::Cylinder(c) => (&mut c.spacing, &mut c.nodes),
            Self::Capsule(c) => (&mut c.spacing, &mut c.nodes),
            Self::Cone(c) => (&mut c.spacing, &mut c.nodes),
            Self::Torus(t) => (&mut t.spacing, &mut t.nodes),
            Self::Combined(c) => (&mut c.spacing, &mut c.nodes),
            Self::Polygon(p) => (&mut p.spacing, &mut p.nodes),
            Self::Extruded(e) => (&mut e.spacing, &mut e.nodes),
            Self::Svg(s) => (&mut s.spacing, &mut s.nodes),
            Self::Heightfield(h) => (&mut h.spacing, &mut h.nodes),
        };
        if let Some(scaled) = scaled.or(spacing.map(|spacing| spacing * factor)) {
            (*spacing, *nodes) = (Some(scaled), None);
        } else {
            // the extents of a mesh or a picture are in its file
            let count = nodes.unwrap_or(DEFAULT_NODES) as f64 / factor.powi(3);
            *nodes = Some(count.round() as usize);
        }
    }

    /// The `spacing` that the scene gives, m.
    pub(crate) fn given_spacing(&self) -> Option<f64> {
        self.fineness().0
    }

    /// Spacing of the level set of a primitive, m; `None` for a mesh or plane. Unless the scene gives
    /// one it follows from `nodes` or is [`default_spacing`].
    pub fn spacing(&self) -> Option<f64> {
        let extents = self.extents()?;
        let wall = match self {
            Self::Combined(Combined { wall: Some(wall), .. }) => *wall,
            // the depth of a heightfield is that of its base and its hills
            Self::Combined(_) | Self::Heightfield(_) => f64::INFINITY,
            _ => extents.iter().copied().fold(f64::INFINITY, f64::min),
        };
        Some(spacing(self.fineness(), &extents.into(), wall))
    }

    /// Most nodes of its level set, should it need one; `None` for a plane.
    pub fn nodes(&self) -> Option<f64> {
        if let Self::Mesh(mesh) | Self::Tets(mesh) = self {
            // what a spacing makes of a mesh is counted when it is read
            return Some(mesh.nodes.unwrap_or(DEFAULT_NODES) as f64);
        }
        if let Self::Svg(svg) = self {
            return Some(svg.nodes.unwrap_or(DEFAULT_NODES) as f64);
        }
        let (extents, spacing) = (self.extents()?, self.spacing()?);
        let axis = |extent: f64| (extent / spacing).ceil() + 1.0 + 2.0 * MARGIN as f64;
        Some(extents.into_iter().map(axis).product())
    }
}

/// Nodes of a level set unless a scene says otherwise.
const DEFAULT_NODES: usize = 100_000;
/// Nodes of a level set to which thin walls may bring it unless a scene says otherwise.
const MAX_DEFAULT_NODES: usize = 2_000_000;
/// Nodes through a wall that resolve it.
pub(crate) const NODES_THROUGH: f64 = 4.0;

/// Spacing of a level set unless a scene gives one, m: with 100,000 nodes, or as many as put four nodes
/// through the thinnest wall, but no more than 2,000,000. `extents` are the edge lengths of the bounding
/// box and `wall` is the thickness of the thinnest wall, m.
pub fn default_spacing(extents: &Vector3<f64>, wall: f64) -> f64 {
    let [usual, finest] =
        [DEFAULT_NODES, MAX_DEFAULT_NODES].map(|n| Grid::finest_spacing(extents, MARGIN, n));
    usual.min(wall / NODES_THROUGH).max(finest)
}

/// Spacing by what a scene says of it.
pub(crate) fn spacing(
    (given, nodes): (Option<f64>, Option<usize>),
    extents: &Vector3<f64>,
    wall: f64,
) -> f64 {
    let by_nodes = nodes.map(|nodes| Grid::finest_spacing(extents, MARGIN, nodes));
    given.or(by_nodes).unwrap_or_else(|| default_spacing(extents, wall))
}
