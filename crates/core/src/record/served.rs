//! A served model as it stood while a run used it.

use super::LatencyRecord;
use crate::model::ModelRecord;
use serde::{Deserialize, Serialize};

/// How a served model kept its time during a run on it, whoever else used it meanwhile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServedRecord {
    /// The model.
    pub model: ModelRecord,
    /// How long that was.
    pub served_ns: u64,
    /// How late its answers were: a histogram as of latencies.
    pub late: LatencyRecord,
    /// Share of them that were late by at most 2 % of their request's time (or 20 µs, in records of before the first release);
    /// none if there was no answer.
    pub in_time_share: Option<f64>,
    /// Mean time of requests in the model.
    pub mean_service_ns: f64,
    /// How many times as long they took; none if they took no time in the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowdown: Option<f64>,
    /// Share of the time in which the server's thread that keeps the time worked.
    pub busy_share: f64,
    /// Seconds in which requests had to wait for the server, not for the model.
    pub server_bound_seconds: u64,
    /// Share of the processors' time that the host of a virtual machine took away, where that can be told.
    pub steal_share: Option<f64>,
    /// What the round trip of a null request costs, which arrivals are stamped before their time.
    pub round_trip_ns: u64,
}
