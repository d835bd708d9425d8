//! Exact solids divided by convex cells.

use levelset::Moments;
use nalgebra::Similarity3;
use rayon::prelude::*;

use super::cuts::{Cuts, Part};
use super::pieces::Pieces;
use super::solid::{Exact, Geometry};
use crate::facets::{ConvexCell, Facets, carve};
use crate::join::joined_bonds;
use crate::region::transformed_bounds;
use crate::{Alignment, Bond, Pattern};

pub(super) fn divided(
    parent: &Geometry,
    exact: &Exact,
    pattern: &Pattern,
    at: &Alignment,
    least: f64,
) -> Pieces {
    let mut solid = exact.facets.clone();
    // cuts of an earlier fracture are no longer distinguished
    solid.settle();
    let cells = cells(pattern, &at.transform(), &solid);
    let cut: Vec<(usize, Facets)> =
        solid.parts().iter().flat_map(|part| carve(part, &cells)).collect();
    let mut parts: Vec<Part> =
        cut.into_par_iter().flat_map_iter(|(region, facets)| connected(region, facets)).collect();
    // stable: parts of a cell stay in order
    parts.sort_by_cached_key(|part| part.region);
    let cuts = Cuts::number(pattern, &cells, &mut parts);
    let touches = cuts.touches(&parts);
    let bonds = touches.bonds();
    let volumes: Vec<f64> = parts.iter().map(|part| part.moments.volume).collect();
    let groups = merge_groups(&volumes, least, &bonds);
    let total: Moments = parts.iter().map(|part| part.moments).sum();
    let scale = total.map_to(&parent.moments);
    let pieces = cuts.grouped(parent, exact, &parts, &groups, scale);
    Pieces::exact(pieces, joined_bonds(&bonds, &groups), cuts)
}

/// The cells of a pattern near a solid, in its coordinates.
fn cells<'a>(
    pattern: &'a Pattern,
    to_material: &Similarity3<f64>,
    solid: &Facets,
) -> Vec<ConvexCell<'a>> {
    let Some(bounds) = solid.bounds() else { return Vec::new() };
    let Some(seen) = transformed_bounds(&bounds, &to_material.inverse()) else {
        return Vec::new();
    };
    let seen = seen.grown(1e-9 * seen.extents().norm());
    let near = pattern.near(&seen).into_par_iter().filter_map(|region| {
        pattern.reach(region).filter(|reach| reach.intersects(&seen))?;
        ConvexCell::new(pattern, region, to_material)
    });
    near.collect()
}

fn connected(region: usize, facets: Facets) -> impl Iterator<Item = Part> {
    let parts = facets.parts().into_iter().map(move |mut facets| {
        facets.simplify();
        let moments = facets.moments();
        Part { region, facets, moments }
    });
    // the round-off of a cell that only touches the solid is no solid
    parts.filter(|part| part.moments.volume > 0.0)
}

/// The index of the group of every part: parts of less volume than `least` are merged with the
/// neighbor with the largest common cut, the smallest first.
fn merge_groups(volumes: &[f64], least: f64, bonds: &[Bond]) -> Vec<usize> {
    let mut volumes = volumes.to_vec();
    let mut targets: Vec<usize> = (0..volumes.len()).collect();
    let mut small: Vec<usize> = targets.iter().copied().filter(|&n| volumes[n] < least).collect();
    let mut beside: Vec<Vec<(usize, f64)>> = vec![Vec::new(); volumes.len()];
    for Bond { fragments: [a, b], area, .. } in bonds {
        beside[*a].push((*b, *area));
        beside[*b].push((*a, *area));
    }
    while let Some(place) = (0..small.len()).min_by(|&a, &b| {
        volumes[small[a]].total_cmp(&volumes[small[b]]).then(small[a].cmp(&small[b]))
    }) {
        let next = small.swap_remove(place);
        let mut shared: Vec<(usize, f64)> = Vec::new();
        for &(other, area) in &beside[next] {
            let target = targets[other];
            match shared.iter_mut().find(|(known, _)| *known == target) {
                _ if target == next => {}
                Some((_, sum)) => *sum += area,
                None => shared.push((target, area)),
            }
        }
        let largest = shared.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
        let Some((target, _)) = largest else { continue };
        volumes[target] += volumes[next];
        if volumes[target] >= least {
            small.retain(|&n| n != target);
        }
        let moved = std::mem::take(&mut beside[next]);
        beside[target].extend(moved);
        targets.iter_mut().filter(|h| **h == next).for_each(|h| *h = target);
    }
    let mut names = targets.clone();
    names.sort_unstable();
    names.dedup();
    targets.iter().map(|target| names.partition_point(|name| name < target)).collect()
}
