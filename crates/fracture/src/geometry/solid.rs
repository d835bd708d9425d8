//! Solids, exact or sampled.

use crate::facets::{Facets, Surface};
use crate::{ClosedMesh, convex_decomposition};
use levelset::{Aabb, ConvexHull, Grid, LevelSet, Moments, Solid, TriMesh};
use nalgebra::{Point3, Vector3};
use std::sync::{Arc, OnceLock};

/// The solid of a body in its material space, m.
///
/// It is *exact* if its surface consists of planar faces: a closed mesh, a primitive, or a part that
/// a convex cell cuts out of one of these. Otherwise it is *sampled*. Both have the same functions for
/// moments, surface, points and signed distance.
#[derive(Clone, Debug)]
pub struct Geometry {
    pub(super) kind: Kind,
    pub(super) moments: Moments,
    /// Grid of its signed distance, sampled on demand.
    pub(super) grid: Grid,
    pub(super) level_set: OnceLock<Arc<LevelSet>>,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Exact(Exact),
    /// With points on its surface.
    Sampled(Arc<[Point3<f64>]>),
}

/// An exact solid.
#[derive(Clone, Debug)]
pub(super) struct Exact {
    pub(super) facets: Facets,
    pub(super) convexity: Convexity,
    /// Source of its signed distance unless samples are given.
    pub(super) primitive: Option<Solid>,
}

/// The known decomposition of an exact solid into convex parts.
#[derive(Clone, Debug)]
pub(super) enum Convexity {
    /// It is convex.
    Convex,
    /// It is their union.
    Union(Arc<[Facets]>),
    /// None are known.
    Unknown,
}

impl Convexity {
    pub(super) fn of(is_convex: bool) -> Self {
        if is_convex { Self::Convex } else { Self::Unknown }
    }
}

impl Exact {
    pub(super) fn is_convex(&self) -> bool {
        matches!(self.convexity, Convexity::Convex)
    }

    /// The convex solids of which it consists, if known.
    pub(super) fn convex_decomposition(&self) -> Option<&[Facets]> {
        match &self.convexity {
            Convexity::Convex => Some(std::slice::from_ref(&self.facets)),
            Convexity::Union(parts) => Some(parts),
            Convexity::Unknown => None,
        }
    }
}

/// Tolerance of a vertex in front of a face of a convex solid, as a share of its size.
pub(super) const FLAT: f64 = 1e-9;
/// Largest number of corners of a convex solid's hull; one with more is simplified.
pub(super) const MAX_CORNERS: usize = 64;
/// Largest distance of a convex solid beyond its simplified hull, as a share of its size, unless
/// that would take twice as many corners.
pub(super) const ALLOWED: f64 = 0.01;

impl Geometry {
    /// A primitive about the origin, with the moments of its closed form and curved faces as chords
    /// within 1e-3 of its diameter; `None` for a half-space and lengths that give no volume. `grid`
    /// is the grid of its samples.
    pub fn primitive(solid: Solid, grid: Grid) -> Option<Self> {
        let moments = solid.moments().filter(|of| of.volume > 0.0 && of.volume.is_finite())?;
        let facets = Facets::of_solid(&solid)?;
        let convexity = Convexity::of(!matches!(solid, Solid::Torus { .. }));
        let kind = Kind::Exact(Exact { facets, convexity, primitive: Some(solid) });
        Some(Self { kind, moments, grid, level_set: OnceLock::new() })
    }

    /// The solid bounded by a closed mesh without overlaps. `level_set` is its signed distance.
    pub fn mesh(mesh: &ClosedMesh, level_set: Arc<LevelSet>) -> Self {
        let facets = Facets::of_mesh(mesh);
        let convexity = Convexity::of(facets.is_convex(FLAT * facets.size()));
        let moments = facets.moments();
        let kind = Kind::Exact(Exact { facets, convexity, primitive: None });
        Self { kind, moments, grid: *level_set.grid(), level_set: OnceLock::from(level_set) }
    }

