//! Checks records from outside beyond their JSON format, so that later code can rely on them.

use crate::{id, identity, label};
use kurabe_core::imported::{ImportedCell, PrintedFigure, PrintedStatistic};
use kurabe_core::profile::{MOST_RATE_IOPS, Profile, Rounds, Step};
#[cfg(feature = "postgres")]
use kurabe_core::record::RunSummary;
use kurabe_core::record::{Cell, LatencyRecord, OpsRecord, Repetition, RunRecord, VersusRecord};
use kurabe_core::workload::{BlockSize, OpKind, OpenLoop};
use kurabe_core::{Text, text};
use std::collections::BTreeMap;

/// A violated rule and its place.
#[derive(Debug)]
pub(crate) struct Fault {
    /// Path of the field from the record's root: `cells[2].step_index`.
    pub field: String,
    /// Explanation of the fault.
    pub message: Text,
}

type CheckResult = Result<(), Fault>;

/// Most notices of a run. A run has at most a few per cell, and each is shown.
const MOST_NOTICES: usize = 10_000;
/// Most cells of a run; a sweep has some hundreds.
const MOST_CELLS: usize = 100_000;
/// Most labels of a run, which users write.
const MOST_LABELS: usize = 1_000;

pub(crate) fn check(record: &RunRecord) -> CheckResult {
    let header = &record.header;
    require(id::is_well_formed(&header.id), "header.id", || {
        let id = &header.id;
        text!("`{id}` is not the id of a run", "`{id}` は測定の ID ではありません")
    })?;
    require(identity::is_well_formed(&header.identity), "header.identity", || {
        let identity = &header.identity;
        text!(
            "`{identity}` is not the identity of a run (a UUID)",
            "`{identity}` は測定の識別子(UUID)ではありません"
        )
    })?;
    check_time(&header.started_at, "header.started_at")?;
    if let Some(ended_at) = &record.ended_at {
        check_time(ended_at, "ended_at")?;
    }
    check_count("notices", record.notices.len(), MOST_NOTICES)?;
    check_count("cells", record.cells.len(), MOST_CELLS)?;
    check_labels(&record.labels)?;
    if let Some(profile) = &header.profile {
        check_profile(profile)?;
    }
    for (index, cell) in record.cells.iter().enumerate() {
        let field = format!("cells[{index}]");
        require(index == 0 || record.cells[index - 1].index < cell.index, format!("{field}.index"), || {
            text!("cells must be in the order of their index", "セルが index の順に並んでいません")
        })?;
        check_cell(cell, header.profile.as_ref().map(|profile| profile.steps.len()), &field)?;
    }
    require(header.origin.is_some() || header.profile.is_some(), "header.profile", || {
        text!("a run measured by kurabe needs a profile", "kurabe が測った記録にはプロファイルが必要です")
    })?;
    let place_holds =
        |versus: &VersusRecord| (versus.place as usize) < versus.targets.len() && versus.targets.len() > 1;
    require(header.versus.as_ref().is_none_or(place_holds), "header.versus", || {
        text!(
            "it needs two or more targets, and this run must be one of them",
            "対象は 2 つ以上で、この測定はその 1 つです"
        )
    })?;
    let all_named =
        |versus: &VersusRecord| versus.variants.is_empty() || versus.variants.len() == versus.targets.len();
    require(header.versus.as_ref().is_none_or(all_named), "header.versus", || {
        text!("either every target has a variant, or none has", "variants は全対象にあるか、1 つもないかです")
    })?;
    check_totals(&record.cells)
}

/// Checks an entry of the list of runs.
#[cfg(feature = "postgres")]
pub(crate) fn check_summary(summary: &RunSummary) -> CheckResult {
    check_time(&summary.started_at, "started_at")?;
    check_count("cell_count", summary.cell_count as usize, MOST_CELLS)?;
    check_labels(&summary.labels)
}

fn check_count(field: &str, count: usize, most: usize) -> CheckResult {
    require(count <= most, field, || {
        text!("{count} entries exceed the limit of {most} per run", "{count} 件あります(上限は {most} 件)")
    })
}

fn check_labels(labels: &BTreeMap<String, String>) -> CheckResult {
    check_count("labels", labels.len(), MOST_LABELS)?;
    labels.keys().try_for_each(|key| {
        label::check_label_key(key)
            .map_err(|error| Fault { field: "labels".to_owned(), message: error.what().clone() })
    })
}

fn check_profile(profile: &Profile) -> CheckResult {
    let field = "header.profile";
    require(
        profile.as_printed.as_ref().is_none_or(|unit| unit.bytes > 0),
        format!("{field}.as_printed"),
        || text!("a unit needs at least one byte", "単位は 1 バイト以上です"),
    )?;
    if let Some(rounds) = &profile.rounds {
        check_rounds(rounds, &format!("{field}.rounds"))?;
    }
    let preconditions = profile.preconditions.iter().map(|step| ("preconditions", step));
    let steps = profile.steps.iter().filter_map(|step| match step {
        Step::Io(step) => Some(("steps", &**step)),
        _ => None,
    });
    for (list, step) in preconditions.chain(steps) {
        check_pattern(&step.block_sizes, step.read_percent, step.open_loop, &format!("{field}.{list}"))?;
    }
    Ok(())
}

