//! A serde adapter that checks the lengths of arrays and rejects arrays in place of tables.

use std::fmt;

use serde::de::{
    Deserialize, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error, IgnoredAny,
    MapAccess, SeqAccess, Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::SceneError;

/// Reads TOML with the length checks of scenes, but without units and variables.
///
/// # Errors
/// [`SceneError`] with line, column and key.
pub fn read_toml<T: DeserializeOwned>(text: &str) -> Result<T, SceneError> {
    let scene_error = |error| SceneError::from_toml(text, &error, "the file");
    let document = toml::de::Deserializer::parse(text).map_err(scene_error)?;
    deserialize_exactly(document).map_err(scene_error)
}

/// Deserializes from a self-describing format such as TOML. The deserializers of `toml` ignore excess
/// elements of an array, and structs that derive `Deserialize` accept arrays. Here an array must have
/// the length of its type, and a struct must be a table.
pub(super) fn deserialize_exactly<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<T, D::Error> {
    T::deserialize(Exact(from))
}

/// Wraps a deserializer, seed or access, and recursively those of nested values.
struct Exact<T>(T);

/// The arrays that a type accepts.
#[derive(Clone, Copy)]
enum Takes {
    /// Arrays of any length.
    Array,
    /// Arrays of this length.
    ArrayOf(usize),
    NoArray,
}

/// Checks arrays before `visitor` gets them.
struct ExactVisitor<V> {
    visitor: V,
    takes: Takes,
}

impl<V> ExactVisitor<V> {
    fn of(visitor: V) -> Self {
        Self { visitor, takes: Takes::Array }
    }
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Exact<D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(ExactVisitor::of(visitor))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_option(ExactVisitor::of(visitor))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_newtype_struct(name, ExactVisitor::of(visitor))
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let takes = Takes::ArrayOf(length);
        self.0.deserialize_tuple(length, ExactVisitor { visitor, takes })
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let takes = Takes::ArrayOf(length);
        self.0.deserialize_tuple_struct(name, length, ExactVisitor { visitor, takes })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let takes = Takes::NoArray;
        self.0.deserialize_struct(name, fields, ExactVisitor { visitor, takes })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_enum(name, variants, ExactVisitor::of(visitor))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq map identifier ignored_any
    }
}

/// Forwards scalar values.
macro_rules! forward_visit {
    ($($name:ident: $type:ty),*) => {$(
        fn $name<E: Error>(self, value: $type) -> Result<V::Value, E> {
            self.visitor.$name(value)
        }
    )*};
}

impl<'de, V: Visitor<'de>> Visitor<'de> for ExactVisitor<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.expecting(f)
    }

    forward_visit! {
        visit_bool: bool, visit_i64: i64, visit_i128: i128, visit_u64: u64, visit_u128: u128,
        visit_f64: f64, visit_str: &str, visit_borrowed_str: &'de str, visit_string: String
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.visitor.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.visitor.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, value: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_some(Exact(value))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, value: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_newtype_struct(Exact(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<V::Value, A::Error> {
        let Self { visitor, takes } = self;
        let length = match takes {
            Takes::Array => return visitor.visit_seq(Exact(values)),
            Takes::NoArray => return Err(A::Error::invalid_type(Unexpected::Seq, &visitor)),
            Takes::ArrayOf(length) => length,
        };
        let value = visitor.visit_seq(Exact(&mut values))?;
        let mut found = length;
        while values.next_element::<IgnoredAny>()?.is_some() {
            found += 1;
        }
        if found == length {
            return Ok(value);
        }
        Err(A::Error::invalid_length(found, &format!("an array of length {length}").as_str()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_map(Exact(map))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, chosen: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_enum(Exact(chosen))
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Exact<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(Exact(from))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Exact<A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.0.next_element_seed(Exact(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Exact<A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.0.next_key_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(Exact(seed))
    }
}

impl<'de, A: EnumAccess<'de>> EnumAccess<'de> for Exact<A> {
    type Error = A::Error;
    type Variant = Exact<A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Self::Variant), A::Error> {
        self.0.variant_seed(seed).map(|(name, variant)| (name, Exact(variant)))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Exact<A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.0.unit_variant()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        self.0.newtype_variant_seed(Exact(seed))
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        let takes = Takes::ArrayOf(length);
        self.0.tuple_variant(length, ExactVisitor { visitor, takes })
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.0.struct_variant(fields, ExactVisitor { visitor, takes: Takes::NoArray })
    }
}
