//! Sparse Cholesky factors, by faer.
//!
//! What is the same for the three components of a node is found for nodes, in a ninth of the time,
//! and the matrix is given to faer in the order of elimination, so that it has nothing to sort.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::linalg::amd;
use faer::sparse::linalg::cholesky::simplicial::{
    prefactorize_symbolic_cholesky, prefactorize_symbolic_cholesky_scratch,
};
use faer::sparse::linalg::cholesky::supernodal::{
    SupernodalLltRef, SymbolicSupernodalCholesky, factorize_supernodal_numeric_llt,
    factorize_supernodal_numeric_llt_scratch, factorize_supernodal_symbolic_cholesky,
    factorize_supernodal_symbolic_cholesky_scratch,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par};
use nalgebra::Vector3;

use crate::{BlockMatrix, SolveError};

/// A factor `L L^T` of a matrix; its symbolic part serves all matrices of the same pattern.
pub(crate) struct Cholesky {
    symbolic: SymbolicSupernodalCholesky<u32>,
    /// Nodes in the order of elimination.
    order: Vec<u32>,
    /// Of each node in that order, the blocks on and below the diagonal: their rows in that order,
    /// ascending, and places in the matrix.
    lower: Columns<(u32, u32)>,
    /// The same in scalars.
    scalars: Columns<u32>,
    factor: Vec<f64>,
}

/// Lists of each column, one after the other.
struct Columns<T> {
    starts: Vec<u32>,
    items: Vec<T>,
}

impl<T> Columns<T> {
    fn new(columns: impl Iterator<Item = impl Iterator<Item = T>>) -> Self {
        let mut lists = Self { starts: vec![0], items: Vec::new() };
        for column in columns {
            lists.items.extend(column);
            lists.starts.push(lists.items.len() as u32);
        }
        lists
    }

    fn count(&self) -> usize {
        self.starts.len() - 1
    }

    fn of(&self, column: usize) -> &[T] {
        &self.items[self.starts[column] as usize..self.starts[column + 1] as usize]
    }
}

impl Columns<u32> {
    fn pattern(&self) -> SymbolicSparseColMatRef<'_, u32> {
        let n = self.count();
        SymbolicSparseColMatRef::new_checked(n, n, &self.starts, None, &self.items)
    }
}

impl Cholesky {
    pub(crate) fn new(matrix: &BlockMatrix) -> Result<Self, SolveError> {
        let (order, places) = ordering(matrix)?;
        let mut lower = Columns { starts: vec![0], items: Vec::new() };
        for (place, &node) in (0..).zip(&order) {
            let first = lower.items.len();
            let own = blocks(matrix, node as usize);
            let own = own.map(|(column, block)| (places[column], block));
            lower.items.extend(own.filter(|(row, _)| *row >= place));
            lower.items[first..].sort_unstable();
            lower.starts.push(lower.items.len() as u32);
        }
        let scalars = Columns::new((0..3 * lower.count()).map(|n| {
            let (node, line) = (n / 3, n % 3);
            lower.of(node).iter().flat_map(move |(row, _)| {
                let first = if *row as usize == node { line as u32 } else { 0 };
                (first..3).map(move |c| 3 * row + c)
            })
        }));
        let symbolic = symbolic(&lower)?;
        let factor = vec![0.0; symbolic.len_val()];
        let mut cholesky = Self { symbolic, order, lower, scalars, factor };
        cholesky.refactor(matrix)?;
        Ok(cholesky)
    }

    /// Replaces the factor by that of another matrix of the same pattern.
    pub(crate) fn refactor(&mut self, matrix: &BlockMatrix) -> Result<(), SolveError> {
        let mut values = Vec::with_capacity(self.scalars.items.len());
        for node in 0..self.lower.count() {
            for line in 0..3 {
                for (row, place) in self.lower.of(node) {
                    let first = if *row as usize == node { line } else { 0 };
                    // the block above the diagonal, which is stored by columns
                    let block = &matrix.blocks[*place as usize].data.0;
                    values.extend((first..3).map(|c| block[c][line]));
                }
            }
        }
        // over the factor's supernodes two threads gain nothing: bodies go in parallel
        let need = factorize_supernodal_numeric_llt_scratch::<u32, f64>(
            &self.symbolic,
            Par::Seq,
            Default::default(),
        );
        let mut memory = MemBuffer::try_new(need).map_err(|_| SolveError::TooLarge)?;
        factorize_supernodal_numeric_llt(
            &mut self.factor,
            SparseColMatRef::new(self.scalars.pattern(), &values),
            Default::default(),
            &self.symbolic,
            Par::Seq,
            MemStack::new(&mut memory),
            Default::default(),
        )
        .map_err(|_| SolveError::NotPositiveDefinite)?;
        Ok(())
    }

    pub(crate) fn solve(&self, right: &[Vector3<f64>]) -> Result<Vec<Vector3<f64>>, SolveError> {
        let in_order = self.order.iter().map(|&node| &right[node as usize]);
        let mut numbers: Vec<f64> = in_order.flat_map(|v| [v.x, v.y, v.z]).collect();
        let need = self.symbolic.solve_in_place_scratch::<f64>(1, Par::Seq);
        let mut memory = MemBuffer::try_new(need).map_err(|_| SolveError::TooLarge)?;
        let n = numbers.len();
        SupernodalLltRef::new(&self.symbolic, &self.factor).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(&mut numbers, n, 1),
            Par::Seq,
            MemStack::new(&mut memory),
        );
        let mut solution = vec![Vector3::zeros(); right.len()];
        for (&node, numbers) in self.order.iter().zip(numbers.chunks_exact(3)) {
            solution[node as usize] = Vector3::from_column_slice(numbers);
        }
        Ok(solution)
    }
}

