//! Finite elements on Kuhn beams of 3.3 x 1 x 1 cells' proportions, one end clamped.
//!
//! Run with `RAYON_NUM_THREADS=1` for the single-thread figures.
//!
//! Minimum processor times in ms of many runs of the same steps, one thread of an EPYC with AVX-512,
//! without LTO and beside other work (load 10 to 12), residuals below 1e-12:
//!
//! | tetrahedra | 960 | 3,888 | 19,800 |
//! |---|---|---|---|
//! | cold, Cholesky | 0.65 | 4.4 | 59 |
//! | cold, conjugate gradients | 1.12 | 6.6 | 55 |
//! | refactor | 0.27 | 2.6 | 46 |
//! | solve | 0.042 | 0.19 | 4.5 |
//! | warm, response alone | 0.071 | 0.28 | 5.4 |
//! | no crack, 3 times as strong | 0.089 | 0.33 | 7.1 |
//! | no crack, 1.01 times as strong | 0.23 | 0.55 | 8.0 |
//! | one crack, two pieces | 0.70 | 2.3 | 16 |
//! | whole, cold | 1.7 | 7.6 | 78 |
//!
//! The multifrontal factorization with nested dissection replaced the supernodal one of faer with
//! minimum degree ordering. Relative to faer, with LTO and alternating runs, it takes 0.39, 0.57 and
//! 0.48 of the time to factor, 0.57, 0.63 and 0.64 to refactor, 0.73, 0.73 and 0.78 to solve, 0.80, 0.75
//! and 0.75 to respond to an impact, 0.64, 0.64 and 0.47 from cold. The ordering saves 0.31 of the
//! operations for 19,800 and none for the others. Other gains: strips of four rows with sequential reads
//! (0.78 of the time of contiguous columns to refactor 3,888 tetrahedra); triangular update matrices in
//! one stack, and no second matrix, since returning pages to the system and requesting them again took
//! 0.4 of a cold solution. Three strips times four columns are no faster than two, and take half as long
//! again if the compiler spills a register.
//!
//! Eight bodies simultaneously, minimum wall times with LTO on two cores of which other work left 0.9 of
//! one to all threads: 15.5, 71 and 638 ms on one thread, eight times one body, and 15.2, 67 and 623 on
//! two. The gain of a free second core was not measured. One body takes 1.8, 8.4 and 76.
//!
//! Forces of 3,888 tetrahedra, wall time at the same load: 1.87 by the 45 products of Mu01, 0.28 by `F S
//! grad`. After a change of a twentieth of the tetrahedra: 0.32 to subtract and add, 0.45 to reassemble,
//! 0.89 with a new pattern. All of them need a new factor, so the library reassembles matrices.
#![allow(clippy::print_stderr, reason = "benchmarks talk to a terminal")]

use std::hint::black_box;

use brisance_benches::beam::{SIZES, beam, clamped};
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use levelset::TetMesh;
use nalgebra::{Matrix3, Point3, Vector3};
use rayon::prelude::*;
use tetfem::{
    Averaging, BoundaryConditions, Contact, CutLimits, Element, Fracture, Interpolation,
    LinearSolver, Load, Material, Model, Piece, Preconditioner, Solver, Structure, Yielding,
    linear_equilibrium, shatter,
};

/// Radius of stress averaging and force distribution, m.
const RADIUS: f64 = 0.3;

fn material() -> Material {
    Material::from_young(1e9, 0.3).expect("a material")
}

/// A downward force in the middle of the top, and upward forces at the ends of the bottom.
fn bending(mesh: &TetMesh) -> [Contact; 3] {
    let length = mesh.vertices.iter().fold(0.0_f64, |m, p| m.max(p.x));
    let at =
        |x: f64, y: f64, f: f64| Contact { place: Point3::new(x, y, 0.5), force: Vector3::y() * f };
    [at(length / 2.0, 1.0, -1e6), at(0.0, 0.0, 5e5), at(length, 0.0, 5e5)]
}

