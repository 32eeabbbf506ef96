//! The bill of a program: its requests and their cost, then details by file and by phase. The
//! changes since another bill, with the cause before the times. The result for each limit of a
//! budget.

use super::bill_footing::footing;
use super::syscalls::{changed_syscalls, syscall_changes_table, syscalls_table};
use kurabe_chart::escape;
use kurabe_core::quantity::format_bytes_decimal;
use kurabe_core::{Text, number, shown, text};
use kurabe_doc::{Column, Cut, Doc, Entry, Table};
use kurabe_lab::{NO_FILES, UNMARKED};
use kurabe_price::{
    Bill, BudgetLine, ChangeCause, Changes, Count, CountChange, CountUnit, CountValues, DevicePrice,
    PhaseBill, PriceChange, RepeatedValue,
};
use serde::Serialize;
use std::fmt::Write;

/// Counts in the table, each with the counts of its parts: of the journal, random, empty, written again.
const LISTED: [(Count, &[Count]); 6] = [
    (Count::Flushes, &[Count::JournalFlushes, Count::EmptyFlushes]),
    (Count::Writes, &[Count::RandomWrites]),
    (Count::WrittenBytes, &[Count::RewrittenBytes]),
    (Count::Reads, &[Count::RandomReads]),
    (Count::ReadBytes, &[]),
    (Count::Discards, &[]),
];

/// Results for a priced program.
#[derive(Clone, Debug)]
pub struct Priced {
    /// The bill.
    pub bill: Bill,
    /// The changes since another bill.
    pub changes: Option<Changes>,
    /// The result for each limit of a budget.
    pub budget: Vec<BudgetLine>,
}

impl Priced {
    /// Returns all results for a reader.
    pub fn doc(&self) -> Doc {
        let mut doc = Doc::new();
        if let Some(changes) = &self.changes {
            doc.say(changes_line(changes)).append(changes_table(changes));
        }
        for line in self.budget.iter().filter(|line| line.is_over) {
            doc.say(over_line(line));
        }
        doc.say(bill_line(&self.bill))
            .gap()
            .append(counts_table(&self.bill))
            .append(prices_table(&self.bill))
            .append(phases_table(&self.bill))
            .append(files_table(&self.bill))
            .append(syscalls_table(&self.bill))
            .gap()
            .asides(&footing(&self.bill))
            .done()
    }

    /// Returns all results as Markdown for a comment on a pull request. Most of it is collapsed.
    pub fn markdown(&self, lang: kurabe_core::Lang) -> String {
        self.doc().markdown(lang)
    }

    /// Returns all results for scripts.
    pub fn script(&self) -> PricedLine<'_> {
        let Self { bill, changes, budget } = self;
        PricedLine { bill, changes: changes.as_ref(), budget, summary: bill_line(bill).en }
    }

    /// Returns the budget as passed and failed test cases in JUnit's XML.
    pub fn junit(&self, lang: kurabe_core::Lang) -> String {
        let failures = self.budget.iter().filter(|line| line.is_over).count();
        let mut xml = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"kurabe price\" tests=\"{}\" \
             failures=\"{failures}\">\n",
            self.budget.len()
        );
        for line in &self.budget {
            let name = escape(&line.key);
            let _ = write!(xml, "  <testcase classname=\"kurabe.price\" name=\"{name}\"");
            let words = escape(&over_line(line).take(lang));
            let _ = match line.is_over {
                true => writeln!(xml, "><failure message=\"{words}\"/></testcase>"),
                false => writeln!(xml, "/>"),
            };
        }
        xml + "</testsuite>\n"
    }
}

