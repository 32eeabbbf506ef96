//! What bounded a cell, in kinds.

use kurabe_core::Text;
use serde::Serialize;

/// What bounded a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    /// kurabe's own code.
    Generator,
    /// Other work on the device or the machine.
    OtherWork,
    /// Memory: operations that went through the page cache.
    HostMemory,
    /// The computer: system calls and waking up, as its kernel's tracepoints tell.
    Host,
    /// The connection's data rate.
    Link,
    /// Seek and rotation.
    Mechanics,
    /// Writes came faster than they can be kept up with, after a cache was full.
    WriteCache,
    /// Pauses in which nothing, or hardly anything, was completed.
    Stalls,
    /// More operations are in flight than are served at once: they wait for each other.
    Saturated,
    /// Too few operations are in flight: each waits for the answer to the one before.
    OneAtATime,
    /// Device and connection together are busy with a single operation: more of them bring nothing.
    ServesOne,
    /// The device's own data rate: medium or controller, not the connection.
    DeviceRate,
    /// The largest cause in the account of a modelled run.
    Cause,
    /// Nothing in the record tells.
    Unknown,
}

/// How far the evidence goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Strength {
    /// There is none.
    None,
    /// It fits, and the record lacks what would rule out everything else.
    Likely,
    /// No other reading is known.
    Strong,
    /// It was counted, not inferred.
    Exact,
}

/// What bounded a cell, and why that is said.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Limit {
    /// What it was.
    pub kind: LimitKind,
    /// How far the evidence goes.
    pub strength: Strength,
    /// The limit in one sentence.
    pub sentence: Text,
    /// The evidence in one sentence; empty if there is none.
    pub evidence: Text,
    /// What would tell, or tell more, if something would.
    pub next: Option<Text>,
}
