//! Accuracy of the server: actual answer times compared with the model's, and the reason for a
//! difference.
//!
//! A request is made at its arrival less the round trip, which its client is not charged with. Its
//! actual time runs from then until its answer begins to be sent; its time in the model, from its
//! submission to the stack until it is due. An answer is late by the time since it was due. It is
//! in time if that is at most 2 % of the request's time in the model (the criterion that Memulator
//! met for more than 99 % of requests).

use crate::rehearsal::Rehearsal;
use kurabe_core::quantity::NS_PER_S;
use kurabe_core::record::LatencyRecord;
use kurabe_sim::{DeviceSpec, Request};
use kurabe_stats::{Histogram, percentile_ns};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Largest lateness of an answer that is in time, as a share of its request's time in the model.
const LATE_SHARE: f64 = 0.02;
/// Busy share from which a second counts as limited by the timekeeping thread.
const BOUND_SHARE: f64 = 0.9;
/// Number of recent answers from which the clients' depth and rate are computed: 32 rounds of the
/// deepest usual queue.
const RECENT_ANSWERS: usize = 1024;
/// Fewest answers from which a depth is computed.
const FEWEST_ANSWERS: usize = 32;
/// Resolution of the slowdown: one millionth.
const PARTS: f64 = 1e6;

/// Due time of an answer, and the request in the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timing {
    pub(crate) asked_ns: u64,
    pub(crate) due_ns: u64,
    pub(crate) service_ns: u64,
    pub(crate) request: Request,
}

/// Ratio of actual answer times to those in the model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Slowdown {
    /// Ratio of the total times.
    pub mean: f64,
    /// Median, if known.
    pub p50: Option<f64>,
    /// 99th percentile, if known.
    pub p99: Option<f64>,
}

/// Distribution of the answers' lateness.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Lateness {
    /// Number of answers.
    pub answers: u64,
    /// Share of answers in time; `None` without answers.
    pub in_time_share: Option<f64>,
    /// Median.
    pub p50_ns: u64,
    /// 90th percentile.
    pub p90_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// 99.9th percentile.
    pub p999_ns: u64,
    /// Maximum.
    pub max_ns: u64,
    /// Mean time of requests in the model.
    pub mean_service_ns: f64,
    /// Mean actual time of requests.
    #[serde(default)]
    pub mean_real_ns: f64,
    /// Ratio of actual time to the model's; `None` if requests took no time in the model.
    #[serde(default)]
    pub slowdown: Option<Slowdown>,
    /// Histogram of all answers.
    #[serde(default)]
    pub late: LatencyRecord,
}

#[derive(Debug)]
struct RecentAnswer {
    timing: Timing,
    sent_ns: u64,
    /// Busy time of the timekeeping thread until then.
    busy_ns: u64,
}

impl Lateness {
    /// Computes the figures from the lateness of all answers and the other counters.
    pub(crate) fn new(
        late: LatencyRecord,
        in_time_share: f64,
        [mean_service_ns, mean_real_ns]: [f64; 2],
        [p50, p99]: [Option<f64>; 2],
    ) -> Self {
        let percentile = |share| percentile_ns(&late, share).unwrap_or(0);
        let mean = mean_real_ns / mean_service_ns;
        Self {
            answers: late.count,
            in_time_share: (late.count > 0).then_some(in_time_share),
            p50_ns: percentile(0.5),
            p90_ns: percentile(0.9),
            p99_ns: percentile(0.99),
            p999_ns: percentile(0.999),
            max_ns: late.max_ns,
            mean_service_ns,
            mean_real_ns,
            slowdown: (mean_service_ns > 0.0).then_some(Slowdown { mean, p50, p99 }),
            late,
        }
    }
}

/// Collects the lateness of each answer.
#[derive(Debug, Default)]
pub(crate) struct Account {
    late: Histogram,
    /// Additional time of answers compared with the model, as a share in parts.
    excess: Histogram,
    in_time: u64,
    real_ns: u64,
    service_ns: u64,
    recent: VecDeque<RecentAnswer>,
    busy_ns: u64,
    second: u64,
    busy_in_second_ns: u64,
    busiest_share: f64,
    bound_seconds: u64,
}

impl Account {
    /// Records an answer that is sent.
    #[inline]
    pub(crate) fn sent(&mut self, timing: Timing, now_ns: u64) {
        debug_assert!(now_ns >= timing.due_ns, "no answer leaves before its time");
        let Timing { asked_ns, due_ns, service_ns, .. } = timing;
        let late_ns = now_ns.saturating_sub(due_ns);
        let real_ns = now_ns.saturating_sub(asked_ns).max(service_ns);
        self.late.record(late_ns);
        if service_ns > 0 {
            self.excess.record(((real_ns - service_ns) as f64 / service_ns as f64 * PARTS) as u64);
        }
        self.real_ns = self.real_ns.saturating_add(real_ns);
        self.service_ns = self.service_ns.saturating_add(service_ns);
        self.in_time += u64::from(is_in_time(late_ns, service_ns));
        if self.recent.len() == RECENT_ANSWERS {
            self.recent.pop_front();
        }
        self.recent.push_back(RecentAnswer { timing, sent_ns: now_ns, busy_ns: self.busy_ns });
    }

