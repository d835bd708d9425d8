//! The lattice of masses and links (Ku07; Smith, Witkin and Baraff 2000).

use brisance_tests::properties;
use brisance_tests::strategies::vector;
use brisance_tests::tet_boxes::kuhn_box;
use fracture::{
    Lattice, LatticeError, LatticeImpact, LatticeImpactSettings, Links, Neighbors, Noise, Plane,
    Shards, SolverLimits, Spread, Stencil, Weakness, multipliers, smoothed_crack,
};
use levelset::TetMesh;
use nalgebra::{DMatrix, DVector, Point3, Vector3};
use proptest::prelude::*;

use crate::cli::Case;
use crate::refusals::picture;

const LIMITS: SolverLimits = SolverLimits { tolerance: 1e-13, max_iterations: 5000 };
const EDGES: Neighbors = Neighbors::Edges { share: 0.25 };

fn block(cells: [usize; 3]) -> TetMesh {
    kuhn_box(cells, Vector3::from(cells.map(|n| n as f64 * 0.1)))
}

fn lattice(mesh: &TetMesh, neighbors: Neighbors) -> Lattice {
    Lattice::new(mesh, neighbors, |_| 1500.0, |_| 1e5).unwrap()
}

/// The adobe wall of Ku07: 4,080 tetrahedra, fixed at the bottom.
fn wall(neighbors: Neighbors) -> (TetMesh, Lattice) {
    let mesh = block([17, 10, 4]);
    let mut lattice = lattice(&mesh, neighbors);
    lattice.fix(|p| p.y < 0.1);
    (mesh, lattice)
}

fn blow(lattice: &Lattice, newtons: f64) -> Vec<Vector3<f64>> {
    lattice.load(&Point3::new(0.85, 0.7, 0.0), 0.12, &Vector3::new(0.0, 0.0, newtons), 1.0)
}

/// Settings for which the shape of pieces depends on strengths.
fn no_spread() -> LatticeImpactSettings {
    let spread = Spread { share: 0.0, falloff: 0.5, least: 0.1, extra: 0.0 };
    LatticeImpactSettings { spread, damage: 0.0, ..LatticeImpactSettings::default() }
}

/// Points in general position with links between all pairs: more links than a rigid body needs.
fn complete(count: usize) -> impl Strategy<Value = (Vec<Point3<f64>>, Vec<f64>, Vec<[u32; 2]>)> {
    let points = proptest::collection::vec(vector(1.0), count);
    let masses = proptest::collection::vec(0.1..5.0, count);
    let all = 0..count as u32;
    let pairs: Vec<[u32; 2]> =
        all.clone().flat_map(|a| (a + 1..count as u32).map(move |b| [a, b])).collect();
    (points, masses, Just(pairs)).prop_filter_map("too close", |(points, masses, pairs)| {
        let points: Vec<Point3<f64>> = points.into_iter().map(Point3::from).collect();
        let near =
            pairs.iter().any(|p| (points[p[0] as usize] - points[p[1] as usize]).norm() < 0.2);
        (!near).then(|| (points, masses.iter().map(|m| 1.0 / m).collect(), pairs))
    })
}

/// Ku07 eq. 14 and its minimum-norm solution by the singular value decomposition of the whole matrix.
struct LeastNorm {
    matrix: DMatrix<f64>,
    right: DVector<f64>,
    lambda: DVector<f64>,
    rank: usize,
    /// The largest singular value, and the smallest nonzero one.
    singular: [f64; 2],
}

