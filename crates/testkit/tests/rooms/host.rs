//! `kurabe-host`.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr)]

mod files_in_use;
mod loop_devices;
mod other_names;
mod system;
