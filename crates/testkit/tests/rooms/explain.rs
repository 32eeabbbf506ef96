//! `kurabe-explain`.

mod articles;
pub(crate) mod blind;
mod claims;
mod counterfactual;
mod flushes;
mod library;
mod other_tools;
mod probing;
mod truth;
mod unlinked;
