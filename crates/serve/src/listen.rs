//! Sockets that clients connect to: one that only its owner can access, or a local port.

use kurabe_core::{Error, ErrorKind, Result, mention::SOCKET, shown, text};
use rustix::fd::OwnedFd;
use rustix::fs::{FileType, Mode, Stat};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// Longest queue of clients that wait to be accepted.
const BACKLOG: i32 = 16;
const OWNER_ALONE: Mode = Mode::RUSR.union(Mode::WUSR);

/// The user's choice of the mechanism that provides block devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttachBy {
    /// The kernel's nbd driver if it is available with enough devices, otherwise FUSE.
    Auto,
    /// The kernel's nbd driver.
    Nbd,
    /// FUSE and loop devices.
    Fuse,
    /// FUSE only. Its files serve as devices where the user may not create any.
    Files,
}

/// Address that clients connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// Socket in the file system.
    Socket(PathBuf),
    /// Port of 127.0.0.1; 0 is any free port.
    Port(u16),
    /// Block devices of this machine; no clients connect.
    Devices {
        /// Folder for the state of the attachments.
        folder: PathBuf,
        /// Mechanism that provides them.
        by: AttachBy,
    },
}

/// A listening socket, whose file is removed with it.
#[derive(Debug)]
pub(crate) struct Doorway {
    pub(crate) socket: OwnedFd,
    /// Path of the socket file, with its metadata when it was created.
    named: Option<(PathBuf, Stat)>,
    pub(crate) port: Option<u16>,
}

impl Doorway {
    /// Opens a local port.
    ///
    /// # Errors
    /// If the operating system refuses.
    pub(crate) fn at_port(port: u16) -> Result<Self> {
        let opened = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).and_then(|listener| {
            listener.set_nonblocking(true)?;
            let port = listener.local_addr()?.port();
            Ok(Self { socket: listener.into(), named: None, port: Some(port) })
        });
        opened.map_err(|error| {
            Error::os(text!("cannot listen on port {port}", "ポート {port} で待ち受けられません"), &error)
                .remedy(text!(
                    "choose another port, or {SOCKET} PATH",
                    "別のポートか、{SOCKET} パス を指定してください"
                ))
        })
    }

    /// Opens a socket in the file system.
    ///
    /// # Errors
    /// If the path exists, or the operating system refuses.
    pub(crate) fn at_path(path: &Path) -> Result<Self> {
        let shown = shown::path(path);
        let cannot = |error: io::Error| {
            let message = text!("cannot listen at {shown}", "{shown} で待ち受けられません");
            Error::os(message, &error).remedy(text!(
                "name a socket in a folder that you can write to; its path can have at most 107 bytes",
                "書き込めるフォルダーのソケット名を指定してください(パスは 107 バイトまで)"
            ))
        };
        if path.symlink_metadata().is_ok() {
            return Err(already_exists(path));
        }
        let listen = || -> io::Result<(OwnedFd, Stat)> {
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
            // The file of a socket gets the mode of the socket, so no other user can connect before
            // the chmod.
            rustix::fs::fchmod(&socket, OWNER_ALONE)?;
            rustix::net::bind(&socket, &SocketAddrUnix::new(path)?)?;
            let facts = rustix::fs::lstat(path)?;
            rustix::fs::chmod(path, OWNER_ALONE)?;
            rustix::net::listen(&socket, BACKLOG)?;
            Ok((socket, facts))
        };
        let (socket, facts) = listen().map_err(cannot)?;
        Ok(Self { socket, named: Some((path.to_owned(), facts)), port: None })
    }

    /// Sets the options of an accepted connection.
    pub(crate) fn prepare(&self, socket: &OwnedFd) {
        if self.port.is_some() {
            // Small answers must not be delayed.
            let _ = rustix::net::sockopt::set_tcp_nodelay(socket, true);
        }
    }
}

impl Drop for Doorway {
    fn drop(&mut self) {
        let Some((path, facts)) = &self.named else { return };
        // Only if the file is still the one that was created.
        if rustix::fs::lstat(path).is_ok_and(|now| (now.st_dev, now.st_ino) == (facts.st_dev, facts.st_ino)) {
            let _ = rustix::fs::unlink(path);
        }
    }
}

