//! Errors in scene files, and their positions.

use std::ops::Range;

use thiserror::Error;
use toml::de::{DeTable, DeValue};

use super::deserializer::{ReadError, WANTS_NAME, WANTS_ONE_KIND};

/// A position in a text, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextPosition {
    /// Line.
    pub line: usize,
    /// Column, in characters.
    pub column: usize,
}

impl std::fmt::Display for TextPosition {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

impl TextPosition {
    /// The position of byte `offset` of `text`.
    pub(super) fn of(text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

/// Why a scene was rejected.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SceneError {
    /// The text is not TOML.
    #[error("{place}: not valid TOML: {problem}")]
    Syntax {
        /// Position at which the parser stopped.
        place: TextPosition,
        /// What it found and what it expected.
        problem: String,
    },
    /// An unknown key.
    #[error("{place}: unknown key `{key}`{}", hint(nearest, known))]
    Unknown {
        /// Its position.
        place: TextPosition,
        /// Path of the key, as in `body[2].color`.
        key: String,
        /// The most similar valid key, if any.
        nearest: Option<String>,
        /// All valid keys at the position.
        known: Vec<String>,
    },
    /// A value that is none of the choices of its key.
    #[error("{place}: `{key}` cannot be \"{value}\"{}", choices(nearest, known))]
    Choice {
        /// Its position.
        place: TextPosition,
        /// Path of the key, as in `simulation.solver`.
        key: String,
        /// The value.
        value: Box<str>,
        /// The most similar choice, if any.
        nearest: Option<Box<str>>,
        /// All choices.
        known: Vec<String>,
    },
    /// A value that is missing, of the wrong type, or invalid.
    #[error("{place}: {invalid}")]
    Value {
        /// Its position, or that of the table in which it is missing.
        place: TextPosition,
        /// The key and what to do.
        invalid: InvalidValue,
    },
}

/// An invalid value of a scene.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("`{key}` {problem}")]
pub struct InvalidValue {
    /// Path of the key, as in `body[2].density`.
    pub key: String,
    /// What is wrong and what to do, as the rest of a sentence.
    pub problem: String,
}

fn hint(nearest: &Option<String>, known: &[String]) -> String {
    match nearest {
        Some(name) => format!(", did you mean `{name}`?"),
        None => format!("; valid here: {}", known.join(", ")),
    }
}

fn choices(nearest: &Option<Box<str>>, known: &[String]) -> String {
    match nearest {
        Some(name) => format!("; did you mean \"{name}\"?"),
        None => {
            let known: Vec<String> = known.iter().map(|name| format!("\"{name}\"")).collect();
            format!("; valid here: {}", known.join(", "))
        }
    }
}

impl SceneError {
    /// The problem without its position, for texts that are not from a file.
    pub fn problem(&self) -> String {
        let (Self::Syntax { place, .. }
        | Self::Unknown { place, .. }
        | Self::Choice { place, .. }
        | Self::Value { place, .. }) = self;
        let text = self.to_string();
        text.strip_prefix(&format!("{place}: ")).unwrap_or(&text).to_owned()
    }

    /// `whole` is the name of the text, for keys outside of tables.
    pub(super) fn from_read_error(text: &str, error: &ReadError, whole: &str) -> Self {
        let offset = error.offset.unwrap_or(0);
        let place = TextPosition::of(text, offset);
        let Ok(root) = DeTable::parse(text) else {
            return Self::Syntax { place, problem: error.message.clone() };
        };
        let key = path_at(root.get_ref(), offset);
        let message = error.message.as_str();
        if let Some(twice) = Self::of_spellings(text, root.get_ref(), &key, message) {
            return twice;
        }
        if let Some((name, known)) = unknown_name(message) {
            let nearest = nearest(&name, known.iter().map(String::as_str)).map(str::to_owned);
            let ends_in_it = is_key(&key, &name);
            if ends_in_it || message.starts_with("unknown field ") {
                let key = if ends_in_it { key } else { join(&key, &name) };
                return Self::Unknown { place, key, nearest, known };
            }
            let (value, nearest) = (name.into(), nearest.map(String::into_boxed_str));
            return Self::Choice { place, key, value, nearest, known };
        }
        let problem = if let Some(field) = message.strip_prefix("missing field ") {
            format!("lacks the key {field}, which has no default")
        } else if message == WANTS_ONE_KIND {
            one_kind(root.get_ref(), &key)
        } else {
            wrong_type(message)
        };
        // a missing key has no position of its own, and only the scene itself has a version
        let of_scene = key.is_empty() || message == "missing field `version`";
        let key = if of_scene { whole.to_owned() } else { key };
        Self::Value { place, invalid: InvalidValue { key, problem } }
    }

