//! Motion of the bodies between two collisions.

use dynamics::{
    Accuracy, Body, CoupledBody, Load, MassProperties, Momentum, Scale, State, Velocity,
};
use nalgebra::{Isometry3, Vector3};
use rayon::prelude::*;

use super::forces::RestingGroup;
use super::impact_search::ImpactSearch;
use super::impacts::STILL;
use super::path::{Node, Path};
use super::touch::{Touch, Touches, collision_gap, is_exact, search_again_depth};
use crate::narrow::broad::{Broad, FreeMotion, StepMotion};
use crate::narrow::contacts::MARGIN;
use crate::{Frame, Islands};

/// Error bound per integration step of bodies in contact, and the step below which it is not
/// shortened: the quadratic program is solved to 1e-9.
const CONTACT_ACCURACY: Accuracy = Accuracy { tolerance: 1e-8, least_step: 2e-5 };
/// Speed below which the error control of velocities is absolute, m/s.
const LEAST_SPEED: f64 = 0.1;
/// Pairs per task; fixed, so that the work is divided the same way for any thread count.
const CHUNK: usize = 8;

/// The bodies at the next event.
#[derive(Clone, Debug, Default)]
pub struct FlightResult {
    /// Their poses.
    pub poses: Vec<Isometry3<f64>>,
    /// Their momenta.
    pub momenta: Vec<Momentum>,
    /// Duration of the flight, s.
    pub time: f64,
    /// Whether two bodies collide at the end.
    pub collides: bool,
    /// Work of kinematic bodies, J.
    pub work: f64,
    /// Whether at some time no contact forces satisfied all conditions, so that those of a limited
    /// number of sweeps were used, or the motion of bodies in contact could not be integrated.
    pub unsolved: bool,
    /// Whether a quadratic program exceeded its work limit; implies [`Self::unsolved`].
    pub limited: bool,
}

/// The paths of the bodies of a group.
struct GroupPath {
    /// One per dynamic body.
    nodes: Vec<Vec<Node>>,
    /// Work of kinematic bodies until each node, J.
    work: Vec<f64>,
    is_at_rest: bool,
    unsolved: bool,
    limited: bool,
}

