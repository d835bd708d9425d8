//! Fast marching (Se99): solves |grad d| = 1 outwards from known samples.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Accuracy of the one-sided differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpwindOrder {
    /// One upwind neighbor per axis: error of order h.
    First,
    /// Two upwind neighbors per axis where they are known and ordered: error of order h^2 except
    /// where fronts meet.
    Second,
}

/// Fills the infinite entries of `distance` (in cells, never negative) from the finite ones, which
/// are unchanged.
pub(crate) fn march(distance: &mut [f32], dims: [usize; 3], order: UpwindOrder) {
    let strides = [dims[1] * dims[2], dims[2], 1];
    let neighbors = |node: usize| {
        let at = [node / strides[0], node / strides[1] % dims[1], node % dims[2]];
        (0..6).filter_map(move |n| {
            let (a, up) = (n / 2, n % 2 == 1);
            let open = if up { at[a] + 1 < dims[a] } else { at[a] > 0 };
            open.then(|| if up { node + strides[a] } else { node - strides[a] })
        })
    };
    let mut done: Vec<bool> = distance.iter().map(|d| d.is_finite()).collect();
    let mut queue = BinaryHeap::new();
    let solver = Solver { dims, strides, order };
    for node in 0..distance.len() {
        if done[node] && neighbors(node).any(|n| !done[n]) {
            for n in neighbors(node).filter(|&n| !done[n]) {
                solver.update(n, distance, &done, &mut queue);
            }
        }
    }
    while let Some(Reverse(key)) = queue.pop() {
        let node = (key & 0xffff_ffff) as usize;
        if done[node] || u64::from(distance[node].to_bits()) != key >> 32 {
            continue;
        }
        done[node] = true;
        for n in neighbors(node) {
            if !done[n] {
                solver.update(n, distance, &done, &mut queue);
            }
        }
    }
}

/// Keys are ordered by distance, then by node, so that equal distances are processed in a fixed
/// order.
type Queue = BinaryHeap<Reverse<u64>>;

struct Solver {
    dims: [usize; 3],
    strides: [usize; 3],
    order: UpwindOrder,
}

impl Solver {
    fn update(&self, node: usize, distance: &mut [f32], done: &[bool], queue: &mut Queue) {
        let candidate = self.solve(node, distance, done) as f32;
        if candidate < distance[node] {
            distance[node] = candidate;
            queue.push(Reverse(u64::from(candidate.to_bits()) << 32 | node as u64));
        }
    }

    /// The upwind quadratic over the axes that have a known neighbor.
    fn solve(&self, node: usize, distance: &[f32], done: &[bool]) -> f64 {
        // per axis: weight w and target t of the term w^2 (d - t)^2
        let mut terms = [(0.0, f64::INFINITY); 3];
        let mut count = 0;
        for a in 0..3 {
            if let Some(term) = self.upwind(node, a, distance, done) {
                terms[count] = term;
                count += 1;
            }
        }
        let terms = &mut terms[..count];
        terms.sort_unstable_by(|x, y| x.1.total_cmp(&y.1));
        let (mut a, mut b, mut c) = (0.0, 0.0, -1.0);
        let mut best = f64::INFINITY;
        for &mut (weight, target) in terms {
            if target >= best {
                break;
            }
            let w = weight * weight;
            a += w;
            b += w * target;
            c += w * target * target;
            let root = b * b - a * c;
            if root < 0.0 {
                break;
            }
            best = (b + root.sqrt()) / a;
        }
        best
    }

    fn upwind(&self, node: usize, a: usize, distance: &[f32], done: &[bool]) -> Option<(f64, f64)> {
        let stride = self.strides[a];
        let at = node / stride % self.dims[a];
        let known = |open: bool, n: usize| (open && done[n]).then(|| f64::from(distance[n]));
        let low = known(at > 0, node.wrapping_sub(stride));
        let high = known(at + 1 < self.dims[a], node + stride);
        let (near, from_low) = match (low, high) {
            (Some(l), Some(h)) => (l.min(h), l <= h),
            (Some(l), None) => (l, true),
            (None, Some(h)) => (h, false),
            (None, None) => return None,
        };
        if self.order == UpwindOrder::Second {
            let far = if from_low {
                known(at > 1, node.wrapping_sub(2 * stride))
            } else {
                known(at + 2 < self.dims[a], node + 2 * stride)
            };
            if let Some(far) = far
                && far <= near
            {
                return Some((1.5, (4.0 * near - far) / 3.0));
            }
        }
        Some((1.0, near))
    }
}
