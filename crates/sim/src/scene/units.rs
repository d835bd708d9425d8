//! The unit of each scene key, and the conversion of quantities and variables to plain numbers.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::deserializer::{ReadError, WANTS_NAME, deserialize};
use super::error::{names_wanted, nearest};
use super::quantity::{MAX_DEPTH, Quantity, evaluate, evaluate_at};
use super::{InvalidValue, SceneError};

/// Suffixes of key paths, without indices, and the unit of their numbers: `""` for shares and other
/// plain numbers, `"#"` for counts. The first match wins.
const KEYS: &[(&str, &[&str])] = &[
    // keys of one name with different meanings
    ("body.fracture.strength", &["N s"]),
    ("explode.impulse", &["Pa s"]),
    ("push.impulse", &["N s"]),
    ("copies.jitter", &["m"]),
    ("lattice.noise.frequency", &["1/m"]),
    ("joints.limits", &["deg", "m"]),
    ("motor.speed", &["rad/s", "m/s"]),
    ("motor.most", &["N m", "N"]),
    ("joints.anchor", &["m"]),
    ("camera.from", &["m"]),
    ("camera.keyframes.from", &["m"]),
    ("cut.from", &["m"]),
    ("cut.to", &["m"]),
    ("points.points", &["m"]),
    ("points.curves", &["m"]),
    ("body.alpha", &[""]),
    // lengths
    ("at", &["m"]),
    ("averaging", &["m"]),
    ("base", &["m"]),
    ("center", &["m"]),
    ("centre", &["m"]),
    ("collision_radius", &["m"]),
    ("across", &["m"]),
    ("corner", &["m"]),
    ("corners", &["m"]),
    ("depth", &["m"]),
    ("down", &["m"]),
    ("gap", &["m"]),
    ("half_extents", &["m"]),
    ("half_height", &["m"]),
    ("height", &["m"]),
    ("major", &["m"]),
    ("min_size", &["m"]),
    ("minor", &["m"]),
    ("mirror_at", &["m"]),
    ("mortar", &["m"]),
    ("offset", &["m"]),
    ("position", &["m"]),
    ("radius", &["m"]),
    ("reach", &["m"]),
    ("rolling_friction", &["m"]),
    ("rounding", &["m"]),
    ("scatter", &["m"]),
    ("second_anchor", &["m"]),
    ("size", &["m"]),
    ("sizes", &["m"]),
    ("spacing", &["m"]),
    ("spinning_friction", &["m"]),
    ("thickness", &["m"]),
    ("wall", &["m"]),
    ("width", &["m"]),
    // times and motion
    ("after", &["s"]),
    ("duration", &["s"]),
    ("time", &["s"]),
    ("fps", &["Hz"]),
    ("gravity", &["m/s^2"]),
    ("velocity", &["m/s"]),
    ("slower_than", &["m/s"]),
    ("resting_speed", &["m/s"]),
    ("rough_speed", &["m/s"]),
    ("settled_speed", &["m/s"]),
    ("angular_velocity", &["rad/s"]),
    ("degrees", &["deg"]),
    ("field_of_view", &["deg"]),
    ("turn_jitter", &["deg"]),
    // masses, forces and stress
    ("density", &["kg/m^3"]),
    ("break_force", &["N"]),
    ("break_torque", &["N m"]),
    ("break_impulse", &["N s"]),
    ("anchor_strength", &["Pa"]),
    ("hardening", &["Pa"]),
    ("stiffness", &["Pa"]),
    ("strength", &["Pa"]),
    ("yield_strength", &["Pa"]),
    ("young", &["Pa"]),
    ("toughness", &["Pa m^0.5"]),
    // plain numbers
    ("alpha", &[""]),
    ("amplitude", &[""]),
    ("axis", &[""]),
    ("bond", &[""]),
    ("clustering", &[""]),
    ("color", &[""]),
    ("colour", &[""]),
    ("compression", &[""]),
    ("damage", &[""]),
    ("energy_share", &[""]),
    ("darkest", &[""]),
    ("drag", &[""]),
    ("error_reduction", &[""]),
    ("factor", &[""]),
    ("frequency", &[""]),
    ("friction", &[""]),
    ("inner_color", &[""]),
    ("inner_colour", &[""]),
    ("ior", &[""]),
    ("jitter", &[""]),
    ("metallic", &[""]),
    ("min_share", &[""]),
    ("normal", &[""]),
    ("poisson", &[""]),
    ("push_out", &[""]),
    ("randomness", &[""]),
    ("resting_share", &[""]),
    ("restitution", &[""]),
    ("roughness", &[""]),
    ("slop", &[""]),
    ("spread", &[""]),
    ("stretch", &[""]),
    ("tau", &[""]),
    ("tilt", &[""]),
    ("transmission", &[""]),
    ("weakening", &[""]),
    // counts
    ("collision_sweeps", &["#"]),
    ("contact_sweeps", &["#"]),
    ("count", &["#"]),
    ("cracks", &["#"]),
    ("frames", &["#"]),
    ("generations", &["#"]),
    ("joint_sweeps", &["#"]),
    ("exact_products", &["#"]),
    ("max_bodies", &["#"]),
    ("max_count", &["#"]),
    ("max_new", &["#"]),
    ("nodes", &["#"]),
    ("pair_repeats", &["#"]),
    ("pieces", &["#"]),
    ("planes", &["#"]),
    ("push_sweeps", &["#"]),
    ("rings", &["#"]),
    ("row_sweeps", &["#"]),
    ("sectors", &["#"]),
    ("seed", &["#"]),
    ("shock_sweeps", &["#"]),
    ("smoothing", &["#"]),
    ("splinters", &["#"]),
    ("steps", &["#"]),
];

