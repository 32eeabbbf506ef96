//! mdtest's summary of rates, as IO500 keeps it, and of times.
//!
//! The model: under `SUMMARY rate` a line for each operation on files or directories with the highest, lowest and mean rate of
//! the iterations and their deviation, in operations per second; versions before 3 write `SUMMARY` alone. Version 4 may put
//! highest, lowest and mean of the ranks before these. Zero stands for what was not run. `SUMMARY time` (`-t` of version 3)
//! has the seconds that all operations of a kind took; it is read where there is no summary of rates, which tells the same.
//! Version 4 heads it `in ms/op`, and its source prints seconds there: that is refused. mdtest.c of hpc/ior.

use super::parts::{self, number};
use super::split::LineMark;
use super::units::{self, ToolUnit};
use super::{ImportedRun, ImportedRuns, Importer, Input};
use kurabe_core::imported::{ImportedCell, Origin, PrintedStatistic as Statistic, Quantity};
use kurabe_core::record::Cell;
use kurabe_core::text;

pub(super) const IMPORTER: Importer =
    Importer::of_lines(("mdtest text", "mdtest", &["mdtest"]), line_mark, read);

const OPERATIONS: ToolUnit = units::unit("ops/s", Quantity::Iops, 1.0);
/// Of a whole phase.
const SECONDS: ToolUnit = units::RUN_SECONDS;

fn line_mark(line: &str) -> LineMark {
    match () {
        () if version(line).is_some() => LineMark::Begins,
        () if is_summary(line) => LineMark::Belongs,
        () => LineMark::None,
    }
}

/// The version in `mdtest-3.3.0 was launched with 8 total task(s) on 2 node(s)`.
fn version(line: &str) -> Option<&str> {
    line.trim().strip_prefix("mdtest-")?.split_once(" was launched with ").map(|(version, _)| version)
}

/// `SUMMARY rate: (of 3 iterations)`, `SUMMARY rate (in ops/sec): (of 3 iterations)`, `SUMMARY: (of 3 iterations)`, and
/// the same of times.
fn is_summary(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("SUMMARY") && line.ends_with(" iterations)")
}

fn is_of_times(line: &str) -> bool {
    line.trim().starts_with("SUMMARY time")
}

fn read(input: &Input<'_>) -> ImportedRuns {
    let summaries = || input.lines().filter(|(_, line)| is_summary(line));
    let Some(summary) = summaries().find(|(_, line)| !is_of_times(line)).or_else(|| summaries().next())
    else {
        return parts::not_mine(text!(
            "no line such as `SUMMARY rate: (of 1 iterations)`",
            "`SUMMARY rate: (of 1 iterations)` のような行がありません"
        ));
    };
    let unit = if is_of_times(summary.1) { SECONDS } else { OPERATIONS };
    if unit == SECONDS && summary.1.contains("ms/op") {
        let what = text!(
            "mdtest's heading says ms/op, and versions of it print seconds there",
            "見出しには ms/op とありますが、mdtest のバージョンによっては秒が印字されます"
        );
        let remedy = text!(
            "have mdtest print rates: without `-t`, or with `-P` both",
            "`-t` を付けずに実行して毎秒の操作数を印字させてください(`-P` なら両方を印字します)"
        );
        return Err(parts::broken_line(input, summary.0, what).remedy(remedy).into());
    }
    let heading = input.lines().find(|(_, line)| version(line).is_some());
    let tasks =
        heading.and_then(|(_, line)| line.split_once(" launched with ")?.1.split(' ').next()?.parse().ok());
    let runs = summary.1.split_once("(of ").and_then(|(_, rest)| rest.split(' ').next()?.parse().ok());
    let setting = ImportedCell {
        procedure: input.after("Command line used:").map(parts::repeated),
        runs: runs.filter(|runs| *runs > 0),
        threads: tasks,
        ..ImportedCell::default()
    };
    let rows = input.lines().skip_while(|(number, _)| *number <= summary.0);
    let rows = rows.take_while(|(_, line)| !line.trim().starts_with("SUMMARY"));
    let cells = rows.filter_map(|(_, line)| cell(line, unit, &setting)).collect();
    let origin = Origin {
        version: heading.and_then(|(_, line)| version(line)).map(str::to_owned),
        procedure: setting.procedure.clone(),
        ..input.origin("mdtest", "mdtest-text")
    };
    Ok(vec![ImportedRun { origin, cells, ..ImportedRun::default() }])
}

