//! Commands to the hub, and its counters.

use super::recipient::FrontRequest;
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

/// A command to the hub; those with a sender are answered.
pub(crate) enum HubCommand {
    /// Socket of kurabe's own client, which measures the round trip.
    Measure(OwnedFd),
    /// Socket of a connection that the kernel uses as a block device, and its export.
    Kernel(OwnedFd, usize),
    /// Measured round trip in ns; clients are accepted afterwards.
    Measured(u64, Sender<Result<()>>),
    Figures(Sender<(ServedFigures, Option<Rehearsal>)>),
    /// A live parameter and its new value; the answer is the changed stack.
    Set(String, String, Sender<Result<ModelRecord>>),
    Layer(Option<String>, Control, Sender<Result<()>>),
    Cut(Sender<Result<CutReport>>),
    /// Cut after a number of further acknowledged writes.
    CutAfter(u64, Sender<Result<()>>),
    /// Work to do at the beginning of each power cut.
    AtCut(Box<dyn Fn() + Send>),
    PowerOn(Sender<Result<()>>),
    /// Sets a fault, or lifts all if `None`.
    Fault(Option<DeviceFault>, Sender<Result<()>>),
    /// Request of a front.
    Request(FrontRequest),
    End,
}

/// Figures of a served stack so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServedFigures {
    /// Time since serving began.
    pub served_ns: u64,
    /// Reads that the stack completed.
    pub reads: u64,
    /// Writes, including those of zeroes.
    pub writes: u64,
    /// Flushes.
    pub flushes: u64,
    /// Trims.
    pub trims: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Requests that were invalid or exceeded the space.
    pub errors: u64,
    /// Number of clients now.
    pub clients: u64,
    /// Number of clients so far.
    pub connections: u64,
    /// Clients that were refused because there were too many.
    pub refused_connections: u64,
    /// Clients that were dropped because they took too long.
    pub slow_connections: u64,
    /// Lateness of the answers.
    pub lateness: Lateness,
    /// Requests that clients kept in flight, the rate they achieved, and the model's rate.
    #[serde(default)]
    pub client: Option<ClientFigures>,
    /// Share of the time in which the timekeeping thread was busy.
    pub busy_share: f64,
    /// Busy share in the busiest second.
    pub busiest_second_share: f64,
    /// Seconds in which the thread was busy almost all the time, so that requests waited for the
    /// server and not for the model.
    pub server_bound_seconds: u64,
    /// Share of processor time that the host of this virtual machine took, if known.
    pub steal_share: Option<f64>,
    /// Round trip of a null request, which is subtracted from arrival times.
    pub round_trip_ns: u64,
    /// Time that the server itself needs per request, as measured by its own client at the start.
    #[serde(default)]
    pub request_ns: u64,
    /// Privileges that the operating system granted.
    pub grants: Grants,
    /// Bytes that the data occupies where it is stored.
    pub data_bytes: u64,
    /// Error that broke the model; every request has failed since.
    pub defect: Option<Text>,
    /// Power cuts so far.
    pub cuts: Vec<CutReport>,
    /// Faults so far.
    #[serde(default)]
    pub faults: Vec<FaultFigures>,
}

impl ServedFigures {
    /// Returns the figures for the time since an earlier query of the same server. Counts by kind
    /// and current values are those of the later query.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        // Shares and means cover the whole time until each query.
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

    /// Creates figures of a server after some answers, with the lateness of each in ns. `means` are
    /// those of the model and of reality.
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
        // Four late answers before. Since then three of four were in time, with twice the duration
        // and half of the time busy.
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
