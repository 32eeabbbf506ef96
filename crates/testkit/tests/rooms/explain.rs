//! `kurabe-explain`.

mod articles;
mod blind;
mod claims;
mod library;
mod probing;
mod truth;
