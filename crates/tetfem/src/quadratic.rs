//! Quadratic tetrahedra for linear elasticity: at equal numbers of unknowns, stress is far more
//! accurate than with linear ones.

use levelset::TetMesh;
use nalgebra::{Matrix3, Vector3};

use crate::element::{small_strain, stiffness_block};
use crate::model::elements_of;
use crate::pattern::Pattern;
use crate::{BlockMatrix, Element, Material};

/// Ends of the edges, in the order of the mid-edge nodes, which follow the four corners.
const EDGES: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

/// A four-point quadrature rule, exact for the stiffness of straight edges: barycentric coordinates
/// are `NEAR` at one corner and `FAR` at the others, (5 + 3 sqrt 5) / 20 and (5 - sqrt 5) / 20.
const NEAR: f64 = 0.585_410_196_624_968_5;
const FAR: f64 = 0.138_196_601_125_010_5;

/// A mesh with a node at the midpoint of every edge, numbered after the vertices.
pub(crate) struct QuadraticModel {
    material: Material,
    elements: Vec<Element>,
    /// Ends of the edges, ascending.
    edges: Vec<[u32; 2]>,
    vertices: usize,
    nodes: Vec<[u32; 10]>,
    pattern: Pattern<10>,
}

impl QuadraticModel {
    pub(crate) fn of_valid(mesh: &TetMesh, material: Material) -> Self {
        let edge = |tet: &[u32; 4], [a, b]: [usize; 2]| sorted([tet[a], tet[b]]);
        let mut edges: Vec<_> =
            mesh.tets.iter().flat_map(|tet| EDGES.map(|ends| edge(tet, ends))).collect();
        edges.sort_unstable();
        edges.dedup();
        let vertices = mesh.vertices.len();
        let middle = |ends| vertices + edges.partition_point(|other| *other < ends);
        let nodes: Vec<[u32; 10]> = mesh
            .tets
            .iter()
            .map(|tet| {
                let mut nodes = [0; 10];
                nodes[..4].copy_from_slice(tet);
                for (n, ends) in EDGES.into_iter().enumerate() {
                    nodes[4 + n] = middle(edge(tet, ends)) as u32;
                }
                nodes
            })
            .collect();
        let middles = edges.iter().map(|ends| {
            let [a, b] = ends.map(|v| mesh.vertices[v as usize]);
            nalgebra::center(&a, &b)
        });
        let places: Vec<_> = mesh.vertices.iter().copied().chain(middles).collect();
        let pattern = Pattern::new(&places, &nodes);
        Self { material, elements: elements_of(mesh), edges, vertices, nodes, pattern }
    }

    pub(crate) fn nodes(&self) -> usize {
        self.pattern.rows()
    }

    /// The node at the midpoint of an edge.
    pub(crate) fn middle(&self, ends: [u32; 2]) -> usize {
        let ends = sorted(ends);
        self.vertices + self.edges.partition_point(|other| *other < ends)
    }

    /// The ends of the edge of a mid-edge node.
    pub(crate) fn ends(&self, middle: usize) -> [u32; 2] {
        self.edges[middle - self.vertices]
    }

    pub(crate) fn stiffness(&self) -> BlockMatrix {
        self.pattern.assemble(|t, a, b| {
            let element = &self.elements[t];
            let at_point = |corner| {
                let mut place = [FAR; 4];
                place[corner] = NEAR;
                let (g, h) = (gradient(element, a, &place), gradient(element, b, &place));
                stiffness_block(&self.material, element.volume / 4.0, &g, &h)
            };
            (0..4).map(at_point).sum()
        })
    }

    /// Stress at the centroid of every tetrahedron, which is its mean.
    pub(crate) fn stresses(&self, displacements: &[Vector3<f64>]) -> Vec<Matrix3<f64>> {
        let middle = [0.25; 4];
        let pairs = self.elements.iter().zip(&self.nodes);
        pairs
            .map(|(element, nodes)| {
                let base = displacements[nodes[0] as usize];
                let part = |(n, &node): (usize, &u32)| {
                    let difference = displacements[node as usize] - base;
                    difference * gradient(element, n, &middle).transpose()
                };
                let h: Matrix3<f64> = nodes.iter().enumerate().map(part).sum();
                self.material.stress(&small_strain(&h))
            })
            .collect()
    }

