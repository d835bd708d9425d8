//! Elimination order: nested dissection by coordinates.
//!
//! A plane across the longest extent divides the nodes. Those just behind it form the separator and
//! are eliminated after both halves (George 1973), which are divided recursively.

use levelset::Aabb;
use nalgebra::Point3;

/// Adjacency lists, concatenated.
pub(crate) struct Graph {
    pub(crate) starts: Vec<u32>,
    pub(crate) items: Vec<u32>,
}

impl Graph {
    pub(crate) fn of(&self, node: u32) -> &[u32] {
        let node = node as usize;
        &self.items[self.starts[node] as usize..self.starts[node + 1] as usize]
    }
}

/// An elimination order.
pub(crate) struct Dissection {
    /// The nodes in that order.
    pub(crate) order: Vec<u32>,
    /// End of each set that is eliminated together.
    pub(crate) ends: Vec<usize>,
}

/// Maximum number of nodes that are not divided further.
const FEW: usize = 12;

impl Dissection {
    pub(crate) fn new(graph: &Graph, places: &[Point3<f64>]) -> Self {
        let mut nodes: Vec<u32> = (0..places.len() as u32).collect();
        let mut parting = Parting { graph, places, sides: vec![0; places.len()], last: 0 };
        let mut dissection = Self { order: Vec::with_capacity(places.len()), ends: Vec::new() };
        dissection.part(&mut parting, &mut nodes);
        dissection
    }

    fn part(&mut self, parting: &mut Parting, nodes: &mut [u32]) {
        let cut = (nodes.len() > FEW).then(|| parting.cut(nodes)).flatten();
        if let Some([before, behind]) = cut {
            let (before, others) = nodes.split_at_mut(before);
            let (behind, separator) = others.split_at_mut(behind);
            self.part(parting, before);
            self.part(parting, behind);
            self.together(separator);
        } else {
            self.together(nodes);
        }
    }

    fn together(&mut self, nodes: &[u32]) {
        if !nodes.is_empty() {
            self.order.extend(nodes);
            self.ends.push(self.order.len());
        }
    }
}

struct Parting<'a> {
    graph: &'a Graph,
    places: &'a [Point3<f64>],
    /// The last cut of each node: twice its number, plus 1 if the node is behind it.
    sides: Vec<u32>,
    last: u32,
}

impl Parting<'_> {
    /// Partitions nodes into those before a plane, those behind it and the separator, and counts
    /// the first two; `None` if all coincide.
    fn cut(&mut self, nodes: &mut [u32]) -> Option<[usize; 2]> {
        let places = self.places;
        let bounds = Aabb::around(nodes.iter().map(|&v| &places[v as usize]))?;
        let axis = bounds.extents().imax();
        let at = |v: u32| places[v as usize][axis];
        let half = nodes.len() / 2;
        nodes.select_nth_unstable_by(half, |&a, &b| at(a).total_cmp(&at(b)));
        let middle = at(nodes[half]);
        // nodes on the plane are behind it unless nothing is before it
        let behind = |v: u32| at(v) > middle || (at(v) == middle && middle > bounds.min[axis]);
        self.last += 1;
        let sides = [2 * self.last, 2 * self.last + 1];
        for &v in nodes.iter() {
            self.sides[v as usize] = sides[usize::from(behind(v))];
        }
        let mut parts = [vec![], vec![], vec![]];
        for &v in nodes.iter() {
            let behind = self.sides[v as usize] == sides[1];
            let touches = || self.graph.of(v).iter().any(|&u| self.sides[u as usize] == sides[0]);
            let part = if !behind {
                0
            } else if touches() {
                2
            } else {
                1
            };
            parts[part].push(v);
        }
        if parts[0].len() == nodes.len() {
            return None;
        }
        let counts = [parts[0].len(), parts[1].len()];
        nodes.iter_mut().zip(parts.into_iter().flatten()).for_each(|(v, sorted)| *v = sorted);
        Some(counts)
    }
}