impl LeastNorm {
    fn new(links: &Links, forces: &[Vector3<f64>]) -> Self {
        let (m, n) = (links.ends.len(), links.positions.len());
        let mut jacobian = DMatrix::zeros(m, 3 * n);
        for (row, &[a, b]) in links.ends.iter().enumerate() {
            let apart = links.positions[a as usize] - links.positions[b as usize];
            let u = apart / apart.norm();
            for axis in 0..3 {
                jacobian[(row, 3 * a as usize + axis)] = u[axis];
                jacobian[(row, 3 * b as usize + axis)] = -u[axis];
            }
        }
        let weights =
            DVector::from_iterator(3 * n, links.inverse_masses.iter().flat_map(|w| [*w; 3]));
        let weighted = &jacobian * DMatrix::from_diagonal(&weights);
        let pushed = DVector::from_iterator(3 * n, forces.iter().flat_map(|f| [f.x, f.y, f.z]));
        let (matrix, right) = (&weighted * jacobian.transpose(), -(weighted * pushed));
        let svd = matrix.clone().svd(true, true);
        let most = svd.singular_values.max();
        let counting = svd.singular_values.iter().filter(|s| **s > 1e-9 * most);
        let least = counting.copied().fold(most, f64::min);
        let rank = svd.rank(1e-9 * most);
        let lambda = svd.solve(&right, 1e-9 * most).unwrap();
        Self { matrix, right, lambda, rank, singular: [most, least] }
    }

    fn left(&self, lambda: &DVector<f64>) -> f64 {
        (&self.matrix * lambda - &self.right).norm()
    }
}

properties! {
    /// The residual divided by the smallest singular value bounds the error of a solution in the
    /// range of the matrix. Round-off changes this range in proportion to the condition number.
    #[test]
    fn with_too_many_links_the_multipliers_are_those_of_least_norm(
        (positions, inverse_masses, ends) in complete(6),
        forces in proptest::collection::vec(vector(3.0), 6),
    ) {
        let links = Links { positions: &positions, inverse_masses: &inverse_masses, ends: &ends };
        let found = multipliers(&links, &forces, None, LIMITS);
        let exact = LeastNorm::new(&links, &forces);
        prop_assume!(exact.rank == 12);
        let [most, least] = exact.singular;
        let lambda = DVector::from_vec(found.lambda);
        let left = exact.left(&lambda);
        // each step of conjugate gradients adds its round-off
        let steps = found.iterations as f64 + 1.0;
        let round_off = steps * f64::EPSILON * most * exact.lambda.norm();
        let tolerance = LIMITS.tolerance * exact.right.norm();
        prop_assert!(left <= tolerance + 4.0 * round_off, "{left} {tolerance} {round_off}");
        let off = (&lambda - &exact.lambda).norm();
        let turned = 16.0 * f64::EPSILON * most / least * exact.lambda.norm();
        let bound = (left + exact.left(&exact.lambda)) / least + turned;
        prop_assert!(off <= bound, "{off} {bound}, condition {}", most / least);
    }

    #[test]
    fn links_keep_their_lengths_and_do_no_work(
        (positions, inverse_masses, ends) in complete(5),
        forces in proptest::collection::vec(vector(3.0), 5),
        velocities in proptest::collection::vec(vector(3.0), 5),
    ) {
        let links = Links { positions: &positions, inverse_masses: &inverse_masses, ends: &ends };
        let velocities = links.projected(&velocities, LIMITS);
        for stretch in links.stretching(&velocities) {
            prop_assert!(stretch.abs() < 1e-8);
        }
        let found = multipliers(&links, &forces, Some(&velocities), LIMITS);
        prop_assert!(found.residual < 1e-9);
        let held = links.forces(&found.lambda);
        // Ku07 eq. 12
        let power: f64 = held.iter().zip(&velocities).map(|(q, v)| q.dot(v)).sum();
        let scale: f64 = held.iter().zip(&velocities).map(|(q, v)| q.norm() * v.norm()).sum();
        prop_assert!(power.abs() <= 1e-8 * (1.0 + scale));
        // after motion under the forces, distances change only by the square of the time
        let step = 1e-4;
        let total = forces.iter().zip(&held).zip(&inverse_masses);
        let moved: Vec<Point3<f64>> = positions.iter().zip(&velocities).zip(total)
            .map(|((x, v), ((q, h), w))| x + v * step + (q + h) * (*w * step * step / 2.0))
            .collect();
        for &[a, b] in &ends {
            let length = |x: &[Point3<f64>]| (x[a as usize] - x[b as usize]).norm();
            // the remainder is of third order in time: speeds and accelerations cubed over lengths
            let fast = velocities.iter().fold(1.0, |m: f64, v| m.max(v.norm()));
            let push = total_accelerations(&forces, &held, &inverse_masses);
            let bound = 100.0 * step.powi(3) * (fast.powi(3) + fast * push + push * push * step);
            prop_assert!((length(&moved) - length(&positions)).abs() < bound.max(1e-13));
        }
    }
}

