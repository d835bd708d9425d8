//! Prims of a Universal Scene Description stage, independent of the encoding.

use std::borrow::Cow;

/// Metadata of a stage, in order.
pub(crate) type Metadata<'a> = [(&'static str, Value<'a>)];

/// A prim with its properties and children.
pub(crate) struct Prim<'a> {
    pub(super) name: String,
    pub(super) kind: &'static str,
    pub(super) display_name: Option<&'a str>,
    pub(super) schemas: Vec<String>,
    pub(super) properties: Vec<Property<'a>>,
    pub(super) children: Vec<Prim<'a>>,
}

/// An attribute or a relationship.
pub(super) struct Property<'a> {
    pub(super) name: String,
    /// Type of an attribute; empty for relationships.
    pub(super) kind: &'static str,
    pub(super) is_uniform: bool,
    /// Whether it has one value per vertex.
    pub(super) is_of_vertices: bool,
    pub(super) content: Content<'a>,
}

/// Times, in frames, with values.
pub(crate) type Samples<'a> = Box<dyn Iterator<Item = (f64, Value<'a>)> + 'a>;

/// The content of a property.
pub(super) enum Content<'a> {
    /// No value, such as an output of a shader.
    None,
    Value(Value<'a>),
    Samples(Samples<'a>),
    /// The path of the output that an input is connected to.
    Connection(String),
    /// The path of the only target of a relationship.
    Target(String),
    Targets(Vec<String>),
}

/// A value of an attribute or of metadata. Quaternions have the real part first.
pub(crate) enum Value<'a> {
    Bool(bool),
    Float(f32),
    Double(f64),
    Token(Cow<'a, str>),
    String(&'a str),
    /// Path of a file next to the stage.
    Asset(String),
    Float3([f32; 3]),
    Float4([f32; 4]),
    Double3([f64; 3]),
    Quatf([f32; 4]),
    Quatd([f64; 4]),
    Tokens(Vec<&'static str>),
    Ints(Vec<i32>),
    Int64s(Vec<i64>),
    Floats(Vec<f32>),
    Float2s(Cow<'a, [[f32; 2]]>),
    Float3s(Cow<'a, [[f32; 3]]>),
}

impl<'a> Value<'a> {
    pub(crate) fn token(token: &'a str) -> Self {
        Self::Token(token.into())
    }

    pub(crate) fn float3s(vectors: &'a [[f32; 3]]) -> Self {
        Self::Float3s(vectors.into())
    }
}

impl<'a> Prim<'a> {
    pub(crate) fn new(kind: &'static str, name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            kind,
            display_name: None,
            schemas: Vec::new(),
            properties: Vec::new(),
            children: Vec::new(),
        }
    }

    /// Adds a display name, which need not be an identifier.
    pub(crate) fn shown_as(self, name: &'a str) -> Self {
        Self { display_name: Some(name), ..self }
    }

    /// Adds API schemas.
    pub(crate) fn with_schemas(self, schemas: &[&str]) -> Self {
        Self { schemas: schemas.iter().map(|&schema| schema.to_owned()).collect(), ..self }
    }

    fn add(&mut self, kind: &'static str, name: &str, content: Content<'a>) -> &mut Property<'a> {
        let (is_uniform, is_of_vertices, name) = (false, false, name.to_owned());
        self.properties.push(Property { name, kind, is_uniform, is_of_vertices, content });
        let last = self.properties.len() - 1;
        &mut self.properties[last]
    }

    /// Adds an attribute.
    pub(crate) fn set(&mut self, kind: &'static str, name: &str, value: Value<'a>) {
        self.add(kind, name, Content::Value(value));
    }

    /// Adds an attribute that is constant in time.
    pub(crate) fn set_uniform(&mut self, kind: &'static str, name: &str, value: Value<'a>) {
        self.add(kind, name, Content::Value(value)).is_uniform = true;
    }

    /// Adds an attribute with one value per vertex.
    pub(crate) fn set_of_vertices(&mut self, kind: &'static str, name: &str, value: Value<'a>) {
        self.add(kind, name, Content::Value(value)).is_of_vertices = true;
    }

    /// Adds an attribute with time samples.
    pub(crate) fn animate(&mut self, kind: &'static str, name: &str, samples: Samples<'a>) {
        self.add(kind, name, Content::Samples(samples));
    }

    /// Adds an attribute with time samples of one value per vertex.
    pub(crate) fn animate_of_vertices(
        &mut self,
        kind: &'static str,
        name: &str,
        samples: Samples<'a>,
    ) {
        self.add(kind, name, Content::Samples(samples)).is_of_vertices = true;
    }

    /// Adds an attribute without a value.
    pub(crate) fn declare(&mut self, kind: &'static str, name: &str) {
        self.add(kind, name, Content::None);
    }

    /// Adds an attribute that is connected to the output at a path.
    pub(crate) fn connect(&mut self, kind: &'static str, name: &str, path: String) {
        self.add(kind, name, Content::Connection(path));
    }

    /// Adds a relationship.
    pub(crate) fn relate(&mut self, name: &str, path: String) {
        self.add("", name, Content::Target(path));
    }

    /// Adds a relationship with any number of targets.
    pub(crate) fn relate_all(&mut self, name: &str, paths: Vec<String>) {
        self.add("", name, Content::Targets(paths));
    }

    /// Adds a child prim.
    pub(crate) fn add_child(&mut self, child: Self) {
        self.children.push(child);
    }
}
