//! Snapshots of the output in both languages and at several widths.

use crate::common;

use kurabe_core::digest::Digests;
use kurabe_core::profile::Statistic;
use kurabe_core::record::{Notice, NoticeKind, RunRecord, RunStatus};
use kurabe_core::text;
use kurabe_core::workload::Direction;
use kurabe_core::{Lang, Text};
use kurabe_report::*;

/// A narrow terminal, where text wraps and columns are dropped; a usual one; and a wide one, where
/// charts are next to tables. Output whose layout depends on the width is checked at all three,
/// everything else at 80. The laws cover any width.
const WIDTHS: [usize; 3] = [60, 80, 120];

/// Checks the properties of every page, and returns the page with its right margin drawn.
fn checked(page: &str, width: usize) -> String {
    assert!(page.ends_with('\n') && !page.ends_with("\n\n"), "{page}");
    for line in page.lines() {
        assert!(display_width(line) <= width, "{} > {width}: {line}", display_width(line));
        assert_eq!(line.trim_end(), line);
    }
    page.to_owned()
}

fn both(name: &str, widths: &[usize], render: impl Fn(&Style) -> String) {
    for (lang, suffix) in [(Lang::En, "en"), (Lang::Ja, "ja")] {
        for width in widths {
            let page = checked(&render(&common::style(lang, *width)), *width);
            if !common::is_kept(lang, *width, widths) {
                continue;
            }
            insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
                insta::assert_snapshot!(format!("{name}_{suffix}_{width}"), page);
            });
        }
    }
}

fn run(name: &str, widths: &[usize], record: &RunRecord) {
    both(name, widths, |style| render_run(record, &common::headline(), style));
}

#[test]
fn a_run_by_its_mean() {
    run("run", &WIDTHS, &common::run());
}

#[test]
fn a_run_with_mixed_reads_and_writes() {
    run("mix", &[80, 120], &common::run_with(Statistic::Mean, &Direction::ALL));
}

#[test]
fn a_run_by_its_best_repetition() {
    run("best", &[80, 120], &common::run_best());
}

#[test]
fn a_run_that_an_error_ended() {
    run("failed", &[80, 120], &common::run_failed());
}

#[test]
fn a_run_that_was_stopped_before_its_first_cell() {
    let mut record = common::run();
    record.status = RunStatus::Interrupted;
    record.cells.clear();
    record.notices.clear();
    record.fill = None;
    run("empty", &[80], &record);
}

#[test]
fn a_slow_disk_keeps_its_points_aligned() {
    let mut record = common::run();
    for cell in &mut record.cells {
        for repetition in &mut cell.repetitions {
            repetition.elapsed_ns *= if cell.step_index == 3 { 200 } else { 50 };
        }
    }
    run("slow", &[80], &record);
}

#[test]
fn details() {
    let mut record = common::run();
    record.cells = vec![record.cells[2].clone(), record.cells[7].clone()];
    record.cells[0].repetitions[0].discarded = true;
    both("details", &[80], |style| render_details(&record, style));
}

/// Returns the text on the target: empty for an imported run, and shorter for the hard disk.
fn headline_of(record: &RunRecord) -> Text {
    match &record.header.target {
        None => Text::same(""),
        Some(target) if target.path == "/dev/sdb" => Text::same("WDC WD40EFRX-68N32N0 · SATA 6 Gbit/s"),
        Some(_) => common::headline(),
    }
}

#[test]
fn runs_of_every_other_kind() {
    for (name, record) in common::kinds::all() {
        both(name, &WIDTHS, |style| render_run(&record, &headline_of(&record), style));
    }
}

#[test]
fn details_of_every_other_kind() {
    for (name, mut record) in common::kinds::all() {
        record.cells.truncate(3);
        both(&format!("details_{name}"), &[80], |style| render_details(&record, style));
    }
}

#[test]
fn one_line_a_cell_of_every_other_kind() {
    for (name, record) in common::kinds::all() {
        let Some(profile) = &record.header.profile else { continue };
        both(&format!("cells_{name}"), &[80], |style| {
            record.cells.iter().map(|cell| render_cell(cell, profile.statistic, style) + "\n").collect()
        });
    }
}

#[test]
fn profiles_of_every_kind() {
    for name in ["gnome-disks", "snia-iops-small", "delay-ratio", "git-pull", "kdiskmark-3", "cdm-3"] {
        let profile = kurabe_profile::profile_named(name).unwrap();
        both(&format!("profile_{}", name.replace('-', "_")), &[80], |style| render_profile(&profile, style));
    }
}

#[test]
fn the_library() {
    both("library", &[80], |style| render_profiles(&common::kinds::library(), false, style));
    for profile in common::kinds::library() {
        for width in [48, 60, 80, 120] {
            for lang in [Lang::En, Lang::Ja] {
                checked(&render_profile(&profile, &common::style(lang, width)), width);
            }
        }
    }
}

/// Returns the same run at another time, with other names and slower by this factor.
fn slower(times: u64) -> RunRecord {
    let mut run = common::run();
    run.header.id = "9dx".to_owned();
    run.labels.insert("name".to_owned(), "drive B in the USB 3 box".to_owned());
    for repetition in run.cells.iter_mut().flat_map(|cell| &mut cell.repetitions) {
        repetition.elapsed_ns *= times;
    }
    run
}