fn total_accelerations(forces: &[Vector3<f64>], held: &[Vector3<f64>], w: &[f64]) -> f64 {
    let all = forces.iter().zip(held).zip(w).map(|((q, h), w)| ((q + h) * *w).norm());
    all.fold(0.0, f64::max)
}

#[test]
fn pulled_pairs_are_in_tension_and_what_is_fixed_takes_no_part() {
    let positions = [Point3::origin(), Point3::new(2.0, 0.0, 0.0), Point3::new(3.0, 0.0, 0.0)];
    let ends = [[0, 1], [1, 2]];
    let pull = [-Vector3::x(), Vector3::x(), Vector3::zeros()];
    let links = Links { positions: &positions, inverse_masses: &[1.0, 1.0, 0.0], ends: &ends };
    let found = multipliers(&links, &pull, None, LIMITS);
    // the wall at the end of the chain bears the pull to the left
    assert!((found.lambda[0] - -1.0).abs() < 1e-12 && found.lambda[1].abs() < 1e-12);
    let both = Links { positions: &positions, inverse_masses: &[0.0, 0.0, 1.0], ends: &ends };
    let found = multipliers(&both, &pull, None, LIMITS);
    assert_eq!(found.lambda, [0.0, 0.0]);
    let nothing = multipliers(&links, &[Vector3::zeros(); 3], None, LIMITS);
    assert_eq!((nothing.residual, nothing.iterations), (0.0, 0));
    // coincident points have no direction
    let same = [Point3::origin(); 3];
    let folded = Links { positions: &same, ..links };
    let found = multipliers(&folded, &pull, None, LIMITS);
    assert_eq!(found.lambda, [0.0, 0.0]);
}

#[test]
fn velocities_that_tear_the_lattice_apart_end_with_a_residual() {
    let corners =
        [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0]];
    let positions = corners.map(Point3::from);
    let ends: Vec<[u32; 2]> = (0..5).flat_map(|a| (a + 1..5).map(move |b| [a, b])).collect();
    let links = Links { positions: &positions, inverse_masses: &[1.0; 5], ends: &ends };
    let mut velocities = positions.map(|p| p.coords);
    velocities[4] *= 3.0;
    velocities[1].y = 2.0;
    let still = [Vector3::zeros(); 5];
    let found = multipliers(&links, &still, Some(&velocities), LIMITS);
    assert!(found.lambda.iter().all(|x| x.is_finite()));
    assert!(found.residual > 1e-3, "there is no solution: {}", found.residual);
    assert!(found.iterations < LIMITS.max_iterations);
}

#[test]
fn a_wall_of_faces_has_the_links_and_mass_of_geometry() {
    let (mesh, lattice) = wall(Neighbors::Faces);
    assert_eq!(mesh.tets.len(), 4080);
    // tetrahedra have four faces; every inner face is shared by two tetrahedra
    let outside = 2 * 2 * (17 * 10 + 10 * 4 + 17 * 4);
    assert_eq!(lattice.links().len(), (4 * 4080 - outside) / 2);
    let mass: f64 = lattice.masses().iter().sum();
    assert!((mass / (1.7 * 1.0 * 0.4 * 1500.0) - 1.0).abs() < 1e-12);
    let (_, rigid) = wall(EDGES);
    let mean = 2.0 * rigid.links().len() as f64 / 4080.0;
    assert!(mean > 12.0, "{mean} links a tetrahedron");
}

/// Link forces of one push on an unbreakable wall.
fn push(neighbors: Neighbors) -> (Lattice, LatticeImpact) {
    let (_, mut lattice) = wall(neighbors);
    lattice.scale_strengths(|_| 1e12);
    let loads = blow(&lattice, 1.0);
    let strike = lattice
        .impact(&loads, &LatticeImpactSettings { damage: 0.0, ..LatticeImpactSettings::default() });
    assert!(strike.quiet && strike.broken.is_empty());
    assert!(strike.residual <= 1e-6);
    (lattice, strike)
}

