//! The card: one picture of a run for posting, as SVG.
//!
//! The model: a card shows the figures of the run's table and the information needed to judge them.
//! This includes device and link, procedure and statistic, stutter, warnings, date and machine.
//! Nothing is left out for the sake of appearance: items that don't fit are counted, with the
//! command that shows them. A model is marked by text and by a frame.
//!
//! The card of a comparison is in `page/card.rs`, and that of a study in `study/card.rs`. All have
//! the same heading and sentence.
//!
//! Non-goals: figures that are not in the record.

mod facts;
mod paper;
mod table;

use crate::publish::pictures::{curves, own_pictures};
use crate::run::Assessment;
use kurabe_chart::{Chart, Plot, Theme, text_width, wrap};
use kurabe_core::{Lang, Text, mention::SHOW, record::RunRecord, text};
pub(crate) use paper::{Anchor, Area, Paper, Tone, Type};

pub(crate) const WIDTH: f64 = 1200.0;
/// Height in pixels, for an aspect ratio of 16 to 9.
pub(crate) const HEIGHT: f64 = 675.0;
/// Margin at the sides.
pub(crate) const MARGIN: f64 = 44.0;
/// Font sizes of the summary sentence. A forum shows a card at half its size, so the largest is used
/// with which the sentence takes one line, or two if it is longer.
const SUMMARY_SIZES: [f64; 4] = [22.0, 21.0, 20.0, 18.0];
const SUMMARY_LINES: usize = 2;
/// Maximum number of lines for remarks.
const MOST_REMARKS: usize = 4;
const REMARK_HEIGHT: f64 = 22.0;

/// Width of the column of means next to a curve.
const SIDE: f64 = 250.0;

/// Draws the card of a run.
pub fn card(run: &RunRecord, theme: Theme, lang: Lang) -> String {
    let title = facts::title(run).line(lang);
    let id = &run.header.id;
    let name = text!("kurabe {id}: {title}", "kurabe {id}: {title}").line(lang);
    let mut paper = Paper::new(WIDTH, HEIGHT, theme, &name);
    head(&mut paper, run, &title, lang);
    let remarks = remarks(run, lang);
    let foot = HEIGHT - 46.0 - remarks.len() as f64 * REMARK_HEIGHT - 10.0;
    let summary = Assessment::of(run).map(|summary| summary.sentence.line(lang)).unwrap_or_default();
    let top = sentence(&mut paper, &summary, 154.0);
    let body = Area { x: MARGIN, y: top, width: WIDTH - 2.0 * MARGIN, height: foot - top - 12.0 };
    draw_body(&mut paper, run, body, theme, lang);
    for (line, (tone, words)) in remarks.iter().enumerate() {
        let y = foot + 18.0 + line as f64 * REMARK_HEIGHT;
        if *tone == Tone::Warn {
            paper.warning_sign(MARGIN, y);
        }
        let indent = if *tone == Tone::Plain { 0.0 } else { 24.0 };
        paper.text(MARGIN + indent, y, Type::of(15.0), *tone, words);
    }
    bottom(&mut paper, run, lang);
    paper.finish()
}

/// Draws the sentence below `top`, and returns where it ends.
pub(crate) fn sentence(paper: &mut Paper, words: &str, mut top: f64) -> f64 {
    let (size, lines) = summary_lines(words);
    for line in lines {
        paper.text(MARGIN, top + 10.0, Type::of(size).bold(), Tone::Plain, &line);
        top += size * 1.32;
    }
    top
}

/// Returns the font size and the lines of the summary sentence.
fn summary_lines(sentence: &str) -> (f64, Vec<String>) {
    let lines = |size: f64, most| wrap(sentence, size, true, WIDTH - 2.0 * MARGIN, most);
    let fits = |most: usize| SUMMARY_SIZES.into_iter().find(|size| lines(*size, most + 1).len() <= most);
    let size = fits(1).or_else(|| fits(SUMMARY_LINES)).unwrap_or(SUMMARY_SIZES[SUMMARY_SIZES.len() - 1]);
    (size, lines(size, SUMMARY_LINES))
}

fn in_a_line(facts: Vec<Text>, lang: Lang) -> String {
    Text::join(facts, [" · "; 2]).take(lang)
}

/// Draws the heading, and at the right kurabe's name and the run's id.
pub(crate) fn heading(paper: &mut Paper, title: &str, id: Option<&str>, lang: Lang) {
    let brand_right = WIDTH - MARGIN;
    paper.text(brand_right, 58.0, Type::of(19.0).bold().at(Anchor::End), Tone::Plain, "kurabe");
    if let Some(id) = id {
        let run_id = text!("run {id}", "測定 {id}").line(lang);
        paper.text(brand_right, 82.0, Type::of(14.0).at(Anchor::End), Tone::Quiet, &run_id);
    }
    let room = WIDTH - 2.0 * MARGIN - 130.0;
    let size =
        [34.0, 30.0, 26.0].into_iter().find(|size| text_width(title, *size, true) <= room).unwrap_or(24.0);
    paper.text(MARGIN, 62.0, Type::of(size).bold().within(room), Tone::Plain, title);
}

