//! Where progress goes: lines that stay, and below them one live line that is redrawn and at the end cleared.
//!
//! The model: a run, a study and a measurement in turns say what stands, and what is being done as [`Activity`], which is drawn in
//! one place. Where nothing can be redrawn there is no live line. Progress is a courtesy: a closed pipe must not end a
//! measurement, so what cannot be written is lost.

mod progress;
mod study_progress;
mod versus_progress;

pub use progress::{Progress, program_lines};
pub use study_progress::{StudyProgress, study_listener};
pub use versus_progress::{VersusProgress, too_short};

use crate::doc::Style;
use crate::doc::layout::{clip, display_width, hanging, wrap};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use kurabe_core::shown::{self, Shown};
use kurabe_core::{Text, record::NoticeKind};
use std::collections::BTreeSet;
use std::io::Write;

/// Redraws per second at most.
const REDRAWS_HZ: u8 = 10;

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

/// Lines of progress in a style. What is still live is cleared when they are dropped.
pub struct LiveLine {
    style: Style,
    /// On a terminal: the live line, with its form.
    bar: Option<ProgressBar>,
    form: &'static str,
    /// Where there is none: where lines go.
    writer: Box<dyn Write + Send>,
    is_quiet: bool,
}

/// What is being done.
#[derive(Default)]
struct Activity {
    form: &'static str,
    name: String,
    /// How much of it is done, and how much there is.
    part: [u64; 2],
    /// How fast it goes, or what else there is to tell, the longest first: the first that there is room for is shown.
    facts: Vec<String>,
    /// The time that is left, which must be seen in any width.
    left: Option<Text>,
}

/// An activity whose name and facts tell everything.
const WORDS: &str = "{msg}";
/// Bytes that are written.
const FILL: &str = "{msg} {bar:20} {binary_bytes} / {binary_total_bytes} · {decimal_bytes_per_sec} · {eta}";
/// Things that are done one by one, behind them the one that was begun last.
const COUNT: &str = "{prefix} {pos}/{len} {bar:16} {msg}";
/// Columns that a count and its bar take at most.
const COUNT_WIDTH: usize = 35;

impl Activity {
    fn named(name: impl Into<String>) -> Self {
        Self { form: WORDS, name: name.into(), ..Self::default() }
    }

    /// The words that move, as far as there is room.
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
    /// On standard error. A live line needs a terminal there; without one, lines only.
    pub fn new(style: Style, mode: Mode) -> Self {
        let target = ProgressDrawTarget::stderr_with_hz(REDRAWS_HZ);
        match mode {
            Mode::Terminal if !target.is_hidden() => Self::on_terminal(style, target),
            _ => Self::in_lines(style, mode, Box::new(std::io::stderr())),
        }
    }

    /// On any terminal that indicatif can draw on.
    pub fn on_terminal(style: Style, target: ProgressDrawTarget) -> Self {
        let bar = ProgressBar::with_draw_target(Some(1), target);
        bar.set_style(bar_style(WORDS));
        Self { style, bar: Some(bar), form: WORDS, writer: Box::new(std::io::sink()), is_quiet: false }
    }

    /// Lines into any writer, as a mode has them where there is no live line.
    pub fn in_lines(style: Style, mode: Mode, writer: Box<dyn Write + Send>) -> Self {
        Self { style, bar: None, form: WORDS, writer, is_quiet: mode == Mode::Quiet }
    }

    fn say(&self, words: &Text) -> String {
        self.style.say(words)
    }

    /// What must be seen also by who wants to see no progress.
    fn always(&mut self, words: &Text) {
        let words = self.say(words);
        match self.is_quiet {
            true => self.put(&Shown::lines(&format!("kurabe: {words}\n"))),
            false => self.paragraph(&words),
        }
    }

    /// A line about the work itself, in every mode.
    fn remark(&mut self, words: &Text) {
        self.put(&Shown::lines(&format!("{}\n", self.say(words))));
    }

    fn put(&mut self, line: &Shown) {
        match &self.bar {
            Some(bar) => bar.println(line.as_ref().trim_end()),
            None => drop(line.write_to(&mut self.writer)),
        }
    }

    /// Words that stay, on as many lines as they need.
    fn paragraph(&mut self, words: &str) {
        for line in hanging(wrap(words, self.style.width.saturating_sub(2)), 0, 2) {
            self.print(&line);
        }
    }

    /// A line that stays.
    fn print(&mut self, line: &str) {
        if !self.is_quiet {
            self.put(&self.style.page(&format!("{line}\n")));
        }
    }

    /// The live line, if there is one.
    fn show(&mut self, work: &Activity) {
        let Some(bar) = &self.bar else { return };
        if std::mem::replace(&mut self.form, work.form) != work.form {
            bar.set_style(bar_style(work.form));
            // A bar of bytes tells the rate and the time left of these alone.
            bar.reset();
        }
        let [done, length] = work.part;
        bar.set_prefix(work.name.clone());
        bar.set_length(length);
        bar.set_message(clip(&shown::line(&work.words(&self.style)), self.style.width.saturating_sub(1)));
        bar.set_position(done.min(length));
    }

    /// The same of work of which nothing but its name can be told.
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

/// A bar with this template.
fn bar_style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("▇▁")
}

/// What is shown once, however often it comes.
#[derive(Default)]
struct Mentions {
    texts: BTreeSet<String>,
    /// One remark of noise stands for all: a busy machine has one for each cell.
    has_noise: bool,
}

impl Mentions {
    /// Whether a text comes for the first time.
    fn is_new(&mut self, words: &str) -> bool {
        self.texts.insert(words.to_owned())
    }

    /// Whether a notice is the first of its kind, if one of that kind is enough.
    fn is_first(&mut self, kind: NoticeKind) -> bool {
        kind != NoticeKind::Noise || !std::mem::replace(&mut self.has_noise, true)
    }
}
