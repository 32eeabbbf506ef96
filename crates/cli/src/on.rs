//! `kurabe on`: runs a command in a folder on a modelled disk; with `--cut-power`, a crash test.

use crate::args::{Global, OnArgs, ServedModelArgs};
use crate::lang::lang;
use crate::output::{print_json, print_page, print_texts, progress_mode, say, say_over, style};
use crate::show::{Mode, Priced, ScriptLine, crash_lines};
use crate::signals;
use kurabe_core::{ErrorKind, Result, Text, text};
use kurabe_lab::{
    CrashRequest, CutOutcome, ModelFolder, OnRequest, RunHandle, crash_test, interrupted, load_served_model,
    run_on,
};
use kurabe_price::device_below;
use kurabe_report::served_lines;
use std::os::unix::process::ExitStatusExt;

/// If replies take longer than the model specifies by more than this factor, timing is not judged.
const MOST_LATE: f64 = 1.05;

/// Runs the command. kurabe returns its exit code.
///
/// # Errors
/// When the device cannot be created; if requested, when replies were late or a power cut lost
/// data.
pub fn on(args: &OnArgs, global: &Global) -> Result<()> {
    let ServedModelArgs { target, .. } = &args.model;
    let (faults, failing) = args.model.faults();
    let request = OnRequest {
        command: args.folder.command.clone(),
        setup: ModelFolder {
            spec: device_below(load_served_model(&target.name(), &args.model.sets()?, &args.without)?)?,
            seed: args.seed,
            file_system: args.folder.fs,
            size_bytes: args.folder.size,
            with: args.folder.with.iter().map(|path| path.0.clone()).collect(),
        },
        faults,
        failing,
    };
    let handle = signals::listen()?;
    if args.cut_power.is_some() {
        return cut_power(args, request, &handle, global);
    }
    let done = run_on(&request, &handle)?;
    let slowdown = done.figures.lateness.slowdown;
    let priced = Priced { bill: done.bill, changes: None, budget: Vec::new() };
    let (left, held_by) = (Text::list(done.left.clone()), Text::list(done.held_by.clone()));
    let all = Text::list(done.left.into_iter().chain(done.held_by));
    if global.json {
        let (bill, figures) = (priced.script(), &done.figures);
        print_json(&ScriptLine::OnDone { bill, figures, left: &all.en })?;
    } else if !global.quiet {
        print_page(&priced.doc().terminal(&style()))?;
        print_texts(&served_lines(&done.figures))?;
    }
    say_left(&left);
    if !held_by.is_empty() {
        let gone = text!(
            "kurabe: processes still used the disk after the command ended: {held_by}; the disk was \
             removed, so they now get I/O errors",
            "kurabe: コマンドの終了後も {held_by} がディスクを使っていました。ディスクは取り外したので、以後は I/O エラーになります";
            held_by
        );
        say(&gone.take(lang()));
    }
    if handle.is_stopped() {
        return Err(interrupted());
    }
    if !done.ended.status.success() {
        let signal = done.ended.status.signal().unwrap_or_default();
        std::process::exit(done.ended.status.code().unwrap_or(128 + signal));
    }
    match slowdown {
        Some(slowdown) if args.in_time && slowdown.mean > MOST_LATE => Err(ErrorKind::Unclear.error(text!(
            "no verdict: answers took longer than the model computes",
            "判定しません。応答がモデルより遅れました"
        ))),
        _ => Ok(()),
    }
}

/// Reports the processes that a command left running.
pub fn say_left(left: &Text) {
    if !left.is_empty() {
        let killed = text!(
            "kurabe: {left} still ran when the command ended, and was killed",
            "kurabe: コマンドが残した {left} は、コマンドの終了後に強制終了しました";
            left
        );
        say(&killed.take(lang()));
    }
}

fn cut_power(args: &OnArgs, on: OnRequest, handle: &RunHandle, global: &Global) -> Result<()> {
    let Some(place) = args.cut_power.clone() else { return Ok(()) };
    let request = CrashRequest {
        on,
        place,
        seeds: (args.seed, args.seeds),
        check: args.check.clone(),
        torn: args.torn,
    };
    let is_terminal = progress_mode(global) == Mode::Terminal;
    let mut cuts = 0;
    let done = crash_test(&request, handle, |trial| {
        cuts += 1;
        let of = args.seeds;
        if is_terminal {
            say_over(&text!("{cuts} of {of} cuts", "電源断 {cuts}/{of} 回").take(lang()));
        }
        if global.json {
            let _ = print_json(&ScriptLine::Cut { trial });
        }
    })?;
    if is_terminal {
        say_over("");
    }
    let lines = crash_lines(&done);
    if !global.json {
        print_texts(&lines)?;
    } else if let Some(orders) = &done.orders {
        print_json(&ScriptLine::UnsafeOrders { orders })?;
    }
    match done.trials.iter().any(|trial| trial.outcome != CutOutcome::Kept) {
        true => Err(ErrorKind::DataLost.error(lines[0].clone())),
        false => Ok(()),
    }
}
