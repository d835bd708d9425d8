//! Measurement of a run.

use std::time::Instant;

use nalgebra::{Point3, Vector3};
use serde::Serialize;
use sim::{
    Appearance, Event, Fracture, HitOutcome, Recorder, Recording, Report, Surface, Trigger, World,
};

/// Results of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// Number of frames.
    pub frames: usize,
    /// Number of bodies that broke.
    pub breaks: usize,
    /// The first impact of another body that exceeded the strength of a body.
    pub first_impact: Option<FirstImpact>,
    /// Number of pieces at the end.
    pub pieces: usize,
    /// Volumes of the pieces, m^3, in descending order.
    pub volumes: Vec<f64>,
    /// Area of all cracks, m^2: half of the area of the cut faces of the pieces.
    pub crack_area: f64,
    /// Energies.
    pub energy: Energies,
    /// Maximum relative change of the mass of all bodies, including retired pieces.
    pub mass_error: f64,
    /// Maximum difference between the linear momentum of a breaking body and of its pieces,
    /// relative to the maximum of this momentum and the impulse of the impact.
    pub momentum_error: f64,
    /// Maximum difference between the angular momenta about the origin, relative to the maximum of
    /// the angular momentum and the linear scale above times the lever arm of the impact.
    pub angular_momentum_error: f64,
    /// Time for the level sets, tetrahedra and patterns before the first frame, s.
    pub seconds_build: f64,
    /// Time for all frames, s.
    pub seconds_simulate: f64,
}

/// An impact.
#[derive(Clone, Debug, Serialize)]
pub struct FirstImpact {
    /// The body.
    pub body: String,
    /// The frame, from 1.
    pub frame: usize,
    /// End of the frame, s.
    pub time: f64,
    /// The impulse, N s.
    pub impulse: f64,
    /// The impulse strength of the body, N s, if it has one.
    pub strength: Option<f64>,
}

/// Energies over all frames, J.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Energies {
    /// Lower bound of the energy of all cracks: crack area times the fracture energy of the
    /// material, K_Ic^2 (1 - v^2) / E (Irwin 1957); `None` if a material is not known.
    pub cracks: Option<f64>,
    /// Difference between the kinetic energy of breaking bodies and of their pieces.
    pub fracture: f64,
    /// Dissipation by collisions.
    pub collision: f64,
    /// Dissipation by contact and friction.
    pub contact: f64,
    /// Plastic work.
    pub plastic: f64,
    /// Largest gain of mechanical energy in a frame that no external work explains, J.
    pub largest_gain: f64,
}

impl Energies {
    /// Total dissipation by collisions, contact, fracture and plastic work, J.
    pub fn lost(&self) -> f64 {
        self.fracture + self.collision + self.contact + self.plastic
    }
}

/// A built scene to measure.
pub struct BuiltScene<'a> {
    /// The initial world.
    pub world: World,
    /// Appearances of the bodies of the scene.
    pub appearances: Vec<Appearance>,
    /// The recorder, before the first frame.
    pub recorder: Recorder,
    /// Crack energy of each body, J/m^2, where known.
    pub crack_energies: &'a [Option<f64>],
    /// Build time, s.
    pub seconds_build: f64,
}

/// A measured run.
pub struct Outcome {
    /// Results.
    pub measured: Measured,
    /// Recording of the run.
    pub recording: Recording,
    /// The first impact of another body that exceeded the strength of a body.
    pub first_impact: Option<Event>,
    /// The frame of the first event of any cause: impact, explosion, cut or load.
    pub first_event_frame: Option<usize>,
}

/// Runs a scene for the given number of frames.
pub fn measure(subject: BuiltScene<'_>, frames: usize) -> Outcome {
    let BuiltScene { mut world, appearances, mut recorder, crack_energies, seconds_build } =
        subject;
    let mut sums = RunTotals::new(&world);
    let mut seconds_simulate = 0.0;
    for _ in 0..frames {
        let before = Instant::now();
        let report = world.step();
        seconds_simulate += before.elapsed().as_secs_f64();
        recorder.record(&world, &report);
        sums.add(&world, &report);
    }
    let pieces = || world.iter().filter(|body| body.lineage.is_some());
    let mut volumes: Vec<f64> =
        pieces().filter_map(|body| Some(body.solid?.geometry.moments().volume)).collect();
    volumes.sort_by(|a, b| b.total_cmp(a));
    let first_impact = sums.first_impact.take();
    let impact = |event: &Event| FirstImpact {
        body: name(event, &appearances),
        frame: event.frame,
        time: event.frame as f64 * world.settings().dt,
        impulse: Vector3::from(event.impulse).norm(),
        strength: event.strength,
    };
    let pieces = pieces().count();
    let recording = recorder.finish();
    let cracks = Cracks::of(&recording, crack_energies);
    sums.energy.cracks = cracks.energy;
    let measured = Measured {
        frames,
        breaks: sums.breaks,
        first_impact: first_impact.as_ref().map(impact),
        pieces,
        volumes,
        crack_area: cracks.area,
        energy: sums.energy,
        mass_error: sums.mass_error,
        momentum_error: sums.momentum_error,
        angular_momentum_error: sums.angular_momentum_error,
        seconds_build,
        seconds_simulate,
    };
    Outcome { measured, recording, first_impact, first_event_frame: sums.first_event_frame }
}

