//! Properties of the tetfem crate.

use brisance_tests::properties;
use brisance_tests::strategies::{rotation, vector};
use brisance_tests::tet_boxes::kuhn_box;
use levelset::{Moments, TetError, TetMesh};
use nalgebra::{Matrix3, Point3, Vector3};
use proptest::prelude::*;
use tetfem::{
    Averaging, BoundaryConditions, Contact, Crack, CutLimits, EquilibriumError, Fields, Fracture,
    Interpolation, LinearSolver, Load, Material, Model, Newton, PlasticState, Preconditioner,
    SolveError, Structure, StructureError, Support, Yielding, average_stresses, linear_equilibrium,
    max_principal, newton_equilibrium, pieces, separate, shatter, write_msh, write_vtu,
};

fn glass() -> Material {
    Material::from_young(70e9, 0.22).unwrap()
}

/// Boxes of up to 3 cells a side with displaced inner vertices.
fn boxes() -> impl Strategy<Value = TetMesh> {
    let cells = [1_usize..4, 1_usize..4, 1_usize..4];
    let size = [0.2..1.0, 0.2..1.0, 0.2..1.0].prop_map(Vector3::from);
    (cells, size, prop::collection::vec(vector(1.0), 64)).prop_map(|(cells, size, moves)| {
        let mut mesh = kuhn_box(cells, size);
        let cell = size.zip_map(&Vector3::from(cells), |x, n| x / n as f64);
        for (place, shift) in mesh.vertices.iter_mut().zip(moves) {
            for axis in 0..3 {
                let inside = place[axis] > 1e-9 && place[axis] < size[axis] - 1e-9;
                place[axis] += if inside { 0.12 * cell[axis] * shift[axis] } else { 0.0 };
            }
        }
        mesh
    })
}

fn materials() -> impl Strategy<Value = Material> {
    (3.0..11.0, -0.4..0.45)
        .prop_map(|(e, nu): (f64, f64)| Material::from_young(10_f64.powf(e), nu).unwrap())
}

/// Displacements of the nodes of a box, small relative to its cells.
fn moved(mesh: &TetMesh, moves: &[Vector3<f64>]) -> Vec<Vector3<f64>> {
    moves.iter().cycle().take(mesh.vertices.len()).map(|m| m * 0.02).collect()
}

fn largest(vectors: &[Vector3<f64>]) -> f64 {
    vectors.iter().fold(0.0, |m, v| m.max(v.amax()))
}

fn contacts() -> impl Strategy<Value = Vec<Contact>> {
    let one = (vector(1.0), vector(1e4))
        .prop_map(|(place, force)| Contact { place: Point3::from(place), force });
    prop::collection::vec(one, 1..4)
}

fn free(mesh: TetMesh, interpolation: Interpolation) -> Structure {
    Structure::new(mesh, glass(), interpolation, LinearSolver::Cholesky).unwrap()
}

fn is_close(a: &Moments, b: &Moments, tolerance: f64) -> bool {
    let size = b.second.trace() / b.volume;
    (a.volume - b.volume).abs() <= tolerance * b.volume
        && (a.first - b.first).amax() <= tolerance * b.volume * size.sqrt()
        && (a.second - b.second).amax() <= tolerance * b.volume * size
}

fn sum(parts: &[(TetMesh, Vec<u32>)]) -> Moments {
    parts.iter().map(|(mesh, _)| mesh.moments()).sum()
}

/// A crack through a box with any position and orientation.
fn cracks() -> impl Strategy<Value = (TetMesh, Crack, f64)> {
    (boxes(), any::<prop::sample::Index>(), vector(1.0), 0.05..1.5).prop_filter_map(
        "no direction",
        |(mesh, tet, normal, radius)| {
            let mut stresses = vec![Matrix3::zeros(); mesh.tets.len()];
            let normal = normal.try_normalize(1e-3)?;
            stresses[tet.index(mesh.tets.len())] = normal * normal.transpose();
            let crack = Crack::find(&mesh, &stresses, 0.5)?;
            Some((mesh, crack, radius))
        },
    )
}

