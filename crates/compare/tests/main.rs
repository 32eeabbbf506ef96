//! The integration tests of this crate, linked once.

mod fastest;
mod naming;
mod pairs;
mod ranking;
mod tails;
