//! The integration tests of this crate, linked once.

mod articles;
mod blind;
mod claims;
mod library;
mod probing;
mod truth;
