//! Plastic strain of bodies of tetrahedra: dents and hardening.

use brisance_tests::tet_boxes::kuhn_box;
use nalgebra::{Matrix3, Point3, Vector3};
use tetfem::{Contact, Interpolation, LinearSolver, Load, Material, Response, Structure, Yielding};

/// A uniform stress beyond the yield stress adds the plastic strain `(q - y) / (3 G + H)` (radial return), and equal
/// blows converge to that of static loading, `(q - y) / H`.
#[test]
fn equal_blows_harden_as_the_closed_form_of_a_bar_says() {
    let (young, poisson, hardening, strength, pull) = (1e9, 0.3, 4e8, 1e6, 1.5e6);
    let metal = Material::from_young(young, poisson).unwrap();
    let mut mesh = kuhn_box([3, 2, 2], Vector3::new(1.5, 1.0, 1.0));
    let mut plastic = Vec::new();
    let stress = Matrix3::from_diagonal(&Vector3::new(pull, 0.0, 0.0));
    let still = vec![Vector3::zeros(); mesh.vertices.len()];
    let response = Response { displacements: still, stresses: vec![stress; mesh.tets.len()] };
    let shear = young / (2.0 * (1.0 + poisson));
    let (mut expected, mut last) = (0.0, 1.5);
    for _ in 0..28 {
        let body = Structure::new(mesh, metal, Interpolation::Linear, LinearSolver::Cholesky);
        let body = body.unwrap().with_plastic(plastic).unwrap();
        let flow = body.flow(&response, Yielding { strength, hardening }, 0.3).unwrap();
        let work = body.plastic_work(&flow, 1.0);
        let dent = body.dent(&flow, 1.0);
        (mesh, plastic) = (dent.mesh, dent.plastic);
        let beyond = pull - strength - hardening * expected;
        let added = beyond / (3.0 * shear + hardening);
        let flows = strength + hardening * (expected + 0.5 * added);
        // work of the yield stress over the plastic strain, in 1.5 m^3
        assert!((work / (1.5 * added * flows) - 1.0).abs() < 1e-9, "{work}");
        expected += added;
        let length = mesh.vertices.iter().map(|p| p.x).fold(f64::MIN, f64::max)
            - mesh.vertices.iter().map(|p| p.x).fold(f64::MAX, f64::min);
        assert!(((length / last - 1.0) / added - 1.0).abs() < 0.01, "{length} {last}");
        last = length;
        for own in &plastic {
            assert!((own.strain / expected - 1.0).abs() < 1e-9, "{own:?}");
            // a uniform strain leaves no residual stress
            assert!(own.stress.norm() < 1e-5 * strength, "{own:?}");
        }
    }
    assert!((expected / ((pull - strength) / hardening) - 1.0).abs() < 1e-3, "{expected}");
}

#[test]
fn equal_blows_dent_less_the_harder_the_material_gets() {
    let clay = Material::from_young(1e6, 0.4).unwrap();
    let places = [1.0, 0.0].map(|y| Point3::new(0.75, y, 0.5));
    let depths = |hardening: f64| -> Vec<f64> {
        let mut mesh = kuhn_box([6, 4, 4], Vector3::new(1.5, 1.0, 1.0));
        let mut plastic = Vec::new();
        let blow = |_| {
            let made =
                Structure::new(mesh.clone(), clay, Interpolation::Linear, LinearSolver::Cholesky);
            let body = made.unwrap().with_plastic(plastic.clone()).unwrap();
            let push = |(place, f): (Point3<f64>, f64)| Contact { place, force: Vector3::y() * f };
            let pushes = [(places[0], -3e3), (places[1], 3e3)].map(push);
            let response = body.respond(&Load::new(&pushes)).unwrap();
            let flow = body.flow(&response, Yielding { strength: 1e3, hardening }, 0.3).unwrap();
            let dent = body.dent(&flow, flow.max_share);
            let moves = mesh.vertices.iter().zip(&dent.mesh.vertices).map(|(p, q)| (q - p).norm());
            let depth = moves.fold(0.0, f64::max);
            (mesh, plastic) = (dent.mesh, dent.plastic);
            depth
        };
        (0..10).map(blow).collect()
    };
    let (soft, hard) = (depths(0.0), depths(1e6));
    for pair in soft.windows(2).chain(hard.windows(2)) {
        assert!(pair[1] < pair[0], "{soft:?} {hard:?}");
    }
    let sum = |depths: &[f64]| depths.iter().sum::<f64>();
    assert!(sum(&hard) < 0.9 * sum(&soft), "{soft:?} {hard:?}");
}

#[test]
fn dents_accumulate() {
    let clay = Material::from_young(1e6, 0.4).unwrap();
    let mut mesh = kuhn_box([6, 4, 4], Vector3::new(1.5, 1.0, 1.0));
    let mut heights = Vec::new();
    for _ in 0..3 {
        let body =
            Structure::new(mesh, clay, Interpolation::Linear, LinearSolver::Cholesky).unwrap();
        let push =
            |y: f64, f: f64| Contact { place: Point3::new(0.75, y, 0.5), force: Vector3::y() * f };
        let response = body.respond(&Load::new(&[push(1.0, -1e4), push(0.0, 1e4)])).unwrap();
        let flow = body.flow(&response, Yielding { strength: 1e3, hardening: 0.0 }, 0.3).unwrap();
        assert!(flow.yielded() > 0 && flow.max_share > 0.0);
        let dent = body.dent(&flow, flow.max_share);
        mesh = dent.mesh;
        let top = mesh.vertices.iter().filter(|p| (p.x - 0.75).hypot(p.z - 0.5) < 0.2);
        heights.push(top.map(|p| p.y).fold(0.0, f64::max));
    }
    assert!(1.0 > heights[0] && heights[0] > heights[1] && heights[1] > heights[2], "{heights:?}");
}
