//! Shape quality of tetrahedra.

use nalgebra::Point3;

use crate::TetMesh;

/// The worst and the mean over a tetrahedral mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct TetQuality {
    /// Smallest dihedral angle, degrees.
    pub min_dihedral: f64,
    /// Largest dihedral angle, degrees.
    pub max_dihedral: f64,
    /// Smallest mean ratio `12 (3V)^(2/3) / sum of squared edges`: 1 for a regular tetrahedron, 0
    /// for a flat one.
    pub min_mean_ratio: f64,
    /// Average of the mean ratio.
    pub mean_mean_ratio: f64,
    /// Smallest radius ratio, `3 r / R` with the inradius `r` and the circumradius `R`: 1 for a
    /// regular tetrahedron, 0 for a flat one.
    pub min_radius_ratio: f64,
    /// Average of the radius ratio.
    pub mean_radius_ratio: f64,
    /// Tetrahedra of zero or negative volume.
    pub inverted: usize,
}

impl TetMesh {
    /// Measures all tetrahedra; for an empty mesh, angles 180 to 0 and ratios 1 and 0.
    ///
    /// # Panics
    /// If an index is out of range.
    pub fn quality(&self) -> TetQuality {
        let (mut min_cosine, mut max_cosine) = (1.0_f64, -1.0_f64);
        let (mut worst, mut sum, mut inverted) = (1.0_f64, 0.0, 0);
        let (mut least_radii, mut all_radii) = (1.0_f64, 0.0);
        for t in 0..self.tets.len() {
            let corners = self.corners(t);
            for cosine in dihedral_cosines(&corners) {
                min_cosine = min_cosine.min(cosine);
                max_cosine = max_cosine.max(cosine);
            }
            let volume = self.volume(t);
            inverted += usize::from(volume <= 0.0);
            let edges: f64 =
                EDGES.iter().map(|&[a, b, ..]| (corners[b] - corners[a]).norm_squared()).sum();
            let ratio = 12.0 * libm::pow(3.0 * volume.max(0.0), 2.0 / 3.0) / edges;
            worst = worst.min(ratio);
            sum += ratio;
            let radii = radius_ratio(&corners, volume);
            least_radii = least_radii.min(radii);
            all_radii += radii;
        }
        TetQuality {
            min_dihedral: libm::acos(max_cosine).to_degrees(),
            max_dihedral: libm::acos(min_cosine).to_degrees(),
            min_mean_ratio: worst,
            mean_mean_ratio: sum / self.tets.len().max(1) as f64,
            min_radius_ratio: least_radii,
            mean_radius_ratio: all_radii / self.tets.len().max(1) as f64,
            inverted,
        }
    }
}

/// Thrice the inscribed radius over the circumscribed one.
fn radius_ratio([a, b, c, d]: &[Point3<f64>; 4], volume: f64) -> f64 {
    let (x, y, z) = (b - a, c - a, d - a);
    let (yz, zx, xy) = (y.cross(&z), z.cross(&x), x.cross(&y));
    let faces = yz.norm() + zx.norm() + xy.norm() + (yz + zx + xy).norm();
    let out = yz * x.norm_squared() + zx * y.norm_squared() + xy * z.norm_squared();
    // radii 6 V / (sum of twice the areas) and |out| / 12 V
    let ratio = 216.0 * volume * volume / (faces * out.norm());
    if volume > 0.0 && ratio.is_finite() { ratio } else { 0.0 }
}

/// The ends of each edge, then the ends of the opposite edge.
const EDGES: [[usize; 4]; 6] =
    [[0, 1, 2, 3], [0, 2, 1, 3], [0, 3, 1, 2], [1, 2, 0, 3], [1, 3, 0, 2], [2, 3, 0, 1]];

/// Cosines of the six dihedral angles; NaN becomes 1 (a flat tetrahedron has an angle of zero).
fn dihedral_cosines(corners: &[Point3<f64>; 4]) -> [f64; 6] {
    EDGES.map(|[a, b, c, d]| {
        let along = corners[b] - corners[a];
        let left = along.cross(&(corners[c] - corners[a]));
        let right = along.cross(&(corners[d] - corners[a]));
        let cosine = left.dot(&right) / (left.norm() * right.norm());
        if cosine.is_nan() { 1.0 } else { cosine.clamp(-1.0, 1.0) }
    })
}
