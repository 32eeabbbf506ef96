//! A model that is served as a block device: what is asked, which is plain data; the server; what is kept of it.
//!
//! The model: a server is prepared (the model is made, and the places of its record are free), runs until somebody ends it or it
//! ends by itself, and has a record then. Who serves in the background is a process of its own (`background`); devices of such
//! servers are found by what they left under /run (`devices`), and so is whatever is served now (`noted`).

mod background;
mod devices;
mod noted;
mod record;

pub use background::{is_background, leave_terminal, log_of_attachments, start_in_background};
pub use devices::{Detached, control_server, detach, refuse_others_than_root, remove_left_devices};
pub use noted::{ServedNote, ServedNow, served_notes, served_now};
pub use record::{EndedServer, KeptServer, ServerRecord, front_word, kept_servers};

use crate::model::{change_model, model_name};
use crate::output::Output;
use crate::stores::StorePlace;
use kurabe_core::{Error, ErrorKind, Result, Text, mention::MODELS, shown, text};
use kurabe_serve::{
    Address, DataPlace, DeviceFault, PowerRules, ServeRequest, ServedFacts, ServedFigures, Serving,
};
use kurabe_sim::{DeviceSpec, load_device};
use noted::KeptNote;
use record::RecordPlaces;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How often whoever watches hears of a server.
const SECOND: Duration = Duration::from_secs(1);

/// What is asked of a server, whatever way programs get to it.
#[derive(Clone, Debug, PartialEq)]
pub struct ServedRequest {
    /// `model:NAME`.
    pub target: PathBuf,
    /// Changed parameters of the model: `layer.parameter` and value.
    pub sets: Vec<(String, String)>,
    /// Layers that are left out.
    pub without: Vec<String>,
    /// How many of the things that the stack addresses.
    pub exports: usize,
    /// Where the bytes are, as [`DataPlace`] reads it.
    pub data: String,
    /// A file that is there already, and that kurabe did not make, may be written to.
    pub write_existing: bool,
    /// Seed of what is random in the model and in a power cut.
    pub seed: u64,
    /// How long before something is due it is waited for awake.
    pub spin_ns: u64,
    /// What arrivals are stamped before their time; measured, if not said.
    pub round_trip_ns: Option<u64>,
    /// Whether power can be cut, and how.
    pub power: Option<PowerRules>,
    /// What is wrong with the device from the beginning.
    pub faults: Vec<DeviceFault>,
    /// The folder in which others find it, if there is one.
    pub noted_in: Option<PathBuf>,
}

/// The model that a target names, with changed parameters and without some of its layers. The computer before it is a real one,
/// so the time of a modelled one is left out, unless it is asked for.
///
/// # Errors
/// When it names none, or the model has no such parameter or layer.
pub fn load_served_model(target: &Path, sets: &[(String, String)], without: &[String]) -> Result<DeviceSpec> {
    let Some(name) = model_name(target) else { return Err(no_model(target)) };
    change_model(load_device(name)?.without_computer()?, sets, without)
}

fn no_model(target: &Path) -> Error {
    let target = shown::path(target);
    ErrorKind::Usage.error(text!("`{target}` is no model", "`{target}` はモデルではありません")).remedy(
        text!("write model:NAME; `{MODELS}` lists them", "model:名前 と書いてください(一覧は `{MODELS}`)"),
    )
}

/// A server that nobody can reach yet.
pub struct PreparedServer {
    asked: ServedRequest,
    request: ServeRequest,
    places: RecordPlaces,
}

impl PreparedServer {
    /// A server at an address, controlled at `control` or next to its socket; its record goes to `record`.
    ///
    /// # Errors
    /// When the request makes no sense, or the folder of the store does not exist.
    pub fn new(
        asked: ServedRequest,
        address: Address,
        control: Option<PathBuf>,
        record: Option<Output>,
        store: &StorePlace,
    ) -> Result<Self> {
        let request = ServeRequest {
            spec: load_served_model(&asked.target, &asked.sets, &asked.without)?,
            seed: asked.seed,
            address,
            control,
            data: DataPlace::parse(&asked.data)?,
            write_existing: asked.write_existing,
            exports: asked.exports,
            spin_ns: asked.spin_ns,
            round_trip_ns: asked.round_trip_ns,
            power: asked.power.clone(),
            faults: asked.faults.clone(),
            log: None,
        };
        let places = RecordPlaces::new(record, store)?;
        Ok(Self { asked, request, places })
    }

    /// Starts it.
    ///
    /// # Errors
    /// When it cannot be served there.
    pub fn start(self) -> Result<RunningServer> {
        let serving = Serving::start(&self.request)?;
        // Who cannot be found is still served.
        let folder = self.asked.noted_in.as_deref();
        let note = folder.and_then(|folder| KeptNote::keep(folder, serving.facts()));
        Ok(RunningServer { serving, prepared: self, _note: note })
    }
}

/// A server under way.
pub struct RunningServer {
    serving: Serving,
    prepared: PreparedServer,
    _note: Option<KeptNote>,
}

impl RunningServer {
    /// What there is to know of it from the start.
    pub fn facts(&self) -> &ServedFacts {
        self.serving.facts()
    }

    /// What was asked of it.
    pub fn request(&self) -> &ServeRequest {
        &self.prepared.request
    }

    /// What it did so far; nothing if it has ended by itself.
    pub fn figures(&self) -> Option<ServedFigures> {
        self.serving.figures()
    }

    /// Waits until it is to end, or ends by itself. Each second `watched` hears how it went so far, and in that second.
    pub fn watch(&self, ending: &Ending, mut watched: impl FnMut(&ServedFigures, &ServedFigures)) {
        let mut before = ServedFigures::default();
        let mut ended = ending.ended.lock().unwrap_or_else(PoisonError::into_inner);
        while !*ended {
            (ended, _) = ending.changed.wait_timeout(ended, SECOND).unwrap_or_else(PoisonError::into_inner);
            let Some(figures) = self.figures() else { break };
            watched(&figures, &figures.since(&before));
            before = figures;
        }
    }

    /// Takes its devices away as soon as nobody uses them; `waits` hears whom it waits for.
    ///
    /// # Errors
    /// When they cannot be taken away.
    pub fn detach(&mut self, waits: impl FnMut(&Path, &[Text])) -> Result<()> {
        self.serving.detach(waits)
    }

    /// Ends it. Its record is in the file that was asked for.
    ///
    /// # Errors
    /// When it ended by itself, or the file cannot be written.
    pub fn end(self) -> Result<EndedServer> {
        let Self { mut serving, prepared: PreparedServer { asked, places, .. }, _note } = self;
        let facts = serving.facts().clone();
        serving.end();
        let figures = serving.wait()?;
        // Sockets and devices go before anything is said of the end.
        drop(serving);
        EndedServer::new(ServerRecord::new(&facts, &figures, &asked), places)
    }
}

/// Whether a server is to end; whoever hears signals says so.
#[derive(Default)]
pub struct Ending {
    ended: Mutex<bool>,
    changed: Condvar,
}

impl Ending {
    /// Ends the server that is watched with this.
    pub fn end(&self) {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }
}
