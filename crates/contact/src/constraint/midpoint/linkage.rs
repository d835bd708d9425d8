//! One step of the midpoint rule for bodies that are connected by joints and touch nothing.

use dynamics::{Body, Momentum, Velocity, advance};
use nalgebra::{Isometry3, Matrix3, Matrix6, Vector3, Vector6};

use super::blocks::{Blocks, Pattern};
use super::held::{self, Act, Held, Rule};
use super::line::{Line, Move, Side, Stiffness, stacked};
use crate::constraint::{Joint, MAX_ROWS, Reaction};

/// Largest rotation of a body per inner step, rad. The phase error is its square over twelve.
const INNER_TURN: f64 = 0.25;
/// Limit of inner steps.
const MAX_INNER_STEPS: f64 = 512.0;
/// Limit of halvings of an inner step whose Newton iteration fails.
const MAX_HALVINGS: u32 = 6;
/// Limits of Newton steps and of changes of the active set.
const NEWTON_STEPS: usize = 16;
const ROUNDS: usize = 16;
/// Size of the last Newton step, rad and relative to the longest arm. The error is its square.
const SOLVED: f64 = 1e-8;
/// Below this size the factorization stays (chord method), and the iteration ends at the second size.
const NEAR: f64 = 1e-3;
const SOLVED_NEAR: f64 = 1e-11;
/// Tolerance of limits, rad and relative to the longest arm.
const PASSED: f64 = 1e-10;
/// Speed of rows that the last step left untouched, relative to the fastest body.
const UNTOUCHED: f64 = 1e-9;
/// Regularisation of the increments of impulses relative to their diagonal: redundant rows share the load.
/// The converged sum of impulses does not depend on it.
const SHARING: f64 = 1e-8;

/// A dynamic body.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) number: u32,
    pub(super) mass: f64,
    pub(super) inertia: Vector3<f64>,
    /// Acceleration by forces, m/s^2.
    pub(super) acceleration: Vector3<f64>,
    pub(super) pose: Isometry3<f64>,
    pub(super) momentum: Momentum,
    /// Newton iterate: translation and rotation over the inner step.
    both: [Vector3<f64>; 2],
}

/// One end of a joint.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    /// Index of a part.
    Part(usize),
    /// Index of a prop.
    Prop(usize),
}

/// A static or kinematic body.
#[derive(Clone, Debug)]
struct Prop {
    body: Body,
    start: Isometry3<f64>,
}

/// A joint of a linkage.
#[derive(Clone, Debug)]
struct Link {
    number: usize,
    ends: [End; 2],
    frames: [Isometry3<f64>; 2],
    rows: Vec<Held>,
    reaction: Reaction,
}

/// A connected component of dynamic bodies and joints.
#[derive(Clone, Debug)]
pub(super) struct Linkage {
    parts: Vec<Part>,
    props: Vec<Prop>,
    links: Vec<Link>,
    /// Longest arm of a joint, m.
    size: f64,
    /// Work of motors and kinematic bodies, J.
    work: f64,
}

/// A linkage at the end of a step.
#[derive(Clone, Debug)]
pub(super) struct Moved {
    pub(super) parts: Vec<Part>,
    /// Reactions by joint index.
    pub(super) reactions: Vec<(usize, Reaction)>,
    /// Work of motors and kinematic bodies, J.
    pub(super) work: f64,
}

/// Rows that a projection of velocities stops.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stop {
    /// Bilateral rows.
    Joints,
    /// Bilateral rows and active limits.
    Limits,
}

impl Part {
    /// `None` for a body without mass properties or with a locked axis.
    pub(super) fn new(
        (number, body): (u32, &Body),
        pose: &Isometry3<f64>,
        momentum: &Momentum,
        acceleration: Vector3<f64>,
    ) -> Option<Self> {
        let mass = body.mass_properties()?;
        let inertia = mass.inertia();
        inertia.iter().all(|i| i.is_finite()).then(|| Self {
            number,
            mass: mass.mass(),
            inertia,
            acceleration,
            pose: *pose,
            momentum: *momentum,
            both: [Vector3::zeros(); 2],
        })
    }

