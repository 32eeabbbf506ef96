//! Progress of a run on standard error: a consumer of its events.
//!
//! The model: what stands (header, notices, a line per cell) is printed above; what moves is one live line below
//! that is redrawn and at the end cleared. Where nothing can be redrawn there is no live line. Nothing here reads
//! a clock: time left comes from the events.

use crate::layout::{clip, hanging, live_line, wrap};
use crate::programs::program_lines;
use crate::remarks;
use crate::run::{render_cell, render_header};
use crate::spark::sparkline;
use crate::steady;
use crate::style::Style;
use crate::words;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use kurabe_core::Text;
use kurabe_core::event::Event;
use kurabe_core::number;
use kurabe_core::profile::{PlannedWrites, Statistic};
use kurabe_core::record::{Cell, Interval, Notice, NoticeKind, RunHeader};
use kurabe_core::shown::{self, Shown};
use kurabe_core::text;
use kurabe_core::workload::Direction;
use std::collections::{BTreeSet, VecDeque};
use std::io::Write;

/// Redraws per second at most.
const REDRAWS_HZ: u8 = 10;
/// Intervals that the live course shows.
const COURSE_INTERVALS: usize = 40;
const COURSE_LENGTH: usize = 10;
/// The live rate is the mean over this time.
const RATE_WINDOW_NS: u64 = 1_000_000_000;

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

/// Makes the words in parentheses behind the target.
type Headline = Box<dyn Fn(&RunHeader) -> Text + Send>;

/// Shows a run while it goes on.
pub struct Progress {
    style: Style,
    output: Output,
    headline: Option<Headline>,
    statistic: Statistic,
    cell_count: u32,
    /// Time that remains, the running repetition not subtracted.
    left_ns: Option<u64>,
    filling: bool,
    running: Option<Running>,
    /// Preparations that were told; what comes again for each repetition is told once.
    prepared: BTreeSet<String>,
    /// Whether noise needs no more words: the first remark stands for all that the result tells.
    noise_told: bool,
}

/// The running repetition.
struct Running {
    place: String,
    direction: Option<Direction>,
    intervals: VecDeque<(Interval, u64)>,
}

impl Progress {
    /// Progress on standard error. A live line needs a terminal there; without one, lines only.
    pub fn new(style: Style, mode: Mode) -> Self {
        let target = ProgressDrawTarget::stderr_with_hz(REDRAWS_HZ);
        let mode = if mode == Mode::Terminal && target.is_hidden() { Mode::Plain } else { mode };
        Self::with_output(
            style,
            match mode {
                Mode::Terminal => Output::Terminal(bar(target)),
                Mode::Plain => Output::Plain(Box::new(std::io::stderr())),
                Mode::Quiet => Output::Quiet(Box::new(std::io::stderr())),
            },
        )
    }

    /// What [`Mode::Quiet`] writes, into any writer.
    pub fn quiet_to(style: Style, writer: Box<dyn Write + Send>) -> Self {
        Self::with_output(style, Output::Quiet(writer))
    }

    /// Lines into any writer, as [`Mode::Plain`] writes them.
    pub fn plain_to(style: Style, writer: Box<dyn Write + Send>) -> Self {
        Self::with_output(style, Output::Plain(writer))
    }

    /// A live line on any terminal that indicatif can draw on.
    pub fn terminal_on(style: Style, target: ProgressDrawTarget) -> Self {
        Self::with_output(style, Output::Terminal(bar(target)))
    }

    fn with_output(style: Style, output: Output) -> Self {
        Self {
            style,
            output,
            headline: None,
            statistic: Statistic::Mean,
            cell_count: 0,
            left_ns: None,
            filling: false,
            running: None,
            prepared: BTreeSet::new(),
            noise_told: false,
        }
    }

    /// Without remarks on noise if the result, which tells them, comes right below.
    #[must_use]
    pub fn above_result(mut self, is_above: bool) -> Self {
        self.noise_told = is_above;
        self
    }

    /// Says what stands in parentheses behind the target when the run starts.
    #[must_use]
    pub fn with_headline(mut self, headline: impl Fn(&RunHeader) -> Text + Send + 'static) -> Self {
        self.headline = Some(Box::new(headline));
        self
    }

    /// Takes notice of an event.
    pub fn on_event(&mut self, event: &Event) {
        match &mut self.output {
            // What runs must be seen, also by who wants to see no progress: one line for each kind.
            Output::Quiet(writer) => program_lines(event).iter().for_each(|words| {
                let line = format!("kurabe: {}\n", self.style.say(words));
                let _ = Shown::lines(&line).write_to(writer);
            }),
            Output::Terminal(_) | Output::Plain(_) => self.show(event),
        }
    }