    /// A sampled solid, with points on its surface and its moments.
    pub fn sampled(
        level_set: Arc<LevelSet>,
        points: impl Into<Arc<[Point3<f64>]>>,
        moments: Moments,
    ) -> Self {
        let kind = Kind::Sampled(points.into());
        Self { kind, moments, grid: *level_set.grid(), level_set: OnceLock::from(level_set) }
    }

    /// Moments for unit density.
    pub fn moments(&self) -> &Moments {
        &self.moments
    }

    /// The nodes of its signed distance.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Its bounding box, m: that of its surface, or of its inside samples and half a cell.
    pub fn bounds(&self) -> Aabb {
        let exact = match &self.kind {
            Kind::Exact(exact) => exact.facets.bounds(),
            Kind::Sampled(_) => self.level_set().inside_range().map(|(low, high)| {
                let [min, max] = [low, high].map(|node| self.grid.position(node));
                // a single sample has a size, too
                let half = Vector3::repeat(0.5 * self.grid.spacing());
                Aabb { min: min - half, max: max + half }
            }),
        };
        exact.unwrap_or_else(|| self.grid.bounds())
    }

    /// About `count` points in it, evenly spread; for an exact solid independent of the grid.
    pub fn inside_points(&self, count: usize) -> Vec<Point3<f64>> {
        match &self.kind {
            Kind::Exact(exact) => exact.facets.inside_points(self.moments.volume, count),
            Kind::Sampled(_) => {
                let samples = self.level_set().as_slice();
                let inside: Vec<usize> = (0..samples.len()).filter(|&n| samples[n] < 0.0).collect();
                // an odd stride does not run along the planes of most grids
                let stride = (inside.len() / count.max(1)).max(1) | 1;
                let place = |n: usize| self.grid.position(self.grid.node(n));
                inside.into_iter().step_by(stride).map(place).collect()
            }
        }
    }

    /// Largest sensible number of pieces: unlimited for an exact solid, while pieces of a sampled
    /// one need at least four samples on average.
    pub fn max_pieces(&self) -> usize {
        match &self.kind {
            Kind::Exact(_) => usize::MAX,
            Kind::Sampled(_) => {
                let samples = self.level_set().as_slice();
                samples.iter().filter(|&&sample| sample < 0.0).count().div_ceil(4)
            }
        }
    }

    /// Whether its surface is known exactly.
    pub fn is_exact(&self) -> bool {
        matches!(self.kind, Kind::Exact(_))
    }

    /// Whether it is known to be convex.
    pub fn is_convex(&self) -> bool {
        matches!(&self.kind, Kind::Exact(exact) if exact.is_convex())
    }

    /// Its signed distance; that of a union of convex solids is sampled on demand.
    pub fn level_set(&self) -> &Arc<LevelSet> {
        self.level_set.get_or_init(|| Arc::new(self.samples()))
    }

    /// Approximate memory, in samples of 4 bytes.
    pub fn memory(&self) -> usize {
        let nodes = self.grid.node_count();
        match &self.kind {
            Kind::Exact(exact) => {
                let parts = exact.convex_decomposition();
                // the distance of convex solids is seldom needed
                let samples = if parts.is_some() { 0 } else { nodes };
                let parts = parts.unwrap_or_default().iter().map(Facets::memory);
                exact.facets.memory() + parts.sum::<usize>() + samples
            }
            Kind::Sampled(points) => 6 * points.len() + nodes,
        }
    }

    /// The exact surface as triangles; `None` for a sampled solid.
    pub fn surface(&self) -> Option<Surface> {
        match &self.kind {
            Kind::Exact(exact) => Some(exact.facets.surface()),
            Kind::Sampled(_) => None,
        }
    }

