//! `kurabe serve`, `kurabe attach`, `kurabe detach` and `kurabe control`: a model as a block device.

use crate::args::{AttachArgs, ControlAction, ControlArgs, DetachArgs, Global, ServeArgs, ServedArgs};
use crate::output::{outputs, print, print_json, print_texts, progress_mode, say, say_over};
use crate::show::{
    Mode, ScriptLine, attached_lines, attached_script, detached_lines, kept_server_lines, serving_lines,
    serving_script, waiting_line,
};
use crate::{lang::lang, signals};
use kurabe_core::output_path::OutputPath;
use kurabe_core::{Result, Text, shown, text};
use kurabe_lab::output::Output;
use kurabe_lab::{
    Ending, PreparedServer, RunningServer, assignments, control_server, is_background, kept_servers,
    leave_terminal, log_of_attachments, refuse_others_than_root, remove_left_devices, start_in_background,
};
use kurabe_report::{power_cut_line, served_lines, serving_line};
use kurabe_serve::{Address, ControlRequest, ServedFigures, attachments_folder, read_answer};
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

/// Serves until a signal ends it.
///
/// # Errors
/// When the model cannot be served, or the server stopped unexpectedly.
pub fn serve(args: &ServeArgs, global: &Global) -> Result<()> {
    let address = match (&args.socket, args.port) {
        (Some(path), _) => Address::Socket(path.0.clone()),
        (None, port) => Address::Port(port.unwrap_or(0)),
    };
    let prepared = PreparedServer::new(
        args.served.request()?,
        address,
        args.control.as_ref().map(|path| path.0.clone()),
        record_of(&args.served, global, global.json)?,
        &global.store(),
    )?;
    // The server does not depend on devices left by a killed `kurabe attach`, so failure to remove
    // them is only reported.
    if let Err(error) = remove_left_devices() {
        say(&error.render(lang()));
    }
    let ending = listen()?;
    let server = prepared.start()?;
    let (facts, first) = (server.facts(), server.figures());
    match global.json {
        true => print_json(&serving_script(facts, first.as_ref()))?,
        false => print_lines(&serving_lines(facts, server.request(), first.as_ref()), &args.served)?,
    }
    watch(&server, &ending, global);
    end(server, &args.served, global)
}

/// Claims the output for the server's record.
fn record_of(args: &ServedArgs, global: &Global, is_stdout_taken: bool) -> Result<Option<Output>> {
    outputs(args.force, global).without_stdout(is_stdout_taken).claim_optional(args.record.as_ref())
}

/// Prints lines to standard output, or to standard error if standard output receives the record.
fn print_lines(lines: &[Text], args: &ServedArgs) -> Result<()> {
    if args.record != Some(OutputPath::Stdout) {
        return print_texts(lines);
    }
    lines.iter().for_each(|line| say(&line.clone().take(lang())));
    Ok(())
}

/// Starts to listen for signals, before anything is served, so that no signal leaves a socket
/// behind.
fn listen() -> Result<Arc<Ending>> {
    let ending: Arc<Ending> = Arc::default();
    let of_signals = Arc::clone(&ending);
    signals::listen_for_end(move || of_signals.end())?;
    Ok(ending)
}

/// Waits until the server ends. On a terminal, prints a line of figures every second.
fn watch(server: &RunningServer, ending: &Ending, global: &Global) {
    let is_terminal = progress_mode(global) == Mode::Terminal;
    server.watch(ending, |figures, last| {
        if is_terminal {
            say_over(&serving_line(figures, last).take(lang()));
        }
    });
    if is_terminal {
        say_over("");
    }
}

/// Ends the server, prints its figures and stores its record.
fn end(server: RunningServer, args: &ServedArgs, global: &Global) -> Result<()> {
    let ended = server.end()?;
    match global.json {
        true => print_json(&ScriptLine::Served { figures: ended.figures() })?,
        false => print_lines(&served_lines(ended.figures()), args)?,
    }
    ended.keep()
}

/// `kurabe list --served`: lists the stored records of servers.
///
/// # Errors
/// When the store cannot be read.
pub fn list(global: &Global) -> Result<()> {
    let kept = kept_servers(&global.store())?;
    if !global.json {
        return print_texts(&kept_server_lines(&kept));
    }
    kept.iter().try_for_each(|server| {
        print_json(&ScriptLine::KeptServed { kept_at: &server.kept_at, record: &server.record })
    })
}

