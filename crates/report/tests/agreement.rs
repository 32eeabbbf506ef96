//! One figure, many outputs: whatever shows it says the same.

use crate::common::style;

use kurabe_chart::Theme;
use kurabe_compare::pair;
use kurabe_core::Lang;
use kurabe_core::number;
use kurabe_core::profile::Statistic;
use kurabe_core::record::RunRecord;
use kurabe_interop::{ExportFormat, export};
use kurabe_report::{
    Embedded, PageTheme, Report, card, render_pair, render_run, run_standings, standings_doc,
};
use kurabe_stats::{cell_figure, compared_values};
use kurabe_study::catalogue::Catalogue;
use kurabe_testkit::{any_record, ssd};
use proptest::prelude::*;

/// A run of reads and writes whose repetitions move any number of bytes in any time.
fn run_with_any_figures() -> impl Strategy<Value = RunRecord> {
    prop::collection::vec((1_000_000u64..100_000_000_000, 1u64..1 << 43), 24).prop_map(|figures| {
        let mut run = ssd::run();
        let repetitions = run.cells.iter_mut().flat_map(|cell| &mut cell.repetitions);
        for (repetition, (elapsed_ns, bytes)) in repetitions.zip(figures.into_iter().cycle()) {
            repetition.elapsed_ns = elapsed_ns;
            let side = if repetition.read.bytes > 0 { &mut repetition.read } else { &mut repetition.write };
            side.bytes = bytes;
        }
        run
    })
}

/// The rates of a table with a header line, of the lines that `is_figure` takes.
fn rates(csv: &str, column: &str, is_figure: impl Fn(&dyn Fn(&str) -> String) -> bool) -> Vec<f64> {
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let heads = lines.next().unwrap();
    lines
        .filter_map(|fields| {
            let field = |name: &str| {
                let place = heads.iter().position(|head| *head == name);
                place.map_or(String::new(), |place| fields[place].to_owned())
            };
            is_figure(&field).then(|| field(column).parse().unwrap())
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_output_shows_the_same_figure(run in run_with_any_figures(), japanese: bool) {
        let lang = if japanese { Lang::Ja } else { Lang::En };
        let style = style(lang, 200);
        let runs = [&run];
        let report = Report::new(runs.to_vec(), 0.05, &[], None, lang);
        let embedded = |_| Embedded { json: "{\"kurabe_report\":1,\"runs\":[]}".to_owned(), left_out: None };
        let shown = [
            ("terminal", render_run(&run, &ssd::headline(), &style)),
            ("page", report.html(PageTheme::Auto, embedded).html),
            ("report in Markdown", report.markdown()),
            ("card", card(&run, Theme::Light, lang)),
            ("comparison", render_pair(&pair(&run, &run, 0.05), [&run.header, &run.header], &[String::new(), String::new()], &style)),
        ];
        let figures: Vec<f64> =
            run.cells.iter().map(|cell| cell_figure(cell, Statistic::Mean).unwrap()).collect();
        for (cell, figure) in run.cells.iter().zip(&figures) {
            let number = number::measured(cell.measure, *figure).number;
            for (output, words) in &shown {
                prop_assert!(words.replace(['\u{a0}', '\u{202f}'], " ").contains(&number), "{number} is not in: {output}\n{words}");
            }
        }
        let exported = export(std::slice::from_ref(&run), ExportFormat::Csv, lang).unwrap();
        let tables = [
            rates(&exported, "rate_bytes_per_s", |field| field("repetition") == "figure" && field("measure") == "rate"),
            rates(&report.csv(), "mean_rate_bytes_per_s", |_| true),
        ];
        for table in tables {
            prop_assert_eq!(table.len(), figures.len());
            prop_assert!(table.iter().zip(&figures).all(|(one, other)| (one / other - 1.0).abs() < 1e-9 || (one - other).abs() < 0.001));
        }
    }

    /// What is read by programs, of any record at all.
    #[test]
    fn what_programs_read_gives_the_same_figure(run in any_record()) {
        let text = serde_json::to_string(&run).unwrap();
        let again: RunRecord = serde_json::from_str(&text).unwrap();
        for (one, two) in run.cells.iter().zip(&again.cells) {
            for statistic in [Statistic::Mean, Statistic::Median, Statistic::Best] {
                prop_assert_eq!(cell_figure(one, statistic), cell_figure(two, statistic));
            }
        }
        for (compared, cell) in pair(&run, &again, 0.05).cells.iter().zip(&run.cells) {
            let values = compared_values(cell);
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let same = (compared.baseline.mean / mean - 1.0).abs() < 1e-9 || compared.baseline.mean == mean;
            prop_assert!(same || mean.is_nan() || compared.baseline.count != values.len(), "{compared:?} {mean}");
        }
    }
}

/// Words without the breaks and marks of an output.
fn flat(page: &str) -> String {
    let mut text = String::new();
    let mut in_element = false;
    for c in page.chars() {
        match c {
            '<' => in_element = true,
            '>' => in_element = false,
            c if !in_element && !c.is_whitespace() && c != '\\' => text.push(c),
            _ => {}
        }
    }
    text
}

#[test]
fn every_output_tells_the_same_of_published_figures() {
    let (run, catalogue) = (ssd::run(), Catalogue::load().unwrap());
    let standings = run_standings(&run, &catalogue);
    assert!(standings.len() > 1, "{standings:?}");
    let embedded = |_| Embedded::default();
    for lang in [Lang::En, Lang::Ja] {
        let report = Report::new(vec![&run], 0.05, &[], None, lang);
        assert!(!flat(&report.markdown()).contains("kurabecatalogue"), "only where it is asked for");
        let report = report.beside(&catalogue);
        let outputs = [
            (
                "terminal",
                standings_doc(&run_standings(&run, &catalogue)).unwrap().terminal(&style(lang, 400)),
            ),
            ("page", report.html(PageTheme::Auto, embedded).html),
            ("report in Markdown", report.markdown()),
        ];
        for (name, words) in outputs {
            let words = flat(&words);
            for standing in &standings {
                let nearest = standing.nearest.as_ref().unwrap();
                let device = nearest.device.get(lang);
                let mut expected = vec![
                    number::rate(standing.bytes_per_s).to_string(),
                    format!("{device}:{}", number::rate(nearest.bytes_per_s)),
                ];
                for band in standing.bands.iter().filter(|band| band.holds(standing.bytes_per_s)) {
                    expected.push(band.class.name().take(lang));
                    expected.push(number::rate(band.high_bytes_per_s).to_string());
                }
                for part in expected {
                    assert!(words.contains(&flat(&part)), "{name}, {lang:?}: no {part} in {words}");
                }
            }
        }
    }
    // What `--json` has are the very figures, with their units in the names.
    let json = serde_json::to_value(&standings).unwrap();
    for (standing, entry) in standings.iter().zip(json.as_array().unwrap()) {
        assert_eq!(entry["bytes_per_s"], standing.bytes_per_s);
        assert_eq!(entry["nearest"]["bytes_per_s"], standing.nearest.as_ref().unwrap().bytes_per_s);
        assert_eq!(entry["bands"][0]["low_bytes_per_s"], standing.bands[0].low_bytes_per_s);
        assert_eq!(entry["cell_index"], standing.cell_index);
    }
    // Of several runs the table is one of comparison.
    let several = Report::new(vec![&run, &run], 0.05, &[], None, Lang::En);
    assert_eq!(several.clone().beside(&catalogue).markdown(), several.markdown());
}
