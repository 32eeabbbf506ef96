//! `kurabe-explain`.

mod articles;
pub(crate) mod blind;
mod claims;
mod counterfactual;
mod flushes;
mod library;
mod probing;
mod truth;
