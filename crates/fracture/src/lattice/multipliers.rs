//! Lagrange multipliers of distance constraints (Ku07 eqs. 5-14).

use nalgebra::{Point3, Vector3};

use crate::conjugate_gradient::ConjugateGradient;

/// Particles and the pairs with distance constraints.
#[derive(Clone, Copy, Debug)]
pub struct Links<'a> {
    /// Positions of the particles, m.
    pub positions: &'a [Point3<f64>],
    /// Inverse masses, 1/kg; 0 for a fixed particle.
    pub inverse_masses: &'a [f64],
    /// The pairs. The multiplier of a pair is 0 if its particles coincide or are both fixed.
    pub ends: &'a [[u32; 2]],
}

/// When conjugate gradients stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolverLimits {
    /// Sufficient norm of the residual, relative to the right-hand side.
    pub tolerance: f64,
    /// Largest number of iterations.
    pub max_iterations: usize,
}

/// Forces in the links, and their accuracy.
#[derive(Clone, Debug)]
pub struct Multipliers {
    /// The multipliers, N: positive pushes the ends apart (compression), negative pulls them
    /// together (tension).
    pub lambda: Vec<f64>,
    /// Norm of the residual of Ku07 eq. 14, relative to its right-hand side.
    pub residual: f64,
    /// Number of iterations of the conjugate gradients.
    pub iterations: usize,
}

/// Solves `J M^-1 J^T lambda = -dJ/dt v - J M^-1 Q` (Ku07 eq. 14) for forces `Q`, N, and
/// velocities `v`, m/s, by conjugate gradients within `limits`. Redundant links make the solution
/// ambiguous. The result is the solution of least norm.
///
/// A link's row of J holds the direction from its second end to its first, so the force on its
/// first end is `lambda` along it. Velocities that change a distance have no exact solution in
/// a lattice with redundant links: [`Links::projected`] removes the part that does.
///
/// # Panics
/// If lengths differ or a link has an unknown particle.
pub fn multipliers(
    links: &Links,
    forces: &[Vector3<f64>],
    velocities: Option<&[Vector3<f64>]>,
    limits: SolverLimits,
) -> Multipliers {
    let rows = Rows::new(links);
    let mut right = rows.pulled_apart(links.inverse_masses, forces);
    if let Some(velocities) = velocities {
        for (b, turn) in right.iter_mut().zip(rows.turning(links, velocities)) {
            *b -= turn;
        }
    }
    rows.solve(links.inverse_masses, &right, None, limits)
}

impl Links<'_> {
    /// The nearest velocities, in kinetic energy, that change no distance.
    ///
    /// # Panics
    /// As [`multipliers`].
    pub fn projected(
        &self,
        velocities: &[Vector3<f64>],
        limits: SolverLimits,
    ) -> Vec<Vector3<f64>> {
        let rows = Rows::new(self);
        let right: Vec<f64> = rows.apply(velocities).iter().map(|a| -a).collect();
        let solved = rows.solve(self.inverse_masses, &right, None, limits);
        let change = rows.transposed(&solved.lambda, self.positions.len());
        let moved = velocities.iter().zip(change).zip(self.inverse_masses);
        moved.map(|((v, j), w)| v + j * *w).collect()
    }

    /// The [`multipliers`] of particles at rest, warm-started from an earlier result, which may
    /// have had more links or other forces.
    ///
    /// `potential` has a vector for each particle, N; its differences along the links are the
    /// multipliers. All multipliers of least norm are such differences, which is not true for
    /// guessed multipliers.
    ///
    /// # Panics
    /// As [`multipliers`].
    pub fn multipliers_from(
        &self,
        potential: &mut [Vector3<f64>],
        forces: &[Vector3<f64>],
        limits: SolverLimits,
    ) -> Multipliers {
        let rows = Rows::new(self);
        let right = rows.pulled_apart(self.inverse_masses, forces);
        rows.solve(self.inverse_masses, &right, Some(Start { potential, forces }), limits)
    }

    /// `J^T lambda`: the forces of links on particles, N.
    ///
    /// # Panics
    /// As [`multipliers`].
    pub fn forces(&self, lambda: &[f64]) -> Vec<Vector3<f64>> {
        Rows::new(self).transposed(lambda, self.positions.len())
    }

    /// `J v`: the rates of distances, m/s.
    ///
    /// # Panics
    /// As [`multipliers`].
    pub fn stretching(&self, velocities: &[Vector3<f64>]) -> Vec<f64> {
        Rows::new(self).apply(velocities)
    }
}

/// The Jacobian J.
struct Rows {
    rows: Vec<Row>,
}

/// The row of a link: its ends, and the direction from the second end to the first.
struct Row {
    ends: [u32; 2],
    direction: Vector3<f64>,
}

impl Rows {
    fn new(links: &Links) -> Self {
        let row = |&[a, b]: &[u32; 2]| {
            let apart = links.positions[a as usize] - links.positions[b as usize];
            let free = links.inverse_masses[a as usize] + links.inverse_masses[b as usize] > 0.0;
            let direction = apart.try_normalize(0.0).filter(|_| free);
            Row { ends: [a, b], direction: direction.unwrap_or_default() }
        };
        Self { rows: links.ends.iter().map(row).collect() }
    }

    /// `J x`.
    fn apply(&self, x: &[Vector3<f64>]) -> Vec<f64> {
        let difference = |Row { ends: [a, b], direction }: &Row| {
            direction.dot(&(x[*a as usize] - x[*b as usize]))
        };
        self.rows.iter().map(difference).collect()
    }

