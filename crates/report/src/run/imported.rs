//! Figures that another tool printed: a few in the table, all of them in the details.

use crate::words;
use kurabe_core::imported::{FigureOf, ImportedCell, PrintedFigure, PrintedStatistic, Quantity};
use kurabe_core::number::{self, Figure};
use kurabe_core::{Text, quantity::format_bytes_decimal, record::Cell, shown, text};
use kurabe_doc::grid::GridLine;
use kurabe_doc::{Cut, Doc, Entry, Fields, Role, Table};

/// Number of a cell's figures in the table. The details have the others.
const IN_TABLE: usize = 3;

/// Minimum and maximum width of a time series, in terminal columns.
const SERIES_COLUMNS: (usize, usize) = (8, 40);

/// Converts a figure to kurabe's units.
fn value(figure: &PrintedFigure) -> Figure {
    let plain = |number: String, unit: &'static str| Figure { number, unit };
    match figure.quantity {
        Quantity::Rate => number::rate(figure.value),
        Quantity::Iops => number::iops(figure.value),
        Quantity::Latency | Quantity::Duration => number::latency(figure.value),
        Quantity::Bytes => plain(format_bytes_decimal(figure.value as u64), ""),
        Quantity::Count | Quantity::Score => plain(number::count(figure.value as u64), ""),
        Quantity::Share => plain(number::percent(figure.value), ""),
        Quantity::QueueLength => plain(format!("{:.2}", figure.value), ""),
    }
}

/// Describes a figure: `best of 5`, `p99 · completion latency`.
fn remark(figure: &PrintedFigure, runs: Option<u32>) -> Text {
    let statistic = || statistic(figure, runs);
    let Some(of) = &figure.of else { return statistic() };
    let words = of_words(of);
    match statistic() {
        // The description of the quantity already says so.
        _ if figure.statistic == PrintedStatistic::Mean && of.is_of_means() => words,
        statistic if statistic.is_empty() => words,
        statistic => text!("{statistic} · {words}", "{statistic} · {words}"; statistic, words),
    }
}

fn statistic(figure: &PrintedFigure, runs: Option<u32>) -> Text {
    let higher_is_better = matches!(figure.quantity, Quantity::Rate | Quantity::Iops | Quantity::Score);
    let best = if higher_is_better { PrintedStatistic::Highest } else { PrintedStatistic::Lowest };
    let of = runs.filter(|runs| *runs > 1);
    match (figure.statistic, of) {
        (statistic, Some(runs)) if statistic == best => text!("best of {runs}", "{runs} 回の最良値"),
        (PrintedStatistic::Median, Some(runs)) => text!("median of {runs}", "{runs} 回の中央値"),
        (PrintedStatistic::Mean, Some(runs)) => text!("mean of {runs}", "{runs} 回の平均"),
        (PrintedStatistic::Mean, None) => text!("mean", "平均"),
        (PrintedStatistic::Median, None) => text!("median", "中央値"),
        (PrintedStatistic::Highest, _) => text!("highest", "最大"),
        (PrintedStatistic::Lowest, _) => text!("lowest", "最小"),
        (PrintedStatistic::StandardDeviation, _) => text!("standard deviation", "標準偏差"),
        (PrintedStatistic::Percentile(percent), _) => Text::same(format!("p{percent}")),
        (PrintedStatistic::Sum, _) => text!("in all", "合計"),
        // A score is computed from other figures and has no statistic.
        (PrintedStatistic::Unknown, _) if figure.quantity == Quantity::Score => Text::default(),
        (PrintedStatistic::Unknown, _) => text!("statistic unknown", "統計量は不明"),
    }
}

fn of_words(of: &FigureOf) -> Text {
    match of {
        FigureOf::Latency => text!("latency", "レイテンシ"),
        FigureOf::CompletionLatency => text!("completion latency", "完了レイテンシ"),
        FigureOf::SubmissionLatency => text!("submission latency", "発行レイテンシ"),
        FigureOf::TotalLatency => text!("total latency", "全体レイテンシ"),
        FigureOf::OperationLatency => text!("operation latency", "操作のレイテンシ"),
        FigureOf::EntryLatency => text!("entry latency", "エントリのレイテンシ"),
        FigureOf::SyncLatency => text!("sync latency", "同期のレイテンシ"),
        FigureOf::BlockTime => text!("time of a block", "ブロックの時間"),
        FigureOf::RunMeanLatency => text!("mean latency", "平均レイテンシ"),
        FigureOf::RunMeanCompletionLatency => text!("mean completion latency", "平均完了レイテンシ"),
        FigureOf::Samples => text!("mean of the samples", "サンプルの平均"),
        FigureOf::RateSamples => text!("bandwidth samples", "速度のサンプル"),
        FigureOf::IopsSamples => text!("IOPS samples", "IOPS のサンプル"),
        FigureOf::DataMoved => text!("data moved", "転送量"),
        FigureOf::Operations => text!("operations", "I/O 回数"),
        FigureOf::RunTime => text!("run time", "実行時間"),
        FigureOf::TestTime => text!("test time", "テスト時間"),
        FigureOf::FirstDone => text!("first done", "最初の完了まで"),
        FigureOf::LastDone => text!("last done", "最後の完了まで"),
        FigureOf::AccessTest => text!("accesses of the access time test", "アクセス時間テストのアクセス"),
        FigureOf::GeneratedLoad => text!("generated load", "発生させた負荷"),
        FigureOf::EachProcess => text!("per process", "プロセスごと"),
        FigureOf::SeenByParent => text!("seen by the parent", "親プロセスから見た値"),
        FigureOf::SumOfProcesses => text!("sum over the processes", "全プロセスの合計"),
        FigureOf::Named(name) => shown::line(name).into(),
    }
}

