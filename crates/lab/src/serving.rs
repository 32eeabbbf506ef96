//! Models served as block devices: the request, the running server, and its record.
//!
//! A server is prepared (the model is built and the outputs of its record are claimed), runs until
//! it is stopped or fails, and then has a record. A server in the background is a separate process
//! (`background`). Devices of such servers are found through the state they leave in /run
//! (`devices`), and all running servers through their notes (`noted`).

mod background;
mod devices;
mod noted;
mod record;

pub use background::{is_background, leave_terminal, log_of_attachments, start_in_background};
pub use devices::{Detached, control_server, detach, refuse_others_than_root, remove_left_devices};
pub use noted::{ServedNote, ServedNow, served_notes, served_now};
pub use record::{EndedServer, KeptServer, ServerRecord, front_word, kept_servers};

use crate::model::change_model;
use crate::output::Output;
use crate::stores::StorePlace;
use kurabe_core::target_name::TargetName;
use kurabe_core::{Error, ErrorKind, Result, Text, mention::MODELS, shown, text};
use kurabe_serve::{Address, DataPlace, ServeRequest, ServeSettings, ServedFacts, ServedFigures, Serving};
use kurabe_sim::{DeviceSpec, load_device};
use noted::KeptNote;
use record::RecordPlaces;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Interval of the figures passed to an observer.
const SECOND: Duration = Duration::from_secs(1);

/// A request to serve a model, for any kind of connection.
#[derive(Clone, Debug, PartialEq)]
pub struct ServedRequest {
    /// `model:NAME`.
    pub target: TargetName,
    /// Changed parameters of the model: `layer.parameter` and value.
    pub sets: Vec<(String, String)>,
    /// Layers to leave out.
    pub without: Vec<String>,
    /// Storage of the data, as [`DataPlace`] parses it.
    pub data: String,
    /// Exports, timing and faults.
    pub settings: ServeSettings,
    /// Folder for the server's note, if others should find it.
    pub noted_in: Option<PathBuf>,
}

/// Loads the model of a target, changes parameters and removes layers. The computer in front of it
/// is real, so the time of a modelled computer is left out unless requested.
///
/// # Errors
/// When the target is not a model, or a parameter or layer does not exist.
pub fn load_served_model(
    target: &TargetName,
    sets: &[(String, String)],
    without: &[String],
) -> Result<DeviceSpec> {
    let Some(name) = target.model() else { return Err(no_model(target)) };
    change_model(load_device(name)?.without_computer()?, sets, without)
}

fn no_model(target: &TargetName) -> Error {
    let target = shown::path(target.typed());
    ErrorKind::Usage.error(text!("`{target}` is not a model", "`{target}` はモデルではありません")).remedy(
        text!(
            "write model:NAME; list the models with `{MODELS}`",
            "model:名前 と書いてください(一覧は `{MODELS}`)"
        ),
    )
}

/// A server that cannot be reached yet.
pub struct PreparedServer {
    asked: ServedRequest,
    request: ServeRequest,
    places: RecordPlaces,
}

impl PreparedServer {
    /// Prepares a server at an address, controlled at `control` or next to its socket. Its record
    /// is written to `record`.
    ///
    /// # Errors
    /// When the request is invalid, or the folder of the store does not exist.
    pub fn new(
        asked: ServedRequest,
        address: Address,
        control: Option<PathBuf>,
        record: Option<Output>,
        store: &StorePlace,
    ) -> Result<Self> {
        let request = ServeRequest {
            spec: load_served_model(&asked.target, &asked.sets, &asked.without)?,
            address,
            control,
            data: DataPlace::parse(&asked.data)?,
            settings: asked.settings.clone(),
            log: None,
        };
        let places = RecordPlaces::new(record, store)?;
        Ok(Self { asked, request, places })
    }

    /// Starts the server.
    ///
    /// # Errors
    /// When it cannot be served at the address.
    pub fn start(self) -> Result<RunningServer> {
        let serving = Serving::start(&self.request)?;
        // A server without a note still serves.
        let folder = self.asked.noted_in.as_deref();
        let note = folder.and_then(|folder| KeptNote::keep(folder, serving.facts()));
        Ok(RunningServer { serving, prepared: self, _note: note })
    }
}

/// A server of a model that this process started.
pub struct RunningServer {
    serving: Serving,
    prepared: PreparedServer,
    _note: Option<KeptNote>,
}

impl RunningServer {
    /// Returns the facts known from the start.
    pub fn facts(&self) -> &ServedFacts {
        self.serving.facts()
    }

    /// Returns the request that started the server.
    pub fn request(&self) -> &ServeRequest {
        &self.prepared.request
    }

    /// Returns the figures so far, or `None` if the server has stopped.
    pub fn figures(&self) -> Option<ServedFigures> {
        self.serving.figures()
    }

    /// Waits until the server is asked to end or stops unexpectedly. Every second, `watched`
    /// receives the total figures and those of that second.
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

    /// Detaches its devices as soon as they are unused. `waits` receives the processes that it
    /// waits for.
    ///
    /// # Errors
    /// When they cannot be detached.
    pub fn detach(&mut self, waits: impl FnMut(&Path, &[Text])) -> Result<()> {
        self.serving.detach(waits)
    }

    /// Ends the server and writes its record to the requested file.
    ///
    /// # Errors
    /// When it had stopped unexpectedly, or the file cannot be written.
    pub fn end(self) -> Result<EndedServer> {
        let Self { mut serving, prepared: PreparedServer { asked, places, .. }, _note } = self;
        let facts = serving.facts().clone();
        serving.end();
        let figures = serving.wait()?;
        // Sockets and devices are removed before the end is reported.
        drop(serving);
        EndedServer::new(ServerRecord::new(&facts, &figures, &asked), places)
    }
}

/// Flag that asks a server to end, set by a signal handler.
#[derive(Default)]
pub struct Ending {
    ended: Mutex<bool>,
    changed: Condvar,
}

impl Ending {
    /// Ends the server that watches this flag.
    pub fn end(&self) {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }
}
