//! An operation by itself, as a list of all of them has it.

use crate::{device::ErrorNumber, workload::Op};

/// An operation that came back. Times count from the start of its repetition's recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedOperation {
    /// Place of its cell in the run, from 0.
    pub cell_index: u32,
    /// Number of its repetition, from 0.
    pub repetition: u32,
    /// What it did.
    pub op: Op,
    /// When it was handed to the device.
    pub issued_ns: u64,
    /// When it came back.
    pub completed_ns: u64,
    /// From its issue to its end; in an open loop from when it was due.
    pub latency_ns: u64,
    /// Why it failed, if it did.
    pub error: Option<ErrorNumber>,
    /// Where its time from issue to end went, in the order of [`crate::model::ModelRecord::cause_names`]; empty where nobody
    /// can tell.
    pub times_ns: Vec<u64>,
}

/// Hears of every operation; an error of its own ends the run.
pub type OperationList<'a> = &'a mut dyn FnMut(&ListedOperation) -> crate::Result<()>;
