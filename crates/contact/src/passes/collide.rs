//! The collision pass: bodies that would pass into each other bounce (GBF03 section 5, Su09
//! section 3.2), where and when they meet.
//!
//! The pass is event driven. The pair with the earliest time of impact exchanges impulses there, and both
//! bodies continue in free flight. The time of impact is the root of a signed distance that is linear in the
//! motion of both bodies and quadratic in time, linearized where the contact was found. A body has deviated if it
//! left the path that the contact search assumed by more than the contact margin. Its contacts are then searched
//! again, once no impact at the same time is left. Impacts at the same time, on a linkage, or after many collisions in a
//! step are [one problem](group).

mod group;
mod impact;
mod linkages;
mod pairs_by_body;
mod strike;

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use dynamics::{Body, Momentum, Velocity, advance};
use nalgebra::{Isometry3, Matrix3, Translation3, UnitQuaternion, Vector3};

use crate::narrow::contacts::{Contacts, MARGIN, Manifold, Origin, Resumed};
use crate::narrow::flight::{Flight, Paths};
use crate::passes::collision::{Collisions, StrengthQuery, Waypoint};
use crate::{Frame, Mover, Shape, effective_mass};
use linkages::ImpactLinkages;
use pairs_by_body::PairsByBody;

/// Limit of collisions per step. A pair collides no more once each of its free bodies reached the limit. A ball
/// of 0.2 m between walls 2 m apart reaches it at 3,400 m/s and 30 steps per second. A light body between two
/// heavy ones would collide infinitely often; the contact passes stop the rest.
const MAX_COLLISIONS: u32 = 64;

/// Processes the impacts of all approaching pairs in the order of time. All touching contacts of a pair
/// rebound together, so that a box that lands flat does not turn.
///
/// If a body of the pair breaks, the pair exchanges the impulse that the weaker body bears, and collides no
/// more in this pass: the pieces receive the rest.
///
/// Impulses act at one point of both bodies with the momenta of the time of impact: linear and angular
/// momentum are conserved exactly, and no impulse adds energy.
pub(crate) fn collide(
    frame: Frame<'_>,
    contacts: &Contacts,
    paths: &mut Paths,
    query: &mut StrengthQuery<'_>,
) -> Collisions {
    let mut pass = Pass::new(frame, contacts, paths);
    pass.run(query);
    pass.resume();
    let shifts = pass.flight_states.iter().map(|flight_state| flight_state.shift).collect();
    Collisions { shifts, ..pass.done }
}

/// A time before any step, s.
const BEFORE: f64 = -1.0;

/// Linearised signed distance at a contact, for any motion of both bodies.
struct LinearGap {
    /// From the centers of mass to the contact point at the time of the search, m.
    arms: [Vector3<f64>; 2],
    normal: Vector3<f64>,
    /// The distance without the motion of the search, m.
    base: f64,
    /// Speed of separation beyond that of the angular velocities at the start of the step, m/s.
    turning: f64,
}

/// A body between its collisions.
#[derive(Clone, Copy)]
struct FlightState {
    /// Velocity at the virtual start, m/s.
    velocity: Velocity,
    /// The same at the contact search.
    before: Velocity,
    /// Displacement of the virtual start since the contact search, m and rad.
    shift: Velocity,
    /// Acceleration by forces, m/s^2.
    gravity: Vector3<f64>,
    /// Acceleration by the contacts that support the body, since its last collision, m/s^2.
    support: Vector3<f64>,
    /// Time of its last collision, s.
    since: f64,
    /// Whether joints hold the body: its collisions act at the start of the step.
    joined: bool,
}

/// A pair and the time of its next collision.
#[derive(Clone, Copy, PartialEq)]
struct Event {
    time: f64,
    /// Collisions of the pair so far.
    collisions: u32,
    pair: u32,
    /// Number of the event; later events of the pair replace it.
    stamp: u32,
}

impl Eq for Event {}

impl Ord for Event {
    fn cmp(&self, other: &Self) -> Ordering {
        let time = self.time.total_cmp(&other.time);
        time.then((self.collisions, self.pair, self.stamp).cmp(&(
            other.collisions,
            other.pair,
            other.stamp,
        )))
    }
}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The collisions of a pair so far.
#[derive(Clone, Copy, Default)]
struct PairHistory {
    collisions: u32,
    stamp: u32,
    /// Whether the pair collides no more in this pass.
    is_over: bool,
    /// Last time of touch without approach, s.
    passed: f64,
}