    /// Angular velocity in body axes.
    fn spin(&self) -> Vector3<f64> {
        let local = self.pose.rotation.inverse_transform_vector(&self.momentum.angular);
        local.component_div(&self.inertia)
    }

    fn velocity(&self) -> Vector6<f64> {
        let angular = self.pose.rotation * self.spin();
        stacked(&(self.momentum.linear / self.mass), &angular)
    }

    fn world_inertia(&self, rotation: &Matrix3<f64>) -> Matrix3<f64> {
        rotation * Matrix3::from_diagonal(&self.inertia) * rotation.transpose()
    }

    /// Residual of the equations of motion without joints, and its derivative with respect to translation and
    /// rotation. The angular momentum follows the mean spin of both ends (Simo and Wong 1991).
    fn law(&self, own: &Move, h: f64) -> (Vector6<f64>, Matrix6<f64>) {
        let [before, after] = &own.rotations;
        let mean = before.tr_mul(&own.turn) / h;
        let angular = after * (mean * 2.0 - self.spin()).component_mul(&self.inertia);
        let linear = own.shift * (2.0 * self.mass / h)
            - self.momentum.linear * 2.0
            - self.acceleration * (self.mass * h);
        let mut slope = Matrix6::identity() * (2.0 * self.mass / h);
        let turning = after * Matrix3::from_diagonal(&(self.inertia * (2.0 / h)));
        let turning = turning * before.transpose() - angular.cross_matrix() * own.tangent;
        slope.fixed_view_mut::<3, 3>(3, 3).copy_from(&turning);
        (stacked(&linear, &(angular - self.momentum.angular)), slope)
    }

    fn gain(&mut self, impulse: &Vector6<f64>) {
        self.momentum.linear += impulse.fixed_rows::<3>(0);
        self.momentum.angular += impulse.fixed_rows::<3>(3);
    }
}

impl Prop {
    fn at(&self, time: f64) -> Isometry3<f64> {
        advance(&self.body, &self.start, &Momentum::default(), time)
    }

    fn velocity(&self) -> Vector6<f64> {
        match &self.body {
            Body::Kinematic(Velocity { linear, angular }) => stacked(linear, angular),
            Body::Static | Body::Dynamic(_) => Vector6::zeros(),
        }
    }
}

impl Linkage {
    /// `parts` are sorted by number. `None` if a joint has no discrete rows.
    pub(super) fn new(
        parts: Vec<Part>,
        joints: &[(usize, &Joint)],
        (bodies, poses): (&[Body], &[Isometry3<f64>]),
    ) -> Option<Self> {
        let (mut props, mut links, mut size) = (Vec::new(), Vec::new(), 0.0_f64);
        for &(number, joint) in joints {
            let mut end = |i: u32| match parts.binary_search_by_key(&i, |part| part.number) {
                Ok(part) => End::Part(part),
                Err(_) => {
                    let i = i as usize;
                    props.push(Prop { body: bodies[i], start: poses[i] });
                    End::Prop(props.len() - 1)
                }
            };
            let ends = joint.bodies.map(&mut end);
            let arms = joint.frames.iter().map(|frame| frame.translation.vector.norm());
            size = arms.fold(size, f64::max);
            let rows = held::rows(joint)?;
            let reaction = Reaction::default();
            links.push(Link { number, ends, frames: joint.frames, rows, reaction });
        }
        let size = if size > 0.0 { size } else { 1.0 };
        Some(Self { parts, props, links, size, work: 0.0 })
    }

    /// Advances by `dt`, s, with a warm start from the `last` impulses of each joint. `None` if the Newton
    /// iteration fails.
    pub(super) fn advance(mut self, dt: f64, joints: &[Joint]) -> Option<Moved> {
        let ends = |link: &Link| {
            link.ends.map(|end| match end {
                End::Part(part) => Some(part),
                End::Prop(_) => None,
            })
        };
        let ends: Vec<_> = self.links.iter().map(ends).collect();
        let pattern = Pattern::new(self.parts.len(), &ends)?;
        let mut blocks = Blocks::new(&pattern);
        if self.was_struck(joints) {
            self.stop(Stop::Joints, 0.0, &mut blocks);
        }
        let steps = self.inner_steps(dt);
        let mut h = dt / steps;
        self.guess(joints, 1.0 / steps);
        let least = h * 0.5_f64.powi(MAX_HALVINGS as i32);
        let mut time = 0.0;
        while dt - time > 1e-9 * dt {
            h = h.min(dt - time);
            if self.step(time, h, &mut blocks) {
                time += h;
                continue;
            }
            h *= 0.5;
            if h < least {
                return None;
            }
            self.links.iter_mut().flat_map(|link| &mut link.rows).for_each(|row| {
                row.impulse = 0.0;
            });
        }
        let rates = self.rates(dt);
        self.links.iter_mut().zip(rates).for_each(|(link, rates)| link.reaction.rates = rates);
        let reactions = self.links.iter().map(|link| (link.number, link.reaction)).collect();
        Some(Moved { parts: self.parts, reactions, work: self.work })
    }

