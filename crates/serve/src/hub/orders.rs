//! What can be told to the hub and asked of it, and what it counts.

use super::asker::FrontRequest;
use crate::clock::Grants;
use crate::honesty::Lateness;
use crate::power::CutReport;
use kurabe_core::{Result, Text};
use kurabe_sim::Control;
use rustix::fd::OwnedFd;
use serde::{Deserialize, Serialize};
use std::sync::mpsc::Sender;

/// What can be told to the hub; who asks waits for the answer.
pub(crate) enum HubCommand {
    /// The other end of kurabe's own connection, by which the round trip is measured.
    Measure(OwnedFd),
    /// The other end of a connection that the kernel makes a block device of, and the export that it is.
    Kernel(OwnedFd, usize),
    /// The round trip; clients may come.
    Measured(u64, Sender<Result<()>>),
    Figures(Sender<ServedFigures>),
    Set(String, String, Sender<Result<()>>),
    Layer(Option<String>, Control, Sender<Result<()>>),
    Cut(Sender<Result<CutReport>>),
    PowerOn(Sender<Result<()>>),
    /// A front's.
    Request(FrontRequest),
    End,
}

#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) announced: bool,
    pub(super) connections: u64,
    pub(super) refused_connections: u64,
    pub(super) slow_connections: u64,
    pub(super) reads: u64,
    pub(super) writes: u64,
    pub(super) flushes: u64,
    pub(super) trims: u64,
    pub(super) read_bytes: u64,
    pub(super) written_bytes: u64,
    pub(super) sent_bytes: u64,
    pub(super) errors: u64,
}

/// A served stack so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServedFigures {
    /// Time since it is served.
    pub served_ns: u64,
    /// Reads that the stack did.
    pub reads: u64,
    /// Writes, those of zeroes too.
    pub writes: u64,
    /// Flushes.
    pub flushes: u64,
    /// Trims.
    pub trims: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Requests that made no sense or had no room.
    pub errors: u64,
    /// Clients now.
    pub clients: u64,
    /// Clients so far.
    pub connections: u64,
    /// Clients that were turned away because there were too many.
    pub refused_connections: u64,
    /// Clients that were let go because they took too long.
    pub slow_connections: u64,
    /// How late answers were.
    pub lateness: Lateness,
    /// Share of the time in which the thread that keeps the time worked.
    pub busy_share: f64,
    /// The same of the busiest second.
    pub busiest_second_share: f64,
    /// Seconds in which it worked nearly all the time: what came in them had to wait for the server, not for the model.
    pub server_bound_seconds: u64,
    /// Share of the processors' time that the host of this virtual machine took away, where that can be told.
    pub steal_share: Option<f64>,
    /// What the round trip of a null request costs, which arrivals are stamped before their time.
    pub round_trip_ns: u64,
    /// What the operating system granted.
    pub grants: Grants,
    /// What the data takes where it is kept.
    pub data_bytes: u64,
    /// What the model broke down with: every request fails since.
    pub defect: Option<Text>,
    /// Power cuts so far.
    pub cuts: Vec<CutReport>,
}
