//! `kurabe-study`.

mod common;
mod documentation;
mod models;
mod reasons;
mod run;
mod verdicts;
