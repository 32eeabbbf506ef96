//! What a kind of layer gets to build one of it.

use crate::account::{Cause, CauseFacts, Counter, CounterFacts, Words};
use crate::settings::{LayerSettings, LayerValue};
use crate::world::LayerId;
use kurabe_core::random::Random;
use kurabe_core::{Error, Text};

/// Layers, causes and counters of a stack by name. Layers of one name share causes and counters.
#[derive(Clone, Debug)]
pub(crate) struct Register {
    /// Names of layers in the order in which they stand in the device file, each once.
    pub(crate) names: Vec<String>,
    pub(crate) causes: Vec<CauseFacts>,
    pub(crate) counters: Vec<CounterFacts>,
}

impl Register {
    /// The place of a layer's name, which is added if it is new.
    pub(crate) fn name(&mut self, name: &str) -> u16 {
        let place = self.names.iter().position(|kept| kept == name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        place as u16
    }

    /// Places of causes and of counters in the order of a record: by layer, then as they were named. What no layer
    /// accounted for comes first.
    pub(crate) fn order(&self) -> (Vec<usize>, Vec<usize>) {
        let mut causes: Vec<usize> = (0..self.causes.len()).collect();
        causes[1..].sort_by_key(|place| self.causes[*place].layer);
        let mut counters: Vec<usize> = (0..self.counters.len()).collect();
        counters.sort_by_key(|place| self.counters[*place].layer);
        (causes, counters)
    }

    fn cause(&mut self, facts: CauseFacts) -> Cause {
        let same = |kept: &CauseFacts| (kept.layer, kept.key) == (facts.layer, facts.key);
        let place = self.causes.iter().position(same).unwrap_or_else(|| {
            self.causes.push(facts);
            self.causes.len() - 1
        });
        Cause(place as u16)
    }
}

/// Declares causes and counters: a field for each with the call that names it to a builder, and `new`, which names them all
/// in this order.
macro_rules! words {
    (@type counter) => { $crate::account::Counter };
    (@type $cause:ident) => { $crate::account::Cause };
    ($(#[$doc:meta])* $visibility:vis struct $name:ident { $($field:ident: $kind:ident($($words:expr),+);)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        $visibility struct $name {
            $($visibility $field: $crate::build::words!(@type $kind),)+
        }

        impl $name {
            $visibility fn new(builder: &mut $crate::build::Builder<'_>) -> Self {
                Self { $($field: builder.$kind($($words),+),)+ }
            }
        }
    };
}
pub(crate) use words;

/// Declares the parameters of a kind of layer: a table of them, and a struct that has their values. What is named between a key
/// and its type is the field of that value; a parameter without one is read in another way.
macro_rules! parameters {
    (@kind SIZE) => { $crate::schema::SIZE };
    (@kind SOME_SIZE) => { $crate::schema::SOME_SIZE };
    (@kind $kind:ident $(($($range:expr),+))?) => { $crate::schema::ParameterType::$kind$(($($range),+))? };
    (@type Rate) => { f64 };
    (@type Number) => { f64 };
    (@type Flag) => { bool };
    (@type Word) => { &'static str };
    (@type Rows) => { $crate::settings::Rows };
    (@type $whole:ident) => { u64 };
    ($(#[$doc:meta])* $visibility:vis struct $name:ident, $table:ident {
        $($key:literal $($field:ident)?: $kind:ident $(($($range:expr),+))?, $how:ident $(($value:expr, $source:expr))?
            $(.$change:ident($($with:expr)?))*, $meaning:expr;)+
    }) => {
        $visibility const $table: &[$crate::schema::Parameter] = &[$(
            $crate::schema::Parameter::$how(
                $key, $crate::build::parameters!(@kind $kind $(($($range),+))?), $($value, $source,)? $meaning,
            )$(.$change($($with)?))*,
        )+];

        $(#[$doc])*
        #[derive(Clone, Debug)]
        $visibility struct $name {
            $($($visibility $field: $crate::build::parameters!(@type $kind),)?)+
        }

        impl $name {
            $visibility fn new(builder: &$crate::build::Builder<'_>) -> Self {
                Self { $($($field: builder.value($key),)?)+ }
            }
        }

        impl $crate::settings::Live for $name {
            fn change(&mut self, setting: &$crate::settings::Setting) {
                match setting.parameter.key {
                    $($($key => self.$field = $crate::settings::LayerValue::of(setting),)?)+
                    _ => setting.refused(),
                }
            }
        }
    };
}
pub(crate) use parameters;

/// A layer under construction. Its parameters are asked for by key, which `parameters!` does; asking for one that the kind
/// does not have, or as another type, is a defect and panics.
pub struct Builder<'a> {
    pub(crate) name: &'a str,
    /// Place of that name in the register.
    pub(crate) name_place: u16,
    pub(crate) settings: &'a LayerSettings,
    /// What stands below: the layer, the bytes of each of its units, and how many units it has.
    pub(crate) below: &'a [(LayerId, u64, u16)],
    pub(crate) register: &'a mut Register,
    pub(crate) random: Random,
}

impl Builder<'_> {
    /// The value of a parameter.
    pub(crate) fn value<T: LayerValue>(&self, key: &str) -> T {
        T::of(self.settings.setting(key))
    }

    /// An error at a parameter, with its place.
    pub fn error(&self, key: &str, what: &Text) -> Error {
        self.settings.error(self.name, key, what)
    }

    /// The layer below, of a kind that has one.
    pub fn only_below(&self) -> LayerId {
        self.below[0].0
    }

    /// The layers below, in order.
    pub fn below(&self) -> impl ExactSizeIterator<Item = LayerId> {
        self.below.iter().map(|(layer, ..)| *layer)
    }

    /// Bytes of each unit of a layer below.
    pub fn below_capacity_bytes(&self, index: usize) -> u64 {
        self.below[index].1
    }

    /// Units of a layer below.
    pub fn below_units(&self, index: usize) -> u16 {
        self.below[index].2
    }

    /// A generator of random numbers of this layer's own, set by the seed of the stack.
    pub fn random(&self) -> Random {
        self.random.clone()
    }

    /// Names something that time can go to. `explanation` is one sentence for somebody who never heard of it.
    pub fn cause(&mut self, key: &'static str, name: Words, explanation: Words) -> Cause {
        self.register.cause(CauseFacts { layer: self.name_place, key, name, explanation, in_line: false })
    }

    /// The same of standing in line: time in which others are served, so that what bounds them bounds this, too.
    pub fn line(&mut self, key: &'static str, name: Words, explanation: Words) -> Cause {
        self.register.cause(CauseFacts { layer: self.name_place, key, name, explanation, in_line: true })
    }

    /// Names something that is counted.
    pub fn counter(&mut self, key: &'static str, name: Words) -> Counter {
        let facts = CounterFacts { layer: self.name_place, key, name };
        let counters = &mut self.register.counters;
        let same = |kept: &CounterFacts| (kept.layer, kept.key) == (facts.layer, facts.key);
        let place = counters.iter().position(same).unwrap_or_else(|| {
            counters.push(facts);
            counters.len() - 1
        });
        Counter(place as u16)
    }
}
