//! A run with an open target, and its result.

use crate::foreseen::Extent;
use crate::image::ImageReport;
use crate::journal::{Journal, rescued};
use crate::output::{Growing, Output};
use crate::profile::ProfileWithTraces;
use crate::served::{ServedModel, served_under};
use crate::swept::{Swept, SweptSteps};
use kurabe_core::Result;
use kurabe_core::company::Company;
use kurabe_core::event::Event;
use kurabe_core::listed::{ListedOperation, OperationList};
use kurabe_core::model::ModelRecord;
use kurabe_core::profile::Profile;
use kurabe_core::record::{RunHeader, RunRecord, TargetRecord};
use kurabe_core::workload::Direction;
use kurabe_engine::{
    FollowUp, InterleavedSession, InterleavedTarget, Ledger, Remains, Session, Settings, Stop, Target,
    WriteList, model_target, plan_tasks, planned_time_ns, unfilled_notice,
};
use kurabe_host::NoiseWatch;
use kurabe_interop::{write_operation, write_operations_header};
use kurabe_ranks::Party;
use kurabe_sim::ModelTarget;
use std::path::PathBuf;
use std::sync::Arc;

/// A run with an id and an open target.
pub struct Open<'a> {
    pub(crate) journal: Journal<'a>,
    pub(crate) plan: ProfileWithTraces,
    pub(crate) ground: OpenTarget,
    pub(crate) settings: Settings,
    /// Whether a model gets a test file.
    pub(crate) fills: bool,
    /// Devices whose operations the kernel traces, if requested.
    pub(crate) traced_devices: Option<Vec<(u32, u32)>>,
    /// Callback that examines the cells and returns further steps to measure.
    pub(crate) follow_up: Option<FollowUp<'a>>,
    /// Log of the writes, if they are verified.
    pub(crate) ledger: Option<Arc<Ledger>>,
    pub(crate) reads_back: bool,
    /// For a sweep of a model, the steps that other ranks have computed.
    pub(crate) swept: Option<SweptSteps>,
    /// Other processes that take part in the same run.
    pub(crate) party: Option<&'a Party<'a>>,
}

pub(crate) enum OpenTarget {
    Real(Target),
    /// A model, with its name.
    Model(String, Box<ModelTarget>),
}

/// A run that has ended.
#[derive(Debug)]
pub struct Done {
    /// Id of the run.
    pub id: String,
    /// The run as stored. `None` if no cell was measured, in which case nothing is stored.
    pub record: Option<RunRecord>,
    /// File with the run, if the store could not be written.
    pub rescued: Option<PathBuf>,
    /// List of the writes, if they are verified.
    pub writes: Option<WriteList>,
    /// Result of reading the writes back, if requested.
    pub read_back: Option<ImageReport>,
    /// Whether the run completed. The cells of the record are valid in any case.
    pub outcome: Result<()>,
}

