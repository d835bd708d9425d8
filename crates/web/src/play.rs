//! A scene that runs while a visitor plays with it.

use std::collections::BTreeMap;
use std::path::Path;

use contact::Solver;
use meshfile::outline_file::{OutlineFileError, read_outline};
use meshfile::{FileReader, MeshFileError};
use nalgebra::{Point3, Vector3};
use serde_json::{Value, json};
use sim::levelset::TriMesh;
use sim::scene::Scene;
use sim::{
    Appearance, BodyId, BuildError, Camera, CriticalImpact, MeshData, PaintedMesh, Recorder,
    Report, World, build, separate,
};
use thiserror::Error;
use visit::{Command, CommandError, Session, SessionError, Setup, SetupError};

use crate::output::SentState;
use crate::scenes::file;

/// Limit of the size of a mesh file, bytes.
const MAX_FILE: usize = 32 << 20;
/// Limit of the triangles of a mesh.
const MAX_TRIANGLES: usize = 500_000;
/// Limit of the poses of a recording, of 64 bytes each.
const MAX_POSES: usize = 1 << 23;
/// Tolerance of energy growth, relative to the total energy, and in J.
const ROUND_OFF: f64 = 1e-9;
/// Default vertical field of view, radians.
const FIELD_OF_VIEW: f64 = 0.5;

/// Height of the picture relative to the bounding sphere of all bodies that move or break.
const FILL: f64 = 1.15;

