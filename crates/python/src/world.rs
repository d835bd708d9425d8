//! Worlds.

use dynamics::Velocity;
use nalgebra::{Point3, Vector3};
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::exceptions::{PyKeyError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sim::{BodyId, Event, Filter, Recorder};

use crate::action::{Action, ActionResult, Body};
use crate::arrays;
use crate::failure::brisance_error;
use crate::interrupt::detached;
use crate::mesh::{Mesh, mesh};
use crate::recording::Recording;
use crate::report::{Break, Hit, Joint, Report};
use crate::scene::{Scene, Start};

/// The bodies of a scene; `step` advances them.
///
/// A world is for one thread at a time: while `step` or `run` runs, calls from other threads and from `progress` raise
/// a `RuntimeError`. `copy` gives another thread its own world.
#[pyclass(module = "brisance")]
pub(crate) struct World {
    pub(crate) scene: Py<Scene>,
    pub(crate) world: sim::World,
    pub(crate) recorder: Recorder,
    /// Whether the recorder keeps poses.
    records: bool,
    events: Vec<Event>,
    report: Option<Report>,
    /// All actions on the world.
    pub(crate) history: Vec<Action>,
}

/// Vertices and triangles, as given.
type Surface<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);

/// Contents of pickles: the scene, whether poses are recorded, and the actions.
type Pickled = (Py<Scene>, bool, Vec<u8>);

#[pymethods]
impl World {
    /// The world of a scene before its first frame. With `record=False` the world keeps no past poses, and `recording`
    /// is empty.
    #[new]
    #[pyo3(signature = (scene, *, record=true))]
    fn new(py: Python<'_>, scene: Py<Scene>, record: bool) -> PyResult<Self> {
        let Start { world, appearances, camera } = detached(py, || scene.get().start())??;
        let recorder = Recorder::new(&world, &appearances).with_camera(camera);
        let (events, report, history) = (Vec::new(), None, Vec::new());
        Ok(Self { scene, world, recorder, records: record, events, report, history })
    }

    /// Simulates `n` frames; returns a report of each frame. Calls `progress(frame, bodies)` after each frame.
    #[pyo3(signature = (n=1, *, progress=None))]
    fn step(
        &mut self,
        py: Python<'_>,
        n: usize,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<Report>> {
        let mut reports = Vec::new();
        for _ in 0..n {
            let report = detached(py, || self.advance())?;
            match self.history.last_mut() {
                Some(Action::Step(count)) => *count += 1,
                _ => self.history.push(Action::Step(1)),
            }
            if let Some(progress) = progress {
                progress.call1((report.frame, report.counters.bodies))?;
            }
            reports.push(Report::from(&report));
            py.check_signals()?;
        }
        Ok(reports)
    }

    /// Simulates the remaining frames of the scene; returns the recording.
    #[pyo3(signature = (*, progress=None))]
    fn run(&mut self, py: Python<'_>, progress: Option<&Bound<'_, PyAny>>) -> PyResult<Recording> {
        let left = self.scene.get().last_frame().saturating_sub(self.world.frame());
        self.step(py, left, progress)?;
        self.recording()
    }

    /// Frames simulated.
    #[getter]
    fn frame(&self) -> usize {
        self.world.frame()
    }

    /// Length of a frame, s.
    #[getter]
    fn dt(&self) -> f64 {
        self.world.settings().dt
    }

    /// Permanent numbers of the bodies, of shape (n,). All other arrays are in this order.
    #[getter]
    fn ids<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        self.world.iter().map(|body| body.id.number()).collect::<Vec<_>>().into_pyarray(py)
    }

    /// Names of the bodies; a piece is named after its parent.
    #[getter]
    pub(crate) fn names(&self) -> Vec<String> {
        let name = |id: BodyId| {
            self.recorder.track(id).map_or_else(String::new, |track| track.name.clone())
        };
        self.world.iter().map(|body| name(body.id)).collect()
    }