properties! {
    #[test]
    fn rigid_motion_makes_no_stress(
        mesh in boxes(), material in materials(), turn in rotation(), shift in vector(10.0),
    ) {
        let model = Model::new(&mesh, material).unwrap();
        let u: Vec<_> =
            mesh.vertices.iter().map(|p| turn * p.coords + shift - p.coords).collect();
        let size = material.mu + material.lambda.abs();
        for stress in model.stresses(&u) {
            // the positions of some 10 m are rounded, over edges of some 0.05 m
            prop_assert!(stress.amax() <= 1e-12 * size, "{:e}", stress.amax() / size);
        }
    }

    #[test]
    fn forces_and_torques_sum_to_zero(
        mesh in boxes(), material in materials(), moves in prop::collection::vec(vector(1.0), 7),
    ) {
        let model = Model::new(&mesh, material).unwrap();
        let u = moved(&mesh, &moves);
        let forces = model.forces(&u);
        let size = largest(&forces) * forces.len() as f64;
        let force: Vector3<f64> = forces.iter().sum();
        let torque: Vector3<f64> =
            (0..u.len()).map(|n| (mesh.vertices[n].coords + u[n]).cross(&forces[n])).sum();
        prop_assert!(force.amax() <= 1e-13 * size);
        prop_assert!(torque.amax() <= 1e-13 * size);
    }

    #[test]
    fn the_tangent_is_symmetric_and_the_derivative_of_the_forces(
        mesh in boxes(),
        material in materials(),
        moves in prop::collection::vec(vector(1.0), 7),
        way in prop::collection::vec(vector(1.0), 5),
    ) {
        let model = Model::new(&mesh, material).unwrap();
        let u = moved(&mesh, &moves);
        let step = 1e-6;
        let way: Vec<_> = way.iter().cycle().take(u.len()).copied().collect();
        let at = |s: f64| {
            let u: Vec<_> = u.iter().zip(&way).map(|(u, w)| u + w * s).collect();
            (model.forces(&u), model.energy(&u))
        };
        let ((more, high), (less, low)) = (at(step), at(-step));
        let tangent = model.tangent(&u);
        let slope = tangent.multiply(&way);
        for n in 0..u.len() {
            // forces are cubic in the displacements: the error of the step is 1e-12 of the third
            // derivative
            let difference = (more[n] - less[n]) / (2.0 * step);
            prop_assert!((difference - slope[n]).amax() <= 1e-7 * largest(&slope));
        }
        let work: f64 = model.forces(&u).iter().zip(&way).map(|(f, w)| f.dot(w)).sum();
        let size = (high.abs() + low.abs()) / step * 1e-9 + work.abs() * 1e-6;
        prop_assert!(((high - low) / (2.0 * step) - work).abs() <= size);
        for row in 0..tangent.rows() {
            for (column, block) in tangent.row(row) {
                let mirror = tangent.row(column).find(|(c, _)| *c == row).unwrap().1;
                prop_assert!((block - mirror.transpose()).amax() <= 1e-13 * block.amax().max(1.0));
            }
        }
    }

    #[test]
    fn affine_displacement_of_the_surface_reaches_the_inside(
        mesh in boxes(), material in materials(), columns in [vector(0.02), vector(0.02), vector(0.02)],
    ) {
        let model = Model::new(&mesh, material).unwrap();
        let slope = Matrix3::from_columns(&columns);
        let mut surface: Vec<u32> = mesh.boundary_faces().into_iter().flatten().collect();
        surface.sort_unstable();
        surface.dedup();
        let supports: Vec<_> = surface.iter().map(|&node| Support {
            node, axes: [true; 3], displacement: slope * mesh.vertices[node as usize].coords,
        }).collect();
        let loads = vec![Vector3::zeros(); mesh.vertices.len()];
        let found = newton_equilibrium(
            &model, &supports, &loads, LinearSolver::Cholesky, Newton::default(),
        ).unwrap();
        for (u, p) in found.displacements.iter().zip(&mesh.vertices) {
            prop_assert!((u - slope * p.coords).amax() <= 1e-10 * slope.amax());
        }
    }

    #[test]
    fn solvers_agree(mesh in boxes(), material in materials(), force in vector(1.0)) {
        let model = Model::new(&mesh, material).unwrap();
        let supports: Vec<_> = (0..mesh.vertices.len() as u32)
            .filter(|&v| mesh.vertices[v as usize].x == 0.0).map(Support::fixed).collect();
        let mut loads = vec![Vector3::zeros(); mesh.vertices.len()];
        *loads.last_mut().unwrap() = force;
        let solve = |solver| linear_equilibrium(&model, &supports, &loads, solver).unwrap();
        let exact = solve(LinearSolver::Cholesky).displacements;
        for preconditioner in [Preconditioner::BlockJacobi, Preconditioner::IncompleteCholesky] {
            let iterative =
                LinearSolver::ConjugateGradient { preconditioner, tolerance: 1e-12, max_iterations: 2000 };
            for (a, b) in solve(iterative).displacements.iter().zip(&exact) {
                prop_assert!((a - b).amax() <= 1e-8 * largest(&exact));
            }
        }
    }

    #[test]
    fn stress_of_a_structure_does_not_depend_on_its_frame(
        mesh in boxes(), contacts in contacts(), turn in rotation(), shift in vector(1.0),
        first in any::<prop::sample::Index>(),
    ) {
        // the first tetrahedron and the axes determine the supports
        let mut other = mesh.clone();
        let first = first.index(mesh.tets.len());
        other.tets.rotate_left(first);
        other.vertices.iter_mut().for_each(|p| *p = turn * *p + shift);
        let there: Vec<_> = contacts.iter().map(|c| Contact {
            place: turn * c.place + shift, force: turn * c.force,
        }).collect();
        for interpolation in [Interpolation::Linear, Interpolation::Quadratic] {
            let here = free(mesh.clone(), interpolation).respond(&Load::new(&contacts)).unwrap();
            let there = free(other.clone(), interpolation).respond(&Load::new(&there)).unwrap();
            let size = here.stresses.iter().fold(0.0_f64, |m, s| m.max(s.amax()));
            let r = turn.to_rotation_matrix().into_inner();
            for (t, stress) in here.stresses.iter().enumerate() {
                let count = mesh.tets.len();
                let turned = r.transpose() * there.stresses[(t + count - first) % count] * r;
                prop_assert!((stress - turned).amax() <= 1e-8 * size);
            }
            let most = largest(&here.displacements);
            for (a, b) in here.displacements.iter().zip(&there.displacements) {
                prop_assert!((turn * a - b).amax() <= 1e-8 * most);
            }
        }
    }

    #[test]
    fn a_uniform_pull_makes_uniform_stress(mesh in boxes(), pull in 1.0..1e6_f64) {
        // a box under uniform tension at two ends is in equilibrium
        let ends = mesh.vertices.iter().fold(0.0_f64, |m, p| m.max(p.x));
        let area = |[a, b, c]: [Point3<f64>; 3]| 0.5 * (b - a).cross(&(c - a)).norm();
        let mut contacts = Vec::new();
        for face in mesh.boundary_faces() {
            let corners = face.map(|v| mesh.vertices[v as usize]);
            for (x, sign) in [(0.0, -1.0), (ends, 1.0)] {
                if corners.iter().all(|p| p.x == x) {
                    let force = Vector3::x() * (sign * pull * area(corners));
                    contacts.extend(corners.map(|place| Contact { place, force: force / 3.0 }));
                }
            }
        }
        let response = free(mesh, Interpolation::Linear).respond(&Load::new(&contacts)).unwrap();
        let expected = Matrix3::from_diagonal(&Vector3::new(pull, 0.0, 0.0));
        for stress in response.stresses {
            prop_assert!((stress - expected).amax() <= 1e-9 * pull);
        }
    }

    #[test]
    fn cutting_keeps_volume_and_conformity_and_makes_no_sliver(
        (mesh, crack, radius) in cracks(), min_fraction in 0.05..0.5, min_edge in 0.0..0.3,
    ) {
        let limits = CutLimits { min_edge, min_fraction };
        let cut = crack.cut(&mesh, radius, &limits);
        prop_assert_eq!(cut.mesh.validate(), Ok(()));
        prop_assert!(is_close(&cut.mesh.moments(), &mesh.moments(), 1e-12));
        let mut parts = vec![0.0_f64; mesh.tets.len()];
        for (t, &parent) in cut.parents.iter().enumerate() {
            let share = cut.mesh.volume(t) / mesh.volume(parent as usize);
            prop_assert!(share >= min_fraction.powi(3) * (1.0 - 1e-9), "{share}");
            parts[parent as usize] += share;
        }
        prop_assert!(parts.iter().all(|whole| (whole - 1.0).abs() <= 1e-12));
    }

    #[test]
    fn a_crack_keeps_mass_and_momentum(
        (mesh, crack, radius) in cracks(), cuts in any::<bool>(),
        velocity in vector(10.0), spin in vector(20.0),
    ) {
        let opened = if cuts {
            let limits = CutLimits { min_edge: 0.0, min_fraction: 0.2 };
            let cut = crack.cut(&mesh, radius, &limits);
            separate(&cut.mesh, &cut.marks)
        } else {
            separate(&mesh, &crack.mark(&mesh, radius))
        };
        let parts = pieces(&opened.mesh);
        let whole = mesh.moments();
        prop_assert!(is_close(&sum(&parts), &whole, 1e-12));
        // pieces keep the motion of the body (Mu01 eq 18), here with unit density
        let momentum = |m: &Moments| {
            let arm = m.center() - whole.center();
            let linear = m.volume * (velocity + spin.cross(&arm));
            (linear, m.inertia() * spin + arm.cross(&linear))
        };
        let (linear, angular) = momentum(&whole);
        let mut rest = (linear, angular);
        for (mesh, _) in &parts {
            prop_assert_eq!(mesh.validate(), Ok(()));
            let part = momentum(&mesh.moments());
            rest = (rest.0 - part.0, rest.1 - part.1);
        }
        let size = whole.volume * (velocity.norm() + spin.norm());
        prop_assert!(rest.0.amax() <= 1e-12 * size && rest.1.amax() <= 1e-12 * size);
    }

    #[test]
    fn a_plane_through_a_whole_box_parts_it_along_the_plane((mesh, crack, _) in cracks()) {
        let limits = CutLimits { min_edge: 0.0, min_fraction: 1e-6 };
        let cut = crack.cut(&mesh, 10.0, &limits);
        let parts = pieces(&separate(&cut.mesh, &cut.marks).mesh);
        prop_assert_eq!(parts.len(), 2);
        for (mesh, _) in &parts {
            let heights: Vec<_> = mesh.vertices.iter().map(|p| crack.signed_distance(p)).collect();
            let above = heights.iter().all(|h| *h >= -1e-5);
            let below = heights.iter().all(|h| *h <= 1e-5);
            prop_assert!(above || below);
        }
    }

    #[test]
    fn shattering_keeps_mass_and_every_piece_is_a_mesh(
        mesh in boxes(), contacts in contacts(), strength in 3.0..7.0_f64, cuts in any::<bool>(),
    ) {
        let body = free(mesh, Interpolation::Linear);
        let fracture = Fracture {
            strength: 10_f64.powf(strength),
            averaging: 0.05,
            reach: 0.2,
            cut: cuts.then_some(CutLimits { min_edge: 0.1, min_fraction: 0.2 }),
            max_cracks: 5,
            min_volume: 1e-4,
        };
        let broken = shatter(&body, &BoundaryConditions::free(&contacts), &fracture);
        let whole: Moments = broken.pieces.iter().map(|piece| piece.moments).sum();
        prop_assert!(is_close(&whole, body.moments(), 1e-11));
        prop_assert!(broken.cracks.len() <= 5);
        for piece in &broken.pieces {
            prop_assert_eq!(piece.mesh.validate(), Ok(()));
            prop_assert_eq!(piece.mesh.components().count, 1);
        }
        if broken.cracks.is_empty() && broken.unresolved == 0 {
            let response = body.respond(&Load::new(&contacts).spread(fracture.averaging)).unwrap();
            let averaging = Averaging::new(body.mesh(), fracture.averaging);
            let means = averaging.means_at_vertices(&response.stresses);
            prop_assert!(means.iter().all(|(_, s)| max_principal(s) <= fracture.strength));
        }
    }

    #[test]
    fn means_are_those_of_all_centroids_within_the_radius(
        mesh in boxes(), contacts in contacts(), radius in 0.01..1.0_f64, share in 0.3..1.2_f64,
    ) {
        let stresses = free(mesh.clone(), Interpolation::Linear).respond(&Load::new(&contacts)).unwrap().stresses;
        let averaging = Averaging::new(&mesh, radius);
        let means = averaging.means(&stresses);
        let center = |t: usize| mesh.corners(t).iter().map(|p| p.coords).sum::<Vector3<f64>>() / 4.0;
        for (t, mean) in means.iter().enumerate() {
            let apart = |o: &usize| (center(*o) - center(t)).norm();
            // rounding may put points at the radius inside or outside
            prop_assume!((0..means.len()).all(|o| (apart(&o) - radius).abs() > 1e-12));
            let (mut sum, mut volume) = (Matrix3::zeros(), 0.0);
            for other in (0..means.len()).filter(|other| apart(other) <= radius) {
                sum += stresses[other] * mesh.volume(other);
                volume += mesh.volume(other);
            }
            let size = stresses.iter().map(Matrix3::amax).fold(0.0, f64::max);
            prop_assert!((mean - sum / volume).amax() <= 1e-12 * size);
        }
        // means at vertices include the adjacent tetrahedra
        let vertices = averaging.means_at_vertices(&stresses);
        prop_assert_eq!(vertices.len(), mesh.vertices.len());
        for (v, (place, mean)) in vertices.iter().enumerate() {
            prop_assert_eq!(place, &mesh.vertices[v]);
            let apart = |o: &usize| (center(*o) - place.coords).norm();
            prop_assume!((0..means.len()).all(|o| (apart(&o) - radius).abs() > 1e-12));
            let counts = |o: &usize| apart(o) <= radius || mesh.tets[*o].contains(&(v as u32));
            let (mut sum, mut volume) = (Matrix3::zeros(), 0.0);
            for other in (0..means.len()).filter(counts) {
                sum += stresses[other] * mesh.volume(other);
                volume += mesh.volume(other);
            }
            let size = stresses.iter().map(Matrix3::amax).fold(0.0, f64::max);
            prop_assert!((mean - sum / volume).amax() <= 1e-12 * size);
        }
        // the crack search skips irrelevant means
        let tensions: Vec<f64> = vertices.iter().map(|(_, mean)| max_principal(mean)).collect();
        let greatest = tensions.iter().copied().fold(0.0, f64::max);
        let found = averaging.crack(&mesh, &stresses, share * greatest);
        prop_assert_eq!(found.is_some(), share < 1.0 && greatest > 0.0);
        if let Some(crack) = found {
            let first = tensions.iter().position(|tension| *tension == greatest).unwrap();
            prop_assert_eq!((crack.tension, crack.origin), (greatest, vertices[first].0));
            prop_assert!(mesh.tets[crack.tet].contains(&(first as u32)));
            let pull = vertices[first].1 * crack.normal.into_inner();
            prop_assert!((pull - crack.normal.into_inner() * greatest).norm() < 1e-6 * greatest);
        }
    }

    #[test]
    fn stress_at_rest_is_in_equilibrium_and_pieces_take_their_tetrahedra_along(
        mesh in boxes(), material in materials(), at in vector(0.5), normal in vector(1.0),
        stresses in prop::collection::vec(prop::array::uniform6(-1e6..1e6_f64), 1..10),
    ) {
        let plastic = |t: usize| {
            let [a, b, c, d, e, f] = stresses[t % stresses.len()];
            let stress = Matrix3::new(a, d, e, d, b, f, e, f, c);
            PlasticState { strain: 0.01 * t as f64, stress }
        };
        let given: Vec<PlasticState> = (0..mesh.tets.len()).map(plastic).collect();
        let made = |plastic| {
            let (interpolation, solver) = (Interpolation::Linear, LinearSolver::Cholesky);
            let made = Structure::new(mesh.clone(), material, interpolation, solver).unwrap();
            made.with_plastic(plastic).unwrap()
        };
        let body = made(given.clone());
        // balanced plastic strains need no further balancing, and their response is additive
        let again = made(body.plastic().to_vec());
        let unloaded = body.respond(&Load::new(&[])).unwrap();
        for ((own, other), stress) in body.plastic().iter().zip(again.plastic()).zip(unloaded.stresses) {
            prop_assert!((own.stress - other.stress).norm() < 1e-6 * 1e6, "{own:?} {other:?}");
            prop_assert!((own.stress - stress).norm() < 1e-6);
        }
        let contact = Contact { place: Point3::from(at), force: normal * 1e9 };
        let cut = Some(CutLimits { min_edge: 0.02, min_fraction: 0.1 });
        let fracture =
            Fracture { strength: 1e6, averaging: 0.0, reach: 0.5, cut, max_cracks: 4, min_volume: 0.0 };
        let broken = shatter(&body, &BoundaryConditions::free(&[contact]), &fracture);
        let share = |(mesh, plastic): (&TetMesh, &[PlasticState])| -> f64 {
            plastic.iter().enumerate().map(|(t, own)| own.strain * mesh.volume(t)).sum()
        };
        for piece in &broken.pieces {
            prop_assert_eq!(piece.mesh.tets.len(), piece.plastic.len());
        }
        let parts: f64 = broken.pieces.iter().map(|piece| share((&piece.mesh, &piece.plastic))).sum();
        let whole = share((&mesh, &given));
        prop_assert!((parts - whole).abs() <= 1e-9 * whole.max(1e-9), "{parts} {whole}");
    }

    #[test]
    fn dents_keep_volume_and_vanish_below_yield(
        mesh in boxes(), contacts in contacts(), yield_stress in 2.0..7.0_f64,
    ) {
        let body = Structure::new(
            mesh, Material::from_young(1e6, 0.4).unwrap(),
            Interpolation::Linear, LinearSolver::Cholesky,
        ).unwrap();
        let response = body.respond(&Load::new(&contacts)).unwrap();
        let yield_stress = 10_f64.powf(yield_stress);
        let yielding = Yielding { strength: yield_stress, hardening: 0.0 };
        let flow = body.flow(&response, yielding, 0.2).unwrap();
        let dent = body.dent(&flow, flow.max_share);
        prop_assert_eq!(dent.mesh.validate(), Ok(()));
        let change = dent.mesh.moments().volume / body.moments().volume - 1.0;
        prop_assert!(change.abs() <= 1e-12);
        if flow.yielded() == 0 {
            prop_assert_eq!(&dent.mesh, body.mesh());
        }
        for t in 0..dent.mesh.tets.len() {
            // a flow changes each volume by at most a fifth, and so does the rescaling of the body
            let ratio = dent.mesh.volume(t) / body.mesh().volume(t);
            prop_assert!((0.8 / 1.2 - 1e-9..=1.2 / 0.8 + 1e-9).contains(&ratio), "{ratio}");
        }
    }
}

