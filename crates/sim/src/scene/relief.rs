//! Solids defined by images.

use std::sync::Arc;

use fracture::DensityMap;
use nalgebra::Point3;
use serde::Deserialize;

use super::InvalidValue;
use super::check::{at, extent, require};

/// A PNG file that defines a shape.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "String")]
pub struct PictureFile {
    /// Path of the file, relative to the scene file.
    pub file: String,
    /// The darkness of its pixels; see [`super::Scene::set_density_maps`].
    pub(crate) read: Option<Arc<DensityMap>>,
    /// Whether left and right are exchanged.
    is_mirrored: bool,
}

impl From<String> for PictureFile {
    fn from(file: String) -> Self {
        Self { file, read: None, is_mirrored: false }
    }
}

impl PartialEq for PictureFile {
    fn eq(&self, other: &Self) -> bool {
        (&self.file, self.is_mirrored) == (&other.file, other.is_mirrored)
    }
}

impl PictureFile {
    /// Exchanges left and right.
    pub(super) fn mirror(&mut self) {
        self.is_mirrored = !self.is_mirrored;
    }

    /// Its darkness at shares of its width from the left and of its height from the top, bilinear
    /// between the centers of pixels; `None` if it was not read.
    fn darkness(&self, [u, v]: [f64; 2]) -> Option<f64> {
        let density = &self.read.as_ref()?.density;
        let (rows, columns) = density.dim();
        let along = |share: f64, count: usize| {
            let place = (share * count as f64 - 0.5).clamp(0.0, count.saturating_sub(1) as f64);
            let first = place.floor().min(count.saturating_sub(2) as f64);
            (first as usize, place - first)
        };
        let u = if self.is_mirrored { 1.0 - u } else { u };
        let ((column, x), (row, y)) = (along(u, columns), along(v, rows));
        let at = |r: usize, c: usize| density.get([r, c]).copied().unwrap_or_default();
        let line = |r: usize| {
            let next = (column + 1).min(columns.saturating_sub(1));
            (1.0 - x) * at(r, column) + x * at(r, next)
        };
        Some((1.0 - y) * line(row) + y * line((row + 1).min(rows.saturating_sub(1))))
    }
}

/// `shape = { extruded = { picture = "star.png", size = [1, 1], depth = 0.2 } }`: the dark area of
/// an image, extruded along z.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extruded {
    /// The image: solid where it is darker than half.
    pub picture: PictureFile,
    /// Width and height of the image, m.
    pub size: [f64; 2],
    /// Thickness along z, m.
    pub depth: f64,
    /// Spacing of the level set, m; see [`super::Shape::spacing`] for the default.
    pub spacing: Option<f64>,
    /// Largest number of nodes of the level set, instead of `spacing`.
    pub nodes: Option<usize>,
}

impl Extruded {
    /// Negative inside, m. Near the outline it is a distance only where the image has soft edges.
    pub(crate) fn value(&self, p: &Point3<f64>) -> f64 {
        let [width, height] = self.size;
        let half = [width / 2.0, height / 2.0];
        let outside = (p.x.abs() - half[0]).max(p.y.abs() - half[1]);
        let place = [0.5 + p.x / width, 0.5 - p.y / height];
        let light = self.picture.darkness(place).map_or(1.0, |darkness| 0.5 - darkness);
        // unit slope between a black pixel and a white one
        let columns = self.picture.read.as_ref().map_or(1, |read| read.density.dim().1.max(1));
        let pixel = width / columns as f64;
        (light * pixel).max(p.z.abs() - self.depth / 2.0).max(outside)
    }

    pub(super) fn check(&self, key: &str) -> Result<(), InvalidValue> {
        require(
            !self.picture.file.is_empty(),
            &at(key, "picture"),
            || "is empty: name a .png file",
        )?;
        for length in self.size {
            extent(&at(key, "size"), length)?;
        }
        extent(&at(key, "depth"), self.depth)
    }
}

/// `shape = { heightfield = { picture = "hills.png", size = [10, 10], height = 2, base = 0.5 } }`:
/// ground whose height is the lightness of an image.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Heightfield {
    /// The image, seen from above with -z at its top.
    pub picture: PictureFile,
    /// Length along x and z, m.
    pub size: [f64; 2],
    /// Height of white above black, m. Black is at y = 0.
    pub height: f64,
    /// Thickness of the solid below y = 0, m.
    pub base: f64,
    /// Spacing of the level set, m; see [`super::Shape::spacing`] for the default.
    pub spacing: Option<f64>,
    /// Largest number of nodes of the level set, instead of `spacing`.
    pub nodes: Option<usize>,
}

impl Heightfield {
    /// Negative inside, m; not a distance where it is steep.
    pub(crate) fn value(&self, p: &Point3<f64>) -> f64 {
        let [x, z] = self.size;
        let sides = (p.x.abs() - x / 2.0).max(p.z.abs() - z / 2.0);
        (p.y - self.ground([p.x, p.z])).max(-self.base - p.y).max(sides)
    }

    /// Height of the ground at x and z, m.
    pub(crate) fn ground(&self, [x, z]: [f64; 2]) -> f64 {
        let place = [0.5 + x / self.size[0], 0.5 + z / self.size[1]];
        let lightness = self.picture.darkness(place).map_or(0.0, |darkness| 1.0 - darkness);
        self.height * lightness
    }

    /// Numbers of rows and columns of the image; one if it was not read.
    pub(crate) fn pixels(&self) -> [usize; 2] {
        let dim = self.picture.read.as_ref().map_or((1, 1), |read| read.density.dim());
        [dim.0.max(1), dim.1.max(1)]
    }

    pub(super) fn check(&self, key: &str) -> Result<(), InvalidValue> {
        require(
            !self.picture.file.is_empty(),
            &at(key, "picture"),
            || "is empty: name a .png file",
        )?;
        for length in self.size {
            extent(&at(key, "size"), length)?;
        }
        extent(&at(key, "height"), self.height)?;
        extent(&at(key, "base"), self.base)
    }
}
