//! Messages between ranks.

use kurabe_core::event::Event;
use kurabe_core::record::{Repetition, RunHeader};
use kurabe_core::{Error, ErrorKind, Result, Text, text};
use serde::{Deserialize, Serialize};

/// A file of a rank: path and inode number.
pub type RankFile = (String, u64);

/// A message between rank 0 and another rank.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum RankMessage {
    /// To rank 0: asks for its time.
    Ping,
    /// From rank 0: its clock, in ns.
    Pong(u64),
    /// The sender waits for storage that responds.
    Alive,
    /// From rank 0: path and inode number of the file that all ranks share.
    File(String, u64),
    /// To rank 0: the target is open.
    Hello(Box<Hello>),
    /// To rank 0: everything for the next repetition is ready.
    Ready,
    /// From rank 0: the start of the repetition by its clock, in ns.
    Begin(u64),
    /// To rank 0: an event of a run other than the end of a repetition.
    Told(Box<Event>),
    /// To rank 0: a repetition of a cell, with its start by rank 0's clock, in ns.
    Done(u32, u64, Box<Repetition>),
    /// To rank 0: this rank has ended, with its error, if any, and its host.
    Ended(Option<Text>, String),
    /// From rank 0: the run is over, and whether the results that were sent are stored.
    Over(bool),
}

/// A rank with an open target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// Host name.
    pub host: String,
    /// Header with its test environment.
    pub header: RunHeader,
    /// Value to add to its clock to get that of rank 0, in ns.
    pub clock_offset_ns: i64,
    /// Upper bound of the error of this offset, in ns.
    pub clock_bound_ns: u64,
    /// File that it created, for other ranks to read.
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
                .error(text!("a rank sent an invalid message", "ランクから解釈できない通知が届きました"))
                .because(error)
                .remedy(text!(
                    "run the same version of kurabe on all hosts",
                    "すべてのホストで同じ版の kurabe を使ってください"
                ))
        })
    }
}

/// Returns an error as other ranks report it: what failed, and why.
pub(crate) fn told_of(error: &Error) -> Text {
    error.what_and_why()
}
