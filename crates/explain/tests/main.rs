//! The integration tests of this crate, linked once.

mod claims;
mod library;
mod truth;
