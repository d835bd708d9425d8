//! The solids of bodies.

use serde::Deserialize;

use super::check::{LARGEST, at, bounded, direction, extent, positive, require};
use super::spacing::{DEFAULT_NODES, MARGIN, MAX_NODES, check_fineness, spacing};
use super::{
    Capsule, Collide, Cone, Cuboid, Cylinder, Extruded, Heightfield, InvalidValue, Mesh, Pieces,
    Plane, Polygon, Rotation, Sphere, Svg, Torus, Trimesh,
};

/// The solid of a body.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// A closed triangle mesh from a file.
    Mesh(Mesh),
    /// A tetrahedral mesh from a file; `stress` and `lattice` use it without change.
    Tets(Mesh),
    /// Closed meshes from a folder or a file, each a separate body.
    Pieces(Pieces),
    /// A ball with its center at the origin.
    Sphere(Sphere),
    /// A box with its center at the origin and edges along the axes.
    Box(Cuboid),
    /// A cylinder along y with its center at the origin.
    Cylinder(Cylinder),
    /// A capsule along y with its center at the origin.
    Capsule(Capsule),
    /// A cone along y with its center at the origin and its tip at +y.
    Cone(Cone),
    /// A torus around the y axis.
    Torus(Torus),
    /// A combination of other solids, optionally hollow or with round edges.
    Combined(Combined),
    /// A convex polygon, extruded along z.
    Polygon(Polygon),
    /// The dark area of an image, extruded along z.
    Extruded(Extruded),
    /// The filled area of an SVG file, extruded along z.
    Svg(Svg),
    /// A height field; the height is the lightness of an image.
    Heightfield(Heightfield),
    /// A half-space; only for static bodies.
    Plane(Plane),
    /// The triangles of a file, open or closed; only for static and kinematic bodies.
    Trimesh(Trimesh),
}

/// `shape = { combined = { parts = [{ shape = { box = ... } }, { shape = { sphere = ... }, op = "difference" }] } }`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Combined {
    /// Its parts, each combined with the result of the previous ones.
    pub parts: Vec<Part>,
    /// Thickness of the wall, m; the inside is hollow. Solid by default.
    pub wall: Option<f64>,
    /// Radius of the edges, m; rounding applies before hollowing. Sharp by default.
    #[serde(default)]
    pub rounding: f64,
    /// Spacing of the level set, m; see [`Shape::spacing`] for the default.
    pub spacing: Option<f64>,
    /// Largest number of nodes of the level set, instead of `spacing`.
    pub nodes: Option<usize>,
}

/// A part of a combined solid.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// A primitive, a plane, the outline of an image or an SVG file, or another combined shape.
    pub shape: Shape,
    /// Operation that combines the part with the result of the previous parts; `"union"` by
    /// default.
    #[serde(default)]
    pub op: Op,
    /// Position of its origin, in the coordinates of the whole, m; the origin by default.
    #[serde(default)]
    pub position: [f64; 3],
    /// Its rotation; none by default.
    #[serde(default)]
    pub rotation: Rotation,
}

/// Combination of a part with the previous ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// Union of the previous parts and this one.
    #[default]
    Union,
    /// The previous parts minus this one.
    Difference,
    /// Intersection of the previous parts and this one.
    Intersection,
}

impl Shape {
    /// Its files.
    pub(super) fn files_mut(&mut self) -> Vec<&mut String> {
        match self {
            Self::Mesh(mesh) | Self::Tets(mesh) => vec![&mut mesh.file],
            Self::Trimesh(mesh) => vec![&mut mesh.file],
            Self::Pieces(pieces) => vec![&mut pieces.file],
            Self::Svg(svg) => vec![&mut svg.file],
            Self::Combined(combined) => {
                combined.parts.iter_mut().flat_map(|part| part.shape.files_mut()).collect()
            }
            other => other.pictures_mut().into_iter().map(|picture| &mut picture.file).collect(),
        }
    }

    /// Edge lengths of the bounding box, m; `None` if the scene does not give it (mesh, plane).
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

