//! Worlds.

use dynamics::Velocity;
use nalgebra::Point3;
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::exceptions::{PyKeyError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use sim::{BodyId, Event, Filter, Recorder};

use crate::arrays;
use crate::failure::refused;
use crate::mesh::Mesh;
use crate::recording::Recording;
use crate::report::{Break, Hit, Report};
use crate::scene::{Scene, Start};

/// The bodies of a scene, which `step` moves on.
#[pyclass(module = "brisance")]
pub(crate) struct World {
    world: sim::World,
    recorder: Recorder,
    /// Whether the recorder keeps poses.
    records: bool,
    events: Vec<Event>,
    last: usize,
}

#[pymethods]
impl World {
    /// The world of a scene before its first frame. With `record=False` it keeps no poses of the past, and
    /// `recording` has none.
    #[new]
    #[pyo3(signature = (scene, *, record=true))]
    fn new(py: Python<'_>, scene: &Scene, record: bool) -> PyResult<Self> {
        let Start { world, appearances, camera } = py.detach(|| scene.start())?;
        let recorder = Recorder::new(&world, &appearances).with_camera(camera);
        Ok(Self { world, recorder, records: record, events: Vec::new(), last: scene.last_frame() })
    }

    /// Simulates `n` frames; returns a report of each. `progress(frame, bodies)` is called after each.
    #[pyo3(signature = (n=1, *, progress=None))]
    fn step(
        &mut self,
        py: Python<'_>,
        n: usize,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<Report>> {
        let mut reports = Vec::new();
        for _ in 0..n {
            let report = py.detach(|| self.advance());
            if let Some(progress) = progress {
                progress.call1((report.frame, report.bodies))?;
            }
            reports.push(Report::from(&report));
            py.check_signals()?;
        }
        Ok(reports)
    }

    /// Simulates the frames of the scene that are left; returns the recording.
    #[pyo3(signature = (*, progress=None))]
    fn run(&mut self, py: Python<'_>, progress: Option<&Bound<'_, PyAny>>) -> PyResult<Recording> {
        let left = self.last.saturating_sub(self.world.frame());
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

    /// Numbers of the bodies, which stay theirs, of shape (n,). All other arrays are in this order.
    #[getter]
    fn ids<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        self.world.iter().map(|body| body.id.number()).collect::<Vec<_>>().into_pyarray(py)
    }

    /// Names of the bodies; a piece is named after the body that it broke off.
    #[getter]
    fn names(&self) -> Vec<String> {
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

    /// Masses, kg; infinite of static and kinematic bodies. Of shape (n,).
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

    /// The surface of a body in body coordinates, m: add its pose.
    fn mesh(&self, py: Python<'_>, id: u64) -> PyResult<Mesh> {
        let id = self.body(id)?;
        let track = self.recorder.track(id).ok_or_else(|| PyKeyError::new_err(id.number()))?;
        let surface = py.detach(|| track.surface());
        let vertices = surface.vertices.iter().map(|v| Point3::from(*v).cast()).collect();
        let triangles = surface.outer.iter().chain(&surface.inner).copied().collect();
        let is_cut = [vec![false; surface.outer.len()], vec![true; surface.inner.len()]].concat();
        Ok(Mesh { mesh: levelset::TriMesh { vertices, triangles }, is_cut })
    }

    /// What broke so far: lines of JSON as `brisance run --events` writes them, without the first.
    fn events(&self) -> PyResult<Vec<String>> {
        self.events.iter().map(|event| serde_json::to_string(event).map_err(refused)).collect()
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

    /// Another world in the same state.
    fn copy(&self) -> Self {
        let Self { world, recorder, records, events, last } = self;
        let (world, recorder, events) = (world.clone(), recorder.clone(), events.clone());
        Self { world, recorder, records: *records, events, last: *last }
    }

    fn __copy__(&self) -> Self {
        self.copy()
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> Self {
        self.copy()
    }

    /// Removes a body.
    fn remove(&mut self, id: u64) -> PyResult<()> {
        let id = self.body(id)?;
        self.world.remove(id);
        Ok(())
    }

    /// Sets gravity, m/s^2.
    fn set_gravity(&mut self, gravity: [f64; 3]) -> PyResult<()> {
        self.world.set_gravity(arrays::vector(gravity, "gravity")?).map_err(refused)
    }

    /// Puts a body at a pose x, y, z, qx, qy, qz, qw at once.
    fn set_pose(&mut self, id: u64, pose: [f64; 7]) -> PyResult<()> {
        let pose = arrays::pose(pose, "pose")?;
        self.world.set_pose(self.body(id)?, &pose).map_err(refused)
    }

    /// Gives a body a velocity, m/s, and an angular velocity, rad/s.
    #[pyo3(signature = (id, linear, angular=[0.0; 3]))]
    fn set_velocity(&mut self, id: u64, linear: [f64; 3], angular: [f64; 3]) -> PyResult<()> {
        let linear = arrays::vector(linear, "linear")?;
        let angular = arrays::vector(angular, "angular")?;
        self.world.set_velocity(self.body(id)?, Velocity { linear, angular }).map_err(refused)
    }

    /// Has a kinematic body go to a pose in the next frame.
    fn move_kinematic(&mut self, id: u64, pose: [f64; 7]) -> PyResult<()> {
        let pose = arrays::pose(pose, "pose")?;
        self.world.move_kinematic(self.body(id)?, &pose).map_err(refused)
    }

    /// Applies a force, N, during the next frame, at a point of the world, m, or at the center of mass.
    #[pyo3(signature = (id, force, at=None))]
    fn apply_force(&mut self, id: u64, force: [f64; 3], at: Option<[f64; 3]>) -> PyResult<()> {
        let force = arrays::vector(force, "force")?;
        let at = at.map(|at| arrays::vector(at, "at").map(Point3::from)).transpose()?;
        self.world.apply_force(self.body(id)?, &force, at.as_ref()).map_err(refused)
    }

    /// Gives a dynamic body an impulse, N s, at a point of the world, m, or at the center of mass.
    #[pyo3(signature = (id, impulse, at=None))]
    fn push(&mut self, id: u64, impulse: [f64; 3], at: Option<[f64; 3]>) -> PyResult<()> {
        let impulse = arrays::vector(impulse, "impulse")?;
        let at = at.map(|at| arrays::vector(at, "at").map(Point3::from)).transpose()?;
        if self.world.push(self.body(id)?, &impulse, at.as_ref()) {
            return Ok(());
        }
        Err(refused(format!("body {id} is not dynamic: impulses do not move it")))
    }

    /// Applies a torque, N m, during the next frame.
    fn apply_torque(&mut self, id: u64, torque: [f64; 3]) -> PyResult<()> {
        let torque = arrays::vector(torque, "torque")?;
        self.world.apply_torque(self.body(id)?, &torque).map_err(refused)
    }

    /// Cuts what a straight edge passes through on its way from one pair of ends to another, m. Returns what broke.
    fn cut(&mut self, start: [[f64; 3]; 2], end: [[f64; 3]; 2]) -> PyResult<Vec<Break>> {
        let ends = |ends: [[f64; 3]; 2], name: &str| -> PyResult<[Point3<f64>; 2]> {
            let [p, q] = ends;
            Ok([arrays::vector(p, name)?.into(), arrays::vector(q, name)?.into()])
        };
        let fractures = self.world.cut(ends(start, "start")?, ends(end, "end")?);
        self.recorder.record_cut(&self.world, &fractures);
        Ok(fractures.iter().map(Break::from).collect())
    }

    /// The first body that a ray meets, if there is one within `max_distance` m.
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

    /// The body that is nearest to a point, if there is one within `max_distance` m.
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
        let radius = arrays::positive(radius, "radius")?;
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

impl World {
    fn advance(&mut self) -> sim::Report {
        let report = self.world.step();
        self.recorder.record(&self.world, &report);
        if !self.records {
            self.recorder.take();
        }
        self.events.extend(report.events.iter().cloned());
        report
    }

    fn body(&self, id: u64) -> PyResult<BodyId> {
        self.world.id(id).ok_or_else(|| PyKeyError::new_err(format!("there is no body {id}")))
    }
}
