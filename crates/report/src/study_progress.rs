//! Progress of a study on standard error: how many of its models are computed, and which one was begun last.
//!
//! The model: one live line on a terminal, shared by the threads that compute, and cleared at the end on every way
//! out. Where nothing can be redrawn there is none. What real targets do is told by the progress of their runs.

use crate::layout::clip;
use crate::progress::Mode;
use crate::style::Style;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Redraws per second at most.
const REDRAWS_HZ: u8 = 10;
/// Columns that the count and the bar take at most.
const COUNT_WIDTH: usize = 36;

/// Shows how far a study is.
pub struct StudyProgress {
    bar: Option<ProgressBar>,
    /// Columns for the names of study and model.
    room: usize,
}

impl StudyProgress {
    /// Progress of so many models on standard error.
    pub fn new(study: &str, models: u64, style: Style, mode: Mode) -> Self {
        match mode {
            Mode::Terminal => Self::on(study, models, style, ProgressDrawTarget::stderr_with_hz(REDRAWS_HZ)),
            Mode::Plain | Mode::Quiet => Self { bar: None, room: 0 },
        }
    }

    /// The same on any terminal that indicatif can draw on.
    pub fn on(study: &str, models: u64, style: Style, target: ProgressDrawTarget) -> Self {
        let bar = ProgressBar::with_draw_target(Some(models), target);
        let template = ProgressStyle::with_template("{prefix} {pos}/{len} {bar:16} {msg}");
        bar.set_style(template.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("▇▁"));
        bar.set_prefix(study.to_owned());
        let room = style.width.saturating_sub(COUNT_WIDTH + study.len());
        Self { bar: Some(bar), room }
    }

    /// A model is begun.
    pub fn begin(&self, model: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(clip(model, self.room));
        }
    }

    /// A model is computed.
    pub fn done(&self) {
        if let Some(bar) = &self.bar {
            bar.inc(1);
        }
    }

    /// Clears the line.
    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Drop for StudyProgress {
    fn drop(&mut self) {
        self.clear();
    }
}
