//! What holds for every record: rendering does not panic, and keeps to the width where words allow it.

mod common;

use kurabe_core::profile::Statistic;
use kurabe_core::record::*;
use kurabe_core::workload::{Direction, OpKind};
use kurabe_core::{Lang, Text};
use kurabe_report::*;
use proptest::prelude::*;

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0u64), Just(1), 0..1_000_000u64, 0..100_000_000_000u64, any::<u64>()]
}

fn share() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), 0.0..1.0f64, Just(1e18)]
}

/// A count or a sum of a histogram: huge, but such that a few of them still add up, as kurabe-stats expects.
fn part() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0u64), Just(1), 0..1_000_000u64, 0..1u64 << 56]
}

fn latency() -> impl Strategy<Value = LatencyRecord> {
    (part(), number(), number(), part(), proptest::collection::vec((part(), part()), 0..4)).prop_map(
        |(count, min_ns, max_ns, sum_ns, mut buckets)| {
            buckets.sort_unstable();
            LatencyRecord { count, min_ns: min_ns.min(max_ns), max_ns, sum_ns, buckets }
        },
    )
}

fn ops() -> impl Strategy<Value = OpsRecord> {
    (number(), number(), number(), latency()).prop_map(|(completed, failed, bytes, latency)| OpsRecord {
        submitted: completed,
        completed,
        failed,
        bytes,
        latency,
    })
}

fn series() -> impl Strategy<Value = Series> {
    (number(), proptest::collection::vec((number(), number()), 0..6)).prop_map(|(interval_ns, bytes)| {
        Series {
            interval_ns,
            intervals: bytes
                .into_iter()
                .map(|(read_bytes, write_bytes)| Interval { read_bytes, write_bytes, ..Interval::default() })
                .collect(),
        }
    })
}

fn repetition() -> impl Strategy<Value = Repetition> {
    let stalls = proptest::collection::vec((number(), number(), number(), number()), 0..3);
    let rest = (any::<bool>(), number(), number(), proptest::option::of(number()), any::<bool>());
    (ops(), ops(), ops(), series(), stalls, rest, share(), proptest::option::of((number(), share())))
        .prop_map(|(read, write, sync, series, stalls, rest, generator_share, noise)| {
            let (discarded, started_ns, elapsed_ns, end_sync_ns, generator_bound) = rest;
            Repetition {
                index: 0,
                discarded,
                seed: 0,
                started_ns,
                elapsed_ns,
                read,
                write,
                sync,
                end_sync_ns,
                series,
                stall_count: stalls.len() as u64,
                stalls: stalls
                    .into_iter()
                    .map(|(at_ns, length_ns, offset_bytes, operations)| Stall {
                        at_ns,
                        length_ns,
                        kind: OpKind::Sync,
                        offset_bytes,
                        operations,
                    })
                    .collect(),
                stall_threshold_ns: started_ns,
                cpu: CpuUse { user_ns: elapsed_ns, system_ns: started_ns },
                generator_share,
                generator_bound,
                unserved_operations: 0,
                noise: Noise {
                    other_read_bytes: noise.map(|noise| noise.0),
                    steal_share: noise.map(|noise| noise.1),
                    ..Noise::default()
                },
            }
        })
}

fn record() -> impl Strategy<Value = RunRecord> {
    let cell = (0..3usize, 0..3u32, "\\PC{0,40}", proptest::collection::vec(repetition(), 0..4));
    let statistic = prop_oneof![Just(Statistic::Mean), Just(Statistic::Median), Just(Statistic::Best)];
    let status = prop_oneof![
        Just(RunStatus::Running),
        Just(RunStatus::Complete),
        Just(RunStatus::Interrupted),
        Just(RunStatus::Failed)
    ];
    let fill = proptest::option::of((number(), number(), number()));
    (proptest::collection::vec(cell, 0..5), statistic, status, fill, ".{0,80}").prop_map(
        |(cells, statistic, status, fill, words)| {
            let mut record = common::run();
            record.header.profile.statistic = statistic;
            record.header.target.given = words.clone();
            record.header.started_at = words.clone();
            record.status = status;
            record.error = Some(Text::same(words));
            record.fill = fill.map(|(asked_bytes, written_bytes, elapsed_ns)| FillRecord {
                asked_bytes,
                written_bytes,
                elapsed_ns,
            });
            let model = record.cells[0].clone();
            record.cells = cells
                .into_iter()
                .map(|(direction, step_index, label, repetitions)| Cell {
                    direction: Direction::ALL[direction],
                    step_index,
                    label,
                    repetitions,
                    ..model.clone()
                })
                .collect();
            record
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn no_record_makes_rendering_panic(record in record(), width in 0usize..200, color: bool, japanese: bool) {
        let lang = if japanese { Lang::Ja } else { Lang::En };
        let style = Style { lang, color, width };
        render_run(&record, &common::headline(), &style);
        render_details(&record, &style);
        render_header(&record.header, &common::headline(), &style);
        for cell in &record.cells {
            render_cell(cell, record.header.profile.statistic, &style);
        }
    }

    #[test]
    fn plausible_figures_keep_to_the_width(width in 48usize..200, keep in 0usize..12, repetitions in 0usize..4, japanese: bool, statistic in 0usize..3) {
        let statistic = [Statistic::Mean, Statistic::Median, Statistic::Best][statistic];
        let mut record = common::run_with(statistic, &Direction::ALL);
        record.cells.truncate(keep);
        for cell in &mut record.cells {
            cell.repetitions.truncate(repetitions);
        }
        let lang = if japanese { Lang::Ja } else { Lang::En };
        let page = render_run(&record, &common::headline(), &Style { lang, color: false, width });
        for line in page.lines() {
            prop_assert!(display_width(line) <= width, "{}: {}", display_width(line), line);
            prop_assert_eq!(line.trim_end(), line);
        }
    }
}
