//! Where progress goes: lines that stay, and below them one live line that is redrawn and at the end cleared.
//!
//! The model: where nothing can be redrawn there is no live line. Progress is a courtesy: a closed pipe must not end a
//! measurement, so what cannot be written is lost.

mod progress;
mod study_progress;
mod versus_progress;

pub use progress::Progress;
pub use study_progress::{StudyProgress, study_listener};
pub use versus_progress::{VersusProgress, too_short};

use crate::doc::Style;
use crate::doc::layout::{clip, display_width, hanging, wrap};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use kurabe_core::shown::{self, Shown};
use std::io::Write;

/// Redraws per second at most.
pub(crate) const REDRAWS_HZ: u8 = 10;

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// On a terminal: lines that stay, and a live line.
    Terminal,
    /// In a file or a pipe: lines only, without control characters.
    Plain,
    /// Not at all, but for the programs of others that are going to run.
    Quiet,
}

/// Where the lines go.
enum Output {
    Terminal(ProgressBar),
    Plain(Box<dyn Write + Send>),
    Quiet(Box<dyn Write + Send>),
}

/// Lines of progress in a style.
pub(crate) struct LiveLine {
    pub(crate) style: Style,
    output: Output,
    /// Whether the live line is the bar of a test file that is written.
    filling: bool,
}

impl LiveLine {
    /// On standard error. A live line needs a terminal there; without one, lines only.
    pub(crate) fn new(style: Style, mode: Mode) -> Self {
        let target = ProgressDrawTarget::stderr_with_hz(REDRAWS_HZ);
        match mode {
            Mode::Terminal if !target.is_hidden() => Self::on_terminal(style, target),
            Mode::Terminal | Mode::Plain => Self::plain(style, Box::new(std::io::stderr())),
            Mode::Quiet => Self::quiet(style, Box::new(std::io::stderr())),
        }
    }

    pub(crate) fn on_terminal(style: Style, target: ProgressDrawTarget) -> Self {
        let bar = ProgressBar::with_draw_target(Some(1), target);
        bar.set_style(live_style());
        Self { style, output: Output::Terminal(bar), filling: false }
    }

    pub(crate) fn plain(style: Style, writer: Box<dyn Write + Send>) -> Self {
        Self { style, output: Output::Plain(writer), filling: false }
    }

    pub(crate) fn quiet(style: Style, writer: Box<dyn Write + Send>) -> Self {
        Self { style, output: Output::Quiet(writer), filling: false }
    }

    pub(crate) fn is_quiet(&self) -> bool {
        matches!(self.output, Output::Quiet(_))
    }

    /// What must be seen also by who wants to see no progress.
    pub(crate) fn always(&mut self, words: &str) {
        match &mut self.output {
            Output::Quiet(writer) => {
                let _ = Shown::lines(&format!("kurabe: {}\n", shown::line(words))).write_to(writer);
            }
            Output::Terminal(_) | Output::Plain(_) => self.paragraph(words),
        }
    }

    /// Words that stay, on as many lines as they need.
    pub(crate) fn paragraph(&mut self, words: &str) {
        for line in hanging(wrap(words, self.style.width.saturating_sub(2)), 0, 2) {
            self.print(&line);
        }
    }

    /// A line that stays.
    pub(crate) fn print(&mut self, line: &str) {
        let line = self.style.page(&format!("{line}\n"));
        match &mut self.output {
            Output::Terminal(bar) => bar.println(line.as_ref().trim_end()),
            Output::Plain(writer) => {
                let _ = line.write_to(writer);
            }
            Output::Quiet(_) => {}
        }
    }

    fn width(&self) -> usize {
        self.style.width.saturating_sub(1)
    }

    /// The live line, as far as there is room.
    pub(crate) fn show(&mut self, words: &str) {
        if let Output::Terminal(bar) = &self.output {
            if std::mem::replace(&mut self.filling, false) {
                bar.set_style(live_style());
            }
            let line = self.style.page(&shown::line(words));
            bar.set_message(clip(line.as_ref(), self.width()));
        }
    }

    /// The live line: what goes on, the longest of these facts that there is room for, and what must be seen in any width.
    pub(crate) fn show_facts(&mut self, name: &str, facts: &[String], end: Option<&str>) {
        let behind = |words: &str| if words.is_empty() { String::new() } else { format!(" · {words}") };
        let end = behind(end.unwrap_or_default());
        let room = self.width().saturating_sub(display_width(&end));
        let facts = facts.iter().map(|fact| behind(fact)).chain([String::new()]);
        let mut whole = facts.map(|fact| format!("{name}{fact}")).filter(|line| display_width(line) <= room);
        let line = whole.next().unwrap_or_else(|| clip(name, room));
        self.show(&format!("{line}{end}"));
    }

    /// The live line as a bar of bytes.
    pub(crate) fn fill(&mut self, done_bytes: u64, total_bytes: u64) {
        if let Output::Terminal(bar) = &self.output {
            if !std::mem::replace(&mut self.filling, true) {
                bar.set_style(fill_style());
                bar.set_message(self.style.pick("writing the test file", "テストファイルを書き込み中"));
                bar.reset();
            }
            bar.set_length(total_bytes);
            bar.set_position(done_bytes.min(total_bytes));
        }
    }

    /// Clears the live line.
    pub(crate) fn finish(&mut self) {
        match &mut self.output {
            Output::Terminal(bar) => bar.finish_and_clear(),
            Output::Plain(writer) => {
                let _ = writer.flush();
            }
            Output::Quiet(_) => {}
        }
    }
}

fn live_style() -> ProgressStyle {
    bar_style("{msg}")
}

fn fill_style() -> ProgressStyle {
    bar_style("{msg} {bar:20} {binary_bytes} / {binary_total_bytes} · {decimal_bytes_per_sec} · {eta}")
}

/// A bar with this template.
pub(crate) fn bar_style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("▇▁")
}
