//! The midpoint rule for bodies that are connected by joints and touch nothing.
//!
//! Each row has one impulse per step for positions and velocities. The impulse acts along the
//! [discrete gradient](row_gradient) of the row: joints end the step closed and do no work for any
//! rotation. With the Cayley map and the mean spin in body axes (Simo and Wong 1991,
//! "Unconditionally stable algorithms for rigid body dynamics that exactly preserve energy and
//! momentum") the step conserves energy, momentum and angular momentum to the tolerance of the
//! Newton iteration over all rows. Rotation is second order in the angle of an inner step.
//!
//! Motors reach their speed at the end of an inner step within their maximum torque. Limits are
//! plastic impacts.

mod active;
mod blocks;
mod body;
mod impact;
mod joint_row;
mod link;
mod linkage;
mod row_gradient;
mod total_motion;

use dynamics::{Body, Momentum, Velocity};
use nalgebra::{Isometry3, Vector3};
use rayon::prelude::*;

use self::body::LinkageBody;
use self::linkage::{Linkage, Moved};
use self::total_motion::TotalMotion;
use super::{Joint, Reaction};
use crate::frame::Frame;
use crate::passes::search::Search;
use crate::settings::Solver;
use crate::{Contacts, Islands};

/// Joints with a larger error are closed before the step, m or rad.
const OPEN: f64 = 1e-8;
/// Joints with a larger error after closing contradict each other, m or rad.
const CLOSED: f64 = 1e-6;

/// The linkages of a frame at the end of the step.
#[derive(Clone, Debug, Default)]
pub struct Linkages {
    moved: Vec<Moved>,
    /// Whether the linkage of each joint was advanced.
    is_moved: Vec<bool>,
    unsolved: bool,
}

impl Linkages {
    /// Advances the linkages of a frame with the `momenta` after collisions. Searches contacts
    /// along the new paths and removes contacts from `search` that stay open.
    ///
    /// Empty for solvers other than [`Solver::Manifold`]. Linkages with contacts, locked axes or
    /// contradicting joints are left to the contact passes.
    pub fn new(frame: &Frame<'_>, search: &mut Search, momenta: &[Momentum]) -> Self {
        let mut all = Self { is_moved: vec![false; frame.joints.len()], ..Self::default() };
        if frame.settings.solver != Solver::Manifold || frame.joints.is_empty() {
            return all;
        }
        let groups = Groups::new(frame, search.contacts());
        let poses = groups.closed(frame);
        let found: Vec<Option<Result<Moved, Unsolved>>> = (groups.joints.par_iter())
            .zip(groups.bodies.par_iter())
            .map(|(joints, bodies)| {
                let linkage = linkage(frame, (&poses, momenta), bodies, joints)?;
                Some(linkage.advance(frame.dt, frame.joints).ok_or(Unsolved))
            })
            .collect();
        let is_unsolved = |moved: &Moved| moved.unsolved;
        all.unsolved = found.iter().flatten().any(|own| own.as_ref().map_or(true, is_unsolved));
        let mut moved: Vec<Moved> = found.into_iter().flatten().flatten().collect();
        let clear = groups.clear(frame, search, &moved);
        let mut is_clear = clear.iter();
        moved.retain(|_| is_clear.next() == Some(&true));
        for (n, _) in moved.iter().flat_map(|moved| &moved.reactions) {
            all.is_moved[*n] = true;
        }
        Self { moved, ..all }
    }

    /// Joints that are left to the contact passes.
    pub fn others(&self, joints: &[Joint]) -> Vec<Joint> {
        let left = joints.iter().zip(&self.is_moved).filter(|(_, is_moved)| !**is_moved);
        left.map(|(joint, _)| *joint).collect()
    }

    /// Leaves linkages with `contacts` to the contact passes. Returns whether there are any.
    pub fn release_touching(&mut self, contacts: &Contacts) -> bool {
        let mut touching: Vec<u32> =
            contacts.manifolds().iter().flat_map(|pair| [pair.a, pair.b]).collect();
        touching.sort_unstable();
        let touches = |body: &LinkageBody| touching.binary_search(&body.number).is_ok();
        let count = self.moved.len();
        self.moved.retain(|moved| !moved.bodies.iter().any(touches));
        self.is_moved.fill(false);
        for (n, _) in self.moved.iter().flat_map(|moved| &moved.reactions) {
            self.is_moved[*n] = true;
        }
        self.moved.len() < count
    }

    /// The bodies of these linkages.
    pub fn bodies(&self) -> impl Iterator<Item = u32> {
        self.members().map(|body| body.number)
    }

    /// Sets the poses of bodies at the end of the step.
    pub fn place(&self, poses: &mut [Isometry3<f64>]) {
        self.members().for_each(|body| poses[body.number as usize] = body.pose);
    }

