//! Surface particles of the pieces, and the bonds across the cuts.

use std::collections::BTreeMap;

use levelset::LevelSet;
use nalgebra::{Point3, Vector3};

use crate::cut::Cut;
use crate::field::NodeBox;
use crate::shatter::Scene;

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

/// Gives each of the parent's particles to one piece.
pub(crate) fn divide(
    scene: &Scene,
    particles: &[Point3<f64>],
    level_sets: &[LevelSet],
) -> Vec<Vec<Point3<f64>>> {
    let mut shares = vec![Vec::new(); level_sets.len()];
    for p in particles {
        shares[scene.holder(p, level_sets)].push(*p);
    }
    shares
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

/// Adds the particles of the cuts to the pieces on both sides, and measures the cuts.
pub(crate) fn spread(scene: &Scene, cuts: &[Cut], shares: &mut [Vec<Point3<f64>>]) -> Vec<Bond> {
    let mut sums: BTreeMap<[usize; 2], Section> = BTreeMap::new();
    // cuts of one pair come in runs
    let mut run = ([0; 2], Section::default());
    for cut in cuts {
        let (point, area) = scene.crossing(cut);
        let mut pair = cut.ends().map(|node| scene.piece(node));
        for piece in pair {
            shares[piece].push(point);
        }
        pair.sort_unstable();
        if pair != run.0 {
            sums.entry(run.0).or_default().add(&run.1);
            run = (pair, Section::default());
        }
        run.1.add(&Section { area, moment: point.coords * area });
        scene.for_each_end(cut, |square| {
            if let Some((point, pieces)) = scene.corner(square) {
                for piece in pieces.into_iter().flatten() {
                    shares[piece].push(point);
                }
            }
        });
    }
    sums.entry(run.0).or_default().add(&run.1);
    // no cut joins a piece to itself: that entry is the empty run at the start
    let bonds = sums.into_iter().filter(|([a, b], _)| a != b);
    let bond = |(fragments, section): ([usize; 2], Section)| Bond {
        fragments,
        area: section.area,
        centre: Point3::from(section.moment / section.area),
    };
    bonds.map(bond).collect()
}

/// Area of a cut and its first moment.
#[derive(Default)]
struct Section {
    area: f64,
    moment: Vector3<f64>,
}

impl Section {
    fn add(&mut self, other: &Self) {
        self.area += other.area;
        self.moment += other.moment;
    }
}

/// A face of the grid, seen from a cut edge: the edge's ends, then the nodes beside them.
struct Square {
    nodes: [[usize; 3]; 4],
    labels: [u32; 4],
}

impl Scene<'_> {
    fn piece(&self, node: [usize; 3]) -> usize {
        self.labels[self.parent.grid().index(node)] as usize - 1
    }

    fn region(&self, node: [usize; 3]) -> usize {
        self.nearest[self.parent.grid().index(node)] as usize - 1
    }

    /// Signed distance to one region less that to another: zero on the cut between them.
    fn difference(&self, a: usize, b: usize, node: [usize; 3]) -> Option<f64> {
        let at = |region: usize| self.fields[region].as_ref()?.at(node);
        let difference = f64::from(at(a)?) - f64::from(at(b)?);
        difference.is_finite().then_some(difference)
    }

    /// Where the cut crosses the edge, and how much of its area the edge stands for.
    fn crossing(&self, cut: &Cut) -> (Point3<f64>, f64) {
        let grid = self.parent.grid();
        let h = grid.spacing();
        let [low, high] = cut.ends();
        let (a, b) = (self.region(low), self.region(high));
        let ends = self.difference(a, b, low).zip(self.difference(a, b, high));
        let (t, slope) = match ends {
            // away from third regions the two distances are each other's negative, so the slope
            // is the cosine between the edge and the cut's normal
            Some((x, y)) if x <= 0.0 && y >= 0.0 && y > x => (x / (x - y), (y - x) / (2.0 * h)),
            _ => (0.5, 1.0),
        };
        let point = grid.position(low) + (grid.position(high) - grid.position(low)) * t;
        (point, h * h * slope.clamp(1e-3, 1.0))
    }

    /// The piece that a point of the parent's surface belongs to.
    ///
    /// In a voxel that lies in one region and one piece it is that one (Su09 section 4.2), else the
    /// one of the pieces about it with the least level set at the point.
    fn holder(&self, p: &Point3<f64>, level_sets: &[LevelSet]) -> usize {
        let grid = self.parent.grid();
        let [_, ny, nz] = grid.dims();
        let voxel = grid.locate(p).0;
        let base = grid.index(voxel);
        let region = self.nearest[base];
        let mut label = 0;
        let mut mixed = false;
        for row in [base, base + nz, base + ny * nz, base + ny * nz + nz] {
            for node in [row, row + 1] {
                let other = self.labels[node];
                mixed |=
                    self.nearest[node] != region || (other != 0 && label != 0 && other != label);
                label = label.max(other);
            }
        }
        if !mixed && label != 0 {
            return label as usize - 1;
        }
        match self.pieces_about(voxel)[..] {
            [piece] => piece,
            // a feature too thin for the grid has no inside node: any piece may be nearest
            [] => least(p, level_sets, 0..level_sets.len()),
            ref near => least(p, level_sets, near.iter().copied()),
        }
    }

    /// The pieces that own nodes of a voxel or of those next to it, each once.
    fn pieces_about(&self, voxel: [usize; 3]) -> Vec<usize> {
        let grid = self.parent.grid();
        let near = NodeBox { low: voxel, high: voxel.map(|n| n + 2) }.grown(1, grid.dims());
        let mut pieces = Vec::new();
        for [i, j] in near.rows() {
            let start = grid.index([i, j, near.low[2]]);
            for &label in &self.labels[start..start + near.dims()[2]] {
                if label != 0 && !pieces.contains(&(label as usize - 1)) {
                    pieces.push(label as usize - 1);
                }
            }
        }
        pieces
    }

    /// The up to four faces of the grid at a cut edge on which the cut ends and that no other cut
    /// edge, earlier in the order of nodes and axes, stands for.
    fn for_each_end(&self, cut: &Cut, mut found: impl FnMut(&Square)) {
        let dims = self.parent.grid().dims();
        let strides = [dims[1] * dims[2], dims[2], 1];
        let axis = usize::from(cut.axis);
        let [low, high] = cut.ends();
        let base = self.parent.grid().index(low);
        let (a, b) = (self.labels[base], self.labels[base + strides[axis]]);
        for (side, step) in
            [1, 2].into_iter().flat_map(|n| [((axis + n) % 3, 1), ((axis + n) % 3, -1)])
        {
            let to = low[side].wrapping_add_signed(step);
            if to >= dims[side] {
                continue;
            }
            let next = base.wrapping_add_signed(step * strides[side] as isize);
            let (c, d) = (self.labels[next], self.labels[next + strides[axis]]);
            let is_new = |label: u32| label == 0 || (label != a && label != b);
            if is_new(c) || is_new(d) {
                let beside = [low, high].map(|mut node| {
                    node[side] = to;
                    node
                });
                let nodes = [low, high, beside[0], beside[1]];
                let square = Square { nodes, labels: [a, b, c, d] };
                if !square.has_earlier_cut() {
                    found(&square);
                }
            }
        }
    }

    /// The point of a square where its cut meets the parent's surface or a third piece, and the
    /// pieces that have it.
    fn corner(&self, square: &Square) -> Option<(Point3<f64>, [Option<usize>; 3])> {
        let [a, b] = [square.nodes[0], square.nodes[1]];
        let third = (2..4).find(|&n| {
            square.labels[n] != square.labels[0] && square.labels[n] != square.labels[1]
        })?;
        let other = square.nodes[third];
        let (ra, rb) = (self.region(a), self.region(b));
        let mut first = [0.0; 4];
        let mut second = [0.0; 4];
        let inside = square.labels[third] != 0;
        for (n, node) in square.nodes.into_iter().enumerate() {
            first[n] = self.difference(ra, rb, node)?;
            second[n] = if inside {
                self.difference(ra, self.region(other), node)?
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
        let pieces = [Some(self.piece(a)), Some(self.piece(b)), inside.then(|| self.piece(other))];
        Some((point, pieces))
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
        s -= (f * gt - g * ft) / determinant;
        t -= (g * fs - f * gs) / determinant;
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
