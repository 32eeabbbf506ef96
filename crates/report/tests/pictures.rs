//! Pictures of runs: which ones there are, and their rendering in a terminal, in both languages.

use crate::common;

use crate::common::{kinds, stories};
use kurabe_chart::{Chart, DRAWS_PNG, LineStyle, Plot, Theme, png, text_width};
use kurabe_compare::pair;
use kurabe_core::Lang;
use kurabe_core::profile::Statistic;
use kurabe_core::record::{Cell, OpsRecord, Repetition, RunRecord};
use kurabe_core::workload::Direction;
use kurabe_explain::{SweepAxis, SweepPlan, explain_sweep};
use kurabe_report::*;
use kurabe_stats::Histogram;

fn names(runs: &[&RunRecord]) -> Vec<&'static str> {
    let mut names: Vec<&str> = pictures(runs, None, Lang::En).iter().map(|picture| picture.name).collect();
    names.dedup();
    names
}

fn find(runs: &[&RunRecord], name: &str) -> Chart {
    let picture = pictures(runs, None, Lang::En).into_iter().find(|picture| picture.name == name);
    picture.unwrap_or_else(|| panic!("no {name}")).chart
}

/// Renders every picture of the runs in the terminal, each followed by an empty line.
fn page(runs: &[&RunRecord], lang: Lang) -> String {
    let lines = |chart: &Chart| chart.terminal(80, false).join("\n") + "\n\n";
    pictures(runs, None, lang).iter().map(|picture| lines(&picture.chart)).collect()
}

/// Returns the numbers of a page in order. Single digits are omitted, because Japanese writes "1
/// コマンド" for "one command".
fn figures(page: &str) -> Vec<&str> {
    let is_of_a_number = |letter: char| letter.is_ascii_digit() || letter == '.' || letter == ',';
    let words = page.split(|letter| !is_of_a_number(letter)).map(|word| word.trim_matches(['.', ',']));
    words.filter(|word| word.len() > 1).collect()
}

/// Checks the pictures of any runs: both languages have the same pictures with the same figures,
/// and no line is too wide.
fn agree(name: &str, runs: &[&RunRecord]) {
    let [english, japanese] = [Lang::En, Lang::Ja].map(|lang| pictures(runs, None, lang));
    assert!(!english.is_empty(), "{name}");
    assert_eq!(english.len(), japanese.len(), "{name}");
    for (english, japanese) in english.iter().zip(&japanese) {
        assert_eq!(english.name, japanese.name, "{name}");
        let is_japanese = japanese.chart.title.chars().any(|letter| letter >= '\u{3040}');
        assert!(
            is_japanese && japanese.chart.title != english.chart.title,
            "{name}: {}",
            japanese.chart.title
        );
    }
    let [english, japanese] = [Lang::En, Lang::Ja].map(|lang| page(runs, lang));
    for line in english.lines().chain(japanese.lines()) {
        assert!(display_width(line) <= 80, "{name}: {line}");
    }
    let [mut english, mut japanese] = [&english, &japanese].map(|page| figures(page));
    english.sort_unstable();
    japanese.sort_unstable();
    assert_eq!(english, japanese, "{name}");
}

#[test]
fn a_run_has_the_pictures_that_its_record_has_data_for() {
    let all: Vec<(&str, RunRecord)> = kinds::all().into_iter().chain(stories::all()).collect();
    let of = |kind: &str| {
        let (_, record) = all.iter().find(|(name, _)| *name == kind).unwrap();
        names(&[record])
    };
    assert_eq!(names(&[&common::run()]), ["rates", "percentiles", "series"]);
    assert_eq!(of("samples"), ["rates", "access-times", "positions", "distance", "percentiles"]);
    assert_eq!(of("crystaldiskmark"), ["rates"]);
    assert_eq!(of("copy_sweep"), ["sweep"]);
    assert_eq!(of("command"), ["durations"]);
    for name in all.iter().map(|(name, _)| *name) {
        assert!(of(name).iter().all(|name| PICTURE_NAMES.contains(name)), "{name}");
    }
}