fn supported(criterion: &mut Criterion) {
    for cells in SIZES {
        let mesh = beam(cells);
        let (supports, loads) = clamped(&mesh);
        let mut group = criterion.benchmark_group(format!("fem {} tets", mesh.tets.len()));
        let model = || Model::new(&mesh, material()).expect("a valid mesh");
        group.bench_function("validate, pattern", |b| b.iter(|| black_box(model())));
        let made = model();
        group.bench_function("stiffness", |b| b.iter(|| black_box(made.stiffness())));
        group.bench_function("tangent", |b| b.iter(|| black_box(made.tangent(&loads))));
        group.bench_function("cold Cholesky", |b| {
            b.iter(|| linear_equilibrium(&model(), &supports, &loads, LinearSolver::Cholesky));
        });
        for preconditioner in [Preconditioner::BlockJacobi, Preconditioner::IncompleteCholesky] {
            let iterative = LinearSolver::ConjugateGradient {
                preconditioner,
                tolerance: 1e-10,
                max_iterations: 5000,
            };
            group.bench_function(format!("cold {preconditioner:?}"), |b| {
                b.iter(|| linear_equilibrium(&model(), &supports, &loads, iterative));
            });
        }
        let stiffness = || {
            let mut matrix = made.tangent(&vec![Vector3::zeros(); loads.len()]);
            // replaces supports, and makes the matrix definite
            matrix.shift(1e6);
            matrix
        };
        let mut solver =
            Solver::new(stiffness(), LinearSolver::Cholesky).expect("a definite matrix");
        group.bench_function("refactor", |b| {
            b.iter_batched(stiffness, |m| solver.replace(m), BatchSize::LargeInput);
        });
        group.bench_function("solve", |b| b.iter(|| solver.solve(&loads)));
    }
}

/// A body without supports.
fn free(mesh: TetMesh, interpolation: Interpolation) -> Structure {
    Structure::new(mesh, material(), interpolation, LinearSolver::Cholesky).expect("a valid mesh")
}

fn impacts(criterion: &mut Criterion) {
    for cells in SIZES {
        let mesh = beam(cells);
        let contacts = bending(&mesh);
        let body = free(mesh.clone(), Interpolation::Linear);
        let mut group = criterion.benchmark_group(format!("impact {} tets", mesh.tets.len()));
        group.bench_function("new body", |b| {
            b.iter_batched(
                || mesh.clone(),
                |mesh| free(mesh, Interpolation::Linear),
                BatchSize::LargeInput,
            );
        });
        group.bench_function("warm", |b| b.iter(|| body.respond(&Load::new(&contacts))));
        let response = body.respond(&Load::new(&contacts)).expect("a response");
        let averaging = Averaging::new(&mesh, RADIUS);
        group.bench_function("means at vertices", |b| {
            b.iter(|| averaging.means_at_vertices(&response.stresses));
        });
        let spread = body.respond(&Load::new(&contacts).spread(RADIUS)).expect("a response");
        let means = averaging.means_at_vertices(&spread.stresses);
        let tensions = means.iter().map(|(_, mean)| tetfem::max_principal(mean));
        let greatest = tensions.fold(0.0, f64::max);
        let fracture = |share: f64| Fracture {
            strength: share * greatest,
            averaging: RADIUS,
            reach: 10.0,
            cut: Some(CutLimits { min_edge: 0.1, min_fraction: 0.2 }),
            max_cracks: 1,
            min_volume: 0.0,
        };
        for share in [3.0, 1.01] {
            let fracture = fracture(share);
            group.bench_function(format!("no crack, {share} times as strong"), |b| {
                b.iter(|| shatter(&body, &BoundaryConditions::free(&contacts), &fracture));
            });
        }
        let fracture = fracture(0.9);
        let pieces = shatter(&body, &BoundaryConditions::free(&contacts), &fracture).pieces.len();
        group.bench_function(format!("one crack -> {pieces}"), |b| {
            b.iter(|| shatter(&body, &BoundaryConditions::free(&contacts), &fracture));
        });
        // from a mesh to pieces with mass and surface
        let whole = |mesh: TetMesh| {
            let broken = shatter(
                &free(mesh, Interpolation::Linear),
                &BoundaryConditions::free(&contacts),
                &fracture,
            );
            let of = |piece: &Piece| (piece.moments, piece.mesh.boundary());
            broken.pieces.iter().map(of).collect::<Vec<_>>()
        };
        group.bench_function("whole, cold", |b| {
            b.iter_batched(|| mesh.clone(), whole, BatchSize::LargeInput);
        });
        group.bench_function("whole, 8 bodies at once", |b| {
            b.iter_batched(
                || vec![mesh.clone(); 8],
                |all| all.into_par_iter().map(whole).collect::<Vec<_>>(),
                BatchSize::LargeInput,
            );
        });
        if mesh.tets.len() < 10_000 {
            let fine = free(mesh.clone(), Interpolation::Quadratic);
            group.bench_function("warm quadratic", |b| {
                b.iter(|| fine.respond(&Load::new(&contacts)));
            });
        }
    }
}

