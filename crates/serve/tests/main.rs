//! A served stack, with a small client for tests and with third-party clients.

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