/// Returns the display name of a count.
fn count_name(count: Count) -> Text {
    match count {
        Count::Flushes => text!("flushes", "フラッシュ"),
        Count::EmptyFlushes => text!("flushes without data", "空のフラッシュ"),
        Count::JournalFlushes => text!("of the journal alone", "ジャーナルのみのフラッシュ"),
        Count::Writes => text!("writes", "書き込み回数"),
        Count::WrittenBytes => text!("written", "書き込み量"),
        Count::RandomWrites => text!("random writes", "ランダム書き込み回数"),
        Count::RewrittenBytes => text!("written again", "重ねて書いた量"),
        Count::Reads => text!("reads", "読み出し回数"),
        Count::ReadBytes => text!("read", "読み出し量"),
        Count::RandomReads => text!("random reads", "ランダム読み出し回数"),
        Count::Discards => text!("discards", "TRIM"),
        Count::DiscardedBytes => text!("discarded", "TRIM した量"),
        Count::AskedBytes => text!("written by the program", "プログラムが書いた量"),
    }
}

/// Formats the values of all recordings: one figure if all are equal, otherwise the mean and the
/// half-width of its interval.
pub(super) fn shown_values(values: &RepeatedValue, one: impl Fn(f64) -> String) -> String {
    let (mean, half) = values.interval();
    match values.is_exact() || !half.is_finite() {
        true => one(mean),
        false => format!("{} ± {}", one(mean), one(half)),
    }
}

fn shown_count(count: Count, values: &RepeatedValue) -> String {
    shown_values(values, |value| match count.unit() {
        CountUnit::Requests => number::whole(value),
        CountUnit::Bytes => format_bytes_decimal(value.round() as u64),
    })
}

pub(super) fn shown_time(ns: f64) -> String {
    number::latency_ns(ns.round() as u64)
}

fn value_of(counts: &CountValues, count: Count) -> RepeatedValue {
    counts.get(count.word()).cloned().unwrap_or_default()
}

fn shown_of(counts: &CountValues, count: Count) -> String {
    shown_count(count, &value_of(counts, count))
}

/// Summarizes the requests of the program, and the devices on which they take the shortest and the
/// longest time.
fn bill_line(bill: &Bill) -> Text {
    let shown = |count: Count| shown_of(&bill.counts, count);
    let (flushes, writes, reads) = (shown(Count::Flushes), shown(Count::Writes), shown(Count::Reads));
    let (written, read) = (shown(Count::WrittenBytes), shown(Count::ReadBytes));
    let plural = |count: &str, suffix: &'static str| if count == "1" { "" } else { suffix };
    let (flush_s, write_s, read_s) = (plural(&flushes, "es"), plural(&writes, "s"), plural(&reads, "s"));
    let asked = text!(
        "{flushes} flush{flush_s}, {writes} write{write_s} ({written}), {reads} read{read_s} ({read})",
        "フラッシュ {flushes} 回、書き込み {writes} 回({written})、読み出し {reads} 回({read})"
    );
    let by_time =
        |one: &&DevicePrice, other: &&DevicePrice| one.time_ns.mean().total_cmp(&other.time_ns.mean());
    let ends = bill.prices.iter().max_by(by_time).zip(bill.prices.iter().min_by(by_time));
    let Some((slowest, fastest)) = ends else { return asked };
    let on = |price: &DevicePrice| {
        let time = shown_time(price.time_ns.mean());
        let title = &price.title;
        text!("{time} ({title})", "{time}({title})"; title)
    };
    if bill.prices.len() == 1 {
        let on = on(slowest);
        return text!("{asked}: {on}", "{asked}: {on}"; asked, on);
    }
    let (longest, shortest) = (on(slowest), on(fastest));
    text!(
        "{asked}: {shortest} to {longest}",
        "{asked}: {shortest} ~ {longest}";
        asked, shortest, longest
    )
}

