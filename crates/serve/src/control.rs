//! Controls a server while clients use it: one line of JSON per request, and one per answer.

use crate::attach::refuse_used;
use crate::fault::DeviceFault;
use crate::hub::{HubCommand, ServedFigures};
use crate::listen::Doorway;
use crate::rehearsal::Rehearsal;
use kurabe_core::environment::Environment;
use kurabe_core::mention::{CONTROL, SERVE};
use kurabe_core::model::ModelRecord;
use kurabe_core::{Error, ErrorKind, Result, shown, text, words::Keyword};
use kurabe_host::{NoiseMark, NoiseWatch};
use kurabe_sim::Control;
use rustix::fd::OwnedFd;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// Longest request in bytes.
const MOST_LINE_BYTES: u64 = 4096;
/// Time limit for a client to send its request, and for the server to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Request to the control socket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ControlRequest {
    /// Returns the figures of the server so far.
    Stats,
    /// Returns the figures without those that take long to compute.
    Watch,
    /// Returns the stack that is served.
    Model,
    /// Changes a live parameter.
    Set {
        /// Parameter, such as `flash.program_rate`.
        parameter: String,
        /// Value, such as `10MB/s`.
        value: String,
    },
    /// Makes a member fail.
    Offline {
        /// Index of the member, from 0.
        member: usize,
        /// Layer with the member; the first with members if `None`.
        #[serde(default)]
        layer: Option<String>,
    },
    /// Wears flash to its steady state without taking any time.
    Wear {
        /// Layer to wear; the first that can wear if `None`.
        #[serde(default)]
        layer: Option<String>,
    },
    /// Cuts power.
    Cut,
    /// Cuts power after a number of further acknowledged writes.
    CutAfter {
        /// Number of writes.
        writes: u64,
    },
    /// Switches power on again.
    PowerOn,
    /// Sets a fault from now on.
    Fault {
        /// Fault, as read by [`DeviceFault::parse`]; `None` lifts all faults.
        #[serde(default)]
        fault: Option<String>,
    },
}

impl ControlRequest {
    /// Request that lifts all faults.
    pub const NO_FAULTS: Self = Self::Fault { fault: None };
}

/// Sends commands to the hub.
#[derive(Debug)]
pub(crate) struct Controls {
    commands: Sender<HubCommand>,
    bell: Arc<OwnedFd>,
    /// The stack, with its current parameters.
    model: Mutex<ModelRecord>,
    noise: (NoiseWatch, NoiseMark),
    /// Block devices, once they exist.
    pub(crate) devices: OnceLock<Vec<PathBuf>>,
}

impl Controls {
    pub(crate) fn new(commands: Sender<HubCommand>, bell: Arc<OwnedFd>, model: ModelRecord) -> Self {
        let watch = NoiseWatch::new(&Environment::default());
        let mark = watch.start();
        Self { commands, bell, model: Mutex::new(model), noise: (watch, mark), devices: OnceLock::new() }
    }

    /// Sends a command to the hub.
    pub(crate) fn tell(&self, command: HubCommand) {
        // A hub that has ended no longer receives.
        let _ = self.commands.send(command);
        let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
    }

    /// Sends a command to the hub and waits for the answer. `None` if the hub has ended.
    pub(crate) fn ask<T>(&self, command: impl FnOnce(Sender<T>) -> HubCommand) -> Option<T> {
        let (answer, answered) = channel();
        self.tell(command(answer));
        answered.recv_timeout(PATIENCE).ok()
    }

    /// Returns the figures of the server.
    pub(crate) fn figures(&self) -> Option<ServedFigures> {
        self.ask(HubCommand::Figures).map(|(figures, _)| self.with_steal(figures))
    }

    /// Returns the figures with those of the clients, which take a while to compute.
    fn whole_figures(&self) -> Option<ServedFigures> {
        let (figures, rehearsal) = self.ask(HubCommand::Figures)?;
        Some(self.with_steal(ServedFigures { client: rehearsal.and_then(Rehearsal::run), ..figures }))
    }

    /// Adds the processor time that the host of a virtual machine took.
    pub(crate) fn with_steal(&self, figures: ServedFigures) -> ServedFigures {
        ServedFigures { steal_share: self.noise.0.finish(self.noise.1.clone()).steal_share, ..figures }
    }

    pub(crate) fn obey(&self, request: ControlRequest) -> Result<Value> {
        let gone = || ErrorKind::Internal.error(text!("the server is shutting down", "サーバーは終了中です"));
        let done = |done: Option<Result<()>>| done.ok_or_else(gone)?.map(|()| Value::Null);
        match request {
            ControlRequest::Stats => Ok(json!(self.whole_figures().ok_or_else(gone)?)),
            ControlRequest::Watch => Ok(json!(self.figures().ok_or_else(gone)?)),
            ControlRequest::Model => Ok(json!(*self.model.lock().unwrap_or_else(PoisonError::into_inner))),
            ControlRequest::Set { parameter, value } => {
                let changed = self.ask(|answer| HubCommand::Set(parameter, value, answer));
                *self.model.lock().unwrap_or_else(PoisonError::into_inner) = changed.ok_or_else(gone)??;
                Ok(Value::Null)
            }
            ControlRequest::Offline { member, layer } => {
                done(self.ask(|answer| HubCommand::Layer(layer, Control::FailMember(member), answer)))
            }
            ControlRequest::Wear { layer } => {
                done(self.ask(|answer| HubCommand::Layer(layer, Control::Wear, answer)))
            }
            ControlRequest::PowerOn => {
                // A mounted file system would write what it cached before the cut over the data
                // that remained.
                refuse_used(self.devices.get().map_or(&[], Vec::as_slice))?;
                done(self.ask(HubCommand::PowerOn))
            }
            ControlRequest::Fault { fault } => {
                let fault = fault.map(|words| DeviceFault::parse(&words)).transpose();
                let fault = fault.map_err(|error| {
                    ErrorKind::Usage.error(error).remedy(text!(
                        "write a fault like error:read@1GiB+64KiB or hang:10s@after-1000-writes",
                        "error:read@1GiB+64KiB や hang:10s@after-1000-writes のように書いてください"
                    ))
                })?;
                done(self.ask(|answer| HubCommand::Fault(fault, answer)))
            }
            ControlRequest::Cut => Ok(json!(self.ask(HubCommand::Cut).ok_or_else(gone)??)),
            ControlRequest::CutAfter { writes } => {
                done(self.ask(|answer| HubCommand::CutAfter(writes, answer)))
            }
        }
    }
}

