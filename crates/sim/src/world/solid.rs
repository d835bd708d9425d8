//! Solids of bodies.

use std::sync::Arc;

use contact::{Field, Round, Shape};
use fracture::{ClosedMesh, Geometry};
use levelset::{Aabb, Grid, LevelSet, Sign};
use nalgebra::{Isometry3, Point3};

use crate::scene::MARGIN;

/// The solid of a body that can break, be cut, anchored or rendered.
#[derive(Clone, Debug)]
pub struct Solid {
    /// The solid in its material space. Equal bodies share it.
    pub geometry: Arc<Geometry>,
    /// Body coordinates to material coordinates.
    pub material: Isometry3<f64>,
}

impl Solid {
    /// The samples of a collision shape, if any.
    pub(crate) fn of_samples(shape: &Shape) -> Option<Self> {
        let Field::Grid { level_set, material } = shape.field() else { return None };
        let points: Vec<_> = shape.points().iter().map(|p| material * p).collect();
        let geometry = Geometry::sampled(Arc::clone(level_set), points, level_set.moments());
        Some(Self { geometry: Arc::new(geometry), material: *material })
    }

    /// The exact solid of a ball, a box, a hull, a cylinder, a capsule or a cone.
    pub(super) fn of_convex(shape: &Shape) -> Option<Self> {
        /// Numbers of samples along the longest edge and the shortest one.
        const COUNTS: [f64; 2] = [20.0, 4.0];
        /// Largest number of samples, the default of shapes in scenes.
        const MOST: usize = 100_000;
        let middle = match shape.field() {
            // a primitive is centered
            Field::Round(round) => 0.5 * (round.rims()[0].height + round.rims()[1].height),
            _ => 0.0,
        };
        let material = Isometry3::translation(0.0, -middle, 0.0);
        let Aabb { min, max } = *shape.bounds();
        let bounds = Aabb { min: material * min, max: material * max };
        let edges = bounds.extents();
        let spacing = (edges.max() / COUNTS[0]).min(edges.min() / COUNTS[1]);
        let finest = Grid::finest_spacing(&edges, MARGIN, MOST);
        let grid = Grid::enclosing(&bounds, spacing.max(finest), MARGIN, Grid::MAX_NODES).ok()?;
        let geometry = match shape.field() {
            Field::Ball { radius } => {
                Geometry::primitive(levelset::Solid::Sphere { radius: *radius }, grid)?
            }
            Field::Cuboid { half } => {
                Geometry::primitive(levelset::Solid::Box { half_extents: *half }, grid)?
            }
            Field::Round(round) => Geometry::primitive(primitive(round), grid)?,
            Field::Hull(hull) => {
                let samples = LevelSet::from_mesh(hull.mesh(), grid, Sign::Strict).ok()?;
                Geometry::mesh(&ClosedMesh::new(hull.mesh().clone()).ok()?, Arc::new(samples))
            }
            _ => return None,
        };
        Some(Self { geometry: Arc::new(geometry), material })
    }

    /// The collision shape of a body of this solid: hulls if it is a known union of hulls, else its
    /// samples.
    pub fn shape(&self) -> Shape {
        let Self { geometry, material } = self;
        let spacing = geometry.grid().spacing();
        let union = geometry.hulls().and_then(|hulls| Shape::union(&hulls, spacing, material));
        union.unwrap_or_else(|| self.sampled_shape(&geometry.points()))
    }

    /// Its samples as a collision shape, with `points` on its surface in material coordinates.
    pub(crate) fn sampled_shape(&self, points: &[Point3<f64>]) -> Shape {
        let Self { geometry, material } = self;
        let shape = Shape::grid(Arc::clone(geometry.level_set()), points, *material);
        if !geometry.is_exact() {
            return shape;
        }
        let geometry = Arc::clone(geometry);
        shape.with_surface(move || geometry.surface().unwrap_or_default().mesh)
    }
}

/// A solid of revolution, centered.
fn primitive(round: &Round) -> levelset::Solid {
    let [low, high] = round.rims();
    let half_height = 0.5 * (high.height - low.height);
    let radius = low.radius;
    if round.rounding() > 0.0 {
        levelset::Solid::Capsule { half_height, radius: round.rounding() }
    } else if high.radius > 0.0 {
        levelset::Solid::Cylinder { half_height, radius }
    } else {
        levelset::Solid::Cone { half_height, radius }
    }
}
