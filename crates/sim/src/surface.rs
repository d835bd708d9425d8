//! Surfaces that people see.

use std::f64::consts::{PI, TAU};
use std::sync::Arc;

use contact::{Field, Shape};
use fracture::{Break, Drawing, draw};
use levelset::{LevelSet, TriMesh};
use nalgebra::{Isometry3, Point3, Vector3};

use crate::Lineage;

/// A drawable triangle surface in body coordinates, m.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// Vertex positions, m. Where faces meet at an edge, each has vertices of its own.
    pub vertices: Vec<[f32; 3]>,
    /// Unit normals, one per vertex.
    pub normals: Vec<[f32; 3]>,
    /// Where each vertex was in the whole body, m: coordinates of a solid texture that runs on
    /// from piece to piece.
    pub rest: Vec<[f32; 3]>,
    /// Texture coordinates, one per vertex, `v` upwards; none if the body has no texture.
    pub uvs: Vec<[f32; 2]>,
    /// Linear RGBA colours, one per vertex; none if the body has one colour.
    pub colours: Vec<[f32; 4]>,
    /// Triangles of the surface of the whole body: indices, counter-clockwise from outside.
    pub outer: Vec<[u32; 3]>,
    /// Triangles of cuts.
    pub inner: Vec<[u32; 3]>,
}

impl Surface {
    /// The surface of a collision shape: of a sampled one by dual contouring (see
    /// [`fracture::draw`]), exact flats of a box.
    ///
    /// `lineage` is that of a fragment, and `mesh` what the whole body was made from, in its
    /// material coordinates: the outer faces of sampled shapes are put back onto it.
    pub fn of(shape: &Shape, lineage: Option<&Lineage>, mesh: Option<&TriMesh>) -> Self {
        match shape.field() {
            Field::Grid { level_set, material } => {
                let whole = lineage.map_or(shape, |l| &l.whole);
                let Field::Grid { level_set: body, .. } = whole.field() else {
                    return Self::default();
                };
                let cuts = lineage.map_or(&[][..], |l| &l.cuts);
                let breaks: Vec<Break> = cuts
                    .iter()
                    .map(|cut| Break { pattern: &cut.pattern, at: cut.at, regions: &cut.regions })
                    .collect();
                let mut drawing = draw(level_set, body, &breaks);
                if let Some(mesh) = mesh {
                    drawing.project_outer(mesh, 0.5 * level_set.grid().spacing());
                }
                Self::drawn(&drawing, body, material)
            }
            Field::Cuboid { half } => Self::cuboid(half),
            Field::Ball { radius } => Self::ball(*radius),
            Field::HalfSpace => Self::ground(),
        }
    }

    /// A drawing in material coordinates, its vertices parted where faces meet at an edge.
    fn drawn(drawing: &Drawing, body: &LevelSet, material: &Isometry3<f64>) -> Self {
        let Drawing { mesh, inner } = drawing;
        let areas: Vec<Vector3<f64>> =
            (0..mesh.triangles.len()).map(|t| mesh.area_vector(t)).collect();
        let mut surface = Self::default();
        let mut triangles = mesh.triangles.clone();
        for (vertex, corners) in corners_by_vertex(mesh).into_iter().enumerate() {
            let p = mesh.vertices[vertex];
            for fan in fans(&corners, &areas, inner) {
                let sum: Vector3<f64> = fan.iter().map(|&(t, _)| areas[t]).sum();
                let normal = sum.try_normalize(1e-300).unwrap_or_else(Vector3::y);
                // the whole body's own slope, so that shading runs on from piece to piece
                let smooth = body.normal(&p).filter(|n| !inner[fan[0].0] && n.dot(&normal) > ALIKE);
                let normal = smooth.map_or(normal, nalgebra::Unit::into_inner);
                let number = surface.add_vertex(&p, &normal, material);
                for (t, corner) in fan {
                    triangles[t][corner] = number;
                }
            }
        }
        for (triangle, &inner) in triangles.into_iter().zip(inner) {
            if inner { surface.inner.push(triangle) } else { surface.outer.push(triangle) }
        }
        surface
    }

    /// Adds a vertex given in material coordinates.
    fn add_vertex(
        &mut self,
        p: &Point3<f64>,
        normal: &Vector3<f64>,
        material: &Isometry3<f64>,
    ) -> u32 {
        self.vertices.push(material.inverse_transform_point(p).cast::<f32>().into());
        self.normals.push(material.inverse_transform_vector(normal).cast::<f32>().into());
        self.rest.push(p.cast::<f32>().into());
        self.vertices.len() as u32 - 1
    }

