//! The fracture of one body.

use levelset::{Grid, LevelSet, Moments};
use nalgebra::Point3;
use ndarray::Array3;
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use crate::body::Body;
use crate::near_region::NearRegion;
use crate::node_box::NodeBox;
use crate::ownership::Owners;
use crate::particles::spread;
use crate::partition::Partition;
use crate::pieces::{Piece, Pieces};
use crate::planes::{Lines, pitch};
use crate::rows::lower_to;
use crate::{Alignment, Bond, Pattern};

/// A connected piece of a broken body, in the parent's material space.
#[derive(Clone, Debug)]
pub struct Fragment {
    /// Signed distance inside, a lower bound of it outside, on a part of the parent's grid.
    pub level_set: LevelSet,
    /// Points on the surface, m.
    pub particles: Vec<Point3<f64>>,
    /// Moments for unit density; those of all fragments add up to the parent's.
    pub moments: Moments,
    /// Its regions of the pattern, ascending: its own, and those of smaller pieces that it
    /// absorbed.
    pub regions: Vec<usize>,
}

/// The fragments of a body, and the bonds between them.
#[derive(Clone, Debug)]
pub struct Shattered {
    /// The pieces; a single one means that the body did not break, none that it had no inside
    /// sample.
    pub fragments: Vec<Fragment>,
    /// The cuts between them, sorted by pair.
    pub bonds: Vec<Bond>,
}

const MIN_PARTICLES: usize = 8;

/// Breaks a body by a pattern (Su09 section 4.2).
///
/// Every inside sample of `parent` belongs to its region, and so to exactly one fragment; every
/// connected piece of a region is a separate fragment. Pieces with fewer than `least_nodes` inside
/// samples are merged with the neighbor with the most common faces. A fragment's signed distance is
/// the larger of the parent's and its region's, and its sign reproduces exactly the samples it
/// owns, so that it can break again without loss.
///
/// `particles` are points on the parent's surface in its material space; each goes to one fragment.
/// New ones are added where the cuts cross the edges of the grid nearest to their normal, where
/// they meet the parent's surface, and where they meet each other: away from these rims every point
/// of a plane cut is within 0.87 spacings of one. (Su09 stores particles with each region; these
/// are equally dense in every placement.)
///
/// An `at` that is not finite leaves the body whole.
pub fn shatter(
    parent: &LevelSet,
    particles: &[Point3<f64>],
    pattern: &Pattern,
    at: &Alignment,
    least_nodes: usize,
) -> Shattered {
    let grid = parent.grid();
    let body = Body::new(parent);
    let transform = at.transform();
    let near = NearRegion::all(pattern, &transform, &body);
    let Owners { nearest, runs } = Owners::new(parent, &body, &near, |node| {
        pattern.region_at(&transform.inverse_transform_point(&grid.position(node)))
    });
    let Pieces { labels, pieces, cuts, pairs } = Pieces::new(grid, &runs, least_nodes);
    if pieces.is_empty() {
        return Shattered { fragments: Vec::new(), bonds: Vec::new() };
    }

    let level_sets: Vec<_> = pieces
        .par_iter()
        .zip(1..pieces.len() as u32 + 1)
        .map(|(piece, label)| {
            // on the widest registers of the processor, with the same results
            Arch::new().dispatch(Merging { parent, piece, near: &near, labels: &labels, label })
        })
        .collect();
    let partition =
        Partition { parent, near: &near, nearest: &nearest, labels: &labels, pairs: &pairs };
    let (shares, bonds) = spread(&partition, particles, &cuts, &level_sets);
    let fragments = pieces
        .into_iter()
        .zip(level_sets)
        .zip(shares)
        .map(|((piece, level_set), mut particles)| {
            // a splinter of a node or two without particles
            if particles.len() < MIN_PARTICLES {
                particles.extend(level_set.isosurface().vertices);
            }
            Fragment { level_set, particles, moments: piece.moments, regions: piece.parts }
        })
        .collect();
    Shattered { fragments, bonds }
}

/// Computes the level set of one piece: the larger of the parent's and the regions', made strictly
/// negative on its own nodes and strictly positive on those of others.
struct Merging<'a> {
    parent: &'a LevelSet,
    piece: &'a Piece,
    near: &'a [Option<NearRegion>],
    labels: &'a [u32],
    label: u32,
}

impl WithSimd for Merging<'_> {
    type Output = LevelSet;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> LevelSet {
        let Self { parent, piece, near, labels, label } = self;
        let grid = parent.grid();
        let spacing = grid.spacing() as f32;
        // far less than the error of the distance, far more than the resolution of f32
        let least = 1e-4 * spacing;
        let nodes = piece.nodes.grown(2, grid.dims());
        let row_len = nodes.dims()[2];
        let mut values = Vec::with_capacity(nodes.len());
        let mut slab = vec![0.0_f32; nodes.dims()[1] * pitch(&nodes)];
        let mut lines = Lines::default();
        let parent = parent.as_slice();
        for i in nodes.low[0]..nodes.high[0] {
            for (n, &part) in piece.parts.iter().enumerate() {
                match &near[part] {
                    Some(part) => part.write((i, &nodes), &mut slab, n > 0, &mut lines),
                    None if n == 0 => slab.fill(f32::INFINITY),
                    None => {}
                }
                // without samples a region is at least two nodes away, and in the gaps that
                // interpolation leaves between regions a larger value would be wrong
                if !matches!(near[part], Some(NearRegion::Planes(_))) {
                    lower_to(&mut slab, 2.0 * spacing);
                }
            }
            for (j, region) in (nodes.low[1]..nodes.high[1]).zip(slab.chunks_exact(pitch(&nodes))) {
                let start = grid.index([i, j, nodes.low[2]]);
                let parent = &parent[start..start + row_len];
                let labels = &labels[start..start + row_len];
                let pairs = parent.iter().zip(region).zip(labels);
                values.extend(pairs.map(|((&body, &region), &owner)| {
                    // selections instead of branches: the loop is vectorized
                    let value = if region > body { region } else { body };
                    let inside = if value < -least { value } else { -least };
                    let outside = if value.abs() > least { value.abs() } else { least };
                    let owned = if owner == label { inside } else { outside };
                    if owner == 0 { value } else { owned }
                }));
            }
        }
        let grid = part(grid, &nodes);
        let [nx, ny, nz] = grid.dims();
        let values = Array3::from_shape_vec((nx, ny, nz), values)
            .expect("as many values as nodes by construction");
        LevelSet::from_values(grid, values)
    }
}

fn part(grid: &Grid, nodes: &NodeBox) -> Grid {
    grid.subgrid(nodes.low, nodes.high.map(|n| n - 1))
}
