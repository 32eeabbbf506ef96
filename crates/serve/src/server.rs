//! Runs a server, from the request to the final figures.

use crate::apart::apart;
use crate::attach::{AttachedParts, Attachment, ServedFront, users_of};
use crate::clock::{self, RealTime};
use crate::control::{ControlDoor, ControlRequest, Controls};
use crate::disk::{Disk, SECTOR_BYTES};
use crate::hub::{Hub, HubCommand, HubParts, ServedFigures};
use crate::listen::{Address, Doorway, control_path, make_way};
use crate::platform;
use crate::protocol::Export;
use crate::rehearsal::{KeepingUp, Rehearsal, keeping_up, trim_all_ns};
use crate::request::ServeRequest;
use crate::round_trip;
use crate::workers::Workers;
use kurabe_core::mention::{MODELS_SHOW, WITHOUT};
use kurabe_core::model::ModelRecord;
use kurabe_core::{Error, ErrorKind, Result, Text, shown, text};
use kurabe_sim::{DeviceSpec, RequestKind, Stack};
use rustix::event::EventfdFlags;
use rustix::fd::OwnedFd;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use serde_json::Value;
use std::fs::File;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// Exports of one stack: as many as the list of their names fits on one screen.
const MOST_EXPORTS: usize = 64;
/// Longest time that kurabe's own server takes to answer.
const OWN_PATIENCE: Duration = Duration::from_secs(5);

/// Facts about a served stack that are known when it starts.
#[derive(Clone, Debug, PartialEq)]
pub struct ServedFacts {
    /// URI that clients connect to, unless the stack is attached as devices.
    pub uri: Option<String>,
    /// Block devices of this machine, by export.
    pub devices: Vec<PathBuf>,
    /// Mechanism that provides the block devices.
    pub front: Option<ServedFront>,
    /// Path of the control socket.
    pub control: Option<PathBuf>,
    /// Bytes of each export.
    pub size_bytes: u64,
    /// Number of exports.
    pub exports: usize,
    /// Most memory that the data can take, if it is stored in memory.
    pub most_memory_bytes: Option<u64>,
    /// The stack, as stored in records.
    pub model: ModelRecord,
    /// Where this machine is too slow for the stack; `None` if it is nowhere, or if the round trip
    /// was not measured.
    pub keeping_up: Option<KeepingUp>,
    /// Duration of a trim of a whole export, in ns; `None` if the stack has no trim.
    pub trim_ns: Option<u64>,
}

/// A stack that is being served.
pub struct Serving {
    facts: ServedFacts,
    controls: Arc<Controls>,
    hub: Option<JoinHandle<Result<ServedFigures>>>,
    attachment: Option<Attachment>,
    /// Removes the socket when the server ends.
    _door: Option<ControlDoor>,
}

