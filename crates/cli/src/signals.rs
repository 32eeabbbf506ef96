//! Ctrl-C and its relatives: once stops and keeps, twice ends at once, whatever hangs.
//!
//! The model: a thread of its own hears the signals and never waits for a device, a lock that is held over I/O, or a
//! terminal. It counts them: those that come together are one wish. At the second wish other threads take away programs and
//! test files; the process does not wait for them longer than [`FAREWELL`], because storage that hangs is why people press
//! twice. What they did not remove, the store still names, and the next start removes it.
//!
//! A process with a thread that waits for a device in the kernel cannot end: whoever waits for it, waits for the device. So the
//! process that the user started only supervises a second one that does the work ([`supervise`]). It passes signals on and ends
//! with the same exit code, also where the other one has told its code and cannot end.

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
/// Signals that come so soon after another say the same: `timeout` sends one to the process and one to its group, and a
/// terminal that is closed or a finger that slips sends several.
const ONE_WISH: Duration = Duration::from_secs(1);
/// How long the second wish waits for test files to go: removing one takes milliseconds where storage answers, and
/// longer than a second seems to hang to who pressed the keys.
const FAREWELL: Duration = Duration::from_secs(1);

/// How long the supervising process waits for the other one to end, after that has said that it does and after the second wish.
/// Longer than [`FAREWELL`].
const SUPERVISORS_FAREWELL: Duration = Duration::from_millis(1500);

/// The pipe on which the process that works reports its exit code to the one that supervises it.
pub struct Supervisor(PipeWriter);

impl Supervisor {
    /// Reports the exit code. Nothing may be printed afterwards.
    pub fn ends_with(mut self, code: u8) -> ExitCode {
        let _ = io::stdout().flush();
        leave_streams();
        // A supervisor that is gone waits for nothing.
        let _ = self.0.write_all(&[code]);
        // The system closes it when this process has ended, which the supervisor sees.
        std::mem::forget(self);
        ExitCode::from(code)
    }
}

/// A process that supervises, or the one that works.
pub enum ProcessRole {
    /// The process that the user started, which waited for the other one, and its exit code.
    Supervised(ExitCode),
    /// The process that works.
    Works(Option<Supervisor>),
}

/// Has a second process do the rest of the work, and waits for it in the one that the user started. To be called while there is
/// one thread.
///
/// # Errors
/// When the operating system gives no pipe or does not let the process listen for signals.
pub fn supervise() -> Result<ProcessRole> {
    let no_pipe = |error| Error::os(text!("cannot make a pipe", "パイプを作れません"), &error);
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

/// Passes signals on to the process that works, and waits until it has ended or cannot end.
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
            if ending.is_told {
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
                // All its descriptors are closed.
                _ => return ended(worker),
            }
        }
        for ((signal, hears), _) in heard.iter_mut().zip(&ready[1..]).filter(|(_, is_ready)| **is_ready) {
            let _ = hears.read(&mut [0; 64]);
            if !wishes.is_new() {
                continue;
            }
            // A terminal has sent it to both processes; the worker counts the two as one.
            if let Some(signal) = Signal::from_named_raw(*signal) {
                let _ = kill_process(worker, signal);
            }
            if wishes.count >= 2 && ending.is_none() {
                ending = Some(LastCode::now((128 + *signal) as u8, false));
            }
        }
    }
}

/// The exit code that the supervising process returns at a deadline, even if the other process has not ended.
struct LastCode {
    code: u8,
    until: Instant,
    /// Whether the other process reported this code. Otherwise it was told to end by a signal, and prints itself that it may stay.
    is_told: bool,
}

impl LastCode {
    fn now(code: u8, is_told: bool) -> Self {
        Self { code, until: Instant::now() + SUPERVISORS_FAREWELL, is_told }
    }
}

/// Waits for a process that is about to end.
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
    let text = text!("cannot wait for the process that works", "処理を行うプロセスの終了を待てません");
    Error::os(text, &error.into())
}

fn say_stays(worker: Pid) {
    let process = worker.as_raw_nonzero();
    let words = text!(
        "kurabe: storage does not answer; the system keeps process {process} until it does",
        "kurabe: ストレージが応答しません。応答があるまでプロセス {process} は残ります"
    );
    say(words.get(lang()));
}

