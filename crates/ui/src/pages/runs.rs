//! The runs of the store: filtered, ticked, compared.

use crate::pages::Made;
use crate::pages::frame::{encoded, to_compare, ways_to};
use crate::pages::search::Search;
use crate::shared::App;
use axum::extract::Query;
use kurabe_compare::{DIGEST_VERSION, ListedRun, NAME_LABEL, digest, listed};
use kurabe_core::{Lang, Result, Text, number, shown, text};
use maud::{Markup, html};

/// Runs on a page: more make it slow to read and to draw.
const ON_A_PAGE: usize = 100;

/// `GET /runs`
pub(crate) fn page(shared: &App, lang: Lang, Query(asked): Query<Search>) -> Result<Made> {
    let store = shared.open_store()?;
    let digests = store.digests(DIGEST_VERSION, &digest, &mut |_, _| {})?;
    let mut runs = listed(store.list()?, &digests);
    runs.reverse();
    let all = runs.len();
    let is_asked_for = asked.filter();
    runs.retain(|run| is_asked_for(&haystack(run)));
    let (shown, has_more) = asked.part(&runs, ON_A_PAGE);
    let ways = [text!("newer", "新しい測定"), text!("older", "古い測定")];
    let page = html! {
        (head(&asked, (runs.len(), all), lang))
        @if runs.is_empty() {
            p.empty { (nothing(all).get(lang)) }
        } @else {
            (table(shown, lang))
            (asked.further("/runs", has_more, ways, lang))
        }
    };
    Ok(Made::Page(text!("Runs", "結果"), page))
}

/// Why no run is listed, of so many.
fn nothing(all: usize) -> Text {
    match all {
        0 => text!(
            "No run is stored yet. Measure something first.",
            "まだ測定がありません。まず測定してください。"
        ),
        _ => text!("No run has all of these words.", "すべての語を含む測定はありません。"),
    }
}

/// Everything of a run that a word is looked for in.
fn haystack(listed: &ListedRun) -> String {
    let run = &listed.run;
    let labels: Vec<String> = run.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let device = run.device.as_deref().unwrap_or_default();
    [&*run.id, &run.target, device, &run.profile, &run.started_at, &labels.join(" ")].join(" ")
}

fn head(asked: &Search, (count, all): (usize, usize), lang: Lang) -> Markup {
    let counted = text!("{count} of {all} runs", "{all} 件中 {count} 件");
    let counted = html! { " " span.quiet { (counted.get(lang)) } };
    let ways = [
        ("/matrix", text!("all side by side", "全結果の比較表")),
        ("/history", text!("devices over time", "デバイスの経時変化")),
    ];
    html! {
        (asked.form("/runs", &text!("Words", "語句"), &counted, lang))
        (ways_to(ways, lang))
    }
}

fn table(runs: &[ListedRun], lang: Lang) -> Markup {
    let columns = [
        (text!("compare", "比較"), None),
        (text!("run", "測定"), None),
        (text!("when", "日時"), None),
        (text!("target", "対象"), None),
        (text!("profile", "プロファイル"), None),
        (text!("best read", "最高読み出し"), Some("n")),
        (text!("best write", "最高書き込み"), Some("n")),
        (text!("4 KiB random read", "4 KiB ランダム読み出し"), Some("n")),
    ];
    let table = html! {
        div.scroll tabindex="0" role="region" aria-label=(text!("runs", "測定").get(lang)) {
            table.list {
                thead { tr { @for (name, class) in &columns { th scope="col" class=[class] { (name.get(lang)) } } } }
                tbody { @for run in runs { (row(run, lang)) } }
            }
        }
    };
    to_compare("/compare", &table, lang)
}

fn row(listed: &ListedRun, lang: Lang) -> Markup {
    let run = &listed.run;
    let name = shown::line(run.labels.get(NAME_LABEL).unwrap_or(&run.id));
    let device = run.model.as_ref().map(|model| model.get(lang)).or(run.device.as_deref());
    let rates = [
        listed.best_read_rate_bytes_per_s,
        listed.best_write_rate_bytes_per_s,
        listed.random_4k_read_rate_bytes_per_s,
    ];
    let words = |rate: Option<f64>| rate.map(|rate| number::rate(rate).to_string());
    html! {
        tr {
            td {
                input type="checkbox" name="run" value=(run.id)
                    aria-label=(text!("compare {name}", "{name} を比べる").get(lang));
            }
            th scope="row" {
                a href={ "/runs/" (encoded(&run.id)) } { (name) }
                @if name != *run.id { small { (run.id) } }
            }
            td { (number::date_minute(run.measured_at.as_ref().unwrap_or(&run.started_at))) }
            td {
                (shown::line(&run.target))
                @if let Some(device) = device { small { (shown::line(device)) } }
            }
            td { (run.profile) }
            @for rate in rates { td.n { (words(rate).as_deref().unwrap_or(number::NONE)) } }
        }
    }
}
