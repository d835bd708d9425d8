//! Bodies that touch only each other.
//!
//! The position pass displaces bodies differently from their momenta, and so changes their lever arms: it conserves
//! linear momentum, but not the angular momentum of the island. The same is true of impulses transmitted through
//! bodies that collided earlier in the frame: these impulses act at the poses of those collisions. If no static or
//! kinematic body absorbs the difference, a common rotation of the island restores it.

use contact::Islands;
use dynamics::{Momentum, Velocity};
use nalgebra::{Isometry3, Matrix3, Point3, Vector3};

use crate::World;

/// The state of an island of several bodies after the collisions of a frame.
struct Free {
    bodies: Vec<usize>,
    /// Angular momentum about the common center of mass, kg m^2/s.
    angular: Vector3<f64>,
    /// Kinetic energy in the frame of the common center of mass, J.
    energy: f64,
}

/// Angular momentum and energy of the islands without contact to static or kinematic bodies.
pub(crate) struct FreeIslands(Vec<Free>);

/// The combined mass properties and motion of an island.
struct Whole {
    center: Point3<f64>,
    velocity: Vector3<f64>,
    inertia: Matrix3<f64>,
    /// Angular momentum about `center`.
    angular: Vector3<f64>,
    /// Kinetic energy in the frame of `center`.
    energy: f64,
}

impl FreeIslands {
    pub(crate) fn new(world: &World, islands: &Islands) -> Self {
        let mut members = vec![Vec::new(); islands.count()];
        for (i, island) in islands.of_bodies().iter().enumerate() {
            if let Some(k) = island.filter(|&k| !islands.is_grounded(k)) {
                members[k as usize].push(i);
            }
        }
        members.retain(|bodies| bodies.len() > 1);
        let free = |bodies: Vec<usize>| {
            let Whole { angular, energy, .. } = Whole::new(world, &bodies);
            Free { bodies, angular, energy }
        };
        Self(members.into_iter().map(free).collect())
    }

    /// Moves each island as a whole so that its center of mass at the `end` of the frame is that by
    /// its momentum: contacts and joints within the island do not move its center of mass.
    /// `half` are the momenta of the position pass.
    pub(crate) fn center(&self, world: &World, half: &[Momentum], end: &mut [Isometry3<f64>]) {
        for free in &self.0 {
            let (mut total, mut aside) = (0.0, Vector3::zeros());
            for &i in &free.bodies {
                let Some(mass) = world.acting[i].mass_properties() else { continue };
                let way = end[i].translation.vector - world.poses[i].translation.vector;
                total += mass.mass();
                aside += way * mass.mass() - half[i].linear * world.settings.dt;
            }
            for &i in &free.bodies {
                end[i].translation.vector -= aside / total;
            }
        }
    }

    /// Rotates each island so that it conserves its angular momentum, except for the torque of forces that acted for
    /// `duration` s. The energy for this, beyond the `work` done on its bodies, J, comes from their relative motion. If
    /// that has too little energy, such as in an island of rigidly joined bodies, the island rotates slower.
    pub(crate) fn restore(&self, world: &mut World, work: &[f64], duration: f64) {
        for free in &self.0 {
            let now = Whole::new(world, &free.bodies);
            let Some(inverse) = now.inertia.try_inverse() else { continue };
            let angular = free.turned(world, &now.center, duration);
            let common = inverse * angular;
            let missing = common - inverse * now.angular;
            let energy = now.energy + missing.dot(&(now.angular + angular)) * 0.5;
            let rigid = 0.5 * common.dot(&angular);
            let allowed = free.energy + free.bodies.iter().map(|&i| work[i]).sum::<f64>();
            // ignores gains by round-off
            let gained = energy > allowed * (1.0 + 1e-14);
            let (turning, own) = match gained {
                false => (1.0, 1.0),
                true if rigid < allowed => (1.0, ((allowed - rigid) / (energy - rigid)).sqrt()),
                true if rigid > 0.0 => ((allowed.max(0.0) / rigid).sqrt(), 0.0),
                true => (1.0, 0.0),
            };
            for &i in &free.bodies {
                let Some(mass) = world.acting[i].mass_properties() else { continue };
                let rotation = world.poses[i].rotation;
                let arm = world.poses[i].translation.vector - now.center.coords;
                let is = world.acting[i].velocity(&rotation, &world.momenta[i]);
                let shared =
                    Velocity { linear: now.velocity + common.cross(&arm), angular: common };
                let rest = Velocity {
                    linear: is.linear + missing.cross(&arm) - shared.linear,
                    angular: is.angular + missing - shared.angular,
                };
                let velocity = Velocity {
                    linear: now.velocity + common.cross(&arm) * turning + rest.linear * own,
                    angular: common * turning + rest.angular * own,
                };
                world.momenta[i] = mass.momentum(&rotation, &velocity);
            }
        }
    }
}

impl Free {
    /// The angular momentum after forces acted for `duration` s.
    fn turned(&self, world: &World, center: &Point3<f64>, duration: f64) -> Vector3<f64> {
        self.bodies.iter().fold(self.angular, |angular, &i| match world.force(i) {
            Some(force) => {
                angular
                    + (world.poses[i].translation.vector - center.coords).cross(force) * duration
            }
            None => angular,
        })
    }
}

impl Whole {
    fn new(world: &World, bodies: &[usize]) -> Self {
        let of = |i: usize| {
            let mass = world.acting[i].mass_properties()?;
            Some((mass, &world.poses[i], &world.momenta[i]))
        };
        let parts = || bodies.iter().filter_map(|&i| of(i));
        let (mut total, mut first, mut linear) = (0.0, Vector3::zeros(), Vector3::zeros());
        for (mass, pose, momentum) in parts() {
            total += mass.mass();
            first += pose.translation.vector * mass.mass();
            linear += momentum.linear;
        }
        let center = Point3::from(first / total);
        let velocity = linear / total;
        let (mut inertia, mut angular, mut energy) = (Matrix3::zeros(), Vector3::zeros(), 0.0);
        if world.settings.plane {
            // no rotation about x and y; the inertia of collinear bodies would be singular
            (inertia[(0, 0)], inertia[(1, 1)]) = (total, total);
        }
        for (mass, pose, momentum) in parts() {
            let Isometry3 { rotation, translation } = pose;
            let arm = translation.vector - center.coords;
            let relative = momentum.linear - velocity * mass.mass();
            let cross = arm.cross_matrix();
            inertia += cross.transpose() * cross * mass.mass() + mass.world_inertia(rotation);
            angular += arm.cross(&relative) + momentum.angular;
            energy += 0.5 * relative.norm_squared() / mass.mass()
                + mass.rotational_energy(rotation, &momentum.angular);
        }
        Self { center, velocity, inertia, angular, energy }
    }
}