#[test]
fn forces_die_out_in_a_lattice_of_faces_and_spread_in_one_of_edges() {
    let share_far = |(lattice, strike): (Lattice, LatticeImpact)| {
        let hit = Point3::new(0.85, 0.7, 0.0);
        let mean = |from: f64, to: f64| {
            let near = lattice
                .links()
                .iter()
                .zip(&strike.forces)
                .filter(|(link, _)| (from..to).contains(&(link.place - hit).norm()));
            let squares: Vec<f64> = near.map(|(_, force)| force * force).collect();
            (squares.iter().sum::<f64>() / squares.len() as f64).sqrt()
        };
        mean(0.6, 0.9) / mean(0.0, 0.15)
    };
    let (faces, edges) = (share_far(push(Neighbors::Faces)), share_far(push(EDGES)));
    assert!(faces < 2e-3, "{faces}");
    assert!(edges > 1e-2, "{edges}");
}

#[test]
fn a_blow_breaks_the_wall_where_it_is_hit_and_no_mass_is_lost() {
    let (mesh, mut lattice) = wall(Neighbors::Faces);
    let loads = blow(&lattice, 3e5);
    let strike = lattice.impact(&loads, &LatticeImpactSettings::default());
    assert!(strike.quiet && !strike.broken.is_empty());
    let near = strike.broken.iter().filter(|&&link| {
        (lattice.links()[link as usize].place - Point3::new(0.85, 0.7, 0.0)).norm() < 0.5
    });
    assert!(near.count() * 10 > strike.broken.len() * 9);
    let all: f64 = lattice.masses().iter().sum();
    for shards in [Shards::Keep, Shards::Merge, Shards::Dust] {
        let pieces = lattice.pieces(shards);
        let sum: f64 = pieces.masses.iter().sum::<f64>() + pieces.dust;
        assert!((sum / all - 1.0).abs() < 1e-12, "{shards:?}");
        assert_eq!(shards == Shards::Dust, pieces.dust > 0.0);
        let count = |piece: u32| pieces.labels.iter().filter(|l| **l == Some(piece)).count();
        let smallest = (0..pieces.masses.len() as u32).map(count).min();
        assert_eq!(
            smallest,
            Some(if shards == Shards::Keep { 1 } else { smallest.unwrap().max(2) })
        );
        for (piece, mass) in (0..).zip(&pieces.masses).take(30) {
            let part = pieces.mesh(&mesh, piece);
            assert!((part.moments().volume * 1500.0 / mass - 1.0).abs() < 1e-12);
            assert_eq!(part.components().count, 1);
        }
    }
}

#[test]
fn a_lattice_of_edges_breaks_along_a_weak_plane() {
    let mesh = block([10, 4, 2]);
    let mut lattice = lattice(&mesh, EDGES);
    let plane = Plane::new(Vector3::x(), 0.5).unwrap();
    lattice.weaken(&Weakness::Plane { plane, width: 0.06, factor: 0.02 });
    lattice.fix(|p| p.x < 0.1);
    let pull = lattice.load(&Point3::new(1.0, 0.2, 0.1), 0.2, &Vector3::new(800.0, 0.0, 0.0), 1.0);
    let strike = lattice.impact(&pull, &no_spread());
    assert!(strike.quiet && !strike.broken.is_empty());
    let pieces = lattice.pieces(Shards::Merge);
    assert_eq!(pieces.masses.len(), 2);
    for (p, label) in lattice.positions().iter().zip(&pieces.labels) {
        if (p.x - 0.5).abs() > 0.1 {
            assert_eq!(*label == pieces.labels[0], p.x < 0.5, "{p}");
        }
    }
}

