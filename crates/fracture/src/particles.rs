//! Surface particles of the pieces, and the bonds across the cuts.

use levelset::LevelSet;
use nalgebra::{Point3, Vector3};
use rayon::prelude::*;

use crate::cut::Cut;
use crate::field::NodeBox;
use crate::pieces::entry;
use crate::planes::NodePlane;
use crate::shatter::Scene;

/// Edges this near to a cut's normal, by cosine, cover it where it is no plane. Of three axes one is at
/// 1 / sqrt(3) or more, and where faces at an angle meet the difference of their distances, which
/// the cosine is from, rises half as slow: below 1 / (2 sqrt(3)) = 0.289 no cut stays bare.
const COVERING: f64 = 0.25;

/// How many cuts or particles one task takes on; no result depends on it.
const BATCH: usize = 1024;

/// A cut between two fragments of one event, in the parent's material space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bond {
    /// The two fragments, the lower index first.
    pub fragments: [usize; 2],
    /// Area of the cut, m^2.
    pub area: f64,
    /// The middle of the cut, m.
    pub centre: Point3<f64>,
}

/// The candidate whose level set is least at `p`, the lowest of equals.
fn least(p: &Point3<f64>, pieces: &[LevelSet], candidates: impl Iterator<Item = usize>) -> usize {
    let mut best = (f64::INFINITY, 0);
    for piece in candidates {
        let value = pieces[piece].value(p);
        if value < best.0 || (value == best.0 && piece < best.1) {
            best = (value, piece);
        }
    }
    best.1
}

/// Gives each of the parent's particles to one piece and those of the cuts to the pieces on both
/// sides, and measures the cuts.
pub(crate) fn spread(
    scene: &Scene,
    given: &[Point3<f64>],
    cuts: &[Cut],
    level_sets: &[LevelSet],
) -> (Vec<Vec<Point3<f64>>>, Vec<Bond>) {
    let holder = |near: &mut Vec<usize>, p| scene.holder(p, level_sets, near);
    let holders = given.par_iter().with_min_len(BATCH).map_init(Vec::new, holder);
    let holders: Vec<usize> = holders.collect();
    let seams = Seams::new(scene, cuts);
    let spread = |cuts: &[Cut]| {
        let mut found = Found {
            points: Vec::with_capacity(2 * cuts.len()),
            sections: Vec::with_capacity(cuts.len()),
        };
        cuts.iter().for_each(|cut| scene.spread(cut, &seams, &mut found));
        found
    };
    let found: Vec<Found> = cuts.par_chunks(BATCH).map(spread).collect();

    let mut counts = vec![0; level_sets.len()];
    holders.iter().for_each(|&piece| counts[piece] += 1);
    for point in found.iter().flat_map(|f| &f.points) {
        point.pieces().for_each(|piece| counts[piece] += 1);
    }
    let mut shares: Vec<_> = counts.into_iter().map(Vec::with_capacity).collect();
    holders.into_iter().zip(given).for_each(|(piece, p)| shares[piece].push(*p));
    for point in found.iter().flat_map(|f| &f.points) {
        point.pieces().for_each(|piece| shares[piece].push(point.at));
    }
    (shares, bonds(level_sets.len(), found.iter().flat_map(|f| &f.sections)))
}

/// Sums up the sections of each pair of pieces.
fn bonds<'a>(pieces: usize, parts: impl Iterator<Item = &'a ([u32; 2], Section)>) -> Vec<Bond> {
    let mut sections: Vec<Vec<(u32, Section)>> = vec![Vec::new(); pieces];
    for &([a, b], part) in parts {
        *entry(&mut sections[a as usize], b) += part;
    }
    let mut bonds = Vec::new();
    for (a, others) in sections.iter_mut().enumerate() {
        others.sort_unstable_by_key(|(b, _)| *b);
        bonds.extend(others.iter().map(|(b, section)| Bond {
            fragments: [a, *b as usize],
            area: section.area,
            centre: Point3::from(section.moment / section.area),
        }));
    }
    bonds
}

/// What some of the cuts make.
struct Found {
    points: Vec<CutPoint>,
    /// With their pieces, the lower first.
    sections: Vec<([u32; 2], Section)>,
}

/// A new particle.
struct CutPoint {
    at: Point3<f64>,
    /// Labels of the pieces it goes to, 0 for none.
    labels: [u32; 3],
}

impl CutPoint {
    fn pieces(&self) -> impl Iterator<Item = usize> {
        self.labels.into_iter().filter_map(|label| (label as usize).checked_sub(1))
    }
}

/// Area of a cut and its first moment.
#[derive(Clone, Copy, Debug, Default)]
struct Section {
    area: f64,
    moment: Vector3<f64>,
}

impl std::ops::AddAssign for Section {
    fn add_assign(&mut self, other: Self) {
        self.area += other.area;
        self.moment += other.moment;
    }
}

/// The planes between regions that meet, by the lower and the upper of the two.
struct Seams(Vec<Vec<(u32, Option<NodePlane>)>>);

