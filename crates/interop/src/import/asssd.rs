//! AS SSD's text, as its menu copies it: figures in MB/s, or in IOPS.
//!
//! The model: a heading with the version, `Name`, `Firmware`, `Controller`, `Offset`, `Size` and `Date`, then sections
//! between lines of dashes with `Read` and `Write`. Confirmed from three published texts of 2.0.7316. One of them has
//! the same run in both forms: 60.63 MB/s and 15521 IOPS of 4 KiB, 2468.65 MB/s and 154.29 IOPS of 16 MB, so MB is 2^20
//! bytes and rates are corrected. How several passes would be summed up is not told: each figure is of a single one.
//! The XML form is not read: no sample of it was found.

use super::dates::from_numeric;
use super::parts::{broken_line, cell, direction_of, fact, is_rule, key_value, runs_of_blocks};
use super::split::LineMark;
use super::units::{self, figure};
use super::{ImportedRun, ImportedRuns, Importer, Input};
use kurabe_core::imported::{FigureOf, ImportedCell, Origin, PrintedFigure, PrintedStatistic, Quantity};
use kurabe_core::quantity::{KIB, MIB};
use kurabe_core::record::Cell;
use kurabe_core::{Result, text};

pub(super) const IMPORTER: Importer =
    Importer::of_lines(("AS SSD text", "AS SSD", &["AS SSD"]), line_mark, read);

const HEADING: &str = "AS SSD Benchmark ";

fn line_mark(line: &str) -> LineMark {
    let version = line.trim().strip_prefix(HEADING);
    let begins = version.is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()));
    if begins { LineMark::Begins } else { LineMark::None }
}

fn read(input: &Input<'_>) -> ImportedRuns {
    let is_heading =
        |line: &str, below: Option<&str>| line.trim().starts_with(HEADING) && below.is_some_and(is_rule);
    let without = text!(
        "no line begins with `AS SSD Benchmark` above a line of dashes",
        "`AS SSD Benchmark` で始まり、次が罫線である行がありません"
    );
    runs_of_blocks(input, is_heading, without, |block| run(input, block))
}

fn run(input: &Input<'_>, lines: &[(usize, &str)]) -> Result<ImportedRun> {
    let version = lines.first().and_then(|(_, line)| line.trim().strip_prefix(HEADING)).map(str::trim);
    let mut origin =
        Origin { version: version.map(str::to_owned), ..input.origin(HEADING.trim(), "as-ssd-text") };
    let (mut section, mut cells) = ("", Vec::new());
    for &(number, line) in lines.iter().skip(1) {
        let line = line.trim();
        match (line.trim_end_matches(':'), key_value(line)) {
            (
                name @ ("Sequential" | "16MB" | "4K" | "4K-64Threads" | "Access Times" | "512B" | "Score"),
                _,
            ) => {
                section = name;
            }
            (_, Some((key @ ("Read" | "Write" | "Total"), value))) if !section.is_empty() => {
                cells.push(section_cell(section, key, value).ok_or_else(|| {
                    broken_line(input, number, text!("the figure cannot be read", "値を読めません"))
                })?);
            }
            (_, Some((key @ ("Name" | "Firmware" | "Controller" | "Offset" | "Size" | "Date"), value)))
                if section.is_empty() =>
            {
                match key {
                    "Name" => origin.target = Some(value.to_owned()),
                    "Date" => origin.measured_at = from_numeric(value).filter(|date| date.contains('T')),
                    _ => {}
                }
                fact(&mut origin, key, value);
            }
            _ => {}
        }
    }
    // A test that was not run has no figure, or zero.
    let cells: Vec<Cell> = cells.into_iter().flatten().collect();
    let notices = vec![units::prints_mebibytes("AS SSD", "MB/s")];
    Ok(ImportedRun { origin, cells, notices, ..ImportedRun::default() })
}

/// The cell of a line; `Some(None)` for a test that was not run.
fn section_cell(section: &str, key: &str, value: &str) -> Option<Option<Cell>> {
    let direction = direction_of(key, ["Read", "Write"]);
    let figure = figure_of(section, value)?;
    if figure.value == 0.0 {
        return Some(None);
    }
    let (label, block_bytes, threads, sequential) = match section {
        "16MB" => ("Sequential", Some(16 * MIB), None, Some(true)),
        "Sequential" => ("Sequential", None, None, Some(true)),
        "4K" => ("4K", Some(4 * KIB), None, Some(false)),
        "4K-64Threads" => ("4K-64Threads", Some(4 * KIB), Some(64), Some(false)),
        "512B" => ("Access Times", Some(512), None, Some(false)),
        "Access Times" => ("Access Times", None, None, Some(false)),
        _ => ("Score", None, None, None),
    };
    let imported = ImportedCell {
        procedure: Some(section.to_owned()),
        block_bytes,
        threads,
        sequential,
        figures: vec![figure],
        ..ImportedCell::default()
    };
    Some(Some(cell(label, direction, imported)))
}

fn figure_of(section: &str, value: &str) -> Option<PrintedFigure> {
    let mean = PrintedStatistic::Mean;
    // German Windows prints a comma for the point.
    let (printed, unit) = value.split_once(' ').unwrap_or((value, ""));
    let plain = printed.replace(',', ".");
    let mut figure = match (section, unit.trim()) {
        ("Score", "") => figure(Quantity::Score, PrintedStatistic::Unknown, &plain, "", 1.0),
        (_, "MB/s") => {
            let reason = text!("AS SSD's MB is 2^20 bytes", "AS SSD の MB は 2^20 バイトです");
            let rate = figure(Quantity::Rate, mean, &plain, "MB/s", MIB as f64);
            rate.map(|rate| units::corrected(rate, units::binary("MiB/s", reason)))
        }
        (_, "ms") => figure(Quantity::Latency, mean, &plain, "ms", 1e6),
        (_, unit @ ("iops" | "IOPS")) => figure(Quantity::Iops, mean, &plain, unit, 1.0),
        _ => None,
    }?;
    printed.clone_into(&mut figure.printed);
    Some(if section == "512B" { units::of(figure, FigureOf::AccessTest) } else { figure })
}