fn counts_table(bill: &Bill) -> Doc {
    let row = |(count, parts): (Count, &[Count])| {
        let is_there = |count: &Count| value_of(&bill.counts, *count).most() > 0;
        let beside = Text::list(parts.iter().copied().filter(is_there).map(|part| {
            let (name, shown) = (count_name(part), shown_of(&bill.counts, part));
            text!("{name}: {shown}", "{name}: {shown}"; name)
        }));
        let row = vec![count_name(count).into(), shown_of(&bill.counts, count).into(), beside.into()];
        is_there(&count).then_some(row)
    };
    let mut rows: Vec<Vec<Entry>> = LISTED.into_iter().filter_map(row).collect();
    if let Some(times) = bill.write_amplification() {
        let asked = shown_of(&bill.counts, Count::AskedBytes);
        let beside = text!("the program itself wrote {asked}", "プログラム自身の書き込み: {asked}");
        rows.push(vec![
            text!("write amplification", "書き込み増幅率").into(),
            number::ratio(times).into(),
            beside.into(),
        ]);
    }
    let columns = [Column::untitled(), Column::right(text!("", "")), Column::untitled().cut(Cut::Wrap)];
    Doc::of(Table::new(columns, rows))
}

fn prices_table(bill: &Bill) -> Doc {
    let shares = |price: &DevicePrice| {
        Text::list(price.shares.iter().filter(|share| share.share >= 0.005).map(|share| {
            let (name, percent) = (&share.name, number::percent(share.share));
            text!("{name} {percent}", "{name} {percent}"; name)
        }))
    };
    let mut table = Table::of(&bill.prices)
        .left(text!("on", "デバイス"), |price| price.title.clone())
        .right(text!("takes", "所要時間"), |price| shown_values(&price.time_ns, shown_time));
    if bill.prices.iter().any(|price| has_fewer_flushes(bill, price)) {
        let flushes = |price: &&DevicePrice| shown_count(Count::Flushes, &price.flushes);
        table = table.right(count_name(Count::Flushes), flushes);
    }
    let table = table.cut(Cut::Wrap, text!("of which", "内訳"), |price| shares(price));
    Doc::new().gap().push(table.table()).done()
}

/// Whether a device is so fast that some commits of the recording were not made on it.
pub(super) fn has_fewer_flushes(bill: &Bill, price: &DevicePrice) -> bool {
    let counted = bill.count(Count::Flushes);
    !price.flushes.0.is_empty() && counted.is_some_and(|counted| *counted != price.flushes)
}

fn phases_table(bill: &Bill) -> Doc {
    if bill.phases.is_empty() {
        return Doc::new();
    }
    let mut table = Table::of(&bill.phases).left(text!("phase", "フェーズ"), |phase| phase_name(phase));
    for count in [Count::Flushes, Count::WrittenBytes, Count::ReadBytes] {
        table = table.right(count_name(count), |phase| shown_of(&phase.counts, count));
    }
    for (place, price) in bill.prices.iter().enumerate() {
        table = table.right(price.title.clone(), |phase| {
            phase.times_ns.get(place).map_or_else(String::new, |times| shown_time(times.mean()))
        });
    }
    Doc::new().gap().push(table.table().parted_behind(1)).done()
}

pub(super) fn phase_name(phase: &PhaseBill) -> Text {
    match &phase.name {
        name if *name == UNMARKED[0] => text!("before the first mark", "最初の目印より前"),
        name if *name == UNMARKED[1] => text!("left in memory at the end", "終了時にメモリーに残っていた分"),
        name => Text::same(shown::line(name)),
    }
}

fn file_name(file: &str) -> Text {
    match file {
        "" => text!("metadata and deleted files", "メタデータと、削除されたファイル"),
        name if name == NO_FILES[0] => text!("folders", "フォルダー"),
        name if name == NO_FILES[1] => text!("journal of the file system", "ファイルシステムのジャーナル"),
        name => Text::same(shown::line(name)),
    }
}

fn files_table(bill: &Bill) -> Doc {
    let column = Column::left(text!("file", "ファイル")).cut(Cut::Front);
    let table = Table::of(&bill.files)
        .column(column, |file| file_name(&file.name))
        .right(count_name(Count::WrittenBytes), |file| shown_count(Count::WrittenBytes, &file.written_bytes))
        .right(count_name(Count::Writes), |file| shown_count(Count::Writes, &file.writes))
        .right(count_name(Count::Flushes), |file| shown_count(Count::Flushes, &file.flushes))
        .right(count_name(Count::ReadBytes), |file| shown_count(Count::ReadBytes, &file.read_bytes));
    Doc::new().gap().push(table.table()).done()
}