impl Frame<'_> {
    /// Moves bodies with `momenta` for `duration` s, or until two of them collide: bodies in
    /// contact by Runge-Kutta steps with resting contact forces (Ku07 eq. 4), others in free
    /// flight. `touches` are the contacts at the start, none of which may approach. A collision
    /// within the first `blind` s counts at its end.
    ///
    /// # Panics
    /// If the number of momenta differs from the number of bodies.
    pub fn fly(
        &self,
        touches: &Touches,
        momenta: &[Momentum],
        duration: f64,
        blind: f64,
    ) -> FlightResult {
        let groups = self.resting_groups(touches, momenta);
        let group_paths: Vec<GroupPath> = groups
            .par_iter()
            .with_max_len(1)
            .map(|group| GroupPath::new(group, &self.states(momenta), duration))
            .collect();
        let paths = self.paths(momenta, &groups, &group_paths, duration);
        let mut resting: Vec<[u32; 2]> = groups.iter().flat_map(RestingGroup::pairs).collect();
        resting.sort_unstable();
        let impact_time =
            self.first_impact(touches, &resting, &paths, blind.min(duration), duration);
        let time = impact_time.unwrap_or(duration);
        // integration steps end at the collision, so that interpolation errors do not count
        let shorter: Option<Vec<GroupPath>> = impact_time.map(|time| {
            let all = groups.par_iter().zip(&group_paths).with_max_len(1);
            all.map(|(group, path)| path.until(group, time)).collect()
        });
        let group_paths = shorter.unwrap_or(group_paths);
        let paths = self.paths(momenta, &groups, &group_paths, time);
        let states: Vec<State> = paths.iter().map(|path| path.at(time)).collect();
        FlightResult {
            poses: states.iter().map(|state| state.pose).collect(),
            momenta: states.iter().map(|state| state.momentum).collect(),
            time,
            collides: impact_time.is_some(),
            work: group_paths.iter().filter_map(|group| group.work.last()).sum(),
            unsolved: group_paths.iter().any(|group| group.unsolved),
            limited: group_paths.iter().any(|group| group.limited),
        }
    }

    fn states(&self, momenta: &[Momentum]) -> Vec<State> {
        let all = self.poses.iter().zip(momenta);
        all.map(|(&pose, &momentum)| State { pose, momentum }).collect()
    }

    /// Groups of bodies in contact that do not separate.
    fn resting_groups(&self, touches: &Touches, momenta: &[Momentum]) -> Vec<RestingGroup<'_>> {
        let Self { columns, poses, .. } = *self;
        let velocities = self.velocities(momenta);
        let rests = |touch: &&Touch| {
            let [a, b] = touch.bodies.map(|i| i as usize);
            let shapes = [&*columns.shapes[a], &*columns.shapes[b]];
            let spot = touch.spot(shapes, [&poses[a], &poses[b]], [&velocities[a], &velocities[b]]);
            spot.normal.dot(&spot.u) <= STILL
        };
        let resting: Vec<&Touch> =
            touches.pairs().iter().flat_map(|pair| touches.of(pair)).filter(rests).collect();
        let pairs: Vec<(u32, u32)> = resting.iter().map(|t| (t.bodies[0], t.bodies[1])).collect();
        let islands = Islands::new(columns, &pairs);
        let mut parts: Vec<Vec<Touch>> = vec![Vec::new(); islands.count()];
        for touch in resting {
            let island = touch.bodies.iter().find_map(|&i| islands.of_bodies()[i as usize]);
            if let Some(island) = island {
                parts[island as usize].push(*touch);
            }
        }
        parts.retain(|part| !part.is_empty());
        parts.iter().map(|part| RestingGroup::new(*self, part)).collect()
    }

    fn acceleration(&self, i: usize) -> Vector3<f64> {
        self.half_kick[i].linear * (2.0 / self.dt)
    }

    /// The paths of all bodies for `duration` s.
    fn paths<'p>(
        &'p self,
        momenta: &[Momentum],
        groups: &[RestingGroup<'_>],
        group_paths: &[GroupPath],
        duration: f64,
    ) -> Vec<Path<'p>> {
        let bodies = self.columns.bodies;
        let mut paths: Vec<Option<Path<'p>>> = vec![None; bodies.len()];
        for (group, path) in groups.iter().zip(group_paths) {
            for (&i, nodes) in group.movers().iter().zip(&path.nodes) {
                paths[i as usize] = Some(Path::in_contact(&bodies[i as usize], nodes.clone()));
            }
        }
        let states = self.states(momenta);
        let free = |(i, path): (usize, Option<Path<'p>>)| {
            let acceleration = self.acceleration(i);
            path.unwrap_or_else(|| Path::free(&bodies[i], states[i], acceleration, duration))
        };
        paths.into_par_iter().enumerate().map(free).collect()
    }

    /// The time of the first collision of two bodies, if any.
    fn first_impact(
        &self,
        touches: &Touches,
        resting: &[[u32; 2]],
        paths: &[Path<'_>],
        from: f64,
        to: f64,
    ) -> Option<f64> {
        let Self { columns, poses, settings, .. } = *self;
        let ends: Vec<State> = paths.iter().map(|path| path.at(to)).collect();
        let predicted: Vec<Isometry3<f64>> = ends.iter().map(|state| state.pose).collect();
        let velocity =
            |(body, state): (&Body, &State)| body.velocity(&state.pose.rotation, &state.momentum);
        let velocities: Vec<Velocity> = columns.bodies.iter().zip(&ends).map(velocity).collect();
        let part = |half_kick: &Velocity| Velocity {
            linear: half_kick.linear * (to / self.dt),
            ..*half_kick
        };
        let half_kicks: Vec<Velocity> = self.half_kick.iter().map(part).collect();
        let free =
            FreeMotion { velocities: &velocities, half_kick: &half_kicks, flights: &[], dt: to };
        let motion = StepMotion { columns, poses, predicted: &predicted, motion: Some(free) };
        let near = Broad::new(motion, MARGIN).pairs().near;
        let first = |&(a, b): &(u32, u32)| {
            let rests = resting.binary_search(&[a, b]).is_ok();
            let collision_gap = collision_gap(columns, [a, b]);
            // more than `collision_gap`, so that separating bodies do not collide at the start
            let slack = if rests || !is_exact(columns, [a, b]) {
                search_again_depth(columns, settings, [a, b])
            } else {
                4.0 * collision_gap
            };
            let depth = touches.depth([a, b]);
            let [i, j] = [a as usize, b as usize];
            let shapes = [&*columns.shapes[i], &*columns.shapes[j]];
            ImpactSearch { shapes, paths: [&paths[i], &paths[j]], depth, slack, collision_gap }
                .last_free_time(from, to)
        };
        let times: Vec<Option<f64>> = near.par_iter().with_min_len(CHUNK).map(first).collect();
        times.into_iter().flatten().min_by(f64::total_cmp)
    }
}

