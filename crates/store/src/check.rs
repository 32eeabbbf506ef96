//! What must hold in a record that comes from outside, beyond its form, so that nothing after it has to ask again.

use crate::{id, label};
use kurabe_core::record::{Cell, LatencyRecord, OpsRecord, Repetition, RunRecord};
use kurabe_core::{Text, text};

/// What does not hold, and where.
#[derive(Debug)]
pub(crate) struct Fault {
    /// The field, from the record's root: `cells[2].step_index`.
    pub field: String,
    /// What is wrong with it.
    pub what: Text,
}

type Verdict = Result<(), Fault>;

/// Checks a record.
pub(crate) fn check(record: &RunRecord) -> Verdict {
    let header = &record.header;
    require(id::is_well_formed(&header.id), "header.id", || {
        let id = &header.id;
        text!("`{id}` is not the id of a run", "`{id}` は測定の ID ではありません")
    })?;
    check_time(&header.started_at, "header.started_at")?;
    if let Some(ended_at) = &record.ended_at {
        check_time(ended_at, "ended_at")?;
    }
    for key in record.labels.keys() {
        label::check_key(key).map_err(|what| Fault { field: "labels".to_owned(), what })?;
    }
    for (place, cell) in record.cells.iter().enumerate() {
        let field = format!("cells[{place}]");
        require(place == 0 || record.cells[place - 1].index < cell.index, format!("{field}.index"), || {
            text!("cells must be in the order of their index", "セルが index の順に並んでいません")
        })?;
        check_cell(cell, header.profile.as_ref().map(|profile| profile.steps.len()), &field)?;
    }
    require(header.origin.is_some() || header.profile.is_some(), "header.profile", || {
        text!("a run that kurabe measured has a profile", "kurabe が測った記録にはプロファイルが必要です")
    })?;
    check_totals(&record.cells)
}

fn check_cell(cell: &Cell, step_count: Option<usize>, field: &str) -> Verdict {
    if let Some(step_count) = step_count {
        require((cell.step_index as usize) < step_count, format!("{field}.step_index"), || {
            text!("the profile has only {step_count} steps", "プロファイルのステップは {step_count} 個です")
        })?;
    }
    if let Some(workload) = &cell.workload {
        require(!workload.block_sizes.is_empty(), format!("{field}.workload.block_sizes"), || {
            text!("at least one block size is needed", "ブロックの大きさがひとつ以上必要です")
        })?;
    }
    for (place, figure) in cell.imported.iter().flat_map(|imported| &imported.figures).enumerate() {
        require(
            figure.value.is_finite() && figure.value >= 0.0,
            format!("{field}.imported.figures[{place}].value"),
            || text!("a figure is finite and not negative", "値は有限で、負であってはなりません"),
        )?;
    }
    for (place, repetition) in cell.repetitions.iter().enumerate() {
        check_repetition(repetition, &format!("{field}.repetitions[{place}]"))?;
    }
    Ok(())
}

fn check_repetition(repetition: &Repetition, field: &str) -> Verdict {
    let kinds = [("read", &repetition.read), ("write", &repetition.write), ("sync", &repetition.sync)];
    for (name, ops) in kinds {
        check_latency(&ops.latency, &format!("{field}.{name}.latency"))?;
    }
    Ok(())
}

type Figure = fn(&OpsRecord) -> u64;

/// Whatever is added up of a run must fit a counter.
fn check_totals(cells: &[Cell]) -> Verdict {
    let repetitions = || cells.iter().flat_map(|cell| &cell.repetitions);
    let totals: [(&str, Figure); 4] = [
        ("bytes", |ops| ops.bytes),
        ("submitted", |ops| ops.submitted),
        ("failed", |ops| ops.failed),
        ("completed", |ops| ops.completed.max(ops.latency.count)),
    ];
    for (name, figure) in totals {
        let total = repetitions()
            .flat_map(|repetition| [&repetition.read, &repetition.write, &repetition.sync])
            .try_fold(0_u64, |total, ops| total.checked_add(figure(ops)));
        require(total.is_some(), "cells", || {
            text!(
                "the `{name}` of all repetitions together are more than can be counted",
                "すべての繰り返しの `{name}` の合計が大きすぎます"
            )
        })?;
    }
    Ok(())
}

