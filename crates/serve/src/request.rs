//! A request to serve a stack.

use crate::clock::USUAL_SPIN_NS;
use crate::data::DataPlace;
use crate::fault::DeviceFault;
use crate::listen::Address;
use crate::power::PowerRules;
use crate::request_log::RequestLog;
use kurabe_sim::DeviceSpec;
use std::path::PathBuf;
use std::sync::Arc;

/// The stack to serve, its data, and the address for clients.
#[derive(Clone, Debug)]
pub struct ServeRequest {
    /// Stack to serve.
    pub spec: DeviceSpec,
    /// Address that clients connect to.
    pub address: Address,
    /// Path of the control socket; next to the socket of `address` if `None`.
    pub control: Option<PathBuf>,
    /// Place of the data.
    pub data: DataPlace,
    /// Log of the requests that the stack receives.
    pub log: Option<Arc<RequestLog>>,
    /// Exports, timing and faults.
    pub settings: ServeSettings,
}

/// Exports, timing and faults of a served stack.
#[derive(Clone, Debug, PartialEq)]
pub struct ServeSettings {
    /// Seed of random events in the stack and in a power cut.
    pub seed: u64,
    /// Number of addressable units of the stack to export.
    pub exports: usize,
    /// Whether an existing file that kurabe did not create may be written to.
    pub write_existing: bool,
    /// Time before a due event for which the thread spins instead of sleeping, in ns.
    pub spin_ns: u64,
    /// Round trip that is subtracted from arrival times, in ns; measured if `None`.
    pub round_trip_ns: Option<u64>,
    /// Rules for power cuts, if they are enabled.
    pub power: Option<PowerRules>,
    /// Faults that are set from the start.
    pub faults: Vec<DeviceFault>,
}

impl Default for ServeSettings {
    fn default() -> Self {
        Self {
            seed: 1,
            exports: 1,
            write_existing: false,
            spin_ns: USUAL_SPIN_NS,
            round_trip_ns: None,
            power: None,
            faults: Vec::new(),
        }
    }
}
