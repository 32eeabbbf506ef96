//! A table for an issue or an article.
//!
//! The model: a heading that says what was measured on what, when and how; a row for each cell with the tool's own
//! statistic beside kurabe's mean and interval; below it what a reader of the figures must know. MB is 10^6 bytes.

use super::facts::{derived, device, of_model, one_line, printed, printed_mean_latency, statistic_word};
use kurabe_core::imported::{ImportedCell, PrintedStatistic, Quantity};
use kurabe_core::number::{self, Figure, NONE};
use kurabe_core::profile::{Profile, Statistic};
use kurabe_core::record::{Cell, Measure, RunRecord, RunStatus};
use kurabe_core::{Lang, Text, text};
use kurabe_stats::{cell_figure, cell_iops, cell_latency, cell_values, mean_interval, percentile_ns};
use std::fmt::Write;

/// Writes a section for each run.
pub(super) fn write(records: &[RunRecord], lang: Lang) -> String {
    records.iter().map(|record| section(record, lang)).collect::<Vec<_>>().join("\n")
}

fn section(record: &RunRecord, lang: Lang) -> String {
    let header = &record.header;
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(out, "### {} · {}\n", escaped(header.target_name()), escaped(&header.profile_name()));
    let facts: Vec<String> = [
        device(record, lang),
        Some(header.measured_at().to_owned()),
        header.environment.file_system.as_ref().and_then(|file_system| file_system.kind.clone()),
        header.environment.machine.kernel.clone(),
        Some(format!("kurabe {} ({})", header.kurabe_version, header.id)),
    ]
    .into_iter()
    .flatten()
    .map(|fact| escaped(&fact))
    .collect();
    let _ = writeln!(out, "{}\n", facts.join(" · "));
    if let Some(model) = of_model(record) {
        let _ = writeln!(out, "**{}**\n", escaped(model.get(lang)));
    }
    let heads = heads(record, lang);
    let _ = writeln!(out, "| {} |", heads.join(" | "));
    let _ = writeln!(out, "|:--|:--|--:|--:|--:|--:|");
    for cell in &record.cells {
        let _ = writeln!(out, "| {} |", row(record, cell, lang).join(" | "));
    }
    for derived in derived(record) {
        let (name, figure) = (escaped(derived.label.get(lang)), number::ratio(derived.value));
        let _ = writeln!(out, "| {name} | {NONE} | {figure} | {NONE} | {NONE} | {NONE} |");
    }
    out.push('\n');
    for note in notes(record) {
        let _ = writeln!(out, "- {}", escaped(note.get(lang)));
    }
    out
}

fn heads(record: &RunRecord, lang: Lang) -> Vec<String> {
    let figure = if record.header.origin.is_some() {
        text!("Figure", "値")
    } else {
        let name = statistic_name(record.header.statistic());
        Text { en: format!("Figure ({})", name.en), ja: format!("値({})", name.ja) }
    };
    [
        text!("Cell", "セル"),
        text!("Direction", "方向"),
        figure,
        text!("Mean ± 95 %", "平均 ± 95 %"),
        Text::same("IOPS"),
        // An imported latency is a mean: tools seldom print a percentile.
        if record.header.origin.is_some() {
            text!("Mean latency", "平均レイテンシ")
        } else {
            text!("p99 latency", "p99 レイテンシ")
        },
    ]
    .map(|head| head.take(lang))
    .to_vec()
}

fn statistic_name(statistic: Statistic) -> Text {
    match statistic {
        Statistic::Mean => text!("mean of the runs", "各回の平均"),
        Statistic::Median => text!("median of the runs", "各回の中央値"),
        Statistic::Best => text!("best of the runs", "各回の最良値"),
    }
}

fn row(record: &RunRecord, cell: &Cell, lang: Lang) -> Vec<String> {
    let direction = match cell.direction {
        Some(direction) => direction_name(direction).take(lang),
        None => NONE.to_owned(),
    };
    let figures = match &cell.imported {
        Some(imported) => printed_figures(imported),
        None => measured_figures(record, cell),
    };
    [escaped(&cell.label), direction].into_iter().chain(figures).collect()
}

fn direction_name(direction: kurabe_core::workload::Direction) -> Text {
    use kurabe_core::workload::Direction;
    match direction {
        Direction::Read => text!("read", "読み"),
        Direction::Write => text!("write", "書き"),
        Direction::Mix => text!("mix", "混合"),
    }
}

