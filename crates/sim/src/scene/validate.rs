//! Which values of a scene can be simulated.

use std::collections::BTreeSet;

use super::breakable::Breakable;
use super::check::{at, require};
use super::error::nearest;
use super::files::refused_version;
use super::{Body, InvalidValue, Scene};

/// Most nodes of all level sets of a scene together: a gibibyte.
const MAX_ALL_NODES: f64 = 268_435_456.0;
/// Most bodies of a scene times its frames: a pose of each is kept, 4 GiB in all.
const MAX_POSES: usize = 1 << 26;

impl Scene {
    /// Checks every value: finite numbers, positive masses and sizes, level sets that fit in
    /// memory, names that exist.
    ///
    /// # Errors
    /// The first [`InvalidValue`] in the order of the file format.
    pub fn validate(&self) -> Result<(), InvalidValue> {
        require(self.version == Self::VERSION, "version", || refused_version(self.version))?;
        self.simulation.check()?;
        self.debris.check(self)?;
        self.check_materials()?;
        for (name, p) in &self.patterns {
            p.check(&format!("pattern.{name}"))?;
        }
        require(!self.bodies.is_empty(), "body", || "is missing: add a [[body]] table")?;
        let groups = self.groups();
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
                self.check_material(&at(&key, "material"), name)?;
            }
            b.check(&key)?;
            b.check_pieces(&key, self)?;
            b.check_groups(&key, &groups)?;
            if let Some(f) = &b.fracture {
                let (has_strength, extents) = (b.solid().is_some(), b.shape.extents());
                let body = Breakable { has_strength, extents, patterns: &self.patterns };
                f.check(&at(&key, "fracture"), &body)?;
            }
            for (n, anchor) in b.anchors.iter().enumerate() {
                anchor.check(&format!("{key}.anchor[{n}]"), &b.name, self)?;
            }
        }
        for (n, joint) in self.joints.iter().enumerate() {
            joint.check(&format!("joints[{n}]"), self)?;
        }
        self.check_timeline()?;
        self.check_plane()?;
        self.check_camera()?;
        self.memory()
    }

    /// Whether a copy of a body has this name. Those of pieces are compared once their number is known.
    fn is_copy(&self, name: &str) -> bool {
        let has_copies = |body: &&Body| body.copies.is_some() && !body.starts_in_pieces();
        self.bodies.iter().filter(has_copies).any(|body| body.goes_by(name))
    }

    /// The body of this name, or whose copy or piece has it.
    ///
    /// # Errors
    /// What is wrong with the name, as the rest of a sentence. `kind` is what is looked for, as `body`, among those
    /// that are `wanted`.
    pub(super) fn named(
        &self,
        name: &str,
        kind: &str,
        wanted: impl Fn(&Body) -> bool,
    ) -> Result<&Body, String> {
        let bodies = || self.bodies.iter().filter(|body| wanted(body));
        if let Some(body) = bodies().find(|body| body.goes_by(name)) {
            return Ok(body);
        }
        if let Some(body) = bodies().find(|body| body.name == name) {
            let what = if body.starts_in_pieces() { "starts in pieces" } else { "has copies" };
            return Err(format!(
                "names `{name}`, which {what}: name one, as `{}`",
                body.first_name()
            ));
        }
        let names: Vec<String> =
            bodies().flat_map(|body| body.names().chain([body.first_name()])).collect();
        Err(match nearest(name, names.iter().map(String::as_str)) {
            Some(near) => format!("names no {kind} `{name}`, did you mean `{near}`?"),
            None => format!("names no {kind} `{name}`: name one, or add it"),
        })
    }

    /// How many bodies it starts with.
    pub fn body_count(&self) -> usize {
        let copies = |b: &Body| b.copies.map_or(1, |copies| copies.total());
        self.bodies.iter().map(copies).fold(0, usize::saturating_add)
    }

    /// How many nodes pieces may have, all together.
    pub(crate) fn nodes_left(&self) -> usize {
        let nodes: f64 = self.bodies.iter().map(Body::nodes).sum();
        (MAX_ALL_NODES - nodes) as usize
    }

    /// Refuses what fits in memory body by body, but not together.
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
