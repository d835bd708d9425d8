//! Prescored space: all of space divided into regions around a fracture center.

use std::fmt;
use std::sync::{Arc, OnceLock};

use levelset::{Aabb, GridError, MeshError};
use nalgebra::{Point3, Vector3};
use rayon::prelude::*;
use thiserror::Error;

use crate::cell::Cell;
use crate::diagram::Diagram;
use crate::hull::CellHull;
use crate::noise::Noise;
use crate::region::Region;

/// All of space divided into regions (Su09 section 4.1).
///
/// A pattern has no scale: its fracture center is the origin, its y axis is the collision normal
/// (out of the body), and it is drawn for a body in `[-1, 1]^3`. An [`Alignment`](crate::Alignment)
/// places it in a body. Beyond `[-4, 4]^3` the regions continue by the planes that bound them
/// inside.
#[derive(Clone)]
pub struct Pattern {
    /// Cells of a diagram are computed on demand: a thin body reaches few of them.
    parts: Vec<OnceLock<Part>>,
    diagram: Option<Arc<Diagram>>,
    /// Polyhedron of each region, computed on demand.
    hulls: Vec<OnceLock<Option<CellHull>>>,
    drawn_noise: Option<Noise>,
}

#[derive(Clone)]
struct Part {
    region: Region,
    /// Its bounding box; `None` for an empty or unknown one.
    reach: Option<Aabb>,
}

impl Part {
    fn new(region: Region) -> Self {
        let reach = match &region {
            Region::Cell(cell) => Aabb::around(cell.corners()),
            Region::Sampled(_) => None,
        };
        Self { region, reach }
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pattern").field("regions", &self.parts.len()).finish_non_exhaustive()
    }
}

/// Why a pattern is invalid.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum PatternError {
    /// Fewer than one region, or more than [`Pattern::MAX_REGIONS`].
    #[error("a pattern has 1 to {} regions, not {regions}", Pattern::MAX_REGIONS)]
    Regions {
        /// Requested number of regions.
        regions: usize,
    },
    /// A parameter is not finite or outside its range.
    #[error("{name} must be {range}, not {value}")]
    OutOfRange {
        /// The parameter.
        name: &'static str,
        /// The limit.
        range: &'static str,
        /// The value given.
        value: f64,
    },
    /// The grid of a sampled pattern is invalid.
    #[error("the pattern's samples: {0}")]
    Grid(#[from] GridError),
    /// A region's mesh has no signed distance.
    #[error("the mesh of region {region}: {error}")]
    Mesh {
        /// Index of the mesh.
        region: usize,
        /// The error.
        error: MeshError,
    },
    /// Only patterns of convex cells can be nested: nest first, roughen after.
    #[error("only patterns of convex cells can be nested: nest before sampling")]
    NotConvex,
}

impl Pattern {
    /// Largest number of regions of a pattern.
    pub const MAX_REGIONS: usize = 1 << 14;

    /// The box from which cells are cut, pattern units.
    pub(crate) const REACH: Aabb =
        Aabb { min: Point3::new(-4.0, -4.0, -4.0), max: Point3::new(4.0, 4.0, 4.0) };

    /// A pattern of `regions` that cover space.
    pub(crate) fn new(regions: Vec<Region>) -> Result<Self, PatternError> {
        check_count(regions.len())?;
        let hulls = vec![OnceLock::new(); regions.len()];
        let parts = regions.into_iter().map(|region| Part::new(region).into()).collect();
        Ok(Self { parts, diagram: None, hulls, drawn_noise: None })
    }

    /// The cells of a diagram, of which there are no more than a pattern may have.
    pub(crate) fn of_diagram(diagram: Diagram) -> Self {
        let count = diagram.count();
        let (parts, hulls) = (vec![OnceLock::new(); count], vec![OnceLock::new(); count]);
        Self { parts, diagram: Some(Arc::new(diagram)), hulls, drawn_noise: None }
    }

    /// As [`Pattern::new`], of convex cells.
    pub(crate) fn from_cells(cells: Vec<Cell>) -> Result<Self, PatternError> {
        Self::new(cells.into_iter().map(Region::Cell).collect())
    }

    /// The pattern whose cuts are drawn with noise between their rims: see [`Surface::with_noise`].
    /// The geometry, mass and collision shape of pieces remain those of flat cuts, and exact solids
    /// stay exact. [`Pattern::with_sampled_noise`] also displaces the rims, and samples the solids
    /// that it divides.
    ///
    /// # Errors
    /// [`PatternError`] if the noise is out of range.
    ///
    /// [`Surface::with_noise`]: crate::Surface::with_noise
    pub fn with_drawn_noise(self, noise: &Noise) -> Result<Self, PatternError> {
        check_noise(noise)?;
        Ok(Self { drawn_noise: Some(*noise), ..self })
    }

