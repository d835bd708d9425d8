//! scratch
use brisance_sim::*;
use contact::{Material, Shape};
use dynamics::*;
use nalgebra::*;
use std::sync::Arc;
fn boxb(
    half: Vector3<f64>,
    density: f64,
    pose: Isometry3<f64>,
    v: Vector3<f64>,
    mat: Material,
) -> NewBody {
    let m = 8.0 * half.x * half.y * half.z * density;
    let i = Vector3::new(
        half.y.powi(2) + half.z.powi(2),
        half.x.powi(2) + half.z.powi(2),
        half.x.powi(2) + half.y.powi(2),
    ) * m
        / 3.0;
    NewBody {
        body: Body::Dynamic(MassProperties::new(m, i).unwrap()),
        pose,
        velocity: Velocity { linear: v, angular: Vector3::zeros() },
        shape: Arc::new(Shape::cuboid(half, 0.5)),
        material: mat,
        breakage: None,
    }
}
fn ground(angle: f64, mat: Material) -> NewBody {
    NewBody {
        body: Body::Static,
        pose: Isometry3::rotation(Vector3::z() * angle),
        velocity: Velocity::default(),
        shape: Arc::new(Shape::half_space()),
        material: mat,
        breakage: None,
    }
}
fn main() {
    for (deg, mu) in [(20f64, 0.2f64), (20.0, 0.5), (30.0, 0.5), (30.0, 0.7)] {
        let a = deg.to_radians();
        let mat = Material { restitution: 0.0, friction: mu };
        let mut w = World::new(Settings::default());
        w.add(ground(a, mat));
        let r = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), a);
        let start = r * Vector3::new(0.0, 0.5, 0.0);
        let id = w.add(boxb(
            Vector3::repeat(0.5),
            1000.0,
            Isometry3::from_parts(start.into(), r),
            Vector3::zeros(),
            mat,
        ));
        let mut gain: f64 = 0.0;
        for _ in 0..60 {
            let rep = w.step();
            gain = gain.max(rep.energy_gain);
        }
        let s = w.get(id).unwrap();
        let d = r.inverse() * (s.pose.translation.vector - start);
        let acc = 9.81 * (a.sin() - mu * a.cos()).max(0.0);
        println!(
            "incline {deg} mu {mu}: slide {:.5} exact {:.5} height err {:.2e} vel {:.2e} gain {:.2e}",
            -d.x,
            0.5 * acc * 4.0,
            d.y,
            s.momentum.linear.norm() / 1000.0,
            gain
        );
    }
    // stack
    for n in [1, 5, 10, 20] {
        let mat = Material { restitution: 0.0, friction: 0.5 };
        let mut w = World::new(Settings::default());
        w.add(ground(0.0, mat));
        for i in 0..n {
            w.add(boxb(
                Vector3::repeat(0.5),
                1000.0,
                Isometry3::translation(0.0, 0.5 + i as f64, 0.0),
                Vector3::zeros(),
                mat,
            ));
        }
        let mut gain: f64 = 0.0;
        let mut lv = 0;
        let mut c = 0;
        for f in 0..900 {
            let rep = w.step();
            gain = gain.max(rep.energy_gain);
            lv = rep.levels;
            c = rep.contacts;
            if n == 20 && f % 150 == 0 {
                let top = w.iter().last().unwrap();
                println!(
                    "  f{f} top {:?} ke {:.2e}",
                    top.pose.translation.vector.as_slice(),
                    rep.kinetic_energy
                );
            }
        }
        let top = w.iter().last().unwrap();
        println!(
            "stack {n}: top {:?} ke {:.2e} gain {:.2e} levels {lv} contacts {c}",
            top.pose.translation.vector.as_slice(),
            w.kinetic_energy(),
            gain
        );
    }
    // heavy top
    {
        let mat = Material { restitution: 0.0, friction: 0.5 };
        let mut w = World::new(Settings::default());
        w.add(ground(0.0, mat));
        for i in 0..5 {
            w.add(boxb(
                Vector3::repeat(0.5),
                if i == 4 { 100000.0 } else { 1000.0 },
                Isometry3::translation(0.0, 0.5 + i as f64, 0.0),
                Vector3::zeros(),
                mat,
            ));
        }
        for _ in 0..300 {
            w.step();
        }
        for s in w.iter().skip(1) {
            print!("{:.5} ", s.pose.translation.vector.y);
        }
        println!(" heavy top ke {:.2e}", w.kinetic_energy());
    }
    // drop
    for e in [0.0, 0.6, 1.0] {
        let mat = Material { restitution: e, friction: 0.5 };
        let mut w = World::new(Settings::default());
        w.add(ground(0.0, mat));
        let id = w.add(boxb(
            Vector3::repeat(0.5),
            1000.0,
            Isometry3::from_parts(
                Translation3::new(0.0, 5.0, 0.0),
                UnitQuaternion::from_euler_angles(0.3, 0.2, 0.1),
            ),
            Vector3::zeros(),
            mat,
        ));
        let e0 = w.kinetic_energy() + w.potential_energy();
        let mut mx: f64 = 0.0;
        let mut gain: f64 = 0.0;
        for f in 0..300 {
            let r = w.step();
            gain = gain.max(r.energy_gain / e0);
            mx = mx.max((r.kinetic_energy + r.potential_energy) / e0);
            if f % 60 == 59 {
                println!(
                    "  e{e} f{f} y {:.4} ke {:.2e} E/E0 {:.4}",
                    w.get(id).unwrap().pose.translation.vector.y,
                    r.kinetic_energy,
                    (r.kinetic_energy + r.potential_energy) / e0
                );
            }
        }
        println!("drop e {e} max E/E0 {mx} gain {gain:.2e}");
    }
}