/// Why a scene or a command cannot be executed: a sentence for the visitor.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PlayError {
    /// The text is not a valid scene.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// No world can be built from the scene.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The scene names a missing file.
    #[error("the scene names {0:?}, which is not here: drop the file onto the page first")]
    NoFile(String),
    /// A mesh file cannot be read.
    #[error("{file}: {source}")]
    Mesh {
        /// Its name.
        file: String,
        /// A description of the problem.
        source: MeshFileError,
    },
    /// An SVG file cannot be read.
    #[error("{file}: {source}")]
    Outline {
        /// Its name.
        file: String,
        /// A description of the problem.
        source: OutlineFileError,
    },
    /// The module does not include the solver of the scene.
    #[error(
        "the playground has no quadratic programs: take the solvers \"quadratic_program\" and \"ku07\" out"
    )]
    Solver,
    /// A mesh file is too large.
    #[error("{0}: it is larger than 32 MiB or has more than 500,000 triangles: simplify the mesh")]
    TooLarge(String),
    /// The run exceeds the length limit of recordings.
    #[error("the run is too long for a recording: reset the scene and record a shorter one")]
    TooLong,
    /// A recording cannot be written.
    #[error(transparent)]
    Write(#[from] meshfile::WriteError),
    /// The commands of a link are damaged.
    #[error(transparent)]
    Link(#[from] CommandError),
    /// A command cannot be executed.
    #[error(transparent)]
    Session(#[from] SessionError),
}

/// A run: a world, the state of the page, and the actions of a visitor.
#[derive(Debug)]
pub struct Play {
    world: World,
    recorder: Recorder,
    view: Value,
    shown: SentState,
    session: Session,
    /// The hardest impact to each body relative to its strength.
    impacts: BTreeMap<BodyId, f64>,
    /// Frames that gained energy.
    gained: usize,
}

/// Parses a mesh file with access to adjacent files.
type Parser<T> = fn(&Path, &[u8], &mut FileReader<'_>) -> Result<T, MeshFileError>;

/// The meshes of a scene, from files of the visitor and of the playground.
struct Meshes<'a> {
    files: &'a BTreeMap<String, Vec<u8>>,
    surfaces: BTreeMap<String, MeshData>,
    /// By the name of the file or folder in the scene.
    pieces: BTreeMap<String, Vec<PaintedMesh>>,
}

impl<'a> Meshes<'a> {
    /// The meshes that `scene` names.
    fn of(scene: &Scene, files: &'a BTreeMap<String, Vec<u8>>) -> Result<Self, PlayError> {
        let mut meshes = Self { files, surfaces: BTreeMap::new(), pieces: BTreeMap::new() };
        for name in scene.mesh_files().chain(scene.tet_files()) {
            if !meshes.surfaces.contains_key(name) {
                let mesh = meshes.read(name, meshfile::parse_with)?;
                within(name, &mesh.mesh)?;
                meshes.surfaces.insert(name.to_owned(), MeshData::Surface(mesh.into()));
            }
        }
        for name in scene.outline_files() {
            let outline = read_outline(meshes.bytes(name)?)
                .map_err(|source| PlayError::Outline { file: name.to_owned(), source })?;
            within(name, &outline)?;
            meshes.surfaces.insert(name.to_owned(), MeshData::Surface(outline.into()));
        }
        for name in scene.piece_files() {
            if !meshes.pieces.contains_key(name) {
                meshes.pieces.insert(name.to_owned(), meshes.pieces_of(name)?);
            }
        }
        Ok(meshes)
    }

    /// The bytes of a file.
    fn bytes(&self, name: &str) -> Result<&[u8], PlayError> {
        let own = self.files.get(name).map(Vec::as_slice);
        let bytes = own.or_else(|| file(name)).ok_or_else(|| PlayError::NoFile(name.to_owned()))?;
        let is_small = bytes.len() <= MAX_FILE;
        if is_small { Ok(bytes) } else { Err(PlayError::TooLarge(name.to_owned())) }
    }

    fn read<T>(&self, name: &str, parse: Parser<T>) -> Result<T, PlayError> {
        let bytes = self.bytes(name)?;
        let path = Path::new(name);
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut read_file = |other: &str| {
            let place = folder.join(other);
            let mut all = self.files.iter();
            let found = all.find(|(name, _)| plain(Path::new(name)) == plain(&place));
            found.map(|(_, bytes)| bytes.clone()).ok_or_else(|| "it is not here".to_owned())
        };
        parse(path, bytes, &mut read_file)
            .map_err(|source| PlayError::Mesh { file: name.to_owned(), source })
    }

    /// The pieces in a file, or in the files of a folder.
    fn pieces_of(&self, name: &str) -> Result<Vec<PaintedMesh>, PlayError> {
        let whole = plain(Path::new(name));
        let is_piece = |file: &&String| {
            let file = plain(Path::new(file));
            file == whole || file.parent() == Some(whole) && meshfile::is_mesh(file)
        };
        let mut pieces = Vec::new();
        for file in self.files.keys().filter(is_piece) {
            for piece in self.read(file, meshfile::parse_objects_with)? {
                within(file, &piece.mesh)?;
                pieces.push(piece.into());
            }
        }
        if pieces.is_empty() { Err(PlayError::NoFile(name.to_owned())) } else { Ok(pieces) }
    }

    /// Builds the bodies of a scene; pieces become bodies.
    fn build(&self, scene: &mut Scene) -> Result<(World, Vec<Appearance>), PlayError> {
        let mut surfaces = self.surfaces.clone();
        separate(scene, &self.pieces, &mut surfaces)?;
        Ok(build(scene, &surfaces)?)
    }
}

/// A path without a leading point.
fn plain(path: &Path) -> &Path {
    path.strip_prefix(".").unwrap_or(path)
}

fn within(file: &str, mesh: &TriMesh) -> Result<(), PlayError> {
    let is_within = mesh.triangles.len() <= MAX_TRIANGLES;
    if is_within { Ok(()) } else { Err(PlayError::TooLarge(file.to_owned())) }
}

/// The camera of the scene. The default is in front of, to the right of and a little above the
/// moving bodies.
fn view(scene: &Scene, world: &World, appearances: &[sim::Appearance]) -> Value {
    let camera = Camera::of(scene, appearances);
    let field = camera.as_ref().map_or(FIELD_OF_VIEW, |camera| camera.field);
    let key = camera.and_then(|camera| camera.keys.first().copied());
    let (center, arm) = match key.filter(|key| (key.from - key.at).norm() > 1e-6) {
        Some(key) => (key.at, key.from - key.at),
        None => {
            // anchored bodies are static and breakable
            let is_subject = |state: &sim::BodyState<'_>| {
                state.body.mass_properties().is_some() || state.breakage.is_some()
            };
            let moving = || world.iter().filter(is_subject);
            let count = moving().count().max(1) as f64;
            let places = moving().map(|state| state.pose.translation.vector);
            let center = places.fold(Vector3::zeros(), |sum, p| sum + p) / count;
            let reach = |state: sim::BodyState<'_>| {
                (state.pose.translation.vector - center).norm() + state.shape.radius()
            };
            let radius = moving().map(reach).fold(0.1, f64::max);
            let arm = Vector3::new(0.42, 0.36, 1.0).normalize() * radius;
            (Point3::from(center), arm * (FILL / libm::tan(field / 2.0)))
        }
    };
    let radius = 2.0 * arm.norm() * libm::tan(field / 2.0);
    let (center, arm): ([f64; 3], [f64; 3]) = (center.into(), arm.into());
    json!({ "centre": center, "arm": arm, "field": field, "radius": radius, "path": null })
}