    /// `J^T lambda`.
    fn transposed(&self, lambda: &[f64], particles: usize) -> Vec<Vector3<f64>> {
        let mut sums = vec![Vector3::zeros(); particles];
        self.scatter(lambda, &mut sums);
        sums
    }

    fn scatter(&self, lambda: &[f64], sums: &mut [Vector3<f64>]) {
        // links are sorted by their first ends, whose sum stays in registers
        let (mut first, mut sum) = (0, sums.first().copied().unwrap_or_default());
        for (Row { ends: [a, b], direction }, lambda) in self.rows.iter().zip(lambda) {
            let force = direction * *lambda;
            if *a as usize != first {
                sums[first] = sum;
                first = *a as usize;
                sum = sums[first];
            }
            sum += force;
            sums[*b as usize] -= force;
        }
        if let Some(own) = sums.get_mut(first) {
            *own = sum;
        }
    }

    /// `dJ/dt v`: change of distances by rotation alone, m/s^2.
    fn turning(&self, links: &Links, v: &[Vector3<f64>]) -> Vec<f64> {
        let of = |Row { ends, direction }: &Row| {
            let [a, b] = ends.map(|n| n as usize);
            let length = direction.dot(&(links.positions[a] - links.positions[b]));
            let apart = v[a] - v[b];
            let along = direction.dot(&apart);
            if length > 0.0 { (apart.norm_squared() - along * along) / length } else { 0.0 }
        };
        self.rows.iter().map(of).collect()
    }

    /// `-J M^-1 Q`: contraction of the links by the forces alone, m/s^2.
    fn pulled_apart(&self, inverse_masses: &[f64], forces: &[Vector3<f64>]) -> Vec<f64> {
        let pushed: Vec<_> = forces.iter().zip(inverse_masses).map(|(q, w)| q * *w).collect();
        self.apply(&pushed).iter().map(|a| -a).collect()
    }

    /// `M^-1 J^T lambda`: accelerations of the particles by the links alone, m/s^2.
    fn accelerations(&self, inverse_masses: &[f64], lambda: &[f64], out: &mut [Vector3<f64>]) {
        out.fill(Vector3::zeros());
        self.scatter(lambda, out);
        out.iter_mut().zip(inverse_masses).for_each(|(a, w)| *a *= *w);
    }

    fn solve(
        &self,
        inverse_masses: &[f64],
        right: &[f64],
        start: Option<Start>,
        SolverLimits { tolerance, max_iterations }: SolverLimits,
    ) -> Multipliers {
        let mut moved = vec![Vector3::zeros(); inverse_masses.len()];
        let mut state = ConjugateGradient::new(right.to_vec());
        let size = state.least;
        let mut potential = start.map(|Start { potential: sum, forces }| {
            let alone = forces.iter().zip(inverse_masses).map(|(q, w)| -(q * *w)).collect();
            let direction = vec![Vector3::zeros(); moved.len()];
            Potential { sum, direction, residual: alone }
        });
        if let Some(potential) = &mut potential {
            for (y, w) in potential.sum.iter_mut().zip(inverse_masses) {
                *y *= f64::from(*w > 0.0);
            }
            let guess = self.apply(potential.sum);
            self.accelerations(inverse_masses, &guess, &mut moved);
            let left = potential.residual.iter().zip(&moved);
            let left: Vec<_> = left.map(|(s, a)| s - a).collect();
            if state.try_start(guess, self.apply(&left)) {
                potential.residual = left;
            } else {
                potential.sum.fill(Vector3::zeros());
            }
        }
        let goal = tolerance * size;
        let mut iterations = 0;
        while state.least > goal && iterations < max_iterations {
            let keep = state.turn();
            self.accelerations(inverse_masses, &state.direction, &mut moved);
            let mut curvature = 0.0;
            let images = state.image.iter_mut().zip(&state.direction);
            for ((q, p), Row { ends: [a, b], direction }) in images.zip(&self.rows) {
                *q = direction.dot(&(moved[*a as usize] - moved[*b as usize]));
                curvature += p * *q;
            }
            let Some(length) = state.advance(curvature) else { break };
            if let Some(potential) = &mut potential {
                potential.advance(keep, length, &moved);
            }
            iterations += 1;
            // the residual is far above its least value: the search will not improve
            if state.size() > 1e3 * state.least {
                break;
            }
        }
        let residual = if size > 0.0 { state.least / size } else { 0.0 };
        Multipliers { lambda: state.into_best(), residual, iterations }
    }
}

/// Where a search starts.
struct Start<'a> {
    potential: &'a mut [Vector3<f64>],
    /// The right-hand side of the equation, N.
    forces: &'a [Vector3<f64>],
}

/// The potential whose differences are the solution, updated with it.
struct Potential<'a> {
    sum: &'a mut [Vector3<f64>],
    direction: Vec<Vector3<f64>>,
    residual: Vec<Vector3<f64>>,
}

impl Potential<'_> {
    fn advance(&mut self, keep: f64, length: f64, moved: &[Vector3<f64>]) {
        let steps = self.sum.iter_mut().zip(&mut self.direction);
        for (((y, t), s), a) in steps.zip(&mut self.residual).zip(moved) {
            *t = *s + *t * keep;
            *y += *t * length;
            *s -= *a * length;
        }
    }
}