/// Describes the first figure of a cell. Empty if it is what a reader would assume.
pub(crate) fn first_remark(imported: &ImportedCell) -> Text {
    let first = imported.figures.first().filter(|figure| !goes_without_saying(figure, imported.runs));
    first.map(|figure| remark(figure, imported.runs)).unwrap_or_default()
}

/// Checks whether a figure is what a reader would assume: the mean rate of one run.
fn goes_without_saying(figure: &PrintedFigure, runs: Option<u32>) -> bool {
    matches!(figure.quantity, Quantity::Rate | Quantity::Iops)
        && figure.of.is_none()
        && figure.statistic == PrintedStatistic::Mean
        && runs.is_none_or(|runs| runs <= 1)
}

/// Returns the lines of a cell in the table: its first figures, each described where it differs
/// from the line above, and the percentiles.
pub(crate) fn lines(imported: &ImportedCell) -> Vec<GridLine> {
    let mut above = Text::default();
    let mut lines: Vec<GridLine> = Vec::new();
    for (index, figure) in imported.figures.iter().take(IN_TABLE).enumerate() {
        let statistic = statistic(figure, imported.runs);
        let remark = if goes_without_saying(figure, imported.runs) {
            Text::default()
        } else if index > 0 && statistic == above {
            figure.of.as_ref().map(of_words).unwrap_or_default()
        } else {
            above = statistic;
            remark(figure, imported.runs)
        };
        let role = if index == 0 { Role::Strong } else { Role::Quiet };
        lines.push(GridLine::new(role, value(figure), remark));
    }
    let percentiles = percentiles(imported);
    if !percentiles.is_empty() {
        lines.push(GridLine::new(Role::Quiet, Figure { number: String::new(), unit: "" }, percentiles));
    }
    lines
}

/// Returns percentiles of the first printed latency, as in `p50 57.6 µs  p99.9 268 µs`, without
/// those already in the table.
fn percentiles(imported: &ImportedCell) -> String {
    let is_latency = |figure: &&PrintedFigure| figure.quantity == Quantity::Latency;
    let Some(first) = imported.figures.iter().find(is_latency) else { return String::new() };
    let words = [50.0, 99.9].into_iter().filter_map(|rank| {
        let of_rank = |figure: &&PrintedFigure| {
            figure.of == first.of && figure.statistic == PrintedStatistic::Percentile(rank)
        };
        let figure = imported.figures.iter().skip(IN_TABLE).filter(is_latency).find(of_rank)?;
        Some(format!("p{rank} {}", value(figure)))
    });
    words.collect::<Vec<_>>().join("  ")
}

/// Returns the name of a cell in the list, with its direction unless the label contains it.
pub(crate) fn name(cell: &Cell) -> Text {
    // If the label begins with the work, a direction in the job's name after it doesn't count.
    let is_work = ["SEQ ", "RND "].iter().any(|order| cell.label.starts_with(order));
    match cell.direction {
        Some(direction) if is_work || !cell.label.to_lowercase().contains(direction.word()) => {
            words::cell(cell)
        }
        _ => words::label(cell),
    }
}

/// Returns all printed figures of a cell.
pub(crate) fn details(imported: &ImportedCell) -> Doc {
    let mut doc = Doc::new();
    if let Some(procedure) = &imported.procedure {
        doc.push(Fields::from(vec![(text!("procedure", "手順"), vec![Text::same(procedure)])]));
    }
    let table = Table::of(&imported.figures)
        .right(text!("figure", "値"), |figure| value(figure))
        .cut(Cut::End, text!("statistic", "統計量"), |figure| remark(figure, imported.runs))
        .right(text!("as printed", "元の表記"), |figure| {
            format!("{} {}", figure.printed, figure.unit_printed)
        })
        .cut(Cut::End, text!("corrected", "補正"), |figure| {
            let correction = figure.correction.as_ref().map(|correction| {
                let (factor, unit) = (correction.factor, &correction.unit);
                text!("× {factor} (actually {unit})", "× {factor} (実際の単位は {unit})")
            });
            correction.unwrap_or_default()
        });
    doc.push(table.table().indent(2));
    let table = Table::of(&imported.series)
        .cut(Cut::End, Text::default(), |series| series.name.clone())
        .right(Text::default(), |series| {
            let count = number::count(series.points.len() as u64);
            text!("{count} points", "{count} 点")
        })
        .left(Text::default(), |series| {
            Entry::course(series.points.iter().map(|point| point.1).collect(), SERIES_COLUMNS)
        });
    doc.push(table.table().indent(2)).done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::workload::Direction;

    #[test]
    fn a_cell_is_named_with_its_direction_unless_its_label_tells_it() {
        let named = |label: &str| {
            let cell = kurabe_testkit::cell(label, Some(Direction::Read));
            name(&cell).en
        };
        assert_eq!(named("cached reads"), "cached reads");
        assert_eq!(named("fileio"), "read fileio");
        // The direction is in neither the number of threads nor the name of the job.
        for label in ["RND 4 KiB Q8 one of 4 threads · a", "SEQ 1 MiB Q1 T1 · readwrite"] {
            assert_eq!(named(label), format!("read {label}"));
        }
    }
}
