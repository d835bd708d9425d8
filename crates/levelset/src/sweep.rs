//! Distance to scattered surface points by sweeping: each node passes its nearest point on to its
//! neighbors, plane by plane (after Danielsson 1980). Far from the surface this is more accurate
//! than marching, since it takes no differences, and it accesses memory in order.

/// A surface point close to a node, in cells from it.
#[derive(Clone, Copy)]
pub(crate) struct Anchor {
    pub(crate) node: u32,
    pub(crate) offset: [f32; 3],
}

/// Lowers every infinite entry of `distance` (in cells) to the distance to the nearest anchor.
/// Anchors are in the order of their nodes.
///
/// The sweeps up and down i are independent and run on two threads; a node's nearest point is on
/// one side of it.
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

/// The offsets of one row, to read.
struct View<'a> {
    x: &'a [f32],
    y: &'a [f32],
    z: &'a [f32],
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

    fn view(&self, j: usize, nz: usize) -> View<'_> {
        let range = j * nz..(j + 1) * nz;
        View { x: &self.x[range.clone()], y: &self.y[range.clone()], z: &self.z[range] }
    }

    /// Row `from` to read and row `to`, another, to change.
    fn two_rows(&mut self, from: usize, to: usize, nz: usize) -> (View<'_>, Row<'_>) {
        let split = |v| two_parts(v, from, to, nz);
        let (x, own_x) = split(&mut self.x);
        let (y, own_y) = split(&mut self.y);
        let (z, own_z) = split(&mut self.z);
        let (_, square) = split(&mut self.square);
        (View { x, y, z }, Row { x: own_x, y: own_y, z: own_z, square })
    }
}

/// Row `from` and row `to`, another.
fn two_parts(values: &mut [f32], from: usize, to: usize, nz: usize) -> (&[f32], &mut [f32]) {
    let (low, high) = values.split_at_mut(from.max(to) * nz);
    let low = &mut low[from.min(to) * nz..][..nz];
    let high = &mut high[..nz];
    if from < to { (low, high) } else { (high, low) }
}

impl Row<'_> {
    /// Takes the points of the row at `step` from here, relative to here, where they are nearer.
    fn pull(&mut self, from: &View<'_>, step: [f32; 3]) {
        let n = self.square.len();
        // own nodes k0..k0 + m face the other row's k1..k1 + m
        let (k0, k1) = if step[2] < 0.0 { (1, 0) } else { (0, usize::from(step[2] > 0.0)) };
        let m = n - k0.max(k1);
        let own = [&mut *self.x, self.y, self.z, self.square]
            .map(|v| v[k0..][..m].as_chunks_mut::<LANES>());
        let from = [from.x, from.y, from.z].map(|v| v[k1..][..m].as_chunks::<LANES>());
        let [(x, x_rest), (y, y_rest), (z, z_rest), (square, square_rest)] = own;
        let [(fx, fx_rest), (fy, fy_rest), (fz, fz_rest)] = from;
        for n in 0..square.len() {
            let from = [fx[n], fy[n], fz[n]];
            pull_nodes([&mut x[n], &mut y[n], &mut z[n], &mut square[n]], from, step);
        }
        for n in 0..square_rest.len() {
            let from = [[fx_rest[n]], [fy_rest[n]], [fz_rest[n]]];
            let own = [&mut x_rest[n], &mut y_rest[n], &mut z_rest[n], &mut square_rest[n]];
            pull_nodes(own.map(std::array::from_mut), from, step);
        }
    }

    /// Pulls from a row of the same plane, straight and along both diagonals.
    fn pull_all(&mut self, from: &View<'_>, step: f32) {
        for dk in [-1.0, 0.0, 1.0] {
            self.pull(from, [0.0, step, dk]);
        }
    }

    /// Passes points along the row, both ways. Mostly nothing changes, so that a branch is fastest.
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

/// Nodes of a row processed together, in vector registers.
const LANES: usize = 8;

/// [`Row::pull`] for a few nodes. Mostly none has a nearer point, and nothing is written.
#[inline(always)]
fn pull_nodes<const N: usize>(own: [&mut [f32; N]; 4], from: [[f32; N]; 3], step: [f32; 3]) {
    let [x, y, z, square] = own;
    let [u, v, w] = [0, 1, 2].map(|a: usize| from[a].map(|offset| offset + step[a]));
    let candidate: [f32; N] = std::array::from_fn(|n| u[n] * u[n] + v[n] * v[n] + w[n] * w[n]);
    if (0..N).fold(false, |any, n| any | (candidate[n] < square[n])) {
        for n in 0..N {
            let nearer = candidate[n] < square[n];
            x[n] = if nearer { u[n] } else { x[n] };
            y[n] = if nearer { v[n] } else { y[n] };
            z[n] = if nearer { w[n] } else { z[n] };
            square[n] = if nearer { candidate[n] } else { square[n] };
        }
    }
}

/// A sweep along i: the plane it has reached, and the one before.
struct Front {
    dims: [usize; 3],
    step: f32,
    here: Plane,
    before: Plane,
}

impl Front {
    fn new(dims: [usize; 3], step: f32) -> Self {
        let nodes = dims[1] * dims[2];
        Self { dims, step, here: Plane::new(nodes), before: Plane::new(nodes) }
    }

    /// Moves on to plane `i`.
    fn advance(&mut self, i: usize, anchors: &[Anchor]) {
        let [_, ny, nz] = self.dims;
        std::mem::swap(&mut self.here, &mut self.before);
        let (here, before) = (&mut self.here, &self.before);
        here.square.fill(NOWHERE * NOWHERE);
        for j in 0..ny {
            let mut to = here.row(j, nz);
            for dk in [0.0, -1.0, 1.0] {
                to.pull(&before.view(j, nz), [-self.step, 0.0, dk]);
            }
            if j > 0 {
                to.pull(&before.view(j - 1, nz), [-self.step, -1.0, 0.0]);
            }
            if j + 1 < ny {
                to.pull(&before.view(j + 1, nz), [-self.step, 1.0, 0.0]);
            }
        }
        self.add(i * ny * nz, anchors);
        let here = &mut self.here;
        here.row(0, nz).spread();
        for j in 1..ny {
            let (from, mut to) = here.two_rows(j - 1, j, nz);
            to.pull_all(&from, -1.0);
            to.spread();
        }
        for j in (1..ny).rev() {
            let (from, mut to) = here.two_rows(j, j - 1, nz);
            to.pull_all(&from, 1.0);
            to.spread();
        }
    }

    /// Adds the anchors of the plane whose first node is `base`.
    fn add(&mut self, base: usize, anchors: &[Anchor]) {
        let here = &mut self.here;
        let first = anchors.partition_point(|a| (a.node as usize) < base);
        for anchor in &anchors[first..] {
            let n = anchor.node as usize - base;
            if n >= here.square.len() {
                break;
            }
            let [x, y, z] = anchor.offset;
            let square = x * x + y * y + z * z;
            if square < here.square[n] {
                (here.x[n], here.y[n], here.z[n], here.square[n]) = (x, y, z, square);
            }
        }
    }
}
