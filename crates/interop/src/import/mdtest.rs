//! mdtest's summary of rates, as IO500 stores it.
//!
//! The model: below `SUMMARY rate`, a line for each operation on files or directories with the maximum,
//! minimum, mean and deviation of the rates of the iterations, in operations per second. Versions
//! before 3 print only `SUMMARY`. Version 4 can put maximum, minimum and mean of the ranks before
//! these. Zero marks an operation that was not run. `SUMMARY time` is ignored. Source: mdtest.c of
//! hpc/ior.

use super::kit::*;
use kurabe_core::record::Measure;

const HEADING: &str = "mdtest-{} was launched with {} total task(s){}";
/// `SUMMARY rate: (of 3 iterations)`, `SUMMARY rate (in ops/sec): (of 3 iterations)`, `SUMMARY: (of 3
/// iterations)`.
const SUMMARY: &str = "SUMMARY{}(of {} iterations)";
const DETAILS: [DetailLine; 3] = [
    (&[HEADING], &[Detail::Version, Detail::Threads]),
    (&[SUMMARY], &[Detail::Nothing, Detail::Runs]),
    (&["Command line used:{}"], &[Detail::Procedure]),
];
const OPERATIONS: ToolUnit = units::unit("ops/s", Quantity::Iops, 1.0);

pub(super) const IMPORTER: Importer = Importer::of(
    ("mdtest text", "mdtest", &["mdtest"]),
    Recognizer::Shapes(LineShapes { begins: &[HEADING], belongs: &[SUMMARY] }),
    read,
);

fn read(input: &Input<'_>) -> ImportedRuns {
    let is_of_rates = |line: &str| holes(SUMMARY, line).is_some_and(|[of, _]| !of.starts_with("time"));
    let mut lines = input.lines().skip_while(|(_, line)| !is_of_rates(line));
    if lines.next().is_none() {
        return without_line("SUMMARY rate: (of 1 iterations)");
    }
    let details = RunDetails::of(input, ("mdtest", "mdtest-text"), &DETAILS, input.lines());
    let rows = lines.take_while(|(_, line)| !line.trim().starts_with("SUMMARY"));
    let cells = rows.filter_map(|(_, line)| cell(line, &details.setting)).collect();
    Ok(vec![ImportedRun { origin: details.origin, cells, ..ImportedRun::default() }])
}

/// Parses `File stat     :     153052.166     153052.166     153052.166          0.000`.
fn cell(line: &str, setting: &ImportedCell) -> Option<Cell> {
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
    let statistics = [Statistic::Mean, Statistic::Highest, Statistic::Lowest, Statistic::StandardDeviation];
    let printed = statistics.into_iter().zip([mean, highest, lowest, deviation]);
    let figures = printed.map(|(statistic, printed)| OPERATIONS.figure(statistic, printed));
    let figures = figures.collect::<Option<Vec<_>>>()?;
    let cell = parts::cell(repeated(name), None, ImportedCell { figures, ..setting.clone() });
    Some(Cell { measure: Measure::Operations, ..cell })
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
    }

    /// Reads a text of version 3 with this summary.
    fn read_of(summary: &str) -> Result<Vec<ImportedRun>> {
        let head = "mdtest-3.3.0 was launched with 8 total task(s) on 2 node(s)\n";
        super::super::import("a.txt", format!("{head}{summary}").as_bytes())
    }

    #[test]
    fn times_are_passed_over() {
        let summary = "SUMMARY time: (of 2 iterations)\n   Operation   Max   Min   Mean   Std Dev\n";
        let rows = "   Directory stat  :  0.120  0.118  0.119  0.001\n";
        let rates = "SUMMARY rate: (of 2 iterations)\n   Directory stat  :  900.5  880.5  890.5  9.0\n";
        let runs = read_of(&format!("{summary}{rows}\n{rates}")).unwrap();
        let stat = find(&runs[0], "Directory stat");
        assert_eq!((of(stat).runs, of(stat).threads, stat.direction), (Some(2), Some(8), None));
        assert_figure(&of(stat).figures[0], "890.5", "ops/s", 890.5);
        let error = read_of(&format!("{summary}{rows}")).unwrap_err();
        assert!(error.what().en.contains("mdtest text: no line such as `SUMMARY rate:"), "{error}");
    }

    #[test]
    fn figures_of_ranks_before_those_of_iterations_are_passed_over() {
        let rows = "   File creation   910.5  450.25  700.125   7210.5  6882.5  7031.5  134.5\n";
        let run = &read_of(&format!("SUMMARY rate (in ops/sec): (of 3 iterations)\n{rows}")).unwrap()[0];
        assert_figure(&of(find(run, "File creation")).figures[0], "7031.5", "ops/s", 7031.5);
    }
}