#[test]
fn bits_are_the_same_for_any_number_of_threads() {
    let mesh = kuhn_box([24, 8, 8], Vector3::new(3.0, 1.0, 1.0));
    let contact =
        Contact { place: Point3::new(1.4, 1.0, 0.6), force: Vector3::new(0.0, -1e5, 2e4) };
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let response =
                free(mesh.clone(), Interpolation::Linear).respond(&Load::new(&[contact])).unwrap();
            let averaged = average_stresses(&mesh, &response.stresses, 0.2);
            let model = Model::new(&mesh, glass()).unwrap();
            (model.tangent(&response.displacements), response, averaged)
        })
    };
    assert!(run(1) == run(3));
}

#[test]
fn the_mean_over_a_length_depends_little_on_the_mesh() {
    // under a point load the greatest tension diverges under mesh refinement
    let tension = |cells: usize, radius: f64, interpolation: Interpolation| {
        let mesh = kuhn_box([2 * cells, cells, cells], Vector3::new(2.0, 1.0, 1.0));
        let body = free(mesh, interpolation);
        let push = |x: f64, y: f64, f: f64| Contact {
            place: Point3::new(x, y, 0.5),
            force: Vector3::y() * f,
        };
        let load = [push(1.0, 1.0, 1e5), push(0.0, 0.0, -5e4), push(2.0, 0.0, -5e4)];
        let response = body.respond(&Load::new(&load)).unwrap();
        let averaged = average_stresses(body.mesh(), &response.stresses, radius);
        averaged.iter().map(max_principal).fold(0.0, f64::max)
    };
    let growth = |cells: usize, radius: f64, interpolation: Interpolation| {
        tension(2 * cells, radius, interpolation) / tension(cells, radius, interpolation) - 1.0
    };
    let (linear, quadratic) = (Interpolation::Linear, Interpolation::Quadratic);
    assert!(growth(5, 0.0, linear) > 1.0);
    assert!(growth(5, 0.6, linear).abs() < 0.12, "{}", growth(5, 0.6, linear));
    // with quadratic tetrahedra meshes of three cells are enough
    assert!(growth(3, 0.6, quadratic).abs() < 0.1, "{}", growth(3, 0.6, quadratic));
}