    /// Records that the timekeeping thread was busy in this period.
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
        let (late, excess) = (self.late.to_record(), self.excess.to_record());
        let of_answers = |sum: u64| sum as f64 / late.count.max(1) as f64;
        let (in_time, means) = (of_answers(self.in_time), [self.service_ns, self.real_ns].map(of_answers));
        let times = |share| percentile_ns(&excess, share).map(|parts| 1.0 + parts as f64 / PARTS);
        Lateness::new(late, in_time, means, [0.5, 0.99].map(times))
    }

    /// Returns the busy time, the largest busy share of a second, and the number of seconds above
    /// the limit.
    pub(crate) fn work(&self) -> (u64, f64, u64) {
        let share = self.busy_in_second_ns as f64 / NS_PER_S as f64;
        (self.busy_ns, self.busiest_share.max(share.min(1.0)), self.bound_seconds)
    }

    /// Returns the clients' depth and rate according to the last answers, for comparison with a
    /// fresh stack.
    pub(crate) fn rehearsal(&self, spec: &DeviceSpec, seed: u64, round_trip_ns: u64) -> Option<Rehearsal> {
        let (first, last) = (self.recent.front()?, self.recent.back()?);
        let span_ns = last.sent_ns.saturating_sub(first.sent_ns).max(1);
        let of_span = |sum: u64| sum as f64 / span_ns as f64;
        let under_way =
            |time: fn(&RecentAnswer) -> u64| of_span(self.recent.iter().skip(1).map(time).sum::<u64>());
        (self.recent.len() >= FEWEST_ANSWERS).then(|| Rehearsal {
            spec: spec.clone(),
            seed,
            requests: self.recent.iter().skip(1).map(|answer| answer.timing.request).collect(),
            span_ns,
            depth: under_way(|answer| answer.sent_ns - answer.timing.asked_ns),
            depth_in_model: under_way(|answer| answer.timing.service_ns),
            depth_late: under_way(|answer| answer.sent_ns - answer.timing.due_ns),
            busy_share: of_span(last.busy_ns.saturating_sub(first.busy_ns)),
            round_trip_ns,
        })
    }
}

fn is_in_time(late_ns: u64, service_ns: u64) -> bool {
    late_ns as f64 <= LATE_SHARE * service_ns as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_sim::RequestKind;

    fn timing(asked_ns: u64, due_ns: u64, service_ns: u64) -> Timing {
        let request = Request::new(RequestKind::Read, 0, 4096);
        Timing { asked_ns, due_ns, service_ns, request }
    }

    #[test]
    fn in_time_is_two_percent_of_the_requests_own_time_and_no_microsecond_more() {
        for (late_ns, service_ns, in_time) in [
            (0, 0, true),
            (1, 0, false),
            (1_560, 78_000, true),
            (1_561, 78_000, false),
            (200_000, 10_000_000, true),
            (200_001, 10_000_000, false),
        ] {
            assert_eq!(is_in_time(late_ns, service_ns), in_time, "{late_ns} of {service_ns}");
        }
    }

    #[test]
    fn answers_are_counted_with_how_late_they_were_and_how_long_they_took() {
        let mut account = Account::default();
        assert_eq!((account.lateness().in_time_share, account.lateness().slowdown), (None, None));
        // The last was requested long before the stack received it, because the thread was not
        // listening.
        for (asked_ns, due_ns, now_ns) in
            [(0, 100_000, 100_000), (0, 100_000, 101_000), (0, 100_000, 150_000), (50_000, 300_000, 300_000)]
        {
            account.sent(timing(asked_ns, due_ns, 100_000), now_ns);
        }
        let lateness = account.lateness();
        assert_eq!((lateness.answers, lateness.in_time_share), (4, Some(0.75)));
        assert_eq!((lateness.max_ns, lateness.mean_service_ns), (50_000, 100_000.0));
        let Slowdown { mean, p50, p99 } = lateness.slowdown.unwrap();
        assert!((mean - 6.01 / 4.0).abs() < 1e-9, "{mean}");
        assert!((p50.unwrap() - 1.01).abs() < 1e-3 && (p99.unwrap() - 2.5).abs() < 0.01, "{p50:?} {p99:?}");
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
