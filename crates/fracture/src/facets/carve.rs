//! A solid divided by many convex cells.

use levelset::Aabb;
use nalgebra::{Point3, Vector3};

use super::{Clipper, Facets, Tag};
use crate::cell::Plane;

/// A convex cell in the coordinates of the solid.
#[derive(Clone, Debug)]
pub(crate) struct ConvexCell {
    /// Its number among all cells.
    pub(crate) number: usize,
    /// It is behind all of them.
    pub(crate) planes: Vec<Plane>,
    /// A box around it.
    pub(crate) bounds: Aabb,
}

/// Share of the solid's size by which it is cut beyond some cells, so that no cut lies in a face of
/// theirs.
const MARGIN: f64 = 1e-3;

/// The part of `solid` in each cell that meets it, in no particular order but always the same. Cuts are
/// tagged by the number of their plane in the cell.
///
/// The cells are halved again and again by where they are, and each half gets of the solid what is not
/// beyond all of its cells: a face meets only the cells near it.
pub(crate) fn carve(solid: Facets, cells: &[ConvexCell]) -> Vec<(usize, Facets)> {
    let Some(bounds) = solid.bounds() else { return Vec::new() };
    let apart = |b: &Aabb| (0..3).any(|a| b.min[a] > bounds.max[a] || b.max[a] < bounds.min[a]);
    let mut near: Vec<&ConvexCell> = cells.iter().filter(|cell| !apart(&cell.bounds)).collect();
    let mut found = Vec::new();
    divide(solid, &mut near, &mut found);
    found
}

fn divide(mut solid: Facets, cells: &mut [&ConvexCell], found: &mut Vec<(usize, Facets)>) {
    let mut clipper = Clipper::default();
    if let [cell] = cells {
        for (n, plane) in cell.planes.iter().enumerate() {
            clipper.clip(&mut solid, plane, Tag::plane(n));
            // vertices of no face are soon more than the others, and are looked at all the same
            if solid.vertices.len() > 2 * solid.faces.len() + 64 {
                solid.drop_unused();
            }
        }
        if !solid.is_empty() {
            solid.drop_unused();
            found.push((cell.number, solid));
        }
        return;
    }
    let Some(bounds) = solid.bounds() else { return };
    // where a cell is in the solid, not where it goes on outside
    let middle = |cell: &ConvexCell| {
        let [low, high] = [&cell.bounds.min, &cell.bounds.max].map(|p| bounds.clamp(p));
        nalgebra::center(&low, &high)
    };
    let middles: Vec<Point3<f64>> = cells.iter().map(|cell| middle(cell)).collect();
    let Some(spread) = Aabb::around(&middles) else { return };
    let axis = spread.extents().imax();
    cells.sort_by(|a, b| middle(a)[axis].total_cmp(&middle(b)[axis]).then(a.number.cmp(&b.number)));
    let (low, high) = cells.split_at_mut(cells.len() / 2);
    let mut part = solid.clone();
    keep_around(&mut part, low, (axis, 1.0), &mut clipper);
    divide(part, low, found);
    keep_around(&mut solid, high, (axis, -1.0), &mut clipper);
    divide(solid, high, found);
}

/// Drops what of a solid is beyond all of some cells along an axis, upwards or downwards.
fn keep_around(
    solid: &mut Facets,
    cells: &[&ConvexCell],
    (axis, sign): (usize, f64),
    clipper: &mut Clipper,
) {
    let end = |bounds: &Aabb| if sign > 0.0 { bounds.max[axis] } else { -bounds.min[axis] };
    let most = |ends: &mut dyn Iterator<Item = f64>| ends.fold(f64::NEG_INFINITY, f64::max);
    let around = most(&mut cells.iter().map(|cell| end(&cell.bounds)));
    let reach = most(&mut solid.vertices.iter().map(|p| sign * p[axis]));
    let margin = MARGIN * solid.size();
    // a cut that takes next to nothing away costs more than it saves
    if reach > around + 2.0 * margin {
        let plane = Plane { normal: Vector3::ith(axis, sign), offset: around + margin };
        clipper.clip(solid, &plane, Tag::CUT);
        solid.drop_unused();
    }
}