impl Serving {
    /// Starts serving.
    ///
    /// # Errors
    /// If the stack, its data or its socket cannot be opened.
    pub fn start(request: &ServeRequest) -> Result<Self> {
        let ServeRequest { spec, settings, .. } = request;
        let exports = settings.exports;
        let mut stack = Stack::new(spec, settings.seed)?;
        check_exports(exports, stack.units())?;
        let size_bytes = stack.capacity_bytes() / SECTOR_BYTES * SECTOR_BYTES;
        settings.faults.iter().try_for_each(|fault| fault.check(exports, size_bytes))?;
        let data = request.data.open(size_bytes, exports, settings.write_existing)?;
        let Ways { attachment, control, door, listener } = Ways::open(request)?;
        let port = listener.as_ref().and_then(|listener| listener.port);
        let facts = ServedFacts {
            uri: uri(&request.address, port),
            devices: Vec::new(),
            front: attachment.as_ref().map(Attachment::front),
            control,
            size_bytes,
            exports,
            most_memory_bytes: data.most_bytes,
            model: stack.record(spec),
            keeping_up: None,
            trim_ns: stack.knows(RequestKind::Trim).then(|| trim_all_ns(&mut stack.clone())),
        };
        let bell = rustix::event::eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC);
        let bell = Arc::new(bell.map_err(|error| cannot_start(&error.into()))?);
        let (sender, commands) = channel();
        let parts = HubParts {
            request: request.clone(),
            stack: stack.clone(),
            disks: data
                .disks
                .into_iter()
                .map(|data| Arc::new(Disk::new(data, settings.power.is_some())))
                .collect(),
            exports: exports_of(spec, &stack, size_bytes, exports),
            listener,
            commands,
            bell: Arc::clone(&bell),
            time: request.log.as_ref().map_or_else(RealTime::begin, |log| log.time()),
        };
        let (disks, time, exports) = (parts.disks.clone(), parts.time, Arc::clone(&parts.exports));
        if attachment.is_some() {
            // Best effort: it matters only if memory is short.
            let _ = platform::never_wait_for_own_disk();
        }
        let hub = Builder::new().name("kurabe-time".to_owned()).spawn(move || keep_time(parts));
        let hub = hub.map_err(|error| Error::no_thread(&error))?;
        let controls = Arc::new(Controls::new(sender, bell, facts.model.clone()));
        let door = door.map(|door| ControlDoor::open(door, Arc::clone(&controls))).transpose()?;
        let mut serving = Self { facts, controls, hub: Some(hub), attachment, _door: door };
        if let Some(attachment) = &mut serving.attachment {
            let controls = Arc::clone(&serving.controls);
            attachment.attach(AttachedParts { disks, exports, controls, time })?;
            serving.facts.devices = attachment.devices();
            // They are created only once.
            let _ = serving.controls.devices.set(serving.facts.devices.clone());
        }
        serving.let_clients_in(settings.round_trip_ns, port.is_some(), &mut stack)?;
        Ok(serving)
    }

    /// Measures the round trip unless it is set, and determines how far this machine keeps up with
    /// the stack.
    fn let_clients_in(&mut self, set_ns: Option<u64>, is_tcp: bool, stack: &mut Stack) -> Result<()> {
        let round_trip_ns = match set_ns {
            Some(round_trip_ns) => round_trip_ns,
            None => self.measure_round_trip(is_tcp).map_err(|error| cannot_start(&error))?,
        };
        match self.controls.ask(|answer| HubCommand::Measured(round_trip_ns, answer)) {
            Some(accepts) => accepts?,
            None => {
                self.wait()?;
            }
        }
        if let (None, Some(figures)) = (set_ns, self.figures()) {
            self.facts.keeping_up = keeping_up(stack, figures.request_ns, round_trip_ns);
        }
        Ok(())
    }

    fn measure_round_trip(&self, is_tcp: bool) -> std::io::Result<u64> {
        if let Some(device) = self.facts.devices.first() {
            return apart(|| round_trip::measure_device(device));
        }
        let (server, client): (OwnedFd, OwnedFd) = if is_tcp {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            let client = TcpStream::connect(listener.local_addr()?)?;
            client.set_nodelay(true)?;
            (listener.accept()?.0.into(), client.into())
        } else {
            let (server, client) = UnixStream::pair()?;
            (server.into(), client.into())
        };
        rustix::io::ioctl_fionbio(&server, true)?;
        set_socket_timeout(&client, Timeout::Recv, Some(OWN_PATIENCE))?;
        self.controls.tell(HubCommand::Measure(server));
        round_trip::measure(File::from(client))
    }

    /// Returns the facts about the server.
    pub fn facts(&self) -> &ServedFacts {
        &self.facts
    }

    /// Returns the figures so far, or `None` if the server has ended unexpectedly.
    pub fn figures(&self) -> Option<ServedFigures> {
        self.controls.figures()
    }

    /// Sends a request to the server, as through its control socket.
    ///
    /// # Errors
    /// If the server refuses or has ended.
    pub fn control(&self, request: ControlRequest) -> Result<Value> {
        self.controls.obey(request)
    }

    /// Does some work at the beginning of each power cut, before any request fails. The server waits
    /// for it, so it must not wait for the server or its devices.
    pub fn at_cut(&self, work: impl Fn() + Send + 'static) {
        self.controls.tell(HubCommand::AtCut(Box::new(work)));
    }

    /// Returns work that cuts power, for another thread. Errors are reported when power is cut again.
    pub fn cutter(&self) -> impl Fn() + Send + Sync + 'static {
        let controls = Arc::clone(&self.controls);
        move || drop(controls.obey(ControlRequest::Cut))
    }

    /// Removes the block devices once they are not in use, and waits until they are removed. `busy`
    /// is called with the users of a device.
    ///
    /// # Errors
    /// If a block device cannot be removed.
    pub fn detach(&mut self, busy: impl FnMut(&Path, &[Text])) -> Result<()> {
        self.detach_until(None, busy).map(|_| ())
    }

    /// Removes the block devices like [`Self::detach`], but waits no longer than `limit`. A device
    /// still in use is removed anyway: its users get errors, and are returned.
    ///
    /// # Errors
    /// As [`Self::detach`].
    pub fn detach_within(&mut self, limit: Duration) -> Result<Vec<Text>> {
        let Some(device) = self.detach_until(Some(Instant::now() + limit), |_, _| {})? else {
            return Ok(Vec::new());
        };
        let users = users_of(&device);
        let device = shown::path(&device);
        Ok(if users.is_empty() { vec![text!("a user of {device}", "{device} の利用者")] } else { users })
    }

    fn detach_until(
        &mut self,
        until: Option<Instant>,
        busy: impl FnMut(&Path, &[Text]),
    ) -> Result<Option<PathBuf>> {
        // Lifts the faults so that cached data can be written.
        let _ = self.control(ControlRequest::NO_FAULTS);
        let has_failed =
            self.figures().is_some_and(|figures| !figures.cuts.is_empty() || !figures.faults.is_empty());
        self.attachment.take().map_or(Ok(None), |mut attachment| attachment.detach(has_failed, until, busy))
    }

    /// Creates a temporary folder whose name begins with `name`. It is removed with the devices, or
    /// after a kill by the next start.
    ///
    /// # Errors
    /// If it cannot be created, or there are no devices.
    pub fn make_passing_folder(&self, name: &str) -> Result<PathBuf> {
        let gone =
            || ErrorKind::Internal.error(text!("the devices no longer exist", "デバイスはもうありません"));
        self.attachment.as_ref().ok_or_else(gone)?.make_passing_folder(name)
    }

    /// Asks the server to end.
    pub fn end(&self) {
        self.controls.tell(HubCommand::End);
    }

    /// Waits until the server has ended, and returns its final figures.
    ///
    /// # Errors
    /// If it ended unexpectedly.
    pub fn wait(&mut self) -> Result<ServedFigures> {
        let defect = || {
            let message =
                text!("the thread that keeps the time ended", "時刻を管理するスレッドが終了しました");
            ErrorKind::Internal.error(message)
        };
        let figures = self.hub.take().and_then(|hub| hub.join().ok()).ok_or_else(defect)??;
        Ok(self.controls.with_steal(figures))
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // While the hub still answers.
        drop(self.attachment.take());
        self.end();
        if let Some(hub) = self.hub.take() {
            let _ = hub.join();
        }
    }
}

