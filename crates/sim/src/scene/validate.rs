//! Validation of scenes.

use std::collections::BTreeSet;

use super::check::{at, require};
use super::fracture_context::FractureContext;
use super::groups;
use super::material::{check_material, check_materials};
use super::{Body, InvalidValue, Scene, Wind};

/// Largest number of nodes of all level sets of a scene: a gibibyte.
const MAX_ALL_NODES: f64 = 268_435_456.0;
/// Largest product of bodies and frames of a scene: a pose of each is kept, 4 GiB in all.
const MAX_POSES: usize = 1 << 26;

impl Scene {
    /// Checks every value: finite numbers, positive masses and sizes, level sets that fit in
    /// memory, existing names.
    ///
    /// # Errors
    /// The first [`InvalidValue`] in the order of the file format.
    pub fn validate(&self) -> Result<(), InvalidValue> {
        require(self.version == Self::VERSION, "version", || version_problem(self.version))?;
        self.simulation.check()?;
        self.debris.check(self.dynamic_body_count())?;
        check_materials(&self.materials)?;
        for (name, p) in &self.patterns {
            p.check(&format!("pattern.{name}"))?;
        }
        require(!self.bodies.is_empty(), "body", || "is missing: add a [[body]] table")?;
        let groups = groups::names(&self.bodies);
        let solver = self.simulation.solver;
        let mut names = BTreeSet::new();
        for (i, b) in self.bodies.iter().enumerate() {
            let key = format!("body[{i}]");
            require(!b.name.is_empty(), &at(&key, "name"), || "is empty: give it a name")?;
            require(names.insert(&b.name), &at(&key, "name"), || {
                format!("`{}` is taken by an earlier body: choose another", b.name)
            })?;
            require(!self.is_copy(&b.name), &at(&key, "name"), || {
                format!("`{}` is the name of a copy of another body: choose another", b.name)
            })?;
            if let Some(name) = &b.material {
                check_material(&at(&key, "material"), name, &self.materials)?;
            }
            b.check(&key)?;
            b.check_pieces(&key, solver)?;
            b.check_groups(&key, &groups)?;
            if let Some(f) = &b.fracture {
                let (has_strength, extents) = (b.solid().is_some(), b.shape.extents());
                let body = FractureContext { has_strength, extents, patterns: &self.patterns };
                f.check(&at(&key, "fracture"), &body)?;
            }
            for (n, anchor) in b.anchors.iter().enumerate() {
                let key = format!("{key}.anchor[{n}]");
                anchor.check(&key)?;
                self.check_anchor_body(&at(&key, "to"), &b.name, anchor)?;
            }
        }
        for (n, joint) in self.joints.iter().enumerate() {
            let key = format!("joints[{n}]");
            self.check_joint_bodies(&at(&key, "bodies"), joint)?;
            joint.check(&key, solver)?;
        }
        self.wind.as_ref().map_or(Ok(()), Wind::check)?;
        for (n, event) in self.events.iter().enumerate() {
            let key = format!("event[{n}]");
            event.check(&key)?;
            self.check_pushed(&at(&key, "push.body"), event)?;
        }
        self.check_plane()?;
        if let Some(camera) = &self.camera {
            camera.check()?;
            self.check_followed("camera.follow", camera)?;
        }
        self.memory()
    }

    /// Replaces numbers of the scene. With `fps` its duration stays the same, unless `frames` is
    /// given.
    ///
    /// # Errors
    /// [`InvalidValue`] if one is out of range.
    pub fn replace(
        &mut self,
        fps: Option<f64>,
        frames: Option<usize>,
        seed: Option<u64>,
    ) -> Result<(), InvalidValue> {
        let simulation = &mut self.simulation;
        if let Some(fps) = fps {
            let frames = (simulation.frames as f64 * fps / simulation.fps).round();
            (simulation.fps, simulation.frames) = (fps, frames as usize);
        }
        simulation.frames = frames.unwrap_or(simulation.frames);
        simulation.seed = seed.unwrap_or(simulation.seed);
        self.validate()
    }

    /// Number of nodes left for all pieces.
    pub(crate) fn nodes_left(&self) -> usize {
        let nodes: f64 = self.bodies.iter().map(Body::nodes).sum();
        (MAX_ALL_NODES - nodes) as usize
    }

    /// Rejects level sets that fit in memory body by body, but not together.
    fn memory(&self) -> Result<(), InvalidValue> {
        let mut nodes = 0.0;
        for (i, b) in self.bodies.iter().enumerate() {
            nodes += b.nodes();
            require(nodes <= MAX_ALL_NODES, &format!("body[{i}].shape"), || {
                format!(
                    "brings the level sets of the scene to {nodes:.0} nodes, more than \
                     {MAX_ALL_NODES:.0}: use coarser ones"
                )
            })?;
        }
        let (frames, bodies) = (self.simulation.frames, self.body_count());
        require(frames.saturating_mul(bodies) <= MAX_POSES, "simulation.frames", || {
            format!("times {bodies} bodies passes the limit of {MAX_POSES} poses: use fewer")
        })
    }
}

/// The error message of a version.
pub(super) fn version_problem(other: u32) -> String {
    format!("is {other}, but this program reads version {}", Scene::VERSION)
}
