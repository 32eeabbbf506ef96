//! Text that AS SSD copies from its menu: figures in MB/s or in IOPS.
//!
//! The model: a heading with the version, `Name`, `Firmware`, `Controller`, `Offset`, `Size` and
//! `Date`, then sections between lines of dashes with `Read` and `Write`. Confirmed from three
//! published texts of 2.0.7316. One of them has the same run in both units: 60.63 MB/s and 15521 IOPS
//! of 4 KiB, 2468.65 MB/s and 154.29 IOPS of 16 MB. So MB is 2^20 bytes, and rates are corrected. The
//! statistic over several passes is undocumented, so each figure is treated as a single pass. The XML
//! format is not supported, because no sample of it was found.

use super::dates::from_numeric;
use super::kit::*;
use kurabe_core::quantity::{KIB, MIB};

const HEADING: &str = "AS SSD Benchmark {}";
const DETAILS: [DetailLine; 4] = [
    (&[HEADING], &[Detail::Version]),
    (&["Name"], &[Detail::Target, Detail::Fact("Name")]),
    (&["Date"], &[Detail::Date(date), Detail::OwnFact]),
    (&["Firmware", "Controller", "Offset", "Size"], &[Detail::OwnFact]),
];
/// A section: its heading, the label of its cells, block size, threads, and whether offsets ascend.
type ScoreSection = (&'static str, &'static str, Option<u64>, Option<u32>, Option<bool>);
const SECTIONS: [ScoreSection; 7] = [
    ("Sequential", "Sequential", None, None, Some(true)),
    ("16MB", "Sequential", Some(16 * MIB), None, Some(true)),
    ("4K", "4K", Some(4 * KIB), None, Some(false)),
    ("4K-64Threads", "4K-64Threads", Some(4 * KIB), Some(64), Some(false)),
    ("Access Times", "Access Times", None, None, Some(false)),
    ("512B", "Access Times", Some(512), None, Some(false)),
    ("Score", "Score", None, None, None),
];

pub(super) const IMPORTER: Importer = Importer::of(
    ("AS SSD text", "AS SSD", &["AS SSD"]),
    Recognizer::Shapes(LineShapes {
        begins: &["AS SSD Benchmark 1.{}", "AS SSD Benchmark 2.{}"],
        belongs: &[],
    }),
    read,
);

fn date(words: &str) -> Option<String> {
    from_numeric(words).filter(|date| date.contains('T'))
}

fn read(input: &Input<'_>) -> ImportedRuns {
    let lines: Vec<(usize, &str)> = input.lines().collect();
    if !lines.windows(2).any(|pair| fits(HEADING, pair[0].1) && is_rule(pair[1].1)) {
        return without_line("AS SSD Benchmark 2.0` above a line of dashes such as `--------------------");
    }
    let (mut section, mut cells) = (None, Vec::new());
    let mut details =
        RunDetails { origin: input.origin("AS SSD Benchmark", "as-ssd-text"), ..RunDetails::default() };
    for (number, line) in lines {
        let named = SECTIONS.iter().find(|(name, ..)| line.trim().trim_end_matches(':') == *name);
        section = named.or(section);
        match (section, key_value(line)) {
            (None, _) => details.read(&DETAILS, line),
            (Some(section), Some((key @ ("Read" | "Write" | "Total"), value))) => {
                let figure = figure_of(section.0, value).ok_or_else(|| parts::unreadable(input, number))?;
                // A test that was not run has no figure, or zero.
                if figure.value > 0.0 {
                    cells.push(section_cell(section, key, figure));
                }
            }
            _ => {}
        }
    }
    let notices = vec![units::prints_mebibytes("AS SSD", "MB/s")];
    Ok(vec![ImportedRun { origin: details.origin, cells, notices, ..ImportedRun::default() }])
}

fn section_cell(section: &ScoreSection, key: &str, figure: PrintedFigure) -> Cell {
    let (name, label, block_bytes, threads, sequential) = *section;
    let directions = [("Read", Direction::Read), ("Write", Direction::Write)];
    let direction = directions.into_iter().find(|(word, _)| *word == key).map(|(_, direction)| direction);
    let (procedure, figures) = (Some(name.to_owned()), vec![figure]);
    let imported =
        ImportedCell { procedure, block_bytes, threads, sequential, figures, ..ImportedCell::default() };
    cell(label, direction, imported)
}

fn figure_of(section: &str, value: &str) -> Option<PrintedFigure> {
    // On German Windows, the decimal separator is a comma.
    let (printed, unit) = value.split_once(' ').unwrap_or((value, ""));
    let (quantity, statistic, factor) = match (section, unit.trim()) {
        ("Score", "") => (Quantity::Score, Statistic::Unknown, 1.0),
        (_, "MB/s") => (Quantity::Rate, Statistic::Mean, MIB as f64),
        (_, "ms") => (Quantity::Latency, Statistic::Mean, 1e6),
        (_, "iops" | "IOPS") => (Quantity::Iops, Statistic::Mean, 1.0),
        _ => return None,
    };
    let plain = printed.replace(',', ".");
    let mut figure = units::figure(quantity, statistic, &plain, unit.trim(), factor)?;
    printed.clone_into(&mut figure.printed);
    figure.correction = (quantity == Quantity::Rate).then(|| {
        Box::new(units::binary(
            "MiB/s",
            text!("AS SSD's MB is 2^20 bytes", "AS SSD の MB は 2^20 バイトです"),
        ))
    });
    figure.of = (section == "512B").then_some(FigureOf::AccessTest);
    Some(figure)
}