fn check_rounds(rounds: &Rounds, field: &str) -> CheckResult {
    require((2..=rounds.most).contains(&rounds.window), format!("{field}.window"), || {
        text!("the window must have from 2 to `most` rounds", "window は 2 以上、most 以下です")
    })?;
    let limits = [("excursion_percent", rounds.excursion_percent), ("slope_percent", rounds.slope_percent)];
    for (name, limit) in limits {
        require(limit.is_finite() && limit > 0.0, format!("{field}.{name}"), || {
            text!("a limit must be above zero", "限度は 0 より大きい値です")
        })?;
    }
    Ok(())
}

/// Checks the part that `io` steps and workloads have in common.
fn check_pattern(
    block_sizes: &[BlockSize],
    read_percent: u8,
    open_loop: Option<OpenLoop>,
    field: &str,
) -> CheckResult {
    require(!block_sizes.is_empty(), format!("{field}.block_sizes"), || {
        text!("at least one block size is needed", "ブロックサイズが 1 つ以上必要です")
    })?;
    let rate_holds = open_loop.is_none_or(|open| open.rate_iops > 0.0 && open.rate_iops <= MOST_RATE_IOPS);
    require(rate_holds, format!("{field}.open_loop.rate_iops"), || {
        text!(
            "a rate must be above zero and at most {MOST_RATE_IOPS} operations per second",
            "頻度は 0 より大きく、毎秒 {MOST_RATE_IOPS} 回までです"
        )
    })?;
    require(read_percent <= 100, format!("{field}.read_percent"), percent)
}

fn percent() -> Text {
    text!("a percentage must be from 0 to 100", "割合は 0 から 100 までです")
}

fn check_imported(imported: &ImportedCell, field: &str) -> CheckResult {
    require(imported.read_percent.is_none_or(is_percent), format!("{field}.read_percent"), percent)?;
    for (index, figure) in imported.figures.iter().enumerate() {
        check_figure(figure, &format!("{field}.figures[{index}]"))?;
    }
    for (index, series) in imported.series.iter().enumerate() {
        let finite = series.points.iter().all(|(at, value)| at.is_finite() && value.is_finite());
        require(finite, format!("{field}.series[{index}].points"), || {
            text!("a point must be finite", "点の値は有限でなければなりません")
        })?;
    }
    Ok(())
}

fn check_figure(figure: &PrintedFigure, field: &str) -> CheckResult {
    require(figure.value.is_finite() && figure.value >= 0.0, format!("{field}.value"), || {
        text!("a figure must be finite and not negative", "値は有限で、負であってはなりません")
    })?;
    if let PrintedStatistic::Percentile(share) = figure.statistic {
        require(is_percent(share), format!("{field}.statistic"), percent)?;
    }
    let factor = figure.correction.as_ref().map(|correction| correction.factor);
    require(
        factor.is_none_or(|factor| factor.is_finite() && factor > 0.0),
        format!("{field}.correction"),
        || text!("a factor must be finite and above zero", "係数は 0 より大きい有限の値です"),
    )
}

fn is_percent(share: f64) -> bool {
    (0.0..=100.0).contains(&share)
}

fn check_cell(cell: &Cell, step_count: Option<usize>, field: &str) -> CheckResult {
    if let Some(step_count) = step_count {
        require((cell.step_index as usize) < step_count, format!("{field}.step_index"), || {
            text!(
                "this step does not exist; the profile has {step_count} steps",
                "プロファイルのステップは {step_count} 個です"
            )
        })?;
    }
    if let Some(workload) = &cell.workload {
        check_pattern(
            &workload.block_sizes,
            workload.read_percent,
            workload.open_loop,
            &format!("{field}.workload"),
        )?;
    }
    if let Some(imported) = &cell.imported {
        check_imported(imported, &format!("{field}.imported"))?;
    }
    for (index, repetition) in cell.repetitions.iter().enumerate() {
        check_repetition(repetition, &format!("{field}.repetitions[{index}]"))?;
    }
    Ok(())
}

fn check_repetition(repetition: &Repetition, field: &str) -> CheckResult {
    for kind in OpKind::ALL {
        check_latency(&repetition.side(kind).latency, &format!("{field}.{}.latency", kind.word()))?;
    }
    if let Some(split) = &repetition.kernel {
        let means = [split.queue.mean_ns, split.device.mean_ns];
        let sound = means.iter().all(|mean_ns| mean_ns.is_finite() && *mean_ns >= 0.0);
        let rest = split.rest_mean_ns.is_none_or(f64::is_finite);
        require(sound && rest, format!("{field}.kernel"), || {
            text!("a time must be finite and not negative", "時間は有限で、負であってはなりません")
        })?;
        require(repetition.discarded, format!("{field}.discarded"), || {
            text!("a traced repetition must not be counted", "トレース付きの回は集計に含められません")
        })?;
    }
    for (index, sample) in repetition.samples.iter().enumerate() {
        let end = sample.offset_bytes.checked_add(sample.bytes);
        require(end.is_some(), format!("{field}.samples[{index}]"), || {
            text!("its end is larger than any device", "終わりの位置が大きすぎます")
        })?;
    }
    Ok(())
}

