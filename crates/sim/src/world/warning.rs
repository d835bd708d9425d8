//! Warnings about the initial state of a world.

use contact::constraint::Joint;
use contact::{Broad, Frame};
use dynamics::{Momentum, Velocity};
use nalgebra::Vector3;

use crate::{BodyId, World};

/// Something in the state of a [`World`] that is probably unintended.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// A body moves towards another so fast that it may tunnel.
    Fast {
        /// The body that moves.
        body: BodyId,
        /// The body that it may tunnel through.
        other: BodyId,
        /// Relative displacement in a frame, m.
        way: f64,
        /// Sum of the least thicknesses of both bodies, m.
        thickness: f64,
        /// Frames per second at which the displacement is short enough.
        fps: f64,
    },
    /// A body is partly inside another, or below a plane.
    Inside {
        /// The first body, or the dynamic one if only one is dynamic.
        body: BodyId,
        /// The overlapped body.
        other: BodyId,
        /// Depth, m.
        depth: f64,
    },
}

impl Warning {
    /// The two bodies of the warning.
    pub fn bodies(&self) -> [BodyId; 2] {
        match *self {
            Self::Fast { body, other, .. } | Self::Inside { body, other, .. } => [body, other],
        }
    }
}

/// Largest displacement per frame without a warning, relative to the sum of both thicknesses.
/// Contacts are searched along the path. Of 16 small cubes thrown at a plate at up to 60 degrees,
/// none tunneled at 2, one at 3 and five at 4 times this sum.
const LONGEST_WAY: f64 = 2.0;

/// Time of flight, s, over which the path of a body is searched for other bodies.
const AHEAD: f64 = 1.0;

/// Largest overlap without a warning, as a share of the thickness of the thinner body: samples and
/// fitting pieces overlap by round-off and by parts of a cell.
const OVERLAP: f64 = 0.05;

impl World {
    /// Probable mistakes in the current state: bodies that overlap others, and bodies so fast that
    /// they may tunnel. One warning per pair, in the order of the bodies.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = self.overlaps();
        warnings.extend(self.fast());
        warnings
    }

    fn overlaps(&self) -> Vec<Warning> {
        let still = vec![Velocity::default(); self.len()];
        let (joints, names) =
            (self.frame_joints(), Vec::from_iter(self.ids.iter().map(|id| id.number())));
        let frame = Frame {
            columns: self.columns(),
            poses: &self.poses,
            half_kick: &still,
            flights: &[],
            dt: 0.0,
            joints: &joints,
            cache: &Default::default(),
            names: &names,
            settings: &contact::Settings::default(),
        };
        let search = frame.search(&vec![Momentum::default(); self.len()], Broad::default());
        let contacts = search.contacts();
        let mut warnings = Vec::new();
        for manifold in contacts.manifolds() {
            let [a, b] = [manifold.a, manifold.b].map(|i| i as usize);
            let depth = contacts.of(manifold).iter().map(|c| -c.gap).fold(0.0, f64::max);
            let thickness = self.shapes[a].thickness().min(self.shapes[b].thickness());
            if depth > OVERLAP * thickness {
                let [body, other] =
                    if self.acting[a].mass_properties().is_some() { [a, b] } else { [b, a] };
                warnings.push(Warning::Inside {
                    body: self.ids[body],
                    other: self.ids[other],
                    depth,
                });
            }
        }
        warnings
    }

    fn fast(&self) -> Vec<Warning> {
        let velocities: Vec<Vector3<f64>> = (0..self.len()).map(|i| self.velocity(i)).collect();
        let apart = self.joined_apart();
        let dt = self.settings.dt;
        let mut warnings = Vec::new();
        for i in 0..self.len() {
            let own = self.shapes[i].thickness();
            if velocities[i].norm() * dt <= own {
                continue;
            }
            for j in (0..self.len()).filter(|&j| j != i) {
                let thickness = own + self.shapes[j].thickness();
                let relative = velocities[i] - velocities[j];
                let way = relative.norm() * dt;
                // the faster of the two comes first
                let second = velocities[j].norm() > velocities[i].norm()
                    || velocities[j].norm() == velocities[i].norm() && j < i;
                let moves = |i: usize| self.acting[i].mass_properties().is_some();
                if way <= LONGEST_WAY * thickness
                    || second
                    || !(moves(i) || moves(j))
                    || !self.groups[i].meet(&self.groups[j])
                    || apart.binary_search(&(i.min(j), i.max(j))).is_ok()
                {
                    continue;
                }
                if self.meets(i, j, &(relative * AHEAD)) {
                    let fps = relative.norm() / (LONGEST_WAY * thickness);
                    let (body, other) = (self.ids[i], self.ids[j]);
                    warnings.push(Warning::Fast { body, other, way, thickness, fps });
                }
            }
        }
        warnings
    }

    fn velocity(&self, i: usize) -> Vector3<f64> {
        self.acting[i].velocity(&self.poses[i].rotation, &self.momenta[i]).linear
    }

    /// The pairs whose joints exclude collisions, in order.
    fn joined_apart(&self) -> Vec<(usize, usize)> {
        let pair = |j: &Joint| {
            let [a, b] = j.bodies.map(|i| i as usize);
            (a.min(b), a.max(b))
        };
        let mut pairs: Vec<_> =
            self.frame_joints().iter().filter(|joint| !joint.collides).map(pair).collect();
        pairs.sort_unstable();
        pairs
    }

    /// Whether body `i` enters the box of body `j` as it moves by `way`, m.
    fn meets(&self, i: usize, j: usize, way: &Vector3<f64>) -> bool {
        let into = self.poses[j].inverse();
        let place = |i: usize| self.poses[i] * self.shapes[i].bounds().center();
        let (start, way) = (into * place(i), into * way);
        let bounds = self.shapes[j].bounds();
        let room = self.shapes[i].thickness() / 2.0;
        let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
        for axis in 0..3 {
            let (low, high) = (bounds.min[axis] - room, bounds.max[axis] + room);
            if way[axis] == 0.0 {
                if start[axis] < low || start[axis] > high {
                    return false;
                }
                continue;
            }
            let (p, q) = ((low - start[axis]) / way[axis], (high - start[axis]) / way[axis]);
            (enter, leave) = (enter.max(p.min(q)), leave.min(p.max(q)));
        }
        enter <= leave
    }
}
