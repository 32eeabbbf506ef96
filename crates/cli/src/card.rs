//! `kurabe card`

use crate::args::{CardArgs, Global};
use crate::output::{outputs_next_to_result, print, print_json, write_bytes};
use crate::show::ScriptLine;
use crate::{lang::lang, stored::store_with_runs};
use kurabe_chart::{DRAWS_PNG, Theme, png};
use kurabe_core::output_path::OutputPath;
use kurabe_core::{ErrorKind, Result, shown, text};
use kurabe_report::card as picture_of;
use std::path::Path;

/// Runs the command.
///
/// # Errors
/// When the run does not exist, or the file already exists, has another extension or cannot be
/// written.
pub fn card(args: &CardArgs, global: &Global) -> Result<()> {
    let named = args.output.as_ref();
    let is_png = named.and_then(OutputPath::file).map_or(Ok(DRAWS_PNG), is_png)?;
    let store = store_with_runs(global)?;
    let record = store.load(&store.resolve(&args.run)?)?;
    let id = &record.header.id;
    let ending = if DRAWS_PNG { "png" } else { "svg" };
    let path = named.cloned().unwrap_or_else(|| format!("kurabe-{id}.{ending}").as_str().into());
    let output = outputs_next_to_result(args.force, global).claim(&path)?;
    let theme = if args.theme == "dark" { Theme::Dark } else { Theme::Light };
    let svg = picture_of(&record, theme, lang());
    let bytes = if is_png { png(&svg, 1.0)? } else { svg.into_bytes() };
    if output.is_stdout() {
        return write_bytes(&bytes);
    }
    output.write(&bytes)?;
    if global.json {
        return print_json(&ScriptLine::Card { id, file: path.name(), bytes: bytes.len() });
    }
    if global.quiet {
        return Ok(());
    }
    print(text!("wrote {path}\n", "{path} に書きました\n").get(lang()))
}

/// Returns whether the extension of the path says PNG rather than SVG.
fn is_png(path: &Path) -> Result<bool> {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    match ending.as_deref() {
        Some("png") => Ok(true),
        Some("svg") => Ok(false),
        _ => Err(ErrorKind::Usage
            .error(text!(
                "the name {} ends in neither .png nor .svg",
                "{} の拡張子は .png でも .svg でもありません",
                shown::path(path)
            ))
            .remedy(text!("use a name such as card.png", "card.png のような名前にしてください"))),
    }
}
