//! Text of HD Tune's benchmark (`HD Tune: … Benchmark`, copied as text).
//!
//! The model: a heading with the drive, then `Name : value unit` lines. Each heading begins a run.
//! Confirmed only from four texts published on one page. It is undocumented whether MB is 10^6 or 2^20
//! bytes: it is read as 10^6, and a notice says so. The rates are of single samples over the drive.

use super::kit::*;

const HEADING: &str = "HD Tune{}:{} Benchmark";
const DETAILS: [DetailLine; 2] =
    [(&[HEADING], &[Detail::Nothing, Detail::Target]), (&["CPU Usage"], &[Detail::Fact("CPU Usage")])];
const RATE: ToolUnit = units::unit("MB/sec", Quantity::Rate, 1e6);
/// Unit in later versions.
const LATER_RATE: ToolUnit = units::unit("MB/s", Quantity::Rate, 1e6);
const TRANSFER: [FigureName; 3] = [
    (RATE, Statistic::Mean, "Transfer Rate Average"),
    (RATE, Statistic::Lowest, "Transfer Rate Minimum"),
    (RATE, Statistic::Highest, "Transfer Rate Maximum"),
];
/// Cells: label, and names of the lines of its figures.
const CELLS: [(&str, &[FigureName]); 3] = [
    ("transfer rate", &TRANSFER),
    ("access time", &[(units::MILLISECONDS, Statistic::Mean, "Access Time")]),
    ("burst rate", &[(RATE, Statistic::Unknown, "Burst Rate")]),
];

pub(super) const IMPORTER: Importer = Importer::of(
    ("HD Tune text", "HD Tune", &["HD Tune"]),
    Recognizer::Shapes(LineShapes { begins: &[HEADING], belongs: &[] }),
    read,
);

/// Returns a figure. In some languages, its only decimal place follows a comma.
fn figure(unit: &ToolUnit, statistic: Statistic, printed: &str) -> Option<PrintedFigure> {
    let with_point = printed.split_once(',').filter(|(_, places)| places.len() == 1);
    let value = with_point.and_then(|(whole, place)| unit.value(&format!("{whole}.{place}")));
    match value {
        Some(value) => figure_of_value(unit.quantity, statistic, value, printed, unit.name),
        None => unit.figure(statistic, printed),
    }
}

fn read(input: &Input<'_>) -> ImportedRuns {
    if !input.lines().any(|(_, line)| fits(HEADING, line)) {
        return without_line("HD Tune: … Benchmark");
    }
    let details = RunDetails::of(input, ("HD Tune", "hdtune-text"), &DETAILS, input.lines());
    let mut cells = Vec::new();
    for (label, names) in CELLS {
        let mut figures = Vec::new();
        for (unit, statistic, name) in names {
            let is_named = |(_, line): &(usize, &str)| key_value(line).is_some_and(|(key, _)| key == *name);
            let Some((number, line)) = input.lines().find(is_named) else { continue };
            let (_, value) = key_value(line).unwrap_or_default();
            let figure = [*unit, LATER_RATE]
                .iter()
                .find_map(|unit| figure(unit, *statistic, value.strip_suffix(unit.name)?.trim()));
            figures.push(figure.ok_or_else(|| parts::unreadable(input, number))?);
        }
        // An access time below half of the last digit is printed as 0.0, and is not a valid figure.
        figures.retain(|figure| figure.quantity != Quantity::Latency || figure.value > 0.0);
        let imported = ImportedCell { figures, ..ImportedCell::default() };
        cells.push(cell(label, Some(Direction::Read), imported));
    }
    let notices = vec![notice(text!(
        "HD Tune does not say whether its MB is 10^6 or 2^20 bytes; it is read as 10^6, so rates may be 4.9 % higher",
        "HD Tune の MB が 10^6 か 2^20 バイトかは示されていません。10^6 として読みました。実際の速度は 4.9 % 高い可能性があります"
    ))];
    Ok(vec![ImportedRun { origin: details.origin, cells, notices, ..ImportedRun::default() }])
}

#[cfg(test)]
mod tests {
    use super::super::import;
    use super::super::units::test::*;

    #[test]
    fn what_a_benchmark_took_of_the_processor_is_kept() {
        let run = &imported("consumer/hdtune.txt")[0];
        assert_eq!(run.origin.facts["CPU Usage"], "3.9%");
        let text =
            "HD Tune Pro: ST2000DM001 Benchmark\n\nTransfer Rate Average : 160.2 MB/s\nCPU Usage : 2.1%\n";
        let run = import("a.txt", text.as_bytes()).unwrap().remove(0);
        assert_figure(&of(&run.cells[0]).figures[0], "160.2", "MB/s", 160.2e6);
        assert_eq!(run.origin.facts["CPU Usage"], "2.1%");
    }
}
