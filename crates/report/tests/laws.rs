//! Laws for every record: rendering does not panic, and the output fits the width where the text
//! allows it.

use crate::common;

use kurabe_core::imported::*;
use kurabe_core::profile::{CopyPart, Statistic};
use kurabe_core::record::*;
use kurabe_core::workload::{Direction, OpKind};
use kurabe_core::{Lang, Text};
use kurabe_report::*;
use kurabe_testkit::cases;
use proptest::prelude::*;

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0u64), Just(1), 0..1_000_000u64, 0..100_000_000_000u64, any::<u64>()]
}

fn share() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), 0.0..1.0f64, Just(1e18)]
}

/// Generates a count or a sum of a histogram: large, but such that several still add up without
/// overflow, as kurabe-stats expects.
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

fn samples() -> impl Strategy<Value = Vec<Sample>> {
    let sample = (number(), number(), number());
    proptest::collection::vec(sample, 0..4).prop_map(|samples| {
        let made = samples.into_iter();
        made.map(|(offset_bytes, bytes, elapsed_ns)| Sample { offset_bytes, bytes, elapsed_ns }).collect()
    })
}

fn traffic() -> impl Strategy<Value = Option<Traffic>> {
    proptest::option::of((number(), number(), number(), number())).prop_map(|traffic| {
        traffic.map(|(read_operations, read_bytes, write_operations, write_bytes)| Traffic {
            read_operations,
            read_bytes,
            write_operations,
            write_bytes,
        })
    })
}

fn any_repetition() -> impl Strategy<Value = Repetition> {
    (repetition(), samples(), traffic()).prop_map(|(repetition, samples, traffic)| Repetition {
        samples,
        traffic,
        ..repetition
    })
}

/// Generates arbitrary text without `NaN`, because a test searches pictures for it.
fn words(pattern: &'static str) -> impl Strategy<Value = String> {
    pattern.prop_map(|words| words.replace("NaN", "nan"))
}

/// Generates finite values that are not negative, as the store accepts them.
fn printed_value() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), 0.0..1e6f64, 0.0..1e15f64, any::<f64>().prop_map(f64::abs)]
        .prop_filter("a figure is finite", |value| value.is_finite())
}

fn quantity() -> impl Strategy<Value = Quantity> {
    prop_oneof![
        Just(Quantity::Rate),
        Just(Quantity::Iops),
        Just(Quantity::Latency),
        Just(Quantity::Duration),
        Just(Quantity::Bytes),
        Just(Quantity::Count),
        Just(Quantity::Share),
        Just(Quantity::QueueLength),
        Just(Quantity::Score),
    ]
}

fn statistic() -> impl Strategy<Value = PrintedStatistic> {
    prop_oneof![
        Just(PrintedStatistic::Mean),
        Just(PrintedStatistic::Highest),
        Just(PrintedStatistic::Lowest),
        Just(PrintedStatistic::Unknown),
        prop_oneof![Just(50.0), Just(99.9), 0.0..100.0f64].prop_map(PrintedStatistic::Percentile),
    ]
}

fn printed() -> impl Strategy<Value = PrintedFigure> {
    let words = (
        words(".{0,20}"),
        words(".{0,8}"),
        proptest::option::of(words(".{0,40}")),
        proptest::option::of(printed_value()),
    );
    (quantity(), statistic(), printed_value(), words).prop_map(|(quantity, statistic, value, words)| {
        let (printed, unit_printed, of, factor) = words;
        let correction = factor
            .map(|factor| Correction { factor, unit: unit_printed.clone(), reason: Text::same("x") })
            .map(Box::new);
        PrintedFigure {
            quantity,
            statistic,
            value,
            printed,
            unit_printed,
            correction,
            of: of.map(Into::into),
        }
    })
}

