//! Numbers in warnings.

/// A count with one decimal; counts that would round to zero are named as such.
pub(super) fn counted(count: f64, unit: &str) -> String {
    if count < 0.05 { format!("less than 0.1 {unit}") } else { format!("{count:.1} {unit}") }
}

/// Rounds down to two significant digits.
pub(super) fn rounded(x: f64) -> f64 {
    let unit = libm::pow(10.0, libm::log10(x).floor() - 1.0);
    // through text, so that no rounding digits show
    format!("{:.1e}", (x / unit).floor() * unit).parse().unwrap_or(x)
}
