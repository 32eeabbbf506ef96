//! The integration tests of this crate, linked once.

mod common;
mod conformance;
mod digests;
mod documentation;
mod durability;
mod import;
mod memory;
mod old_files;
mod opening;
mod roundtrip;
mod tables;
