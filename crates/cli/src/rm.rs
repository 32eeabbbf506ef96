//! `kurabe rm`: removes runs. It asks for confirmation, except for a single run named by its id.

use crate::args::{Global, RunIds};
use crate::lang::{lang, t};
use crate::output::{can_ask, say, tell};
use crate::show::ScriptLine;
use crate::stored::own_store;
use kurabe_core::{ErrorKind, Result, shown, text};
use kurabe_lab::remove_run;
use kurabe_store::Store;
use std::io::BufRead;

/// Runs the command.
///
/// # Errors
/// When a run does not exist or is being measured, or the user did not confirm.
pub fn remove(args: &RunIds, global: &Global) -> Result<()> {
    let store = own_store(global)?;
    // All runs are looked up before the first is removed, so a mistyped name removes nothing.
    let ids = args.runs.iter().map(|run| store.resolve(run)).collect::<Result<Vec<_>>>()?;
    // The run that `last` or a label refers to may change.
    let is_plain = ids.len() == 1 && ids[0].starts_with(&args.runs[0].to_ascii_lowercase());
    if !is_plain && !args.yes {
        confirm(&*store, &ids)?;
    }
    for id in ids {
        remove_run(&*store, &id, args.force)?;
        tell(global, &ScriptLine::Removed { id: &id }, &id, t("removed", "削除しました:"))?;
    }
    Ok(())
}

/// Asks for confirmation on a terminal. Without a terminal, it refuses.
fn confirm(store: &dyn Store, ids: &[String]) -> Result<()> {
    let names: Vec<String> = store
        .list()?
        .iter()
        .filter(|run| ids.contains(&run.id))
        .map(|run| format!("  {} · {} · {}", run.id, shown::line(&run.profile), shown::line(&run.target)))
        .collect();
    let refused = |what| {
        Err(ErrorKind::Refused.error(what).remedy(text!(
            "use `kurabe rm --yes` to skip the confirmation",
            "`kurabe rm --yes` なら確認しません"
        )))
    };
    if !can_ask() {
        return refused(text!(
            "removing several runs, or a run not named by its id, needs confirmation, and no terminal is \
             available to ask",
            "複数の測定や、ID 以外で指定した測定の削除には確認が必要ですが、確認できる端末がありません"
        ));
    }
    let runs = names.join("\n");
    say(&text!("{runs}\nRemove permanently? [y/N]", "{runs}\n完全に削除しますか? [y/N]").take(lang()));
    let mut answer = String::new();
    // The end of input does not count as confirmation.
    let _ = std::io::stdin().lock().read_line(&mut answer);
    match answer.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => refused(text!("nothing was removed", "何も削除していません")),
    }
}