/// The bodies of the examples of Mu01, struck from the side.
fn examples(criterion: &mut Criterion) {
    for name in ["vase", "teddy", "cinder_block"] {
        let path = format!("{}/../assets/{name}.msh", env!("CARGO_MANIFEST_DIR"));
        let mesh = brisance::tet_file::read_tets(path.as_ref()).expect("an asset");
        let bounds = levelset::Aabb::around(&mesh.vertices).expect("vertices");
        let middle = bounds.center();
        let place = Point3::new(bounds.max.x, middle.y, middle.z);
        let contacts = [Contact { place, force: Vector3::x() * -1e4 }];
        let load = Load::new(&contacts);
        let made = |mesh: TetMesh| {
            let (interpolation, solver) = (Interpolation::Linear, LinearSolver::Cholesky);
            Structure::new(mesh, material(), interpolation, solver).expect("a valid mesh")
        };
        let body = made(mesh.clone());
        let mut group = criterion.benchmark_group(format!("{name} {} tets", mesh.tets.len()));
        group.bench_function("cold", |b| {
            b.iter_batched(|| mesh.clone(), |m| made(m).respond(&load), BatchSize::LargeInput);
        });
        group.bench_function("warm", |b| b.iter(|| body.respond(&load)));
        let averaging = bounds.extents().max() / 8.0;
        let response = body.respond(&load.spread(averaging)).expect("a response");
        let means = Averaging::new(&mesh, averaging).means_at_vertices(&response.stresses);
        let tensions = means.iter().map(|(_, mean)| tetfem::max_principal(mean));
        let fracture = Fracture {
            strength: 0.9 * tensions.fold(0.0, f64::max),
            averaging,
            reach: 10.0,
            cut: Some(CutLimits { min_edge: 0.01, min_fraction: 0.2 }),
            max_cracks: 1,
            min_volume: 0.0,
        };
        let pieces = shatter(&body, &BoundaryConditions::free(&contacts), &fracture).pieces.len();
        group.bench_function(format!("one crack -> {pieces}"), |b| {
            b.iter(|| shatter(&body, &BoundaryConditions::free(&contacts), &fracture));
        });
        let yielding = Yielding { strength: 1.0, hardening: 0.0 };
        group.bench_function("dent", |b| {
            b.iter(|| {
                let flow = body.flow(&response, yielding, 0.3).expect("a flow");
                body.dent(&flow, flow.max_share)
            });
        });
    }
}

/// A tetrahedron in the storage of Mu01 section 3.1: in a frame where three entries of the gradients are
/// zero, with all 45 products of the nine others.
struct Stored {
    entries: [f64; 9],
    products: [f64; 45],
    volume: f64,
}

/// Indices of the gradient entries of each corner among the nine; 9 is a zero.
const ENTRIES: [[usize; 3]; 4] = [[0, 1, 2], [9, 3, 4], [9, 9, 5], [6, 7, 8]];

impl Stored {
    fn new(element: &Element) -> Self {
        let [_, b, c, _] = element.gradients;
        // rows a, b, c become upper triangular from the right: their last axis is along c
        let z = c.normalize();
        let y = (b - z * b.dot(&z)).normalize();
        let axes = [y.cross(&z), y, z];
        let mut entries = [0.0; 9];
        for (gradient, places) in element.gradients.iter().zip(ENTRIES) {
            for (axis, place) in axes.iter().zip(places) {
                if place < 9 {
                    entries[place] = gradient.dot(axis);
                }
            }
        }
        let mut products = [0.0; 45];
        for m in 0..9 {
            for n in 0..=m {
                products[m * (m + 1) / 2 + n] = entries[m] * entries[n];
            }
        }
        Self { entries, products, volume: element.volume }
    }

    /// Forces of displaced corners, by the weights of Mu01 eqs 19 and 20.
    fn forces(&self, material: &Material, places: &[Vector3<f64>; 4]) -> [Vector3<f64>; 4] {
        let mut f = Matrix3::zeros();
        for (place, entries) in places.iter().zip(ENTRIES) {
            for (axis, entry) in entries.into_iter().enumerate() {
                if entry < 9 {
                    f.column_mut(axis).axpy(self.entries[entry], place, 1.0);
                }
            }
        }
        let strain = (f.transpose() * f - Matrix3::identity()) * 0.5;
        let stress = material.stress(&strain);
        let mut weights = [[0.0; 4]; 4];
        for a in 0..4 {
            for b in 0..=a {
                let mut sum = 0.0;
                for (k, m) in ENTRIES[a].into_iter().enumerate().filter(|(_, m)| *m < 9) {
                    for (l, n) in ENTRIES[b].into_iter().enumerate().filter(|(_, n)| *n < 9) {
                        let (m, n) = (m.max(n), m.min(n));
                        sum += self.products[m * (m + 1) / 2 + n] * stress[(k, l)];
                    }
                }
                (weights[a][b], weights[b][a]) = (sum, sum);
            }
        }
        weights.map(|row| {
            let sum: Vector3<f64> = row.iter().zip(places).map(|(w, x)| x * *w).sum();
            sum * self.volume
        })
    }
}

