//! Recordings of runs: a surface and a path for every body that ever existed.

use std::collections::BTreeMap;
use std::sync::Arc;

use nalgebra::{Isometry3, Point3};
use rayon::prelude::*;

use crate::{
    Appearance, BodyId, Camera, Crumb, Fracture, FractureModel, LazySurface, Look, PaintedMesh,
    Report, RetireAction, Solid, Stress, StressField, Surface, Waypoint, World,
};

/// One body over its lifetime.
#[derive(Clone, Debug)]
pub struct Track {
    /// Name, unique in the recording.
    pub name: String,
    /// Its surface; equal bodies share it.
    pub lazy_surface: LazySurface,
    /// Its look.
    pub look: Arc<Look>,
    /// The track of its parent, as an index into [`Recording::tracks`].
    pub parent: Option<usize>,
    /// The first frame in which it exists.
    pub birth: usize,
    /// Number of poses, from that of `birth` on, taken by [`Recorder::take_poses`].
    pub taken: usize,
    /// Its pose in each later frame, the last one included. If it has fewer frames than the
    /// recording, it ended (broke) before the next one.
    pub poses: Vec<Isometry3<f64>>,
    /// Its poses at collisions between these frames, in order of time; earlier ones were taken.
    pub waypoints: Vec<TimedWaypoint>,
    /// The frame in which the body was removed, if it is shown to shrink from then on.
    pub shrinks: Option<usize>,
    /// Stress of a finite element body from some frames on, ascending.
    pub stresses: Vec<Stress>,
}

impl Track {
    /// Duration of shrinking, s.
    pub const SHRINKING: f64 = 0.5;

    /// The scale at which it is shown in a frame; `fps` is that of the recording.
    pub fn scale(&self, frame: usize, fps: f64) -> f64 {
        let Some(first) = self.shrinks.filter(|&first| first <= frame) else { return 1.0 };
        let left = 1.0 - (frame - first + 1) as f64 / (Self::shrinking_frames(fps) + 1.0);
        left.max(0.0)
    }

    /// Frames in which a shrinking body is visible.
    fn shrinking_frames(fps: f64) -> f64 {
        (Self::SHRINKING * fps).round()
    }

    /// The surface: computed now, unless it is cached.
    pub fn surface(&self) -> Arc<Surface> {
        self.lazy_surface.surface()
    }

    /// The frame after the last in which the body exists.
    pub fn end(&self) -> usize {
        self.birth + self.taken + self.poses.len()
    }

    /// Its poses and waypoints.
    pub fn trace(&self) -> Trace {
        Trace { poses: self.poses.clone(), waypoints: self.waypoints.clone() }
    }

    /// Its stress in a frame, if known.
    pub fn stress(&self, frame: usize) -> Option<&Stress> {
        self.stresses[..self.stresses.partition_point(|s| s.frame <= frame)].last()
    }

    /// Its pose in a frame, if it exists then and the pose was not taken.
    pub fn pose(&self, frame: usize) -> Option<&Isometry3<f64>> {
        frame.checked_sub(self.birth + self.taken).and_then(|at| self.poses.get(at))
    }
}

/// Pose of a body at a collision between two frames of a recording, where its path bends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimedWaypoint {
    /// Frames since the start of the recording, between two integers.
    pub time: f64,
    /// Its pose at that time.
    pub pose: Isometry3<f64>,
}

/// The motion of a body in consecutive frames.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// The pose in each of the frames.
    pub poses: Vec<Isometry3<f64>>,
    /// Its poses at collisions between them, in order of time.
    pub waypoints: Vec<TimedWaypoint>,
}

/// The trace of a body in the frames after those taken before.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceChunk {
    /// Its track.
    pub track: usize,
    /// Its motion.
    pub trace: Trace,
}

/// Mechanical energy at the end of a frame, J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energy {
    /// Kinetic.
    pub kinetic: f64,
    /// Potential, zero at the origin.
    pub potential: f64,
    /// Energy dissipated in the frame; see [`Dissipation`](crate::Dissipation).
    pub dissipated: f64,
}

/// All bodies of a run, frame by frame. Frame 0 is the initial state.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Frames per second.
    pub fps: f64,
    /// Number of frames, at least one.
    pub frames: usize,
    /// Every body that ever existed, parents before their fragments.
    pub tracks: Vec<Track>,
    /// The energy of each frame; empty without a simulation.
    pub energies: Vec<Energy>,
    /// The crumbs of all cracks, in the order of their frames.
    pub crumbs: Vec<RecordedCrumb>,
    /// The camera, if the scene has one.
    pub camera: Option<Camera>,
}

/// A crumb of a piece, which breaks off in the first frame of the piece; see
/// [`Crumb`](crate::Crumb).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecordedCrumb {
    /// The track of its piece.
    pub track: usize,
    /// Its center in the coordinates of the piece, m.
    pub point: Point3<f64>,
    /// The edge of a cube of equal volume, m.
    pub size: f64,
}

