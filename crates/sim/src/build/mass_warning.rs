//! Warnings about the mass of solids without a closed form.

use std::collections::BTreeMap;
use std::fmt;

use levelset::{Grid, LevelSet};

use super::digits::rounded;
use super::formed;
use super::solids::surface_in;
use super::walls::ThinWalls;
use crate::scene::{self, Body, Combined, Motion, Scene, Shape};
use crate::{Cause, MeshData};

/// Largest relative error of the volume without a warning: twice the 2.3 % of walls of two or more
/// cells.
const MAX_ERROR: f64 = 0.05;
/// Largest number of nodes of the finer grid, and of evaluations of parts at these: with more
/// the estimate would take seconds.
const MAX_NODES: usize = 1 << 22;
const MAX_EVALUATIONS: usize = 1 << 26;

/// Why the mass of a solid without a closed form is not that of its shape.
#[derive(Clone, Debug, PartialEq)]
pub enum MassWarning {
    /// The samples are too coarse.
    Coarse {
        /// Name of the body.
        body: String,
        /// Estimated relative error of the volume; negative if the volume is too small.
        error: f64,
        /// Spacing that reduces the error to 5 %, m.
        spacing: f64,
    },
    /// The edges stay sharp: no sample is as deep inside the body as the radius of the rounding.
    Sharp {
        /// Name of the body.
        body: String,
        /// Radius of the rounding, m.
        rounding: f64,
    },
}

impl fmt::Display for MassWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Coarse { body, error, spacing } => {
                let (percent, side) =
                    (100.0 * error.abs(), if *error < 0.0 { "low" } else { "high" });
                write!(
                    f,
                    "the mass of {body} is about {percent:.0} % too {side}, because the samples are coarse: give a \
                     spacing of at most {}",
                    rounded(*spacing)
                )
            }
            Self::Sharp { body, rounding } => write!(
                f,
                "the edges of {body} stay sharp: no ball of its rounding of {rounding} m fits inside, or \
                 its samples are too coarse; give a smaller rounding or spacing"
            ),
        }
    }
}

impl MassWarning {
    /// The warning about a dynamic body. Thin walls have a [warning](ThinWalls) of their own.
    fn of(body: &Body, meshes: &BTreeMap<String, MeshData>) -> Option<Self> {
        let is_formed = matches!(body.shape, Shape::Combined(_) | Shape::Extruded(_));
        if !is_formed || body.motion != Motion::Dynamic {
            return None;
        }
        let outline = |file: &str| Ok::<_, Cause>(&surface_in(meshes, file)?.mesh);
        let shape = body.shape.with_outlines(outline).ok()?;
        if ThinWalls::of(&shape).is_some() {
            return None;
        }
        let body = body.given_name().to_owned();
        let (spacing, bounds) = (shape.spacing()?, shape.bounds()?);
        let grid = |spacing| Grid::enclosing(&bounds, spacing, scene::MARGIN, MAX_NODES).ok();
        let own = grid(spacing)?;
        let (mut parts, mut order) = (1, 2);
        if let Shape::Combined(Combined { parts: all, rounding, .. }) = &shape {
            parts = all.len();
            if *rounding > 0.0 {
                if is_sharp(own, &shape, *rounding) {
                    return Some(Self::Sharp { body, rounding: *rounding });
                }
                // rounding erodes the solid first, and sampling cuts the edges of the eroded solid by half a cell
                order = 1;
            }
        }
        let finer = grid(spacing / 2.0)?;
        if finer.node_count().saturating_mul(parts) > MAX_EVALUATIONS {
            return None;
        }
        let volume = |grid| Some(formed::mesh_on(grid, &shape).ok()?.signed_volume());
        let (own, finer) = (volume(own)?, volume(finer)?);
        // Richardson's extrapolation
        let exact = finer + (finer - own) / f64::from((1 << order) - 1);
        let error = own / exact - 1.0;
        (exact > 0.0 && error.abs() > MAX_ERROR).then(|| {
            let share = MAX_ERROR / error.abs();
            let share = if order == 1 { share } else { share.sqrt() }.min(0.5);
            let finest = Grid::finest_spacing(&bounds.extents(), scene::MARGIN, scene::MAX_NODES);
            Self::Coarse { body, error, spacing: (share * spacing).max(finest) }
        })
    }
}

/// Whether no node of a grid is deeper inside a shape than the radius of the rounding.
fn is_sharp(grid: Grid, shape: &Shape, rounding: f64) -> bool {
    let deepest = LevelSet::from_fn(grid, |p| shape.value(&p) + rounding);
    deepest.inside_range().is_none()
}

impl Scene {
    /// Warnings about the mass of dynamic bodies with combined shapes or images, one per body.
    /// `meshes` holds the outlines by file name.
    pub fn mass_warnings(&self, meshes: &BTreeMap<String, MeshData>) -> Vec<MassWarning> {
        self.bodies.iter().filter_map(|body| MassWarning::of(body, meshes)).collect()
    }
}