#[test]
fn the_temperature_over_a_run_is_a_chart_on_the_page_and_in_the_small_print_of_the_card() {
    use kurabe_core::environment::TemperatureSample;
    let mut run = common::run();
    let health = run.health_after.as_mut().unwrap();
    let sample = |(number, celsius): (u64, i32)| TemperatureSample { at_ns: number * 1_000_000_000, celsius };
    health.temperatures = (0..).zip([41, 58, 63, 61]).map(sample).collect();
    agree("temperature", &[&run]);
    let Plot::Lines(lines) = find(&[&run], "temperature").plot else { panic!("lines") };
    let highest = lines.lines[0].points.iter().map(|point| point.1).fold(0.0, f64::max);
    assert_eq!((lines.lines.len(), highest), (1, 63.0));
    for (lang, words) in [
        (Lang::En, "41 → 61 °C during the run, highest 63 °C"),
        (Lang::Ja, "測定中の温度 41 → 61 °C (最高 63 °C)"),
    ] {
        let card = card(&run, Theme::Light, lang);
        assert!(card.contains(words), "{card}");
    }
    // A single reading is no course.
    run.health_after.as_mut().unwrap().temperatures.truncate(1);
    assert!(!names(&[&run]).contains(&"temperature"));
}

/// Returns a complete sweep whose cells all have different, widely scattered figures.
fn swept() -> RunRecord {
    let plan = SweepPlan {
        axes: SweepAxis::ALL.to_vec(),
        directions: vec![Direction::Read, Direction::Write],
        max_bytes: Some(64 << 20),
        long_write: None,
        time_ns: 1_000_000_000,
        runs: 3,
        direct: true,
        seed: 1,
    };
    let mut run = kinds::run_copy_sweep();
    let profile = plan.profile();
    run.cells.clear();
    for task in profile.tasks(64 << 20) {
        for cell in &task.cells {
            let index = run.cells.len() as u32;
            let repetition = |number: u64| {
                let mut histogram = Histogram::default();
                (0..10).for_each(|_| histogram.record((1 + u64::from(index)) * 10_000 * (1 + 2 * number)));
                let latency = histogram.to_record();
                let block = task.workload().map_or(0, |workload| u64::from(workload.largest_block_bytes()));
                let elapsed_ns = latency.sum_ns;
                let ops = OpsRecord { completed: 10, bytes: 10 * block, latency, ..OpsRecord::default() };
                let (read, write) = match cell.direction {
                    Some(Direction::Write) => (OpsRecord::default(), ops),
                    _ => (ops, OpsRecord::default()),
                };
                Repetition { elapsed_ns, read, write, ..Repetition::default() }
            };
            run.cells.push(Cell {
                index,
                step_index: task.step_index as u32,
                part: cell.part.clone(),
                label: cell.label.clone(),
                direction: cell.direction,
                measure: cell.measure,
                workload: task.workload().cloned(),
                engine: None,
                repetitions: (0..3).map(repetition).collect(),
                imported: None,
            });
        }
    }
    run.header.profile = Some(profile);
    run
}

#[test]
fn a_sweep_is_drawn_by_axis_and_with_the_figures_of_its_table() {
    let run = swept();
    let sweep = explain_sweep(&run);
    let mut drawn = 0;
    for picture in pictures(&[&run], None, Lang::En).into_iter().filter(|one| one.name.starts_with("sweep")) {
        let title = picture.chart.title.clone();
        let Plot::Lines(lines) = picture.chart.plot else { panic!("{title}") };
        for line in &lines.lines {
            let ascends = line.points.windows(2).all(|two| two[0].0 < two[1].0);
            assert!(ascends, "{title}, {}: {:?}", line.name, line.points);
        }
        if !title.contains("Throughput over block size") {
            continue;
        }
        for (name, direction, sequential) in [
            ("read sequential", Direction::Read, true),
            ("read random", Direction::Read, false),
            ("write sequential", Direction::Write, true),
            ("write random", Direction::Write, false),
        ] {
            let line = lines.lines.iter().find(|line| line.name == name).expect(name);
            let curve = sweep.iter().find(|curve| {
                (curve.axis, curve.direction, curve.sequential)
                    == (SweepAxis::BlockSize, direction, sequential)
            });
            let rates = curve.expect(name).points.iter().map(|(bytes, ns)| (*bytes, bytes / ns * 1e9));
            assert_eq!(line.points, rates.collect::<Vec<_>>(), "{name}");
            drawn += 1;
        }
    }
    assert_eq!(drawn, 4);
}

