//! Contacts of several pairs in lanes, for projected Gauss-Seidel: a unilateral normal and friction
//! in a disc.

use nalgebra::Vector3;

use crate::lanes::{LANES, Narrow, Narrow3, Wide, Wide3, WideSymmetric, within_disc};
use crate::narrow::contacts::MAX_CONTACTS;
use crate::solve::movers::{Held, Movers};
use crate::solve::rolling::{Torque, TorqueRow, Torques};

/// The row of a contact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// Index of the contact.
    pub(crate) index: u32,
    pub(crate) normal: Vector3<f64>,
    /// Lever arm from the first body, m.
    pub(crate) arm: Vector3<f64>,
    /// Target separation speed, m/s.
    pub(crate) target: f64,
    pub(crate) friction: f64,
}

/// The n-th contact of each pair.
///
/// Sweeps are bound by memory, so that inexact data is single precision: impulses stay exactly
/// opposite.
#[derive(Clone, Debug, Default)]
struct Slot {
    normal: Narrow3,
    /// Lever arm from the first body, m.
    arm: Wide3,
    /// Change of relative velocity along the tangents by a unit impulse along the normal.
    response: Narrow3,
    normal_mass: Wide,
    /// Step along the tangents that cannot overshoot in any direction; zero without friction.
    tangent_mass: Narrow,
    target: Narrow,
    push: Wide,
    /// Friction impulse.
    drag: Wide3,
    contacts: [u32; LANES],
}

const NONE: u32 = u32::MAX;

/// Pairs that share no dynamic body, one per lane.
#[derive(Clone, Debug, Default)]
pub(crate) struct Batch {
    bodies: [[u32; LANES]; 2],
    /// 1 if a body takes part in shock propagation, 0 if shock propagation holds it.
    free: [Wide; 2],
    /// 1 if few pairs hold a body of the pair in shock propagation, else 0.
    sparse: Wide,
    /// From the second body to the first, m.
    apart: Wide3,
    friction: Narrow,
    /// Upper bound of [`Sweep::settled`] for each pair, m/s; for a push-out a length, m.
    tolerance: Narrow,
    used: usize,
    /// Sweep in which the batch was last relaxed; 0 if never.
    relaxed: u32,
    /// Whether the effective masses are those of shock propagation, if computed.
    weighed: Option<bool>,
    slots: [Slot; MAX_CONTACTS],
    /// Rolling and spinning friction of its pairs, if any.
    torques: Option<Box<Torques>>,
}

impl Batch {
    /// Removes all pairs; `static_index` is a static body.
    pub(crate) fn clear(&mut self, static_index: u32) {
        self.bodies = [[static_index; LANES]; 2];
        self.free = [Wide::default(); 2];
        self.sparse = Wide::default();
        self.apart = Wide3::default();
        self.friction = Narrow::default();
        self.tolerance = Narrow::default();
        self.used = 0;
        self.relaxed = 0;
        self.weighed = None;
        self.torques = None;
    }

    /// Puts a pair in a lane. `free` is whether shock propagation may move each body, `sparse`
    /// whether few pairs hold one of them there; `apart` is the vector from the second to the
    /// first, m.
    pub(crate) fn set(
        &mut self,
        lane: usize,
        pair: (u32, u32),
        free: (bool, bool),
        sparse: bool,
        apart: &Vector3<f64>,
        rows: impl Iterator<Item = Row>,
    ) {
        (self.bodies[0][lane], self.bodies[1][lane]) = pair;
        self.free[0].0[lane] = f64::from(u8::from(free.0));
        self.free[1].0[lane] = f64::from(u8::from(free.1));
        self.sparse.0[lane] = f64::from(u8::from(sparse));
        self.apart.set(lane, (*apart).into());
        for (n, row) in rows.enumerate() {
            let slot = &mut self.slots[n];
            if n == self.used {
                *slot = Slot { contacts: [NONE; LANES], ..Slot::default() };
                self.used += 1;
            }
            slot.contacts[lane] = row.index;
            slot.normal.set(lane, row.normal.into());
            slot.arm.set(lane, row.arm.into());
            slot.target.0[lane] = row.target as f32;
            self.friction.0[lane] = row.friction as f32;
        }
    }

    /// Sets the upper bound of [`Sweep::settled`] for the pair in a lane, m/s; for a push-out, m.
    pub(crate) fn set_tolerance(&mut self, lane: usize, tolerance: f64) {
        self.tolerance.0[lane] = tolerance as f32;
    }

    /// Adds the torque of the pair in a lane.
    pub(crate) fn set_torque(&mut self, lane: usize, row: &TorqueRow) {
        self.torques.get_or_insert_default().set(lane, row);
    }

    /// Sum of the normal impulses of each pair, N s.
    #[inline(always)]
    fn push(&self) -> Wide {
        self.slots[..self.used].iter().fold(Wide::default(), |sum, slot| sum + slot.push)
    }

