//! Devices over time: what was measured again in the same way, and what became of it.

use crate::pages::Made;
use crate::pages::frame::{dated_runs, encoded, ways_to, written};
use crate::pages::run::MARGIN;
use crate::pages::search::Search;
use crate::shared::App;
use axum::extract::Query;
use kurabe_compare::{DIGEST_VERSION, digest, measured_again};
use kurabe_core::record::RunSummary;
use kurabe_core::{Lang, Result, text};
use kurabe_report::history_doc;
use kurabe_store::Filter;
use maud::{Markup, html};
use std::collections::HashMap;

/// Devices on a page: each has charts, and more take longer than anybody waits for a page where there are thousands of runs.
const ON_A_PAGE: usize = 4;
/// Dates of a device that can be ticked; more are a wall of figures, and slow to draw.
const MOST_DATES: usize = 60;

/// `GET /history`
pub(crate) fn page(shared: &App, lang: Lang, Query(asked): Query<Search>) -> Result<Made> {
    let store = shared.open_store()?;
    let digests = store.digests(DIGEST_VERSION, &digest, &mut |_, _| {})?;
    let device = Some(asked.q.trim().to_owned()).filter(|device| !device.is_empty());
    let filter = Filter { device, ..Filter::default() };
    let runs = filter.apply(store.list()?);
    let by_id: HashMap<&str, &RunSummary> = runs.iter().map(|run| (run.id.as_str(), run)).collect();
    let groups = measured_again(&runs, &digests, None);
    let nothing = text!(
        "No such device was measured twice in the same way.",
        "同じ条件で 2 回以上測ったデバイスはありません。"
    );
    let (shown, has_more) = asked.part(&groups, ON_A_PAGE);
    let ways = [text!("devices before", "前のデバイス"), text!("further devices", "次のデバイス")];
    let page = html! {
        (asked.form("/history", &text!("Device", "デバイス"), &html! {}, lang))
        @if groups.is_empty() { p.empty { (nothing.get(lang)) } }
        @for (device, ids) in shown {
            @let ends = (store.load(&ids[0])?, store.load(&ids[ids.len() - 1])?);
            @let history = kurabe_compare::history(&ends.0, &ends.1, ids, &digests, MARGIN);
            section {
                (written(&history_doc(&history, device, [&ends.0.header, &ends.1.header]), lang))
                (dates(device, ids, &by_id, lang))
            }
        }
        (asked.further("/history", has_more, ways, lang))
    };
    Ok(Made::Page(text!("Over time", "経時変化"), page))
}

/// The newest runs by their dates, of which two are laid over each other.
fn dates(device: &str, ids: &[String], runs: &HashMap<&str, &RunSummary>, lang: Lang) -> Markup {
    let earlier = ids.len().saturating_sub(MOST_DATES);
    let shown = &ids[earlier..];
    let ways = [(
        format!("/runs?q={}", encoded(device)),
        text!("and {earlier} earlier ones", "これより前の {earlier} 件"),
    )];
    let dated = shown.iter().enumerate().filter_map(|(place, id)| {
        let run = runs.get(id.as_str())?;
        let date = run.measured_at.as_ref().unwrap_or(&run.started_at);
        Some((id.as_str(), date.as_str(), place == 0 || place + 1 == shown.len()))
    });
    html! {
        (dated_runs("/compare", None, dated, lang))
        @if earlier > 0 { (ways_to(ways, lang)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_testkit::ssd::summaries;

    #[test]
    fn of_many_dates_the_newest_are_ticked_and_the_others_are_a_click_away() {
        let ids: Vec<String> = (0..MOST_DATES + 5).map(|place| format!("r{place}")).collect();
        let run = summaries().remove(0);
        let by_id = ids.iter().map(|id| (id.as_str(), &run)).collect();
        let html = dates("some disk", &ids, &by_id, Lang::En).into_string();
        assert_eq!(html.matches("type=\"checkbox\"").count(), MOST_DATES);
        assert_eq!(html.matches(" checked").count(), 2, "{html}");
        assert!(!html.contains("\"r4\"") && html.contains("value=\"r5\"") && html.contains("value=\"r64\""));
        assert!(html.contains("/runs?q=some%20disk") && html.contains("and 5 earlier ones"), "{html}");
    }
}
