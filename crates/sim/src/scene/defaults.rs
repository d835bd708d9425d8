//! Defaults of several parts of a scene.

/// The default axis.
pub(super) fn up() -> [f64; 3] {
    [0.0, 1.0, 0.0]
}

/// The default duration of an impact, s.
pub(super) fn millisecond() -> f64 {
    0.001
}