impl Seams {
    fn new(scene: &Scene, cuts: &[Cut]) -> Self {
        let mut seams = Self(scene.near.iter().map(|_| Vec::new()).collect());
        for &Cut { regions: [a, b], .. } in cuts {
            let (a, b) = (a.min(b), a.max(b));
            let known = &mut seams.0[a as usize];
            if known.iter().all(|(other, _)| *other != b) {
                let plane = || {
                    let [a, b] = [a, b].map(|region| scene.near[region as usize].as_ref());
                    a?.towards(b?)
                };
                known.push((b, plane()));
            }
        }
        seams
    }

    /// The plane that has `a` below and `b` above.
    fn between(&self, a: u32, b: u32) -> Option<NodePlane> {
        let (low, high) = (a.min(b), a.max(b));
        let (_, plane) = self.0[low as usize].iter().find(|(other, _)| *other == high)?;
        if a == low { *plane } else { plane.map(|plane| plane.flipped()) }
    }
}

/// A face of the grid, seen from a cut edge: the edge's ends, then the nodes beside them.
struct Square {
    nodes: [[usize; 3]; 4],
    labels: [u32; 4],
}

impl Scene<'_> {
    fn region(&self, node: [usize; 3]) -> u32 {
        u32::from(self.nearest[self.parent.grid().index(node)]) - 1
    }

    fn spread(&self, cut: &Cut, seams: &Seams, found: &mut Found) {
        let grid = self.parent.grid();
        let h = grid.spacing();
        let axis = usize::from(cut.axis);
        let seam = seams.between(cut.regions[0], cut.regions[1]);
        let [a, b] = cut.pieces.map(|piece| piece + 1);
        // the edges along one axis cross a plane on a lattice with steps (1, 0, a) and (0, 1, b), where
        // |a|, |b| <= 1 if it is the axis nearest to the normal: no point is farther than
        // sqrt(3) / 2 spacings from one of them
        let nearest = seam.map(|plane| plane.step.iamax());
        // a plane that does not rise along the axis is none for it
        let rising = seam.filter(|plane| plane.step[axis] > 1e-9 * h).map(|plane| {
            let scale = -1.0 / plane.step[axis];
            (plane, scale, (plane.step[axis] / h).min(1.0))
        });
        let crossing = |node: [usize; 3]| match &rising {
            Some((plane, scale, cosine)) => ((plane.value(node) * scale).clamp(0.0, 1.0), *cosine),
            None => self.crossing(cut.regions, node, axis),
        };
        let point = |node: [usize; 3], along: f64| {
            let mut point = grid.position(node);
            point[axis] += along * h;
            point
        };
        let low = grid.node(cut.first as usize);
        let mut covered = false;
        let mut section = Section::default();
        for k in low[2]..low[2] + cut.len as usize {
            let node = [low[0], low[1], k];
            let (along, cosine) = crossing(node);
            let at = point(node, along);
            section += Section { area: h * h * cosine, moment: at.coords * (h * h * cosine) };
            if nearest.map_or(cosine > COVERING, |nearest| nearest == axis) {
                covered = true;
                found.points.push(CutPoint { at, labels: [a, b, 0] });
            }
        }
        found.sections.push((if a < b { [a - 1, b - 1] } else { [b - 1, a - 1] }, section));
        self.for_each_end(cut, low, |square| {
            if let Some(point) = self.corner(square, seams) {
                found.points.push(point);
            } else if !covered {
                // the rim must not be bare where no corner is found
                let at = point(square.nodes[0], crossing(square.nodes[0]).0);
                found.points.push(CutPoint { at, labels: [a, b, 0] });
            }
        });
    }

    /// Signed distance to one region less that to another: zero on the cut between them, and twice
    /// their plane if there is one.
    fn difference(
        &self,
        [a, b]: [u32; 2],
        seam: Option<&NodePlane>,
        node: [usize; 3],
    ) -> Option<f64> {
        if let Some(plane) = seam {
            return Some(2.0 * plane.value(node));
        }
        let at = |region: u32| self.near[region as usize].as_ref()?.value(node);
        let difference = at(a)? - at(b)?;
        difference.is_finite().then_some(difference)
    }

    /// Where the cut crosses the edge from a node along an axis, as a part of it, and the cosine
    /// between the edge and the cut's normal: the part of a cell's face that it stands for.
    fn crossing(&self, regions: [u32; 2], low: [usize; 3], axis: usize) -> (f64, f64) {
        let h = self.parent.grid().spacing();
        let mut high = low;
        high[axis] += 1;
        let at = |node| self.difference(regions, None, node);
        match at(low).zip(at(high)) {
            // away from third regions the two distances are each other's negative
            Some((x, y)) if y > x => {
                ((x / (x - y)).clamp(0.0, 1.0), ((y - x) / (2.0 * h)).clamp(1e-3, 1.0))
            }
            _ => (0.5, 1.0),
        }
    }

    /// The piece that a point of the parent's surface belongs to.
    ///
    /// In a voxel that lies in one region and one piece it is that one (Su09 section 4.2), else the
    /// one of the pieces about it with the least level set at the point.
    /// `near` is working space.
    fn holder(&self, p: &Point3<f64>, level_sets: &[LevelSet], near: &mut Vec<usize>) -> usize {
        let grid = self.parent.grid();
        let [_, ny, nz] = grid.dims();
        let voxel = grid.locate(p).0;
        let base = grid.index(voxel);
        let region = self.nearest[base];
        // without branches: one less than labels of pieces, so that none is the greatest
        let (mut other_regions, mut most, mut least_number) = (0, 0, u32::MAX);
        for row in [base, base + nz, base + ny * nz, base + ny * nz + nz] {
            for (&other, &label) in self.nearest[row..row + 2].iter().zip(&self.labels[row..]) {
                other_regions |= other ^ region;
                most = most.max(label);
                least_number = least_number.min(label.wrapping_sub(1));
            }
        }
        if other_regions == 0 && most != 0 && most - 1 == least_number {
            return least_number as usize;
        }
        self.pieces_about(voxel, near);
        match near[..] {
            [piece] => piece,
            // a feature too thin for the grid has no inside node: any piece may be nearest
            [] => least(p, level_sets, 0..level_sets.len()),
            _ => least(p, level_sets, near.iter().copied()),
        }
    }

    /// The pieces that own nodes of a voxel or of those next to it, each once.
    fn pieces_about(&self, voxel: [usize; 3], pieces: &mut Vec<usize>) {
        let grid = self.parent.grid();
        let near = NodeBox { low: voxel, high: voxel.map(|n| n + 2) }.grown(1, grid.dims());
        let [rows, columns, len] = near.dims();
        let [_, ny, nz] = grid.dims();
        let first = grid.index(near.low);
        pieces.clear();
        let mut last = 0;
        for start in (0..rows).flat_map(|i| (0..columns).map(move |j| first + (i * ny + j) * nz)) {
            for &label in &self.labels[start..start + len] {
                if label != 0 && label != last && !pieces.contains(&(label as usize - 1)) {
                    pieces.push(label as usize - 1);
                }
                last = label;
            }
        }
    }

    /// The faces of the grid beside the edges of a cut on which it ends and that no other cut edge,
    /// earlier in the order of nodes and axes, stands for.
    fn for_each_end(&self, cut: &Cut, low: [usize; 3], mut found: impl FnMut(&Square)) {
        let dims = self.parent.grid().dims();
        let strides = [dims[1] * dims[2], dims[2], 1];
        let axis = usize::from(cut.axis);
        let (first, len) = (cut.first as usize, cut.len as usize);
        let [a, b] = cut.pieces.map(|piece| piece + 1);
        let is_new = |label: u32| label != a && label != b;
        for (side, step) in [(0, 1), (0, -1), (1, 1), (1, -1), (2, 1), (2, -1)] {
            // along k the labels change at the ends only
            let at = match (side, step) {
                (2, 1) => len - 1..len,
                (2, _) => 0..1,
                _ => 0..len,
            };
            let beside = if side == 2 { low[2] + at.start } else { low[side] };
            if side == axis || beside.wrapping_add_signed(step) >= dims[side] {
                continue;
            }
            let next = (first + at.start).wrapping_add_signed(step * strides[side] as isize);
            let lower = &self.labels[next..][..at.len()];
            let upper = &self.labels[next + strides[axis]..][..at.len()];
            for (n, (&c, &d)) in at.zip(lower.iter().zip(upper)) {
                if !is_new(c) && !is_new(d) {
                    continue;
                }
                let node = [low[0], low[1], low[2] + n];
                let mut nodes = [node; 4];
                nodes[1][axis] += 1;
                for beside in [2, 3] {
                    nodes[beside] = nodes[beside - 2];
                    nodes[beside][side] = node[side].wrapping_add_signed(step);
                }
                let square = Square { nodes, labels: [a, b, c, d] };
                if !square.has_earlier_cut() {
                    found(&square);
                }
            }
        }
    }

    /// The point of a square where its cut meets the parent's surface or a third piece, and the
    /// pieces that have it.
    fn corner(&self, square: &Square, seams: &Seams) -> Option<CutPoint> {
        let [a, b] = [square.nodes[0], square.nodes[1]];
        let third = (2..4).find(|&n| {
            square.labels[n] != square.labels[0] && square.labels[n] != square.labels[1]
        })?;
        let inside = square.labels[third] != 0;
        let regions = [self.region(a), self.region(b)];
        let beyond = if inside { [regions[0], self.region(square.nodes[third])] } else { regions };
        let seam = seams.between(regions[0], regions[1]);
        let second_seam = seams.between(beyond[0], beyond[1]);
        let (mut first, mut second) = ([0.0; 4], [0.0; 4]);
        for (n, node) in square.nodes.into_iter().enumerate() {
            first[n] = self.difference(regions, seam.as_ref(), node)?;
            second[n] = if inside {
                self.difference(beyond, second_seam.as_ref(), node)?
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

/// Where two bilinear functions on the unit square vanish together, by Newton's method; their
/// values are those at `(0, 0)`, `(1, 0)`, `(0, 1)`, `(1, 1)`.
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
        // at once if both are linear
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
