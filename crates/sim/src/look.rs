//! Appearance of bodies: materials, paint and surfaces.

pub(crate) mod charts;
pub(crate) mod coat;
pub(crate) mod lazy_surface;
pub(crate) mod paint;
pub(crate) mod shading;
pub(crate) mod surface;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{BodyId, Coat, PaintedMesh};

/// The appearance of a body: its surface, and its cuts.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// Name of the material.
    pub material: String,
    /// Linear RGB color of the surface.
    pub color: [f32; 3],
    /// Linear RGB color of cuts.
    pub inner_color: [f32; 3],
    /// From 0, a mirror, to 1, chalk.
    pub roughness: f32,
    /// From 0, a dielectric, to 1, a metal, which reflects light in its color and scatters none.
    pub metallic: f32,
    /// The solid texture that varies its colors.
    pub texture: Texture,
    /// Share of light transmitted through the surface instead of scattered by it, 0 to 1; as
    /// `KHR_materials_transmission`.
    pub transmission: f32,
    /// Refractive index, 1 or more.
    pub ior: f32,
    /// Opacity, 0 to 1. The rest shows the background without refraction and in full color.
    pub alpha: f32,
    /// Colors of small pieces of the body, if they have their own.
    pub small_pieces: Option<SmallPieces>,
    /// Materials of the source mesh: triangles of the outer surface with one of these
    /// ([`Surface::coats`](crate::Surface::coats)) look like it instead, without a solid texture.
    pub coats: Arc<[Coat]>,
}

/// A color of small pieces.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SmallPieces {
    /// Pieces of less volume than a cube of this edge are small, m.
    pub size: f64,
    /// Linear RGB of their surface and cuts, each 0 to 1.
    #[serde(rename = "colour", alias = "color")]
    pub color: [f32; 3],
}

impl Look {
    /// The look of a piece of `volume` m^3, if it differs from the body's.
    pub fn of_piece(&self, volume: f64) -> Option<Self> {
        let SmallPieces { color, .. } =
            self.small_pieces.filter(|small| volume < small.size.powi(3))?;
        Some(Self {
            material: format!("{} small", self.material),
            color,
            inner_color: color,
            texture: Texture::Plain,
            // pieces of small pieces are small too
            small_pieces: None,
            coats: Arc::default(),
            ..self.clone()
        })
    }
}

impl Default for Look {
    fn default() -> Self {
        let color = [0.7; 3];
        Self {
            material: "plain".to_owned(),
            color,
            inner_color: color,
            roughness: 0.8,
            metallic: 0.0,
            texture: Texture::Plain,
            transmission: 0.0,
            ior: 1.5,
            alpha: 1.0,
            small_pieces: None,
            coats: Arc::default(),
        }
    }
}

/// A solid texture: the color of a material as a function of the rest position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Texture {
    /// One color everywhere.
    #[default]
    Plain,
    /// Veins.
    Marble,
    /// Faint clouds.
    Clay,
    /// Growth rings around the y axis.
    Wood,
    /// Clouds, sand and pores.
    Concrete,
    /// Grains of several colors.
    Stone,
}

impl Texture {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Plain, Self::Marble, Self::Clay, Self::Wood, Self::Concrete, Self::Stone];
}

/// The appearance of a body of a world.
#[derive(Clone, Debug, PartialEq)]
pub struct Appearance {
    /// The body.
    pub body: BodyId,
    /// Its name in the scene.
    pub name: String,
    /// Its appearance.
    pub look: Arc<Look>,
    /// The source mesh, in material coordinates.
    pub mesh: Option<Arc<PaintedMesh>>,
}
