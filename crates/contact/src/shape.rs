//! Collision shapes: a signed distance, and surface points to test against the distance of other
//! shapes.

pub(crate) mod compound;
pub(crate) mod field;
pub(crate) mod lazy_surface;
pub(crate) mod points;
pub(crate) mod polyhedron;
pub(crate) mod query;
pub(crate) mod round;
pub(crate) mod tets;
pub(crate) mod triangles;

use std::sync::{Arc, OnceLock};

use levelset::{Aabb, ConvexHull, LevelSet, TriMesh};
use nalgebra::{Isometry3, Point3, Vector3};

use crate::Triangles;
use crate::shape::compound::Compound;
use crate::shape::field::Field;
use crate::shape::lazy_surface::LazySurface;
use crate::shape::points::PointTree;
use crate::shape::polyhedron::Polyhedron;
use crate::shape::round::Round;
use crate::shape::tets::TetSolid;

/// The points of a shape that are tested against the signed distance of other shapes.
#[derive(Clone, Debug)]
pub(crate) enum Probe {
    /// None: half-spaces and meshes have no points.
    None,
    /// The center, with a radius.
    Ball(f64),
    /// Points on the surface.
    Points(PointTree),
    /// Surface points of hulls or of a solid of revolution at this spacing, m, sampled on first
    /// use.
    Hull(f64, OnceLock<PointTree>),
}

/// The collision shape of a body, immutable and shared by equal bodies.
#[derive(Clone, Debug)]
pub struct Shape {
    field: Field,
    probe: Probe,
    /// If the shape is a union of convex polyhedra.
    compound: Option<Compound>,
    bounds: Aabb,
    radius: f64,
    /// If the field is sampled.
    surface: LazySurface,
}

impl Shape {
    /// Largest number of corners of a hull in the polyhedral narrow phase: a pair takes time
    /// proportional to corners times faces.
    pub const MAX_CORNERS: usize = 128;
    /// Largest number of convex solids in a union.
    pub const MAX_PARTS: usize = 64;
    /// Largest radius of a bounded solid, m: squares and products of lengths up to here are finite.
    pub const MAX_RADIUS: f64 = 1e30;

    /// The half-space y < 0.
    pub fn half_space() -> Self {
        let everywhere = Vector3::repeat(f64::INFINITY);
        Self {
            field: Field::HalfSpace,
            probe: Probe::None,
            compound: None,
            bounds: Aabb { min: (-everywhere).into(), max: everywhere.into() },
            radius: f64::INFINITY,
            surface: LazySurface::default(),
        }
    }

    /// The empty shape, which touches nothing.
    pub fn empty() -> Self {
        let at = Point3::origin();
        Self {
            field: Field::Ball { radius: f64::NEG_INFINITY },
            probe: Probe::None,
            compound: None,
            bounds: Aabb { min: at, max: at },
            radius: 0.0,
            surface: LazySurface::default(),
        }
    }

    /// A ball of `radius` m.
    pub fn ball(radius: f64) -> Self {
        let half = Vector3::repeat(radius);
        Self {
            field: Field::Ball { radius },
            probe: Probe::Ball(radius),
            compound: None,
            bounds: Aabb { min: (-half).into(), max: half.into() },
            radius,
            surface: LazySurface::default(),
        }
    }

    /// A box of half edge lengths `half` m, with surface points at most `spacing` m apart.
    pub fn cuboid(half: Vector3<f64>, spacing: f64) -> Self {
        Self {
            field: Field::Cuboid { half },
            probe: Probe::Points(PointTree::new(&cuboid_points(&half, spacing))),
            compound: Compound::new([Polyhedron::cuboid(&half)]),
            bounds: Aabb { min: (-half).into(), max: half.into() },
            radius: half.norm(),
            surface: LazySurface::default(),
        }
    }

    /// A sampled solid with `points` on its surface, both in material coordinates; `material` maps
    /// body coordinates to these.
    pub fn grid(
        level_set: impl Into<Arc<LevelSet>>,
        points: &[Point3<f64>],
        material: Isometry3<f64>,
    ) -> Self {
        let body: Vec<_> = points.iter().map(|p| material.inverse_transform_point(p)).collect();
        let at = Point3::origin();
        let bounds = Aabb::around(&body).unwrap_or(Aabb { min: at, max: at });
        let radius = body.iter().map(|p| p.coords.norm()).fold(0.0, f64::max);
        Self {
            field: Field::Grid { level_set: level_set.into(), material },
            probe: Probe::Points(PointTree::new(&body)),
            compound: None,
            bounds,
            radius,
            surface: LazySurface::default(),
        }
    }