#[test]
fn the_order_is_that_of_the_names() {
    for (name, record) in kinds::all().into_iter().chain(stories::all()) {
        let places: Vec<usize> = names(&[&record])
            .into_iter()
            .map(|name| PICTURE_NAMES.iter().position(|own| *own == name).unwrap())
            .collect();
        assert!(places.is_sorted(), "{name}: {places:?}");
    }
}

#[test]
fn a_bar_is_the_figure_of_the_table() {
    // The mean with its interval.
    let Plot::Bars(bars) = find(&[&common::run()], "rates").plot else { panic!("bars") };
    assert_eq!(bars.groups.len(), 8);
    let first = bars.groups[0].bars[0].as_ref().unwrap();
    let (low, high) = first.interval.unwrap();
    assert!(low < first.value && first.value < high);
    // The best of the repetitions with their range, whose upper end is the best.
    let best = common::run_best();
    let Plot::Bars(bars) = find(&[&best], "rates").plot else { panic!("bars") };
    for bar in bars.groups.iter().filter_map(|group| group.bars[0].as_ref()) {
        assert_eq!(bar.interval.unwrap().1, bar.value);
    }
}

#[test]
fn runs_of_different_statistics_are_shown_by_their_means() {
    let (mean, best) = (common::run(), common::run_best());
    let chart = find(&[&mean, &best], "rates");
    assert!(chart.notes.iter().any(|note| note.contains("different statistics")), "{:?}", chart.notes);
    let Plot::Bars(bars) = chart.plot else { panic!("bars") };
    let group = &bars.groups[0];
    let (low, high) = group.bars[1].as_ref().unwrap().interval.unwrap();
    assert!((low + high - 2.0 * group.bars[1].as_ref().unwrap().value).abs() < 1.0);
}

#[test]
fn a_printed_figure_stands_beside_a_measured_one_without_an_interval() {
    let (own, printed) = (common::run(), kinds::run_crystaldiskmark());
    let chart = find(&[&own, &printed], "rates");
    assert!(chart.notes.iter().any(|note| note.contains("CrystalDiskMark")), "{:?}", chart.notes);
    let Plot::Bars(bars) = chart.plot else { panic!("bars") };
    let of = |run: usize| bars.groups.iter().filter_map(move |group| group.bars[run].as_ref());
    assert_eq!((of(0).count(), of(1).count()), (8, 8));
    assert!(of(0).all(|bar| bar.interval.is_some()) && of(1).all(|bar| bar.interval.is_none()));
}

#[test]
fn a_pair_has_a_forest_plot_with_a_row_for_each_common_cell() {
    let (one, mut two) = (common::run(), common::run_best());
    two.header.id = "9mz".into();
    let pair = pair(&one, &two, 0.05);
    let pictures = pictures(&[&one, &two], Some(&pair), Lang::Ja);
    let place = pictures.iter().position(|picture| picture.name == "forest").unwrap();
    assert_eq!(place, 1, "behind the bars");
    let Plot::Forest(forest) = &pictures[place].chart.plot else { panic!("forest") };
    assert_eq!(forest.rows.len(), 8);
    assert!(forest.rows.iter().all(|row| !row.words.is_empty() && row.ratio.is_some()));
}

#[test]
fn access_times_stand_at_the_right_of_the_position_curve() {
    let Plot::Lines(lines) = find(&[&kinds::run_gnome_file()], "positions").plot else { panic!("lines") };
    assert!(lines.right.is_some());
    assert_eq!(lines.lines.iter().filter(|line| line.at_right).count(), 1);
    // Over the distance, they are a separate picture.
    let Plot::Lines(apart) = find(&[&kinds::run_samples()], "distance").plot else { panic!("lines") };
    assert!(apart.right.is_none() && apart.lines[0].points.len() == 998);
    assert!(lines.lines.iter().all(|line| line.points.is_sorted_by(|a, b| a.0 <= b.0)));
}