fn printed_series() -> impl Strategy<Value = PrintedSeries> {
    let axis = prop_oneof![Just(SeriesAxis::Time), Just(SeriesAxis::Offset), Just(SeriesAxis::Number)];
    let points = proptest::collection::vec((any::<f64>(), any::<f64>()), 0..20);
    (quantity(), words(".{0,20}"), axis, points).prop_map(|(quantity, name, axis, points)| PrintedSeries {
        quantity,
        name,
        unit_printed: String::new(),
        axis,
        points,
    })
}

fn imported_cell() -> impl Strategy<Value = ImportedCell> {
    let lists = (
        proptest::collection::vec(printed(), 0..6),
        proptest::collection::vec(printed_series(), 0..2),
        proptest::option::of(any::<u32>()),
        proptest::option::of(any::<f64>()),
        proptest::option::of(words(".{0,60}")),
    );
    lists.prop_map(|(figures, series, runs, read_percent, procedure)| ImportedCell {
        figures,
        series,
        runs,
        read_percent,
        procedure,
        ..ImportedCell::default()
    })
}

/// Generates a run of one of the other kinds, whose cells have any repetitions or any figures that
/// a tool may have printed.
fn other_record() -> impl Strategy<Value = RunRecord> {
    let measure = prop_oneof![Just(Measure::Rate), Just(Measure::AccessTime), Just(Measure::Duration)];
    let cell = (
        proptest::option::of(0..3usize),
        measure,
        prop_oneof![Just(None), Just(Some(CopyPart::Within.word())), Just(Some("command"))],
        proptest::option::of(words("\\PC{0,40}")),
        proptest::collection::vec(any_repetition(), 0..4),
        imported_cell(),
    );
    let kind = 0..common::runs_of_all_kinds().len();
    (kind, proptest::collection::vec(cell, 0..4)).prop_map(|(kind, cells)| {
        let mut record = common::runs_of_all_kinds()[kind].1.clone();
        let foreign = record.header.origin.is_some();
        let models = record.cells.clone();
        record.cells = cells
            .into_iter()
            .zip(&models)
            .map(|((direction, measure, part, label, repetitions, imported), model)| Cell {
                direction: direction.map(|direction| Direction::ALL[direction]),
                measure,
                part: part.map_or(model.part.clone(), str::to_owned),
                label: label.unwrap_or_else(|| model.label.clone()),
                repetitions: if foreign { Vec::new() } else { repetitions },
                imported: foreign.then_some(imported),
                ..model.clone()
            })
            .collect();
        record
    })
}

fn repetition() -> impl Strategy<Value = Repetition> {
    let stalls = proptest::collection::vec((number(), number(), number(), number()), 0..3);
    let rest = (any::<bool>(), number(), number(), proptest::option::of(number()), any::<bool>());
    let kinds = (ops(), ops(), ops(), ops());
    (kinds, series(), stalls, rest, share(), proptest::option::of((number(), share()))).prop_map(
        |((read, write, sync, trim), series, stalls, rest, generator_share, noise)| {
            let (discarded, started_ns, elapsed_ns, end_sync_ns, generator_bound) = rest;
            Repetition {
                index: 0,
                discarded,
                seed: 0,
                started_ns,
                turn: None,
                iodepth: None,
                elapsed_ns,
                first_done_ns: None,
                read,
                write,
                sync,
                trim,
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
                        longest_ns: 0,
                    })
                    .collect(),
                stall_threshold_ns: started_ns,
                cpu: CpuUse { user_ns: elapsed_ns, system_ns: started_ns },
                generator_share,
                generator_bound,
                places: Vec::new(),
                unserved_operations: 0,
                noise: Noise {
                    other_read_bytes: noise.map(|noise| noise.0),
                    steal_share: noise.map(|noise| noise.1),
                    ..Noise::default()
                },
                samples: Vec::new(),
                traffic: None,
                account: None,
                kernel: None,
                ranks: None,
            }
        },
    )
}