#[test]
fn what_a_body_bears_does_not_depend_on_its_mesh() {
    // the default radius of sim
    let radius = 0.25 * 2.0_f64.cbrt();
    let push = |x: f64, y: f64, f: [f64; 3]| Contact {
        place: Point3::new(x, y, 0.5),
        force: Vector3::from(f),
    };
    let bent = [
        push(1.0, 1.0, [0.0, -1e5, 0.0]),
        push(0.3, 0.0, [0.0, 5e4, 0.0]),
        push(1.7, 0.0, [0.0, 5e4, 0.0]),
    ];
    let struck = [push(0.7, 1.0, [0.0, -1e5, 2e4])];
    for contacts in [&bent[..], &struck[..]] {
        let tensions = [5, 7, 10].map(|cells| {
            let mesh = kuhn_box([2 * cells, cells, cells], Vector3::new(2.0, 1.0, 1.0));
            let body = free(mesh, Interpolation::Linear);
            let response = body.respond(&Load::new(contacts).spread(radius)).unwrap();
            let averaging = Averaging::new(body.mesh(), radius);
            let means = averaging.means_at_vertices(&response.stresses);
            means.iter().map(|(_, mean)| max_principal(mean)).fold(0.0, f64::max)
        });
        let least = tensions.iter().copied().fold(f64::INFINITY, f64::min);
        let most = tensions.iter().copied().fold(0.0, f64::max);
        assert!(most < 1.1 * least, "{tensions:?}");
    }
}

