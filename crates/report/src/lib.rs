//! What people see of a run, as strings: the table, its details, progress, lists. Nothing is measured, stored or
//! decided here, and nothing but [`Progress`] writes anywhere.
//!
//! The model: a renderer takes a record and a [`Style`] (language, colour, width) and gives lines that fit the
//! width. Figures come from kurabe-stats; `number` gives them their shape, `doc` their layout.
//!
//! A folder for each thing that people look at: a `run`, runs beside each other (`compare`), work that goes on (`live`),
//! what they `publish`, a `study`, a `model`, the `machine`. All of them make documents (`doc`) of the same `words`.

mod compare;
mod doc;
mod live;
mod machine;
mod model;
mod publish;
mod run;
mod scripts;
mod study;
mod words;

pub use compare::*;
pub use doc::layout::display_width;
pub use doc::{Doc, Style};
pub use live::*;
pub use machine::*;
pub use model::*;
pub use publish::*;
pub use run::*;
pub use scripts::*;
pub use study::*;
pub use words::{directed, help_in_japanese, pause, repetition};
// The figures of a run for other programs.
pub use kurabe_stats::run_figures;
