//! Values of a layer's parameters, each with its source and its position in the file.

use crate::schema::Parameter;
use kurabe_core::{Error, ErrorKind, Place, Result, Text, mention::MODELS_SHOW, text};
use std::sync::Arc;

/// Rows of numbers, shared: a measured drive has hundreds, and every stack that is built or cloned
/// refers to them.
pub(crate) type Rows = Arc<[Vec<f64>]>;

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Worth {
    /// A size in bytes, a time in nanoseconds, or a count.
    Whole(u64),
    /// A rate in bytes per second, or a number.
    Real(f64),
    Flag(bool),
    Word(&'static str),
    Rows(Rows),
}

impl Worth {
    /// Returns it as a number: a flag is 1 or 0.
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Self::Whole(number) => Some(*number as f64),
            Self::Real(number) => Some(*number),
            Self::Flag(flag) => Some(f64::from(u8::from(*flag))),
            Self::Word(_) | Self::Rows(_) => None,
        }
    }
}

/// The value of a parameter with its origin.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The parameter.
    pub parameter: &'static Parameter,
    pub(crate) worth: Worth,
    /// The value as it was written, with its unit.
    pub written: String,
    /// A URL, a document, `derived: …`, or `calibrated: …`.
    pub source: String,
    pub(crate) place: Option<Place>,
    /// Whether the command line or a study changed it.
    pub changed: bool,
}

impl Setting {
    /// Reads a value with its position.
    ///
    /// # Errors
    /// Returns an error if it is not a valid value of the parameter.
    pub(crate) fn read(
        parameter: &'static Parameter,
        value: &kurabe_core::Value<'_>,
        source: &str,
    ) -> Result<Self> {
        Ok(Self {
            parameter,
            worth: parameter.read(value)?,
            written: value.written().to_owned(),
            source: source.to_owned(),
            place: Some(value.place()),
            changed: false,
        })
    }

    /// Returns the value in the unit of its type, if it is a number; 1 or 0 for a flag.
    pub fn number(&self) -> Option<f64> {
        self.worth.number()
    }

    /// Reports the bug of a layer that does not support changing this parameter, although the table
    /// marks it as live.
    ///
    /// # Panics
    /// Always.
    pub fn refused(&self) {
        panic!("the layer does not support changes of `{}`", self.parameter.key)
    }
}

/// A value in the form that layers store.
pub(crate) trait LayerValue {
    /// Returns the value of a setting.
    ///
    /// # Panics
    /// If it has another type, which is a bug in the layer that reads it.
    fn of(setting: &Setting) -> Self;
}

/// Implements `LayerValue` for the type of one variant.
macro_rules! value {
    ($kept:ty: $variant:ident) => {
        impl LayerValue for $kept {
            fn of(setting: &Setting) -> Self {
                match &setting.worth {
                    Worth::$variant(value) => value.clone(),
                    worth => panic!("`{}` is {worth:?}", setting.parameter.key),
                }
            }
        }
    };
}

value!(u64: Whole);
value!(f64: Real);
value!(bool: Flag);
value!(&'static str: Word);
value!(Rows: Rows);

/// Values that a layer stores of its parameters.
pub(crate) trait Live {
    /// Sets a parameter that may change while requests are served.
    fn change(&mut self, setting: &Setting);
}

/// The values of a layer: one for each of its parameters.
#[derive(Clone, Debug, Default)]
pub struct LayerSettings {
    pub(crate) list: Vec<Setting>,
}

impl LayerSettings {
    /// Returns all of them, in the order of the layer's parameters.
    pub fn iter(&self) -> impl Iterator<Item = &Setting> {
        self.list.iter()
    }

    /// Replaces the sources for which `source` returns another one.
    pub(crate) fn set_sources(&mut self, source: impl Fn(&Setting) -> Option<String>) {
        for setting in &mut self.list {
            if let Some(source) = source(setting) {
                setting.source = source;
            }
        }
    }

    /// Returns whether both have the same values, regardless of their sources.
    pub(crate) fn are_same(&self, other: &Self) -> bool {
        let worths = |settings: &Self| {
            settings
                .list
                .iter()
                .map(|setting| (setting.parameter.key, setting.worth.clone()))
                .collect::<Vec<_>>()
        };
        worths(self) == worths(other)
    }

    /// Returns the setting of a key, if there is one: `members` has none if members are listed.
    pub(crate) fn find(&self, key: &str) -> Option<&Setting> {
        self.list.iter().find(|setting| setting.parameter.key == key)
    }

    /// Replaces the setting of a parameter, or adds it.
    pub(crate) fn put(&mut self, setting: Setting) {
        match self.list.iter_mut().find(|other| other.parameter.key == setting.parameter.key) {
            Some(other) => *other = setting,
            None => self.list.push(setting),
        }
    }

    /// Returns the setting of a key that its kind of layer has.
    ///
    /// # Panics
    /// If the kind of layer has no such parameter, which is a bug in the layer.
    pub(crate) fn setting(&self, key: &str) -> &Setting {
        self.find(key).unwrap_or_else(|| panic!("the layer has no parameter `{key}`"))
    }

    /// Returns an error about a parameter, with its position in the file or the value that the user
    /// gave.
    pub(crate) fn error(&self, layer: &str, key: &str, what: &Text) -> Error {
        let setting = self.find(key);
        let (kind, at) = match setting.filter(|setting| setting.changed) {
            Some(setting) => (ErrorKind::Usage, format!("{layer}.{key}={}", setting.written)),
            None => (ErrorKind::DataFile, format!("{layer}.{key}")),
        };
        let error = Error::new(kind, text!("{at}: {what}", "{at}: {what}"; what)).remedy(text!(
            "see the meaning of every parameter of a model with `{MODELS_SHOW}`",
            "各パラメーターの意味は `{MODELS_SHOW}` で確認できます"
        ));
        match setting.and_then(|setting| setting.place.clone()) {
            Some(place) => error.at(place),
            None => error,
        }
    }
}
