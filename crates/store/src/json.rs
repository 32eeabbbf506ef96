//! Parts of a record as JSON text, and back with the field named when that fails.

use kurabe_core::record::{Cell, Repetition};
use kurabe_core::shown;
use serde::{Serialize, de::DeserializeOwned};
use std::borrow::Cow;

/// What is wrong with a JSON text, and where.
#[derive(Debug)]
pub(crate) struct Misfit {
    /// The field, such as `cells[2].label`; empty when the text is not JSON at all.
    pub field: String,
    /// The reason, with line and column.
    pub reason: String,
}

/// JSON text of a value, in which no character acts on what shows it.
pub(crate) fn to_text(value: &impl Serialize) -> String {
    // The types of a record have string keys only, and a string can always be written to.
    shown(serde_json::to_string(value).expect("a record is always JSON"))
}

/// The same JSON, with escapes for what acts on what shows it.
pub(crate) fn shown(text: String) -> String {
    match shown::json(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(shown) => shown,
    }
}

/// Reads a value; nothing may follow it.
pub(crate) fn from_slice<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Misfit> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let field = error.path().to_string();
        Misfit { field: if field == "." { String::new() } else { field }, reason: error.inner().to_string() }
    })?;
    reader.end().map_err(|error| Misfit { field: String::new(), reason: error.to_string() })?;
    Ok(value)
}

/// JSON has no infinity and no "not a number": the one share that is a quotient of two measured times becomes 0, so
/// that a measured cell is never lost to it.
pub(crate) fn make_finite(cell: &mut Cell) {
    cell.repetitions.iter_mut().for_each(make_repetition_finite);
}

/// [`make_finite`] of one repetition.
pub(crate) fn make_repetition_finite(repetition: &mut Repetition) {
    if !repetition.generator_share.is_finite() {
        repetition.generator_share = 0.0;
    }
}
