//! The runs of the store. The list can be filtered, and runs compared. The matrix compares all runs
//! by a key. The history shows devices over time, with repeated measurements and their changes.

use super::frame::dated_runs;
use super::kit::*;
use kurabe_compare::{ListedRun, PivotRequest, listed, measured_again, pivot};
use kurabe_core::record::RunSummary;
use kurabe_report::{PIVOT_WORDS, history_doc, pivot_doc, runs_table};
use kurabe_store::Filter;
use std::collections::{BTreeSet, HashMap};

/// Runs per page. More would be slow to read and to render.
const ON_A_PAGE: usize = 100;

/// Handles `GET /runs`.
pub(crate) fn page(shared: &App, lang: Lang, Query(asked): Query<Search>) -> Result<Made> {
    let store = shared.store.runs()?;
    let digests = store.digests(&mut |_, _| {})?;
    let mut runs = listed(store.list()?, &digests);
    runs.reverse();
    let all = runs.len();
    let is_asked_for = asked.filter();
    runs.retain(|run| is_asked_for(&haystack(run)));
    let (shown, has_more) = asked.part(&runs, ON_A_PAGE);
    let count = runs.len();
    let counted = text!("{count} of {all} runs", "{all} 件中 {count} 件");
    let elsewhere = [
        ("/matrix", text!("all side by side", "全結果の比較表")),
        ("/history", text!("devices over time", "デバイスの経時変化")),
    ];
    let ways = [text!("newer", "新しい測定"), text!("older", "古い測定")];
    let page = html! {
        (asked.form("/runs", &text!("Search for", "検索語"), lang))
        (ways_to(elsewhere, lang))
        div #list {
            p.quiet { (counted.get(lang)) }
            @if runs.is_empty() {
                p.empty { (nothing(all).get(lang)) }
            } @else {
                (to_compare(&written(&runs_table(shown, "/runs"), lang), lang))
                (asked.further("/runs", has_more, ways, lang))
            }
        }
    };
    Ok(Made::Page(text!("Runs", "結果"), page))
}

/// Explains why no run is listed, given the number of runs in the store.
fn nothing(all: usize) -> Text {
    match all {
        0 => text!(
            "No run is stored yet. Measure something first.",
            "まだ測定がありません。まず測定してください。"
        ),
        _ => text!("No run contains all of these words.", "すべての語を含む測定はありません。"),
    }
}

/// Returns the text of a run that a search covers.
fn haystack(listed: &ListedRun) -> String {
    let run = &listed.run;
    let labels: Vec<String> = run.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let device = run.device.as_deref().unwrap_or_default();
    [&*run.id, &run.target, device, &run.profile, &run.started_at, &labels.join(" ")].join(" ")
}

/// The offered keys. Others are available on the command line.
fn pivot_keys() -> [(&'static str, Text); 6] {
    [
        ("device", text!("device", "デバイス")),
        ("target", text!("target", "対象")),
        ("filesystem", text!("file system", "ファイルシステム")),
        ("kernel", text!("kernel", "カーネル")),
        ("link", text!("link", "接続")),
        ("run", text!("run", "測定")),
    ]
}

/// Maximum number of rows of the matrix. More would make a page of megabytes.
const MOST_ROWS: usize = 200;

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct MatrixQuery {
    /// Key of the rows. The default is the device.
    by: String,
    profile: String,
    baseline: String,
}

/// Handles `GET /matrix`.
pub(crate) fn matrix(shared: &App, lang: Lang, Query(mut asked): Query<MatrixQuery>) -> Result<Made> {
    if asked.by.is_empty() {
        asked.by = pivot_keys()[0].0.to_owned();
    }
    let store = shared.store.runs()?;
    let request = PivotRequest {
        by: vec![asked.by.clone()],
        baseline: Some(asked.baseline.trim().to_owned()).filter(|baseline| !baseline.is_empty()),
        profile: Some(asked.profile.clone()).filter(|profile| !profile.is_empty()),
        margin: MARGIN,
        ..PivotRequest::default()
    };
    let (runs, digests) = store.pooled(request.day_chars(), &mut |_, _| {})?;
    let profiles: BTreeSet<&str> = runs.iter().map(|run| run.profile.as_str()).collect();
    let first = if asked.by == "run" { runs.len().saturating_sub(MOST_ROWS) } else { 0 };
    let (count, most) = (runs.len(), MOST_ROWS);
    let newest = text!(
        "The newest {most} of {count} runs are shown.",
        "{count} 件のうち新しい {most} 件を並べています。"
    );
    let page = html! {
        (matrix_form(&asked, &profiles, lang))
        @if first > 0 { p.quiet { (newest.get(lang)) } }
        (written(&pivot_doc(&pivot(&runs[first..], &digests, &request, &PIVOT_WORDS)?), lang))
    };
    Ok(Made::Page(text!("All runs side by side", "全結果の比較表"), page))
}

fn matrix_form(asked: &MatrixQuery, profiles: &BTreeSet<&str>, lang: Lang) -> Markup {
    let every = std::iter::once(("", text!("all", "すべて")));
    let profiles = every.chain(profiles.iter().map(|profile| (*profile, Text::same(*profile))));
    let profile = Some(&*asked.profile).filter(|profile| !profile.is_empty());
    html! {
        form.line method="get" action="/matrix" {
            (choice(("by", text!("by", "並べるもの")), pivot_keys(), Some(&asked.by), lang))
            (choice(("profile", text!("profile", "プロファイル")), profiles, profile, lang))
            label {
                (text!("against", "基準").get(lang)) " "
                input name="baseline" value=(asked.baseline) size="14";
            } " "
            button { (text!("show", "表示").get(lang)) }
        }
    }
}

/// Devices per page. Each has charts, so more would take too long with thousands of runs.
const DEVICES_ON_A_PAGE: usize = 4;
/// Maximum number of dates of a device that can be selected. More would be hard to read and slow to
/// render.
const MOST_DATES: usize = 60;

/// Handles `GET /history`.
pub(crate) fn history(shared: &App, lang: Lang, Query(asked): Query<Search>) -> Result<Made> {
    let store = shared.store.runs()?;
    let digests = store.digests(&mut |_, _| {})?;
    let device = Some(asked.q.trim().to_owned()).filter(|device| !device.is_empty());
    let filter = Filter { device, ..Filter::default() };
    let runs = filter.apply(store.list()?);
    let by_id: HashMap<&str, &RunSummary> = runs.iter().map(|run| (run.id.as_str(), run)).collect();
    let groups = measured_again(&runs, &digests, None);
    let nothing = text!(
        "No such device was measured twice in the same way.",
        "同じ条件で 2 回以上測ったデバイスはありません。"
    );
    let (shown, has_more) = asked.part(&groups, DEVICES_ON_A_PAGE);
    let ways = [text!("devices before", "前のデバイス"), text!("further devices", "次のデバイス")];
    let page = html! {
        (asked.form("/history", &text!("Device", "デバイス"), lang))
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

/// Renders the newest runs by date, two of which can be overlaid.
fn dates(device: &str, ids: &[String], runs: &HashMap<&str, &RunSummary>, lang: Lang) -> Markup {
    let earlier = ids.len().saturating_sub(MOST_DATES);
    let shown = &ids[earlier..];
    let ways = [(
        format!("/runs?q={}", encoded(device)),
        text!("and {earlier} earlier ones", "これより前の {earlier} 件"),
    )];
    let dated = shown.iter().enumerate().filter_map(|(place, id)| {
        let run = runs.get(id.as_str())?;
        let date = run.measured_at();
        Some((id.as_str(), date, place == 0 || place + 1 == shown.len()))
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
