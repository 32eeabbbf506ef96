//! What a run is measured on: real files and devices, or a model of them.
//!
//! The model: a session goes through a profile's tasks, repetitions and pauses and tells what happens, the same on every
//! ground. What differs is behind this trait: the clock, the work before the first cell, and how a repetition is made. A
//! ground that needs nothing around its repetitions, such as a model, has the defaults.

use crate::context::{Context, IntervalTeller};
use crate::drive::measure::Engine;
use crate::task::{Attempt, Repeated};
use kurabe_core::{Result, event::Event, profile::Task, record::TargetRecord, workload::Workload};

/// The user's interrupt is looked at as often as this during a pause.
const LONGEST_SLEEP_NS: u64 = 100_000_000;

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
    fn begin(&mut self, context: &mut Context<'_>, tasks: &[Task]) -> Result<()>;

    /// Runs a workload that is no cell; bytes written, and the time in ns. `tell` makes events of its progress.
    ///
    /// # Errors
    /// When the target fails, or the user stops it.
    fn run_once(
        &mut self,
        context: &mut Context<'_>,
        workload: &Workload,
        tell: IntervalTeller<'_>,
    ) -> Result<(u64, u64)>;

    /// Does what a task needs before its first repetition.
    ///
    /// # Errors
    /// When that fails.
    fn prepare(&mut self, _context: &mut Context<'_>, _task: &Task) -> Result<Self::Prepared> {
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
    fn settle(&mut self, _context: &mut Context<'_>, _task: &Task) -> Result<()> {
        Ok(())
    }

    /// Has the device write what its volatile caches hold.
    ///
    /// # Errors
    /// When it cannot.
    fn flush(&mut self, context: &mut Context<'_>) -> Result<()>;

    /// Makes one repetition.
    ///
    /// # Errors
    /// When the target fails, or the user stops it.
    fn repeat(
        &mut self,
        context: &mut Context<'_>,
        task: &Task,
        prepared: &mut Self::Prepared,
        attempt: &Attempt,
    ) -> Result<Repeated>;

    /// Has the target store what a repetition left in the page cache, outside of its time. Only then the repetition counts.
    ///
    /// # Errors
    /// When the target fails, or the user stops it.
    fn store_written(&mut self, _context: &mut Context<'_>, _task: &Task) -> Result<()> {
        Ok(())
    }

    /// Makes one repetition more, in which the kernel's tracepoints tell of each operation; none where that is not
    /// wanted, or does not work, which is told once.
    ///
    /// # Errors
    /// When the target fails, or the user stops it.
    fn trace(
        &mut self,
        _context: &mut Context<'_>,
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
    fn close(&mut self, _context: &mut Context<'_>, _prepared: Self::Prepared) -> Result<()> {
        Ok(())
    }

    /// Waits, as between cells, and looks at the user's interrupt meanwhile.
    ///
    /// # Errors
    /// When the user stops it.
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