fn measured_figures(record: &RunRecord, cell: &Cell) -> [String; 4] {
    let show = |value: f64| shown(&number::measured(cell.measure, value));
    let statistic = record.header.statistic();
    let unit = record.header.profile.as_ref().and_then(|profile| profile.as_printed.as_ref());
    let figure =
        cell_figure(cell, statistic).map(|value| match unit.filter(|_| cell.measure == Measure::Rate) {
            Some(unit) if unit.bytes > 0 => {
                // In the tool's unit the number has as many digits as in MB/s.
                let number = number::rate(value / unit.bytes as f64 * 1e6).number;
                format!("{number} {}", escaped(&unit.unit))
            }
            _ => show(value),
        });
    let mean = mean_interval(&cell_values(cell)).map(|interval| {
        let half = interval.half_width.and_then(|half| number::half_width(interval.mean, half));
        [Some(show(interval.mean)), half].into_iter().flatten().collect::<Vec<_>>().join(" ")
    });
    let iops = cell_iops(cell, statistic).filter(|_| cell.measure == Measure::Rate);
    let iops = iops.map(|value| number::iops(value).number);
    let p99 = percentile_ns(&cell_latency(cell), 0.99).map(number::latency_ns);
    [figure, mean, iops, p99].map(|shown| shown.unwrap_or_else(|| NONE.to_owned()))
}

fn printed_figures(imported: &ImportedCell) -> [String; 4] {
    let main_figure = imported.figures.first().map(|figure| {
        let shown = match figure.quantity {
            Quantity::Rate => shown(&number::rate(figure.value)),
            Quantity::Iops => shown(&number::iops(figure.value)),
            Quantity::Latency | Quantity::Duration => shown(&number::latency(figure.value)),
            _ => escaped(&format!("{} {}", figure.printed, figure.unit_printed)),
        };
        match figure.statistic {
            PrintedStatistic::Unknown => shown,
            statistic => format!("{shown} ({})", statistic_word(statistic)),
        }
    });
    let iops = printed(imported, Quantity::Iops).map(|figure| number::iops(figure.value).number);
    let latency = printed_mean_latency(imported).map(|figure| shown(&number::latency(figure.value)));
    [main_figure, None, iops, latency].map(|shown| shown.unwrap_or_else(|| NONE.to_owned()))
}

fn shown(figure: &Figure) -> String {
    format!("{} {}", figure.number, figure.unit).trim_end().to_owned()
}

fn notes(record: &RunRecord) -> Vec<Text> {
    let mut notes =
        vec![text!("MB is 10^6 bytes, MiB is 2^20 bytes.", "MB は 10^6 バイト、MiB は 2^20 バイトです。")];
    match record.status {
        RunStatus::Complete => {}
        _ => notes.push(text!(
            "The run was not completed: cells may be missing.",
            "この測定は最後まで行われていません。欠けたセルがあり得ます。"
        )),
    }
    if let Some(origin) = &record.header.origin {
        notes.push(text!(
            "Measured with {}, not with kurabe; procedure: {}.",
            "kurabe ではなく {} による測定です。測定方法: {}。",
            origin.tool_name(),
            origin.procedure.as_deref().unwrap_or(NONE)
        ));
    }
    if let Some(profile) = &record.header.profile {
        notes.push(repetitions(profile));
        if let Some(unit) = &profile.as_printed {
            notes.push(text!(
                "The figure is in the unit of the tool, whose {} is {} bytes per second; means are in MB/s of 10^6 bytes.",
                "値はツールの単位です(その {} は {} バイト毎秒)。平均は 10^6 バイトの MB/s です。",
                unit.unit,
                unit.bytes
            ));
        }
    }
    notes.extend(record.notices.iter().map(|notice| notice.text.clone()));
    notes
}

/// Words that Markdown shows as they are, on one line.
pub fn escaped(words: &str) -> String {
    let mut out = String::new();
    let words = one_line(words);
    // At the start of a line these would make a list, a rule or a heading.
    let mut signs = words.chars();
    let sign = signs.next().filter(|c| matches!(c, '-' | '+' | '='));
    if sign.is_some() && matches!(signs.next(), next if next.is_none_or(|c| c == ' ' || Some(c) == sign)) {
        out.push('\\');
    }
    for letter in words.chars() {
        if matches!(letter, '\\' | '|' | '`' | '*' | '_' | '<' | '>' | '[' | ']' | '#' | '~' | '&' | '$') {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

/// How many repetitions stand behind each cell, and what became of them.
fn repetitions(profile: &Profile) -> Text {
    let (en, ja) = match profile.statistic {
        Statistic::Mean => ("mean", "平均"),
        Statistic::Median => ("median", "中央値"),
        Statistic::Best => ("best", "最良値"),
    };
    let (runs, discarded) = (profile.rules.runs, profile.rules.discarded_runs);
    let mut said = match &profile.rounds {
        Some(rounds) => {
            let window = rounds.window;
            text!(
                "Each cell: the {en} of the last {window} rounds.",
                "各項目の値は最後の {window} ラウンドの{ja}です。"
            )
        }
        None if runs == 1 => text!("Each cell: one repetition.", "各項目は 1 回の測定です。"),
        None => text!("Each cell: the {en} of {runs} repetitions.", "各項目の値は {runs} 回の{ja}です。"),
    };
    if discarded > 0 && profile.rounds.is_none() {
        said.en.push_str(&format!(" {discarded} before them did not count."));
        said.ja.push_str(&format!("その前の {discarded} 回は数えていません。"));
    }
    said
}
