//! Defaults of several parts of a scene.

/// The default axis.
pub(super) fn up() -> [f64; 3] {
    [0.0, 1.0, 0.0]
}

/// How long a blow lasts unless given, s.
pub(super) fn millisecond() -> f64 {
    0.001
}
