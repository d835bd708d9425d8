//! Restoring the signed distance of a level set.

use nalgebra::Vector3;

use crate::LevelSet;
use crate::march::{UpwindOrder, march};
use crate::sweep::{Anchor, sweep};

/// How far a level set is from satisfying |grad phi| = 1, by central differences.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct EikonalResidual {
    /// Average of `abs(|grad phi| - 1)` over the nodes looked at; 0 if there are none.
    pub mean: f64,
    /// Largest of these errors.
    pub max: f64,
}

/// Nodes that take their distance from the surface itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Neighborhood {
    /// Those with the surface in one of the eight cells around: enough for propagation of points.
    Cube,
    /// Those with it within two nodes along an axis: second-order differences need two.
    Cross,
}

impl LevelSet {
    /// The signed distance to this level set's own zero surface; signs do not change.
    ///
    /// Nodes next to the surface find their nearest point on it along the gradient, and sweeps
    /// propagate those points to all others (after Danielsson 1980), so that the error does not
    /// grow with distance. Where neighbors take different points the gradient is off by 2 % on
    /// average on any grid; [`LevelSet::fast_marched`] converges there. A level set without a
    /// surface is returned unchanged.
    pub fn redistanced(&self) -> Self {
        let anchors = self.anchors(Neighborhood::Cube);
        if anchors.is_empty() {
            return self.clone();
        }
        let mut distance = vec![f32::INFINITY; self.as_slice().len()];
        sweep(&mut distance, self.grid().dims(), &anchors);
        self.with_distance(&distance)
    }

    /// [`LevelSet::redistanced`] by fast marching (Se99), as in Su09: slower, and its error grows
    /// away from the surface.
    pub fn fast_marched(&self, order: UpwindOrder) -> Self {
        let anchors = self.anchors(Neighborhood::Cross);
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

    /// The error of |grad phi| = 1 at the nodes within `band` meters of the surface, without the
    /// outermost ones; nodes where distance has a kink count too.
    pub fn eikonal_residual(&self, band: f64) -> EikonalResidual {
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
        EikonalResidual { mean: sum / count.max(1) as f64, max }
    }

    /// Nearest points on the surface of the nodes that have it in their neighborhood.
    fn anchors(&self, neighborhood: Neighborhood) -> Vec<Anchor> {
        let [_, ny, nz] = self.grid().dims();
        let near = self.near_surface(neighborhood);
        let marked = near.iter().enumerate().filter(|(_, near)| **near);
        let at = |node: usize| [node / (ny * nz), node / nz % ny, node % nz];
        marked.filter_map(|(node, _)| self.anchor(at(node), node)).collect()
    }

    /// Whether both signs occur within a neighborhood of each node.
    fn near_surface(&self, neighborhood: Neighborhood) -> Vec<bool> {
        let reach = match neighborhood {
            Neighborhood::Cube => 1,
            Neighborhood::Cross => 2,
        };
        const INSIDE: u8 = 1;
        const OUTSIDE: u8 = 2;
        let (dims, strides) = (self.grid().dims(), self.grid().strides());
        let sign = |&v: &f32| if v < 0.0 { INSIDE } else { OUTSIDE };
        let mut signs: Vec<u8> = self.as_slice().iter().map(sign).collect();
        let mut spread = signs.clone();
        for a in 0..3 {
            let line = dims[a] * strides[a];
            for (from, to) in signs.chunks_exact(line).zip(spread.chunks_exact_mut(line)) {
                for shift in (1..=reach.min(dims[a] - 1)).map(|n| n * strides[a]) {
                    to[shift..].iter_mut().zip(from).for_each(|(to, from)| *to |= from);
                    to.iter_mut().zip(&from[shift..]).for_each(|(to, from)| *to |= from);
                }
            }
            if neighborhood == Neighborhood::Cube {
                signs.copy_from_slice(&spread);
            }
        }
        spread.iter().map(|&s| s == INSIDE | OUTSIDE).collect()
    }

    /// The nearest known surface point of a node: on the line along the gradient, or on an edge to
    /// a neighbor, which is nearer at a sharp edge, where the gradient is not that of a distance.
    fn anchor(&self, at: [usize; 3], node: usize) -> Option<Anchor> {
        let here = self.as_slice()[node];
        if here == 0.0 {
            return Some(Anchor { node: node as u32, offset: [0.0; 3] });
        }
        let (dims, strides) = (self.grid().dims(), self.grid().strides());
        let mut nearest = self.along_gradient(at, node).unwrap_or([f32::INFINITY; 3]);
        let mut square = nearest.iter().map(|x| x * x).sum::<f32>();
        for a in 0..3 {
            let low = (at[a] > 0).then(|| (self.as_slice()[node - strides[a]], -1.0));
            let high = (at[a] + 1 < dims[a]).then(|| (self.as_slice()[node + strides[a]], 1.0));
            for (there, side) in [low, high].into_iter().flatten() {
                let t = here / (here - there);
                if (here < 0.0) != (there < 0.0) && t * t < square {
                    square = t * t;
                    nearest = [0.0; 3];
                    nearest[a] = side * t;
                }
            }
        }
        square.is_finite().then_some(Anchor { node: node as u32, offset: nearest })
    }

    /// The surface point on the line through a node along the gradient there, in cells from it;
    /// `None` if there is none within three cells.
    fn along_gradient(&self, at: [usize; 3], node: usize) -> Option<[f32; 3]> {
        let here = f64::from(self.as_slice()[node]);
        let h = self.grid().spacing();
        let gradient = self.node_gradient(at);
        let size = gradient.norm();
        if size == 0.0 {
            return None;
        }
        let downhill = -gradient / size * here.signum();
        // secant steps for the zero, in cells from the node
        let start = Vector3::from(at.map(|n| n as f64));
        let (mut t, mut low, mut low_value) = ((here.abs() / size / h).min(3.0), 0.0, here);
        for _ in 0..4 {
            let value = self.value_at_cells(start + downhill * t);
            if value.abs() <= 1e-4 * h * size {
                return Some((downhill * t).cast().into());
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
        let (dims, strides) = (self.grid().dims(), self.grid().strides());
        let phi = self.as_slice();
        let node = self.grid().index(at);
        Vector3::from_fn(|a, _| {
            let below = usize::from(at[a] > 0);
            let above = usize::from(at[a] + 1 < dims[a]);
            let (low, high) = (phi[node - below * strides[a]], phi[node + above * strides[a]]);
            let steps = if below + above == 2 { 2.0 } else { 1.0 };
            (f64::from(high) - f64::from(low)) / (steps * self.grid().spacing())
        })
    }

    /// This level set's signs with distances in cells.
    fn with_distance(&self, distance: &[f32]) -> Self {
        let h = self.grid().spacing();
        let mut values = self.values().clone();
        for (value, distance) in values.iter_mut().zip(distance) {
            let d = (f64::from(*distance) * h) as f32;
            // a node on the surface keeps its side
            *value = if *value < 0.0 { -d.max(f32::MIN_POSITIVE) } else { d };
        }
        Self::from_values(*self.grid(), values)
    }
}
