//! Sparse Cholesky factorization by the multifrontal method (Duff and Reid 1983).
//!
//! The nodes of a separator are eliminated together, in a dense frontal matrix of them and the
//! later nodes coupled to them. The remaining update matrix is added to the front that eliminates
//! the first of the later nodes.

use std::ops::Range;

use nalgebra::Vector3;
use pulp::{Arch, Scalar, Simd, WithSimd};

use crate::dissection::{Dissection, Graph};
use crate::panel::{Elimination, Half, NODE, STRIP, backward, forward};
use crate::{BlockMatrix, SolveError};

/// A factor `L L^T` of a matrix. All but its values is shared by matrices of the same pattern.
pub(crate) struct Cholesky {
    /// Nodes in elimination order.
    order: Vec<u32>,
    /// Fronts, each after its children.
    fronts: Vec<Front>,
    /// The later nodes of the fronts, by index in the order, ascending.
    later: Vec<u32>,
    runs: Vec<Run>,
    /// Matrix blocks, and their offsets in the columns of a front.
    entries: Vec<(u32, u32)>,
    /// The fronts in postorder.
    sequence: Vec<u32>,
    /// Maximum number of pending update values.
    most_rests: usize,
    /// The columns of each front.
    factor: Vec<f64>,
}

/// Nodes that are eliminated together.
struct Front {
    /// The first of them in the order.
    first: usize,
    /// Their columns in the factor, three per node.
    pivots: usize,
    /// Length of a column: the rows of the front's nodes and of the later ones, each zero-padded to
    /// a multiple of [`STRIP`].
    length: usize,
    columns: Range<usize>,
    entries: Range<usize>,
    later: Range<usize>,
    /// The runs of its later nodes.
    runs: Range<usize>,
    /// The fronts whose updates it receives.
    children: Vec<usize>,
}

impl Front {
    /// Rows before those of later nodes.
    fn own_rows(&self) -> usize {
        self.pivots.next_multiple_of(STRIP)
    }

    /// Its update matrix for later nodes.
    fn rest(&self) -> Half {
        Half(self.length - self.own_rows())
    }
}

/// Rows of later nodes that are contiguous in the parent front as well.
struct Run {
    from: usize,
    to: usize,
    count: usize,
}

impl Cholesky {
    pub(crate) fn new(matrix: &BlockMatrix) -> Result<Self, SolveError> {
        let mut cholesky = Self::symbolic(matrix);
        let fronts = &cholesky.fronts;
        let length = fronts.last().map_or(0, |front| front.columns.end);
        let room = Vec::<f64>::new().try_reserve_exact(length);
        let most = fronts.iter().map(|front| front.own_rows() * front.length).max();
        if room.is_err() || most.is_some_and(|most| u32::try_from(most).is_err()) {
            return Err(SolveError::TooLarge);
        }
        cholesky.factor = vec![0.0; length];
        cholesky.refactor(matrix)?;
        Ok(cholesky)
    }