/// The possible units of the numbers of a scene key, as `["m"]` or `["deg", "m"]`: `""` for plain
/// numbers and `"#"` for counts. `None` for keys without numbers. `path` is that of the key without
/// indices, as `body.position`.
pub fn units(path: &str) -> Option<&'static [&'static str]> {
    let ends = |end: &str| {
        path.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('.'))
    };
    KEYS.iter().find(|(end, _)| ends(end)).map(|(_, units)| *units)
}

/// Reads TOML with the error messages of scenes. Strings stay strings: quantities with units and expressions of
/// variables are not evaluated.
///
/// # Errors
/// [`SceneError`] with line, column and key.
pub fn read_toml<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, SceneError> {
    let table = DeTable::parse(text).map_err(ReadError::from);
    table
        .and_then(deserialize)
        .map_err(|error| SceneError::from_read_error(text, &error, "the file"))
}

/// Reads TOML in which strings replace numbers: quantities with units, and expressions of the
/// file's variables.
pub(super) fn read<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, SceneError> {
    let scene_error = |error| SceneError::from_read_error(text, &error, "the scene");
    // replacements outlive the table that borrows them
    let mut numbers = Numbers::default();
    let mut table = DeTable::parse(text).map_err(|error| scene_error(error.into()))?;
    let found = variables(table.get_ref(), &mut numbers)
        .and_then(|known| find_in_table(table.get_ref(), ["", ""], &known, &mut numbers));
    found
        .map_err(|(key, problem)| SceneError::from_invalid(text, InvalidValue { key, problem }))?;
    replace_in_table(table.get_mut(), &numbers);
    deserialize(table).map_err(|error: ReadError| {
        let names = || names_at::<T>(text, &numbers, error.offset?);
        match (error.message == WANTS_NAME).then(names).flatten() {
            Some((offset, known)) => SceneError::of_name(text, offset, &known),
            None => scene_error(error),
        }
    })
}

/// The valid names for the value at `offset`, and its position. `serde` lists them only for a wrong
/// name.
fn names_at<T: serde::de::DeserializeOwned>(
    text: &str,
    numbers: &Numbers,
    offset: usize,
) -> Option<(usize, Vec<String>)> {
    let no_name = [(offset, "\"\"".to_owned())].into();
    let mut table = DeTable::parse(text).ok()?;
    replace_in_table(table.get_mut(), numbers);
    replace_in_table(table.get_mut(), &no_name);
    Some((offset, names_wanted(&deserialize::<T>(table).err()?.message)?))
}

/// The numbers that replace values, by the start of these in the text.
type Numbers = BTreeMap<usize, String>;

/// A key and the error in its value.
type Wrong = (String, String);

/// The values of the table `variables`.
fn variables(
    root: &DeTable<'_>,
    numbers: &mut Numbers,
) -> Result<BTreeMap<String, Quantity>, Wrong> {
    let table = root.iter().find(|(key, _)| key.get_ref() == "variables");
    let Some(DeValue::Table(table)) = table.map(|(_, table)| table.get_ref()) else {
        return Ok(BTreeMap::new());
    };
    let mut solver = Solver { texts: BTreeMap::new(), known: BTreeMap::new(), open: Vec::new() };
    for (name, value) in table {
        let key = || format!("variables.{}", name.get_ref());
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.get_ref().is_empty() || !name.get_ref().chars().all(is_name) {
            let problem = "has a name that `$` cannot name: use letters, digits and `_`".to_owned();
            return Err((key(), problem));
        }
        let text = match value.get_ref() {
            DeValue::String(text) => text.clone().into_owned(),
            DeValue::Integer(number) => number.to_string(),
            DeValue::Float(number) => number.to_string(),
            _ => return Err((key(), "must be a number or a quantity, as in \"20 cm\"".to_owned())),
        };
        solver.texts.insert(name.get_ref().to_string(), text);
    }
    for (name, value) in table {
        let quantity = solver.value(name.get_ref(), 0);
        let quantity = quantity.map_err(|why| (format!("variables.{}", name.get_ref()), why))?;
        numbers.insert(value.span().start, written(quantity.si_value(), false));
    }
    Ok(solver.known)
}

