//! Studies and the catalogue: a product of targets and parameters laid out as tables, and published figures to stand
//! beside them.
//!
//! The model: a study is a file of parts; a part is a table of rows (targets with changed parameters) and columns
//! (figures taken out of a run). [`plan()`] turns it into points, each of which is measured once, by whoever is handed
//! in: nothing here measures, so that the same study runs on models and on real devices. Figures become a
//! [`StudyResult`], with the published ones, the error, and what each figure is: source, calibrated, predicted; and with
//! verdicts, the answers to what the study asks of them.
//!
//! Not here: how a table looks (kurabe-report), and how a point is measured (the engine, wired up by the command line).

mod axis;
pub mod catalogue;
mod figure;
mod likeness;
mod marks;
mod plan;
mod published;
mod question;
mod result;
mod run;
mod study;
mod verdict;

pub use axis::{Along, StudyAxis};
pub use figure::{FigureSource, Measured, PowerCut, WaitOf};
pub use likeness::{Band, CellLikeness, Likeness, bands, known_class, likeness};
pub use plan::{PlannedPart, PlannedRow, Point, PointTarget, StudyOptions, StudyPlan, plan};
pub use published::Published;
pub use question::{
    Among, Article, Ask, Becomes, Conclusion, FigureSet, Goes, MODEL_MARGIN, Question, USUAL_MARGIN,
};
pub use result::{CellResult, ColumnResult, PartResult, RESULT_SCHEMA, RowResult, Status, StudyResult, Swap};
pub use run::{AnswerListener, Models, PointAnswers, compute, compute_models, run};
pub use study::{
    FigureMark, MarkKind, Part, STUDIES, Study, StudyColumn, StudyRow, TRACES, WhyRun, embedded_profile,
    embedded_trace, load_study, own_or_named_profile, study_named,
};
pub use verdict::{
    Agreement, Answer, ArticleView, AxisFit, Best, Caveat, Change, Choice, Deciding, OfPublished,
    QuestionResult, RankedChoice, ReasonView, RestsOn,
};