impl GroupPath {
    fn new(group: &RestingGroup<'_>, all: &[State], duration: f64) -> Self {
        let states: Vec<State> = group.movers().iter().map(|&i| all[i as usize]).collect();
        let start = |&state: &State| vec![Node { time: 0.0, state }];
        let mut path = Self {
            nodes: states.iter().map(start).collect(),
            work: vec![0.0],
            is_at_rest: false,
            unsolved: false,
            limited: false,
        };
        let acting = group.acting(0.0, &states, &mut Vec::new());
        if group.is_at_rest(&states, &acting) {
            path.is_at_rest = true;
            (path.unsolved, path.limited) = (acting.unsolved, acting.limited);
            path.stay(duration);
            return path;
        }
        path.extend(group, duration);
        path
    }

    /// These paths up to an earlier time, with integration steps that end there.
    fn until(&self, group: &RestingGroup<'_>, time: f64) -> Self {
        let count = self.nodes.first().map_or(0, |own| own.partition_point(|n| n.time <= time));
        let first = |nodes: &Vec<Node>| nodes[..count].to_vec();
        let mut shorter = Self {
            nodes: self.nodes.iter().map(first).collect(),
            work: self.work.get(..count).unwrap_or(&self.work[..1]).to_vec(),
            ..*self
        };
        if self.is_at_rest {
            shorter.stay(time);
        } else {
            shorter.extend(group, time);
        }
        shorter
    }

    /// Keeps all bodies at rest until a time.
    fn stay(&mut self, time: f64) {
        for nodes in &mut self.nodes {
            let state = State { momentum: Momentum::default(), ..nodes[0].state };
            nodes.truncate(1);
            nodes.push(Node { time, state });
        }
    }

    /// Integrates from the last node to a time.
    fn extend(&mut self, group: &RestingGroup<'_>, to: f64) {
        let from = self.nodes.first().and_then(|nodes| nodes.last()).map_or(0.0, |n| n.time);
        if from >= to {
            return;
        }
        // positions relative to the first body: error control is relative to their size
        let last = |nodes: &Vec<Node>| nodes[nodes.len() - 1].state;
        let states: Vec<State> = self.nodes.iter().map(last).collect();
        let origin = states[0].pose.translation.vector;
        let scale = Scale { length: 1.0, speed: LEAST_SPEED };
        let moved = |state: &State, by: &Vector3<f64>| {
            let mut state = *state;
            state.pose.translation.vector += by;
            state
        };
        let mut bodies: Vec<CoupledBody> = group
            .masses()
            .zip(&states)
            .map(|(&mass, state)| CoupledBody { mass, start: moved(state, &-origin), scale })
            .collect();
        bodies.extend(meter(group.is_driven));
        let (mut known, mut unsolved, mut limited) = (Vec::new(), false, false);
        let mut found: Vec<Vec<Node>> = vec![Vec::new(); states.len()];
        let done = self.work.last().copied().unwrap_or_default();
        let mut work = Vec::new();
        let loads = |time: f64, now: &[State]| {
            let now: Vec<State> =
                now[..states.len()].iter().map(|state| moved(state, &origin)).collect();
            let acting = group.acting(from + time, &now, &mut known);
            unsolved |= acting.unsolved;
            limited |= acting.limited;
            let mut loads = acting.loads;
            let power = Load { force: Vector3::x() * acting.power, torque: Vector3::zeros() };
            loads.extend(group.is_driven.then_some(power));
            loads
        };
        let reached = |time: f64, now: &[State]| {
            for (nodes, state) in found.iter_mut().zip(now) {
                nodes.push(Node { time: from + time, state: moved(state, &origin) });
            }
            work.push(done + now.get(states.len()).map_or(0.0, |meter| meter.momentum.linear.x));
        };
        let is_followed =
            dynamics::integrate_coupled(&bodies, to - from, loads, CONTACT_ACCURACY, reached)
                .is_ok();
        for (nodes, more) in self.nodes.iter_mut().zip(found) {
            nodes.extend(more);
            // the sum may be off by its last digit
            if let Some(last) = nodes.last_mut() {
                last.time = to;
            }
        }
        self.work.extend(work);
        self.unsolved |= unsolved | !is_followed;
        self.limited |= limited;
    }
}

/// An auxiliary body, integrated with the others, whose momentum is the work of kinematic bodies.
fn meter(is_driven: bool) -> Option<CoupledBody> {
    let mass = MassProperties::new(1.0, Vector3::repeat(1.0)).ok().filter(|_| is_driven)?;
    let start = State { pose: Isometry3::identity(), momentum: Momentum::default() };
    Some(CoupledBody { mass, start, scale: Scale { length: 1e3, speed: 1.0 } })
}
