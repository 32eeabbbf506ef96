//! What models are worth beside each other: how much they hold, how much may fail, how likely data are lost, and how fast
//! they are.
//!
//! The model: what an array is and how long an empty member takes to be filled, the device model tells
//! (`kurabe_sim::array_facts`); how likely data are lost within a year follows by a Markov chain
//! (`kurabe_stats::ArrayLife`). Rates are measured in virtual time, with a profile of the studies: over the whole of what turns, where the way of the arm
//! counts, and in a small file of what does not. Random writes end with a flush, so that no memory takes them for
//! free. Those of a shingled disk are measured once its media cache is full, the state in which they keep it.

use crate::model::{load_model, model_record, own_changes};
use crate::movers::in_parallel;
use crate::profile::load_profile;
use crate::what_if::what_if;
use kurabe_compare::{WriteCaches, values};
use kurabe_core::model::Model;
use kurabe_core::profile::IoStep;
use kurabe_core::quantity::{MIB, NS_PER_S};
use kurabe_core::record::RunRecord;
use kurabe_core::workload::{Direction, End, Pattern};
use kurabe_core::{Result, Text};
use kurabe_sim::{ArrayFacts, ModelTarget, Redundancy, array_facts, rebuild_s};
use kurabe_stats::{ArrayLife, unreadable_share};
use serde::Serialize;

/// Test file where nothing turns, or as much as can be written in this time.
const SIZE_BYTES: u64 = 256 * MIB;
const FILL_NS: u64 = 2_000_000_000;
/// The first step of the profile that writes here and there.
const RANDOM_WRITES: usize = 4;
/// A media cache that takes longer to fill than a day is never full.
const LONGEST_FILL_NS: u64 = 86_400 * NS_PER_S;
/// Small blocks of the profile.
const BLOCK_BYTES: u32 = 4096;

/// A model beside others.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelSide {
    /// Its name.
    pub name: String,
    /// What it is.
    pub title: Text,
    /// Bytes that it holds.
    pub capacity_bytes: u64,
    /// Drives that it is made of.
    pub members: u64,
    /// How many of them may fail, whichever these are.
    pub may_fail: u64,
    /// How many at most, if it is the right ones.
    pub may_fail_at_best: u64,
    /// Failures of a drive per year that were reckoned with; none where the model does not say.
    pub failures_per_year: Option<f64>,
    /// The share of bits read that cannot be.
    pub unreadable: Option<f64>,
    /// Hours until an empty drive is filled, while nobody else asks for anything.
    pub rebuild_hours: Option<f64>,
    /// The chance that data are lost within a year.
    pub loss_per_year: Option<f64>,
    /// Sequential reads and writes of 1 MiB, eight in flight.
    pub read_bytes_per_s: Option<f64>,
    /// The same of writes, with a flush at the end.
    pub write_bytes_per_s: Option<f64>,
    /// Random reads of 4 KiB per second, one and 32 in flight.
    pub reads_per_s_alone: Option<f64>,
    /// The same with 32 in flight.
    pub reads_per_s_deep: Option<f64>,
    /// Random writes of 4 KiB per second, 32 in flight, with a flush at the end.
    pub writes_per_s: Option<f64>,
    /// Writes of 4 KiB per second, each with a flush behind it.
    pub safe_writes_per_s: Option<f64>,
}

/// Models beside each other, in the order in which they are named.
///
/// # Errors
/// When there is no such model or parameter.
pub fn sides_of(names: &[&str], sets: &[(String, String)]) -> Result<Vec<ModelSide>> {
    in_parallel(names, |name| side_of(name, sets))?.into_iter().collect()
}

/// What those of the runs are worth that were computed on models of kurabe's own, each with its changes.
///
/// # Errors
/// When a thread cannot be started.
pub fn sides_of_runs(runs: &[&RunRecord]) -> Result<Vec<Option<ModelSide>>> {
    in_parallel(runs, |run| {
        let model = run.header.model.as_ref()?;
        let side = side_of(&model.name, &own_changes(model)?).ok()?;
        Some(ModelSide { name: model.name_with_changes(), ..side })
    })
}

/// One of them.
///
/// # Errors
/// When there is no such model or parameter.
pub fn side_of(name: &str, sets: &[(String, String)]) -> Result<ModelSide> {
    let spec = load_model(name, sets, &[])?;
    let facts = array_facts(&spec)?;
    let rebuild_hours = rebuild_s(&spec, &facts)?.map(|seconds| seconds / 3600.0);
    let (may_fail, may_fail_at_best) = match facts.redundancy {
        Redundancy::Any(count) => (count, count),
        Redundancy::Pairs => (1, facts.members / 2),
    };
    let turns = spec.all_layers().iter().any(|layer| layer.kind.word == "disk");
    let media_cache_bytes = WriteCaches::of(&model_record(name, sets, &[])?).media_bytes;
    let rates = rates(name, sets, turns, media_cache_bytes)?;
    let per_s = |rate: Option<f64>| rate.map(|bytes_per_s| bytes_per_s / f64::from(BLOCK_BYTES));
    Ok(ModelSide {
        name: spec.name.clone(),
        title: spec.title.clone(),
        capacity_bytes: ModelTarget::new(&spec, 0)?.span_bytes(),
        members: facts.members,
        may_fail,
        may_fail_at_best,
        failures_per_year: facts.failures_per_year,
        unreadable: facts.unreadable,
        rebuild_hours,
        loss_per_year: loss_per_year(&facts, rebuild_hours),
        read_bytes_per_s: rates[0],
        write_bytes_per_s: rates[1],
        reads_per_s_alone: per_s(rates[2]),
        reads_per_s_deep: per_s(rates[3]),
        writes_per_s: per_s(rates[4]),
        safe_writes_per_s: per_s(rates[5]),
    })
}

