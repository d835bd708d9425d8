//! Power laws of sizes (Clauset, Shalizi and Newman 2009).

use serde::Serialize;

/// A density proportional to `x^-exponent` from `least` on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PowerLaw {
    /// Maximum likelihood estimate (equation 3.1).
    pub exponent: f64,
    /// Its standard error (equation 3.2).
    pub error: f64,
    /// Lower bound of the law: among those that leave [`PowerLaw::LEAST`] sizes, the one with the
    /// least distance between law and data (section 3.3).
    pub least: f64,
    /// Number of sizes above the bound.
    pub count: usize,
    /// Kolmogorov-Smirnov distance between law and data (equation 3.9).
    pub distance: f64,
}

impl PowerLaw {
    /// Minimum number of sizes for a fit.
    pub const LEAST: usize = 10;

    /// Fits a law to positive sizes; `None` if there are too few, or all are equal.
    pub fn fit(sizes: &[f64]) -> Option<Self> {
        let mut sorted: Vec<f64> =
            sizes.iter().copied().filter(|x| *x > 0.0 && x.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().checked_sub(Self::LEAST)?;
        let starts = (0..=last).filter(|&n| n == 0 || sorted[n - 1] < sorted[n]);
        let fits = starts.filter_map(|n| Self::of_tail(&sorted[n..]));
        fits.min_by(|a, b| a.distance.total_cmp(&b.distance))
    }

    /// For sizes in ascending order, all within the bound of the law.
    fn of_tail(tail: &[f64]) -> Option<Self> {
        let (least, count) = (tail[0], tail.len());
        let logarithms: f64 = tail.iter().map(|x| (x / least).ln()).sum();
        if logarithms <= 0.0 {
            return None;
        }
        let exponent = 1.0 + count as f64 / logarithms;
        let error = (exponent - 1.0) / (count as f64).sqrt();
        let away = |(n, x): (usize, &f64)| {
            (n as f64 / count as f64 - (1.0 - (x / least).powf(1.0 - exponent))).abs()
        };
        let distance = tail.iter().enumerate().map(away).fold(0.0, f64::max);
        Some(Self { exponent, error, least, count, distance })
    }

    /// Complementary cumulative distribution: share of the sizes above [`PowerLaw::least`] that are
    /// at least `x`.
    pub fn share_above(&self, x: f64) -> f64 {
        (x / self.least).powf(1.0 - self.exponent)
    }
}
