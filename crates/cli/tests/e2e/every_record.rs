//! Every record that the store accepts can be shown, compared, explained, drawn and published
//! without a panic.
//!
//! The records come from the generator of the store's own tests. They satisfy what an import
//! checks, but need not make sense. Only the form of the output is checked: pages contain no markup
//! from a record's text, pictures can be drawn, and no text contains control characters even before
//! the final escaping.

use kurabe_chart::{DRAWS_PNG, Theme, png};
use kurabe_compare::{DIGESTER, PivotRequest, USES, Use, history, listed, pair, pivot, recommend};
use kurabe_core::Lang;
use kurabe_core::record::RunRecord;
use kurabe_core::shown::is_escaped;
use kurabe_core::words::Keyword;
use kurabe_interop::ExportFormat;
use kurabe_report::{
    Embedded, PIVOT_WORDS, Report, Style, card, explain, headline, history_doc, pictures, recommendation_doc,
    render_details, render_list, render_pair, render_pivot, render_run, render_sweep_run, render_why,
};
use kurabe_store::{Archive, Runs, SqliteStore, Store, export, parse_export};
use kurabe_testkit::any_record;
use proptest::prelude::*;

const MARGIN: f64 = 0.05;

/// Checks that the text contains no control characters other than line ends.
#[track_caller]
fn is_tame(text: &str) {
    let raw: Vec<char> =
        text.replace("\r\n", "\n").chars().filter(|c| is_escaped(*c) && *c != '\n').collect();
    assert!(raw.is_empty(), "{raw:?} in {text:?}");
}

fn shown(run: &RunRecord, style: &Style) {
    let headline = headline(&run.header);
    is_tame(&render_run(run, &headline, style));
    is_tame(&render_details(run, style));
    is_tame(&render_sweep_run(run, &headline, style));
    if let Ok(why) = render_why(run, &headline, None, &[], style) {
        is_tame(&why);
    }
    let _ = explain(run, None);
    for picture in pictures(&[run], None, style.lang) {
        picture.chart.terminal(style.width, false).iter().for_each(|line| is_tame(line));
        is_tame(&picture.chart.svg(640, Theme::Auto));
    }
    for format in ExportFormat::WORDS.iter().map(|(_, format)| *format) {
        if let Ok(text) = kurabe_interop::export(std::slice::from_ref(run), format, style.lang) {
            is_tame(&text);
        }
    }
    is_tame(&export(run).unwrap());
    assert_eq!(parse_export(export(run).unwrap().as_bytes()).unwrap(), *run);
}

fn published(runs: Vec<&RunRecord>, lang: Lang) {
    let report = Report::new(runs, MARGIN, &[], None, lang);
    let page = report.html(Theme::Auto, |_| Embedded::default()).html;
    assert_eq!(page.matches("<script").count(), 1, "the page's own");
    let whole = report.html(Theme::Auto, |bytes| report.records(bytes)).html;
    for text in [page, whole, report.markdown(), report.csv(), report.json().unwrap()] {
        is_tame(&text);
    }
    if let Ok(picture) = report.picture(None, Theme::Dark) {
        is_tame(&picture);
    }
}

fn compared(one: &RunRecord, two: &RunRecord, style: &Style) {
    let pair = pair(one, two, MARGIN);
    is_tame(&render_pair(&pair, [&one.header, &two.header], &[], style));
    for picture in pictures(&[one, two], Some(&pair), style.lang) {
        picture.chart.terminal(style.width, true);
        is_tame(&picture.chart.svg(900, Theme::Light));
    }
    for (name, _) in USES {
        let purpose = Use::load(name).unwrap();
        if let Some(recommendation) = recommend(&[one, two], &purpose) {
            is_tame(&recommendation_doc(&recommendation, &purpose, &[one, two], &[], &[]).terminal(style));
        }
    }
}

fn asked_across(store: &dyn Store, runs: &[RunRecord], style: &Style) {
    let digests = store.digests(&mut |_, _| ()).unwrap();
    assert!(digests.unreadable.is_empty());
    let list = store.list().unwrap();
    for by in ["run", "device", "engine", "tool"] {
        let request = PivotRequest { by: vec![by.to_owned()], margin: MARGIN, ..PivotRequest::default() };
        // If no run has the fact, the request is refused.
        if let Ok(pivot) = pivot(&list, &digests, &request, &PIVOT_WORDS) {
            is_tame(&render_pivot(&pivot, style));
        }
    }
    let ids: Vec<String> = list.iter().map(|run| run.id.clone()).collect();
    let (first, last) = (&runs[0], &runs[runs.len() - 1]);
    let history = history(first, last, &ids, &digests, MARGIN);
    is_tame(&history_doc(&history, "device", [&first.header, &last.header]).terminal(style));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    #[ignore = "slow"]
    fn whatever_is_stored_can_be_shown_and_published(one in any_record(), two in any_record(), width in 40usize..140) {
        let directory = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&directory.path().join("kurabe.db"), DIGESTER).unwrap();
        // Repeats the same work, so that there are runs to compare.
        let mut again = one.clone();
        again.header.started_at = "2026-02-03T04:05:06Z".to_owned();
        again.header.command = vec!["again".to_owned()];
        again.header.identity.clear();
        let runs: Vec<RunRecord> = [one, again, two]
            .into_iter()
            .map(|run| store.import(run).and_then(|id| store.load(&id)).unwrap())
            .collect();
        for lang in [Lang::En, Lang::Ja] {
            let style = Style { lang, color: false, width };
            shown(&runs[0], &style);
            compared(&runs[0], &runs[1], &style);
            compared(&runs[0], &runs[2], &style);
            published(vec![&runs[0]], lang);
            published(vec![&runs[0], &runs[1]], lang);
            published(runs.iter().collect(), lang);
            asked_across(&store, &runs, &style);
        }
        let digests = store.digests(&mut |_, _| ()).unwrap();
        let listed = listed(store.list().unwrap(), &digests);
        is_tame(&render_list(&listed, &Style { lang: Lang::En, color: false, width }));
        let card = card(&runs[0], Theme::Dark, Lang::Ja);
        is_tame(&card);
        if DRAWS_PNG {
            png(&card, 0.2).unwrap();
        }
    }
}
