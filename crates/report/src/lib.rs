//! Presentation of runs as strings: tables, details, lists, reports, cards. Nothing is measured, stored or
//! decided here, and nothing is printed.
//!
//! The model: a renderer takes a record and a [`Style`] (language, colour, width) and returns lines
//! that fit the width. Figures come from kurabe-stats. `number` formats them, and `doc` lays them
//! out.
//!
//! There is a folder for each subject: a `run`, a comparison of runs (`compare`), output to `publish`, a
//! `study`, a `model`, the `machine`. All of them create documents (`doc`) and share `words`. Progress and
//! the lines of JSON are in `show` of the command line.

mod compare;
mod machine;
mod model;
mod publish;
mod run;
mod study;
pub mod words;

pub use compare::*;
pub use kurabe_doc::layout::display_width;
pub use kurabe_doc::{Doc, Style};
pub use machine::*;
pub use model::*;
pub use publish::*;
pub use run::*;
pub use study::*;
pub use words::help_in_japanese;
// The figures of a run, for other programs.
pub use kurabe_stats::run_figures;
