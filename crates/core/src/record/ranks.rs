//! Records of several processes that measured concurrently. They are called ranks, as in MPI.
//!
//! The run stores the ranks and their hosts. Each repetition stores the share of each rank. All
//! times are on the clock of rank 0, with the accuracy of the known offsets.

use super::Noise;
use crate::environment::Environment;
use crate::words::Keyword;
use serde::{Deserialize, Serialize};

/// The ranks that measured together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RanksRecord {
    /// The hosts without duplicates, in the order of their first ranks.
    pub hosts: Vec<RankHost>,
    /// The ranks that started, in order.
    pub ranks: Vec<RankPlace>,
    /// How files are assigned to ranks.
    pub layout: RankLayout,
    /// Whether each rank reads data that another rank wrote.
    pub reorder: bool,
}

/// A host of ranks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankHost {
    /// The host's name.
    pub name: String,
    /// The test environment of its ranks.
    pub environment: Environment,
}

/// The host of a rank, and the offset of its clock when last compared before the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankPlace {
    /// The rank's number.
    pub rank: u32,
    /// Index of its host in the list of hosts.
    pub host: u32,
    /// Offset in ns, to be added to its clock to obtain that of rank 0.
    pub clock_offset_ns: i64,
    /// Error bound of the offset in ns: half the fastest round trip.
    pub clock_bound_ns: u64,
}

/// How files are assigned to ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RankLayout {
    /// One file per rank.
    #[default]
    Own,
    /// One shared file, of which each rank uses one contiguous part.
    Segmented,
    /// One shared file, of which each rank uses every n-th block.
    Strided,
}

impl Keyword for RankLayout {
    const WORDS: &'static [(&'static str, Self)] =
        &[("own", Self::Own), ("segmented", Self::Segmented), ("strided", Self::Strided)];
}

/// The shares of the ranks in a repetition.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankedRepetition {
    /// Share of each rank, in the order of ranks.
    pub shares: Vec<RankShare>,
    /// Figures for the time during which all ranks were active, from the last start to the first
    /// end. `None` if that was shorter than an interval of a rank's series.
    pub at_work: Option<AllAtWork>,
    /// Other activity on each host, if a rank there reported it. Activity of other ranks does not
    /// count as noise.
    pub noise: Vec<HostNoise>,
}

/// The share of one rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankShare {
    /// The rank's number.
    pub rank: u32,
    /// Its start in ns, relative to the earliest start of any rank.
    pub started_ns: u64,
    /// Its measured time in ns.
    pub elapsed_ns: u64,
    /// Bytes that it transferred.
    pub bytes: u64,
    /// Operations that it completed.
    pub operations: u64,
    /// Operations that failed.
    pub failed: u64,
    /// Its highest latency in ns.
    pub worst_ns: u64,
    /// Number of its stalls.
    pub stalls: u64,
}

/// Figures for the time during which all ranks were active. IOR and IO500 end it with a stonewall.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AllAtWork {
    /// Length of that time in ns.
    pub time_ns: u64,
    /// Bytes per second: the sum of each rank's rate over the whole intervals within that time.
    pub bytes_per_s: f64,
    /// Operations per second, computed in the same way.
    pub operations_per_s: f64,
}

/// Other activity on a host.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostNoise {
    /// Index of the host in the list of hosts.
    pub host: u32,
    /// The activity.
    pub noise: Noise,
}

impl RankShare {
    /// Returns bytes per second over the rank's own time.
    pub fn rate_bytes_per_s(&self) -> f64 {
        super::repetition::per_second(self.bytes, self.elapsed_ns)
    }

    /// Returns operations per second over the rank's own time.
    pub fn rate_iops(&self) -> f64 {
        super::repetition::per_second(self.operations, self.elapsed_ns)
    }
}

impl RankedRepetition {
    /// Returns the shares from the slowest rank to the fastest by operations per second. All ranks
    /// use the same block sizes.
    pub fn by_rate(&self) -> Vec<RankShare> {
        let mut shares = self.shares.clone();
        shares.sort_by(|one, other| one.rate_iops().total_cmp(&other.rate_iops()));
        shares
    }

    /// Returns Jain's fairness index of the ranks' rates: 1 if all are equal, `1/n` if one rank did
    /// everything.
    pub fn fairness(&self) -> Option<f64> {
        let rates = self.shares.iter().map(RankShare::rate_iops);
        let (sum, squares) =
            rates.fold((0.0, 0.0), |(sum, squares), rate| (sum + rate, squares + rate * rate));
        (squares > 0.0).then(|| sum * sum / (self.shares.len() as f64 * squares))
    }

    /// Returns the time in ns from the first start to the last.
    pub fn skew_ns(&self) -> u64 {
        self.shares.iter().map(|share| share.started_ns).max().unwrap_or(0)
    }

    /// Returns when the first rank finished its share, in ns from the first start.
    pub fn first_done_ns(&self) -> Option<u64> {
        self.shares.iter().map(|share| share.started_ns.saturating_add(share.elapsed_ns)).min()
    }
}
