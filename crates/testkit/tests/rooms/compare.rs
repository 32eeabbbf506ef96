//! `kurabe-compare`.

mod fastest;
mod fitness;
mod naming;
mod pairs;
mod ranking;
mod tails;