    /// The error of a key that the table at `path` has in both spellings, at the second one.
    fn of_spellings(text: &str, root: &DeTable, path: &str, message: &str) -> Option<Self> {
        let british = message.strip_prefix("duplicate field `")?.strip_suffix('`')?;
        let american = british.replace("colour", "color").replace("centre", "center");
        let mut found = Vec::new();
        for name in [british, american.as_str()] {
            let key = join(path, name);
            visit(root, "", &mut |path, span| {
                // the key comes before its value
                if path == key && found.last().is_none_or(|(_, last)| *last != name) {
                    found.push((span.start, name));
                }
            });
        }
        let &[one, other] = found.as_slice() else { return None };
        let ((_, first), (offset, second)) = (one.min(other), one.max(other));
        let problem = format!("is the same key as `{first}`: remove one of them");
        let invalid = InvalidValue { key: join(path, second), problem };
        Some(Self::Value { place: TextPosition::of(text, offset), invalid })
    }

    /// A value at `offset` that is none of the `known` names.
    pub(super) fn of_name(text: &str, offset: usize, known: &[String]) -> Self {
        let key = DeTable::parse(text).map(|root| path_at(root.get_ref(), offset));
        let known: Vec<String> = known.iter().map(|name| format!("\"{name}\"")).collect();
        let problem = format!("must be one of {}", known.join(", "));
        let invalid = InvalidValue { key: key.unwrap_or_default(), problem };
        Self::Value { place: TextPosition::of(text, offset), invalid }
    }

