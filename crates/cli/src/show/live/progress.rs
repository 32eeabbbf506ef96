//! Progress of a run on standard error, driven by its events.
//!
//! The model: lasting lines (header, notices, a line per cell) are printed above. The current work
//! is one live line below, which is redrawn, and cleared at the end. If the output can't be
//! redrawn, there is no live line. Nothing here reads a clock: the remaining time comes from the
//! events.

use super::{Activity, FILL, LiveLine, Mentions, Mode};
use kurabe_core::profile::{PlannedWrites, Statistic};
use kurabe_core::record::{Cell, Notice, RunHeader};
use kurabe_core::{Text, event::Event, number, text, workload::Direction};
use kurabe_doc::Style;
use kurabe_doc::spark::{interval_bytes, sparkline};
use kurabe_report::words::{self, program_lines};
use kurabe_report::{planned_writes, render_cell, render_header, round_line};
use std::collections::VecDeque;

/// Number of intervals in the live sparkline.
const COURSE_INTERVALS: usize = 40;
const COURSE_LENGTH: usize = 10;
/// The live rate is the mean over this time.
const RATE_WINDOW_NS: u64 = 1_000_000_000;

/// Creates the text in parentheses behind the target.
type Headline = Box<dyn Fn(&RunHeader) -> Text + Send>;

/// Shows the progress of a run.
pub struct Progress {
    live: LiveLine,
    headline: Option<Headline>,
    statistic: Statistic,
    cell_count: u32,
    /// The remaining time, without subtracting the progress of the running repetition.
    left_ns: Option<u64>,
    running: Option<Running>,
    mentions: Mentions,
}

struct Running {
    place: String,
    direction: Option<Direction>,
    /// Bytes transferred in each interval, and the interval's length in ns.
    intervals: VecDeque<(u64, u64)>,
}

impl Progress {
    /// Shows progress on standard error. A live line needs a terminal. Otherwise only lines are
    /// written.
    pub fn new(style: Style, mode: Mode) -> Self {
        Self::on(LiveLine::new(style, mode))
    }

    /// Shows progress on the given output.
    pub fn on(live: LiveLine) -> Self {
        Self {
            live,
            headline: None,
            statistic: Statistic::Mean,
            cell_count: 0,
            left_ns: None,
            running: None,
            mentions: Mentions::default(),
        }
    }

    /// Suppresses noise notices if the result, which lists them, follows directly below.
    #[must_use]
    pub fn above_result(mut self, is_above: bool) -> Self {
        self.mentions.has_noise = is_above;
        self
    }

    /// Sets the function that creates the text in parentheses behind the target when the run
    /// starts.
    #[must_use]
    pub fn with_headline(mut self, headline: impl Fn(&RunHeader) -> Text + Send + 'static) -> Self {
        self.headline = Some(Box::new(headline));
        self
    }

