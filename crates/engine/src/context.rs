//! The context of a run that its ground and steps share: the profile, the user's interrupt, and the
//! receiver of events.

use crate::drive::content::Content;
use kurabe_core::company::Company;
use kurabe_core::record::{Interval, Notice, NoticeKind};
use kurabe_core::{
    Result, Text, event::Event, listed::OperationList, profile::Profile, trace::Trace, workload::Workload,
};
use kurabe_program::Stop;
use std::sync::Arc;

/// Receives the events of a session, in order.
pub type Emitter<'a> = &'a mut dyn FnMut(Event) -> Result<()>;

/// Receives intervals during a measurement: the end time of the interval, its operations, and its
/// length.
pub(crate) type IntervalListener<'a> = &'a mut dyn FnMut(u64, Interval, u64);

/// Converts an interval into an event.
pub type IntervalTeller<'a> = &'a mut dyn FnMut(u64, Interval, u64) -> Event;

/// The context of a run.
pub struct Context<'a> {
    pub(crate) profile: &'a Profile,
    pub(crate) interrupt: &'a Stop,
    pub(crate) emit: Emitter<'a>,
    /// Start of the run, on the ground's clock.
    pub(crate) started_ns: u64,
    noticed: Vec<NoticeKind>,
    /// The traces of the profile's replay steps, indexed by step.
    pub(crate) traces: Vec<Option<Arc<Trace>>>,
    /// Receives every operation of workloads and replays.
    pub(crate) operations: Option<OperationList<'a>>,
    /// The other processes that perform the same run concurrently.
    pub(crate) company: Option<&'a dyn Company>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(profile: &'a Profile, interrupt: &'a Stop, emit: Emitter<'a>, started_ns: u64) -> Self {
        let (noticed, traces) = (Vec::new(), Vec::new());
        Self { profile, interrupt, emit, started_ns, noticed, traces, operations: None, company: None }
    }

    /// Returns the profile's data for a seed and a thread.
    pub(crate) fn content(&self, seed: u64, thread: u32) -> Content {
        Content::new(self.profile.rules.data, seed, u64::from(thread))
    }

    pub(crate) fn emit(&mut self, event: Event) -> Result<()> {
        (self.emit)(event)
    }

    pub(crate) fn notice(&mut self, kind: NoticeKind, text: Text) -> Result<()> {
        self.emit(Event::Notice { notice: Notice::new(kind, text) })
    }

    pub(crate) fn notice_once(&mut self, kind: NoticeKind, text: Text) -> Result<()> {
        if self.noticed.contains(&kind) {
            return Ok(());
        }
        self.noticed.push(kind);
        self.notice(kind, text)
    }

    /// Returns a function that waits for the common start time of a repetition. Without other
    /// processes, a repetition starts immediately.
    pub(crate) fn meet(&self) -> impl Fn() -> Result<u64> + use<'a> {
        let (company, started_ns) = (self.company, self.started_ns);
        move || company.map_or(Ok(0), |company| company.meet(started_ns))
    }

    /// Returns the other processes, if there are any.
    pub(crate) fn company(&self) -> Option<&'a dyn Company> {
        self.company.filter(|company| company.place().1 > 1)
    }

    /// Returns the part of a workload that this process performs.
    pub(crate) fn part(&self, workload: Workload, is_cell: bool) -> Workload {
        match self.company {
            Some(company) => company.part(workload, is_cell),
            None => workload,
        }
    }

    /// Measures in real time and emits the events that `tell` creates from its progress. An error
    /// of the receiver, or the user's interrupt, is returned as an error.
    pub(crate) fn watched<T>(
        &mut self,
        mut tell: impl FnMut(u64, Interval, u64) -> Event,
        measure: impl FnOnce(&Stop, IntervalListener<'_>) -> Result<T>,
    ) -> Result<T> {
        let (mut failed, emit) = (None, &mut *self.emit);
        let mut live = |elapsed_ns, interval, interval_ns| {
            if failed.is_none() {
                failed = emit(tell(elapsed_ns, interval, interval_ns)).err();
            }
        };
        let measured = measure(self.interrupt, &mut live)?;
        failed.map_or(Ok(()), Err)?;
        self.interrupt.check()?;
        Ok(measured)
    }
}

/// Creates the progress event of a measurement that is shown as a repetition.
pub(crate) fn progress(elapsed_ns: u64, interval: Interval, interval_ns: u64) -> Event {
    Event::Progress { elapsed_ns, interval, interval_ns }
}
