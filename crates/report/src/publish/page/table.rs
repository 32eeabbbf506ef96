//! Tables of a report: for one run, its cells with latencies and stalls; for two, their ratio; for
//! more, a column or a row per run.

use super::Report;
use super::extent::Extent;
use super::rows::{CellRow, RunCell};
use crate::compare::verdict;
use crate::compare::verdict::verdict_marks;
use crate::publish::pictures::drawn_ratio;
use crate::run::{derived, remarks};
use crate::words;
use kurabe_compare::{ComparedCell, Pair, subject};
use kurabe_core::{Text, number, text};
use kurabe_doc::{Column, Doc, Entry, EntryBody, Purpose, Role, RowMarks, Table, TableForm, TableRow};
use kurabe_stats::{Compared, DerivedFigure, Estimate, FlushFigures};

/// Maximum number of runs shown side by side. With more, each has a row.
const SIDE_BY_SIDE: usize = 6;

impl Report<'_> {
    /// Returns the main table.
    pub(super) fn main_table(&self) -> Table {
        let caption = text!("Results", "結果");
        match self.pairs.as_slice() {
            [] => self.table_of_one(&caption, 0),
            [pair] => self.table_of_two(&caption, pair),
            pairs if pairs.len() < SIDE_BY_SIDE => self.side_by_side(&caption),
            _ => self.row_each(&caption),
        }
    }

    /// Returns the table of one run, with figure, latencies and stalls of each cell.
    pub(super) fn table_of_one(&self, caption: &Text, index: usize) -> Table {
        let run = self.runs[index];
        let alone = self.of_part(vec![run], vec![self.names[index].clone()], Vec::new());
        let mut columns = vec![Column::left(text!("Test", "項目")), Column::right(text!("Figure", "値"))];
        columns.extend(["IOPS", "p50", "p99", "p99.9"].map(|title| Column::right(Text::same(title))));
        columns.push(Column::right(text!("Longest", "最長")));
        columns.push(Column::right(text!("Pauses", "停滞")));
        // Derived figures come first, because they are the purpose of the profile.
        let derived_row = |DerivedFigure { name, value, meaning, .. }: DerivedFigure| {
            let figure = Entry::number(derived::figure_words(value), value).role(Role::Strong);
            let mut entries = vec![name.into(), figure];
            entries.resize_with(columns.len(), Entry::missing);
            TableRow { entries, note: meaning }
        };
        let mut rows: Vec<TableRow> = derived::all(run).into_iter().map(derived_row).collect();
        let rows_alone = alone.rows();
        for row in &rows_alone {
            let Some(entry) = row.entries[0].as_ref() else { continue };
            rows.push(one_row(row, entry).into());
            rows.extend(
                entry.figures.separate_flush().map(|flush| flush_row(row, flush, columns.len()).into()),
            );
        }
        Table::new(columns, rows).without_blanks_from(2).on_page(caption, TableForm::Cards)
    }

    /// Returns the table of two runs: both figures, their ratio with its interval, and the verdict
    /// in words.
    pub(super) fn table_of_two(&self, caption: &Text, pair: &Pair) -> Table {
        let both = text!("○ baseline ● other, from 0", "○ 基準 ● 相手(左端は 0)");
        let ratio = Column::untitled().under(text!("slower ← 1 → faster", "遅い ← 1 → 速い"));
        let verdict = Column::left(text!("Verdict", "判定"))
            .under(text!("ratio, 95 % interval", "速さの比、95 % 区間"));
        let reach = reach(pair);
        let speed = |row: &CellRow<'_>| row.compared(1).map(|compared| compared.speed);
        let table = Table::of(self.rows())
            .left(text!("Test", "項目"), |row| row.name.clone())
            .column(Column::right(pair.names[0].clone()).under(text!("baseline", "基準")), |row| {
                side(row, 0)
            })
            .right(pair.names[1].clone(), |row| side(row, 1))
            .column(Column::untitled().under(both), |row| drawn(both_sides(row)))
            .column(ratio, |row| {
                drawn(speed(row).and_then(|speed| on_the_margin(&speed, pair.margin, reach)))
            })
            .column(verdict, |row| {
                let against = row.entries[1].as_ref().and_then(|entry| entry.against);
                let run = &pair.names[usize::from(row.entries[0].is_none())];
                let alone = || Entry::new(Role::Quiet, text!("only {run} has it", "{run} にしかない"; run));
                let figures = speed(row).as_ref().map(in_figures).unwrap_or_default();
                against.map_or_else(alone, verdict_entry).under(figures)
            });
        table.table().on_page(caption, TableForm::Cards)
    }

    /// Returns the latencies of all runs at a percentile, from 0 to 1: a row for each cell, a column
    /// for each run, and for two runs their ratio. Empty if no run has latencies.
    pub fn latencies(&self, share: f64) -> Doc {
        let latency =
            |row: &CellRow<'_>, index: usize| row.entries[index].as_ref()?.figures.percentile_ns(share);
        let rows: Vec<CellRow<'_>> = self.rows();
        let has_any = |row: &CellRow<'_>| (0..self.runs.len()).any(|index| latency(row, index).is_some());
        let rows: Vec<CellRow<'_>> = rows.into_iter().filter(has_any).collect();
        if rows.is_empty() {
            return Doc::new();
        }
        let mut table = Table::of(rows).left(text!("Test", "項目"), |row| row.name.clone());
        for (index, name) in self.names.iter().enumerate() {
            let under = if index == 0 { text!("baseline", "基準") } else { Text::default() };
            table = table.column(Column::right(name.clone()).under(under), |row| {
                Entry::number_of(latency(row, index).map(|ns| (number::latency_ns(ns), ns as f64)))
            });
        }
        if self.runs.len() == 2 {
            let speed = Column::right(text!("Speed", "速さの比"))
                .under(text!("above 1: faster", "1 より大きければ速い"));
            table = table.column(speed, |row| {
                let both = latency(row, 0).zip(latency(row, 1)).filter(|(_, other)| *other > 0);
                let speed = both.map(|(own, other)| own as f64 / other as f64);
                Entry::number_of(speed.map(|speed| (text_of_ratio(speed), speed)))
            });
        }
        let percentile = format!("p{}", number::percentile(share));
        let caption = text!("Latencies, {percentile}", "レイテンシ({percentile})");
        let note = text!(
            "{percentile}: this percentage of operations took at most this long. The ratio has no interval.",
            "{percentile}: この割合(%)の I/O が、この時間以内に完了しました。比に区間はありません。"
        );
        let mut doc = Doc::of(table.table().on_page(&caption, TableForm::Cards));
        doc.list(Purpose::Note, [note]).done()
    }

    /// Returns the table of a few runs: a row for each cell, a column for each run.
    fn side_by_side(&self, caption: &Text) -> Table {
        let mut table = Table::of(self.rows()).left(text!("Test", "項目"), |row| row.name.clone());
        for (index, (run, name)) in self.runs.iter().zip(&self.names).enumerate() {
            let under = if index == 0 { text!("baseline", "基準") } else { Text::same(&run.header.id) };
            let column = Column::right(name.clone()).under(under);
            table = table.column(column, |row| judged(row, index, true, false));
        }
        table.table().on_page(caption, TableForm::Sorts)
    }

    /// Returns the table of many runs: a row for each run, a column for each cell.
    fn row_each(&self, caption: &Text) -> Table {
        let with_hints = self.extent < Extent::OneTable;
        let mut table = Table::of(0..self.runs.len()).left(text!("Run", "測定"), |index| {
            let run = self.runs[*index];
            let under = remarks::labels(run).map_or_else(|| subject(run), Text::from);
            let under = under.map(|under| format!("{under} · {}", run.header.id));
            Entry::plain(self.names[*index].clone()).under(under)
        });
        for row in self.rows() {
            table = table.right(row.name.clone(), |index| judged(&row, *index, false, with_hints));
        }
        table.table().on_page(caption, TableForm::Wide)
    }
}