    /// Shows an event.
    pub fn on_event(&mut self, event: &Event) {
        if !self.live.is_quiet {
            return self.show(event);
        }
        // The user must see which programs will run, even in quiet mode: one line for each kind.
        for words in program_lines(event) {
            self.live.always(&words);
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
            Event::StepsAdded { cell_count, planned_ns, why, .. } => {
                if let Some(why) = why {
                    self.live.print(&self.live.say(why));
                }
                self.cell_count = *cell_count;
                self.left_ns = self.left_ns.zip(*planned_ns).map(|(left, more)| left.saturating_add(more));
            }
            Event::Notice { notice } => self.notice(notice),
            Event::FillProgress { done_bytes, total_bytes } => {
                let name = self.live.style.pick("writing the test file", "テストファイルを書き込み中");
                self.live.show(&Activity {
                    form: FILL,
                    part: [*done_bytes, *total_bytes],
                    ..Activity::named(name)
                });
            }
            Event::FillDone { .. } => self.live.show_words(""),
            Event::Pause { length_ns } => self.live.show_words(&self.live.say(&words::pause(*length_ns))),
            Event::RepetitionStarted {
                cell_index,
                label,
                direction,
                repetition_index,
                repetition_count,
                discarded,
            } => {
                let repetition =
                    words::repetition(*direction, label, *repetition_index, *repetition_count, *discarded);
                let place = self.place(*cell_index);
                self.running = Some(Running {
                    place: format!("{place} {}", self.live.say(&repetition)),
                    direction: *direction,
                    intervals: VecDeque::new(),
                });
                self.live_repetition(0);
            }
            Event::Progress { elapsed_ns, interval, interval_ns } => {
                if let Some(running) = &mut self.running {
                    let bytes = interval_bytes(interval, running.direction);
                    running.intervals.push_back((bytes, *interval_ns));
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
            // Programs are shown when they are about to run.
            Event::CellBegun { .. } | Event::Sampled { .. } | Event::Programs { .. } => {}
            Event::Preparing { what } => self.preparing(what.get(self.live.style.lang)),
            Event::RoundDone { round_index, round_count, steady, excursion_percent, slope_percent } => {
                let (window, style) = (excursion_percent.zip(*slope_percent), &self.live.style);
                let line = round_line(*round_index, *round_count, *steady, window, style);
                self.live.print(&line);
            }
            Event::RunDone { .. } => self.finish(),
        }
    }

    /// Clears the live line at the end of the run. Dropping has the same effect.
    pub fn finish(&mut self) {
        self.running = None;
        self.live.finish();
    }

    fn start(&mut self, header: &RunHeader, writes: PlannedWrites) {
        self.statistic = header.statistic();
        let headline = self.headline.as_ref().map_or_else(|| Text::same(""), |make| make(header));
        for line in render_header(header, &headline, &self.live.style).lines() {
            self.live.print(line);
        }
        let mut plan = Vec::new();
        let cells = self.cell_count;
        let plural = if cells == 1 { "" } else { "s" };
        plan.push(self.live.say(&text!("{cells} test{plural}", "{cells} 項目")));
        plan.extend(self.left_ns.map(|ns| {
            let time = self.live.say(&number::time_words(&number::long_time(ns)));
            self.live.say(&match header.model {
                Some(_) => text!("{time} of the model's time", "モデルの中の時間で {time}"),
                None => text!("{time} of measuring", "測定時間 {time}"),
            })
        }));
        plan.extend(planned_writes(writes).map(|words| self.live.say(&words)));
        for line in kurabe_doc::layout::flow(&plan, self.live.style.width) {
            self.live.print(&line);
        }
    }

    fn notice(&mut self, notice: &Notice) {
        if self.mentions.is_first(notice.kind) {
            let words =
                format!("{}: {}", self.live.say(&words::notice(notice.kind)), self.live.say(&notice.text));
            self.live.paragraph(&words);
        }
    }

    /// Shows work before or between repetitions: on a lasting line the first time, and always in
    /// the live line.
    fn preparing(&mut self, words: &str) {
        self.running = None;
        if self.mentions.is_new(words) {
            self.live.paragraph(words);
        }
        self.live.show_words(words);
    }

    fn cell(&mut self, cell: &Cell) {
        let place = self.place(cell.index);
        let width = self.live.style.width.saturating_sub(place.len() + 1);
        let line = render_cell(cell, self.statistic, &Style { width, ..self.live.style });
        self.live.print(&format!("{place} {line}"));
    }

    /// Returns the cell's position, such as `[3/8]`, with the same width for every cell.
    fn place(&self, cell_index: u32) -> String {
        let count = self.cell_count.to_string();
        format!("[{:>width$}/{count}]", u64::from(cell_index) + 1, width = count.len())
    }

    fn live_repetition(&mut self, elapsed_ns: u64) {
        let Some(running) = &self.running else { return };
        let rate = running.rate_bytes_per_s().map(|rate| number::rate(rate).to_string());
        let course = sparkline(&running.course(), COURSE_LENGTH);
        let facts = rate.map_or(Vec::new(), |rate| vec![format!("{rate} {course}"), rate]);
        let left = self.left_ns.map(|left| number::clock(left.saturating_sub(elapsed_ns)));
        let left = left.map(|time| text!("{time} left", "残り {time}"));
        self.live.show(&Activity { facts, left, ..Activity::named(&running.place) });
    }
}

impl Running {
    /// Returns the rate over about the last second.
    fn rate_bytes_per_s(&self) -> Option<f64> {
        let (mut moved, mut time_ns) = (0.0, 0u64);
        for (bytes, interval_ns) in self.intervals.iter().rev() {
            if time_ns >= RATE_WINDOW_NS {
                break;
            }
            moved += *bytes as f64;
            time_ns = time_ns.saturating_add(*interval_ns);
        }
        (time_ns > 0).then(|| moved * 1e9 / time_ns as f64)
    }

    fn course(&self) -> Vec<f64> {
        self.intervals.iter().map(|(bytes, ns)| *bytes as f64 / (*ns).max(1) as f64).collect()
    }
}
