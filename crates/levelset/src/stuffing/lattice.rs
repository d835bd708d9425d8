//! Points of the body-centered cubic lattice, moved onto the surface where they are close.

use nalgebra::{Point3, Vector3};

use crate::{Grid, LevelSet, total_order};

/// Fractions of an edge within which a cut moves the end onto the surface: for edges between a
/// corner and the center of a cell, and for all others (Labelle and Shewchuk 2007, safe rule, for
/// cells of one size).
const SHORT: f32 = 0.41189;
const LONG: f32 = 0.24999;

/// For cells of several sizes, where that rule guarantees nothing: the least mean ratio of a
/// tetrahedron after a point moves, and the least fraction of an edge that is cut off. On 4,000
/// random solids these gave the best angles of all values tried.
const LEAST_RATIO: f64 = 0.45;
const LEAST_CUT: f32 = 0.2;

/// The side of the surface that a lattice point is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Inside,
    On,
    Outside,
}

/// Where points of the lattice are: corners of the smallest cells are `0..n` in the order of the
/// grid; the center of the cell whose lowest corner is `c` is `n + c`.
#[derive(Clone, Copy)]
pub(super) struct Sites {
    grid: Grid,
    corners: u32,
}

impl Sites {
    pub(super) fn new(grid: Grid) -> Self {
        Self { grid, corners: grid.node_count() as u32 }
    }

    pub(super) fn grid(&self) -> &Grid {
        &self.grid
    }

    pub(super) fn count(&self) -> usize {
        2 * self.corners as usize
    }

    pub(super) fn corner(&self, corner: [usize; 3]) -> u32 {
        self.grid.index(corner) as u32
    }

    pub(super) fn center(&self, cell: [usize; 3]) -> u32 {
        self.corners + self.corner(cell)
    }

    fn lowest_corner(&self, site: u32) -> [usize; 3] {
        self.grid.node((site % self.corners) as usize)
    }

    pub(super) fn position(&self, site: u32) -> Point3<f64> {
        let half = if site < self.corners { 0.0 } else { self.grid.spacing() / 2.0 };
        self.grid.position(self.lowest_corner(site)) + Vector3::repeat(half)
    }

    /// From one site to another in halves of the smallest cell.
    fn steps(&self, from: u32, to: u32) -> [i64; 3] {
        let at = |site| {
            let half = i64::from(site >= self.corners);
            self.lowest_corner(site).map(|n| 2 * n as i64 + half)
        };
        let (from, to) = (at(from), at(to));
        std::array::from_fn(|a| to[a] - from[a])
    }

    /// Sort key of the edges of a point: along the axes first, down before up.
    fn order(&self, from: u32, to: u32) -> [i64; 4] {
        let [x, y, z] = self.steps(from, to);
        if let [a] = [x, y, z].iter().enumerate().filter(|(_, s)| **s != 0).collect::<Vec<_>>()[..]
        {
            return [0, a.0 as i64, *a.1, 0];
        }
        let sign = if from < self.corners { -1 } else { 1 };
        [1, sign * z, sign * y, sign * x]
    }
}

/// An edge from an inside to an outside point, by their numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Crossing {
    inside: u32,
    outside: u32,
}

/// Values of a level set on the lattice, computed on demand.
pub(super) struct Values<'a> {
    level_set: &'a LevelSet,
    sites: Sites,
    /// NaN if not computed yet.
    known: Vec<f32>,
}

impl<'a> Values<'a> {
    pub(super) fn new(level_set: &'a LevelSet, sites: Sites) -> Self {
        Self { level_set, sites, known: vec![f32::NAN; sites.count()] }
    }

    pub(super) fn at(&mut self, site: u32) -> f32 {
        let known = &mut self.known[site as usize];
        if known.is_nan() {
            *known = self.level_set.value(&self.sites.position(site)) as f32;
        }
        *known
    }
}

/// The points that are corners of tetrahedra, in the order of their sites.
pub(super) struct Lattice {
    sites: Sites,
    /// Site of each point.
    points: Vec<u32>,
    values: Vec<f32>,
    pub(super) sides: Vec<Side>,
    crossings: Vec<Crossing>,
    /// Position of the surface on each crossing, as a fraction from the inside.
    cuts: Vec<f32>,
    /// Points that moved, in order.
    moved: Vec<(u32, Point3<f64>)>,
}

/// A crossing as seen from one of its ends.
struct Spoke {
    point: u32,
    other: u32,
    order: [i64; 4],
    /// Fraction of the edge from `point`.
    at: f32,
    /// In smallest cells.
    length: f32,
    limit: f32,
}