/// The blocks of a row that are not zero, by their columns and places, and that on the diagonal. Held
/// nodes are coupled to nothing, and leaving their zeros out spares the factor fill.
fn blocks(matrix: &BlockMatrix, row: usize) -> impl Iterator<Item = (usize, u32)> {
    matrix.range(row).filter_map(move |place| {
        let column = matrix.columns[place] as usize;
        let counts = column == row || matrix.blocks[place].iter().any(|x| *x != 0.0);
        counts.then_some((column, place as u32))
    })
}

/// Approximate minimum degree on nodes: their order and the place of each in it.
fn ordering(matrix: &BlockMatrix) -> Result<(Vec<u32>, Vec<u32>), SolveError> {
    let nodes = matrix.rows();
    let upper = Columns::new((0..nodes).map(|row| {
        let own = blocks(matrix, row).map(|(column, _)| column as u32);
        own.filter(move |column| *column as usize >= row)
    }));
    let (mut forward, mut inverse) = (vec![0_u32; nodes], vec![0_u32; nodes]);
    let need = amd::order_scratch::<u32>(nodes, upper.items.len());
    let mut memory = MemBuffer::try_new(need).map_err(|_| SolveError::TooLarge)?;
    let memory = MemStack::new(&mut memory);
    amd::order(&mut forward, &mut inverse, upper.pattern(), Default::default(), memory)
        .map_err(|_| SolveError::TooLarge)?;
    Ok((forward, inverse))
}

/// The pattern of the factor. Its elimination tree and counts are those of nodes: the components of
/// a node follow each other, and the last of them is followed by the first of the node that follows.
fn symbolic(lower: &Columns<(u32, u32)>) -> Result<SymbolicSupernodalCholesky<u32>, SolveError> {
    let nodes = lower.count();
    let upper = transposed(lower);
    let (parents, counts) = tree(&upper)?;
    let mut children = vec![Vec::new(); 3 * nodes];
    for node in 0..nodes as u32 {
        children[3 * node as usize + 1].push(3 * node);
        children[3 * node as usize + 2].push(3 * node + 1);
        if let Ok(parent) = usize::try_from(parents[node as usize]) {
            children[3 * parent].push(3 * node + 2);
        }
    }
    // the tree alone has itself for a tree, and is soon gone through
    let bare = Columns::new(children.into_iter().map(Vec::into_iter));
    let scalars = Columns::new((0..3 * nodes).map(|n| {
        let node = n / 3;
        upper.of(node).iter().flat_map(move |&row| {
            let last = if row as usize == node { n as u32 } else { 3 * row + 2 };
            3 * row..=last
        })
    }));
    let counts: Vec<u32> = counts.iter().flat_map(|c| [3 * c, 3 * c - 1, 3 * c - 2]).collect();
    let n = 3 * nodes;
    let need = prefactorize_symbolic_cholesky_scratch::<u32>(n, bare.items.len())
        .or(factorize_supernodal_symbolic_cholesky_scratch::<u32>(n));
    let mut memory = MemBuffer::try_new(need).map_err(|_| SolveError::TooLarge)?;
    let memory = MemStack::new(&mut memory);
    let (mut parents, mut unused) = (vec![0; n], vec![0; n]);
    let tree = prefactorize_symbolic_cholesky(&mut parents, &mut unused, bare.pattern(), memory);
    let pattern = scalars.pattern();
    factorize_supernodal_symbolic_cholesky(pattern, tree, &counts, memory, Default::default())
        .map_err(|_| SolveError::TooLarge)
}

/// The elimination tree of nodes, by the parent of each or -1, and how many rows their columns of the
/// factor have.
fn tree(upper: &Columns<u32>) -> Result<(Vec<i32>, Vec<u32>), SolveError> {
    let nodes = upper.count();
    let (mut parents, mut counts) = (vec![0; nodes], vec![0; nodes]);
    let need = prefactorize_symbolic_cholesky_scratch::<u32>(nodes, upper.items.len());
    let mut memory = MemBuffer::try_new(need).map_err(|_| SolveError::TooLarge)?;
    let memory = MemStack::new(&mut memory);
    prefactorize_symbolic_cholesky(&mut parents, &mut counts, upper.pattern(), memory);
    Ok((parents, counts))
}

/// The rows on and above the diagonal of each column.
fn transposed(lower: &Columns<(u32, u32)>) -> Columns<u32> {
    let mut starts = vec![0; lower.count() + 1];
    lower.items.iter().for_each(|(row, _)| starts[*row as usize + 1] += 1);
    for n in 1..starts.len() {
        starts[n] += starts[n - 1];
    }
    let (mut next, mut items) = (starts.clone(), vec![0; lower.items.len()]);
    for column in 0..lower.count() {
        for (row, _) in lower.of(column) {
            let place = &mut next[*row as usize];
            items[*place as usize] = column as u32;
            *place += 1;
        }
    }
    Columns { starts, items }
}
