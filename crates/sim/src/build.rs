//! The builder that each kind of layer gets to construct a layer.

use crate::account::{Cause, CauseFacts, Counter, CounterFacts};
use crate::settings::{LayerSettings, LayerValue};
use crate::world::LayerId;
use kurabe_core::model::CauseClass;
use kurabe_core::random::Random;
use kurabe_core::{Error, Text};

/// Names, causes and counters of the layers of a stack. Layers with the same name share causes and
/// counters.
#[derive(Clone, Debug)]
pub(crate) struct Register {
    /// Names of the layers in the order of the device file, without duplicates.
    pub(crate) names: Vec<String>,
    pub(crate) causes: Vec<CauseFacts>,
    pub(crate) counters: Vec<CounterFacts>,
}

impl Register {
    /// Returns the index of a layer's name and adds the name if it is new.
    pub(crate) fn name(&mut self, name: &str) -> u16 {
        place_of(&mut self.names, |kept| kept == name, name.to_owned())
    }

    /// Returns the indices of causes and of counters in the order of a record: by layer, then in
    /// order of declaration. Unexplained time comes first.
    pub(crate) fn order(&self) -> (Vec<usize>, Vec<usize>) {
        let mut causes: Vec<usize> = (0..self.causes.len()).collect();
        causes[1..].sort_by_key(|place| self.causes[*place].layer);
        let mut counters: Vec<usize> = (0..self.counters.len()).collect();
        counters.sort_by_key(|place| self.counters[*place].layer);
        (causes, counters)
    }
}

/// Returns the index of the entry that `same` accepts, or appends `new`.
fn place_of<T>(list: &mut Vec<T>, same: impl FnMut(&T) -> bool, new: T) -> u16 {
    let place = list.iter().position(same).unwrap_or_else(|| {
        list.push(new);
        list.len() - 1
    });
    place as u16
}

/// Declares causes and counters whose texts are in a page: a field for each, with the builder call
/// that names it, and `new`, which names them all in this order.
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

/// Declares the parameters of a kind of layer, whose texts are in a page: a table of them, and a
/// struct with their values. The identifier between a key and its type is the field of the value; a
/// parameter without one is read elsewhere.
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

/// A layer below: its topmost layer, the bytes of each of its units, the number of units, and
/// whether it serves requests in order of arrival.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Branch {
    pub(crate) layer: LayerId,
    pub(crate) unit_bytes: u64,
    pub(crate) units: u16,
    pub(crate) in_turn: bool,
}

/// A layer under construction. `parameters!` reads its parameters by key. Reading one that the kind
/// does not have, or with another type, is a bug and panics.
pub struct Builder<'a> {
    pub(crate) name: &'a str,
    /// Index of the name in the register.
    pub(crate) name_place: u16,
    pub(crate) settings: &'a LayerSettings,
    /// The layers below.
    pub(crate) below: &'a [Branch],
    pub(crate) register: &'a mut Register,
    pub(crate) random: Random,
}

impl Builder<'_> {
    /// Returns the value of a parameter.
    pub(crate) fn value<T: LayerValue>(&self, key: &str) -> T {
        T::of(self.settings.setting(key))
    }

    /// Returns an error about a parameter, with its position.
    pub fn error(&self, key: &str, what: &Text) -> Error {
        self.settings.error(self.name, key, what)
    }

    /// Returns the layer below, for a kind with exactly one.
    pub fn only_below(&self) -> LayerId {
        self.below[0].layer
    }

    /// Returns the bytes that each unit of every layer below has.
    pub fn below_bytes(&self) -> u64 {
        self.below.iter().map(|branch| branch.unit_bytes).min().unwrap_or(0)
    }

    /// Returns whether a single unit is below and serves requests in order of arrival: a request
    /// that queues here would otherwise queue there.
    pub(crate) fn below_in_turn(&self) -> bool {
        matches!(self.below, [Branch { units: 1, in_turn: true, .. }])
    }

    /// Returns everything below that can be addressed, in order; a layer with several units is
    /// listed once per unit.
    pub fn targets(&self) -> Vec<(LayerId, u16)> {
        let units = |branch: &Branch| (0..branch.units).map(|unit| (branch.layer, unit)).collect::<Vec<_>>();
        self.below.iter().flat_map(units).collect()
    }

    /// Returns this layer's own random number generator, seeded by the stack.
    pub fn random(&self) -> Random {
        self.random.clone()
    }

    /// Declares a cause: its name and one sentence of explanation for a reader who does not know
    /// the term, each in English and Japanese, and the class by which an outside observer can
    /// recognise it.
    pub fn cause(&mut self, key: &'static str, [en, ja, why, why_ja, class]: [&'static str; 5]) -> Cause {
        // A page with an unknown class does not compile.
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

    /// Declares a cause for waiting in a queue while other requests are served. The wait has the same
    /// bottleneck as those requests.
    pub fn line(&mut self, key: &'static str, texts: [&'static str; 4]) -> Cause {
        self.classed_cause(key, texts, CauseClass::Line)
    }

    /// Declares a counter with its English and Japanese name.
    pub fn counter(&mut self, key: &'static str, [en, ja]: [&'static str; 2]) -> Counter {
        let facts = CounterFacts { layer: self.name_place, key, name: (en, ja) };
        let same = |kept: &CounterFacts| (kept.layer, kept.key) == (facts.layer, facts.key);
        Counter(place_of(&mut self.register.counters, same, facts))
    }
}
