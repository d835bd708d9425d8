//! Axis-aligned boxes and uniform grids of nodes.

use nalgebra::{Point3, Vector3};
use thiserror::Error;

/// An axis-aligned box, in meters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    /// Lowest corner.
    pub min: Point3<f64>,
    /// Highest corner.
    pub max: Point3<f64>,
}

impl Aabb {
    /// The smallest box around `points`; `None` if there are none or one is not finite.
    pub fn around<'a>(points: impl IntoIterator<Item = &'a Point3<f64>>) -> Option<Self> {
        let mut points = points.into_iter();
        let first = *points.next()?;
        let bounds = points.fold(Self { min: first, max: first }, |b, p| Self {
            min: b.min.inf(p),
            max: b.max.sup(p),
        });
        (bounds.min.iter().chain(bounds.max.iter()).all(|x| x.is_finite())).then_some(bounds)
    }

    /// Edge lengths.
    pub fn extents(&self) -> Vector3<f64> {
        self.max - self.min
    }

    /// The midpoint.
    pub fn center(&self) -> Point3<f64> {
        nalgebra::center(&self.min, &self.max)
    }

    /// The corners, along x first.
    pub fn corners(&self) -> [Point3<f64>; 8] {
        std::array::from_fn(|bits| {
            let pick = |a: usize| if bits >> a & 1 == 0 { self.min[a] } else { self.max[a] };
            Point3::new(pick(0), pick(1), pick(2))
        })
    }

    /// The box grown by `margin` on every side.
    pub fn grown(&self, margin: f64) -> Self {
        let m = Vector3::repeat(margin);
        Self { min: self.min - m, max: self.max + m }
    }

    /// Whether the boxes have a point in common.
    pub fn intersects(&self, other: &Self) -> bool {
        (0..3).all(|a| self.min[a] <= other.max[a] && other.min[a] <= self.max[a])
    }

    /// Whether `p` lies in the closed box.
    pub fn contains(&self, p: &Point3<f64>) -> bool {
        (0..3).all(|a| self.min[a] <= p[a] && p[a] <= self.max[a])
    }

    /// The point of the box nearest to `p`.
    pub fn clamp(&self, p: &Point3<f64>) -> Point3<f64> {
        p.sup(&self.min).inf(&self.max)
    }
}

/// Why a grid is invalid.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum GridError {
    /// The origin, spacing, bounds or a node are not finite, or the spacing is not positive.
    #[error(
        "bounds, origin and spacing of a grid must be finite and the spacing positive (spacing {spacing:?})"
    )]
    NotFinite {
        /// The requested spacing, m.
        spacing: f64,
    },
    /// An axis has fewer than two nodes, so there are no cells.
    #[error("a grid needs at least 2 nodes along each axis, not {dims:?}")]
    TooSmall {
        /// Requested nodes per axis.
        dims: [usize; 3],
    },
    /// The number of nodes exceeds the caller's limit; nothing was allocated.
    #[error(
        "a grid of {} passes the limit of {limit} nodes: use a coarser spacing",
        describe_dims(dims)
    )]
    TooLarge {
        /// Requested nodes per axis.
        dims: [usize; 3],
        /// The caller's limit.
        limit: usize,
    },
}

/// The node counts as text for [`GridError::TooLarge`]; a bound instead if a count is above 10^9.
fn describe_dims(dims: &[usize; 3]) -> String {
    const MAX: usize = 1_000_000_000;
    if dims.iter().all(|&n| n <= MAX) {
        format!("{dims:?} nodes")
    } else {
        format!("more than {MAX} nodes along an axis")
    }
}

/// A uniform, node-centered grid: `dims` nodes per axis, `spacing` meters apart.
///
/// It is only a description and has no samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    origin: Point3<f64>,
    spacing: f64,
    dims: [usize; 3],
}

impl Grid {
    /// Recommended limit of nodes: 2^30, 4 GiB of samples.
    pub const MAX_NODES: usize = 1 << 30;

    /// A grid whose node `[0, 0, 0]` is at `origin`, of at most `limit` nodes.
    ///
    /// # Errors
    /// [`GridError`] if a number is not finite, an axis has fewer than two nodes, or there are more
    /// than `limit` nodes.
    pub fn new(
        origin: Point3<f64>,
        spacing: f64,
        dims: [usize; 3],
        limit: usize,
    ) -> Result<Self, GridError> {
        let finite = origin.iter().all(|x| x.is_finite()) && spacing.is_finite();
        if !finite || spacing <= 0.0 {
            return Err(GridError::NotFinite { spacing });
        }
        if dims.iter().any(|&n| n < 2) {
            return Err(GridError::TooSmall { dims });
        }
        let nodes = dims[0].checked_mul(dims[1]).and_then(|n| n.checked_mul(dims[2]));
        match nodes {
            Some(n) if n <= limit => {
                let grid = Self { origin, spacing, dims };
                let is_finite = grid.bounds().max.iter().all(|x| x.is_finite());
                if is_finite { Ok(grid) } else { Err(GridError::NotFinite { spacing }) }
            }
            _ => Err(GridError::TooLarge { dims, limit }),
        }
    }

