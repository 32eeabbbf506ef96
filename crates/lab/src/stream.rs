//! The one stream of what happens: numbered envelopes, to any number of listeners.
//!
//! The model: whoever tells an event has it in the store already. The envelopes of a stream have consecutive numbers, so
//! a listener sees whether it missed any; the last [`KEPT_ENVELOPES`] are kept in memory for those who come late.

use kurabe_core::Result;
use kurabe_core::event::Event;
use kurabe_core::workload::Direction;
use kurabe_stats::Blocked;
use serde::Serialize;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Envelopes that a stream keeps for listeners who come late: some minutes of a run, which tells about ten a second. The
/// cells of a run are in the store, whatever is gone from here.
pub const KEPT_ENVELOPES: usize = 4096;

/// Something that happened, and where.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Envelope {
    /// What.
    #[serde(flatten)]
    pub event: Happening,
    /// The run's id; of a study's modelled point its name; of targets in turns the id of the first.
    pub run: String,
    /// Its number in its stream, from 0.
    pub number: u64,
    /// When it was told, in ns from the beginning of the stream, by the clock of this machine; a modelled run's own time
    /// is in its events.
    pub at_ns: u64,
}

/// What may happen.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Happening {
    /// Something in a run.
    Run(Event),
    /// Something that concerns all targets in turns.
    Turns(TurnsEvent),
    /// Something that concerns a study.
    Point(PointEvent),
}

/// What happens where targets take turns.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum TurnsEvent {
    /// A pair of blocks is whole.
    VersusBlocks {
        /// Whole blocks so far.
        blocks: u32,
        /// Comparisons that are clear.
        settled: usize,
        /// All comparisons.
        comparisons: usize,
    },
    /// A cell became clear.
    VersusSettled {
        /// The cell's name.
        label: String,
        /// Its direction.
        direction: Option<Direction>,
        /// The run that was held against the first.
        other: String,
        /// What it came to.
        blocked: Box<Blocked>,
    },
}

/// What happens to the modelled points of a study.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum PointEvent {
    /// A point is begun.
    PointStarted {
        /// The model.
        model: String,
    },
    /// A point is over.
    PointDone,
    /// The machine gives fewer threads than were asked for; the points are computed by those.
    FewerThreads {
        /// Threads that compute.
        threads: usize,
        /// Threads that were asked for.
        asked: usize,
        /// Why there are no more.
        cause: String,
    },
}

/// Somebody who hears of what happens. An error of one who listened from the beginning ends what is told.
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
    /// Has somebody hear everything from now on.
    pub fn listen(&self, listener: Listener) {
        self.locked().listeners.push(listener);
    }

    /// What is kept from a number on, for who comes late: the first is a later one where that is not kept any more.
    pub fn since(&self, number: u64) -> Vec<Arc<Envelope>> {
        let log = &self.locked().log;
        let before = log.partition_point(|envelope| envelope.number < number);
        log.range(before..).cloned().collect()
    }

    /// Tells all listeners, in the order in which they came.
    pub(crate) fn tell(&self, run: &str, event: Happening) -> Result<()> {
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
            stream.tell("7kq", Happening::Run(Event::Pause { length_ns })).unwrap();
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
            event: Happening::Run(Event::Pause { length_ns: 5 }),
            run: "7kq".to_owned(),
            number: 3,
            at_ns: 17,
        };
        let line = serde_json::to_string(&envelope).unwrap();
        assert_eq!(line, r#"{"event":"pause","length_ns":5,"run":"7kq","number":3,"at_ns":17}"#);
        let blocks = TurnsEvent::VersusBlocks { blocks: 2, settled: 0, comparisons: 6 };
        let line = serde_json::to_string(&Happening::Turns(blocks)).unwrap();
        assert_eq!(line, r#"{"event":"versus_blocks","blocks":2,"settled":0,"comparisons":6}"#);
    }
}
