//! The integration tests of this crate, linked once.

mod care;
mod common;
mod digests;
mod documentation;
mod durability;
mod import;
mod old_files;
mod opening;
mod roundtrip;