    /// Everything except the values.
    fn symbolic(matrix: &BlockMatrix) -> Self {
        let graph = graph(matrix);
        let Dissection { order, ends } = Dissection::new(&graph, &matrix.places);
        let mut places = vec![0; order.len()];
        (0..).zip(&order).for_each(|(place, &node)| places[node as usize] = place);
        let firsts = std::iter::once(0).chain(ends.iter().copied());
        let sets: Vec<_> = firsts.zip(ends.iter().copied()).map(|(a, b)| a..b).collect();
        let mut owners = vec![0; order.len()];
        sets.iter().enumerate().for_each(|(n, set)| owners[set.clone()].fill(n));
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); sets.len()];
        // per node: the last front that contains it, and its row there
        let (mut seen, mut rows) = (vec![usize::MAX; order.len()], vec![0; order.len()]);
        let mut all = Self {
            order,
            fronts: Vec::<Front>::with_capacity(sets.len()),
            later: Vec::new(),
            runs: Vec::new(),
            entries: Vec::with_capacity(matrix.blocks.len() / 2),
            sequence: Vec::new(),
            most_rests: 0,
            factor: Vec::new(),
        };
        for (n, set) in sets.into_iter().enumerate() {
            let begin = all.later.len();
            let mut meet = |place: u32, later: &mut Vec<u32>| {
                if place as usize >= set.end && seen[place as usize] != n {
                    seen[place as usize] = n;
                    later.push(place);
                }
            };
            for &node in &all.order[set.clone()] {
                graph.of(node).iter().for_each(|&v| meet(places[v as usize], &mut all.later));
            }
            for &child in &children[n] {
                for at in all.fronts[child].later.clone() {
                    meet(all.later[at], &mut all.later);
                }
            }
            all.later[begin..].sort_unstable();
            if let Some(&next) = all.later.get(begin) {
                children[owners[next as usize]].push(n);
            }
            all.push(matrix, set, begin, std::mem::take(&mut children[n]), &places, &mut rows);
        }
        let mut end = 0;
        for root in 0..all.fronts.len() {
            if all.fronts[root].later.is_empty() {
                all.follow(root, &mut end);
            }
        }
        all
    }

    /// Appends a front to the postorder, after its children.
    fn follow(&mut self, front: usize, end: &mut usize) {
        let begin = *end;
        for child in 0..self.fronts[front].children.len() {
            self.follow(self.fronts[front].children[child], end);
        }
        self.sequence.push(front as u32);
        let count = self.fronts[front].rest().count();
        self.most_rests = self.most_rests.max(*end + count);
        *end = begin + count;
    }

    /// Adds a front for a range of the order; its later nodes start at `begin`.
    fn push(
        &mut self,
        matrix: &BlockMatrix,
        set: Range<usize>,
        begin: usize,
        children: Vec<usize>,
        places: &[u32],
        rows: &mut [usize],
    ) {
        let later = begin..self.later.len();
        let pivots = NODE * set.len();
        let own_rows = pivots.next_multiple_of(STRIP);
        let length = own_rows + (NODE * later.len()).next_multiple_of(STRIP);
        set.clone().enumerate().for_each(|(n, place)| rows[place] = NODE * n);
        let numbered = self.later[later.clone()].iter().enumerate();
        numbered.for_each(|(n, place)| rows[*place as usize] = own_rows + NODE * n);
        for &child in &children {
            let first = self.runs.len();
            for (n, &place) in self.later[self.fronts[child].later.clone()].iter().enumerate() {
                let (from, to) = (NODE * n, rows[place as usize]);
                match self.runs[first..].last_mut() {
                    Some(run) if run.to + run.count == to => run.count += NODE,
                    _ => self.runs.push(Run { from, to, count: NODE }),
                }
            }
            self.fronts[child].runs = first..self.runs.len();
        }
        let entry = self.entries.len();
        for place in set.clone() {
            let node = self.order[place] as usize;
            let column = NODE * (place - set.start) * length;
            self.entries.extend(blocks(matrix, node).filter_map(|(other, block)| {
                let other = places[other] as usize;
                (other >= place).then(|| (block, (column + rows[other]) as u32))
            }));
        }
        let place = self.fronts.last().map_or(0, |front| front.columns.end);
        self.fronts.push(Front {
            first: set.start,
            pivots,
            length,
            columns: place..place + pivots * length,
            entries: entry..self.entries.len(),
            later,
            runs: 0..0,
            children,
        });
    }

    /// Replaces the factor by that of another matrix with the same pattern.
    pub(crate) fn refactor(&mut self, matrix: &BlockMatrix) -> Result<(), SolveError> {
        let definite = Arch::new().dispatch(Factoring { cholesky: self, matrix });
        definite.then_some(()).ok_or(SolveError::NotPositiveDefinite)
    }

    pub(crate) fn solve(&self, right: &[Vector3<f64>]) -> Vec<Vector3<f64>> {
        let mut x: Vec<_> = self.order.iter().map(|&node| right[node as usize]).collect();
        Arch::new().dispatch(Solving { cholesky: self, x: &mut x });
        let mut solution = vec![Vector3::zeros(); right.len()];
        for (&node, x) in self.order.iter().zip(x) {
            solution[node as usize] = x;
        }
        solution
    }
}

struct Factoring<'a> {
    cholesky: &'a mut Cholesky,
    matrix: &'a BlockMatrix,
}

