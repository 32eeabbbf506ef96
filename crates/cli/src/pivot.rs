//! `kurabe compare --by`, and the digests that are asked across runs.

use crate::args::{CompareArgs, Global};
use crate::output::{print_json, print_page, style};
use crate::{lang::t, share::Share, stored::store_with_runs};
use kurabe_compare::{DIGEST_VERSION, PivotRequest, digest};
use kurabe_core::{ErrorKind, Result, digest::Digests, record::RunSummary, text};
use kurabe_lab::assignments;
use kurabe_report::{PIVOT_WORDS, ScriptLine, pivot_answer, render_pivot};
use kurabe_store::Runs;

/// Fewer runs than this are read without a word.
const WORTH_TELLING: usize = 200;

/// Runs the command.
///
/// # Errors
/// When a key, a value, a run or a cell is not known.
pub fn pivot(args: &CompareArgs, global: &Global) -> Result<()> {
    if !args.judged.about.is_empty() {
        return Err(ErrorKind::Usage
            .error(text!("--about does not go with --by", "--about と --by は同時に使えません"))
            .remedy(text!(
                "what --by names is what you ask about",
                "--by に書いたキーが、比べたい条件になります"
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
    // A script is told which runs stand at a place: none of them can stand for others.
    let alike = request.day_chars().filter(|_| named.is_empty() && !global.json);
    let (mut runs, digests) = telling(global, |tell| store.pooled(alike, DIGEST_VERSION, &digest, tell))?;
    runs.retain(|run| named.is_empty() || named.contains(&run.id));
    let pivot = kurabe_compare::pivot(&runs, &digests, &request, &PIVOT_WORDS)?;
    if global.json {
        return print_json(&ScriptLine::Pivot { answer: pivot_answer(&pivot), pivot: &pivot });
    }
    print_page(&render_pivot(&pivot, &style()))
}

/// The digests of these runs at least. Those that are missing are made now, which takes a while in a store of an older kurabe.
///
/// # Errors
/// When the store cannot be read or written.
pub fn digests(store: &dyn Runs, of: &[RunSummary], global: &Global) -> Result<Digests> {
    telling(global, |tell| store.digests_of(of, DIGEST_VERSION, &digest, tell))
}

/// What a store answers while it is told how far it is.
fn telling<T>(global: &Global, ask: impl FnOnce(&mut dyn FnMut(usize, usize)) -> T) -> T {
    let words = t(
        "kurabe: reading the runs once, so that the next time is quick",
        "kurabe: 次回から速く答えられるように、測定を一度だけ読み込んでいます",
    );
    let mut share = Share::of(words, global);
    ask(&mut |done, all| {
        if all >= WORTH_TELLING {
            share.tell(done as u64, all as u64);
        }
    })
}
