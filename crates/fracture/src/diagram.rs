//! Voronoi cells of many sites, computed on demand.

use levelset::{Aabb, total_order};
use nalgebra::{Point3, Vector3};

use crate::cell::{Cell, Plane};
use crate::point_tree::{Tree, TreeNode};

/// The sites of a Voronoi diagram, distances measured after dividing each axis by its stretch.
pub(crate) struct Diagram {
    sites: Vec<Point3<f64>>,
    stretch: Vector3<f64>,
    /// The sites after the division.
    tree: Tree,
    /// The box that cells are cut from.
    within: Aabb,
}

impl Diagram {
    /// `sites` and `stretch` are finite, and `stretch` is positive.
    pub(crate) fn new(sites: Vec<Point3<f64>>, stretch: Vector3<f64>, within: Aabb) -> Self {
        let scaled = sites.iter().map(|site| site.coords.component_div(&stretch)).collect();
        Self { tree: Tree::new(scaled), sites, stretch, within }
    }

    /// How many sites there are.
    pub(crate) fn count(&self) -> usize {
        self.sites.len()
    }

    /// The cell of a site.
    pub(crate) fn cell(&self, site: usize) -> Cell {
        voronoi_cell(self, site)
    }

    /// A superset of the sites whose cells intersect a box, ascending. All sites if the box is not
    /// inside `within`, where cells end.
    pub(crate) fn near(&self, bounds: &Aabb) -> Vec<usize> {
        /// Growth of the box against round-off of cells, pattern units.
        const MARGIN: f64 = 1e-6;
        let count = self.sites.len();
        let bounds = bounds.grown(MARGIN);
        let is_within = |p: &Point3<f64>| self.within.clamp(p) == *p;
        if !is_within(&bounds.min) || !is_within(&bounds.max) {
            return (0..count).collect();
        }
        let [low, high] = [bounds.min, bounds.max].map(|p| p.coords.component_div(&self.stretch));
        let mut is_near = vec![false; count];
        let all: Vec<usize> = (0..count).collect();
        self.mark(Span { low, high, halvings: 0 }, &all, &mut is_near);
        (0..count).filter(|&site| is_near[site]).collect()
    }

    /// Marks a superset of the `sites` that are nearest to some point of a box, by bisection of the
    /// box.
    fn mark(&self, span: Span, sites: &[usize], is_near: &mut [bool]) {
        /// Number of sites below which another bisection costs more than the cells it saves.
        const FEW: usize = 12;
        /// Limit of bisections, for sites at equal distances from the box.
        const MAX_HALVINGS: usize = 15;
        /// Factor against round-off of squared distances.
        const SLACK: f64 = 1.0 + 1e-9;
        let points = &self.tree.points;
        // no point of the box is farther than this from its nearest site
        let farthest =
            sites.iter().map(|&n| span.farthest(&points[n])).fold(f64::INFINITY, f64::min);
        let is_kept = |n: &usize| span.nearest(&points[*n]) <= farthest * SLACK;
        let kept: Vec<usize> = sites.iter().copied().filter(is_kept).collect();
        if kept.iter().all(|&n| is_near[n]) {
            return;
        }
        if kept.len() <= FEW || span.halvings == MAX_HALVINGS {
            kept.iter().for_each(|&n| is_near[n] = true);
            return;
        }
        for half in span.halves() {
            self.mark(half, &kept, is_near);
        }
    }
}

/// A part of a box, after the division by the stretch.
#[derive(Clone, Copy)]
struct Span {
    low: Vector3<f64>,
    high: Vector3<f64>,
    /// How often the box was halved.
    halvings: usize,
}

impl Span {
    /// The least squared distance of a point to one of the box.
    fn nearest(&self, p: &Vector3<f64>) -> f64 {
        (self.low - p).sup(&(p - self.high)).sup(&Vector3::zeros()).norm_squared()
    }

    /// The largest squared distance of a point to one of the box.
    fn farthest(&self, p: &Vector3<f64>) -> f64 {
        (p - self.low).abs().sup(&(self.high - p).abs()).norm_squared()
    }