impl WithSimd for Factoring<'_> {
    /// Whether the matrix is positive definite.
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        if S::F64_LANES > STRIP {
            return self.with_simd(Scalar::new());
        }
        let Cholesky { fronts, runs, entries, factor, sequence, most_rests, .. } = self.cholesky;
        // pending update matrices, the most recent last
        let mut rests = vec![0.0; *most_rests];
        let mut end = 0;
        let mut columns = Vec::new();
        for front in sequence.iter().map(|&n| &fronts[n as usize]) {
            let (length, pivots) = (front.length, front.pivots);
            columns.clear();
            columns.resize(front.own_rows() * length, 0.0);
            enter(self.matrix, &entries[front.entries.clone()], length, &mut columns);
            let (added, rest) = rests.split_at_mut(end);
            let count = front.rest().count();
            let rest = &mut rest[..count];
            rest.fill(0.0);
            let mut begin = end;
            for child in front.children.iter().rev().map(|&n| &fronts[n]) {
                begin -= child.rest().count();
                let runs = &runs[child.runs.clone()];
                add(child.rest(), &added[begin..], runs, front, &mut columns, rest);
            }
            let factor = &mut factor[front.columns.clone()];
            let elimination = Elimination { simd, columns: &mut columns, length, factor, pivots };
            if !elimination.run() {
                return false;
            }
            front.rest().subtract(simd, rest, &factor[front.own_rows() * pivots..], pivots);
            rests.copy_within(end..end + count, begin);
            end = begin + count;
        }
        true
    }
}

/// Scatters matrix blocks into the columns of a front.
#[inline(always)]
fn enter(matrix: &BlockMatrix, entries: &[(u32, u32)], length: usize, columns: &mut [f64]) {
    for &(block, to) in entries {
        // blocks above the diagonal, which are column-major
        let [a, b, c] = &matrix.blocks[block as usize].data.0;
        for line in 0..NODE {
            let column = &mut columns[to as usize + line * length..][..NODE];
            column.copy_from_slice(&[a[line], b[line], c[line]]);
        }
    }
}

/// Adds the update of a front to the columns and the update of its parent.
#[inline(always)]
fn add(
    half: Half,
    numbers: &[f64],
    runs: &[Run],
    front: &Front,
    columns: &mut [f64],
    rest: &mut [f64],
) {
    let own_rows = front.own_rows();
    for (n, run) in runs.iter().enumerate() {
        for line in 0..run.count {
            let source = &numbers[half.column(run.from + line)..];
            let column = run.to + line;
            let (target, above) = match column.checked_sub(own_rows) {
                None => (&mut columns[column * front.length..], 0),
                Some(column) => (&mut rest[front.rest().column(column)..], own_rows),
            };
            let own = Run { from: run.from + line, to: column, count: run.count - line };
            for run in std::iter::once(&own).chain(&runs[n + 1..]) {
                let target = &mut target[run.to - above..][..run.count];
                let source = &source[run.from..][..run.count];
                target.iter_mut().zip(source).for_each(|(to, from)| *to += from);
            }
        }
    }
}

struct Solving<'a> {
    cholesky: &'a Cholesky,
    /// By index in the order.
    x: &'a mut [Vector3<f64>],
}

impl WithSimd for Solving<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        if S::F64_LANES > STRIP {
            return self.with_simd(Scalar::new());
        }
        let (Cholesky { fronts, later, factor, .. }, x) = (self.cholesky, self.x);
        let longest = fronts.iter().map(|front| front.length).max().unwrap_or(0);
        let mut dense = vec![0.0; longest];
        let mut sums = vec![0.0; longest * STRIP];
        for front in fronts {
            let (columns, dense) = (&factor[front.columns.clone()], &mut dense[..front.length]);
            let own = &mut x[front.first..front.first + front.pivots / NODE];
            dense[front.pivots..].fill(0.0);
            put(own.iter(), dense);
            forward(simd, columns, front.pivots, dense);
            take(dense, own.iter_mut());
            let parts = dense[front.own_rows()..].chunks_exact(NODE);
            for (&place, part) in later[front.later.clone()].iter().zip(parts) {
                x[place as usize] += Vector3::new(part[0], part[1], part[2]);
            }
        }
        for front in fronts.iter().rev() {
            let (columns, dense) = (&factor[front.columns.clone()], &mut dense[..front.length]);
            dense[front.pivots..].fill(0.0);
            let behind = later[front.later.clone()].iter().map(|&place| &x[place as usize]);
            put(behind, &mut dense[front.own_rows()..]);
            let own = &mut x[front.first..front.first + front.pivots / NODE];
            put(own.iter(), dense);
            let sums = &mut sums[..front.pivots * STRIP];
            backward(simd, columns, front.pivots, dense, sums);
            take(dense, own.iter_mut());
        }
    }
}

#[inline(always)]
fn put<'a>(from: impl Iterator<Item = &'a Vector3<f64>>, to: &mut [f64]) {
    to.chunks_exact_mut(NODE).zip(from).for_each(|(to, x)| to.copy_from_slice(x.as_slice()));
}

