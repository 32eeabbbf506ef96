//! What can be told to the hub and asked of it, and what it counts.

use super::asker::FrontRequest;
use crate::clock::Grants;
use crate::fault::{DeviceFault, FaultFigures};
use crate::honesty::Lateness;
use crate::power::CutReport;
use crate::rehearsal::{ClientFigures, Rehearsal};
use kurabe_core::model::ModelRecord;
use kurabe_core::{Result, Text};
use kurabe_sim::Control;
use kurabe_stats::since;
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
    Figures(Sender<(ServedFigures, Option<Rehearsal>)>),
    /// A live parameter and its new value; the stack as it is then.
    Set(String, String, Sender<Result<ModelRecord>>),
    Layer(Option<String>, Control, Sender<Result<()>>),
    Cut(Sender<Result<CutReport>>),
    /// After so many more acknowledged writes.
    CutAfter(u64, Sender<Result<()>>),
    PowerOn(Sender<Result<()>>),
    /// A fault more; without one, all are lifted.
    Fault(Option<DeviceFault>, Sender<Result<()>>),
    /// A front's.
    Request(FrontRequest),
    End,
}

/// A served stack so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// What clients kept under way and got at last, and what the model would have given.
    #[serde(default)]
    pub client: Option<ClientFigures>,
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
    /// What a request costs the server by itself, as its own client saw at the start.
    #[serde(default)]
    pub request_ns: u64,
    /// What the operating system granted.
    pub grants: Grants,
    /// What the data takes where it is kept.
    pub data_bytes: u64,
    /// What the model broke down with: every request fails since.
    pub defect: Option<Text>,
    /// Power cuts so far.
    pub cuts: Vec<CutReport>,
    /// Faults so far.
    #[serde(default)]
    pub faults: Vec<FaultFigures>,
}

impl ServedFigures {
    /// How it went since an earlier look at the same server. What is counted by kind, or is of a moment, is as it is now.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        // Shares and means are of all that was until then.
        let rest = |of_now: f64, weight_now: u64, of_before: f64, weight_before: u64| {
            let weight = weight_now.saturating_sub(weight_before).max(1) as f64;
            ((of_now * weight_now as f64 - of_before * weight_before as f64) / weight).max(0.0)
        };
        let of_time = |pick: fn(&Self) -> f64| {
            rest(pick(self), self.served_ns, pick(before), before.served_ns).min(1.0)
        };
        let of_answers = |pick: fn(&Lateness) -> f64| {
            let (now, before) = (&self.lateness, &before.lateness);
            rest(pick(now), now.answers, pick(before), before.answers)
        };
        let less = |pick: fn(&Self) -> u64| pick(self).saturating_sub(pick(before));
        let in_time = of_answers(|lateness| lateness.in_time_share.unwrap_or(0.0)).min(1.0);
        let means =
            [of_answers(|lateness| lateness.mean_service_ns), of_answers(|lateness| lateness.mean_real_ns)];
        let has_steal = before.steal_share.is_some() && self.steal_share.is_some();
        Self {
            served_ns: less(|figures| figures.served_ns),
            read_bytes: less(|figures| figures.read_bytes),
            written_bytes: less(|figures| figures.written_bytes),
            lateness: Lateness::new(
                since(&before.lateness.late, &self.lateness.late),
                in_time,
                means,
                [None, None],
            ),
            busy_share: of_time(|figures| figures.busy_share),
            server_bound_seconds: less(|figures| figures.server_bound_seconds),
            steal_share: has_steal.then(|| of_time(|figures| figures.steal_share.unwrap_or(0.0))),
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_stats::{Histogram, percentile_ns};

    /// A server after some answers, each of so many ns late; means are of the model and in reality.
    fn figures(served_ns: u64, late_ns: &[u64], means: [f64; 2], shares: [f64; 3]) -> ServedFigures {
        let mut histogram = Histogram::default();
        late_ns.iter().for_each(|late_ns| histogram.record(*late_ns));
        let [in_time, busy_share, steal] = shares;
        ServedFigures {
            served_ns,
            lateness: Lateness::new(histogram.to_record(), in_time, means, [Some(1.0), Some(1.0)]),
            busy_share,
            steal_share: Some(steal),
            round_trip_ns: 20,
            ..ServedFigures::default()
        }
    }

    #[test]
    fn what_was_done_since_an_earlier_look_is_had_apart() {
        // Four late answers before; since then three of four in time, twice as long, half of the time busy.
        let before = figures(1_000, &[90_000; 4], [100.0, 300.0], [0.0, 1.0, 0.0]);
        let now = figures(
            3_000,
            &[90_000, 90_000, 90_000, 90_000, 100, 100, 200, 50_000],
            [150.0, 260.0],
            [0.375, 2.0 / 3.0, 0.2],
        );
        let last = now.since(&before);
        let late = &last.lateness.late;
        assert_eq!((last.served_ns, late.count), (2_000, 4));
        assert_eq!((late.sum_ns, percentile_ns(late, 0.5)), (50_400, Some(100)));
        let Lateness { in_time_share, mean_service_ns, slowdown, .. } = &last.lateness;
        assert_eq!(*in_time_share, Some(0.75));
        assert!((mean_service_ns - 200.0).abs() < 1e-6 && (last.busy_share - 0.5).abs() < 1e-6);
        assert!((slowdown.unwrap().mean - 1.1).abs() < 1e-6, "{slowdown:?}");
        assert!(last.steal_share.is_some_and(|share| (share - 0.3).abs() < 1e-6));
        let nothing = before.since(&before).lateness;
        assert_eq!((nothing.in_time_share, nothing.slowdown, nothing.answers), (None, None, 0));
    }
}
