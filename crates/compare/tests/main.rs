//! The integration tests of this crate, linked once.

mod naming;
mod pairs;
mod ranking;
mod tails;