fn check_latency(latency: &LatencyRecord, field: &str) -> Verdict {
    let buckets = &latency.buckets;
    let total = buckets.iter().try_fold(0_u64, |total, (_, count)| total.checked_add(*count));
    let count = latency.count;
    require(total == Some(count), format!("{field}.buckets"), || {
        let total = total.map_or_else(|| "…".to_owned(), |total| total.to_string());
        text!(
            "the counts sum up to {total}, but `count` is {count}",
            "回数の合計は {total} ですが、`count` は {count} です"
        )
    })?;
    for (place, (lowest_ns, count)) in buckets.iter().enumerate() {
        let here = || format!("{field}.buckets[{place}]");
        require(place == 0 || buckets[place - 1].0 < *lowest_ns, here(), || {
            text!("buckets must ascend", "バケットが昇順に並んでいません")
        })?;
        require(lowest_ns % width_ns(*lowest_ns) == 0, here(), || {
            text!("no bucket begins at {lowest_ns} ns", "{lowest_ns} ns から始まるバケットはありません")
        })?;
        require(*count > 0, here(), || text!("a bucket has at least one operation", "回数は 1 以上です"))?;
    }
    let (min_ns, max_ns) = (latency.min_ns, latency.max_ns);
    require(min_ns <= max_ns, format!("{field}.min_ns"), || {
        text!(
            "the smallest, {min_ns} ns, is above the largest, {max_ns} ns",
            "最小値 {min_ns} ns が最大値 {max_ns} ns を超えています"
        )
    })?;
    // A very long latency may count in the last bucket there is, so the buckets may end below the largest value.
    let inside = match (buckets.first(), buckets.last()) {
        (Some(first), Some(last)) => first.0 <= min_ns && last.0 <= max_ns,
        _ => max_ns == 0,
    };
    require(inside, format!("{field}.buckets"), || {
        text!(
            "the buckets do not fit {min_ns} to {max_ns} ns",
            "バケットが {min_ns}〜{max_ns} ns と合いません"
        )
    })
}

/// The width of a bucket, as docs/record.md gives it.
fn width_ns(lowest_ns: u64) -> u64 {
    if lowest_ns < 256 { 1 } else { 1 << (lowest_ns.ilog2() - 7) }
}

fn check_time(words: &str, field: &str) -> Verdict {
    require(is_time(words), field, || {
        text!("`{words}` is not a time as RFC 3339 writes it", "`{words}` は RFC 3339 の日時ではありません")
    })
}

/// Whether words have the form `2026-01-31T12:00:00.5+09:00` (or `Z`).
fn is_time(words: &str) -> bool {
    let fits = |words: &str, form: &str| {
        words.len() == form.len()
            && words.bytes().zip(form.bytes()).all(|(byte, wanted)| match wanted {
                b'0' => byte.is_ascii_digit(),
                _ => byte == wanted,
            })
    };
    let Some((date_time, rest)) = words.split_at_checked(19) else { return false };
    let zone = match rest.strip_prefix('.') {
        Some(fraction) => {
            let zone = fraction.trim_start_matches(|digit: char| digit.is_ascii_digit());
            if zone.len() == fraction.len() {
                return false;
            }
            zone
        }
        None => rest,
    };
    fits(date_time, "0000-00-00T00:00:00") && (zone == "Z" || fits(zone, "+00:00") || fits(zone, "-00:00"))
}

fn require(holds: bool, field: impl Into<String>, what: impl FnOnce() -> Text) -> Verdict {
    if holds { Ok(()) } else { Err(Fault { field: field.into(), what: what() }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        for time in ["2026-01-31T12:00:00Z", "2026-01-31T12:00:00.25+09:00", "2026-01-31T12:00:00-03:30"] {
            assert!(is_time(time), "{time}");
        }
        for time in [
            "",
            "now",
            "2026-01-31 12:00:00Z",
            "2026-01-31T12:00:00",
            "2026-01-31T12:00:00.Z",
            "2026-01-31T12:00:0あ",
        ] {
            assert!(!is_time(time), "{time}");
        }
    }

    #[test]
    fn widths_of_buckets() {
        assert_eq!([0, 255, 256, 511, 512, 1024].map(width_ns), [1, 1, 2, 2, 4, 8]);
        assert_eq!(width_ns(u64::MAX), 1 << 56);
    }
}
