//! Handles Ctrl-C and similar signals: the first stops the run and stores the results; the second
//! exits immediately, even if storage hangs.
//!
//! A dedicated thread receives the signals. It never waits for a device, for a lock that is held
//! during I/O, or for a terminal. It counts signals that arrive together as one request. On the
//! second request, other threads kill programs and remove test files. The process waits for them at
//! most [`SHUTDOWN_LIMIT`], because users press Ctrl-C twice when storage hangs. The store still lists
//! the files that remain, and the next start removes them.
//!
//! A process cannot exit while one of its threads waits for a device in the kernel, and neither can
//! a process that waits for it. Therefore the process that the user started only supervises a
//! second process that does the work ([`supervise`]). It passes signals on and exits with the same
//! exit code, even if the worker reported its code and cannot exit.

use crate::lang::{lang, t};
use crate::output::say;
use kurabe_core::{Error, Result, text};
use kurabe_lab::RunHandle;
use kurabe_program::{Forked, fork_worker};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, waitpid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level::{emulate_default_handler, exit};
use std::fs::OpenOptions;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::Builder;
use std::time::{Duration, Instant};

const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];
/// Signals within this time count as one request. `timeout` signals both the process and its group,
/// and a closing terminal or a bouncing key sends several.
const ONE_WISH: Duration = Duration::from_secs(1);
/// How long the second request waits for test files to be removed. Removal takes milliseconds if
/// storage responds, and a user takes a longer wait than a second for a hang.
const SHUTDOWN_LIMIT: Duration = Duration::from_secs(1);

/// How long the supervisor waits for the worker to exit, after the worker has reported its exit
/// code or after the second request. Longer than [`SHUTDOWN_LIMIT`].
const SUPERVISOR_SHUTDOWN_LIMIT: Duration = Duration::from_millis(1500);

/// The pipe on which the worker reports its exit code to the supervisor.
pub struct Supervisor(PipeWriter);

impl Supervisor {
    /// Reports the exit code. Nothing may be printed afterwards.
    pub fn ends_with(mut self, code: u8) -> ExitCode {
        let _ = io::stdout().flush();
        leave_streams();
        // If the supervisor has exited, it does not need the code.
        let _ = self.0.write_all(&[code]);
        // The kernel closes the pipe when this process has exited, which the supervisor notices.
        std::mem::forget(self);
        ExitCode::from(code)
    }
}

/// Role of this process after [`supervise`].
pub enum ProcessRole {
    /// The supervisor, whose worker has ended, with its exit code.
    Supervised(ExitCode),
    /// The worker, with its pipe to the supervisor, if any.
    Works(Option<Supervisor>),
}

/// Forks a worker that does the rest of the work, and waits for it in the process that the user
/// started. Must be called while the process has a single thread.
///
/// # Errors
/// When the pipe cannot be created or the signals cannot be handled.
pub fn supervise() -> Result<ProcessRole> {
    let no_pipe = |error| Error::os(text!("cannot create a pipe", "パイプを作れません"), &error);
    let (reports, tells) = io::pipe().map_err(no_pipe)?;
    let worker = match fork_worker() {
        Forked::Parent(worker) => worker,
        Forked::Worker => return Ok(ProcessRole::Works(Some(Supervisor(tells)))),
        Forked::Alone => return Ok(ProcessRole::Works(None)),
    };
    drop(tells);
    let followed = follow(worker, reports);
    if followed.is_err() {
        let _ = kill_process(worker, Signal::KILL);
    }
    followed.map(|code| ProcessRole::Supervised(ExitCode::from(code)))
}

