//! The isosurface has the topology of the trilinear interpolant, counted without it: the interpolant
//! is sampled finely and its solid counted as a complex of tetrahedra.

use levelset::{Grid, LevelSet};
use nalgebra::Point3;
use ndarray::Array3;
use proptest::prelude::*;

/// Pieces of the surface and its Euler number.
type Topology = (usize, i64);

/// Of the set where the interpolant is below `level`, sampled `fine` times a cell, with everything
/// around the grid outside.
///
/// Fine cells are divided into the six tetrahedra around their diagonals. The solid shrinks onto the
/// complex of those simplices that have all vertices inside. Its surface is closed in space, so
/// each of its pieces divides one piece of space in two, and its Euler number is twice the solid's.
fn by_sampling(field: &LevelSet, fine: usize, level: f64) -> Topology {
    // one layer of outside nodes on each side
    let dims = field.grid().dims().map(|n| (n - 1) * fine + 3);
    let index = |[i, j, k]: [usize; 3]| (i * dims[1] + j) * dims[2] + k;
    let all = || {
        let [nx, ny, nz] = dims;
        (0..nx).flat_map(move |i| (0..ny).flat_map(move |j| (0..nz).map(move |k| [i, j, k])))
    };
    let at = |n: usize| (n as f64 - 1.0) / fine as f64;
    let is_inside = |p: [usize; 3]| {
        let within = (0..3).all(|a| p[a] > 0 && p[a] + 1 < dims[a]);
        within && field.value(&Point3::from(p.map(at))) < level
    };
    let inside: Vec<bool> = all().map(is_inside).collect();
    let strides = [dims[1] * dims[2], dims[2], 1];
    let offset = |mask: usize| (0..3).filter(|a| mask >> a & 1 == 1).map(|a| strides[a]).sum();
    let offsets: [usize; 8] = std::array::from_fn(offset);
    let mut parents: Vec<u32> = (0..inside.len() as u32).collect();
    let mut euler = 0;
    for p in all() {
        let n = index(p);
        let fits = |mask: usize| (0..3).all(|a| mask >> a & 1 == 0 || p[a] + 1 < dims[a]);
        euler += i64::from(inside[n]);
        for m in (1..8).filter(|&m| fits(m)) {
            if inside[n] == inside[n + offsets[m]] {
                let (a, b) = (root(&mut parents, n), root(&mut parents, n + offsets[m]));
                parents[a.max(b)] = a.min(b) as u32;
            }
            if !(inside[n] && inside[n + offsets[m]]) {
                continue;
            }
            euler -= 1;
            // longer chains of corners, from m up
            for l in (m + 1..8).filter(|&l| l & m == m && fits(l) && inside[n + offsets[l]]) {
                euler += 1;
                if l != 7 && fits(7) && inside[n + offsets[7]] {
                    euler -= 1;
                }
            }
        }
    }
    let pieces = (0..parents.len()).filter(|&n| parents[n] as usize == n).count();
    (pieces - 1, 2 * euler)
}

fn root(parents: &mut [u32], mut n: usize) -> usize {
    while parents[n] as usize != n {
        parents[n] = parents[parents[n] as usize];
        n = parents[n] as usize;
    }
    n
}

/// The topology if it is the same a little below and above zero; else the samples are too few to
/// tell, or the field is next to another topology.
fn sure_topology(field: &LevelSet, fine: usize) -> Option<Topology> {
    let margin = 4.0 / (fine * fine) as f64;
    let found = by_sampling(field, fine, 0.0);
    let same = |level: &f64| by_sampling(field, fine, *level) == found;
    [-margin, margin].iter().all(same).then_some(found)
}

fn by_isosurface(field: &LevelSet) -> Topology {
    let mesh = field.isosurface();
    if mesh.triangles.is_empty() {
        return (0, 0);
    }
    let facts = mesh.facts().unwrap();
    assert!(facts.closed && facts.oriented && facts.edge_manifold);
    (facts.components, facts.euler_number)
}

fn field(dims: [usize; 3], values: Vec<f32>) -> LevelSet {
    let grid = Grid::new(Point3::origin(), 1.0, dims, 1000).unwrap();
    LevelSet::from_values(grid, Array3::from_shape_vec(dims, values).unwrap())
}

/// Signs at random and sizes that differ much, which makes tunnels common.
fn sample() -> impl Strategy<Value = f32> {
    (any::<bool>(), 0.0f32..1.0).prop_map(|(inside, x)| {
        let size = 0.05 + 0.95 * x * x;
        if inside { -size } else { size }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_cell_has_the_topology_of_the_interpolant(
        values in proptest::collection::vec(sample(), 8),
    ) {
        let field = field([2; 3], values);
        if let Some(expected) = sure_topology(&field, 16) {
            prop_assert_eq!(by_isosurface(&field), expected);
        }
    }

    /// Two opposite corners inside: no face shows whether they are connected.
    #[test]
    fn opposite_corners_connect_through_a_cell_where_the_interpolant_does(
        sizes in proptest::collection::vec(0.02f32..1.0, 8),
        weak in 0.02f32..1.0,
        flip in any::<bool>(),
    ) {
        let sign = if flip { -1.0 } else { 1.0 };
        let value = |c: usize| if c == 1 || c == 6 { -sizes[c] } else { sizes[c] * weak };
        let field = field([2; 3], (0..8).map(|c| sign * value(c)).collect());
        if let Some(expected) = sure_topology(&field, 16) {
            prop_assert_eq!(by_isosurface(&field), expected);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_field_has_the_topology_of_the_interpolant(
        (dims, values) in [2usize..=4, 2usize..=4, 2usize..=4].prop_flat_map(|dims| {
            let count = dims.iter().product::<usize>();
            (Just(dims), proptest::collection::vec(sample(), count))
        }),
    ) {
        let field = field(dims, values);
        if let Some(expected) = sure_topology(&field, 12) {
            prop_assert_eq!(by_isosurface(&field), expected);
        }
    }
}

#[test]
fn a_tunnel_between_opposite_corners_is_a_tube_and_the_oracle_sees_it() {
    // the corners alone, then connected: two balls become one
    for (weak, pieces) in [(1.0, 2), (0.1, 1)] {
        let mut values = vec![weak; 8];
        (values[0], values[7]) = (-1.0, -1.0);
        let field = field([2; 3], values);
        assert_eq!(by_isosurface(&field).0, pieces);
        assert_eq!(sure_topology(&field, 16), Some(by_isosurface(&field)));
    }
}
