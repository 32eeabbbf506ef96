//! What a model would do, for who asks again and again: nothing is stored.

use crate::handle::RunHandle;
use crate::prepared::Prepared;
use crate::request::RunRequest;
use kurabe_core::Result;
use kurabe_core::event::Event;
use kurabe_core::record::{RunRecord, RunStatus};
use kurabe_engine::Session;

/// Computes a run on a model.
///
/// # Errors
/// When the request names no model, cannot be carried out, or is stopped.
pub fn what_if(request: RunRequest, handle: &RunHandle) -> Result<RunRecord> {
    let fills = !request.no_fill;
    let prepared = Prepared::new(request)?;
    let mut record = RunRecord::begun(prepared.header_with(&[], &[])?);
    let (plan, name, mut model) = prepared.into_model()?;
    let mut emit = |event: Event| {
        record.apply(&event);
        Ok(())
    };
    Session::on_model(&mut *model, &name, &plan.profile, handle.engine_stop(), &mut emit)
        .with_fill(fills)
        .with_traces(plan.traces)
        .run()?;
    record.status = RunStatus::Complete;
    Ok(record)
}
