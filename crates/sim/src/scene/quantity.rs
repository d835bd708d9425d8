//! Numbers with units, and expressions of them: `"20 cm"`, `"2300 kg/m3"`, `"$height / 2"`.
//!
//! A unit is a quantity like any other, and implicit products precede divisions: `2300 kg/m3` is
//! `(2300 * kg) / m3`.

use super::error::nearest;

/// Limit of nested parentheses and of variables that refer to variables.
pub(super) const MAX_DEPTH: usize = 100;

/// A value and its dimension.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Quantity {
    /// The value in the base units is `over / under`: tenths as integers keep `35 cm` at 0.35.
    over: f64,
    under: f64,
    dimension: Dimension,
}

/// Exponents of meter, kilogram, second and degree, in halves.
type Dimension = [i16; 4];

const METER: Dimension = [2, 0, 0, 0];
const KILOGRAM: Dimension = [0, 2, 0, 0];
const SECOND: Dimension = [0, 0, 2, 0];
const DEGREE: Dimension = [0, 0, 0, 2];
const FORCE: Dimension = [2, 2, -4, 0];
const STRESS: Dimension = [-2, 2, -4, 0];
const ENERGY: Dimension = [4, 2, -4, 0];

/// Name, value in base units as a fraction, and dimension of each unit.
const UNITS: [(&str, f64, f64, Dimension); 38] = [
    ("m", 1.0, 1.0, METER),
    ("km", 1e3, 1.0, METER),
    ("dm", 1.0, 10.0, METER),
    ("cm", 1.0, 100.0, METER),
    ("mm", 1.0, 1e3, METER),
    ("um", 1.0, 1e6, METER),
    ("in", 254.0, 1e4, METER),
    ("ft", 3048.0, 1e4, METER),
    ("l", 1.0, 1e3, [6, 0, 0, 0]),
    ("kg", 1.0, 1.0, KILOGRAM),
    ("g", 1.0, 1e3, KILOGRAM),
    ("mg", 1.0, 1e6, KILOGRAM),
    ("t", 1e3, 1.0, KILOGRAM),
    ("lb", 45_359_237.0, 1e8, KILOGRAM),
    ("s", 1.0, 1.0, SECOND),
    ("ms", 1.0, 1e3, SECOND),
    ("us", 1.0, 1e6, SECOND),
    ("min", 60.0, 1.0, SECOND),
    ("h", 3600.0, 1.0, SECOND),
    ("Hz", 1.0, 1.0, [0, 0, -2, 0]),
    ("N", 1.0, 1.0, FORCE),
    ("mN", 1.0, 1e3, FORCE),
    ("kN", 1e3, 1.0, FORCE),
    ("MN", 1e6, 1.0, FORCE),
    ("Pa", 1.0, 1.0, STRESS),
    ("kPa", 1e3, 1.0, STRESS),
    ("MPa", 1e6, 1.0, STRESS),
    ("GPa", 1e9, 1.0, STRESS),
    ("bar", 1e5, 1.0, STRESS),
    ("J", 1.0, 1.0, ENERGY),
    ("kJ", 1e3, 1.0, ENERGY),
    ("deg", 1.0, 1.0, DEGREE),
    ("°", 1.0, 1.0, DEGREE),
    ("rad", 180.0, std::f64::consts::PI, DEGREE),
    ("rev", 360.0, 1.0, DEGREE),
    ("rpm", 6.0, 1.0, [0, 0, -2, 2]),
    ("%", 1.0, 100.0, [0; 4]),
    ("µm", 1.0, 1e6, METER),
];

impl Quantity {
    /// A number without a unit.
    pub(super) fn number(x: f64) -> Self {
        Self { over: x, under: 1.0, dimension: [0; 4] }
    }

    /// The value in meters, kilograms, seconds and degrees.
    pub(super) fn value(&self) -> f64 {
        self.over / self.under
    }

    /// The value in a unit, if it is a quantity of that kind; a plain number is its own value.
    pub(super) fn value_in(&self, unit: &str) -> Option<f64> {
        if self.dimension == [0; 4] {
            return Some(self.value());
        }
        let unit = evaluate(unit, &mut |_, _| Err(String::new())).ok()?;
        let ratio = self.times(&unit.inverse());
        (ratio.dimension == [0; 4]).then(|| ratio.value())
    }