impl Recording {
    /// This recording with all surfaces computed, for repeated use.
    pub fn with_surfaces(&self) -> Self {
        let surfaces =
            self.tracks.iter().map(|track| (track.lazy_surface.address(), &track.lazy_surface));
        let surfaces: BTreeMap<usize, &LazySurface> = surfaces.collect();
        let made: BTreeMap<usize, Arc<Surface>> =
            surfaces.into_par_iter().map(|(address, lazy)| (address, lazy.surface())).collect();
        let mut drawn = self.clone();
        for track in &mut drawn.tracks {
            track.lazy_surface =
                LazySurface::Made(Arc::clone(&made[&track.lazy_surface.address()]));
        }
        drawn
    }

    /// Indices of the tracks of fragments, ascending. A single body that replaces another, such as
    /// a dented one, does not count.
    pub fn fragments(&self) -> Vec<usize> {
        let mut siblings = vec![0_usize; self.tracks.len()];
        let parents = || self.tracks.iter().map(|track| track.parent);
        parents().flatten().for_each(|parent| siblings[parent] += 1);
        let broke_off = |parent: Option<usize>| parent.is_some_and(|parent| siblings[parent] > 1);
        parents().enumerate().filter(|(_, parent)| broke_off(*parent)).map(|(n, _)| n).collect()
    }
}

/// Builds a [`Recording`] while a world is stepped.
#[derive(Clone, Debug)]
pub struct Recorder {
    recording: Recording,
    /// The live bodies, sorted.
    live: Vec<Live>,
    /// Tracks of shrinking bodies.
    shrinking: Vec<usize>,
}

/// A body that is being recorded.
#[derive(Clone, Debug)]
struct Live {
    body: BodyId,
    track: usize,
    /// The source mesh of its whole body.
    mesh: Option<Arc<PaintedMesh>>,
    /// The last known stress of it or of its parent, in material coordinates.
    stress: Option<Arc<StressField>>,
}

impl Recorder {
    /// Starts with the current world. Bodies without an entry in `appearances` are plain.
    pub fn new(world: &World, appearances: &[Appearance]) -> Self {
        let energy = Energy {
            kinetic: world.kinetic_energy(),
            potential: world.potential_energy(),
            dissipated: 0.0,
        };
        let fps = 1.0 / world.settings().dt;
        let recording = Recording {
            fps,
            frames: 1,
            tracks: Vec::new(),
            energies: vec![energy],
            crumbs: Vec::new(),
            camera: None,
        };
        let mut recorder = Self { recording, live: Vec::new(), shrinking: Vec::new() };
        let plain = Arc::new(Look::default());
        for (n, state) in world.iter().enumerate() {
            let known = appearances.iter().find(|a| a.body == state.id);
            let track = Track {
                name: known.map_or_else(|| format!("body {n}"), |a| a.name.clone()),
                lazy_surface: LazySurface::default(),
                look: Arc::clone(known.map_or(&plain, |a| &a.look)),
                parent: None,
                birth: 0,
                taken: 0,
                poses: vec![*state.pose],
                waypoints: Vec::new(),
                shrinks: None,
                stresses: Vec::new(),
            };
            recorder.start(state.id, track, (known.and_then(|a| a.mesh.clone()), None));
        }
        recorder.set_surfaces(world, 0);
        recorder.record_stress(world, &Report::default(), 0, 0);
        recorder
    }

    /// This recorder with a camera.
    pub fn with_camera(mut self, camera: Option<Camera>) -> Self {
        self.recording.camera = camera;
        self
    }

    /// Adds the frame of `report`.
    pub fn record(&mut self, world: &World, report: &Report) {
        let frame = self.recording.frames;
        let first = self.live.len();
        self.recording.frames += 1;
        self.recording.energies.push(Energy {
            kinetic: report.energy.kinetic,
            potential: report.energy.potential,
            dissipated: report.energy.dissipation.total(),
        });
        self.start_changed(world, report, frame);
        self.set_surfaces(world, first);
        self.record_stress(world, report, frame, first);
        self.record_crumbs(report);
        let shrinks =
            world.settings().debris.retire.is_some_and(|r| r.action == RetireAction::Shrink);
        // a body that broke in the frame of its birth stays as a track without frames
        self.live.retain(|live| {
            let Some(state) = world.get(live.body) else {
                let track = &mut self.recording.tracks[live.track];
                if shrinks && !track.poses.is_empty() && report.events.retired.contains(&live.body)
                {
                    track.shrinks = Some(frame);
                    self.shrinking.push(live.track);
                }
                return false;
            };
            let track = &mut self.recording.tracks[live.track];
            // before its birth it is shown as a part of another
            if track.birth < frame {
                track.waypoints.extend(waypoints_before(frame, world.waypoints(live.body)));
            }
            track.poses.push(*state.pose);
            true
        });
        let fps = self.recording.fps;
        self.shrinking.retain(|&track| {
            let track = &mut self.recording.tracks[track];
            let is_seen = track.scale(frame, fps) > 0.0;
            if let Some(&last) = track.poses.last().filter(|_| is_seen) {
                track.poses.push(last);
            }
            is_seen
        });
    }

