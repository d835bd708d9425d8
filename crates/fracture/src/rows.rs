//! Rows of values, lowered in place.

/// Takes the lesser of each value and a bound.
#[inline(always)]
pub(crate) fn lower_to(row: &mut [f32], bound: f32) {
    for value in row {
        *value = if bound < *value { bound } else { *value };
    }
}

/// Takes the lesser of each pair.
#[inline(always)]
pub(crate) fn lower(row: &mut [f32], other: &[f32]) {
    for (value, &other) in row.iter_mut().zip(other) {
        *value = if other < *value { other } else { *value };
    }
}
