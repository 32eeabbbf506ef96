//! Time account of a model, and the distinction between models and devices in every output.

use crate::common;

use crate::common::stories;
use kurabe_compare::ListedRun;
use kurabe_core::model::TimeShare;
use kurabe_core::record::{RunRecord, RunSummary};
use kurabe_core::split::{KernelSplit, RequestSize, TimeSplit};
use kurabe_core::{ErrorKind, Lang, Text};
use kurabe_report::*;
use proptest::prelude::*;

fn checked(page: &str, width: usize) {
    assert!(page.ends_with('\n') && !page.ends_with("\n\n"), "{page}");
    for line in page.lines() {
        assert!(display_width(line) <= width, "{} > {width}: {line}", display_width(line));
    }
}

fn both(name: &str, widths: &[usize], render: impl Fn(&Style) -> String) {
    for (lang, suffix) in [(Lang::En, "en"), (Lang::Ja, "ja")] {
        for width in widths {
            let page = render(&common::style(lang, *width));
            checked(&page, *width);
            if !common::is_kept(lang, *width, widths) {
                continue;
            }
            insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
                insta::assert_snapshot!(format!("{name}_{suffix}_{width}"), page);
            });
        }
    }
}

#[test]
fn the_four_stories() {
    for (name, record) in stories::all() {
        both(&format!("why_{name}"), &[60, 80, 120], |style| {
            render_why(&record, &Text::same(""), None, &[], style).unwrap()
        });
    }
}

#[test]
fn the_largest_cause_is_named_with_its_explanation() {
    for (record, cell, cause, word) in [
        (stories::fat_walk(), "access", "walk", "follows the list of its clusters"),
        (stories::strip_remainder(), "1", "flash", "channels"),
        (stories::one_command(), "1", "turn", "one command at a time"),
        (stories::turnaround(), "within", "media", "under the head"),
    ] {
        let why = &explain(&record, Some(cell)).unwrap()[0];
        let largest =
            why.time.as_ref().unwrap().causes.iter().max_by(|a, b| a.share.total_cmp(&b.share)).unwrap();
        assert_eq!(largest.cause, cause);
        assert!(why.sentences[0].en.contains(word), "{}", why.sentences[0].en);
        assert!((2..=4).contains(&why.sentences.len()), "{:?}", why.sentences);
    }
}

#[test]
fn a_copy_within_is_told_against_its_halves() {
    let cost_sentence = |record: &RunRecord| {
        let why = &explain(record, Some("within")).unwrap()[0];
        why.sentences
            .iter()
            .find(|sentence| sentence.en.contains("writing it alone"))
            .map(|sentence| sentence.en.clone())
    };
    let mut record = stories::turnaround();
    let costs = cost_sentence(&record).unwrap();
    assert!(costs.contains("costs 17.8 s more. The increase: \"going back and forth"), "{costs}");
    for repetition in &mut record.cells[4].repetitions {
        let account = repetition.account.as_mut().unwrap();
        account.shares.iter_mut().for_each(|share| share.time_ns /= 2);
        account.latency_ns = account.shares.iter().map(|share| share.time_ns).sum();
    }
    assert!(cost_sentence(&record).unwrap().contains("saves 17.4 s"), "{:?}", cost_sentence(&record));
    record.cells.remove(2);
    assert_eq!(cost_sentence(&record), None, "without its halves nothing can be said");
}

#[test]
fn a_remainder_of_strips_is_told_where_there_is_one() {
    let mut record = stories::strip_remainder();
    let last_sentence =
        |record: &RunRecord| explain(record, Some("1")).unwrap()[0].sentences.last().unwrap().en.clone();
    assert!(last_sentence(&record).contains("1.12 times an even share"), "{}", last_sentence(&record));
    for count in
        record.cells[0].repetitions.iter_mut().flat_map(|one| &mut one.account.as_mut().unwrap().counts)
    {
        count.count = 1;
    }
    assert!(!last_sentence(&record).contains("even share"), "{}", last_sentence(&record));
}

