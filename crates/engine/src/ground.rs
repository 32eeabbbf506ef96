//! What a run is measured on: real files and devices, or a model of them.
//!
//! The model: a session goes through a profile's tasks, repetitions and pauses and tells what happens, the same on every
//! ground. What differs is behind this trait: whose clock it is, what must be done before, and how a repetition is made. A
//! ground that needs nothing around its repetitions, as a model, has the defaults.

use crate::drive::measure::Engine;
use crate::session::Session;
use crate::task::{Attempt, Repeated};
use kurabe_core::Result;
use kurabe_core::profile::Task;
use kurabe_core::record::TargetRecord;
use kurabe_core::workload::Workload;

/// What a run is measured on.
pub trait Ground: Sized {
    /// What a task holds from its first repetition to its last.
    type Prepared: Default;

    /// What the record keeps of it, and what tasks must fit.
    fn facts(&self) -> TargetRecord;

    /// Makes do with fewer bytes of it, so that several targets are measured over as many.
    fn narrow(&mut self, span_bytes: u64);

    /// Its clock.
    fn now_ns(&self) -> u64;

    /// Lets time pass.
    fn sleep(&mut self, length_ns: u64);

    /// Does what is needed before the first task.
    ///
    /// # Errors
    /// When that fails; nothing is measured then.
    fn begin(session: &mut Session<'_, Self>, tasks: &[Task]) -> Result<()>;

    /// Runs a workload that is no cell; bytes written, and the time in ns.
    ///
    /// # Errors
    /// When the target fails, or the user stops it.
    fn run_once(session: &mut Session<'_, Self>, workload: &Workload) -> Result<(u64, u64)>;

    /// Does what a task needs before its first repetition.
    ///
    /// # Errors
    /// When that fails.
    fn prepare(_session: &mut Session<'_, Self>, _task: &Task) -> Result<Self::Prepared> {
        Ok(Self::Prepared::default())
    }

    /// How a prepared task's operations reach the kernel, where there is a choice.
    fn engine(_prepared: &Self::Prepared) -> Option<Engine> {
        None
    }

    /// Has a prepared task issued by threads, because another target that takes turns needs it.
    fn use_threads(_prepared: &mut Self::Prepared) {}

    /// Does what every repetition of a task needs before it.
    ///
    /// # Errors
    /// When that fails.
    fn settle(_session: &mut Session<'_, Self>, _task: &Task) -> Result<()> {
        Ok(())
    }

    /// Makes one repetition.
    ///
    /// # Errors
    /// When the target fails, or the user stops it.
    fn repeat(
        session: &mut Session<'_, Self>,
        task: &Task,
        prepared: &mut Self::Prepared,
        attempt: &Attempt,
    ) -> Result<Repeated>;

    /// Makes one repetition more, in which the kernel's tracepoints tell of each operation; none where that is not
    /// wanted, or does not work, which is told once.
    ///
    /// # Errors
    /// When the target fails, or the user stops it.
    fn trace(
        _session: &mut Session<'_, Self>,
        _task: &Task,
        _prepared: &mut Self::Prepared,
        _attempt: &Attempt,
    ) -> Result<Option<Repeated>> {
        Ok(None)
    }

    /// Whether a task gets such a repetition, as far as that can be told before it is tried.
    fn traces(&self, _task: &Task) -> bool {
        false
    }

    /// Ends a task.
    ///
    /// # Errors
    /// When what it left cannot be removed.
    fn close(_session: &mut Session<'_, Self>, _task: &Task, _prepared: Self::Prepared) -> Result<()> {
        Ok(())
    }
}