fn one_row(row: &CellRow<'_>, entry: &RunCell<'_>) -> Vec<Entry> {
    let figures = &entry.figures;
    let main = entry.value.map_or_else(Entry::missing, |value| {
        Entry::number(row.figure(value), value).role(Role::Strong).under(beside(row, entry))
    });
    let time = |ns: Option<u64>| Entry::number_of(ns.map(|ns| (number::latency_ns(ns), ns as f64)));
    let iops = figures.rate_iops.filter(|rate| figures.small_blocks && *rate > 0.0);
    let stalls = entry.stutter.map(|one| (number::count(one.stalls), one.stalls as f64));
    vec![
        row.name.clone().into(),
        main,
        Entry::number_of(iops.map(|rate| (number::iops(rate).number, rate))),
        time(figures.percentile_ns(0.5)),
        time(figures.percentile_ns(0.99)),
        time(figures.percentile_ns(0.999)),
        time(Some(figures.latency.max_ns).filter(|_| figures.latency.count > 0)),
        Entry::number_of(stalls),
    ]
}

/// Returns the row of a cell's flushes: their mean latency with their share of the time, and their
/// percentiles.
fn flush_row(row: &CellRow<'_>, flush: &FlushFigures, columns: usize) -> Vec<Entry> {
    let (name, call) = (&row.name, words::flush_call(flush.call));
    let time = |ns: f64| Entry::number(number::latency(ns), ns);
    let share = flush.share.map(number::percent);
    let share = share.map(|share| text!("{share} of the time", "時間の {share}")).unwrap_or_default();
    let mut entries = vec![
        text!("{name}, {call}", "{name}、{call}"; name, call).into(),
        time(flush.mean_ns).under(share),
        Entry::missing(),
        time(flush.p50_ns),
        time(flush.p99_ns),
    ];
    entries.resize_with(columns, Entry::missing);
    entries
}

