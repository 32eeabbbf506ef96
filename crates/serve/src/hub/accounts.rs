//! Figures of what a hub has served.

use super::ServedFigures;
use crate::honesty::Account;
use crate::protocol::{NbdCommand, NbdRequest};

pub(super) struct Accounts {
    pub(super) account: Account,
    /// Counters and measured values; the other figures are computed on request.
    pub(super) counts: ServedFigures,
    /// Number of requests by kurabe's own client before clients are accepted.
    pub(super) own_requests: u64,
}

impl Accounts {
    pub(super) fn new(round_trip_ns: u64) -> Self {
        let counts = ServedFigures { round_trip_ns, ..ServedFigures::default() };
        Self { account: Account::default(), counts, own_requests: 0 }
    }

    /// Counts a request that the stack completed.
    pub(super) fn count(&mut self, request: &NbdRequest) {
        let bytes = u64::from(request.length_bytes);
        match request.command {
            NbdCommand::Read => {
                self.counts.reads += 1;
                self.counts.read_bytes += bytes;
            }
            NbdCommand::Write | NbdCommand::WriteZeroes => {
                self.counts.writes += 1;
                self.counts.written_bytes += bytes;
            }
            NbdCommand::Flush => self.counts.flushes += 1,
            NbdCommand::Trim => self.counts.trims += 1,
            _ => {}
        }
    }
}
