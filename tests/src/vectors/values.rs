//! Numbers, vectors and points of a JSON value, and errors of results.

use nalgebra::{Point3, Vector3};
use serde_json::Value;

pub(super) fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

pub(super) fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(numbers).collect(),
        value => vec![number(value)],
    }
}

pub(super) fn indices(value: &Value) -> Vec<u32> {
    numbers(value).into_iter().map(|x| x as u32).collect()
}

/// Rows of `N` indices.
pub(super) fn rows<const N: usize>(value: &Value) -> Vec<[u32; N]> {
    indices(value).as_chunks().0.to_vec()
}

pub(super) fn vectors(value: &Value) -> Vec<Vector3<f64>> {
    numbers(value).chunks(3).map(Vector3::from_column_slice).collect()
}

pub(super) fn points(value: &Value) -> Vec<Point3<f64>> {
    vectors(value).into_iter().map(Point3::from).collect()
}

pub(super) fn flat(vectors: &[Vector3<f64>]) -> Vec<f64> {
    vectors.iter().flat_map(|v| [v.x, v.y, v.z]).collect()
}

/// Largest difference over the largest expected magnitude.
pub(super) fn error(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let size = expected.iter().fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()));
    found.iter().zip(expected).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs())) / size
}
