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
    divide(solid, &mut near)
}

fn divide(mut solid: Facets, cells: &mut [&ConvexCell]) -> Vec<(usize, Facets)> {
    /// Faces from which on a second thread is worth its start.
    const MANY: usize = 512;
    if let [cell] = cells {
        let mut clipper = Clipper::default();
        for (n, plane) in cell.planes.iter().enumerate() {
            clipper.clip(&mut solid, plane, Tag::plane(n));
            // vertices of no face are soon more than the others, and are looked at all the same
            if solid.vertices.len() > 2 * solid.faces.len() + 64 {
                solid.drop_unused();
            }
        }
        if solid.is_empty() {
            return Vec::new();
        }
        solid.drop_unused();
        return vec![(cell.number, solid)];
    }
    let Some(bounds) = solid.bounds() else { return Vec::new() };
    // where a cell is in the solid, not where it goes on outside
    let middle = |cell: &ConvexCell| {
        let [low, high] = [&cell.bounds.min, &cell.bounds.max].map(|p| bounds.clamp(p));
        nalgebra::center(&low, &high)
    };
    let middles: Vec<Point3<f64>> = cells.iter().map(|cell| middle(cell)).collect();
    let Some(spread) = Aabb::around(&middles) else { return Vec::new() };
    let axis = spread.extents().imax();
    cells.sort_by_cached_key(|cell| (ordered(middle(cell)[axis]), cell.number));
    let (low, high) = cells.split_at_mut(cells.len() / 2);
    let mut below = || divide(kept_around(&solid, low, (axis, 1.0)), low);
    let mut above = || divide(kept_around(&solid, high, (axis, -1.0)), high);
    let (mut found, more) =
        if solid.faces.len() > MANY { rayon::join(below, above) } else { (below(), above()) };
    found.extend(more);
    found
}

/// A number in whose order finite numbers are.
fn ordered(x: f64) -> u64 {
    let bits = x.to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

/// What of a solid is not beyond all of some cells along an axis, upwards or downwards.
fn kept_around(solid: &Facets, cells: &[&ConvexCell], (axis, sign): (usize, f64)) -> Facets {
    let end = |bounds: &Aabb| if sign > 0.0 { bounds.max[axis] } else { -bounds.min[axis] };
    let most = |ends: &mut dyn Iterator<Item = f64>| ends.fold(f64::NEG_INFINITY, f64::max);
    let around = most(&mut cells.iter().map(|cell| end(&cell.bounds)));
    let reach = most(&mut solid.vertices.iter().map(|p| sign * p[axis]));
    let margin = MARGIN * solid.size();
    // a cut that takes next to nothing away costs more than it saves
    if reach <= around + 2.0 * margin {
        return solid.clone();
    }
    let end = around + margin;
    let mut part = solid.without_faces_where(|p| sign * p[axis] > end);
    let plane = Plane { normal: Vector3::ith(axis, sign), offset: end };
    Clipper::default().clip(&mut part, &plane, Tag::CUT);
    part.drop_unused();
    part
}
