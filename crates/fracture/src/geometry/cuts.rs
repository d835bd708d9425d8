//! The cuts between parts of an exact solid, and unions of parts.

use std::sync::{Arc, OnceLock};

use levelset::{LevelSet, Moments};
use nalgebra::{Point3, Vector3};
use rayon::prelude::*;

use super::piece::Piece;
use super::samples::sampled;
use super::solid::{Convexity, Exact, FLAT, Geometry, Kind};
use crate::cell::Plane;
use crate::facets::{ConvexCell, Facets};
use crate::node_box::NodeBox;
use crate::planes::{NodePlane, Planes};
use crate::{Bond, Pattern};

/// The planes of the cuts of an exact solid.
#[derive(Clone, Debug)]
pub(super) struct Cuts {
    /// By index.
    planes: Vec<Plane>,
    /// For each region of the pattern its planes, if it overlaps the solid.
    regions: Vec<Option<Vec<Plane>>>,
}

/// A connected part of a cell in the solid.
pub(super) struct Part {
    pub(super) region: usize,
    pub(super) facets: Facets,
    pub(super) moments: Moments,
}

/// Cuts of parts by plane, and the side of the part.
pub(super) struct Touches<'a> {
    cuts: &'a Cuts,
    parts: &'a [Part],
    /// Plane, whether the part is behind it, part, area in m^2 and its first moment.
    faces: Vec<(usize, bool, usize, f64, Vector3<f64>)>,
}

