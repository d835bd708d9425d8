//! Surface particles of the pieces, and the bonds across the cuts.

use levelset::LevelSet;
use nalgebra::{Point3, Vector3};
use rayon::prelude::*;

use crate::assignment::assign_particles;
use crate::cut::{Cut, Pair};
use crate::partition::{BATCH, Partition};
use crate::region_planes::{MIN_COSINE, RegionPlane, RegionPlanes, Section};

/// Least cosine between an edge and the normal with which an edge gets a particle on a cut that is
/// not planar. For a plane, the largest cosine of the three axes is at least 1 / sqrt(3). Where two
/// planes of a cut meet at an angle, the signed distance changes along an edge half as fast, which
/// halves the cosine: every cut crosses edges with at least 1 / (2 sqrt(3)) = 0.289.
const COVERING: f64 = 0.25;

/// A cut between two fragments of one event, in the parent's material space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bond {
    /// The two fragments, the lower index first.
    pub fragments: [usize; 2],
    /// Area of the cut, m^2.
    pub area: f64,
    /// The center of the cut, m.
    pub center: Point3<f64>,
    /// The mean of its unit normals, from the first fragment to the second: of length 1 if it is
    /// plane, and shorter the rougher it is.
    pub normal: Vector3<f64>,
}

/// Assigns each of the parent's particles to one piece and those of the cuts to the pieces on both
/// sides, and measures the cuts.
pub(crate) fn spread(
    partition: &Partition,
    given: &[Point3<f64>],
    cuts: &[Cut],
    level_sets: &[LevelSet],
) -> (Vec<Vec<Point3<f64>>>, Vec<Bond>) {
    let owners = assign_particles(partition, given, level_sets);
    let grid = partition.parent.grid();
    let region_planes = RegionPlanes::new(partition.near, partition.pairs, grid.spacing());
    let spread = |cuts: &[Cut]| {
        let points = Vec::with_capacity(2 * cuts.len());
        let mut found = Found { points, sections: Vec::new() };
        cuts.iter().for_each(|cut| partition.spread(cut, &region_planes, &mut found));
        found
    };
    let found: Vec<Found> = cuts.par_chunks(BATCH).map(spread).collect();

    let mut counts = vec![0; level_sets.len()];
    owners.iter().for_each(|&piece| counts[piece] += 1);
    for point in found.iter().flat_map(|f| &f.points) {
        point.pieces().for_each(|piece| counts[piece] += 1);
    }
    let mut shares: Vec<_> = counts.into_iter().map(Vec::with_capacity).collect();
    owners.iter().zip(given).for_each(|(&piece, p)| shares[piece].push(*p));
    for point in found.iter().flat_map(|f| &f.points) {
        point.pieces().for_each(|piece| shares[piece].push(point.at));
    }
    let of_planes = |(n, pair): (u32, &Pair)| {
        region_planes
            .of(n)
            .map_or_else(Section::default, |region_plane| region_plane.section(&pair.edges, grid))
    };
    let mut sections: Vec<Section> = (0..).zip(partition.pairs).map(of_planes).collect();
    for (pair, section) in found.iter().flat_map(|f| &f.sections) {
        sections[*pair as usize] += *section;
    }
    (shares, bonds(partition.pairs, &sections))
}

/// The bonds between pieces from the sections between the pairs, sorted by piece.
fn bonds(pairs: &[Pair], sections: &[Section]) -> Vec<Bond> {
    let cuts = pairs.iter().zip(sections).map(|(pair, section)| {
        let [a, b] = pair.pieces;
        ([a.min(b), a.max(b)], if a < b { *section } else { section.reversed() })
    });
    let mut sections: Vec<([u32; 2], Section)> = cuts.filter(|([a, b], _)| a != b).collect();
    sections.sort_by_cached_key(|(pieces, _)| *pieces);
    sections.dedup_by(|(pieces, section), (kept, sum)| {
        let same = pieces == kept;
        if same {
            *sum += *section;
        }
        same
    });
    let bond = |(pieces, section): ([u32; 2], Section)| Bond {
        fragments: pieces.map(|piece| piece as usize),
        area: section.area,
        center: Point3::from(section.moment / section.area),
        // a rough cut may have less area by its cosines than its area vector
        normal: section.vector / section.area.max(section.vector.norm()),
    };
    sections.into_iter().map(bond).collect()
}

/// The result of some of the cuts.
struct Found {
    points: Vec<CutPoint>,
    /// Parts of cuts that are not planar, by pair.
    sections: Vec<(u32, Section)>,
}

/// A new particle.
struct CutPoint {
    at: Point3<f64>,
    /// Labels of its pieces, 0 for none.
    labels: [u32; 3],
}

impl CutPoint {
    fn pieces(&self) -> impl Iterator<Item = usize> {
        self.labels.into_iter().filter_map(|label| (label as usize).checked_sub(1))
    }
}

/// A face of the grid at a cut edge: the edge's ends, then the opposite nodes.
struct Square {
    nodes: [[usize; 3]; 4],
    labels: [u32; 4],
}

