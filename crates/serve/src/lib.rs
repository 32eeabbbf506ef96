//! A modelled stack as a block device of other programs.
//!
//! Programs speak NBD to it through a socket. Their requests go through the stack at the real time at which they came, and
//! are answered at the real time at which the modelled device would have; their bytes are kept beside it.

pub mod data;
pub mod protocol;