/// Forces of all tetrahedra, in the form of Mu01 section 3.1 and in ours.
fn forms(criterion: &mut Criterion) {
    let mesh = beam(SIZES[1]);
    let model = Model::new(&mesh, material()).expect("a valid mesh");
    let stored: Vec<Stored> = model.elements().iter().map(Stored::new).collect();
    let rest: Vec<_> = (0..mesh.tets.len()).map(|t| mesh.corners(t).map(|p| p.coords)).collect();
    let moved: Vec<_> = rest.iter().map(|x| x.map(|p| p + p.component_mul(&p) * 1e-3)).collect();
    let shifts: Vec<_> =
        moved.iter().zip(&rest).map(|(x, m)| [0, 1, 2, 3].map(|n| x[n] - m[n])).collect();
    for t in 0..mesh.tets.len() {
        let ours = model.elements()[t].forces(&material(), &shifts[t]);
        let theirs = stored[t].forces(&material(), &moved[t]);
        let size = ours.iter().fold(0.0_f64, |m, f| m.max(f.amax()));
        assert!((0..4).all(|n| (ours[n] - theirs[n]).amax() < 1e-6 * size), "the same forces");
    }
    let mut group = criterion.benchmark_group(format!("forces {} tets", mesh.tets.len()));
    group.bench_function("45 products", |b| {
        b.iter(|| {
            let forces = stored.iter().zip(&moved).map(|(e, x)| e.forces(&material(), x)[1].x);
            forces.sum::<f64>()
        });
    });
    group.bench_function("F S grad", |b| {
        b.iter(|| {
            let elements = model.elements().iter().zip(&shifts);
            elements.map(|(e, u)| e.forces(&material(), u)[1].x).sum::<f64>()
        });
    });
}

/// The matrix after a twentieth of the tetrahedra changed: Mu01 section 3.2 subtracts and adds their
/// parts, we assemble again.
fn updates(criterion: &mut Criterion) {
    let mesh = beam(SIZES[1]);
    let model = Model::new(&mesh, material()).expect("a valid mesh");
    let matrix = model.stiffness();
    let mut starts = vec![0];
    let mut columns = Vec::new();
    let mut blocks = Vec::new();
    for row in 0..matrix.rows() {
        for (column, block) in matrix.row(row) {
            columns.push(column);
            blocks.push(*block);
        }
        starts.push(columns.len());
    }
    let place = |row: u32, column: u32| {
        let range = starts[row as usize]..starts[row as usize + 1];
        range.start + columns[range].partition_point(|c| *c < column as usize)
    };
    let at_rest = [Vector3::zeros(); 4];
    let first = blocks.clone();
    let update = |blocks: &mut Vec<Matrix3<f64>>| {
        for (t, tet) in mesh.tets.iter().enumerate().step_by(20) {
            // subtracts the old part and adds the new one, here the same
            let old = model.elements()[t].tangent(&material(), &at_rest);
            let new = model.elements()[t].tangent(&material(), &at_rest);
            for (a, b) in (0..4).flat_map(|a| (0..4).map(move |b| (a, b))) {
                let block = &mut blocks[place(tet[a], tet[b])];
                *block -= old[a][b];
                *block += new[a][b];
            }
        }
    };
    let mut group = criterion.benchmark_group(format!("a changed matrix {} tets", mesh.tets.len()));
    group.bench_function("subtract and add", |b| b.iter(|| update(&mut blocks)));
    group.bench_function("assemble again", |b| b.iter(|| model.stiffness()));
    group.bench_function("pattern, assemble again", |b| {
        b.iter(|| Model::new(&mesh, material()).map(|model| model.stiffness()));
    });
    let residue = blocks.iter().zip(&first).map(|(a, b)| (a - b).amax() / b.amax());
    eprintln!("residue of subtracting and adding: {:e}", residue.fold(0.0, f64::max));
}

criterion_group!(benches, supported, impacts, examples, forms, updates);
criterion_main!(benches);
