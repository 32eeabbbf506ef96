//! A served stack, with a small client of the tests' own and with clients that nobody here wrote.

#![allow(clippy::print_stderr)]

mod bad_days;
mod client;
mod conformance;
mod devices;
mod faults;
mod file_systems;
mod machine;
mod power;
mod serving;
