//! Sequential impulses on many contacts: time per contact and sweep, ns, on one thread and on two, with cold and
//! warm starts; and a frame of a settled pile with every solver.
//!
//! The contacts are those of a wall of bricks: four for each pair, three rows for each contact.
//!
//! Medians on two cores of an EPYC under other load (17, so that two threads gain nothing): 117 ns a contact and
//! sweep of 1,092 contacts on one thread, 121 on two; 108 of 9,828 on one. Convergence to 1 mm/s takes 1,469
//! sweeps cold and 115 warm for 1,092 contacts, 1,242 and 76 for 9,828.

use std::hint::black_box;
use std::sync::Arc;

use brisance_benches::pile;
use contact::constraint::{Bounds, Mlcp, Row, SequentialImpulse};
use contact::{Columns, Groups, Material, Shape, Solver};
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use dynamics::{Body, MassProperties, Momentum};
use nalgebra::{Isometry3, Vector3};
use sim::Settings;

struct Wall {
    bodies: Vec<Body>,
    shapes: Vec<Arc<Shape>>,
    materials: Vec<Material>,
    poses: Vec<Isometry3<f64>>,
    momenta: Vec<Momentum>,
    rows: Vec<Row>,
}

impl Wall {
    fn mlcp(&self) -> Mlcp {
        let groups = vec![Groups::default(); self.bodies.len()];
        let columns = Columns {
            bodies: &self.bodies,
            shapes: &self.shapes,
            materials: &self.materials,
            groups: &groups,
        };
        Mlcp::new(columns, &self.poses, &self.momenta, &self.rows).expect("rows are sound")
    }
}

/// Bricks in running bond, 20 courses, each resting on two below.
fn wall(contacts: usize) -> Wall {
    const COURSES: usize = 20;
    let across = contacts / (COURSES * 8);
    let half = Vector3::new(0.1, 0.05, 0.1);
    let mass = MassProperties::cuboid(4.0, &half).expect("a brick");
    let number = |course: usize, i: usize| (1 + (course - 1) * (across + 1) + i) as u32;
    let (mut bodies, mut poses, mut rows) =
        (vec![Body::Static], vec![Isometry3::identity()], Vec::new());
    for course in 1..=COURSES {
        for i in 0..=across {
            let shift = if course % 2 == 0 { 0.5 } else { 0.0 };
            let x = 2.0 * half.x * (i as f64 + shift);
            poses.push(Isometry3::translation(x, 2.0 * half.y * (course as f64 - 0.5), 0.0));
            bodies.push(Body::Dynamic(mass));
        }
    }
    for course in 1..=COURSES {
        for i in 0..=across {
            let own = number(course, i);
            let below: Vec<u32> = match (course, course % 2) {
                (1, _) => vec![0],
                (_, 0) => vec![number(course - 1, i), number(course - 1, (i + 1).min(across))],
                _ => vec![number(course - 1, i), number(course - 1, i.saturating_sub(1))],
            };
            for other in below {
                touch(&mut rows, [own, other], &poses, half);
            }
        }
    }
    let down = Momentum { linear: Vector3::y() * (-4.0 * 9.81 / 30.0), ..Momentum::default() };
    let (count, nothing) = (bodies.len(), Arc::new(Shape::empty()));
    let momenta = bodies.iter().map(|b| b.mass_properties().map_or(Momentum::default(), |_| down));
    Wall {
        momenta: momenta.collect(),
        bodies,
        shapes: vec![nothing; count],
        materials: vec![Material::default(); count],
        poses,
        rows,
    }
}

/// Four contacts under a brick.
fn touch(rows: &mut Vec<Row>, bodies: [u32; 2], poses: &[Isometry3<f64>], half: Vector3<f64>) {
    let [a, b] = bodies.map(|i| poses[i as usize].translation.vector);
    let middle = if bodies[1] == 0 { a.x } else { 0.5 * (a.x + b.x) };
    for (x, z) in [(-0.04, -0.09), (0.04, -0.09), (0.04, 0.09), (-0.04, 0.09)] {
        let point = Vector3::new(middle + x, a.y - half.y, z);
        let along = |direction| Row::along(bodies, direction, [point - a, point - b]);
        let normal = rows.len() as u32;
        rows.push(Row { bounds: Bounds::PUSH, ..along(Vector3::y()) });
        rows.push(Row { bounds: Bounds::Cone { normal, coefficient: 0.5 }, ..along(Vector3::x()) });
        rows.push(Row { bounds: Bounds::Cone2, ..along(Vector3::z()) });
    }
}

fn sweeps(c: &mut Criterion) {
    for contacts in [1000, 10_000] {
        let wall = wall(contacts);
        let own = wall.rows.len() / 3;
        let mut group = c.benchmark_group(format!("sequential impulses, {own} contacts"));
        // an element is a contact and sweep
        group.throughput(Throughput::Elements(10 * own as u64));
        for threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let pool = pool.expect("threads");
            group.bench_function(BenchmarkId::new("10 sweeps", threads), |b| {
                let mut mlcp = wall.mlcp();
                pool.install(|| b.iter(|| mlcp.sweep(10)));
            });
        }
        group.finish();
        // sweeps to the same residual, from a cold start and from a warm start
        let mut cold = wall.mlcp();
        let needed = cold.solve(1e-3, 5000);
        let mut warm = wall.mlcp();
        warm.start(&cold.impulses().iter().map(|j| j * 0.98).collect::<Vec<_>>());
        let with = warm.solve(1e-3, 5000);
        c.bench_function(
            &format!(
                "to 1 mm/s, {own} contacts: {needed} sweeps cold, {with} warm; time of one sweep"
            ),
            |b| b.iter(|| black_box(&mut warm).sweep(1)),
        );
    }
}

fn frames(c: &mut Criterion) {
    let fragments = pile::fragments(200, pile::CollisionGeometry::Hulls);
    let solvers = [
        ("manifold", Solver::Manifold),
        ("sequential impulse", Solver::SequentialImpulse(SequentialImpulse::default())),
        ("impulse", Solver::Impulse),
    ];
    for (name, solver) in solvers {
        let contact = contact::Settings::of(solver);
        let settings = Settings { contact, sleep: false, ..Settings::default() };
        let (mut world, _) = pile::world(&fragments, pile::Ground::Plane, settings);
        for _ in 0..120 {
            world.step();
        }
        c.bench_function(&format!("settled pile of 200, {name}"), |b| {
            b.iter_batched(|| world.clone(), |mut world| world.step(), BatchSize::SmallInput);
        });
    }
}

criterion_group!(benches, sweeps, frames);
criterion_main!(benches);