struct Pass<'a> {
    frame: Frame<'a>,
    contacts: &'a Contacts,
    linkages: ImpactLinkages,
    paths: &'a mut Paths,
    flight_states: Vec<FlightState>,
    /// One per contact.
    gaps: Vec<LinearGap>,
    /// One per pair.
    histories: Vec<PairHistory>,
    /// Number of bodies that deviate by the end of the step.
    deviated_count: usize,
    /// The pass processed all impacts up to this time, s.
    reached: f64,
    done: Collisions,
}

/// Outcome of the impact of a pair.
enum ImpactOutcome {
    /// The pair collides alone.
    Alone,
    /// The pair does not approach where its bodies are.
    Missed,
    /// These bodies were struck.
    Together(Vec<usize>),
}

/// What gives a body an impulse.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ImpulseSource {
    /// Joints alone.
    Joints,
    /// Free bodies.
    Free,
    /// In part a body that is not free.
    Grounded,
}

/// A body at the time of a collision.
struct StruckBody {
    body: usize,
    /// Place of the center of mass without forces: arms from there to one point of both bodies conserve
    /// angular momentum about the virtual starts.
    arm_origin: Vector3<f64>,
    pose: Isometry3<f64>,
    /// Orientation at which impulses act: that at the start of the step for bodies with joints.
    rotation: UnitQuaternion<f64>,
    momentum: Momentum,
    mover: Mover,
}

impl FlightState {
    /// Displacement of the center of mass from the virtual start, m.
    fn displacement(&self, time: f64) -> Vector3<f64> {
        let supported = time - self.since;
        (self.velocity.linear + self.gravity * (0.5 * time)) * time
            + self.support * (0.5 * supported * supported)
    }

    /// Change of the velocity of the center of mass since the virtual start, m/s.
    fn gain(&self, time: f64) -> Vector3<f64> {
        self.gravity * time + self.support * (time - self.since)
    }

    /// Whether the body left the path that the contact search assumed by more than the contact margin.
    fn deviates(&self, time: f64, shape: &Shape) -> bool {
        let off = |shift: &Vector3<f64>, now: &Vector3<f64>, before: &Vector3<f64>| {
            (shift + (now - before) * time).norm()
        };
        let Self { velocity, before, shift, .. } = self;
        let linear = off(&shift.linear, &velocity.linear, &before.linear);
        let angular = off(&shift.angular, &velocity.angular, &before.angular);
        linear + angular * shape.radius() > MARGIN * shape.size()
    }
}

impl<'a> Pass<'a> {
    fn new(frame: Frame<'a>, contacts: &'a Contacts, paths: &'a mut Paths) -> Self {
        let Frame { columns, dt, half_kick, .. } = frame;
        let states = paths.poses.iter().zip(&paths.momenta);
        let flight_state = |(i, (pose, momentum)): (usize, (&Isometry3<f64>, &Momentum))| {
            let velocity = columns.bodies[i].velocity(&pose.rotation, momentum);
            let since = paths.flights.get(i).map_or(0.0, |flight| flight.since);
            let (gravity, support) = (half_kick[i].linear * (2.0 / dt), Vector3::zeros());
            let shift = Velocity::default();
            let joined = false;
            FlightState { velocity, before: velocity, shift, gravity, support, since, joined }
        };
        let mut flight_states: Vec<FlightState> = states.enumerate().map(flight_state).collect();
        let gaps = gaps(contacts, &flight_states);
        support(frame, contacts, &paths.flights, &mut flight_states);
        let count = contacts.manifolds().len();
        let (histories, deviated) =
            (vec![PairHistory::default(); count], vec![false; flight_states.len()]);
        let done = Collisions { deviated, ..Collisions::default() };
        Self {
            frame,
            contacts,
            linkages: ImpactLinkages::new(&frame),
            paths,
            flight_states,
            gaps,
            histories,
            deviated_count: 0,
            reached: dt,
            done,
        }
    }