fn record() -> impl Strategy<Value = RunRecord> {
    let cell = (0..3usize, 0..3u32, words("\\PC{0,40}"), proptest::collection::vec(repetition(), 0..4));
    let statistic = prop_oneof![Just(Statistic::Mean), Just(Statistic::Median), Just(Statistic::Best)];
    let status = prop_oneof![
        Just(RunStatus::Running),
        Just(RunStatus::Complete),
        Just(RunStatus::Interrupted),
        Just(RunStatus::Failed)
    ];
    let fill = proptest::option::of((number(), number(), number()));
    (proptest::collection::vec(cell, 0..5), statistic, status, fill, words(".{0,80}")).prop_map(
        |(cells, statistic, status, fill, words)| {
            let mut record = common::run();
            record.header.profile.as_mut().unwrap().statistic = statistic;
            record.header.target.as_mut().unwrap().given = words.clone();
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
                    direction: Some(Direction::ALL[direction]),
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

/// Draws every picture of runs in the terminal.
fn draw(runs: &[&RunRecord], style: &Style) {
    for picture in pictures(runs, None, style.lang) {
        for line in picture.chart.terminal(style.width, false) {
            assert!(display_width(&line) <= style.width, "{line}");
        }
    }
    let svg = card(runs[0], kurabe_chart::Theme::Light, style.lang);
    assert!(!svg.contains("NaN"), "{svg}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases(300)) })]

    #[test]
    fn no_record_makes_rendering_panic(record in record(), width in 0usize..200, color: bool, japanese: bool) {
        let lang = if japanese { Lang::Ja } else { Lang::En };
        let style = Style { lang, color, width };
        render_run(&record, &common::headline(), &style);
        render_details(&record, &style);
        render_header(&record.header, &common::headline(), &style);
        draw(&[&record], &style);
        draw(&[&record, &common::run()], &style);
        for cell in &record.cells {
            let statistic = record.header.statistic();
            render_cell(cell, statistic, &style);
        }
    }

    #[test]
    fn no_run_of_another_kind_makes_rendering_panic(record in other_record(), width in 0usize..200, japanese: bool) {
        let lang = if japanese { Lang::Ja } else { Lang::En };
        let style = Style { lang, color: false, width };
        render_run(&record, &Text::same(""), &style);
        render_details(&record, &style);
        draw(&[&record], &style);
        draw(&[&common::run(), &record], &style);
        for cell in &record.cells {
            for statistic in [Statistic::Mean, Statistic::Median, Statistic::Best] {
                render_cell(cell, statistic, &style);
            }
        }
    }

    #[test]
    fn runs_of_every_other_kind_keep_to_the_width(
        width in 60usize..200,
        keep in 0usize..60,
        repetitions in 0usize..12,
        samples in 0usize..200,
        long_words: bool,
        japanese: bool,
    ) {
        let lang = if japanese { Lang::Ja } else { Lang::En };
        let style = Style { lang, color: false, width };
        for (name, record) in common::runs_of_all_kinds() {
            let mut record = record.clone();
            record.cells.truncate(keep);
            for cell in &mut record.cells {
                if long_words {
                    cell.label.push_str(" with a name that no importer and no profile of kurabe would make, 長い名前");
                    for figure in cell.imported.iter_mut().flat_map(|imported| &mut imported.figures) {
                        let of = "something that takes a tool a whole sentence to tell, そして長い".to_owned();
                        figure.of = Some(of.into());
                    }
                }
                cell.repetitions.truncate(repetitions);
                for repetition in &mut cell.repetitions {
                    repetition.samples.truncate(samples);
                }
            }
            let page = render_run(&record, &Text::same(""), &style);
            prop_assert!(!page.contains("\n\n\n"), "{name}: two empty lines\n{page}");
            for line in page.lines() {
                prop_assert!(display_width(line) <= width, "{name}: {} > {width}: {line}", display_width(line));
                prop_assert_eq!(line.trim_end(), line);
            }
        }
    }

    #[test]
    fn plausible_figures_keep_to_the_width(
        width in 48usize..200,
        keep in 0usize..12,
        repetitions in 0usize..4,
        japanese: bool,
        statistic in 0usize..3,
    ) {
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