impl Partition<'_> {
    fn region(&self, node: [usize; 3]) -> u32 {
        u32::from(self.nearest[self.parent.grid().index(node)]) - 1
    }

    fn spread(&self, cut: &Cut, region_planes: &RegionPlanes, found: &mut Found) {
        let grid = self.parent.grid();
        let h = grid.spacing();
        let axis = usize::from(cut.axis);
        let pair = &self.pairs[cut.pair as usize];
        let regions = cut.lower_first(pair.regions);
        let [a, b] = cut.lower_first(pair.pieces).map(|piece| piece + 1);
        let low = cut.low.map(|n| n as usize);
        let nodes = || (low[2]..low[2] + cut.len as usize).map(|k| [low[0], low[1], k]);
        let point = |node: [usize; 3], along: f64| {
            let mut point = grid.position(node);
            point[axis] += along * h;
            point
        };
        let region_plane = region_planes.of(cut.pair);
        let before = found.points.len();
        if let Some(region_plane) = region_plane {
            if region_plane.nearest == axis {
                let at = nodes().map(|node| point(node, region_plane.crossing(axis, node)));
                found.points.extend(at.map(|at| CutPoint { at, labels: [a, b, 0] }));
            }
        } else {
            for node in nodes() {
                let (along, cosine) = self.crossing(regions, node, axis);
                let (at, area) = (point(node, along), h * h * cosine);
                let signed_area = if cut.is_flipped { -h * h } else { h * h };
                let (vector, moment) = (Vector3::ith(axis, signed_area), at.coords * area);
                found.sections.push((cut.pair, Section { area, moment, vector }));
                if cosine > COVERING {
                    found.points.push(CutPoint { at, labels: [a, b, 0] });
                }
            }
        }
        let is_covered = found.points.len() > before;
        self.for_each_end(cut, [a, b], |square| {
            if let Some(point) = self.corner(square, regions, region_plane, region_planes) {
                found.points.push(point);
            } else if !is_covered {
                // the rim needs a particle where no corner is found
                let node = square.nodes[0];
                let along = region_plane.map(|region_plane| region_plane.crossing(axis, node));
                let along = along.unwrap_or_else(|| self.crossing(regions, node, axis).0);
                found.points.push(CutPoint { at: point(node, along), labels: [a, b, 0] });
            }
        });
    }

    /// Signed distance to one region minus that to another: zero on the cut between them, and twice
    /// their plane if there is one.
    fn difference(
        &self,
        [a, b]: [u32; 2],
        region_plane: Option<&RegionPlane>,
        node: [usize; 3],
    ) -> Option<f64> {
        if let Some(region_plane) = region_plane {
            return Some(2.0 * region_plane.value(a, node));
        }
        let at = |region: u32| self.near[region as usize].as_ref()?.value(node);
        let difference = at(a)? - at(b)?;
        difference.is_finite().then_some(difference)
    }

    /// Position of the cut on the edge from a node along an axis, as a share of it, and the cosine
    /// between the edge and the cut's normal: the share of a cell's face that it represents.
    fn crossing(&self, regions: [u32; 2], low: [usize; 3], axis: usize) -> (f64, f64) {
        let h = self.parent.grid().spacing();
        let mut high = low;
        high[axis] += 1;
        let at = |node| self.difference(regions, None, node);
        match at(low).zip(at(high)) {
            // away from third regions the two distances are opposite
            Some((x, y)) if y > x => {
                ((x / (x - y)).clamp(0.0, 1.0), ((y - x) / (2.0 * h)).clamp(MIN_COSINE, 1.0))
            }
            _ => (0.5, 1.0),
        }
    }

    /// The faces of the grid at the edges of a cut on which it ends and that no other cut edge,
    /// earlier in the order of nodes and axes, represents.
    fn for_each_end(&self, cut: &Cut, [a, b]: [u32; 2], mut found: impl FnMut(&Square)) {
        let dims = self.parent.grid().dims();
        let strides = [dims[1] * dims[2], dims[2], 1];
        let axis = usize::from(cut.axis);
        let [low, next] = [[1, 2], [0, 2], [0, 1]][axis];
        let sides = [(low, false), (low, true), (next, false), (next, true)];
        let beside = |node: usize, (side, is_up): (usize, bool)| {
            if is_up { node.wrapping_add(strides[side]) } else { node.wrapping_sub(strides[side]) }
        };
        // few cuts are near the ends of the array, beyond which the label `a` is assumed
        let label = |node: usize| self.labels.get(node).copied().unwrap_or(a);
        let is_new = |lower: usize| {
            let [c, d] = [label(lower), label(lower.wrapping_add(strides[axis]))];
            (c != a) & (c != b) | (d != a) & (d != b)
        };
        let first = self.parent.grid().index(cut.low.map(|n| n as usize));
        for (n, lower) in (first..first + cut.len as usize).enumerate() {
            let any = sides.into_iter().fold(false, |any, side| any | is_new(beside(lower, side)));
            if !any {
                continue;
            }
            let node = [cut.low[0] as usize, cut.low[1] as usize, cut.low[2] as usize + n];
            for (side, is_up) in sides {
                let next = beside(lower, (side, is_up));
                if !is_new(next)
                    || if is_up { node[side] + 1 == dims[side] } else { node[side] == 0 }
                {
                    continue;
                }
                let mut nodes = [node; 4];
                nodes[1][axis] += 1;
                for beside in [2, 3] {
                    nodes[beside] = nodes[beside - 2];
                    nodes[beside][side] = if is_up { node[side] + 1 } else { node[side] - 1 };
                }
                let square =
                    Square { nodes, labels: [a, b, label(next), label(next + strides[axis])] };
                if !square.has_earlier_cut() {
                    found(&square);
                }
            }
        }
    }

    /// The point of a square where its cut meets the parent's surface or a third piece, and the
    /// pieces that share it.
    ///
    /// The cut is between `regions`, on `region_plane`.
    fn corner(
        &self,
        square: &Square,
        regions: [u32; 2],
        region_plane: Option<&RegionPlane>,
        region_planes: &RegionPlanes,
    ) -> Option<CutPoint> {
        let [a, b] = [square.nodes[0], square.nodes[1]];
        let third = (2..4).find(|&n| {
            square.labels[n] != square.labels[0] && square.labels[n] != square.labels[1]
        })?;
        let inside = square.labels[third] != 0;
        let beyond = if inside { [regions[0], self.region(square.nodes[third])] } else { regions };
        let second_plane = if inside { region_planes.between(beyond) } else { None };
        let (mut first, mut second) = ([0.0; 4], [0.0; 4]);
        for (n, node) in square.nodes.into_iter().enumerate() {
            first[n] = self.difference(regions, region_plane, node)?;
            second[n] = if inside {
                self.difference(beyond, second_plane, node)?
            } else {
                f64::from(self.parent.as_slice()[self.parent.grid().index(node)])
            };
        }
        let [s, t] = common_zero(&first, &second)?;
        let grid = self.parent.grid();
        let origin = grid.position(a);
        let point = origin
            + (grid.position(b) - origin) * s
            + (grid.position(square.nodes[2]) - origin) * t;
        let labels = [square.labels[0], square.labels[1], square.labels[third]];
        Some(CutPoint { at: point, labels })
    }
}