/// All cracks at the end of a recording.
struct Cracks {
    /// Area, m^2.
    area: f64,
    /// Lower bound of the crack energy, J; `None` if a material is not known.
    energy: Option<f64>,
}

impl Cracks {
    /// Cracks of a recording. `energies` are crack energies, J/m^2, of the bodies of the scene;
    /// these bodies are the first tracks.
    fn of(recording: &Recording, energies: &[Option<f64>]) -> Self {
        let mut all = Self { area: 0.0, energy: Some(0.0) };
        let tracks = &recording.tracks;
        for track in tracks.iter().filter(|track| track.end() == recording.frames) {
            let Some(parent) = track.parent else { continue };
            let mut root = parent;
            while let Some(above) = tracks[root].parent {
                root = above;
            }
            // each crack has two sides
            let area = cut_area(&track.surface()) / 2.0;
            all.area += area;
            let energy = energies.get(root).copied().flatten().map(|energy| energy * area);
            all.energy = all.energy.zip(energy).map(|(sum, energy)| sum + energy);
        }
        all
    }
}

fn name(event: &Event, appearances: &[Appearance]) -> String {
    let own = appearances.iter().find(|appearance| appearance.body == event.body);
    own.map_or_else(|| event.body.to_string(), |appearance| appearance.name.clone())
}

/// Area of the cut faces of a surface, m^2.
fn cut_area(surface: &Surface) -> f64 {
    let place = |n: u32| -> Point3<f64> { Point3::from(surface.vertices[n as usize]).cast() };
    let area = |&[a, b, c]: &[u32; 3]| {
        let [a, b, c] = [a, b, c].map(place);
        (b - a).cross(&(c - a)).norm() / 2.0
    };
    surface.inner.iter().map(area).fold(0.0, |sum, area| sum + area)
}

/// Sums over frames.
struct RunTotals {
    mass: f64,
    breaks: usize,
    first_impact: Option<Event>,
    first_event_frame: Option<usize>,
    energy: Energies,
    mass_error: f64,
    momentum_error: f64,
    angular_momentum_error: f64,
}

impl RunTotals {
    fn new(world: &World) -> Self {
        Self {
            mass: world.mass(),
            breaks: 0,
            first_impact: None,
            first_event_frame: None,
            energy: Energies::default(),
            mass_error: 0.0,
            momentum_error: 0.0,
            angular_momentum_error: 0.0,
        }
    }

    fn add(&mut self, world: &World, report: &Report) {
        self.breaks += report.events.fractures.len();
        let events = &report.events.replayable;
        self.first_event_frame = self.first_event_frame.or(events.first().map(|e| e.frame));
        if self.first_impact.is_none() {
            self.first_impact = events.iter().find(|event| exceeds_strength(event)).cloned();
        }
        let energy = &mut self.energy;
        energy.fracture += report.energy.dissipation.fracture;
        energy.collision += report.energy.dissipation.collision;
        energy.contact += report.energy.dissipation.contact;
        energy.plastic += report.energy.dissipation.plastic;
        energy.largest_gain = energy.largest_gain.max(report.energy.dissipation.unexplained_gain());
        let mass = world.mass() + world.retired_mass();
        self.mass_error = self.mass_error.max(share((mass - self.mass).abs(), self.mass));
        for fracture in &report.events.fractures {
            self.add_fracture(fracture);
        }
    }

    fn add_fracture(&mut self, fracture: &Fracture) {
        let Fracture { before, after, impulse, point, .. } = fracture;
        let (before, after) = (&before.momentum, &after.momentum);
        let linear = before.linear.norm().max(impulse.norm());
        let angular = before.angular.norm().max(linear * point.coords.norm());
        let errors = [
            share((after.linear - before.linear).norm(), linear),
            share((after.angular - before.angular).norm(), angular),
        ];
        self.momentum_error = self.momentum_error.max(errors[0]);
        self.angular_momentum_error = self.angular_momentum_error.max(errors[1]);
    }
}

/// Whether an event is an impact of another body that exceeded the strength of its body. An impact
/// that only wakes a body does not count.
fn exceeds_strength(event: &Event) -> bool {
    matches!(event.cause, Trigger::Collision(_)) && event.outcome != HitOutcome::Woke
}

/// A ratio; 0 if the whole is 0.
fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
