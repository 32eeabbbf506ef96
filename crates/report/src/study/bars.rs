//! The figures of a study's table as bars: a group for each figure, a bar for each row.

use kurabe_chart::{Axis, Bar, BarGroup, Bars, Chart, Plot, Scale, Unit};
use kurabe_core::{Lang, Text, text};
use kurabe_study::{ColumnResult, PartResult};

/// Maximum number of rows in a chart. More could not be distinguished.
const MOST_ROWS: usize = 8;

/// Returns a chart for each unit of a table. Empty for a table with axes, whose values are curves,
/// and for one with too many rows.
pub(super) fn charts(part: &PartResult, lang: Lang) -> Vec<Chart> {
    if !part.axes.is_empty() || part.rows.len() > MOST_ROWS || part.rows.is_empty() {
        return Vec::new();
    }
    let mut units: Vec<&str> = part.columns.iter().map(|column| column.unit.as_str()).collect();
    units.dedup();
    units.into_iter().filter_map(|unit| chart(part, unit, lang)).collect()
}

fn chart(part: &PartResult, unit: &str, lang: Lang) -> Option<Chart> {
    let (axis_unit, factor) = axis_of(unit);
    let group = |(index, column): (usize, &ColumnResult)| {
        let bar = |row: &kurabe_study::RowResult| {
            let cell = row.cells.get(index)?;
            let value = cell.value.filter(|value| value.is_finite())? * factor;
            let half = cell.plus_minus.map(|half| half * factor);
            Some(Bar { value, interval: half.map(|half| (value - half, value + half)) })
        };
        BarGroup { label: column.name.line(lang), bars: part.rows.iter().map(bar).collect() }
    };
    let columns = part.columns.iter().enumerate().filter(|(_, column)| column.unit == unit);
    let groups: Vec<BarGroup> =
        columns.map(group).filter(|group| group.bars.iter().any(Option::is_some)).collect();
    if groups.is_empty() {
        return None;
    }
    let less = part.columns.iter().any(|column| column.unit == unit && column.less_is_better);
    let better = match less {
        true => text!("shorter is better", "短いほどよい"),
        false => text!("longer is better", "長いほどよい"),
    };
    let has_interval =
        groups.iter().flat_map(|group| &group.bars).flatten().any(|bar| bar.interval.is_some());
    let interval = has_interval.then(plus_minus_words);
    let notes = Text::join([better].into_iter().chain(interval), [" · "; 2]);
    let plot = Plot::Bars(Bars {
        series: part.rows.iter().map(|row| row.label.line(lang)).collect(),
        groups,
        axis: Axis::new(part.title.line(lang), axis_unit, Scale::Linear),
    });
    Some(Chart { title: part.title.line(lang), notes: vec![notes.line(lang)], plot })
}

/// Explains the sign ± below a table.
pub(super) fn plus_minus_words() -> Text {
    text!("±: 95 % interval of the mean of the repetitions", "±: 繰り返しの平均の 95 % 信頼区間")
}

/// Returns the unit of an axis for a column's unit, and the factor between them.
fn axis_of(unit: &str) -> (Unit, f64) {
    match unit {
        "MB/s" => (Unit::Rate, 1e6),
        "MiB/s" => (Unit::Rate, 1_048_576.0),
        "kB/s" => (Unit::Rate, 1e3),
        "IOPS" => (Unit::Iops, 1.0),
        "ms" => (Unit::Latency, 1e6),
        "s" => (Unit::Latency, 1e9),
        "" => (Unit::Factor, 1.0),
        _ => (Unit::Count, 1.0),
    }
}

/// Says how the devices of a table were measured in relation to each other.
pub(super) fn order_words(part: &PartResult) -> Vec<Text> {
    use kurabe_study::RowOrder;
    let names = |rows: &[usize]| {
        let labels = rows.iter().filter_map(|row| part.rows.get(*row)).map(|row| row.label.clone());
        let mut labels: Vec<Text> = labels.collect();
        labels.dedup();
        super::names::list(&super::names::quoted(labels.iter()))
    };
    let sentence = |order: &RowOrder| match order {
        RowOrder::Interleaved { rows, blocks } => {
            let names = names(rows);
            text!(
                "Measured interleaved, in {blocks} blocks whose order alternates: {names}.",
                "交互に測定(順序を入れ替えながら {blocks} 回): {names}。";
                names
            )
        }
        RowOrder::InSequence { rows, why } => {
            let names = names(rows);
            text!(
                "Measured one after the other, so that other activity may differ between them: {names}. Reason: {why}.",
                "1 台ずつ順に測定(その間のほかの処理の影響は除けません): {names}。理由: {why}。";
                names, why
            )
        }
    };
    part.order.iter().map(sentence).collect()
}
