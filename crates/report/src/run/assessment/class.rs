//! The first clause: the class of the device, and the rates that are unusual for that class.

use crate::words;
use kurabe_core::imported::{ImportedCell, PrintedFigure, PrintedStatistic, Quantity};
use kurabe_core::record::{Cell, Measure, RunRecord};
use kurabe_core::{Text, number, text, workload::Direction};
use kurabe_stats::{cell_figure, is_from_memory};
use kurabe_study::catalogue::DeviceClass;
use kurabe_study::{CellLikeness, Likeness, known_class};

/// Maximum number of times given for a run without rates. The others are in the table.
const MOST_TIMES: usize = 3;

/// Returns the forms of the clause, longest first. Empty if nothing is known.
pub(super) fn clauses(record: &RunRecord, likeness: Option<&Likeness>) -> Vec<Text> {
    if let Some(offered) = offered(record) {
        return vec![offered];
    }
    if let Some(likeness) = likeness {
        let forms = compared(record, likeness);
        return match access_time(&figures_of(record)) {
            Some(time) => forms.iter().map(|form| Text::list([form.clone(), time.clone()])).collect(),
            None => forms,
        };
    }
    let Some(figures) = figures(record) else { return Vec::new() };
    match known_class(record) {
        Some(class) => {
            let class = marked(record, &class.name());
            vec![text!("{class}: {figures}", "{class}: {figures}"; class, figures), class]
        }
        None if record.header.model.is_some() => {
            vec![text!("by the model, {figures}", "モデルの計算値: {figures}"; figures)]
        }
        None => vec![figures],
    }
}

/// Returns the name of a class, marked if a model was measured.
fn marked(record: &RunRecord, class: &Text) -> Text {
    match record.header.model {
        Some(_) => text!("{class} (model)", "{class}(モデル)"; class),
        None => class.clone(),
    }
}

/// A group of tests that readers judge together.
struct TestGroup<'l> {
    is_sequential: bool,
    name: Text,
    furthest: &'l CellLikeness,
}

/// Says which groups of tests are as fast as usual for the class, and which are not.
fn compared(record: &RunRecord, likeness: &Likeness) -> Vec<Text> {
    let class = words::amid(&marked(record, &likeness.class.name()));
    let groups = [
        ((true, Direction::Read), text!("sequential reads", "シーケンシャル読み出し")),
        ((true, Direction::Write), text!("sequential writes", "シーケンシャル書き込み")),
        ((false, Direction::Read), text!("random reads", "ランダム読み出し")),
        ((false, Direction::Write), text!("random writes", "ランダム書き込み")),
    ];
    let furthest = |(group, name): ((bool, Direction), Text)| {
        let of_group = likeness.cells.iter().filter(|cell| (cell.sequential, cell.direction) == group);
        let furthest = of_group.max_by(|a, b| a.distance().abs().total_cmp(&b.distance().abs()))?;
        Some(TestGroup { is_sequential: group.0, name, furthest })
    };
    let groups: Vec<TestGroup<'_>> = groups.into_iter().filter_map(furthest).collect();
    let off = |sign: f64| -> Vec<&TestGroup<'_>> {
        groups.iter().filter(|group| group.furthest.distance() * sign > 0.0).collect()
    };
    let (slower, faster) = (off(-1.0), off(1.0));
    let named = |groups: &[&TestGroup<'_>]| match groups {
        [_, _, _, _] => text!("every test", "全項目"),
        [one, other] if one.is_sequential == other.is_sequential => match one.is_sequential {
            true => text!("sequential I/O", "シーケンシャル"),
            false => text!("random I/O", "ランダム"),
        },
        several => Text::join(several.iter().map(|group| group.name.clone()), [", ", "、"]),
    };
    let with_figure = |groups: &[&TestGroup<'_>]| {
        let [TestGroup { name, furthest, .. }] = groups else { return named(groups) };
        let (rate, usual) = (number::rate(furthest.bytes_per_s), usual(furthest));
        text!("{name} ({rate}, usual {usual})", "{name}({rate}、通常 {usual})"; name)
    };
    let not_usual =
        |slower: &[&TestGroup<'_>], faster: &[&TestGroup<'_>], words: &dyn Fn(&[&TestGroup<'_>]) -> Text| {
            let (slow, fast) = (words(slower), words(faster));
            match (slower.is_empty(), faster.is_empty()) {
                (false, false) => text!(
                    "slower than {class} in {slow}, faster in {fast}",
                    "{class}としては{slow}が遅く、{fast}が速い"; class, slow, fast
                ),
                (false, true) => {
                    text!("slower than {class} in {slow}", "{class}としては{slow}が遅い"; class, slow)
                }
                _ => {
                    text!("faster than {class} in {fast}", "{class}としては{fast}が速い"; class, fast)
                }
            }
        };
    if slower.is_empty() && faster.is_empty() {
        return vec![match groups.as_slice() {
            [TestGroup { name, .. }] => {
                text!("as fast as {class} in {name}", "{name}は{class}並みの速さ"; class, name)
            }
            _ => text!("as fast as {class}", "{class}並みの速さ"; class),
        }];
    }
    vec![
        not_usual(&slower, &faster, &with_figure),
        not_usual(&slower, &faster, &named),
        match slower.is_empty() {
            true => not_usual(&[], &faster, &named),
            false => not_usual(&slower, &[], &named),
        },
    ]
}

