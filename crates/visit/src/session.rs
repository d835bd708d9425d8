//! Actions of a visitor on a world, frame by frame.

use std::collections::BTreeMap;

use nalgebra::{Point3, UnitVector3, Vector3};
use sim::scene::{Scene, SceneError};
use sim::{Action, Appearance, BodyId, BuildError, Explosion, Filter, Report, World, add_bodies};
use thiserror::Error;

use crate::command::{Command, CommandError, MAX_COMMANDS, read_all, write_all};
use crate::grab::Hand;
use crate::saved::ScheduledCommand;

/// Length of rays, m.
const REACH: f64 = 1e4;

/// Why a command cannot be executed: a sentence for the visitor.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SessionError {
    /// There are too many commands.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// The thrown ball is not a valid body of a scene.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// The thrown ball cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
}

/// A hand, thrown bodies, executed commands and scheduled commands.
#[derive(Debug, Default)]
pub struct Session {
    hand: Option<Hand>,
    thrown: usize,
    log: Vec<(usize, Command)>,
    /// Scheduled commands of a link or a file, in reverse order.
    scheduled: Vec<(usize, Command)>,
}

fn place(p: [f32; 3]) -> Point3<f64> {
    Point3::from(p).cast()
}

impl Session {
    /// A session with the events of a file that [`SavedRun::check`](crate::SavedRun::check) accepts
    /// as scheduled commands.
    pub fn of(events: &[ScheduledCommand]) -> Self {
        let scheduled = events.iter().rev().map(|when| (when.frame, when.command)).collect();
        Self { scheduled, ..Self::default() }
    }

    /// Schedules the commands that [`Session::events`] wrote for their frames.
    ///
    /// # Errors
    /// [`CommandError`] if the bytes are damaged.
    pub fn replay(&mut self, events: &[u8]) -> Result<(), CommandError> {
        self.scheduled = read_all(events)?;
        self.scheduled.reverse();
        Ok(())
    }

    /// All commands so far, for a link.
    pub fn events(&self) -> Vec<u8> {
        write_all(&self.log)
    }

    /// Whether commands are scheduled.
    pub fn is_replaying(&self) -> bool {
        !self.scheduled.is_empty()
    }

    /// Whether commands were executed or are scheduled.
    pub fn has_begun(&self) -> bool {
        !self.log.is_empty() || self.is_replaying()
    }

    /// The kinematic body of the hand while it holds something. It does not belong to the scene.
    pub fn hand(&self) -> Option<BodyId> {
        self.hand.as_ref().map(Hand::body)
    }

    /// Executes a command between the last frame and the next, and drops scheduled commands.
    /// Returns the added bodies.
    ///
    /// # Errors
    /// [`SessionError`] if the command cannot be executed; nothing changes then.
    pub fn act(
        &mut self,
        world: &mut World,
        command: Command,
    ) -> Result<Vec<Appearance>, SessionError> {
        let added = self.carry_out(world, command)?;
        self.scheduled.clear();
        Ok(added)
    }

    /// Executes the scheduled commands that are due, and moves the hand. Call it before each frame.
    /// Returns the added bodies.
    pub fn before_frame(&mut self, world: &mut World) -> Vec<Appearance> {
        let frame = world.frame();
        let mut added = Vec::new();
        while let Some((_, command)) = self.scheduled.pop_if(|(due, _)| *due <= frame) {
            // replay repeats the original outcome, so a command that fails now failed then, too
            added.extend(self.carry_out(world, command).into_iter().flatten());
        }
        if let Some(hand) = &mut self.hand {
            hand.advance(world);
        }
        added
    }

    /// Processes the report of a frame. Returns whether the hand slipped off in it.
    pub fn after_frame(&mut self, world: &mut World, report: &Report) -> bool {
        let slipped = self.hand.take_if(|hand| hand.slipped(report));
        let has_slipped = slipped.is_some();
        slipped.into_iter().for_each(|hand| hand.release(world));
        has_slipped
    }

    /// The first body on a ray from a point, m, and the point of intersection; `None` without an
    /// intersection.
    pub fn meets(world: &World, [from, along]: [[f64; 3]; 2]) -> Option<(BodyId, Point3<f64>)> {
        let along = UnitVector3::try_new(Vector3::from(along), 1e-12)?;
        let hit = world.cast_ray(&from.into(), &along, REACH, &Filter::default())?;
        Some((hit.body, hit.point))
    }

    fn carry_out(
        &mut self,
        world: &mut World,
        command: Command,
    ) -> Result<Vec<Appearance>, SessionError> {
        if self.log.len() >= MAX_COMMANDS {
            return Err(CommandError::TooMany.into());
        }
        let mut added = Vec::new();
        match command {
            Command::Throw { from, velocity, radius, density } => {
                added = self.throw(world, [from, velocity], radius, density)?;
            }
            Command::Grab { from, along, force } => self.grab(world, [from, along], force),
            Command::Drag { to } => self.hand.iter_mut().for_each(|hand| hand.drag(place(to))),
            Command::Release {} => self.release(world),
            Command::Cut { from, to } => {
                let [from, to] = [from, to].map(|ends| ends.map(place));
                world.schedule(Action::Cut { from, to });
            }
            Command::Explode { at, radius, impulse } => {
                let (radius, impulse) = (radius.into(), impulse.into());
                let explosion = Explosion { at: place(at), radius, impulse };
                world.schedule(Action::Explode(explosion));
            }
            Command::Gravity { down } => {
                // gravity is finite: see `Command::check`
                let _ = world.set_gravity(Vector3::new(0.0, -f64::from(down), 0.0));
            }
        }
        self.log.push((world.frame(), command));
        Ok(added)
    }

    fn throw(
        &mut self,
        world: &mut World,
        [from, velocity]: [[f32; 3]; 2],
        radius: f32,
        density: f32,
    ) -> Result<Vec<Appearance>, SessionError> {
        let [from, velocity] = [from, velocity].map(|v| v.map(f64::from));
        let n = self.thrown + 1;
        let text = format!(
            "version = 1\n[[body]]\nname = \"thrown ball {n}\"\nmaterial = \"steel\"\n\
             shape = {{ sphere = {{ radius = {:?} }} }}\ndensity = {:?}\nposition = {from:?}\n\
             velocity = {velocity:?}\n",
            f64::from(radius),
            f64::from(density),
        );
        let scene = Scene::from_toml(&text)?;
        let added = add_bodies(world, &scene, &BTreeMap::new())?;
        self.thrown = n;
        Ok(added)
    }

    fn grab(&mut self, world: &mut World, ray: [[f32; 3]; 2], force: f32) {
        self.release(world);
        let ray = ray.map(|v| v.map(f64::from));
        if let Some((body, at)) = Self::meets(world, ray) {
            self.hand = Hand::new(world, body, at, force.into());
        }
    }

    fn release(&mut self, world: &mut World) {
        if let Some(hand) = self.hand.take() {
            hand.release(world);
        }
    }
}
