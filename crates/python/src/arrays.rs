//! Arrays of numbers from and to NumPy.

use nalgebra::{Isometry3, Point3, Quaternion, Translation3, Unit, UnitVector3, Vector3};
use numpy::ndarray::{Array2, Dimension};
use numpy::{IntoPyArray, PyArray, PyArray2, PyArrayMethods, PyReadonlyArray};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyAny;
use sim::scene::MIN_NODES;

/// The largest magnitude of a coordinate, m.
const MAX_NUMBER: f64 = 1e30;

/// Converts a value to an array of numbers of type `T` with the given number of axes. `shape` is for the message.
pub(crate) fn numbers<'py, T: numpy::Element, D: Dimension>(
    value: &Bound<'py, PyAny>,
    name: &str,
    shape: &str,
) -> PyResult<PyReadonlyArray<'py, T, D>> {
    let py = value.py();
    let array_error =
        || PyTypeError::new_err(format!("`{name}` must be an array of numbers of shape {shape}"));
    let numpy = py.import("numpy")?;
    let array = numpy.call_method1("asarray", (value,)).map_err(|_| array_error())?;
    let dtype = array.getattr("dtype")?;
    let kind: String = dtype.getattr("kind")?.extract()?;
    if !["b", "i", "u", "f"].contains(&kind.as_str()) {
        return Err(array_error());
    }
    let axes: usize = array.getattr("ndim")?.extract()?;
    if D::NDIM.is_some_and(|wanted| axes != wanted) {
        let own = array.getattr("shape")?;
        return Err(PyValueError::new_err(format!("`{name}` must be of shape {shape}, not {own}")));
    }
    let array = array.call_method1("astype", (numpy::dtype::<T>(py),))?;
    Ok(array.cast_into::<PyArray<T, D>>().map_err(|_| array_error())?.readonly())
}

/// An array of rows of `N` finite numbers.
pub(crate) fn rows<const N: usize>(
    value: &Bound<'_, PyAny>,
    name: &str,
) -> PyResult<Vec<[f64; N]>> {
    let array = numbers::<f64, numpy::Ix2>(value, name, &format!("(n, {N})"))?;
    let array = array.as_array();
    let (count, width) = array.dim();
    if width != N {
        let problem = format!("`{name}` must be of shape (n, {N}), not ({count}, {width})");
        return Err(PyValueError::new_err(problem));
    }
    let mut all = Vec::with_capacity(count);
    for (n, row) in array.rows().into_iter().enumerate() {
        if !row.iter().all(|x| x.abs() <= MAX_NUMBER) {
            let problem =
                format!("`{name}[{n}]` has a number that is not finite, or is beyond 1e30");
            return Err(PyValueError::new_err(problem));
        }
        all.push(std::array::from_fn(|k| row[k]));
    }
    Ok(all)
}

/// Points, m, from an array of shape (n, 3).
pub(crate) fn points(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<Point3<f64>>> {
    Ok(rows::<3>(value, name)?.into_iter().map(Point3::from).collect())
}

/// Rows of `N` numbers of vertices, each below `count`.
pub(crate) fn indices<const N: usize>(
    value: &Bound<'_, PyAny>,
    name: &str,
    count: usize,
) -> PyResult<Vec<[u32; N]>> {
    let number = |(n, row): (usize, [f64; N])| {
        if let Some(x) = row.iter().find(|x| x.fract() != 0.0 || **x < 0.0 || **x >= count as f64) {
            let problem =
                format!("`{name}[{n}]` has {x}, but there are {count} vertices, numbered from 0");
            return Err(PyValueError::new_err(problem));
        }
        Ok(row.map(|x| x as u32))
    };
    rows::<N>(value, name)?.into_iter().enumerate().map(number).collect()
}

/// A finite number above 0.
pub(crate) fn positive(x: f64, name: &str) -> PyResult<f64> {
    if x > 0.0 && x.is_finite() {
        return Ok(x);
    }
    Err(PyValueError::new_err(format!("`{name}` must be above 0 and finite, not {x:?}")))
}

/// A positive length within the limits of shapes.
pub(crate) fn length(x: f64, name: &str) -> PyResult<f64> {
    if x > 0.0 && x <= MAX_NUMBER {
        return Ok(x);
    }
    Err(PyValueError::new_err(format!("`{name}` must be above 0 and at most 1e30 m, not {x:?}")))
}

/// Checks the number of nodes of a level set.
pub(crate) fn nodes(nodes: Option<usize>) -> PyResult<()> {
    match nodes {
        Some(nodes) if nodes < MIN_NODES => {
            let problem = format!("`nodes` must be at least {MIN_NODES}, not {nodes}");
            Err(PyValueError::new_err(problem))
        }
        _ => Ok(()),
    }
}

/// A finite vector.
pub(crate) fn vector(v: [f64; 3], name: &str) -> PyResult<Vector3<f64>> {
    if v.iter().all(|x| x.abs() <= MAX_NUMBER) {
        return Ok(v.into());
    }
    Err(PyValueError::new_err(format!(
        "`{name}` has a number that is not finite, or is beyond 1e30"
    )))
}

/// A direction.
pub(crate) fn direction(v: [f64; 3], name: &str) -> PyResult<UnitVector3<f64>> {
    UnitVector3::try_new(vector(v, name)?, 1e-300)
        .ok_or_else(|| PyValueError::new_err(format!("`{name}` must have a length above 0")))
}

/// A pose from `x, y, z, qx, qy, qz, qw`; the quaternion may be of any length but 0.
pub(crate) fn pose(p: [f64; 7], name: &str) -> PyResult<Isometry3<f64>> {
    let [x, y, z, i, j, k, w] = p;
    let place = vector([x, y, z], name)?;
    let turn = Quaternion::new(w, i, j, k);
    let turn = Unit::try_new(turn, 1e-300).filter(|turn| turn.coords.iter().all(|x| x.is_finite()));
    let turn = turn.ok_or_else(|| {
        PyValueError::new_err(format!(
            "`{name}` must end in a quaternion qx, qy, qz, qw that is not 0"
        ))
    })?;
    Ok(Isometry3::from_parts(Translation3::from(place), turn))
}

/// The inverse of [`pose_row`].
pub(crate) fn isometry(&[x, y, z, i, j, k, w]: &[f64; 7]) -> Isometry3<f64> {
    let turn = Unit::new_unchecked(Quaternion::new(w, i, j, k));
    Isometry3::from_parts(Translation3::new(x, y, z), turn)
}

/// `x, y, z, qx, qy, qz, qw`.
pub(crate) fn pose_row(pose: &Isometry3<f64>) -> [f64; 7] {
    let ([x, y, z], [i, j, k, w]): ([f64; 3], [f64; 4]) =
        (pose.translation.vector.into(), pose.rotation.coords.into());
    [x, y, z, i, j, k, w]
}

/// Rows as an array of shape (n, N).
pub(crate) fn array<'py, T: numpy::Element, const N: usize>(
    py: Python<'py>,
    rows: Vec<[T; N]>,
) -> Bound<'py, PyArray2<T>> {
    Array2::from(rows).into_pyarray(py)
}
