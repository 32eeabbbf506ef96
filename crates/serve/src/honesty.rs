//! What there is to say against the server: how late its answers were, and who was to blame.
//!
//! The model: an answer is late by the time from when it was due to when it began to be sent. It is in time if that is no
//! more than 2 % of the time that the request took in the model (what Memulator held for more than 99 % of requests), or
//! no more than 20 µs, which no client of a socket can see.

use kurabe_core::quantity::NS_PER_S;
use kurabe_core::record::LatencyRecord;
use kurabe_stats::{Histogram, percentile_ns};
use serde::{Deserialize, Serialize};

/// Share of a request's time that it may be late by.
const LATE_SHARE: f64 = 0.02;
/// What it may be late by in any case: less than a socket's own round trip.
const LATE_NS: u64 = 20_000;
/// A second of which the timing thread worked for more than this share was bound by it: what came had to wait for it.
const BOUND_SHARE: f64 = 0.9;

/// When an answer is due, and what its request took in the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timing {
    pub(crate) due_ns: u64,
    pub(crate) service_ns: u64,
}

/// How late answers were.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lateness {
    /// Answers.
    pub answers: u64,
    /// Share of them that were in time; none if there was no answer.
    pub in_time_share: Option<f64>,
    /// Median.
    pub p50_ns: u64,
    /// 90th percentile.
    pub p90_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// 99.9th percentile.
    pub p999_ns: u64,
    /// The latest.
    pub max_ns: u64,
    /// Mean time of requests in the model.
    pub mean_service_ns: f64,
    /// All answers.
    #[serde(default)]
    pub late: LatencyRecord,
}

/// Collects lateness, answer by answer.
#[derive(Debug, Default)]
pub(crate) struct Account {
    late: Histogram,
    in_time: u64,
    service_ns: u64,
    busy_ns: u64,
    second: u64,
    busy_in_second_ns: u64,
    busiest_share: f64,
    bound_seconds: u64,
}

impl Account {
    /// Notes an answer that goes out.
    #[inline]
    pub(crate) fn sent(&mut self, timing: Timing, now_ns: u64) {
        debug_assert!(now_ns >= timing.due_ns, "no answer leaves before its time");
        let late_ns = now_ns.saturating_sub(timing.due_ns);
        self.late.record(late_ns);
        self.service_ns = self.service_ns.saturating_add(timing.service_ns);
        self.in_time += u64::from(is_in_time(late_ns, timing.service_ns));
    }

    /// The timing thread worked from one time to another.
    pub(crate) fn worked(&mut self, from_ns: u64, to_ns: u64) {
        let second = from_ns / NS_PER_S;
        if second != self.second {
            self.end_second();
            self.second = second;
        }
        self.busy_ns += to_ns - from_ns;
        self.busy_in_second_ns += to_ns - from_ns;
    }

    fn end_second(&mut self) {
        let share = self.busy_in_second_ns as f64 / NS_PER_S as f64;
        self.busiest_share = self.busiest_share.max(share.min(1.0));
        self.bound_seconds += u64::from(share > BOUND_SHARE);
        self.busy_in_second_ns = 0;
    }

    pub(crate) fn lateness(&self) -> Lateness {
        let record = self.late.to_record();
        let percentile = |share| percentile_ns(&record, share).unwrap_or(0);
        let answers = record.count;
        let of_answers = |sum: u64| sum as f64 / answers.max(1) as f64;
        Lateness {
            answers,
            in_time_share: (answers > 0).then(|| of_answers(self.in_time)),
            p50_ns: percentile(0.5),
            p90_ns: percentile(0.9),
            p99_ns: percentile(0.99),
            p999_ns: percentile(0.999),
            max_ns: record.max_ns,
            mean_service_ns: of_answers(self.service_ns),
            late: record,
        }
    }

    /// Time worked, the largest share of a second, and seconds that were bound by it.
    pub(crate) fn work(&self) -> (u64, f64, u64) {
        let share = self.busy_in_second_ns as f64 / NS_PER_S as f64;
        (self.busy_ns, self.busiest_share.max(share.min(1.0)), self.bound_seconds)
    }
}

fn is_in_time(late_ns: u64, service_ns: u64) -> bool {
    late_ns <= LATE_NS || late_ns as f64 <= LATE_SHARE * service_ns as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_time_is_two_percent_or_twenty_microseconds() {
        for (late_ns, service_ns, in_time) in [
            (20_000, 0, true),
            (20_001, 1_000_000, false),
            (20_001, 1_000_100, true),
            (200_000, 10_000_000, true),
            (200_001, 10_000_000, false),
        ] {
            assert_eq!(is_in_time(late_ns, service_ns), in_time, "{late_ns} of {service_ns}");
        }
    }

    #[test]
    fn answers_are_counted_with_how_late_they_were() {
        let mut account = Account::default();
        assert_eq!(account.lateness().in_time_share, None);
        for (due_ns, now_ns) in [(1_000, 1_000), (900, 1_000), (1_000, 31_000), (1_000, 1_000_001_000)] {
            account.sent(Timing { due_ns, service_ns: 100_000 }, now_ns);
        }
        let lateness = account.lateness();
        assert_eq!((lateness.answers, lateness.in_time_share), (4, Some(0.5)));
        assert_eq!((lateness.max_ns, lateness.mean_service_ns), (1_000_000_000, 100_000.0));
    }

    #[test]
    fn a_second_that_was_worked_through_is_bound_by_the_server() {
        let mut account = Account::default();
        account.worked(0, 950_000_000);
        account.worked(1_000_000_000, 1_100_000_000);
        account.worked(2_000_000_000, 2_000_000_001);
        assert_eq!(account.work(), (1_050_000_001, 0.95, 1));
    }
}
