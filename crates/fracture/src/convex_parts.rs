//! Convex decompositions, for engines that collide those.

use levelset::{ConvexHull, TriMesh};
use nalgebra::Point3;
use parry3d::math::Vector;
use parry3d::transformation::vhacd::{VHACD, VHACDParameters};
use parry3d::transformation::voxelization::VoxelSet;

/// Voxels along the longest side of what is decomposed.
const RESOLUTION: u32 = 48;
/// How far a part may be off the hull of what it holds, in voxels.
const TOLERANCE: f64 = 0.125;

/// A closed mesh as convex parts that together are about it: V-HACD (Mamou 2016) on voxels of a 48th of the
/// longest side, each part the convex hull of what it holds of the
/// surface and of the voxels inside.
///
/// `concavity`, 0 to 1, is how much volume between a part and its hull is let be, as a share of the
/// whole; 0.01 is usual, and values outside are brought in. There are `most` parts or fewer (1 to
/// 64). A mesh without volume, or that is not sound, has none.
///
/// The result is the same for the same mesh.
pub fn convex_parts(mesh: &TriMesh, concavity: f64, most: u32) -> Vec<TriMesh> {
    let sound = mesh.facts().is_ok_and(|facts| facts.area > 0.0);
    if !sound || mesh.signed_volume() <= 0.0 {
        return Vec::new();
    }
    let points: Vec<Vector> =
        mesh.vertices.iter().map(|p| Vector::from_array((*p).into())).collect();
    let concavity = if concavity.is_finite() { concavity.clamp(0.0, 1.0) } else { 0.01 };
    let most = most.clamp(1, 64);
    // halves are halved as often as the limit asks for, and once more
    let limits = std::iter::successors(Some(most), |limit| Some(limit / 2).filter(|&n| n > 0));
    let decomposed = limits.map(|max_convex_hulls| {
        let parameters = VHACDParameters {
            concavity,
            resolution: RESOLUTION,
            max_convex_hulls,
            ..VHACDParameters::default()
        };
        VHACD::decompose(&parameters, &points, &mesh.triangles, true)
    });
    let is_few = |parts: &VHACD| parts.voxel_parts().len() <= most as usize;
    let Some(parts) = decomposed.into_iter().find(is_few) else {
        return ConvexHull::new(&mesh.vertices)
            .ok()
            .map(|hull| hull.mesh().clone())
            .into_iter()
            .collect();
    };
    let surfaces = parts.compute_primitive_intersections(&points, &mesh.triangles);
    let hull = |(surface, voxels): (Vec<Vector>, &VoxelSet)| {
        let surface = surface.iter().map(|p| Point3::from(p.to_array()));
        let points: Vec<_> = surface.chain(inner_corners(voxels)).collect();
        let hull = ConvexHull::simplified(&points, TOLERANCE * voxels.scale);
        hull.ok().map(|hull| hull.mesh().clone())
    };
    surfaces.into_iter().zip(parts.voxel_parts()).filter_map(hull).collect()
}

/// The corners of voxels that are all inside the mesh.
fn inner_corners(voxels: &VoxelSet) -> impl Iterator<Item = Point3<f64>> {
    let half = voxels.scale / 2.0;
    let inner = voxels.voxels().iter().filter(|voxel| !voxel.is_on_surface);
    inner.flat_map(move |voxel| {
        let center = voxels.get_voxel_point(voxel);
        (0..8_u8).map(move |bits| {
            let side = |bit: u8| if bits >> bit & 1 == 0 { -half } else { half };
            Point3::new(center.x + side(0), center.y + side(1), center.z + side(2))
        })
    })
}

#[cfg(test)]
mod tests {
    use levelset::{Aabb, Grid, LevelSet};
    use nalgebra::Point3;

    use super::*;

    #[test]
    fn parts_of_a_torus_have_its_volume() {
        let half = 0.02;
        let at = Point3::new(1.0, 0.0, -2.0);
        let bounds = Aabb { min: at, max: at }.grown(1.5);
        let grid = Grid::enclosing(&bounds, 2.0 * half, 2, Grid::MAX_NODES).unwrap();
        let torus = LevelSet::from_fn(grid, |p| {
            let off = p - at;
            (off.x.hypot(off.z) - 1.0).hypot(off.y) - 0.4
        });
        let mesh = torus.isosurface();
        let volume = mesh.signed_volume();
        for (most, error) in [(1, 1.0), (2, 0.5), (4, 0.3), (16, 0.03), (64, 0.03)] {
            let parts = convex_parts(&mesh, 0.01, most);
            let sum: f64 = parts.iter().map(TriMesh::signed_volume).sum();
            assert!((1..=most as usize).contains(&parts.len()), "{most}: {}", parts.len());
            assert!((sum / volume - 1.0).abs() < error, "{most}: {}", sum / volume);
        }
    }
}
