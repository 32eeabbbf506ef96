//! The three characteristic figures of a model, and the parameters with the largest effect on them.
//!
//! Each numeric parameter is doubled separately, or halved if the doubled value is out of range,
//! and the figures are computed again.

use crate::model::{load_model, own_changes};
use crate::what_if::what_if;
use kurabe_compare::values;
use kurabe_core::model::ModelRecord;
use kurabe_core::profile::{IoStep, Profile, Rules, Step};
use kurabe_core::quantity::MIB;
use kurabe_core::record::RunRecord;
use kurabe_core::workload::{Direction, End, Pattern};
use kurabe_core::{Error, Result, Text};
use kurabe_sim::Setting;
use kurabe_study::Mover;
use std::io;
use std::panic::resume_unwind;
use std::thread::Builder;

/// Virtual time per figure, enough for some operations of the slowest models.
const TIME_NS: u64 = 200_000_000;
/// Size of the test file, as in the quick profile.
const SIZE_BYTES: u64 = 256 * MIB;
/// Limit for random I/O. A few thousand operations are enough for the fastest models.
const MOST_RANDOM_BYTES: u64 = 16 * MIB;
/// Number of threads, chosen so that they finish at about the same time.
const THREADS: usize = 7;
/// Maximum number of parameters returned.
const MOST_MOVERS: usize = 5;
/// Minimum relative change of a figure.
const LEAST_MOVED: f64 = 0.02;

/// Rates of a model in bytes per second: sequential read, random read at queue depth 1, random
/// write at queue depth 32.
pub type CardFigures = [Option<f64>; 3];

/// Applies `work` to all items on several threads and returns the results in order.
///
/// # Errors
/// When a thread cannot be started.
///
/// # Panics
/// When `work` panics.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Result<Vec<R>> {
    let work = &|part: &[T]| part.iter().map(&work).collect::<Vec<R>>();
    std::thread::scope(|scope| {
        let parts = items.chunks(items.len().div_ceil(THREADS).max(1));
        let parts = parts.map(|part| Builder::new().spawn_scoped(scope, move || work(part)));
        let parts: Vec<_> = parts.collect::<io::Result<_>>().map_err(|error| Error::no_thread(&error))?;
        let done = parts.into_iter().map(|part| part.join().unwrap_or_else(|panic| resume_unwind(panic)));
        Ok(done.flatten().collect())
    })
}

/// Computes the figures of a model with changed parameters. Returns `None` if the model cannot be
/// computed.
pub fn card_figures(model: &str, sets: &[(String, String)]) -> Option<CardFigures> {
    let step = |pattern, block_bytes, iodepth, direction, most_bytes| {
        let end = End { time_ns: Some(TIME_NS), bytes: Some(most_bytes), ..End::default() };
        Step::Io(Box::new(
            IoStep::plain(pattern, block_bytes, iodepth, vec![direction]).with(|access| access.end = end),
        ))
    };
    let steps = vec![
        step(Pattern::Sequential, 1 << 20, 8, Direction::Read, SIZE_BYTES),
        step(Pattern::Random, 4096, 1, Direction::Read, MOST_RANDOM_BYTES),
        step(Pattern::Random, 4096, 32, Direction::Write, MOST_RANDOM_BYTES),
    ];
    let rules = Rules { size_bytes: SIZE_BYTES, ..Rules::once() };
    let profile = Profile::of_steps("card", Text::default(), rules, steps);
    let record = what_if(model, profile, sets.to_vec()).ok()?;
    let rate = |place: usize| values(record.cells.get(place)?).first().copied();
    Some([rate(0), rate(1), rate(2)])
}