impl Lattice {
    /// The points of some tetrahedra of sites, and the tetrahedra by the points' numbers.
    pub(super) fn new(mut values: Values<'_>, mut tets: Vec<[u32; 4]>) -> (Self, Vec<[u32; 4]>) {
        let (sites, level_set) = (values.sites, values.level_set);
        let mut points: Vec<u32> = tets.iter().flatten().copied().collect();
        points.sort_unstable();
        points.dedup();
        let values: Vec<f32> = points.iter().map(|&site| values.at(site)).collect();
        let number = |site: &u32| points.binary_search(site).unwrap_or(0) as u32;
        tets.iter_mut().flatten().for_each(|site| *site = number(site));
        let sides: Vec<Side> = values.iter().map(|&v| side(v)).collect();
        let crossings = crossings(&tets, &sides);
        let (cuts, moved) = (Vec::new(), Vec::new());
        let mut lattice = Self { sites, points, values, sides, crossings, cuts, moved };
        lattice.cuts = lattice.crossings.iter().map(|c| lattice.root(level_set, *c)).collect();
        lattice.move_points(&tets);
        // points that could not move keep cuts that are too near; cells of one size have none
        lattice.cuts.iter_mut().for_each(|at| *at = at.clamp(LEAST_CUT, 1.0 - LEAST_CUT));
        (lattice, tets)
    }

    /// Where a point is now.
    pub(super) fn position(&self, point: u32) -> Point3<f64> {
        match self.moved.binary_search_by_key(&point, |(p, _)| *p) {
            Ok(n) => self.moved[n].1,
            Err(_) => self.sites.position(self.points[point as usize]),
        }
    }

    /// Number of the edge between an inside and an outside point.
    pub(super) fn crossing(&self, inside: u32, outside: u32) -> usize {
        self.crossings.binary_search(&Crossing { inside, outside }).unwrap_or(0)
    }

    pub(super) fn crossing_count(&self) -> usize {
        self.crossings.len()
    }

    /// Where the surface is on a crossing of two points that did not move.
    pub(super) fn cut(&self, crossing: usize) -> Point3<f64> {
        self.along(self.crossings[crossing], f64::from(self.cuts[crossing]))
    }

    fn along(&self, Crossing { inside, outside }: Crossing, t: f64) -> Point3<f64> {
        let [from, to] = [inside, outside].map(|p| self.sites.position(self.points[p as usize]));
        from + (to - from) * t
    }

    /// Square of the length of an edge, in halves of the smallest cell.
    pub(super) fn length_squared(&self, a: u32, b: u32) -> i64 {
        let [a, b] = [a, b].map(|p| self.points[p as usize]);
        self.sites.steps(a, b).map(|s| s * s).iter().sum()
    }

    /// The zero between an inside and an outside point, as a fraction from the inside one: false position in which the
    /// value of the end that is kept is halved.
    fn root(&self, level_set: &LevelSet, crossing: Crossing) -> f32 {
        let value = |point: u32| f64::from(self.values[point as usize]);
        let (mut low, mut low_value) = (0.0, value(crossing.inside));
        let (mut high, mut high_value) = (1.0, value(crossing.outside));
        let mut t = low_value / (low_value - high_value);
        for _ in 0..3 {
            let value = level_set.value(&self.along(crossing, t));
            if value < 0.0 {
                (low, low_value, high_value) = (t, value, high_value / 2.0);
            } else {
                (high, high_value, low_value) = (t, value, low_value / 2.0);
            }
            t = low + (high - low) * low_value / (low_value - high_value);
        }
        t as f32
    }

    /// Moves each point with a cut that is too near onto the nearest of its cuts that keeps the
    /// tetrahedra around it in shape.
    fn move_points(&mut self, tets: &[[u32; 4]]) {
        let spokes = self.spokes();
        let uneven = self.around_uneven(tets);
        for spokes in spokes.chunk_by(|a, b| a.point == b.point) {
            let point = spokes[0].point;
            let from = self.sites.position(self.points[point as usize]);
            let first = uneven.partition_point(|(p, _)| *p < point);
            let around: Vec<[u32; 4]> = uneven[first..]
                .iter()
                .take_while(|(p, _)| *p == point)
                .map(|(_, t)| tets[*t as usize])
                .collect();
            // the first of two ends moves
            let is_near = |s: &&Spoke| self.sides[s.other as usize] != Side::On && s.at < s.limit;
            let mut near: Vec<&Spoke> = spokes.iter().filter(is_near).collect();
            near.sort_by_cached_key(|spoke| total_order(f64::from(spoke.at * spoke.length)));
            let place = |spoke: &Spoke| {
                let to = self.sites.position(self.points[spoke.other as usize]);
                from + (to - from) * f64::from(spoke.at)
            };
            let fits = |place: &Point3<f64>| self.fits(point, place, &around);
            if let Some(place) = near.into_iter().map(place).find(fits) {
                self.moved.push((point, place));
                self.sides[point as usize] = Side::On;
            }
        }
    }