    pub(super) fn from_invalid(text: &str, mut invalid: InvalidValue) -> Self {
        let root = DeTable::parse(text).ok();
        if let Some(root) = &root {
            invalid.key = as_spelled(root.get_ref(), invalid.key);
        }
        let offset = root
            .and_then(|root| span_of(root.get_ref(), &invalid.key))
            .map_or(0, |span| span.start);
        Self::Value { place: TextPosition::of(text, offset), invalid }
    }
}

/// A key in American spelling if the text has only that.
fn as_spelled(root: &DeTable, key: String) -> String {
    let american = key.replace("colour", "color").replace("centre", "center");
    let (mut has_british, mut has_american) = (false, false);
    visit(root, "", &mut |path, _| {
        has_british |= path == key;
        has_american |= path == american;
    });
    if has_american && !has_british { american } else { key }
}

/// The problem of the table at `key`, which has no kind or several.
fn one_kind(root: &DeTable, key: &str) -> String {
    let mut held: Vec<String> = Vec::new();
    visit(root, "", &mut |path, _| {
        let rest = path.strip_prefix(key).and_then(|rest| rest.strip_prefix('.'));
        if let Some(name) = rest.filter(|name| !name.contains(['.', '['])) {
            let name = format!("`{name}`");
            if !held.contains(&name) {
                held.push(name);
            }
        }
    });
    let is_pattern = key.starts_with("pattern.");
    let example = match is_pattern {
        true => "{ voronoi = { pieces = 30 } }",
        false => "{ sphere = { radius = 0.1 } }",
    };
    let Some((last, others)) = held.split_last().filter(|(_, others)| !others.is_empty()) else {
        return format!("must hold exactly one kind, as in `{example}`");
    };
    let held = format!("{} and {last}", others.join(", "));
    match is_pattern {
        true => format!(
            "holds {held}: keep one kind; settings belong inside the table of a kind, as in \
             `voronoi = {{ pieces = 30, noise = {{ ... }} }}`, and `preset` and `file` take none"
        ),
        false => format!("holds {held}: keep one kind, as in `{example}`"),
    }
}

/// The names in serde's list of the variants of an enumeration.
pub(super) fn names_wanted(message: &str) -> Option<Vec<String>> {
    message.starts_with("unknown variant ").then_some(())?;
    Some(unknown_name(message)?.1)
}

/// The name in serde's "unknown field `x`, expected one of `a`, `b`", and the names expected.
fn unknown_name(message: &str) -> Option<(String, Vec<String>)> {
    if !message.starts_with("unknown field ") && !message.starts_with("unknown variant ") {
        return None;
    }
    let mut quoted = message.split('`').skip(1).step_by(2).map(str::to_owned);
    Some((quoted.next()?, quoted.collect()))
}

/// Whether a path ends in a key of this name.
fn is_key(path: &str, name: &str) -> bool {
    path.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// Serde's message for a value of a wrong type or length, without its names of Rust types.
fn wrong_type(message: &str) -> String {
    if let Some((found, wanted)) = parted(message, "invalid type: ") {
        return format!("must be {}, not {}", wanted_type(wanted), found_type(found));
    }
    if let Some((found, wanted)) = parted(message, "invalid value: ") {
        return format!("must be {}, not {}", wanted_type(wanted), found_type(found));
    }
    if let Some((count, wanted)) = parted(message, "invalid length ") {
        return format!("must be {}, but holds {count}", wanted_type(wanted));
    }
    match message {
        WANTS_NAME => "must be a name in quotes or a table".to_owned(),
        _ => format!("has a wrong value: {message}"),
    }
}

/// The parts after `start`, before and after ", expected ".
fn parted<'m>(message: &'m str, start: &str) -> Option<(&'m str, &'m str)> {
    message.strip_prefix(start)?.split_once(", expected ")
}

fn wanted_type(wanted: &str) -> String {
    let of_length = wanted.strip_prefix("an array of length ");
    let of_length = of_length.or_else(|| wanted.strip_prefix("a tuple of size "));
    if let Some(length) = of_length {
        return format!("an array of {length} values");
    }
    let plain = match wanted {
        "f32" | "f64" => "a number",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, zero or more",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "a string" => "text in quotes",
        "a boolean" => "true or false",
        "a sequence" => "an array",
        "a map" => "a table",
        "newtype variant" => "a table with the settings of this kind",
        "unit variant" => "a name alone",
        _ if wanted.starts_with("struct ") || wanted.starts_with("enum ") => "a table",
        _ => wanted,
    };
    plain.to_owned()
}

fn found_type(found: &str) -> String {
    match found {
        "sequence" => "an array".to_owned(),
        "map" | "newtype variant" => "a table".to_owned(),
        "unit variant" => "a name alone".to_owned(),
        _ => {
            let kinds = ["integer ", "floating point ", "boolean ", "string "];
            let value = kinds.iter().find_map(|kind| found.strip_prefix(kind)).unwrap_or(found);
            value.trim_matches('`').to_owned()
        }
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Path of the innermost key or value that covers byte `offset`; empty for the whole document.
fn path_at(root: &DeTable, offset: usize) -> String {
    let mut best = (usize::MAX, String::new());
    visit(root, "", &mut |path, span| {
        // a later one of equal size is nested deeper
        if span.contains(&offset) && span.len() <= best.0 {
            best = (span.len(), path.to_owned());
        }
    });
    best.1
}

/// Span of the value at `key`, or of the innermost existing value around it.
pub(super) fn span_of(root: &DeTable, key: &str) -> Option<Range<usize>> {
    let mut best: Option<(usize, Range<usize>)> = None;
    visit(root, "", &mut |path, span| {
        let rest = key.strip_prefix(path);
        let around = rest.is_some_and(|r| r.is_empty() || r.starts_with(['.', '[']));
        if around && best.as_ref().is_none_or(|(length, _)| path.len() >= *length) {
            best = Some((path.len(), span));
        }
    });
    best.map(|(_, span)| span)
}

/// Calls `see` with the path and span of every key and then of its value, from outside in.
fn visit(table: &DeTable, path: &str, see: &mut impl FnMut(&str, Range<usize>)) {
    for (key, value) in table {
        let path = join(path, key.get_ref());
        see(&path, key.span());
        visit_value(value.get_ref(), value.span(), &path, see);
    }
}

/// Calls `see` with the path, the value and the span of every string.
pub(super) fn visit_texts(table: &DeTable, see: &mut impl FnMut(&str, &str, Range<usize>)) {
    fn visit_text(
        value: &DeValue,
        span: Range<usize>,
        path: &str,
        see: &mut impl FnMut(&str, &str, Range<usize>),
    ) {
        match value {
            DeValue::String(text) => see(path, text, span),
            DeValue::Table(table) => {
                for (key, value) in table {
                    let path = join(path, key.get_ref());
                    visit_text(value.get_ref(), value.span(), &path, &mut *see);
                }
            }
            DeValue::Array(items) => {
                for (i, item) in items.iter().enumerate() {
                    visit_text(item.get_ref(), item.span(), &format!("{path}[{i}]"), &mut *see);
                }
            }
            _ => {}
        }
    }
    for (key, value) in table {
        visit_text(value.get_ref(), value.span(), key.get_ref(), &mut *see);
    }
}

fn visit_value(
    value: &DeValue,
    span: Range<usize>,
    path: &str,
    see: &mut impl FnMut(&str, Range<usize>),
) {
    see(path, span);
    match value {
        DeValue::Table(table) => visit(table, path, &mut *see),
        DeValue::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                visit_value(item.get_ref(), item.span(), &format!("{path}[{i}]"), &mut *see);
            }
        }
        _ => {}
    }
}

/// The candidate with the smallest edit distance from `name`, if that is small for its length.
pub(super) fn nearest<'a>(
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    candidates
        .map(|candidate| (edits(name, candidate), candidate))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, candidate)| {
            let length = candidate.chars().count();
            // no other letter resembles a single letter
            3 * distance <= length.max(3) && *distance < length
        })
        .map(|(_, candidate)| candidate)
}

/// Levenshtein distance.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substitute = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = substitute.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
