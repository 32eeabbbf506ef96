//! Progress of a run on standard error: a consumer of its events.
//!
//! The model: what stands (header, notices, a line per cell) is printed above; what moves is one live line below
//! that is redrawn and at the end cleared. Where nothing can be redrawn there is no live line. Nothing here reads
//! a clock: time left comes from the events.

use super::{Activity, FILL, LiveLine, Mentions, Mode};
use crate::doc::Style;
use crate::doc::spark::{interval_bytes, sparkline};
use crate::run::{remarks, render_cell, render_header, steady};
use crate::words::{self, present};
use kurabe_core::profile::{PlannedWrites, Statistic};
use kurabe_core::record::{Cell, Notice, RunHeader};
use kurabe_core::{Text, event::Event, number, shown, text, workload::Direction};
use std::collections::VecDeque;

/// Intervals that the live course shows.
const COURSE_INTERVALS: usize = 40;
const COURSE_LENGTH: usize = 10;
/// The live rate is the mean over this time.
const RATE_WINDOW_NS: u64 = 1_000_000_000;

/// Makes the words in parentheses behind the target.
type Headline = Box<dyn Fn(&RunHeader) -> Text + Send>;

/// Shows a run while it goes on.
pub struct Progress {
    live: LiveLine,
    headline: Option<Headline>,
    statistic: Statistic,
    cell_count: u32,
    /// Time that remains, the running repetition not subtracted.
    left_ns: Option<u64>,
    running: Option<Running>,
    mentions: Mentions,
}

/// The running repetition.
struct Running {
    place: String,
    direction: Option<Direction>,
    /// What moved in each interval, with its length.
    intervals: VecDeque<(u64, u64)>,
}

impl Progress {
    /// Progress on standard error. A live line needs a terminal there; without one, lines only.
    pub fn new(style: Style, mode: Mode) -> Self {
        Self::on(LiveLine::new(style, mode))
    }

    /// Progress on any lines.
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

    /// Without remarks on noise if the result, which tells them, comes right below.
    #[must_use]
    pub fn above_result(mut self, is_above: bool) -> Self {
        self.mentions.has_noise = is_above;
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
        if !self.live.is_quiet {
            return self.show(event);
        }
        // What runs must be seen, also by who wants to see no progress: one line for each kind.
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
            // A program is shown when its turn comes.
            Event::CellBegun { .. } | Event::Sampled { .. } | Event::Programs { .. } => {}
            Event::Preparing { what } => self.preparing(what.get(self.live.style.lang)),
            Event::RoundDone { round_index, round_count, steady, excursion_percent, slope_percent } => {
                let (window, style) = (excursion_percent.zip(*slope_percent), &self.live.style);
                let line = steady::round_line(*round_index, *round_count, *steady, window, style);
                self.live.print(&line);
            }
            Event::RunDone { .. } => self.finish(),
        }
    }

    /// Clears the live line. Called at the end of the run; dropping does it, too.
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
        plan.push(self.live.say(&text!("{cells} cell{plural}", "{cells} 項目")));
        plan.extend(self.left_ns.map(|ns| {
            let time = self.live.say(&number::time_words(&number::long_time(ns)));
            self.live.say(&match header.model {
                Some(_) => text!("{time} of the model's time", "モデルの中の時間で {time}"),
                None => text!("{time} of measuring", "測定時間 {time}"),
            })
        }));
        plan.extend(remarks::planned_writes(writes).map(|words| self.live.say(&words)));
        for line in crate::doc::layout::flow(&plan, self.live.style.width) {
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

    /// What goes on before or between repetitions: on a line that stays the first time, always in the live line.
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

    /// `[3/8]`, as wide for every cell.
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
    /// The rate over the last second or so.
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

/// The programs that a step is going to run, a line for each kind, if the event tells it.
pub fn program_lines(event: &Event) -> Vec<Text> {
    let Event::Programs { prepare, command, restore, cleanup } = event else { return Vec::new() };
    let line = |programs: &[String], kind: Text| {
        let programs = shown::line(&programs.join("; "));
        let words = text!("{kind}: {programs}", "{kind}: {programs}"; kind);
        (!programs.is_empty()).then_some(words)
    };
    present([
        line(prepare, text!("programs that prepare", "準備のプログラム")),
        line(std::slice::from_ref(command), text!("timed program", "計時するプログラム")),
        line(restore, text!("programs after each repetition", "毎回のあとのプログラム")),
        line(cleanup, text!("programs at the end", "最後のプログラム")),
    ])
}
