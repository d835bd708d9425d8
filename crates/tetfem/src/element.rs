//! The linear tetrahedron of a St. Venant-Kirchhoff material (Mu01 sections 2.2 and 3.2).
//!
//! Mu01's printed equations 2 to 4 and 9 are not consistent with a single energy. Here strain is
//! `E = (F^T F - I) / 2`, stress `S = 2 mu E + lambda tr(E) I`, energy `V S : E / 2`, and the force
//! is its exact derivative, which is also what equation 9 yields with the printed strain. Strain is
//! computed from displacements, `E = (H + H^T + H^T H) / 2` with `H = F - I`, so that small strains
//! keep their precision.

use nalgebra::{Matrix3, Point3, Vector3};

use crate::Material;

/// The rest shape of a tetrahedron, precomputed for elasticity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Element {
    /// Gradients of the barycentric coordinates of the corners, 1/m: rows of `beta G` in Mu01.
    pub gradients: [Vector3<f64>; 4],
    /// Volume, m^3.
    pub volume: f64,
}

impl Element {
    /// From four corners at rest; not finite if they are coplanar.
    pub fn new(corners: [Point3<f64>; 4]) -> Self {
        let [a, b, c, d] = corners;
        let (x, y, z) = (b - a, c - a, d - a);
        let (yz, zx, xy) = (y.cross(&z), z.cross(&x), x.cross(&y));
        let six = x.dot(&yz);
        let [b, c, d] = [yz / six, zx / six, xy / six];
        Self { gradients: [-(b + c + d), b, c, d], volume: six / 6.0 }
    }

    /// `H = F - I`, the displacement gradient.
    pub fn displacement_gradient(&self, displacements: &[Vector3<f64>; 4]) -> Matrix3<f64> {
        // differences avoid the cancellation that a common translation would cause
        let [a, b, c, d] = displacements;
        let g = &self.gradients;
        (b - a) * g[1].transpose() + (c - a) * g[2].transpose() + (d - a) * g[3].transpose()
    }

    /// Elastic energy, J.
    pub fn energy(&self, material: &Material, displacements: &[Vector3<f64>; 4]) -> f64 {
        let strain = green_strain(&self.displacement_gradient(displacements));
        0.5 * self.volume * material.stress(&strain).dot(&strain)
    }

    /// Forces, N, that hold the corners at their displacements, `V F S g`: the gradient of the
    /// energy. The material exerts their negatives.
    pub fn forces(
        &self,
        material: &Material,
        displacements: &[Vector3<f64>; 4],
    ) -> [Vector3<f64>; 4] {
        let h = self.displacement_gradient(displacements);
        let stress = material.stress(&green_strain(&h));
        self.forces_of(&(stress + h * stress))
    }

    /// Forces of a first Piola-Kirchhoff stress `F S`, Pa.
    pub(crate) fn forces_of(&self, piola: &Matrix3<f64>) -> [Vector3<f64>; 4] {
        let [_, b, c, d] = self.gradients.map(|g| piola * g * self.volume);
        [-(b + c + d), b, c, d]
    }

    /// Exact tangent of [`Element::forces`]: block `[a][b]` is `d force_a / d displacement_b`, N/m.
    pub fn tangent(
        &self,
        material: &Material,
        displacements: &[Vector3<f64>; 4],
    ) -> [[Matrix3<f64>; 4]; 4] {
        let state = self.state(material, &self.displacement_gradient(displacements));
        [0, 1, 2, 3].map(|a| [0, 1, 2, 3].map(|b| state.block(a, b)))
    }

    /// Shared terms of the tangent blocks.
    pub(crate) fn state(&self, material: &Material, h: &Matrix3<f64>) -> TangentState {
        let f = h + Matrix3::identity();
        let stress = material.stress(&green_strain(h));
        let gradients = self.gradients;
        TangentState {
            gradients,
            spatial: gradients.map(|g| f * g),
            tractions: gradients.map(|g| stress * g),
            spread: f * f.transpose() * (material.mu * self.volume),
            lambda: material.lambda * self.volume,
            mu: material.mu * self.volume,
            volume: self.volume,
        }
    }

    /// One block of the stiffness of linear elasticity, N/m: the tangent at rest.
    pub(crate) fn stiffness(&self, material: &Material, a: usize, b: usize) -> Matrix3<f64> {
        stiffness_block(material, self.volume, &self.gradients[a], &self.gradients[b])
    }
}

/// `V (lambda g h^T + mu h g^T + mu (g . h) I)`.
pub(crate) fn stiffness_block(
    material: &Material,
    volume: f64,
    g: &Vector3<f64>,
    h: &Vector3<f64>,
) -> Matrix3<f64> {
    let (lambda, mu) = (material.lambda * volume, material.mu * volume);
    let outer = g * h.transpose();
    let mut block = outer * lambda + outer.transpose() * mu;
    let shear = mu * g.dot(h);
    for axis in 0..3 {
        block[(axis, axis)] += shear;
    }
    block
}

/// Shared parts of the 16 blocks of an element's tangent.
#[derive(Clone, Copy)]
pub(crate) struct TangentState {
    gradients: [Vector3<f64>; 4],
    spatial: [Vector3<f64>; 4],
    tractions: [Vector3<f64>; 4],
    spread: Matrix3<f64>,
    lambda: f64,
    mu: f64,
    volume: f64,
}

impl TangentState {
    /// `V (lambda h_a h_b^T + mu h_b h_a^T + mu (g_a . g_b) F F^T + (g_a . S g_b) I)`, `h = F g`:
    /// Mu01 eq 23 summed in closed form.
    pub(crate) fn block(&self, a: usize, b: usize) -> Matrix3<f64> {
        let outer = self.spatial[a] * self.spatial[b].transpose();
        let slope = self.gradients[a].dot(&self.gradients[b]);
        let mut block = outer * self.lambda + outer.transpose() * self.mu + self.spread * slope;
        let geometric = self.volume * self.gradients[a].dot(&self.tractions[b]);
        for axis in 0..3 {
            block[(axis, axis)] += geometric;
        }
        block
    }
}

/// Green's strain of a displacement gradient.
pub fn green_strain(h: &Matrix3<f64>) -> Matrix3<f64> {
    (h + h.transpose() + h.transpose() * h) * 0.5
}

/// The strain of linear elasticity.
pub(crate) fn small_strain(h: &Matrix3<f64>) -> Matrix3<f64> {
    (h + h.transpose()) * 0.5
}
