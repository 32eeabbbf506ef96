//! The ground of a run: real files and devices, or a model.
//!
//! A session performs a profile's tasks, repetitions and pauses and emits events, in the same way
//! on every ground. This trait contains what differs: the clock, the work before the first cell,
//! and how a repetition is performed. A ground that needs no work around its repetitions, such as a
//! model, uses the defaults.

use crate::context::{Context, IntervalTeller};
use crate::drive::measure::Engine;
use crate::task::{Attempt, Repeated};
use kurabe_core::{Result, event::Event, profile::Task, record::TargetRecord, workload::Workload};

/// How often the user's interrupt is checked during a pause, in ns.
const LONGEST_SLEEP_NS: u64 = 100_000_000;

/// The ground of a run.
pub trait Ground: Sized {
    /// State that a task holds from its first repetition to its last.
    type Prepared: Default;

    /// Returns the facts for the record. Tasks must fit them.
    fn facts(&self) -> TargetRecord;

    /// Reduces the span, so that several targets are measured over the same number of bytes.
    fn narrow(&mut self, span_bytes: u64);

    /// Returns the ground's clock in ns.
    fn now_ns(&self) -> u64;

    /// Lets time pass.
    fn sleep(&mut self, length_ns: u64);

    /// Prepares the ground before the first task.
    ///
    /// # Errors
    /// Fails if the preparation fails. Nothing is measured then.
    fn begin(&mut self, context: &mut Context<'_>, tasks: &[Task]) -> Result<()>;

    /// Runs a workload that is not a cell. Returns the bytes written and the duration in ns. `tell`
    /// converts its progress into events.
    ///
    /// # Errors
    /// Fails if the target fails or the user stops the run.
    fn run_once(
        &mut self,
        context: &mut Context<'_>,
        workload: &Workload,
        tell: IntervalTeller<'_>,
    ) -> Result<(u64, u64)>;

    /// Prepares a task before its first repetition.
    ///
    /// # Errors
    /// Fails if the preparation fails.
    fn prepare(&mut self, _context: &mut Context<'_>, _task: &Task) -> Result<Self::Prepared> {
        Ok(Self::Prepared::default())
    }

    /// Returns the engine of a prepared task, if there is a choice.
    fn engine(_prepared: &Self::Prepared) -> Option<Engine> {
        None
    }

    /// Switches a prepared task to the threads engine, because another interleaved target needs it.
    fn use_threads(_prepared: &mut Self::Prepared) {}

    /// Prepares the ground before every repetition of a task.
    ///
    /// # Errors
    /// Fails if the preparation fails.
    fn settle(&mut self, _context: &mut Context<'_>, _task: &Task) -> Result<()> {
        Ok(())
    }

    /// Flushes the device's volatile write caches.
    ///
    /// # Errors
    /// Fails if the flush fails.
    fn flush(&mut self, context: &mut Context<'_>) -> Result<()>;

    /// Performs one repetition.
    ///
    /// # Errors
    /// Fails if the target fails or the user stops the run.
    fn repeat(
        &mut self,
        context: &mut Context<'_>,
        task: &Task,
        prepared: &mut Self::Prepared,
        attempt: &Attempt,
    ) -> Result<Repeated>;

    /// Writes the data that a repetition left in the page cache to the target, outside the measured
    /// time. The repetition counts only if this succeeds.
    ///
    /// # Errors
    /// Fails if the target fails or the user stops the run.
    fn store_written(&mut self, _context: &mut Context<'_>, _task: &Task) -> Result<()> {
        Ok(())
    }

    /// Performs one additional repetition in which the kernel's tracepoints record each operation.
    /// Returns `None` if tracing is disabled or does not work, which is reported once.
    ///
    /// # Errors
    /// Fails if the target fails or the user stops the run.
    fn trace(
        &mut self,
        _context: &mut Context<'_>,
        _task: &Task,
        _prepared: &mut Self::Prepared,
        _attempt: &Attempt,
    ) -> Result<Option<Repeated>> {
        Ok(None)
    }

    /// Returns whether a task gets such a repetition, as far as that is known before it is tried.
    fn traces(&self, _task: &Task) -> bool {
        false
    }

    /// Ends a task.
    ///
    /// # Errors
    /// Fails if its remaining files can't be removed.
    fn close(&mut self, _context: &mut Context<'_>, _prepared: Self::Prepared) -> Result<()> {
        Ok(())
    }

    /// Pauses, as between cells, and checks the user's interrupt during the pause.
    ///
    /// # Errors
    /// Fails if the user stops the run.
    fn pause(&mut self, context: &mut Context<'_>, length_ns: u64) -> Result<()> {
        if length_ns == 0 {
            return context.interrupt.check();
        }
        context.emit(Event::Pause { length_ns })?;
        let end_ns = self.now_ns().saturating_add(length_ns);
        loop {
            context.interrupt.check()?;
            let left_ns = end_ns.saturating_sub(self.now_ns());
            if left_ns == 0 {
                return Ok(());
            }
            self.sleep(left_ns.min(LONGEST_SLEEP_NS));
        }
    }
}