    fn inner_steps(&self, dt: f64) -> f64 {
        let spins = self.parts.iter().map(|part| part.spin().norm());
        let props = self.props.iter().map(|prop| prop.velocity().fixed_rows::<3>(3).norm());
        let fastest = spins.chain(props).fold(0.0, f64::max);
        (fastest * dt / INNER_TURN).ceil().clamp(1.0, MAX_INNER_STEPS)
    }

    /// Warm start from the last reactions.
    fn guess(&mut self, joints: &[Joint], share: f64) {
        for link in &mut self.links {
            let last = &joints[link.number].last.impulses;
            for (row, last) in link.rows.iter_mut().zip(last) {
                row.impulse = last * share;
                match row.rule {
                    Rule::Limit if *last > 0.0 => row.act = Act::Keeps,
                    Rule::Limit => row.impulse = 0.0,
                    Rule::Always | Rule::Motor { .. } => {}
                }
            }
        }
    }

    /// An inner step of `h`, s, at `time`, s. Returns `false` and moves nothing if the iteration fails.
    fn step(&mut self, time: f64, h: f64, blocks: &mut Blocks<'_>) -> bool {
        let way = |prop: &Prop| Move::between([time, time + h].map(|t| prop.at(t)));
        let props: Vec<Move> = self.props.iter().map(way).collect();
        self.aim(&props, h);
        for part in &mut self.parts {
            let velocity = part.velocity();
            let push = part.acceleration * (0.5 * h);
            part.both = [(velocity.fixed_rows::<3>(0) + push) * h, velocity.fixed_rows::<3>(3) * h];
        }
        if !self.solve(&props, h, blocks) {
            return false;
        }
        self.keep(&props, h);
        let pushes = |row: &Held| row.rule == Rule::Limit && row.act == Act::Keeps;
        if self.links.iter().flat_map(|link| &link.rows).any(pushes) {
            self.stop(Stop::Limits, time + h, blocks);
        }
        true
    }

    /// Finds the active set and the impulses; `false` if it fails.
    fn solve(&mut self, props: &[Move], h: f64, blocks: &mut Blocks<'_>) -> bool {
        for _ in 0..ROUNDS {
            if !self.newton(props, h, blocks) {
                return false;
            }
            if !self.switch(props, h) {
                return true;
            }
        }
        false
    }

    fn moves(&self) -> Vec<Move> {
        let of = |part: &Part| Move::new(&part.pose, part.both[0], part.both[1]);
        self.parts.iter().map(of).collect()
    }

    /// Targets of motors. A motor has its speed at the end of the inner step.
    fn aim(&mut self, props: &[Move], h: f64) {
        let moves: Vec<Move> = self.parts.iter().map(|part| still(&part.pose)).collect();
        let props: Vec<Move> = props.iter().map(|prop| still(&prop.poses[0])).collect();
        let speeds = self.velocities();
        for link in &mut self.links {
            let sides = sides(link, &moves, &props);
            for row in &mut link.rows {
                let Rule::Motor { speed, most } = row.rule else { continue };
                if row.act == Act::Bound && most.is_finite() {
                    row.impulse = (most * h).copysign(row.impulse);
                }
                let line = row.line(&sides);
                let now = speed_of(&line, &link.ends, &speeds);
                row.target = line.value + 0.5 * h * (speed + now);
            }
        }
    }