/// `kurabe attach`: serves in the background, or in the foreground if requested.
///
/// # Errors
/// When the device cannot be attached, or the server stopped unexpectedly.
pub fn attach(args: &AttachArgs, global: &Global) -> Result<()> {
    if !args.foreground && !is_background() {
        return start_in_background();
    }
    refuse_others_than_root()?;
    let address = Address::Devices { folder: attachments_folder()?, by: args.by };
    let prepared = PreparedServer::new(
        args.served.request()?,
        address,
        None,
        // Standard output is used for the device paths.
        record_of(&args.served, global, true)?,
        &global.store(),
    )?;
    let ending = listen()?;
    let mut server = prepared.start()?;
    let log = (!args.foreground).then(log_of_attachments).transpose()?;
    let lines = attached_lines(server.facts(), server.request(), server.figures().as_ref(), log.as_deref());
    announce(&server, &lines, global)?;
    if let Some(log) = &log {
        let process = std::process::id();
        leave_terminal(log, || {
            print_texts(&[text!("process {process}:", "プロセス {process}:")])?;
            print_texts(&lines)
        })?;
    }
    watch(&server, &ending, global);
    server.detach(|device, users| say(&waiting_line(device, users).take(lang())))?;
    end(server, &args.served, global)
}

/// Prints the device paths on standard output for scripts, and everything else on standard error.
fn announce(server: &RunningServer, lines: &[Text], global: &Global) -> Result<()> {
    let facts = server.facts();
    if global.json {
        return print_json(&attached_script(facts, std::process::id()));
    }
    facts.devices.iter().try_for_each(|device| print(&format!("{}\n", shown::path(device))))?;
    lines.iter().for_each(|line| say(&line.clone().take(lang())));
    Ok(())
}

/// `kurabe detach`: detaches a device and all devices that were attached with it.
///
/// # Errors
/// When the device does not belong to kurabe, or is in use.
pub fn detach(args: &DetachArgs, global: &Global) -> Result<()> {
    let detached = kurabe_lab::detach(&args.device)?;
    if !global.json {
        return print_texts(&detached_lines(&detached));
    }
    let devices = detached.devices.iter().map(shown::path).collect();
    print_json(&ScriptLine::Detached { devices, figures: detached.figures.as_ref() })
}

/// `kurabe control`: queries or changes a server.
///
/// # Errors
/// When no server answers, or it refuses the request.
pub fn control(args: &ControlArgs, global: &Global) -> Result<()> {
    let request = match &args.action {
        ControlAction::Stats { watch: true } => return watch_stats(args, global),
        ControlAction::Stats { .. } => ControlRequest::Stats,
        ControlAction::Set { assignment } => {
            let words = std::slice::from_ref(assignment);
            let (parameter, value) = assignments("set", words, "flash.program_rate=10MB/s")?.swap_remove(0);
            ControlRequest::Set { parameter, value }
        }
        ControlAction::Member { member, layer, .. } => {
            ControlRequest::Offline { member: *member, layer: layer.clone() }
        }
        ControlAction::Wear { layer } => ControlRequest::Wear { layer: layer.clone() },
        ControlAction::Cut { after: None } => ControlRequest::Cut,
        ControlAction::Cut { after: Some(writes) } => ControlRequest::CutAfter { writes: *writes },
        ControlAction::PowerOn => ControlRequest::PowerOn,
        ControlAction::Fault { fault } => {
            ControlRequest::Fault { fault: Some(fault.clone()).filter(|fault| fault != "none") }
        }
    };
    let done = control_server(&args.socket, &request)?;
    if global.json {
        return print_json(&ScriptLine::Done { answer: &done });
    }
    match request {
        ControlRequest::Stats => print_texts(&served_lines(&read_answer(done)?)),
        ControlRequest::Cut => print_texts(&[power_cut_line(&read_answer(done)?)]),
        _ => print_texts(&[text!("done", "変更しました")]),
    }
}

/// Prints a line each second until the server ends.
fn watch_stats(args: &ControlArgs, global: &Global) -> Result<()> {
    let mut before = ServedFigures::default();
    loop {
        let figures: ServedFigures = match control_server(&args.socket, &ControlRequest::Watch) {
            Err(_) if before.served_ns > 0 => return Ok(()),
            answer => read_answer(answer?)?,
        };
        let last = figures.since(&before);
        match global.json {
            true => print_json(&ScriptLine::Stats { answer: &figures, last: &last.lateness })?,
            false => print_texts(&[serving_line(&figures, &last)])?,
        }
        before = figures;
        sleep(Duration::from_secs(1));
    }
}
