//! Issues and records operations: sources of operations, devices that perform them, and the loop
//! between both.
//!
//! A source decides which operation comes next, a device performs it, the driver keeps the device
//! busy, and a recorder receives each operation. `measure` runs a repetition with several threads.
//! This module knows nothing about targets, profiles or steps.

pub(crate) mod buffer;
mod bus_error;
pub(crate) mod content;
#[cfg(test)]
mod device_fault;
pub(crate) mod device_idle;
#[cfg(test)]
pub(crate) mod device_null;
pub(crate) mod device_threads;
pub(crate) mod device_uring;
pub(crate) mod driver;
pub(crate) mod every_operation;
mod fio_places;
mod gate;
pub(crate) mod joint;
pub(crate) mod listed;
mod mapping;
pub(crate) mod measure;
mod neighbours;
mod permutation;
mod places;
mod readers;
pub(crate) mod recorder;
pub(crate) mod replay;
pub(crate) mod rest;
pub(crate) mod source;
pub(crate) mod thoughtful;
mod zipf;
