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
mod study;
mod words;

pub use compare::{
    PIVOT_WORDS, answer, answer_for, asked_json, fastest_words, history_doc, pair_json, pairs_json,
    pivot_answer, pivot_doc, recommendation_doc, render_history, render_pair, render_pairs, render_pivot,
    render_recommendation, render_versus, spoken_json,
};
pub use doc::layout::display_width;
pub use doc::spark::sparkline;
pub use doc::{Attribute, Doc, Html, Style};
pub use live::{Mode, Progress, StudyProgress, VersusProgress, study_listener, too_short};
pub use machine::{
    Check, CheckMark, Doctor, Section, doctor, headline, leftover_words, render_doctor, surroundings,
};
pub use model::{
    GuestRequest, LayerDescription, MemberDescription, ModelDescription, ParameterDescription, Provenance,
    Recipe, attached_json, attached_lines, describe_model, detached_lines, image_error, image_json,
    image_lines, kept_server_lines, power_cut_line, recorded_json, recorded_lines, render_model,
    render_models, row_of_layers, served_lines, serving_json, serving_line, serving_lines, waiting_line,
};
pub use publish::{
    Embedded, MOST_PAGE_BYTES, MadeReport, PICTURE_NAMES, Page, PageTheme, Picture, Report, ReportFormat,
    card, charts_of, forests, further_charts, page_script, page_style, pictures, png, render_pictures,
};
pub use run::{
    CauseTime, CellTime, CountOf, DemeritRow, Per, Tile, Why, band_words, demerit_pictures, demerits,
    explain, foreseen_doc, foreseen_versus_doc, notices_doc, positions_doc, program_lines, render_cell,
    render_demerits, render_details, render_foreseen, render_foreseen_versus, render_header, render_list,
    render_profile, render_profiles, render_result, render_run, render_standings, render_sweep,
    render_sweep_result, render_sweep_run, render_why, run_standings,
};
pub use study::{
    catalogue_doc, entry_json, render_beside, render_catalogue, render_entry, render_studies, render_study,
    render_study_file, render_study_markdown, study_docs, study_json, study_result_json, verdict_answer,
};
pub use words::{directed, help_in_japanese, pause, repetition};
// The figures of a run for other programs.
pub use kurabe_stats::run_figures;
