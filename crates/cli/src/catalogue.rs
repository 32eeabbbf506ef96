//! `kurabe catalogue`: published figures, searched and shown; and a run beside one.

use crate::args::{CatalogueAction, CatalogueArgs, Global};
use crate::output::{print, print_json, style};
use kurabe_core::Result;
use kurabe_core::record::RunRecord;
use kurabe_report::{render_beside, render_catalogue, render_entry};
use kurabe_study::catalogue::{Catalogue, Entry, beside};

/// Runs the command.
///
/// # Errors
/// When there is no such entry.
pub fn catalogue(args: &CatalogueArgs, global: &Global) -> Result<()> {
    let catalogue = Catalogue::load()?;
    match &args.action {
        Some(CatalogueAction::Show { id }) => {
            let entry = catalogue.entry(id)?;
            if global.json { print_json(&facts(&entry)) } else { print(&render_entry(&entry, &style())) }
        }
        None => {
            let found = catalogue.search(&args.words);
            if global.json {
                found.iter().try_for_each(|entry| print_json(&facts(entry)))
            } else {
                print(&render_catalogue(&found, &style()))
            }
        }
    }
}

/// What scripts hear of an entry.
fn facts(entry: &Entry<'_>) -> serde_json::Value {
    let (table, row) = (entry.table, entry.row);
    let figures: Vec<_> = entry
        .figures()
        .map(|(column, figure)| {
            serde_json::json!({
                "key": column.key, "name": column.name, "unit": column.unit, "published": figure,
            })
        })
        .collect();
    serde_json::json!({
        "entry": entry.id(), "device": row.device, "title": table.title, "source": entry.source(), "year": table.year,
        "tool": table.tool, "procedure": table.procedure, "profile": table.profile, "size_bytes": table.size_bytes,
        "statistic": table.statistic, "host": table.host, "model": row.model, "table_note": table.note,
        "note": row.note, "figures": figures,
    })
}

/// Looks whether there is such an entry.
///
/// # Errors
/// When there is none.
pub fn check_entry(id: &str) -> Result<()> {
    Catalogue::load()?.entry(id).map(|_| ())
}

/// Shows a run beside an entry.
///
/// # Errors
/// When there is no such entry.
pub fn show_beside(record: &RunRecord, id: &str, global: &Global) -> Result<()> {
    let catalogue = Catalogue::load()?;
    let beside = beside(record, &catalogue.entry(id)?);
    if global.json {
        return print_json(&serde_json::json!({ "event": "beside", "beside": beside }));
    }
    print("\n")?;
    print(&render_beside(&beside, &style()))
}
