//! What ranks tell each other.

use kurabe_core::event::Event;
use kurabe_core::record::{Repetition, RunHeader};
use kurabe_core::{Error, ErrorKind, Result, Text, text};
use serde::{Deserialize, Serialize};

/// A file of a rank: its path, and its number in its file system.
pub type RankFile = (String, u64);

/// A message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum RankMessage {
    /// To rank 0: what time is it there?
    Ping,
    /// From rank 0: its clock, in ns.
    Pong(u64),
    /// Somebody waits for storage that answers.
    Alive,
    /// From rank 0: the file in which all have a part, by its path and number.
    File(String, u64),
    /// To rank 0: the target is open.
    Hello(Box<Hello>),
    /// To rank 0: everything for the next repetition is ready.
    Ready,
    /// From rank 0: it begins at this time of its clock, in ns.
    Begin(u64),
    /// To rank 0: something of a run but the end of a repetition.
    Told(Box<Event>),
    /// To rank 0: a repetition of a cell is over, which began at this time of rank 0's clock, in ns.
    Done(u32, u64, Box<Repetition>),
    /// To rank 0: this rank is at its end, by this failure if any, on this host.
    Ended(Option<Text>, String),
    /// From rank 0: the run is over; whether all that was sent is kept.
    Over(bool),
}

/// A rank with an open target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// Its host's name.
    pub host: String,
    /// What it stands on.
    pub header: RunHeader,
    /// What is added to its clock to have that of rank 0.
    pub clock_offset_ns: i64,
    /// How far that may be off.
    pub clock_bound_ns: u64,
    /// The file that it made, for others to read.
    pub file: Option<RankFile>,
}

impl RankMessage {
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>> {
        serde_json::to_vec(self).map_err(|error| {
            ErrorKind::Internal
                .error(text!("cannot write a message to a rank", "ランクへの通知を書けません"))
                .because(error)
        })
    }

    pub(crate) fn of(bytes: &[u8]) -> Result<Self> {
        serde_json::from_slice(bytes).map_err(|error| {
            ErrorKind::RankLost
                .error(text!("a rank sent what is no message", "ランクから解釈できない通知が届きました"))
                .because(error)
                .remedy(text!(
                    "run the same version of kurabe on all hosts",
                    "すべてのホストで同じ版の kurabe を使ってください"
                ))
        })
    }
}

/// A failure as others hear of it: what happened, and why.
pub(crate) fn told_of(error: &Error) -> Text {
    error.what_and_why()
}