    fn show(&mut self, event: &Event) {
        match event {
            Event::RunStarted { header, cell_count, planned_write_bytes, planned_write_ns, planned_ns } => {
                (self.cell_count, self.left_ns) = (*cell_count, *planned_ns);
                let [bytes, time_ns] =
                    [planned_write_bytes, planned_write_ns].map(|planned| planned.unwrap_or(0));
                self.start(header, PlannedWrites { bytes, time_ns });
            }
            Event::StepsAdded { cell_count, planned_ns, .. } => {
                self.cell_count = *cell_count;
                self.left_ns = self.left_ns.zip(*planned_ns).map(|(left, more)| left.saturating_add(more));
            }
            Event::Notice { notice } => self.notice(notice),
            Event::FillProgress { done_bytes, total_bytes } => self.fill(*done_bytes, *total_bytes),
            Event::FillDone { .. } => self.live(""),
            Event::Pause { length_ns } => {
                let time = number::clock(*length_ns);
                self.live(&self.style.say(&text!("pause of {time}", "{time} 休止中")));
            }
            Event::RepetitionStarted {
                cell_index,
                label,
                direction,
                repetition_index,
                repetition_count,
                discarded,
            } => {
                let number = format!("{}/{repetition_count}", u64::from(*repetition_index) + 1);
                let discarded = if *discarded { self.style.pick(" (discarded)", "(集計外)") } else { "" };
                let direction_word = self.style.say(&words::of_direction(*direction));
                let name = format!("{direction_word} {}", shown::line(label));
                let place = self.place(*cell_index);
                self.running = Some(Running {
                    place: format!("{place} {} · {number}{discarded}", name.trim_start()),
                    direction: *direction,
                    intervals: VecDeque::new(),
                });
                self.live_repetition(0);
            }
            Event::Progress { elapsed_ns, interval, interval_ns } => {
                if let Some(running) = &mut self.running {
                    running.intervals.push_back((*interval, *interval_ns));
                    if running.intervals.len() > COURSE_INTERVALS {
                        running.intervals.pop_front();
                    }
                }
                self.live_repetition(*elapsed_ns);
            }
            Event::RepetitionDone { repetition, .. } => {
                self.left_ns = self.left_ns.map(|left| left.saturating_sub(repetition.elapsed_ns));
                self.running = None;
            }
            Event::CellDone { cell } => self.cell(cell),
            Event::CellBegun { .. } | Event::Sampled { .. } => {}
            Event::Preparing { what } => self.preparing(what.get(self.style.lang)),
            // Each is shown when its turn comes.
            Event::Programs { .. } => {}
            Event::RoundDone { round_index, round_count, steady, excursion_percent, slope_percent } => {
                let line = steady::round_line(
                    *round_index,
                    *round_count,
                    *steady,
                    excursion_percent.zip(*slope_percent),
                    &self.style,
                );
                self.print(&line);
            }
            Event::RunDone { .. } => self.finish(),
        }
    }

    /// Clears the live line. Called at the end of the run, on every way out; dropping does it too.
    pub fn finish(&mut self) {
        self.running = None;
        match &mut self.output {
            Output::Terminal(bar) => bar.finish_and_clear(),
            Output::Plain(writer) => {
                let _ = writer.flush();
            }
            Output::Quiet(_) => {}
        }
    }

    fn start(&mut self, header: &RunHeader, writes: PlannedWrites) {
        self.statistic = header.statistic();
        let headline = self.headline.as_ref().map_or_else(|| Text::same(""), |make| make(header));
        for line in render_header(header, &headline, &self.style).lines() {
            self.print(line);
        }
        let mut plan = Vec::new();
        let cells = self.cell_count;
        let plural = if cells == 1 { "" } else { "s" };
        plan.push(self.style.say(&text!("{cells} cell{plural}", "{cells} 項目")));
        plan.extend(self.left_ns.map(|ns| {
            let time = self.style.say(&words::time(&number::long_time(ns)));
            self.style.say(&match header.model {
                Some(_) => text!("{time} of the model's time", "モデルの中の時間で {time}"),
                None => text!("{time} of measuring", "測定時間 {time}"),
            })
        }));
        plan.extend(remarks::planned_writes(writes).map(|words| self.style.say(&words)));
        for line in crate::layout::flow(&plan, self.style.width) {
            self.print(&line);
        }
    }

    fn notice(&mut self, notice: &Notice) {
        if notice.kind == NoticeKind::Noise && std::mem::replace(&mut self.noise_told, true) {
            return;
        }
        let words =
            format!("{}: {}", self.style.say(&words::notice(notice.kind)), notice.text.get(self.style.lang));
        self.paragraph(&words);
    }

