//! The integration tests of this crate, linked once.

mod alike;
mod common;
mod conformance;
mod damage;
mod digests;
mod documentation;
mod durability;
mod faults;
mod faulty_files;
mod gone;
mod identities;
mod import;
mod many;
mod memory;
mod old_files;
mod opening;
#[cfg(feature = "postgres")]
mod postgres;
mod roundtrip;
mod tables;
#[cfg(feature = "postgres")]
mod tampered;