#[test]
fn unsound_input_is_a_typed_error() {
    let cholesky = LinearSolver::Cholesky;
    let body = |mesh| Structure::new(mesh, glass(), Interpolation::Linear, cholesky);
    let sound = kuhn_box([2, 1, 1], Vector3::new(2.0, 1.0, 1.0));
    let mut inverted = sound.clone();
    inverted.tets[3].swap(0, 1);
    assert!(matches!(
        body(inverted).err(),
        Some(StructureError::Mesh(TetError::Inverted { tet: 3, .. }))
    ));
    let mut flat = sound.clone();
    flat.vertices.iter_mut().for_each(|p| p.z = 0.0);
    assert!(matches!(body(flat).err(), Some(StructureError::Mesh(TetError::Inverted { .. }))));
    let mut two = sound.clone();
    let shift = two.vertices.len() as u32;
    two.vertices.extend(sound.vertices.iter().map(|p| p + Vector3::x() * 5.0));
    two.tets.extend(sound.tets.iter().map(|tet| tet.map(|v| v + shift)));
    assert_eq!(body(two.clone()).err(), Some(StructureError::Disconnected(2)));

    let fixed: Vec<_> = [0, 1, 2, 3].map(Support::fixed).into();
    let solvers = [
        cholesky,
        LinearSolver::ConjugateGradient {
            preconditioner: Preconditioner::IncompleteCholesky,
            tolerance: 1e-10,
            max_iterations: 500,
        },
    ];
    for (mesh, supports) in [(&sound, &[][..]), (&sound, &fixed[..1]), (&two, &fixed)] {
        let model = Model::new(mesh, glass()).unwrap();
        let mut loads = vec![Vector3::zeros(); mesh.vertices.len()];
        *loads.last_mut().unwrap() = Vector3::new(1.0, 2.0, 3.0);
        for solver in solvers {
            let linear = linear_equilibrium(&model, supports, &loads, solver);
            assert!(matches!(linear, Err(EquilibriumError::Solve(_))), "{linear:?}");
            let newton = newton_equilibrium(&model, supports, &loads, solver, Newton::default());
            assert!(newton.is_err(), "{newton:?}");
        }
    }

    let model = Model::new(&sound, glass()).unwrap();
    let mut loads = vec![Vector3::zeros(); sound.vertices.len()];
    loads[5].x = f64::NAN;
    let found = linear_equilibrium(&model, &fixed, &loads, cholesky);
    assert_eq!(found.err(), Some(EquilibriumError::NotFinite(5)));
    let found = linear_equilibrium(&model, &fixed, &[], cholesky);
    assert!(matches!(found, Err(EquilibriumError::Loads { loads: 0, .. })));
    let bad = Contact { place: Point3::origin(), force: Vector3::repeat(f64::NAN) };
    let nowhere = Contact { place: Point3::new(f64::NAN, 0.0, 0.0), force: Vector3::x() };
    for contact in [bad, nowhere] {
        let found = body(sound.clone()).unwrap().respond(&Load::new(&[contact]));
        assert_eq!(found.err(), Some(SolveError::NotFinite));
    }
}

