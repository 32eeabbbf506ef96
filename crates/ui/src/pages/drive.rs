//! The page of a drive: its curve while it is being read, the command for a write test, and its
//! earlier runs.
//!
//! The model: a run belongs to a drive by the hash of its serial number or, if the serial number is
//! unknown, by name, model and size. Only runs on the drive itself have comparable positions, so
//! runs in its directories are not overlaid.

use super::frame::dated_runs;
use super::kit::*;
use super::measure::{board_section, measure_form};
use crate::places::{drives, holder};
use kurabe_compare::device_identity;
use kurabe_core::environment::Environment;
use kurabe_core::record::{Cell, RunStatus, RunSummary, TargetKind};
use kurabe_host::{ObserveOptions, observe};
use kurabe_report::positions_doc;
use kurabe_store::Runs;
use std::path::Path;

/// The profile offered first for a drive: reads distributed over the whole drive.
const PROFILE: &str = "gnome-disks";
/// Maximum number of listed dates.
const MOST_DATES: usize = 30;
/// Maximum number of records that are read to find these runs. Other drives of the same model, and
/// runs in the drive's directories, are skipped.
const MOST_READ: usize = 120;
/// Maximum number of overlaid curves. More could not be distinguished.
const MOST_LAID: usize = 3;

/// Handles `GET /drive?target=/dev/sda&run=A&run=B`.
pub(crate) fn page(shared: &App, lang: Lang, Query(asked): Query<Vec<(String, String)>>) -> Result<Made> {
    let values =
        |name: &'static str| asked.iter().filter(move |(key, _)| key == name).map(|(_, value)| value);
    let target = values("target").next().cloned().unwrap_or_default();
    let place = drives().into_iter().find(|place| place.target == target).ok_or_else(no_drive)?;
    let name = shown::line(&target);
    let ticked: Vec<&str> = values("run").map(String::as_str).collect();
    let page = html! {
        p.quiet { (place.storage.get(lang)) }
        @if place.is_usable {
            @let target = html! { input type="hidden" name="target" value=(place.target); };
            (measure_form(&target, &html! {}, PROFILE, lang)?)
        } @else if let Some(limit) = &place.limit {
            p.notice.warn { (limit.get(lang)) }
        }
        (board_section(shared, None, lang))
        (past(&*shared.store.runs()?, &target, &ticked, lang)?)
    };
    Ok(Made::Page(text!("Drive {name}", "ドライブ {name}"), page))
}

fn no_drive() -> Error {
    let what = text!("this drive does not exist", "このドライブはありません");
    ErrorKind::Target.error(what).remedy(text!(
        "choose one in the list of the first page; it may have been removed",
        "最初のページの一覧から選んでください。取り外された可能性もあります"
    ))
}

/// Returns the command for a write test of a drive. The page itself never writes to drives.
pub(crate) fn writing_command(target: &str, profile: &str) -> String {
    let target = shown::shell_word(&shown::line(target));
    format!("kurabe run --profile {profile} --destroy-data-on {target} {target}")
}

/// Renders the command for a write test, and its effect.
pub(crate) fn writing(target: &str, profile: &str, lang: Lang) -> Markup {
    let words = text!(
        "The page only reads drives. This, typed in a terminal, also writes, and destroys everything on it:",
        "このページではドライブを読むだけです。端末で次のように入力すると書き込みも測りますが、中身はすべて失われます。"
    );
    let refused = holder(Path::new(target)).map(|by| {
        text!(
            "It would be refused now, because the drive is in use: {by}",
            "現在は使用中のため拒否されます: {by}";
            by
        )
    });
    html! {
        p.notice.warn { (words.get(lang)) }
        pre { code { (writing_command(target, profile)) } }
        @if let Some(refused) = refused { p.notice { (refused.line(lang)) } }
    }
}

/// Renders the earlier runs on the drive, some of them overlaid.
fn past(store: &dyn Runs, target: &str, ticked: &[&str], lang: Lang) -> Result<Markup> {
    let mut records = before(store, target)?;
    for record in &mut records {
        // Runs of the same drive are distinguished by their dates.
        let date = number::date_minute(&record.header.started_at);
        record.labels.entry(NAME_LABEL.to_owned()).or_insert(date);
    }
    // Only the newest run is shown, unless some are selected.
    let is_laid = |record: &RunRecord| match ticked {
        [] => record.header.id == records[0].header.id,
        _ => ticked.contains(&&*record.header.id),
    };
    let dated =
        records.iter().map(|record| (&*record.header.id, &*record.header.started_at, is_laid(record)));
    let mut laid: Vec<&RunRecord> = records.iter().filter(|record| is_laid(record)).collect();
    let nothing = text!(
        "The positions of this drive have not been measured yet.",
        "このドライブを位置ごとに測った結果はまだありません。"
    );
    let too_many = text!(
        "More than {MOST_LAID} curves cannot be distinguished: only the newest of those selected are \
         drawn.",
        "線が {MOST_LAID} 本を超えると見分けられないため、選んだ中の新しいものだけを描いています。"
    );
    let has_too_many = laid.len() > MOST_LAID;
    laid.truncate(MOST_LAID);
    Ok(html! {
        section #past {
            h2 { (text!("Measured before", "これまでの測定").get(lang)) }
            @if records.is_empty() {
                p.empty { (nothing.get(lang)) }
            } @else {
                (dated_runs("/drive#past", Some(target), dated, lang))
                @if has_too_many { p.notice { (too_many.get(lang)) } }
                (written(&positions_doc(&laid), lang))
                (ways(&laid, lang))
            }
        }
    })
}

fn ways(laid: &[&RunRecord], lang: Lang) -> Markup {
    let runs = laid.iter().map(|run| run.header.id.as_str());
    let compared = (laid.len() > 1).then(|| {
        let name = text!("which was faster, and how sure that is", "どちらが速かったか、どのくらい確かか");
        (compare_address(runs), name)
    });
    let model = laid.first().and_then(|run| run.header.environment.devices.first()?.model.as_deref());
    let over_time = model.map(|model| {
        (format!("/history?q={}", encoded(model)), text!("all figures over time", "経時変化をすべて見る"))
    });
    ways_to(compared.into_iter().chain(over_time), lang)
}

/// Returns the runs on the drive itself that sampled its positions, newest first.
fn before(store: &dyn Runs, target: &str) -> Result<Vec<RunRecord>> {
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
        if is_of(&record, &here) && record.cells.iter().any(Cell::has_samples) {
            records.push(record);
        }
        if records.len() == MOST_DATES {
            break;
        }
    }
    Ok(records)
}

/// Checks whether a run measured the drive itself, and not a directory or partition on it.
fn is_of(record: &RunRecord, here: &Environment) -> bool {
    let identity = |environment: &Environment| environment.devices.first().map(device_identity);
    record.header.target.as_ref().is_some_and(|target| target.kind == TargetKind::BlockDevice)
        && identity(&record.header.environment) == identity(here)
}
