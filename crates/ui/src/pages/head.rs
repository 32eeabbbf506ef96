//! The head of a run: the device, what was measured in a line, and what can be done with the result.

use super::kit::*;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use kurabe_chart::{DRAWS_PNG, Theme, png};
use kurabe_compare::subject;
use kurabe_core::record::RunRecord;
use kurabe_report::{drive_words, procedure_name};

/// Returns the name of a run: its label, or the device that was measured.
pub(crate) fn run_name(record: &RunRecord) -> Text {
    record.labels.get(NAME_LABEL).map_or_else(|| subject(record), Text::same).map(shown::line)
}

/// Renders the name of the device, with the actions next to it, and one line about the run.
pub(crate) fn run_head(record: &RunRecord, level: u8, actions: &Markup, lang: Lang) -> Markup {
    let header = &record.header;
    let name = run_name(record);
    let model = text!("model: computed, not measured", "モデルの計算値");
    let title = html! {
        (name.get(lang)) " "
        @if header.model.is_some() { em.model { (model.get(lang)) } }
    };
    html! {
        div.title {
            @if level == 1 { h1 { (title) } } @else { h2 { (title) } }
            (actions)
        }
        p.facts { (facts_line(record).get(lang)) }
    }
}

/// Returns everything about a run but its name in one line.
pub(crate) fn facts_line(record: &RunRecord) -> Text {
    Text::join(facts(record, &run_name(record)), [" · "; 2])
}

/// Returns procedure, date, place, link and labels of a run.
fn facts(record: &RunRecord, name: &Text) -> Vec<Text> {
    let header = &record.header;
    let date = number::date_minute(header.measured_at());
    let place = header.target.as_ref().filter(|_| header.model.is_none());
    let place = place.map(|target| Text::same(shown::line(target.place())));
    let subject = subject(record).map(shown::line);
    let labels = record.labels.iter().filter(|(key, _)| *key != NAME_LABEL);
    let labels = labels.map(|(key, value)| Text::same(shown::line(&format!("{key}={value}"))));
    let mut facts = vec![procedure_name(header).map(shown::line)];
    facts.push(if date.is_empty() { text!("date unknown", "日時不明") } else { date.into() });
    facts.push(subject);
    facts.extend(place);
    facts.extend(drive_words(&header.environment).facts);
    facts.extend(labels);
    facts.push(Text::same(&header.id));
    // The heading has the name already.
    facts.retain(|fact| !fact.is_empty() && fact.en != name.en && fact.ja != name.ja);
    facts.dedup();
    facts
}

/// Renders everything that can be done with a run outside this page, as one menu.
pub(crate) fn share(id: &str, lang: Lang) -> Markup {
    let id = encoded(id);
    let own = lang.pick("en", "ja");
    let picture = |ending: &str| format!("card.{ending}?lang={own}&theme=light");
    let kept = |ending: &str| Some(format!("kurabe-{id}.{ending}"));
    let png = (picture("png"), kept("png"), text!("picture (PNG)", "画像(PNG)"));
    let rest = [
        (picture("svg"), kept("svg"), text!("picture (SVG)", "画像(SVG)")),
        ("text".to_owned(), None, text!("text for a forum", "掲示板用のテキスト")),
        ("report.html".to_owned(), None, text!("page", "ページ")),
        (
            "report.html?without_paths=true".to_owned(),
            None,
            text!("page without the paths of this machine", "ページ(このマシンのパスを伏せる)"),
        ),
        ("record.json".to_owned(), None, text!("record (JSON)", "記録(JSON)")),
    ];
    let address = format!("/runs/{id}/");
    share_menu(&address, DRAWS_PNG.then_some(png).into_iter().chain(rest), lang)
}

/// Renders the menu of a comparison or a study: its card.
pub(crate) fn share_card(address: &str, name: &str, query: &str, lang: Lang) -> Markup {
    let own = lang.pick("en", "ja");
    let item = |ending: &str, words| {
        let file = format!("card.{ending}?lang={own}&theme=light{query}");
        (file, Some(format!("kurabe-{name}.{ending}")), words)
    };
    let png = DRAWS_PNG.then(|| item("png", text!("picture (PNG)", "画像(PNG)")));
    let svg = item("svg", text!("picture (SVG)", "画像(SVG)"));
    share_menu(address, png.into_iter().chain([svg]), lang)
}

/// An item of a menu: file, name under which it is saved, and text.
type ShareItem = (String, Option<String>, Text);

fn share_menu(address: &str, items: impl IntoIterator<Item = ShareItem>, lang: Lang) -> Markup {
    html! {
        details.share {
            summary #share { (text!("Share", "共有").get(lang)) }
            ul {
                @for (file, saved_as, name) in items {
                    li { a href={ (address) (file) } download=[saved_as] { (name.get(lang)) } }
                }
            }
        }
    }
}

/// Returns a card as a file, in the reader's language and light if the address says nothing else.
pub(crate) fn card_file(
    name: &str,
    (asked_lang, asked_theme): (Option<&str>, Option<&str>),
    lang: Lang,
    draw: impl FnOnce(Theme, Lang) -> String,
) -> Result<Made> {
    let theme = if asked_theme == Some("dark") { Theme::Dark } else { Theme::Light };
    let svg = draw(theme, asked_lang.map_or(lang, Lang::from_locale));
    Ok(match name {
        "card.svg" => Made::File("image/svg+xml", None, svg.into_bytes()),
        "card.png" => Made::File("image/png", None, png(&svg, 1.0)?),
        _ => Made::Other(StatusCode::NOT_FOUND.into_response()),
    })
}
