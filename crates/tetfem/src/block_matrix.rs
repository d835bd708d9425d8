//! Symmetric matrices of 3 by 3 blocks in sparse rows.

use std::sync::Arc;

use nalgebra::{Matrix3, Point3, Vector3};
use rayon::prelude::*;

/// A sparse symmetric matrix with one row of 3 by 3 blocks per node; both halves are stored.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockMatrix {
    pub(crate) starts: Vec<u32>,
    pub(crate) columns: Vec<u32>,
    pub(crate) blocks: Vec<Matrix3<f64>>,
    /// Node positions, m.
    pub(crate) places: Arc<[Point3<f64>]>,
}

/// Rows per task of a product.
const ROWS: usize = 512;

impl BlockMatrix {
    /// Number of block rows.
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// The columns, ascending, and blocks of a row.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, &Matrix3<f64>)> {
        let ends = self.range(row);
        self.columns[ends.clone()].iter().map(|&c| c as usize).zip(&self.blocks[ends])
    }

    pub(crate) fn range(&self, row: usize) -> std::ops::Range<usize> {
        self.starts[row] as usize..self.starts[row + 1] as usize
    }

    /// The product with one vector per node.
    ///
    /// # Panics
    /// If there is not one vector per row.
    pub fn multiply(&self, vectors: &[Vector3<f64>]) -> Vec<Vector3<f64>> {
        let mut product = vec![Vector3::zeros(); vectors.len()];
        self.multiply_into(vectors, &mut product);
        product
    }

    pub(crate) fn multiply_into(&self, vectors: &[Vector3<f64>], product: &mut [Vector3<f64>]) {
        assert_eq!(vectors.len(), self.rows(), "one vector per row");
        let of_row = |row| self.row(row).map(|(c, block)| block * vectors[c]).sum();
        if product.len() < 2 * ROWS {
            product.iter_mut().enumerate().for_each(|(r, y)| *y = of_row(r));
        } else {
            product.par_iter_mut().enumerate().with_min_len(ROWS).for_each(|(r, y)| *y = of_row(r));
        }
    }

    /// The largest absolute row sum: an upper bound of the Euclidean norm, since the matrix is
    /// symmetric.
    pub(crate) fn norm(&self) -> f64 {
        let sum = |row: usize| -> Vector3<f64> {
            self.row(row).map(|(_, block)| block.abs().column_sum()).sum()
        };
        (0..self.rows()).map(|row| sum(row).max()).fold(0.0, f64::max)
    }

    /// The diagonal block of a row.
    pub(crate) fn diagonal(&self, row: usize) -> &Matrix3<f64> {
        &self.blocks[self.diagonal_place(row)]
    }

    fn diagonal_place(&self, row: usize) -> usize {
        let ends = self.range(row);
        let before = self.columns[ends.clone()].partition_point(|&c| (c as usize) < row);
        ends.start + before
    }

    /// Decouples the fixed components: sets their rows and columns to zero except on the diagonal.
    /// Vertices without elements are also fixed, with a diagonal of 1.
    pub(crate) fn fix(&mut self, fixed_dofs: &[[bool; 3]]) {
        for row in 0..self.rows() {
            for place in self.range(row) {
                let column = self.columns[place] as usize;
                let block = &mut self.blocks[place];
                for (r, c) in (0..3).flat_map(|r| (0..3).map(move |c| (r, c))) {
                    let diagonal = row == column && r == c;
                    if (fixed_dofs[row][r] || fixed_dofs[column][c]) && !diagonal {
                        block[(r, c)] = 0.0;
                    }
                }
            }
            if self.range(row).len() == 1 && *self.diagonal(row) == Matrix3::zeros() {
                self.blocks[self.starts[row] as usize] = Matrix3::identity();
            }
        }
    }

    /// Adds `shift` times the identity.
    pub fn shift(&mut self, shift: f64) {
        for row in 0..self.rows() {
            let place = self.diagonal_place(row);
            self.blocks[place] += Matrix3::from_diagonal_element(shift);
        }
    }

    /// Largest diagonal entry.
    pub(crate) fn largest_diagonal(&self) -> f64 {
        let entries = (0..self.rows()).map(|row| self.diagonal(row).diagonal().amax());
        entries.fold(0.0, f64::max)
    }
}
