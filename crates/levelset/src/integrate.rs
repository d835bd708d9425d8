//! Volume integrals by cell sign (Su09 section 4.2): an inside node stands for one cube.

use nalgebra::{Matrix3, Vector3};

use crate::{Grid, LevelSet, Moments};

/// Exact integer moments of a set of nodes, so that those of disjoint sets add exactly.
#[derive(Clone, Copy, Default)]
struct Counts {
    nodes: u128,
    /// Sums of i, j, k.
    first: [u128; 3],
    /// Sums of ii, ij, ik, jj, jk, kk.
    second: [u128; 6],
}

impl Counts {
    /// Adds the nodes `(i, j, start..end)`.
    fn add_run(&mut self, i: usize, j: usize, start: usize, end: usize) {
        let (i, j, s, e) = (i as u128, j as u128, start as u128, end as u128);
        let n = e - s;
        let k = (s + e - 1) * n / 2;
        // 0^2 + ... + m^2
        let squares = |m: u128| m * (m + 1) * (2 * m + 1) / 6;
        let kk = squares(e - 1) - if s > 0 { squares(s - 1) } else { 0 };
        self.nodes += n;
        let first = [n * i, n * j, k];
        let second = [n * i * i, n * i * j, i * k, n * j * j, j * k, kk];
        self.first.iter_mut().zip(first).for_each(|(sum, x)| *sum += x);
        self.second.iter_mut().zip(second).for_each(|(sum, x)| *sum += x);
    }

    fn moments(&self, grid: &Grid) -> Moments {
        let (o, h, cell) = (grid.origin().coords, grid.spacing(), grid.cell_volume());
        let n = self.nodes as f64;
        let s1 = Vector3::from(self.first.map(|x| x as f64)) * h;
        let [xx, xy, xz, yy, yz, zz] = self.second.map(|x| x as f64 * h * h);
        let s2 = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
        let cube = Matrix3::from_diagonal_element(n * h * h / 12.0);
        let cross = o * s1.transpose();
        Moments {
            volume: n * cell,
            first: (o * n + s1) * cell,
            second: (o * o.transpose() * n + cross + cross.transpose() + s2 + cube) * cell,
        }
    }
}

impl LevelSet {
    /// Moments of the solid, each inside node standing for a cube of one cell around it (Su09
    /// section 4.2, with the cube's own second moment of h^2/12 per axis): error of order h.
    pub fn moments(&self) -> Moments {
        let counts = count_runs(self.grid(), self.as_slice(), 1, |&v| usize::from(v < 0.0));
        counts[0].moments(self.grid())
    }
}

/// Moments of each label's nodes, by the quadrature of [`LevelSet::moments`], so that the pieces of
/// a solid have its mass: entry `n` is that of label `n + 1`; label 0 is background.
///
/// # Panics
/// If there is not one label per node, or one is more than `count`.
pub fn label_moments(grid: &Grid, labels: &[u32], count: usize) -> Vec<Moments> {
    let counts = count_runs(grid, labels, count, |&label| label as usize);
    counts.iter().map(|c| c.moments(grid)).collect()
}

fn count_runs<T>(
    grid: &Grid,
    samples: &[T],
    count: usize,
    label: impl Fn(&T) -> usize,
) -> Vec<Counts> {
    let [_, ny, nz] = grid.dims();
    assert_eq!(samples.len(), grid.node_count(), "one label per node");
    let mut counts = vec![Counts::default(); count];
    for (row, samples) in samples.chunks_exact(nz).enumerate() {
        let mut start = 0;
        while start < nz {
            let mine = label(&samples[start]);
            let len = samples[start..].iter().take_while(|s| label(s) == mine).count();
            if mine != 0 {
                counts[mine - 1].add_run(row / ny, row % ny, start, start + len);
            }
            start += len;
        }
    }
    counts
}
