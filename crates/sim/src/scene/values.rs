//! Values of TOML for `serde`.
//!
//! The deserializer of `toml` compiles what each type does with a table four times: for a table, an array, a date and a
//! value that keeps its place. Together these made up a tenth of the playground.

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use toml::Spanned;
use toml::de::{DeArray, DeString, DeTable, DeValue};

/// What is wrong with a text in TOML.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub(super) struct Wrong {
    /// In the words of `serde`.
    pub(super) message: String,
    /// Where the value or the key starts in the text, if one is to blame.
    pub(super) start: Option<usize>,
}

impl Wrong {
    /// The error of what starts there, unless a part of it is to blame.
    fn at(mut self, start: usize) -> Self {
        self.start.get_or_insert(start);
        self
    }
}

impl Error for Wrong {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        Self { message: message.to_string(), start: None }
    }
}

impl From<toml::de::Error> for Wrong {
    fn from(error: toml::de::Error) -> Self {
        Self { message: error.message().to_owned(), start: error.span().map(|span| span.start) }
    }
}

/// A value.
#[derive(Clone, Copy)]
pub(super) struct Value<'a>(pub(super) &'a DeValue<'a>);

impl Value<'_> {
    /// That a value is not what was expected.
    fn refused<'de, V: Visitor<'de>>(self, visitor: &V) -> Wrong {
        let found = match self.0 {
            DeValue::String(text) => Unexpected::Str(text),
            DeValue::Integer(_) => match integer(self.0) {
                Some(number) => Unexpected::Signed(number),
                None => Unexpected::Other("integer"),
            },
            DeValue::Float(number) => match number.as_str().parse() {
                Ok(number) => Unexpected::Float(number),
                Err(_) => Unexpected::Other("floating point"),
            },
            DeValue::Boolean(is_true) => Unexpected::Bool(*is_true),
            DeValue::Array(_) => Unexpected::Seq,
            DeValue::Datetime(_) => Unexpected::Other("a date"),
            DeValue::Table(_) => Unexpected::Map,
        };
        Wrong::invalid_type(found, visitor)
    }
}

fn integer(value: &DeValue<'_>) -> Option<i64> {
    let number = value.as_integer()?;
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}

