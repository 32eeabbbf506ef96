//! Waiting times of a reader in Chromium: the first paint of each page, and the time of an event
//! from the lab to the screen.
//!
//! The model: an event starts when the stream reports it. It ends at the beginning of the second
//! frame after the page's script changed the document: the first frame contains the change, and the
//! second begins when that is on the screen (requestAnimationFrame, HTML Living Standard 8.1.7.3).
//! Both clocks are the wall clock of this machine. Events without a change are counted separately.

use super::served::{Happened, Served};
use crate::Result;
use crate::statistics::{median, percentile};
use crate::table::{figure, layout};
use kurabe_testkit::browser::Browser;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;

/// Targets in ms: the first paint, and 95 of 100 events.
const PAINT_MS: f64 = 300.0;
const EVENT_MS: f64 = 150.0;
const PERCENTILE: f64 = 0.95;

/// Installs the timing script in every page opened from now on.
pub(super) fn watch(browser: &Browser) {
    let script = json!({ "source": include_str!("pixels.js") });
    browser.devtools("Page.addScriptToEvaluateOnNewDocument", &script);
}

/// Measures the first paint of pages by their paths, each this many times (Paint Timing, W3C).
pub(super) fn paint(
    browser: &Browser,
    page: &Served,
    pages: &[(String, String)],
    rounds: usize,
    out: &mut dyn Write,
) -> Result<()> {
    let mut rows = vec![["first paint in Chromium", "median", "worst", "target"].map(str::to_owned).to_vec()];
    for (name, path) in pages {
        let mut times_ms = Vec::new();
        for _ in 0..rounds.max(1) {
            browser.open(&format!("http://{}{path}", page.client.host));
            browser.wait_until("performance.getEntriesByName('first-contentful-paint').length");
            let time_ms =
                browser.run("return performance.getEntriesByName('first-contentful-paint')[0].startTime");
            times_ms.push(time_ms.as_f64().ok_or("no time of a paint")?);
        }
        rows.push(super::row(name, &times_ms, PAINT_MS));
    }
    Ok(writeln!(out, "{}", layout(&rows))?)
}

/// Measures the longest frame while the list of runs is scrolled from its first to its last line,
/// one step per frame.
pub(super) fn scroll(browser: &Browser, page: &Served, out: &mut dyn Write) -> Result<()> {
    browser.open(&format!("http://{}/runs", page.client.host));
    browser.run(include_str!("scroll.js"));
    browser.wait_until("window.scrolled");
    let frames = browser.run("return window.scrolled");
    let mut times_ms: Vec<f64> = frames.as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
    times_ms.sort_unstable_by(f64::total_cmp);
    let (count, worst) = (times_ms.len(), times_ms.last().copied().unwrap_or(f64::NAN));
    let (middle, worst) = (figure(median(&times_ms), 1), figure(worst, 1));
    Ok(writeln!(out, "the list scrolled: {count} frames, median {middle} ms, longest {worst} ms\n")?)
}

/// Measures a request while the browser shows it, and prints the times of the events.
pub(super) fn events(browser: &Browser, page: &Served, wish: &Value, out: &mut dyn Write) -> Result<()> {
    browser.open(&format!("http://{}/", page.client.host));
    browser.wait_until("document.readyState === 'complete' && window.shown");
    page.start(wish)?;
    let happened = page.finish()?;
    browser.wait_until("document.querySelector('#board .after')");
    let (shown, unchanged) = (browser.run("return window.shown"), browser.run("return window.unchanged"));
    let began: BTreeMap<u64, f64> =
        happened.iter().map(|Happened { at_ms, envelope }| (envelope.number, *at_ms)).collect();
    let mut kinds: BTreeMap<&str, [Vec<f64>; 3]> = BTreeMap::new();
    for event in shown.as_array().into_iter().flatten() {
        let time = |name: &str| event[name].as_f64().ok_or("no time of an event");
        // Messages without a number do not come from the lab.
        let Some(began_ms) = event["number"].as_u64().and_then(|number| began.get(&number)) else { continue };
        let kind = event["kind"].as_str().unwrap_or_default();
        for group in ["all", kind] {
            let times_ms = kinds.entry(group).or_default();
            for (times_ms, name) in times_ms.iter_mut().zip(["heard", "changed", "painted"]) {
                times_ms.push(time(name)? - began_ms);
            }
        }
    }
    let head = [
        "events to pixels",
        "count",
        "heard, median",
        "changed, median",
        "seen, median",
        "seen, p95",
        "target",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for (kind, [heard, changed, painted]) in &kinds {
        let ms = |value: f64| format!("{} ms", figure(value, 1));
        let p95 = percentile(painted, PERCENTILE);
        let late = if p95 > EVENT_MS { " MISSED" } else { "" };
        rows.push(vec![
            (*kind).to_owned(),
            painted.len().to_string(),
            ms(median(heard)),
            ms(median(changed)),
            ms(median(painted)),
            ms(p95),
            format!("{EVENT_MS:.0} ms{late}"),
        ]);
    }
    writeln!(out, "{}{unchanged} events changed nothing\n", layout(&rows))?;
    Ok(())
}
