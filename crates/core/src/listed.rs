//! A single operation, as written to the list of all operations.

use crate::{device::ErrorNumber, workload::Op};

/// A completed operation. Times are relative to the start of the recording of its repetition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedOperation {
    /// Zero-based index of its cell in the run.
    pub cell_index: u32,
    /// Zero-based index of its repetition.
    pub repetition: u32,
    /// The operation.
    pub op: Op,
    /// Time of submission to the device, in ns.
    pub issued_ns: u64,
    /// Time of completion, in ns.
    pub completed_ns: u64,
    /// Latency in ns, from submission to completion. In an open loop, from the due time.
    pub latency_ns: u64,
    /// The error, if it failed.
    pub error: Option<ErrorNumber>,
    /// Breakdown of the time from submission to completion, in the order of
    /// [`crate::model::ModelRecord::cause_names`]. Empty if unknown.
    pub times_ns: Vec<u64>,
}

/// A callback that receives every operation. An error from it ends the run.
pub type OperationList<'a> = &'a mut dyn FnMut(&ListedOperation) -> crate::Result<()>;
