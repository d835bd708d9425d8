//! Sparsity pattern of the global matrix, and the positions of element blocks in it.

use std::sync::Arc;

use nalgebra::{Matrix3, Point3};
use rayon::prelude::*;

use crate::{BlockMatrix, parallel};

/// A node as seen from one of its elements of `N` nodes.
struct Visit<const N: usize> {
    element: u32,
    corner: u32,
    /// Position of each node of the element in the row.
    slots: [u32; N],
}

/// The sparsity pattern of an assembled matrix, computed once per mesh.
pub(crate) struct Pattern<const N: usize> {
    /// First block of each row, and the end of the last.
    pub(crate) starts: Vec<u32>,
    /// Column of each block, ascending within a row.
    pub(crate) columns: Vec<u32>,
    visits: Vec<Visit<N>>,
    visit_starts: Vec<u32>,
    /// Node positions, m.
    places: Arc<[Point3<f64>]>,
}

/// Rows per task: fewer are not worth dispatching to another thread.
const ROWS: usize = 256;

impl<const N: usize> Pattern<N> {
    pub(crate) fn new(places: &[Point3<f64>], elements: &[[u32; N]]) -> Self {
        let nodes = places.len();
        let (visit_starts, around) = incidence(nodes, elements);
        let mut starts = vec![0];
        let mut columns: Vec<u32> = Vec::with_capacity(around.len());
        let mut visits = Vec::with_capacity(around.len());
        let mut seen = vec![u32::MAX; nodes];
        let mut slots = vec![0; nodes];
        for row in 0..nodes {
            let first = columns.len();
            let mine = &around[visit_starts[row] as usize..visit_starts[row + 1] as usize];
            // a vertex without elements has a row too
            seen[row] = row as u32;
            columns.push(row as u32);
            for &(element, _) in mine {
                for node in elements[element as usize] {
                    if seen[node as usize] != row as u32 {
                        seen[node as usize] = row as u32;
                        columns.push(node);
                    }
                }
            }
            columns[first..].sort_unstable();
            for (slot, &column) in columns[first..].iter().enumerate() {
                slots[column as usize] = slot as u32;
            }
            visits.extend(mine.iter().map(|&(element, corner)| {
                let slots = elements[element as usize].map(|node| slots[node as usize]);
                Visit { element, corner, slots }
            }));
            starts.push(columns.len() as u32);
        }
        Self { starts, columns, visits, visit_starts, places: places.into() }
    }

    pub(crate) fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Assembles the blocks `block(element, a, b)` of all elements. Every row gathers its blocks in
    /// element order, so the sum does not depend on the number of threads.
    pub(crate) fn assemble(
        &self,
        block: impl Fn(usize, usize, usize) -> Matrix3<f64> + Sync,
    ) -> BlockMatrix {
        let mut blocks = vec![Matrix3::zeros(); self.columns.len()];
        let mut rest = blocks.as_mut_slice();
        let mut rows = Vec::with_capacity(self.rows());
        for ends in self.starts.windows(2) {
            let (row, others) = rest.split_at_mut((ends[1] - ends[0]) as usize);
            rows.push(row);
            rest = others;
        }
        rows.par_iter_mut().enumerate().with_min_len(ROWS).for_each(|(node, row)| {
            let ends = self.visit_starts[node] as usize..self.visit_starts[node + 1] as usize;
            for visit in &self.visits[ends] {
                for (b, &slot) in visit.slots.iter().enumerate() {
                    row[slot as usize] += block(visit.element as usize, visit.corner as usize, b);
                }
            }
        });
        BlockMatrix {
            starts: self.starts.clone(),
            columns: self.columns.clone(),
            blocks,
            places: Arc::clone(&self.places),
        }
    }

    /// Assembles the vectors `part(element, corner)` at every node, in element order.
    pub(crate) fn gather<T: Send + std::iter::Sum<T>>(
        &self,
        part: impl Fn(usize, usize) -> T + Sync,
    ) -> Vec<T> {
        parallel::map(self.rows(), ROWS, |node| {
            let ends = self.visit_starts[node] as usize..self.visit_starts[node + 1] as usize;
            let mine = self.visits[ends].iter();
            mine.map(|visit| part(visit.element as usize, visit.corner as usize)).sum()
        })
    }
}

/// For every node, its elements and the index of its corner in each.
fn incidence<const N: usize>(nodes: usize, elements: &[[u32; N]]) -> (Vec<u32>, Vec<(u32, u32)>) {
    let mut starts = vec![0; nodes + 1];
    for &node in elements.iter().flatten() {
        starts[node as usize + 1] += 1;
    }
    for node in 0..nodes {
        starts[node + 1] += starts[node];
    }
    let mut next = starts.clone();
    let mut around = vec![(0, 0); N * elements.len()];
    for (element, corners) in elements.iter().enumerate() {
        for (corner, &node) in corners.iter().enumerate() {
            let place = &mut next[node as usize];
            around[*place as usize] = (element as u32, corner as u32);
            *place += 1;
        }
    }
    (starts, around)
}
