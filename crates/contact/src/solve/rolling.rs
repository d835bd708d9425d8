//! Rolling and spinning friction: torques against the relative rotation of bodies in contact,
//! solved with the contacts. A torque across the normal is at most the normal force times the
//! coefficient of rolling friction, one about the normal times that of spinning friction. The
//! coefficients are lengths, as in MuJoCo.
//!
//! GBF03 (section 4) stops the rotation before the contact pass. That takes 2/7 of the momentum of
//! a rolling ball, and none from one that starts to roll down a slope. As rows of the contact
//! problem the torques stop both.

use dynamics::Body;
use nalgebra::Vector3;

use crate::body::Columns;
use crate::frame::Frame;
use crate::lanes::{LANES, Narrow, Narrow3, Wide, Wide3, within_disc};
use crate::narrow::contacts::{Contacts, Manifold};
use crate::solve::movers::Held;

/// Rolling and spinning friction of a pair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Torque {
    /// Index of the manifold.
    pub(crate) pair: u32,
    /// Largest torque across the normal and about it, divided by the normal force, m.
    pub(crate) arms: [f64; 2],
    /// Angular impulse on the first body, N m s.
    pub(crate) impulse: Vector3<f64>,
}

/// The torques of all pairs with such friction, by ascending manifold, warm-started with `share` of
/// the impulses of the last frame.
pub(crate) fn torques(frame: Frame<'_>, contacts: &Contacts, share: f64) -> Vec<Torque> {
    let Frame { columns, cache, names, .. } = frame;
    let arms = |pair: &Manifold| {
        let [p, q] = [pair.a, pair.b].map(|i| &columns.materials[i as usize]);
        p.rolling_with(q)
    };
    let all = (0..).zip(contacts.manifolds()).map(|(n, pair)| (n, pair, arms(pair)));
    let mut cursor = cache.start();
    let torque = |(pair, manifold, arms): (u32, &Manifold, [f64; 2])| {
        let known = cursor.find([manifold.a, manifold.b].map(|i| names[i as usize]));
        let impulse = known.map_or_else(Vector3::zeros, |known| known.torque * share);
        Torque { pair, arms, impulse }
    };
    all.filter(|(.., arms)| *arms != [0.0; 2]).map(torque).collect()
}

/// Index of a manifold's torque among `all`.
pub(crate) fn of_pair(all: &[Torque], pair: u32) -> Option<usize> {
    all.binary_search_by_key(&pair, |torque| torque.pair).ok()
}

/// The mean normal of the contacts of a pair; `None` if they cancel.
pub(crate) fn mean_normal(contacts: &Contacts, pair: &Manifold) -> Option<Vector3<f64>> {
    let sum: Vector3<f64> = contacts.of(pair).iter().map(|contact| contact.normal).sum();
    sum.try_normalize(0.0)
}

/// Adds to `work` the work of rotating kinematic bodies by the torques, J.
pub(crate) fn add_work_of_kinematic_bodies(
    columns: Columns<'_>,
    contacts: &Contacts,
    torques: &[Torque],
    work: &mut [f64],
) {
    for torque in torques {
        let pair = &contacts.manifolds()[torque.pair as usize];
        let (a, b) = (pair.a as usize, pair.b as usize);
        match (&columns.bodies[a], &columns.bodies[b]) {
            (Body::Dynamic(_), Body::Kinematic(velocity)) => {
                work[a] += torque.impulse.dot(&velocity.angular);
            }
            (Body::Kinematic(velocity), Body::Dynamic(_)) => {
                work[b] -= torque.impulse.dot(&velocity.angular);
            }
            _ => {}
        }
    }
}

/// The torque of a pair, for a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TorqueRow {
    /// Index of the torque.
    pub(crate) index: u32,
    pub(crate) normal: Vector3<f64>,
    /// Arms across the normal and about it, m.
    pub(crate) arms: [f64; 2],
    /// Distance of the first body's center from a contact, m: converts a change of rotation to m/s.
    pub(crate) reach: f64,
}