/// `File stat     :     153052.166     153052.166     153052.166          0.000`.
fn cell(line: &str, unit: ToolUnit, setting: &ImportedCell) -> Option<Cell> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (name, numbers) = words.split_at(words.iter().position(|word| number(word).is_some())?);
    let (4 | 7, Some(&[highest, lowest, mean, deviation])) = (numbers.len(), numbers.last_chunk()) else {
        return None;
    };
    let name = name.join(" ");
    let name = name.trim_end_matches([' ', ':']);
    if name.is_empty() || number(highest)? <= 0.0 {
        return None;
    }
    let figures = [
        unit.figure(Statistic::Mean, mean)?,
        unit.figure(Statistic::Highest, highest)?,
        unit.figure(Statistic::Lowest, lowest)?,
        unit.figure(Statistic::StandardDeviation, deviation)?,
    ];
    let imported = ImportedCell { figures: figures.to_vec(), ..setting.clone() };
    Some(parts::cell(parts::repeated(name), None, imported))
}

#[cfg(test)]
mod tests {
    use super::super::units::test::*;
    use super::*;

    #[test]
    fn the_summary_of_rates_is_read() {
        let run = &imported("lab/mdtest.txt")[0];
        assert_eq!(run.origin.tool_name(), "mdtest 1.9.3");
        let labels: Vec<_> = run.cells.iter().map(|cell| cell.label.as_str()).collect();
        assert_eq!(labels, ["File creation", "File stat", "File removal"], "what was not run is absent");
        let stat = find(run, "File stat");
        assert_eq!((of(stat).runs, of(stat).threads, stat.direction), (Some(3), Some(16), None));
        assert_figure(&of(stat).figures[0], "20411.207", "ops/s", 20_411.207);
        assert_figure(
            figure(stat, Quantity::Iops, Statistic::Highest, None),
            "20873.551",
            "ops/s",
            20_873.551,
        );
        assert_figure(
            figure(stat, Quantity::Iops, Statistic::Lowest, None),
            "19841.732",
            "ops/s",
            19_841.732,
        );
        assert_survives_damage("lab/mdtest.txt");
    }

    /// A text of version 3 with this summary.
    fn read_of(summary: &str) -> kurabe_core::Result<Vec<ImportedRun>> {
        let head = "mdtest-3.3.0 was launched with 8 total task(s) on 2 node(s)\n";
        super::super::import("a.txt", format!("{head}{summary}").as_bytes())
    }

    #[test]
    fn times_alone_are_seconds_and_not_of_an_operation() {
        let summary = "SUMMARY time: (of 2 iterations)\n   Operation   Max   Min   Mean   Std Dev\n";
        let rows =
            "   Directory stat  :  0.120  0.118  0.119  0.001\n   File read  :  0.000  0.000  0.000  0.000\n";
        let runs = read_of(&format!("{summary}{rows}")).unwrap();
        assert_eq!(runs[0].cells.len(), 1, "what was not run is absent");
        let stat = find(&runs[0], "Directory stat");
        assert_eq!((of(stat).runs, of(stat).threads, stat.direction), (Some(2), Some(8), None));
        assert_figure(&of(stat).figures[0], "0.119", "s", 0.119e9);
        let figure = |statistic| figure(stat, Quantity::Duration, statistic, None);
        assert_figure(figure(Statistic::Highest), "0.120", "s", 0.12e9);
        assert_figure(figure(Statistic::Lowest), "0.118", "s", 0.118e9);
        // Rates beside them are what is read, whichever comes first.
        let rates = "SUMMARY rate: (of 2 iterations)\n   Directory stat  :  900.5  880.5  890.5  9.0\n";
        let runs = read_of(&format!("{summary}{rows}\n{rates}")).unwrap();
        assert_figure(&of(find(&runs[0], "Directory stat")).figures[0], "890.5", "ops/s", 890.5);
        let error = read_of(&format!("{}{rows}", summary.replace("time", "time (in ms/op)"))).unwrap_err();
        assert!(error.what().en.contains("ms/op") && error.place().is_some(), "{error}");
    }

    #[test]
    fn figures_of_ranks_before_those_of_iterations_are_passed_over() {
        let rows = "   File creation   910.5  450.25  700.125   7210.5  6882.5  7031.5  134.5\n";
        let run = &read_of(&format!("SUMMARY rate (in ops/sec): (of 3 iterations)\n{rows}")).unwrap()[0];
        assert_figure(&of(find(run, "File creation")).figures[0], "7031.5", "ops/s", 7031.5);
    }
}