/// Returns the parameters with the largest effect on a model's figures, largest first.
///
/// # Errors
/// When the model or a parameter does not exist, or a thread cannot be started.
pub fn movers(model: &str, sets: &[(String, String)]) -> Result<Vec<Mover>> {
    let spec = load_model(model, sets, &[])?;
    let before = card_figures(model, sets).unwrap_or_default();
    let mut settings: Vec<(String, &Setting)> = Vec::new();
    for layer in spec.all_layers() {
        for setting in layer.settings.iter() {
            let name = format!("{}.{}", layer.name, setting.parameter.key);
            if !settings.iter().any(|(other, _)| *other == name) {
                settings.push((name, setting));
            }
        }
    }
    let moved = in_parallel(&settings, |(name, setting)| mover((model, sets), &before, name, setting))?;
    let mut movers: Vec<Mover> = moved.into_iter().flatten().collect();
    movers.sort_by(|one, other| strength(other.ratio).total_cmp(&strength(one.ratio)));
    movers.truncate(MOST_MOVERS);
    Ok(movers)
}

/// Returns [`movers`] for the model of a run, with its changes. Returns none if the model does not
/// come with kurabe.
///
/// # Errors
/// When a thread cannot be started.
pub fn movers_of(run: &RunRecord) -> Result<Vec<Mover>> {
    let own_model = |model: &ModelRecord| {
        let sets = own_changes(model)?;
        load_model(&model.name, &sets, &[]).is_ok().then(|| (model.name.clone(), sets))
    };
    match run.header.model.as_ref().and_then(own_model) {
        Some((model, sets)) => movers(&model, &sets),
        None => Ok(Vec::new()),
    }
}

fn strength(ratio: f64) -> f64 {
    ratio.ln().abs()
}

fn mover(
    (model, sets): (&str, &[(String, String)]),
    before: &CardFigures,
    name: &str,
    setting: &Setting,
) -> Option<Mover> {
    let number = setting.number().filter(|number| *number > 0.0)?;
    let (least, most) = setting.parameter.kind.range()?;
    let unit = setting.parameter.kind.unit();
    let after = |factor: f64| {
        let value = Some(number * factor).filter(|value| (least..=most).contains(value))?;
        let set = (name.to_owned(), format!("{value} {unit}").trim().to_owned());
        Some((factor > 1.0, card_figures(model, &[sets, &[set]].concat())?))
    };
    let (is_doubled, after) = after(2.0).or_else(|| after(0.5))?;
    let ratio = |figure: usize| Some((figure, after[figure]? / before[figure]?));
    let ratios = (0..before.len()).filter_map(ratio).filter(|(_, ratio)| ratio.is_finite() && *ratio > 0.0);
    let (figure, ratio) = ratios.max_by(|one, other| strength(one.1).total_cmp(&strength(other.1)))?;
    let (name, value) = (name.to_owned(), setting.written.clone());
    (strength(ratio) >= LEAST_MOVED).then_some(Mover { name, value, is_doubled, figure, ratio })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_most_comes_first_and_does_so() {
        let movers = movers("rascsi", &[]).unwrap();
        let names: Vec<&str> = movers.iter().map(|mover| mover.name.as_str()).collect();
        assert!(names.contains(&"fat-image.cluster") && names.contains(&"scsi.target_in"), "{names:?}");
        assert!(movers.is_sorted_by_key(|mover| -strength(mover.ratio)), "{movers:?}");
        let cluster = movers.iter().find(|mover| mover.name == "fat-image.cluster").unwrap();
        let set = [(cluster.name.clone(), "128 KiB".to_owned())];
        let [before, after] =
            [&[][..], &set].map(|sets| card_figures("rascsi", sets).unwrap()[cluster.figure]);
        assert!(cluster.is_doubled && cluster.value == "64 KiB", "{cluster:?}");
        assert_eq!(Some(cluster.ratio), Some(after.unwrap() / before.unwrap()));
        // Changed parameters are part of the model.
        let changed = super::movers("rascsi", &set).unwrap();
        assert!(
            changed.iter().all(|mover| mover.name != cluster.name || mover.value == "128 KiB"),
            "{changed:?}"
        );
    }
}
