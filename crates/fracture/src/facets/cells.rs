//! Convex cells of cuts.

use levelset::Aabb;
use nalgebra::{Point3, Similarity3};

use crate::Pattern;
use crate::cell::Plane;
use crate::hull::CellHull;

/// A convex cell of a pattern in the coordinates of the solid.
#[derive(Clone, Debug)]
pub(crate) struct ConvexCell<'a> {
    /// Its index among all cells.
    pub(crate) number: usize,
    /// Planes of which it is behind all.
    pub(crate) planes: Vec<Plane>,
    /// Its bounding box.
    pub(crate) bounds: Aabb,
    /// Its polyhedron, if rounding leaves one, and the positions of its corners.
    pub(super) hull: Option<(&'a CellHull, Vec<Point3<f64>>)>,
}

impl<'a> ConvexCell<'a> {
    /// A region of a pattern; `None` if it is not convex, or empty.
    pub(crate) fn new(
        pattern: &'a Pattern,
        number: usize,
        to_material: &Similarity3<f64>,
    ) -> Option<Self> {
        let cell = pattern.cell(number)?;
        let corners: Vec<Point3<f64>> =
            cell.corners().map(|p| to_material.transform_point(p)).collect();
        let planes = cell.planes().iter().map(|plane| plane.transformed(to_material)).collect();
        let placed = |hull: &'a CellHull| {
            (hull, hull.corners.iter().map(|p| to_material.transform_point(p)).collect())
        };
        let hull = pattern.hull(number).map(placed);
        Some(Self { number, planes, bounds: Aabb::around(&corners)?, hull })
    }
}