/// Control socket and its thread.
pub(crate) struct ControlDoor {
    listener: Arc<Doorway>,
    thread: Option<JoinHandle<()>>,
}

impl ControlDoor {
    /// Starts to serve the control socket.
    pub(crate) fn open(listener: Doorway, controls: Arc<Controls>) -> Result<Self> {
        rustix::io::ioctl_fionbio(&listener.socket, false).map_err(|error| {
            Error::os(text!("cannot listen for control", "制御用ソケットで待ち受けられません"), &error.into())
        })?;
        let listener = Arc::new(listener);
        let door = Arc::clone(&listener);
        let thread = Builder::new().name("kurabe-control".to_owned()).spawn(move || {
            while let Ok(socket) = rustix::net::accept(&door.socket) {
                // A client that sends nothing gets no answer.
                let _ = answer(&UnixStream::from(socket), &controls);
            }
        });
        Ok(Self { listener, thread: Some(thread.map_err(|error| Error::no_thread(&error))?) })
    }
}

impl Drop for ControlDoor {
    fn drop(&mut self) {
        let _ = rustix::net::shutdown(&self.listener.socket, rustix::net::Shutdown::Both);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn answer(mut client: &UnixStream, controls: &Controls) -> std::io::Result<()> {
    client.set_read_timeout(Some(PATIENCE))?;
    client.set_write_timeout(Some(PATIENCE))?;
    let mut line = String::new();
    BufReader::new(client.take(MOST_LINE_BYTES)).read_line(&mut line)?;
    let outcome = serde_json::from_str(&line).map_err(|error| {
        let message = text!("this is not a request of `{CONTROL}`", "`{CONTROL}` の要求として読めません");
        ErrorKind::Usage.error(message).because(error)
    });
    let answer = match outcome.and_then(|request| controls.obey(request)) {
        Ok(value) => json!({ "done": value }),
        Err(error) => json!({ "failed": {
            "kind": error.kind().word(),
            "what": error.what(),
            "cause": error.cause(),
            "remedy": error.remedy_text(),
        } }),
    };
    client.write_all(format!("{answer}\n").as_bytes())
}

/// Sends a request to a server through its control socket.
///
/// # Errors
/// If no server listens, or it refuses.
pub fn ask_server(path: &Path, request: &ControlRequest) -> Result<Value> {
    let shown = shown::path(path);
    let cannot = |error: &std::io::Error| {
        Error::os(
            text!("cannot connect to the server at {shown}", "{shown} のサーバーに接続できません"),
            error,
        )
        .remedy(text!(
            "give the socket that was passed to `{SERVE}`, and check that the server is still running",
            "`{SERVE}` に指定したソケットを指定してください。サーバーが動作中かも確認してください"
        ))
    };
    let ask = || -> std::io::Result<String> {
        // A stopped server accepts only as many clients as its backlog; further ones would wait
        // forever.
        let flags = SocketFlags::CLOEXEC;
        let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        set_socket_timeout(&socket, Timeout::Send, Some(PATIENCE))?;
        rustix::net::connect(&socket, &SocketAddrUnix::new(path)?)?;
        let mut socket = UnixStream::from(socket);
        socket.set_read_timeout(Some(2 * PATIENCE))?;
        socket.write_all(format!("{}\n", json!(request)).as_bytes())?;
        let mut line = String::new();
        BufReader::new(socket).read_line(&mut line)?;
        Ok(line)
    };
    let line = ask().map_err(|error| cannot(&error))?;
    let mut answer: Value = serde_json::from_str(&line).map_err(|error| {
        ErrorKind::Internal
            .error(text!("the server at {shown} did not answer", "{shown} のサーバーから応答がありません"))
            .because(error)
    })?;
    if let Some(done) = answer.get_mut("done") {
        return Ok(done.take());
    }
    Err(refusal(&answer["failed"]))
}

/// Parses the answer of a server.
///
/// # Errors
/// If the server has another version.
pub fn read_answer<T: DeserializeOwned>(answer: Value) -> Result<T> {
    serde_json::from_value(answer).map_err(|error| {
        let message = text!("the server has another version", "サーバーのバージョンが異なります");
        ErrorKind::Unsupported.error(message).because(error)
    })
}

/// Recreates the server's error from its JSON form.
fn refusal(failed: &Value) -> Error {
    let read = |key: &str| serde_json::from_value(failed[key].clone()).ok();
    let kind = failed["kind"].as_str().and_then(ErrorKind::of_word);
    let message = read("what").unwrap_or_else(|| text!("the server refuses", "サーバーが拒否しました"));
    let mut error = Error::new(kind.unwrap_or(ErrorKind::Internal), message);
    if let Some(remedy) = read("remedy") {
        error = error.remedy(remedy);
    }
    match failed["cause"].as_str() {
        Some(cause) => error.because(cause),
        None => error,
    }
}