/// Connections of a served stack to the outside.
struct Ways {
    attachment: Option<Attachment>,
    control: Option<PathBuf>,
    door: Option<Doorway>,
    listener: Option<Doorway>,
}

impl Ways {
    fn open(request: &ServeRequest) -> Result<Self> {
        let (attachment, socket, usual_control) = match &request.address {
            Address::Socket(path) => (None, Some(path.as_path()), Some(control_path(path))),
            Address::Port(_) => (None, None, None),
            Address::Devices { folder, by } => {
                let attachment = Attachment::begin(folder, *by, request.settings.exports)?;
                let control = attachment.control();
                (Some(attachment), None, Some(control))
            }
        };
        let control = request.control.clone().or(usual_control);
        make_way(socket, control.as_deref())?;
        let door = control.as_deref().map(Doorway::at_path).transpose()?;
        let listener = match &request.address {
            Address::Socket(path) => Some(Doorway::at_path(path)?),
            Address::Port(port) => Some(Doorway::at_port(*port)?),
            Address::Devices { .. } => None,
        };
        Ok(Self { attachment, control, door, listener })
    }
}

/// Runs the timekeeping thread, from its start to the final figures.
fn keep_time(parts: HubParts) -> Result<ServedFigures> {
    // Workers start before the priority is raised, so that they remain ordinary threads.
    let workers = Workers::start(parts.time, &parts.bell)?;
    let disks = parts.disks.clone();
    let mut hub = Hub::new(parts, workers, clock::ask()).map_err(|error| cannot_start(&error))?;
    hub.run().map_err(|error| {
        Error::os(text!("cannot wait for clients", "クライアントを待ち受けられません"), &error)
    })?;
    if let Some(error) = hub.take_failure() {
        return Err(error);
    }
    let figures = ServedFigures { client: hub.rehearsal().and_then(Rehearsal::run), ..hub.figures() };
    drop(hub);
    for disk in disks {
        disk.data.sync().map_err(|error| {
            Error::os(text!("cannot write the data to its medium", "データを媒体に書き出せません"), &error)
        })?;
    }
    Ok(figures)
}

