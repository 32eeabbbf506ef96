//! The machine's own devices, files and processes: what needs root, loop devices or a program says why it skips otherwise.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr)]

mod files_in_use;
mod loop_devices;
mod other_names;
mod system;