#[test]
fn a_stall_is_a_stretch_of_the_series() {
    let mut run = common::run_with(Statistic::Mean, &[Direction::Read, Direction::Write]);
    // Long enough to be perceptible.
    for stall in run.cells.iter_mut().flat_map(|cell| &mut cell.repetitions).flat_map(|one| &mut one.stalls) {
        stall.length_ns = 300_000_000;
    }
    let all = pictures(&[&run], None, Lang::En);
    let series: Vec<&Chart> = all.iter().filter(|one| one.name == "series").map(|one| &one.chart).collect();
    let Plot::Lines(life) = &series[0].plot else { panic!("lines") };
    assert_eq!(life.lines.len(), 2);
    assert_eq!(life.marks.len(), 8, "a mark for each cell");
    let stalls = run.cells.iter().flat_map(|cell| &cell.repetitions).map(|one| one.stall_count).sum::<u64>();
    assert_eq!(life.stretches.len() as u64, stalls);
    assert!(series.len() > 1, "the cell that stalls has a picture of its own");
}

#[test]
fn percentiles_end_with_the_slowest_operation() {
    let run = common::run();
    let Plot::Lines(lines) = find(&[&run], "percentiles").plot else { panic!("lines") };
    for line in &lines.lines {
        assert!(line.points.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1), "{line:?}");
        assert!(line.points.last().unwrap().0 < 1.0);
    }
}

#[test]
fn several_runs_share_a_chart_of_each_cell() {
    let (one, mut two) = (common::run(), common::run());
    two.header.id = "9mz".into();
    let all = pictures(&[&one, &two], None, Lang::En);
    let shared: Vec<&Chart> =
        all.iter().filter(|one| one.name == "percentiles").map(|one| &one.chart).collect();
    assert_eq!(shared.len(), 4, "the cells of small blocks");
    for chart in shared {
        let Plot::Lines(lines) = &chart.plot else { panic!("lines") };
        assert_eq!(lines.lines.len(), 2);
    }
}

#[test]
fn every_bar_of_the_account_is_the_whole_time() {
    for (name, run) in stories::all() {
        let Plot::Shares(shares) = find(&[&run], "time-account").plot else { panic!("shares") };
        let whys = explain(&run, None).unwrap();
        assert_eq!(shares.rows.len(), whys.len());
        for (row, why) in shares.rows.iter().zip(&whys) {
            let sum: f64 = row.values.iter().sum();
            assert!((sum - why.time.as_ref().expect("a model tells").each_ns).abs() < 1e-6 * sum, "{name}");
        }
    }
}

#[test]
fn the_pictures_of_a_run() {
    for (lang, suffix) in [(Lang::En, "en"), (Lang::Ja, "ja")] {
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(format!("pictures_run_{suffix}"), page(&[&common::run()], lang));
        });
    }
}

#[test]
fn pictures_of_every_kind_agree_in_both_languages() {
    let (one, mut two) = (common::run(), common::run_best());
    two.header.id = "9mz".into();
    agree("two", &[&one, &two]);
    for (name, record) in kinds::all().into_iter().chain(stories::all()) {
        agree(name, &[&record]);
    }
}

#[test]
fn a_card_shows_what_the_table_shows_and_what_casts_doubt_on_it() {
    let mut run = common::run();
    let svg = card(&run, Theme::Light, Lang::En);
    for words in [
        "Samsung SSD 980 PRO 1TB",
        "PCIe 4.0 x4",
        "ext4",
        "SEQ 1 MiB Q8 T1",
        "NVMe SSD on PCIe 4",
        "2026-02-03 12:34",
    ] {
        assert!(svg.contains(words), "{words}: {svg}");
    }
    assert!(!svg.contains("MODEL"));
    run.status = kurabe_core::record::RunStatus::Interrupted;
    assert!(card(&run, Theme::Light, Lang::En).contains("interrupted: only 8 tests"));
    let model = card(&stories::fat_walk(), Theme::Dark, Lang::Ja);
    assert!(model.contains("モデルの計算値"));
    let printed = card(&kinds::run_crystaldiskmark(), Theme::Light, Lang::En);
    assert!(printed.contains("as that tool printed it"));
}

