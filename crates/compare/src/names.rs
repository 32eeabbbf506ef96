//! Names of runs when several are discussed, based on their differences rather than their ids.
//!
//! A run that the user named (`run --name`, or the label `name`) has that name. The others are
//! named by the one property in which all of them differ: the device, the target, or the changes to
//! a common model, the shortest if several apply. Otherwise, the alternatives are the target with
//! its changes, the model's title, the procedure and the day. If nothing distinguishes them, the id
//! does.

use kurabe_core::{Text, number, record::RunRecord};
use std::collections::BTreeSet;

/// Label with the user's name of a run.
pub const NAME_LABEL: &str = "name";

/// Returns the names of runs in order. No two are equal.
pub fn names(runs: &[&RunRecord]) -> Vec<Text> {
    if let Some(variants) = variants(runs) {
        return variants;
    }
    let given: Vec<Option<Text>> =
        runs.iter().map(|run| run.labels.get(NAME_LABEL).map(Text::same)).collect();
    let taken: BTreeSet<&str> = given.iter().flatten().map(|name| name.en.as_str()).collect();
    let unnamed: Vec<&RunRecord> =
        runs.iter().zip(&given).filter(|(_, name)| name.is_none()).map(|(run, _)| *run).collect();
    let length = |names: &Vec<Text>| names.iter().map(|name| name.en.chars().count()).sum::<usize>();
    let each = |way: &Naming| unnamed.iter().map(|run| way(run)).collect::<Option<Vec<Text>>>();
    let are_apart = |names: &Vec<Text>| {
        let different: BTreeSet<&str> = names.iter().map(|name| name.en.as_str()).collect();
        different.len() == names.len() && different.is_disjoint(&taken)
    };
    let short = SHORT.iter().map(each).chain([changes_of_one_model(&unnamed)]);
    let shortest = short.flatten().filter(are_apart).min_by_key(length);
    let apart = shortest.or_else(|| LONGER.iter().filter_map(each).find(are_apart));
    let ids = || unnamed.iter().map(|run| with_id(run)).collect();
    let mut called = apart.unwrap_or_else(ids).into_iter();
    let names: Vec<Text> =
        given.into_iter().map(|name| name.or_else(|| called.next()).unwrap_or_default()).collect();
    let of_place = |(name, run): (&Text, &&RunRecord)| {
        // Two runs may have the same given name.
        let is_shared = names.iter().filter(|other| *other == name).count() > 1;
        let id = &run.header.id;
        if is_shared { name.map(|name| format!("{name} ({id})")) } else { name.clone() }
    };
    names.iter().zip(runs).map(of_place).collect()
}

/// Returns the differences between variants of one target, if all runs are variants in the same
/// measurement.
fn variants(runs: &[&RunRecord]) -> Option<Vec<Text>> {
    let versus = |run: &&RunRecord| run.header.versus.clone();
    let group = versus(runs.first()?)?.group;
    let of_group =
        |run: &&RunRecord| versus(run).filter(|versus| versus.group == group)?.variant().map(Text::same);
    let names: Vec<Text> = runs.iter().map(of_group).collect::<Option<_>>()?;
    let different: BTreeSet<&str> = names.iter().map(|name| name.en.as_str()).collect();
    (different.len() == names.len()).then_some(names)
}

/// Returns the subject of a run for display: the model with its changes, the device, or the target
/// if neither is known.
pub fn subject(run: &RunRecord) -> Text {
    model(run).or_else(|| device(run)).or_else(|| target(run)).unwrap_or_default()
}

type Naming = fn(&RunRecord) -> Option<Text>;

/// Functions that name a run by a single property.
const SHORT: [Naming; 2] = [device, target];

/// Functions that name a run, in order, if neither device nor target nor changes distinguish the
/// runs.
const LONGER: [Naming; 4] = [target_with_changes, model, procedure, day];

/// Returns the changes to the model if all runs are of the same one, and the target where there are
/// none.
fn changes_of_one_model(runs: &[&RunRecord]) -> Option<Vec<Text>> {
    let first = &runs.first()?.header.model.as_ref()?.name;
    let changes = |run: &&RunRecord| {
        let model = run.header.model.as_ref().filter(|model| model.name == *first)?;
        words(&model.changes().join(", ")).or_else(|| target(run))
    };
    runs.iter().map(changes).collect()
}

fn words(words: &str) -> Option<Text> {
    (!words.is_empty()).then(|| Text::same(words))
}

fn model(run: &RunRecord) -> Option<Text> {
    let model = run.header.model.as_ref()?;
    let changes = model.changes();
    let (title, changes) = (&model.title, changes.join(", "));
    Some(if changes.is_empty() {
        title.clone()
    } else {
        title.clone().map(|title| format!("{title}, {changes}"))
    })
}

fn device(run: &RunRecord) -> Option<Text> {
    let models: Vec<&str> =
        run.header.environment.devices.iter().filter_map(|device| device.model.as_deref()).collect();
    words(&models.join(" + "))
}

fn target(run: &RunRecord) -> Option<Text> {
    words(run.header.target_name())
}

fn target_with_changes(run: &RunRecord) -> Option<Text> {
    let changes = run.header.model.as_ref()?.changes();
    let parts = [&[run.header.target_name().to_owned()], changes.as_slice()].concat();
    words(&parts.join(", "))
}

fn procedure(run: &RunRecord) -> Option<Text> {
    words(&run.header.profile_name())
}

fn day(run: &RunRecord) -> Option<Text> {
    words(&number::date_minute(run.header.measured_at()))
}

/// Returns the target with the id, because nothing else distinguishes this run.
fn with_id(run: &RunRecord) -> Text {
    let id = &run.header.id;
    match target(run) {
        Some(target) => target.map(|target| format!("{target} ({id})")),
        None => Text::same(id),
    }
}
