//! The stream of events: numbered envelopes for any number of listeners.
//!
//! Events are in the store before they are reported. The envelopes of a stream have consecutive
//! numbers, so a listener can detect missing ones. The last [`KEPT_ENVELOPES`] are kept in memory
//! for listeners that join later.

use kurabe_core::Result;
use kurabe_core::event::Event;
use kurabe_core::workload::Direction;
use kurabe_stats::Blocked;
use serde::Serialize;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Number of envelopes that a stream keeps for listeners that join later. A run reports about ten
/// per second, so this covers some minutes. The cells of a run are in the store even if their
/// envelopes are no longer kept.
pub const KEPT_ENVELOPES: usize = 4096;

/// An event with its source.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Envelope {
    /// The event.
    #[serde(flatten)]
    pub event: StreamEvent,
    /// Id of the run; for a modelled point of a study, its name; for interleaved targets, the id of
    /// the first run.
    pub run: String,
    /// Number in its stream, from 0.
    pub number: u64,
    /// Time of the report in ns since the start of the stream, by this machine's clock. The virtual
    /// time of a modelled run is in its events.
    pub at_ns: u64,
}

/// Events by their source.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum StreamEvent {
    /// Event of a run.
    Run(Event),
    /// Event of an interleaved measurement as a whole.
    Versus(VersusEvent),
    /// Event of a study.
    Point(PointEvent),
}

/// Events of interleaved measurements.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum VersusEvent {
    /// A pair of blocks is complete.
    VersusBlocks {
        /// Complete blocks so far.
        blocks: u32,
        /// Comparisons that are decided.
        settled: usize,
        /// Number of comparisons.
        comparisons: usize,
    },
    /// A cell was decided.
    VersusSettled {
        /// The cell's name.
        label: String,
        /// Its direction.
        direction: Option<Direction>,
        /// The run that was compared with the first.
        other: String,
        /// Result of the comparison.
        blocked: Box<Blocked>,
    },
    /// The first blocks of some cells show which differences the measurement can find.
    VersusForecast {
        /// Time limit of the measurement in ns.
        time_ns: u64,
        /// A relative difference below this counts as none.
        margin: f64,
        /// The cells with a forecast.
        cells: Vec<ForecastCell>,
    },
}

/// The smallest difference that a measurement can find in a cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ForecastCell {
    /// Name of the measured cell.
    pub label: String,
    /// Direction of its operations.
    pub direction: Option<Direction>,
    /// The run that is compared with the first.
    pub other: String,
    /// The relative difference that is found with probability 0.9: 0.03 is 3 %.
    pub smallest_difference: f64,
}

/// Events of the modelled points of a study.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum PointEvent {
    /// A point has started.
    PointStarted {
        /// The model.
        model: String,
    },
    /// A point has ended.
    PointDone,
    /// The machine provides fewer threads than requested. These compute all points.
    FewerThreads {
        /// Number of threads that compute.
        threads: usize,
        /// Number of threads requested.
        asked: usize,
        /// Why there are no more.
        cause: String,
    },
}

/// Receives envelopes. If a listener returns an error, the report fails.
pub type Listener = Box<dyn FnMut(&Envelope) -> Result<()> + Send>;

/// A stream of envelopes.
pub struct Stream {
    begun: Instant,
    state: Mutex<StreamState>,
}

#[derive(Default)]
struct StreamState {
    next_number: u64,
    log: VecDeque<Arc<Envelope>>,
    listeners: Vec<Listener>,
}

impl Default for Stream {
    fn default() -> Self {
        Self { begun: Instant::now(), state: Mutex::default() }
    }
}

impl Stream {
    /// Adds a listener for all envelopes from now on.
    pub fn listen(&self, listener: Listener) {
        self.locked().listeners.push(listener);
    }

    /// Returns the kept envelopes from this number on, for a listener that joins later. Older ones
    /// may no longer be kept.
    pub fn since(&self, number: u64) -> Vec<Arc<Envelope>> {
        let log = &self.locked().log;
        let before = log.partition_point(|envelope| envelope.number < number);
        log.range(before..).cloned().collect()
    }

    /// Passes an event to all listeners, in the order in which they were added.
    pub(crate) fn tell(&self, run: &str, event: StreamEvent) -> Result<()> {
        let mut state = self.locked();
        let at_ns = u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let number = state.next_number;
        let envelope = Arc::new(Envelope { event, run: run.to_owned(), number, at_ns });
        state.next_number += 1;
        if state.log.len() == KEPT_ENVELOPES {
            state.log.pop_front();
        }
        state.log.push_back(Arc::clone(&envelope));
        state.listeners.iter_mut().try_for_each(|listener| listener(&envelope))
    }

    fn locked(&self) -> MutexGuard<'_, StreamState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(stream: &Stream, from: u64) -> Vec<u64> {
        stream.since(from).iter().map(|envelope| envelope.number).collect()
    }

    fn tell(stream: &Stream, count: u64) {
        for length_ns in 0..count {
            stream.tell("7kq", StreamEvent::Run(Event::Pause { length_ns })).unwrap();
        }
    }

    #[test]
    fn who_comes_late_is_told_everything_from_a_number_on() {
        let stream = Stream::default();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let ear = Arc::clone(&heard);
        stream.listen(Box::new(move |envelope| {
            ear.lock().unwrap().push(envelope.number);
            Ok(())
        }));
        tell(&stream, 5);
        assert_eq!(*heard.lock().unwrap(), [0, 1, 2, 3, 4]);
        assert_eq!(numbers(&stream, 3), [3, 4]);
        assert!(numbers(&stream, u64::MAX).is_empty());
    }

    #[test]
    fn what_is_kept_has_a_bound_and_the_number_tells_what_is_gone() {
        let stream = Stream::default();
        tell(&stream, KEPT_ENVELOPES as u64 + 10);
        let kept = numbers(&stream, 0);
        assert_eq!((kept.len(), kept[0]), (KEPT_ENVELOPES, 10));
    }

    #[test]
    fn an_envelope_has_the_fields_of_its_event_and_its_own() {
        let envelope = Envelope {
            event: StreamEvent::Run(Event::Pause { length_ns: 5 }),
            run: "7kq".to_owned(),
            number: 3,
            at_ns: 17,
        };
        let line = serde_json::to_string(&envelope).unwrap();
        assert_eq!(line, r#"{"event":"pause","length_ns":5,"run":"7kq","number":3,"at_ns":17}"#);
        let blocks = VersusEvent::VersusBlocks { blocks: 2, settled: 0, comparisons: 6 };
        let line = serde_json::to_string(&StreamEvent::Versus(blocks)).unwrap();
        assert_eq!(line, r#"{"event":"versus_blocks","blocks":2,"settled":0,"comparisons":6}"#);
    }
}
