//! Studies and the catalogue: a product of targets and parameters laid out as tables, and published figures to stand
//! beside them.
//!
//! The model: a study is a file of parts; a part is a table of rows (targets with changed parameters) and columns
//! (figures taken out of a run). [`plan()`] turns it into points, each of which is measured once, by whoever is handed
//! in: nothing here measures, so that the same study runs on models and on real devices. Figures become a
//! [`StudyResult`], with the published ones, the error, and what each figure is: source, calibrated, predicted.
//!
//! Not here: how a table looks (kurabe-report), and how a point is measured (the engine, wired up by the command line).

mod axis;
pub mod catalogue;
mod figure;
mod plan;
mod published;
mod result;
mod run;
mod study;

pub use axis::Axis;
pub use figure::{FigureSource, Measured};
pub use plan::{Options, Plan, PlannedPart, PlannedRow, Point, PointTarget, plan};
pub use published::Published;
pub use result::{CellResult, ColumnResult, PartResult, RESULT_SCHEMA, RowResult, Status, StudyResult, Swap};
pub use run::{Models, Paths, run};
pub use study::{
    Column, Mark, MarkKind, Part, Row, STUDIES, Study, TRACES, embedded_trace, load_study, study_named,
};