/// The exit code of a process that ended. Where a signal has ended it, this process ends in the same way, or as a shell has it.
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
        "kurabe: process {process}, which did the work, was ended by signal {signal}",
        "kurabe: 処理を行っていたプロセス {process} はシグナル {signal} で終了しました"
    );
    say(words.get(lang()));
    (128 + signal) as u8
}

/// Has a file that becomes too large (`ulimit -f`) fail with an error that can be told, instead of ending kurabe on the
/// spot. A handler that does nothing, because being ignored would be passed on to the programs of a profile.
///
/// # Errors
/// When the operating system does not let it.
pub fn survive_size_limit() -> Result<()> {
    signal_hook::flag::register(SIGXFSZ, Arc::default()).map(|_| ()).map_err(|error| cannot_listen(&error))
}

/// Starts to listen: the handle is stopped at the first wish and abandoned at the second.
///
/// # Errors
/// When the operating system does not let it.
pub fn listen() -> Result<RunHandle> {
    listen_as(true)
}

/// The same; one of several processes that hear a signal together may leave it to another to say so.
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
        // Nothing that was measured waits here for its turn.
        kurabe_store::abandon_waits();
        if !speaks {
            return;
        }
        aside(|| {
            say(t(
                "\nkurabe: stopping; what was measured is kept (once more ends at once)",
                "\nkurabe: 停止します。測定済みの結果は残ります(もう一度で即時終了)",
            ));
        });
    })?;
    Ok(handle)
}

/// Starts to listen for what ends a server: `end` is called at the first wish; the second ends the process, whose sockets
/// the next start removes.
///
/// # Errors
/// When the operating system does not let it.
pub fn listen_for_end(end: impl Fn() + Send + 'static) -> Result<()> {
    let mut is_ending = false;
    hear(move |signal| {
        if std::mem::replace(&mut is_ending, true) {
            exit(128 + signal);
        }
        end();
    })
}

/// Counts signals, of which those that come together are one wish.
#[derive(Default)]
struct Wishes {
    last: Option<Instant>,
    count: u32,
}

impl Wishes {
    /// Whether a signal that has just come is a wish of its own.
    fn is_new(&mut self) -> bool {
        let is_new = self.last.is_none_or(|last| last.elapsed() >= ONE_WISH);
        if is_new {
            self.last = Some(Instant::now());
            self.count += 1;
        }
        is_new
    }
}

/// Tells each wish from now on, with the signal that it came by.
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

/// Ends the process without waiting for any thread: what they did last is in the store, or is not kept.
fn end_at_once(handle: &RunHandle, signal: i32) -> ! {
    let until = Instant::now() + FAREWELL;
    handle.kill_programs();
    let (handle, (done, is_done)) = (handle.clone(), mpsc::channel());
    let is_said = done.clone();
    // Nobody listens any more to what took too long.
    aside(move || {
        handle.remove_test_files();
        let _ = done.send(());
    });
    aside(move || {
        let process = std::process::id();
        let words = text!(
            "kurabe: ending at once; where storage does not answer, the system keeps process {process} until it does",
            "kurabe: 即時終了します。ストレージが応答しない場合、応答があるまでプロセス {process} は残ります"
        );
        say(words.get(lang()));
        let _ = is_said.send(());
    });
    for _ in 0..2 {
        // Where no thread could be started, this returns at once.
        let _ = is_done.recv_timeout(until.saturating_duration_since(Instant::now()));
    }
    leave_streams();
    exit(128 + signal)
}

/// Closes standard output and error: a process that cannot end keeps its descriptors, and who reads the other end of a pipe would
/// wait for it.
fn leave_streams() {
    if let Ok(nowhere) = OpenOptions::new().write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(&nowhere);
        let _ = rustix::stdio::dup2_stderr(&nowhere);
    }
}

/// Does what may hang in a thread of its own. Where the system gives none, it is left undone.
fn aside(work: impl FnOnce() + Send + 'static) {
    let _ = Builder::new().spawn(work);
}

fn cannot_listen(error: &io::Error) -> Error {
    Error::os(text!("cannot listen for signals", "シグナルを待ち受けられません"), error)
}
