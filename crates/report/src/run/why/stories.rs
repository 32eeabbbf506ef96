//! Sentences that need more than the causes of one cell. They explain the extra cost of a copy
//! within a device compared with its halves, and the cost of requests that don't divide evenly
//! among the drives.

use super::account::{CauseTime, CellTime};
use kurabe_core::{Text, number, profile::CopyPart, record::Cell, text};

/// Minimum share of a copy from which the cost or saving of alternating reads and writes gets a
/// sentence.
const WORTH_TELLING: f64 = 0.03;
/// Maximum number of causes named for the cost of alternating.
const NAMED: usize = 3;
/// Counters of layers that distribute requests among drives. The first is the number of bytes on
/// the drive with the largest part of a request, the second the number per drive if all had the
/// same.
const SHARES: (&str, &str) = ("most-bytes", "even-bytes");
/// Ratio from which an uneven distribution gets a sentence.
const UNEVEN: f64 = 1.02;

/// Compares a copy within the target with reading alone and writing alone, and names the causes of
/// the difference.
pub(super) fn turns(cell: &Cell, time: &CellTime, times: &[(&Cell, CellTime)]) -> Option<Text> {
    if cell.part != CopyPart::Within.word() {
        return None;
    }
    let half = |part: CopyPart| {
        let same =
            times.iter().find(|(other, _)| other.step_index == cell.step_index && other.part == part.word());
        same.map(|(_, time)| time)
    };
    let halves = [half(CopyPart::ToMemory)?, half(CopyPart::FromMemory)?];
    let apart_ns: f64 = halves.iter().map(|half| half.each_ns).sum();
    let more_ns = time.each_ns - apart_ns;
    if more_ns.abs() < time.each_ns * WORTH_TELLING {
        return None;
    }
    let (apart, more) = (number::latency(apart_ns), number::latency(more_ns.abs()));
    if more_ns < 0.0 {
        return Some(text!(
            "Reading the file alone plus writing it alone takes {apart}; here both run concurrently, \
             which saves {more}.",
            "読むだけの時間と書くだけの時間の合計は {apart} です。ここでは読みと書きが並行して進むため、{more} 短くなっています。"
        ));
    }
    let grown = grown(time, &halves);
    let list = |pick: fn(&Text) -> &str, open: &str, close: &str, between: &str| {
        let each =
            grown.iter().map(|(name, ns)| format!("{open}{}{close} {}", pick(name), number::latency(*ns)));
        each.collect::<Vec<_>>().join(between)
    };
    let en = list(|name| &name.en, "\"", "\"", ", ");
    let ja = list(|name| &name.ja, "「", "」", "、");
    Some(text!(
        "Reading the file alone plus writing it alone takes {apart}; here reads and writes alternate, \
         which costs {more} more. The increase: {en}.",
        "読むだけの時間と書くだけの時間の合計は {apart} です。ここでは読みと書きが交互に入れ替わるため、{more} 余計にかかります。\
         増えたのは{ja} です。"
    ))
}

/// Returns the causes that take longer than in both halves together, largest increase first.
fn grown<'a>(time: &'a CellTime, halves: &[&CellTime]) -> Vec<(&'a Text, f64)> {
    let in_halves = |cause: &CauseTime| -> f64 {
        let all = halves.iter().flat_map(|half| &half.causes);
        all.filter(|other| other.is_same(cause)).map(|other| other.each_ns).sum()
    };
    let more = time.causes.iter().map(|cause| (&cause.name, cause.each_ns - in_halves(cause)));
    let mut grown: Vec<(&Text, f64)> =
        more.filter(|(_, ns)| *ns > time.each_ns * WORTH_TELLING / 3.0).collect();
    grown.sort_by(|a, b| b.1.total_cmp(&a.1));
    grown.truncate(NAMED);
    grown
}

/// Explains the effect of requests that don't divide evenly among the drives.
pub(super) fn remainder(time: &CellTime) -> Option<Text> {
    let count = |layer: &str, key: &str| {
        let count = time.counts.iter().find(|count| count.layer == layer && count.counter == key)?;
        Some(count.each)
    };
    time.counts.iter().filter(|count| count.counter == SHARES.0).find_map(|most| {
        let ratio = most.each / count(&most.layer, SHARES.1)?;
        (ratio.is_finite() && ratio >= UNEVEN).then_some(text!(
                "Requests do not divide evenly among the drives: the busiest drive has {ratio:.2} times \
                 an even share of a request, which ends only when that drive has finished.",
                "要求の長さがドライブの台数で割り切れません。最も多く受け持つドライブは均等割りの {ratio:.2} 倍を受け持ち、\
                 そのドライブが終わるまで要求は完了しません。"
        ))
    })
}