    /// Sets the momenta of bodies at the end of the step, and adds the work of motors and kinematic
    /// bodies, J, to the work on each body.
    pub fn keep(&self, momenta: &mut [Momentum], work: &mut [f64]) {
        self.members().for_each(|body| momenta[body.number as usize] = body.momentum);
        for moved in &self.moved {
            if let Some(first) = moved.bodies.first() {
                work[first.number as usize] += moved.work;
            }
        }
    }

    /// Reactions of all joints, given those of the [others](Self::others).
    pub fn reactions(&self, others: Vec<Reaction>) -> Vec<Reaction> {
        let mut others = others.into_iter();
        let left = self.is_moved.iter().map(|is_moved| match is_moved {
            true => Reaction::default(),
            false => others.next().unwrap_or_default(),
        });
        let mut all: Vec<Reaction> = left.collect();
        for (n, reaction) in self.moved.iter().flat_map(|moved| &moved.reactions) {
            all[*n] = *reaction;
        }
        all
    }

    /// Whether a Newton iteration failed and left its linkage to the contact passes.
    pub fn is_unsolved(&self) -> bool {
        self.unsolved
    }

    fn members(&self) -> impl Iterator<Item = &LinkageBody> {
        self.moved.iter().flat_map(|moved| &moved.bodies)
    }
}

/// Marks a linkage that was not advanced.
struct Unsolved;

/// Bodies of a linkage and the indices of its joints.
struct Groups {
    islands: Islands,
    bodies: Vec<Vec<u32>>,
    joints: Vec<Vec<usize>>,
    /// Whether each body has a joint.
    is_joined: Vec<bool>,
}

impl Groups {
    /// Linkages without contacts in the last step and with no other dynamic body near, except bodies
    /// that [fly](flying).
    fn new(frame: &Frame<'_>, contacts: &Contacts) -> Self {
        let (islands, mut joints) = frame.linkages();
        let mut is_joined = vec![false; frame.columns.bodies.len()];
        for &n in joints.iter().flatten() {
            frame.joints[n].bodies.iter().for_each(|&i| is_joined[i as usize] = true);
        }
        let flies = flying(frame, contacts, &islands, &is_joined);
        for pair in contacts.manifolds() {
            let own = [pair.a, pair.b].map(|i| islands.of_bodies()[i as usize]);
            let origins = &contacts.origins()[contacts.range(pair)];
            let was_closed = origins.iter().any(|origin| origin.guess != Vector3::zeros());
            let is_known =
                own.contains(&None) || [pair.a, pair.b].iter().any(|&i| flies[i as usize]);
            if was_closed || !is_known && own[0] != own[1] {
                own.into_iter().flatten().for_each(|k| joints[k as usize].clear());
            }
        }
        let mut bodies = vec![Vec::new(); islands.count()];
        for (i, island) in (0..).zip(islands.of_bodies()) {
            if let Some(k) = island.filter(|&k| !joints[k as usize].is_empty()) {
                bodies[k as usize].push(i);
            }
        }
        Self { islands, bodies, joints, is_joined }
    }

    /// Start poses with open joints closed, which adds no velocity.
    fn closed(&self, frame: &Frame<'_>) -> Vec<Isometry3<f64>> {
        let mut poses = frame.poses.to_vec();
        let is_open = |n: &&usize| {
            let [apart, turned] = frame.joints[**n].error(&poses);
            apart.max(turned) > OPEN
        };
        let open: Vec<usize> = self.joints.iter().flatten().filter(is_open).copied().collect();
        if open.is_empty() {
            return poses;
        }
        let mut is_open = vec![false; self.joints.len()];
        for i in open.iter().flat_map(|&n| frame.joints[n].bodies) {
            if let Some(k) = self.islands.of_bodies()[i as usize] {
                is_open[k as usize] = true;
            }
        }
        let chosen = self.joints.iter().zip(is_open).filter(|(_, is_open)| *is_open);
        let joints: Vec<Joint> =
            chosen.flat_map(|(own, _)| own).map(|&n| frame.joints[n]).collect();
        super::close(Frame { joints: &joints, ..*frame }, &mut poses);
        poses
    }