    fn run(&mut self, query: &mut StrengthQuery<'_>) {
        let contacts = self.contacts;
        let mut queue = BinaryHeap::new();
        for pair in 0..contacts.manifolds().len() {
            queue.extend(self.next(pair, BEFORE));
        }
        if queue.is_empty() {
            return;
        }
        let pairs = PairsByBody::new(contacts, self.flight_states.len());
        let mut last = BEFORE;
        while let Some(Reverse(event)) = queue.pop() {
            let pair = event.pair as usize;
            if event.stamp != self.histories[pair].stamp {
                continue;
            }
            // no unknown impact precedes one at the same time
            let is_breaking = !self.done.breaking.is_empty();
            if self.deviated_count > query.max_deviated && (event.time > last || is_breaking) {
                self.reached = last;
                break;
            }
            let manifold = &contacts.manifolds()[pair];
            let bodies = [manifold.a as usize, manifold.b as usize];
            if self.mark_deviated(bodies, event.time) {
                continue;
            }
            if self.collision_count(bodies) >= MAX_COLLISIONS {
                self.done.limited += 1;
                self.histories[pair].is_over = true;
                continue;
            }
            let others = self.simultaneous(&event, &mut queue);
            let together = self.strike_together(&event, &others, &pairs, query);
            // those of struck bodies are replaced below
            queue.extend(others.into_iter().map(Reverse));
            let struck = match together {
                ImpactOutcome::Together(bodies) => bodies,
                ImpactOutcome::Alone if self.strike(pair, event.time, query) => bodies.to_vec(),
                ImpactOutcome::Alone | ImpactOutcome::Missed => {
                    self.histories[pair].passed = event.time;
                    queue.extend(self.next(pair, event.time));
                    continue;
                }
            };
            self.mark_deviated_at_end(&struck);
            last = event.time;
            for i in struck {
                let own = if self.is_free(i) { pairs.of(i) } else { &[] };
                own.iter().for_each(|&pair| queue.extend(self.next(pair as usize, BEFORE)));
            }
        }
    }

    /// Whether a body deviates at a time: its contacts there are unknown.
    fn deviates(&self, i: usize, time: f64) -> bool {
        self.is_free(i) && self.flight_states[i].deviates(time, &self.frame.columns.shapes[i])
    }

    /// Lists the pairs whose contacts were found before the end of the step: they may meet again after that
    /// time, or after their last collision.
    fn resume(&mut self) {
        for (history, manifold) in self.histories.iter().zip(self.contacts.manifolds()) {
            let bodies = [manifold.a as usize, manifold.b as usize];
            let Origin { time: found, until, .. } =
                self.contacts.origins()[self.contacts.range(manifold).start];
            let struck = self.last_collision_time(bodies);
            let done = found.max(history.passed).max(struck);
            let time = match history.collisions {
                // a contact of spinning bodies that does not approach leaves them where they were
                0 if done <= manifold.since => until,
                0 => done,
                _ => struck,
            };
            let is_later = time > manifold.since || history.collisions > 0;
            let any_deviated = bodies.iter().any(|&i| self.done.deviated[i]);
            let moves = bodies.iter().any(|&i| self.is_free(i) && !self.flight_states[i].joined);
            let is_known = time <= self.reached && found < self.frame.dt;
            if is_known && is_later && moves && !any_deviated && !history.is_over {
                let Manifold { a, b, .. } = *manifold;
                self.done.resumed.push(Resumed { a, b, time });
            }
        }
    }

    /// The time of the later one of the last collisions of both bodies, s.
    fn last_collision_time(&self, bodies: [usize; 2]) -> f64 {
        let [a, b] = bodies.map(|i| self.flight_states[i].since);
        a.max(b)
    }

    /// The number of collisions of a pair for [`MAX_COLLISIONS`]. With two free bodies it is the smaller one of their
    /// counts. With one free body it is at most twice the collisions of that body with static and kinematic bodies, as
    /// in impacts that alternate between two bodies: impacts by other bodies must not disable its support.
    fn collision_count(&self, bodies: [usize; 2]) -> u32 {
        let [p, q] = bodies.map(|i| self.is_free(i).then_some(&self.paths.flights[i]));
        match (p, q) {
            (Some(p), Some(q)) => p.collisions.min(q.collisions),
            (Some(own), None) | (None, Some(own)) => {
                own.collisions.min(2 * own.grounded_collisions)
            }
            (None, None) => 0,
        }
    }

    fn bodies_of(&self, pair: usize) -> [usize; 2] {
        let Manifold { a, b, .. } = self.contacts.manifolds()[pair];
        [a as usize, b as usize]
    }

    fn is_free(&self, i: usize) -> bool {
        self.frame.columns.bodies[i].mass_properties().is_some()
    }

    /// Marks the bodies that deviate by the end of the step.
    fn mark_deviated_at_end(&mut self, bodies: &[usize]) {
        for &i in bodies {
            let deviates = self.deviates(i, self.frame.dt);
            self.deviated_count += usize::from(deviates && !self.done.deviated[i]);
            self.done.deviated[i] |= deviates;
        }
    }