    /// The noise of its drawn cuts: see [`Pattern::with_drawn_noise`].
    pub fn drawn_noise(&self) -> Option<&Noise> {
        self.drawn_noise.as_ref()
    }

    fn part(&self, region: usize) -> &Part {
        self.parts[region].get_or_init(|| {
            let cell = self.diagram.as_ref().map(|diagram| diagram.cell(region));
            Part::new(Region::Cell(cell.expect("only cells of a diagram are computed on demand")))
        })
    }

    pub(crate) fn region(&self, region: usize) -> &Region {
        &self.part(region).region
    }

    /// Bounding box of a region; `None` for an empty or unknown one.
    pub(crate) fn reach(&self, region: usize) -> Option<&Aabb> {
        self.part(region).reach.as_ref()
    }

    /// The regions, ascending, that may have a point in a box of pattern space.
    pub(crate) fn near(&self, bounds: &Aabb) -> Vec<usize> {
        match &self.diagram {
            Some(diagram) => diagram.near(bounds),
            None => (0..self.region_count()).collect(),
        }
    }

    pub(crate) fn regions(&self) -> Vec<&Region> {
        (0..self.region_count()).into_par_iter().map(|region| self.region(region)).collect()
    }

    /// Whether all regions are convex cells.
    pub(crate) fn is_convex(&self) -> bool {
        let is_cell = |part: &OnceLock<Part>| {
            part.get().is_none_or(|part| matches!(part.region, Region::Cell(_)))
        };
        self.parts.iter().all(is_cell)
    }

    /// Its convex cells, or the error that it has others.
    pub(crate) fn cells(&self) -> impl Iterator<Item = Result<&Cell, PatternError>> {
        self.regions().into_iter().map(|region| match region {
            Region::Cell(cell) => Ok(cell),
            Region::Sampled(_) => Err(PatternError::NotConvex),
        })
    }

    /// A region that is a convex cell.
    pub(crate) fn cell(&self, region: usize) -> Option<&Cell> {
        match self.region(region) {
            Region::Cell(cell) => Some(cell),
            Region::Sampled(_) => None,
        }
    }

    /// The polyhedron of a region; `None` if the region is not convex, or rounding leaves none.
    pub(crate) fn hull(&self, region: usize) -> Option<&CellHull> {
        let hull = || self.cell(region).and_then(CellHull::new);
        self.hulls[region].get_or_init(hull).as_ref()
    }

    /// Number of regions.
    pub fn region_count(&self) -> usize {
        self.parts.len()
    }

    /// Signed distance to `region` inside it and a lower bound of it outside, pattern units.
    ///
    /// # Panics
    /// If there is no such region.
    pub fn value(&self, region: usize, p: &Point3<f64>) -> f64 {
        self.region(region).value(p)
    }

    /// The region that contains `p`; the lowest of several.
    pub fn region_at(&self, p: &Point3<f64>) -> usize {
        let mut best = (0, f64::INFINITY);
        for index in self.near(&Aabb { min: *p, max: *p }) {
            if let Some(value) = self.region(index).value_below(p, best.1) {
                best = (index, value);
            }
        }
        best.0
    }
}

pub(crate) fn check_count(regions: usize) -> Result<(), PatternError> {
    if (1..=Pattern::MAX_REGIONS).contains(&regions) {
        Ok(())
    } else {
        Err(PatternError::Regions { regions })
    }
}

/// `value` if `ok`, and it is finite; else the error that it must be `range`.
pub(crate) fn check(
    name: &'static str,
    value: f64,
    ok: bool,
    range: &'static str,
) -> Result<f64, PatternError> {
    if ok && value.is_finite() {
        Ok(value)
    } else {
        Err(PatternError::OutOfRange { name, range, value })
    }
}

/// [`check`] for three factors that must be positive.
pub(crate) fn check_noise(noise: &Noise) -> Result<(), PatternError> {
    check("amplitude", noise.amplitude, noise.amplitude >= 0.0, "zero or positive")?;
    check("frequency", noise.frequency, noise.frequency > 0.0, "positive")?;
    let octaves = f64::from(noise.octaves);
    check("octaves", octaves, (1.0..=12.0).contains(&octaves), "from 1 to 12")?;
    Ok(())
}

pub(crate) fn check_positive(
    name: &'static str,
    values: &Vector3<f64>,
) -> Result<(), PatternError> {
    values.iter().try_for_each(|&x| check(name, x, x > 0.0, "positive").map(drop))
}