    /// What goes on before or between repetitions: on a line that stays the first time, always in the live line.
    fn preparing(&mut self, words: &str) {
        self.running = None;
        if self.prepared.insert(words.to_owned()) {
            self.paragraph(words);
        }
        self.live(&shown::line(words));
    }

    fn paragraph(&mut self, words: &str) {
        for line in hanging(wrap(words, self.style.width.saturating_sub(2)), 0, 2) {
            self.print(&line);
        }
    }

    fn cell(&mut self, cell: &Cell) {
        let place = self.place(cell.index);
        let width = self.style.width.saturating_sub(place.len() + 1);
        let line = render_cell(cell, self.statistic, &Style { width, ..self.style });
        self.print(&format!("{place} {line}"));
    }

    /// `[3/8]`, as wide for every cell.
    fn place(&self, cell_index: u32) -> String {
        let count = self.cell_count.to_string();
        format!("[{:>width$}/{count}]", u64::from(cell_index) + 1, width = count.len())
    }

    fn fill(&mut self, done_bytes: u64, total_bytes: u64) {
        if let Output::Terminal(bar) = &self.output {
            if !self.filling {
                self.filling = true;
                bar.set_style(fill_style());
                bar.set_message(self.style.pick("writing the test file", "テストファイルを書き込み中"));
                bar.reset();
            }
            bar.set_length(total_bytes);
            bar.set_position(done_bytes.min(total_bytes));
        }
    }

    fn live_repetition(&mut self, elapsed_ns: u64) {
        let Some(running) = &self.running else { return };
        let rate = running.rate_bytes_per_s().map(|rate| number::rate(rate).to_string());
        let rates = match rate {
            Some(rate) => vec![format!("{rate} {}", sparkline(&running.course(), COURSE_LENGTH)), rate],
            None => Vec::new(),
        };
        let left = self.left_ns.map(|left| {
            let time = number::clock(left.saturating_sub(elapsed_ns));
            self.style.say(&text!("{time} left", "残り {time}"))
        });
        let line = live_line(&running.place, &rates, left.as_deref(), self.live_width());
        self.live(&line);
    }

    /// One column less than the terminal has, so that no terminal wraps.
    fn live_width(&self) -> usize {
        self.style.width.saturating_sub(1)
    }

    /// Changes the live line.
    fn live(&mut self, text: &str) {
        if let Output::Terminal(bar) = &self.output {
            if self.filling {
                self.filling = false;
                bar.set_style(live_style());
            }
            let line = self.style.page(&shown::line(text));
            bar.set_message(clip(line.as_ref(), self.live_width()));
        }
    }

    /// Prints a line that stays.
    fn print(&mut self, line: &str) {
        let line = self.style.page(&format!("{line}\n"));
        match &mut self.output {
            Output::Terminal(bar) => bar.println(line.as_ref().trim_end()),
            // Progress is a courtesy: a closed pipe must not end a measurement.
            Output::Plain(writer) => {
                let _ = line.write_to(writer);
            }
            Output::Quiet(_) => {}
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Running {
    fn bytes(&self, interval: &Interval) -> u64 {
        match self.direction {
            Some(Direction::Read) => interval.read_bytes,
            Some(Direction::Write) => interval.write_bytes,
            Some(Direction::Mix) | None => interval.read_bytes.saturating_add(interval.write_bytes),
        }
    }

    /// The rate over the last second or so.
    fn rate_bytes_per_s(&self) -> Option<f64> {
        let (mut bytes, mut time_ns) = (0.0, 0u64);
        for (interval, interval_ns) in self.intervals.iter().rev() {
            if time_ns >= RATE_WINDOW_NS {
                break;
            }
            bytes += self.bytes(interval) as f64;
            time_ns = time_ns.saturating_add(*interval_ns);
        }
        (time_ns > 0).then(|| bytes * 1e9 / time_ns as f64)
    }

    fn course(&self) -> Vec<f64> {
        self.intervals
            .iter()
            .map(|(interval, ns)| self.bytes(interval) as f64 / (*ns).max(1) as f64)
            .collect()
    }
}

fn bar(target: ProgressDrawTarget) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(1), target);
    bar.set_style(live_style());
    bar
}

fn live_style() -> ProgressStyle {
    style_of("{msg}")
}

fn fill_style() -> ProgressStyle {
    style_of("{msg} {bar:20} {binary_bytes} / {binary_total_bytes} · {decimal_bytes_per_sec} · {eta}")
        .progress_chars("▇▁")
}

fn style_of(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
