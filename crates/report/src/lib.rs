//! What people see of a run, as strings: the table, its details, progress, lists. Nothing is measured, stored or
//! decided here, and nothing but [`Progress`] writes anywhere.
//!
//! The model: a renderer takes a record and a [`Style`] (language, colour, width) and gives lines that fit the
//! width. Figures come from kurabe-stats; `number` gives them their shape, `layout` their place.

mod card;
mod catalogue;
mod columns;
mod compare;
mod curve;
mod derived;
mod details;
mod doc;
mod doctor;
mod environment;
mod facts;
mod fastest;
mod figures;
mod foreseen;
mod grid;
mod headline;
mod history;
mod imported;
mod layout;
mod leftovers;
mod list;
mod measured;
mod model;
mod models;
mod page;
mod pictures;
mod pivot;
mod positions;
mod profile;
mod programs;
mod progress;
mod recommend;
mod recording;
mod remarks;
mod replay;
mod run;
mod spark;
mod standing;
mod steady;
mod steps;
mod study;
mod study_progress;
mod stutter;
mod style;
mod sweep;
mod sweep_curves;
mod tails;
mod times;
mod turns;
mod verdict;
mod versus_progress;
mod why;
mod words;

pub use card::card;
pub use catalogue::{entry_json, render_beside, render_catalogue, render_entry};
pub use compare::{answer, render_pair, render_pairs};
pub use details::render_details;
pub use doctor::{Check, Doctor, Mark, Section, doctor, render_doctor};
pub use facts::{PIVOT_WORDS, asked_json, spoken_json};
pub use fastest::fastest_words;
pub use foreseen::{render_foreseen, render_foreseen_versus};
pub use headline::headline;
pub use history::render_history;
pub use layout::display_width;
pub use leftovers::leftover_words;
pub use list::render_list;
pub use measured::{DemeritRow, demerit_pictures, demerits, render_demerits};
pub use models::{
    LayerDescription, MemberDescription, ModelDescription, ParameterDescription, Standing, describe_model,
    render_model, render_models,
};
pub use page::{Embedded, MOST_PAGE_BYTES, Page, PageTheme, Report};
pub use pictures::{
    PICTURE_NAMES, Picture, charts_of, forest_of, further_charts, pictures, png, render_pictures,
};
pub use pivot::{pivot_answer, render_pivot};
pub use profile::{render_profile, render_profiles};
pub use progress::{Mode, Progress};
pub use recommend::{answer_for, render_recommendation};
pub use recording::{beneath_line, recording_lines, traffic_line};
pub use run::{render_cell, render_header, render_result, render_run, render_sweep_result, render_sweep_run};
pub use spark::sparkline;
pub use standing::{render_standings, run_standings};
pub use study::{
    render_studies, render_study, render_study_file, render_study_markdown, study_json, study_result_json,
    verdict_answer,
};
pub use study_progress::{StudyProgress, study_listener};
pub use style::Style;
pub use sweep_curves::render_sweep;
pub use turns::render_versus;
pub use versus_progress::{VersusProgress, too_short};
pub use why::{CauseTime, CellTime, CountOf, Per, Why, explain, render_why};
// The figures of a run for other programs.
pub use kurabe_stats::run_figures;
