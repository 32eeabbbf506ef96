//! The integration tests of this crate, linked once.

mod library;
mod truth;
