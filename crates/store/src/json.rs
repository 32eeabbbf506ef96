//! Converts parts of a record to JSON and back, naming the field on errors.

use crate::json_path::path_at;
use kurabe_core::record::{Cell, Repetition};
use kurabe_core::{Error, ErrorKind, shown, text};
use serde::{Serialize, de::DeserializeOwned};
use std::borrow::Cow;
use std::fmt;

/// Error in a JSON text.
#[derive(Debug)]
pub(crate) struct Misfit {
    /// Path of the field, such as `cells[2].label`; empty at the root.
    pub field: String,
    /// Reason, with line and column.
    pub reason: String,
}

/// A value that JSON cannot represent, such as a map whose keys are not strings: a defect of
/// kurabe.
#[derive(Debug)]
pub(crate) struct Unwritable(pub serde_json::Error);

impl Unwritable {
    fn error(&self) -> Error {
        ErrorKind::Internal
            .error(text!("a record cannot be written as JSON", "測定記録を JSON にできません"))
            .because(self)
    }
}

impl fmt::Display for Unwritable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl std::error::Error for Unwritable {}

impl From<Unwritable> for Error {
    fn from(error: Unwritable) -> Self {
        error.error()
    }
}

impl From<Unwritable> for rusqlite::Error {
    fn from(error: Unwritable) -> Self {
        Self::ToSqlConversionFailure(Box::new(error))
    }
}

/// Returns the JSON of a value, with control characters escaped.
pub(crate) fn to_text(value: &impl Serialize) -> Result<String, Unwritable> {
    serde_json::to_string(value).map(shown).map_err(Unwritable)
}

/// Escapes characters in JSON that could control a terminal.
pub(crate) fn shown(text: String) -> String {
    match shown::json(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(shown) => shown,
    }
}

/// Parses a value; nothing may follow it.
pub(crate) fn from_slice<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Misfit> {
    serde_json::from_slice(bytes).map_err(|error| Misfit {
        field: path_at(bytes, error.line(), error.column()),
        reason: error.to_string(),
    })
}

/// Replaces values that JSON cannot represent.
///
/// JSON has no infinity or NaN. The only field that is a quotient of two measured times becomes 0,
/// so that the cell can always be stored.
pub(crate) fn make_finite(cell: &mut Cell) {
    cell.repetitions.iter_mut().for_each(make_repetition_finite);
}

/// Applies [`make_finite`] to one repetition.
pub(crate) fn make_repetition_finite(repetition: &mut Repetition) {
    if !repetition.generator_share.is_finite() {
        repetition.generator_share = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy_json::to_tidy_text;
    use std::collections::BTreeMap;

    #[test]
    fn a_value_that_json_cannot_hold_is_an_error() {
        let bad = BTreeMap::from([((1, 2), 3)]);
        for error in [to_text(&bad).unwrap_err(), to_tidy_text(&bad).unwrap_err()] {
            let error = Error::from(error);
            assert_eq!(error.kind(), ErrorKind::Internal);
            assert!(error.cause().is_some_and(|cause| cause.contains("key must be a string")), "{error}");
        }
        assert_eq!(to_text(&BTreeMap::from([("a", 3)])).unwrap(), r#"{"a":3}"#);
    }
}
