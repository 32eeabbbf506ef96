//! The implementation of each kind of step on a ground, and the work before the first step: the
//! test file and the preconditioning.

pub(crate) mod choose;
pub(crate) mod cold;
pub(crate) mod command;
pub(crate) mod copy;
mod copy_loop;
pub(crate) mod depth;
pub(crate) mod fill;
mod io;
mod metadata;
mod model_copy;
mod on_real;
pub(crate) mod precondition;
mod replay;
pub(crate) mod samples;
mod stopwatch;
mod traced;
mod traffic;
mod write_back;
