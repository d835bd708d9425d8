//! Conjugate gradients for scalars: the multipliers of links and the loads of bonds.

/// Conjugate gradients from zero or a guess, with the matrix product in the caller: [`Self::turn`]
/// sets `direction`, the caller sets `image`, [`Self::advance`] takes the step. The best solution
/// so far is kept: in an inconsistent system they approach it and then diverge.
pub(crate) struct ConjugateGradient {
    pub(crate) x: Vec<f64>,
    pub(crate) residual: Vec<f64>,
    pub(crate) direction: Vec<f64>,
    pub(crate) image: Vec<f64>,
    /// `r^T r` of the last step.
    pub(crate) rho: f64,
    pub(crate) best: Vec<f64>,
    pub(crate) least: f64,
}

impl ConjugateGradient {
    /// From zero.
    pub(crate) fn new(right: Vec<f64>) -> Self {
        let zeros = vec![0.0; right.len()];
        let [x, direction, image] = [zeros.clone(), zeros.clone(), zeros.clone()];
        let least = norm(&right);
        Self { x, residual: right, direction, image, rho: 0.0, best: zeros, least }
    }

    /// From a guess with this residual, if it is better than zero.
    pub(crate) fn try_start(&mut self, guess: Vec<f64>, residual: Vec<f64>) -> bool {
        let size = norm(&residual);
        let better = size < self.least;
        if better {
            self.best.copy_from_slice(&guess);
            (self.x, self.residual, self.least) = (guess, residual, size);
        }
        better
    }

    /// Sets the next direction; returns its share of the last one.
    pub(crate) fn turn(&mut self) -> f64 {
        let rho = dot(&self.residual, &self.residual);
        let keep = if self.rho > 0.0 { rho / self.rho } else { 0.0 };
        for (p, r) in self.direction.iter_mut().zip(&self.residual) {
            *p = r + keep * *p;
        }
        self.rho = rho;
        keep
    }

    /// Takes the step along the direction, whose image is known; `None` if it has no curvature.
    pub(crate) fn advance(&mut self) -> Option<f64> {
        let curvature = dot(&self.direction, &self.image);
        if !(curvature > 0.0 && self.rho > 0.0) {
            return None;
        }
        let length = self.rho / curvature;
        let steps = self.x.iter_mut().zip(&mut self.residual);
        for ((x, r), (p, q)) in steps.zip(self.direction.iter().zip(&self.image)) {
            *x += length * p;
            *r -= length * q;
        }
        let size = norm(&self.residual);
        if size < self.least {
            self.least = size;
            self.best.copy_from_slice(&self.x);
        }
        Some(length)
    }
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub(crate) fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}
