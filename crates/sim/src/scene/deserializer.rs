//! A serde deserializer of parsed TOML.
//!
//! The deserializers of `toml` ignore excess elements of an array, and structs that derive
//! `Deserialize` accept arrays. Here an array must have the length of its type, and a struct must
//! be a table. All values have one deserializer type, so each visitor is compiled once.

use std::borrow::Cow;
use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error, IntoDeserializer,
    MapAccess, SeqAccess, Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use toml::Spanned;
use toml::de::{DeFloat, DeInteger, DeTable, DeValue};
use toml::map::Iter;

/// The message for an enumeration that is neither a string nor a table.
pub(super) const WANTS_NAME: &str = "wanted string or table";
/// The message for an enumeration whose table does not have exactly one key, the name of the variant.
pub(super) const WANTS_ONE_KIND: &str = "wanted exactly 1 element";

/// Deserializes the table of a whole document.
pub(super) fn deserialize<T: DeserializeOwned>(
    table: Spanned<DeTable<'_>>,
) -> Result<T, ReadError> {
    let offset = table.span().start;
    T::deserialize(Node { value: &DeValue::Table(table.into_inner()), offset })
}

/// Why TOML could not be read.
#[derive(Debug)]
pub(super) struct ReadError {
    pub(super) message: String,
    /// Start of the value or key in the text, in bytes.
    pub(super) offset: Option<usize>,
}

impl ReadError {
    /// The error at `offset`, if it has no position.
    fn at(self, offset: usize) -> Self {
        Self { offset: self.offset.or(Some(offset)), ..self }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ReadError {}

impl Error for ReadError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { message: message.to_string(), offset: None }
    }
}

impl From<toml::de::Error> for ReadError {
    fn from(error: toml::de::Error) -> Self {
        let offset = error.span().map(|span| span.start);
        Self { message: error.message().to_owned(), offset }
    }
}

/// A value of a document.
#[derive(Clone, Copy)]
struct Node<'a> {
    value: &'a DeValue<'a>,
    /// Start of the value in the text, in bytes.
    offset: usize,
}

/// The arrays that a type accepts.
#[derive(Clone, Copy)]
enum Takes {
    /// Arrays of any length.
    Array,
    /// Arrays of this length.
    ArrayOf(usize),
    NoArray,
}

impl<'a> Node<'a> {
    fn of(spanned: &'a Spanned<DeValue<'a>>) -> Self {
        Self { value: spanned.get_ref(), offset: spanned.span().start }
    }

    fn visit<V: Visitor<'a>>(self, takes: Takes, visitor: V) -> Result<V::Value, ReadError> {
        let visited = match self.value {
            DeValue::String(text) => visitor.visit_str(text),
            DeValue::Integer(number) => match integer(number) {
                Some(Integer::Signed(number)) => visitor.visit_i64(number),
                Some(Integer::Unsigned(number)) => visitor.visit_u64(number),
                None => Err(ReadError::custom("the whole number needs more than 64 bits")),
            },
            DeValue::Float(number) => match float(number) {
                Some(number) => visitor.visit_f64(number),
                None => Err(ReadError::custom("the number is beyond the largest of 1.8e308")),
            },
            DeValue::Boolean(value) => visitor.visit_bool(*value),
            DeValue::Datetime(_) => {
                Err(ReadError::invalid_type(Unexpected::Other("a date or time"), &visitor))
            }
            DeValue::Array(items) => array(items, takes, visitor),
            DeValue::Table(table) => visitor.visit_map(Entries { rest: table.iter(), value: None }),
        };
        visited.map_err(|error| error.at(self.offset))
    }
}

fn array<'a, V: Visitor<'a>>(
    items: &'a [Spanned<DeValue<'a>>],
    takes: Takes,
    visitor: V,
) -> Result<V::Value, ReadError> {
    let length = match takes {
        Takes::Array => return visitor.visit_seq(Elements(items.iter())),
        Takes::NoArray => return Err(ReadError::invalid_type(Unexpected::Seq, &visitor)),
        Takes::ArrayOf(length) => length,
    };
    let value = visitor.visit_seq(Elements(items.iter()))?;
    if items.len() == length {
        return Ok(value);
    }
    let wanted = format!("an array of length {length}");
    Err(ReadError::invalid_length(items.len(), &wanted.as_str()))
}

enum Integer {
    Signed(i64),
    Unsigned(u64),
}

fn integer(number: &DeInteger<'_>) -> Option<Integer> {
    let (digits, radix) = (number.as_str(), number.radix());
    let unsigned = || u64::from_str_radix(digits, radix).ok().map(Integer::Unsigned);
    i64::from_str_radix(digits, radix).ok().map(Integer::Signed).or_else(unsigned)
}