    /// Marks the bodies that [deviate](Self::deviates) at a time. Returns whether one does.
    fn mark_deviated(&mut self, bodies: [usize; 2], time: f64) -> bool {
        let mut any_deviates = false;
        for i in bodies {
            let deviates = self.deviates(i, time);
            self.done.deviated[i] |= deviates;
            any_deviates |= deviates;
        }
        any_deviates
    }

    /// The distance at a contact as `c0 + c1 t + c2 t^2`.
    fn distance(&self, bodies: [usize; 2], gap: &LinearGap) -> [f64; 3] {
        let [a, b] = bodies.map(|i| &self.flight_states[i]);
        let LinearGap { arms, normal, base, turning } = gap;
        let shift = a.shift.at(&arms[0]) - b.shift.at(&arms[1]);
        let speed = a.velocity.at(&arms[0]) - b.velocity.at(&arms[1]);
        let acceleration = normal.dot(&(a.gravity + a.support - b.gravity - b.support));
        // supports act since the last collision
        let [p, q] = [a, b].map(|own| own.support * own.since);
        let offset = 0.5 * normal.dot(&(p * a.since - q * b.since));
        [
            base + normal.dot(&shift) + offset,
            turning + normal.dot(&(speed - p + q)),
            0.5 * acceleration,
        ]
    }

    /// Approach speed below which a pair rests, m/s.
    fn resting(&self, bodies: [usize; 2]) -> f64 {
        let Frame { columns, settings, half_kick, .. } = self.frame;
        settings.resting_of(columns, half_kick, bodies)
    }

    /// The next impact of a pair within the step after a time; it replaces the known one.
    fn next(&mut self, pair: usize, after: f64) -> Option<Reverse<Event>> {
        self.histories[pair].stamp += 1;
        let PairHistory { collisions, stamp, is_over, .. } = self.histories[pair];
        if is_over {
            return None;
        }
        let manifold = &self.contacts.manifolds()[pair];
        let bodies = [manifold.a as usize, manifold.b as usize];
        let (struck, resting) = (self.last_collision_time(bodies), self.resting(bodies));
        let touch = |number: usize| {
            let time = touch(self.distance(bodies, &self.gaps[number]), struck, resting)?;
            let (time, until) = (time.max(manifold.since), self.contacts.origins()[number].until);
            (time > after && time <= until).then_some(time)
        };
        let times = self.contacts.range(manifold).filter_map(touch);
        let time = times.fold(f64::INFINITY, f64::min);
        (time <= self.frame.dt).then_some(Reverse(Event {
            time,
            collisions,
            pair: pair as u32,
            stamp,
        }))
    }

    /// The state of a body at a time.
    fn body_at(&self, i: usize, time: f64) -> StruckBody {
        let (body, pose) = (&self.frame.columns.bodies[i], &self.paths.poses[i]);
        let flight_state = &self.flight_states[i];
        let FlightState { velocity, gravity, support, since, joined, .. } = *flight_state;
        let arm_origin = pose.translation.vector + velocity.linear * time;
        let mut place = pose.translation.vector + flight_state.displacement(time);
        let mut momentum = self.paths.momenta[i];
        if let Some(mass) = body.mass_properties().filter(|_| !joined) {
            momentum.linear += flight_state.gain(time) * mass.mass();
            // contact forces do no work on a resting body
            let moved = flight_state.displacement(time) - flight_state.displacement(since);
            let lift = support.dot(&moved);
            if lift > 0.0 {
                place += gravity * (lift / gravity.norm_squared());
            }
        }
        let now = Isometry3::from_parts(Translation3::from(place), self.rotation(i, time));
        let rotation = if joined { pose.rotation } else { now.rotation };
        let mover = Mover::new(body, &Isometry3 { rotation, ..now }, &momentum);
        StruckBody { body: i, arm_origin, pose: now, rotation, momentum, mover }
    }

    /// The center of mass of a body in free flight at a time.
    fn place_at(&self, i: usize, time: f64) -> Vector3<f64> {
        self.paths.poses[i].translation.vector + self.flight_states[i].displacement(time)
    }

    /// The velocity of a body in free flight at a time.
    fn velocity_at(&self, i: usize, time: f64) -> Velocity {
        let flight_state = &self.flight_states[i];
        let Velocity { linear, angular } = flight_state.velocity;
        Velocity { linear: linear + flight_state.gain(time), angular }
    }

