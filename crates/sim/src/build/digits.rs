//! Numbers in warnings.

/// A count with one decimal, or "less than 0.1" where this would be 0.0.
pub(super) fn counted(count: f64, unit: &str) -> String {
    if count < 0.05 { format!("less than 0.1 {unit}") } else { format!("{count:.1} {unit}") }
}

/// Rounds down to two significant digits.
pub(super) fn rounded(x: f64) -> f64 {
    let unit = libm::pow(10.0, libm::log10(x).floor() - 1.0);
    // through text, so that no rounding digits show
    format!("{:.1e}", (x / unit).floor() * unit).parse().unwrap_or(x)
}
