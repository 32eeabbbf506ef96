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
#[serde(untagged)]
pub enum Happening {
    /// Something in a run.
    Run(Event),
    /// Something that concerns all targets in turns.
    Turns(TurnsEvent),
    /// Something that concerns a study.
    Point(PointEvent),
}

impl From<Event> for Happening {
    fn from(event: Event) -> Self {
        Self::Run(event)
    }
}

/// What happens where targets take turns.
#[derive(Clone, Debug, PartialEq, Serialize)]
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

    /// Has somebody hear everything from a number on: first what is kept of it, then what comes. Returns the number of
    /// the first envelope that it hears, which is larger than the one asked for if that is not kept any more.
    ///
    /// # Errors
    /// The listener's own, in what is kept; it hears nothing more then.
    pub fn listen_from(&self, number: u64, mut listener: Listener) -> Result<u64> {
        let mut state = self.locked();
        let kept = state.since(number);
        let first = kept.first().map_or(state.next_number, |envelope| envelope.number);
        kept.iter().try_for_each(|envelope| listener(envelope))?;
        state.listeners.push(listener);
        Ok(first)
    }

    /// What is kept from a number on.
    pub fn since(&self, number: u64) -> Vec<Arc<Envelope>> {
        self.locked().since(number)
    }

    /// Tells all listeners, in the order in which they came.
    pub(crate) fn tell(&self, run: &str, event: impl Into<Happening>) -> Result<()> {
        let mut state = self.locked();
        let at_ns = u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let number = state.next_number;
        let envelope = Arc::new(Envelope { event: event.into(), run: run.to_owned(), number, at_ns });
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

impl StreamState {
    fn since(&self, number: u64) -> Vec<Arc<Envelope>> {
        let before = self.log.partition_point(|envelope| envelope.number < number);
        self.log.range(before..).cloned().collect()
    }
}

impl From<TurnsEvent> for Happening {
    fn from(event: TurnsEvent) -> Self {
        Self::Turns(event)
    }
}

impl From<PointEvent> for Happening {
    fn from(event: PointEvent) -> Self {
        Self::Point(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers() -> (Arc<Mutex<Vec<u64>>>, Listener) {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let ear = Arc::clone(&heard);
        let listener = Box::new(move |envelope: &Envelope| {
            ear.lock().unwrap().push(envelope.number);
            Ok(())
        });
        (heard, listener)
    }

    fn tell(stream: &Stream, count: u64) {
        for length_ns in 0..count {
            stream.tell("7kq", Event::Pause { length_ns }).unwrap();
        }
    }

    #[test]
    fn who_comes_late_hears_everything_from_a_number_on() {
        let stream = Stream::default();
        let (first, listener) = numbers();
        stream.listen(listener);
        tell(&stream, 5);
        let (late, listener) = numbers();
        assert_eq!(stream.listen_from(3, listener).unwrap(), 3);
        tell(&stream, 2);
        assert_eq!(*first.lock().unwrap(), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(*late.lock().unwrap(), [3, 4, 5, 6]);
    }

    #[test]
    fn what_is_kept_has_a_bound_and_the_number_tells_what_is_gone() {
        let stream = Stream::default();
        tell(&stream, KEPT_ENVELOPES as u64 + 10);
        assert_eq!(stream.since(0).len(), KEPT_ENVELOPES);
        let (late, listener) = numbers();
        assert_eq!(stream.listen_from(0, listener).unwrap(), 10);
        assert_eq!(late.lock().unwrap()[0], 10);
        let (next, listener) = numbers();
        assert_eq!(stream.listen_from(u64::MAX, listener).unwrap(), KEPT_ENVELOPES as u64 + 10);
        assert!(next.lock().unwrap().is_empty());
    }

    #[test]
    fn an_envelope_has_the_fields_of_its_event_and_its_own() {
        let envelope = Envelope {
            event: Event::Pause { length_ns: 5 }.into(),
            run: "7kq".to_owned(),
            number: 3,
            at_ns: 17,
        };
        let line = serde_json::to_string(&envelope).unwrap();
        assert_eq!(line, r#"{"event":"pause","length_ns":5,"run":"7kq","number":3,"at_ns":17}"#);
        let blocks = TurnsEvent::VersusBlocks { blocks: 2, settled: 0, comparisons: 6 };
        let line = serde_json::to_string(&Happening::from(blocks)).unwrap();
        assert_eq!(line, r#"{"event":"versus_blocks","blocks":2,"settled":0,"comparisons":6}"#);
    }
}