    /// Whether the remaining tetrahedra around a point would be in shape after its move.
    fn fits(&self, point: u32, place: &Point3<f64>, around: &[[u32; 4]]) -> bool {
        let stays = |tet: &&[u32; 4]| {
            tet.iter().any(|p| *p != point && self.sides[*p as usize] == Side::Inside)
        };
        around.iter().filter(stays).all(|tet| {
            let at = |p: u32| if p == point { *place } else { self.position(p) };
            let before = volume(&tet.map(|p| self.sites.position(self.points[p as usize])));
            let corners = tet.map(at);
            mean_ratio(&corners, volume(&corners) * before.signum()) >= LEAST_RATIO
        })
    }

    /// The tetrahedra around each point of one that does not belong to a lattice of one size, in
    /// order.
    fn around_uneven(&self, tets: &[[u32; 4]]) -> Vec<(u32, u32)> {
        let is_even = |tet: &[u32; 4]| {
            let mut lengths = EDGES.map(|[a, b]| self.length_squared(tet[a], tet[b]));
            lengths.sort_unstable();
            // four short edges and two long ones
            let [short, .., long] = lengths;
            lengths[3] == short && lengths[4] == long && 4 * short == 3 * long
        };
        let mut is_uneven = vec![false; self.points.len()];
        for tet in tets.iter().filter(|tet| !is_even(tet)) {
            tet.iter().for_each(|p| is_uneven[*p as usize] = true);
        }
        let corners = tets.iter().enumerate().flat_map(|(t, tet)| tet.map(|p| (p, t as u32)));
        let mut around: Vec<(u32, u32)> = corners.filter(|(p, _)| is_uneven[*p as usize]).collect();
        around.sort_unstable();
        around
    }

    /// Both ends of each crossing, in order.
    fn spokes(&self) -> Vec<Spoke> {
        let spoke = |point: u32, other: u32, at: f32| {
            let [from, to] = [point, other].map(|p| self.points[p as usize]);
            let [x, y, z] = self.sites.steps(from, to).map(i64::abs);
            let length = ((x * x + y * y + z * z) as f32).sqrt() / 2.0;
            let limit = if x == y && y == z { SHORT } else { LONG };
            Spoke { point, other, order: self.sites.order(from, to), at, length, limit }
        };
        let ends = |(crossing, &at): (&Crossing, &f32)| {
            let Crossing { inside, outside } = *crossing;
            [spoke(inside, outside, at), spoke(outside, inside, 1.0 - at)]
        };
        let mut spokes: Vec<Spoke> = self.crossings.iter().zip(&self.cuts).flat_map(ends).collect();
        spokes.sort_unstable_by_key(|s| (s.point, s.order));
        spokes
    }
}

const EDGES: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

fn volume([a, b, c, d]: &[Point3<f64>; 4]) -> f64 {
    (b - a).dot(&(c - a).cross(&(d - a))) / 6.0
}

/// `12 (3 V)^(2/3) / sum of squared edges`: 1 for a regular tetrahedron, 0 for a flat one or one
/// inside out.
fn mean_ratio(corners: &[Point3<f64>; 4], volume: f64) -> f64 {
    let edges: f64 = EDGES.iter().map(|&[a, b]| (corners[b] - corners[a]).norm_squared()).sum();
    12.0 * libm::pow(3.0 * volume.max(0.0), 2.0 / 3.0) / edges
}

/// The edges of tetrahedra that the surface crosses, each once.
fn crossings(tets: &[[u32; 4]], sides: &[Side]) -> Vec<Crossing> {
    let mut crossings = Vec::new();
    for tet in tets {
        for &inside in tet.iter().filter(|p| sides[**p as usize] == Side::Inside) {
            let others = tet.iter().filter(|p| sides[**p as usize] == Side::Outside);
            crossings.extend(others.map(|&outside| Crossing { inside, outside }));
        }
    }
    crossings.sort_unstable();
    crossings.dedup();
    crossings
}

fn side(value: f32) -> Side {
    if value < 0.0 {
        Side::Inside
    } else if value > 0.0 {
        Side::Outside
    } else {
        Side::On
    }
}
