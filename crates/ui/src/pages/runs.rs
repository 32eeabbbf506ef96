//! The runs of the store: filtered, ticked, compared.

use crate::pages::frame::{encoded, further, say, search};
use crate::pages::{Visit, page as framed};
use axum::extract::Query;
use axum::response::Response;
use kurabe_compare::{DIGEST_VERSION, ListedRun, NAME_LABEL, digest, listed};
use kurabe_core::{Lang, number, shown, text};
use kurabe_report::Html;
use serde::Deserialize;

/// Runs on a page: more make it slow to read and to draw.
const ON_A_PAGE: usize = 100;

#[derive(Deserialize)]
pub(crate) struct RunsQuery {
    /// Words that all have to occur.
    #[serde(default)]
    q: String,
    /// The page, from 0 for the newest.
    #[serde(default)]
    page: usize,
}

/// `GET /runs`
pub(crate) async fn page(visit: Visit, Query(asked): Query<RunsQuery>) -> Response {
    framed(visit, move |shared, lang| {
        let store = shared.open_store()?;
        let digests = store.digests(DIGEST_VERSION, &digest, &mut |_, _| {})?;
        let mut runs = listed(store.list()?, &digests);
        runs.reverse();
        let all = runs.len();
        let words: Vec<String> = asked.q.to_lowercase().split_whitespace().map(str::to_owned).collect();
        runs.retain(|run| words.iter().all(|word| haystack(run).contains(word)));
        let title = text!("Runs", "結果");
        let mut html = Html::new();
        say(&mut html, "h1", "", &title, lang);
        head(&mut html, &asked, (runs.len(), all), lang);
        if runs.is_empty() {
            let words = match all {
                0 => text!(
                    "No run is stored yet. Measure something first.",
                    "まだ測定がありません。まず測定してください。"
                ),
                _ => text!("No run has all of these words.", "すべての語を含む測定はありません。"),
            };
            say(&mut html, "p", "empty", &words, lang);
            return Ok((title, html));
        }
        let first = asked.page.saturating_mul(ON_A_PAGE).min(runs.len());
        let shown = &runs[first..runs.len().min(first + ON_A_PAGE)];
        table(&mut html, shown, lang);
        let ways = [text!("newer", "新しい測定"), text!("older", "古い測定")];
        further(&mut html, ("/runs", &asked.q, asked.page), first + ON_A_PAGE < runs.len(), ways, lang);
        Ok((title, html))
    })
    .await
}

/// Everything of a run that a word is looked for in.
fn haystack(listed: &ListedRun) -> String {
    let run = &listed.run;
    let labels: Vec<String> = run.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let device = run.device.as_deref().unwrap_or_default();
    [&*run.id, &run.target, device, &run.profile, &run.started_at, &labels.join(" ")].join(" ").to_lowercase()
}

fn head(html: &mut Html, asked: &RunsQuery, (count, all): (usize, usize), lang: Lang) {
    search(html, "/runs", &text!("Words", "語句"), &asked.q, lang);
    let words = text!("{count} of {all} runs", "{all} 件中 {count} 件");
    html.raw(" ").element("span", &[("class", "quiet")], words.get(lang)).raw("</form><p class=\"ways\">");
    html.element("a", &[("href", "/matrix")], text!("all side by side", "全結果の比較表").get(lang)).raw(" ");
    html.element("a", &[("href", "/history")], text!("devices over time", "デバイスの経時変化").get(lang))
        .raw("</p>");
}

fn table(html: &mut Html, runs: &[ListedRun], lang: Lang) {
    html.raw("<form method=\"get\" action=\"/compare\" id=\"compare\">");
    let label = text!("runs", "測定");
    html.open(
        "div",
        &[("class", "scroll"), ("tabindex", "0"), ("role", "region"), ("aria-label", label.get(lang))],
    );
    html.raw("<table class=\"list\"><thead><tr>");
    let columns = [
        (text!("compare", "比較"), ""),
        (text!("run", "測定"), ""),
        (text!("when", "日時"), ""),
        (text!("target", "対象"), ""),
        (text!("profile", "プロファイル"), ""),
        (text!("best read", "最高読み出し"), "n"),
        (text!("best write", "最高書き込み"), "n"),
        (text!("4 KiB random read", "4 KiB ランダム読み出し"), "n"),
    ];
    for (name, class) in &columns {
        html.element("th", &[("scope", "col"), ("class", class)], name.get(lang));
    }
    html.raw("</tr></thead><tbody>");
    runs.iter().for_each(|run| row(html, run, lang));
    html.raw("</tbody></table></div><p class=\"actions\">");
    html.element(
        "button",
        &[("class", "main")],
        text!("Compare the ticked ones", "選んだ測定を比べる").get(lang),
    );
    html.raw("</p></form>");
}

fn row(html: &mut Html, listed: &ListedRun, lang: Lang) {
    let run = &listed.run;
    let address = format!("/runs/{}", encoded(&run.id));
    let name = run.labels.get(NAME_LABEL).unwrap_or(&run.id);
    let tick = text!("compare {name}", "{name} を比べる");
    html.raw("<tr><td>");
    html.open(
        "input",
        &[("type", "checkbox"), ("name", "run"), ("value", &run.id), ("aria-label", tick.get(lang))],
    );
    html.raw("</td><th scope=\"row\">").element("a", &[("href", &address)], name);
    if *name != run.id {
        html.element("small", &[], &run.id);
    }
    html.raw("</th>").element(
        "td",
        &[],
        &number::date_minute(run.measured_at.as_ref().unwrap_or(&run.started_at)),
    );
    html.raw("<td>").words(&shown::line(&run.target));
    let device = run.model.as_ref().map(|model| model.get(lang).to_owned()).or_else(|| run.device.clone());
    if let Some(device) = device {
        html.element("small", &[], &shown::line(&device));
    }
    html.raw("</td>").element("td", &[], &run.profile);
    let rates = [
        listed.best_read_rate_bytes_per_s,
        listed.best_write_rate_bytes_per_s,
        listed.random_4k_read_rate_bytes_per_s,
    ];
    for rate in rates {
        let words = rate.map_or_else(|| number::NONE.to_owned(), |rate| number::rate(rate).to_string());
        html.element("td", &[("class", "n")], &words);
    }
    html.raw("</tr>");
}