/// Passes signals on to the worker, and waits until it has exited or cannot exit. Returns its exit
/// code.
fn follow(worker: Pid, mut reports: PipeReader) -> Result<u8> {
    let heard = SIGNALS.map(|signal| -> io::Result<(i32, UnixStream)> {
        let (hears, tells) = UnixStream::pair()?;
        signal_hook::low_level::pipe::register(signal, tells)?;
        Ok((signal, hears))
    });
    let mut heard =
        heard.into_iter().collect::<io::Result<Vec<_>>>().map_err(|error| cannot_listen(&error))?;
    let mut wishes = Wishes::default();
    let mut ending: Option<LastCode> = None;
    loop {
        let timeout = ending.as_ref().map(|ending| ending.until.saturating_duration_since(Instant::now()));
        if let (Some(ending), Some(Duration::ZERO)) = (&ending, timeout) {
            if ending.is_reported {
                say_stays(worker);
            }
            return Ok(ending.code);
        }
        let mut ready = vec![PollFd::new(&reports, PollFlags::IN)];
        ready.extend(heard.iter().map(|(_, hears)| PollFd::new(hears, PollFlags::IN)));
        let timeout = timeout.and_then(|timeout| timeout.try_into().ok());
        match poll(&mut ready, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(cannot_follow(error)),
        }
        let ready: Vec<bool> = ready.iter().map(|one| !one.revents().is_empty()).collect();
        if ready[0] {
            let mut code = [0];
            match reports.read(&mut code) {
                Ok(1) => ending = Some(LastCode::now(code[0], true)),
                // The worker has exited and its end of the pipe is closed.
                _ => return ended(worker),
            }
        }
        for ((signal, hears), _) in heard.iter_mut().zip(&ready[1..]).filter(|(_, is_ready)| **is_ready) {
            let _ = hears.read(&mut [0; 64]);
            if !wishes.is_new() {
                continue;
            }
            // A terminal has already sent the signal to both processes; the worker counts the two
            // as one.
            if let Some(signal) = Signal::from_named_raw(*signal) {
                let _ = kill_process(worker, signal);
            }
            if wishes.count >= 2 && ending.is_none() {
                ending = Some(LastCode::now((128 + *signal) as u8, false));
            }
        }
    }
}

/// Exit code that the supervisor returns at a deadline, even if the worker has not exited.
struct LastCode {
    code: u8,
    until: Instant,
    /// Whether the worker reported this code. Otherwise it was asked to end by a signal, and prints
    /// the notice itself.
    is_reported: bool,
}

impl LastCode {
    fn now(code: u8, is_reported: bool) -> Self {
        Self { code, until: Instant::now() + SUPERVISOR_SHUTDOWN_LIMIT, is_reported }
    }
}

/// Waits for a worker that is about to exit, and returns its exit code.
fn ended(worker: Pid) -> Result<u8> {
    loop {
        match waitpid(Some(worker), WaitOptions::empty()) {
            Ok(Some((_, status))) => return Ok(code_of(worker, status)),
            Ok(None) | Err(Errno::INTR) => {}
            Err(error) => return Err(cannot_follow(error)),
        }
    }
}

fn cannot_follow(error: Errno) -> Error {
    let text = text!("cannot wait for the worker process", "ワーカープロセスの終了を待てません");
    Error::os(text, &error.into())
}

fn say_stays(worker: Pid) {
    let process = worker.as_raw_nonzero();
    let words = text!(
        "kurabe: storage does not respond; process {process} remains until it does",
        "kurabe: ストレージが応答しません。応答があるまでプロセス {process} は残ります"
    );
    say(words.get(lang()));
}

/// Returns the exit code of a worker that has exited. If a signal killed it, this process dies of
/// the same signal, or returns the code that a shell would.
fn code_of(worker: Pid, status: WaitStatus) -> u8 {
    if let Some(code) = status.exit_status() {
        return code as u8;
    }
    let signal = status.terminating_signal().unwrap_or_default();
    if SIGNALS.contains(&signal) {
        let _ = emulate_default_handler(signal);
    }
    let process = worker.as_raw_nonzero();
    let words = text!(
        "kurabe: the worker process {process} was ended by signal {signal}",
        "kurabe: ワーカープロセス {process} はシグナル {signal} で終了しました"
    );
    say(words.get(lang()));
    (128 + signal) as u8
}

/// Makes a write beyond the file size limit (`ulimit -f`) fail with an error instead of killing
/// kurabe. The handler does nothing. The signal is not ignored, because programs of a profile would
/// inherit that.
///
/// # Errors
/// When the handler cannot be installed.
pub fn survive_size_limit() -> Result<()> {
    signal_hook::flag::register(SIGXFSZ, Arc::default()).map(|_| ()).map_err(|error| cannot_listen(&error))
}