    /// Velocities of parts and props.
    fn velocities(&self) -> [Vec<Vector6<f64>>; 2] {
        let parts = self.parts.iter().map(Part::velocity).collect();
        [parts, self.props.iter().map(Prop::velocity).collect()]
    }

    /// Newton iteration for translations, rotations and impulses of the active rows; the last iterations reuse
    /// the factorization. Returns `false` if it does not converge.
    fn newton(&mut self, props: &[Move], h: f64, blocks: &mut Blocks<'_>) -> bool {
        let mut last = f64::INFINITY;
        let mut is_near = false;
        for _ in 0..NEWTON_STEPS {
            let into = if is_near { None } else { Some(&mut *blocks) };
            let right = self.linearise(props, h, into);
            if !is_near && !blocks.factor() {
                return false;
            }
            let change = self.take(&blocks.solve(&right));
            // more than half a turn: diverged
            if !change.is_finite() || self.parts.iter().any(|part| part.both[1].norm() > 4.0) {
                return false;
            }
            if change < if is_near { SOLVED_NEAR } else { SOLVED } {
                return true;
            }
            is_near = change < NEAR && change < 0.1 * last;
            last = change;
        }
        false
    }

    /// Takes a Newton step; returns its size.
    fn take(&mut self, x: &[Vector6<f64>]) -> f64 {
        let mut largest = 0.0_f64;
        for (part, x) in self.parts.iter_mut().zip(x) {
            let (shift, turn) = (x.fixed_rows::<3>(0), x.fixed_rows::<3>(3));
            part.both[0] += shift;
            part.both[1] += turn;
            let change = (shift.norm() / self.size).max(turn.norm());
            largest = if change.is_finite() { largest.max(change) } else { f64::INFINITY };
        }
        for (link, x) in self.links.iter_mut().zip(&x[self.parts.len()..]) {
            let kept = link.rows.iter_mut().filter(|row| row.act == Act::Keeps);
            kept.zip(x.iter()).for_each(|(row, x)| row.impulse += x);
        }
        largest
    }

    /// Right side of a Newton step and, if wanted, the matrix.
    fn linearise(
        &self,
        props: &[Move],
        h: f64,
        mut blocks: Option<&mut Blocks<'_>>,
    ) -> Vec<Vector6<f64>> {
        let moves = self.moves();
        let mut right = vec![Vector6::zeros(); self.parts.len() + self.links.len()];
        let inverses = self.inverses(&moves);
        if let Some(blocks) = &mut blocks {
            blocks.clear();
        }
        for (i, part) in self.parts.iter().enumerate() {
            let (missed, slope) = part.law(&moves[i], h);
            right[i] = -missed;
            if let Some(blocks) = &mut blocks {
                blocks.add(i, i, &slope);
            }
        }
        for (n, link) in self.links.iter().enumerate() {
            let node = self.parts.len() + n;
            let sides = sides(link, &moves, props);
            let mut stiffness = Stiffness::default();
            let mut rows = RowBlocks::new();
            for row in &link.rows {
                if row.act == Act::Bound && row.impulse == 0.0 {
                    continue;
                }
                let line = row.form.line([&sides[0], &sides[1]], row.impulse, &mut stiffness);
                for (end, force) in link.ends.iter().zip(&line.force) {
                    if let End::Part(i) = end {
                        right[*i] += force * row.impulse;
                    }
                }
                if row.act == Act::Keeps {
                    if let Some(slot) = right[node].get_mut(rows.count) {
                        *slot = row.target - line.value;
                    }
                    let answer = answer(&inverses, &link.ends, &line);
                    rows.push(&line, answer * (0.5 * h * SHARING));
                }
            }
            let Some(blocks) = &mut blocks else { continue };
            rows.add_to(blocks, node, &link.ends);
            for (s, row) in stiffness.iter().enumerate() {
                for (t, block) in row.iter().enumerate() {
                    if let (End::Part(i), End::Part(j)) = (link.ends[s], link.ends[t]) {
                        blocks.add(i, j, block);
                    }
                }
            }
        }
        right
    }

    /// Inverse mass and inertia of each part.
    fn inverses(&self, moves: &[Move]) -> Vec<(f64, Matrix3<f64>)> {
        let of = |(part, own): (&Part, &Move)| {
            let inverse = Matrix3::from_diagonal(&part.inertia.map(|i| 1.0 / i));
            let rotation = &own.rotations[0];
            (1.0 / part.mass, rotation * inverse * rotation.transpose())
        };
        self.parts.iter().zip(moves).map(of).collect()
    }