    /// Computes the effective masses of contacts; if `shock`, bodies that are not free have
    /// infinite mass.
    #[inline(always)]
    fn weigh(&mut self, movers: &Movers, shock: bool) {
        if self.weighed == Some(shock) {
            return;
        }
        self.weighed = Some(shock);
        let [a, b] = self.held(movers, shock);
        let friction = self.friction.wide();
        if let Some(torques) = &mut self.torques {
            torques.weigh(&a, &b);
        }
        for slot in &mut self.slots[..self.used] {
            let (normal, arm) = (slot.normal.wide(), slot.arm + self.apart);
            let k = effective_mass(&a, &slot.arm) + effective_mass(&b, &arm);
            let response = k.mul(&normal);
            let along = response.dot(&normal);
            let active =
                std::array::from_fn(|lane| f64::from(u8::from(slot.contacts[lane] != NONE)));
            slot.normal_mass =
                along.zip(Wide(active), |k, on| if k * on > 0.0 { 1.0 / k } else { 0.0 });
            // the larger eigenvalue of K in the tangent plane, from its trace and its square
            let trace = k.trace() - along;
            let square =
                k.square() - response.dot(&response) - response.dot(&response) + along * along;
            let half = trace.map(|t| 0.5 * t);
            let root = (square.map(|s| 0.5 * s) - half * half).map(|x| x.max(0.0).sqrt());
            let largest = half + root;
            slot.tangent_mass = Narrow::new(largest.zip(slot.normal_mass * friction, |k, on| {
                if k > 0.0 && on > 0.0 { 1.0 / k } else { 0.0 }
            }));
            slot.response = Narrow3::new(&(response - normal * along));
        }
    }

    /// Applies the warm start on the first body of each contact and of the torques, within the
    /// bounds of the contacts.
    #[inline(always)]
    pub(crate) fn start(&mut self, movers: &Movers, guess: &[Vector3<f64>], torques: &[Torque]) {
        self.weigh(movers, false);
        let [mut a, mut b] = self.held(movers, false);
        for slot in &mut self.slots[..self.used] {
            let mut j = Wide3::default();
            for (lane, &contact) in slot.contacts.iter().enumerate() {
                if contact != NONE {
                    j.set(lane, guess[contact as usize].into());
                }
            }
            let on = slot.normal_mass.map(|m| if m > 0.0 { 1.0 } else { 0.0 });
            let normal = slot.normal.wide();
            slot.push = normal.dot(&j).map(|x| x.max(0.0)) * on;
            let across = j - normal * normal.dot(&j);
            slot.drag = within_disc(&across, self.friction.wide() * slot.push);
            let impulse = normal * slot.push + slot.drag;
            a.push(&impulse, &slot.arm);
            b.pull(&impulse, &(slot.arm + self.apart));
        }
        let push = self.push();
        if let Some(own) = &mut self.torques {
            own.start((&mut a, &mut b), push, torques);
        }
        self.put(movers, &a, &b);
    }

    /// One Gauss-Seidel step: for each contact an exact minimization over the normal impulse, then
    /// a projected gradient step over friction, which cannot raise the energy either. Returns
    /// whether a speed at a contact changed.
    #[inline(always)]
    fn relax(&mut self, sweep: &Sweep<'_>) -> bool {
        let [mut a, mut b] = self.held(sweep.movers, sweep.shock);
        let settled = self.settled(sweep);
        let rough = Wide([sweep.rough; LANES]);
        let (mut changed, friction) = (Wide::default(), self.friction.wide());
        for _ in 0..=sweep.repeats {
            let (mut excess, mut much) = (Wide::default(), Wide::default());
            for slot in &mut self.slots[..self.used] {
                // ordered for a short dependency chain, which limits the speed
                let (normal, arm, other) = (slot.normal.wide(), slot.arm, slot.arm + self.apart);
                let u = a.at(&arm) - b.at(&other);
                let along = normal.dot(&u);
                let wanted = (slot.target.wide() - along) * slot.normal_mass;
                let push = (slot.push + wanted).map(|x| x.max(0.0));
                let more = push - slot.push;
                let slip = u - normal * along + slot.response.wide() * more;
                let tangent_mass = slot.tangent_mass.wide();
                let drag = slot.drag - slip * tangent_mass;
                let drag = within_disc(&drag, friction * push);
                let across = drag - slot.drag;
                let impulse = normal * more + across;
                a.push(&impulse, &arm);
                b.pull(&impulse, &other);
                slot.push = push;
                slot.drag = drag;
                let (along, across) = (more * more, across.dot(&across));
                let beyond = |speed: Wide| {
                    let (least, most) = (slot.normal_mass * speed, tangent_mass * speed);
                    (along - least * least).zip(across - most * most, f64::max)
                };
                excess = excess.zip(beyond(settled), f64::max);
                much = much.zip(beyond(rough) * self.sparse, f64::max);
            }
            let push = self.push();
            if let Some(torques) = &mut self.torques {
                let beyond = torques.relax((&mut a, &mut b), push, settled);
                excess = excess.zip(beyond, f64::max);
            }
            changed = changed.zip(excess, f64::max);
            if !much.0.iter().any(|&x| x > 0.0) {
                break;
            }
        }
        self.put(sweep.movers, &a, &b);
        self.end(sweep, changed)
    }