#[test]
fn a_crack_weakens_each_link_once_and_less_with_each_step() {
    let mesh = block([6, 6, 6]);
    let mut lattice = lattice(&mesh, Neighbors::Faces);
    let whole = lattice.strengths().to_vec();
    let middle = lattice.load(&Point3::new(0.3, 0.3, 0.3), 0.0, &Vector3::x(), 1.0);
    // only this link is weak enough to break
    let weakest = (0..whole.len())
        .find(|&l| lattice.links()[l].ends.iter().any(|&e| middle[e as usize].norm() > 0.0))
        .unwrap();
    let place = lattice.links()[weakest].place;
    lattice.scale_strengths(|p| if *p == place { 1e-9 } else { 1.0 });
    let spread = Spread { share: 0.2, falloff: 0.7, least: 0.1, extra: 0.0 };
    let strike = lattice.impact(
        &middle,
        &LatticeImpactSettings { spread, damage: 0.0, ..LatticeImpactSettings::default() },
    );
    assert_eq!(strike.broken, [weakest as u32]);
    let losses: Vec<f64> =
        lattice.strengths().iter().zip(&whole).map(|(now, then)| 1.0 - now / then).collect();
    let changed = losses.iter().filter(|&&loss| loss > 1e-12).count();
    // 0.7^6 is the last power above 0.1
    assert!((50..1000).contains(&changed), "{changed}");
    for (loss, link) in losses.iter().zip(0..) {
        let steps = (1..=6).map(|k| 0.2 * 0.7f64.powi(k));
        let known = *loss < 1e-12 || steps.into_iter().any(|s| (s - loss).abs() < 1e-9);
        assert!(known || link == weakest, "{loss}");
    }
    let random = Spread { extra: 2.0, ..spread };
    let mut varied = lattice_with_weak_link(&mesh, &place);
    let strike = varied.impact(
        &middle,
        &LatticeImpactSettings { spread: random, damage: 0.0, ..LatticeImpactSettings::default() },
    );
    assert_eq!(strike.broken, [weakest as u32]);
    assert_ne!(varied.strengths(), lattice.strengths());
}

fn lattice_with_weak_link(mesh: &TetMesh, place: &Point3<f64>) -> Lattice {
    let mut lattice = lattice(mesh, Neighbors::Faces);
    lattice.scale_strengths(|p| if p == place { 1e-9 } else { 1.0 });
    lattice
}

#[test]
fn a_picture_weakens_what_it_is_dark_on() {
    // a dark stripe up the middle of the wall's face, seen along z
    let factors = ndarray::Array2::from_shape_fn((2, 17), |(_, x)| if x == 8 { 0.02 } else { 1.0 });
    let (corner, across) = (Point3::new(0.0, 1.0, 0.0), Vector3::new(1.7, 0.0, 0.0));
    let stencil = Stencil { factors, corner, across, down: Vector3::new(0.0, -1.0, 0.0) };
    // linear between centers of pixels, and 1 outside the picture
    for (x, factor) in [(0.85, 0.02), (0.75, 1.0), (0.8, 0.51), (0.01, 1.0), (-0.5, 1.0)] {
        let found = stencil.factor(&Point3::new(x, 0.3, 0.2));
        assert!((found - factor).abs() < 1e-12, "{x}: {found}");
    }
    let broken = |painted: bool| {
        let (_, mut lattice) = wall(Neighbors::Faces);
        if painted {
            lattice.scale_by_stencil(&stencil);
        }
        let loads = blow(&lattice, 3e3);
        let broken = lattice.impact(&loads, &no_spread()).broken;
        broken.iter().map(|&link| lattice.links()[link as usize].place.x).collect::<Vec<_>>()
    };
    assert!(broken(false).is_empty());
    let places = broken(true);
    assert!(!places.is_empty() && places.iter().all(|x| (x - 0.85).abs() < 0.1), "{places:?}");
}

#[test]
fn the_same_seed_weakens_the_same_links_and_another_others() {
    let strike = |seed: u64| {
        let (_, mut lattice) = wall(Neighbors::Faces);
        lattice.scale_by_noise(&Noise { amplitude: 0.5, frequency: 3.0, octaves: 2, seed: 4 });
        let loads = blow(&lattice, 3e4);
        let broken = lattice
            .impact(&loads, &LatticeImpactSettings { seed, ..LatticeImpactSettings::default() })
            .broken;
        (broken, lattice.strengths().to_vec())
    };
    assert_eq!(strike(1), strike(1));
    assert_ne!(strike(1), strike(2));
}

#[test]
fn a_blow_that_grows_breaks_the_weakest_first_and_spares_others() {
    let broken = |steps: usize| {
        let (_, mut lattice) = wall(Neighbors::Faces);
        let loads = blow(&lattice, 3e4);
        lattice.impact(&loads, &LatticeImpactSettings { steps, ..no_spread() }).broken.len()
    };
    let [at_once, some, many] = [1, 4, 16].map(broken);
    assert!(at_once > some && some > many && many > 0, "{at_once} {some} {many}");
}

