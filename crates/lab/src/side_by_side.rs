//! Models side by side: capacity, number of drives that may fail, probability of data loss, and
//! performance.
//!
//! The device model gives the structure of an array and the time to rebuild a member
//! (`kurabe_sim::array_facts`). The probability of data loss within a year follows from a Markov
//! chain (`kurabe_stats::ArrayLife`). Rates are measured in virtual time with a profile of the
//! studies: over the whole capacity of hard disks, where seek distance matters, and in a small file
//! otherwise. Random writes end with a flush, so that caches do not absorb them. Those of a shingled
//! disk are measured with its media cache full, the state in which random writes keep it.

use crate::model::{load_model, model_record};
use crate::movers::in_parallel;
use crate::profile::load_profile;
use crate::what_if::what_if;
use kurabe_compare::{WriteCaches, values};
use kurabe_core::Result;
use kurabe_core::model::{Model, ModelRecord};
use kurabe_core::profile::IoStep;
use kurabe_core::quantity::{MIB, NS_PER_S};
use kurabe_core::record::RunRecord;
use kurabe_core::target_name::TargetName;
use kurabe_core::workload::{Direction, End, Pattern};
use kurabe_sim::{ArrayFacts, ModelTarget, Redundancy, array_facts, rebuild_s};
use kurabe_stats::{ArrayLife, unreadable_share};
use kurabe_study::{ModelSide, known_misses};

/// Size of the test file on models without hard disks, reduced to what can be written in `FILL_NS`.
const SIZE_BYTES: u64 = 256 * MIB;
const FILL_NS: u64 = 2_000_000_000;
/// The first step of the profile that writes here and there.
const RANDOM_WRITES: usize = 4;
/// A media cache that takes longer to fill than a day is never full.
const LONGEST_FILL_NS: u64 = 86_400 * NS_PER_S;
/// Small block size of the profile.
const BLOCK_BYTES: u32 = 4096;

/// Evaluates models in the given order.
///
/// # Errors
/// When a model or a parameter does not exist, or a thread cannot be started.
pub fn sides_of(names: &[&str], sets: &[(String, String)]) -> Result<Vec<ModelSide>> {
    in_parallel(names, |name| side_of(name, sets))?.into_iter().collect()
}

/// Evaluates the models of runs with their changes. Returns `None` for runs on real targets, and for
/// models whose device file is gone or has changed since.
///
/// # Errors
/// When a thread cannot be started.
pub fn sides_of_runs(runs: &[&RunRecord]) -> Result<Vec<Option<ModelSide>>> {
    in_parallel(runs, |run| {
        let model = run.header.model.as_ref()?;
        let (name, sets) = loadable(model, run.header.target_name())?;
        let side = side_of(&name, &sets).ok()?;
        Some(ModelSide { name: model.name_with_changes(), ..side })
    })
}

/// Returns the name and the changes with which the model of a run on `target` can be loaded again: from
/// the user's own file or from the library, whichever still has the recorded layers.
pub(crate) fn loadable(model: &ModelRecord, target: &str) -> Option<(String, Vec<(String, String)>)> {
    let sets: Vec<(String, String)> = (model.changes().iter())
        .filter_map(|change| change.split_once(" = "))
        .map(|(parameter, value)| (parameter.to_owned(), value.to_owned()))
        .collect();
    let target = TargetName::from(target);
    let names = [target.model(), Some(model.name.as_str())];
    let is_same = |name: &&str| model_record(name, &sets, &[]).is_ok_and(|now| now.layers == model.layers);
    let name = names.into_iter().flatten().find(is_same)?;
    Some((name.to_owned(), sets))
}

/// Evaluates one model.
///
/// # Errors
/// When the model or a parameter does not exist.
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
        known_misses: known_misses(&spec)?,
    })
}

/// Returns the probability of data loss within a year. Returns `None` if the model does not specify
/// how often its drives fail, or the rebuild time is unknown.
fn loss_per_year(facts: &ArrayFacts, rebuild_hours: Option<f64>) -> Option<f64> {
    let failures_per_year = facts.failures_per_year?;
    let unreadable = |members: u64| {
        unreadable_share((members * facts.member_bytes) as f64, facts.unreadable.unwrap_or(0.0))
    };
    let life = match facts.redundancy {
        Redundancy::Pairs => ArrayLife::of_pairs(facts.members, unreadable(1)),
        // Only the last copy has to be read. With parity, all remaining members have to be read.
        Redundancy::Any(may_fail) if may_fail + 1 == facts.members => {
            ArrayLife::of_parity(facts.members, may_fail, unreadable(1))
        }
        Redundancy::Any(may_fail) => {
            ArrayLife::of_parity(facts.members, may_fail, unreadable(facts.members - may_fail))
        }
    };
    // Without redundancy there is no rebuild.
    let rebuild_hours = if facts.redundancy == Redundancy::Any(0) { 1.0 } else { rebuild_hours? };
    Some(ArrayLife { failures_per_year, rebuild_hours, ..life }.loss_within(1.0))
}

/// Returns the rates in bytes per second, in the order of the steps.
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
    IoStep::plain(Pattern::Random, 64 << 10, 32, vec![Direction::Write]).with(|access| access.end = end)
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
        // Rebuilding a member of RAID 5 reads 9 TB, and one bit in 10^14 cannot be read.
        assert!(loss(raid6) < loss(raid1) && loss(raid1) < loss(one), "{sides:?}");
        // 5.63 % of four members a year, of which 51 % meet such a bit.
        assert!((0.10..0.13).contains(&loss(raid5)) && loss(raid10) > loss(raid1), "{sides:?}");
        // 3 TB at 140 MB/s on the outer tracks and half of that on the inner ones.
        assert!(sides[1..].iter().all(|side| (7.0..9.5).contains(&side.rebuild_hours.unwrap())), "{sides:?}");
        assert!(raid10.writes_per_s > raid5.writes_per_s, "{sides:?}");
        assert!(raid5.reads_per_s_deep > one.reads_per_s_deep, "{sides:?}");
    }
}