#[test]
fn supports_that_turn_the_body_inside_out_are_refused() {
    // the load pushes the far end through the near one: the energy has a spurious equilibrium there
    let mesh = kuhn_box([3, 1, 1], Vector3::new(3.0, 1.0, 1.0));
    let model = Model::new(&mesh, Material::from_young(1e5, 0.0).unwrap()).unwrap();
    let supports: Vec<_> = mesh
        .vertices
        .iter()
        .enumerate()
        .filter(|(_, p)| p.x == 0.0 || p.x == 3.0)
        .map(|(n, p)| Support {
            displacement: if p.x == 0.0 { Vector3::zeros() } else { Vector3::x() * -4.0 },
            ..Support::fixed(n as u32)
        })
        .collect();
    let loads = vec![Vector3::zeros(); mesh.vertices.len()];
    let found =
        newton_equilibrium(&model, &supports, &loads, LinearSolver::Cholesky, Newton::default());
    assert!(matches!(found, Err(EquilibriumError::Inverted(_))), "{found:?}");
}

#[test]
fn written_files_hold_every_number() {
    let mesh = kuhn_box([2, 1, 1], Vector3::new(0.3, 0.1, 0.1));
    let body = free(mesh.clone(), Interpolation::Linear);
    let push = Contact { place: Point3::new(0.1, 0.1, 0.05), force: Vector3::new(1.0, -7.0, 0.3) };
    let response = body.respond(&Load::new(&[push])).unwrap();
    let fields = Fields { displacements: &response.displacements, stresses: &response.stresses };
    for short in [
        Fields { displacements: &response.displacements[1..], ..fields },
        Fields { stresses: &response.stresses[1..], ..fields },
    ] {
        let (mut vtu, mut msh) = (Vec::new(), Vec::new());
        for refusal in [write_vtu(&mut vtu, &mesh, &short), write_msh(&mut msh, &mesh, &short)] {
            assert!(refusal.unwrap_err().to_string().ends_with("give one each, or none"));
        }
        assert!(vtu.is_empty() && msh.is_empty(), "nothing is written");
    }
    let nothing = body.respond(&Load::default()).unwrap();
    assert_eq!(nothing.displacements, vec![Vector3::zeros(); mesh.vertices.len()]);
    let numbers = |text: &str| -> Vec<f64> {
        text.split_whitespace().filter_map(|word| word.parse().ok()).collect()
    };
    let stresses: Vec<f64> = response.stresses.iter().flatten().copied().collect();
    let places: Vec<f64> = mesh.vertices.iter().flat_map(|p| [p.x, p.y, p.z]).collect();
    let corners: Vec<f64> = mesh.tets.iter().flatten().map(|&v| f64::from(v)).collect();

    let mut vtu = Vec::new();
    write_vtu(&mut vtu, &mesh, &fields).unwrap();
    let vtu = String::from_utf8(vtu).unwrap();
    let array = |name: &str| {
        let body = vtu.split(&format!("Name=\"{name}\"")).nth(1).unwrap();
        numbers(&body[body.find('>').unwrap() + 1..body.find('<').unwrap()])
    };
    assert_eq!(array("points"), places);
    assert_eq!(array("connectivity"), corners);
    assert_eq!(array("stress"), stresses);
    assert_eq!(array("types"), vec![10.0; mesh.tets.len()]);
    assert_eq!(array("offsets").last(), Some(&(corners.len() as f64)));
    assert_eq!(array("displacement").len(), places.len());

    let mut msh = Vec::new();
    write_msh(&mut msh, &mesh, &fields).unwrap();
    let msh = String::from_utf8(msh).unwrap();
    let section = |name: &str| {
        let body = msh.split(&format!("${name}\n")).nth(1).unwrap();
        numbers(body.split('$').next().unwrap())
    };
    // a count, then rows that begin with a number from 1
    let rows = |section: Vec<f64>, width: usize, from: usize| -> Vec<f64> {
        section[1..].chunks(width).flat_map(|row| row[from..].to_vec()).collect()
    };
    assert_eq!(rows(section("Nodes"), 4, 1), places);
    let elements = rows(section("Elements"), 9, 5);
    assert_eq!(elements, corners.iter().map(|v| v + 1.0).collect::<Vec<_>>());
    assert!(msh.contains("$ElementData\n1\n\"stress\"\n1\n0\n3\n0\n9\n12\n1 "));
}