#[test]
fn painted_links_and_spheres_are_weaker() {
    let mesh = block([4, 4, 4]);
    let mut painted = lattice(&mesh, Neighbors::Faces);
    let factors: Vec<f64> = mesh.vertices.iter().map(|p| 1.0 + p.x).collect();
    painted.scale_by_vertices(&mesh, &factors);
    for (link, strength) in painted.links().iter().zip(painted.strengths()) {
        assert!((strength / (1e5 * link.area) - (1.0 + link.place.x)).abs() < 1e-12);
    }
    let shell =
        Weakness::Sphere { center: Point3::origin(), radius: 0.2, width: 0.1, factor: 0.25 };
    for (x, factor) in [(0.2, 0.25), (0.25, 0.625), (0.3, 1.0), (0.0, 1.0)] {
        assert!((shell.factor(&Point3::new(x, 0.0, 0.0)) - factor).abs() < 1e-12);
    }
}

#[test]
fn a_smoothed_crack_is_shorter_and_the_pieces_still_fill_the_body() {
    let mesh = block([6, 6, 6]);
    // a crack up and down along the faces of tetrahedra
    let side = |tet: usize| {
        let c = mesh.corners(tet).iter().map(|p| p.coords).sum::<Vector3<f64>>() / 4.0;
        Some(u32::from(c.x + 0.5 * c.y > 0.46))
    };
    let labels: Vec<Option<u32>> = (0..mesh.tets.len()).map(side).collect();
    let smooth = smoothed_crack(&mesh, &labels, 10);
    smooth.validate().unwrap();
    assert!((smooth.moments().volume / mesh.moments().volume - 1.0).abs() < 1e-12);
    let area = |mesh: &TetMesh| {
        let pieces = fracture::LatticePieces { labels: labels.clone(), masses: vec![], dust: 0.0 };
        let parts: f64 =
            (0..2).map(|p| pieces.mesh(mesh, p).boundary().facts().unwrap().area).sum();
        parts - mesh.boundary().facts().unwrap().area
    };
    assert!(area(&smooth) < 0.85 * area(&mesh), "{} {}", area(&smooth), area(&mesh));
}

#[test]
fn each_blow_takes_its_share_of_the_force_from_links_that_hold() {
    let (_, mut lattice) = wall(Neighbors::Faces);
    let loads = blow(&lattice, 1e3);
    let breaking = LatticeImpactSettings { damage: 0.25, ..no_spread() };
    for _ in 0..3 {
        let before = lattice.strengths().to_vec();
        let strike = lattice.impact(&loads, &breaking);
        assert!(strike.quiet && strike.broken.is_empty());
        let mut most: f64 = 0.0;
        for ((was, is), force) in before.iter().zip(lattice.strengths()).zip(&strike.forces) {
            assert!((was - is - 0.25 * force.abs()).abs() <= 1e-12 * was, "{was} {is} {force}");
            most = most.max((was - is) / was);
        }
        assert!(most > 0.01, "{most}");
    }
}

#[test]
fn a_part_is_the_lattice_of_its_tetrahedra() {
    let mesh = block([6, 4, 2]);
    let whole = lattice(&mesh, EDGES);
    let tets: Vec<u32> =
        (0..).zip(whole.positions()).filter(|(_, p)| p.x + p.y < 0.5).map(|(tet, _)| tet).collect();
    let own = tets.iter().map(|&tet| mesh.tets[tet as usize]).collect();
    let mut alone = lattice(&TetMesh { vertices: mesh.vertices.clone(), tets: own }, EDGES);
    let mut part = whole.part(&tets);
    assert!(part.links().len() > 500 && part.links().len() < whole.links().len());
    assert_eq!(part.links(), alone.links());
    let loads = part.load(&Point3::new(0.2, 0.1, 0.0), 0.12, &(Vector3::z() * 3e3), 1.0);
    let [one, other] =
        [&mut part, &mut alone].map(|l| l.impact(&loads, &LatticeImpactSettings::default()));
    assert!(!one.broken.is_empty());
    assert_eq!(one.broken, other.broken);
    assert_eq!(part.strengths(), alone.strengths());
    // a part of the struck body keeps the weakened strengths
    let left = whole.part(&[]);
    assert_eq!((left.links().len(), left.positions().len()), (0, 0));
    let all: Vec<u32> = (0..tets.len() as u32).collect();
    assert_eq!(part.part(&all).strengths(), part.strengths());
}