/// Formats the usual range of a cell, as in `310.0 – 560.0 MB/s`.
fn usual(cell: &CellLikeness) -> String {
    let [low, high] = [cell.band.low_bytes_per_s, cell.band.high_bytes_per_s].map(number::rate);
    if low == high { low.to_string() } else { format!("{} – {high}", low.number) }
}

/// Returns the range that devices of a class reach in a cell.
pub fn usual_words(class: DeviceClass, cell: &CellLikeness) -> Text {
    let (class, usual) = (class.name(), usual(cell));
    text!("{class}: {usual}", "{class}: {usual}"; class)
}

/// Returns the best rate of each direction, and the access time if it was measured. For a run
/// without rates, returns its first other figures.
pub(super) fn figures(record: &RunRecord) -> Option<Text> {
    let cells = figures_of(record);
    let [read, write] = [Direction::Read, Direction::Write].map(|direction| best(record, &cells, direction));
    let durable = record.cells.iter().filter_map(|cell| cell.imported.as_ref()?.durable_iops());
    let clauses: Vec<Text> = match (read, write) {
        (None, None) if let Some(highest) = durable.reduce(f64::max) => {
            let rate = number::iops(highest);
            vec![text!("durable writes up to {rate}", "同期書き込みは最大 {rate}")]
        }
        (None, None) => {
            let others = cells.iter().filter(|(cell, _)| cell.measure != Measure::Rate);
            others.take(MOST_TIMES).map(time).collect()
        }
        (read, write) => words::present([read, write, access_time(&cells)]),
    };
    (!clauses.is_empty()).then(|| Text::list(clauses))
}

/// Returns the cells of a run that have a figure, with the figure in the base unit of its measure.
fn figures_of(record: &RunRecord) -> Vec<(&Cell, f64)> {
    let statistic = record.header.statistic();
    let figure = |cell| {
        let value = cell_figure(cell, statistic).or_else(|| printed(cell))?;
        Some((cell, value)).filter(|(_, value)| *value > 0.0)
    };
    let is_memory = |cell: &&Cell| cell.imported.as_ref().is_some_and(ImportedCell::is_from_memory);
    record.cells.iter().filter(|cell| !is_memory(cell)).filter_map(figure).collect()
}