    /// Releases active rows with impulses beyond their bounds and activates violated rows. Returns whether the
    /// active set changed.
    fn switch(&mut self, props: &[Move], h: f64) -> bool {
        let (moves, size) = (self.moves(), self.size);
        let mut changed = false;
        for link in &mut self.links {
            let sides = sides(link, &moves, props);
            changed |= switch_limits(&mut link.rows, [&sides[0], &sides[1]], size);
            let limit = |row: &Held| row.rule == Rule::Limit && row.act == Act::Keeps;
            let stopped = link.rows.iter().position(limit);
            let Some(at) = link.rows.iter().position(|row| matches!(row.rule, Rule::Motor { .. }))
            else {
                continue;
            };
            let lower = stopped == Some(at + 1);
            let motor = &mut link.rows[at];
            let over = motor.line(&sides).value - motor.target;
            changed |= switch_motor(motor, stopped.map(|_| lower), over, h);
        }
        changed
    }

    /// Moves bodies to the end of a solved inner step.
    fn keep(&mut self, props: &[Move], h: f64) {
        let moves = self.moves();
        let before: Vec<Vector3<f64>> =
            self.parts.iter().map(|part| part.momentum.linear).collect();
        for link in &mut self.links {
            let sides = sides(link, &moves, props);
            for (n, row) in link.rows.iter().enumerate().filter(|(_, row)| row.impulse != 0.0) {
                let line = row.line(&sides);
                let is_motor = matches!(row.rule, Rule::Motor { .. });
                for (end, force) in link.ends.iter().zip(&line.force) {
                    let (own, sign) = match *end {
                        End::Part(i) => {
                            self.parts[i].gain(&(force * row.impulse));
                            (&moves[i], if is_motor { 1.0 } else { 0.0 })
                        }
                        End::Prop(k) => (&props[k], if is_motor { 0.0 } else { -1.0 }),
                    };
                    self.work += sign * row.impulse * force.dot(&own.both()) / h;
                }
                add(&mut link.reaction, n, &line, row.impulse);
            }
        }
        for ((part, own), before) in self.parts.iter_mut().zip(&moves).zip(before) {
            part.momentum.linear += part.acceleration * (part.mass * h);
            // from the momenta, which conserves angular momentum exactly
            let shift = (before + part.momentum.linear) * (0.5 * h / part.mass);
            let place = part.pose.translation.vector + shift;
            part.pose = Isometry3::from_parts(place.into(), own.poses[1].rotation);
        }
    }

    /// Plastic impact: projects velocities so that the rows stop, at a time since the start, s.
    fn stop(&mut self, stop: Stop, time: f64, blocks: &mut Blocks<'_>) {
        let lines = self.lines(stop, time);
        blocks.clear();
        for (i, part) in self.parts.iter().enumerate() {
            let rotation = part.pose.rotation.to_rotation_matrix().into_inner();
            let mut own = Matrix6::identity() * part.mass;
            own.fixed_view_mut::<3, 3>(3, 3).copy_from(&part.world_inertia(&rotation));
            blocks.add(i, i, &own);
        }
        let moves: Vec<Move> = self.parts.iter().map(|part| still(&part.pose)).collect();
        let inverses = self.inverses(&moves);
        for (n, (link, lines)) in self.links.iter().zip(&lines).enumerate() {
            let mut rows = RowBlocks::new();
            let own = |line: &Line| answer(&inverses, &link.ends, line) * SHARING;
            lines.iter().for_each(|(_, line)| rows.push(line, own(line)));
            rows.add_to(blocks, self.parts.len() + n, &link.ends);
        }
        if !blocks.factor() {
            return;
        }
        // second pass: the regularisation leaves a small speed
        for _ in 0..2 {
            let speeds = self.velocities();
            let mut right = vec![Vector6::zeros(); self.parts.len()];
            for (link, lines) in self.links.iter().zip(&lines) {
                let mut own = Vector6::zeros();
                for (slot, (_, line)) in own.iter_mut().zip(lines) {
                    *slot = -speed_of(line, &link.ends, &speeds);
                }
                right.push(own);
            }
            let x = blocks.solve(&right);
            for ((link, lines), x) in self.links.iter_mut().zip(&lines).zip(&x[self.parts.len()..])
            {
                for ((n, line), impulse) in lines.iter().zip(x.iter()) {
                    for (end, force) in link.ends.iter().zip(&line.force) {
                        match *end {
                            End::Part(i) => self.parts[i].gain(&(force * *impulse)),
                            End::Prop(k) => {
                                self.work -= impulse * force.dot(&self.props[k].velocity());
                            }
                        }
                    }
                    add(&mut link.reaction, *n, line, *impulse);
                }
            }
        }
    }

