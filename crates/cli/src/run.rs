//! `kurabe run` and `kurabe sweep`: measure a request and show the result.

use crate::args::{Global, RunArgs, SweepArgs};
use crate::lang::{lang, t};
use crate::output::{
    error_style, outputs_next_to_result, print_json, print_page, print_record, print_texts, progress_mode,
    result_follows_progress, say, style, write_out,
};
use crate::show::{Progress, ScriptLine, image_error, image_lines};
use crate::{is_silent, signals, stored::open_recovered};
use kurabe_core::{ErrorKind, Result, number::count, shown, text};
use kurabe_explain::explain_sweep;
use kurabe_lab::output::Output;
use kurabe_lab::{
    Communicator, Done, Lab, Party, Prepared, Procedure, RunHandle, RunRequest, Stream, StreamEvent,
};
use kurabe_report::{
    headline, render_foreseen, render_rescued, render_result, render_run, render_sweep_result,
    render_sweep_run,
};
use std::path::Path;

/// `kurabe run`: measures a target and shows the result.
///
/// # Errors
/// When the run cannot finish. Cells that were measured before are stored.
pub fn run(args: &RunArgs, global: &Global, command_line: &[String]) -> Result<()> {
    match args.ranks.given() {
        None => in_one_process(args, global, command_line),
        Some(word) => Err(ErrorKind::Usage
            .error(text!("{word} needs several processes", "{word} は複数のプロセス用です"))
            .remedy(text!(
                "start them: mpirun -n 4 kurabe-mpi run {word} …",
                "次のように起動してください: mpirun -n 4 kurabe-mpi run {word} …"
            ))),
    }
}

/// Measures in this process, or shows the plan for all ranks.
pub fn in_one_process(args: &RunArgs, global: &Global, command_line: &[String]) -> Result<()> {
    let request = args.request()?;
    if !args.dry_run {
        say_how_it_differs(&request, global);
    }
    let mut outputs = outputs_next_to_result(args.force, global).without(Some(&args.target));
    let verify = outputs.claim_optional(args.verify.as_ref())?;
    let per_request = outputs.claim_optional(args.per_request.as_ref())?;
    let measured = measured(request, per_request, args.dry_run, global, command_line)?;
    let Some(done) = measured else { return Ok(()) };
    let listed = list_writes(args, verify, &done, global);
    if !outputs.has_stdout() || global.json {
        print_done(&done, global)?;
    }
    let verified = verified(&done, global);
    done.outcome.and(listed).and(verified)
}

/// Reports where kurabe executes a job differently from fio.
pub fn say_how_it_differs(request: &RunRequest, global: &Global) {
    if let Procedure::Given(profile) = &request.procedure
        && let Some(differs) = profile.differs.as_ref().filter(|_| !global.json && !global.quiet)
    {
        say(&shown::line(&format!("kurabe: {}: {}", profile.name, differs.get(lang()))));
    }
}

/// Reports the result of reading back the written data.
pub fn verified(done: &Done, global: &Global) -> Result<()> {
    let (Some(report), Some(record)) = (&done.read_back, &done.record) else { return Ok(()) };
    if report.check.is_sound() {
        return Ok(());
    }
    if global.json {
        print_json(&ScriptLine::from(report))?;
    } else {
        print_texts(&image_lines(report))?;
    }
    Err(image_error(Path::new(&record.header.target_name()), &report.check))
}

/// Prints the record, if any cell was measured.
pub fn print_done(done: &Done, global: &Global) -> Result<()> {
    let Some(record) = &done.record else { return Ok(()) };
    match (&done.rescued, global.json) {
        (_, true) => print_record(record),
        (Some(file), false) => print_page(&render_rescued(record, &headline(&record.header), file, &style())),
        (None, false) => print_page(&match result_follows_progress(global) {
            true => render_result(record, &style()),
            false => render_run(record, &headline(&record.header), &style()),
        }),
    }
}

/// Saves the list of writes even if the run failed, because it serves to check them after a power
/// cut.
fn list_writes(args: &RunArgs, list: Option<Output>, done: &Done, global: &Global) -> Result<()> {
    let writes = done.writes.as_ref().filter(|writes| writes.writes > 0);
    let (Some(shown), Some(list), Some(writes)) = (&args.verify, list, writes) else { return Ok(()) };
    write_out(&writes.to_text(), Some(list))?;
    let writes = count(writes.writes);
    let target = shown::path(&*args.target);
    let text = text!(
        "kurabe: {writes} writes are listed in {shown}; verify them with: kurabe check {target} --verify {shown}",
        "kurabe: 書き込み {writes} 回の一覧は {shown} です。照合: kurabe check {target} --verify {shown}"
    );
    if !global.json && !global.quiet {
        say(text.get(lang()));
    }
    Ok(())
}