impl<'de> Deserializer<'de> for Value<'de> {
    type Error = Wrong;

    /// Of a text, a number or a boolean; what types of more parts ask for is below.
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.0 {
            DeValue::String(text) => visitor.visit_str(text),
            DeValue::Boolean(is_true) => visitor.visit_bool(*is_true),
            DeValue::Integer(number) => match integer(self.0) {
                Some(number) => visitor.visit_i64(number),
                None => match u64::from_str_radix(number.as_str(), number.radix()) {
                    Ok(number) => visitor.visit_u64(number),
                    Err(_) => Err(Wrong::custom("integer number overflowed")),
                },
            },
            DeValue::Float(number) => {
                let text = number.as_str();
                match text.parse::<f64>() {
                    Ok(number)
                        if number.is_finite() || !text.contains(|c: char| c.is_ascii_digit()) =>
                    {
                        visitor.visit_f64(number)
                    }
                    _ => Err(Wrong::custom("floating-point number overflowed")),
                }
            }
            DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => {
                Err(self.refused(&visitor))
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.0 {
            DeValue::Array(items) => visitor.visit_seq(Items(items.iter())),
            _ => Err(self.refused(&visitor)),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        match self.0 {
            // fewer the visitor finds itself
            DeValue::Array(items) if items.len() > length => {
                Err(Wrong::invalid_length(items.len(), &visitor))
            }
            _ => self.deserialize_seq(visitor),
        }
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        self.deserialize_tuple(length, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.0 {
            DeValue::Table(table) => visitor.visit_map(Entries { rest: table.iter(), value: None }),
            _ => Err(self.refused(&visitor)),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        match self.0 {
            DeValue::String(name) => visitor.visit_enum(word(name)),
            DeValue::Table(table) => visitor.visit_enum(Kind::of(table)?),
            _ => Err(Wrong::custom("wanted string or table")),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct identifier ignored_any
    }
}

fn word<'a>(text: &'a DeString<'a>) -> StrDeserializer<'a, Wrong> {
    text.as_ref().into_deserializer()
}

/// The items of an array that are left.
struct Items<'a>(<&'a DeArray<'a> as IntoIterator>::IntoIter);

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Wrong;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Wrong> {
        let Some(item) = self.0.next() else { return Ok(None) };
        seed.deserialize(Value(item.get_ref())).map(Some).map_err(|e| e.at(item.span().start))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

/// The entries of a table that are left.
struct Entries<'a> {
    rest: <&'a DeTable<'a> as IntoIterator>::IntoIter,
    /// That of the last key.
    value: Option<&'a Spanned<DeValue<'a>>>,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Wrong;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Wrong> {
        let Some((key, value)) = self.rest.next() else { return Ok(None) };
        self.value = Some(value);
        seed.deserialize(word(key.get_ref())).map(Some).map_err(|e| e.at(key.span().start))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Wrong> {
        let Some(value) = self.value.take() else {
            return Err(Wrong::custom("a value has no key"));
        };
        seed.deserialize(Value(value.get_ref())).map_err(|e| e.at(value.span().start))
    }
}

/// A table of one key, which names a variant.
struct Kind<'a> {
    key: &'a Spanned<DeString<'a>>,
    value: &'a Spanned<DeValue<'a>>,
}

impl<'a> Kind<'a> {
    fn of(table: &'a DeTable<'a>) -> Result<Self, Wrong> {
        let mut entries = table.iter();
        match (entries.next(), entries.next()) {
            (Some((key, value)), None) => Ok(Self { key, value }),
            (None, _) => Err(Wrong::custom("wanted exactly 1 element, found 0 elements")),
            _ => Err(Wrong::custom("wanted exactly 1 element, more than 1 element")),
        }
    }

    fn at_value(&self) -> impl FnOnce(Wrong) -> Wrong + use<> {
        let start = self.value.span().start;
        move |wrong| wrong.at(start)
    }
}

impl<'de> EnumAccess<'de> for Kind<'de> {
    type Error = Wrong;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self), Wrong> {
        let name = seed.deserialize(word(self.key.get_ref()));
        Ok((name.map_err(|e| e.at(self.key.span().start))?, self))
    }
}

impl<'de> VariantAccess<'de> for Kind<'de> {
    type Error = Wrong;

    fn unit_variant(self) -> Result<(), Wrong> {
        let wrong = match self.value.get_ref() {
            DeValue::Table(table) if table.is_empty() => return Ok(()),
            DeValue::Array(items) if items.is_empty() => return Ok(()),
            DeValue::Table(_) => Wrong::custom("expected empty table"),
            DeValue::Array(_) => Wrong::custom("expected empty array"),
            other => Wrong::custom(format_args!("expected table, found {}", other.type_str())),
        };
        Err(self.at_value()(wrong))
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Wrong> {
        seed.deserialize(Value(self.value.get_ref())).map_err(self.at_value())
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Wrong> {
        Value(self.value.get_ref()).deserialize_tuple(length, visitor).map_err(self.at_value())
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        Value(self.value.get_ref()).deserialize_map(visitor).map_err(self.at_value())
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::scene::Scene;

    /// The scene, or what is wrong and where.
    fn own(text: &str) -> Result<Scene, (String, Option<usize>)> {
        let table = DeTable::parse(text).unwrap().into_inner();
        Scene::deserialize(Value(&DeValue::Table(table))).map_err(|e| (e.message, e.start))
    }

    fn by_toml(text: &str) -> Result<Scene, (String, Option<usize>)> {
        Scene::deserialize(toml::Deserializer::parse(text).unwrap())
            .map_err(|e| (e.message().to_owned(), e.span().map(|span| span.start)))
    }

    /// Every scene of the repository, and each of its lines with other values.
    #[test]
    fn scenes_and_their_errors_are_those_of_toml() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes");
        let (mut right, mut wrong) = (0, 0);
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "toml") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            assert_eq!(own(&text), by_toml(&text), "{}", path.display());
            let lines: Vec<&str> = text.lines().collect();
            for (n, line) in lines.iter().enumerate() {
                let Some((key, _)) = line.split_once(" = ") else { continue };
                for other in ["-3", "0.5", "\"a\"", "true", "{}", "{ a = 1 }"] {
                    let mut lines = lines.clone();
                    let line = format!("{key} = {other}");
                    lines[n] = &line;
                    let text = lines.join("\n");
                    if DeTable::parse(&text).is_err() {
                        continue;
                    }
                    let (own, expected) = (own(&text), by_toml(&text));
                    assert_eq!(own, expected, "{}: {line}", path.display());
                    *(if own.is_ok() { &mut right } else { &mut wrong }) += 1;
                }
            }
        }
        assert!(right > 1000 && wrong > 1000, "{right} {wrong}");
    }
}