/// `None` for a number beyond the largest.
fn float(number: &DeFloat<'_>) -> Option<f64> {
    let value: f64 = number.as_str().parse().ok()?;
    (!value.is_infinite() || number.as_str().contains("inf")).then_some(value)
}

impl<'de> Deserializer<'de> for Node<'de> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.visit(Takes::Array, visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.visit(Takes::ArrayOf(length), visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.visit(Takes::ArrayOf(length), visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.visit(Takes::NoArray, visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let at = |error: ReadError| error.at(self.offset);
        let variant = match self.value {
            DeValue::String(name) => Variant { name, offset: self.offset, settings: None },
            DeValue::Table(table) => {
                let mut entries = table.iter();
                let (Some((name, settings)), None) = (entries.next(), entries.next()) else {
                    return Err(at(ReadError::custom(WANTS_ONE_KIND)));
                };
                let (offset, settings) = (name.span().start, Some(Node::of(settings)));
                Variant { name: name.get_ref(), offset, settings }
            }
            _ => return Err(at(ReadError::custom(WANTS_NAME))),
        };
        visitor.visit_enum(variant).map_err(at)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq map identifier ignored_any
    }
}

/// The elements of an array.
struct Elements<'a>(std::slice::Iter<'a, Spanned<DeValue<'a>>>);

impl<'a> SeqAccess<'a> for Elements<'a> {
    type Error = ReadError;

    fn next_element_seed<S: DeserializeSeed<'a>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, ReadError> {
        self.0.next().map(|item| deserialize_node(seed, Node::of(item))).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

/// The entries of a table.
struct Entries<'a> {
    rest: Iter<'a, Spanned<Cow<'a, str>>, Spanned<DeValue<'a>>>,
    /// The value of the last key.
    value: Option<Node<'a>>,
}

impl<'a> MapAccess<'a> for Entries<'a> {
    type Error = ReadError;

    fn next_key_seed<S: DeserializeSeed<'a>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, ReadError> {
        let Some((key, value)) = self.rest.next() else { return Ok(None) };
        self.value = Some(Node::of(value));
        deserialize_name(seed, key.get_ref(), key.span().start).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'a>>(&mut self, seed: S) -> Result<S::Value, ReadError> {
        let value = self.value.take().ok_or_else(|| ReadError::custom("a value without a key"))?;
        deserialize_node(seed, value)
    }
}

/// A chosen variant of an enumeration.
struct Variant<'a> {
    name: &'a str,
    /// Start of the name in the text, in bytes.
    offset: usize,
    /// Its value; `None` for a name alone.
    settings: Option<Node<'a>>,
}

impl<'a> EnumAccess<'a> for Variant<'a> {
    type Error = ReadError;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'a>>(self, seed: S) -> Result<(S::Value, Self), ReadError> {
        Ok((deserialize_name(seed, self.name, self.offset)?, self))
    }
}

impl<'a> Variant<'a> {
    fn settings(self, wanted: &'static str) -> Result<Node<'a>, ReadError> {
        let missing = || ReadError::invalid_type(Unexpected::UnitVariant, &wanted);
        self.settings.ok_or_else(missing)
    }
}

impl<'a> VariantAccess<'a> for Variant<'a> {
    type Error = ReadError;

    fn unit_variant(self) -> Result<(), ReadError> {
        let Some(Node { value, offset }) = self.settings else { return Ok(()) };
        match value {
            DeValue::Table(table) if table.is_empty() => Ok(()),
            _ => {
                Err(ReadError::invalid_type(Unexpected::NewtypeVariant, &"unit variant").at(offset))
            }
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'a>>(self, seed: S) -> Result<S::Value, ReadError> {
        deserialize_node(seed, self.settings("newtype variant")?)
    }

    fn tuple_variant<V: Visitor<'a>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.settings("tuple variant")?.visit(Takes::ArrayOf(length), visitor)
    }

    fn struct_variant<V: Visitor<'a>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.settings("newtype variant")?.visit(Takes::NoArray, visitor)
    }
}

fn deserialize_node<'a, S: DeserializeSeed<'a>>(
    seed: S,
    node: Node<'a>,
) -> Result<S::Value, ReadError> {
    seed.deserialize(node).map_err(|error| error.at(node.offset))
}

fn deserialize_name<'a, S: DeserializeSeed<'a>>(
    seed: S,
    name: &'a str,
    offset: usize,
) -> Result<S::Value, ReadError> {
    let name: StrDeserializer<'_, ReadError> = name.into_deserializer();
    seed.deserialize(name).map_err(|error| error.at(offset))
}
