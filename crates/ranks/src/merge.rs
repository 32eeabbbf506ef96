//! Merges repetitions of several ranks into what one recorder of all operations would have
//! recorded, plus the share of each rank.

use kurabe_core::record::{
    AllAtWork, HostNoise, Interval, Noise, RankShare, RankedRepetition, Repetition, Series,
};
use kurabe_core::workload::Direction;

/// A rank's part of a repetition.
#[derive(Clone, Debug, PartialEq)]
pub struct RankPart {
    /// Rank.
    pub rank: u32,
    /// Index of its host in the list of hosts.
    pub host: u32,
    /// Start, in ns of the common clock.
    pub begun_ns: u64,
    /// Results since its start.
    pub repetition: Repetition,
}

/// Merges all parts into one repetition from the first start to the last end. `None` without parts.
pub fn merged(mut parts: Vec<RankPart>) -> Option<Repetition> {
    parts.sort_by_key(|part| part.rank);
    let first_ns = parts.iter().map(|part| part.begun_ns).min()?;
    let ranks = RankedRepetition {
        shares: parts.iter().map(|part| share(part, first_ns)).collect(),
        at_work: at_work(&parts),
        noise: noise(&parts),
    };
    let lowest = &parts.first()?.repetition;
    let (seed, started_ns, index) = (lowest.seed, lowest.started_ns, lowest.index);
    let mut whole: Option<Repetition> = None;
    for part in parts {
        let later = part.repetition.later(part.begun_ns - first_ns);
        match &mut whole {
            None => whole = Some(later),
            Some(whole) => whole.merge(&later),
        }
    }
    let noise = ranks.noise.iter().fold(Noise::default(), |most, host| most.most(&host.noise));
    Some(Repetition { seed, started_ns, index, noise, ranks: Some(Box::new(ranks)), ..whole? })
}

fn share(part: &RankPart, first_ns: u64) -> RankShare {
    let repetition = &part.repetition;
    let sides = [&repetition.read, &repetition.write, &repetition.sync];
    RankShare {
        rank: part.rank,
        started_ns: part.begun_ns - first_ns,
        elapsed_ns: repetition.elapsed_ns,
        bytes: repetition.bytes(Direction::Mix),
        operations: repetition.operations(Direction::Mix),
        failed: repetition.failed(),
        worst_ns: sides.map(|side| side.latency.max_ns).into_iter().max().unwrap_or(0),
        stalls: repetition.stall_count,
    }
}

/// Returns the throughput between the last start and the first end.
fn at_work(parts: &[RankPart]) -> Option<AllAtWork> {
    let from_ns = parts.iter().map(|part| part.begun_ns).max()?;
    let end_ns = |part: &RankPart| part.begun_ns.saturating_add(part.repetition.elapsed_ns);
    let until_ns = parts.iter().map(end_ns).min()?;
    let mut sum =
        AllAtWork { time_ns: until_ns.checked_sub(from_ns)?, bytes_per_s: 0.0, operations_per_s: 0.0 };
    for part in parts {
        let within =
            whole_intervals(&part.repetition.series, from_ns - part.begun_ns, until_ns - part.begun_ns);
        let time_s = within.len() as f64 * part.repetition.series.interval_ns as f64 / 1e9;
        let total = |figure: fn(&Interval) -> u64| within.iter().map(figure).sum::<u64>() as f64 / time_s;
        if within.is_empty() {
            return None;
        }
        sum.bytes_per_s += total(Interval::bytes);
        sum.operations_per_s += total(Interval::operations);
    }
    Some(sum)
}

/// Returns the intervals of a series that lie completely between two times since its start.
fn whole_intervals(series: &Series, from_ns: u64, until_ns: u64) -> &[Interval] {
    let Some(first) = from_ns.checked_next_multiple_of(series.interval_ns.max(1)) else { return &[] };
    let interval_ns = series.interval_ns.max(1);
    let first = (first / interval_ns) as usize;
    let last = ((until_ns / interval_ns) as usize).min(series.intervals.len());
    series.intervals.get(first..last).unwrap_or(&[])
}

/// Computes the noise of each host. Noise that one rank observes comes partly from other ranks on
/// the same host.
fn noise(parts: &[RankPart]) -> Vec<HostNoise> {
    let mut hosts: Vec<u32> = parts.iter().map(|part| part.host).collect();
    hosts.sort_unstable();
    hosts.dedup();
    let of_host = |host: u32| {
        let ranks: Vec<&Repetition> =
            parts.iter().filter(|part| part.host == host).map(|part| &part.repetition).collect();
        let most = ranks.iter().fold(Noise::default(), |most, rank| most.most(&rank.noise));
        // The total activity, including the rank's own work, minus the work of all ranks.
        let others = |seen: fn(&Noise) -> Option<u64>, own: fn(&Repetition) -> u64| {
            let all =
                ranks.iter().filter_map(|rank| Some(seen(&rank.noise)?.saturating_add(own(rank)))).max()?;
            Some(all.saturating_sub(ranks.iter().map(|rank| own(rank)).sum()))
        };
        let cpus = |rank: &Repetition| {
            (rank.cpu.user_ns + rank.cpu.system_ns) as f64 / rank.elapsed_ns.max(1) as f64
        };
        let busy = ranks.iter().filter_map(|rank| Some(rank.noise.other_cpus_busy? + cpus(rank)));
        let own_cpus: f64 = ranks.iter().map(|rank| cpus(rank)).sum();
        let noise = Noise {
            other_read_bytes: others(|noise| noise.other_read_bytes, |rank| rank.read.bytes),
            other_write_bytes: others(|noise| noise.other_write_bytes, |rank| rank.write.bytes),
            other_cpus_busy: busy.reduce(f64::max).map(|all| (all - own_cpus).max(0.0)),
            ..most
        };
        HostNoise { host, noise }
    };
    hosts.into_iter().map(of_host).collect()
}