    /// Whether each linkage has no contacts on its new path. Searches contacts along paths that
    /// differ from the search and removes contacts that stay open.
    fn clear(&self, frame: &Frame<'_>, search: &mut Search, moved: &[Moved]) -> Vec<bool> {
        let Frame { columns, poses, dt, .. } = *frame;
        let mut half = search.momenta().to_vec();
        let mut velocities = frame.velocities(&half);
        let mut is_member = vec![false; half.len()];
        for body in moved.iter().flat_map(|moved| &moved.bodies) {
            let i = body.number as usize;
            velocities[i] = Velocity::between(&poses[i], &body.pose, dt);
            if let Body::Dynamic(mass) = &columns.bodies[i] {
                half[i] = mass.momentum(&poses[i].rotation, &velocities[i]);
                is_member[i] = true;
            }
        }
        let mut again = frame.diverted(search, &half);
        for pair in search.contacts().manifolds() {
            again[pair.a as usize] = true;
            again[pair.b as usize] = true;
        }
        again.iter_mut().zip(&is_member).for_each(|(again, is_member)| *again &= is_member);
        if again.contains(&true) {
            frame.search_diverted(search, &half, &again);
        }
        let contacts = search.contacts();
        let island =
            |i: u32| self.islands.of_bodies()[i as usize].filter(|_| is_member[i as usize]);
        let flies = flying(frame, contacts, &self.islands, &self.is_joined);
        let is_known = |i: u32| is_member[i as usize] || flies[i as usize] || !is_dynamic(frame, i);
        let mut touches = vec![false; self.islands.count()];
        for pair in contacts.manifolds() {
            let own = [island(pair.a), island(pair.b)];
            let is_within = own.contains(&None) || own[0] == own[1];
            let stays_open = contacts.of(pair).iter().all(|contact| {
                let [a, b] = [pair.a as usize, pair.b as usize];
                let at = contact.at(&poses[a], &poses[b]).coords;
                let speed = |i: usize| velocities[i].at(&(at - poses[i].translation.vector));
                contact.gap + dt * contact.normal.dot(&(speed(a) - speed(b))) >= 0.0
            });
            if !(stays_open && is_within && is_known(pair.a) && is_known(pair.b)) {
                own.into_iter().flatten().for_each(|k| touches[k as usize] = true);
            }
        }
        let is_clear = |i: u32| island(i).is_some_and(|k| !touches[k as usize]);
        let open = contacts.manifolds().iter().filter(|pair| is_clear(pair.a) || is_clear(pair.b));
        let open: Vec<(u32, u32)> = open.map(|pair| (pair.a, pair.b)).collect();
        if !open.is_empty() {
            let left = contacts.clone().without(&open);
            search.set_contacts(left);
        }
        let first = |moved: &Moved| moved.bodies.first().is_some_and(|body| is_clear(body.number));
        moved.iter().map(first).collect()
    }
}

/// Whether each body is dynamic, has no joint, and touches only dynamic bodies of one linkage. If
/// all these contacts stay open, it moves freely.
fn flying(
    frame: &Frame<'_>,
    contacts: &Contacts,
    islands: &Islands,
    is_joined: &[bool],
) -> Vec<bool> {
    let of = |i: usize| !is_joined[i] && is_dynamic(frame, i as u32);
    let mut flies: Vec<bool> = (0..is_joined.len()).map(of).collect();
    let mut linkages: Vec<Option<u32>> = vec![None; flies.len()];
    for pair in contacts.manifolds() {
        let [a, b] = [pair.a as usize, pair.b as usize];
        for (own, other) in [(a, b), (b, a)] {
            let linkage = islands.of_bodies()[other].filter(|_| is_joined[other]);
            let known = *linkages[own].get_or_insert(linkage.unwrap_or_default());
            flies[own] &= linkage == Some(known);
        }
    }
    flies
}

fn is_dynamic(frame: &Frame<'_>, i: u32) -> bool {
    frame.columns.bodies[i as usize].mass_properties().is_some()
}

/// The linkage of some bodies and joints, to be advanced from `poses`. `None` if the midpoint rule
/// does not apply.
fn linkage(
    frame: &Frame<'_>,
    (poses, momenta): (&[Isometry3<f64>], &[Momentum]),
    bodies: &[u32],
    joints: &[usize],
) -> Option<Linkage> {
    if joints.is_empty() {
        return None;
    }
    let member = |&i: &u32| {
        let n = i as usize;
        // the kick is that of half a step
        let acceleration = frame.half_kick[n].linear * (2.0 / frame.dt);
        LinkageBody::new((i, &frame.columns.bodies[n]), &poses[n], &momenta[n], acceleration)
    };
    let members: Vec<LinkageBody> = bodies.iter().map(member).collect::<Option<_>>()?;
    let joints: Vec<(usize, &Joint)> = joints.iter().map(|&n| (n, &frame.joints[n])).collect();
    let is_closed = joints.iter().all(|(_, joint)| {
        let [apart, turned] = joint.error(poses);
        apart.max(turned) <= CLOSED
    });
    let still = (frame.columns.bodies, poses);
    if !is_closed {
        return None;
    }
    let moved = bodies.iter().any(|&i| poses[i as usize] != frame.poses[i as usize]);
    let before = moved.then(|| TotalMotion::at(&members, frame.poses));
    let mut linkage = Linkage::new(members, &joints, still)?;
    linkage.before = before;
    Some(linkage)
}