impl Play {
    /// Sets a scene up. `files` are the meshes of the visitor by name, with the files that these
    /// meshes name.
    ///
    /// # Errors
    /// [`PlayError`], a sentence for the visitor.
    pub fn new(setup: &Setup, files: &BTreeMap<String, Vec<u8>>) -> Result<Self, PlayError> {
        let mut scene = setup.changed_but_model()?;
        let meshes = Meshes::of(&scene, files)?;
        if setup.model.is_some() {
            let (world, appearances) = meshes.build(&mut scene.clone())?;
            scene = setup.changed(&visit::volumes(&scene.bodies, &world, &appearances))?;
        }
        let (world, appearances) = meshes.build(&mut scene)?;
        if matches!(world.settings().contact.solver, Solver::QuadraticProgram | Solver::Ku07) {
            return Err(PlayError::Solver);
        }
        Ok(Self {
            recorder: Recorder::new(&world, &appearances)
                .with_camera(Camera::of(&scene, &appearances)),
            view: view(&scene, &world, &appearances),
            shown: SentState::default(),
            session: Session::default(),
            impacts: BTreeMap::new(),
            gained: 0,
            world,
        })
    }

    /// The world.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Hash of the bits of all poses and momenta, the same on every platform.
    pub fn fingerprint(&self) -> u64 {
        self.world.motion_hash()
    }

    /// Number of frames whose energy grew by more than the external work.
    pub fn gained(&self) -> usize {
        self.gained
    }

    /// The scene before its first frame, in the format of [`Play::step`], with the camera.
    pub fn start(&mut self) -> Vec<u8> {
        let gravity: [f64; 3] = self.world.settings().gravity.into();
        let head = json!({
            "frame": self.world.frame(),
            "fps": 1.0 / self.world.settings().dt,
            "gravity": gravity,
            "view": self.view,
            "energy": {
                "kinetic": self.world.kinetic_energy(),
                "potential": self.world.potential_energy(),
                "dissipated": 0.0,
            },
            "gained": 0, "broke": 0, "slipped": false, "holds": false, "replaying": false,
        });
        self.shown.frame(&self.world, &self.recorder, self.session.hand(), head)
    }

    /// Executes the commands of a link that are due and advances the world by one frame. Returns
    /// the report, and whether the hand slipped off.
    fn advance(&mut self) -> (Report, bool) {
        let added = self.session.before_frame(&mut self.world);
        self.recorder.record_added(&self.world, &added);
        let report = self.world.step();
        self.recorder.record(&self.world, &report);
        for impact in &report.loads.impacts {
            let known = self.impacts.entry(impact.body).or_default();
            *known = known.max(impact.utilization());
        }
        self.impacts.retain(|id, _| self.world.get(*id).is_some());
        let has_slipped = self.session.after_frame(&mut self.world, &report);
        self.gained += usize::from(gains(&report));
        (report, has_slipped)
    }

