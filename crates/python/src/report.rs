//! Reports of frames.

use pyo3::prelude::*;

/// A body that broke.
#[pyclass(frozen, get_all, module = "brisance")]
#[derive(Clone)]
pub(crate) struct Break {
    /// Number of the body.
    body: u64,
    /// Numbers of its pieces.
    pieces: Vec<u64>,
    /// Point of impact in the world, m.
    point: [f64; 3],
    /// Impulse of the impact, N s.
    impulse: [f64; 3],
}

#[pymethods]
impl Break {
    fn __repr__(&self) -> String {
        format!("Break(body={}, {} pieces)", self.body, self.pieces.len())
    }
}

/// Events and energies of a frame. Energies are in J.
#[pyclass(frozen, get_all, module = "brisance")]
#[derive(Clone)]
pub(crate) struct Report {
    /// Number of the frame.
    frame: usize,
    /// Number of bodies at its end.
    bodies: usize,
    /// Number of awake bodies.
    awake: usize,
    /// Number of contacts.
    contacts: usize,
    /// Kinetic energy at its end.
    kinetic_energy: f64,
    /// Potential energy at its end, zero at the origin.
    potential_energy: f64,
    /// Work of kinematic bodies, motors and forces.
    work: f64,
    /// Energy dissipated by collisions, fracture, friction and the like.
    dissipated: f64,
    /// Growth of mechanical energy in the frame; at most `work`, up to rounding.
    energy_gain: f64,
    /// Largest residual of the contact solver, m/s.
    residual: f64,
    /// Whether a solver reached its limit.
    unsolved: bool,
    /// The bodies that broke.
    breaks: Vec<Break>,
}

#[pymethods]
impl Report {
    fn __repr__(&self) -> String {
        let Self { frame, bodies, contacts, breaks, .. } = self;
        format!(
            "Report(frame={frame}, bodies={bodies}, contacts={contacts}, {} breaks)",
            breaks.len()
        )
    }
}

impl From<&sim::Report> for Report {
    fn from(report: &sim::Report) -> Self {
        Self {
            frame: report.frame,
            bodies: report.counters.bodies,
            awake: report.counters.awake,
            contacts: report.counters.contacts,
            kinetic_energy: report.energy.kinetic,
            potential_energy: report.energy.potential,
            work: report.energy.work,
            dissipated: report.energy.dissipation.total(),
            energy_gain: report.energy.gain,
            residual: report.counters.residual,
            unsolved: report.events.unsolved,
            breaks: report.events.fractures.iter().map(Break::from).collect(),
        }
    }
}

impl From<&sim::Fracture> for Break {
    fn from(fracture: &sim::Fracture) -> Self {
        Self {
            body: fracture.parent.number(),
            pieces: fracture.fragments.iter().map(|id| id.number()).collect(),
            point: fracture.point.coords.into(),
            impulse: fracture.impulse.into(),
        }
    }
}

/// Result of a ray cast or a search for the nearest body.
#[pyclass(frozen, get_all, module = "brisance")]
#[derive(Clone, Copy)]
pub(crate) struct Hit {
    /// Number of the body.
    body: u64,
    /// Distance, m.
    distance: f64,
    /// Point in the world, m.
    point: [f64; 3],
    /// Unit normal out of the body.
    normal: [f64; 3],
}

#[pymethods]
impl Hit {
    fn __repr__(&self) -> String {
        format!("Hit(body={}, distance={:?})", self.body, self.distance)
    }
}

impl From<sim::CastHit> for Hit {
    fn from(hit: sim::CastHit) -> Self {
        let sim::CastHit { body, distance, point, normal } = hit;
        Self { body: body.number(), distance, point: point.coords.into(), normal: normal.into() }
    }
}

impl From<sim::NearestBody> for Hit {
    fn from(found: sim::NearestBody) -> Self {
        let sim::NearestBody { body, distance, point, normal } = found;
        Self { body: body.number(), distance, point: point.coords.into(), normal: normal.into() }
    }
}

/// State of a joint.
#[pyclass(frozen, get_all, module = "brisance")]
#[derive(Clone, Copy)]
pub(crate) struct Joint {
    /// Numbers of its bodies.
    bodies: [u64; 2],
    /// Angle of a hinge, rad, displacement of a slider or length of a distance joint, m.
    coordinate: f64,
    /// Force on the first body in the last frame, N.
    force: [f64; 3],
    /// Torque on the first body about the anchor in the last frame, N m.
    torque: [f64; 3],
    /// Speed and largest force or torque of its motor.
    motor: Option<(f64, f64)>,
}

#[pymethods]
impl Joint {
    fn __repr__(&self) -> String {
        let [a, b] = self.bodies;
        format!("Joint(bodies=[{a}, {b}], coordinate={:?})", self.coordinate)
    }
}

impl From<sim::JointState> for Joint {
    fn from(state: sim::JointState) -> Self {
        Self {
            bodies: state.bodies.map(|id| id.number()),
            coordinate: state.coordinate,
            force: state.force.into(),
            torque: state.torque.into(),
            motor: state.motor.map(|motor| (motor.speed, motor.max_force)),
        }
    }
}
