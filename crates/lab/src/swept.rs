//! Sweeps of a model: each step runs on a new instance of the device, in its initial state.
//!
//! A point does not depend on earlier points, so the points are computed in parallel, on all
//! processors and by all ranks, with the same result. Real storage has one state that carries over
//! from point to point, so its points are measured in sequence by the session.

use crate::handle::RunHandle;
use crate::shared_points::share;
use kurabe_core::Result;
use kurabe_core::event::Event;
use kurabe_core::profile::Profile;
use kurabe_core::record::{NoticeKind, RunHeader, RunRecord};
use kurabe_engine::{Session, add_steps, model_target};
use kurabe_explain::further_steps;
use kurabe_ranks::Communicator;
use kurabe_sim::{DeviceSpec, ModelTarget};
use kurabe_study::{PointAnswers, compute};
use std::num::NonZero;
use std::thread::available_parallelism;

/// Events of the steps that are already computed, by step index.
pub(crate) type SweptSteps = PointAnswers<Vec<Event>>;

/// A sweep of a model.
pub(crate) struct Swept<'a> {
    pub(crate) name: &'a str,
    pub(crate) device: &'a DeviceSpec,
    pub(crate) profile: &'a Profile,
    /// Whether the model gets a test file.
    pub(crate) fills: bool,
    pub(crate) handle: &'a RunHandle,
}

impl Swept<'_> {
    /// Computes the steps together with other ranks. Ranks other than 0 get `None`.
    ///
    /// # Errors
    /// When messages cannot be sent or received.
    pub(crate) fn share(&self, communicator: &dyn Communicator) -> Result<Option<SweptSteps>> {
        share(self.profile.steps.len(), communicator, self.handle, |own, each| {
            compute(own, &|place| self.step(self.profile, place), threads(), &|_, _, _| {}, each)
        })
    }

    /// Computes the missing steps, and further ones that the cells call for, and reports all in
    /// order.
    ///
    /// # Errors
    /// The error of the first step that fails, after all earlier steps are reported; `Interrupted`
    /// when the user stops the run.
    pub(crate) fn run(&self, mut steps: SweptSteps, emit: &mut dyn FnMut(Event) -> Result<()>) -> Result<()> {
        let mut profile = self.profile.clone();
        let facts = model_target(self.name, &self.model()?, &profile);
        let mut telling = Telling { emit, record: RunRecord::begun(RunHeader::default()), next: 0 };
        loop {
            steps.resize_with(profile.steps.len(), || None);
            telling.tell(&mut steps)?;
            let is_missing = |place: &usize| steps[*place].is_none();
            let missing: Vec<usize> = (telling.next..steps.len()).filter(is_missing).collect();
            compute(
                &missing,
                &|place| self.step(&profile, place),
                threads(),
                &|_, _, _| {},
                &mut |answer| {
                    if let Some((place, answer)) = answer {
                        steps[place] = Some(answer);
                    }
                    telling.tell(&mut steps)
                },
            )?;
            let further = further_steps(&profile, &telling.record.cells);
            match add_steps(&mut profile, further, &facts)? {
                Some(added) => (telling.emit)(added)?,
                None => return Ok(()),
            }
        }
    }

    fn model(&self) -> Result<ModelTarget> {
        ModelTarget::new(self.device, self.profile.rules.seed)
    }

    /// Returns the events of one step. Progress events are dropped, because the step is reported
    /// only after it has ended.
    fn step(&self, profile: &Profile, step_index: usize) -> Result<Vec<Event>> {
        let mut model = self.model()?;
        let mut events = Vec::new();
        let mut emit = |event: Event| {
            if !matches!(event, Event::Progress { .. } | Event::FillProgress { .. }) {
                events.push(event);
            }
            Ok(())
        };
        let session = Session::on_model(&mut model, self.name, profile, &self.handle.stop, &mut emit)
            .with_fill(self.fills)
            .of_step(step_index);
        kurabe_virtual::run(session)?;
        Ok(events)
    }
}

/// Returns the number of threads to use.
fn threads() -> usize {
    available_parallelism().map_or(1, NonZero::get)
}

/// Reports steps in order.
struct Telling<'e> {
    emit: &'e mut dyn FnMut(Event) -> Result<()>,
    /// Record of the events reported so far.
    record: RunRecord,
    /// Index of the first step that is not reported.
    next: usize,
}

impl Telling<'_> {
    /// Reports all steps up to the first that is not computed yet.
    fn tell(&mut self, steps: &mut SweptSteps) -> Result<()> {
        while let Some(events) = steps.get_mut(self.next).and_then(Option::take) {
            self.next += 1;
            events?.into_iter().try_for_each(|event| {
                if self.repeats(&event) {
                    return Ok(());
                }
                self.record.apply(&event);
                (self.emit)(event)
            })?;
        }
        Ok(())
    }

    /// Returns whether the event occurs for each instance of the device, and was already reported
    /// for one.
    fn repeats(&self, event: &Event) -> bool {
        match event {
            Event::FillDone { .. } => self.next > 1,
            Event::Notice { notice } => self.record.notices.iter().any(|before| {
                before.kind == notice.kind && (notice.kind != NoticeKind::Other || before.text == notice.text)
            }),
            _ => false,
        }
    }
}
