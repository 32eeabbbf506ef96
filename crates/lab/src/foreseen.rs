//! Estimates how much a run writes and how long it takes, before it starts.

use crate::profile::ProfileWithTraces;
use kurabe_core::environment::Environment;
use kurabe_core::foreseen::Foreseen;
use kurabe_core::profile::{PlannedWrites, Task, Work};
use kurabe_core::record::{TargetKind, TargetRecord};
use kurabe_core::{Error, Result, shown, text};
use kurabe_engine::{TargetOptions, planned_time_ns};
use std::path::{Path, PathBuf};

/// Properties of a target that determine how much a run writes.
#[derive(Clone, Copy)]
pub(crate) struct Extent {
    pub(crate) span_bytes: u64,
    pub(crate) writable: bool,
    /// Whether a test file is created first. Copies then create further files next to it.
    pub(crate) test_file: bool,
}

impl Extent {
    /// Returns the extent of an open target.
    pub(crate) fn of(target: &TargetRecord, test_file: bool) -> Self {
        // A model stores nothing, whatever is written to it.
        let writable = target.writable && target.kind != TargetKind::Model;
        Self { span_bytes: target.span_bytes, writable, test_file }
    }

    /// Returns the expected extent of a path, as far as it is known without opening the target.
    ///
    /// # Errors
    /// When the target does not exist, or a write permission does not apply to it.
    pub(crate) fn of_path(path: &Path, options: &TargetOptions) -> Result<Self> {
        let facts = path.metadata().map_err(|error| {
            let shown = shown::path(path);
            Error::os(text!("cannot use {shown} as a target", "{shown} を測定対象にできません"), &error)
        })?;
        options.refuse_idle_consent(path, &facts)?;
        let whole = options.whole_device && !options.size_is_asked;
        let span_bytes = match facts.len() {
            length if facts.is_file() && (whole || length < options.size_bytes) => length,
            _ => options.size_bytes,
        };
        let consent =
            if facts.is_file() { options.write_existing } else { options.destroy_data_on.is_some() };
        Ok(Self {
            span_bytes,
            writable: facts.is_dir() || consent,
            test_file: facts.is_dir() && !options.no_test_file,
        })
    }

    pub(crate) fn foresee(
        self,
        plan: &ProfileWithTraces,
        target: PathBuf,
        environment: Environment,
    ) -> Foreseen {
        let tasks = plan.profile.tasks(self.span_bytes);
        Foreseen {
            planned_ns: planned_time_ns(&plan.profile, &tasks),
            span_bytes: self.span_bytes,
            test_file_bytes: self.test_file.then_some(self.span_bytes),
            writing_cells: tasks.iter().filter(|task| task.writes()).count(),
            writable: self.writable,
            is_modelled: false,
            writes: self.planned_writes(plan, &tasks),
            environment,
            target,
        }
    }

    /// Returns the bytes that the run writes, including the test file.
    pub(crate) fn planned_writes(self, plan: &ProfileWithTraces, tasks: &[Task]) -> PlannedWrites {
        if !self.writable {
            return PlannedWrites::default();
        }
        let (profile, span_bytes) = (&plan.profile, self.span_bytes);
        // Without a test file, a copy goes from one half of the target to the other, and the first
        // half is written once before.
        let copied_bytes = if self.test_file { span_bytes } else { span_bytes / 2 };
        let bytes = |bytes| PlannedWrites { bytes, time_ns: 0 };
        let before = profile
            .precondition_tasks(span_bytes)
            .iter()
            .map(|task| task.planned_writes(span_bytes))
            .chain(tasks.iter().map(|task| match task.work {
                Work::Copy(_) if !self.test_file => bytes(copied_bytes),
                _ => PlannedWrites::default(),
            }))
            .fold(bytes(if self.test_file { span_bytes } else { 0 }), PlannedWrites::and);
        let replayed = |task: &Task| match (&task.work, plan.traces.get(task.step_index)) {
            (Work::Replay(_), Some(Some(trace))) => bytes(trace.summary().write_bytes),
            _ => task.planned_writes(copied_bytes),
        };
        let once = tasks.iter().map(replayed).fold(PlannedWrites::default(), PlannedWrites::and);
        before.and(once.times(profile.repetitions()))
    }
}
