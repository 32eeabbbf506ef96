//! What a kind of layer gets to build one of it.

use crate::account::{Cause, CauseFacts, Counter, CounterFacts};
use crate::settings::{LayerSettings, LayerValue};
use crate::world::LayerId;
use kurabe_core::model::CauseClass;
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
        place_of(&mut self.names, |kept| kept == name, name.to_owned())
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
}

/// The place of an entry of a list; of a new one, if there is none like it.
fn place_of<T>(list: &mut Vec<T>, same: impl FnMut(&T) -> bool, new: T) -> u16 {
    let place = list.iter().position(same).unwrap_or_else(|| {
        list.push(new);
        list.len() - 1
    });
    place as u16
}

/// Declares causes and counters that a page has the texts of: a field for each with the call that names it to a builder, and
/// `new`, which names them all in this order.
macro_rules! words {
    (@type counter) => { $crate::account::Counter };
    (@type $cause:ident) => { $crate::account::Cause };
    (@sort counter) => { "counter" };
    (@sort $cause:ident) => { "cause" };
    ($(#[$doc:meta])* $visibility:vis struct $name:ident from $page:literal { $($field:ident: $kind:ident($key:literal);)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default)]
        $visibility struct $name {
            $($visibility $field: $crate::build::words!(@type $kind),)+
        }

        impl $name {
            $visibility fn new(builder: &mut $crate::build::Builder<'_>) -> Self {
                Self {
                    $($field: builder.$kind(
                        $key, $crate::vocabulary::entry!($page, $crate::build::words!(@sort $kind), $key),
                    ),)+
                }
            }
        }
    };
}
pub(crate) use words;

/// Declares the parameters of a kind of layer, whose meanings a page has: a table of them, and a struct that has their values.
/// What is named between a key and its type is the field of that value; a parameter without one is read in another way.
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
    ($(#[$doc:meta])* $visibility:vis struct $name:ident, $table:ident from $page:literal {
        $($key:literal $($field:ident)?: $kind:ident $(($($range:expr),+))?, $how:ident $(($value:expr, $source:expr))?
            $(.$change:ident($($with:expr)?))*;)+
    }) => {
        $visibility const $table: &[$crate::schema::Parameter] = &[$(
            $crate::schema::Parameter::$how(
                $key, $crate::build::parameters!(@kind $kind $(($($range),+))?), $($value, $source,)?
                $crate::vocabulary::entry!($page, "parameter", $key),
            )$(.$change($($with)?))*,
        )+];

        $(#[$doc])*
        #[derive(Clone, Debug, Default)]
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

/// What stands below a layer: its topmost layer, the bytes of each of that one's units, how many units it
/// has, and whether it serves requests in turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Branch {
    pub(crate) layer: LayerId,
    pub(crate) unit_bytes: u64,
    pub(crate) units: u16,
    pub(crate) in_turn: bool,
}

/// A layer under construction. Its parameters are asked for by key, which `parameters!` does; asking for one that the kind
/// does not have, or as another type, is a defect and panics.
pub struct Builder<'a> {
    pub(crate) name: &'a str,
    /// Place of that name in the register.
    pub(crate) name_place: u16,
    pub(crate) settings: &'a LayerSettings,
    /// What stands below.
    pub(crate) below: &'a [Branch],
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
        self.below[0].layer
    }

    /// Bytes that each unit of every layer below has.
    pub fn below_bytes(&self) -> u64 {
        self.below.iter().map(|branch| branch.unit_bytes).min().unwrap_or(0)
    }

    /// Whether one thing is below and serves requests in turn: who waits here for others would wait there.
    pub(crate) fn below_in_turn(&self) -> bool {
        matches!(self.below, [Branch { units: 1, in_turn: true, .. }])
    }

    /// Everything below that can be addressed, in order: layers with several units stand for each of them.
    pub fn targets(&self) -> Vec<(LayerId, u16)> {
        let units = |branch: &Branch| (0..branch.units).map(|unit| (branch.layer, unit)).collect::<Vec<_>>();
        self.below.iter().flat_map(units).collect()
    }

    /// A generator of random numbers of this layer's own, set by the seed of the stack.
    pub fn random(&self) -> Random {
        self.random.clone()
    }

    /// Names something that time can go to: its name and one sentence for somebody who never heard of it, in English and
    /// Japanese, and what somebody outside can know it by.
    pub fn cause(&mut self, key: &'static str, [en, ja, why, why_ja, class]: [&'static str; 5]) -> Cause {
        // A page with another word does not compile.
        let class = CauseClass::named(class).unwrap_or_default();
        self.classed_cause(key, [en, ja, why, why_ja], class)
    }

    fn classed_cause(
        &mut self,
        key: &'static str,
        [en, ja, why, why_ja]: [&'static str; 4],
        class: CauseClass,
    ) -> Cause {
        let (layer, name, explanation) = (self.name_place, (en, ja), (why, why_ja));
        let same = |kept: &CauseFacts| (kept.layer, kept.key) == (layer, key);
        let facts = CauseFacts { layer, key, name, explanation, class };
        Cause(place_of(&mut self.register.causes, same, facts))
    }

    /// The same of standing in line: time in which others are served, so that what bounds them bounds this, too.
    pub fn line(&mut self, key: &'static str, texts: [&'static str; 4]) -> Cause {
        self.classed_cause(key, texts, CauseClass::Line)
    }

    /// Names something that is counted, in English and Japanese.
    pub fn counter(&mut self, key: &'static str, [en, ja]: [&'static str; 2]) -> Counter {
        let facts = CounterFacts { layer: self.name_place, key, name: (en, ja) };
        let same = |kept: &CounterFacts| (kept.layer, kept.key) == (facts.layer, facts.key);
        Counter(place_of(&mut self.register.counters, same, facts))
    }
}
