//! The integration tests of this crate, linked once.

mod common;
mod documentation;
mod models;
mod reasons;
mod run;
mod verdicts;
