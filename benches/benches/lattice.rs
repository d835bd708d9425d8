//! A blow to the adobe wall of Ku07: 4,080 tetrahedra, fixed at the bottom.
//!
//! Run with `RAYON_NUM_THREADS=1` for the single-thread figures.

use std::hint::black_box;

use brisance_tests::tet_boxes::kuhn_box;
use criterion::{Criterion, criterion_group, criterion_main};
use fracture::{Lattice, LatticeImpactSettings, Links, Neighbors, SolverLimits, multipliers};
use nalgebra::{Point3, Vector3};

fn wall(neighbors: Neighbors) -> Lattice {
    let mesh = kuhn_box([17, 10, 4], Vector3::new(1.7, 1.0, 0.4));
    let lattice = Lattice::new(&mesh, neighbors, |_| 1500.0, |_| 1e5);
    let mut lattice = lattice.expect("a valid mesh");
    lattice.fix(|p| p.y < 0.1);
    lattice
}

fn lattice(criterion: &mut Criterion) {
    let edges = Neighbors::Edges { share: 0.25 };
    for (name, neighbors) in [("faces", Neighbors::Faces), ("edges", edges)] {
        let wall = wall(neighbors);
        let hit = Point3::new(0.85, 0.7, 0.0);
        let loads = wall.load(&hit, 0.12, &Vector3::new(0.0, 0.0, 3e4), 1.0);
        let ends: Vec<[u32; 2]> = wall.links().iter().map(|link| link.ends).collect();
        let free = wall.masses().iter().zip(wall.fixed());
        let inverse: Vec<f64> = free.map(|(m, &f)| if f { 0.0 } else { 1.0 / m }).collect();
        let links = Links { positions: wall.positions(), inverse_masses: &inverse, ends: &ends };
        for tolerance in [1e-4, 1e-8] {
            let limits = SolverLimits { tolerance, max_iterations: 5000 };
            let solve = || multipliers(&links, &loads, None, limits);
            let steps = solve().iterations;
            let row = format!("lattice {name}, solve to {tolerance:e}, {steps} steps");
            criterion.bench_function(&row, |b| b.iter(|| black_box(solve())));
        }
        let strike = || {
            let mut wall = wall.clone();
            wall.impact(&loads, &LatticeImpactSettings::default())
        };
        let (solves, broken) = (strike().solves, strike().broken.len());
        let row = format!("lattice {name}, blow, {solves} solves, {broken} links broken");
        criterion.bench_function(&row, |b| b.iter(|| black_box(strike())));
    }
}

criterion_group!(benches, lattice);
criterion_main!(benches);