    /// Six flats of four vertices each.
    fn cuboid(half: &Vector3<f64>) -> Self {
        let mut surface = Self::default();
        for axis in 0..3 {
            for sign in [-1.0, 1.0] {
                let mut normal = Vector3::zeros();
                normal[axis] = sign;
                let u = Vector3::ith((axis + 1) % 3, sign);
                let v = Vector3::ith((axis + 2) % 3, 1.0);
                let corner = |s: f64, t: f64| (normal + u * s + v * t).component_mul(half);
                surface.add_quad(
                    [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)],
                    &normal,
                );
            }
        }
        surface
    }

    /// Circles of latitude.
    fn ball(radius: f64) -> Self {
        const RINGS: u32 = 24;
        const SECTORS: u32 = 48;
        let mut surface = Self::default();
        for ring in 0..=RINGS {
            let (sine, cosine) = (f64::from(ring) / f64::from(RINGS) * PI).sin_cos();
            for sector in 0..=SECTORS {
                let (s, c) = (f64::from(sector) / f64::from(SECTORS) * TAU).sin_cos();
                let normal = Vector3::new(sine * c, cosine, -sine * s);
                surface.add_vertex(&(normal * radius).into(), &normal, &Isometry3::identity());
            }
        }
        let row = SECTORS + 1;
        for at in (0..RINGS).flat_map(|ring| (0..SECTORS).map(move |s| ring * row + s)) {
            // the first and last rings are triangles: the poles are points
            if at >= row {
                surface.outer.push([at, at + row, at + 1]);
            }
            if at < (RINGS - 1) * row {
                surface.outer.push([at + 1, at + row, at + row + 1]);
            }
        }
        surface
    }

    /// A square large enough to look endless.
    fn ground() -> Self {
        const HALF: f64 = 50.0;
        let mut surface = Self::default();
        let corner = |x: f64, z: f64| Vector3::new(x * HALF, 0.0, z * HALF);
        surface.add_quad(
            [corner(-1.0, 1.0), corner(1.0, 1.0), corner(1.0, -1.0), corner(-1.0, -1.0)],
            &Vector3::y(),
        );
        surface
    }

    fn add_quad(&mut self, corners: [Vector3<f64>; 4], normal: &Vector3<f64>) {
        let [a, b, c, d] =
            corners.map(|p| self.add_vertex(&p.into(), normal, &Isometry3::identity()));
        self.outer.push([a, b, c]);
        self.outer.push([a, c, d]);
    }
}

/// Cosine of the angle between faces, 40 degrees, from which on their common edge looks sharp.
const CREASE: f64 = 0.766;

/// Cosine of the angle, 20 degrees, to which the slope of a level set is that of a face: next to an
/// edge it is a mixture of two faces'.
const ALIKE: f64 = 0.94;

/// A triangle and which of its corners.
type Corner = (usize, usize);

fn corners_by_vertex(mesh: &TriMesh) -> Vec<Vec<Corner>> {
    let mut corners = vec![Vec::new(); mesh.vertices.len()];
    for (t, triangle) in mesh.triangles.iter().enumerate() {
        for (corner, &vertex) in triangle.iter().enumerate() {
            corners[vertex as usize].push((t, corner));
        }
    }
    corners
}

/// The corners at one vertex in groups that look smooth: of one side, and chained by small angles.
fn fans(corners: &[Corner], areas: &[Vector3<f64>], inner: &[bool]) -> Vec<Vec<Corner>> {
    let smooth = |&(s, _): &Corner, &(t, _): &Corner| {
        let (a, b) = (areas[s], areas[t]);
        // a triangle without area has no angle
        inner[s] == inner[t] && a.dot(&b) >= CREASE * a.norm() * b.norm()
    };
    let mut fans: Vec<Vec<Corner>> = Vec::new();
    for corner in corners {
        let (mut joined, apart): (Vec<_>, Vec<_>) =
            fans.into_iter().partition(|fan| fan.iter().any(|other| smooth(corner, other)));
        let mut fan = joined.pop().unwrap_or_default();
        fan.extend(joined.into_iter().flatten());
        fan.push(*corner);
        fans = apart;
        fans.push(fan);
    }
    fans
}

/// How a body looks: its surface, and what shows where it broke.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// Name of the material.
    pub material: String,
    /// Linear RGB colour of the surface.
    pub colour: [f32; 3],
    /// Linear RGB colour of cuts.
    pub inner_colour: [f32; 3],
    /// From 0, a mirror, to 1, chalk.
    pub roughness: f32,
}

impl Default for Look {
    fn default() -> Self {
        let colour = [0.7; 3];
        Self { material: "plain".to_owned(), colour, inner_colour: colour, roughness: 0.8 }
    }
}

/// How one body of a world is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Appearance {
    /// The body.
    pub body: crate::BodyId,
    /// Its name in the scene.
    pub name: String,
    /// What it looks like.
    pub look: Arc<Look>,
    /// The mesh it was made from, in material coordinates.
    pub mesh: Option<Arc<TriMesh>>,
}
