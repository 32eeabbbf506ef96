//! Processes that measure together. Each runs the same session on its part. Rank 0 decides when
//! each repetition begins, collects the results of the other ranks, and merges them into one
//! record.
//!
//! Messages are exchanged between rank 0 and each other rank, in order, and nothing else is
//! required of the transport ([`Communicator`]). There are no collective operations, because they
//! never end once a rank is lost; here the other ranks continue without it. Every wait is bounded:
//! a rank that gives no sign of life for longer than the run's patience is lost. A rank that waits
//! for its storage gives signs of life as long as operations complete.

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

/// Transport of messages between ranks, and the clock.
pub trait Communicator {
    /// Returns the rank of this process.
    fn rank(&self) -> u32;

    /// Returns the number of processes.
    fn size(&self) -> u32;

    /// Returns the host name of this process.
    fn host(&self) -> String;

    /// Returns the time of this machine's monotonic clock, in ns.
    fn now_ns(&self) -> u64;

    /// Sends bytes without waiting for the receiver; messages to one rank keep their order.
    ///
    /// # Errors
    /// If they cannot be sent.
    fn send(&self, to: u32, bytes: Vec<u8>) -> Result<()>;

    /// Returns the next message of any rank and its sender, waiting no longer than `limit`.
    ///
    /// # Errors
    /// If messages can no longer be received.
    fn receive(&self, limit: Duration) -> Result<Option<(u32, Vec<u8>)>>;

    /// Called when a rank is lost and may never end, so that no process waits for the end of all.
    fn give_up(&self) {}
}
