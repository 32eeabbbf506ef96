//! hdparm's timings: `hdparm -tT`, `--direct` and `--offset` included.
//!
//! The model: a line with the device and a colon, then a line for each timing: amount, time and rate. Each device
//! line begins a run. MB is 2^20 bytes (`hdparm.c`), so rates are corrected. Cached reads come from memory; they are
//! read all the same, under their own name. A timing that failed has no figures and is left out. Source: hdparm 9.65
//! as run here, and its source.

use super::parts::{broken_line, cell, not_mine, notice};
use super::split::LineMark;
use super::units::{self, ToolUnit, binary, corrected};
use super::{ImportedRun, ImportedRuns, Importer, Input};
use kurabe_core::imported::{ImportedCell, Origin, PrintedStatistic, Quantity};
use kurabe_core::record::Cell;
use kurabe_core::workload::Direction;
use kurabe_core::{Result, text};

pub(super) const IMPORTER: Importer =
    Importer::of_lines(("hdparm timings", "hdparm", &["hdparm"]), line_mark, read);

const MB_PER_S: ToolUnit = units::unit("MB/sec", Quantity::Rate, 1_048_576.0);
const KB_PER_S: ToolUnit = units::unit("kB/sec", Quantity::Rate, 1024.0);
const MB: ToolUnit = units::unit("MB", Quantity::Bytes, 1_048_576.0);
const SECONDS: ToolUnit = units::unit("seconds", Quantity::Duration, 1e9);

fn line_mark(line: &str) -> LineMark {
    if timing(line).is_some() || device(line).is_some() { LineMark::Belongs } else { LineMark::None }
}

fn read(input: &Input<'_>) -> ImportedRuns {
    if !input.lines().any(|(_, line)| timing(line).is_some()) {
        return not_mine(text!("no line begins with `Timing`", "`Timing` で始まる行がありません"));
    }
    Ok(read_mine(input)?)
}

/// ` Timing buffered disk reads: …` as name and figures.
fn timing(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.trim().strip_prefix("Timing ")?.split_once(':')?;
    ["cached reads", "buffered disk reads", "buffer-cache reads", "O_DIRECT"]
        .iter()
        .any(|test| name.starts_with(test))
        .then(|| (name.trim(), rest.trim()))
}

/// `/dev/sda:`.
fn device(line: &str) -> Option<&str> {
    line.trim().strip_suffix(':').filter(|path| path.starts_with("/dev/") && !path.contains(": "))
}

fn read_mine(input: &Input<'_>) -> Result<Vec<ImportedRun>> {
    let mut runs: Vec<(Option<&str>, Vec<Cell>)> = Vec::new();
    let mut failed = false;
    for (number, line) in input.lines() {
        if let Some(path) = device(line) {
            runs.push((Some(path), Vec::new()));
        }
        let Some((name, rest)) = timing(line) else { continue };
        if rest.contains("failed") {
            failed = true;
            continue;
        }
        let cell = timing_cell(name, rest).ok_or_else(|| {
            broken_line(input, number, text!("the timing cannot be read", "計測の行を読めません"))
        })?;
        if runs.is_empty() {
            runs.push((None, Vec::new()));
        }
        if let Some((_, cells)) = runs.last_mut() {
            cells.push(cell);
        }
    }
    runs.retain(|(_, cells)| !cells.is_empty());
    if runs.is_empty() {
        return Err(broken_line(input, 1, text!("every timing failed", "すべての計測が失敗しています")));
    }
    Ok(runs.into_iter().map(|(path, cells)| run(input, path, cells, failed)).collect())
}

fn run(input: &Input<'_>, path: Option<&str>, cells: Vec<Cell>, failed: bool) -> ImportedRun {
    let origin = Origin { target: path.map(str::to_owned), ..input.origin("hdparm", "hdparm") };
    let mut notices = vec![units::prints_mebibytes("hdparm", "MB/sec")];
    if failed {
        notices.push(notice(text!("timings that failed are left out", "失敗した計測は取り込んでいません")));
    }
    ImportedRun { origin, cells, notices, ..ImportedRun::default() }
}

/// `204 MB in  3.00 seconds =  67.98 MB/sec`.
fn timing_cell(name: &str, words: &str) -> Option<Cell> {
    // Versions of before 2004 leave no blank behind the sign.
    let words = words.replacen('=', " = ", 1);
    let words: Vec<&str> = words.split_whitespace().collect();
    let [amount, "MB", "in", seconds, "seconds", "=", rate, unit] = words.as_slice() else { return None };
    let mega = || text!("hdparm's MB is 2^20 bytes", "hdparm の MB は 2^20 バイトです");
    let kilo = || text!("hdparm's kB is 1024 bytes", "hdparm の kB は 1024 バイトです");
    let (unit, correction) = match *unit {
        "MB/sec" => (MB_PER_S, binary("MiB/s", mega())),
        "kB/sec" => (KB_PER_S, binary("KiB/s", kilo())),
        _ => return None,
    };
    let rate = corrected(unit.figure(PrintedStatistic::Mean, *rate)?, correction);
    let size = corrected(MB.figure(PrintedStatistic::Sum, *amount)?, binary("MiB", mega()));
    let time = SECONDS.figure(PrintedStatistic::Sum, *seconds)?;
    let imported = ImportedCell {
        procedure: Some(format!("Timing {name}")),
        figures: vec![rate, time, size],
        ..ImportedCell::default()
    };
    Some(cell(name, Some(Direction::Read), imported))
}
