//! Studies and the catalogue: tables of targets and parameters, with published figures next to
//! them.
//!
//! A study is a file of parts. A part is a table of rows (targets with changed parameters) and
//! columns (figures taken from a run). [`plan()`] turns it into points, each of which is measured
//! once by a function that the caller passes in. This crate does not measure, so the same study
//! runs on models and on real devices. The figures become a [`StudyResult`], with the published
//! ones, the error, the status of each figure (source, calibrated, predicted) and the verdicts,
//! which answer the study's questions.
//!
//! Not here: the layout of a table (kurabe-report), and how a point is measured (the engine, called
//! by the command line).

mod axis;
pub mod catalogue;
mod figure;
mod likeness;
mod marks;
mod model_facts;
mod plan;
mod published;
mod question;
mod real;
mod result;
mod run;
mod study;
mod template;
mod verdict;

pub use axis::{Along, StudyAxis};
pub use figure::{FigureSource, Measured, PowerCut, WaitOf};
pub use likeness::{Band, CellLikeness, Likeness, bands, known_class, likeness};
pub use marks::{KnownMiss, known_misses};
pub use model_facts::{ModelLimits, ModelSide, Mover, PublishedPrice, RankedModel};
pub use plan::{PlannedPart, PlannedRow, Point, PointTarget, StudyOptions, StudyPlan, plan};
pub use published::Published;
pub use question::{
    Among, Article, Ask, Becomes, Conclusion, FigureSet, Goes, MODEL_MARGIN, Question, QuestionHead,
    USUAL_MARGIN,
};
pub use real::RealAnswers;
pub use result::{
    CellResult, ColumnResult, PartResult, RESULT_SCHEMA, RowOrder, RowResult, Status, StudyResult, Swap,
};
pub use run::{AnswerListener, Models, PointAnswers, compute, compute_models, run};
pub use study::{
    FigureMark, MarkKind, Part, PartHead, STUDIES, Study, StudyColumn, StudyHead, StudyRow, TRACES, WhyRun,
    embedded_profile, embedded_trace, load_study, own_or_named_profile, study_named,
};
pub use template::{ComparedDevice, study_of_devices};
pub use verdict::{
    Agreement, Answer, ArticleView, AxisFit, Best, Caveat, Change, Choice, Deciding, Grounds, OfPublished,
    QuestionResult, RankedChoice, ReasonView, RestsOn,
};