    /// The value in SI units: angles in radians.
    pub(super) fn si_value(&self) -> f64 {
        let [.., degrees] = self.dimension;
        let radians = 1.0_f64.to_radians();
        match degrees {
            0 => self.value(),
            _ => self.value() * libm::pow(radians, f64::from(degrees) / 2.0),
        }
    }

    fn times(&self, other: &Self) -> Self {
        // far beyond the dimension of any key
        let sum = |k: usize| (self.dimension[k] + other.dimension[k]).clamp(-1000, 1000);
        let dimension = [sum(0), sum(1), sum(2), sum(3)];
        Self { over: self.over * other.over, under: self.under * other.under, dimension }
    }

    fn inverse(&self) -> Self {
        Self { over: self.under, under: self.over, dimension: self.dimension.map(|e| -e) }
    }

    /// Its power with an exponent that is a multiple of a half.
    fn power(&self, halves: i16) -> Option<Self> {
        let raised = |x: f64| {
            let whole = (0..halves.abs() / 2).fold(1.0, |product, _| product * x);
            if halves % 2 == 0 { whole } else { whole * x.sqrt() }
        };
        let mut dimension = [0; 4];
        for (raised, exponent) in dimension.iter_mut().zip(self.dimension) {
            let product = exponent.checked_mul(halves)?;
            *raised = (product % 2 == 0).then_some((product / 2).clamp(-1000, 1000))?;
        }
        let [over, under] = [raised(self.over), raised(self.under)];
        let [over, under] = if halves < 0 { [under, over] } else { [over, under] };
        Some(Self { over, under, dimension })
    }

    fn plus(&self, other: &Self) -> Option<Self> {
        (self.dimension == other.dimension).then(|| Self {
            over: self.value() + other.value(),
            under: 1.0,
            dimension: self.dimension,
        })
    }
}

/// Returns the value of a variable, from its name and the depth of the expression that refers to
/// it.
pub(super) type Variable<'a> = dyn FnMut(&str, usize) -> Result<Quantity, String> + 'a;

/// The value of an expression.
///
/// # Errors
/// An error message that follows the name of the key.
pub(super) fn evaluate(text: &str, variable: &mut Variable<'_>) -> Result<Quantity, String> {
    evaluate_at(text, 0, variable)
}

/// [`evaluate`] for an expression at a nesting depth.
pub(super) fn evaluate_at(
    text: &str,
    depth: usize,
    variable: &mut Variable<'_>,
) -> Result<Quantity, String> {
    let mut reader = Reader { text, rest: text, depth, variable };
    let value = reader.sum()?;
    match reader.peek() {
        None if value.value().is_finite() => Ok(value),
        None => Err("has no finite value: check its divisions and its size".to_owned()),
        Some(other) => Err(reader.unexpected(other)),
    }
}

struct Reader<'a, 'v> {
    text: &'a str,
    rest: &'a str,
    depth: usize,
    variable: &'a mut Variable<'v>,
}

