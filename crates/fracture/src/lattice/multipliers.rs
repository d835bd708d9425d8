//! Lagrange multipliers of distance constraints (Ku07 eqs. 5-14).

use nalgebra::{Point3, Vector3};

/// Particles and the pairs of them that keep their distance.
#[derive(Clone, Copy, Debug)]
pub struct Links<'a> {
    /// Where the particles are, m.
    pub positions: &'a [Point3<f64>],
    /// One over their masses, 1/kg; 0 for a particle that nothing moves.
    pub inverse_masses: &'a [f64],
    /// The pairs. Of pairs at the same place, or that nothing moves, the multiplier is 0.
    pub ends: &'a [[u32; 2]],
}

/// Which solution is sought where there is more than one: links that do the same work can share
/// their force in many ways.
#[derive(Clone, Copy, Debug)]
pub enum Seek<'a> {
    /// The one of least norm, by plain conjugate gradients from zero.
    LeastNorm,
    /// The one found first from a guess, by preconditioned conjugate gradients: the same, and
    /// sooner, where there is only one.
    From(&'a [f64]),
}

/// Forces in the links, and how well they are known.
#[derive(Clone, Debug)]
pub struct Multipliers {
    /// The multipliers, N: positive pushes the ends apart (compression), negative pulls them
    /// together (tension).
    pub lambda: Vec<f64>,
    /// Norm of what is left of Ku07 eq. 14, relative to its right side.
    pub residual: f64,
    /// Steps of the conjugate gradients.
    pub iterations: usize,
}

/// Solves `J M^-1 J^T lambda = -dJ/dt v - J M^-1 Q` (Ku07 eq. 14) for forces `Q`, N, and
/// velocities `v`, m/s, until the relative residual is at most `tolerance` or for `most` steps.
///
/// A link's row of J holds the direction from its second end to its first, so the force on its
/// first end is `lambda` along it. Velocities that change a distance have no exact solution in
/// a lattice with too many links: [`Links::projected`] takes away what does.
///
/// # Panics
/// If lengths differ or a link names a particle that does not exist.
pub fn multipliers(
    links: &Links,
    forces: &[Vector3<f64>],
    velocities: Option<&[Vector3<f64>]>,
    seek: Seek,
    (tolerance, most): (f64, usize),
) -> Multipliers {
    let rows = Rows::new(links);
    let pushed: Vec<_> = forces.iter().zip(links.inverse_masses).map(|(q, w)| q * *w).collect();
    let mut right: Vec<f64> = rows.apply(&pushed).iter().map(|a| -a).collect();
    if let Some(velocities) = velocities {
        for (b, turn) in right.iter_mut().zip(rows.turning(links, velocities)) {
            *b -= turn;
        }
    }
    rows.solve(links.inverse_masses, &right, seek, (tolerance, most))
}

impl Links<'_> {
    /// The nearest velocities, in kinetic energy, that change no distance.
    ///
    /// # Panics
    /// As [`multipliers`].
    pub fn projected(
        &self,
        velocities: &[Vector3<f64>],
        (tolerance, most): (f64, usize),
    ) -> Vec<Vector3<f64>> {
        let rows = Rows::new(self);
        let right: Vec<f64> = rows.apply(velocities).iter().map(|a| -a).collect();
        let solved = rows.solve(self.inverse_masses, &right, Seek::LeastNorm, (tolerance, most));
        let change = rows.transposed(&solved.lambda, self.positions.len());
        let moved = velocities.iter().zip(change).zip(self.inverse_masses);
        moved.map(|((v, j), w)| v + j * *w).collect()
    }

    /// `J^T lambda`: what links do to particles, N.
    ///
    /// # Panics
    /// As [`multipliers`].
    pub fn forces(&self, lambda: &[f64]) -> Vec<Vector3<f64>> {
        Rows::new(self).transposed(lambda, self.positions.len())
    }

    /// `J v`: how fast distances grow, m/s.
    ///
    /// # Panics
    /// As [`multipliers`].
    pub fn stretching(&self, velocities: &[Vector3<f64>]) -> Vec<f64> {
        Rows::new(self).apply(velocities)
    }
}

/// The Jacobian J: for each link its ends and the direction between them.
struct Rows {
    rows: Vec<([u32; 2], Vector3<f64>)>,
}

impl Rows {
    fn new(links: &Links) -> Self {
        let row = |&[a, b]: &[u32; 2]| {
            let apart = links.positions[a as usize] - links.positions[b as usize];
            let free = links.inverse_masses[a as usize] + links.inverse_masses[b as usize] > 0.0;
            let direction = apart.try_normalize(0.0).filter(|_| free);
            ([a, b], direction.unwrap_or_default())
        };
        Self { rows: links.ends.iter().map(row).collect() }
    }

    /// `J x`.
    fn apply(&self, x: &[Vector3<f64>]) -> Vec<f64> {
        self.rows.iter().map(|([a, b], u)| u.dot(&(x[*a as usize] - x[*b as usize]))).collect()
    }

