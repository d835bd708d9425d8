//! Formatting of numbers and counts for people.

/// `x` with four significant digits, without trailing zeros; with an exponent below 1e-4 and from
/// 1e7 on.
pub(crate) fn number(x: f64) -> String {
    const DIGITS: i32 = 4;
    let scientific = format!("{x:.*e}", DIGITS as usize - 1);
    let Some((mantissa, exponent)) = scientific.split_once('e') else {
        // not finite
        return scientific;
    };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if !(-4..7).contains(&exponent) {
        return format!("{}e{exponent}", without_zeros(mantissa));
    }
    // parsed back, so that digits beyond the fourth are zeros
    let rounded: f64 = scientific.parse().unwrap_or(x);
    let decimals = (DIGITS - 1 - exponent).max(0) as usize;
    without_zeros(&format!("{rounded:.decimals$}")).to_owned()
}

fn without_zeros(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

/// Coordinates in the format of options.
pub(crate) fn place(p: &nalgebra::Point3<f64>) -> String {
    format!("{},{},{}", number(p.x), number(p.y), number(p.z))
}

/// `1 body`, `1,000 bodies`.
pub(crate) fn count(n: usize, singular: &str, plural: &str) -> String {
    format!("{} {}", grouped(n), if n == 1 { singular } else { plural })
}

/// `n` with a comma before every three digits.
fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_significant_digits() {
        for (x, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (-1.5, "-1.5"),
            (9.287_107_184_335_639, "9.287"),
            (194.288_371_812_418_86, "194.3"),
            (0.999_96, "1"),
            (9_999.6, "10000"),
            (123_456.0, "123500"),
            (1e7, "1e7"),
            (1.234_56e20, "1.235e20"),
            (0.000_123_45, "0.0001234"),
            (0.000_012_345, "1.234e-5"),
            (29.97, "29.97"),
            (f64::INFINITY, "inf"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(number(x), text, "{x:?}");
        }
    }

    #[test]
    fn one_is_singular_and_thousands_have_commas() {
        for (n, text) in [
            (0, "0 bodies"),
            (1, "1 body"),
            (2, "2 bodies"),
            (999, "999 bodies"),
            (1_000, "1,000 bodies"),
            (1_234_567, "1,234,567 bodies"),
        ] {
            assert_eq!(count(n, "body", "bodies"), text);
        }
    }
}
