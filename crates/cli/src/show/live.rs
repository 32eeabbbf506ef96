//! Output of progress: lasting lines, and below them one live line that is redrawn, and cleared at
//! the end.
//!
//! The model: a run, a study and an interleaved measurement print lasting lines and describe the
//! current work as an [`Activity`], which is drawn in one place. If the output can't be redrawn,
//! there is no live line. Progress is optional: a closed pipe must not end a measurement, so output
//! that can't be written is discarded.

mod forecast;
mod progress;
mod study_progress;
#[cfg(test)]
mod terminal;
#[cfg(test)]
mod tests;
mod versus_progress;

pub use progress::Progress;
#[cfg(test)]
use study_progress::StudyProgress;
pub use study_progress::study_listener;
pub use versus_progress::{VersusProgress, too_short};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use kurabe_core::shown::{self, Shown};
use kurabe_core::{Text, record::NoticeKind};
use kurabe_doc::Style;
use kurabe_doc::layout::{clip, display_width, hanging, wrap};
use std::collections::BTreeSet;
use std::io::Write;

/// Maximum redraws per second.
const REDRAWS_HZ: u8 = 10;

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// On a terminal: lasting lines and a live line.
    Terminal,
    /// In a file or a pipe: only lines, without control characters.
    Plain,
    /// No progress. Only the user's programs that are about to run are shown.
    Quiet,
}

/// Progress output in a style. A live line is cleared on drop.
pub struct LiveLine {
    style: Style,
    /// The live line with its template, if the output is a terminal.
    bar: Option<ProgressBar>,
    form: &'static str,
    /// The destination of lines if there is no live line.
    writer: Box<dyn Write + Send>,
    is_quiet: bool,
}

#[derive(Default)]
struct Activity {
    form: &'static str,
    name: String,
    /// The completed part and the total.
    part: [u64; 2],
    /// The rate or other facts, the longest form first. The first form that fits is shown.
    facts: Vec<String>,
    /// The remaining time, which is shown at any width.
    left: Option<Text>,
}

/// Template for an activity that is described by its name and facts alone.
const WORDS: &str = "{msg}";
/// Template for bytes that are being written.
const FILL: &str = "{msg} {bar:20} {binary_bytes} / {binary_total_bytes} · {decimal_bytes_per_sec} · {eta}";
/// Template for items that are processed one by one, with the name of the one started last.
const COUNT: &str = "{prefix} {pos}/{len} {bar:16} {msg}";
/// Maximum columns of a count with its bar.
const COUNT_WIDTH: usize = 35;

impl Activity {
    fn named(name: impl Into<String>) -> Self {
        Self { form: WORDS, name: name.into(), ..Self::default() }
    }

    /// Returns the text of the live line that fits the width.
    fn words(&self, style: &Style) -> String {
        let width = style.width.saturating_sub(1);
        if self.form == COUNT {
            let room = width.saturating_sub(COUNT_WIDTH + self.name.len());
            return clip(&self.facts.concat(), room);
        }
        let end = self.left.as_ref().map(|left| format!(" · {}", style.say(left))).unwrap_or_default();
        let room = width.saturating_sub(display_width(&end));
        let facts = self.facts.iter().map(|fact| format!("{} · {fact}", self.name));
        let line = facts.chain([self.name.clone()]).find(|line| display_width(line) <= room);
        format!("{}{end}", line.unwrap_or_else(|| clip(&self.name, room)))
    }
}

impl LiveLine {
    /// Writes to standard error. A live line needs a terminal. Otherwise only lines are written.
    pub fn new(style: Style, mode: Mode) -> Self {
        let target = ProgressDrawTarget::stderr_with_hz(REDRAWS_HZ);
        match mode {
            Mode::Terminal if !target.is_hidden() => Self::on_terminal(style, target),
            _ => Self::in_lines(style, mode, Box::new(std::io::stderr())),
        }
    }

    /// Writes to any terminal that indicatif can draw on.
    pub fn on_terminal(style: Style, target: ProgressDrawTarget) -> Self {
        let bar = ProgressBar::with_draw_target(Some(1), target);
        bar.set_style(bar_style(WORDS));
        Self { style, bar: Some(bar), form: WORDS, writer: Box::new(std::io::sink()), is_quiet: false }
    }

    /// Writes lines to `writer`, as in `mode` but without a live line.
    pub fn in_lines(style: Style, mode: Mode, writer: Box<dyn Write + Send>) -> Self {
        Self { style, bar: None, form: WORDS, writer, is_quiet: mode == Mode::Quiet }
    }

    fn say(&self, words: &Text) -> String {
        self.style.say(words)
    }

    /// Prints a line even in quiet mode.
    fn always(&mut self, words: &Text) {
        let words = self.say(words);
        match self.is_quiet {
            true => self.put(&Shown::lines(&format!("kurabe: {words}\n"))),
            false => self.paragraph(&words),
        }
    }

    /// Prints a line about the work itself, in every mode.
    fn remark(&mut self, words: &Text) {
        self.put(&Shown::lines(&format!("{}\n", self.say(words))));
    }

    fn put(&mut self, line: &Shown) {
        match &self.bar {
            Some(bar) => bar.println(line.as_ref().trim_end()),
            None => drop(line.write_to(&mut self.writer)),
        }
    }

    /// Prints lasting text, wrapped to the width.
    fn paragraph(&mut self, words: &str) {
        for line in hanging(wrap(words, self.style.width.saturating_sub(2)), 0, 2) {
            self.print(&line);
        }
    }

    /// Prints a lasting line.
    fn print(&mut self, line: &str) {
        if !self.is_quiet {
            self.put(&self.style.page(&format!("{line}\n")));
        }
    }

    /// Updates the live line, if there is one.
    fn show(&mut self, work: &Activity) {
        let Some(bar) = &self.bar else { return };
        if std::mem::replace(&mut self.form, work.form) != work.form {
            bar.set_style(bar_style(work.form));
            // The rate and the remaining time of a byte bar must be computed from this activity
            // alone.
            bar.reset();
        }
        let [done, length] = work.part;
        bar.set_prefix(work.name.clone());
        bar.set_length(length);
        bar.set_message(clip(&shown::line(&work.words(&self.style)), self.style.width.saturating_sub(1)));
        bar.set_position(done.min(length));
    }

    /// Updates the live line for work that has only a name.
    fn show_words(&mut self, words: &str) {
        self.show(&Activity::named(words));
    }

    /// Clears the live line.
    fn finish(&mut self) {
        match &self.bar {
            Some(bar) => bar.finish_and_clear(),
            None => drop(self.writer.flush()),
        }
    }
}

impl Drop for LiveLine {
    fn drop(&mut self) {
        self.finish();
    }
}

/// Returns the style of a bar with this template.
fn bar_style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("▇▁")
}

/// Texts and notices that are shown only once.
#[derive(Default)]
struct Mentions {
    texts: BTreeSet<String>,
    /// Whether a noise notice was shown. One is enough, because a busy machine causes one for each
    /// cell.
    has_noise: bool,
}

impl Mentions {
    /// Records a text and returns whether it is new.
    fn is_new(&mut self, words: &str) -> bool {
        self.texts.insert(words.to_owned())
    }

    /// Checks whether a notice is the first of its kind. Always true for kinds other than noise.
    fn is_first(&mut self, kind: NoticeKind) -> bool {
        kind != NoticeKind::Noise || !std::mem::replace(&mut self.has_noise, true)
    }
}
