//! The integration tests of this crate, linked once.

mod agreement;
mod articles;
mod common;
mod imports;
mod laws;
mod looks;
mod models;
mod pages;
mod pictures;
mod studies;
mod why;
