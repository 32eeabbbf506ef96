//! A drive by itself: its curve while it is read, what to type to have it written, and what it did before.
//!
//! The model: a run belongs to a drive by the hash of its serial number, or where no number is told, by its path. Only runs on the
//! drive itself have places that mean the same, so those in its directories are not laid over each other.

use crate::pages::frame::{dated_run, encoded, say};
use crate::pages::measure::{board_section, procedure_fields};
use crate::pages::{Visit, page as framed};
use crate::places::{drives, holder};
use axum::extract::Query;
use axum::response::Response;
use kurabe_compare::NAME_LABEL;
use kurabe_core::environment::Environment;
use kurabe_core::record::{Cell, RunRecord, RunStatus, RunSummary, TargetKind};
use kurabe_core::{Error, ErrorKind, Lang, Result, number, shown, text};
use kurabe_host::{ObserveOptions, observe};
use kurabe_report::{Html, positions_doc};
use kurabe_store::Store;
use std::path::Path;

/// The profile that a drive is first offered: reads spread over all of it.
const PROFILE: &str = "gnome-disks";
/// Dates that are listed.
const MOST_DATES: usize = 30;
/// Runs whose records are read to find those: others of the same model, or in its directories, are passed over.
const MOST_READ: usize = 120;
/// Curves of more runs in one drawing cannot be told apart.
const MOST_LAID: usize = 3;

/// `GET /drive?target=/dev/sda&run=A&run=B`
pub(crate) async fn page(visit: Visit, Query(asked): Query<Vec<(String, String)>>) -> Response {
    framed(visit, move |shared, lang| {
        let values =
            |name: &'static str| asked.iter().filter(move |(key, _)| key == name).map(|(_, value)| value);
        let target = values("target").next().cloned().unwrap_or_default();
        let place = drives().into_iter().find(|place| place.target == target).ok_or_else(no_drive)?;
        let name = shown::line(&target);
        let title = text!("Drive {name}", "ドライブ {name}");
        let mut html = Html::new();
        say(&mut html, "h1", "", &title, lang);
        say(&mut html, "p", "quiet", &place.storage, lang);
        if place.is_usable {
            html.raw("<form id=\"measure\" class=\"measure\" autocomplete=\"off\">");
            html.open("input", &[("type", "hidden"), ("name", "target"), ("value", &place.target)]);
            procedure_fields(&mut html, PROFILE, lang)?;
        } else if let Some(limit) = &place.limit {
            html.element("p", &[("class", "notice warn")], limit.get(lang));
        }
        board_section(&mut html, shared, lang)?;
        let ticked: Vec<&str> = values("run").map(String::as_str).collect();
        past(&mut html, &*shared.open_store()?, &target, &ticked, lang)?;
        Ok((title, html))
    })
    .await
}

fn no_drive() -> Error {
    let what = text!("there is no such drive", "このドライブはありません");
    ErrorKind::Target.error(what).remedy(text!(
        "choose one in the list of the first page; it may have been taken out",
        "最初のページの一覧から選んでください。取り外された可能性もあります"
    ))
}

/// What to type where somebody wants a drive written: the page never does that.
pub(crate) fn writing_command(target: &str, profile: &str) -> String {
    let target = shown::shell_word(&shown::line(target));
    format!("kurabe run --profile {profile} --destroy-data-on {target} {target}")
}

/// What somebody types, and what that would do.
pub(crate) fn writing(html: &mut Html, target: &str, profile: &str, lang: Lang) {
    let words = text!(
        "The page only reads drives. This, typed in a terminal, also writes, and destroys everything on it:",
        "このページではドライブを読むだけです。端末で次のように入力すると書き込みも測りますが、中身はすべて失われます。"
    );
    html.element("p", &[("class", "notice warn")], words.get(lang));
    html.raw("<pre>").element("code", &[], &writing_command(target, profile)).raw("</pre>");
    if let Some(by) = holder(Path::new(target)) {
        let words = text!(
            "It would be refused now, because the drive is in use: {by}",
            "現在は使用中のため拒否されます: {by}";
            by
        );
        html.element("p", &[("class", "notice")], words.get(lang));
    }
}

