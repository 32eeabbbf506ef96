//! The answer in a sentence or a few, before any table: what one run found, or how runs compare.
//!
//! The model: of one run what its profile is there for (the figures that it derives, reads beside writes), the best
//! rates in each direction, small random operations one at a time, and whether it stutters; of two the count of verdicts and the largest difference that is sure; of more which is the
//! fastest, and which are faster or slower than the baseline. Nothing is said that the table does not hold.

use super::Report;
use super::rows::{CellRow, RunCell};
use crate::compare::answer;
use crate::compare::facts::Spoken;
use crate::compare::fastest::fastest_words;
use crate::compare::verdict::verdict_words;
use crate::run::derived;
use crate::words;
use crate::words::stutter::{reads_beside, reads_beside_words, slow_operation, stutter_words};
use kurabe_compare::{CellKey, ComparedCell, Pair, Weight};
use kurabe_core::quantity::format_bytes;
use kurabe_core::record::{Measure, RunRecord, RunStatus};
use kurabe_core::workload::Direction;
use kurabe_core::{Text, number, text};
use kurabe_stats::Verdict;

/// What programs and file systems ask for at once, at least.
const USUAL_BLOCK_BYTES: u64 = 4096;

impl Report<'_> {
    /// The answer: sentences in the order of weight, as one text.
    pub fn answer(&self) -> Text {
        Text::sentences(match self.pairs.as_slice() {
            [] => self.of_one(),
            [_] => self.of_two(),
            pairs => {
                let fastest = self.fastest.iter().map(|fastest| fastest_words(fastest, &self.names));
                fastest.chain([of_many(&self.names[0], pairs)]).collect()
            }
        })
    }

    fn of_one(&self) -> Vec<Text> {
        let rows = self.rows();
        let record = self.runs[0];
        let mut sentences = Vec::new();
        if record.header.model.is_some() {
            sentences.push(text!(
                "A model in virtual time, not a device.",
                "実機ではなく、仮想時間のモデルです。"
            ));
        }
        let before = sentences.len();
        sentences.extend(self.main_results());
        sentences.extend(best_rates(&rows));
        sentences.extend(one_at_a_time(&rows));
        if sentences.len() == before {
            sentences.extend(first_figures(&rows));
        }
        if sentences.len() == before {
            sentences.push(text!("Nothing was measured.", "測定された項目はありません。"));
        }
        sentences.extend(stutter(&rows));
        if record.status != RunStatus::Complete {
            sentences.push(text!("The run stopped before its end.", "この測定は途中で終わっています。"));
        }
        sentences
    }

    fn of_two(&self) -> Vec<Text> {
        let pair = &self.pairs[0];
        let mut sentences = self.main_results();
        sentences.push(answer(pair));
        sentences.extend(largest(pair, &self.rows()));
        let doubts = pair.differences.iter().filter(|difference| difference.weight == Weight::Decisive);
        let decisive: Vec<Text> = doubts.map(|difference| Spoken::from(difference).name).collect();
        if !decisive.is_empty() {
            let decisive = Text::list(decisive);
            sentences.push(text!(
                "Mind that they also differ in what can make figures incomparable: {decisive}.",
                "ただし、比較そのものを損なうおそれのある違いがあります: {decisive}。";
                decisive
            ));
        }
        sentences
    }

    /// What a run was made for, where that is not a rate: the figures that its profile derives, and what reads suffer beside
    /// writes; of the only run, or of both.
    fn main_results(&self) -> Vec<Text> {
        let derived = match self.runs.as_slice() {
            [one, other] => derived::side_by_side(one, other, &self.names),
            [one, ..] => derived::sentences(one),
            [] => Vec::new(),
        };
        let several = self.runs.len() > 1;
        let worst = self.runs.iter().zip(&self.names).filter_map(|(run, name)| {
            let words = beside_writes(run).into_iter().next()?;
            Some(if several { text!("{name} · {words}", "{name} · {words}"; name, words) } else { words })
        });
        derived.into_iter().chain(worst).collect()
    }
}

/// What the reads of each mixed cell suffer, the worst first.
pub(super) fn beside_writes(record: &RunRecord) -> Vec<Text> {
    let sentence = |(cell, beside)| {
        let (name, words) = (Text::same(words::label(cell).en), reads_beside_words(&beside));
        text!("{name}: {words}.", "{name}: {words}。"; name, words)
    };
    reads_beside(record).into_iter().map(sentence).collect()
}