/// Returns the rate that another tool printed for a cell, in bytes per second.
fn printed(cell: &Cell) -> Option<f64> {
    let imported = cell.imported.as_ref().filter(|_| cell.measure == Measure::Rate)?;
    let is_rate = |figure: &&PrintedFigure| figure.quantity == Quantity::Rate;
    // Of durable writes the number per second counts.
    let main = imported.figures.iter().filter(|_| imported.durable_iops().is_none()).find(is_rate)?;
    // A tool that reports intervals prints their highest besides the median.
    let is_highest = |figure: &&PrintedFigure| {
        main.statistic == PrintedStatistic::Median
            && (figure.statistic, &figure.of) == (PrintedStatistic::Highest, &main.of)
    };
    Some(imported.figures.iter().filter(is_rate).find(is_highest).unwrap_or(main).value)
}

/// Returns the highest rate of one direction. Writes that wait for the medium count only if there
/// are no others, and are labelled as such.
fn best(record: &RunRecord, cells: &[(&Cell, f64)], direction: Direction) -> Option<Text> {
    let waits = |cell: &Cell| cell.workload.as_ref().is_some_and(|one| one.sync.waits_for_medium());
    let is_meant = |cell: &Cell| cell.measure == Measure::Rate && cell.direction == Some(direction);
    let rates = || cells.iter().filter(|(cell, _)| is_meant(cell));
    let highest =
        |durable: bool| rates().filter(|(cell, _)| waits(cell) == durable).max_by(|a, b| a.1.total_cmp(&b.1));
    let is_read = direction == Direction::Read;
    let plain = if is_read { rates().max_by(|a, b| a.1.total_cmp(&b.1)) } else { highest(false) };
    let (cell, rate) = plain.or_else(|| highest(true))?;
    let rate = number::rate(*rate);
    Some(match (direction, is_from_memory(cell, record.header.model.as_ref())) {
        (Direction::Read, true) => {
            text!("reads from memory at up to {rate}", "メモリーからの読み出しは最大 {rate}")
        }
        (Direction::Read, false) => text!("reads up to {rate}", "読み出しは最大 {rate}"),
        (_, true) => text!("writes into memory at up to {rate}", "メモリーへの書き込みは最大 {rate}"),
        (_, false) if waits(cell) => text!("durable writes up to {rate}", "同期書き込みは最大 {rate}"),
        (_, false) => text!("writes up to {rate}", "書き込みは最大 {rate}"),
    })
}

/// Returns the offered rate if every cell offered operations at a fixed rate. Such a rate says
/// nothing about the limits of the device.
fn offered(record: &RunRecord) -> Option<Text> {
    let option = |cell: &Cell| cell.imported.as_ref()?.offered().map(str::to_owned);
    if let Some(options) = record.cells.iter().map(option).collect::<Option<Vec<_>>>()
        && let Some(option) = options.first()
    {
        return Some(text!(
            "measured at an offered rate ({option}), not at the limit of the device",
            "一定の負荷({option})を与えた測定で、デバイスの上限ではない"
        ));
    }
    let offered = |cell: &Cell| Some(cell.workload.as_ref()?.open_loop?.rate_iops);
    let highest =
        record.cells.iter().map(offered).collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::max)?;
    let rate = number::iops(highest);
    Some(text!(
        "measured at an offered rate of {rate}, not at the limit of the device",
        "{rate} の負荷を与えた測定で、デバイスの上限ではない"
    ))
}

/// Returns the access time, as measured by tools that sample positions.
fn access_time(cells: &[(&Cell, f64)]) -> Option<Text> {
    let (_, value) = cells.iter().find(|(cell, _)| cell.measure == Measure::AccessTime)?;
    let time = number::measured(Measure::AccessTime, *value);
    Some(text!("access time {time}", "アクセス時間 {time}"))
}

fn time((cell, value): &(&Cell, f64)) -> Text {
    let name = words::amid(&words::cell(cell)).map(|name| name.trim_start().to_owned());
    let value = Text::from(number::measured(cell.measure, *value));
    match cell.measure {
        Measure::Operations => text!("{name} at {value}", "{name}は {value}"; name, value),
        _ => text!("{name} takes {value}", "{name}は {value}"; name, value),
    }
}