    /// Points on its surface, about as dense as its samples.
    pub fn points(&self) -> Arc<[Point3<f64>]> {
        match &self.kind {
            Kind::Exact(exact) => exact.facets.spread_points(self.grid.spacing()).into(),
            Kind::Sampled(points) => Arc::clone(points),
        }
    }

    /// The convex solids whose union it is, if known: one for a convex solid, and one per piece for
    /// a union of convex pieces. They are exact up to 64 corners, beyond that have about as many,
    /// and the solid extends beyond them by at most 1 % of its size.
    pub fn hulls(&self) -> Option<Vec<ConvexHull>> {
        let Kind::Exact(exact) = &self.kind else { return None };
        exact.convex_decomposition()?.iter().map(hull).collect()
    }

    /// Convex solids whose union approximates it, for engines that collide those: [`Self::hulls`]
    /// if known, else [`convex_decomposition`] of its surface.
    ///
    /// ```
    /// use brisance_fracture::Geometry;
    /// use brisance_fracture::levelset::{Aabb, Grid, Solid, TriMesh};
    /// use brisance_fracture::nalgebra::Point3;
    ///
    /// let ring = Solid::Torus { major: 0.5, minor: 0.15 };
    /// let bounds = Aabb { min: Point3::new(-0.65, -0.15, -0.65), max: Point3::new(0.65, 0.15, 0.65) };
    /// let grid = Grid::enclosing(&bounds, 0.05, 3, Grid::MAX_NODES)?;
    /// let ring = Geometry::primitive(ring, grid).expect("a solid");
    /// let parts = ring.convex_decomposition(0.05, 16);
    /// let volume: f64 = parts.iter().map(TriMesh::signed_volume).sum();
    /// assert!((volume / ring.moments().volume - 1.0).abs() < 0.05);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn convex_decomposition(&self, error: f64, most: u32) -> Vec<TriMesh> {
        if let Some(hulls) = self.hulls() {
            return hulls.iter().map(|hull| hull.mesh().clone()).collect();
        }
        let exact = self.surface().and_then(|surface| ClosedMesh::new(surface.mesh).ok());
        let solid = exact.or_else(|| ClosedMesh::new(self.level_set().isosurface()).ok());
        let parts = solid.as_ref().map(|solid| convex_decomposition(solid, error, most));
        parts.unwrap_or_default()
    }

    /// The exact surface, as words that differ between solids.
    pub fn digest(&self, mut word: impl FnMut(u64)) {
        match &self.kind {
            Kind::Exact(Exact { facets, .. }) => {
                facets.vertices.iter().flat_map(|p| p.iter()).for_each(|x| word(x.to_bits()));
                facets.for_each_triangle(|triangle, _| {
                    triangle.iter().for_each(|&v| word(v.into()));
                });
            }
            Kind::Sampled(_) => {
                let samples = self.level_set().as_slice();
                samples.iter().for_each(|value| word(value.to_bits().into()));
            }
        }
        self.grid.dims().iter().for_each(|&n| word(n as u64));
        self.grid.origin().iter().for_each(|x| word(x.to_bits()));
        word(self.grid.spacing().to_bits());
    }
}

/// The convex collision hull of a convex solid, simplified above [`MAX_CORNERS`].
pub(super) fn hull(facets: &Facets) -> Option<ConvexHull> {
    if facets.vertices.len() <= MAX_CORNERS {
        return ConvexHull::of_convex(facets.surface().mesh).ok();
    }
    let size = facets.bounds()?.extents().norm();
    let most = ALLOWED * size;
    let mut tolerance = 0.5 * most;
    loop {
        let hull = ConvexHull::simplified(&facets.vertices, tolerance).ok()?;
        let corners = hull.mesh().vertices.len();
        if corners <= MAX_CORNERS || tolerance >= most && corners <= 2 * MAX_CORNERS {
            return Some(hull);
        }
        let next = 1.25 * tolerance;
        tolerance = if tolerance < most { next.min(most) } else { next };
    }
}
