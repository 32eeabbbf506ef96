//! `kurabe-explain`.

mod articles;
pub(crate) mod blind;
mod claims;
mod library;
mod probing;
mod truth;
