//! The integration tests of this crate, linked once.

mod any_parameters;
mod boxes;
mod common;
mod device_files;
mod disks;
mod documentation;
mod laws;
mod one_computer;
mod parameters;
mod scsi_emulators;