    /// Poses x, y, z, qx, qy, qz, qw: center of mass, m, and unit quaternion, of shape (n, 7).
    #[getter]
    fn poses<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        arrays::array(py, self.world.iter().map(|body| arrays::pose_row(body.pose)).collect())
    }

    /// Linear velocity of the center of mass, m/s, and angular velocity, rad/s, in world axes, of shape (n, 6).
    #[getter]
    fn velocities<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        let of = |body: sim::BodyState<'_>| {
            let Velocity { linear, angular } =
                body.body.velocity(&body.pose.rotation, body.momentum);
            [linear.x, linear.y, linear.z, angular.x, angular.y, angular.z]
        };
        arrays::array(py, self.world.iter().map(of).collect())
    }

    /// Masses, kg, of shape (n,); infinite for static and kinematic bodies.
    #[getter]
    fn masses<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let of = |body: sim::BodyState<'_>| {
            body.body.mass_properties().map_or(f64::INFINITY, |mass| mass.mass())
        };
        self.world.iter().map(of).collect::<Vec<_>>().into_pyarray(py)
    }

    /// Which bodies are asleep, of shape (n,).
    #[getter]
    fn asleep<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<bool>> {
        self.world.iter().map(|body| body.asleep).collect::<Vec<_>>().into_pyarray(py)
    }

    /// Kinetic energy, J.
    #[getter]
    fn kinetic_energy(&self) -> f64 {
        self.world.kinetic_energy()
    }

    /// Potential energy, zero at the origin, J.
    #[getter]
    fn potential_energy(&self) -> f64 {
        self.world.potential_energy()
    }

    /// The surface of a body in body coordinates, m, without its pose.
    fn mesh(&self, py: Python<'_>, id: u64) -> PyResult<Mesh> {
        let id = self.body(id)?;
        let track = self.recorder.track(id).ok_or_else(|| PyKeyError::new_err(id.number()))?;
        let surface = detached(py, || track.surface())?;
        let vertices = surface.vertices.iter().map(|v| Point3::from(*v).cast()).collect();
        let triangles = surface.outer.iter().chain(&surface.inner).copied().collect();
        let is_cut = [vec![false; surface.outer.len()], vec![true; surface.inner.len()]].concat();
        Ok(Mesh { mesh: levelset::TriMesh { vertices, triangles }, is_cut })
    }

    /// All fractures so far: the lines of JSON of `brisance run --events`, without the first.
    fn events(&self) -> PyResult<Vec<String>> {
        self.events
            .iter()
            .map(|event| serde_json::to_string(event).map_err(brisance_error))
            .collect()
    }

    /// The poses of all frames so far.
    fn recording(&self) -> PyResult<Recording> {
        if !self.records {
            return Err(PyRuntimeError::new_err(
                "this world keeps no poses: make it with record=True",
            ));
        }
        Ok(Recording { recording: self.recorder.clone().finish() })
    }

    /// The report of the last frame; None before the first.
    #[getter]
    fn report(&self) -> Option<Report> {
        self.report.clone()
    }

    /// Numbers of the pieces of other bodies, of shape (k,).
    fn pieces<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        let pieces = self.world.iter().filter(|body| body.lineage.is_some());
        pieces.map(|body| body.id.number()).collect::<Vec<_>>().into_pyarray(py)
    }

    /// The scene of the world.
    #[getter]
    fn scene(&self, py: Python<'_>) -> Py<Scene> {
        self.scene.clone_ref(py)
    }

    /// Another world in the same state.
    fn copy(&self, py: Python<'_>) -> Self {
        let Self { scene, world, recorder, records, events, report, history } = self;
        Self {
            scene: scene.clone_ref(py),
            world: world.clone(),
            recorder: recorder.clone(),
            records: *records,
            events: events.clone(),
            report: report.clone(),
            history: history.clone(),
        }
    }

    fn __copy__(&self, py: Python<'_>) -> Self {
        self.copy(py)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> Self {
        self.copy(py)
    }

    /// A pickle keeps the scene and all actions on the world since. Loading it repeats the simulation with the same
    /// bits.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Pickled)> {
        let rebuild = py.import("brisance")?.getattr("_world")?;
        let history = postcard::to_allocvec(&self.history).map_err(brisance_error)?;
        Ok((rebuild, (self.scene.clone_ref(py), self.records, history)))
    }

    /// Adds a body and returns its number. `shape` is a shape as in a scene, such as `{"box": {"half_extents": [1, 1,
    /// 1]}}`, or a mesh; all other keys are those of `[[body]]` in a scene.
    #[pyo3(signature = (shape, **keys))]
    fn add(
        &mut self,
        py: Python<'_>,
        shape: &Bound<'_, PyAny>,
        keys: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<u64> {
        let keys = keys.map_or_else(|| Ok(PyDict::new(py)), |keys| keys.copy())?;
        if !keys.contains("name")? {
            let next = self.world.iter().next_back().map_or(0, |body| body.id.number() + 1);
            keys.set_item("name", format!("body {next}"))?;
        }
        let body = py.import("brisance._keys")?.getattr("body")?;
        let (keys, surface): (String, Option<Surface<'_>>) =
            body.call1((shape, keys))?.extract()?;
        let mesh = surface.map(|(vertices, triangles)| {
            let mesh = mesh(&vertices, &triangles)?;
            Ok::<_, PyErr>((
                mesh.vertices.iter().map(|p| p.coords.into()).collect(),
                mesh.triangles,
            ))
        });
        self.execute_addition(Action::Add(Body { keys, mesh: mesh.transpose()? }))
    }

    /// Joins two bodies at their current poses, and returns the number of the joint. `kind` is "point", "distance",
    /// "hinge", "slider" or "fixed", `anchor` a point of the world, m; other keys are those of `[[joints]]` in a scene.
    #[pyo3(signature = (kind, a, b, *, anchor, **keys))]
    fn join(
        &mut self,
        py: Python<'_>,
        kind: &str,
        a: u64,
        b: u64,
        anchor: [f64; 3],
        keys: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<u64> {
        let keys = keys.map_or_else(|| Ok(PyDict::new(py)), |keys| keys.copy())?;
        if keys.contains("bodies")? {
            return Err(PyValueError::new_err("`bodies` are the arguments `a` and `b`"));
        }
        keys.set_item("kind", kind)?;
        let anchor: [f64; 3] = arrays::vector(anchor, "anchor")?.into();
        keys.set_item("anchor", anchor.to_vec())?;
        keys.set_item("bodies", ["", ""])?;
        self.execute_addition(Action::AddJoint([a, b], json(&keys)?))
    }

    /// The state of a joint.
    fn joint(&self, joint: u64) -> PyResult<Joint> {
        self.joint_state(joint).map(Joint::from)
    }

    /// Sets the motor of a hinge or slider: its speed, rad/s or m/s, and its largest torque, N m, or force, N. With
    /// `None` as speed the joint has no motor.
    #[pyo3(signature = (joint, speed, max_force=f64::INFINITY))]
    fn set_motor(&mut self, joint: u64, speed: Option<f64>, max_force: f64) -> PyResult<()> {
        let motor = speed.map(|speed| [speed, max_force]);
        self.execute_and_record(Action::Motor(joint, motor)).map(drop)
    }

    /// Removes a joint.
    fn unjoin(&mut self, joint: u64) -> PyResult<()> {
        self.execute_and_record(Action::RemoveJoint(joint)).map(drop)
    }

    /// Fixes a dynamic body to the world, or to other bodies: its material in `regions`, or all of it by default. A
    /// region is `{"plane": {...}}`, `{"box": {...}}` or `{"sphere": {...}}` as in the anchors of a scene, but in world
    /// coordinates. The anchor breaks above a stress of `strength`, Pa.
    #[pyo3(signature = (id, regions=None, *, strength=f64::INFINITY))]
    fn anchor(
        &mut self,
        py: Python<'_>,
        id: u64,
        regions: Option<&Bound<'_, PyAny>>,
        strength: f64,
    ) -> PyResult<()> {
        if strength.is_nan() || strength <= 0.0 {
            return Err(PyValueError::new_err("`strength` must be above 0"));
        }
        let regions = match regions {
            Some(regions) => json(regions)?,
            None => json(PyDict::new(py).as_any()).map(|all| format!("[{all}]"))?,
        };
        self.execute_and_record(Action::Anchor(id, regions, strength)).map(drop)
    }

    /// Removes a body.
    fn remove(&mut self, id: u64) -> PyResult<()> {
        self.execute_and_record(Action::Remove(id)).map(drop)
    }

    /// Sets gravity, m/s^2.
    fn set_gravity(&mut self, gravity: [f64; 3]) -> PyResult<()> {
        let gravity = arrays::vector(gravity, "gravity")?;
        self.execute_and_record(Action::Gravity(gravity.into())).map(drop)
    }

    /// Sets the pose x, y, z, qx, qy, qz, qw of a body immediately.
    fn set_pose(&mut self, id: u64, pose: [f64; 7]) -> PyResult<()> {
        let pose = arrays::pose(pose, "pose")?;
        self.execute_and_record(Action::Pose(id, arrays::pose_row(&pose))).map(drop)
    }

    /// Sets the velocity, m/s, and the angular velocity, rad/s, of a body.
    #[pyo3(signature = (id, linear, angular=[0.0; 3]))]
    fn set_velocity(&mut self, id: u64, linear: [f64; 3], angular: [f64; 3]) -> PyResult<()> {
        let linear = arrays::vector(linear, "linear")?;
        let angular = arrays::vector(angular, "angular")?;
        self.execute_and_record(Action::Velocity(id, [linear.into(), angular.into()])).map(drop)
    }

    /// Moves a kinematic body to a pose in the next frame.
    fn move_kinematic(&mut self, id: u64, pose: [f64; 7]) -> PyResult<()> {
        let pose = arrays::pose(pose, "pose")?;
        self.execute_and_record(Action::Kinematic(id, arrays::pose_row(&pose))).map(drop)
    }

    /// Applies a force, N, during the next frame, at a point of the world, m, or at the center of mass.
    #[pyo3(signature = (id, force, at=None))]
    fn apply_force(&mut self, id: u64, force: [f64; 3], at: Option<[f64; 3]>) -> PyResult<()> {
        let force = arrays::vector(force, "force")?;
        self.execute_and_record(Action::Force(id, force.into(), place(at)?)).map(drop)
    }

    /// Applies an impulse, N s, to a dynamic body at a point of the world, m, or at the center of mass.
    #[pyo3(signature = (id, impulse, at=None))]
    fn push(&mut self, id: u64, impulse: [f64; 3], at: Option<[f64; 3]>) -> PyResult<()> {
        let impulse = arrays::vector(impulse, "impulse")?;
        self.execute_and_record(Action::Impulse(id, impulse.into(), place(at)?)).map(drop)
    }

    /// Applies a torque, N m, during the next frame.
    fn apply_torque(&mut self, id: u64, torque: [f64; 3]) -> PyResult<()> {
        let torque = arrays::vector(torque, "torque")?;
        self.execute_and_record(Action::Torque(id, torque.into())).map(drop)
    }

    /// Cuts all bodies that a straight edge sweeps on its way from one pair of end points to another, m, each of shape
    /// (2, 3). Returns the fractures.
    fn cut(&mut self, start: [[f64; 3]; 2], end: [[f64; 3]; 2]) -> PyResult<Vec<Break>> {
        for (ends, name) in [(start, "start"), (end, "end")] {
            for point in ends {
                arrays::vector(point, name)?;
            }
        }
        match self.execute_and_record(Action::Cut([start[0], start[1], end[0], end[1]]))? {
            ActionResult::Fractures(fractures) => Ok(fractures.iter().map(Break::from).collect()),
            ActionResult::Nothing | ActionResult::Number(_) => Ok(Vec::new()),
        }
    }

    /// The first body on a ray within `max_distance` m, if any.
    #[pyo3(signature = (origin, direction, *, max_distance=f64::INFINITY))]
    fn cast_ray(
        &self,
        origin: [f64; 3],
        direction: [f64; 3],
        max_distance: f64,
    ) -> PyResult<Option<Hit>> {
        let origin = Point3::from(arrays::vector(origin, "origin")?);
        let direction = arrays::direction(direction, "direction")?;
        let most = distance(max_distance)?;
        Ok(self.world.cast_ray(&origin, &direction, most, &Filter::default()).map(Hit::from))
    }

    /// The body nearest to a point within `max_distance` m, if any.
    #[pyo3(signature = (point, *, max_distance=f64::INFINITY))]
    fn nearest(&self, point: [f64; 3], max_distance: f64) -> PyResult<Option<Hit>> {
        let point = Point3::from(arrays::vector(point, "point")?);
        let most = distance(max_distance)?;
        Ok(self.world.nearest_body(&point, most, &Filter::default()).map(Hit::from))
    }

    /// Numbers of the bodies that a ball overlaps, of shape (k,).
    fn overlap_ball<'py>(
        &self,
        py: Python<'py>,
        center: [f64; 3],
        radius: f64,
    ) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let center = Point3::from(arrays::vector(center, "center")?);
        let radius = arrays::length(radius, "radius")?;
        let found = self.world.overlap_ball(&center, radius, &Filter::default());
        Ok(found.iter().map(|id| id.number()).collect::<Vec<_>>().into_pyarray(py))
    }

    fn __len__(&self) -> usize {
        self.world.len()
    }

    fn __repr__(&self) -> String {
        format!("World({} bodies, frame {})", self.world.len(), self.world.frame())
    }
}

