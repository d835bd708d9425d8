//! Walls of solids that their samples do not resolve.

use std::fmt;

use levelset::{Aabb, Grid, total_order};
use nalgebra::{Point3, Vector3};

use super::digits::{counted, rounded};
use crate::scene::{self, Combined, Shape};

/// Least number of cells through a wall: with 1.5 cells a spherical shell keeps 99 % of its mass, with
/// one cell half of it, with half a cell nothing.
const CELLS_THROUGH: f64 = 2.0;
/// Largest number of points of the space around a solid that are tried as starts of chords.
const MAX_POINTS: usize = 1 << 14;
/// Sufficient number of chords.
const MAX_CHORDS: usize = 512;
/// Step of a chord and of differences, and tolerance of points of the surface, in cells.
const STEP: f64 = 1.0 / 256.0;

/// Walls that are thinner than samples resolve: parts of them and of their mass are lost.
#[derive(Clone, Debug, PartialEq)]
pub struct ThinWalls {
    /// Thickness, m.
    pub thickness: f64,
    /// Spacing of the level set, m.
    pub spacing: f64,
    /// Largest spacing that resolves them, m; `None` if it needs too many nodes.
    pub resolves: Option<f64>,
}

impl fmt::Display for ThinWalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { thickness, spacing, resolves } = *self;
        let cells = counted(thickness / spacing, "cells");
        let (thickness, spacing) = (shortened(thickness), shortened(spacing));
        write!(f, "{thickness} m thick, {cells} of {spacing} m, too few to keep their mass: ")?;
        match resolves {
            Some(resolves) => write!(f, "give a spacing of at most {}", rounded(resolves)),
            None => write!(f, "no spacing resolves them: make them thicker"),
        }
    }
}

/// Rounds to three significant digits.
fn shortened(x: f64) -> f64 {
    format!("{x:.2e}").parse().unwrap_or(x)
}

impl ThinWalls {
    /// The walls of a shape, whose outlines are read, if they are too thin. Solids with a closed
    /// form break into exact pieces at any spacing that is smaller than they are.
    pub(super) fn of(shape: &Shape) -> Option<Self> {
        let (bounds, spacing) = (shape.bounds()?, shape.spacing()?);
        let extents = bounds.extents();
        let thickness = match shape {
            _ if spacing > extents.max() => extents.min(),
            Shape::Combined(_) => wall_thickness(shape, &bounds, spacing)?,
            Shape::Torus(_) | Shape::Extruded(_) => extents.min(),
            _ => return None,
        };
        // with a default spacing walls may have just two cells
        if thickness >= CELLS_THROUGH * spacing * (1.0 - 1e-9) {
            return None;
        }
        let resolves = thickness / CELLS_THROUGH;
        let finest = Grid::finest_spacing(&extents, scene::MARGIN, scene::MAX_NODES);
        let resolves = (rounded(resolves) >= finest).then_some(resolves);
        Some(Self { thickness, spacing, resolves })
    }
}

/// Thickness of the thin walls of a combined solid, m, if it is below [`CELLS_THROUGH`] cells: the
/// tenth percentile of the chords from its surface straight inwards to a face that is nearly
/// parallel. Chords near edges end at faces that are not, and count as thick.
fn wall_thickness(shape: &Shape, bounds: &Aabb, spacing: f64) -> Option<f64> {
    if let Shape::Combined(Combined { wall: Some(wall), .. }) = shape {
        return Some(*wall);
    }
    let value = |p: &Point3<f64>| shape.value(p);
    let (low, extents) = (bounds.min.map(|x| x - spacing), bounds.extents());
    let extents = extents.add_scalar(2.0 * spacing);
    let points = (1..=MAX_POINTS).map(|n| low + share(n).component_mul(&extents));
    let near = points.filter(|p| value(p).abs() < spacing);
    let chords = near.filter_map(|p| chord(&value, &p, spacing));
    let mut chords: Vec<f64> = chords.take(MAX_CHORDS).collect();
    chords.sort_by_cached_key(|chord| total_order(*chord));
    chords.get(chords.len() / 10).copied().filter(|wall| wall.is_finite())
}

/// Points that fill the unit cube evenly: the additive recurrence with the powers of the root of
/// x^4 = x + 1 (Roberts, *The unreasonable effectiveness of quasirandom sequences*, 2018).
fn share(n: usize) -> Vector3<f64> {
    const ROOT: f64 = 1.220_744_084_605_759_5;
    let step = Vector3::new(ROOT.recip(), (ROOT * ROOT).recip(), (ROOT * ROOT * ROOT).recip());
    (step * n as f64).map(f64::fract)
}

/// Length of the chord from the point of the surface next to `start` straight inwards, m; infinite
/// if it does not end at a nearly parallel face within [`CELLS_THROUGH`] cells, and `None` if the
/// surface has no plane tangent there.
fn chord(value: &impl Fn(&Point3<f64>) -> f64, start: &Point3<f64>, spacing: f64) -> Option<f64> {
    /// Steps of Newton's method, which takes one where values are distances.
    const NEWTON_STEPS: usize = 3;
    /// Least cosine between the normals of the faces of a wall, one of them reversed.
    const PARALLEL: f64 = 0.9;
    let step = STEP * spacing;
    let slope = |p: &Point3<f64>| {
        let difference = |axis: Vector3<f64>| value(&(p + axis * step)) - value(&(p - axis * step));
        let [x, y, z] = [Vector3::x(), Vector3::y(), Vector3::z()].map(difference);
        (Vector3::new(x, y, z) / (2.0 * step)).try_normalize(0.0)
    };
    let mut place = *start;
    for _ in 0..NEWTON_STEPS {
        place -= slope(&place)? * value(&place);
    }
    let normal = slope(&place)?;
    let inside = value(&(place - normal * step));
    // at an edge the distance below its faces grows more slowly
    if value(&place).abs() > 0.1 * step || inside > -0.9 * step {
        return None;
    }
    let mut length = step;
    while length <= CELLS_THROUGH * spacing {
        let p = place - normal * length;
        let depth = -value(&p);
        if depth <= 0.0 {
            let is_parallel = slope(&p).is_some_and(|other| -normal.dot(&other) >= PARALLEL);
            return Some(if is_parallel { length } else { f64::INFINITY });
        }
        // a bound of the distance to the surface
        length += depth.max(step);
    }
    Some(f64::INFINITY)
}
