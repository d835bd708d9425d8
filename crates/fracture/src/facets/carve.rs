//! A solid divided by many convex cells.

use levelset::Aabb;
use nalgebra::{Point3, Vector3};
use rayon::prelude::*;

use super::boxes::FaceBoxes;
use super::cell_clipper::CellClipper;
use super::surface::{Facets, Tag};
use super::{Clipper, ConvexCell};
use crate::cell::Plane;

/// Margin of cuts beyond some cells, as a share of the solid's size, so that no cut coincides with
/// a face of theirs.
const MARGIN: f64 = 1e-3;

/// The part of `solid` in each cell that overlaps it, in a fixed but arbitrary order. Cuts are
/// tagged by the index of their plane in the cell.
///
/// Cells are halved recursively by position, and each half gets the faces near it, so that a face
/// is tested only against the cells near it. Cells that the nearby faces leave undecided by
/// rounding are cut out of the closed solid plane by plane.
pub(crate) fn carve(solid: &Facets, cells: &[ConvexCell<'_>]) -> Vec<(usize, Facets)> {
    let Some(bounds) = solid.bounds() else { return Vec::new() };
    let mut near: Vec<&ConvexCell<'_>> =
        cells.iter().filter(|cell| cell.bounds.intersects(&bounds)).collect();
    let convex = solid.with_convex_faces();
    let mut groups = Vec::new();
    let boxes = FaceBoxes::new(&convex);
    group(boxes.clone(), &mut near, &bounds, &mut groups);
    let cut = |clipper: &mut CellClipper<'_>, (cell, faces): (&ConvexCell<'_>, &FaceBoxes)| {
        let part = clipper.intersection(cell, &faces.near(&cell.bounds));
        part.map(|part| (cell.number, part)).ok_or(cell.number)
    };
    let clipper = || CellClipper::new(&convex, &boxes, bounds);
    let pairs: Vec<_> = groups
        .iter()
        .flat_map(|(cells, faces)| cells.iter().map(move |cell| (*cell, faces)))
        .collect();
    let parts: Vec<Result<(usize, Facets), usize>> =
        pairs.into_par_iter().map_init(clipper, cut).collect();
    let mut found = Vec::with_capacity(parts.len());
    let mut unsettled = Vec::new();
    for part in parts {
        match part {
            Ok((number, part)) if !part.is_empty() => found.push((number, part)),
            Ok(_) => {}
            Err(number) => unsettled.push(number),
        }
    }
    if !unsettled.is_empty() {
        unsettled.sort_unstable();
        near.retain(|cell| unsettled.binary_search(&cell.number).is_ok());
        found.extend(by_planes(solid.clone(), &mut near));
    }
    found
}

type Group<'a, 'b> = (Vec<&'a ConvexCell<'b>>, FaceBoxes);

/// Divides cells into groups of neighbors, each with the faces near the group.
fn group<'a, 'b>(
    faces: FaceBoxes,
    cells: &mut [&'a ConvexCell<'b>],
    bounds: &Aabb,
    groups: &mut Vec<Group<'a, 'b>>,
) {
    /// Scanning the boxes of a group for each of its cells is then cheaper than another split.
    const MAX_CELLS: usize = 48;
    if cells.len() <= MAX_CELLS {
        groups.push((cells.to_vec(), faces));
        return;
    }
    let (_, halves) = halved(cells, bounds);
    for half in halves {
        let ends: Vec<_> =
            half.iter().flat_map(|cell| [cell.bounds.min, cell.bounds.max]).collect();
        if let Some(around) = Aabb::around(&ends) {
            group(faces.part(&around), half, bounds, groups);
        }
    }
}

/// Cells in two halves along the axis of their largest spread, by the centers of their boxes
/// clamped to the box of the solid.
fn halved<'a, 'b, 'c>(
    cells: &'c mut [&'a ConvexCell<'b>],
    bounds: &Aabb,
) -> (usize, [&'c mut [&'a ConvexCell<'b>]; 2]) {
    let middle = |cell: &ConvexCell<'_>| {
        let [low, high] = [&cell.bounds.min, &cell.bounds.max].map(|p| bounds.clamp(p));
        nalgebra::center(&low, &high)
    };
    let middles: Vec<Point3<f64>> = cells.iter().map(|cell| middle(cell)).collect();
    let axis = Aabb::around(&middles).map_or(0, |spread| spread.extents().imax());
    cells.sort_by_cached_key(|cell| (ordered(middle(cell)[axis]), cell.number));
    (axis, cells.split_at_mut(cells.len() / 2).into())
}

/// The part of a closed solid in each cell, plane by plane. The cells are halved recursively, and
/// each half gets the part of the solid that is not beyond all of its cells.
pub(super) fn by_planes(mut solid: Facets, cells: &mut [&ConvexCell<'_>]) -> Vec<(usize, Facets)> {
    /// Number of faces from which a second thread pays off.
    const MANY: usize = 512;
    if let [cell] = cells {
        let mut clipper = Clipper::default();
        for (n, plane) in cell.planes.iter().enumerate() {
            clipper.clip(&mut solid, plane, Tag::plane(n));
            // unused vertices soon outnumber the others and cost as much time
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
    let (axis, [low, high]) = halved(cells, &bounds);
    let mut below = || by_planes(kept_around(&solid, low, (axis, 1.0)), low);
    let mut above = || by_planes(kept_around(&solid, high, (axis, -1.0)), high);
    let (mut found, more) =
        if solid.faces.len() > MANY { rayon::join(below, above) } else { (below(), above()) };
    found.extend(more);
    found
}

/// An integer in the order of finite numbers.
fn ordered(x: f64) -> u64 {
    let bits = x.to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

/// The part of a solid that is not beyond all of some cells along an axis, upwards or downwards.
fn kept_around(solid: &Facets, cells: &[&ConvexCell<'_>], (axis, sign): (usize, f64)) -> Facets {
    let end = |bounds: &Aabb| if sign > 0.0 { bounds.max[axis] } else { -bounds.min[axis] };
    let most = |ends: &mut dyn Iterator<Item = f64>| ends.fold(f64::NEG_INFINITY, f64::max);
    let around = most(&mut cells.iter().map(|cell| end(&cell.bounds)));
    let reach = most(&mut solid.vertices.iter().map(|p| sign * p[axis]));
    let margin = MARGIN * solid.size();
    // a cut that removes almost nothing costs more than it saves
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
