//! Runs side by side: who is faster and how sure that is, what else differed, and which is the better one for a use.

use crate::pages::frame::say;
use crate::pages::run::{MARGIN, load};
use crate::pages::{Visit, page as framed};
use axum::extract::Query;
use axum::response::Response;
use kurabe_compare::{USES, Use, recommend};
use kurabe_core::record::RunRecord;
use kurabe_core::{ErrorKind, Lang, Result, Text, number, text};
use kurabe_report::{Html, Report, directed, recommendation_doc};

/// More runs than this make no page that can be read.
const MOST_RUNS: usize = 50;

/// `GET /compare?run=A&run=B…`
pub(crate) async fn page(visit: Visit, Query(asked): Query<Vec<(String, String)>>) -> Response {
    framed(visit, move |shared, lang| {
        let mut ids: Vec<&str> = Vec::new();
        for (_, id) in asked.iter().filter(|(key, _)| key == "run") {
            if !ids.contains(&id.as_str()) {
                ids.push(id);
            }
        }
        if !(2..=MOST_RUNS).contains(&ids.len()) {
            return Err(ErrorKind::Usage
                .error(text!(
                    "two to {MOST_RUNS} runs are compared",
                    "比べられるのは 2 件から {MOST_RUNS} 件までです"
                ))
                .remedy(text!("tick them in the list of runs", "結果の一覧で選んでください")));
        }
        let runs = ids.iter().map(|id| load(shared, id)).collect::<Result<Vec<_>>>()?;
        let list: Vec<&RunRecord> = runs.iter().collect();
        let report = Report::new(list.clone(), MARGIN, &[], None, lang);
        let [top, body] = report.docs();
        let mut html = Html::new();
        html.raw("<header class=\"report\">").doc(&top, lang).raw("</header>");
        purpose(&mut html, &list, &asked, lang)?;
        html.doc(&body, lang);
        Ok((report.title(), html))
    })
    .await
}

/// Which run is the better one for a use, whose parts the reader weighs.
fn purpose(html: &mut Html, runs: &[&RunRecord], asked: &[(String, String)], lang: Lang) -> Result<()> {
    let value = |name: &str| asked.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    html.raw("<section id=\"use\">");
    say(html, "h2", "", &text!("For a use", "用途で選ぶ"), lang);
    html.raw("<form method=\"get\" action=\"/compare#use\">");
    for run in runs {
        html.open("input", &[("type", "hidden"), ("name", "run"), ("value", &run.header.id)]);
    }
    html.raw("<p class=\"line\"><label>").words(text!("Use", "用途").get(lang)).raw(" <select name=\"use\">");
    html.raw("<option value=\"\">–</option>");
    let chosen_use = value("use").filter(|name| USES.iter().any(|(own, _)| own == name));
    for (name, _) in USES {
        let chosen = if chosen_use == Some(*name) { "selected" } else { "" };
        html.element("option", &[("value", name), ("selected", chosen)], Use::load(name)?.title.get(lang));
    }
    html.raw("</select></label> ").element("button", &[], text!("weigh", "評価する").get(lang)).raw("</p>");
    let Some(name) = chosen_use else {
        html.raw("</form></section>");
        return Ok(());
    };
    let mut asked_use = Use::load(name)?;
    let same_use = value("of") == Some(name);
    html.open("input", &[("type", "hidden"), ("name", "of"), ("value", name)]);
    html.raw("<div class=\"sliders\">");
    // A use gives parts of any sum; here they are of a hundred.
    let whole: f64 = asked_use.work.iter().map(|work| work.share).sum();
    for (place, work) in asked_use.work.iter_mut().enumerate() {
        // Shares that were set for another use say nothing of this one.
        let share =
            value(&format!("share{place}")).filter(|_| same_use).and_then(|share| share.parse::<f64>().ok());
        let share = share.filter(|share| share.is_finite() && (0.0..=100.0).contains(share));
        work.share = share.unwrap_or(work.share / whole * 100.0);
        let order = if work.sequential { "SEQ" } else { "RND" };
        let block = kurabe_core::quantity::format_bytes(work.block_bytes);
        let label = directed(Some(work.direction), &Text::same(format!("{order} {block} Q{}", work.iodepth)));
        let share = number::fixed(work.share, 0);
        html.raw("<label>").element("span", &[], label.get(lang));
        let field = format!("share{place}");
        html.open(
            "input",
            &[("type", "range"), ("min", "0"), ("max", "100"), ("name", &field), ("value", &share)],
        );
        html.element("output", &[], &format!("{share} %")).raw("</label>");
    }
    html.raw("</div></form>");
    if asked_use.work.iter().all(|work| work.share == 0.0) {
        let words =
            text!("Give a part of the use more than 0 %.", "いずれかの割合を 0 % より大きくしてください。");
        html.element("p", &[("class", "notice warn")], words.get(lang)).raw("</section>");
        return Ok(());
    }
    match recommend(runs, &asked_use) {
        Some(choice) => html.doc(&recommendation_doc(&choice, &asked_use, runs), lang),
        None => {
            let words = text!(
                "These runs have no cell in common that this use needs.",
                "これらの測定には、この用途に必要な共通の項目がありません。"
            );
            html.element("p", &[("class", "notice warn")], words.get(lang))
        }
    };
    html.raw("</section>");
    Ok(())
}
