//! Identification of the process that measures a run, so that other processes can find it later.

use serde::{Deserialize, Serialize};

/// The identity of a process. Process numbers are reused and are assigned separately in every PID
/// namespace. In combination with the start time, the boot and the namespace, they are unique.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProcessIdentity {
    /// Process id.
    pub pid: u32,
    /// Start time of the process in clock ticks since boot. 0 if unknown.
    pub start_ticks: u64,
    /// Id of the machine's boot. Empty if unknown.
    pub boot_id: String,
    /// The PID namespace to which the process id belongs. `None` in older stores.
    pub pid_namespace: Option<u64>,
    /// Hash of the machine's id and name, to distinguish machines. `None` if the machine has no id.
    pub host_id: Option<String>,
}
