//! Progress of a study on standard error: how many of its models are computed, and which one was begun last.
//!
//! The model: one live line on a terminal, cleared at the end on every way out. Where nothing can be redrawn there is
//! none. Runs on real targets have a progress of their own.

use super::{Activity, COUNT, LiveLine, Mode, Progress};
use crate::{doc::Style, machine::headline::headline};
use kurabe_core::{event::Event, shown, text};
use kurabe_lab::{Happening, Listener, PointEvent};
use kurabe_study::{PointTarget, StudyPlan};

/// Shows how far a study is.
pub struct StudyProgress {
    live: LiveLine,
    /// The study, how many of its models are computed, and the model that was begun last.
    work: Activity,
}

impl StudyProgress {
    /// Progress of so many models.
    pub fn on(study: &str, models: u64, live: LiveLine) -> Self {
        Self {
            live,
            work: Activity { form: COUNT, part: [0, models], ..Activity::named(shown::line(study)) },
        }
    }

    /// A model is begun.
    pub fn begin(&mut self, model: &str) {
        self.work.facts = vec![shown::line(model)];
        self.live.show(&self.work);
    }

    /// A model is computed.
    pub fn done(&mut self) {
        self.work.part[0] += 1;
        self.live.show(&self.work);
    }
}

/// Shows how many models are computed, and each real target's run with a progress of its own. The study is the answer:
/// the events of its runs are not printed.
pub fn study_listener(plan: &StudyPlan, style: Style, mode: Mode) -> Listener {
    let models = plan.points.iter().filter(|point| matches!(point.target, PointTarget::Model { .. }));
    let mut study = StudyProgress::on(&plan.study.name, models.count() as u64, LiveLine::new(style, mode));
    let mut real: Option<(String, Progress)> = None;
    Box::new(move |envelope| {
        match &envelope.event {
            Happening::Point(PointEvent::PointStarted { model }) => study.begin(model),
            Happening::Point(PointEvent::PointDone) => study.done(),
            Happening::Point(PointEvent::FewerThreads { threads, asked, cause }) => {
                study.live.remark(&text!(
                    "kurabe: models are computed by {threads} of {asked} threads, more cannot be started ({cause}); \
                     the results are the same",
                    "kurabe: スレッドを {asked} 本のうち {threads} 本しか開始できません({cause})。結果は変わりません"
                ));
            }
            Happening::Run(event) => {
                if matches!(event, Event::RunStarted { .. }) {
                    study.live.finish();
                    real = Some((envelope.run.clone(), Progress::new(style, mode).with_headline(headline)));
                }
                if let Some((_, progress)) = real.as_mut().filter(|(run, _)| *run == envelope.run) {
                    progress.on_event(event);
                }
            }
            Happening::Turns(_) => {}
        }
        Ok(())
    })
}