/// `kurabe sweep`: sweeps a target. With a communicator, several ranks share the points of a model.
///
/// # Errors
/// As `kurabe run`; also when there is nothing to sweep.
pub fn sweep(
    args: &SweepArgs,
    global: &Global,
    command_line: &[String],
    communicator: Option<&dyn Communicator>,
) -> Result<()> {
    let leads = !is_silent(communicator);
    let handle = signals::listen_as(leads)?;
    let mut prepared = Prepared::new(args.request()?)?;
    if args.planned.dry_run {
        return if leads {
            print_page(&render_foreseen(prepared.profile(), &prepared.foresee()?, &style()))
        } else {
            Ok(())
        };
    }
    if let Some(communicator) = communicator
        && !prepared.share_sweep(communicator, &handle)?
    {
        return Ok(());
    }
    let done = measured_with(prepared, None, &handle, None, global, command_line)?;
    if let Some(record) = &done.record {
        if global.json {
            print_record(record)?;
            print_json(&ScriptLine::Sweep { run: &done.id, curves: explain_sweep(record) })?;
        } else if let Some(file) = &done.rescued {
            print_page(&render_rescued(record, &headline(&record.header), file, &style()))?;
        } else {
            print_page(&match result_follows_progress(global) {
                true => render_sweep_result(record, &style()),
                false => render_sweep_run(record, &headline(&record.header), &style()),
            })?;
        }
    }
    done.outcome
}

/// Measures a target with a profile, for a command that evaluates the result.
///
/// # Errors
/// As `kurabe run`.
pub fn measured_as(
    target: &Path,
    profile: &str,
    global: &Global,
    command_line: &[String],
) -> Result<Option<Done>> {
    let procedure = Procedure::Named(profile.to_owned());
    let request = RunRequest { target: target.into(), procedure, ..RunRequest::default() };
    measured(request, None, false, global, command_line)
}

/// Measures the request, or prints its plan. `list` is the output for one line per operation.
///
/// # Errors
/// As `kurabe run`.
pub fn measured(
    request: RunRequest,
    list: Option<Output>,
    is_dry: bool,
    global: &Global,
    command_line: &[String],
) -> Result<Option<Done>> {
    let prepared = Prepared::new(request)?;
    if is_dry {
        return print_page(&render_foreseen(prepared.profile(), &prepared.foresee()?, &style()))
            .map(|()| None);
    }
    if list.is_some() {
        prepared.check_lists_operations()?;
    }
    measured_with(prepared, list, &signals::listen()?, None, global, command_line).map(Some)
}

/// Measures a prepared run, together with the other ranks of the party, if any.
///
/// # Errors
/// As `kurabe run`.
pub fn measured_with(
    prepared: Prepared,
    list: Option<Output>,
    handle: &RunHandle,
    party: Option<&Party<'_>>,
    global: &Global,
    command_line: &[String],
) -> Result<Done> {
    let store = open_recovered(global)?;
    let stream = Stream::default();
    let lab = Lab { store: &*store, stream: &stream, handle, command: command_line };
    let opened = match party {
        None => prepared.open(&lab)?,
        Some(party) => prepared.open_among(&lab, party)?,
    };
    let mut progress = Progress::new(error_style(), progress_mode(global))
        .with_headline(headline)
        .above_result(result_follows_progress(global));
    let json = global.json;
    stream.listen(Box::new(move |envelope| {
        if let StreamEvent::Run(event) = &envelope.event {
            progress.on_event(event);
        }
        if json { print_json(envelope) } else { Ok(()) }
    }));
    let done = match list {
        None => opened.measure(),
        Some(output) => opened.measure_listing(output)?,
    };
    // The progress line is removed before anything is printed.
    drop(stream);
    if done.record.is_none() && done.outcome.is_err() && !json && party.is_none_or(Party::leads) {
        say(t(
            "kurabe: no test completed; nothing was saved",
            "kurabe: 完了した項目がないため、何も保存していません",
        ));
    }
    Ok(done)
}
