//! Where the time of real operations went, as far as the kernel's block tracepoints tell: in its queues, in the device,
//! and the rest.
//!
//! The model: an operation is in the block layer from its arrival there to the completion of the last request that
//! holds a part of it. It is in the device while at least one of these requests is issued and not complete; for the
//! rest of that time it is in queues. What the driver measured beyond that is the way there and back: system call,
//! interrupt, waking up.

use serde::{Deserialize, Serialize};

/// A share of the operations' time.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimeSplit {
    /// Mean over the operations.
    pub mean_ns: f64,
    /// Median.
    pub p50_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
}

/// Requests of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RequestSize {
    /// Bytes.
    pub size_bytes: u64,
    /// Requests.
    pub count: u64,
}

/// What the kernel's tracepoints told of a repetition that was traced.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KernelSplit {
    /// Kernel names of the devices that were watched.
    pub devices: Vec<String>,
    /// Operations that were followed from arrival to completion.
    pub operations: u64,
    /// Operations that could not be followed to the end; they are in no figure.
    pub unfollowed_operations: u64,
    /// Time in the kernel's queues: arrived, and no request of it with the device.
    pub queue: TimeSplit,
    /// Time in the device: from issue to completion.
    pub device: TimeSplit,
    /// Mean of what the driver measured beyond both; `None` if the kernel and the driver counted different operations.
    pub rest_mean_ns: Option<f64>,
    /// Requests that held parts of these operations.
    pub requests: u64,
    /// Requests that held parts of more than one operation: they were merged.
    pub merged_requests: u64,
    /// Sizes of these requests, ascending.
    pub request_sizes: Vec<RequestSize>,
    /// Requests of others on the same devices meanwhile.
    pub other_requests: u64,
    /// Events that the kernel had to drop.
    pub lost_events: u64,
}

impl KernelSplit {
    /// Requests for each operation.
    pub fn requests_per_operation(&self) -> Option<f64> {
        (self.operations > 0).then(|| self.requests as f64 / self.operations as f64)
    }
}
