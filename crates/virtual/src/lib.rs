//! Profiles on models in virtual time.
//!
//! The driver is generic over the device, so that real storage pays nothing for models. Generic
//! code is compiled where it is called, at that crate's level of optimisation. These functions have
//! it compiled here once, for [`ModelTarget`]: this crate is optimised in every build, and the
//! crates above it are not. So those call [`run`] and [`interleaved`] instead of [`Session::run`].

use kurabe_core::event::Event;
use kurabe_core::profile::Profile;
use kurabe_core::record::{Cell, Notice, RunHeader, RunRecord};
use kurabe_core::{Result, model::Model, trace::Trace};
use kurabe_engine::{InterleavedSession, InterleavedTarget, ModelBench, Modelled, Session};
use kurabe_identify::{DeviceIdentity, DeviceProperty, SurveyLimits};
use kurabe_program::Stop;
use kurabe_sim::ModelTarget;
use std::sync::Arc;

/// A session of a profile on a model.
pub type ModelSession<'a> = Session<'a, Modelled<'a, ModelTarget>>;

/// Measures every cell of the session's profile.
///
/// # Errors
/// Returns the errors of [`Session::run`].
pub fn run(session: ModelSession<'_>) -> Result<()> {
    session.run()
}

/// Returns the session as a target of interleaved measurements.
pub fn interleaved<'a>(session: ModelSession<'a>) -> Box<dyn InterleavedTarget + 'a> {
    Box::new(InterleavedSession::from(session))
}

/// Measures a profile on a model and returns its cells and notices.
///
/// # Errors
/// Returns an error if the profile does not fit the model, the model fails, or the user stops it.
pub fn measure(
    model: &mut ModelTarget,
    profile: &Profile,
    traces: &[Option<Arc<Trace>>],
    interrupt: &Stop,
) -> Result<(Vec<Cell>, Vec<Notice>)> {
    let mut record = RunRecord::begun(RunHeader::default());
    let name = model.record().name;
    let mut emit = |event: Event| {
        record.apply(&event);
        Ok(())
    };
    run(Session::on_model(model, &name, profile, interrupt, &mut emit).with_traces(traces.to_vec()))?;
    Ok((record.cells, record.notices))
}

/// Identifies a model from outside, by reads, or also by writes.
///
/// # Errors
/// Returns an error if the model fails, or the user stops it.
pub fn identify(
    model: &mut ModelTarget,
    seed: u64,
    writes: bool,
    limits: SurveyLimits,
    stop: &Stop,
    tell: &mut dyn FnMut(DeviceProperty),
) -> Result<DeviceIdentity> {
    let mut bench = ModelBench::new(model, writes, stop);
    kurabe_identify::identify(&mut bench, seed, limits, tell)
}