#[test]
fn what_makes_no_lattice_is_refused() {
    let mesh = block([1, 1, 1]);
    let none = Lattice::new(&TetMesh::default(), Neighbors::Faces, |_| 1.0, |_| 1.0);
    assert!(matches!(none, Err(LatticeError::Mesh(_))));
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let heavy = Lattice::new(&mesh, Neighbors::Faces, |_| bad, |_| 1.0);
        assert!(matches!(heavy, Err(LatticeError::NotPositive { what: "the density", .. })));
        let strong = Lattice::new(&mesh, Neighbors::Faces, |_| 1.0, |_| bad);
        assert!(matches!(strong, Err(LatticeError::NotPositive { what: "the strength", .. })));
    }
}

/// A bar struck by a ball in its middle, far too strong to break.
const PICTURED: &str = r#"version = 1
[simulation]
gravity = [0, 0, 0]
frames = 6
[[body]]
name = "bar"
shape = { box = { half_extents = [0.3, 0.05, 0.05], spacing = 0.015 } }
material = "clay"
[body.fracture]
strength = 0.1
generations = 1
[body.fracture.lattice]
spacing = 0.05
strength = 1e9
strength_picture = { file = "weak.png", corner = [-0.3, 0.05, 0], across = [0.6, 0, 0], down = [0, -0.1, 0], darkest = DARKEST }
[[body]]
name = "ball"
shape = { sphere = { radius = 0.04 } }
position = [0, 0.14, 0]
velocity = [0, -6, 0]
material = "steel"
"#;

#[test]
fn a_body_breaks_where_a_picture_of_its_strength_is_dark() {
    let run = |darkest: &str| {
        let case = Case::new(&[("scene.toml", &PICTURED.replace("DARKEST", darkest))]);
        // dark from x = 0.12 to 0.21 m
        picture(&case, "weak.png", [40, 4], |n| if (28..34).contains(&(n % 40)) { 0 } else { 255 });
        let done = case.run(&["run", "scene.toml", "-q", "-o", "out.glb"]);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        brisance::format::glb::read_glb(&std::fs::read(case.folder.path().join("out.glb")).unwrap())
            .unwrap()
    };
    assert_eq!(run("1").tracks.len(), 2, "the bar must hold without a weak region");
    let broken = run("0");
    let reaches = |track: &sim::Track| {
        let surface = track.surface();
        let xs = || surface.rest.iter().map(|p| p[0]);
        [xs().fold(f32::MAX, f32::min), xs().fold(f32::MIN, f32::max)]
    };
    let pieces: Vec<_> = broken.tracks.iter().filter(|t| t.parent.is_some()).map(reaches).collect();
    assert!(pieces.len() > 1, "it must break");
    for [low, high] in &pieces {
        assert!(*low > 0.1 || *high < 0.23, "a piece from {low} to {high} spans the weak region");
    }
    let [left, right] = [-0.29, 0.29].map(|x: f32| {
        pieces.iter().position(|[low, high]| *low <= x && x <= *high).expect("the ends are there")
    });
    assert_ne!(left, right);
}

#[test]
fn a_picture_of_strength_that_cannot_be_used_is_named() {
    let scene = PICTURED.replace("DARKEST", "0");
    Case::new(&[("scene.toml", &scene)]).refused(&["weak.png", "cannot be read"]);
    let case = Case::new(&[("scene.toml", &scene), ("weak.png", "no picture")]);
    case.refused(&["weak.png", "is not a PNG file, or damaged"]);
    let crooked = scene.replace("down = [0, -0.1, 0]", "down = [0.1, -0.1, 0]");
    let key = "strength_picture.down` must be at a right angle";
    Case::new(&[("scene.toml", &crooked)]).refused(&["scene.toml: line 15", key]);
}
