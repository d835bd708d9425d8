//! Sparse Cholesky factors, by faer.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::perm::PermRef;
use faer::sparse::linalg::amd;
use faer::sparse::linalg::cholesky::{
    LltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side};
use nalgebra::Vector3;

use crate::{BlockMatrix, SolveError};

/// A factor `L L^T` of a matrix; its symbolic part serves all matrices of the same pattern.
pub(crate) struct Cholesky {
    symbolic: SymbolicCholesky<u32>,
    starts: Vec<u32>,
    rows: Vec<u32>,
    factor: Vec<f64>,
}

impl Cholesky {
    pub(crate) fn new(matrix: &BlockMatrix) -> Result<Self, SolveError> {
        let (starts, rows) = lower_half(matrix);
        let n = 3 * matrix.rows();
        let (forward, inverse) = nodal_ordering(matrix)?;
        let order = PermRef::new_checked(&forward, &inverse, n);
        let symbolic = factorize_symbolic_cholesky(
            SymbolicSparseColMatRef::new_checked(n, n, &starts, None, &rows),
            Side::Lower,
            SymmetricOrdering::Custom(order),
            Default::default(),
        )
        .map_err(|_| SolveError::TooLarge)?;
        let factor = vec![0.0; symbolic.len_val()];
        let mut cholesky = Self { symbolic, starts, rows, factor };
        cholesky.refactor(matrix)?;
        Ok(cholesky)
    }

    /// Replaces the factor by that of another matrix of the same pattern.
    pub(crate) fn refactor(&mut self, matrix: &BlockMatrix) -> Result<(), SolveError> {
        let values = lower_values(matrix);
        let n = 3 * matrix.rows();
        let pattern = SymbolicSparseColMatRef::new_checked(n, n, &self.starts, None, &self.rows);
        let need = self.symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default());
        let mut memory = MemBuffer::try_new(need).map_err(|_| SolveError::TooLarge)?;
        self.symbolic
            .factorize_numeric_llt(
                &mut self.factor,
                SparseColMatRef::new(pattern, &values),
                Side::Lower,
                Default::default(),
                // over the factor's supernodes two threads gain nothing: bodies go in parallel
                Par::Seq,
                MemStack::new(&mut memory),
                Default::default(),
            )
            .map_err(|_| SolveError::NotPositiveDefinite)?;
        Ok(())
    }

    pub(crate) fn solve(&self, right: &[Vector3<f64>]) -> Result<Vec<Vector3<f64>>, SolveError> {
        let mut numbers: Vec<f64> = right.iter().flat_map(|v| [v.x, v.y, v.z]).collect();
        let need = self.symbolic.solve_in_place_scratch::<f64>(1, Par::Seq);
        let mut memory = MemBuffer::try_new(need).map_err(|_| SolveError::TooLarge)?;
        let n = numbers.len();
        LltRef::new(&self.symbolic, &self.factor).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(&mut numbers, n, 1),
            Par::Seq,
            MemStack::new(&mut memory),
        );
        Ok(numbers.chunks_exact(3).map(Vector3::from_column_slice).collect())
    }
}

/// Blocks that are not zero on and above the diagonal, as rows. Held nodes are coupled to nothing,
/// and leaving their zeros out spares the factor fill.
fn upper(matrix: &BlockMatrix, row: usize) -> impl Iterator<Item = (usize, &[[f64; 3]; 3])> {
    let mine = matrix.row(row).filter(move |(c, _)| *c >= row);
    mine.filter(move |(c, block)| *c == row || block.iter().any(|x| *x != 0.0))
        .map(|(c, block)| (c, &block.data.0))
}

/// The upper half by rows, which is the lower half by columns, in scalars.
fn lower_half(matrix: &BlockMatrix) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0];
    let mut rows = Vec::new();
    for row in 0..matrix.rows() {
        for line in 0..3 {
            for (column, _) in upper(matrix, row) {
                let first = if column == row { line } else { 0 };
                rows.extend((first..3).map(|c| (3 * column + c) as u32));
            }
            starts.push(rows.len() as u32);
        }
    }
    (starts, rows)
}

fn lower_values(matrix: &BlockMatrix) -> Vec<f64> {
    let mut values = Vec::with_capacity(9 * matrix.blocks.len() / 2 + 9 * matrix.rows());
    for row in 0..matrix.rows() {
        for line in 0..3 {
            for (column, block) in upper(matrix, row) {
                let first = if column == row { line } else { 0 };
                // blocks are stored by columns
                values.extend((first..3).map(|c| block[c][line]));
            }
        }
    }
    values
}

/// Approximate minimum degree on nodes, expanded to their three components: half the time of an
/// ordering of scalars. Returns the order and its inverse.
fn nodal_ordering(matrix: &BlockMatrix) -> Result<(Vec<u32>, Vec<u32>), SolveError> {
    let nodes = matrix.rows();
    let mut starts = vec![0_u32];
    let mut rows = Vec::new();
    for row in 0..nodes {
        rows.extend(upper(matrix, row).map(|(column, _)| column as u32));
        starts.push(rows.len() as u32);
    }
    let (mut forward, mut inverse) = (vec![0_u32; nodes], vec![0_u32; nodes]);
    let need = amd::order_scratch::<u32>(nodes, rows.len());
    let mut memory = MemBuffer::try_new(need).map_err(|_| SolveError::TooLarge)?;
    amd::order(
        &mut forward,
        &mut inverse,
        SymbolicSparseColMatRef::new_checked(nodes, nodes, &starts, None, &rows),
        Default::default(),
        MemStack::new(&mut memory),
    )
    .map_err(|_| SolveError::TooLarge)?;
    let expand =
        |order: Vec<u32>| order.iter().flat_map(|&i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
    Ok((expand(forward), expand(inverse)))
}
