//! Making a level set a signed distance again.

use nalgebra::Vector3;

use crate::LevelSet;
use crate::march::{Order, march};
use crate::sweep::{Anchor, sweep};

/// How far a level set is from satisfying |grad phi| = 1, by central differences.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GradientError {
    /// Average of `abs(|grad phi| - 1)` over the nodes looked at; 0 if there are none.
    pub mean: f64,
    /// Largest of the same.
    pub max: f64,
}

impl LevelSet {
    /// The signed distance to this level set's own zero surface; signs do not change.
    ///
    /// Nodes next to the surface find their nearest point on it along the gradient, and sweeps hand
    /// those points on to all others (after Danielsson 1980), so that the error does not grow with
    /// distance. A level set without a surface comes back unchanged.
    pub fn redistanced(&self) -> Self {
        let anchors = self.anchors(2);
        if anchors.is_empty() {
            return self.clone();
        }
        let mut distance = vec![f32::INFINITY; self.as_slice().len()];
        sweep(&mut distance, self.grid().dims(), &anchors);
        self.with_distance(&distance)
    }

    /// As [`LevelSet::redistanced`], but by fast marching (Se99), which is what Su09 uses: slower,
    /// and its error grows away from the surface.
    pub fn marched(&self, order: Order) -> Self {
        let anchors = self.anchors(2);
        if anchors.is_empty() {
            return self.clone();
        }
        let mut distance = vec![f32::INFINITY; self.as_slice().len()];
        for anchor in &anchors {
            distance[anchor.node as usize] = Vector3::from(anchor.offset).norm();
        }
        march(&mut distance, self.grid().dims(), order);
        self.with_distance(&distance)
    }

    /// How well |grad phi| = 1 holds at the nodes within `band` metres of the surface, the outermost
    /// left out; nodes where distance has a kink count too.
    pub fn gradient_error(&self, band: f64) -> GradientError {
        let grid = self.grid();
        let [nx, ny, nz] = grid.dims();
        let strides = [ny * nz, nz, 1];
        let phi = self.as_slice();
        let (mut sum, mut max, mut count) = (0.0, 0.0_f64, 0_usize);
        for i in 1..nx - 1 {
            for j in 1..ny - 1 {
                for k in 1..nz - 1 {
                    let node = grid.index([i, j, k]);
                    if f64::from(phi[node]).abs() > band {
                        continue;
                    }
                    let slope =
                        strides.map(|s| f64::from(phi[node + s]) - f64::from(phi[node - s]));
                    let size = Vector3::from(slope).norm() / (2.0 * grid.spacing());
                    let error = (size - 1.0).abs();
                    sum += error;
                    max = max.max(error);
                    count += 1;
                }
            }
        }
        GradientError { mean: sum / count.max(1) as f64, max }
    }

    /// Nearest points on the surface, along the gradient, of the nodes that have the surface within
    /// `reach` nodes along an axis.
    fn anchors(&self, reach: usize) -> Vec<Anchor> {
        let [_, ny, nz] = self.grid().dims();
        let near = self.near_surface(reach);
        let marked = near.iter().enumerate().filter(|(_, near)| **near);
        let at = |node: usize| [node / (ny * nz), node / nz % ny, node % nz];
        marked.filter_map(|(node, _)| self.anchor(at(node), node)).collect()
    }

    /// Whether the sign changes within `reach` nodes of each along an axis.
    fn near_surface(&self, reach: usize) -> Vec<bool> {
        let [nx, ny, nz] = self.grid().dims();
        let inside: Vec<bool> = self.as_slice().iter().map(|&v| v < 0.0).collect();
        let mut near = vec![false; inside.len()];
        let mark = |near: &mut [bool], a: &[bool], b: &[bool]| {
            for ((near, a), b) in near.iter_mut().zip(a).zip(b) {
                *near |= a != b;
            }
        };
        for (row, near) in near.chunks_exact_mut(nz).enumerate() {
            let (i, j) = (row / ny, row % ny);
            let of = |i: usize, j: usize| &inside[(i * ny + j) * nz..][..nz];
            let here = of(i, j);
            for other in i.saturating_sub(reach)..(i + reach + 1).min(nx) {
                mark(near, here, of(other, j));
            }
            for other in j.saturating_sub(reach)..(j + reach + 1).min(ny) {
                mark(near, here, of(i, other));
            }
            for step in 1..=reach.min(nz - 1) {
                mark(near, here, &here[step..]);
                mark(&mut near[step..], &here[step..], here);
            }
        }
        near
    }

    /// The surface point on the line through a node along the gradient there; `None` if there is
    /// none within three cells, as where the gradient is none of a distance.
    fn anchor(&self, at: [usize; 3], node: usize) -> Option<Anchor> {
        let grid = self.grid();
        let h = grid.spacing();
        let here = f64::from(self.as_slice()[node]);
        if here == 0.0 {
            return Some(Anchor { node: node as u32, offset: [0.0; 3] });
        }
        let gradient = self.node_gradient(at);
        let size = gradient.norm();
        if size == 0.0 {
            return None;
        }
        let downhill = -gradient / size * here.signum();
        // secant steps for the zero, in cells from the node
        let start = grid.position(at);
        let (mut t, mut low, mut low_value) = ((here.abs() / size / h).min(3.0), 0.0, here);
        for _ in 0..4 {
            let value = self.value(&(start + downhill * (t * h)));
            if value.abs() <= 1e-4 * h * size {
                return Some(Anchor { node: node as u32, offset: (downhill * t).cast().into() });
            }
            if value == low_value {
                return None;
            }
            let next = (t - value * (t - low) / (value - low_value)).clamp(0.0, 3.0);
            (low, low_value) = (t, value);
            t = next;
        }
        None
    }

    /// Gradient at a node by central differences, one-sided at the grid's end.
    pub(crate) fn node_gradient(&self, at: [usize; 3]) -> Vector3<f64> {
        let dims = self.grid().dims();
        let phi = self.as_slice();
        Vector3::from_fn(|a, _| {
            let (mut low, mut high) = (at, at);
            low[a] = at[a].saturating_sub(1);
            high[a] = (at[a] + 1).min(dims[a] - 1);
            let rise =
                f64::from(phi[self.grid().index(high)]) - f64::from(phi[self.grid().index(low)]);
            rise / ((high[a] - low[a]) as f64 * self.grid().spacing())
        })
    }

    /// This level set's signs with distances in cells.
    fn with_distance(&self, distance: &[f32]) -> Self {
        let h = self.grid().spacing();
        let mut values = self.values().clone();
        for (value, distance) in values.iter_mut().zip(distance) {
            let d = (f64::from(*distance) * h) as f32;
            // a node on the surface stays on the side where it was
            *value = if *value < 0.0 { -d.max(f32::MIN_POSITIVE) } else { d };
        }
        Self::from_values(*self.grid(), values)
    }
}
