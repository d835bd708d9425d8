//! A solid divided by many convex cells.

use levelset::{Aabb, total_order};
use nalgebra::{Point3, Vector3};
use rayon::prelude::*;

use super::boxes::FaceBoxes;
use super::cell_clipper::CellClipper;
use super::surface::{Facets, Tag};
use super::{Clipper, ConvexCell};
use crate::cell::Plane;

/// Distance from a group of cells to the plane that cuts the solid beyond them, relative to the size
/// of the solid. A positive distance prevents coplanar faces.
const MARGIN: f64 = 1e-3;

/// The part of `solid` in each cell that overlaps it, in a fixed but arbitrary order. Cuts are
/// tagged by the index of their plane in the cell.
///
/// The cells are halved recursively by position, and each half gets the faces near it. A face is
/// then tested only against the cells near it. If rounding makes the result for a cell ambiguous,
/// the cell is cut from the whole closed solid, one plane at a time.
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
        .flat_map(|CellGroup { cells, faces }| cells.iter().map(move |cell| (*cell, faces)))
        .collect();
    let parts: Vec<Result<(usize, Facets), usize>> =
        pairs.into_par_iter().map_init(clipper, cut).collect();
    let mut found = Vec::with_capacity(parts.len());
    let mut ambiguous = Vec::new();
    for part in parts {
        match part {
            Ok((number, part)) if !part.is_empty() => found.push((number, part)),
            Ok(_) => {}
            Err(number) => ambiguous.push(number),
        }
    }
    if !ambiguous.is_empty() {
        ambiguous.sort_unstable();
        near.retain(|cell| ambiguous.binary_search(&cell.number).is_ok());
        found.extend(by_planes(solid.clone(), &mut near));
    }
    found
}

/// Neighboring cells.
struct CellGroup<'a, 'b> {
    cells: Vec<&'a ConvexCell<'b>>,
    /// The faces near the cells.
    faces: FaceBoxes,
}

/// Cells in two halves.
struct Halves<'a, 'b, 'c> {
    /// The axis along which the cells are divided.
    axis: usize,
    low: &'c mut [&'a ConvexCell<'b>],
    high: &'c mut [&'a ConvexCell<'b>],
}

/// A direction along an axis.
#[derive(Clone, Copy)]
enum Direction {
    Up,
    Down,
}

/// Divides cells into groups of neighbors, each with the faces near the group.
fn group<'a, 'b>(
    faces: FaceBoxes,
    cells: &mut [&'a ConvexCell<'b>],
    bounds: &Aabb,
    groups: &mut Vec<CellGroup<'a, 'b>>,
) {
    /// Scanning the boxes of a group for each of its cells is then cheaper than another split.
    const MAX_CELLS: usize = 48;
    if cells.len() <= MAX_CELLS {
        groups.push(CellGroup { cells: cells.to_vec(), faces });
        return;
    }
    let Halves { low, high, .. } = halved(cells, bounds);
    for half in [low, high] {
        let ends: Vec<_> =
            half.iter().flat_map(|cell| [cell.bounds.min, cell.bounds.max]).collect();
        if let Some(around) = Aabb::around(&ends) {
            group(faces.part(&around), half, bounds, groups);
        }
    }
}

/// Divides cells along the axis of their largest spread, by the centers of their boxes clamped to
/// the box of the solid.
fn halved<'a, 'b, 'c>(cells: &'c mut [&'a ConvexCell<'b>], bounds: &Aabb) -> Halves<'a, 'b, 'c> {
    let middle = |cell: &ConvexCell<'_>| {
        let [low, high] = [&cell.bounds.min, &cell.bounds.max].map(|p| bounds.clamp(p));
        nalgebra::center(&low, &high)
    };
    let middles: Vec<Point3<f64>> = cells.iter().map(|cell| middle(cell)).collect();
    let axis = Aabb::around(&middles).map_or(0, |spread| spread.extents().imax());
    cells.sort_by_cached_key(|cell| (total_order(middle(cell)[axis]), cell.number));
    let (low, high) = cells.split_at_mut(cells.len() / 2);
    Halves { axis, low, high }
}

/// The part of a closed solid in each cell, cut one plane at a time.
///
/// The cells are halved recursively. Each half gets the solid without the part beyond all cells of
/// that half.
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
    let Halves { axis, low, high } = halved(cells, &bounds);
    let mut below = || by_planes(clip_beyond(&solid, low, axis, Direction::Up), low);
    let mut above = || by_planes(clip_beyond(&solid, high, axis, Direction::Down), high);
    let (mut found, more) =
        if solid.faces.len() > MANY { rayon::join(below, above) } else { (below(), above()) };
    found.extend(more);
    found
}

/// Removes the part of the solid that lies beyond every cell in `direction` along `axis`.
fn clip_beyond(
    solid: &Facets,
    cells: &[&ConvexCell<'_>],
    axis: usize,
    direction: Direction,
) -> Facets {
    let sign = match direction {
        Direction::Up => 1.0,
        Direction::Down => -1.0,
    };
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
