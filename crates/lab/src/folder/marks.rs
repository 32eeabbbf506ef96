//! Phases that a recorded command reports.
//!
//! Reports arrive at an abstract socket, so no file remains and the command cannot replace it. Each
//! report has its own thread and time limit, so an unfinished report blocks nothing. Reports of
//! other users are ignored.

use kurabe_core::{Error, ErrorKind, Result, text};
use kurabe_host::random_bytes;
use kurabe_program::{CallCounts, CallLog};
use kurabe_serve::RequestLog;
use rustix::net::sockopt::socket_peercred;
use std::io::{Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// Environment variable with the abstract name of the socket.
const MARKS: &str = "KURABE_MARKS";
/// Maximum length of a phase's name.
const MARK_BYTES: u64 = 200;
/// Time limit of a report.
const PATIENCE: Duration = Duration::from_secs(5);
/// Maximum number of concurrent reports. Others are refused.
const MOST_REPORTS: usize = 64;

/// Start of a phase.
#[derive(Debug)]
pub(crate) struct PhaseMark {
    /// Name of the phase.
    pub(crate) name: String,
    /// Time by the clock of the log.
    pub(crate) at_ns: u64,
    /// System calls until then, if they are counted.
    pub(crate) calls: CallCounts,
}

/// Receives the phases of a command.
pub(crate) struct Marks {
    name: String,
    heard: Arc<Heard>,
    listening: JoinHandle<()>,
}

struct Heard {
    log: Arc<RequestLog>,
    calls: Option<Arc<CallLog>>,
    phases: Mutex<Vec<PhaseMark>>,
    reports: AtomicUsize,
    is_ending: AtomicBool,
}

impl Marks {
    /// Starts listening. `calls` counts the system calls of the command.
    pub(crate) fn listen(log: &Arc<RequestLog>, calls: Option<&Arc<CallLog>>) -> Result<Self> {
        let name = format!("@kurabe-marks-{:016x}", u64::from_ne_bytes(random_bytes()?));
        let listener = address(&name).and_then(|address| UnixListener::bind_addr(&address));
        let listener = listener.map_err(|error| {
            Error::os(text!("cannot receive phase marks", "フェーズの目印を受け付けられません"), &error)
        })?;
        let heard = Arc::new(Heard {
            log: Arc::clone(log),
            calls: calls.map(Arc::clone),
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

    /// Returns the environment variable that the command needs.
    pub(crate) fn variable(&self) -> (&'static str, &str) {
        (MARKS, &self.name)
    }

    /// Stops listening and returns the phases.
    pub(crate) fn end(self) -> Vec<PhaseMark> {
        self.heard.is_ending.store(true, Ordering::Release);
        if connect(&self.name).is_ok() {
            let _ = self.listening.join();
        }
        std::mem::take(&mut *self.heard.phases.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Heard {
    /// Receives one report in a new thread. If no thread can be started, the report is ignored.
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
                let calls = heard.calls.as_ref().map(|calls| calls.counted()).unwrap_or_default();
                let mark = PhaseMark { name, at_ns: heard.log.now_ns(), calls };
                heard.phases.lock().unwrap_or_else(PoisonError::into_inner).push(mark);
            }
            heard.reports.fetch_sub(1, Ordering::AcqRel);
        };
        if Builder::new().spawn(read).is_err() {
            self.reports.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

/// Converts an abstract name with the customary leading `@` to an address.
fn address(name: &str) -> std::io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(name.strip_prefix('@').ok_or(std::io::ErrorKind::InvalidInput)?)
}

fn connect(name: &str) -> std::io::Result<UnixStream> {
    UnixStream::connect_addr(&address(name)?)
}

/// Reports the start of a phase to the process that records this command. Does nothing if there is
/// none.
///
/// # Errors
/// When the recording process cannot be reached.
pub fn mark(name: &str) -> Result<()> {
    let Some(socket) = std::env::var_os(MARKS) else { return Ok(()) };
    let cannot = text!("cannot report the phase {name}", "フェーズ {name} を知らせられません");
    let Some(socket) = socket.to_str() else { return Err(ErrorKind::Usage.error(cannot)) };
    let marked = connect(socket).and_then(|mut stream| {
        stream.write_all(name.as_bytes())?;
        stream.shutdown(std::net::Shutdown::Write)?;
        // The other side closes the connection after recording the phase.
        stream.read(&mut [0]).map(|_| ())
    });
    marked.map_err(|error| Error::os(cannot, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_that_is_never_finished_holds_up_no_other_and_no_end() {
        let marks = Marks::listen(&Arc::new(RequestLog::default()), None).unwrap();
        let mut open = connect(&marks.name).unwrap();
        open.write_all(b"never").unwrap();
        let mut other = connect(&marks.name).unwrap();
        other.write_all(b"second").unwrap();
        other.shutdown(std::net::Shutdown::Write).unwrap();
        let _ = other.read(&mut [0]);
        let names: Vec<String> = marks.end().into_iter().map(|mark| mark.name).collect();
        assert_eq!(names, ["second"]);
    }

    #[test]
    fn reports_beyond_the_most_are_refused_and_the_rest_is_heard() {
        let marks = Marks::listen(&Arc::new(RequestLog::default()), None).unwrap();
        let open: Vec<UnixStream> = (0..MOST_REPORTS).map(|_| connect(&marks.name).unwrap()).collect();
        let mut one_more = connect(&marks.name).unwrap();
        one_more.set_read_timeout(Some(PATIENCE)).unwrap();
        assert_eq!(one_more.read(&mut [0]).unwrap(), 0, "closed by the other side");
        drop(open);
        assert!(marks.end().is_empty());
    }
}
