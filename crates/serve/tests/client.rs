//! A small NBD client, which sends one request at a time or arbitrary bytes.

use kurabe_serve::{Address, DataPlace, ServeRequest, ServeSettings, Serving};
use kurabe_sim::{DeviceSpec, load_device};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

pub const READ: u16 = 0;
pub const WRITE: u16 = 1;
pub const FLUSH: u16 = 3;
pub const TRIM: u16 = 4;
pub const WRITE_ZEROES: u16 = 6;
pub const FUA: u16 = 1;

/// A server with a socket in its own folder.
pub struct Server {
    pub serving: Serving,
    pub socket: PathBuf,
    pub folder: TempDir,
}

/// Returns a request to serve an unchanged model from memory.
pub fn request(model: &str, socket: &Path) -> ServeRequest {
    ServeRequest {
        spec: load_device(model).unwrap(),
        address: Address::Socket(socket.to_owned()),
        control: None,
        data: DataPlace::Memory,
        log: None,
        settings: ServeSettings { round_trip_ns: Some(0), ..ServeSettings::default() },
    }
}

/// Returns a disk that takes almost no time.
pub fn quick() -> DeviceSpec {
    let mut spec = load_device("ideal-ram-disk").unwrap();
    spec.set("memory.capacity", "1GiB").unwrap();
    spec
}

/// Serves a fast disk, with a changed request.
pub fn serve(change: impl FnOnce(&mut ServeRequest)) -> Server {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s.sock");
    let mut request = request("ideal-ram-disk", &socket);
    request.spec = quick();
    change(&mut request);
    Server { serving: Serving::start(&request).unwrap(), socket, folder }
}

/// A client that has chosen an export in the old way, without structured replies.
pub struct Client {
    pub stream: UnixStream,
    /// Transmission flags of the export.
    pub flags: u16,
    cookie: u64,
}

impl Client {
    pub fn connect(socket: &Path) -> io::Result<Self> {
        Self::of_export(socket, "")
    }

    pub fn of_export(socket: &Path, name: &str) -> io::Result<Self> {
        let mut stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        stream.read_exact(&mut [0; 18])?;
        stream.write_all(&3u32.to_be_bytes())?;
        let length = (name.len() as u32).to_be_bytes();
        stream.write_all(&[&b"IHAVEOPT"[..], &1u32.to_be_bytes(), &length, name.as_bytes()].concat())?;
        // Size and transmission flags.
        let mut chosen = [0; 10];
        stream.read_exact(&mut chosen)?;
        Ok(Self { stream, flags: u16::from_be_bytes([chosen[8], chosen[9]]), cookie: 0 })
    }

    /// Sends a request and returns its cookie.
    pub fn send(
        &mut self,
        command: u16,
        flags: u16,
        offset: u64,
        length: u32,
        payload: &[u8],
    ) -> io::Result<u64> {
        self.cookie += 1;
        let (flags, command) = (flags.to_be_bytes(), command.to_be_bytes());
        let (cookie, offset, length) =
            (self.cookie.to_be_bytes(), offset.to_be_bytes(), length.to_be_bytes());
        let magic = 0x2560_9513u32.to_be_bytes();
        let head = [&magic[..], &flags, &command, &cookie, &offset, &length].concat();
        self.stream.write_all(&[&head, payload].concat())?;
        Ok(self.cookie)
    }

    /// Receives the next reply: its cookie and its error, or 0.
    pub fn reply(&mut self) -> io::Result<(u64, u32)> {
        let mut reply = [0; 16];
        self.stream.read_exact(&mut reply)?;
        assert_eq!(reply[..4], 0x6744_6698u32.to_be_bytes(), "no simple reply");
        let (error, cookie) = (reply[4..8].try_into().unwrap(), reply[8..].try_into().unwrap());
        Ok((u64::from_be_bytes(cookie), u32::from_be_bytes(error)))
    }

    fn ask(&mut self, command: u16, flags: u16, offset: u64, length: u32, payload: &[u8]) -> io::Result<()> {
        let cookie = self.send(command, flags, offset, length, payload)?;
        match self.reply()? {
            (answered, 0) if answered == cookie => Ok(()),
            (_, error) => Err(io::Error::from_raw_os_error(error as i32)),
        }
    }

    pub fn read(&mut self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        self.ask(READ, 0, offset, length as u32, &[])?;
        let mut bytes = vec![0; length];
        self.stream.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    pub fn write(&mut self, offset: u64, bytes: &[u8], flags: u16) -> io::Result<()> {
        self.ask(WRITE, flags, offset, bytes.len() as u32, bytes)
    }

    pub fn flush(&mut self) -> io::Result<()> {
        self.ask(FLUSH, 0, 0, 0, &[])
    }

    pub fn zero(&mut self, command: u16, offset: u64, length: u32) -> io::Result<()> {
        self.ask(command, 0, offset, length, &[])
    }
}

/// Waits until another thread makes a condition true.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..3000 {
        if holds() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{what}: not within 30 s");
}
