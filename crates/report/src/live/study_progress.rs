//! Progress of a study on standard error: how many of its models are computed, and which one was begun last.
//!
//! The model: one live line on a terminal, shared by the threads that compute, and cleared at the end on every way
//! out. Where nothing can be redrawn there is none. What real targets do is told by the progress of their runs.

use crate::doc::Style;
use crate::doc::layout::clip;
use crate::live::progress::Progress;
use crate::live::{Mode, REDRAWS_HZ, bar_style};
use crate::machine::headline::headline;
use indicatif::{ProgressBar, ProgressDrawTarget};
use kurabe_core::event::Event;
use kurabe_core::shown::{self, Shown};
use kurabe_core::text;
use kurabe_lab::{Happening, Listener, PointEvent};
use kurabe_study::{PointTarget, StudyPlan};

/// Columns that the count and the bar take at most.
const COUNT_WIDTH: usize = 36;

/// Shows how far a study is.
pub struct StudyProgress {
    bar: ProgressBar,
    /// Columns for the names of study and model.
    room: usize,
}

impl StudyProgress {
    /// Progress of so many models on standard error.
    pub fn new(study: &str, models: u64, style: Style, mode: Mode) -> Self {
        let target = match mode {
            Mode::Terminal => ProgressDrawTarget::stderr_with_hz(REDRAWS_HZ),
            Mode::Plain | Mode::Quiet => ProgressDrawTarget::hidden(),
        };
        Self::on(study, models, style, target)
    }

    /// The same on any terminal that indicatif can draw on.
    pub fn on(study: &str, models: u64, style: Style, target: ProgressDrawTarget) -> Self {
        let bar = ProgressBar::with_draw_target(Some(models), target);
        bar.set_style(bar_style("{prefix} {pos}/{len} {bar:16} {msg}"));
        let study = shown::line(study);
        bar.set_prefix(study.clone());
        let room = style.width.saturating_sub(COUNT_WIDTH + study.len());
        Self { bar, room }
    }

    /// A model is begun.
    pub fn begin(&self, model: &str) {
        self.bar.set_message(clip(&shown::line(model), self.room));
    }

    /// A model is computed.
    pub fn done(&self) {
        self.bar.inc(1);
    }

    /// A line that stays.
    fn say(&self, words: &str) {
        // Progress is a courtesy: a closed pipe must not end a study.
        self.bar.suspend(|| {
            let _ = Shown::lines(&format!("{words}\n")).write_to(&mut std::io::stderr());
        });
    }

    /// Clears the line.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// Shows how many models are computed, and each real target's run with a progress of its own. The study is the answer:
/// the events of its runs are not printed.
pub fn study_listener(plan: &StudyPlan, style: Style, mode: Mode) -> Listener {
    let models = plan.points.iter().filter(|point| matches!(point.target, PointTarget::Model { .. }));
    let study = StudyProgress::new(&plan.name, models.count() as u64, style, mode);
    let mut real: Option<(String, Progress)> = None;
    Box::new(move |envelope| {
        match &envelope.event {
            Happening::Point(PointEvent::PointStarted { model }) => study.begin(model),
            Happening::Point(PointEvent::PointDone) => study.done(),
            Happening::Point(PointEvent::FewerThreads { threads, asked, cause }) => {
                study.say(&style.say(&text!(
                    "kurabe: models are computed by {threads} of {asked} threads, more cannot be started ({cause}); \
                     the results are the same",
                    "kurabe: スレッドを {asked} 本のうち {threads} 本しか開始できません({cause})。結果は変わりません"
                )));
            }
            Happening::Run(event) => {
                if matches!(event, Event::RunStarted { .. }) {
                    study.clear();
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

impl Drop for StudyProgress {
    fn drop(&mut self) {
        self.clear();
    }
}