impl Reader<'_, '_> {
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn takes(&mut self, wanted: &str) -> bool {
        self.peek();
        let rest = self.rest.strip_prefix(wanted);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Takes the longest prefix of the rest whose characters are `like`.
    fn run(&mut self, like: impl Fn(char) -> bool) -> &str {
        let (taken, rest) =
            self.rest.split_at(self.rest.find(|c| !like(c)).unwrap_or(self.rest.len()));
        self.rest = rest;
        taken
    }

    fn unexpected(&self, found: char) -> String {
        let at = self.text[..self.text.len() - self.rest.len()].chars().count() + 1;
        format!(
            "has an unexpected `{found}` at character {at} of `{}`: write it as in \"20 cm\", \
             \"2300 kg/m3\" or \"2 * $width + 1 cm\"",
            self.text
        )
    }

    fn sum(&mut self) -> Result<Quantity, String> {
        let mut sum = self.product()?;
        loop {
            let sign = match self.peek() {
                Some('+') => 1.0,
                Some('-') => -1.0,
                _ => return Ok(sum),
            };
            self.rest = &self.rest[1..];
            let term = self.product()?.times(&Quantity::number(sign));
            sum = sum.plus(&term).ok_or_else(|| {
                format!(
                    "adds quantities of different kinds in `{}`: give both the same unit",
                    self.text
                )
            })?;
        }
    }

    fn product(&mut self) -> Result<Quantity, String> {
        let mut product = self.row()?;
        loop {
            if self.takes("*") || self.takes("·") {
                product = product.times(&self.row()?);
            } else if self.takes("/") {
                product = product.times(&self.row()?.inverse());
            } else {
                return Ok(product);
            }
        }
    }

    /// An implicit product.
    fn row(&mut self) -> Result<Quantity, String> {
        if self.takes("-") {
            return Ok(self.nested(Self::row)?.times(&Quantity::number(-1.0)));
        }
        let mut product = self.power()?;
        while self.peek().is_some_and(|c| is_unit(c) || c == '$' || c == '(') {
            product = product.times(&self.power()?);
        }
        Ok(product)
    }

    fn nested(
        &mut self,
        part: impl Fn(&mut Self) -> Result<Quantity, String>,
    ) -> Result<Quantity, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("is nested more than {MAX_DEPTH} deep: split it"));
        }
        let value = part(self);
        self.depth -= 1;
        value
    }

    fn power(&mut self) -> Result<Quantity, String> {
        let (base, is_unit) = self.atom()?;
        let halves = if self.takes("^") {
            self.peek();
            let is_negative = self.takes("-");
            let digits = self.run(|c| c.is_ascii_digit() || c == '.');
            let twice = digits.parse::<f64>().ok().map(|x| 2.0 * x);
            let halves = twice.filter(|x| x.fract() == 0.0 && (0.0..=18.0).contains(x));
            halves.map(|x| if is_negative { -(x as i16) } else { x as i16 })
        } else {
            Some(match self.rest.chars().next() {
                Some('²') => 4,
                Some('³') => 6,
                // `m3`
                Some(c @ '1'..='9') if is_unit => 2 * c.to_digit(10).unwrap_or(1) as i16,
                _ => return Ok(base),
            })
            .inspect(|_| {
                self.rest = &self.rest[self.rest.chars().next().map_or(0, char::len_utf8)..];
            })
        };
        halves.and_then(|halves| base.power(halves)).ok_or_else(|| {
            format!("has a power in `{}` that is no multiple of a half up to 9", self.text)
        })
    }

    /// A number, a unit, a variable or an expression in parentheses, and whether it is a unit.
    fn atom(&mut self) -> Result<(Quantity, bool), String> {
        match self.peek() {
            Some(c) if c.is_ascii_digit() || c == '.' => {
                Ok((Quantity::number(self.number()?), false))
            }
            Some('$') => {
                self.rest = &self.rest[1..];
                let name = self.run(|c| c.is_ascii_alphanumeric() || c == '_').to_owned();
                Ok(((self.variable)(&name, self.depth)?, false))
            }
            Some('(') => {
                self.rest = &self.rest[1..];
                let value = self.nested(Self::sum)?;
                if self.takes(")") { Ok((value, false)) } else { Err(self.unclosed()) }
            }
            Some(c) if is_unit(c) => {
                let name = self.run(is_unit).to_owned();
                let known = UNITS.iter().find(|(unit, ..)| *unit == name);
                let Some(&(_, over, under, dimension)) = known else {
                    return Err(unknown_unit(&name));
                };
                Ok((Quantity { over, under, dimension }, true))
            }
            Some(other) => Err(self.unexpected(other)),
            None => {
                Err(format!("ends too early in `{}`: a number or a unit is missing", self.text))
            }
        }
    }

    fn unclosed(&self) -> String {
        format!("lacks a `)` in `{}`", self.text)
    }

    fn number(&mut self) -> Result<f64, String> {
        let text = self.rest;
        self.run(|c| c.is_ascii_digit() || c == '.' || c == '_');
        let exponent = self.rest.strip_prefix(['e', 'E']);
        let digits = exponent.map(|e| e.strip_prefix(['+', '-']).unwrap_or(e));
        if let Some(digits) =
            digits.filter(|digits| digits.starts_with(|c: char| c.is_ascii_digit()))
        {
            self.rest = digits;
            self.run(|c| c.is_ascii_digit());
        }
        let text = &text[..text.len() - self.rest.len()];
        let number = text.replace('_', "").parse().ok();
        number.ok_or_else(|| format!("holds `{text}`, which is no number"))
    }
}