const NONE: u32 = u32::MAX;

/// Torques of the pairs of a batch, one per lane.
#[derive(Clone, Debug)]
pub(crate) struct Torques {
    normal: Narrow3,
    /// Arms across the normal and about it, m.
    arms: [Narrow; 2],
    reach: Narrow,
    /// Step that cannot overshoot about any axis, kg m^2.
    inertia: Wide,
    impulse: Wide3,
    index: [u32; LANES],
}

impl Default for Torques {
    fn default() -> Self {
        let (normal, arms, reach) = (Narrow3::default(), [Narrow::default(); 2], Narrow::default());
        let (inertia, impulse) = (Wide::default(), Wide3::default());
        Self { normal, arms, reach, inertia, impulse, index: [NONE; LANES] }
    }
}

impl Torques {
    pub(crate) fn set(&mut self, lane: usize, row: &TorqueRow) {
        self.normal.set(lane, row.normal.into());
        for (own, arm) in self.arms.iter_mut().zip(row.arms) {
            own.0[lane] = arm as f32;
        }
        self.reach.0[lane] = row.reach as f32;
        self.index[lane] = row.index;
    }

    /// Computes the effective inertia of the pairs.
    #[inline(always)]
    pub(crate) fn weigh(&mut self, a: &Held, b: &Held) {
        let answer = a.inverse_inertia + b.inverse_inertia;
        let mean = answer.trace().map(|trace| trace / 3.0);
        let variance = answer.square().map(|square| square / 3.0) - mean * mean;
        // no eigenvalue is larger (Wolkowicz and Styan 1980)
        let largest = mean + variance.map(|x| (2.0 * x.max(0.0)).sqrt());
        self.inertia = largest.map(|x| if x > 0.0 { 1.0 / x } else { 0.0 });
    }

    /// Applies the warm start of the torques within the bounds of the contacts, which push by
    /// `push` N s.
    #[inline(always)]
    pub(crate) fn start(&mut self, (a, b): (&mut Held, &mut Held), push: Wide, all: &[Torque]) {
        let mut guess = Wide3::default();
        for (lane, &index) in self.index.iter().enumerate() {
            if index != NONE {
                guess.set(lane, all[index as usize].impulse.into());
            }
        }
        self.impulse = self.bounded(&guess, push);
        a.turn(&self.impulse);
        b.turn(&(Wide3::default() - self.impulse));
    }

    /// A projected gradient step, which cannot raise the energy. Returns the excess of the change
    /// of speed at the contacts over `settled` m/s, without unit; zero if there is none.
    #[inline(always)]
    pub(crate) fn relax(
        &mut self,
        (a, b): (&mut Held, &mut Held),
        push: Wide,
        settled: Wide,
    ) -> Wide {
        let spin = a.angular() - b.angular();
        let wanted = self.impulse - spin * self.inertia;
        let impulse = self.bounded(&wanted, push);
        let more = impulse - self.impulse;
        a.turn(&more);
        b.turn(&(Wide3::default() - more));
        self.impulse = impulse;
        let (moved, least) = (more * self.reach.wide(), self.inertia * settled);
        moved.dot(&moved) - least * least
    }

    #[inline(always)]
    fn bounded(&self, torque: &Wide3, push: Wide) -> Wide3 {
        let [rolling, spinning] = self.arms.map(|arms| arms.wide() * push);
        let normal = self.normal.wide();
        let about = normal.dot(torque);
        let across = within_disc(&(*torque - normal * about), rolling);
        across + normal * about.zip(spinning, |about, most| about.clamp(-most, most))
    }

    /// Writes the torques to their places.
    pub(crate) fn write(&self, all: &mut [Torque]) {
        for (lane, &index) in self.index.iter().enumerate() {
            if index != NONE {
                all[index as usize].impulse = self.impulse.of(lane).into();
            }
        }
    }
}
