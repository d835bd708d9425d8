//! Surface points under a tree of bounding spheres, to find those near another body.

use nalgebra::{Point3, center};

const LEAF: usize = 8;

#[derive(Clone, Copy, Debug)]
struct Node {
    centre: Point3<f64>,
    radius: f64,
    first: u32,
    count: u32,
    /// Nodes in this subtree, itself included: where a skipped traversal goes on.
    size: u32,
}

/// Points sorted into a tree of bounding spheres, in depth-first order.
#[derive(Clone, Debug)]
pub(crate) struct PointTree {
    points: Vec<Point3<f64>>,
    nodes: Vec<Node>,
}

impl PointTree {
    pub(crate) fn new(points: &[Point3<f64>]) -> Self {
        let mut tree = Self { points: points.to_vec(), nodes: Vec::new() };
        if !points.is_empty() {
            tree.build(0, points.len());
        }
        // thousands of pieces have one each
        tree.nodes.shrink_to_fit();
        tree
    }

    pub(crate) fn points(&self) -> &[Point3<f64>] {
        &self.points
    }

    fn build(&mut self, first: usize, end: usize) {
        let points = &mut self.points[first..end];
        let (low, high) =
            points.iter().fold((points[0], points[0]), |(low, high), p| (low.inf(p), high.sup(p)));
        let centre = center(&low, &high);
        let radius = points.iter().map(|p| (p - centre).norm()).fold(0.0, f64::max);
        let at = self.nodes.len();
        let (first_u32, count) = (first as u32, (end - first) as u32);
        self.nodes.push(Node { centre, radius, first: first_u32, count, size: 1 });
        if end - first <= LEAF {
            return;
        }
        let axis = (high - low).imax();
        // whole leaves on the left keep the leaves full
        let middle = ((end - first) / 2).next_multiple_of(LEAF);
        points.select_nth_unstable_by(middle, |p, q| p[axis].total_cmp(&q[axis]));
        self.build(first, first + middle);
        self.build(first + middle, end);
        self.nodes[at].size = (self.nodes.len() - at) as u32;
    }

    /// Calls `found(index, point, distance)` for every point whose `distance` is below `margin`.
    /// Returns how many points and nodes were asked.
    ///
    /// `within` gives a signed distance unless it is above a limit, and must not overestimate it by
    /// more than the distance moved.
    pub(crate) fn near(
        &self,
        margin: f64,
        within: impl Fn(&Point3<f64>, f64) -> Option<f64>,
        mut found: impl FnMut(u32, &Point3<f64>, f64),
    ) -> usize {
        let (mut at, mut asked) = (0, 0);
        while let Some(node) = self.nodes.get(at) {
            asked += 1;
            let reach = node.radius + margin;
            if within(&node.centre, reach).is_none_or(|d| d > reach) {
                at += node.size as usize;
                continue;
            }
            at += 1;
            if node.size > 1 {
                continue;
            }
            asked += node.count as usize;
            for index in node.first..node.first + node.count {
                let point = &self.points[index as usize];
                if let Some(d) = within(point, margin).filter(|&d| d < margin) {
                    found(index, point, d);
                }
            }
        }
        asked
    }
}