#[test]
fn every_card_can_be_drawn() {
    for (name, record) in kinds::all().into_iter().chain(stories::all()) {
        for (lang, theme) in [(Lang::En, Theme::Light), (Lang::Ja, Theme::Dark)] {
            let svg = card(&record, theme, lang);
            assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{name}: {svg}");
            if DRAWS_PNG {
                png(&svg, 1.0).unwrap_or_else(|error| panic!("{name}: {error}"));
            }
        }
    }
}

#[test]
fn the_card_of_a_comparison_has_every_run_and_test() {
    let (one, mut two) = (common::run(), common::run());
    two.header.id = "9mz".into();
    two.labels.insert("name".to_owned(), "the other disk".to_owned());
    for lang in [Lang::En, Lang::Ja] {
        for theme in [Theme::Light, Theme::Dark] {
            let report = Report::new(vec![&one, &two], 0.05, &[], None, lang);
            let svg = report.card(theme);
            assert!(svg.contains("the other disk") && svg.contains("SEQ 1 MiB Q8 T1"), "{svg}");
            assert!(!svg.contains("NaN") && !svg.contains('`'), "{svg}");
            let tracks = svg.matches("height=\"9.0\"").count();
            assert!(tracks >= 2 * one.cells.len(), "{tracks}");
            if DRAWS_PNG {
                png(&svg, 1.0).unwrap();
            }
        }
    }
    let nine: Vec<&RunRecord> = (0..9).map(|_| &one).collect();
    let svg = Report::new(nine, 0.05, &[], None, Lang::En).card(Theme::Light);
    assert!(svg.contains("runs not shown: 1"), "{svg}");
}

/// Returns the value of an attribute of an element, as a number.
fn attribute(element: &str, name: &str) -> f64 {
    let value = element.split_once(&format!(" {name}=\"")).and_then(|(_, rest)| rest.split('"').next());
    value.and_then(|value| value.parse().ok()).unwrap_or(0.0)
}

#[test]
fn no_text_of_a_card_is_on_a_bar_and_the_sentence_takes_two_lines() {
    for (name, record) in kinds::all().into_iter().chain(stories::all()) {
        for lang in [Lang::En, Lang::Ja] {
            let svg = card(&record, Theme::Light, lang);
            assert!(!svg.contains('`'), "{name}: {svg}");
            // The drawings of curves have their own colours.
            let is_bar = |element: &&str| {
                element.starts_with("rect ")
                    && ["#9fd0f0", "#f6c48a", "#b7dfc4"].iter().any(|fill| element.contains(fill))
            };
            let bars: Vec<[f64; 4]> = svg
                .split('<')
                .filter(is_bar)
                .map(|bar| ["x", "y", "width", "height"].map(|side| attribute(bar, side)))
                .collect();
            for text in svg.split('<').filter(|element| element.starts_with("text ")) {
                let words = text.split_once('>').map_or("", |(_, words)| words);
                let (x, y, size) = (attribute(text, "x"), attribute(text, "y"), attribute(text, "font-size"));
                let width = text_width(words, size, text.contains("font-weight"));
                let left = match text {
                    _ if text.contains("\"end\"") => x - width,
                    _ if text.contains("\"middle\"") => x - width / 2.0,
                    _ => x,
                };
                let is_on = |[bar_x, bar_y, bar_width, bar_height]: &[f64; 4]| {
                    left < bar_x + bar_width
                        && *bar_x < left + width
                        && y - size * 0.7 < bar_y + bar_height
                        && *bar_y < y
                };
                assert!(!bars.iter().any(is_on), "{name}: {words}");
            }
            let sentence =
                Assessment::of(&record).map(|one| one.sentence.get(lang).to_owned()).unwrap_or_default();
            let end: String = sentence.chars().rev().take(8).collect::<Vec<_>>().into_iter().rev().collect();
            assert!(
                sentence.is_empty() || svg.contains(&kurabe_chart::escape(&end)),
                "{name} is cut: {sentence}"
            );
        }
    }
}

