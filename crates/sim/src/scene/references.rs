//! References to names of bodies in other parts of a scene.

use super::check::require;
use super::error::nearest;
use super::{Anchor, Body, Camera, Event, InvalidValue, Joint, Motion, Scene};

impl Scene {
    /// Whether a copy of a body has this name. Copies of pieces are compared once their number is
    /// known.
    pub(super) fn is_copy(&self, name: &str) -> bool {
        let has_copies = |body: &&Body| body.copies.is_some() && !body.starts_in_pieces();
        self.bodies.iter().filter(has_copies).any(|body| body.has_name(name))
    }

    /// Checks the supporting body of an anchor of body `name`: it must exist and be anchored or
    /// static itself.
    pub(super) fn check_anchor_body(
        &self,
        key: &str,
        name: &str,
        anchor: &Anchor,
    ) -> Result<(), InvalidValue> {
        let Some(to) = &anchor.to else { return Ok(()) };
        let other = self.reference_to(key, to, "other body", |other| other.name != name)?;
        require(other.motion == Motion::Static || !other.anchors.is_empty(), key, || {
            format!("names `{to}`, which moves: it must be static or have an anchor itself")
        })
    }

    /// Checks that a joint has two bodies of which one is dynamic.
    pub(super) fn check_joint_bodies(&self, key: &str, joint: &Joint) -> Result<(), InvalidValue> {
        let mut moves = false;
        for (n, name) in joint.bodies.iter().enumerate() {
            let body = self.reference_to(&format!("{key}[{n}]"), name, "body", |_| true)?;
            moves |= body.motion == Motion::Dynamic;
        }
        require(
            joint.bodies[0] != joint.bodies[1],
            key,
            || "names one body twice: a joint holds two",
        )?;
        require(
            moves,
            key,
            || "names two bodies that nothing moves: one must have `motion = \"dynamic\"`, as is the default",
        )
    }

    /// Checks that the body that an event pushes exists and is dynamic.
    pub(super) fn check_pushed(&self, key: &str, event: &Event) -> Result<(), InvalidValue> {
        let Some(push) = &event.push else { return Ok(()) };
        let moves = |body: &Body| body.motion == Motion::Dynamic;
        self.reference_to(key, &push.body, "dynamic body", moves).map(|_| ())
    }

    /// Checks that the body that the camera follows exists.
    pub(super) fn check_followed(&self, key: &str, camera: &Camera) -> Result<(), InvalidValue> {
        let Some(name) = &camera.follow else { return Ok(()) };
        self.reference_to(key, name, "body", |_| true).map(|_| ())
    }

    /// The body with this name, or whose copy or piece has it. `kind` describes the reference, as
    /// `body`, and `wanted` filters bodies.
    fn reference_to(
        &self,
        key: &str,
        name: &str,
        kind: &str,
        wanted: impl Fn(&Body) -> bool,
    ) -> Result<&Body, InvalidValue> {
        let error = |problem: String| Err(InvalidValue { key: key.to_owned(), problem });
        let bodies = || self.bodies.iter().filter(|body| wanted(body));
        if let Some(body) = bodies().find(|body| body.has_name(name)) {
            return Ok(body);
        }
        if let Some(body) = bodies().find(|body| body.name == name) {
            let what = if body.starts_in_pieces() { "starts in pieces" } else { "has copies" };
            return error(format!(
                "names `{name}`, which {what}: name one, as `{}`",
                body.first_name()
            ));
        }
        let names: Vec<String> =
            bodies().flat_map(|body| body.names().chain([body.first_name()])).collect();
        error(match nearest(name, names.iter().map(String::as_str)) {
            Some(near) => format!("names no {kind} `{name}`, did you mean `{near}`?"),
            None => format!("names no {kind} `{name}`: name one, or add it"),
        })
    }
}
