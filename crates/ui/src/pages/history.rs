//! Devices over time: what was measured again in the same way, and what became of it.

use crate::pages::frame::{dated_run, encoded, further, say, search};
use crate::pages::run::MARGIN;
use crate::pages::{Visit, page as framed};
use axum::extract::Query;
use axum::response::Response;
use kurabe_compare::{DIGEST_VERSION, digest, measured_again};
use kurabe_core::record::RunSummary;
use kurabe_core::{Lang, number, text};
use kurabe_report::{Html, history_doc};
use kurabe_store::Filter;
use serde::Deserialize;
use std::collections::HashMap;

/// Devices on a page: each has charts, and more take longer than anybody waits for a page where there are thousands of runs.
const ON_A_PAGE: usize = 4;
/// Dates of a device that can be ticked; more are a wall of figures, and slow to draw.
const MOST_DATES: usize = 60;

#[derive(Deserialize)]
pub(crate) struct HistoryQuery {
    /// Only devices whose name has this.
    #[serde(default)]
    q: String,
    /// The page, from 0.
    #[serde(default)]
    page: usize,
}

/// `GET /history`
pub(crate) async fn page(visit: Visit, Query(HistoryQuery { q, page }): Query<HistoryQuery>) -> Response {
    framed(visit, move |shared, lang| {
        let title = text!("Over time", "経時変化");
        let store = shared.open_store()?;
        let digests = store.digests(DIGEST_VERSION, &digest, &mut |_, _| {})?;
        let device = Some(q.trim().to_owned()).filter(|device| !device.is_empty());
        let filter = Filter { device, ..Filter::default() };
        let runs = filter.apply(store.list()?);
        let by_id: HashMap<&str, &RunSummary> = runs.iter().map(|run| (run.id.as_str(), run)).collect();
        let groups = measured_again(&runs, &digests);
        let mut html = Html::new();
        say(&mut html, "h1", "", &title, lang);
        search(&mut html, "/history", &text!("Device", "デバイス"), &q, lang);
        html.raw("</form>");
        if groups.is_empty() {
            let words = text!(
                "No such device was measured twice with one profile.",
                "同じプロファイルで 2 回以上測ったデバイスはありません。"
            );
            say(&mut html, "p", "empty", &words, lang);
        }
        let first = page.saturating_mul(ON_A_PAGE).min(groups.len());
        for (device, ids) in groups[first..].iter().take(ON_A_PAGE) {
            let (first, last) = (store.load(&ids[0])?, store.load(&ids[ids.len() - 1])?);
            let history = kurabe_compare::history(&first, &last, ids, &digests, MARGIN);
            html.raw("<section>").doc(&history_doc(&history, device, [&first.header, &last.header]), lang);
            dates(&mut html, device, ids, &by_id, lang);
            html.raw("</section>");
        }
        let ways = [text!("devices before", "前のデバイス"), text!("further devices", "次のデバイス")];
        further(&mut html, ("/history", &q, page), first + ON_A_PAGE < groups.len(), ways, lang);
        Ok((title, html))
    })
    .await
}

/// The newest runs by their dates, of which two are laid over each other.
fn dates(html: &mut Html, device: &str, ids: &[String], runs: &HashMap<&str, &RunSummary>, lang: Lang) {
    let shown = &ids[ids.len().saturating_sub(MOST_DATES)..];
    html.raw("<form method=\"get\" action=\"/compare\" class=\"line\">");
    for (place, id) in shown.iter().enumerate() {
        let Some(run) = runs.get(id.as_str()) else { continue };
        let date = number::date_minute(run.measured_at.as_ref().unwrap_or(&run.started_at));
        dated_run(html, id, &date, place == 0 || place + 1 == shown.len());
    }
    html.element("button", &[], text!("lay over each other", "重ねて比べる").get(lang)).raw("</form>");
    let earlier = ids.len() - shown.len();
    if earlier > 0 {
        let address = format!("/runs?q={}", encoded(device));
        let words = text!("and {earlier} earlier ones", "これより前の {earlier} 件");
        html.raw("<p class=\"ways\">").element("a", &[("href", &address)], words.get(lang)).raw("</p>");
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
        let mut html = Html::new();
        dates(&mut html, "some disk", &ids, &by_id, Lang::En);
        let html = html.finish();
        assert_eq!(html.matches("type=\"checkbox\"").count(), MOST_DATES);
        assert_eq!(html.matches(" checked").count(), 2, "{html}");
        assert!(!html.contains("\"r4\"") && html.contains("value=\"r5\"") && html.contains("value=\"r64\""));
        assert!(html.contains("/runs?q=some%20disk") && html.contains("and 5 earlier ones"), "{html}");
    }
}
