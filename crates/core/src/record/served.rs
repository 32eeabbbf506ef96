//! The state of a served model while a run used it.

use super::LatencyRecord;
use crate::model::ModelRecord;
use serde::{Deserialize, Serialize};

/// The timing accuracy of a served model during a run on it. Includes requests of all its clients.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServedRecord {
    /// The model.
    pub model: ModelRecord,
    /// Duration of the observation in ns.
    pub served_ns: u64,
    /// Histogram of the delays of its answers.
    pub late: LatencyRecord,
    /// Share of the answers that were late by at most 2 % of their request's time (or 20 µs, in
    /// records from before the first release). `None` without answers.
    pub in_time_share: Option<f64>,
    /// Mean service time of requests in the model, in ns.
    pub mean_service_ns: f64,
    /// Ratio of the actual time to the modelled time. `None` if requests took no time in the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowdown: Option<f64>,
    /// Share of the time in which the server's timing thread was busy.
    pub busy_share: f64,
    /// Number of seconds in which requests waited for the server instead of the model.
    pub server_bound_seconds: u64,
    /// Share of the CPU time stolen by the hypervisor, if known.
    pub steal_share: Option<f64>,
    /// Round-trip time of a null request, in ns. Arrival times are moved earlier by this amount.
    pub round_trip_ns: u64,
}