fn distance(most: f64) -> PyResult<f64> {
    if most >= 0.0 {
        return Ok(most);
    }
    Err(PyValueError::new_err("`max_distance` must be at least 0"))
}

/// Point of application; by default the center of mass.
fn place(at: Option<[f64; 3]>) -> PyResult<Option<[f64; 3]>> {
    at.map(|at| arrays::vector(at, "at").map(Vector3::into)).transpose()
}

/// Keys as JSON.
fn json(keys: &Bound<'_, PyAny>) -> PyResult<String> {
    keys.py().import("brisance._keys")?.getattr("as_json")?.call1((keys,))?.extract()
}

/// Restores a world from a pickle.
#[pyfunction]
pub(crate) fn world_at(
    py: Python<'_>,
    scene: Py<Scene>,
    record: bool,
    history: &[u8],
) -> PyResult<World> {
    let history: Vec<Action> = postcard::from_bytes(history).map_err(|error| {
        brisance_error(format!("the pickle is damaged, or of another version of brisance: {error}"))
    })?;
    let mut world = World::new(py, scene, record)?;
    for action in history {
        if let Action::Step(count) = action {
            world.step(py, count, None)?;
        } else {
            world.execute_and_record(action)?;
        }
    }
    Ok(world)
}

impl World {
    /// Executes an action and returns the number of the added object.
    fn execute_addition(&mut self, action: Action) -> PyResult<u64> {
        match self.execute_and_record(action)? {
            ActionResult::Number(number) => Ok(number),
            ActionResult::Nothing | ActionResult::Fractures(_) => {
                Err(PyRuntimeError::new_err("nothing was added"))
            }
        }
    }

    pub(crate) fn advance(&mut self) -> sim::Report {
        let report = self.world.step();
        self.recorder.record(&self.world, &report);
        if !self.records {
            self.recorder.take_poses();
        }
        self.events.extend(report.events.replayable.iter().cloned());
        self.report = Some(Report::from(&report));
        report
    }

    pub(crate) fn body(&self, id: u64) -> PyResult<BodyId> {
        self.world.id(id).ok_or_else(|| PyKeyError::new_err(format!("there is no body {id}")))
    }

    pub(crate) fn joint_state(&self, number: u64) -> PyResult<sim::JointState> {
        let state = self.world.joints().find(|joint| joint.id.number() == number);
        state.ok_or_else(|| PyKeyError::new_err(format!("there is no joint {number}")))
    }
}