    /// The same sampled solid with `surface`, its exact surface in material coordinates, instead of
    /// the isosurface of its samples. Balls and other solids of revolution touch it. `surface` is
    /// called when the first one comes near a shape or a copy of it, and must not wait for other
    /// threads. Shapes without samples ignore it.
    #[must_use]
    pub fn with_surface(self, surface: impl Fn() -> TriMesh + Send + Sync + 'static) -> Self {
        Self { surface: LazySurface::new(surface), ..self }
    }

    /// A convex solid: `hull`, m, in material coordinates; `material` maps body coordinates to
    /// these. Against hulls, boxes and half-spaces it uses corners, edges and faces; against other
    /// shapes its exact signed distance and surface points at most `spacing` meters apart. `None`
    /// if all parts are slivers, or there are more than [`Shape::MAX_CORNERS`] corners.
    pub fn convex(hull: &ConvexHull, spacing: f64, material: &Isometry3<f64>) -> Option<Self> {
        Self::union(std::slice::from_ref(hull), spacing, material)
    }

    /// The union of convex solids, which may touch or overlap, each treated as in
    /// [`Shape::convex`]. `None` if a solid has more than [`Shape::MAX_CORNERS`] corners, there are
    /// more than [`Shape::MAX_PARTS`], or all are slivers.
    pub fn union(hulls: &[ConvexHull], spacing: f64, material: &Isometry3<f64>) -> Option<Self> {
        let in_body = |hull: &ConvexHull| {
            let mesh = hull.mesh();
            let vertices = mesh.vertices.iter().map(|p| material.inverse_transform_point(p));
            let (vertices, triangles) = (vertices.collect(), mesh.triangles.clone());
            ConvexHull::of_convex(TriMesh { vertices, triangles }).ok()
        };
        let has_too_many = |hull: &ConvexHull| hull.mesh().vertices.len() > Self::MAX_CORNERS;
        if hulls.len() > Self::MAX_PARTS || hulls.iter().any(has_too_many) {
            return None;
        }
        let solid = |hull: ConvexHull| {
            let polyhedron = Polyhedron::new(&hull, &Isometry3::identity())?;
            Some((hull, polyhedron))
        };
        let (mut hulls, solids): (Vec<_>, Vec<_>) =
            hulls.iter().filter_map(in_body).filter_map(solid).unzip();
        let corners = solids.iter().flat_map(Polyhedron::corners);
        let radius = corners.clone().map(|p| p.coords.norm()).fold(0.0, f64::max);
        let bounds = Aabb::around(corners)?;
        let field = match hulls.len() {
            1 => Field::Hull(Arc::new(hulls.remove(0))),
            _ => Field::Hulls(hulls.into()),
        };
        let compound = Some(Compound::new(solids)?);
        let (probe, surface) = (Probe::Hull(spacing, OnceLock::new()), LazySurface::default());
        Some(Self { field, probe, compound, bounds, radius, surface })
    }

    /// A convex solid of revolution with exact rims and sides. `spacing` is that of its surface
    /// points, m, which [`Solver::Reference`](crate::Solver) tests.
    pub fn round(round: Round, spacing: f64) -> Self {
        Self {
            field: Field::Round(round),
            probe: Probe::Hull(spacing, OnceLock::new()),
            compound: None,
            bounds: round.bounds(),
            radius: round.radius(),
            surface: LazySurface::default(),
        }
    }

    /// Triangles that need not be closed, in body coordinates, for static scenery only. Two meshes
    /// do not touch each other, nor does a mesh touch a half-space. Points of sampled bodies are
    /// tested against the mesh, but not its corners against these bodies: a spike between the
    /// points is missed.
    pub fn mesh(triangles: Arc<Triangles>) -> Self {
        let bounds = triangles.bounds();
        let corner = bounds.min.coords.abs().sup(&bounds.max.coords.abs());
        Self {
            field: Field::Mesh(triangles),
            probe: Probe::None,
            compound: None,
            bounds,
            radius: corner.norm(),
            surface: LazySurface::default(),
        }
    }

    /// Tetrahedra. Balls and other solids of revolution touch their surface exactly. All other shapes
    /// are tested against their exact signed distance; the vertices of
    /// their surface are tested against other shapes (Mu01 section 2.9). Two edges that cross
    /// without a vertex inside the other body are missed, so tetrahedra should be no larger than
    /// the bodies that they touch.
    pub fn tets(tets: Arc<TetSolid>) -> Self {
        let vertices = tets.vertices();
        let radius = vertices.iter().map(|p| p.coords.norm()).fold(0.0, f64::max);
        let (probe, bounds) = (Probe::Points(PointTree::new(vertices)), tets.bounds());
        let surface = LazySurface::default();
        Self { field: Field::Tets(tets), probe, compound: None, bounds, radius, surface }
    }

