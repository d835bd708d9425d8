//! Distance to scattered surface points by sweeping: each node hands its nearest point on to its
//! neighbours, plane by plane (after Danielsson 1980). Far from the surface this is more accurate
//! than marching, since no differences are taken, and it visits memory in order.

/// A surface point close to a node, in cells from it.
#[derive(Clone, Copy)]
pub(crate) struct Anchor {
    pub(crate) node: u32,
    pub(crate) offset: [f32; 3],
}

/// Lowers every entry of `distance` (in cells) to the distance to the nearest anchor, but for the
/// finite ones, which stay. Anchors come in order of their nodes.
///
/// The sweeps up and down i are independent, so that two threads take them; a node's nearest
/// point is on one side of it.
pub(crate) fn sweep(distance: &mut [f32], dims: [usize; 3], anchors: &[Anchor]) {
    let plane = dims[1] * dims[2];
    let mut up = vec![0.0; distance.len()];
    let mut down = vec![0.0; distance.len()];
    rayon::join(
        || {
            let mut front = Front::new(dims, 1.0);
            for (i, out) in up.chunks_exact_mut(plane).enumerate() {
                front.advance(i, anchors);
                out.copy_from_slice(&front.here.square);
            }
        },
        || {
            let mut front = Front::new(dims, -1.0);
            for (i, out) in down.chunks_exact_mut(plane).enumerate().rev() {
                front.advance(i, anchors);
                out.copy_from_slice(&front.here.square);
            }
        },
    );
    for ((d, up), down) in distance.iter_mut().zip(up).zip(down) {
        if d.is_infinite() {
            *d = up.min(down).sqrt();
        }
    }
}

/// Per node of a plane, the offset to its nearest point so far and that offset's squared length.
struct Plane {
    x: Vec<f32>,
    y: Vec<f32>,
    z: Vec<f32>,
    square: Vec<f32>,
}

/// One row of a plane.
struct Row<'a> {
    x: &'a mut [f32],
    y: &'a mut [f32],
    z: &'a mut [f32],
    square: &'a mut [f32],
}

/// Farther than any node from any point, and with a finite square.
const NOWHERE: f32 = 1e15;

impl Plane {
    fn new(nodes: usize) -> Self {
        let far = || vec![NOWHERE; nodes];
        Self { x: far(), y: far(), z: far(), square: vec![NOWHERE * NOWHERE; nodes] }
    }

    fn row(&mut self, j: usize, nz: usize) -> Row<'_> {
        let range = j * nz..(j + 1) * nz;
        Row {
            x: &mut self.x[range.clone()],
            y: &mut self.y[range.clone()],
            z: &mut self.z[range.clone()],
            square: &mut self.square[range],
        }
    }

    /// Rows `from` and `to`, which differ.
    fn two_rows(&mut self, from: usize, to: usize, nz: usize) -> (Row<'_>, Row<'_>) {
        let mut halves = [&mut self.x, &mut self.y, &mut self.z, &mut self.square].map(|v| {
            let (low, high) = v.split_at_mut(from.max(to) * nz);
            let low = &mut low[from.min(to) * nz..][..nz];
            let high = &mut high[..nz];
            Some(if from < to { (low, high) } else { (high, low) })
        });
        let mut take = |n: usize| halves[n].take().expect("each taken once");
        let ((x0, x1), (y0, y1), (z0, z1), (s0, s1)) = (take(0), take(1), take(2), take(3));
        (Row { x: x0, y: y0, z: z0, square: s0 }, Row { x: x1, y: y1, z: z1, square: s1 })
    }
}

impl Row<'_> {
    /// Takes the other row's points, seen from here, where they are nearer.
    fn pull(&mut self, from: &Row<'_>, step: [f32; 3]) {
        let n = self.square.len();
        let own = (&mut self.x[..n], &mut self.y[..n], &mut self.z[..n], &mut self.square[..n]);
        let theirs = (&from.x[..n], &from.y[..n], &from.z[..n]);
        for k in 0..n {
            let (x, y, z) = (theirs.0[k] - step[0], theirs.1[k] - step[1], theirs.2[k] - step[2]);
            let square = x * x + y * y + z * z;
            let nearer = square < own.3[k];
            own.0[k] = if nearer { x } else { own.0[k] };
            own.1[k] = if nearer { y } else { own.1[k] };
            own.2[k] = if nearer { z } else { own.2[k] };
            own.3[k] = if nearer { square } else { own.3[k] };
        }
    }

    /// Hands points along the row, both ways. Mostly nothing changes, so a branch is quickest.
    fn spread(&mut self) {
        let n = self.square.len();
        for k in 1..n {
            self.hand(k - 1, k, 1.0);
        }
        for k in (1..n).rev() {
            self.hand(k, k - 1, -1.0);
        }
    }

    fn hand(&mut self, from: usize, to: usize, step: f32) {
        let (x, y, z) = (self.x[from], self.y[from], self.z[from] - step);
        let square = x * x + y * y + z * z;
        if square < self.square[to] {
            self.x[to] = x;
            self.y[to] = y;
            self.z[to] = z;
            self.square[to] = square;
        }
    }
}

/// A sweep along i: the plane it has reached.
struct Front {
    dims: [usize; 3],
    step: f32,
    here: Plane,
}

impl Front {
    fn new(dims: [usize; 3], step: f32) -> Self {
        Self { dims, step, here: Plane::new(dims[1] * dims[2]) }
    }

    /// Moves on to plane `i`.
    fn advance(&mut self, i: usize, anchors: &[Anchor]) {
        let [_, ny, nz] = self.dims;
        let here = &mut self.here;
        for n in 0..ny * nz {
            let (y, z) = (here.y[n], here.z[n]);
            let x = here.x[n] - self.step;
            here.x[n] = x;
            here.square[n] = x * x + y * y + z * z;
        }
        let base = i * ny * nz;
        let first = anchors.partition_point(|a| (a.node as usize) < base);
        for anchor in &anchors[first..] {
            let n = anchor.node as usize - base;
            if n >= ny * nz {
                break;
            }
            let [x, y, z] = anchor.offset;
            let square = x * x + y * y + z * z;
            if square < here.square[n] {
                (here.x[n], here.y[n], here.z[n], here.square[n]) = (x, y, z, square);
            }
        }
        here.row(0, nz).spread();
        for j in 1..ny {
            let (from, mut to) = here.two_rows(j - 1, j, nz);
            to.pull(&from, [0.0, 1.0, 0.0]);
            to.spread();
        }
        for j in (1..ny).rev() {
            let (from, mut to) = here.two_rows(j, j - 1, nz);
            to.pull(&from, [0.0, -1.0, 0.0]);
            to.spread();
        }
    }
}