impl Cuts {
    /// Numbers the planes of all cells that cut the solid, one index for both sides of each.
    pub(super) fn number(pattern: &Pattern, cells: &[ConvexCell<'_>], parts: &mut [Part]) -> Self {
        let mut regions: Vec<Option<Vec<Plane>>> = vec![None; pattern.region_count()];
        for cell in cells {
            if parts.binary_search_by_key(&cell.number, |part| part.region).is_ok() {
                regions[cell.number] = Some(cell.planes.clone());
            }
        }
        let mut keys: Vec<[u64; 4]> = regions.iter().flatten().flatten().map(key).collect();
        keys.sort_unstable();
        keys.dedup();
        let mut planes = vec![None; keys.len()];
        let number = |plane: &Plane| keys.binary_search(&key(plane)).expect("it is among them");
        for plane in regions.iter().flatten().flatten() {
            planes[number(plane)].get_or_insert(*plane);
        }
        parts.par_iter_mut().for_each(|part| {
            let own = regions[part.region].as_deref().unwrap_or_default();
            let numbers: Vec<usize> = own.iter().map(number).collect();
            part.facets.renumber(|n| numbers[n]);
        });
        Self { planes: planes.into_iter().flatten().collect(), regions }
    }

    pub(super) fn touches<'a>(&'a self, parts: &'a [Part]) -> Touches<'a> {
        let faces = |(n, part): (usize, &Part)| {
            let mut sections = part.facets.sections();
            sections.sort_by_cached_key(|(plane, ..)| *plane);
            let own = self.regions[part.region].as_deref().unwrap_or_default();
            let face = |(plane, area, moment): (usize, f64, Vector3<f64>)| {
                let is_behind = own.contains(&self.planes[plane]);
                (plane, is_behind, n, area, moment)
            };
            sections.into_iter().map(face).collect::<Vec<_>>()
        };
        let mut faces: Vec<_> = parts.par_iter().enumerate().flat_map_iter(faces).collect();
        // stable: parts stay in order
        faces.sort_by_cached_key(|&(plane, is_behind, ..)| [plane, usize::from(is_behind)]);
        Touches { cuts: self, parts, faces }
    }

    /// One piece per group of parts, with moments that `scale` maps to those of the parent.
    pub(super) fn grouped(
        &self,
        parent: &Geometry,
        exact: &Exact,
        parts: &[Part],
        groups: &[usize],
        scale: impl Fn(&Moments) -> Moments + Sync,
    ) -> Vec<Piece> {
        let members = members(groups);
        // parts are sorted by region
        let mut shared = vec![false; self.regions.len()];
        for pair in parts.iter().zip(groups).collect::<Vec<_>>().windows(2) {
            let [(a, group), (b, other)] = [pair[0], pair[1]];
            shared[a.region] |= a.region == b.region && group != other;
        }
        let piece = |members: &Vec<usize>| {
            let convex_decomposition = |m: &usize| {
                let facets = &parts[*m].facets;
                let is_convex = exact.is_convex() || facets.is_cell() || is_convex(facets);
                is_convex.then(|| facets.clone()).into_iter().collect()
            };
            let facets: Vec<&Facets> = members.iter().map(|&m| &parts[m].facets).collect();
            let solid = self.union(&facets, members.iter().map(convex_decomposition).collect());
            let mut regions: Vec<usize> = members.iter().map(|&m| parts[m].region).collect();
            regions.sort_unstable();
            regions.dedup();
            let moments: Moments = members.iter().map(|&m| parts[m].moments).sum();
            let is_shared = regions.iter().any(|&region| shared[region]);
            let geometry = self.geometry(parent, solid, &regions, is_shared);
            Piece { geometry: Geometry { moments: scale(&moments), ..geometry }, regions }
        };
        members.par_iter().map(piece).collect()
    }

    /// The union of parts, each given with the convex solids of which it is known to consist.
    fn union(&self, parts: &[&Facets], convex: Vec<Vec<Facets>>) -> Exact {
        let (facets, are_one) = match parts {
            [alone] => ((*alone).clone(), convex[0].len() == 1),
            _ => {
                let mut whole = Facets::union(parts, &self.planes);
                whole.simplify();
                let are_one = is_convex(&whole);
                (whole, are_one)
            }
        };
        let are_known = convex.iter().all(|parts| !parts.is_empty());
        let convexity = match are_known {
            _ if are_one => Convexity::Convex,
            true => Convexity::Union(convex.into_iter().flatten().collect()),
            false => Convexity::Unknown,
        };
        Exact { facets, convexity, primitive: None }
    }

    /// Pieces joined by `groups`.
    pub(super) fn joined(
        &self,
        parent: &Geometry,
        pieces: &[Piece],
        groups: &[usize],
    ) -> Vec<Piece> {
        let members = members(groups);
        let joined = |members: &Vec<usize>| {
            if let [alone] = members[..] {
                return pieces[alone].clone();
            }
            let exact = |&member: &usize| match &pieces[member].geometry.kind {
                Kind::Exact(exact) => Some(exact),
                Kind::Sampled(_) => None,
            };
            let parts: Vec<&Exact> = members.iter().filter_map(exact).collect();
            let convex =
                parts.iter().map(|p| p.convex_decomposition().unwrap_or_default().to_vec());
            let facets: Vec<&Facets> = parts.iter().map(|part| &part.facets).collect();
            let mut regions: Vec<usize> =
                members.iter().flat_map(|&m| pieces[m].regions.iter().copied()).collect();
            regions.sort_unstable();
            regions.dedup();
            let is_shared = pieces.iter().zip(groups).any(|(piece, &group)| {
                group != groups[members[0]] && piece.regions.iter().any(|r| regions.contains(r))
            });
            let solid = self.union(&facets, convex.collect());
            let geometry = self.geometry(parent, solid, &regions, is_shared);
            let moments = members.iter().map(|&m| *pieces[m].geometry.moments()).sum();
            Piece { geometry: Geometry { moments, ..geometry }, regions }
        };
        members.par_iter().map(joined).collect()
    }

    /// The part `exact` of `parent` in some regions, and whether other parts are in them, too.
    fn geometry(
        &self,
        parent: &Geometry,
        exact: Exact,
        regions: &[usize],
        is_shared: bool,
    ) -> Geometry {
        let (facets, grid) = (&exact.facets, &parent.grid);
        let bounds = facets.bounds().unwrap_or_else(|| grid.bounds());
        let nodes = NodeBox::around(&bounds, grid, 2);
        // a thin piece may contain no node: it gets the nodes around it
        let nodes =
            if nodes.dims().iter().any(|&n| n < 2) { nodes.grown(1, grid.dims()) } else { nodes };
        // a piece outside the grid gets the nodes at its border
        let low = std::array::from_fn(|a| nodes.low[a].min(grid.dims()[a] - 2));
        let nodes = NodeBox { low, high: std::array::from_fn(|a| nodes.high[a].max(low[a] + 2)) };
        let part = grid.subgrid(nodes.low, nodes.high.map(|n| n - 1));
        let level_set = OnceLock::new();
        if exact.convex_decomposition().is_none() {
            let planes = |region: &usize| {
                let planes = self.regions[*region].as_deref().unwrap_or_default().iter();
                let planes = planes.map(|plane| NodePlane::new(plane, grid)).collect();
                Planes::new(planes, nodes, f64::INFINITY)
            };
            let regions: Vec<Planes> = regions.iter().filter_map(planes).collect();
            let mut samples = sampled(Some(parent.level_set()), &regions, grid, &nodes);
            if is_shared {
                samples = only(facets, &samples);
            }
            let _ = level_set.set(Arc::new(samples));
        }
        let kind = Kind::Exact(exact);
        Geometry { kind, moments: Moments::default(), grid: part, level_set }
    }
}

fn is_convex(facets: &Facets) -> bool {
    facets.is_convex(FLAT * facets.size())
}

/// The members of each group.
fn members(groups: &[usize]) -> Vec<Vec<usize>> {
    let mut members = vec![Vec::new(); groups.iter().max().map_or(0, |most| most + 1)];
    for (member, &group) in groups.iter().enumerate() {
        members[group].push(member);
    }
    members
}

/// Key of a plane, equal for both orientations.
fn key(plane: &Plane) -> [u64; 4] {
    let numbers = [plane.normal.x, plane.normal.y, plane.normal.z, plane.offset];
    let sign = numbers.iter().find(|x| **x != 0.0).map_or(1.0, |x| x.signum());
    // adding zero merges -0 and 0
    numbers.map(|x| (x * sign + 0.0).to_bits())
}

/// Keeps the samples of the solid bounded by `facets`; those of other solids become outside.
fn only(facets: &Facets, samples: &LevelSet) -> LevelSet {
    let (slice, found) = (samples.as_slice(), samples.components());
    let mut deepest = vec![(0.0_f32, 0_usize); found.count];
    for (node, &label) in found.labels.iter().enumerate() {
        if label > 0 && slice[node] < deepest[label as usize - 1].0 {
            deepest[label as usize - 1] = (slice[node], node);
        }
    }
    let grid = samples.grid();
    let is_own = |&(_, node): &(f32, usize)| facets.winding(&grid.position(grid.node(node))) > 0;
    let own: Vec<bool> = deepest.iter().map(is_own).collect();
    let least = 1e-4 * grid.spacing() as f32;
    let mut values = samples.values().to_owned();
    for (value, &label) in values.iter_mut().zip(&found.labels) {
        if label > 0 && !own[label as usize - 1] {
            *value = value.abs().max(least);
        }
    }
    LevelSet::from_values(*grid, values)
}

impl Touches<'_> {
    /// The cuts between parts, sorted by pair.
    pub(super) fn bonds(&self) -> Vec<Bond> {
        let mut bonds = Vec::new();
        for own in self.faces.chunk_by(|a, b| a.0 == b.0) {
            let (front, behind) = own.split_at(own.partition_point(|face| !face.1));
            let normal = self.cuts.planes[own[0].0].normal;
            if let ([a], [b]) = (front, behind) {
                // both sides have the same cut; the smaller area has its rounding
                let (_, _, _, area, moment) = if a.3 < b.3 { *a } else { *b };
                bonds.extend(bond([b.2, a.2], &normal, area, moment));
                continue;
            }
            let flats = |faces: &[(usize, bool, usize, f64, Vector3<f64>)]| {
                let flat = |face: &(usize, bool, usize, f64, Vector3<f64>)| {
                    (face.2, face.3, self.parts[face.2].facets.triangles_of(face.0))
                };
                faces.iter().map(flat).collect::<Vec<_>>()
            };
            let (front, behind) = (flats(front), flats(behind));
            for (a, size, ours) in &front {
                for (b, other_size, theirs) in &behind {
                    let (area, moment) = overlap(ours, theirs, &normal);
                    // faces that meet in an edge overlap by rounding
                    if area > FLAT * size.min(*other_size) {
                        bonds.extend(bond([*b, *a], &normal, area, moment));
                    }
                }
            }
        }
        bonds.sort_by_cached_key(|bond| bond.fragments);
        bonds
    }
}

