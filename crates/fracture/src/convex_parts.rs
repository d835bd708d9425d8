//! Convex decompositions, for engines that collide those.

use levelset::{ConvexHull, TriMesh};
use nalgebra::Point3;
use parry3d::math::Vector;
use parry3d::transformation::vhacd::{VHACD, VHACDParameters};

/// Voxels along the longest side of what is decomposed.
const RESOLUTION: u32 = 48;

/// A closed mesh, as a fragment's [`Drawing`](crate::Drawing), as convex parts that together cover
/// it: V-HACD (Mamou 2016) on voxels of a 48th of the longest side, by which the parts stand out.
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
    let parameters = VHACDParameters {
        concavity: if concavity.is_finite() { concavity.clamp(0.0, 1.0) } else { 0.01 },
        resolution: RESOLUTION,
        max_convex_hulls: most.clamp(1, 64),
        ..VHACDParameters::default()
    };
    let parts = VHACD::decompose(&parameters, &points, &mesh.triangles, false);
    let hull = |voxels: &parry3d::transformation::voxelization::VoxelSet| {
        let half = voxels.scale / 2.0;
        let corners = voxels.voxels().iter().flat_map(|voxel| {
            let centre = voxels.get_voxel_point(voxel);
            (0..8_u8).map(move |bits| {
                let side = |bit: u8| if bits >> bit & 1 == 0 { -half } else { half };
                Point3::new(centre.x + side(0), centre.y + side(1), centre.z + side(2))
            })
        });
        // the corners are of whole voxels, so that some tolerance loses none of the mesh
        let hull = ConvexHull::simplified(&corners.collect::<Vec<_>>(), 0.25 * half);
        hull.ok().map(|hull| hull.mesh().clone())
    };
    parts.voxel_parts().iter().filter_map(hull).collect()
}