fn cannot_start(error: &std::io::Error) -> Error {
    Error::os(text!("cannot start the server", "サーバーを開始できません"), error)
}

/// Checks whether a stack with this number of addressable units can have so many exports.
///
/// # Errors
/// If it cannot.
pub fn check_exports(exports: usize, units: u16) -> Result<()> {
    let most = usize::from(units).min(MOST_EXPORTS);
    if (1..=most).contains(&exports) {
        return Ok(());
    }
    Err(ErrorKind::Usage
        .error(text!(
            "the top of the stack addresses {units} devices, not {exports}",
            "スタックの最上段が持つのは {units} 台で、{exports} 台ではありません"
        ))
        .remedy(text!(
            "leave out the layers that join them, as in {WITHOUT} zfs,mirror (see the layers with `{MODELS_SHOW}`)",
            "束ねている層を {WITHOUT} zfs,mirror のように省いてください(層は `{MODELS_SHOW}` で確認できます)"
        )))
}

/// Describes the exports: a single one has an empty name, several are numbered.
fn exports_of(spec: &DeviceSpec, stack: &Stack, size_bytes: u64, exports: usize) -> Arc<[Export]> {
    let has_head = |word: &str| ["disk", "magneto-optical", "removable"].contains(&word);
    let is_rotational = spec.all_layers().iter().any(|layer| has_head(layer.kind.word));
    let export = |index: usize| Export {
        name: if exports == 1 { String::new() } else { index.to_string() },
        description: match exports {
            1 => spec.title.en.clone(),
            _ => format!("disk {} of {exports} of {}", index + 1, spec.title.en),
        },
        size_bytes,
        is_rotational,
        has_trim: stack.knows(RequestKind::Trim),
        has_quick_zeroes: stack.knows(RequestKind::WriteZeroes),
    };
    (0..exports).map(export).collect()
}

