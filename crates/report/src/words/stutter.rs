//! Stutter in one line of plain language.

use kurabe_core::record::{Cell, RunRecord};
use kurabe_core::{Text, number, text, workload::Workload};
use kurabe_stats::{ReadsBesideWrites, Stutter, cell_latency, reads_beside_writes};

/// Minimum duration of a perceptible pause.
pub(crate) const FELT_NS: u64 = 100_000_000;

/// Ratio up to which two durations count as equal.
const NO_LONGER: f64 = 1.05;

/// Minimum duration of a measurement for which stalls are given per minute. For a shorter one, they
/// are only counted.
const LONG_ENOUGH_NS: u64 = 10_000_000_000;

/// Describes stutter, as in
/// `freezes for 0.8 s about 4 times a minute (5.3 % of the time), at worst for 2.1 s`.
/// `None` if it is imperceptible.
///
/// If most stalls are too short to be perceived individually, it says `pauses` instead of
/// `freezes`.
pub(crate) fn stutter_words(stutter: &Stutter) -> Option<Text> {
    if stutter.worst_ns < FELT_NS || stutter.stalls == 0 {
        return None;
    }
    let typical = number::latency_ns(stutter.typical_ns);
    let worst = number::latency_ns(stutter.worst_ns);
    let share = number::percent(stutter.stalled_share);
    let often = how_often(stutter);
    let least = if stutter.all_kept { Text::default() } else { text!("at least ", "少なくとも ") };
    if stutter.typical_ns >= FELT_NS && !stutter.stops_everything() {
        return Some(text!(
            "delays single operations by {typical} {often} while others continue, at worst by {worst}",
            "{often}、一部の操作を {typical} ほど待たせる(ほかの操作は進行、最長 {worst})";
            often
        ));
    }
    let does = if stutter.typical_ns < FELT_NS {
        text!("pauses", "停滞する")
    } else {
        text!("freezes", "止まる")
    };
    Some(text!(
        "{does} for {typical} {often} ({least}{share} of the time), at worst for {worst}",
        "{often}、{typical} ほど{does}({least}時間の {share}、最長 {worst})";
        does, often, least
    ))
}

fn how_often(stutter: &Stutter) -> Text {
    let times = number::whole(stutter.stalls as f64);
    match stutter.stalls_per_minute {
        _ if stutter.stalls == 1 => text!("once", "一度だけ"),
        _ if stutter.measured_ns < LONG_ENOUGH_NS => {
            let measured = number::latency_ns(stutter.measured_ns);
            text!("{times} times in {measured}", "測定時間 {measured} の間に {times} 回")
        }
        per_minute if per_minute >= 1.0 => {
            let times = number::whole(per_minute.round());
            text!("about {times} times a minute", "およそ毎分 {times} 回")
        }
        per_minute => {
            let minutes = number::whole((1.0 / per_minute).round().max(1.0));
            text!("about every {minutes} minutes", "およそ {minutes} 分に 1 回")
        }
    }
}

/// Describes a run without stalls by its longest operation. An operation is a stall only if it
/// takes far longer than the median of its kind. Therefore a run in which every operation takes 300
/// ms has no pause, but isn't steady either.
pub(crate) fn smooth_words(longest_ns: u64) -> Text {
    let longest = number::latency_ns(longest_ns);
    match longest_ns < FELT_NS {
        true => text!("steady, slowest operation {longest}", "安定(最も遅い I/O で {longest})"),
        false => text!(
            "no unusual pauses, but single operations take up to {longest}",
            "目立つ引っかかりはないが、1 回の I/O に最長 {longest} かかる"
        ),
    }
}

/// Returns the longest operation of cells with ordinary blocks, in ns. Blocks above 1 MiB take long
/// because of their size, and operations in a queue wait for each other.
pub(crate) fn longest_operation_ns<'a>(cells: impl Iterator<Item = &'a Cell>) -> Option<u64> {
    const LARGEST_BLOCK: u32 = 1 << 20;
    let is_meant = |one: &Workload| {
        one.iodepth.saturating_mul(one.threads) == 1 && one.largest_block_bytes() <= LARGEST_BLOCK
    };
    let alone = cells.filter(|cell| cell.imported.is_none() && cell.workload.as_ref().is_some_and(is_meant));
    alone.map(|cell| cell_latency(cell).max_ns).filter(|longest_ns| *longest_ns > 0).max()
}

