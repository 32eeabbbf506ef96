//! A tape of random numbers as a data source for serde: every value that can be read from JSON can
//! be read from it. After the end of the tape, everything is zero, empty or absent.

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};
use serde::{Deserialize, de::value::Error, forward_to_deserialize_any};

const MOST_ELEMENTS: u64 = 3;
/// Counters that are summed over a run, so that the total must fit a counter.
const ADDED_UP: [&str; 14] = [
    "bytes",
    "completed",
    "count",
    "elapsed_ns",
    "failed",
    "latency_ns",
    "operations",
    "read_bytes",
    "stall_count",
    "submitted",
    "time_ns",
    "trim_bytes",
    "unserved_operations",
    "write_bytes",
];

/// The tape. The parent module implements constraints beyond the type of a field.
pub(super) struct Tape {
    numbers: std::vec::IntoIter<u64>,
    /// Name of the field that is being read.
    field: &'static str,
    /// Whether the record is of another tool.
    pub(super) is_foreign: bool,
}

impl Tape {
    pub(super) fn new(numbers: Vec<u64>) -> Self {
        let mut tape = Self { numbers: numbers.into_iter(), field: "", is_foreign: false };
        tape.is_foreign = tape.below(3) == 1;
        tape
    }

    pub(super) fn number(&mut self) -> u64 {
        self.numbers.next().unwrap_or(0)
    }

    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.number() % limit
    }

    pub(super) fn pick<'c, T>(&mut self, choices: &'c [T]) -> &'c T {
        &choices[self.number() as usize % choices.len()]
    }

    /// Returns an arbitrary value of a type.
    pub(super) fn any<'de, T: Deserialize<'de>>(&mut self) -> T {
        T::deserialize(self).unwrap_or_else(|error| panic!("{error}"))
    }

    pub(super) fn words(&mut self) -> String {
        const CHARS: [char; 24] = [
            'a', '比', 'べ', '"', '\\', '\n', '\0', '\u{1b}', ' ', 'ﾊ', '😀', '\u{2028}', '\u{feff}', '}',
            '=', '|', '`', '<', '&', '\t', '\u{7f}', '\u{9b}', '\u{202e}', '\u{2066}',
        ];
        (0..self.below(6)).map(|_| *self.pick(&CHARS)).collect()
    }
}

impl<'de> Deserializer<'de> for &mut Tape {
    type Error = Error;

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_bool(self.below(2) == 1)
    }

    /// All numbers of this type are percentages.
    fn deserialize_u8<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_u8(self.below(101) as u8)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_u32((self.number() >> 32) as u32)
    }

    fn deserialize_i32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_i32((self.number() >> 32) as i32)
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_i64(self.number() as i64)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let shift = match self.field {
            field if ADDED_UP.contains(&field) => 5,
            // Leaves room for the end of the range.
            "offset_bytes" => 1,
            _ => 0,
        };
        visitor.visit_u64(self.number() >> shift)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let field = self.field;
        visitor.visit_f64(self.fraction(field))
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_string(self.words())
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.below(2) == 1 { visitor.visit_some(self) } else { visitor.visit_none() }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let left = self.below(MOST_ELEMENTS + 1);
        visitor.visit_seq(Elements { left, tape: self })
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_seq(Elements { left: length as u64, tape: self })
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let left = self.below(MOST_ELEMENTS + 1);
        visitor.visit_map(Elements { left, tape: self })
    }

    /// The last field is read first, so that a short tape still reaches the cells of a run.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        structure: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.with_access_pattern(structure) {
            Some(value) => value.deserialize_map(visitor).map_err(Error::custom),
            None => visitor.visit_map(Fields { structure, left: fields, tape: self }),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let variant = self.pick(variants);
        visitor.visit_enum(Variant { variant, tape: self })
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.step().deserialize_any(visitor).map_err(Error::custom)
    }

    forward_to_deserialize_any! {
        i8 i16 u16 f32 char str bytes byte_buf unit unit_struct newtype_struct tuple_struct identifier ignored_any
    }
}

struct Fields<'t> {
    structure: &'static str,
    left: &'static [&'static str],
    tape: &'t mut Tape,
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let Some((field, left)) = self.left.split_last() else { return Ok(None) };
        (self.left, self.tape.field) = (left, field);
        seed.deserialize(field.into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let field = self.tape.field;
        match self.tape.special(self.structure, field) {
            Some(value) => seed.deserialize(value).map_err(Error::custom),
            None => {
                self.tape.field = field;
                seed.deserialize(&mut *self.tape)
            }
        }
    }
}

/// Elements of a list, or of a map with arbitrary keys.
struct Elements<'t> {
    left: u64,
    tape: &'t mut Tape,
}

impl<'de> SeqAccess<'de> for Elements<'_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        self.left = left;
        seed.deserialize(&mut *self.tape).map(Some)
    }
}

impl<'de> MapAccess<'de> for Elements<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        self.next_element_seed(seed)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        seed.deserialize(&mut *self.tape)
    }
}

struct Variant<'t> {
    variant: &'static str,
    tape: &'t mut Tape,
}

impl<'de, 't> EnumAccess<'de> for Variant<'t> {
    type Error = Error;
    type Variant = &'t mut Tape;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self::Variant), Error> {
        Ok((seed.deserialize(self.variant.into_deserializer())?, self.tape))
    }
}

impl<'de> VariantAccess<'de> for &mut Tape {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_tuple(length, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_struct("", fields, visitor)
    }
}