/// Contribution of a repetition to a total.
type Parts = fn(&Repetition) -> Vec<u64>;

fn of_kinds(repetition: &Repetition, figure: fn(&OpsRecord) -> u64) -> Vec<u64> {
    OpKind::ALL.map(|kind| figure(repetition.side(kind))).to_vec()
}

/// Checks that totals over a run fit a counter.
fn check_totals(cells: &[Cell]) -> CheckResult {
    let totals: [(&str, Parts); 10] = [
        ("bytes", |repetition| of_kinds(repetition, |ops| ops.bytes)),
        ("submitted", |repetition| of_kinds(repetition, |ops| ops.submitted)),
        ("failed", |repetition| of_kinds(repetition, |ops| ops.failed)),
        ("completed", |repetition| of_kinds(repetition, |ops| ops.completed.max(ops.latency.count))),
        ("elapsed_ns", |repetition| vec![repetition.elapsed_ns]),
        ("stall_count", |repetition| vec![repetition.stall_count]),
        ("unserved_operations", |repetition| vec![repetition.unserved_operations]),
        ("samples", |repetition| repetition.samples.iter().map(|sample| sample.bytes).collect()),
        ("traffic.read_bytes", |repetition| repetition.traffic.iter().map(|it| it.read_bytes).collect()),
        ("traffic.write_bytes", |repetition| repetition.traffic.iter().map(|it| it.write_bytes).collect()),
    ];
    for (name, parts) in totals {
        let total =
            cells.iter().flat_map(|cell| &cell.repetitions).flat_map(parts).try_fold(0_u64, u64::checked_add);
        require(total.is_some(), "cells", || {
            text!(
                "the total `{name}` of all repetitions is too large",
                "すべての繰り返しの `{name}` の合計が大きすぎます"
            )
        })?;
    }
    Ok(())
}

fn check_latency(latency: &LatencyRecord, field: &str) -> CheckResult {
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
    for (index, (lowest_ns, count)) in buckets.iter().enumerate() {
        let here = || format!("{field}.buckets[{index}]");
        require(index == 0 || buckets[index - 1].0 < *lowest_ns, here(), || {
            text!("buckets must ascend", "バケットが昇順に並んでいません")
        })?;
        require(lowest_ns % width_ns(*lowest_ns) == 0, here(), || {
            text!("no bucket begins at {lowest_ns} ns", "{lowest_ns} ns から始まるバケットはありません")
        })?;
        require(*count > 0, here(), || text!("a bucket needs at least one operation", "回数は 1 以上です"))?;
    }
    let (min_ns, max_ns) = (latency.min_ns, latency.max_ns);
    require(min_ns <= max_ns, format!("{field}.min_ns"), || {
        text!(
            "the minimum, {min_ns} ns, is larger than the maximum, {max_ns} ns",
            "最小値 {min_ns} ns が最大値 {max_ns} ns を超えています"
        )
    })?;
    // A very long latency may be counted in the last bucket, so the buckets may end below the
    // largest value.
    let inside = match (buckets.first(), buckets.last()) {
        (Some(first), Some(last)) => first.0 <= min_ns && last.0 <= max_ns,
        _ => max_ns == 0,
    };
    require(inside, format!("{field}.buckets"), || {
        text!(
            "the buckets do not match the range {min_ns} to {max_ns} ns",
            "バケットが {min_ns}〜{max_ns} ns と合いません"
        )
    })
}

/// Returns the width of a bucket, as defined in docs/record.md.
fn width_ns(lowest_ns: u64) -> u64 {
    if lowest_ns < 256 { 1 } else { 1 << (lowest_ns.ilog2() - 7) }
}

fn check_time(time: &str, field: &str) -> CheckResult {
    require(is_time(time), field, || {
        text!("`{time}` is not an RFC 3339 time", "`{time}` は RFC 3339 の日時ではありません")
    })
}

/// Returns whether the text has the form `2026-01-31T12:00:00.5+09:00` (or `Z`).
///
/// jiff accepts more than RFC 3339: a space instead of the `T`, or an offset without minutes.
fn is_time(time: &str) -> bool {
    let zone = time.get(19..).unwrap_or("").trim_start_matches(|c: char| c == '.' || c.is_ascii_digit());
    let is_long = time.as_bytes().get(10) == Some(&b'T') && (zone == "Z" || zone.len() == "+09:00".len());
    is_long && time.parse::<jiff::Timestamp>().is_ok()
}

fn require(holds: bool, field: impl Into<String>, message: impl FnOnce() -> Text) -> CheckResult {
    if holds { Ok(()) } else { Err(Fault { field: field.into(), message: message() }) }
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
            "2026-01-31T12:00:00+09",
            "2026-02-30T12:00:00Z",
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
