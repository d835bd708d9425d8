//! Settings of a world.

use nalgebra::Vector3;

use crate::Debris;
use crate::world::limits::MAX_NUMBER;

/// Settings of a world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Duration of a frame, which is one time step, s: positive, and at most 1e30. Contacts are solved
    /// to about 1e-5 m/s, and bodies move by that error times the step: cubes of 0.4 m rest in steps of 3 s;
    /// in steps of 10 s they turn and sink.
    pub dt: f64,
    /// Acceleration of all dynamic bodies, m/s^2. Beyond 1e30 or not finite it freezes them in every
    /// frame, and counts as 0 in energies.
    pub gravity: Vector3<f64>,
    /// Iterations and tolerances of collision and contact.
    pub contact: contact::Settings,
    /// Whether the energy of islands of touching bodies is bounded, and islands without contact to
    /// static or kinematic bodies conserve their angular momentum. Without effect on
    /// [`contact::Solver::Ku07`], whose impulses add no energy.
    pub bound_energy: bool,
    /// Limit of impacts beyond its strength to which a body responds in one frame. Pieces may break
    /// again in the frame in which they appear; the responses of the bodies from which they come
    /// count too.
    pub break_rounds: usize,
    /// Limits on pieces.
    pub debris: Debris,
    /// Whether bodies stay in the plane parallel to xy in which they start and rotate about z
    /// alone: a two-dimensional world, its bodies extruded along z. Each needs a principal axis
    /// along z, and should be symmetric about its plane. [`World::add`](crate::World::add) freezes
    /// a body without such an axis. Nothing breaks.
    pub plane: bool,
    /// Whether bodies at rest for half a second fall asleep. [`contact::Solver::Reference`] cannot
    /// detect what wakes them; with it none falls asleep.
    pub sleep: bool,
}

impl Settings {
    /// Whether the time step is within its limits, and the numbers of `contact` are
    /// [usable](contact::Settings::is_usable). A [`World`](crate::World) with others freezes every
    /// body that is added.
    ///
    /// ```
    /// use brisance_sim::Settings;
    ///
    /// assert!(Settings::default().is_usable());
    /// assert!(!Settings { dt: 0.0, ..Settings::default() }.is_usable());
    /// ```
    pub fn is_usable(&self) -> bool {
        self.dt > 0.0 && self.dt <= MAX_NUMBER && self.contact.is_usable()
    }

    /// Whether gravity is within its limits.
    pub(crate) fn has_gravity(&self) -> bool {
        self.gravity.iter().all(|x| x.abs() <= MAX_NUMBER)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            dt: 1.0 / 30.0,
            gravity: Vector3::new(0.0, -9.81, 0.0),
            contact: contact::Settings::default(),
            bound_energy: true,
            break_rounds: 3,
            debris: Debris::default(),
            plane: false,
            sleep: true,
        }
    }
}
