//! The integration tests of this crate, linked once.

mod pairs;
mod ranking;
mod tails;