    /// The rows of each joint to be stopped, at the present poses.
    fn lines(&self, stop: Stop, time: f64) -> Vec<Vec<(usize, Line)>> {
        let moves: Vec<Move> = self.parts.iter().map(|part| still(&part.pose)).collect();
        let props: Vec<Move> = self.props.iter().map(|prop| still(&prop.at(time))).collect();
        let of = |link: &Link| {
            let sides = sides(link, &moves, &props);
            let chosen = link.rows.iter().enumerate().filter(|(_, row)| match row.rule {
                Rule::Always => true,
                Rule::Limit => stop == Stop::Limits && row.act == Act::Keeps,
                Rule::Motor { .. } => false,
            });
            chosen.map(|(n, row)| (n, row.line(&sides))).collect()
        };
        self.links.iter().map(of).collect()
    }

    /// Speeds of the bilateral rows of each joint.
    fn rates(&self, time: f64) -> Vec<[f64; MAX_ROWS]> {
        let speeds = self.velocities();
        let of = |(link, lines): (&Link, Vec<(usize, Line)>)| {
            let mut rates = [0.0; MAX_ROWS];
            lines.iter().for_each(|(n, line)| rates[*n] = speed_of(line, &link.ends, &speeds));
            rates
        };
        self.links.iter().zip(self.lines(Stop::Joints, time)).map(of).collect()
    }

    /// Whether anything else changed the velocities since the last step. The midpoint rule closes joints by the
    /// mean of both ends, so the velocities at one end differ from the constraint by a small amount.
    fn was_struck(&self, joints: &[Joint]) -> bool {
        let speeds = self.parts.iter().map(|part| {
            let both = part.velocity();
            both.fixed_rows::<3>(0).norm() + self.size * both.fixed_rows::<3>(3).norm()
        });
        let fastest = speeds.fold(0.0, f64::max);
        let spin = fastest / self.size;
        self.links.iter().zip(self.rates(0.0)).any(|(link, rates)| {
            let last = &joints[link.number].last.rates;
            let differs = |(n, row): (usize, &Held)| {
                let scale = if row.is_angular() { spin } else { fastest };
                (rates[n] - last[n]).abs() > UNTOUCHED * scale
            };
            link.rows.iter().enumerate().any(differs)
        })
    }
}

impl Held {
    fn line(&self, sides: &[Side; 2]) -> Line {
        self.form.line([&sides[0], &sides[1]], self.impulse, &mut Stiffness::default())
    }
}

/// The active rows of a joint as a block.
struct RowBlocks {
    slopes: [Matrix6<f64>; 2],
    forces: [Matrix6<f64>; 2],
    own: Matrix6<f64>,
    count: usize,
}

impl RowBlocks {
    fn new() -> Self {
        let [slopes, forces] = [[Matrix6::zeros(); 2]; 2];
        Self { slopes, forces, own: Matrix6::identity(), count: 0 }
    }

    /// Adds an active row; a joint has at most six.
    fn push(&mut self, line: &Line, own: f64) {
        let n = self.count;
        self.count += 1;
        if n >= 6 {
            return;
        }
        for side in 0..2 {
            self.slopes[side].set_row(n, &line.slope[side].transpose());
            self.forces[side].set_column(n, &-line.force[side]);
        }
        self.own[(n, n)] = own;
    }

    fn add_to(&self, blocks: &mut Blocks<'_>, node: usize, ends: &[End; 2]) {
        blocks.add(node, node, &self.own);
        for (side, end) in ends.iter().enumerate() {
            if let End::Part(i) = *end {
                blocks.add(node, i, &self.slopes[side]);
                blocks.add(i, node, &self.forces[side]);
            }
        }
    }
}