    /// Starts the tracks of bodies added between two frames; they are born in the next frame.
    pub fn record_added(&mut self, world: &World, appearances: &[Appearance]) {
        let (frame, first) = (self.recording.frames, self.live.len());
        for Appearance { body, name, look, mesh } in appearances {
            let track = Track {
                name: name.clone(),
                lazy_surface: LazySurface::default(),
                look: Arc::clone(look),
                parent: None,
                birth: frame,
                taken: 0,
                poses: Vec::new(),
                waypoints: Vec::new(),
                shrinks: None,
                stresses: Vec::new(),
            };
            self.start(*body, track, (mesh.clone(), None));
        }
        self.set_surfaces(world, first);
        self.record_stress(world, &Report::default(), frame, first);
    }

    /// Starts the tracks of pieces of `fractures` between two frames, such as those by
    /// [`World::cut`]. Their birth is the next frame.
    pub fn record_cut(&mut self, world: &World, fractures: &[Fracture]) {
        let mut report = Report::default();
        report.events.fractures = fractures.to_vec();
        let (frame, first) = (self.recording.frames, self.live.len());
        self.start_changed(world, &report, frame);
        self.set_surfaces(world, first);
        self.record_stress(world, &report, frame, first);
    }

    fn record_crumbs(&mut self, report: &Report) {
        for &Crumb { body, point, size, .. } in &report.events.crumbs {
            if let Ok(at) = self.live.binary_search_by_key(&body, |live| live.body) {
                let track = self.live[at].track;
                self.recording.crumbs.push(RecordedCrumb { track, point, size });
            }
        }
    }

    /// Starts tracks of the bodies that replaced others.
    fn start_changed(&mut self, world: &World, report: &Report, frame: usize) {
        for Replaced { parent, children, is_dented } in replaced(report) {
            let Ok(at) = self.live.binary_search_by_key(&parent, |live| live.body) else {
                continue;
            };
            let Live { track: parent, mesh, stress, .. } = self.live[at].clone();
            let stress = last_stress(report, self.live[at].body).or(stress);
            for (n, &id) in children.iter().enumerate() {
                let Track { name, look, .. } = &self.recording.tracks[parent];
                let solid = world.get(id).and_then(|state| state.solid);
                let volume = solid.map(|solid| solid.geometry.moments().volume);
                let own = volume.and_then(|volume| look.of_piece(volume)).map(Arc::new);
                let track = Track {
                    name: format!("{name}.{n}"),
                    lazy_surface: LazySurface::default(),
                    look: own.unwrap_or_else(|| Arc::clone(look)),
                    parent: Some(parent),
                    birth: frame,
                    taken: 0,
                    poses: Vec::new(),
                    waypoints: Vec::new(),
                    shrinks: None,
                    stresses: Vec::new(),
                };
                // the mesh does not have the dent
                let mesh = mesh.clone().filter(|_| !is_dented);
                self.start(id, track, (mesh, stress.clone()));
            }
        }
    }

    pub(crate) fn recording(&self) -> &Recording {
        &self.recording
    }

    pub(crate) fn recording_mut(&mut self) -> &mut Recording {
        &mut self.recording
    }

    /// Ends the tracks of bodies that no longer exist.
    pub(crate) fn forget_gone(&mut self, world: &World) {
        self.live.retain(|live| world.get(live.body).is_some());
    }

    /// Finds the tracks that are about to shrink.
    pub(crate) fn find_shrinking(&mut self) {
        let Recording { fps, frames, tracks, .. } = &self.recording;
        let seen = |track: &Track| {
            track.shrinks.is_some() && track.scale(frames.saturating_sub(1), *fps) > 0.0
        };
        self.shrinking = (0..tracks.len()).filter(|&n| seen(&tracks[n])).collect();
    }

    /// The track of a live body.
    pub fn track(&self, body: BodyId) -> Option<&Track> {
        let at = self.live.binary_search_by_key(&body, |live| live.body).ok()?;
        Some(&self.recording.tracks[self.live[at].track])
    }

    /// Number of poses in memory, including those at collisions.
    pub fn pose_count(&self) -> usize {
        self.recording.tracks.iter().map(|track| track.poses.len() + track.waypoints.len()).sum()
    }

