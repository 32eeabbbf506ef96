//! Computes model results without storing them, for repeated queries.

use crate::handle::RunHandle;
use crate::prepared::Prepared;
use crate::request::{Procedure, RunRequest};
use kurabe_core::Result;
use kurabe_core::event::Event;
use kurabe_core::profile::Profile;
use kurabe_core::record::{RunRecord, RunStatus};
use kurabe_core::target_name::TargetName;
use kurabe_engine::Session;

/// Runs a profile on a model that comes with kurabe, with changed parameters.
///
/// # Errors
/// When the model or a parameter does not exist, or the profile cannot run on it.
pub fn what_if(model: &str, profile: Profile, sets: Vec<(String, String)>) -> Result<RunRecord> {
    let (target, procedure) = (TargetName::Model(model.to_owned()), Procedure::Given(Box::new(profile)));
    let request = RunRequest { target, procedure, sets, ..RunRequest::default() };
    let handle = RunHandle::default();
    let prepared = Prepared::new(request)?;
    let mut record = RunRecord::begun(prepared.header_with(&[], &[])?);
    let (plan, name, mut model) = prepared.into_model()?;
    let mut emit = |event: Event| {
        record.apply(&event);
        Ok(())
    };
    let session = Session::on_model(&mut *model, &name, &plan.profile, &handle.stop, &mut emit);
    kurabe_virtual::run(session.with_traces(plan.traces))?;
    record.status = RunStatus::Complete;
    Ok(record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_compare::{FitGround, Use, WriteCaches, fit_profile};
    use kurabe_core::profile::Step;

    /// Runs the workload of a use on a card without a cache: its flushes, their mean in ns, and the commits
    /// of the journal.
    fn flushes(purpose: &str, data_only: Option<bool>) -> (u64, f64, u64) {
        let ground = FitGround { model: Some(WriteCaches::default()), size_bytes: None };
        let mut profile = fit_profile(&Use::load(purpose).unwrap(), 1, ground);
        profile.rules.runs = 1;
        for step in &mut profile.steps {
            if let (Step::Io(step), Some(data_only)) = (step, data_only) {
                step.sync.data_only = data_only;
            }
        }
        let record = what_if("sd-a1", profile, Vec::new()).unwrap();
        let repetition = &record.cells[0].repetitions[0];
        let (latency, account) = (&repetition.sync.latency, repetition.account.as_ref().unwrap());
        let commits = account.counts.iter().find(|count| count.counter == "commits");
        (latency.count, latency.mean_ns().unwrap(), commits.map_or(0, |count| count.count))
    }

    #[test]
    fn a_flush_on_a_model_has_the_time_of_pages_and_of_the_journal() {
        let (count, etcd_ns, commits) = flushes("etcd", None);
        let share = commits as f64 / count as f64;
        assert!((share - 2300.0 / 4096.0).abs() < 0.01, "a record begins a page as often as that: {share}");
        let (_, sqlite_ns, commits) = flushes("sqlite", None);
        assert_eq!(commits, 0, "the log is written over");
        let (count, fsync_ns, commits) = flushes("sqlite", Some(false));
        assert!(commits > count / 8 && commits < count, "{commits} of {count}: times change once per 4 ms");
        assert!(
            sqlite_ns > 300_000.0 && etcd_ns > sqlite_ns && fsync_ns > sqlite_ns,
            "{sqlite_ns} {etcd_ns} {fsync_ns}"
        );
    }
}
