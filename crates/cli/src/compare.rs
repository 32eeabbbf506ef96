//! `kurabe compare`

use crate::args::{CompareArgs, Global};
use crate::output::{print, print_json, style};
use crate::stored::store_with_runs;
use kurabe_compare::{KEYS, pair};
use kurabe_core::{Error, ErrorKind, Result, nearest, text};
use kurabe_report::{answer, render_pair};

/// Runs the command.
///
/// # Errors
/// When there is no such run, or nothing of that name can differ.
pub fn compare(args: &CompareArgs, global: &Global) -> Result<()> {
    if let Some(word) = args.about.iter().find(|word| !KEYS.contains(&word.as_str())) {
        return Err(Error::new(
            ErrorKind::Usage,
            text!(
                "--about {word}: runs are not compared by this",
                "--about {word}: この条件では比べられません"
            ),
        )
        .remedy(nearest(word, KEYS)));
    }
    let store = store_with_runs(global)?;
    let load = |run: &str| store.load(&store.resolve(run)?);
    let (baseline, other) = (load(&args.baseline)?, load(&args.other)?);
    let pair = pair(&baseline, &other, args.margin);
    if global.json {
        return print_json(
            &serde_json::json!({ "event": "comparison", "answer": answer(&pair), "comparison": pair }),
        );
    }
    print(&render_pair(&pair, [&baseline.header, &other.header], &args.about, &style()))
}
