//! The isosurface has the topology of the trilinear interpolant, counted independently: the test
//! samples the interpolant finely and counts its solid as a complex of tetrahedra.

use brisance_tests::properties;
use levelset::{Grid, LevelSet};
use nalgebra::Point3;
use ndarray::Array3;
use proptest::prelude::*;

/// Samples per edge of one cell; more samples if another topology is close.
const CELL: [usize; 3] = [16, 32, 64];

/// Pieces of the surface and its Euler number.
type Topology = (usize, i64);

/// The topology of the set where the interpolant is below `level`, with `fine` samples per cell; the
/// exterior of the grid is outside.
///
/// Fine cells are divided into the six tetrahedra around their diagonals. The solid retracts onto the
/// complex of simplices with all vertices inside. Its surface is closed in space, so each of its
/// pieces divides one piece of space in two, and its Euler number is twice the solid's.
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

/// The topology if samples up to the last of `fines` determine it; otherwise the field is close to
/// another topology.
///
/// Samples miss values by up to a margin. Topology changes with the level only at critical values, so
/// it is the same on both sides of zero and in between if none of these is within the margin. Equal
/// counts on both sides do not suffice: a bridge and the hole behind it may open one after the other.
fn sure_topology(field: &LevelSet, fines: &[usize]) -> Option<Topology> {
    let nearest = critical_values(field).into_iter().map(f64::abs).fold(f64::INFINITY, f64::min);
    fines.iter().find_map(|&fine| {
        let margin = 4.0 / (fine * fine) as f64;
        if nearest <= margin {
            return None;
        }
        let found = by_sampling(field, fine, 0.0);
        let same = |level: &f64| by_sampling(field, fine, *level) == found;
        [-margin, margin].iter().all(same).then_some(found)
    })
}

/// The samples, and the values at the saddles of faces and cells.
fn critical_values(field: &LevelSet) -> Vec<f64> {
    let grid = field.grid();
    let mut values: Vec<f64> = field.as_slice().iter().map(|&v| f64::from(v)).collect();
    let [nx, ny, nz] = grid.dims().map(|n| n - 1);
    for cell in 0..nx * ny * nz {
        let low = [cell / (ny * nz), cell / nz % ny, cell % nz];
        let corners: [f64; 8] = std::array::from_fn(|c| {
            let node = [low[0] + (c >> 2 & 1), low[1] + (c >> 1 & 1), low[2] + (c & 1)];
            f64::from(field.as_slice()[grid.index(node)])
        });
        values.extend(face_saddles(&corners));
        values.extend(cell_saddles(&corners).into_iter().map(|(_, value)| value));
    }
    values
}

/// Saddles of the bilinear interpolants of the faces of a cell: `a + b u + c v + d u v` has its
/// saddle at `(-c / d, -b / d)`.
fn face_saddles(corners: &[f64; 8]) -> Vec<f64> {
    let mut saddles = Vec::new();
    for (axis, across, along) in [(4, 2, 1), (2, 4, 1), (1, 4, 2)] {
        for low in [0, axis] {
            let a = corners[low];
            let (b, c) = (corners[low + across] - a, corners[low + along] - a);
            let d = corners[low + across + along] - a - b - c;
            let (u, v) = (-c / d, -b / d);
            if [u, v].iter().all(|x| (0.0..=1.0).contains(x)) {
                saddles.push(a - b * c / d);
            }
        }
    }
    saddles
}