    /// The smallest grid of the given spacing that covers `bounds` with `padding` more cells on
    /// every side, centered on it.
    ///
    /// # Errors
    /// As [`Grid::new`].
    pub fn enclosing(
        bounds: &Aabb,
        spacing: f64,
        padding: usize,
        limit: usize,
    ) -> Result<Self, GridError> {
        let extents = bounds.extents();
        if !extents.iter().all(|x| x.is_finite()) || spacing <= 0.0 || !spacing.is_finite() {
            return Err(GridError::NotFinite { spacing });
        }
        // a float too large for usize saturates, and then fails the limit
        let dims: [usize; 3] = std::array::from_fn(|a| {
            ((extents[a].max(0.0) / spacing).ceil() as usize)
                .saturating_add(1)
                .saturating_add(padding.saturating_mul(2))
        });
        let span = Vector3::from_fn(|a, _| (dims[a] - 1) as f64 * spacing);
        Self::new(bounds.center() - span / 2.0, spacing, dims, limit)
    }

    /// The smallest spacing, to one part in 10^6, at which [`Grid::enclosing`] a box of these edge
    /// lengths has at most `nodes` nodes; infinite if there is none.
    pub fn finest_spacing(extents: &Vector3<f64>, padding: usize, nodes: usize) -> f64 {
        let longest = extents.max();
        let count = |spacing: f64| {
            let along = |x: &f64| (x.max(0.0) / spacing).ceil() + 1.0 + 2.0 * padding as f64;
            extents.iter().map(along).product::<f64>()
        };
        // a single cell on every axis
        if !(longest > 0.0 && longest.is_finite()) || count(longest) > nodes as f64 {
            return f64::INFINITY;
        }
        // steps of equal ratio, down to more nodes than any grid has
        let (mut fine, mut coarse) = (1e-10 * longest, longest);
        // the ratio falls from 1e10 to 1 + 1e-6 in 25 steps; lengths near underflow never get there
        for _ in 0..32 {
            if coarse <= fine * (1.0 + 1e-6) {
                break;
            }
            let middle = (fine * coarse).sqrt();
            if count(middle) <= nodes as f64 { coarse = middle } else { fine = middle }
        }
        coarse
    }

    /// The grid of the nodes `low` to `high`, inclusive.
    ///
    /// # Panics
    /// If `high` is not a node or is not above `low` on every axis.
    pub fn subgrid(&self, low: [usize; 3], high: [usize; 3]) -> Self {
        let fits = (0..3).all(|a| low[a] < high[a] && high[a] < self.dims[a]);
        assert!(fits, "nodes {low:?} to {high:?} are no part of {:?}", self.dims);
        let dims = std::array::from_fn(|a| high[a] - low[a] + 1);
        Self { origin: self.position(low), spacing: self.spacing, dims }
    }

    /// Position of node `[0, 0, 0]`, m.
    pub fn origin(&self) -> Point3<f64> {
        self.origin
    }

    /// Distance between neighboring nodes, m.
    pub fn spacing(&self) -> f64 {
        self.spacing
    }

    /// Nodes along x, y, z.
    pub fn dims(&self) -> [usize; 3] {
        self.dims
    }

    /// Total number of nodes; never zero.
    pub fn node_count(&self) -> usize {
        self.dims.iter().product()
    }

    /// Volume of one cell, which each node represents, m^3.
    pub fn cell_volume(&self) -> f64 {
        self.spacing.powi(3)
    }

    /// Position of node `[i, j, k]`, m.
    #[inline]
    pub fn position(&self, [i, j, k]: [usize; 3]) -> Point3<f64> {
        self.origin + Vector3::new(i as f64, j as f64, k as f64) * self.spacing
    }

    /// Index of node `[i, j, k]` in the flat sample array.
    #[inline]
    pub fn index(&self, [i, j, k]: [usize; 3]) -> usize {
        (i * self.dims[1] + j) * self.dims[2] + k
    }

    /// Strides along x, y, z in the flat sample array.
    pub(crate) fn strides(&self) -> [usize; 3] {
        [self.dims[1] * self.dims[2], self.dims[2], 1]
    }

    /// The node at an index of the flat sample array.
    pub fn node(&self, index: usize) -> [usize; 3] {
        let [_, ny, nz] = self.dims;
        [index / (ny * nz), index / nz % ny, index % nz]
    }

    /// The box from the first node to the last.
    pub fn bounds(&self) -> Aabb {
        let last = self.dims.map(|n| n - 1);
        Aabb { min: self.origin, max: self.position(last) }
    }

    /// The cell that contains `p`, clamped to the grid's box: its lowest node, and the offset in it
    /// in `[0, 1]`.
    #[inline]
    pub fn locate(&self, p: &Point3<f64>) -> ([usize; 3], [f64; 3]) {
        let mut cell = [0; 3];
        let mut offset = [0.0; 3];
        for a in 0..3 {
            let last = (self.dims[a] - 1) as f64;
            let x = (p[a] - self.origin[a]) / self.spacing;
            // like `clamp`, but without a check of its bounds
            let x = if x < 0.0 { 0.0 } else { x };
            let x = if x > last { last } else { x };
            // i32 converts in one instruction, and nodes along an axis are fewer
            cell[a] = (x as i32 as usize).min(self.dims[a] - 2);
            offset[a] = x - f64::from(cell[a] as i32);
        }
        (cell, offset)
    }
}
