//! The card of a comparison: one picture of up to eight runs for posting, as SVG.
//!
//! The model: the answer in a sentence, then a table with a row for each test and a column for each
//! run. Each figure has a bar below it that begins at zero, on a scale of its row. The fastest of a
//! row is bold. What does not fit is counted.

use super::Report;
use super::rows::CellRow;
use crate::publish::card::{Area, HEIGHT, MARGIN, Paper, Tone, Type, WIDTH, heading, sentence};
use kurabe_chart::{Theme, text_width, wrap};
use kurabe_core::record::Measure;
use kurabe_core::{Text, number, shown, text};

/// Maximum number of runs on a card.
const MOST_RUNS: usize = 8;
/// Maximum number of tests.
const MOST_ROWS: usize = 8;
/// Width of the names of tests.
const LABELS: f64 = 236.0;
/// Height of the names of the runs.
const HEADS: f64 = 66.0;
/// Distance between two columns.
const GAP: f64 = 16.0;

impl Report<'_> {
    /// Draws the card of a comparison. Runs beyond the eighth are counted.
    pub fn card(&self, theme: Theme) -> String {
        let lang = self.lang;
        let title = self.title().line(lang);
        let mut paper = Paper::new(WIDTH, HEIGHT, theme, &title);
        heading(&mut paper, &title, None, lang);
        let answer = self.sentences().into_iter().next().unwrap_or_default().line(lang);
        let top = sentence(&mut paper, &answer, 104.0);
        let rows = self.rows();
        let shown_rows = &rows[..rows.len().min(MOST_ROWS)];
        let runs = self.runs.len().min(MOST_RUNS);
        let width = (WIDTH - 2.0 * MARGIN - LABELS) / runs as f64;
        let foot = HEIGHT - 46.0;
        let body = Area { x: MARGIN, y: top + HEADS, width, height: foot - 16.0 - top - HEADS };
        for (index, name) in self.names.iter().take(runs).enumerate() {
            let x = MARGIN + LABELS + index as f64 * width;
            self.run_name(&mut paper, (index, name), Area { x, y: top, ..body });
        }
        let height = (body.height / shown_rows.len().max(1) as f64).min(62.0);
        for (line, row) in shown_rows.iter().enumerate() {
            let place = Area { y: body.y + line as f64 * height, height, ..body };
            draw_row(&mut paper, row, runs, place, lang);
        }
        paper.rule(MARGIN, WIDTH - MARGIN, foot);
        let left = self.left_out(rows.len() - shown_rows.len(), runs).line(lang);
        paper.text(MARGIN, HEIGHT - 22.0, Type::of(14.0).within(680.0), Tone::Quiet, &left);
        let version = format!("1 MB = 1,000,000 B · kurabe {}", env!("CARGO_PKG_VERSION"));
        let x = WIDTH - MARGIN - text_width(&version, 14.0, false);
        paper.text(x, HEIGHT - 22.0, Type::of(14.0), Tone::Quiet, &version);
        paper.finish()
    }

    /// Draws the name of a run above its column, and whether it is the baseline or a model.
    fn run_name(&self, paper: &mut Paper, (index, name): (usize, &Text), place: Area) {
        let (lang, room) = (self.lang, place.width - GAP);
        let lines = wrap(&name.line(lang), 16.0, true, room, 2);
        for (line, words) in lines.iter().enumerate() {
            let y = place.y + 20.0 + line as f64 * 19.0;
            paper.text(place.x, y, Type::of(16.0).bold().within(room), Tone::Plain, words);
        }
        let model = self.runs[index].header.model.as_ref().map(|_| text!("model", "モデル"));
        let marks = (index == 0).then(|| text!("baseline", "基準")).into_iter().chain(model);
        let marks = Text::join(marks, [" · "; 2]).line(lang);
        let y = place.y + 20.0 + lines.len() as f64 * 19.0;
        paper.text(place.x, y, Type::of(14.0).within(room), Tone::Quiet, &marks);
    }

    /// Counts what does not fit, and says what the figures are.
    fn left_out(&self, rows: usize, runs: usize) -> Text {
        let more = self.runs.len() - runs;
        let parts = [
            Some(text!("means of the repetitions", "繰り返しの平均")),
            (rows > 0).then(|| text!("tests not shown: {rows}", "ほか {rows} 項目")),
            (more > 0).then(|| text!("runs not shown: {more}", "ほか {more} 件の測定")),
        ];
        Text::join(parts.into_iter().flatten(), [" · "; 2])
    }
}

/// Draws a test: its name, and the figure of each run with a bar below.
fn draw_row(paper: &mut Paper, row: &CellRow<'_>, runs: usize, place: Area, lang: kurabe_core::Lang) {
    let unit = match row.measure {
        Measure::Rate => " (MB/s)",
        _ => "",
    };
    let label = shown::line(&format!("{}{unit}", row.name.get(lang)));
    for (line, words) in wrap(&label, 15.0, false, LABELS - GAP, 2).iter().enumerate() {
        let y = place.y + 20.0 + line as f64 * 18.0;
        paper.text(place.x, y, Type::of(15.0).within(LABELS - GAP), Tone::Plain, words);
    }
    let value = |index: usize| row.entries[index].as_ref().and_then(|entry| entry.value);
    let values: Vec<f64> = (0..runs).filter_map(value).collect();
    let most = values.iter().copied().fold(0.0, f64::max);
    let better =
        |one: f64, other: f64| if row.measure.higher_is_better() { one.max(other) } else { one.min(other) };
    let best = values.iter().copied().reduce(better);
    for index in 0..runs {
        let x = place.x + LABELS + index as f64 * place.width;
        let room = place.width - GAP;
        let Some(value) = value(index) else {
            paper.text(x, place.y + 22.0, Type::of(18.0), Tone::Quiet, number::NONE);
            continue;
        };
        let figure = row.figure(value);
        let words = if unit.is_empty() { figure.to_string() } else { figure.number };
        let size = (20.0 * room / text_width(&words, 20.0, true).max(1.0)).min(20.0);
        let form = Type::of(size);
        let form = if best == Some(value) && runs > 1 { form.bold() } else { form };
        paper.text(x, place.y + 22.0, form, Tone::Plain, &words);
        let bar = Area { x, y: place.y + 30.0, width: room, height: 9.0 };
        paper.track(bar);
        let share = if most > 0.0 { value / most } else { 0.0 };
        let kind = usize::from(best != Some(value)) * 2;
        paper.bar(Area { width: room * share, ..bar }, kind);
    }
}
