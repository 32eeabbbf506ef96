//! A run in one sentence: the class of the device, one special property, and one warning, in at
//! most 25 words.
//!
//! The model: memory, a page cache and a failure come first and alone, because the figures are then
//! not the drive's. Otherwise the sentence begins with the class that `kurabe_study` compares the
//! run with. It continues with a property that the mechanism of the device explains, and ends with
//! the most important warning. Some cells are not compared with a class: those served from memory,
//! writes that wait for the medium, and points of a sweep whose working set may fit into the
//! drive's memory. A clause without sufficient evidence is left out.
//!
//! # To add a clause
//!
//! - Write it in `assessment/class.rs`, `property.rs` or `warning.rs`, in the order of importance.
//! - Add a run that has it, and one that nearly has it, to `testkit/tests/rooms/first_sentences.rs`. Read all sentences
//!   in `first_sentences.txt` next to it.

mod class;
mod not_a_drive;
mod property;
mod warning;

use crate::words;
use kurabe_compare::{Fitness, Out, Use, fitness};
use kurabe_core::Text;
use kurabe_core::imported::ImportedCell;
use kurabe_core::record::{Cell, RunRecord};
use kurabe_explain::{CellLimit, LimitKind, SweepAxis, limits, swept_axis};
use kurabe_study::catalogue::Catalogue;
use kurabe_study::{Likeness, likeness};
use serde::Serialize;

pub use class::usual_words;
pub(crate) use not_a_drive::host_memory_words;

/// Maximum number of words in the English sentence. Users don't read a longer one.
const MOST_WORDS: usize = 25;

/// A run in one sentence, and the basis of the sentence.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Assessment {
    /// The sentence.
    pub sentence: Text,
    /// The class of devices that the run is compared with.
    pub likeness: Option<Likeness>,
    /// The uses whose limits were all measured and met.
    pub fit: Vec<String>,
    /// The uses that the run is not fit for, each with the exceeded limit.
    pub unfit: Vec<Unfit>,
}

/// A use that a run is not fit for.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unfit {
    /// Name of the use.
    pub name: String,
    /// Title of the use.
    pub title: Text,
    /// The exceeded limit.
    pub out: Out,
}

impl Assessment {
    /// Assesses a run. `None` if it measured nothing, or if there is not enough evidence.
    pub fn of(record: &RunRecord) -> Option<Self> {
        let limits = limits(record);
        let span = |cell: &Cell| cell.workload.as_ref().map_or(0, |workload| workload.span_bytes);
        let largest = record.cells.iter().map(span).max().unwrap_or(0);
        let is_of_storage =
            |cell: &Cell| span(cell) == largest || swept_axis(record, cell) != Some(SweepAxis::WorkingSet);
        if record.cells.iter().all(is_of_storage) {
            return Self::by(record, &limits);
        }
        let cells = record.cells.iter().cloned().zip(limits).filter(|(cell, _)| is_of_storage(cell));
        let (cells, limits): (Vec<_>, Vec<_>) = cells.unzip();
        Self::by(&RunRecord { cells, ..record.clone() }, &limits)
    }

    fn by(record: &RunRecord, limits: &[CellLimit]) -> Option<Self> {
        if let Some(sentence) = not_a_drive::sentence(record, limits) {
            let sentence = words::sentence(&sentence);
            return Some(Self { sentence, likeness: None, fit: Vec::new(), unfit: Vec::new() });
        }
        let is_memory = |cell: usize| {
            let imported = record.cells[cell].imported.as_ref();
            limits[cell].limit.kind == LimitKind::HostMemory
                || imported.is_some_and(ImportedCell::is_from_memory)
        };
        let likeness = likeness(record, Catalogue::built_in(), is_memory);
        let (fit, unfit) = uses(record);
        let classes = class::clauses(record, likeness.as_ref());
        let property = property::clause(record);
        let warnings = warning::clauses(record, limits, &unfit, property.is_some());
        let sentence = words::sentence(&shortened(&classes, property.as_ref(), &warnings)?);
        Some(Self { sentence, likeness, fit, unfit })
    }
}

/// Joins the longest forms of the clauses that make a sentence of at most 25 words. The class is
/// shortened first, then the warning. If that is not enough, the property is left out.
fn shortened(classes: &[Text], property: Option<&Text>, warnings: &[Text]) -> Option<Text> {
    let shortest = classes.last()?;
    let warnings: Vec<Option<&Text>> = match warnings {
        [] => vec![None],
        forms => forms.iter().map(Some).collect(),
    };
    let properties = if property.is_some() { vec![property, None] } else { vec![None] };
    let forms = properties.iter().flat_map(|property| {
        let warned = warnings.iter().map(move |warning| [*property, *warning]);
        warned.flat_map(|rest| classes.iter().map(move |class| (class, rest)))
    });
    let sentences = forms.map(|(class, rest)| {
        Text::clauses(std::iter::once(class).chain(rest.into_iter().flatten()).cloned())
    });
    let is_short = |sentence: &Text| sentence.en.split_whitespace().count() <= MOST_WORDS;
    sentences.into_iter().find(is_short).or_else(|| Some(shortest.clone()))
}

/// Returns the uses whose limits a run meets, and those with a limit that it exceeds.
fn uses(record: &RunRecord) -> (Vec<String>, Vec<Unfit>) {
    let (mut fit, mut unfit) = (Vec::new(), Vec::new());
    for (Use { name, title, .. }, fitness) in fitness(record, Use::built_in()) {
        match fitness {
            Fitness::Broken(out) => unfit.push(Unfit { name: name.clone(), title: title.clone(), out }),
            Fitness::Met => fit.push(name.clone()),
            Fitness::Unknown => {}
        }
    }
    (fit, unfit)
}