#[test]
fn the_shares_add_up_to_the_time() {
    for (_, record) in stories::all() {
        for why in explain(&record, None).unwrap() {
            let (each, share) = why
                .time
                .as_ref()
                .unwrap()
                .causes
                .iter()
                .fold((0.0, 0.0), |(each, share), cause| (each + cause.each_ns, share + cause.share));
            assert!(
                (each - why.time.as_ref().unwrap().each_ns).abs() < 1.0,
                "{each} {}",
                why.time.as_ref().unwrap().each_ns
            );
            assert!((share - 1.0).abs() < 1e-9, "{share}");
        }
    }
}

#[test]
fn times_are_of_what_the_figure_is_of() {
    let per = |record, cell| explain(&record, Some(cell)).unwrap()[0].time.as_ref().unwrap().per;
    assert_eq!(per(stories::fat_walk(), "access"), Per::Sample);
    assert_eq!(per(stories::one_command(), "1"), Per::Operation);
    assert_eq!(per(stories::turnaround(), "within"), Per::Repetition);
}

#[test]
fn discarded_repetitions_tell_nothing() {
    let mut record = stories::one_command();
    let whole = explain(&record, None).unwrap()[0].time.as_ref().unwrap().count;
    let first = &mut record.cells[0].repetitions[0];
    first.discarded = true;
    let its = first.account.as_ref().unwrap().operations;
    assert_eq!(explain(&record, None).unwrap()[0].time.as_ref().unwrap().count, whole - its);
}