#[test]
fn where_columns_have_no_room_a_cell_has_lines_of_its_own() {
    let (mut one, mut other) = (common::run(), slower(3));
    one.cells.truncate(2);
    other.cells.truncate(2);
    let pair = kurabe_compare::pair(&one, &other, 0.05);
    let headers = [&one.header, &other.header];
    both("pair", &WIDTHS, |style| render_pair(&pair, headers, &[], style));
    both("pairs_in_turns", &[60, 120], |style| {
        render_versus(std::slice::from_ref(&pair), &headers, None, None, None, style)
    });
    let runs = [one.header.id.clone(), other.header.id.clone()];
    let courses = kurabe_compare::history(&one, &other, &runs, &Digests::default(), 0.05);
    both("history", &[60, 120], |style| {
        history_doc(&courses, "Samsung SSD 980 PRO 1TB", headers).terminal(style)
    });
}

#[test]
fn runs_in_turns_that_the_store_did_not_take_are_in_a_file() {
    let (one, other) = (common::run(), slower(3));
    let pair = kurabe_compare::pair(&one, &other, 0.05);
    let file = Some(std::path::Path::new("/home/kaz/kurabe.db.rescued-8m6.json"));
    let style = common::style(Lang::En, 120);
    let page = render_versus(&[pair], &[&one.header, &other.header], None, None, file, &style);
    let end = "saved in /home/kaz/kurabe.db.rescued-8m6.json · into a store: kurabe import \
               /home/kaz/kurabe.db.rescued-8m6.json\n";
    assert!(page.ends_with(end), "{page}");
}

#[test]
fn lists() {
    both("list", &[60, 80, 160], |style| render_list(&common::listed(), style));
    both("no_runs", &[80], |style| render_list(&[], style));
}

#[test]
fn profiles() {
    let mut profile = common::profile(Statistic::Best, &Direction::ALL);
    let kurabe_core::profile::Step::Io(step) = &mut profile.steps[3] else { panic!("no workload") };
    step.sync.at_end = kurabe_core::workload::EndSync::Timed;
    step.end.bytes = Some(64 << 20);
    let profiles = [common::profile(Statistic::Mean, &[Direction::Read, Direction::Write]), profile.clone()];
    both("profiles", &[80], |style| render_profiles(&profiles, true, style));
    both("profile", &[80], |style| render_profile(&profile, style));
}

#[test]
fn one_line_a_cell() {
    for (name, record) in [("cells", common::run()), ("cells_best", common::run_best())] {
        both(name, &[80], |style| {
            let statistic = record.header.profile.as_ref().unwrap().statistic;
            record.cells.iter().map(|cell| render_cell(cell, statistic, style) + "\n").collect()
        });
    }
}

#[test]
fn colour_adds_codes_and_changes_nothing_else() {
    let plain = common::style(Lang::En, 100);
    let colored = Style { color: true, ..plain };
    let record = common::run();
    let page = render_run(&record, &common::headline(), &colored);
    assert!(page.contains("\u{1b}["));
    let mut bare = String::new();
    let mut rest = page.as_str();
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        bare.push_str(before);
        rest = after.split_once('m').unwrap().1;
    }
    bare.push_str(rest);
    assert_eq!(bare, render_run(&record, &common::headline(), &plain));
}

/// Returns a run that other processes disturbed in every cell, most in the second repetition of the
/// second cell.
fn disturbed() -> RunRecord {
    let mut record = common::run();
    record.notices.retain(|notice| notice.kind != NoticeKind::Noise);
    for (place, cell) in record.cells.iter_mut().enumerate() {
        let text =
            text!("others wrote a little during cell {place}", "項目 {place} の間に書き込みがありました");
        record.notices.push(Notice::new(NoticeKind::Noise, text));
        for (number, repetition) in cell.repetitions.iter_mut().enumerate() {
            let is_worst = (place, number) == (1, 1);
            repetition.noise.other_write_bytes = Some(if is_worst { 1 << 40 } else { 1 << 20 });
        }
    }
    record
}

#[test]
fn noise_is_one_line_with_the_worst_repetition_and_details_tell_all() {
    let record = disturbed();
    let (count, name) = (record.cells.len(), &record.cells[1].label);
    let style = common::style(Lang::En, 400);
    let page = render_run(&record, &common::headline(), &style);
    let lines: Vec<&str> = page.lines().filter(|line| line.starts_with("noise: ")).collect();
    let [line] = lines[..] else { panic!("{page}") };
    let number = record.cells[1].repetitions[1].index + 1;
    assert!(
        line.contains(&format!("worst in read {name}, repetition {number}: others read and wrote ")),
        "{line}"
    );
    assert!(
        line.contains(&format!("({count} remarks: kurabe show {} --details)", record.header.id)),
        "{line}"
    );
    let details = render_details(&record, &style);
    assert_eq!(details.matches("noise: others wrote a little").count(), count, "{details}");
    let page = render_run(&record, &common::headline(), &common::style(Lang::Ja, 400));
    assert!(page.contains(&format!("ほかの処理の影響: 最大は 読み出し {name} の {number} 回目で")), "{page}");
}