/// Returns the texts of a card, in order.
fn card_words(run: &RunRecord) -> Vec<String> {
    let svg = card(run, Theme::Light, Lang::En);
    svg.split("</text>").filter_map(|part| Some(part.rsplit_once('>')?.1.to_owned())).collect()
}

#[test]
fn names_of_rows_that_differ_at_their_end_differ_on_a_card() {
    let words = card_words(&kinds::run_copy());
    assert!(words.iter().any(|one| one.ends_with("target")), "{words:?}");
    assert!(!words.iter().any(|one| one.starts_with("copy ") && one.ends_with('…')), "{words:?}");
}

#[test]
fn a_card_of_one_cell_counts_one() {
    let mut run = common::run();
    run.status = kurabe_core::record::RunStatus::Interrupted;
    run.cells.truncate(1);
    assert!(card_words(&run).iter().any(|words| words == "interrupted: only 1 test was measured"));
}

#[test]
fn slow_operations_without_a_stall_are_not_told_as_smooth() {
    let mut run = common::run();
    for repetition in run.cells.iter_mut().flat_map(|cell| &mut cell.repetitions) {
        repetition.stalls.clear();
        repetition.stall_count = 0;
        repetition.read.latency.max_ns = 376_000_000;
    }
    let words = card_words(&run).join("\n");
    assert!(!words.contains("steady"), "{words}");
    let page = Report::new(vec![&run], 0.05, &[], None, Lang::En).markdown();
    assert!(page.contains("operations take up to 376 ms") && !page.contains("does not stutter"), "{page}");
}

#[test]
fn cells_that_take_turns_are_marked_at_each_turn_or_not_at_all() {
    let mut run = common::run();
    run.cells.truncate(2);
    for (turn, cell) in run.cells.iter_mut().enumerate() {
        for (round, repetition) in cell.repetitions.iter_mut().enumerate() {
            repetition.started_ns = (round * 2 + turn) as u64 * 10_000_000_000;
        }
    }
    let count = run.cells.iter().map(|cell| cell.repetitions.len()).sum::<usize>();
    let Plot::Lines(lines) = find(&[&run], "series").plot else { panic!("lines") };
    assert_eq!(lines.marks.len(), if count <= 12 { count } else { 0 });
}

#[test]
fn a_sampled_target_has_its_access_times_as_dots_over_the_place() {
    let run = kinds::all()
        .into_iter()
        .map(|(_, run)| run)
        .find(|run| run.header.profile.as_ref().is_some_and(|profile| profile.name == "gnome-disks"));
    let run = run.unwrap();
    // They are also drawn over the distance, because the profile requests it.
    assert!(names(&[&run]).contains(&"distance"));
    let Plot::Lines(lines) = find(&[&run], "positions").plot else { panic!("no lines") };
    let dots = lines.lines.iter().filter(|line| line.style == LineStyle::Dots && line.at_right).count();
    assert!(dots > 0 && lines.right.is_some(), "{lines:?}");
    assert!(card(&run, Theme::Light, Lang::En).contains("Access time"));
}

#[test]
fn the_report_of_a_sweep_begins_with_its_curves() {
    for (run, is_sweep) in [(swept(), true), (common::run(), false)] {
        let curves = explain_sweep(&run);
        assert_eq!(curves.iter().any(|curve| !curve.findings.is_empty()), is_sweep);
        let report = Report::new(vec![&run], 0.05, &[], None, Lang::En);
        let page = report.html(Theme::Auto, |_| Embedded::default()).html;
        let place = |id: &str| page.find(&format!("<section id=\"{id}\"")).unwrap();
        assert_eq!(place("charts") < place("results"), is_sweep);
        let text = report.markdown();
        let place = |title: &str| text.find(&format!("### {title}\n")).unwrap();
        assert_eq!(place("Why") < place("Results"), is_sweep, "{text}");
    }
}