    /// [`Batch::relax`] without friction.
    #[inline(always)]
    fn relax_normals(&mut self, sweep: &Sweep<'_>) -> bool {
        let [mut a, mut b] = self.held(sweep.movers, sweep.shock);
        let mut excess = Wide::default();
        let settled = self.settled(sweep);
        for slot in &mut self.slots[..self.used] {
            let (normal, arm, other) = (slot.normal.wide(), slot.arm, slot.arm + self.apart);
            let u = a.at(&arm) - b.at(&other);
            let wanted = (slot.target.wide() - normal.dot(&u)) * slot.normal_mass;
            let push = (slot.push + wanted).map(|x| x.max(0.0));
            let more = push - slot.push;
            let impulse = normal * more;
            a.push(&impulse, &arm);
            b.pull(&impulse, &other);
            slot.push = push;
            let least = slot.normal_mass * settled;
            excess = excess.zip(more * more - least * least, f64::max);
        }
        self.put(sweep.movers, &a, &b);
        self.end(sweep, excess)
    }

    /// Change of speed at a contact of each pair that counts as none, m/s.
    #[inline(always)]
    fn settled(&self, sweep: &Sweep<'_>) -> Wide {
        self.tolerance.wide().map(|speed| speed.min(sweep.settled))
    }

    /// Whether no body changed since the pairs were last relaxed, so that changes would stay below
    /// [`Sweep::settled`].
    #[inline(always)]
    fn is_still(&self, movers: &Movers) -> bool {
        let [p, q] = &self.bodies;
        p.iter().chain(q).all(|&body| movers.changed(body) < self.relaxed)
    }

    /// Records which pairs changed: those with a positive number. Returns whether any did.
    #[inline(always)]
    fn end(&mut self, sweep: &Sweep<'_>, changed: Wide) -> bool {
        self.relaxed = sweep.number;
        let mut any = false;
        for (lane, _) in changed.0.iter().enumerate().filter(|&(_, &x)| x > 0.0) {
            any = true;
            self.bodies.iter().for_each(|bodies| sweep.movers.note_change(bodies[lane]));
        }
        any
    }

    /// Writes the impulse of each contact and each torque to its index.
    pub(crate) fn write(&self, impulses: &mut [Vector3<f64>], torques: &mut [Torque]) {
        if let Some(own) = &self.torques {
            own.write(torques);
        }
        for slot in &self.slots[..self.used] {
            let impulse = slot.normal.wide() * slot.push + slot.drag;
            for (lane, &contact) in slot.contacts.iter().enumerate() {
                if contact != NONE {
                    impulses[contact as usize] = impulse.of(lane).into();
                }
            }
        }
    }

    #[inline(always)]
    fn held(&self, movers: &Movers, shock: bool) -> [Held; 2] {
        let [p, q] = &self.bodies;
        let (a, b) = (movers.held(p), movers.held(q));
        if shock { [a.scaled(self.free[0]), b.scaled(self.free[1])] } else { [a, b] }
    }

    #[inline(always)]
    fn put(&self, movers: &Movers, a: &Held, b: &Held) {
        movers.put(&self.bodies[0], a);
        movers.put(&self.bodies[1], b);
    }
}

/// How contacts are relaxed.
pub(crate) struct Sweep<'a> {
    /// From 1 upwards.
    pub(crate) number: u32,
    pub(crate) movers: &'a Movers,
    pub(crate) friction: bool,
    /// Whether shock propagation holds bodies that are not free.
    pub(crate) shock: bool,
    /// Change of speed at a contact that counts as none, m/s.
    pub(crate) settled: f64,
    /// Change of speed, m/s, above which a sparse pair is relaxed again at once, and the limit of
    /// repeats.
    pub(crate) rough: f64,
    pub(crate) repeats: usize,
    /// Whether to skip pairs that can hardly change.
    pub(crate) lazy: bool,
}