/// Evaluates variables that refer to each other.
struct Solver {
    texts: BTreeMap<String, String>,
    known: BTreeMap<String, Quantity>,
    open: Vec<String>,
}

impl Solver {
    fn value(&mut self, name: &str, depth: usize) -> Result<Quantity, String> {
        if let Some(value) = self.known.get(name) {
            return Ok(*value);
        }
        let Some(text) = self.texts.get(name).cloned() else {
            return Err(unknown(name, self.texts.keys().map(String::as_str)));
        };
        if self.open.iter().any(|open| open == name) {
            return Err(format!(
                "depends on `${name}`, which depends on itself: give one a number"
            ));
        }
        if depth > MAX_DEPTH {
            return Err(format!("names variables that name others more than {MAX_DEPTH} deep"));
        }
        self.open.push(name.to_owned());
        let value = evaluate_at(&text, depth, &mut |other, depth| self.value(other, depth + 1))?;
        self.open.pop();
        self.known.insert(name.to_owned(), value);
        Ok(value)
    }
}

fn unknown<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> String {
    match nearest(name, names) {
        Some(near) => format!("names no variable `${name}`, did you mean `${near}`?"),
        None => format!("names no variable `${name}`: define it in the table [variables]"),
    }
}

fn find_in_table(
    table: &DeTable<'_>,
    [full, plain]: [&str; 2],
    known: &BTreeMap<String, Quantity>,
    numbers: &mut Numbers,
) -> Result<(), Wrong> {
    for (key, value) in table {
        let [full, plain] = [full, plain].map(|path| match path {
            "" => key.get_ref().to_string(),
            path => format!("{path}.{}", key.get_ref()),
        });
        if plain != "variables" {
            find(value, [&full, &plain], known, numbers)?;
        }
    }
    Ok(())
}

/// Finds the strings that replace numbers; `full` is the path of a value and `plain` that without
/// indices.
fn find(
    value: &Spanned<DeValue<'_>>,
    [full, plain]: [&str; 2],
    known: &BTreeMap<String, Quantity>,
    numbers: &mut Numbers,
) -> Result<(), Wrong> {
    let text = match value.get_ref() {
        DeValue::Table(table) => return find_in_table(table, [full, plain], known, numbers),
        DeValue::Array(items) => {
            return items.iter().enumerate().try_for_each(|(n, item)| {
                find(item, [&format!("{full}[{n}]"), plain], known, numbers)
            });
        }
        DeValue::String(text) => text,
        _ => return Ok(()),
    };
    // other strings have the wrong type
    let may_be_number = text.contains(|c: char| c.is_ascii_digit() || c == '$');
    let Some(units) = units(plain).filter(|_| may_be_number) else { return Ok(()) };
    let with_key = |problem| (full.to_owned(), problem);
    let named = &mut |name: &str, _| match known.get(name) {
        Some(value) => Ok(*value),
        None => Err(unknown(name, known.keys().map(String::as_str))),
    };
    let quantity = evaluate(text, named).map_err(with_key)?;
    let is_count = units == ["#"];
    let value_in =
        |unit: &&str| quantity.value_in(if matches!(*unit, "" | "#") { "1" } else { unit });
    let Some(number) = units.iter().find_map(value_in) else {
        return Err(with_key(format!("is `{text}`, but must be {}", wanted(units))));
    };
    if is_count && (number.fract() != 0.0 || number.abs() > 2.0_f64.powi(53)) {
        return Err(with_key(format!(
            "is `{text}`, which makes {number}, but must be a whole number"
        )));
    }
    numbers.insert(value.span().start, written(number, is_count));
    Ok(())
}

fn wanted(units: &[&str]) -> String {
    match units {
        ["#" | ""] => "a number without a unit".to_owned(),
        units => format!("in {} or a unit of the same kind", units.join(" or ")),
    }
}

/// A number in TOML syntax.
fn written(number: f64, is_count: bool) -> String {
    if is_count { format!("{number:.0}") } else { format!("{number:?}") }
}

fn replace_in_table<'a>(table: &mut DeTable<'a>, numbers: &'a Numbers) {
    table.iter_mut().for_each(|(_, value)| replace(value, numbers));
}

/// Replaces values by numbers, which keep the position of the values in the text.
fn replace<'a>(value: &mut Spanned<DeValue<'a>>, numbers: &'a Numbers) {
    let start = value.span().start;
    match value.get_mut() {
        DeValue::Table(table) => replace_in_table(table, numbers),
        DeValue::Array(items) => items.iter_mut().for_each(|item| replace(item, numbers)),
        other => {
            if let Some(Ok(number)) = numbers.get(&start).map(|number| DeValue::parse(number)) {
                *other = number.into_inner();
            }
        }
    }
}
