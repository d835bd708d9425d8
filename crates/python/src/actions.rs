//! Executes actions on a world and records them.

use std::collections::BTreeMap;

use brisance::commands::load::{add_bodies, load_with, parse_scene};
use dynamics::Velocity;
use levelset::TriMesh;
use nalgebra::{Isometry3, Point3, UnitVector3, Vector3};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use sim::{Anchor, BodyId, MeshData, Motor, Region, scene};

use crate::action::{Action, ActionResult, Body, MESH, Triangles};
use crate::arrays::isometry;
use crate::failure::{brisance_error, failure_error};
use crate::scene::Scene;
use crate::world::World;

/// Parses keys in the format of scenes.
fn read_keys<T: DeserializeOwned>(mut keys: Map<String, Value>) -> PyResult<T> {
    // `None` in Python
    keys.retain(|_, value| !value.is_null());
    let text = toml::to_string(&keys).map_err(brisance_error)?;
    scene::read_toml(&text).map_err(|error| brisance_error(error.problem()))
}

impl World {
    /// Executes an action, and records it if it succeeds.
    pub(crate) fn execute_and_record(&mut self, action: Action) -> PyResult<ActionResult> {
        let result = self.execute(&action)?;
        self.history.push(action);
        Ok(result)
    }

    fn execute(&mut self, action: &Action) -> PyResult<ActionResult> {
        match action {
            Action::Step(count) => (0..*count).for_each(|_| drop(self.advance())),
            Action::Remove(id) => {
                let id = self.body(*id)?;
                self.world.remove(id);
            }
            Action::Gravity(g) => self.world.set_gravity((*g).into()).map_err(brisance_error)?,
            Action::Pose(id, p) => {
                self.world.set_pose(self.body(*id)?, &isometry(p)).map_err(brisance_error)?;
            }
            Action::Velocity(id, [linear, angular]) => {
                let velocity = Velocity { linear: (*linear).into(), angular: (*angular).into() };
                self.world.set_velocity(self.body(*id)?, velocity).map_err(brisance_error)?;
            }
            Action::Kinematic(id, p) => {
                self.world.move_kinematic(self.body(*id)?, &isometry(p)).map_err(brisance_error)?;
            }
            Action::Force(id, force, at) => {
                let (force, at) = (Vector3::from(*force), at.map(Point3::from));
                self.world
                    .apply_force(self.body(*id)?, &force, at.as_ref())
                    .map_err(brisance_error)?;
            }
            Action::Torque(id, torque) => {
                let torque = Vector3::from(*torque);
                self.world.apply_torque(self.body(*id)?, &torque).map_err(brisance_error)?;
            }
            Action::Impulse(id, impulse, at) => {
                let (impulse, at) = (Vector3::from(*impulse), at.map(Point3::from));
                self.world
                    .apply_impulse(self.body(*id)?, &impulse, at.as_ref())
                    .map_err(brisance_error)?;
            }
            Action::Cut([a, b, c, d]) => {
                let [a, b, c, d] = [*a, *b, *c, *d].map(Point3::from);
                let fractures = self.world.cut([a, b], [c, d]);
                self.recorder.record_cut(&self.world, &fractures);
                return Ok(ActionResult::Fractures(fractures));
            }
            Action::Add(body) => return self.add_body(body).map(ActionResult::Number),
            Action::AddJoint(bodies, keys) => {
                return self.join_bodies(*bodies, keys).map(ActionResult::Number);
            }
            Action::RemoveJoint(number) => {
                let id = self.joint_state(*number)?.id;
                self.world.remove_joint(id);
            }
            Action::Motor(number, motor) => {
                let id = self.joint_state(*number)?.id;
                let motor = motor.map(|[speed, max_force]| Motor { speed, max_force });
                self.world.set_joint_motor(id, motor).map_err(brisance_error)?;
            }
            Action::Anchor(id, regions, strength) => self.anchor_body(*id, regions, *strength)?,
        }
        Ok(ActionResult::Nothing)
    }

    fn add_body(&mut self, body: &Body) -> PyResult<u64> {
        let text = self.scene_text_with_body(&body.keys)?;
        let (path, mut file) = {
            let scene: &Scene = self.scene.get();
            let file = parse_scene(&scene.path, &text, scene.options.allow_outside);
            (scene.path.clone(), file.map_err(|e| failure_error(&e))?)
        };
        // included scenes have bodies, joints and events, too
        let last = file.scene.bodies.pop();
        file.scene.bodies = last.into_iter().collect();
        file.scene.joints.clear();
        file.scene.events.clear();
        let name = &file.scene.bodies[0].name;
        if self.names().contains(name) {
            let problem = format!("there is a body {name:?} already: give another `name`");
            return Err(PyValueError::new_err(problem));
        }
        let surface = |(vertices, triangles): &Triangles| {
            let vertices = vertices.iter().map(|p| Point3::from(*p)).collect();
            MeshData::Surface(TriMesh { vertices, triangles: triangles.clone() }.into())
        };
        let meshes: BTreeMap<String, MeshData> =
            body.mesh.iter().map(|mesh| (MESH.to_owned(), surface(mesh))).collect();
        let loaded = load_with(&path, file, meshes).map_err(|e| failure_error(&e))?;
        let added = add_bodies(&path, &loaded, &mut self.world).map_err(|e| failure_error(&e))?;
        self.recorder.record_added(&self.world, &added);
        Ok(added[0].body.number())
    }