    /// Takes all poses except the last of each track, so that memory does not grow with the frames;
    /// [`Track::taken`] counts them.
    pub fn take_poses(&mut self) -> Vec<TraceChunk> {
        let mut chunks = Vec::new();
        for (track, of) in self.recording.tracks.iter_mut().enumerate() {
            let Track { taken, poses, waypoints, .. } = of;
            let count = poses.len().saturating_sub(1);
            if count > 0 {
                let poses = poses.drain(..count).collect();
                let trace = Trace { poses, waypoints: std::mem::take(waypoints) };
                chunks.push(TraceChunk { track, trace });
                *taken += count;
            }
        }
        chunks
    }

    /// The recording.
    pub fn finish(self) -> Recording {
        self.recording
    }

    fn start(
        &mut self,
        body: BodyId,
        track: Track,
        (mesh, stress): (Option<Arc<PaintedMesh>>, Option<Arc<StressField>>),
    ) {
        self.live.push(Live { body, track: self.recording.tracks.len(), mesh, stress });
        self.recording.tracks.push(track);
    }

    /// Stores the stress of the bodies that started at index `first` or later, and of all that were
    /// hit.
    fn record_stress(&mut self, world: &World, report: &Report, frame: usize, first: usize) {
        if first == self.live.len() && report.loads.stresses.is_empty() {
            return;
        }
        for (n, live) in self.live.iter_mut().enumerate() {
            let own = last_stress(report, live.body);
            if n < first && own.is_none() {
                continue;
            }
            if own.is_some() {
                live.stress.clone_from(&own);
            }
            let Some(state) = world.get(live.body) else { continue };
            let Some(Solid { material, .. }) = state.solid else { continue };
            let mesh = match state.breakage.map(|breakage| &breakage.model) {
                // tetrahedra are created at the first impact at the latest
                Some(FractureModel::Stress(elastic)) => elastic.mesh(),
                _ => None,
            };
            let field = match (mesh, &live.stress) {
                (Some(mesh), Some(known)) => known.carried(mesh),
                (Some(mesh), None) => StressField::none(mesh),
                // it no longer breaks, but it was hit
                (None, _) => match own {
                    Some(own) => StressField::clone(&own),
                    None => continue,
                },
            };
            let mut placed = field.placed(&material.inverse());
            let stresses = &mut self.recording.tracks[live.track].stresses;
            // most impacts change the stress but not the tetrahedra
            let before = stresses.last().and_then(|before| before.field.as_ref());
            if let Some(same) = before.filter(|before| before.tets == placed.tets) {
                placed.tets = Arc::clone(&same.tets);
            }
            stresses.push(Stress::new(frame, placed));
        }
    }

    /// Sets the surfaces of the bodies that started at index `first` or later.
    fn set_surfaces(&mut self, world: &World, first: usize) {
        // bodies of one shape, such as copies, share the surface; they are consecutive
        let shape = |live: &Live| world.get(live.body).map(|state| Arc::as_ptr(state.shape));
        for run in self.live[first..].chunk_by(|a, b| shape(a) == shape(b)) {
            let Some(surface) = world.lazy_surface(run[0].body, run[0].mesh.clone()) else {
                continue;
            };
            for live in run {
                self.recording.tracks[live.track].lazy_surface = surface.clone();
            }
        }
    }
}

/// The waypoints between the previous frame and `frame`, at distinct times.
fn waypoints_before(frame: usize, waypoints: &[Waypoint]) -> Vec<TimedWaypoint> {
    let (start, end) = (frame as f64 - 1.0, frame as f64);
    let timed = waypoints
        .iter()
        .map(|Waypoint { share, pose }| TimedWaypoint { time: start + share, pose: *pose });
    let mut timed: Vec<TimedWaypoint> =
        timed.filter(|waypoint| start < waypoint.time && waypoint.time < end).collect();
    timed.dedup_by_key(|waypoint| waypoint.time);
    timed
}

/// The stress in the last impact of a frame on a body.
fn last_stress(report: &Report, body: BodyId) -> Option<Arc<StressField>> {
    let last = report.loads.stresses.iter().rev().find(|stress| stress.body == body);
    last.map(|stress| Arc::clone(&stress.field))
}

/// A body that was replaced.
struct Replaced<'a> {
    parent: BodyId,
    children: &'a [BodyId],
    is_dented: bool,
}

/// Bodies that were replaced, in order.
fn replaced(report: &Report) -> Vec<Replaced<'_>> {
    let broke = report.events.fractures.iter().map(|f| Replaced {
        parent: f.parent,
        children: &f.fragments,
        is_dented: false,
    });
    let dents = report.events.dents.iter().map(|d| Replaced {
        parent: d.before,
        children: std::slice::from_ref(&d.after),
        is_dented: true,
    });
    let mut changes: Vec<_> = broke.chain(dents).collect();
    changes.sort_by_key(|replaced| replaced.children.first().copied());
    changes
}
