//! `kurabe card`

use crate::args::{CardArgs, Global};
use crate::output::{print, print_json};
use crate::{lang::lang, stored::store_with_runs};
use kurabe_chart::{Theme, png};
use kurabe_core::{ErrorKind, Result, shown, text};
use kurabe_lab::files::{Existing, refuse_existing, write};
use kurabe_report::{ScriptLine, card as picture_of};
use std::path::{Path, PathBuf};

/// Runs the command.
///
/// # Errors
/// When there is no such run, or the file is there already, has another ending, or cannot be written.
pub fn card(args: &CardArgs, global: &Global) -> Result<()> {
    let is_png = args.output.as_deref().map_or(Ok(true), is_png)?;
    let store = store_with_runs(global)?;
    let record = store.load(&store.resolve(&args.run)?)?;
    let id = &record.header.id;
    let path = args.output.clone().unwrap_or_else(|| PathBuf::from(format!("kurabe-{id}.png")));
    let existing = Existing::unless(args.force);
    refuse_existing(&path, existing)?;
    let theme = if args.theme == "dark" { Theme::Dark } else { Theme::Light };
    let svg = picture_of(&record, theme, lang());
    let bytes = if is_png { png(&svg, 1.0)? } else { svg.into_bytes() };
    write(&path, &bytes, existing)?;
    if global.json {
        return print_json(&ScriptLine::Card { id, file: shown::name(&path), bytes: bytes.len() });
    }
    if global.quiet {
        return Ok(());
    }
    print(text!("wrote {}\n", "{} に書きました\n", shown::path(&path)).get(lang()))
}

/// Whether the file holds a PNG, or an SVG: its ending tells.
fn is_png(path: &Path) -> Result<bool> {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    match ending.as_deref() {
        Some("png") => Ok(true),
        Some("svg") => Ok(false),
        _ => Err(ErrorKind::Usage
            .error(text!(
                "{} ends neither in .png nor in .svg",
                "{} の拡張子は .png でも .svg でもありません",
                shown::path(path)
            ))
            .remedy(text!("name it, for example, card.png", "card.png のような名前にしてください"))),
    }
}
