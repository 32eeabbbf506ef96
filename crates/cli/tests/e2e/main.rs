//! End-to-end tests of the binary as a user runs it, with real targets and real signals.
//!
//! Each test has a separate environment (`lab`): an empty directory to measure, a store and a home,
//! so that no file of the user is read or changed. Every program is killed after a time limit, so
//! that a hang fails its test. Tests that need root or a kernel feature report why they are
//! skipped. There is a single test binary, because linking takes longer than testing.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr)]

mod lab;
mod system;

mod anywhere;
mod attaching;
mod bad_input;
mod bad_store;
mod comparing;
mod content;
mod devices;
mod documented;
mod each_operation;
mod engines;
mod every_record;
mod existing_file;
mod explaining;
mod failing_target;
mod faults;
#[cfg(not(all(feature = "png", feature = "postgres", feature = "tables")))]
mod features;
mod fitness;
mod flipped;
mod full_and_forbidden;
mod guests;
mod hung;
mod identity;
mod in_use;
mod jobs;
mod killed;
mod known_defects;
mod languages;
mod left_behind;
mod limits;
mod mended;
mod models;
mod nbd_guest;
mod neighbours;
mod nothing_lost;
mod orphans;
mod other_tools;
mod outputs;
mod page;
mod pictures;
mod pivots;
mod poisoned;
mod pricing;
mod procedures;
mod programs;
mod promises;
mod ranks;
mod recipes;
mod reports;
mod round_trip;
#[cfg(feature = "tables")]
mod scale;
#[cfg(feature = "schema")]
mod schemas;
mod scripts;
mod serving;
#[cfg(feature = "postgres")]
mod shared;
mod shells;
mod shown;
mod signals;
mod slips;
mod studies;
mod summaries;
mod sweeping;
mod syscalls;
mod terminal;
mod tips;
mod traces;
mod truth;
mod unfinished;
mod verified;
mod versus;
mod workloads;
mod written_back;