impl Square {
    fn has_earlier_cut(&self) -> bool {
        let rank = |a: usize, b: usize| {
            let (a, b) = (self.nodes[a], self.nodes[b]);
            (a.min(b), (0..3).find(|&axis| a[axis] != b[axis]))
        };
        let is_cut = |a: usize, b: usize| {
            let (a, b) = (self.labels[a], self.labels[b]);
            a != b && a != 0 && b != 0
        };
        let mine = rank(0, 1);
        [(0, 2), (1, 3), (2, 3)].into_iter().any(|(a, b)| is_cut(a, b) && rank(a, b) < mine)
    }
}

/// The common zero of two bilinear functions on the unit square, by Newton's method; their values
/// are those at `(0, 0)`, `(1, 0)`, `(0, 1)`, `(1, 1)`.
fn common_zero(f: &[f64; 4], g: &[f64; 4]) -> Option<[f64; 2]> {
    let twist = |v: &[f64; 4]| v[0] - v[1] - v[2] + v[3];
    let (mut s, mut t) = (0.5, 0.5);
    for _ in 0..5 {
        let at = |v: &[f64; 4]| {
            let (ds, dt) = (v[1] - v[0] + twist(v) * t, v[2] - v[0] + twist(v) * s);
            (v[0] + (v[1] - v[0]) * s + (v[2] - v[0]) * t + twist(v) * s * t, ds, dt)
        };
        let ((f, fs, ft), (g, gs, gt)) = (at(f), at(g));
        let determinant = fs * gt - ft * gs;
        if determinant == 0.0 {
            return None;
        }
        let step = [(f * gt - g * ft) / determinant, (g * fs - f * gs) / determinant];
        s -= step[0];
        t -= step[1];
        // immediate if both are linear
        if step[0].abs() + step[1].abs() < 1e-9 {
            break;
        }
    }
    let inside = |x: f64| (-1e-6..=1.0 + 1e-6).contains(&x);
    (inside(s) && inside(t)).then_some([s, t])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_across_a_square_meet_where_they_should() {
        // x - 0.25 and y + x - 1
        let [s, t] = common_zero(&[-0.25, 0.75, -0.25, 0.75], &[-1.0, 0.0, 0.0, 1.0]).unwrap();
        assert!((s - 0.25).abs() < 1e-12 && (t - 0.75).abs() < 1e-12);
        assert!(common_zero(&[1.0, 2.0, 1.0, 2.0], &[1.0, 2.0, 1.0, 2.0]).is_none());
        assert!(common_zero(&[1.0, 2.0, 1.0, 2.0], &[-1.0, 0.0, 0.0, 1.0]).is_none());
    }
}
