//! Processes that measure together. Each runs the same session on its part; rank 0 tells when each repetition begins, takes in
//! what the others recorded, and makes one record of it.
//!
//! The model: messages between rank 0 and each other rank, in the order in which they are sent, and nothing else is asked of
//! whoever carries them ([`Communicator`]). No message goes to all at once, because a collective operation never ends once a
//! rank is lost: here the others go on without it. Every wait is bounded: who gives no sign for longer than the run's patience is
//! lost. A rank that waits for its storage gives signs as long as operations complete.

mod clock;
mod follower;
mod leader;
mod merge;
mod message;
mod part;
mod party;

pub use clock::{ClockOffset, fastest};
pub use merge::{RankPart, merged};
pub use message::{RankFile, RankMessage};
pub use part::{PartPlan, check_parts};
pub use party::{Party, PartyPlan};

use kurabe_core::Result;
use std::time::Duration;

/// What carries messages between ranks, and what of time they need.
pub trait Communicator {
    /// This process's number.
    fn rank(&self) -> u32;

    /// All processes.
    fn size(&self) -> u32;

    /// The name of this process's host.
    fn host(&self) -> String;

    /// This machine's monotonic clock, in ns.
    fn now_ns(&self) -> u64;

    /// Sends bytes, and waits for nobody; messages to one rank keep their order.
    ///
    /// # Errors
    /// When they cannot be sent.
    fn send(&self, to: u32, bytes: Vec<u8>) -> Result<()>;

    /// The next message of any rank, waited for no longer than `limit`, and who sent it.
    ///
    /// # Errors
    /// When messages cannot be received any more.
    fn receive(&self, limit: Duration) -> Result<Option<(u32, Vec<u8>)>>;

    /// A rank gave no sign and may never end: nobody waits for the end of all.
    fn give_up(&self) {}
}