    /// Runs `frames` frames with the commands of a link, and writes the recording as GLB.
    ///
    /// # Errors
    /// [`PlayError::TooLong`], and [`PlayError::Write`] if a pose is not finite.
    pub fn record(mut self, frames: usize) -> Result<Vec<u8>, PlayError> {
        for _ in 0..frames {
            self.advance();
            if self.recorder.pose_count() > MAX_POSES {
                return Err(PlayError::TooLong);
            }
        }
        let mut bytes = Vec::new();
        meshfile::write_glb(&self.recorder.finish(), &mut bytes)?;
        Ok(bytes)
    }

    /// Advances the world by one frame as [`Play::record`] does, and returns the changes as bytes.
    pub fn step(&mut self) -> Vec<u8> {
        let (report, has_slipped) = self.advance();
        // the page does not show past poses again
        drop(self.recorder.take_poses());
        let head = json!({
            "frame": report.frame,
            "energy": {
                "kinetic": report.energy.kinetic,
                "potential": report.energy.potential,
                "dissipated": report.energy.dissipation.total(),
            },
            "gained": self.gained,
            "broke": report.events.fractures.len(),
            "slipped": has_slipped,
            "holds": self.session.hand().is_some(),
            "replaying": self.session.is_replaying(),
        });
        self.shown.frame(&self.world, &self.recorder, self.session.hand(), head)
    }

    /// Executes a command between the last frame and the next. The remaining commands of a link are
    /// dropped.
    ///
    /// # Errors
    /// [`PlayError`] if the command cannot be executed; nothing changes then.
    pub fn act(&mut self, command: Command) -> Result<(), PlayError> {
        let added = self.session.act(&mut self.world, command)?;
        self.recorder.record_added(&self.world, &added);
        Ok(())
    }

    /// Schedules the commands that [`Play::events`] wrote for their frames.
    ///
    /// # Errors
    /// [`CommandError`] if the bytes are damaged.
    pub fn replay(&mut self, events: &[u8]) -> Result<(), PlayError> {
        Ok(self.session.replay(events)?)
    }

    /// All commands so far, for a link.
    pub fn events(&self) -> Vec<u8> {
        self.session.events()
    }

    /// The first body on a ray from a point, m, in a direction: its name, mass, kg, the point of
    /// intersection, the hardest impact relative to its strength, and its critical impact. `None`
    /// without an intersection.
    pub fn pick(&self, from: [f64; 3], along: [f64; 3]) -> Option<Value> {
        let (body, point) = Session::meets(&self.world, [from, along])?;
        let state = self.world.get(body)?;
        let track = self.recorder.track(body)?;
        let breaker = self.world.critical_impact(body);
        let point: [f64; 3] = point.into();
        Some(json!({
            "body": body.number(),
            "name": track.name,
            "material": track.look.material,
            "mass": state.body.mass_properties().map(dynamics::MassProperties::mass),
            "asleep": state.asleep,
            "point": point,
            "strain": self.impacts.get(&body),
            "fall": breaker.and_then(|b| if let CriticalImpact::Fall(height) = b { Some(height) } else { None }),
            "stone": breaker.and_then(|b| if let CriticalImpact::Stone(speed) = b { Some(speed) } else { None }),
        }))
    }
}

/// Whether the energy grew by more than the external work in a frame.
fn gains(report: &Report) -> bool {
    let there =
        report.energy.kinetic.abs() + report.energy.potential.abs() + report.energy.work.abs();
    report.energy.dissipation.unexplained_gain() > ROUND_OFF * (1.0 + there)
}