fn uri(address: &Address, port: Option<u16>) -> Option<String> {
    match address {
        Address::Socket(path) => {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            Some(format!("nbd+unix:///?socket={}", path.display()))
        }
        Address::Port(asked) => Some(format!("nbd://localhost:{}", port.unwrap_or(*asked))),
        Address::Devices { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DataPlace, PowerRules, ServeSettings};
    use std::io::{Read, Write};

    const READ: u16 = 0;
    const WRITE: u16 = 1;
    const FLUSH: u16 = 3;
    const IO_ERROR: u32 = 5;

    /// The kernel's end of a connection to the hub.
    struct Kernel(UnixStream);

    impl Kernel {
        fn of(serving: &Serving) -> Self {
            let (ours, kernels) = UnixStream::pair().unwrap();
            ours.set_nonblocking(true).unwrap();
            serving.controls.tell(HubCommand::Kernel(ours.into(), 0));
            kernels.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
            Self(kernels)
        }

        fn ask(&mut self, command: u16, cookie: u64, offset: u64, length: usize) {
            let head = [&0x2560_9513_u32.to_be_bytes()[..], &[0; 2], &command.to_be_bytes()].concat();
            let fields = [&cookie.to_be_bytes()[..], &offset.to_be_bytes(), &(length as u32).to_be_bytes()];
            self.0.write_all(&[head, fields.concat()].concat()).unwrap();
        }

        /// Returns the error code of the next answer, which must be for this request.
        fn answer(&mut self, cookie: u64) -> u32 {
            let mut head = [0; 16];
            self.0.read_exact(&mut head).unwrap();
            assert_eq!(head[..4], 0x6744_6698_u32.to_be_bytes());
            assert_eq!(head[8..], cookie.to_be_bytes());
            u32::from_be_bytes(head[4..8].try_into().unwrap())
        }

        /// Returns the byte that fills these 4 KiB, or an error code.
        fn read(&mut self, cookie: u64, offset: u64) -> Result<u8, u32> {
            self.ask(READ, cookie, offset, 4096);
            let mut bytes = [0; 4096];
            match self.answer(cookie) {
                0 => self.0.read_exact(&mut bytes).unwrap(),
                error => return Err(error),
            }
            assert!(bytes.iter().all(|byte| *byte == bytes[0]));
            Ok(bytes[0])
        }
    }

    #[test]
    fn each_of_several_exports_says_which_it_is() {
        let spec = kurabe_sim::load_device("mirror3-usb").unwrap();
        let stack = Stack::new(&spec, 1).unwrap();
        let exports = exports_of(&spec, &stack, 4096, 3);
        assert!(exports[1].name == "1" && exports[1].description.starts_with("disk 2 of 3 of three-way"));
        assert_eq!(exports_of(&spec, &stack, 4096, 1)[0].description, spec.title.en);
    }

    #[test]
    fn the_kernels_connection_outlives_a_power_cut_in_the_middle_of_a_write() {
        let folder = tempfile::tempdir().unwrap();
        let mut serving = Serving::start(&ServeRequest {
            spec: kurabe_sim::load_device("ideal-ram-disk").unwrap(),
            address: Address::Socket(folder.path().join("s")),
            control: None,
            data: DataPlace::Memory,
            log: None,
            settings: ServeSettings {
                spin_ns: 0,
                round_trip_ns: Some(0),
                power: Some(PowerRules::default()),
                ..ServeSettings::default()
            },
        })
        .unwrap();
        let mut kernel = Kernel::of(&serving);
        kernel.ask(WRITE, 1, 0, 4096);
        kernel.0.write_all(&[1; 4096]).unwrap();
        assert_eq!(kernel.answer(1), 0);
        kernel.ask(FLUSH, 2, 0, 0);
        assert_eq!(kernel.answer(2), 0);
        // Half of a large write has arrived when the power is cut.
        kernel.ask(WRITE, 3, 1 << 20, 1 << 20);
        kernel.0.write_all(&[2; 512 << 10]).unwrap();
        while serving.figures().unwrap().data_bytes < 512 << 10 {
            std::thread::sleep(Duration::from_millis(1));
        }
        serving.controls.ask(HubCommand::Cut).unwrap().unwrap();
        assert_eq!(kernel.answer(3), IO_ERROR);
        kernel.0.write_all(&[2; 512 << 10]).unwrap();
        assert_eq!(kernel.read(4, 0), Err(IO_ERROR));
        kernel.ask(WRITE, 5, 4096, 64 << 10);
        kernel.0.write_all(&[3; 64 << 10]).unwrap();
        assert_eq!(kernel.answer(5), IO_ERROR);
        serving.controls.ask(HubCommand::PowerOn).unwrap().unwrap();
        // Flushed data is present, and nothing written after the cut.
        assert_eq!(kernel.read(6, 0), Ok(1));
        assert_eq!(kernel.read(7, 4096), Ok(0));
        assert_eq!(kernel.read(8, (2 << 20) - 4096), Ok(0));
        // The kernel's connection does not count as a client of the socket.
        let figures = serving.figures().unwrap();
        assert_eq!((figures.clients, figures.connections, figures.cuts.len()), (0, 0, 1));
        serving.end();
        serving.wait().unwrap();
    }
}
