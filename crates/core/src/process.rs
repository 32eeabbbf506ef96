//! Which process measures a run, as others may look for it later.

use serde::{Deserialize, Serialize};

/// A process. Process numbers are used again, and counted anew in every PID namespace; together with the start, the boot
/// and the namespace, one belongs to one process only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProcessIdentity {
    /// Process number.
    pub pid: u32,
    /// Start of the process, in clock ticks since the machine was started; 0 where that is not known.
    pub start_ticks: u64,
    /// Id of the machine's boot; empty where that is not known.
    pub boot_id: String,
    /// The PID namespace in which it has its number; `None` in stores of before it was noted.
    pub pid_namespace: Option<u64>,
    /// What tells the machine from others: its id and name, hashed; `None` where it has no id.
    pub host_id: Option<String>,
}