#[test]
fn cells_are_found_by_number_and_by_words() {
    let record = stories::fat_walk();
    let number = |cell| explain(&record, Some(cell)).map(|whys| whys[0].number).unwrap();
    assert_eq!(number("2"), 2);
    assert_eq!(number("書き込み"), 2);
    assert_eq!(number("Access"), 3);
    let error = explain(&record, Some("wirte")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert!(error.remedy_text().unwrap().en.contains("1 to 3"), "{error:?}");
    assert!(explain(&record, Some("")).is_err() && explain(&record, Some("17")).is_err());
}

#[test]
fn a_run_of_a_device_names_its_limits() {
    let record = common::run();
    let headline = Text::same("Samsung SSD");
    both("why_real", &[60, 80, 120], |style| render_why(&record, &headline, None, &[], style).unwrap());
    let whys = explain(&record, None).unwrap();
    assert_eq!(whys.len(), record.cells.len());
    assert!(whys.iter().all(|why| why.time.is_none() && !why.limit.sentence.ja.is_empty()));
}

#[test]
fn of_many_cells_each_has_a_line_and_one_is_shown_in_full() {
    let mut record = common::run();
    record.cells = record.cells.iter().cycle().take(18).cloned().collect();
    both("why_many", &[60, 80, 120], |style| {
        render_why(&record, &Text::same("sda"), None, &[], style).unwrap()
    });
    let style = common::style(Lang::En, 120);
    let lines = |cell| render_why(&record, &Text::same("sda"), cell, &[], &style).unwrap();
    let (all, one) = (lines(None), lines(Some("18")));
    assert!(all.lines().count() < record.cells.len() + 10, "{all}");
    for (place, cell) in record.cells.iter().enumerate() {
        let number = format!("{} ", place + 1);
        let mut own = all.lines().filter(|line| line.trim_start().starts_with(&number));
        assert!(own.next().is_some_and(|line| line.contains(&cell.label)), "{number}: {all}");
        assert_eq!(own.next(), None, "{all}");
    }
    assert!(all.contains(&format!("kurabe why {} --cell 1", record.header.id)), "{all}");
    assert!(!all.contains("because ") && one.contains("because "), "{one}");
    assert_eq!(explain(&record, None).unwrap().len(), 18);
}

#[test]
fn a_traced_repetition_is_taken_apart() {
    let part = |mean_ns, p50_ns, p99_ns| TimeSplit { mean_ns, p50_ns, p99_ns };
    let mut record = common::run();
    record.cells.truncate(1);
    let mut traced = record.cells[0].repetitions[0].clone();
    (traced.index, traced.discarded) = (3, true);
    traced.kernel = Some(KernelSplit {
        devices: vec!["sda".to_owned()],
        operations: 2_500,
        unfollowed_operations: 3,
        queue: part(9_412_345.0, 9_100_000, 14_800_000),
        device: part(5_301_210.0, 5_200_000, 6_900_000),
        rest_mean_ns: Some(28_700.0),
        requests: 5_003,
        merged_requests: 12,
        request_sizes: vec![
            RequestSize { size_bytes: 4096, count: 3 },
            RequestSize { size_bytes: 512 << 10, count: 5_000 },
        ],
        other_requests: 7,
        lost_events: 0,
    });
    record.cells[0].repetitions.push(traced.clone());
    let render =
        |record: &RunRecord, style: &Style| render_why(record, &Text::same("sda"), None, &[], style).unwrap();
    both("why_traced", &[60, 80, 120], |style| render(&record, style));
    let why = &explain(&record, None).unwrap()[0];
    assert_eq!(why.kernel.as_ref(), traced.kernel.as_ref());
    // Without the rest, and with no operations followed, the page says so.
    let style = common::style(Lang::En, 80);
    let kernel =
        |record: &mut RunRecord, kernel: KernelSplit| record.cells[0].repetitions[3].kernel = Some(kernel);
    kernel(&mut record, KernelSplit { rest_mean_ns: None, ..traced.kernel.unwrap() });
    let page = render(&record, &style);
    assert!(page.contains("the rest is unknown"), "{page}");
    kernel(&mut record, KernelSplit { lost_events: 5, ..KernelSplit::default() });
    assert!(render(&record, &style).contains("the kernel dropped 5 events"));
    kernel(&mut record, KernelSplit::default());
    assert!(render(&record, &style).contains("none of its operations"));
}

#[test]
fn a_run_without_completed_operations_has_nothing_to_tell() {
    let mut record = stories::one_command();
    record.cells.clear();
    assert!(explain(&record, None).is_err());
    let mut record = stories::one_command();
    record.cells[0].repetitions.clear();
    assert!(explain(&record, None).is_err());
}

#[test]
fn a_model_is_shown_as_one() {
    for (name, record) in [("model_samples", stories::fat_walk()), ("model_copy", stories::turnaround())] {
        both(name, &[60, 80, 120], |style| render_run(&record, &common::headline(), style));
    }
    let mut record = stories::fat_walk();
    record.cells.truncate(1);
    both("details_model", &[80], |style| render_details(&record, style));
    let model = record.header.model.unwrap().title;
    let summary = RunSummary {
        target: "model:x".into(),
        device: None,
        model: Some(model),
        ..common::summaries()[0].clone()
    };
    let listed = ListedRun {
        changes: Some("fat-image.cluster=16KiB".to_owned()),
        best_read_rate_bytes_per_s: Some(0.88e6),
        ..summary.into()
    };
    both("list_model", &[80, 120], |style| render_list(std::slice::from_ref(&listed), style));
}

proptest! {
    #[test]
    fn any_account_can_be_told(
        mut times in prop::collection::vec(any::<u64>(), 0..6),
        mut operations: u64,
        mut latency_ns: u64,
        mut elapsed_ns: u64,
        width in 0usize..160,
        japanese: bool,
        sane: bool,
    ) {
        if sane {
            times.iter_mut().for_each(|time_ns| *time_ns %= 1_000_000_000_000);
            (operations, elapsed_ns) = (operations % 1_000_000_000, elapsed_ns % 1_000_000_000_000);
            latency_ns = times.iter().sum();
        }
        let mut record = stories::one_command();
        for repetition in &mut record.cells[0].repetitions {
            repetition.elapsed_ns = elapsed_ns;
            let account = repetition.account.as_mut().unwrap();
            (account.operations, account.latency_ns) = (operations, latency_ns);
            account.shares = times
                .iter()
                .enumerate()
                .map(|(at, time_ns)| TimeShare {
                    layer: ["usb", "disk", "nowhere"][at % 3].to_owned(),
                    cause: ["turn", "seek"][at % 2].to_owned(),
                    time_ns: *time_ns,
                })
                .collect();
        }
        let lang = if japanese { Lang::Ja } else { Lang::En };
        match render_why(&record, &Text::same(""), None, &[], &common::style(lang, width)) {
            Ok(page) if width >= 60 && sane => checked(&page, width),
            Ok(_) => {}
            Err(_) => prop_assert!(operations == 0 || latency_ns == 0),
        }
    }
}
