//! The integration tests of this crate, linked once.

mod blind;
mod claims;
mod library;
mod truth;
