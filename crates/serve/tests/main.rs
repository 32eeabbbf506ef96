//! A served stack, with a small client of the tests' own and with clients that nobody here wrote.

mod bad_days;
mod client;
mod conformance;
mod power;
mod serving;
