//! Warnings about walls of shapes.

use std::collections::BTreeMap;
use std::fmt;

use super::solids::surface_in;
use super::walls::ThinWalls;
use crate::scene::{Body, Scene};
use crate::{Cause, MeshData};

/// A body whose walls are thinner than its samples resolve.
#[derive(Clone, Debug, PartialEq)]
pub struct WallWarning {
    /// Its name.
    pub body: String,
    /// Its walls.
    pub walls: ThinWalls,
}

impl fmt::Display for WallWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "walls of {} are {}", self.body, self.walls)
    }
}

impl WallWarning {
    /// The warning about a body, if its walls are too thin.
    fn of(body: &Body, meshes: &BTreeMap<String, MeshData>) -> Option<Self> {
        if !body.may_be_sampled() {
            return None;
        }
        let outline = |file: &str| Ok::<_, Cause>(&surface_in(meshes, file)?.mesh);
        let walls = ThinWalls::of(&body.shape.with_outlines(outline).ok()?)?;
        Some(Self { body: body.given_name().to_owned(), walls })
    }
}

impl Scene {
    /// The warnings about walls of its bodies, one per body; of meshes see [`Scene::mesh_warnings`]. `meshes` holds the outlines by
    /// file name.
    pub fn wall_warnings(&self, meshes: &BTreeMap<String, MeshData>) -> Vec<WallWarning> {
        self.bodies.iter().filter_map(|body| WallWarning::of(body, meshes)).collect()
    }
}
