//! `kurabe push` and `kurabe pull`: send runs to a shared database and fetch them from it.

use crate::args::{ExchangeArgs, Global};
use crate::lang::{lang, t};
use crate::output::{print, print_json, say};
use crate::share::Share;
use crate::show::ScriptLine;
use crate::stored::{open_recovered, own_store};
use kurabe_core::{ErrorKind, Result, Text, text};
use kurabe_lab::{Exchanged, exchange, shared};
use kurabe_store::{Runs, SharedAccess};

/// `kurabe push`: sends runs to a shared database.
///
/// # Errors
/// When a run does not exist, the database cannot be used, or a run could not be sent.
pub fn push(args: &ExchangeArgs, global: &Global) -> Result<()> {
    let address = args.address.clone()?;
    let store = own_store(global)?;
    let runs = resolved(&*store, args)?;
    let to = shared(&address, SharedAccess::Write)?;
    let mut share = Share::of(t("kurabe: sending runs", "kurabe: 測定を送っています"), global);
    let done = exchange(&*store, &*to, runs, &mut |done, all| share.tell(done as u64, all as u64))?;
    drop(share);
    conclude(done, global, |brought, present| {
        text!(
            "{brought} sent, {present} already present.",
            "{brought} 件を送りました(送信済み {present} 件)。"
        )
    })
}

/// `kurabe pull`: fetches runs from a shared database.
///
/// # Errors
/// When a run does not exist, the database cannot be read, or a run could not be fetched.
pub fn pull(args: &ExchangeArgs, global: &Global) -> Result<()> {
    let address = args.address.clone()?;
    let store = open_recovered(global)?;
    let from = shared(&address, SharedAccess::Read)?;
    let runs = resolved(&*from, args)?;
    let mut share = Share::of(t("kurabe: fetching runs", "kurabe: 測定を受け取っています"), global);
    let done = exchange(&*from, &*store, runs, &mut |done, all| share.tell(done as u64, all as u64))?;
    drop(share);
    conclude(done, global, |brought, present| {
        text!(
            "{brought} fetched, {present} already present.",
            "{brought} 件を受け取りました(取り込み済み {present} 件)。"
        )
    })
}

fn resolved(runs: &dyn Runs, args: &ExchangeArgs) -> Result<Vec<String>> {
    args.runs.iter().map(|run| runs.resolve(run)).collect()
}

/// Reports the outcome of each run.
fn conclude(done: Exchanged, global: &Global, words: impl Fn(usize, usize) -> Text) -> Result<()> {
    let Exchanged { brought, present, running, refused, outcome } = done;
    for (id, error) in &refused {
        say(&format!("{id}: {}", error.what_and_why().get(lang())));
    }
    for id in &running {
        say(&text!("kurabe: {id} is still being measured", "kurabe: {id} は測定中です").take(lang()));
    }
    let refused: Vec<&str> = refused.iter().map(|(id, _)| id.as_str()).collect();
    if global.json {
        print_json(&ScriptLine::Exchanged { brought, present, running: &running, refused: &refused })?;
    } else if !global.quiet {
        print(&format!("{}\n", words(brought, present).take(lang())))?;
    }
    outcome?;
    if refused.is_empty() {
        return Ok(());
    }
    let (count, ids) = (refused.len(), refused.join(", "));
    Err(ErrorKind::Refused.error(text!(
        "{count} could not be transferred and remain where they were: {ids}",
        "{count} 件は送受信できず、元の場所に残っています: {ids}"
    )))
}
