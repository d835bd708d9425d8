//! TOML values as serde asks for them. That of the `toml` crate has three kinds of maps, for tables, dates and spans, and
//! compiles what reads a struct for each: it would be a tenth of a browser's module. A scene has tables only.

use std::fmt::Display;
use std::ops::Range;

use serde::de::value::CowStrDeserializer;
use serde::de::{
    DeserializeSeed, EnumAccess, Error, IntoDeserializer, MapAccess, SeqAccess, VariantAccess,
    Visitor,
};
use serde::{Deserializer, forward_to_deserialize_any};
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

/// Why a text is no value of a type.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub(super) struct Refusal {
    pub(super) message: String,
    /// Bytes of the text.
    pub(super) span: Option<Range<usize>>,
}

impl Refusal {
    /// Of what stands at a span, unless it is of something within.
    fn within(mut self, span: &Range<usize>) -> Self {
        self.span.get_or_insert_with(|| span.clone());
        self
    }
}

impl Error for Refusal {
    fn custom<T: Display>(message: T) -> Self {
        Self { message: message.to_string(), span: None }
    }
}

impl From<toml::de::Error> for Refusal {
    fn from(error: toml::de::Error) -> Self {
        Self { message: error.message().to_owned(), span: error.span() }
    }
}

/// Reads a value from TOML.
///
/// # Errors
/// [`Refusal`] with what is wrong.
pub(super) fn from_text<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, Refusal> {
    from_table(DeTable::parse(text)?)
}

/// Reads a value from a table.
///
/// # Errors
/// [`Refusal`] with what is wrong.
pub(super) fn from_table<'de, T: serde::Deserialize<'de>>(
    table: Spanned<DeTable<'de>>,
) -> Result<T, Refusal> {
    let span = table.span();
    T::deserialize(Value(Spanned::new(span, DeValue::Table(table.into_inner()))))
}

/// A value in a text.
struct Value<'de>(Spanned<DeValue<'de>>);

type Entries<'de> = <DeTable<'de> as IntoIterator>::IntoIter;

impl<'de> Deserializer<'de> for Value<'de> {
    type Error = Refusal;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        let span = self.0.span();
        let found = match self.0.into_inner() {
            DeValue::String(text) => visitor.visit_str(&text),
            DeValue::Integer(number) => {
                match i64::from_str_radix(number.as_str(), number.radix()) {
                    Ok(number) => visitor.visit_i64(number),
                    Err(_) => Err(Refusal::custom("integer number overflowed")),
                }
            }
            DeValue::Float(number) => match number.as_str().parse::<f64>() {
                Ok(x) if x.is_finite() || number.as_str().contains(['i', 'n']) => {
                    visitor.visit_f64(x)
                }
                _ => Err(Refusal::custom("floating-point number overflowed")),
            },
            DeValue::Boolean(is) => visitor.visit_bool(is),
            DeValue::Datetime(_) => Err(Refusal::custom("dates mean nothing here")),
            DeValue::Array(items) => visitor.visit_seq(Items(items.into_iter())),
            DeValue::Table(table) => {
                visitor.visit_map(Table { entries: table.into_iter(), value: None })
            }
        };
        found.map_err(|refusal: Refusal| refusal.within(&span))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        let span = self.0.span();
        let chosen = match self.0.into_inner() {
            DeValue::String(name) => Choice { name: Spanned::new(span.clone(), name), value: None },
            DeValue::Table(table) => {
                let count = table.len();
                let mut entries = table.into_iter();
                match (entries.next(), count) {
                    (Some((name, value)), 1) => Choice { name, value: Some(value) },
                    (None, _) => {
                        let message = "wanted exactly 1 element, found 0 elements";
                        return Err(Refusal::custom(message).within(&span));
                    }
                    _ => {
                        let message = "wanted exactly 1 element, more than 1 element";
                        return Err(Refusal::custom(message).within(&span));
                    }
                }
            }
            _ => return Err(Refusal::custom("wanted string or table").within(&span)),
        };
        visitor.visit_enum(chosen).map_err(|refusal| refusal.within(&span))
    }

    forward_to_deserialize_any! {
        bool u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 char str string seq bytes byte_buf map unit
        ignored_any unit_struct tuple_struct tuple identifier struct
    }
}

/// The values of an array.
struct Items<'de>(<toml::de::DeArray<'de> as IntoIterator>::IntoIter);

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Refusal;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Refusal> {
        self.0.next().map(|item| seed.deserialize(Value(item))).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

/// The entries of a table.
struct Table<'de> {
    entries: Entries<'de>,
    /// That of the last key.
    value: Option<Spanned<DeValue<'de>>>,
}

/// A key as serde reads it.
fn key<'de, T: DeserializeSeed<'de>>(
    name: Spanned<DeString<'de>>,
    seed: T,
) -> Result<T::Value, Refusal> {
    let span = name.span();
    let name: CowStrDeserializer<'de, Refusal> = name.into_inner().into_deserializer();
    seed.deserialize(name).map_err(|refusal| refusal.within(&span))
}

impl<'de> MapAccess<'de> for Table<'de> {
    type Error = Refusal;

    fn next_key_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Refusal> {
        let Some((name, value)) = self.entries.next() else { return Ok(None) };
        self.value = Some(value);
        key(name, seed).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Refusal> {
        let value = self.value.take().ok_or_else(|| Refusal::custom("a value without its key"))?;
        seed.deserialize(Value(value))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.entries.len())
    }
}

/// A choice among kinds, with the settings of the one that is chosen.
struct Choice<'de> {
    name: Spanned<DeString<'de>>,
    value: Option<Spanned<DeValue<'de>>>,
}

impl<'de> EnumAccess<'de> for Choice<'de> {
    type Error = Refusal;
    type Variant = Settings<'de>;

    fn variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<(T::Value, Settings<'de>), Refusal> {
        Ok((key(self.name, seed)?, Settings(self.value)))
    }
}

/// The settings of a kind.
struct Settings<'de>(Option<Spanned<DeValue<'de>>>);

impl<'de> VariantAccess<'de> for Settings<'de> {
    type Error = Refusal;

    fn unit_variant(self) -> Result<(), Refusal> {
        match self.0 {
            Some(value) if !matches!(value.get_ref(), DeValue::Table(table) if table.is_empty()) => {
                Err(Refusal::custom("expected empty table").within(&value.span()))
            }
            _ => Ok(()),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Refusal> {
        let value = self.0.ok_or_else(|| Refusal::custom("wanted a table with its settings"))?;
        seed.deserialize(Value(value))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Refusal> {
        self.newtype_variant_seed(Visited(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        self.newtype_variant_seed(Visited(visitor))
    }
}

/// A visitor of a value.
struct Visited<V>(V);

impl<'de, V: Visitor<'de>> DeserializeSeed<'de> for Visited<V> {
    type Value = V::Value;

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<V::Value, D::Error> {
        value.deserialize_any(self.0)
    }
}
