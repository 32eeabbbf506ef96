//! What a kind of layer gets to build one of it.

use crate::account::{Cause, CauseFacts, Counter, CounterFacts};
use crate::settings::{Settings, Worth};
use crate::world::LayerId;
use kurabe_core::random::Random;
use kurabe_core::{Error, Text};

/// Causes and counters of a stack, as its layers name them. Layers of one name share them.
#[derive(Debug)]
pub(crate) struct Register {
    pub(crate) causes: Vec<CauseFacts>,
    pub(crate) counters: Vec<CounterFacts>,
}

/// A layer under construction. Its parameters are asked for by key; asking for one that the kind does not have, or as
/// another type, is a defect and panics.
pub struct Builder<'a> {
    pub(crate) name: &'a str,
    pub(crate) settings: &'a Settings,
    /// What stands below: the layer, the bytes of each of its units, and how many units it has.
    pub(crate) below: &'a [(LayerId, u64, u16)],
    pub(crate) register: &'a mut Register,
    pub(crate) random: Random,
}

impl Builder<'_> {
    /// A size.
    pub fn bytes(&self, key: &str) -> u64 {
        self.whole(key)
    }

    /// A time in nanoseconds; an hour at most.
    pub fn ns(&self, key: &str) -> u64 {
        self.whole(key)
    }

    /// A count.
    pub fn count(&self, key: &str) -> u64 {
        self.whole(key)
    }

    fn whole(&self, key: &str) -> u64 {
        match &self.settings.setting(key).worth {
            Worth::Whole(value) => *value,
            other => panic!("`{key}` is {other:?}"),
        }
    }

    /// Bytes per second.
    pub fn rate(&self, key: &str) -> f64 {
        self.number(key)
    }

    /// A number.
    pub fn number(&self, key: &str) -> f64 {
        match &self.settings.setting(key).worth {
            Worth::Real(value) => *value,
            other => panic!("`{key}` is {other:?}"),
        }
    }

    /// `true` or `false`.
    pub fn flag(&self, key: &str) -> bool {
        match &self.settings.setting(key).worth {
            Worth::Flag(value) => *value,
            other => panic!("`{key}` is {other:?}"),
        }
    }

    /// One of the parameter's words.
    pub fn word(&self, key: &str) -> &'static str {
        match &self.settings.setting(key).worth {
            Worth::Word(value) => value,
            other => panic!("`{key}` is {other:?}"),
        }
    }

    /// Rows of numbers.
    pub fn rows(&self, key: &str) -> &[Vec<f64>] {
        match &self.settings.setting(key).worth {
            Worth::Rows(rows) => rows,
            other => panic!("`{key}` is {other:?}"),
        }
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
    pub fn random(&mut self) -> Random {
        self.random.clone()
    }

    /// Names something that time can go to. `explanation` is one sentence for somebody who never heard of it.
    pub fn cause(&mut self, key: &'static str, name: Text, explanation: Text) -> Cause {
        self.named(key, name, explanation, false)
    }

    /// The same of standing in line: time in which others are served, so that what bounds them bounds this, too.
    pub fn line(&mut self, key: &'static str, name: Text, explanation: Text) -> Cause {
        self.named(key, name, explanation, true)
    }

    fn named(&mut self, key: &'static str, name: Text, explanation: Text, in_line: bool) -> Cause {
        let causes = &mut self.register.causes;
        let known = causes.iter().position(|cause| cause.layer == self.name && cause.key == key);
        let index = known.unwrap_or_else(|| {
            causes.push(CauseFacts { layer: self.name.to_owned(), key, name, explanation, in_line });
            causes.len() - 1
        });
        Cause(index as u16)
    }

    /// Names something that is counted.
    pub fn counter(&mut self, key: &'static str, name: Text) -> Counter {
        let counters = &mut self.register.counters;
        let known = counters.iter().position(|counter| counter.layer == self.name && counter.key == key);
        let index = known.unwrap_or_else(|| {
            counters.push(CounterFacts { layer: self.name.to_owned(), key, name });
            counters.len() - 1
        });
        Counter(index as u16)
    }
}