    /// Acceleration by forces, m/s^2.
    fn acceleration(&self, i: usize) -> Vector3<f64> {
        self.frame.half_kick[i].linear * (2.0 / self.frame.dt)
    }

    /// The orientation of a body at a time.
    fn rotation(&self, i: usize, time: f64) -> UnitQuaternion<f64> {
        let Flight { since, rotation, .. } = self.paths.flights[i];
        let pose = &self.paths.poses[i];
        let rotation = if since > 0.0 { rotation } else { pose.rotation };
        if time == since || self.flight_states[i].velocity.angular == Vector3::zeros() {
            return rotation;
        }
        let from = Isometry3::from_parts(pose.translation, rotation);
        let (body, momentum) = (&self.frame.columns.bodies[i], &self.paths.momenta[i]);
        advance(body, &from, momentum, time - since).rotation
    }

    /// Change of the kinetic energy of a body by an impulse, J.
    fn change(&self, struck: &StruckBody, gain: &Momentum) -> f64 {
        let body = &self.frame.columns.bodies[struck.body];
        if body.mass_properties().is_none() {
            return 0.0;
        }
        let energy = |momentum| body.kinetic_energy(&struck.rotation, momentum);
        energy(&(struck.momentum + *gain)) - energy(&struck.momentum)
    }

    /// Applies an impulse to a body at a time and updates its virtual start.
    fn give(&mut self, struck: &StruckBody, gain: &Momentum, source: ImpulseSource, time: f64) {
        let StruckBody { body: i, pose, mut momentum, .. } = *struck;
        let body = &self.frame.columns.bodies[i];
        let Some(mass) = body.mass_properties() else { return };
        momentum += *gain;
        let acceleration = self.acceleration(i);
        let own = &mut self.paths.flights[i];
        own.collisions += u32::from(source != ImpulseSource::Joints);
        own.grounded_collisions += u32::from(source == ImpulseSource::Grounded);
        let Flight { collisions, grounded_collisions, entry, dissipated, .. } = *own;
        let flight_state = &mut self.flight_states[i];
        flight_state.since = time;
        if flight_state.joined {
            self.paths.momenta[i] = momentum;
            flight_state.velocity = body.velocity(&self.paths.poses[i].rotation, &momentum);
            return;
        }
        self.done.waypoints.push(Waypoint { body: i as u32, time, pose });
        let is_supported = !rises(self.frame, i, &(momentum.linear / mass.mass()));
        let support = if is_supported { flight_state.support } else { Vector3::zeros() };
        let (flight, start, momentum) =
            Flight::starting(time, body, &pose, &momentum, &acceleration);
        let old = std::mem::replace(&mut self.paths.poses[i], start);
        self.paths.momenta[i] = momentum;
        let entry = entry.or(Some(old));
        self.paths.flights[i] =
            Flight { collisions, grounded_collisions, entry, dissipated, ..flight };
        let velocity = Velocity {
            linear: momentum.linear / mass.mass(),
            angular: mass.angular_velocity(&pose.rotation, &momentum.angular),
        };
        flight_state.shift.linear += start.translation.vector - old.translation.vector;
        flight_state.shift.angular += (flight_state.velocity.angular - velocity.angular) * time;
        (flight_state.velocity, flight_state.support) = (velocity, support);
        self.paths.flights[i].support = support;
    }

    /// Places from which lever arms to one point of both bodies conserve angular momentum. Collisions of bodies with
    /// joints act at the start of the step.
    fn arm_origins(&self, struck: [&StruckBody; 2]) -> [Vector3<f64>; 2] {
        if struck.iter().all(|own| self.flight_states[own.body].joined) {
            struck.map(|own| self.paths.poses[own.body].translation.vector)
        } else {
            struck.map(|own| own.arm_origin)
        }
    }

    /// Work of the kinematic body of a pair by an impulse on its first body at lever arms, J.
    fn work_at(&self, bodies: [usize; 2], arms: &[Vector3<f64>; 2], j: &Vector3<f64>) -> f64 {
        match bodies.map(|i| &self.frame.columns.bodies[i]) {
            [Body::Kinematic(velocity), Body::Dynamic(_)] => -j.dot(&velocity.at(&arms[0])),
            [Body::Dynamic(_), Body::Kinematic(velocity)] => j.dot(&velocity.at(&arms[1])),
            _ => 0.0,
        }
    }
}

