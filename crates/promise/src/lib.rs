//! Data and names that must exist after a power cut, derived from the file calls of a program.
//!
//! A [`FileCall`] is one call of the program, with the time span in which it took effect. The
//! [`PromiseLedger`] applies calls in order: it holds the bytes and names that exist, and which of them an
//! acknowledged fsync made durable. [`PromiseLedger::broken`] compares that with the files that a power
//! cut left. [`hazards`] finds orders of calls that POSIX does not protect, even if the file system
//! at hand does.
//!
//! The model is the weakest one that fsync(2) allows: the fsync of a file covers its data and size,
//! but not its name; the fsync of a folder covers the names in it. Everything else may reach the
//! disk in any order, or not at all. ALICE (Pillai et al., OSDI 2014) lists file systems that do
//! each of these.
//!
//! The judgement is conservative. Bytes are not compared if calls overlap, if a later call may have
//! changed them, or if their content is unknown (mappings, a failed fsync).
//!
//! Not here: how calls are recorded, and the files after the power cut.

mod call;
mod hazard;
mod ledger;
mod pieces;
mod recovered;
#[cfg(test)]
mod tests;

pub use call::{BaseFile, CallBytes, FileAction, FileCall, FileNumber, NamePlace};
pub use hazard::{Hazard, HazardKind, hazards};
pub use ledger::PromiseLedger;
pub use recovered::{BrokenKind, BrokenPromise, ReadBytes, RecoveredFile, RecoveredTree, UnsafeOrder, judge};
