//! `kurabe check`: checks that stored data is what was written, in the store or on an image.

use crate::args::{CheckArgs, Global};
use crate::lang::{lang, t};
use crate::output::{print, print_json, print_texts, say};
use crate::share::Share;
use crate::show::{ScriptLine, image_error, image_lines};
use kurabe_core::{ErrorKind, Result, text};
use kurabe_store::StoreCheck;
use std::path::Path;

/// Runs the command.
///
/// # Errors
/// When the store is damaged or cannot be read; when an image lacks data that it should hold.
pub fn check(args: &CheckArgs, global: &Global) -> Result<()> {
    if let (Some(image), Some(list)) = (&args.image, &args.verify) {
        return check_image(image, list, global);
    }
    let Some(store) = global.store().existing()? else {
        let nothing = text!("There is no store yet.\n", "保存先はまだありません。\n");
        return if global.json { Ok(()) } else { print(nothing.get(lang())) };
    };
    let StoreCheck { runs, damages, remarks } = store.check()?;
    for (run, error) in &damages {
        if global.json {
            let (run, what, cause) = (run.as_deref(), error.what(), error.cause());
            print_json(&ScriptLine::Damage { run, what, cause })?;
        } else {
            say(&error.render(lang()));
        }
    }
    if global.json {
        print_json(&ScriptLine::Check { runs, damages: damages.len(), remarks: &remarks })?;
    } else {
        remarks.iter().for_each(|remark| say(&format!("kurabe: {}", remark.get(lang()))));
    }
    if damages.is_empty() {
        let whole =
            text!("All stored runs are intact ({runs}).\n", "保存した測定はすべて無事です({runs} 件)。\n");
        return if global.json || global.quiet { Ok(()) } else { print(whole.get(lang())) };
    }
    let count = damages.len();
    let s = if count == 1 { "" } else { "s" };
    Err(ErrorKind::Store.error(text!(
        "the store is damaged in {count} place{s}; {runs} of its runs can be read",
        "保存先が {count} か所で壊れています。読める測定は {runs} 件です"
    ))
    .remedy(text!(
        "save the readable runs with `kurabe export`, and import them into a new store with `kurabe \
         import` (--db FILE)",
        "読める測定は `kurabe export` で書き出し、新しい保存先(--db FILE)に `kurabe import` で取り込んでください"
    )))
}

/// `kurabe check IMAGE --verify FILE`: checks whether storage retained the data that a run had
/// flushed.
fn check_image(image: &Path, list: &Path, global: &Global) -> Result<()> {
    let mut share = Share::of(t("kurabe: comparing", "kurabe: 照合しています"), global);
    let report = kurabe_lab::check_image(image, list, &mut |done, all| share.tell(done, all))?;
    drop(share);
    match global.json {
        true => print_json(&ScriptLine::from(&report))?,
        false => print_texts(&image_lines(&report))?,
    }
    if report.check.is_sound() { Ok(()) } else { Err(image_error(image, &report.check)) }
}
