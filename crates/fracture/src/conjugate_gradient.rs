//! Conjugate gradients for scalars: the multipliers of links and the loads of bonds.

/// Conjugate gradients from zero or a guess, with the matrix product in the caller: [`Self::turn`]
/// sets `direction`, the caller sets `image`, [`Self::advance`] takes the step. The best solution
/// so far is kept: in an inconsistent system the iterates approach it and then diverge.
pub(crate) struct ConjugateGradient {
    pub(crate) x: Vec<f64>,
    pub(crate) residual: Vec<f64>,
    pub(crate) direction: Vec<f64>,
    pub(crate) image: Vec<f64>,
    /// `r^T r` of the last step, and now. An ordered sum takes longer than the rest of a step, so
    /// none is computed twice.
    pub(crate) rho: f64,
    square: f64,
    /// The best solution, unless that is `x`.
    best: Vec<f64>,
    is_best: bool,
    pub(crate) least: f64,
}

impl ConjugateGradient {
    /// From zero.
    pub(crate) fn new(right: Vec<f64>) -> Self {
        let zeros = vec![0.0; right.len()];
        let [x, direction, image] = [zeros.clone(), zeros.clone(), zeros.clone()];
        let square = dot(&right, &right);
        let (best, least) = (zeros, square.sqrt());
        Self { x, residual: right, direction, image, rho: 0.0, square, best, is_best: true, least }
    }

    /// From a guess with this residual, if it is better than zero.
    pub(crate) fn try_start(&mut self, guess: Vec<f64>, residual: Vec<f64>) -> bool {
        let square = dot(&residual, &residual);
        let is_better = square.sqrt() < self.least;
        if is_better {
            (self.x, self.residual) = (guess, residual);
            (self.square, self.least) = (square, square.sqrt());
        }
        is_better
    }

    /// Sets the next direction; returns its share of the last one.
    pub(crate) fn turn(&mut self) -> f64 {
        let keep = if self.rho > 0.0 { self.square / self.rho } else { 0.0 };
        for (p, r) in self.direction.iter_mut().zip(&self.residual) {
            *p = r + keep * *p;
        }
        self.rho = self.square;
        keep
    }

    /// Takes the step along the direction. `curvature` is the scalar product of the direction and
    /// its image; `None` if it is not positive.
    pub(crate) fn advance(&mut self, curvature: f64) -> Option<f64> {
        if !(curvature > 0.0 && self.rho > 0.0) {
            return None;
        }
        let length = self.rho / curvature;
        if self.is_best {
            self.best.copy_from_slice(&self.x);
        }
        let mut square = 0.0;
        let steps = self.x.iter_mut().zip(&mut self.residual);
        for ((x, r), (p, q)) in steps.zip(self.direction.iter().zip(&self.image)) {
            *x += length * p;
            *r -= length * q;
            square += *r * *r;
        }
        self.square = square;
        self.is_best = self.size() < self.least;
        if self.is_best {
            self.least = self.size();
        }
        Some(length)
    }

    /// Norm of the residual.
    pub(crate) fn size(&self) -> f64 {
        self.square.sqrt()
    }

    pub(crate) fn into_best(self) -> Vec<f64> {
        if self.is_best { self.x } else { self.best }
    }
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
