//! Kinds of limits.

use kurabe_core::{Text, text};
use serde::Serialize;

/// Share of the time from which a part of it is the limit, because no other part is longer.
pub(super) const MOSTLY: f64 = 0.5;
/// A part with at least this share of an operation is at least twice as long as all others
/// together.
pub(super) const CLEARLY: f64 = 2.0 / 3.0;
/// If the other direction is this many times as fast, the limit is not what both directions pass
/// through.
pub(super) const FASTER: f64 = 1.25;

/// Kind of a cell's limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    /// kurabe's own code.
    Generator,
    /// Other work on the device or the machine.
    OtherWork,
    /// Memory: operations went through the page cache.
    HostMemory,
    /// The computer: system calls and wake-ups, according to its kernel's tracepoints.
    Host,
    /// A limit on operations or bytes that the provider of a volume sets.
    Volume,
    /// The connection's data rate.
    Link,
    /// Seek and rotation.
    Mechanics,
    /// The flush that makes writes durable: fsync, fdatasync, or within each write.
    Flush,
    /// Writes that exceed the sustained rate, after a cache was full.
    WriteCache,
    /// Reads that wait for concurrent writes.
    BehindWrites,
    /// Pauses in which no or almost no operation completes.
    Stalls,
    /// Programming, or rewriting a larger unit, which a small write in flash needs.
    SmallWrites,
    /// A chain of clusters that is walked to each offset.
    Walk,
    /// Operations wait in the kernel's queues, according to its tracepoints.
    Saturated,
    /// The fixed time of a command, regardless of its size.
    Command,
    /// The device's maximum rate of commands: they wait for each other.
    CommandRate,
    /// The device's own data rate: medium or controller, not the connection.
    DeviceRate,
    /// Two parts of an operation's time, neither of which is most of it.
    Shared,
    /// The largest cause in the account of a modelled run.
    Cause,
    /// The record contains no evidence.
    Unknown,
}

/// Strength of the evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Strength {
    /// No evidence.
    None,
    /// It fits, but the record lacks what would exclude all other explanations.
    Likely,
    /// No other explanation is known.
    Strong,
    /// It was counted, not inferred.
    Exact,
}

/// The limit of a cell, with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Limit {
    /// Kind of the limit.
    pub kind: LimitKind,
    /// Strength of the evidence.
    pub strength: Strength,
    /// The limit in one sentence.
    pub sentence: Text,
    /// The evidence in one sentence; empty if there is none.
    pub evidence: Text,
    /// A measurement that would show the cause, or more about it, if any.
    pub next: Option<Text>,
}

impl LimitKind {
    /// Limits of the storage that an article may name as reasons, with their names in JSON.
    pub const REASONS: [(&'static str, Self); 14] = [
        ("host_memory", Self::HostMemory),
        ("volume", Self::Volume),
        ("link", Self::Link),
        ("mechanics", Self::Mechanics),
        ("flush", Self::Flush),
        ("write_cache", Self::WriteCache),
        ("behind_writes", Self::BehindWrites),
        ("stalls", Self::Stalls),
        ("small_writes", Self::SmallWrites),
        ("walk", Self::Walk),
        ("command", Self::Command),
        ("command_rate", Self::CommandRate),
        ("device_rate", Self::DeviceRate),
        ("shared", Self::Shared),
    ];
}

impl Limit {
    /// Returns the limit in a few words, for use within a sentence about the run.
    pub fn name(&self) -> Text {
        match self.kind {
            LimitKind::Volume | LimitKind::Link | LimitKind::Flush | LimitKind::Shared | LimitKind::Cause => {
                self.sentence.clone()
            }
            LimitKind::Generator => text!("kurabe itself", "kurabe 自身"),
            LimitKind::OtherWork => text!("load from other processes", "同時に動いていたほかの処理"),
            LimitKind::HostMemory => text!("the computer's memory", "コンピューターのメモリー"),
            LimitKind::Host => text!("the computer's own I/O path", "コンピューター側の処理"),
            LimitKind::Mechanics => text!("seek and rotation", "シークと回転待ち"),
            LimitKind::WriteCache => {
                text!(
                    "the sustained write speed, after its cache has filled up",
                    "キャッシュが埋まったあとの書き込み速度"
                )
            }
            LimitKind::BehindWrites => text!("writes that reads wait for", "読み出しが待たされる書き込み"),
            LimitKind::Stalls => text!("pauses of the device", "デバイスの停滞"),
            LimitKind::SmallWrites => {
                text!("the work of a small write in flash", "小さな書き込みのためのフラッシュの処理")
            }
            LimitKind::Walk => text!("walking a chain of clusters", "クラスターの連鎖をたどる時間"),
            LimitKind::Saturated => text!("the kernel's queues", "カーネルのキュー待ち"),
            LimitKind::Command => text!("the time of a command", "1 コマンドの時間"),
            LimitKind::CommandRate => {
                text!("the device's command rate", "デバイスが処理できるコマンド数")
            }
            LimitKind::DeviceRate => text!("the device's data rate", "デバイス自身の転送速度"),
            LimitKind::Unknown => text!("an unknown cause", "不明な要因"),
        }
    }
}
