//! Voronoi cells of a closed mesh: many planes at once.

use levelset::{TriMesh, total_order};
use nalgebra::Point3;

use super::plane::Plane;
use super::{ClosedMesh, slice};

/// The Voronoi cells of a solid: for each site, the part of the solid nearer to it than to any
/// other; possibly empty, and possibly in several [pieces](ClosedMesh::pieces). The first of
/// several sites at one position gets all.
///
/// Cells of a convex solid are convex. Planes are processed from the nearest on, until the next is
/// farther than the rest of the cell.
pub fn voronoi_cells(solid: &ClosedMesh, sites: &[Point3<f64>]) -> Vec<ClosedMesh> {
    let distinct =
        |i: usize| sites[i].coords.iter().all(|x| x.is_finite()) && !sites[..i].contains(&sites[i]);
    let cell = |i: usize| if distinct(i) { cell(solid, sites, i) } else { ClosedMesh::default() };
    (0..sites.len()).map(cell).collect()
}

fn cell(solid: &ClosedMesh, sites: &[Point3<f64>], i: usize) -> ClosedMesh {
    let site = sites[i];
    let mut others: Vec<(f64, usize)> =
        sites.iter().enumerate().map(|(j, other)| ((other - site).norm(), j)).collect();
    others.retain(|&(distance, _)| distance > 0.0 && distance.is_finite());
    others.sort_by_cached_key(|(distance, _)| total_order(*distance));
    let mut cell = solid.clone();
    for (distance, j) in others {
        if distance / 2.0 > reach(cell.mesh(), &site) {
            break;
        }
        let middle = nalgebra::center(&site, &sites[j]);
        let Some(plane) = Plane::through(&middle, sites[j] - site) else { continue };
        cell = slice(&cell, &plane).back.into_mesh();
    }
    cell
}

/// Distance of the farthest vertex.
fn reach(mesh: &TriMesh, from: &Point3<f64>) -> f64 {
    mesh.vertices.iter().map(|p| (p - from).norm_squared()).fold(0.0, f64::max).sqrt()
}
