//! Finite elements on Kuhn beams of 3.3 x 1 x 1 cells' proportions, one end clamped.
//!
//! Run with `RAYON_NUM_THREADS=1` for the single-thread figures.

use std::hint::black_box;

use brisance_benches::beam::{SIZES, beam, clamped};
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use levelset::TetMesh;
use nalgebra::{Point3, Vector3};
use tetfem::{
    Contact, CutLimits, Fracture, FreeBody, Interpolation, LinearSolver, Material, Model,
    Preconditioner, Solver, average_stresses, linear_equilibrium, shatter,
};

fn material() -> Material {
    Material::from_young(1e9, 0.3).expect("a material")
}

/// Pushes down in the middle of the top, and holds up at the ends of the bottom.
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
            let iterative =
                LinearSolver::ConjugateGradient { preconditioner, tolerance: 1e-10, most: 5000 };
            group.bench_function(format!("cold {preconditioner:?}"), |b| {
                b.iter(|| linear_equilibrium(&model(), &supports, &loads, iterative));
            });
        }
        let stiffness = || {
            let mut matrix = made.tangent(&vec![Vector3::zeros(); loads.len()]);
            // stands for supports, and makes every row definite
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

fn impacts(criterion: &mut Criterion) {
    for cells in SIZES {
        let mesh = beam(cells);
        let contacts = bending(&mesh);
        let free = |mesh: TetMesh, interpolation| {
            FreeBody::new(mesh, material(), interpolation, LinearSolver::Cholesky)
                .expect("a valid mesh")
        };
        let body = free(mesh.clone(), Interpolation::Linear);
        let mut group = criterion.benchmark_group(format!("impact {} tets", mesh.tets.len()));
        group.bench_function("new body", |b| {
            b.iter_batched(
                || mesh.clone(),
                |mesh| free(mesh, Interpolation::Linear),
                BatchSize::LargeInput,
            );
        });
        group.bench_function("warm", |b| b.iter(|| body.respond(&contacts)));
        let response = body.respond(&contacts).expect("a response");
        group.bench_function("average", |b| {
            b.iter(|| average_stresses(&mesh, &response.stresses, 0.3));
        });
        let averaged = average_stresses(&mesh, &response.stresses, 0.3);
        let greatest = averaged.iter().map(tetfem::max_principal).fold(0.0, f64::max);
        let fracture = Fracture {
            strength: 0.9 * greatest,
            averaging: 0.3,
            reach: 10.0,
            cut: Some(CutLimits { min_edge: 0.1, min_fraction: 0.2 }),
            most: 1,
            least_volume: 0.0,
        };
        let pieces = shatter(&body, &contacts, &fracture).pieces.len();
        group.bench_function(format!("one crack -> {pieces}"), |b| {
            b.iter(|| shatter(&body, &contacts, &fracture));
        });
        if mesh.tets.len() < 10_000 {
            let fine = free(mesh.clone(), Interpolation::Quadratic);
            group.bench_function("warm quadratic", |b| b.iter(|| fine.respond(&contacts)));
        }
    }
}

criterion_group!(benches, supported, impacts);
criterion_main!(benches);
