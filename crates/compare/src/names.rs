//! What runs are called where several are spoken of: by what tells them apart, and not by their ids.
//!
//! The model: a run that the user named (`run --name`, or the label `name`) is called that. The others are called by the one
//! thing in which all of them differ: the device, the target, or what was changed in the one model that they are of, the shortest if
//! several do; else the target with what was changed in it, the model's title, the procedure, the day. If nothing tells them apart,
//! the id does.

use kurabe_core::{Text, number, record::RunRecord};
use std::collections::BTreeSet;

/// The label by which a user names a run.
pub const NAME_LABEL: &str = "name";

/// The names of runs, in their order; no two are equal.
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
        // Two runs may have been given one name.
        let is_shared = names.iter().filter(|other| *other == name).count() > 1;
        let id = &run.header.id;
        if is_shared { name.map(|name| format!("{name} ({id})")) } else { name.clone() }
    };
    names.iter().zip(runs).map(of_place).collect()
}

/// What configurations of one target differ in, if all runs are such of one measurement.
fn variants(runs: &[&RunRecord]) -> Option<Vec<Text>> {
    let versus = |run: &&RunRecord| run.header.versus.clone();
    let group = versus(runs.first()?)?.group;
    let of_group =
        |run: &&RunRecord| versus(run).filter(|versus| versus.group == group)?.variant().map(Text::same);
    let names: Vec<Text> = runs.iter().map(of_group).collect::<Option<_>>()?;
    let different: BTreeSet<&str> = names.iter().map(|name| name.en.as_str()).collect();
    (different.len() == names.len()).then_some(names)
}

/// What a run is of, for people: the model with what was changed in it, the device, or the target where neither is known.
pub fn subject(run: &RunRecord) -> Text {
    model(run).or_else(|| device(run)).or_else(|| target(run)).unwrap_or_default()
}

type Naming = fn(&RunRecord) -> Option<Text>;

/// The ways that name one thing.
const SHORT: [Naming; 2] = [device, target];

/// The ways to call a run where neither device nor target nor changes alone tell runs apart, in their order.
const LONGER: [Naming; 4] = [target_with_changes, model, procedure, day];

/// What was changed in the model, if all runs are of the same; the target where nothing was.
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

/// The target, with the id because nothing else tells this run from another.
fn with_id(run: &RunRecord) -> Text {
    let id = &run.header.id;
    match target(run) {
        Some(target) => target.map(|target| format!("{target} ({id})")),
        None => Text::same(id),
    }
}
