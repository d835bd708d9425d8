//! A serde deserializer of parsed TOML.
//!
//! The deserializers of `toml` ignore excess elements of an array, and structs that derive
//! `Deserialize` accept arrays. Here an array must have the length of its type, and a struct must
//! be a table. All values have one deserializer type, so each visitor is compiled once.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error, Expected, IntoDeserializer,
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
    deserialize_node(PhantomData, Node { value: &DeValue::Table(table.into_inner()), offset })
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

/// A value of a document. Its methods return errors without a position; [`deserialize_node`] adds the position.
#[derive(Clone, Copy)]
struct Node<'a> {
    value: &'a DeValue<'a>,
    /// Start of the value in the text, in bytes.
    offset: usize,
}

impl<'a> Node<'a> {
    fn of(spanned: &'a Spanned<DeValue<'a>>) -> Self {
        Self { value: spanned.get_ref(), offset: spanned.span().start }
    }

    /// Visits an array of any length.
    fn visit_array<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let DeValue::Array(items) = self.value else { return Err(self.unwanted(&visitor)) };
        visitor.visit_seq(Elements(items.iter()))
    }

    /// Visits an array of `length` elements.
    fn visit_array_of<V: Visitor<'a>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let value = self.visit_array(visitor)?;
        self.require_length(length).map(|()| value)
    }

    fn require_length(self, length: usize) -> Result<(), ReadError> {
        match self.value {
            DeValue::Array(items) if items.len() != length => {
                let wanted = format!("an array of length {length}");
                Err(ReadError::invalid_length(items.len(), &wanted.as_str()))
            }
            _ => Ok(()),
        }
    }

    fn visit_table<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let DeValue::Table(table) = self.value else { return Err(self.unwanted(&visitor)) };
        visitor.visit_map(Entries { rest: table.iter(), value: None })
    }

    /// The error for a value whose type differs from the `wanted` one.
    fn unwanted(self, wanted: &dyn Expected) -> ReadError {
        self.unexpected().map_or_else(|error| error, |found| ReadError::invalid_type(found, wanted))
    }

    fn unexpected(self) -> Result<Unexpected<'a>, ReadError> {
        Ok(match self.value {
            DeValue::String(text) => Unexpected::Str(text),
            DeValue::Integer(number) => match integer(number)? {
                Integer::Signed(number) => Unexpected::Signed(number),
                Integer::Unsigned(number) => Unexpected::Unsigned(number),
            },
            DeValue::Float(number) => Unexpected::Float(float(number)?),
            DeValue::Boolean(value) => Unexpected::Bool(*value),
            DeValue::Datetime(_) => Unexpected::Other("a date or time"),
            DeValue::Array(_) => Unexpected::Seq,
            DeValue::Table(_) => Unexpected::Map,
        })
    }
}

enum Integer {
    Signed(i64),
    Unsigned(u64),
}

fn integer(number: &DeInteger<'_>) -> Result<Integer, ReadError> {
    let (digits, radix) = (number.as_str(), number.radix());
    let signed = i64::from_str_radix(digits, radix).map(Integer::Signed);
    let any = signed.or_else(|_| u64::from_str_radix(digits, radix).map(Integer::Unsigned));
    any.map_err(|_| ReadError::custom("the whole number needs more than 64 bits"))
}

fn float(number: &DeFloat<'_>) -> Result<f64, ReadError> {
    let value = number.as_str().parse().ok();
    let is_meant = |value: &f64| !value.is_infinite() || number.as_str().contains("inf");
    let too_large = || ReadError::custom("the number is beyond the largest of 1.8e308");
    value.filter(is_meant).ok_or_else(too_large)
}

impl<'de> Deserializer<'de> for Node<'de> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.value {
            DeValue::String(text) => visitor.visit_str(text),
            DeValue::Integer(number) => match integer(number)? {
                Integer::Signed(number) => visitor.visit_i64(number),
                Integer::Unsigned(number) => visitor.visit_u64(number),
            },
            DeValue::Float(number) => visitor.visit_f64(float(number)?),
            DeValue::Boolean(value) => visitor.visit_bool(*value),
            DeValue::Datetime(_) => Err(self.unwanted(&visitor)),
            DeValue::Array(_) => self.visit_array(visitor),
            DeValue::Table(_) => self.visit_table(visitor),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.visit_array(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.visit_table(visitor)
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
        self.visit_array_of(length, visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.visit_array_of(length, visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.visit_table(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let variant = match self.value {
            DeValue::String(name) => Variant { name, offset: self.offset, settings: None },
            DeValue::Table(table) => {
                let mut entries = table.iter();
                let (Some((name, settings)), None) = (entries.next(), entries.next()) else {
                    return Err(ReadError::custom(WANTS_ONE_KIND));
                };
                let (offset, settings) = (name.span().start, Some(Node::of(settings)));
                Variant { name: name.get_ref(), offset, settings }
            }
            _ => return Err(ReadError::custom(WANTS_NAME)),
        };
        visitor.visit_enum(variant)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct identifier ignored_any
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
        let settings = self.settings("tuple variant")?;
        settings.visit_array_of(length, visitor).map_err(|error| error.at(settings.offset))
    }

    fn struct_variant<V: Visitor<'a>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let settings = self.settings("newtype variant")?;
        settings.visit_table(visitor).map_err(|error| error.at(settings.offset))
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