#[inline(always)]
fn take<'a>(from: &[f64], to: impl Iterator<Item = &'a mut Vector3<f64>>) {
    to.zip(from.chunks_exact(NODE)).for_each(|(x, from)| x.copy_from_slice(from));
}

/// The nonzero blocks of a row with their columns and indices, and the diagonal block. Fixed nodes
/// are not coupled, and omitting their zeros avoids fill-in.
fn blocks(matrix: &BlockMatrix, row: usize) -> impl Iterator<Item = (usize, u32)> {
    matrix.range(row).filter_map(move |place| {
        let column = matrix.columns[place] as usize;
        let counts = column == row || matrix.blocks[place].iter().any(|x| *x != 0.0);
        counts.then_some((column, place as u32))
    })
}

/// The coupling graph of the nodes.
fn graph(matrix: &BlockMatrix) -> Graph {
    let mut graph = Graph { starts: vec![0], items: Vec::with_capacity(matrix.blocks.len()) };
    for row in 0..matrix.rows() {
        graph.items.extend(blocks(matrix, row).map(|(column, _)| column as u32));
        graph.starts.push(graph.items.len() as u32);
    }
    graph
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tet_boxes::kuhn_box;
    use crate::{Material, Model};

    /// The stiffness of a bar with one fixed end and a slit along its middle.
    fn slit_bar() -> BlockMatrix {
        let mut mesh = kuhn_box([9, 4, 5], Vector3::new(2.0, 1.0, 1.1));
        let copied: Vec<u32> = (0..mesh.vertices.len() as u32)
            .filter(|&v| mesh.vertices[v as usize].y == 0.5 && mesh.vertices[v as usize].x < 1.0)
            .collect();
        for t in 0..mesh.tets.len() {
            let above = mesh.corners(t).iter().any(|p| p.y > 0.5);
            for v in mesh.tets[t].iter_mut().filter(|v| above && copied.contains(v)) {
                *v =
                    mesh.vertices.len() as u32 + copied.iter().position(|c| c == v).unwrap() as u32;
            }
        }
        mesh.vertices.extend(copied.iter().map(|&v| mesh.vertices[v as usize]).collect::<Vec<_>>());
        let model = Model::new(&mesh, Material::from_young(1e9, 0.3).unwrap()).unwrap();
        let mut stiffness = model.stiffness();
        let fixed_dofs: Vec<_> = mesh.vertices.iter().map(|p| [p.x == 2.0; 3]).collect();
        stiffness.fix(&fixed_dofs);
        stiffness
    }

    #[test]
    fn every_register_finds_the_same_bits() {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            assert!(!matches!(Arch::new(), Arch::Scalar), "pulp lacks its feature x86-v3");
        }
        let matrix = slit_bar();
        let factor = Cholesky::new(&matrix).unwrap();
        let mut single = Cholesky::new(&matrix).unwrap();
        single.factor.fill(0.0);
        assert!(Simd::vectorize(
            Scalar::new(),
            Factoring { cholesky: &mut single, matrix: &matrix }
        ));
        assert!(factor.factor == single.factor);
        let right: Vec<_> = (0..matrix.rows()).map(|n| Vector3::new(1.0, n as f64, -2.0)).collect();
        let mut x: Vec<_> = factor.order.iter().map(|&node| right[node as usize]).collect();
        Simd::vectorize(Scalar::new(), Solving { cholesky: &factor, x: &mut x });
        let solution = factor.solve(&right);
        assert!(factor.order.iter().zip(&x).all(|(&node, x)| solution[node as usize] == *x));
        let rest = matrix.multiply(&solution);
        let most = rest.iter().zip(&right).map(|(a, b)| (a - b).amax()).fold(0.0, f64::max);
        assert!(most < 1e-9 * matrix.rows() as f64, "{most}");
    }

    #[test]
    fn indefinite_matrices_are_refused_and_definite_ones_factored_again() {
        let matrix = slit_bar();
        let mut factor = Cholesky::new(&matrix).unwrap();
        let first = factor.factor.clone();
        let mut other = matrix.clone();
        other.shift(-1e9);
        assert_eq!(factor.refactor(&other), Err(SolveError::NotPositiveDefinite));
        other.shift(f64::NAN);
        assert_eq!(factor.refactor(&other), Err(SolveError::NotPositiveDefinite));
        factor.refactor(&matrix).unwrap();
        assert!(factor.factor == first);
    }
}