/// The time of impact of a distance `c0 + c1 t + c2 t^2` after `from`, or the time of touch without approach;
/// `None` if the bodies approach by no more than the `resting` speed.
///
/// Speed gained by acceleration during the step does not count: resting contacts would bounce.
fn touch([c0, c1, c2]: [f64; 3], from: f64, resting: f64) -> Option<f64> {
    let (gap, speed) = (c0 + (c1 + c2 * from) * from, c1 + 2.0 * c2 * from);
    if speed.abs() <= resting {
        return None;
    }
    let wait = if gap <= 0.0 && speed < 0.0 {
        0.0
    } else if gap <= 0.0 {
        // after a collision: when the body returns to the same depth
        if from > 0.0 { -speed / c2 } else { f64::INFINITY }
    } else {
        // the form of the root that does not cancel; not a number if there is none
        2.0 * gap / ((speed * speed - 4.0 * c2 * gap).sqrt() - speed)
    };
    (wait >= 0.0).then_some(from + wait)
}

fn gaps(contacts: &Contacts, flight_states: &[FlightState]) -> Vec<LinearGap> {
    let gap = |manifold: &Manifold, number: usize| {
        let bodies = [manifold.a, manifold.b].map(|i| i as usize);
        let (contact, origin) = (&contacts.all()[number], &contacts.origins()[number]);
        let (time, normal) = (origin.time, contact.normal);
        let arms = origin.arms;
        let [p, q] = [0, 1].map(|n| {
            let FlightState { velocity, gravity, .. } = &flight_states[bodies[n]];
            (velocity.at(&arms[n]) + gravity * (0.5 * time)) * time
        });
        let turning = origin.turning;
        let base = origin.distance - normal.dot(&(p - q)) - turning * time;
        LinearGap { arms, normal, base, turning }
    };
    let all = contacts.manifolds().iter();
    all.flat_map(|m| contacts.range(m).map(move |number| gap(m, number))).collect()
}

/// Resting bodies are not in free fall. The contact impulses of the last frame cancel gravity, as far as they
/// oppose it. This holds for islands with an immovable body and for bodies that do not [rise](rises). Bodies with
/// joints have no acceleration.
fn support(
    frame: Frame<'_>,
    contacts: &Contacts,
    flights: &[Flight],
    flight_states: &mut [FlightState],
) {
    let Frame { columns, dt, .. } = frame;
    let mut loads = vec![Vector3::zeros(); flight_states.len()];
    for manifold in contacts.manifolds() {
        let range = contacts.range(manifold);
        let load: Vector3<f64> = contacts.origins()[range].iter().map(|origin| origin.guess).sum();
        loads[manifold.a as usize] += load;
        loads[manifold.b as usize] -= load;
    }
    let islands = frame.islands(contacts);
    for (i, (flight_state, load)) in flight_states.iter_mut().zip(&loads).enumerate() {
        let Some(mass) = columns.bodies[i].mass_properties() else { continue };
        if let Some(flight) = flights.get(i).filter(|flight| flight.since > 0.0) {
            flight_state.support = flight.support;
            continue;
        }
        let island = islands.of_bodies()[i];
        if *load == Vector3::zeros() || !island.is_some_and(|k| islands.is_grounded(k)) {
            continue;
        }
        let gravity = flight_state.gravity;
        let push = load / (mass.mass() * dt);
        if !rises(frame, i, &flight_state.velocity.linear) && gravity.dot(&push) < 0.0 {
            flight_state.support = push * (-gravity.dot(&push) / push.norm_squared()).min(1.0);
        }
    }
    for i in frame.joints.iter().flat_map(|joint| joint.bodies) {
        if let Some(flight_state) = flight_states.get_mut(i as usize) {
            let none = Vector3::zeros();
            (flight_state.gravity, flight_state.support, flight_state.joined) = (none, none, true);
        }
    }
}

/// Whether a body with this velocity, m/s, leaves its support for more than the step.
fn rises(frame: Frame<'_>, i: usize, velocity: &Vector3<f64>) -> bool {
    let half_kick = &frame.half_kick[i];
    -half_kick.linear.dot(velocity)
        > frame.settings.resting_at(half_kick, 0.0) * half_kick.linear.norm()
}

pub(crate) fn mass_at(mover: &Mover, arm: &Vector3<f64>) -> Matrix3<f64> {
    if mover.is_fixed() {
        return Matrix3::zeros();
    }
    effective_mass(mover.inverse_mass, &mover.inverse_inertia, arm)
}
