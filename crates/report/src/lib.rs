//! Presentation of runs as strings: tables, details, progress, lists. Nothing is measured, stored
//! or decided here, and only [`Progress`] writes output.
//!
//! The model: a renderer takes a record and a [`Style`] (language, colour, width) and returns lines
//! that fit the width. Figures come from kurabe-stats. `number` formats them, and `doc` lays them
//! out.
//!
//! There is a folder for each subject: a `run`, a comparison of runs (`compare`), work in progress
//! (`live`), output to `publish`, a `study`, a `model`, the `machine`. All of them create documents
//! (`doc`) and share `words`.

mod compare;
mod identity;
mod inference;
mod live;
mod machine;
mod model;
mod publish;
mod run;
mod scripts;
mod study;
mod words;

pub use compare::*;
pub use identity::{identity_doc, identity_plan_doc, stage_words};
pub use inference::inference_doc;
pub use kurabe_doc::layout::display_width;
pub use kurabe_doc::{Doc, Style};
pub use live::*;
pub use machine::*;
pub use model::*;
pub use publish::*;
pub use run::*;
pub use scripts::*;
pub use study::*;
pub use words::{directed, help_in_japanese, pause, repetition};
// The figures of a run, for other programs.
pub use kurabe_stats::run_figures;