impl Open<'_> {
    /// Returns everything known before the first cell.
    pub fn header(&self) -> &RunHeader {
        &self.journal.record.header
    }

    /// Measures to the end, or until the run is stopped.
    pub fn measure(self) -> Done {
        self.measure_hearing(None)
    }

    /// Like [`Self::measure`], but writes a line for each operation to a new file. The file is kept
    /// only if the run is. The run must have passed [`crate::Prepared::check_lists_operations`].
    ///
    /// # Errors
    /// When the file already exists, or cannot be created.
    pub fn measure_listing(self, output: Output) -> Result<Done> {
        let causes = self.header().model.as_ref().map(ModelRecord::cause_names).unwrap_or_default();
        let mut file = Growing::create(output)?;
        file.write(|out| write_operations_header(out, &causes))?;
        let mut tell = |operation: &ListedOperation| file.write(|out| write_operation(out, operation));
        let mut done = self.measure_hearing(Some(&mut tell));
        if done.record.is_some() {
            done.outcome = done.outcome.and(file.keep());
        }
        Ok(done)
    }

    /// Measures. `operations` receives every operation.
    fn measure_hearing(self, operations: Option<OperationList<'_>>) -> Done {
        let started = self.started();
        let Self {
            mut journal,
            plan,
            mut ground,
            settings,
            fills,
            traced_devices,
            follow_up,
            ledger,
            reads_back,
            swept,
            party,
        } = self;
        let handle = journal.lab.handle.clone();
        let mut list = operations.map(|tell| move |operation: &ListedOperation| tell(operation));
        let served = ground.served();
        let begun = started.and_then(|events| events.into_iter().try_for_each(|event| journal.tell(event)));
        let outcome = begun.and_then(|()| {
            let noise = NoiseWatch::new(&journal.record.header.environment);
            let mut emit = |event: Event| journal.tell_among(party, event);
            let (profile, traces, stop) = (&plan.profile, plan.traces, &handle.stop);
            match (&mut ground, swept) {
                (OpenTarget::Real(target), _) => {
                    Session::new(target, profile, settings, &noise, stop, &mut emit)
                        .with_operation_list(list.as_mut().map(|list| list as OperationList<'_>))
                        .with_kernel_trace(traced_devices)
                        .with_company(party.map(|party| party as &dyn Company))
                        .with_traces(traces)
                        .with_follow_up(follow_up)
                        .run()
                }
                (OpenTarget::Model(name, model), Some(steps)) => {
                    Swept { name, device: model.spec(), profile, fills, handle: &handle }
                        .run(steps, &mut emit)
                }
                (OpenTarget::Model(name, model), None) => {
                    let session = Session::on_model(&mut **model, name, profile, stop, &mut emit)
                        .with_operation_list(list.as_mut().map(|list| list as OperationList<'_>))
                        .with_fill(fills)
                        .with_traces(traces)
                        .with_follow_up(follow_up);
                    kurabe_virtual::run(session)
                }
            }
        });
        let served = journal.tell_served(&served);
        let outcome = outcome.and(served);
        let read_back = outcome.and_then(|()| match (&ledger, ground.real()) {
            (Some(ledger), Some(target)) if reads_back => target.read_back(ledger).map(Some),
            _ => Ok(None),
        });
        let (read_back, outcome) = read_back.map_or_else(|error| (None, Err(error)), |check| (check, Ok(())));
        let kept =
            read_back.as_ref().map_or(Ok(()), |check| journal.tell(Event::Notice { notice: check.notice() }));
        let (outcome, is_part) = journal.end_among(party, outcome);
        let left = journal.left(ground.close());
        if is_part {
            return journal.end_as_part(outcome.and(kept).and(left));
        }
        let writes = ledger.map(|ledger| ledger.list());
        let image =
            read_back.zip(writes.as_ref()).map(|(check, list)| ImageReport { writes: list.writes, check });
        let done = Done { writes, read_back: image, ..journal.end(outcome.and(kept).and(left)) };
        if let Some(party) = party {
            party.dismiss(done.record.is_some());
        }
        done
    }

    /// Returns the first events of the run.
    pub(crate) fn started(&self) -> Result<Vec<Event>> {
        let profile = &self.plan.profile;
        let target = self.ground.record(profile);
        let tasks = plan_tasks(profile, &target)?;
        let test_file = matches!(&self.ground, OpenTarget::Real(target) if target.test_file().is_some());
        let extent = Extent::of(&target, test_file);
        let writes = extent.planned_writes(&self.plan, &tasks);
        let started = Event::RunStarted {
            header: Box::new(self.journal.record.header.clone()),
            cell_count: tasks.iter().map(|task| task.cells.len() as u32).sum(),
            planned_write_bytes: Some(writes.bytes),
            planned_write_ns: Some(writes.time_ns),
            planned_ns: planned_time_ns(profile, &tasks),
        };
        let reads = tasks.iter().any(|task| task.direction() != Some(Direction::Write));
        let left_out = !self.fills && profile.writes_file_first() && reads;
        Ok(std::iter::once(started)
            .chain(left_out.then(|| Event::Notice { notice: unfilled_notice() }))
            .collect())
    }
}

impl OpenTarget {
    /// Returns the files or the device, unless the target is a model.
    pub(crate) fn real(&self) -> Option<&Target> {
        match self {
            Self::Real(target) => Some(target),
            Self::Model(..) => None,
        }
    }

    /// Returns the served models below the target.
    pub(crate) fn served(&self) -> Vec<ServedModel> {
        self.real().map_or_else(Vec::new, |target| served_under(target.path()))
    }

    /// Removes files that were created on the target. Returns those that could not be removed.
    pub(crate) fn close(self) -> Vec<Remains> {
        match self {
            Self::Real(target) => target.close(),
            Self::Model(..) => Vec::new(),
        }
    }

    /// Returns the description of the target for the record.
    pub(crate) fn record(&self, profile: &Profile) -> TargetRecord {
        match self {
            Self::Real(target) => target.facts().clone(),
            Self::Model(name, model) => model_target(name, &**model, profile),
        }
    }

    /// Returns the target as a participant of an interleaved measurement.
    pub(crate) fn interleaved<'s>(
        &'s mut self,
        plan: &'s ProfileWithTraces,
        (settings, fills): (Settings, bool),
        noise: &'s NoiseWatch,
        stop: &'s Stop,
        emit: &'s mut dyn FnMut(Event) -> Result<()>,
    ) -> Box<dyn InterleavedTarget + 's> {
        let (profile, traces) = (&plan.profile, plan.traces.clone());
        match self {
            Self::Real(target) => {
                let session = Session::new(target, profile, settings, noise, stop, emit);
                Box::new(InterleavedSession::from(session.with_traces(traces)))
            }
            Self::Model(name, model) => {
                let session = Session::on_model(&mut **model, name, profile, stop, emit).with_fill(fills);
                kurabe_virtual::interleaved(session.with_traces(traces))
            }
        }
    }
}

impl Journal<'_> {
    /// Closes the run, after its target was closed.
    pub(crate) fn end(self, outcome: Result<()>) -> Done {
        let store = self.lab.store;
        let mut closed = self.close(outcome.as_ref().err());
        let (outcome, rescued) = rescued(store, std::slice::from_mut(&mut closed), outcome);
        Done { id: closed.id, record: closed.record, rescued, writes: None, read_back: None, outcome }
    }
}
