//! Points in a tree of boxes.

use nalgebra::Vector3;

/// Points in a tree of boxes.
pub(crate) struct Tree {
    pub(crate) points: Vec<Vector3<f64>>,
    /// Indices of the points; those in the box of a node are a range.
    pub(crate) order: Vec<usize>,
    pub(crate) nodes: Vec<TreeNode>,
}

pub(crate) struct TreeNode {
    pub(crate) range: std::ops::Range<usize>,
    pub(crate) low: Vector3<f64>,
    pub(crate) high: Vector3<f64>,
    /// Index of the second half; the first is the next node. 0 for a leaf.
    pub(crate) second: usize,
}

impl TreeNode {
    /// The squared distance of a point to the box.
    pub(crate) fn beside(&self, p: &Vector3<f64>) -> f64 {
        (self.low - p).sup(&(p - self.high)).sup(&Vector3::zeros()).norm_squared()
    }
}

impl Tree {
    pub(crate) fn new(points: Vec<Vector3<f64>>) -> Self {
        let order = (0..points.len()).collect();
        let count = points.len();
        let mut tree = Self { points, order, nodes: Vec::new() };
        tree.divide(0..count);
        tree
    }

    fn divide(&mut self, range: std::ops::Range<usize>) {
        /// Largest number of points of a leaf.
        const LEAF: usize = 8;
        let points = &self.points;
        let own = &mut self.order[range.clone()];
        let Some(first) = own.first().map(|&n| points[n]) else { return };
        let low = own.iter().fold(first, |low, &n| low.inf(&points[n]));
        let high = own.iter().fold(first, |high, &n| high.sup(&points[n]));
        let axis = (high - low).imax();
        let node = self.nodes.len();
        let middle = own.len() / 2;
        let is_leaf = own.len() <= LEAF;
        if !is_leaf {
            own.select_nth_unstable_by(middle, |&p, &q| {
                points[p][axis].total_cmp(&points[q][axis]).then(p.cmp(&q))
            });
        }
        let (start, end) = (range.start, range.end);
        self.nodes.push(TreeNode { range, low, high, second: 0 });
        if !is_leaf {
            self.divide(start..start + middle);
            self.nodes[node].second = self.nodes.len();
            self.divide(start + middle..end);
        }
    }

    /// Calls `found` with the points in the boxes for which `meets` holds, and no others.
    pub(crate) fn for_each(
        &self,
        meets: &impl Fn(&TreeNode) -> bool,
        found: &mut impl FnMut(usize),
    ) {
        let mut open = Vec::from_iter((!self.nodes.is_empty()).then_some(0));
        while let Some(n) = open.pop() {
            let node = &self.nodes[n];
            if !meets(node) {
                continue;
            }
            if node.second == 0 {
                self.order[node.range.clone()].iter().for_each(|&point| found(point));
            } else {
                open.extend([node.second, n + 1]);
            }
        }
    }
}
