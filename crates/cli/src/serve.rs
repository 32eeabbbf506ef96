//! `kurabe serve` and `kurabe control`: a model as a block device.

use crate::args::{ControlAction, ControlArgs, Global, ServeArgs, ServedArgs};
use crate::lang::lang;
use crate::output::{print, print_json, progress_mode, say, say_over};
use crate::served_records::{RecordPlaces, ServerRecord};
use crate::served_words::{begin_lines, cut_line, figure_lines, live_line};
use crate::signals;
use crate::words::assignments;
use kurabe_core::{Error, ErrorKind, Result, Text, shown, text};
use kurabe_lab::{load_model, model_name};
use kurabe_report::Mode;
use kurabe_serve::{
    Address, ControlRequest, DataPlace, PowerRules, ServeRequest, ServedFacts, ServedFigures, Serving,
    ask_server, attachment_of, attachments_folder, clean_attachments, control_path, read_answer,
};
use serde_json::json;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How often a line on a terminal is renewed.
const SECOND: Duration = Duration::from_secs(1);

/// Serves until a signal ends it.
///
/// # Errors
/// When it cannot be served, or ended by itself.
pub fn serve(args: &ServeArgs, global: &Global) -> Result<()> {
    let address = match (&args.socket, args.port) {
        (Some(path), _) => Address::Socket(path.clone()),
        (None, port) => Address::Port(port.unwrap_or(0)),
    };
    let request = request(&args.served, address, args.control.clone())?;
    let places = RecordPlaces::new(&args.served, global)?;
    clean_up();
    let ending = Ending::listen()?;
    let mut serving = Serving::start(&request)?;
    let facts = serving.facts().clone();
    let first = serving.figures();
    match global.json {
        true => print_json(&json!({
            "event": "serving",
            "uri": facts.uri,
            "control": facts.control.as_deref().map(shown::name),
            "size_bytes": facts.size_bytes,
            "exports": facts.exports,
            "round_trip_ns": first.as_ref().map(|figures| figures.round_trip_ns),
            "grants": first.as_ref().map(|figures| &figures.grants),
        }))?,
        false => print_texts(&begin_lines(&facts, &request, first.as_ref()))?,
    }
    watch(&serving, &ending, progress_mode(global));
    serving.end();
    let figures = serving.wait()?;
    drop(serving);
    tell_end(&facts, &figures, &args.served, &places, global)
}

/// Removes what a killed `kurabe attach` left; whoever serves needs none of it, so what cannot be removed is only told.
fn clean_up() {
    if let Err(error) = attachments_folder().and_then(|folder| clean_attachments(&folder)) {
        say(&error.render(lang()));
    }
}

/// Whether a signal has come that ends a server.
pub struct Ending(Arc<(Mutex<bool>, Condvar)>);

impl Ending {
    /// Hears signals from now on: from the beginning, so that none leaves a socket behind.
    ///
    /// # Errors
    /// When the operating system does not let it.
    pub fn listen() -> Result<Self> {
        let ending: Arc<(Mutex<bool>, Condvar)> = Arc::default();
        let of_signals = Arc::clone(&ending);
        signals::listen_for_end(move || {
            *of_signals.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
            of_signals.1.notify_all();
        })?;
        Ok(Self(ending))
    }
}

/// What the words of a command line ask for.
///
/// # Errors
/// When they make no sense.
pub fn request(args: &ServedArgs, address: Address, control: Option<PathBuf>) -> Result<ServeRequest> {
    let Some(name) = model_name(&args.target) else {
        return Err(no_model(&shown::path(&args.target)));
    };
    let mut spec = load_model(name, &assignments("--set", &args.set, "flash.program_rate=10MB/s")?)?;
    args.without.iter().try_for_each(|layer| spec.remove_layer(layer))?;
    let power = args.cuts_power().then_some(PowerRules {
        after_writes: args.cut_after,
        seed: args.seed,
        torn: args.torn,
        lies_about_flush: args.lie_about_flush,
    });
    Ok(ServeRequest {
        spec,
        seed: args.seed,
        address,
        control,
        data: DataPlace::parse(&args.data)?,
        write_existing: args.write_existing,
        exports: args.exports,
        spin_ns: args.spin,
        round_trip_ns: args.round_trip,
        power,
    })
}