    /// Both halves, along the longest edge.
    fn halves(&self) -> [Self; 2] {
        let axis = (self.high - self.low).imax();
        let middle = self.low[axis].midpoint(self.high[axis]);
        let mut halves = [Self { halvings: self.halvings + 1, ..*self }; 2];
        halves[0].high[axis] = middle;
        halves[1].low[axis] = middle;
        halves
    }
}

/// The corners of a cell after dividing each axis by its stretch: a site cuts the cell if a corner
/// is nearer to it than to the site of the cell.
struct Extent {
    /// Corners with their squared distances to the site of the cell.
    corners: Vec<(Vector3<f64>, f64)>,
}

impl Extent {
    fn new(cell: &Cell, site: &Vector3<f64>, stretch: &Vector3<f64>) -> Self {
        /// Factor against round-off of squared distances: planes that are skipped cut nothing.
        const SLACK: f64 = 1.0 + 1e-9;
        let scaled = |p: &Point3<f64>| p.coords.component_div(stretch);
        let mut corners: Vec<Vector3<f64>> = cell.corners().map(scaled).collect();
        // faces share corners, bit for bit where they were cut together
        let bits = |p: &Vector3<f64>| [p.x.to_bits(), p.y.to_bits(), p.z.to_bits()];
        corners.sort_unstable_by_key(bits);
        corners.dedup();
        let distance = |p: &Vector3<f64>| (p - site).norm_squared() * SLACK;
        Self { corners: corners.into_iter().map(|p| (p, distance(&p))).collect() }
    }

    /// Whether a site in a box of the tree may cut the cell.
    fn meets(&self, node: &TreeNode) -> bool {
        self.corners.iter().any(|(corner, distance)| node.beside(corner) < *distance)
    }

    /// Whether a site may cut the cell.
    fn is_cut_by(&self, site: &Vector3<f64>) -> bool {
        self.corners.iter().any(|(corner, distance)| (corner - site).norm_squared() < *distance)
    }
}

/// The cell of a site: cut by the sites near it first, so that few of the others remain to be
/// tested.
fn voronoi_cell(diagram: &Diagram, index: usize) -> Cell {
    let Diagram { sites, stretch, tree, within } = diagram;
    let site = sites[index];
    let own = tree.points[index];
    let mut cell = Cell::whole(within);
    let mut extent = Extent::new(&cell, &own, stretch);
    let radius = near(tree, &own);
    for ring in [0.0..=radius, radius.next_up()..=f64::INFINITY] {
        let mut others: Vec<(u64, usize)> = Vec::new();
        let is_near = |node: &TreeNode| node.beside(&own) <= *ring.end() && extent.meets(node);
        tree.for_each(&is_near, &mut |other| {
            let distance = (tree.points[other] - own).norm_squared();
            if distance > 0.0 && ring.contains(&distance) && extent.is_cut_by(&tree.points[other]) {
                others.push((total_order(distance), other));
            }
        });
        others.sort_unstable();
        for &(_, other) in &others {
            if extent.is_cut_by(&tree.points[other]) {
                // the negated plane of the other cell, bit for bit: a node on it is a tie, not a
                // gap
                let normal = (sites[other] - site).component_div(&stretch.component_mul(stretch));
                cell = cell.cut(Plane::through(&nalgebra::center(&site, &sites[other]), normal));
                extent = Extent::new(&cell, &own, stretch);
            }
        }
    }
    cell
}

/// The squared radius of a ball around a point of a tree with about 30 other points: a quarter of
/// the diagonal of the node with 64 to 127 points that contains it.
fn near(tree: &Tree, own: &Vector3<f64>) -> f64 {
    /// Minimum number of points of the node.
    const ENOUGH: usize = 64;
    let mut at = 0;
    loop {
        let node = &tree.nodes[at];
        let holds = |n: &usize| {
            let part = &tree.nodes[*n];
            part.beside(own) <= 0.0 && part.range.len() >= ENOUGH
        };
        let halves = if node.second == 0 { &[][..] } else { &[at + 1, node.second] };
        match halves.iter().copied().find(holds) {
            Some(half) => at = half,
            None => return (node.high - node.low).norm_squared() / 16.0,
        }
    }
}
