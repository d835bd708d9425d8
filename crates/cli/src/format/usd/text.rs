//! The text encoding, `.usda`.

use std::fmt::{self, Display};
use std::io::{self, Write};

use super::encoder::Encoder;
use super::prim::{Content, Metadata, Prim, Property, Value};

/// Writes prims immediately.
pub(super) struct Text<'w, W> {
    out: &'w mut W,
}

impl<'w, W: Write> Text<'w, W> {
    pub(super) fn new(out: &'w mut W) -> Self {
        Self { out }
    }

    fn write(&mut self, prim: Prim<'_>, indent: &str) -> io::Result<()> {
        let Prim { name, kind, display_name, schemas, properties, children } = prim;
        let out = &mut *self.out;
        write!(out, "{indent}def {kind} \"{name}\"")?;
        if display_name.is_some() || !schemas.is_empty() {
            writeln!(out, " (")?;
            if let Some(name) = display_name {
                writeln!(out, "{indent}    displayName = {}", quoted(name))?;
            }
            if !schemas.is_empty() {
                let schemas: Vec<String> = schemas.iter().map(|s| quoted(s)).collect();
                writeln!(out, "{indent}    prepend apiSchemas = [{}]", schemas.join(", "))?;
            }
            write!(out, "{indent})")?;
        }
        writeln!(out, "\n{indent}{{")?;
        let inner = format!("{indent}    ");
        for property in properties {
            write_property(property, &inner, out)?;
        }
        for child in children {
            self.write(child, &inner)?;
        }
        writeln!(self.out, "{indent}}}")
    }
}

impl<W: Write> Encoder for Text<'_, W> {
    fn begin(&mut self, metadata: &Metadata<'_>) -> io::Result<()> {
        writeln!(self.out, "#usda 1.0\n(\n    defaultPrim = \"World\"")?;
        for (name, value) in metadata {
            writeln!(self.out, "    {name} = {value}")?;
        }
        writeln!(self.out, ")\n\ndef Xform \"World\"\n{{")
    }

    fn add(&mut self, prim: Prim<'_>) -> io::Result<()> {
        self.write(prim, "    ")
    }

    fn end(&mut self) -> io::Result<()> {
        writeln!(self.out, "}}")
    }
}

fn write_property(property: Property<'_>, indent: &str, out: &mut impl Write) -> io::Result<()> {
    let Property { name, kind, is_uniform, is_of_vertices, content } = property;
    let uniform = if is_uniform { "uniform " } else { "" };
    let own = format!("{indent}{uniform}{} {name}", if kind.is_empty() { "rel" } else { kind });
    let metadata = format!(" (\n{indent}    interpolation = \"vertex\"\n{indent})");
    let metadata = if is_of_vertices { &metadata } else { "" };
    match content {
        Content::None => writeln!(out, "{own}{metadata}"),
        Content::Value(value) => writeln!(out, "{own} = {value}{metadata}"),
        Content::Samples(samples) => {
            if is_of_vertices {
                writeln!(out, "{own}{metadata}")?;
            }
            writeln!(out, "{own}.timeSamples = {{")?;
            for (time, value) in samples {
                writeln!(out, "{indent}    {time}: {value},")?;
            }
            writeln!(out, "{indent}}}")
        }
        Content::Connection(path) => writeln!(out, "{own}.connect = <{path}>"),
        Content::Target(path) => writeln!(out, "{own} = <{path}>"),
        Content::Targets(paths) => {
            let paths: Vec<String> = paths.iter().map(|path| format!("<{path}>")).collect();
            writeln!(out, "{own} = [{}]", paths.join(", "))
        }
    }
}

/// Text with JSON escapes.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(is) => write!(f, "{}", u8::from(*is)),
            Self::Float(x) => write!(f, "{x}"),
            Self::Double(x) => write!(f, "{x}"),
            Self::Token(token) => f.write_str(&quoted(token)),
            Self::String(text) => f.write_str(&quoted(text)),
            Self::Asset(path) => write!(f, "@{path}@"),
            Self::Float3(v) => tuple(v, f),
            Self::Float4(v) | Self::Quatf(v) => tuple(v, f),
            Self::Double3(v) => tuple(v, f),
            Self::Quatd(v) => tuple(v, f),
            Self::Tokens(tokens) => list(tokens, |token, f| f.write_str(&quoted(token)), f),
            Self::Ints(ints) => list(ints, |n, f| write!(f, "{n}"), f),
            Self::Int64s(ints) => list(ints, |n, f| write!(f, "{n}"), f),
            Self::Floats(floats) => list(floats, |x, f| write!(f, "{x}"), f),
            Self::Float2s(vectors) => list(vectors, |v, f| tuple(v, f), f),
            Self::Float3s(vectors) => list(vectors, |v, f| tuple(v, f), f),
        }
    }
}

fn tuple(numbers: &[impl Display], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("(")?;
    separated(numbers, |x, f| write!(f, "{x}"), f)?;
    f.write_str(")")
}

fn list<T>(
    items: &[T],
    write: impl Fn(&T, &mut fmt::Formatter<'_>) -> fmt::Result,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    f.write_str("[")?;
    separated(items, write, f)?;
    f.write_str("]")
}

fn separated<T>(
    items: &[T],
    write: impl Fn(&T, &mut fmt::Formatter<'_>) -> fmt::Result,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    for (n, item) in items.iter().enumerate() {
        if n > 0 {
            f.write_str(", ")?;
        }
        write(item, f)?;
    }
    Ok(())
}