fn is_unit(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '°' | 'µ' | '%')
}

fn unknown_unit(name: &str) -> String {
    let folded = |unit: &&str| unit.eq_ignore_ascii_case(name);
    let names = || UNITS.iter().map(|(unit, ..)| *unit);
    let near =
        names().find(folded).or_else(|| nearest(name, names().filter(|unit| unit.len() > 1)));
    match near {
        Some(near) => format!("has an unknown unit `{name}`, did you mean `{near}`?"),
        None => format!(
            "has an unknown unit `{name}`; known: {}",
            names().filter(|unit| unit.is_ascii()).collect::<Vec<_>>().join(", ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str, unit: &str) -> f64 {
        let known = &mut |name: &str, _| match name {
            "h" => evaluate("40 cm", &mut |_, _| unreachable!()),
            _ => Err(format!("names no variable `{name}`")),
        };
        let quantity = evaluate(text, known).unwrap_or_else(|why| panic!("{text}: {why}"));
        quantity.value_in(unit).unwrap_or_else(|| panic!("{text} is not in {unit}"))
    }

    /// Conversions by NIST SP 811, appendix B.
    #[test]
    #[allow(clippy::float_cmp, reason = "decimal fractions are to be exact")]
    fn units_have_the_values_of_the_si() {
        for (text, unit, expected) in [
            ("20 cm", "m", 0.2),
            ("35cm", "m", 0.35),
            ("2300 kg/m3", "kg/m^3", 2300.0),
            ("7.85 g/cm^3", "kg/m^3", 7850.0),
            ("1.2 kg/l", "kg/m^3", 1200.0),
            ("12 in", "m", 0.3048),
            ("36 km/h", "m/s", 10.0),
            ("30 deg", "deg", 30.0),
            ("-9.81 m/s²", "m/s^2", -9.81),
            ("33 MPa", "Pa", 33e6),
            ("0.8 MPa m^0.5", "Pa m^0.5", 8e5),
            ("5 N s", "N s", 5.0),
            ("5 kg m/s", "N s", 5.0),
            ("60 Hz", "Hz", 60.0),
            ("1e-3 m", "m", 1e-3),
            ("$h / 2", "m", 0.2),
            ("2 * $h + 10 cm", "m", 0.9),
            ("-($h - 1 m)", "m", 0.6),
            ("2 $h", "m", 0.8),
            ("$h^2", "m^2", 0.16),
            ("3 / 4", "m", 0.75),
            ("50 %", "%", 0.5),
        ] {
            let found = value(text, unit);
            assert!((found - expected).abs() <= 1e-15 * expected.abs(), "{text}: {found:e}");
        }
        let full_turn = value("60 rpm", "rad/s");
        assert!((full_turn - std::f64::consts::TAU).abs() < 1e-14);
        assert_eq!(value("35 cm", "m"), 0.35);
    }

    #[test]
    fn what_is_no_quantity_is_refused_in_a_sentence() {
        for (text, why) in [
            ("20 cmm", "unknown unit `cmm`, did you mean `cm`?"),
            ("20 PA", "did you mean `Pa`?"),
            ("20 parsec", "known: m, km"),
            ("1 m + 1 s", "different kinds"),
            ("1 + 1 m", "different kinds"),
            ("$g", "names no variable `g`"),
            ("(1", "lacks a `)`"),
            ("1 m)", "unexpected `)` at character 4"),
            ("", "ends too early"),
            ("1 / 0", "no finite value"),
            ("2 m^0.3", "multiple of a half"),
            ("1.2.3", "no number"),
            ("12 # 4", "unexpected `#`"),
        ] {
            let unknown = &mut |name: &str, _| Err(format!("names no variable `{name}`"));
            let error = evaluate(text, unknown).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
        let deep = format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000));
        let error = evaluate(&deep, &mut |_, _| unreachable!()).unwrap_err();
        assert!(error.contains("nested more than 100 deep"));
        assert_eq!(evaluate("20 cm", &mut |_, _| unreachable!()).unwrap().value_in("kg"), None);
    }
}