    /// Whether it can touch other shapes: a half-space, or a solid no larger than
    /// [`Shape::MAX_RADIUS`]. Lengths that are negative or no numbers make shapes that cannot.
    ///
    /// ```
    /// use brisance_contact::Shape;
    ///
    /// assert!(Shape::ball(0.1).is_usable() && !Shape::ball(-0.1).is_usable());
    /// ```
    pub fn is_usable(&self) -> bool {
        let (least, most) = (&self.bounds.min, &self.bounds.max);
        let ascend = least.iter().zip(most.iter()).all(|(least, most)| least <= most);
        let is_sized = match &self.field {
            Field::HalfSpace => return ascend,
            Field::Round(round) => round.is_usable(),
            _ => true,
        };
        ascend && is_sized && (0.0..=Self::MAX_RADIUS).contains(&self.radius)
    }

    /// The signed distance.
    pub fn field(&self) -> &Field {
        &self.field
    }

    /// The points that are tested against other bodies, in body coordinates, m. Empty for a
    /// half-space and a ball, whose contacts are exact, as most of other solids of revolution are.
    pub fn points(&self) -> &[Point3<f64>] {
        self.tree().map_or(&[], PointTree::points)
    }

    pub(crate) fn tree(&self) -> Option<&PointTree> {
        match (&self.probe, &self.field) {
            (Probe::Points(tree), _) => Some(tree),
            (Probe::Hull(spacing, tree), field) => {
                let points = || {
                    let of = |hull: &ConvexHull| hull.mesh().spread_points(*spacing);
                    PointTree::new(&match field {
                        Field::Hull(hull) => of(hull),
                        Field::Hulls(hulls) => hulls.iter().flat_map(of).collect(),
                        Field::Round(round) => round.points(*spacing),
                        _ => Vec::new(),
                    })
                };
                Some(tree.get_or_init(points))
            }
            _ => None,
        }
    }

    /// The smallest box in body coordinates; infinite for a half-space.
    pub fn bounds(&self) -> &Aabb {
        &self.bounds
    }

    /// Distance of the farthest surface point from the origin, m; infinite for a half-space.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// The smallest extent of the solid, m; infinite for a half-space and for triangles that are
    /// solid all the way behind.
    pub fn thickness(&self) -> f64 {
        2.0 * self.half_thickness()
    }

    /// Half the smallest extent of the solid, which another body must not skip in one move, m.
    pub(crate) fn half_thickness(&self) -> f64 {
        match (&self.field, &self.compound) {
            (Field::Mesh(triangles), _) => triangles.thickness() / 2.0,
            (Field::Round(round), _) => round.half_width(),
            (_, Some(compound)) => compound.half_width(),
            _ => self.bounds.extents().min() / 2.0,
        }
    }

    /// The reference length of the penetration slop, m: the radius, but at most the circumradius of
    /// a cube as thick as the body.
    pub fn size(&self) -> f64 {
        /// Circumradius of a cube over half its edge: the square root of 3.
        const CUBE: f64 = 1.732_050_807_568_877_2;
        self.radius.min(CUBE * self.half_thickness())
    }

    /// The surface as triangles, of shapes that are not convex or unions of convex solids.
    pub(crate) fn triangles(&self) -> Option<&Triangles> {
        match &self.field {
            Field::Mesh(triangles) => Some(triangles),
            Field::Tets(tets) => Some(tets.triangles()),
            field => self.surface.of(field),
        }
    }

    pub(crate) fn compound(&self) -> Option<&Compound> {
        self.compound.as_ref()
    }

    pub(crate) fn probe(&self) -> &Probe {
        &self.probe
    }
}

/// Corners first, then edges and faces at even steps.
fn cuboid_points(half: &Vector3<f64>, spacing: f64) -> Vec<Point3<f64>> {
    // a finer spacing only costs memory: contacts of flat faces need no more
    const MAX_PER_EDGE: f64 = 64.0;
    let steps: [usize; 3] =
        std::array::from_fn(|a| (2.0 * half[a] / spacing).ceil().clamp(1.0, MAX_PER_EDGE) as usize);
    let mut points = Vec::new();
    for i in 0..=steps[0] {
        for j in 0..=steps[1] {
            for k in 0..=steps[2] {
                let at = [i, j, k];
                if (0..3).any(|a| at[a] == 0 || at[a] == steps[a]) {
                    let x = Vector3::from_fn(|a, _| 2.0 * at[a] as f64 / steps[a] as f64 - 1.0);
                    points.push(Point3::from(x.component_mul(half)));
                }
            }
        }
    }
    points.sort_by_cached_key(|p| (0..3).filter(|&a| p[a].abs() < half[a]).count());
    points
}
