//! `kurabe compare --by`, and digests for queries over many runs.

use crate::args::{CompareArgs, Global};
use crate::output::{print_json, print_page, style};
use crate::show::ScriptLine;
use crate::{lang::t, share::Share, stored::store_with_runs};
use kurabe_compare::PivotRequest;
use kurabe_core::{ErrorKind, Result, digest::Digests, record::RunSummary, text};
use kurabe_lab::assignments;
use kurabe_report::{PIVOT_WORDS, pivot_answer, render_pivot};
use kurabe_store::Runs;

/// Number of runs from which progress is shown while they are read.
const WORTH_TELLING: usize = 200;

/// Runs the command.
///
/// # Errors
/// When a key, a value, a run or a cell is unknown.
pub fn pivot(args: &CompareArgs, global: &Global) -> Result<()> {
    if !args.judged.about.is_empty() {
        return Err(ErrorKind::Usage
            .error(text!("--about cannot be combined with --by", "--about と --by は同時に使えません"))
            .remedy(text!(
                "remove --about; the keys of --by are the properties to compare",
                "--about を外してください。--by のキーが比べる条件になります"
            )));
    }
    let given = &args.pivot;
    let request = PivotRequest {
        by: given.by.clone(),
        baseline: given.baseline.clone(),
        profile: given.profile.clone(),
        cell: given.cell.clone(),
        filters: assignments("--where", &given.filters, "filesystem=ext4")?,
        margin: args.judged.margin,
    };
    let store = store_with_runs(global)?;
    let named = args.runs.iter().map(|run| store.resolve(run)).collect::<Result<Vec<_>>>()?;
    // Scripts get the ids of all runs in a cell, so runs cannot be pooled for them.
    let alike = request.day_chars().filter(|_| named.is_empty() && !global.json);
    let (mut runs, digests) = telling(global, |tell| store.pooled(alike, tell))?;
    runs.retain(|run| named.is_empty() || named.contains(&run.id));
    let pivot = kurabe_compare::pivot(&runs, &digests, &request, &PIVOT_WORDS)?;
    if global.json {
        return print_json(&ScriptLine::Pivot { answer: pivot_answer(&pivot), pivot: &pivot });
    }
    print_page(&render_pivot(&pivot, &style()))
}

/// Returns the digests of at least these runs. Missing digests are computed now, which takes a
/// while in a store of an older kurabe.
///
/// # Errors
/// When the store cannot be read or written.
pub fn digests(store: &dyn Runs, of: &[RunSummary], global: &Global) -> Result<Digests> {
    telling(global, |tell| store.digests_of(of, tell))
}

/// Runs a query of the store and shows its progress.
fn telling<T>(global: &Global, ask: impl FnOnce(&mut dyn FnMut(usize, usize)) -> T) -> T {
    let words = t(
        "kurabe: indexing the stored runs; this happens once and makes later queries fast",
        "kurabe: 保存した測定の索引を作っています(初回だけ。次回から速くなります)",
    );
    let mut share = Share::of(words, global);
    ask(&mut |done, all| {
        if all >= WORTH_TELLING {
            share.tell(done as u64, all as u64);
        }
    })
}
