//! All outputs show the same figure.

use crate::common::style;

use kurabe_chart::Theme;
use kurabe_compare::pair;
use kurabe_core::Lang;
use kurabe_core::number;
use kurabe_core::profile::Statistic;
use kurabe_core::record::RunRecord;
use kurabe_interop::{ExportFormat, export};
use kurabe_report::{Assessment, Embedded, Report, card, render_pair, render_run};
use kurabe_stats::{cell_figure, compared_values};
use kurabe_testkit::{any_record, ssd};
use proptest::prelude::*;

/// Generates runs of reads and writes whose repetitions transfer any number of bytes in any time.
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

/// Returns the rates in a CSV table, from the lines that `is_figure` accepts.
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
            ("page", report.html(Theme::Auto, embedded).html),
            ("report in Markdown", report.markdown()),
            ("card", card(&run, Theme::Light, lang)),
            ("comparison", {
                let labels = [String::new(), String::new()];
                render_pair(&pair(&run, &run, 0.05), [&run.header, &run.header], &labels, &style)
            }),
        ];
        let figures: Vec<f64> =
            run.cells.iter().map(|cell| cell_figure(cell, Statistic::Mean).unwrap()).collect();
        for (cell, figure) in run.cells.iter().zip(&figures) {
            let number = number::measured(cell.measure, *figure).number;
            for (output, words) in &shown {
                let spaced = words.replace(['\u{a0}', '\u{202f}'], " ");
                prop_assert!(spaced.contains(&number), "{number} is not in: {output}\n{words}");
            }
        }
        let exported = export(std::slice::from_ref(&run), ExportFormat::Csv, lang).unwrap();
        let tables = [
            rates(&exported, "rate_bytes_per_s", |field| field("repetition") == "figure" && field("measure") == "rate"),
            rates(&report.csv(), "mean_rate_bytes_per_s", |_| true),
        ];
        for table in tables {
            prop_assert_eq!(table.len(), figures.len());
            let is_equal = |(one, other): (&f64, &f64)| (one / other - 1.0).abs() < 1e-9 || (one - other).abs() < 0.001;
            prop_assert!(table.iter().zip(&figures).all(is_equal));
        }
    }

    /// The law for formats that programs read, with any record.
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

/// Returns the text of an output without line breaks and markup.
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
fn every_output_has_the_same_sentence_in_its_place() {
    let run = ssd::run();
    let summary = Assessment::of(&run).unwrap();
    let embedded = |_| Embedded::default();
    let figure = cell_figure(&run.cells[0], Statistic::Mean).unwrap();
    let figure = number::measured(run.cells[0].measure, figure).number;
    for lang in [Lang::En, Lang::Ja] {
        let report = Report::new(vec![&run], 0.05, &[], None, lang);
        let outputs = [
            ("terminal", render_run(&run, &ssd::headline(), &style(lang, 400))),
            ("page", report.html(Theme::Auto, embedded).html),
            ("report in Markdown", report.markdown()),
            ("card", card(&run, Theme::Light, lang)),
        ];
        let sentence = flat(&summary.sentence.line(lang));
        for (name, words) in outputs {
            let words = flat(&words);
            let place = words.find(&sentence).unwrap_or_else(|| panic!("{name}: no {sentence} in {words}"));
            let is_last = name == "terminal";
            assert!(words.rfind(&figure).is_some_and(|table| (place > table) == is_last), "{name}: {words}");
        }
    }
    // With several runs, the summary is their comparison.
    let several = Report::new(vec![&run, &run], 0.05, &[], None, Lang::En);
    assert!(!flat(&several.markdown()).contains(&flat(&summary.sentence.en)));
}
