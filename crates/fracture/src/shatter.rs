//! The fracture of one body.

use levelset::{Grid, LevelSet, Moments};
use nalgebra::Point3;
use ndarray::Array3;
use rayon::prelude::*;

use crate::field::{Extent, Field, NodeBox};
use crate::ownership::{nearest, owners};
use crate::particles::{divide, spread};
use crate::pieces::{Piece, Pieces};
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
    /// The regions of the pattern that it is made of, ascending: one, and those of what it took in.
    pub regions: Vec<usize>,
}

/// What became of a body: its fragments and where they touched.
#[derive(Clone, Debug)]
pub struct Shattered {
    /// The pieces; one alone means that the body did not break, none that it had no inside sample.
    pub fragments: Vec<Fragment>,
    /// The cuts between them, sorted by pair.
    pub bonds: Vec<Bond>,
}

const FEWEST_PARTICLES: usize = 8;

/// Breaks a body by a pattern (Su09 section 4.2).
///
/// Every inside sample of `parent` goes to the region it lies in, and so to exactly one fragment;
/// every connected piece of a region is a fragment of its own. Pieces of fewer than `least_nodes`
/// inside samples are joined to the neighbour they share most faces with. A fragment's signed
/// distance is the larger of the parent's and its region's, and its sign reproduces exactly the
/// samples it owns, so that it breaks again without loss.
///
/// `particles` are points on the parent's surface in its material space; each goes to one fragment.
/// New ones are put where the cuts cross the edges of the grid, where they meet the parent's
/// surface, and where they meet each other: no farther apart than the grid's spacing. (Su09 stores
/// particles with each region; these are as dense in every placement.)
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
    let extent = Extent::new(parent);
    let Some(bounds) = extent.bounds() else {
        return Shattered { fragments: Vec::new(), bonds: Vec::new() };
    };
    let transform = at.transform();
    let regions = pattern.regions().par_iter();
    let fields: Vec<_> =
        regions.map(|region| Field::new(region, &transform, &extent, &bounds)).collect();
    let nearest = nearest(parent, &fields, |node| {
        pattern.region_at(&transform.inverse_transform_point(&grid.position(node)))
    });
    let owners = owners(parent, &nearest);
    let Pieces { labels, pieces, cuts } = Pieces::new(grid, &owners, least_nodes);

    let level_sets: Vec<_> = pieces
        .par_iter()
        .zip(1..pieces.len() as u32 + 1)
        .map(|(piece, label)| merged(parent, piece, &fields, &labels, label))
        .collect();
    let scene = Scene { parent, fields: &fields, nearest: &nearest, labels: &labels };
    let mut shares = divide(&scene, particles, &level_sets);
    let bonds = spread(&scene, &cuts, &mut shares);
    let fragments = pieces
        .into_iter()
        .zip(level_sets)
        .zip(shares)
        .map(|((piece, level_set), mut particles)| {
            // a splinter of a node or two that no particle fell on
            if particles.len() < FEWEST_PARTICLES {
                particles.extend(level_set.isosurface().vertices);
            }
            Fragment { level_set, particles, moments: piece.moments, regions: piece.parts }
        })
        .collect();
    Shattered { fragments, bonds }
}

/// What an event has found out about the nodes of the parent's grid.
pub(crate) struct Scene<'a> {
    pub(crate) parent: &'a LevelSet,
    /// Per region.
    pub(crate) fields: &'a [Option<Field>],
    /// Per node: region + 1, or 0 far outside.
    pub(crate) nearest: &'a [u32],
    /// Per node: 0 outside, else piece + 1.
    pub(crate) labels: &'a [u32],
}

/// The level set of one piece: the larger of the parent's and the regions', made strictly negative
/// on the nodes it owns and strictly positive on those of others.
fn merged(
    parent: &LevelSet,
    piece: &Piece,
    fields: &[Option<Field>],
    labels: &[u32],
    label: u32,
) -> LevelSet {
    let grid = parent.grid();
    let spacing = grid.spacing() as f32;
    // far less than the error of the distance, far more than the resolution of f32
    let least = 1e-4 * spacing;
    let nodes = piece.nodes.grown(2, grid.dims());
    let row_len = nodes.dims()[2];
    let mut values = Vec::with_capacity(nodes.len());
    // where no part's field reaches, its region is at least two nodes away
    let mut region = vec![0.0_f32; row_len];
    for [i, j] in nodes.rows() {
        region.fill(2.0 * spacing);
        for field in piece.parts.iter().filter_map(|&part| fields[part].as_ref()) {
            lower(&mut region, &nodes, field, [i, j]);
        }
        let start = grid.index([i, j, nodes.low[2]]);
        let parent = &parent.as_slice()[start..start + row_len];
        let labels = &labels[start..start + row_len];
        values.extend(parent.iter().zip(&region).zip(labels).map(|((&body, &region), &owner)| {
            let value = if region > body { region } else { body };
            if owner == label {
                if value < -least { value } else { -least }
            } else if owner != 0 {
                if value.abs() > least { value.abs() } else { least }
            } else {
                value
            }
        }));
    }
    let grid = part(grid, &nodes);
    let [nx, ny, nz] = grid.dims();
    let values = Array3::from_shape_vec((nx, ny, nz), values)
        .expect("as many values as nodes by construction");
    LevelSet::from_values(grid, values)
}

/// Takes the lesser of `row`, the nodes of `nodes` in row `[i, j]`, and `field`.
fn lower(row: &mut [f32], nodes: &NodeBox, field: &Field, [i, j]: [usize; 2]) {
    let line = NodeBox { low: [i, j, nodes.low[2]], high: [i + 1, j + 1, nodes.high[2]] };
    let common = line.common(&field.nodes);
    if common.len() == 0 {
        return;
    }
    let row = &mut row[common.low[2] - nodes.low[2]..common.high[2] - nodes.low[2]];
    let field = &field.row([i, j])[common.low[2] - field.nodes.low[2]..];
    for (value, &sample) in row.iter_mut().zip(field) {
        *value = if sample < *value { sample } else { *value };
    }
}

fn part(grid: &Grid, nodes: &NodeBox) -> Grid {
    grid.part(nodes.low, nodes.high.map(|n| n - 1))
}