/// A target that is no model.
pub fn no_model(target: &str) -> Error {
    Error::new(ErrorKind::Usage, text!("`{target}` is no model", "`{target}` はモデルではありません")).remedy(
        text!(
            "write model:NAME; `kurabe models` lists them",
            "model:名前 と書いてください(一覧は `kurabe models`)"
        ),
    )
}

/// Waits for a signal, or for a server that ends by itself; meanwhile a line a second on a terminal.
pub fn watch(serving: &Serving, ending: &Ending, mode: Mode) {
    let ending = &*ending.0;
    let mut before: Option<ServedFigures> = None;
    let mut ended = ending.0.lock().unwrap_or_else(PoisonError::into_inner);
    while !*ended {
        (ended, _) = ending.1.wait_timeout(ended, SECOND).unwrap_or_else(PoisonError::into_inner);
        let Some(figures) = serving.figures() else { break };
        if mode == Mode::Terminal {
            say_over(&live_line(&figures, before.as_ref()).take(lang()));
        }
        before = Some(figures);
    }
    if mode == Mode::Terminal {
        say_over("");
    }
}

/// Says how it went, and keeps it where that was asked for.
///
/// # Errors
/// When it cannot be written.
pub fn tell_end(
    facts: &ServedFacts,
    figures: &ServedFigures,
    args: &ServedArgs,
    places: &RecordPlaces,
    global: &Global,
) -> Result<()> {
    let kept = ServerRecord::new(facts, figures, args);
    kept.write(places)?;
    match global.json {
        true => print_json(&json!({ "event": "served", "figures": figures }))?,
        false => print_texts(&figure_lines(figures))?,
    }
    kept.keep(places)
}

/// Prints lines.
///
/// # Errors
/// When they cannot be written.
pub fn print_texts(lines: &[Text]) -> Result<()> {
    print(&lines.iter().map(|line| line.clone().take(lang()) + "\n").collect::<String>())
}

/// Asks a server, or tells it something.
///
/// # Errors
/// When there is none, or it refuses.
pub fn control(args: &ControlArgs, global: &Global) -> Result<()> {
    let request = match &args.action {
        ControlAction::Stats => ControlRequest::Stats,
        ControlAction::Set { assignment } => {
            let words = std::slice::from_ref(assignment);
            let (parameter, value) = assignments("set", words, "flash.program_rate=10MB/s")?.swap_remove(0);
            ControlRequest::Set { parameter, value }
        }
        ControlAction::Member { member, layer, .. } => {
            ControlRequest::Offline { member: *member, layer: layer.clone() }
        }
        ControlAction::Wear { layer } => ControlRequest::Wear { layer: layer.clone() },
        ControlAction::Cut => ControlRequest::Cut,
        ControlAction::PowerOn => ControlRequest::PowerOn,
    };
    let done = ask_server(&control_socket(&args.socket)?, &request)?;
    if global.json {
        return print_json(&json!({ "event": "done", "answer": done }));
    }
    match request {
        ControlRequest::Stats => print_texts(&figure_lines(&read_answer(done)?)),
        ControlRequest::Cut => print_texts(&[cut_line(&read_answer(done)?)]),
        _ => print_texts(&[text!("done", "変更しました")]),
    }
}

/// Either socket of a server may be named, or a device.
fn control_socket(path: &Path) -> Result<PathBuf> {
    if path.metadata().is_ok_and(|facts| facts.file_type().is_block_device()) {
        return match attachment_of(&attachments_folder()?, path)? {
            Some(attached) => Ok(attached.control),
            None => Err(crate::attach::not_ours(path)),
        };
    }
    if path.extension().is_some_and(|end| end == "control") {
        return Ok(path.to_owned());
    }
    Ok(control_path(path))
}
