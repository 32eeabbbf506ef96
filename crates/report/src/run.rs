//! A run as people see it: two lines of what was measured how, the table, and what else is to be known.

use crate::figures::Figures;
use crate::layout::{Row, display_width, flow, hanging, pad_left, pad_right, page, tame};
use crate::number;
use crate::remarks;
use crate::spark::{course, sparkline};
use crate::style::{Role, Style};
use crate::{grid, words};
use kurabe_core::Text;
use kurabe_core::profile::Statistic;
use kurabe_core::record::{Cell, RunHeader, RunRecord};
use kurabe_core::text;

/// The whole run: header, table, remarks, and what to do with it next.
pub fn render_run(record: &RunRecord, headline: &Text, style: &Style) -> String {
    let engines = remarks::engines(&record.cells, style);
    let mut lines = header_lines(&record.header, headline, engines, style);
    lines.push(String::new());
    let table = grid::render(&record.cells, record.header.profile.statistic, style);
    if !table.is_empty() {
        lines.extend(table);
        lines.push(String::new());
        let notes = remarks::footnotes(record, style);
        if !notes.is_empty() {
            lines.extend(notes);
            lines.push(String::new());
        }
    }
    lines.extend(remarks::status(record, style));
    lines.extend(remarks::below(record, style));
    lines.extend(closing(&record.header.id, style));
    page(&lines)
}

/// The first lines of a run, known before it begins.
pub fn render_header(header: &RunHeader, headline: &Text, style: &Style) -> String {
    page(&header_lines(header, headline, None, style))
}

fn header_lines(header: &RunHeader, headline: &Text, engines: Option<String>, style: &Style) -> Vec<String> {
    let headline = headline.get(style.lang);
    let target = match headline {
        "" => header.target.given.clone(),
        _ => format!("{} ({headline})", header.target.given),
    };
    let name = format!("kurabe run {}", tame(&header.id));
    let first = [name.clone(), number::date_minute(&header.started_at), target];
    let mut lines = hanging(flow(&first, style.width.saturating_sub(2)), 0, 2);
    if let Some(line) = lines.first_mut()
        && let Some(rest) = line.strip_prefix(&name)
    {
        *line = format!("{}{rest}", style.paint(Role::Strong, &name));
    }
    let profile = &header.profile;
    let mut second = vec![
        profile.name.clone(),
        words::span(style, &header.target),
        words::access(style, header.target.direct).to_owned(),
        words::data(style, profile.rules.data),
        words::repetitions(style, profile),
    ];
    second.extend(engines);
    lines.extend(hanging(flow(&second, style.width.saturating_sub(2)), 0, 2));
    lines
}

fn closing(id: &str, style: &Style) -> Vec<String> {
    let id = tame(id);
    let items = [
        style.say(&text!("saved as {id}", "{id} として保存")),
        style.say(&text!("details: kurabe show {id} --details", "詳細: kurabe show {id} --details")),
        style.say(&text!("export: kurabe export {id}", "書き出し: kurabe export {id}")),
    ];
    hanging(flow(&items, style.width.saturating_sub(2)), 0, 2)
}

/// One cell in one line, for progress where nothing can be redrawn. What does not fit is left out from the end.
pub fn render_cell(cell: &Cell, statistic: Statistic, style: &Style) -> String {
    let figures = Figures::of(cell, statistic);
    let direction = words::direction(style, cell.direction);
    let direction_width = kurabe_core::workload::Direction::ALL
        .map(|direction| display_width(words::direction(style, direction)))
        .into_iter()
        .max()
        .unwrap_or(0);
    let mut row = Row::new(style);
    row.at(0, Role::Plain, &pad_right(direction, direction_width));
    row.at(direction_width + 1, Role::Plain, &pad_right(&tame(&cell.label), 17));
    let Some(rate) = figures.rate_bytes_per_s else {
        row.at(0, Role::Quiet, &format!(" {}", style.pick("nothing counted", "有効な測定なし")));
        return row.finish();
    };
    let rate = number::rate(rate);
    let mut marks = String::new();
    if figures.generator_bound {
        marks.push_str(style.pick("  kurabe was the limit", "  kurabe 自身が上限"));
    }
    if figures.failed > 0 {
        let failed = number::count(figures.failed);
        marks.push_str(&style.say(&text!("  {failed} failed", "  {failed} 件失敗")));
    }
    let mut used = direction_width + 1 + display_width(&tame(&cell.label)).max(17) + display_width(&marks);
    let mut put = |role: Role, text: String, required: bool| {
        if !text.is_empty() && (required || used + display_width(&text) <= style.width) {
            used += display_width(&text);
            row.at(0, role, &text);
        }
    };
    put(Role::Strong, format!(" {} {}", pad_left(&rate.number, 8), rate.unit), true);
    let words = match words::statistic_of(style, statistic, figures.counted) {
        _ if figures.counted < 2 => String::new(),
        Some(words) => {
            let mean = figures.mean.map_or(0.0, |mean| mean.mean);
            let (mean, interval) = (number::rate(mean), figures.interval().unwrap_or_default());
            let mean = format!("{} {mean} {interval}", style.pick("mean", "平均"));
            format!("  {words} ({})", mean.trim_end())
        }
        None => format!("  {}", pad_right(&figures.interval().unwrap_or_default(), 6)),
    };
    put(Role::Plain, words, false);
    put(Role::Course, format!("  {}", sparkline(&course(cell), 8)), false);
    if figures.small_blocks {
        put(Role::Quiet, format!("  {}", number::iops(figures.rate_iops.unwrap_or(0.0))), false);
        if let Some(ns) = figures.percentile_ns(0.999) {
            put(Role::Quiet, format!("  p99.9 {}", number::latency_ns(ns)), false);
        }
    }
    row.at(0, if figures.failed > 0 { Role::Bad } else { Role::Warn }, &marks);
    row.finish()
}