fn still(pose: &Isometry3<f64>) -> Move {
    Move::new(pose, Vector3::zeros(), Vector3::zeros())
}

fn sides(link: &Link, moves: &[Move], props: &[Move]) -> [Side; 2] {
    [0, 1].map(|side| {
        let own = match link.ends[side] {
            End::Part(i) => &moves[i],
            End::Prop(k) => &props[k],
        };
        Side::new(own, &link.frames[side])
    })
}

/// Diagonal of the Delassus operator, `J M^-1 J^T`.
fn answer(inverses: &[(f64, Matrix3<f64>)], ends: &[End; 2], line: &Line) -> f64 {
    let of = |(end, row): (&End, &Vector6<f64>)| {
        let End::Part(i) = *end else { return 0.0 };
        let (mass, inertia) = &inverses[i];
        let (linear, angular) = (row.fixed_rows::<3>(0), row.fixed_rows::<3>(3));
        linear.norm_squared() * mass + angular.dot(&(inertia * angular))
    };
    ends.iter().zip(&line.force).map(of).sum()
}

/// `J v`.
fn speed_of(line: &Line, ends: &[End; 2], [parts, props]: &[Vec<Vector6<f64>>; 2]) -> f64 {
    let of = |(end, row): (&End, &Vector6<f64>)| match *end {
        End::Part(i) => row.dot(&parts[i]),
        End::Prop(k) => row.dot(&props[k]),
    };
    ends.iter().zip(&line.force).map(of).sum()
}

/// Adds the impulse of the `n`-th row to a reaction.
fn add(reaction: &mut Reaction, n: usize, line: &Line, impulse: f64) {
    let [linear, angular] = [0, 3].map(|first| line.force[0].fixed_rows::<3>(first).into_owned());
    reaction.impulses[n] += impulse;
    reaction.linear += linear * impulse;
    if linear == Vector3::zeros() {
        reaction.angular += angular * impulse;
    }
}

/// Releases limits with negative impulses and activates violated limits, of two the less violated. Returns
/// whether the active set changed.
fn switch_limits(rows: &mut [Held], sides: [&Side; 2], size: f64) -> bool {
    let passed = |row: &Held| {
        let least = if row.is_angular() { PASSED } else { PASSED * size };
        row.rule == Rule::Limit && row.act == Act::Bound && row.room(sides) < -least
    };
    let mut changed = false;
    for row in rows.iter_mut().filter(|row| row.rule == Rule::Limit && row.act == Act::Keeps) {
        if row.impulse < 0.0 {
            (row.act, row.impulse) = (Act::Bound, 0.0);
            changed = true;
        }
    }
    if changed || rows.iter().any(|row| row.rule == Rule::Limit && row.act == Act::Keeps) {
        return changed;
    }
    let nearest = rows.iter_mut().filter(|row| passed(row));
    if let Some(row) = nearest.max_by(|p, q| p.room(sides).total_cmp(&q.room(sides))) {
        row.act = Act::Keeps;
        changed = true;
    }
    changed
}

/// Bounds a motor at its maximum torque, or holds its speed if it would run `over`. Against a limit the motor
/// pushes with its maximum. Returns whether that changed.
fn switch_motor(motor: &mut Held, stopped: Option<bool>, over: f64, h: f64) -> bool {
    let Rule::Motor { most, .. } = motor.rule else { return false };
    let most = most * h;
    match (motor.act, stopped) {
        (Act::Keeps, Some(lower)) => {
            let push = if most.is_finite() { most } else { 0.0 };
            (motor.act, motor.impulse) = (Act::Bound, if lower { -push } else { push });
            true
        }
        (Act::Keeps, None) if motor.impulse.abs() > most * (1.0 + PASSED) => {
            (motor.act, motor.impulse) = (Act::Bound, most.copysign(motor.impulse));
            true
        }
        (Act::Bound, None) if over * motor.impulse.signum() > PASSED || !most.is_finite() => {
            motor.act = Act::Keeps;
            true
        }
        (Act::Keeps | Act::Bound, _) => false,
    }
}
