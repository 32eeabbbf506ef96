//! `kurabe catalogue`: searches and shows published figures, and shows a run next to one.

use crate::args::{CatalogueAction, CatalogueArgs, Global};
use crate::output::{print, print_json, print_page, style};
use crate::show::ScriptLine;
use kurabe_core::{Result, record::RunRecord};
use kurabe_report::{EntryLine, render_beside, render_catalogue, render_entry};
use kurabe_study::catalogue::{Catalogue, beside};

/// Runs the command.
///
/// # Errors
/// When the entry does not exist.
pub fn catalogue(args: &CatalogueArgs, global: &Global) -> Result<()> {
    let catalogue = Catalogue::built_in();
    match &args.action {
        Some(CatalogueAction::Show { id }) => {
            let entry = catalogue.entry(id)?;
            if global.json {
                print_json(&EntryLine::from(&entry))
            } else {
                print_page(&render_entry(&entry, &style()))
            }
        }
        None if global.json => {
            catalogue.search(&args.words).iter().try_for_each(|entry| print_json(&EntryLine::from(entry)))
        }
        None => print_page(&render_catalogue(catalogue, &args.words, &style())),
    }
}

/// Shows a run next to a catalogue entry.
///
/// # Errors
/// When the entry does not exist.
pub fn show_beside(record: &RunRecord, id: &str, catalogue: &Catalogue, global: &Global) -> Result<()> {
    let beside = beside(record, &catalogue.entry(id)?);
    if global.json {
        return print_json(&ScriptLine::Beside { beside: &beside });
    }
    print("\n")?;
    print_page(&render_beside(&beside, &style()))
}