/// Returns the text below a figure: its interval, and the mean if the figure is another statistic.
fn beside(row: &CellRow<'_>, entry: &RunCell<'_>) -> Text {
    if let Some(imported) = &entry.figures.cell.imported {
        return crate::run::imported::first_remark(imported);
    }
    let figures = &entry.figures;
    let mut words: Vec<Text> = Vec::new();
    let profile_statistic = figures
        .mean
        .filter(|mean| entry.value.is_some_and(|value| (value - mean.mean).abs() > 1e-9 * value.abs()));
    if let Some(mean) = profile_statistic {
        let mean = row.figure(mean.mean);
        words.push(text!("mean {mean}", "平均 {mean}"));
    }
    // Identical repetitions of a model have no spread.
    let spread = figures.mean.and_then(|mean| mean.half_width).is_some_and(|half| half > 0.0);
    words.extend(figures.interval().filter(|_| spread).map(Text::from));
    words.extend(figures.includes_flush());
    words.extend(figures.doubts());
    Text::join(words, [" · "; 2])
}

fn drawn(marks: Option<RowMarks>) -> Entry {
    Entry { shown: marks.map_or_else(EntryBody::default, EntryBody::RowMarks), ..Entry::default() }
}

/// Draws both sides of a row with the intervals of their means, on a scale from 0 for this row.
fn both_sides(row: &CellRow<'_>) -> Option<RowMarks> {
    let dot = |entry: &RunCell<'_>| {
        let half = entry.figures.mean.and_then(|mean| mean.half_width).unwrap_or(0.0);
        Some(entry.value?).map(|value| [value - half, value, value + half])
    };
    let dots = row.entries.iter().map(|entry| dot(entry.as_ref()?)).collect::<Option<Vec<_>>>()?;
    let most = dots.iter().map(|[_, value, _]| *value).fold(0.0, f64::max) * 1.1;
    (most > 0.0).then(|| RowMarks {
        dots: dots.into_iter().map(|dot| dot.map(|end| end / most)).collect(),
        band: None,
    })
}

