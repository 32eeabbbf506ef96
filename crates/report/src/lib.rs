//! What people see of a run, as strings: the table, its details, progress, lists. Nothing is measured, stored or
//! decided here, and nothing but [`Progress`] writes anywhere.
//!
//! The model: a renderer takes a record and a [`Style`] (language, colour, width) and gives lines that fit the
//! width. Figures come from kurabe-stats; `number` gives them their shape, `layout` their place.

mod card;
mod catalogue;
mod compare;
mod compare_json;
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
mod guest;
mod headline;
mod help;
mod history;
mod image_check;
mod imported;
mod layout;
mod leftovers;
mod list;
mod live;
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
mod report_format;
mod run;
mod served;
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
mod tile;
mod times;
mod turns;
mod verdict;
mod versus_progress;
mod why;
mod words;

pub use card::card;
pub use catalogue::{catalogue_doc, entry_json, render_beside, render_catalogue, render_entry};
pub use compare::{answer, render_pair, render_pairs};
pub use compare_json::{pair_json, pairs_json};
pub use details::render_details;
pub use doc::{Attribute, Doc, Html};
pub use doctor::{Check, CheckMark, Doctor, Section, doctor, render_doctor};
pub use facts::{PIVOT_WORDS, asked_json, spoken_json};
pub use fastest::fastest_words;
pub use foreseen::{foreseen_doc, foreseen_versus_doc, render_foreseen, render_foreseen_versus};
pub use guest::{GuestRequest, Recipe};
pub use headline::{headline, surroundings};
pub use help::help_in_japanese;
pub use history::{history_doc, render_history};
pub use image_check::{image_error, image_json, image_lines};
pub use layout::display_width;
pub use leftovers::leftover_words;
pub use list::render_list;
pub use live::Mode;
pub use measured::{DemeritRow, demerit_pictures, demerits, render_demerits};
pub use models::{
    LayerDescription, MemberDescription, ModelDescription, ParameterDescription, Provenance, describe_model,
    render_model, render_models, row_of_layers,
};
pub use page::{Embedded, MOST_PAGE_BYTES, Page, PageTheme, Report, page_script, page_style};
pub use pictures::{
    PICTURE_NAMES, Picture, charts_of, forests, further_charts, pictures, png, render_pictures,
};
pub use pivot::{pivot_answer, pivot_doc, render_pivot};
pub use positions::positions_doc;
pub use profile::{render_profile, render_profiles};
pub use programs::program_lines;
pub use progress::Progress;
pub use recommend::{answer_for, recommendation_doc, render_recommendation};
pub use recording::{recorded_json, recorded_lines};
pub use remarks::notices_doc;
pub use report_format::{MadeReport, ReportFormat};
pub use run::{render_cell, render_header, render_result, render_run, render_sweep_result, render_sweep_run};
pub use served::{
    attached_json, attached_lines, detached_lines, kept_server_lines, power_cut_line, served_lines,
    serving_json, serving_line, serving_lines, waiting_line,
};
pub use spark::sparkline;
pub use standing::{band_words, render_standings, run_standings};
pub use study::{
    render_studies, render_study, render_study_file, render_study_markdown, study_docs, study_json,
    study_result_json, verdict_answer,
};
pub use study_progress::{StudyProgress, study_listener};
pub use style::Style;
pub use sweep_curves::render_sweep;
pub use tile::Tile;
pub use turns::render_versus;
pub use versus_progress::{VersusProgress, too_short};
pub use why::{CauseTime, CellTime, CountOf, Per, Why, explain, render_why};
pub use words::{directed, pause, repetition};
// The figures of a run for other programs.
pub use kurabe_stats::run_figures;
