//! Computes model results without storing them, for repeated queries.

use crate::handle::RunHandle;
use crate::prepared::Prepared;
use crate::request::{Procedure, RunRequest};
use kurabe_core::Result;
use kurabe_core::event::Event;
use kurabe_core::profile::Profile;
use kurabe_core::record::{RunRecord, RunStatus};
use kurabe_engine::Session;

/// Runs a profile on a model that comes with kurabe, with changed parameters.
///
/// # Errors
/// When the model or a parameter does not exist, or the profile cannot run on it.
pub fn what_if(model: &str, profile: Profile, sets: Vec<(String, String)>) -> Result<RunRecord> {
    let (target, procedure) = (format!("model:{model}").into(), Procedure::Given(Box::new(profile)));
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