/// Returns all facts about a cell's stutter, for the details. Empty if it never stalled.
pub(crate) fn stutter_items(stutter: &Stutter) -> Vec<Text> {
    let mut items = Vec::new();
    if stutter.stalls > 0 {
        let often =
            number::fixed(stutter.stalls_per_minute, if stutter.stalls_per_minute < 10.0 { 1 } else { 0 });
        let (typical, worst) = (number::latency_ns(stutter.typical_ns), number::latency_ns(stutter.worst_ns));
        let share = number::percent(stutter.stalled_share);
        items.push(text!("{often} pauses per minute", "毎分 {often} 回の停滞"));
        items.push(text!("typically {typical}, at worst {worst}", "通常 {typical}、最長 {worst}"));
        items.push(match stutter.all_kept {
            true => text!("paused for {share} of the time", "停滞は時間の {share}"),
            false => text!("paused for at least {share} of the time", "停滞は少なくとも時間の {share}"),
        });
    }
    if stutter.longest_silence_ns > 0 {
        let silence = number::latency_ns(stutter.longest_silence_ns);
        items.push(text!("no completion for up to {silence}", "完了が 1 つもなかった時間は最長 {silence}"));
    }
    if let Some(life) = &stutter.life {
        let (first, last) = (number::latency(life.first.mean_ns), number::latency(life.last.mean_ns));
        let (from, to) = (number::latency_ns(life.first.worst_ns), number::latency_ns(life.last.worst_ns));
        items.push(text!(
            "latency in the first third {first}, in the last {last}",
            "レイテンシは最初の 1/3 で {first}、最後の 1/3 で {last}"
        ));
        items.push(text!(
            "worst latency per 100 ms typically {from}, then {to}",
            "100 ms ごとの最悪値は通常 {from}、最後は {to}"
        ));
    }
    items
}

/// Returns the effect of writes on reads for each mixed cell of a run that also measured the same
/// reads alone, largest effect first.
pub(crate) fn reads_beside(record: &RunRecord) -> Vec<(&Cell, ReadsBesideWrites)> {
    let beside = |mixed: &Cell| record.cells.iter().find_map(|alone| reads_beside_writes(alone, mixed));
    let mut cells: Vec<(&Cell, ReadsBesideWrites)> =
        record.cells.iter().filter_map(|mixed| Some((mixed, beside(mixed)?))).collect();
    cells.sort_by(|a, b| b.1.ratio.total_cmp(&a.1.ratio));
    cells
}

