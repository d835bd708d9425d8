//! Recorded stress of bodies of tetrahedra.

use std::sync::Arc;

use levelset::{TetMesh, total_order};
use nalgebra::{Isometry3, Matrix3, Point3, Vector3};

/// Tetrahedra for rendering.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tets {
    /// Positions of their vertices, m.
    pub vertices: Vec<[f32; 3]>,
    /// Vertex indices of each tetrahedron.
    pub corners: Vec<[u32; 4]>,
}

/// Tetrahedra and the stress in each, Pa.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StressField {
    /// The tetrahedra.
    pub tets: Arc<Tets>,
    /// The largest principal stress of each; tension is positive.
    pub principal: Vec<f32>,
    /// The von Mises stress of each.
    pub von_mises: Vec<f32>,
}

/// The stress of a body, valid from `frame` until the next entry.
///
/// Its source is the last impact on the body or its parent that was tested for fracture.
#[derive(Clone, Debug, PartialEq)]
pub struct Stress {
    /// The first frame.
    pub frame: usize,
    /// The largest principal stress in the body, Pa.
    pub principal: f32,
    /// The largest von Mises stress in the body, Pa.
    pub von_mises: f32,
    /// The stress of each tetrahedron, in body coordinates; `None` if it was not kept.
    pub field: Option<Arc<StressField>>,
}

impl Stress {
    pub(crate) fn new(frame: usize, field: StressField) -> Self {
        let most = |values: &[f32]| values.iter().copied().reduce(f32::max).unwrap_or(0.0);
        let (principal, von_mises) = (most(&field.principal), most(&field.von_mises));
        Self { frame, principal, von_mises, field: Some(Arc::new(field)) }
    }
}

impl Tets {
    fn of(mesh: &TetMesh) -> Self {
        let vertices = mesh.vertices.iter().map(|p| p.cast::<f32>().into()).collect();
        Self { vertices, corners: mesh.tets.clone() }
    }

    fn centers(&self) -> impl Iterator<Item = Vector3<f32>> {
        let place = |v: &u32| Vector3::from(self.vertices[*v as usize]);
        self.corners.iter().map(move |tet| tet.iter().map(place).sum::<Vector3<f32>>() / 4.0)
    }
}

impl StressField {
    /// Unstressed tetrahedra.
    pub(crate) fn none(mesh: &TetMesh) -> Self {
        let zeros = vec![0.0; mesh.tets.len()];
        Self { tets: Arc::new(Tets::of(mesh)), principal: zeros.clone(), von_mises: zeros }
    }

    /// One stress per tetrahedron, Pa.
    pub(crate) fn of(mesh: &TetMesh, stresses: &[Matrix3<f64>]) -> Self {
        let principal = stresses.iter().map(|s| tetfem::max_principal(s) as f32).collect();
        let von_mises = stresses.iter().map(|s| von_mises(s) as f32).collect();
        Self { tets: Arc::new(Tets::of(mesh)), principal, von_mises }
    }

    /// The same tetrahedra at another pose.
    pub(crate) fn placed(&self, by: &Isometry3<f64>) -> Self {
        let place = |p: &[f32; 3]| (by * Point3::from(*p).cast::<f64>()).cast::<f32>().into();
        let vertices = self.tets.vertices.iter().map(place).collect();
        let tets = Arc::new(Tets { vertices, corners: self.tets.corners.clone() });
        Self { tets, ..self.clone() }
    }

    /// Transfers the stress to a mesh in the same place. Each tetrahedron takes the stress of the
    /// tetrahedron with the nearest centroid. If the connectivity is equal, tetrahedra keep their
    /// stress.
    pub(crate) fn carried(&self, mesh: &TetMesh) -> Self {
        let tets = Arc::new(Tets::of(mesh));
        if tets.corners == self.tets.corners {
            return Self { tets, ..self.clone() };
        }
        let mut known: Vec<(Vector3<f32>, usize)> = self.tets.centers().zip(0..).collect();
        known.sort_by_cached_key(|(p, _)| total_order(f64::from(p.x)));
        let from: Vec<usize> = tets.centers().map(|at| nearest(&known, &at)).collect();
        let take = |values: &[f32]| {
            from.iter().map(|&n| values.get(n).copied().unwrap_or(0.0)).collect::<Vec<_>>()
        };
        Self { tets, principal: take(&self.principal), von_mises: take(&self.von_mises) }
    }
}

/// Index of the position nearest to another; `known` ascend along x.
fn nearest(known: &[(Vector3<f32>, usize)], at: &Vector3<f32>) -> usize {
    let middle = known.partition_point(|(p, _)| p.x < at.x);
    let mut best = (f32::INFINITY, usize::MAX);
    let mut look = |&(p, n): &(Vector3<f32>, usize)| {
        let along = p.x - at.x;
        if along * along > best.0 {
            return false;
        }
        let here = ((p - at).norm_squared(), n);
        if here < best {
            best = here;
        }
        true
    };
    // in both directions until the distance along x alone is larger
    for place in &known[middle..] {
        if !look(place) {
            break;
        }
    }
    for place in known[..middle].iter().rev() {
        if !look(place) {
            break;
        }
    }
    best.1
}

fn von_mises(stress: &Matrix3<f64>) -> f64 {
    let deviator = stress - Matrix3::identity() * (stress.trace() / 3.0);
    (1.5 * deviator.norm_squared()).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stress_of_von_mises_is_that_of_one_axis_and_sees_no_pressure() {
        let axis = Matrix3::from_diagonal(&Vector3::new(3e6, 0.0, 0.0));
        assert!((von_mises(&axis) - 3e6).abs() < 1e-6);
        assert!((von_mises(&(axis - Matrix3::identity() * 7e6)) - 3e6).abs() < 1e-6);
        let shear = Matrix3::new(0.0, 2e6, 0.0, 2e6, 0.0, 0.0, 0.0, 0.0, 0.0);
        assert!((von_mises(&shear) - 2e6 * 3.0_f64.sqrt()).abs() < 1e-6);
    }

    #[test]
    fn the_nearest_is_found_as_by_looking_at_all() {
        let place = |n: usize| {
            let x = |k: usize| ((n * 7919 + k * 104_729) % 997) as f32;
            Vector3::new(x(1) % 31.0, x(2), x(3))
        };
        let mut known: Vec<(Vector3<f32>, usize)> = (0..300).map(|n| (place(n), n)).collect();
        known.sort_by(|(p, n), (q, m)| p.x.total_cmp(&q.x).then(n.cmp(m)));
        for at in (1000..1100).map(place) {
            let distance = |n: usize| (place(n) - at).norm_squared();
            let least = (0..300).map(distance).fold(f32::INFINITY, f32::min);
            assert_eq!(distance(nearest(&known, &at)), least);
        }
    }
}
