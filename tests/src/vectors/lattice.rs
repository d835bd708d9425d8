//! Multipliers of distance constraints.

use fracture::{Lattice, Links, Neighbors, SolverLimits, multipliers};
use levelset::TetMesh;
use nalgebra::Vector3;
use serde_json::Value;

use super::Worst;
use super::values::{error, flat, numbers, points, rows, vectors};

pub(super) fn lattice(text: &str) -> Result<Worst, serde_json::Error> {
    let file: Value = serde_json::from_str(text)?;
    let mut worst = Worst::new();
    for case in file["cases"].as_array().into_iter().flatten() {
        solve(case, &mut worst);
        if case["mesh_tets"].is_array() {
            build(case, &mut worst);
        }
    }
    Ok(worst)
}

fn solve(case: &Value, worst: &mut Worst) {
    let positions = points(&case["q"]);
    let mut inverse_masses: Vec<f64> = numbers(&case["mass"]).iter().map(|m| 1.0 / m).collect();
    for fixed in numbers(&case["fixed"]) {
        inverse_masses[fixed as usize] = 0.0;
    }
    let ends = rows::<2>(&case["links"]);
    let links = Links { positions: &positions, inverse_masses: &inverse_masses, ends: &ends };
    let (forces, velocities) = (vectors(&case["Q"]), vectors(&case["v"]));
    let limits = SolverLimits { tolerance: 1e-14, max_iterations: 10_000 };
    let found = multipliers(&links, &forces, Some(&velocities), limits);
    let name = case["name"].as_str().unwrap_or("?");
    let lambda = numbers(&case["lam_minnorm"]);
    worst.compare(format!("{name} lambda"), error(&found.lambda, &lambda), 1e-9);
    let held = links.forces(&found.lambda);
    let expected = numbers(&case["Q_constraint"]);
    worst.compare(format!("{name} forces"), error(&flat(&held), &expected), 1e-9);
    let accelerations: Vec<Vector3<f64>> =
        forces.iter().zip(&held).zip(&inverse_masses).map(|((q, h), w)| (q + h) * *w).collect();
    let expected = numbers(&case["qdd"]);
    // accelerations may be zero: their errors are relative to the effect of the forces alone
    let (forces, found) = (flat(&forces), flat(&accelerations));
    let size = forces.iter().zip(inverse_masses.iter().flat_map(|w| [*w; 3]));
    let size = size.map(|(q, w)| (q * w).abs()).fold(1e-300, f64::max);
    let difference = found.iter().zip(&expected).map(|(a, b)| (a - b).abs());
    let scale = expected.iter().fold(size, |m, x| m.max(x.abs()));
    worst.compare(format!("{name} accelerations"), difference.fold(0.0, f64::max) / scale, 1e-9);
}

/// The lattice of a mesh: masses and links, and the areas of the faces.
fn build(case: &Value, worst: &mut Worst) {
    let mesh = TetMesh { vertices: points(&case["mesh_nodes"]), tets: rows(&case["mesh_tets"]) };
    let density = case["density"].as_f64().expect("a density");
    let lattice = Lattice::new(&mesh, Neighbors::Faces, |_| density, |_| 1.0);
    let lattice = lattice.expect("a valid mesh");
    let name = case["name"].as_str().unwrap_or("?");
    worst.compare(
        format!("{name} masses"),
        error(lattice.masses(), &numbers(&case["mass"])),
        1e-12,
    );
    let all = if case["all_links"].is_array() { &case["all_links"] } else { &case["links"] };
    let found: Vec<[u32; 2]> = lattice.links().iter().map(|link| link.ends).collect();
    let same = if found == rows::<2>(all) { 0.0 } else { f64::INFINITY };
    worst.compare(format!("{name} links"), same, 1e-12);
    let areas: Vec<f64> = lattice.links().iter().map(|link| link.area).collect();
    worst.compare(format!("{name} areas"), error(&areas, &numbers(&case["face_area"])), 1e-12);
}