/// Describes a limit of a budget and the measured value.
fn over_line(line: &BudgetLine) -> Text {
    let words = |value: u64| match line.count {
        Some(count) => shown_count(count, &RepeatedValue(vec![value])),
        None => shown_time(value as f64),
    };
    let title = line.count.map_or_else(|| line.title.clone(), count_name);
    let (value, limit) = (words(line.value), words(line.limit));
    let kept = match line.is_over {
        true => text!("over budget", "予算超過"),
        false => text!("within budget", "予算内"),
    };
    text!("{kept}: {title}: {value}, at most {limit}", "{kept}: {title}: {value}(上限 {limit})"; kept, title)
}

/// Describes the first limit that is exceeded, for an error message. `None` if none is.
pub fn over_budget(lines: &[BudgetLine]) -> Option<Text> {
    let mut over = lines.iter().filter(|line| line.is_over);
    let first = over_line(over.next()?);
    let more = match over.count() {
        0 => text!("", ""),
        count => text!(" (and {count} more)", "(ほか {count} 件)"),
    };
    Some(text!("{first}{more}", "{first}{more}"; first, more))
}

/// Summarizes a change: the cause, then the counts that show it, then the times.
pub fn changes_line(changes: &Changes) -> Text {
    let Some(cause) = &changes.cause else {
        if changes.prices.iter().any(|price| price.is_changed) {
            return text!(
                "The counts are the same; times differ.",
                "回数と量は同じですが、時間が変わりました。"
            );
        }
        return match changes.syscalls.is_empty() {
            true => text!("Nothing changed.", "変化はありません。"),
            false => changed_syscalls(&changes.syscalls),
        };
    };
    let cause = cause_line(cause);
    let counts = Text::list(changes.counts.iter().filter(|change| is_told(change)).map(change_words));
    let slower = changes.prices.iter().filter(|price| price.is_changed).max_by(|one, other| {
        (one.now_ns.mean() - one.before_ns.mean())
            .abs()
            .total_cmp(&(other.now_ns.mean() - other.before_ns.mean()).abs())
    });
    match slower {
        None => {
            text!("{cause}: {counts}; the time is the same on every device.", "{cause}: {counts}。どのデバイスでも時間は変わりません。"; cause, counts)
        }
        Some(price) => {
            let (title, before, now) =
                (&price.title, shown_time(price.before_ns.mean()), shown_time(price.now_ns.mean()));
            text!(
                "{cause}: {counts}; {title}: {before} → {now}.",
                "{cause}: {counts}。{title}: {before} → {now}。";
                cause, counts, title
            )
        }
    }
}

/// Checks whether a count is important enough for the summary.
fn is_told(change: &CountChange) -> bool {
    matches!(change.which, Count::Flushes | Count::WrittenBytes | Count::ReadBytes | Count::AskedBytes)
}

fn change_words(change: &CountChange) -> Text {
    let name = count_name(change.which);
    let (before, now) = (shown_count(change.which, &change.before), shown_count(change.which, &change.now));
    text!("{name} {before} → {now}", "{name} {before} → {now}"; name)
}