/// Returns the path of the control socket that belongs to a socket.
pub fn control_path(socket: &Path) -> PathBuf {
    let mut name = socket.as_os_str().to_owned();
    name.push(".control");
    name.into()
}

/// Removes the sockets of a killed server. They are recognized by the control socket that always
/// exists with the other, and by the lack of a listener.
///
/// # Errors
/// If another file has one of the names.
pub(crate) fn make_way(socket: Option<&Path>, control: Option<&Path>) -> Result<()> {
    let facts = |path: &Path| rustix::fs::lstat(path).ok();
    let taken: Vec<&Path> =
        [socket, control].into_iter().flatten().filter(|path| facts(path).is_some()).collect();
    let has_control = control.is_some_and(|path| taken.contains(&path));
    let is_left = |path: &Path| has_control && facts(path).is_some_and(|facts| is_dead(path, &facts));
    if let Some(path) = taken.iter().find(|path| !is_left(path)) {
        return Err(already_exists(path));
    }
    taken.into_iter().try_for_each(|path| {
        rustix::fs::unlink(path).map_err(|error| {
            let shown = shown::path(path);
            Error::os(text!("cannot remove {shown}", "{shown} を削除できません"), &error.into())
        })
    })
}

fn already_exists(path: &Path) -> Error {
    let shown = shown::path(path);
    ErrorKind::Refused.error(text!("{shown} already exists", "{shown} はすでにあります")).remedy(text!(
        "choose another name; the socket of a killed kurabe process is reused automatically",
        "別の名前を指定してください。強制終了した kurabe のソケットであれば自動で引き継ぎます"
    ))
}

/// Returns whether the file is a socket as kurabe creates them, belongs to this user and has no
/// listener.
fn is_dead(path: &Path, facts: &Stat) -> bool {
    FileType::from_raw_mode(facts.st_mode) == FileType::Socket
        && Mode::from_raw_mode(facts.st_mode) == OWNER_ALONE
        && facts.st_uid == rustix::process::geteuid().as_raw()
        && UnixStream::connect(path).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    fn open(path: &Path) -> Result<Doorway, ErrorKind> {
        Doorway::at_path(path).map_err(|error| error.kind())
    }

    #[test]
    fn a_socket_is_its_owners_alone_and_goes_with_its_server() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.sock");
        let listener = open(&path).unwrap();
        assert_eq!(path.symlink_metadata().unwrap().mode() & 0o7777, 0o600);
        // The socket has a listener.
        assert_eq!(open(&path).unwrap_err(), ErrorKind::Refused);
        drop(listener);
        assert!(!path.exists());
    }

    #[test]
    fn what_a_kill_left_is_taken_over_and_nothing_else_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.sock");
        let control = control_path(&path);
        let way = || make_way(Some(&path), Some(&control)).map_err(|error| error.kind());
        for named in [&control, &path] {
            let mut killed = open(named).unwrap();
            killed.named = None;
        }
        assert!(path.exists() && control.exists());
        way().unwrap();
        assert!(!path.exists() && !control.exists());
        let again = open(&path).unwrap();
        // The socket has a listener, or there is no control socket to prove that it is kurabe's.
        assert_eq!(way().unwrap_err(), ErrorKind::Refused);
        // Another file with its name is not removed.
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "precious").unwrap();
        drop(again);
        assert_eq!(way().unwrap_err(), ErrorKind::Refused);
        assert_eq!(open(&path).unwrap_err(), ErrorKind::Refused);
        assert_eq!(std::fs::read(&path).unwrap(), b"precious");
        // Neither is another program's dead socket.
        let other = folder.path().join("other.sock");
        drop(std::os::unix::net::UnixListener::bind(&other).unwrap());
        rustix::fs::chmod(&other, OWNER_ALONE).unwrap();
        let way = make_way(Some(&other), Some(&control_path(&other)));
        assert_eq!(way.unwrap_err().kind(), ErrorKind::Refused);
        assert!(other.exists());
    }

    #[test]
    fn a_port_is_of_this_machine_alone() {
        let listener = Doorway::at_port(0).unwrap();
        let address = TcpListener::from(listener.socket.try_clone().unwrap()).local_addr().unwrap();
        assert!(address.ip().is_loopback() && Some(address.port()) == listener.port);
    }
}
