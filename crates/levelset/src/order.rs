//! Integers in the order of numbers.

/// Maps numbers to integers in the order of [`f64::total_cmp`], as sort keys. All sorts with the same
/// key type are one instance of the sort.
///
/// ```
/// # use brisance_levelset::total_order;
/// let mut numbers = [2.0, -1.0, f64::INFINITY, 0.5];
/// numbers.sort_by_cached_key(|x| total_order(*x));
/// assert_eq!(numbers, [-1.0, 0.5, 2.0, f64::INFINITY]);
/// ```
pub fn total_order(x: f64) -> u64 {
    let bits = x.to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}