/// What was measured on the drive before, of which some are laid over each other.
fn past(html: &mut Html, store: &dyn Store, target: &str, ticked: &[&str], lang: Lang) -> Result<()> {
    html.raw("<section id=\"past\">");
    say(html, "h2", "", &text!("Measured before", "これまでの測定"), lang);
    let records = before(store, target)?;
    if records.is_empty() {
        let words = text!(
            "The places of this drive have not been measured yet.",
            "このドライブを位置ごとに測った結果はまだありません。"
        );
        say(html, "p", "empty", &words, lang);
        html.raw("</section>");
        return Ok(());
    }
    // The newest alone, unless some are ticked.
    let is_ticked =
        |place: usize, id: &str| if ticked.is_empty() { place == 0 } else { ticked.contains(&id) };
    html.raw("<form method=\"get\" action=\"/drive#past\" class=\"line\">");
    html.open("input", &[("type", "hidden"), ("name", "target"), ("value", target)]);
    let mut laid = Vec::new();
    for (place, mut record) in records.into_iter().enumerate() {
        let (id, date) = (record.header.id.clone(), number::date_minute(&record.header.started_at));
        let is_laid = is_ticked(place, &id);
        dated_run(html, &id, &date, is_laid);
        // Of one drive the dates tell runs apart.
        record.labels.entry(NAME_LABEL.to_owned()).or_insert(date);
        laid.extend(Some(record).filter(|_| is_laid));
    }
    html.element("button", &[], text!("lay over each other", "重ねて見る").get(lang)).raw("</form>");
    if laid.len() > MOST_LAID {
        let words = text!(
            "More than {MOST_LAID} curves cannot be told apart: the newest of those ticked are drawn.",
            "線が {MOST_LAID} 本を超えると見分けられないため、選んだ中の新しいものだけを描いています。"
        );
        say(html, "p", "notice", &words, lang);
    }
    let laid: Vec<&RunRecord> = laid.iter().take(MOST_LAID).collect();
    html.doc(&positions_doc(&laid), lang);
    ways(html, &laid, lang);
    html.raw("</section>");
    Ok(())
}

fn ways(html: &mut Html, laid: &[&RunRecord], lang: Lang) {
    html.raw("<p class=\"ways\">");
    if laid.len() > 1 {
        let runs: Vec<String> = laid.iter().map(|run| format!("run={}", encoded(&run.header.id))).collect();
        let address = format!("/compare?{}", runs.join("&"));
        let name = text!("which was faster, and how sure that is", "どちらが速かったか、どのくらい確かか");
        html.element("a", &[("href", &address)], name.get(lang)).raw(" ");
    }
    let model = laid.first().and_then(|run| run.header.environment.devices.first()?.model.clone());
    if let Some(model) = model {
        let address = format!("/history?q={}", encoded(&model));
        html.element(
            "a",
            &[("href", &address)],
            text!("all of it over time", "経時変化をすべて見る").get(lang),
        );
    }
    html.raw("</p>");
}

/// Runs on the drive itself that sampled its places, the newest first.
fn before(store: &dyn Store, target: &str) -> Result<Vec<RunRecord>> {
    let here = observe(Path::new(target), &ObserveOptions { with_serial: false, salt: &store.salt()? });
    let model = here.devices.iter().find_map(|device| device.model.as_deref());
    let may_be = |run: &RunSummary| {
        let is_over = run.status != RunStatus::Running && run.model.is_none() && !run.imported;
        is_over && (run.target == target || (model.is_some() && run.device.as_deref() == model))
    };
    let runs = store.list()?;
    let mut records = Vec::new();
    for run in runs.iter().rev().filter(|run| may_be(run)).take(MOST_READ) {
        let record = store.load(&run.id)?;
        if is_of(&record, target, &here) && record.cells.iter().any(Cell::has_samples) {
            records.push(record);
        }
        if records.len() == MOST_DATES {
            break;
        }
    }
    Ok(records)
}

fn is_of(record: &RunRecord, target: &str, here: &Environment) -> bool {
    let Some(own) = record.header.target.as_ref().filter(|own| own.kind == TargetKind::BlockDevice) else {
        return false;
    };
    let serial =
        |environment: &Environment| environment.devices.first().and_then(|device| device.serial.clone());
    match (serial(&record.header.environment), serial(here)) {
        (Some(before), Some(now)) => before == now,
        (None, None) => own.path == target || own.given == target,
        _ => false,
    }
}