/// Draws device, connection and procedure.
fn head(paper: &mut Paper, run: &RunRecord, title: &str, lang: Lang) {
    heading(paper, title, Some(&run.header.id), lang);
    let connection = in_a_line(facts::connection(run), lang);
    let procedure = in_a_line(facts::procedure(run), lang);
    let mut left = MARGIN;
    if run.header.model.is_some() {
        let words = lang.pick("MODEL: computed, not measured", "モデルの計算値(実測ではありません)");
        left += paper.badge(MARGIN, 98.0, 16.0, words) + 14.0;
    }
    paper.text(left, 98.0, Type::of(17.0).within(WIDTH - MARGIN - left), Tone::Quiet, &connection);
    paper.text(MARGIN, 129.0, Type::of(17.0).within(WIDTH - 2.0 * MARGIN), Tone::Quiet, &procedure);
}

/// Draws a curve, a chart or the table, whichever shows the run best.
fn draw_body(paper: &mut Paper, run: &RunRecord, area: Area, theme: Theme, lang: Lang) {
    if let Some(chart) = curves(run, lang).into_iter().next() {
        return draw_curve(paper, run, chart, area, theme, lang);
    }
    let rows = table::rows(run, lang);
    if rows.len() > table::MOST_ROWS
        && let Some(chart) = wide_chart(run, lang)
    {
        return paper.chart(&chart, area, theme);
    }
    table::draw(paper, &rows, area, lang);
}

/// Draws the curve over the target, with the means next to it.
fn draw_curve(paper: &mut Paper, run: &RunRecord, mut chart: Chart, area: Area, theme: Theme, lang: Lang) {
    chart.title.clear();
    chart.notes.clear();
    paper.chart(&chart, Area { width: area.width - SIDE, ..area }, theme);
    let figures = table::main_figures(&table::rows(run, lang), lang);
    let step = (area.height / figures.len().max(1) as f64).min(118.0);
    for (index, (name, figure, more)) in figures.iter().enumerate() {
        let (x, y) = (area.x + area.width - SIDE + 26.0, area.y + 34.0 + index as f64 * step);
        paper.text(x, y, Type::of(16.0).within(SIDE - 26.0), Tone::Quiet, name);
        paper.text(x, y + 36.0, Type::of(32.0).bold().within(SIDE - 26.0), Tone::Plain, figure);
        paper.text(x, y + 58.0, Type::of(13.5).within(SIDE - 26.0), Tone::Quiet, more);
    }
}

/// Returns a chart that can show many cells: a sweep or a heat map, otherwise bars.
fn wide_chart(run: &RunRecord, lang: Lang) -> Option<Chart> {
    let mut all = own_pictures(run, lang);
    let marks = |plot: &Plot| if let Plot::Lines(lines) = plot { lines.marks.len() } else { 0 };
    let index =
        ["sweep", "heat", "rates", "durations", "access-times", "iops"].into_iter().find_map(|name| {
            // Of several sweeps, use the one with the most change points.
            let named = all.iter().enumerate().filter(|(_, picture)| picture.name == name);
            named.rev().max_by_key(|(_, picture)| marks(&picture.chart.plot)).map(|(index, _)| index)
        })?;
    let mut chart = all.swap_remove(index).chart;
    // The statistic is in the card's footer, so the space is used for the drawing.
    chart.notes.clear();
    Some(chart)
}

/// Returns the remarks, most important first. Those that don't fit are counted.
fn remarks(run: &RunRecord, lang: Lang) -> Vec<(Tone, String)> {
    let width = WIDTH - 2.0 * MARGIN - 24.0;
    let all = facts::remarks(run);
    let mut lines: Vec<(Tone, String)> = Vec::new();
    for (shown, (tone, words)) in all.iter().enumerate() {
        let wrapped = wrap(words.get(lang), 15.0, false, width, 2);
        let last = shown + 1 == all.len();
        if lines.len() + wrapped.len() > MOST_REMARKS - usize::from(!last) {
            let (rest, id) = (all.len() - shown, &run.header.id);
            let more = text!("and {rest} more: {SHOW} {id}", "ほか {rest} 件: {SHOW} {id}");
            lines.push((*tone, more.line(lang)));
            break;
        }
        // Only the first line of a remark has the sign.
        let rest = if *tone == Tone::Warn { Tone::WarnRest } else { *tone };
        let tones = std::iter::once(*tone).chain(std::iter::repeat(rest));
        lines.extend(tones.zip(wrapped));
    }
    lines
}

/// Draws date and machine, and how to read the figures.
fn bottom(paper: &mut Paper, run: &RunRecord, lang: Lang) {
    paper.rule(MARGIN, WIDTH - MARGIN, HEIGHT - 46.0);
    // A sweep with more cells than the table holds is shown as curves.
    let is_curve = table::rows(run, lang).len() > table::MOST_ROWS;
    let (left, right) = (in_a_line(facts::host(run), lang), in_a_line(facts::reading(run, is_curve), lang));
    let right_width = text_width(&right, 13.0, false);
    let room = WIDTH - 2.0 * MARGIN - right_width - 24.0;
    paper.text(MARGIN, HEIGHT - 22.0, Type::of(13.0).within(room), Tone::Quiet, &left);
    paper.text(WIDTH - MARGIN, HEIGHT - 22.0, Type::of(13.0).at(Anchor::End), Tone::Quiet, &right);
}
