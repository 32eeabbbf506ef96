//! Reports as pages, Markdown and CSV: laws for every kind of run, in both languages.

use crate::common;

use kurabe_chart::Theme;
use kurabe_compare::names;
use kurabe_core::environment::BlockDevice;
use kurabe_core::profile::Statistic;
use kurabe_core::record::{Notice, NoticeKind, RunRecord};
use kurabe_core::workload::Direction;
use kurabe_core::{Lang, Text};
use kurabe_report::{Embedded, MOST_PAGE_BYTES, Report, explain};

const HOSTILE: &str = "</script><!--<img src=x onerror=\"alert(1)\">'`|*_\u{202e}";

/// Returns a run of every kind, each with its own id.
fn runs() -> Vec<RunRecord> {
    let mut all = vec![common::run(), common::run_best(), common::run_failed()];
    all.extend(common::kinds::all().into_iter().map(|(_, run)| run));
    all.extend(common::stories::all().into_iter().map(|(_, run)| run));
    for (place, run) in all.iter_mut().enumerate() {
        run.header.id = format!("r{place:02}");
    }
    all
}

fn report<'a>(runs: &'a [&'a RunRecord], lang: Lang) -> Report<'a> {
    Report::new(runs.to_vec(), 0.05, &[], None, lang)
}

fn page(report: &Report<'_>) -> String {
    let embedded = |_| Embedded { json: "{\"kurabe_report\":1,\"runs\":[]}".to_owned(), left_out: None };
    report.html(Theme::Auto, embedded).html
}

/// Checks that elements are closed in the right order, and that nothing in the page loads a
/// resource.
fn check_markup(page: &str) {
    let body = page.split("<script").next().expect("a page");
    let mut open: Vec<&str> = Vec::new();
    for piece in body.split('<').skip(1) {
        let (tag, _) = piece.split_once('>').unwrap_or_else(|| panic!("no end: <{piece}"));
        for loads in [" src=", " srcset=", "link ", "iframe", "object", "base "] {
            let names: String = tag.split('"').step_by(2).collect();
            assert!(!format!(" {names}").contains(&format!(" {}", loads.trim_start())), "<{tag}>");
        }
        let name = tag.trim_start_matches('/').split([' ', '\n']).next().unwrap_or_default();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "</{name}> ends another element");
        } else if !tag.starts_with('!') && !tag.ends_with('/') && !["meta", "br"].contains(&name) {
            open.push(name);
        }
    }
    // The script is after the checked part.
    assert_eq!(open, ["html", "body"]);
    for loads in ["@import", "url(http", "href=\"http"] {
        assert!(!body.contains(loads), "{loads}");
    }
}

#[test]
fn every_kind_of_run_makes_a_page_in_both_languages() {
    for run in &runs() {
        for lang in [Lang::En, Lang::Ja] {
            let runs = [run];
            let report = report(&runs, lang);
            let page = page(&report);
            check_markup(&page);
            let japanese = page.contains("測定方法");
            assert_eq!(japanese, lang == Lang::Ja, "{}", run.header.id);
            let order = ["id=\"results\"", "id=\"stutter\"", "id=\"method\"", "id=\"environment\""];
            let places: Vec<Option<usize>> = order.iter().map(|part| page.find(part)).collect();
            assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}");
            assert!(!page.contains("NaN") && !page.contains(">inf"), "{}", run.header.id);
            assert!(!report.answer().get(lang).is_empty());
            assert!(report.markdown().contains("<details>") && report.csv().starts_with("run_id,"));
        }
    }
}

#[test]
fn markdown_names_the_tool_its_unit_and_a_model() {
    let of = |run: RunRecord| report(&[&run], Lang::En).markdown();
    let imported = of(common::kinds::run_crystaldiskmark());
    assert!(imported.contains("\n- tool: CrystalDiskMark"), "{imported}");
    let printed = of(common::kinds::run_as_printed());
    assert!(printed.contains("is the same rate as the tool prints it"), "{printed}");
    let modelled = of(common::stories::fat_walk());
    assert!(modelled.contains("**By the model, "), "{modelled}");
    assert!(modelled.contains("figures of a model, not measured on a device"), "{modelled}");
    let japanese = report(&[&common::run()], Lang::Ja).markdown();
    assert!(japanese.contains("\n| 項目 | 値 |") && japanese.contains("読み出し"), "{japanese}");
}

#[test]
fn any_two_runs_and_all_together_make_a_page() {
    let all = runs();
    for pair in all.windows(2) {
        let runs = [&pair[0], &pair[1]];
        let report = report(&runs, Lang::En);
        check_markup(&page(&report));
        assert!(page(&report).contains("id=\"fairness\""));
    }
    for count in [3, all.len()] {
        let runs: Vec<&RunRecord> = all.iter().take(count).collect();
        let report = report(&runs, Lang::Ja);
        let page = page(&report);
        check_markup(&page);
        let of_runs = &page[page.find("id=\"runs\"").expect("the runs")..];
        assert_eq!(of_runs.matches("<details").count(), count);
        let lines = report.csv().lines().skip(1).filter(|line| !line.is_empty()).count();
        assert_eq!(lines, all.iter().take(count).map(|run| run.cells.len()).sum::<usize>());
    }
}

