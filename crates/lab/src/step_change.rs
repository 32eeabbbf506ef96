//! Changes that apply to every step of a profile, for variants of one target.
//!
//! Steps that become identical in every variant are measured once.

use crate::profile::ProfileWithTraces;
use kurabe_core::profile::{IoStep, Overrides, Profile, Step};
use kurabe_core::{ErrorKind, Result, mention::PROFILES, text};

/// Changes every step of a profile by workload options.
///
/// # Errors
/// When no step changes.
pub(crate) fn change_steps(overrides: &Overrides, profile: &mut Profile) -> Result<()> {
    if !overrides.is_of_workload() {
        return Ok(());
    }
    let before = profile.steps.clone();
    for step in &mut profile.steps {
        match step {
            Step::Io(step) => overrides.change_step(step),
            Step::Replay(step) => step.iodepth = overrides.iodepth.unwrap_or(step.iodepth),
            Step::Positional(_)
            | Step::AccessTime(_)
            | Step::Copy(_)
            | Step::Command(_)
            | Step::Metadata(_)
            | Step::Stopwatch(_) => {}
        }
    }
    // A score that was defined for the original steps is not valid for the changed ones.
    profile.derived.clear();
    let io_step = |step: &Step| matches!(step, Step::Io(_));
    if before != profile.steps || profile.steps.iter().any(io_step) {
        return Ok(());
    }
    let name = &profile.name;
    Err(ErrorKind::Usage
        .error(text!(
            "this option does not apply to any step of `{name}`",
            "`{name}` には、これで変えられるステップがありません"
        ))
        .remedy(text!(
            "choose a profile with steps of reads or writes ({PROFILES})",
            "読み書きのステップを持つプロファイルを選んでください({PROFILES})"
        )))
}

/// Removes steps that equal an earlier step in every one of these variants of a profile.
pub(crate) fn drop_doubles(plans: &mut [ProfileWithTraces]) {
    let count = plans.first().map_or(0, |plan| plan.profile.steps.len());
    let mut kept: Vec<usize> = Vec::new();
    for place in 0..count {
        let is_double = |before: &usize| {
            plans.iter().all(|plan| same(&plan.profile.steps[*before], &plan.profile.steps[place]))
        };
        if !kept.iter().any(is_double) {
            kept.push(place);
        }
    }
    for plan in plans {
        plan.profile.steps = kept.iter().map(|place| plan.profile.steps[*place].clone()).collect();
        plan.traces = kept.iter().map(|place| plan.traces[*place].clone()).collect();
    }
}

/// Returns whether two steps do the same, regardless of their names.
fn same(one: &Step, other: &Step) -> bool {
    match (one, other) {
        (Step::Io(one), Step::Io(other)) => {
            let unnamed = |step: &IoStep| IoStep { id: None, label: None, ..step.clone() };
            unnamed(one) == unnamed(other)
        }
        (one, other) => one == other,
    }
}