    /// The text of the scene with only this body, and without joints, events and camera.
    fn scene_text_with_body(&self, keys: &str) -> PyResult<String> {
        let scene = self.scene.get();
        let mut text: toml::Table = scene.text.parse().map_err(brisance_error)?;
        for part in ["body", "joints", "event", "camera"] {
            text.remove(part);
        }
        let body: toml::Table = serde_json::from_str(keys).map_err(brisance_error)?;
        let only_in_files = [
            ("copies", "add each body separately"),
            ("pieces", "add each piece separately, and join them with `World.join`"),
            ("keyframes", "move the body with `move_kinematic`"),
        ];
        let shape = body.get("shape").and_then(toml::Value::as_table);
        for (key, instead) in only_in_files {
            if body.contains_key(key) || shape.is_some_and(|shape| shape.contains_key(key)) {
                let problem = format!("`{key}` is allowed only in scene files: {instead}");
                return Err(PyValueError::new_err(problem));
            }
        }
        text.insert("body".to_owned(), toml::Value::Array(vec![body.into()]));
        toml::to_string(&text).map_err(brisance_error)
    }

    fn join_bodies(&mut self, bodies: [u64; 2], keys: &str) -> PyResult<u64> {
        let bodies = [self.body(bodies[0])?, self.body(bodies[1])?];
        let spec: scene::Joint = read_keys(serde_json::from_str(keys).map_err(brisance_error)?)?;
        let id = self.world.add_joint(sim::joint(&spec, bodies)).map_err(brisance_error)?;
        Ok(id.number())
    }

    fn anchor_body(&mut self, id: u64, regions: &str, strength: f64) -> PyResult<()> {
        let body = self.body(id)?;
        let regions: Vec<Map<String, Value>> =
            serde_json::from_str(regions).map_err(brisance_error)?;
        let anchor = |keys| self.anchor_from_spec(&read_keys(keys)?);
        let anchors: PyResult<Vec<Anchor>> = regions.into_iter().map(anchor).collect();
        if self.world.anchor(body, anchors?, strength) {
            return Ok(());
        }
        Err(brisance_error(format!(
            "body {id} cannot be anchored: it must be dynamic, have a convex shape or the key `fracture`, and have \
             material in a region"
        )))
    }

    /// The anchor of a body to a region of the world, from its keys in scenes.
    fn anchor_from_spec(&self, spec: &scene::Anchor) -> PyResult<Anchor> {
        let region_error = |what: &str| PyValueError::new_err(format!("a region needs {what}"));
        let bounded = |v: &[f64]| v.iter().all(|x| x.abs() <= 1e9);
        let positive = |v: &[f64]| v.iter().all(|x| *x > 0.0 && *x <= 1e9);
        let region = match (&spec.sphere, &spec.r#box, &spec.plane) {
            (None, None, None) => Region::Everywhere,
            (Some(ball), None, None) if bounded(&ball.center) && positive(&[ball.radius]) => {
                Region::Ball { center: ball.center.into(), radius: ball.radius }
            }
            (None, Some(block), None)
                if bounded(&block.center) && positive(&block.half_extents) =>
            {
                let pose =
                    Isometry3::translation(block.center[0], block.center[1], block.center[2]);
                Region::Cuboid { pose, half: block.half_extents.into() }
            }
            (None, None, Some(plane)) if bounded(&plane.normal) && bounded(&[plane.offset]) => {
                let normal = UnitVector3::try_new(plane.normal.into(), 1e-9)
                    .ok_or_else(|| region_error("a normal that is not 0"))?;
                Region::HalfSpace { normal, offset: plane.offset }
            }
            _ => {
                return Err(region_error(
                    "one of `sphere`, `box` and `plane`, with positive sizes and numbers up to 1e9",
                ));
            }
        };
        let named = |name: &String| {
            let at = self.names().iter().position(|own| own == name);
            at.and_then(|at| self.world.iter().nth(at)).map(|body| body.id)
        };
        let to: Option<BodyId> = match &spec.to {
            Some(name) => {
                let unknown = || PyKeyError::new_err(format!("there is no body {name:?}"));
                Some(named(name).ok_or_else(unknown)?)
            }
            None => None,
        };
        Ok(Anchor { region, to })
    }
}