    /// `J^T lambda`.
    fn transposed(&self, lambda: &[f64], particles: usize) -> Vec<Vector3<f64>> {
        let mut sums = vec![Vector3::zeros(); particles];
        self.scatter(lambda, &mut sums);
        sums
    }

    fn scatter(&self, lambda: &[f64], sums: &mut [Vector3<f64>]) {
        for (([a, b], u), lambda) in self.rows.iter().zip(lambda) {
            let force = u * *lambda;
            sums[*a as usize] += force;
            sums[*b as usize] -= force;
        }
    }

    /// `dJ/dt v`: what turning alone does to distances, m/s^2.
    fn turning(&self, links: &Links, v: &[Vector3<f64>]) -> Vec<f64> {
        let of = |([a, b], u): &([u32; 2], Vector3<f64>)| {
            let (a, b) = (*a as usize, *b as usize);
            let length = u.dot(&(links.positions[a] - links.positions[b]));
            let apart = v[a] - v[b];
            let along = u.dot(&apart);
            if length > 0.0 { (apart.norm_squared() - along * along) / length } else { 0.0 }
        };
        self.rows.iter().map(of).collect()
    }

    fn diagonal(&self, inverse_masses: &[f64]) -> Vec<f64> {
        let of = |([a, b], u): &([u32; 2], Vector3<f64>)| {
            u.norm_squared() * (inverse_masses[*a as usize] + inverse_masses[*b as usize])
        };
        self.rows.iter().map(of).collect()
    }

    fn solve(
        &self,
        inverse_masses: &[f64],
        right: &[f64],
        seek: Seek,
        (tolerance, most): (f64, usize),
    ) -> Multipliers {
        let scale: Vec<f64> = match seek {
            Seek::LeastNorm => vec![1.0; right.len()],
            Seek::From(_) => {
                let invert = |d: &f64| if *d > 0.0 { 1.0 / d } else { 0.0 };
                self.diagonal(inverse_masses).iter().map(invert).collect()
            }
        };
        let mut work = vec![Vector3::zeros(); inverse_masses.len()];
        let mut product = |x: &[f64], out: &mut [f64]| {
            work.fill(Vector3::zeros());
            self.scatter(x, &mut work);
            work.iter_mut().zip(inverse_masses).for_each(|(w, m)| *w *= *m);
            for (out, ([a, b], u)) in out.iter_mut().zip(&self.rows) {
                *out = u.dot(&(work[*a as usize] - work[*b as usize]));
            }
        };
        let mut state = Gradients::start(right, seek, &mut product);
        let size = norm(right);
        let goal = tolerance * size;
        let mut iterations = 0;
        while state.least > goal && iterations < most && state.step(&scale, &mut product) {
            iterations += 1;
        }
        let residual = if size > 0.0 { state.least / size } else { 0.0 };
        Multipliers { lambda: state.best, residual, iterations }
    }
}

/// Conjugate gradients, and the best solution so far: in a system without a solution they come
/// near and then run away.
struct Gradients {
    x: Vec<f64>,
    residual: Vec<f64>,
    direction: Vec<f64>,
    image: Vec<f64>,
    /// `r^T P r` of the last step.
    rho: f64,
    best: Vec<f64>,
    least: f64,
}

impl Gradients {
    fn start(right: &[f64], seek: Seek, product: &mut impl FnMut(&[f64], &mut [f64])) -> Self {
        let mut image = vec![0.0; right.len()];
        let x = match seek {
            Seek::LeastNorm => vec![0.0; right.len()],
            Seek::From(guess) => guess.to_vec(),
        };
        assert_eq!(x.len(), right.len(), "a guess for each link");
        if matches!(seek, Seek::From(_)) {
            product(&x, &mut image);
        }
        let residual: Vec<f64> = right.iter().zip(&image).map(|(b, a)| b - a).collect();
        let least = norm(&residual);
        let direction = vec![0.0; right.len()];
        Self { best: x.clone(), x, residual, direction, image, rho: 0.0, least }
    }

    /// Whether there was anything to gain.
    fn step(&mut self, scale: &[f64], product: &mut impl FnMut(&[f64], &mut [f64])) -> bool {
        let weighted = self.residual.iter().zip(scale).map(|(r, s)| r * r * s);
        let rho: f64 = weighted.sum();
        let keep = if self.rho > 0.0 { rho / self.rho } else { 0.0 };
        for ((p, r), s) in self.direction.iter_mut().zip(&self.residual).zip(scale) {
            *p = r * s + keep * *p;
        }
        self.rho = rho;
        product(&self.direction, &mut self.image);
        let curvature = dot(&self.direction, &self.image);
        if !(curvature > 0.0 && rho > 0.0) {
            return false;
        }
        let length = rho / curvature;
        for ((x, r), (p, q)) in
            self.x.iter_mut().zip(&mut self.residual).zip(self.direction.iter().zip(&self.image))
        {
            *x += length * p;
            *r -= length * q;
        }
        let size = norm(&self.residual);
        if size < self.least {
            self.least = size;
            self.best.copy_from_slice(&self.x);
        }
        // far from the best, nothing better will come
        size <= 1e3 * self.least
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}