fn cause_line(cause: &ChangeCause) -> Text {
    let (file, ratio) = match cause {
        ChangeCause::Flushes { file, ratio, .. }
        | ChangeCause::Commits { file, ratio }
        | ChangeCause::Written { file, ratio }
        | ChangeCause::Read { file, ratio } => (file.as_deref(), *ratio),
        ChangeCause::Order => {
            return text!(
                "The amount of I/O is the same, in other sizes or another order",
                "総量はほぼ同じですが、分け方か順序が変わりました"
            );
        }
    };
    let file = file.map_or_else(|| text!("several files", "複数のファイル"), file_name);
    let is_more = ratio > 1.0;
    let times = number::ratio(if is_more { ratio } else { 1.0 / ratio.max(1e-9) });
    // The ratio to the earlier count, and the Japanese verb for an increase or a decrease.
    let (share, changed) = match is_more {
        true => (text!("{times} times", "{times} 倍"), "増えました"),
        false => (text!("1/{times}", "1/{times} "), "減りました"),
    };
    match (cause, is_more) {
        (ChangeCause::Flushes { each_write: true, .. }, _) => text!(
            "Each write to {file} now waits for the medium",
            "{file} への書き込みのたびに媒体への反映を待つようになりました"; file
        ),
        (ChangeCause::Flushes { .. }, _) => text!(
            "The same data are flushed {share} as often, after writes to {file}",
            "同じデータのフラッシュが {share}に{changed}({file} への書き込みの後)"; share, file
        ),
        (ChangeCause::Commits { .. }, true) => text!(
            "There are {times} times as many commits, and the program itself writes more, mostly to \
             {file}",
            "コミットの単位が細かくなり({times} 倍の回数)、プログラム自身の書き込みも増えました(主に {file})"; file
        ),
        (ChangeCause::Commits { .. }, false) => text!(
            "There are 1/{times} as many commits, and the program itself writes less, mostly to {file}",
            "コミットの単位が大きくなり(回数は 1/{times})、プログラム自身の書き込みも減りました(主に {file})"; file
        ),
        (ChangeCause::Written { .. }, _) => text!(
            "{share} as much is written, mostly to {file}",
            "書き込み量が {share}に{changed}(主に {file})"; share, file
        ),
        _ => text!(
            "{share} as much is read, mostly from {file}",
            "読み出し量が {share}に{changed}(主に {file})"; share, file
        ),
    }
}

fn changes_table(changes: &Changes) -> Doc {
    let mut doc = Doc::new();
    if !changes.counts.is_empty() {
        let table = Table::of(&changes.counts)
            .left(text!("changed", "変化"), |change: &&CountChange| count_name(change.which))
            .right(text!("before", "以前"), |change| shown_count(change.which, &change.before))
            .right(text!("now", "今回"), |change| shown_count(change.which, &change.now));
        doc.gap().push(table.table());
    }
    doc.append(syscall_changes_table(&changes.syscalls));
    if !changes.counts.is_empty() || changes.prices.iter().any(|price| price.is_changed) {
        let ratio = |price: &&PriceChange| match price.is_changed {
            true => Text::same(number::ratio(price.ratio)),
            false => text!("no change", "変化なし"),
        };
        let table = Table::of(&changes.prices)
            .left(text!("on", "デバイス"), |price: &&PriceChange| price.title.clone())
            .right(text!("before", "以前"), |price| shown_values(&price.before_ns, shown_time))
            .right(text!("now", "今回"), |price| shown_values(&price.now_ns, shown_time))
            .right(text!("times", "倍率"), ratio);
        doc.gap().push(table.table());
    }
    if changes.other_kernel {
        doc.gap().asides(&text!(
            "The kernel differs from that of the earlier bill: its file system may add other I/O \
             without a change of the program.",
            "カーネルが以前と違います。プログラムが同じでも、ファイルシステムが加える I/O は変わることがあります。"
        ));
    }
    if changes.other_tick {
        doc.gap().asides(&text!(
            "The earlier bill was recorded with another pacing of flushes, which changes the number of \
             commits: record it again on this machine.",
            "以前の明細は、フラッシュの応答の間隔が違う条件で記録されており、ファイルシステムのコミット回数が変わります。以前の明細をこのマシンで記録し直してください。"
        ));
    }
    doc.gap();
    doc
}

/// A bill, with the changes since another one and the results for a budget.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PricedLine<'a> {
    #[serde(flatten)]
    bill: &'a Bill,
    /// The changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<&'a Changes>,
    /// The result for each limit.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    budget: &'a [BudgetLine],
    /// The bill in a sentence.
    summary: String,
}
