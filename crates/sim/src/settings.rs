//! The values of a layer's parameters, each with its source and the place where it stands.

use kurabe_core::{Error, ErrorKind, Place, Text, text};

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Worth {
    /// A size in bytes, a time in nanoseconds, or a count.
    Whole(u64),
    /// A rate in bytes per second, or a number.
    Real(f64),
    Flag(bool),
    Word(&'static str),
    Rows(Vec<Vec<f64>>),
}

/// A parameter's value.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The parameter's key.
    pub key: &'static str,
    pub(crate) worth: Worth,
    /// As it was written, with its unit.
    pub written: String,
    /// An address, a document, `derived: …`, or `calibrated: …`.
    pub source: String,
    pub(crate) place: Option<Place>,
    /// Whether the command line or a study changed it.
    pub changed: bool,
}

impl Setting {
    /// The value, if it is a size, a time in nanoseconds or a count.
    pub(crate) fn whole(&self) -> Option<u64> {
        match self.worth {
            Worth::Whole(value) => Some(value),
            _ => None,
        }
    }
}

/// The values of a layer: one for each of its parameters.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub(crate) list: Vec<Setting>,
}

impl Settings {
    /// All of them, in the order of the layer's parameters.
    pub fn iter(&self) -> impl Iterator<Item = &Setting> {
        self.list.iter()
    }

    /// Whether both hold the same values, in whatever order and from whatever source.
    pub(crate) fn are_same(&self, other: &Self) -> bool {
        let has = |setting: &Setting| {
            other.list.iter().any(|same| same.key == setting.key && same.worth == setting.worth)
        };
        self.list.len() == other.list.len() && self.list.iter().all(has)
    }

    /// The value of a key that its kind of layer has.
    ///
    /// # Panics
    /// When the kind of layer has no such parameter: a defect of the layer.
    pub(crate) fn worth(&self, key: &str) -> &Worth {
        let found = self.list.iter().find(|setting| setting.key == key);
        &found.unwrap_or_else(|| panic!("the layer has no parameter `{key}`")).worth
    }

    /// An error at a parameter: its place in the file, or the value that the user gave it.
    pub(crate) fn error(&self, layer: &str, key: &str, what: &Text) -> Error {
        let setting = self.list.iter().find(|setting| setting.key == key);
        let (kind, at) = match setting.filter(|setting| setting.changed) {
            Some(setting) => (ErrorKind::Usage, format!("{layer}.{key}={}", setting.written)),
            None => (ErrorKind::DataFile, format!("{layer}.{key}")),
        };
        let error =
            Error::new(kind, Text { en: format!("{at}: {}", what.en), ja: format!("{at}: {}", what.ja) })
                .remedy(text!(
                    "`kurabe models show` tells what every parameter of a model means",
                    "各パラメーターの意味は `kurabe models show` で確認できます"
                ));
        match setting.and_then(|setting| setting.place.clone()) {
            Some(place) => error.at(place),
            None => error,
        }
    }
}