/// Describes the effect of writes on reads, as in `reads take 7.2 times as long on average while
/// writing (p50 93.1 µs alone, 670 µs during writes; p99 …)`.
pub(crate) fn reads_beside_words(beside: &ReadsBesideWrites) -> Text {
    let (alone, with) = (number::latency_ns(beside.alone_p50_ns), number::latency_ns(beside.beside_p50_ns));
    let (slow, slower) = (number::latency_ns(beside.alone_p99_ns), number::latency_ns(beside.beside_p99_ns));
    let ratio = number::fixed(beside.ratio, if beside.ratio < 9.95 { 1 } else { 0 });
    let detail = text!(
        "p50 {alone} alone, {with} during writes; p99 {slow}, {slower}",
        "p50 は単独 {alone}、書き込み中 {with}。p99 は {slow}、{slower}"
    );
    let longer = |alone_ns: u64, beside_ns: u64| beside_ns as f64 > alone_ns as f64 * NO_LONGER;
    let median_longer = longer(beside.alone_p50_ns, beside.beside_p50_ns);
    let slow_longer = longer(beside.alone_p99_ns, beside.beside_p99_ns);
    let which = match (median_longer, slow_longer) {
        _ if beside.ratio >= NO_LONGER => {
            return text!(
                "reads take {ratio} times as long on average while writing ({detail})",
                "書き込み中は、読み出しの所要時間が平均 {ratio} 倍に延びます({detail})";
                detail
            );
        }
        (false, false) => {
            return text!(
                "reads take no longer while writing ({detail})",
                "書き込み中も読み出しは遅くなりません({detail})";
                detail
            );
        }
        (true, false) => text!("half of them do", "半数は遅くなります"),
        (false, true) => text!("the slowest do", "遅いものはさらに遅くなります"),
        (true, true) => text!("half of them and the slowest do", "半数と、遅いものは遅くなります"),
    };
    text!(
        "reads take no longer on average while writing, but {which} ({detail})",
        "書き込み中も読み出しの平均は変わりませんが、{which}({detail})";
        which, detail
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_stats::{Life, LifePart};

    fn stutter(stalls: u64, per_minute: f64, worst_ns: u64) -> Stutter {
        Stutter {
            measured_ns: 60_000_000_000,
            stalls,
            stalls_per_minute: per_minute,
            typical_ns: 800_000_000,
            worst_ns,
            stalled_share: 0.053,
            all_kept: true,
            longest_silence_ns: 0,
            alone: true,
            life: None,
        }
    }

    #[test]
    fn reads_beside_writes_are_told_as_how_many_times_as_long() {
        let beside = |ratio| ReadsBesideWrites {
            alone_p50_ns: 93_000,
            beside_p50_ns: 670_000,
            alone_p99_ns: 180_000,
            beside_p99_ns: 4_100_000,
            ratio,
        };
        let sentence = reads_beside_words(&beside(7.23));
        assert!(
            sentence
                .en
                .starts_with("reads take 7.2 times as long on average while writing (p50 93.0 µs alone"),
            "{}",
            sentence.en
        );
        assert!(
            sentence.ja.starts_with("書き込み中は、読み出しの所要時間が平均 7.2 倍に延びます"),
            "{}",
            sentence.ja
        );
        assert!(reads_beside_words(&beside(1.01)).en.starts_with("reads take no longer"));
    }

    #[test]
    fn who_wants_more_gets_all_of_it() {
        let life = |ms: u64| LifePart { mean_ns: ms as f64 * 1e6, worst_ns: ms * 10_000_000 };
        let all = Stutter {
            all_kept: false,
            longest_silence_ns: 300_000_000,
            life: Some(Life { first: life(2), last: life(9) }),
            ..stutter(4, 4.2, 2_100_000_000)
        };
        let items = Text::list(stutter_items(&all)).en;
        for part in [
            "4.2 pauses per minute",
            "at worst 2.10 s",
            "at least 5.3 %",
            "no completion for up to 300 ms",
            "2.00 ms, in the last 9.00 ms",
            "20.0 ms, then 90.0 ms",
        ] {
            assert!(items.contains(part), "{part}: {items}");
        }
        assert!(stutter_items(&stutter(0, 0.0, 0)).is_empty());
    }

    #[test]
    fn a_person_hears_how_long_and_how_often() {
        let words = stutter_words(&stutter(4, 4.2, 2_100_000_000)).unwrap();
        assert_eq!(
            words.en,
            "freezes for 800 ms about 4 times a minute (5.3 % of the time), at worst for 2.10 s"
        );
        assert_eq!(words.ja, "およそ毎分 4 回、800 ms ほど止まる(時間の 5.3 %、最長 2.10 s)");
        let rare = stutter_words(&stutter(2, 0.2, 2_100_000_000)).unwrap();
        assert!(rare.en.contains("about every 5 minutes"), "{}", rare.en);
        assert_eq!(stutter_words(&stutter(4, 4.0, 90_000_000)), None);
        assert_eq!(stutter_words(&stutter(0, 0.0, 0)), None);
    }

    #[test]
    fn a_short_measurement_is_not_told_by_the_minute_and_a_short_stall_is_no_freeze() {
        let short =
            Stutter { measured_ns: 1_400_000_000, typical_ns: 20_000_000, ..stutter(12, 514.0, 142_000_000) };
        let words = stutter_words(&short).unwrap();
        assert_eq!(
            words.en,
            "pauses for 20.0 ms 12 times in 1.40 s (5.3 % of the time), at worst for 142 ms"
        );
        assert_eq!(words.ja, "測定時間 1.40 s の間に 12 回、20.0 ms ほど停滞する(時間の 5.3 %、最長 142 ms)");
    }
}