    /// Nodal forces that balance a stress, constant in every tetrahedron.
    pub(crate) fn forces_of_stress(&self, stresses: &[Matrix3<f64>]) -> Vec<Vector3<f64>> {
        self.pattern.gather(|t, n| {
            // the mean of a linear gradient is its value at the centroid
            let element = &self.elements[t];
            stresses[t] * gradient(element, n, &[0.25; 4]) * element.volume
        })
    }

    /// Nodal forces of a body force, N/m^3, given at the vertices and linear in between.
    pub(crate) fn body_forces(&self, density: &[Vector3<f64>]) -> Vec<Vector3<f64>> {
        self.pattern.gather(|t, n| {
            let at = |corner: usize| density[self.nodes[t][corner] as usize];
            let all: Vector3<f64> = (0..4).map(at).sum();
            let weighted = if n < 4 {
                (at(n) - all) / 60.0
            } else {
                let [a, b] = EDGES[n - 4];
                (all + at(a) + at(b)) / 30.0
            };
            weighted * self.elements[t].volume
        })
    }
}

fn sorted([a, b]: [u32; 2]) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

/// Gradient of a node's shape function at a point given by barycentric coordinates.
fn gradient(element: &Element, node: usize, place: &[f64; 4]) -> Vector3<f64> {
    let g = &element.gradients;
    if node < 4 {
        return g[node] * (4.0 * place[node] - 1.0);
    }
    let [a, b] = EDGES[node - 4];
    (g[a] * place[b] + g[b] * place[a]) * 4.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tet_boxes::kuhn_box;
    use crate::{LinearSolver, Solver};

    #[test]
    fn a_cantilever_bends_as_the_reference() {
        // clamped at x = 0, 1 N along -z spread over x = 10; deflections from an independent
        // program
        for (n, expected) in [(1, None), (2, Some(0.000_398_641_343_633_511_33))] {
            let mesh = kuhn_box([10 * n, n, n], Vector3::new(10.0, 1.0, 1.0));
            mesh.validate().unwrap();
            let material = Material::from_young(1e7, 0.3).unwrap();
            let model = QuadraticModel::of_valid(&mesh, material);
            let place = |node: usize| match node.checked_sub(mesh.vertices.len()) {
                None => mesh.vertices[node].x,
                Some(edge) => {
                    let [a, b] = model.edges[edge].map(|v| mesh.vertices[v as usize].x);
                    0.5 * (a + b)
                }
            };
            let mut stiffness = model.stiffness();
            let fixed_dofs: Vec<_> =
                (0..model.nodes()).map(|node| [place(node) == 0.0; 3]).collect();
            stiffness.fix(&fixed_dofs);
            let mut loads = vec![Vector3::zeros(); model.nodes()];
            for face in mesh.boundary_faces() {
                let [a, b, c] = face.map(|v| mesh.vertices[v as usize]);
                if a.x == 10.0 && b.x == 10.0 && c.x == 10.0 {
                    let area = 0.5 * (b - a).cross(&(c - a)).norm();
                    for corner in 0..3 {
                        let middle = model.middle([face[corner], face[(corner + 1) % 3]]);
                        loads[middle].z -= area / 3.0;
                    }
                }
            }
            let u = Solver::new(stiffness, LinearSolver::Cholesky).unwrap().solve(&loads).unwrap();
            let work: f64 = loads.iter().zip(&u).map(|(f, u)| f.dot(u)).sum();
            if let Some(expected) = expected {
                assert!((work / expected - 1.0).abs() < 1e-7, "{work}");
            } else {
                assert!(work > 0.9 * 4.03e-4 && work < 4.03e-4, "{work}");
            }
        }
    }
}
