//! Time breakdown of real operations, as far as the kernel's block tracepoints show it: in the
//! kernel's queues, in the device, and the rest.
//!
//! An operation is in the block layer from its arrival there to the completion of the last request
//! that contains a part of it. It is in the device while at least one of these requests is issued
//! and not complete. For the rest of that time it is in queues. Any further time measured by the
//! driver is overhead on the way there and back: system call, interrupt, wake-up.

use serde::{Deserialize, Serialize};

/// Statistics of one component of the operations' time.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimeSplit {
    /// Mean over the operations, in ns.
    pub mean_ns: f64,
    /// Median in ns.
    pub p50_ns: u64,
    /// 99th percentile in ns.
    pub p99_ns: u64,
}

/// The number of requests of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RequestSize {
    /// Size in bytes.
    pub size_bytes: u64,
    /// Number of requests.
    pub count: u64,
}

/// Tracepoint data of a traced repetition.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KernelSplit {
    /// Kernel names of the traced devices.
    pub devices: Vec<String>,
    /// Number of operations traced from arrival to completion.
    pub operations: u64,
    /// Number of operations that could not be traced to the end. They are excluded from all
    /// figures.
    pub unfollowed_operations: u64,
    /// Time in the kernel's queues: arrived, but without an issued request.
    pub queue: TimeSplit,
    /// Time in the device: from issue to completion.
    pub device: TimeSplit,
    /// Mean of the driver's latency beyond both, in ns. `None` if the kernel and the driver counted
    /// different operations.
    pub rest_mean_ns: Option<f64>,
    /// Number of requests that contained parts of these operations.
    pub requests: u64,
    /// Number of requests that contained parts of more than one operation, because they were
    /// merged.
    pub merged_requests: u64,
    /// Sizes of these requests, in ascending order.
    pub request_sizes: Vec<RequestSize>,
    /// Number of requests of other processes on the same devices during the repetition.
    pub other_requests: u64,
    /// Number of events that the kernel dropped.
    pub lost_events: u64,
}

impl KernelSplit {
    /// Returns the number of requests per operation.
    pub fn requests_per_operation(&self) -> Option<f64> {
        (self.operations > 0).then(|| self.requests as f64 / self.operations as f64)
    }
}