/// The one entry of a row in the report of one run.
fn only<'r, 'a>(row: &'r CellRow<'a>) -> Option<(&'r RunCell<'a>, f64)> {
    let entry = row.entries.first()?.as_ref()?;
    Some((entry, entry.value?))
}

/// The rates of the one run.
fn rates<'r, 'a>(rows: &'r [CellRow<'a>]) -> impl Iterator<Item = (&'r CellKey, &'r RunCell<'a>, f64)> {
    let rates = rows.iter().filter(|row| row.measure == Measure::Rate);
    rates.filter_map(|row| only(row).map(|(entry, rate)| (&row.key, entry, rate)))
}

/// The highest rate of each direction.
fn best_rates(rows: &[CellRow<'_>]) -> Option<Text> {
    let best = |direction: Direction| {
        let of_direction =
            rates(rows).filter(|(_, entry, _)| entry.figures.cell.direction == Some(direction));
        of_direction.map(|(.., rate)| rate).max_by(f64::total_cmp).map(number::rate)
    };
    match (best(Direction::Read), best(Direction::Write)) {
        (Some(read), Some(write)) => Some(text!(
            "It reads at up to {read} and writes at up to {write}.",
            "読み出しは最大 {read}、書き込みは最大 {write} です。"
        )),
        (Some(read), None) => Some(text!("It reads at up to {read}.", "読み出しは最大 {read} です。")),
        (None, Some(write)) => Some(text!("It writes at up to {write}.", "書き込みは最大 {write} です。")),
        (None, None) => None,
    }
}

/// Small random operations one after another: what a program that waits for each feels.
fn one_at_a_time(rows: &[CellRow<'_>]) -> Option<Text> {
    let find = |of_direction: &str| {
        let alone = rates(rows).filter_map(|(key, entry, rate)| match key {
            CellKey::Io { sequential: false, block_bytes, iodepth: 1, threads: 1, direction, .. }
                if direction == of_direction && rate > 0.0 =>
            {
                let span_bytes = entry.figures.cell.workload.as_ref().map_or(0, |one| one.span_bytes);
                Some((*block_bytes, std::cmp::Reverse(span_bytes), rate))
            }
            _ => None,
        });
        // Neither what only a cache serves nor a rare block size is what a program feels.
        let usual =
            alone.min_by_key(|(bytes, span_bytes, _)| (*bytes != USUAL_BLOCK_BYTES, *bytes, *span_bytes));
        usual.map(|(block_bytes, _, rate)| (block_bytes, rate))
    };
    let (read, write) = (find("read"), find("write"));
    let block_bytes = read.or(write)?.0;
    let each = |rate: Option<(u64, f64)>| {
        let (bytes, rate) = rate.filter(|(bytes, _)| *bytes == block_bytes)?;
        Some(number::latency(bytes as f64 * 1e9 / rate).to_string())
    };
    let block = format_bytes(block_bytes);
    Some(match (each(read), each(write)) {
        (Some(read), Some(write)) => text!(
            "A random read of {block}, one at a time, takes {read} on average, a write {write}.",
            "{block} のランダムアクセスを 1 つずつ行うと、1 回あたり平均で読み出し {read}、書き込み {write} です。"
        ),
        (Some(time), None) | (None, Some(time)) => {
            let which = words::direction(if read.is_some() { Direction::Read } else { Direction::Write });
            text!(
                "A random {which} of {block}, one at a time, takes {time} on average.",
                "{block} のランダム{which}を 1 つずつ行うと、1 回あたり平均 {time} です。";
                which
            )
        }
        (None, None) => return None,
    })
}

/// Figures of runs that have no rates: times.
fn first_figures(rows: &[CellRow<'_>]) -> Vec<Text> {
    let sentence = |row: &CellRow<'_>| {
        let (_, value) = only(row)?;
        let (name, time) = (&row.name, Text::from(number::measured(row.measure, value)));
        Some(match row.measure {
            Measure::AccessTime => {
                text!("An access ({name}) takes {time} on average.", "アクセス({name})は平均 {time} です。"; name, time)
            }
            _ => text!("{name} takes {time}.", "「{name}」: {time}。"; name, time),
        })
    };
    rows.iter().filter_map(sentence).take(3).collect()
}

/// The cell that stutters worst; nothing where kurabe measured none.
fn stutter(rows: &[CellRow<'_>]) -> Option<Text> {
    let measured: Vec<_> = rows.iter().filter_map(|row| Some((row, only(row)?.0.stutter?))).collect();
    let worst = measured
        .iter()
        .filter_map(|(row, stutter)| Some((row, stutter, stutter_words(stutter)?)))
        .max_by(|(_, one, _), (_, two, _)| one.stalled_share.total_cmp(&two.stalled_share));
    match worst {
        Some((row, _, felt)) => {
            let name = &row.name;
            Some(text!("In {name} it {felt}.", "{name}では{felt}。"; name, felt))
        }
        None if measured.is_empty() => None,
        None => Some(match slow(rows) {
            None => text!("No stall was long enough to be felt.", "体感されるような停滞はありません。"),
            Some((name, longest_ns)) => {
                let longest = Text::same(number::latency_ns(longest_ns));
                text!(
                    "No stall stands out, but operations take up to {longest} ({name}).",
                    "際立った停滞はありませんが、1 回の操作に最長 {longest} かかります({name})。";
                    longest, name
                )
            }
        }),
    }
}

/// The longest operation that a person would feel, with its cell.
pub(super) fn slow(rows: &[CellRow<'_>]) -> Option<(Text, u64)> {
    let cells = rows.iter().flat_map(|row| row.entries.iter().flatten().map(move |entry| (row, entry)));
    let longest = cells.filter_map(|(row, entry)| {
        let (_, longest_ns) = slow_operation(std::iter::once(entry.figures.cell))?;
        Some((row.name.clone(), longest_ns))
    });
    longest.max_by_key(|(_, longest_ns)| *longest_ns)
}

/// The largest difference that is sure.
fn largest(pair: &Pair, rows: &[CellRow<'_>]) -> Option<Text> {
    let sure = |cell: &&ComparedCell| {
        cell.compared
            .as_ref()
            .is_some_and(|compared| matches!(compared.verdict, Verdict::Faster | Verdict::Slower))
    };
    let weight = |cell: &ComparedCell| cell.compared.as_ref().map_or(0.0, |one| one.speed.value.ln().abs());
    let mut cells: Vec<&ComparedCell> = pair.cells.iter().filter(sure).collect();
    cells.sort_by(|one, two| weight(two).total_cmp(&weight(one)));
    let cell = cells.first().filter(|_| cells.len() > 1)?;
    let words = verdict_words(cell.compared.as_ref()?).1;
    let of_it = |row: &&CellRow<'_>| {
        let against = row.entries.get(1).and_then(Option::as_ref).and_then(|entry| entry.against);
        against.is_some_and(|against| std::ptr::eq(against, *cell))
    };
    let name = &rows.iter().find(of_it)?.name;
    Some(text!(
        "The largest difference is in {name}: {words}.",
        "最も差が大きいのは「{name}」({words})。";
        name, words
    ))
}

/// Runs of one outcome that are named; more are counted.
const NAMED: usize = 4;

/// Which runs are faster or slower than the baseline, by whether all their sure cells agree.
fn of_many(baseline: &Text, pairs: &[Pair]) -> Text {
    let outcome = |pair: &Pair| {
        let verdicts: Vec<Verdict> =
            pair.cells.iter().filter_map(|cell| Some(cell.compared.as_ref()?.verdict)).collect();
        let any = |verdict: Verdict| verdicts.contains(&verdict);
        match (any(Verdict::Faster), any(Verdict::Slower)) {
            (true, false) => 0,
            (false, true) => 1,
            (true, true) => 2,
            (false, false) if !verdicts.is_empty() && verdicts.iter().all(|one| *one == Verdict::Same) => 3,
            (false, false) => 4,
        }
    };
    let kinds = [
        text!("faster in some cells and slower in none", "速い(遅い項目なし)"),
        text!("slower in some cells and faster in none", "遅い(速い項目なし)"),
        text!("faster in some cells and slower in others", "項目により速くも遅くもある"),
        text!("not measurably different in any cell", "有意な差なし"),
        text!("not clear yet", "まだ判断できない"),
    ];
    let groups = kinds.into_iter().enumerate().filter_map(|(index, kind)| {
        let runs: Vec<&Text> =
            pairs.iter().filter(|pair| outcome(pair) == index).map(|pair| &pair.names[1]).collect();
        let more = runs.len().saturating_sub(NAMED);
        let mut names: Vec<Text> = runs.into_iter().take(NAMED).cloned().collect();
        names.extend((more > 0).then(|| text!("{more} more", "ほか {more} 件")));
        let names = Text::list(names);
        (!names.is_empty()).then(|| text!("{kind}: {names}", "{kind}: {names}"; kind, names))
    });
    let groups = Text::join(groups, ["; ", "。"]);
    text!(
        "Held against {baseline}: {groups}.",
        "基準 {baseline} との比較です。{groups}。";
        baseline, groups
    )
}
