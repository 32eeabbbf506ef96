//! mdtest's summary of rates, as IO500 keeps it.
//!
//! The model: under `SUMMARY rate` a line for each operation on files or directories with the highest, lowest and mean rate of
//! the iterations and their deviation, in operations per second; versions before 3 write `SUMMARY` alone. Zero stands for what
//! was not run. The summary of times, where there is one, tells the same. mdtest.c of hpc/ior.

use super::lab::{self, Unit};
use super::parts::{self, number};
use super::split::{Claim, Mark};
use super::{ImportedRun, Importer, Input, Outcome};
use kurabe_core::imported::{ImportedCell, Origin, PrintedStatistic as Statistic, Quantity};
use kurabe_core::record::Cell;
use kurabe_core::text;

pub(super) const IMPORTER: Importer =
    Importer { what: "mdtest text", read, claim: Claim::Lines(line_mark), names: &["mdtest"] };

const OPERATIONS: Unit = lab::unit("ops/s", Quantity::Iops, 1.0);

fn line_mark(line: &str) -> Mark {
    match () {
        () if version(line).is_some() => Mark::Begins,
        () if is_summary(line) => Mark::Belongs,
        () => Mark::None,
    }
}

/// The version in `mdtest-3.3.0 was launched with 8 total task(s) on 2 node(s)`.
fn version(line: &str) -> Option<&str> {
    line.trim().strip_prefix("mdtest-")?.split_once(" was launched with ").map(|(version, _)| version)
}

/// `SUMMARY rate: (of 3 iterations)`, `SUMMARY rate (in ops/sec): (of 3 iterations)`, `SUMMARY: (of 3 iterations)`.
fn is_summary(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("SUMMARY") && !line.starts_with("SUMMARY time") && line.ends_with(" iterations)")
}

fn read(input: &Input<'_>) -> Outcome {
    let Some(summary) = input.lines().find(|(_, line)| is_summary(line)) else {
        return Outcome::NotMine(text!(
            "no line such as `SUMMARY rate: (of 1 iterations)`",
            "`SUMMARY rate: (of 1 iterations)` のような行がありません"
        ));
    };
    let heading = input.lines().find(|(_, line)| version(line).is_some());
    let tasks =
        heading.and_then(|(_, line)| line.split_once(" launched with ")?.1.split(' ').next()?.parse().ok());
    let runs = summary.1.split_once("(of ").and_then(|(_, rest)| rest.split(' ').next()?.parse().ok());
    let command = input.lines().find_map(|(_, line)| line.trim().strip_prefix("Command line used:"));
    let setting = ImportedCell {
        procedure: command.map(|command| parts::repeated(command.trim())),
        runs: runs.filter(|runs| *runs > 0),
        threads: tasks,
        ..ImportedCell::default()
    };
    let rows = input.lines().skip_while(|(number, _)| *number <= summary.0);
    let rows = rows.take_while(|(_, line)| !line.trim().starts_with("SUMMARY"));
    let cells: Vec<Cell> = rows.filter_map(|(_, line)| cell(line, &setting)).collect();
    if cells.is_empty() {
        return lab::nothing_measured(input, "mdtest");
    }
    let origin = Origin {
        version: heading.and_then(|(_, line)| version(line)).map(str::to_owned),
        procedure: setting.procedure.clone(),
        ..input.origin("mdtest", "mdtest-text")
    };
    Outcome::Runs(vec![ImportedRun { origin, cells: parts::numbered(cells), ..ImportedRun::default() }])
}

/// `File stat     :     153052.166     153052.166     153052.166          0.000`.
fn cell(line: &str, setting: &ImportedCell) -> Option<Cell> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (name, numbers) = words.split_at_checked(words.len().checked_sub(4)?)?;
    let &[highest, lowest, mean, deviation] = numbers else { return None };
    let name = name.join(" ");
    let name = name.trim_end_matches([' ', ':']);
    if name.is_empty() || number(highest)? <= 0.0 {
        return None;
    }
    let figures = [
        OPERATIONS.figure(Statistic::Mean, mean)?,
        OPERATIONS.figure(Statistic::Highest, highest)?,
        OPERATIONS.figure(Statistic::Lowest, lowest)?,
        OPERATIONS.figure(Statistic::StandardDeviation, deviation)?,
    ];
    Some(parts::cell(
        parts::repeated(name),
        None,
        ImportedCell { figures: figures.to_vec(), ..setting.clone() },
    ))
}

#[cfg(test)]
mod tests {
    use super::super::lab::test::*;
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
}