/// Returns a record in which every free text is hostile.
fn hostile() -> RunRecord {
    let mut run = common::run();
    let hostile = || HOSTILE.to_owned();
    run.header.command = vec!["kurabe".to_owned(), "run".to_owned(), hostile()];
    run.labels.insert("note".to_owned(), hostile());
    run.notices.push(Notice::new(NoticeKind::Other, Text::same(HOSTILE)));
    run.header.environment.machine.cpu_model = Some(hostile());
    run.header.environment.machine.kernel = Some(hostile());
    if let Some(target) = &mut run.header.target {
        target.given = hostile();
    }
    if let Some(profile) = &mut run.header.profile {
        profile.name = hostile();
    }
    for device in &mut run.header.environment.devices {
        *device = BlockDevice { model: Some(hostile()), firmware: Some(hostile()), ..device.clone() };
    }
    for cell in &mut run.cells {
        cell.label = hostile();
    }
    run
}

#[test]
fn no_word_of_a_record_becomes_markup() {
    let (run, mut other) = (hostile(), hostile());
    other.header.id = "zzz".to_owned();
    other.header.environment.machine.kernel = Some(format!("6.1{HOSTILE}"));
    let (one, two) = ([&run], [&run, &other]);
    for runs in [&one[..], &two[..]] {
        let report = Report::new(runs.to_vec(), 0.05, &[], Some(HOSTILE), Lang::En);
        let page = page(&report);
        check_markup(&page);
        assert!(!page.contains("<img") && !page.contains("<!--") && !page.contains('\u{202e}'));
        // One script contains the records, the other is the page's own.
        assert_eq!(page.matches("</script").count(), 2);
        let markdown = report.markdown();
        let outside = markdown.split("```").step_by(2).collect::<String>().replace("\\<", "");
        assert!(
            !outside.contains("<img") && !outside.contains("<!--") && !outside.contains("</script"),
            "{outside}"
        );
    }
}

#[test]
fn a_command_line_is_told_as_a_shell_reads_it_and_without_what_is_about_output() {
    let mut run = common::run();
    let words = [
        "/opt/kurabe",
        "--db",
        "/x.db",
        "run",
        "/mnt/my disk",
        "--lang=ja",
        "--quiet",
        "--label",
        "who=it's",
    ];
    run.header.command = words.map(str::to_owned).to_vec();
    let runs = [&run];
    let markdown = report(&runs, Lang::En).markdown();
    assert!(markdown.contains("\nkurabe run '/mnt/my disk' --label 'who=it'\\''s'\n"), "{markdown}");
}

#[test]
fn a_line_of_the_table_tells_what_is_not_in_both() {
    let (one, mut two) = (common::run(), common::run());
    two.labels.insert("name".to_owned(), "after".to_owned());
    let gone = two.cells.remove(0);
    let runs = [&two, &one];
    let report = report(&runs, Lang::En);
    let name = &names(&runs)[1].en;
    assert!(report.markdown().contains(&format!("only {name} has it")), "{}", gone.label);
    assert!(page(&report).contains(&format!("only {name} has it")));
}

#[test]
fn what_a_profile_is_there_for_is_told_first_and_in_the_words_of_the_terminal() {
    for (run, first_words) in [
        (common::kinds::run_copy(), "DelayRatio: "),
        (common::kinds::run_copy_sweep(), "DelayRatio: "),
        (common::run_with(Statistic::Mean, &[Direction::Read, Direction::Mix]), ""),
    ] {
        let runs = [&run];
        for lang in [Lang::En, Lang::Ja] {
            let report = report(&runs, lang);
            let (answer, markdown, page) = (report.answer(), report.markdown(), page(&report));
            assert!(answer.get(lang).starts_with(first_words), "{answer:?}");
            // The text is in one language only, unlike in JSON.
            assert!(!answer.en.contains("メモリー") && !answer.ja.contains("from memory"), "{answer:?}");
            for raw in ["from_memory", "from\\_memory", "to_memory"] {
                assert!(!markdown.contains(raw) && !page.contains(raw), "{raw}: {markdown}");
            }
            if first_words.is_empty() {
                let words = lang.pick("while writing (p50", "書き込み中");
                assert!(answer.get(lang).contains(words), "{answer:?}");
                assert!(markdown.split("### ").any(|part| part.contains(words)), "{markdown}");
                let stutter = page.split("id=\"stutter\"").nth(1).expect("the section");
                assert!(stutter.contains(words), "{stutter}");
            }
        }
    }
}

