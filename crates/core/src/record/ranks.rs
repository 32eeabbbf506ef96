//! What several processes did at once, each on its part: ranks, in MPI's word for them.
//!
//! The model: the run keeps who took part, and on which hosts; each repetition keeps what of it each rank did. Times are of one
//! clock, that of rank 0, as well as the offsets of the others are known.

use super::Noise;
use crate::environment::Environment;
use crate::words::Keyword;
use serde::{Deserialize, Serialize};

/// Who measured together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RanksRecord {
    /// The hosts, each once, in the order of their first ranks.
    pub hosts: Vec<RankHost>,
    /// The ranks that began, in their order.
    pub ranks: Vec<RankPlace>,
    /// What file each rank works on.
    pub layout: RankLayout,
    /// Whether each rank reads what another one wrote.
    pub reorder: bool,
}

/// A machine with ranks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankHost {
    /// Its name.
    pub name: String,
    /// What its ranks stood on.
    pub environment: Environment,
}

/// Where a rank is, and how its clock stood when it was last compared before the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankPlace {
    /// Its number.
    pub rank: u32,
    /// Its host's place in the list of hosts.
    pub host: u32,
    /// What is added to its clock to have that of rank 0.
    pub clock_offset_ns: i64,
    /// How far that may be off: half the fastest round trip.
    pub clock_bound_ns: u64,
}

/// What file each rank works on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RankLayout {
    /// Its own.
    #[default]
    Own,
    /// One for all; each rank a part in one piece.
    Segmented,
    /// One for all; each rank every n-th block.
    Strided,
}

impl Keyword for RankLayout {
    const WORDS: &'static [(&'static str, Self)] =
        &[("own", Self::Own), ("segmented", Self::Segmented), ("strided", Self::Strided)];
}

/// What of a repetition each rank did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankedRepetition {
    /// Each rank's share, in the order of ranks.
    pub shares: Vec<RankShare>,
    /// What went on while all were at work, from the last start to the first end; `None` where that was shorter than an
    /// interval of somebody's series.
    pub at_work: Option<AllAtWork>,
    /// What else went on at each host, where a rank of it told; all ranks of the host are kurabe.
    pub noise: Vec<HostNoise>,
}

/// What one rank did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankShare {
    /// Its number.
    pub rank: u32,
    /// Its start, from the first start of any.
    pub started_ns: u64,
    /// Its measured time.
    pub elapsed_ns: u64,
    /// Bytes that it moved.
    pub bytes: u64,
    /// Operations that it completed.
    pub operations: u64,
    /// Operations that failed.
    pub failed: u64,
    /// Its longest wait for an operation.
    pub worst_ns: u64,
    /// Its stalls.
    pub stalls: u64,
}

/// The time in which all ranks were at work (IOR and IO500 end it by a stonewall).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AllAtWork {
    /// Its length.
    pub time_ns: u64,
    /// Bytes per second: the sum of each rank's rate over its whole intervals within.
    pub bytes_per_s: f64,
    /// Operations per second, likewise.
    pub operations_per_s: f64,
}

/// What else went on at a host.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostNoise {
    /// The host's place in the list of hosts.
    pub host: u32,
    /// What.
    pub noise: Noise,
}

impl RankShare {
    /// Bytes per second, over its own time.
    pub fn rate_bytes_per_s(&self) -> f64 {
        super::repetition::per_second(self.bytes, self.elapsed_ns)
    }

    /// Operations per second, over its own time.
    pub fn rate_iops(&self) -> f64 {
        super::repetition::per_second(self.operations, self.elapsed_ns)
    }
}

impl RankedRepetition {
    /// The shares from the slowest rank to the fastest, by operations per second: blocks of all ranks are alike.
    pub fn by_rate(&self) -> Vec<RankShare> {
        let mut shares = self.shares.clone();
        shares.sort_by(|one, other| one.rate_iops().total_cmp(&other.rate_iops()));
        shares
    }

    /// Jain's fairness of the ranks' rates: 1 where all are equal, `1/n` where one had everything.
    pub fn fairness(&self) -> Option<f64> {
        let rates = self.shares.iter().map(RankShare::rate_iops);
        let (sum, squares) =
            rates.fold((0.0, 0.0), |(sum, squares), rate| (sum + rate, squares + rate * rate));
        (squares > 0.0).then(|| sum * sum / (self.shares.len() as f64 * squares))
    }

    /// Time from the first start to the last.
    pub fn skew_ns(&self) -> u64 {
        self.shares.iter().map(|share| share.started_ns).max().unwrap_or(0)
    }

    /// When the first rank had done its share, from the first start.
    pub fn first_done_ns(&self) -> Option<u64> {
        self.shares.iter().map(|share| share.started_ns.saturating_add(share.elapsed_ns)).min()
    }
}
