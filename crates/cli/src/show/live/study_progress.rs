//! Progress of a study on standard error: the number of models computed, and the model started
//! last.
//!
//! The model: one live line on a terminal, which is cleared at the end, whichever way the study
//! ends. If the output can't be redrawn, there is no line. Runs on real targets have their own
//! progress.

use super::{Activity, COUNT, LiveLine, Mode, Progress, VersusProgress};
use kurabe_core::{event::Event, shown, text};
use kurabe_doc::Style;
use kurabe_lab::{Listener, PointEvent, StreamEvent};
use kurabe_report::headline;
use kurabe_study::{PointTarget, StudyPlan};

/// Shows the progress of a study.
pub struct StudyProgress {
    live: LiveLine,
    /// The study, the number of models computed, and the model started last.
    work: Activity,
}

impl StudyProgress {
    /// Shows the progress of a study with this number of models.
    pub fn on(study: &str, models: u64, live: LiveLine) -> Self {
        Self {
            live,
            work: Activity { form: COUNT, part: [0, models], ..Activity::named(shown::line(study)) },
        }
    }

    /// Records that a model has started.
    pub fn begin(&mut self, model: &str) {
        self.work.facts = vec![shown::line(model)];
        self.live.show(&self.work);
    }

    /// Records that a model is computed.
    pub fn done(&mut self) {
        self.work.part[0] += 1;
        self.live.show(&self.work);
    }
}

/// Shows the number of models computed, and separate progress for each run on a real target, or
/// for those that are measured interleaved together. The events of these
/// runs are not printed, because only the study is the result.
pub fn study_listener(plan: &StudyPlan, style: Style, mode: Mode) -> Listener {
    let models = plan.points.iter().filter(|point| matches!(point.target, PointTarget::Model { .. }));
    let mut study = StudyProgress::on(&plan.study.name, models.count() as u64, LiveLine::new(style, mode));
    let mut real: Option<(String, Progress)> = None;
    let mut together: Option<VersusProgress> = None;
    Box::new(move |envelope| {
        match &envelope.event {
            StreamEvent::Point(PointEvent::PointStarted { model }) => study.begin(model),
            StreamEvent::Point(PointEvent::PointDone) => study.done(),
            StreamEvent::Point(PointEvent::FewerThreads { threads, asked, cause }) => {
                study.live.remark(&text!(
                    "kurabe: models are computed by {threads} of {asked} threads, more cannot be started ({cause}); \
                     the results are the same",
                    "kurabe: スレッドを {asked} 本のうち {threads} 本しか開始できません({cause})。結果は変わりません"
                ));
            }
            StreamEvent::Run(Event::RunStarted { header, .. }) if header.versus.is_some() => {
                study.live.finish();
                let progress = together.get_or_insert_with(|| VersusProgress::new(style, mode));
                progress.join(header, &headline(header));
            }
            StreamEvent::Run(event) => {
                if matches!(event, Event::RunStarted { .. }) {
                    study.live.finish();
                    together = None;
                    real = Some((envelope.run.clone(), Progress::new(style, mode).with_headline(headline)));
                }
                if let Some(progress) = &mut together {
                    progress.on_envelope(envelope);
                }
                if let Some((_, progress)) = real.as_mut().filter(|(run, _)| *run == envelope.run) {
                    progress.on_event(event);
                }
            }
            StreamEvent::Versus(_) => {
                if let Some(progress) = &mut together {
                    progress.on_envelope(envelope);
                }
            }
        }
        Ok(())
    })
}