/// The bond of the part behind a plane and the one in front of it.
fn bond(
    [a, b]: [usize; 2],
    normal: &Vector3<f64>,
    area: f64,
    moment: Vector3<f64>,
) -> Option<Bond> {
    (area > 0.0).then(|| Bond {
        fragments: [a.min(b), a.max(b)],
        area,
        center: Point3::from(moment / area),
        normal: if a < b { *normal } else { -normal },
    })
}

type Triangle = [Point3<f64>; 3];

/// The common area of triangles in one plane, m^2, and its first moment.
fn overlap(ours: &[Triangle], theirs: &[Triangle], normal: &Vector3<f64>) -> (f64, Vector3<f64>) {
    let mut sum = (0.0, Vector3::zeros());
    for a in ours {
        for b in theirs {
            let bounds = [a, b].map(|t| (t[0].inf(&t[1]).inf(&t[2]), t[0].sup(&t[1]).sup(&t[2])));
            let [(low, high), (other_low, other_high)] = bounds;
            // the box of a polygon in a coordinate plane has no thickness: allow for rounding
            let slack = FLAT * (high - low).max();
            if (0..3).any(|k| low[k] > other_high[k] + slack || high[k] < other_low[k] - slack) {
                continue;
            }
            let common = clipped(a, b, normal);
            for pair in common.get(1..).unwrap_or_default().windows(2) {
                let area = (pair[0] - common[0]).cross(&(pair[1] - common[0])).norm() / 2.0;
                let middle = (common[0].coords + pair[0].coords + pair[1].coords) / 3.0;
                sum.0 += area;
                sum.1 += middle * area;
            }
        }
    }
    sum
}

/// The part of a triangle in another of the same plane (Sutherland and Hodgman 1974).
fn clipped(triangle: &Triangle, by: &Triangle, normal: &Vector3<f64>) -> Vec<Point3<f64>> {
    let turn = (by[1] - by[0]).cross(&(by[2] - by[0])).dot(normal);
    let mut points = triangle.to_vec();
    for k in 0..3 {
        let (from, to) = (by[k], by[(k + 1) % 3]);
        let out = (to - from).cross(normal) * turn.signum();
        let height = |p: &Point3<f64>| out.dot(&(p - from));
        let mut kept = Vec::with_capacity(points.len() + 1);
        for (n, p) in points.iter().enumerate() {
            let q = points[(n + 1) % points.len()];
            let (a, b) = (height(p), height(&q));
            if a <= 0.0 {
                kept.push(*p);
            }
            if a * b < 0.0 {
                kept.push(p + (q - p) * (a / (a - b)));
            }
        }
        points = kept;
    }
    points
}
