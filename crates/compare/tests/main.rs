//! The integration tests of this crate, linked once.

mod fastest;
mod fitness;
mod naming;
mod pairs;
mod ranking;
mod tails;