impl Sweep<'_> {
    /// Relaxes batches one after the other on the widest vectors of the processor. Returns whether
    /// a speed changed.
    pub(crate) fn over(&self, batches: &mut [Batch]) -> bool {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            #[expect(unsafe_code, reason = "measured: see the notes of the pile benchmark")]
            // SAFETY: the processor has AVX2, as just checked
            return unsafe { self.over_wide(batches) };
        }
        self.each(batches)
    }

    /// [`Sweep::each`] on vectors of four numbers. Nothing is fused, so the bits are the same.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn over_wide(&self, batches: &mut [Batch]) -> bool {
        self.each(batches)
    }

    #[inline(always)]
    fn each(&self, batches: &mut [Batch]) -> bool {
        let mut any = false;
        let rests = |batch: &Batch| batch.used == 0 || self.lazy && batch.is_still(self.movers);
        for batch in batches.iter_mut().filter(|batch| !rests(batch)) {
            batch.weigh(self.movers, self.shock);
            // no short circuit: every batch is relaxed
            any |= if self.friction { batch.relax(self) } else { batch.relax_normals(self) };
        }
        any
    }
}

/// `K` of GBF03 for one body per lane.
#[inline(always)]
fn effective_mass(body: &Held, arm: &Wide3) -> WideSymmetric {
    // columns of [r]: r x e for each axis e
    let [x, y, z] = arm.0;
    let none = Wide::default();
    let columns =
        [Wide3([none, z, none - y]), Wide3([none - z, none, x]), Wide3([y, none - x, none])];
    let spun: [Wide3; 3] = std::array::from_fn(|k| body.inverse_inertia.mul(&columns[k]));
    let m = body.inverse_mass;
    WideSymmetric([
        m + columns[0].dot(&spun[0]),
        m + columns[1].dot(&spun[1]),
        m + columns[2].dot(&spun[2]),
        columns[0].dot(&spun[1]),
        columns[0].dot(&spun[2]),
        columns[1].dot(&spun[2]),
    ])
}

#[cfg(test)]
mod tests {
    use dynamics::{Body, MassProperties, Velocity};
    use nalgebra::{Isometry3, Vector3};

    use super::*;
    use crate::{Columns, Groups, Material, Shape};

    /// Contacts of four pairs of bodies that approach, slide and turn.
    fn batches(static_index: u32) -> Vec<Batch> {
        let mut batch = Batch::default();
        batch.clear(static_index);
        for lane in 0..LANES {
            let rows = (0..MAX_CONTACTS).map(|n| {
                let (x, z) = (0.3 * f64::from(n as u32 % 2) - 0.1, 0.1 * (n as f64) - 0.2);
                let normal = Vector3::new(0.1 * x, 1.0, z).normalize();
                let arm = Vector3::new(x, -0.5, z);
                Row { index: n as u32, normal, arm, target: 0.01 * x, friction: 0.4 }
            });
            let apart = Vector3::new(0.0, 1.0, 0.1 * lane as f64);
            let pair = (lane as u32, (lane + LANES) as u32);
            batch.set(lane, pair, (true, lane % 2 == 0), true, &apart, rows);
        }
        vec![batch]
    }

    #[test]
    fn wide_vectors_give_the_same_bits() {
        let count = 2 * LANES;
        let mass = |i: usize| MassProperties::new(1.0 + i as f64, Vector3::new(0.1, 0.2, 0.15));
        let bodies: Vec<Body> = (0..count).map(|i| Body::Dynamic(mass(i).unwrap())).collect();
        let shape = std::sync::Arc::new(Shape::empty());
        let shapes: Vec<_> = (0..count).map(|_| shape.clone()).collect();
        let (materials, groups) =
            (vec![Material::default(); count], vec![Groups::default(); count]);
        let columns =
            Columns { bodies: &bodies, shapes: &shapes, materials: &materials, groups: &groups };
        let start: Vec<Velocity> = (0..count)
            .map(|i| Velocity {
                linear: Vector3::new(0.3 * i as f64, if i < LANES { -1.0 } else { 0.5 }, 0.1),
                angular: Vector3::new(0.2, -0.1 * i as f64, 0.4),
            })
            .collect();
        let poses = vec![Isometry3::identity(); count];
        let bits = |wide: bool| {
            let mut movers = Movers::new(columns, &poses, &start);
            let mut batches = batches(movers.static_index());
            for friction in [true, false] {
                let number = movers.begin_sweep();
                let sweep = Sweep {
                    number,
                    movers: &movers,
                    friction,
                    shock: true,
                    settled: 1e-6,
                    rough: 1e-3,
                    repeats: 3,
                    lazy: true,
                };
                let changed =
                    if wide { sweep.over(&mut batches) } else { sweep.each(&mut batches) };
                assert!(changed);
            }
            let moved = (0..count).map(|i| movers.velocity(i));
            moved
                .flat_map(|v| [v.linear, v.angular])
                .flat_map(|v| [v.x, v.y, v.z].map(f64::to_bits))
                .collect::<Vec<_>>()
        };
        assert_eq!(bits(true), bits(false));
    }
}