/// Starts to listen for signals. The first request stops the handle, the second ends the process.
///
/// # Errors
/// When the signals cannot be handled.
pub fn listen() -> Result<RunHandle> {
    listen_as(true)
}

/// Like [`listen`], but prints a message only if `speaks`. Of several processes that receive the
/// same signal, one should print it.
///
/// # Errors
/// As [`listen`].
pub fn listen_as(speaks: bool) -> Result<RunHandle> {
    let handle = RunHandle::default();
    let signalled = handle.clone();
    hear(move |signal| {
        if signalled.is_stopped() {
            end_at_once(&signalled, signal);
        }
        signalled.stop();
        // Threads with results to store no longer wait for other writers of the store.
        kurabe_store::abandon_waits();
        if !speaks {
            return;
        }
        aside(|| {
            say(t(
                "\nkurabe: stopping; completed results are saved (interrupt again to exit immediately)",
                "\nkurabe: 停止します。測定済みの結果は残ります(もう一度で即時終了)",
            ));
        });
    })?;
    Ok(handle)
}

/// Starts to listen for signals that end a server. The first request calls `end`. The second exits
/// the process, and the next start removes its sockets.
///
/// # Errors
/// When the signals cannot be handled.
pub fn listen_for_end(end: impl Fn() + Send + 'static) -> Result<()> {
    let mut is_ending = false;
    hear(move |signal| {
        if std::mem::replace(&mut is_ending, true) {
            exit(128 + signal);
        }
        end();
    })
}

/// Counts signals, where those that arrive together are one request.
#[derive(Default)]
struct Wishes {
    last: Option<Instant>,
    count: u32,
}

impl Wishes {
    /// Registers a signal and returns whether it is a new request.
    fn is_new(&mut self) -> bool {
        let is_new = self.last.is_none_or(|last| last.elapsed() >= ONE_WISH);
        if is_new {
            self.last = Some(Instant::now());
            self.count += 1;
        }
        is_new
    }
}

/// Calls `wish` for each request from now on, with its signal.
fn hear(mut wish: impl FnMut(i32) + Send + 'static) -> Result<()> {
    let mut incoming = Signals::new(SIGNALS).map_err(|error| cannot_listen(&error))?;
    let listening = Builder::new().spawn(move || {
        let mut wishes = Wishes::default();
        for signal in incoming.forever() {
            if wishes.is_new() {
                wish(signal);
            }
        }
    });
    listening.map(|_| ()).map_err(|error| Error::no_thread(&error))
}

/// Exits the process without waiting for any thread. Their last results are either in the store
/// already or lost.
fn end_at_once(handle: &RunHandle, signal: i32) -> ! {
    let until = Instant::now() + SHUTDOWN_LIMIT;
    handle.kill_programs();
    let (handle, (done, is_done)) = (handle.clone(), mpsc::channel());
    let is_said = done.clone();
    // After the deadline, the receiver is gone, so errors of sending are ignored.
    aside(move || {
        handle.remove_test_files();
        let _ = done.send(());
    });
    aside(move || {
        let process = std::process::id();
        let words = text!(
            "kurabe: exiting immediately; if storage does not respond, process {process} remains until it does",
            "kurabe: 即時終了します。ストレージが応答しない場合、応答があるまでプロセス {process} は残ります"
        );
        say(words.get(lang()));
        let _ = is_said.send(());
    });
    for _ in 0..2 {
        // If a thread could not be started, this returns immediately.
        let _ = is_done.recv_timeout(until.saturating_duration_since(Instant::now()));
    }
    leave_streams();
    exit(128 + signal)
}

/// Redirects standard output and standard error to /dev/null. A process that cannot exit keeps its
/// descriptors open, and the reader of a pipe would wait for them to close.
fn leave_streams() {
    if let Ok(nowhere) = OpenOptions::new().write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(&nowhere);
        let _ = rustix::stdio::dup2_stderr(&nowhere);
    }
}

/// Runs work that may hang in a separate thread. If no thread can be started, the work is skipped.
fn aside(work: impl FnOnce() + Send + 'static) {
    let _ = Builder::new().spawn(work);
}

fn cannot_listen(error: &io::Error) -> Error {
    Error::os(text!("cannot listen for signals", "シグナルを待ち受けられません"), error)
}