/// Returns the logarithm of the largest ratio on the scale: that of the largest difference, and at
/// least twice as fast.
fn reach(pair: &Pair) -> f64 {
    let speeds = pair.cells.iter().filter_map(|cell| Some(cell.compared.as_ref()?.speed.value.ln().abs()));
    speeds.filter(|reach| reach.is_finite()).fold(2_f64.ln(), f64::max) * 1.1
}

/// Draws a ratio with its interval, over the margin within which a difference does not matter.
fn on_the_margin(speed: &Estimate, margin: f64, reach: f64) -> Option<RowMarks> {
    let place = |ratio: f64| 0.5 + ratio.ln() / (2.0 * reach);
    let (value, low, high) = drawn_ratio(speed)?;
    let band = Some([1.0 / (1.0 + margin), 1.0 + margin].map(place));
    Some(RowMarks { dots: vec![[low, value, high].map(place)], band })
}

/// Formats a ratio, as in `1.30 ×`.
fn ratio(speed: &Estimate) -> Text {
    text_of_ratio(speed.value)
}

fn text_of_ratio(speed: f64) -> Text {
    let times = number::fixed(speed, if speed >= 9.995 { 1 } else { 2 });
    text!("{times} ×", "{times} 倍")
}

/// Formats a ratio with its interval, as in `1.30 × · 1.27 to 1.34`. Computed figures have no
/// interval.
fn in_figures(speed: &Estimate) -> Text {
    let [low, high] = [speed.low, speed.high].map(|end| number::fixed(end, 2));
    let interval = (speed.low.is_finite() && low != high).then(|| text!("{low} to {high}", "{low}〜{high}"));
    Text::join([ratio(speed)].into_iter().chain(interval), [" · "; 2])
}

/// Puts the sign of a verdict before the text, and returns its role. Single figures have no verdict
/// and no sign.
fn signed(cell: &ComparedCell, compared: &Compared, words: Text) -> (Role, Text) {
    if cell.by_single_figures.is_some() {
        return (Role::Plain, words);
    }
    let (_, sign, role) = verdict_marks(compared.verdict);
    (role, words.map(|words| format!("{sign} {words}")))
}

fn verdict_entry(cell: &ComparedCell) -> Entry {
    let words = verdict(cell).1;
    match &cell.compared {
        Some(compared) => {
            let (role, words) = signed(cell, compared, words);
            Entry::number(words, compared.speed.value).role(role)
        }
        None => Entry::new(Role::Quiet, words),
    }
}

fn side(row: &CellRow<'_>, index: usize) -> Entry {
    let value = row.entries[index].as_ref().and_then(|entry| entry.value);
    Entry::number_of(value.map(|value| (row.figure(value), value)))
}

/// Returns a figure with the verdict on it, compared with the baseline, below.
fn judged(row: &CellRow<'_>, index: usize, in_words: bool, with_hints: bool) -> Entry {
    let figure = side(row, index);
    let Some(cell) = row.entries[index].as_ref().and_then(|entry| entry.against) else { return figure };
    let words = verdict(cell).1;
    let Some(compared) = &cell.compared else { return figure.under(words) };
    let (role, below) = signed(cell, compared, if in_words { words.clone() } else { ratio(&compared.speed) });
    let figure = figure.role(role).under(below);
    if !with_hints {
        return figure;
    }
    let (name, value) = (&row.name, row.entries[index].as_ref().and_then(|entry| entry.value));
    let value = Text::same(value.map_or(number::NONE.to_owned(), |value| row.figure(value).to_string()));
    Entry {
        hint: text!("{name} · {value}: {words}", "{name} · {value}: {words}"; name, value, words),
        ..figure
    }
}