/// The critical points of the trilinear interpolant within a cell, with their values.
///
/// The slice at x is `a + b y + c z + d y z`, all linear in x. Its saddle has the value `n / d` for
/// `n = a d - b c`, and the interpolant is critical where this value is: `n' d = n d'`.
fn cell_saddles(corners: &[f64; 8]) -> Vec<(Point3<f64>, f64)> {
    let mut terms = *corners;
    for axis in [4, 2, 1] {
        for c in (0..8).filter(|c| c & axis != 0) {
            terms[c] -= terms[c - axis];
        }
    }
    let [a, c, b, d] = std::array::from_fn(|m| [terms[m], terms[m + 4]]);
    let n = [
        a[0] * d[0] - b[0] * c[0],
        a[0] * d[1] + a[1] * d[0] - b[0] * c[1] - b[1] * c[0],
        a[1] * d[1] - b[1] * c[1],
    ];
    let square = n[2] * d[1];
    let linear = 2.0 * n[2] * d[0];
    let constant = n[1] * d[0] - n[0] * d[1];
    // the roots without cancellation; one of them is infinite where the square vanishes
    let root = (linear * linear - 4.0 * square * constant).sqrt();
    let half = -0.5 * (linear + root.copysign(linear));
    let at = |line: [f64; 2], x: f64| line[0] + line[1] * x;
    [half / square, constant / half]
        .into_iter()
        .map(|x| Point3::new(x, -at(c, x) / at(d, x), -at(b, x) / at(d, x)))
        .filter(|p| p.iter().all(|x| (0.0..=1.0).contains(x)))
        .map(|p| (p, at(a, p.x) - at(b, p.x) * at(c, p.x) / at(d, p.x)))
        .collect()
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

/// Random signs and widely different sizes, which make tunnels common.
fn sample() -> impl Strategy<Value = f32> {
    (any::<bool>(), 0.0f32..1.0).prop_map(|(inside, x)| {
        let size = 0.05 + 0.95 * x * x;
        if inside { -size } else { size }
    })
}

properties! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_cell_has_the_topology_of_the_interpolant(
        values in proptest::collection::vec(sample(), 8),
    ) {
        let field = field([2; 3], values);
        // random fields whose topology depends on round-off are left out
        let expected = sure_topology(&field, &CELL);
        prop_assume!(expected.is_some());
        prop_assert_eq!(Some(by_isosurface(&field)), expected);
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
        // random fields whose topology depends on round-off are left out
        let expected = sure_topology(&field, &CELL);
        prop_assume!(expected.is_some());
        prop_assert_eq!(Some(by_isosurface(&field)), expected);
    }
}

properties! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_field_has_the_topology_of_the_interpolant(
        (dims, values) in [2usize..=4, 2usize..=4, 2usize..=4].prop_flat_map(|dims| {
            let count = dims.iter().product::<usize>();
            (Just(dims), proptest::collection::vec(sample(), count))
        }),
    ) {
        let field = field(dims, values);
        // random fields whose topology depends on round-off are left out
        let expected = sure_topology(&field, &[12, 24]);
        prop_assume!(expected.is_some());
        prop_assert_eq!(Some(by_isosurface(&field)), expected);
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
        assert_eq!(sure_topology(&field, &CELL), Some(by_isosurface(&field)));
    }
}

#[test]
fn a_bridge_in_a_face_and_a_hole_behind_it_make_a_ring_however_thin_both_are() {
    let values = [
        0.62508136,
        -0.26758397,
        -0.3904941,
        -0.14574346,
        0.31322932,
        -0.34723586,
        -0.8556452,
        0.9437547,
    ];
    let field = field([2; 3], values.to_vec());
    let corners = values.map(f64::from);
    // below the one level there is no bridge, and above the other no hole
    let bridge = face_saddles(&corners).into_iter().fold(f64::NEG_INFINITY, f64::max);
    let [(_, hole)] = cell_saddles(&corners)[..] else { panic!("one saddle in the cell") };
    assert!(bridge < 0.0 && bridge > -7e-4 && hole > 9e-3, "{bridge} {hole}");
    let (ball, ring) = ((1, 2), (1, 0));
    for (level, expected) in [(2.0 * bridge, ball), (0.5 * hole, ring), (1.5 * hole, ball)] {
        assert_eq!(by_sampling(&field, 64, level), expected, "{level}");
    }
    // few samples detect neither, and report no topology
    assert_eq!(by_sampling(&field, 16, 0.0), ball);
    assert_eq!(sure_topology(&field, &[16]), None);
    assert_eq!(sure_topology(&field, &[96]), Some(ring));
    assert_eq!(by_isosurface(&field), ring);
}

#[test]
fn saddles_of_a_cell_are_where_its_gradient_vanishes() {
    // 1/2 at the middle, with slopes of +-1 along all three pairs of axes
    let product = |c: usize| {
        let [x, y, z] = [c >> 2 & 1, c >> 1 & 1, c & 1].map(|x| x as f64 - 0.5);
        0.5 + x * y + y * z + z * x + x * y * z
    };
    let [(p, value)] = cell_saddles(&std::array::from_fn(product))[..] else {
        panic!("the other is at (-2, -2, -2) from the middle")
    };
    assert!((p - Point3::new(0.5, 0.5, 0.5)).norm() < 1e-15 && (value - 0.5).abs() < 1e-15);
}
