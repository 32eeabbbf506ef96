//! The phases of a command that is recorded, as it reports them.
//!
//! The model: an abstract socket, so that no file is left and the command can replace none. Each report has a thread and a time
//! limit, so one that is never finished holds up nothing. Reports of other users are not heard.

use kurabe_core::{Error, ErrorKind, Result, text};
use kurabe_host::random_bytes;
use kurabe_serve::RequestLog;
use rustix::net::sockopt::socket_peercred;
use std::io::{Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// The variable by which a command finds the socket: its abstract name.
const MARKS: &str = "KURABE_MARKS";
/// The longest name of a phase.
const MARK_BYTES: u64 = 200;
/// How long a report may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// Reports at a time; more are refused.
const MOST_REPORTS: usize = 64;

/// Hears the phases of a command.
pub(crate) struct Marks {
    name: String,
    heard: Arc<Heard>,
    listening: JoinHandle<()>,
}

struct Heard {
    log: Arc<RequestLog>,
    phases: Mutex<Vec<(String, u64)>>,
    reports: AtomicUsize,
    is_ending: AtomicBool,
}

impl Marks {
    /// Listens from now on.
    pub(crate) fn listen(log: &Arc<RequestLog>) -> Result<Self> {
        let name = format!("@kurabe-marks-{:016x}", u64::from_ne_bytes(random_bytes()?));
        let listener = address(&name).and_then(|address| UnixListener::bind_addr(&address));
        let listener = listener.map_err(|error| {
            Error::os(text!("cannot listen for marks", "フェーズの目印を受け付けられません"), &error)
        })?;
        let heard = Arc::new(Heard {
            log: Arc::clone(log),
            phases: Mutex::default(),
            reports: AtomicUsize::new(0),
            is_ending: AtomicBool::new(false),
        });
        let hears = Arc::clone(&heard);
        let hear = move || {
            for stream in listener.incoming().flatten() {
                if hears.is_ending.load(Ordering::Acquire) {
                    return;
                }
                hears.hear(stream);
            }
        };
        let listening = Builder::new().spawn(hear).map_err(|error| Error::no_thread(&error))?;
        Ok(Self { name, heard, listening })
    }

    /// What a command finds it by.
    pub(crate) fn variable(&self) -> (&'static str, &str) {
        (MARKS, &self.name)
    }

    /// What was heard.
    pub(crate) fn end(self) -> Vec<(String, u64)> {
        self.heard.is_ending.store(true, Ordering::Release);
        if connect(&self.name).is_ok() {
            let _ = self.listening.join();
        }
        std::mem::take(&mut *self.heard.phases.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Heard {
    /// Hears one report in a thread; a machine without threads hears none.
    fn hear(self: &Arc<Self>, stream: UnixStream) {
        let own = rustix::process::geteuid();
        let is_heard = socket_peercred(&stream).is_ok_and(|peer| peer.uid == own || peer.uid.is_root());
        if !is_heard || self.reports.fetch_add(1, Ordering::AcqRel) >= MOST_REPORTS {
            if is_heard {
                self.reports.fetch_sub(1, Ordering::AcqRel);
            }
            return;
        }
        let heard = Arc::clone(self);
        let read = move || {
            let mut name = String::new();
            let limited = stream.set_read_timeout(Some(PATIENCE));
            let read = limited.and_then(|()| (&stream).take(MARK_BYTES).read_to_string(&mut name));
            if read.is_ok() && !name.is_empty() {
                let at_ns = heard.log.now_ns();
                heard.phases.lock().unwrap_or_else(PoisonError::into_inner).push((name, at_ns));
            }
            heard.reports.fetch_sub(1, Ordering::AcqRel);
        };
        if Builder::new().spawn(read).is_err() {
            self.reports.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

/// The address of an abstract name, which is written with an `@` before it, as elsewhere.
fn address(name: &str) -> std::io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(name.strip_prefix('@').ok_or(std::io::ErrorKind::InvalidInput)?)
}

fn connect(name: &str) -> std::io::Result<UnixStream> {
    UnixStream::connect_addr(&address(name)?)
}

/// Tells whoever records this command that a phase begins; nothing happens where nobody does.
///
/// # Errors
/// When whoever records cannot be told.
pub fn mark(name: &str) -> Result<()> {
    let Some(socket) = std::env::var_os(MARKS) else { return Ok(()) };
    let cannot = text!("cannot tell the phase {name}", "フェーズ {name} を知らせられません");
    let Some(socket) = socket.to_str() else { return Err(ErrorKind::Usage.error(cannot)) };
    let marked = connect(socket).and_then(|mut stream| {
        stream.write_all(name.as_bytes())?;
        stream.shutdown(std::net::Shutdown::Write)?;
        // It is noted when the other side closes.
        stream.read(&mut [0]).map(|_| ())
    });
    marked.map_err(|error| Error::os(cannot, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_that_is_never_finished_holds_up_no_other_and_no_end() {
        let marks = Marks::listen(&Arc::new(RequestLog::default())).unwrap();
        let mut open = connect(&marks.name).unwrap();
        open.write_all(b"never").unwrap();
        let mut other = connect(&marks.name).unwrap();
        other.write_all(b"second").unwrap();
        other.shutdown(std::net::Shutdown::Write).unwrap();
        let _ = other.read(&mut [0]);
        let names: Vec<String> = marks.end().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["second"]);
    }

    #[test]
    fn reports_beyond_the_most_are_refused_and_the_rest_is_heard() {
        let marks = Marks::listen(&Arc::new(RequestLog::default())).unwrap();
        let open: Vec<UnixStream> = (0..MOST_REPORTS).map(|_| connect(&marks.name).unwrap()).collect();
        let mut one_more = connect(&marks.name).unwrap();
        one_more.set_read_timeout(Some(PATIENCE)).unwrap();
        assert_eq!(one_more.read(&mut [0]).unwrap(), 0, "closed by the other side");
        drop(open);
        assert!(marks.end().is_empty());
    }
}