#[test]
fn of_two_runs_what_their_profile_is_there_for_stands_side_by_side() {
    let (mut one, mut two) = (common::kinds::run_copy(), common::kinds::run_copy());
    for (run, name) in [(&mut one, "one"), (&mut two, "two")] {
        run.labels.insert("name".to_owned(), name.to_owned());
    }
    for repetition in
        two.cells.iter_mut().filter(|cell| cell.part == "within").flat_map(|cell| &mut cell.repetitions)
    {
        repetition.elapsed_ns *= 3;
    }
    let runs = [&one, &two];
    for lang in [Lang::En, Lang::Ja] {
        let answer = report(&runs, lang).answer();
        assert!(answer.en.starts_with("DelayRatio: one ") && answer.en.contains(", two "), "{answer:?}");
        assert!(answer.ja.starts_with("DelayRatio: one ") && answer.ja.contains("、two "), "{answer:?}");
        assert!(!answer.en.contains("within\"") && !answer.ja.contains("64 KiB within"), "{answer:?}");
    }
}

#[test]
fn a_markdown_says_why_as_the_page_does() {
    let runs = common::stories::all().map(|(_, run)| run);
    let sentence = |run: &RunRecord| explain(run, None).unwrap()[0].sentences[0].en.clone();
    let plain = |markdown: String| markdown.replace('\\', "");
    for run in &runs {
        let whole = plain(report(&[run], Lang::En).markdown());
        let why = whole.split("### Why").nth(1).unwrap_or_else(|| panic!("{whole}"));
        assert!(why.contains(&sentence(run)), "{why}");
    }
    for count in [2, 4] {
        let some: Vec<&RunRecord> = runs.iter().take(count).collect();
        let whole = plain(report(&some, Lang::En).markdown());
        assert!(some.iter().all(|run| whole.contains(&sentence(run))), "{whole}");
    }
}

#[test]
#[ignore = "slow"]
fn a_page_of_many_long_runs_is_kept_small_and_says_what_is_missing() {
    let mut long = common::run();
    long.cells = long.cells.iter().cycle().take(120).cloned().collect();
    let many: Vec<RunRecord> = (0..40)
        .map(|place| {
            let mut run = long.clone();
            run.header.id = format!("m{place:02}");
            run
        })
        .collect();
    let runs: Vec<&RunRecord> = many.iter().collect();
    // The second report has fewer runs and loses less.
    for (lang, runs) in [(Lang::En, &runs[..]), (Lang::Ja, &runs[..20])] {
        let page = report(runs, lang).html(Theme::Auto, |_| Embedded::default());
        assert!(page.html.len() <= MOST_PAGE_BYTES, "{}", page.html.len());
        check_markup(&page.html);
        assert!(!page.left_out.is_empty());
        for omission in &page.left_out {
            assert!(page.html.contains(omission.get(lang)), "{omission:?}");
        }
        // Every run keeps its line and its procedure.
        assert_eq!(page.html.matches("<details").count(), runs.len());
    }
    // Nothing is left out if there is room.
    let few = report(&runs[..2], Lang::En).html(Theme::Auto, |_| Embedded::default());
    assert!(few.left_out.is_empty() && few.html.len() < MOST_PAGE_BYTES, "{:?}", few.left_out);
}

#[test]
fn of_several_runs_those_that_differ_are_named() {
    let named = |name: &str, times: u64| {
        let mut run = common::run();
        run.header.id = format!("{name}id");
        run.labels.insert("name".to_owned(), name.to_owned());
        for repetition in run.cells.iter_mut().flat_map(|cell| &mut cell.repetitions) {
            repetition.elapsed_ns *= times;
        }
        run
    };
    let runs = [named("usual", 2), named("slow", 20), named("fast", 1)];
    let runs: Vec<&RunRecord> = runs.iter().collect();
    let answer = report(&runs, Lang::En).answer();
    assert!(answer.en.starts_with("The fastest is fast: no other is faster in any test"), "{answer:?}");
    assert!(answer.ja.starts_with("最も速いのは fast です"), "{answer:?}");
    assert!(answer.en.contains("Compared with usual: "), "{answer:?}");
    assert!(answer.en.contains("slower in some tests and faster in none: slow"), "{answer:?}");
    assert!(answer.ja.contains("遅い(速い項目なし): slow"), "{answer:?}");
    assert!(answer.en.contains("fast") && !answer.en.contains("id"), "{answer:?}");
}

#[test]
fn who_has_a_narrow_screen_is_told_that_charts_scroll() {
    let run = common::run();
    let page = report(&[&run], Lang::Ja).html(Theme::Auto, |_| Embedded::default()).html;
    let charts = page.matches("<figure").count();
    assert!(charts > 0 && page.matches("class=\"hint\">↔ 画面より横長です").count() == charts);
}