    /// Multiplies the spacing of its level set by `factor`. Planes and `trimesh` have none.
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
            // the extents of a mesh or an image are in its file
            let count = nodes.unwrap_or(DEFAULT_NODES) as f64 / factor.powi(3);
            *nodes = Some(count.round() as usize);
        }
    }

    /// The `spacing` that the scene gives, m.
    pub(crate) fn given_spacing(&self) -> Option<f64> {
        self.fineness().0
    }

    /// Spacing of the level set of a primitive, m; `None` for a mesh or plane. By default it
    /// follows from `nodes` or is [`super::default_spacing`].
    pub fn spacing(&self) -> Option<f64> {
        let extents = self.extents()?;
        let wall = match self {
            Self::Combined(Combined { wall: Some(wall), .. }) => *wall,
            // the extent of a heightfield along y includes its hills
            Self::Combined(_) | Self::Heightfield(_) => f64::INFINITY,
            _ => extents.iter().copied().fold(f64::INFINITY, f64::min),
        };
        let (given, nodes) = self.fineness();
        Some(spacing(given, nodes, &extents.into(), wall))
    }

    /// Largest number of nodes of its level set, if it needs one; `None` for a plane.
    pub fn nodes(&self) -> Option<f64> {
        if let Self::Mesh(mesh) | Self::Tets(mesh) = self {
            // the nodes of a mesh with a spacing are counted when it is read
            return Some(mesh.nodes.unwrap_or(DEFAULT_NODES) as f64);
        }
        if let Self::Svg(svg) = self {
            return Some(svg.nodes.unwrap_or(DEFAULT_NODES) as f64);
        }
        let (extents, spacing) = (self.extents()?, self.spacing()?);
        let axis = |extent: f64| (extent / spacing).ceil() + 1.0 + 2.0 * MARGIN as f64;
        Some(extents.into_iter().map(axis).product())
    }

    pub(super) fn check(&self, key: &str, is_sampled: bool) -> Result<(), InvalidValue> {
        match self {
            Self::Mesh(m) => {
                require(
                    m.collide == Collide::Samples,
                    &at(key, "mesh.collide"),
                    || "must be \"samples\": only the shape `tets` has tetrahedra",
                )?;
                return m.check(&at(key, "mesh"));
            }
            Self::Tets(m) => return m.check(&at(key, "tets")),
            Self::Plane(p) => {
                direction(&at(key, "plane.normal"), &p.normal)?;
                return bounded(&at(key, "plane.offset"), &[p.offset], "m");
            }
            Self::Trimesh(m) => return m.check(&at(key, "trimesh")),
            Self::Pieces(p) => return p.check(&at(key, "pieces")),
            Self::Svg(s) => return s.check(&at(key, "svg")),
            Self::Sphere(s) => extent(&at(key, "sphere.radius"), s.radius)?,
            Self::Box(b) => {
                for half in b.half_extents {
                    extent(&at(key, "box.half_extents"), half)?;
                }
            }
            Self::Cylinder(c) => {
                extent(&at(key, "cylinder.radius"), c.radius)?;
                extent(&at(key, "cylinder.half_height"), c.half_height)?;
            }
            Self::Capsule(c) => {
                extent(&at(key, "capsule.radius"), c.radius)?;
                extent(&at(key, "capsule.half_height"), c.half_height)?;
            }
            Self::Cone(c) => {
                extent(&at(key, "cone.radius"), c.radius)?;
                extent(&at(key, "cone.half_height"), c.half_height)?;
            }
            Self::Combined(c) => c.check(&at(key, "combined"))?,
            Self::Polygon(p) => p.check(&at(key, "polygon"))?,
            Self::Extruded(e) => e.check(&at(key, "extruded"))?,
            Self::Heightfield(h) => h.check(&at(key, "heightfield"))?,
            Self::Torus(t) => {
                extent(&at(key, "torus.minor"), t.minor)?;
                require(t.major >= t.minor && t.major <= LARGEST, &at(key, "torus.major"), || {
                    format!("must be at least the minor radius, {:?} m, not {:?}", t.minor, t.major)
                })?;
            }
        }
        let kind = match self {
            Self::Sphere(_) => "sphere",
            Self::Box(_) => "box",
            Self::Cylinder(_) => "cylinder",
            Self::Cone(_) => "cone",
            Self::Torus(_) => "torus",
            Self::Combined(_) => "combined",
            Self::Polygon(_) => "polygon",
            Self::Extruded(_) => "extruded",
            Self::Heightfield(_) => "heightfield",
            _ => "capsule",
        };
        let (spacing, nodes) = self.fineness();
        check_fineness(&at(key, kind), spacing, nodes)?;
        let key = at(key, &format!("{kind}.spacing"));
        let spacing = self.spacing().unwrap_or(f64::NAN);
        positive(&key, spacing, "m")?;
        // unbreakable bodies with closed-form contacts need no level set
        let nodes = if is_sampled { self.nodes().unwrap_or(f64::NAN) } else { 0.0 };
        require(nodes <= MAX_NODES as f64, &key, || {
            format!(
                "of {spacing} m makes {nodes:.0} nodes, more than {MAX_NODES}: use a coarser one"
            )
        })
    }
}