/// The chance that data are lost within a year; none where the model does not say how often its drives fail, or how long
/// one takes to be filled.
fn loss_per_year(facts: &ArrayFacts, rebuild_hours: Option<f64>) -> Option<f64> {
    let failures_per_year = facts.failures_per_year?;
    let unreadable = |members: u64| {
        unreadable_share((members * facts.member_bytes) as f64, facts.unreadable.unwrap_or(0.0))
    };
    let life = match facts.redundancy {
        Redundancy::Pairs => ArrayLife::of_pairs(facts.members, unreadable(1)),
        // The last copy is read by itself; with parity all that are left are.
        Redundancy::Any(may_fail) if may_fail + 1 == facts.members => {
            ArrayLife::of_parity(facts.members, may_fail, unreadable(1))
        }
        Redundancy::Any(may_fail) => {
            ArrayLife::of_parity(facts.members, may_fail, unreadable(facts.members - may_fail))
        }
    };
    // Without redundancy nothing is filled again.
    let rebuild_hours = if facts.redundancy == Redundancy::Any(0) { 1.0 } else { rebuild_hours? };
    Some(ArrayLife { failures_per_year, rebuild_hours, ..life }.loss_within(1.0))
}

/// Rates in bytes per second, in the order of the steps.
fn rates(
    name: &str,
    sets: &[(String, String)],
    turns: bool,
    media_cache_bytes: u64,
) -> Result<[Option<f64>; 6]> {
    let mut profile = load_profile("side-by-side")?;
    if turns {
        profile.rules.whole_device = true;
    } else {
        profile.rules.size_bytes = SIZE_BYTES;
        (profile.rules.size_at_least_bytes, profile.rules.fill_time_limit_ns) = (Some(MIB), Some(FILL_NS));
    }
    let record = what_if(name, profile.clone(), sets.to_vec())?;
    let rate = |record: &RunRecord, place: usize| values(record.cells.get(place)?).first().copied();
    let rates = [0, 1, 2, 3, 4, 5].map(|place| rate(&record, place));
    if media_cache_bytes == 0 {
        return Ok(rates);
    }
    profile.preconditions = vec![filling_media_cache(media_cache_bytes)];
    profile.steps.drain(..RANDOM_WRITES);
    let full = what_if(name, profile, sets.to_vec())?;
    Ok([rates[0], rates[1], rates[2], rates[3], rate(&full, 0), rate(&full, 1)])
}

/// Random writes that fill a media cache of so many bytes, and half of it again.
fn filling_media_cache(media_cache_bytes: u64) -> IoStep {
    let end =
        End { time_ns: Some(LONGEST_FILL_NS), bytes: Some(media_cache_bytes / 2 * 3), ..End::default() };
    IoStep { end, ..IoStep::plain(Pattern::Random, 64 << 10, 32, vec![Direction::Write]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shingled_disk_writes_here_and_there_more_slowly_than_another() {
        let sides = sides_of(&["hdd-smr", "hdd-nearline"], &[]).unwrap();
        let [smr, nearline] = &sides[..] else { panic!("{sides:?}") };
        assert!(smr.writes_per_s < nearline.writes_per_s, "{sides:?}");
        assert!(smr.safe_writes_per_s < nearline.safe_writes_per_s, "{sides:?}");
    }

    #[test]
    fn parity_and_copies_are_what_they_cost() {
        let names = ["wd-red-3tb", "md-raid1-2", "md-raid5-4", "md-raid10-4", "md-raid6-8"];
        let sides = sides_of(&names, &[]).unwrap();
        let [one, raid1, raid5, raid10, raid6] = &sides[..] else { panic!("{sides:?}") };
        let of_one = |side: &ModelSide| (side.capacity_bytes as f64 / one.capacity_bytes as f64).round();
        assert_eq!([raid1, raid5, raid10, raid6].map(of_one), [1.0, 3.0, 2.0, 6.0]);
        assert_eq!([one, raid1, raid5, raid10, raid6].map(|side| side.may_fail), [0, 1, 1, 1, 2]);
        assert_eq!(raid10.may_fail_at_best, 2);
        let loss = |side: &ModelSide| side.loss_per_year.unwrap();
        // 9 TB are read to fill a member of RAID 5, and one of 10^14 bits cannot be read.
        assert!(loss(raid6) < loss(raid1) && loss(raid1) < loss(one), "{sides:?}");
        assert!((0.01..0.05).contains(&loss(raid5)) && loss(raid10) > loss(raid1), "{sides:?}");
        // 3 TB, 140 MB/s outside and half of that inside.
        assert!(sides[1..].iter().all(|side| (7.0..9.5).contains(&side.rebuild_hours.unwrap())), "{sides:?}");
        assert!(raid10.writes_per_s > raid5.writes_per_s, "{sides:?}");
        assert!(raid5.reads_per_s_deep > one.reads_per_s_deep, "{sides:?}");
    }
}
