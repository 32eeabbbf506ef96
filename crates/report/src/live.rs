//! Where progress goes: lines that stay, and below them one live line that is redrawn and at the end cleared.
//!
//! The model: where nothing can be redrawn there is no live line. Progress is a courtesy: a closed pipe must not end a
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
use kurabe_core::Text;
use kurabe_core::record::NoticeKind;
use kurabe_core::shown::{self, Shown};
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
    /// On a terminal: the live line, with its template.
    bar: Option<ProgressBar>,
    template: &'static str,
    /// Where there is none: where lines go.
    writer: Box<dyn Write + Send>,
    is_quiet: bool,
}

const WORDS: &str = "{msg}";
const FILL: &str = "{msg} {bar:20} {binary_bytes} / {binary_total_bytes} · {decimal_bytes_per_sec} · {eta}";
const COUNT: &str = "{prefix} {pos}/{len} {bar:16} {msg}";
/// Columns that a count and its bar take at most.
const COUNT_WIDTH: usize = 36;

impl LiveLine {
    /// On standard error. A live line needs a terminal there; without one, lines only.
    pub fn new(style: Style, mode: Mode) -> Self {
        let target = ProgressDrawTarget::stderr_with_hz(REDRAWS_HZ);
        match mode {
            Mode::Terminal if !target.is_hidden() => Self::on_terminal(style, target),
            _ => Self::of(style, None, Box::new(std::io::stderr()), mode == Mode::Quiet),
        }
    }

    /// On any terminal that indicatif can draw on.
    pub fn on_terminal(style: Style, target: ProgressDrawTarget) -> Self {
        let bar = ProgressBar::with_draw_target(Some(1), target);
        bar.set_style(bar_style(WORDS));
        Self::of(style, Some(bar), Box::new(std::io::sink()), false)
    }

    /// Lines into any writer, as [`Mode::Plain`] writes them.
    pub fn plain(style: Style, writer: Box<dyn Write + Send>) -> Self {
        Self::of(style, None, writer, false)
    }

    /// What [`Mode::Quiet`] writes, into any writer.
    pub fn quiet(style: Style, writer: Box<dyn Write + Send>) -> Self {
        Self::of(style, None, writer, true)
    }

    fn of(style: Style, bar: Option<ProgressBar>, writer: Box<dyn Write + Send>, is_quiet: bool) -> Self {
        Self { style, bar, template: WORDS, writer, is_quiet }
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

    fn width(&self) -> usize {
        self.style.width.saturating_sub(1)
    }

    /// The live line in this form, if there is one, and whether it had another before.
    fn bar(&mut self, template: &'static str) -> Option<(&ProgressBar, bool)> {
        let bar = self.bar.as_ref()?;
        let is_new = std::mem::replace(&mut self.template, template) != template;
        if is_new {
            bar.set_style(bar_style(template));
        }
        Some((bar, is_new))
    }

    /// The live line, as far as there is room.
    fn show(&mut self, words: &str) {
        let line = clip(self.style.page(&shown::line(words)).as_ref(), self.width());
        if let Some((bar, _)) = self.bar(WORDS) {
            bar.set_message(line);
        }
    }

    /// The live line: what goes on, the longest of these facts that there is room for, and what must be seen in any width.
    fn show_facts(&mut self, name: &str, facts: &[String], end: Option<&str>) {
        let behind = |words: &str| if words.is_empty() { String::new() } else { format!(" · {words}") };
        let end = behind(end.unwrap_or_default());
        let room = self.width().saturating_sub(display_width(&end));
        let facts = facts.iter().map(|fact| behind(fact)).chain([String::new()]);
        let mut whole = facts.map(|fact| format!("{name}{fact}")).filter(|line| display_width(line) <= room);
        let line = whole.next().unwrap_or_else(|| clip(name, room));
        self.show(&format!("{line}{end}"));
    }

    /// The live line as a bar of bytes.
    fn fill(&mut self, done_bytes: u64, total_bytes: u64) {
        let words = self.style.pick("writing the test file", "テストファイルを書き込み中");
        let Some((bar, is_new)) = self.bar(FILL) else { return };
        if is_new {
            bar.set_message(words);
            bar.reset();
        }
        bar.set_length(total_bytes);
        bar.set_position(done_bytes.min(total_bytes));
    }

    /// The live line as a bar of things that are done one by one, behind it the one that was begun last.
    fn count(&mut self, name: &str, [done, all]: [u64; 2], last: &str) {
        let room = self.style.width.saturating_sub(COUNT_WIDTH + name.len());
        let Some((bar, _)) = self.bar(COUNT) else { return };
        bar.set_prefix(name.to_owned());
        bar.set_length(all);
        bar.set_message(clip(last, room));
        bar.set_position(done);
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
