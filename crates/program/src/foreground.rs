//! Runs a command of the user with the user's terminal, environment and privileges, and waits for
//! it.
//!
//! Signals from the terminal reach the command as well as kurabe. It ends with kurabe when that is
//! killed. The bytes written by it and by the children it waited for are read from the kernel after
//! its end, before its process id is released. All processes that it starts can be enclosed with
//! it; the thread that does so starts nothing else.

use crate::call_log::CallLog;
use crate::enclosure::Enclosure;
use crate::missing::is_missing;
use crate::platform::die_with_starter;
use crate::stop::Stop;
use crate::tracer::{TracedEnd, Tracer};
use kurabe_core::{Error, ErrorKind, Result, text};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process, pidfd_open, waitid};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// Interval at which an interrupt is checked while the command runs.
const LOOK: Duration = Duration::from_millis(20);
/// Interval in the first moments of a command whose end is not reported, so that short ones are not
/// prolonged.
const FIRST_LOOK: Duration = Duration::from_millis(1);

/// A command, with its folder and environment.
#[derive(Clone, Debug, Default)]
pub struct Foreground<'a> {
    /// Program and arguments.
    pub words: &'a [String],
    /// Folder in which it starts; kurabe's current folder if `None`.
    pub folder: Option<PathBuf>,
    /// Environment variables in addition to those of kurabe.
    pub environment: Vec<(&'static str, PathBuf)>,
    /// Receives the calls that concern files, if they are recorded. Only an enclosed command is
    /// recorded.
    pub calls: Option<Arc<CallLog>>,
    /// Whether it gets no input and its output is dropped, because kurabe's own output goes there.
    pub is_silent: bool,
}

/// Result of a command.
#[derive(Clone, Copy, Debug)]
pub struct ForegroundEnd {
    /// Exit status.
    pub status: ExitStatus,
    /// Time from before its start to its end, in ns.
    pub elapsed_ns: u64,
    /// Bytes of its write calls, including pipes and terminals; `None` if the kernel does not count
    /// them.
    pub asked_bytes: Option<u64>,
}

impl Foreground<'_> {
    /// Runs the command to its end. If the run is to stop, SIGTERM is sent once.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn run(&self, stop: &Stop) -> Result<ForegroundEnd> {
        self.run_in((None, None), stop, &mut |_| {})
    }

    /// Runs the command like [`Self::run`], and encloses all processes that it starts.
    ///
    /// `stops` is called repeatedly after the run is asked to stop, as long as the command runs.
    /// `ends` is called after its end and handles the processes that it left behind; those that
    /// remain are killed.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn run_enclosed<T>(
        &self,
        stop: &Stop,
        mut stops: impl FnMut(&Enclosure) + Send,
        ends: impl FnOnce(ForegroundEnd, &mut Enclosure) -> T,
    ) -> Result<T> {
        let tracer = self.calls.as_ref().map(|log| Tracer::start(Arc::clone(log))).transpose();
        let tracer = tracer.map_err(|error| cannot_trace(&error))?;
        let traces = tracer.as_ref();
        let mut run = move |enclosure: &Enclosure| self.run_in((Some(enclosure), traces), stop, &mut stops);
        let lost = || ErrorKind::Internal.error(text!("a thread was lost", "スレッドが失われました"));
        let ended = std::thread::scope(|scope| {
            let (to_end, ended) = channel();
            let (keep, is_kept) = channel::<()>();
            // The thread that creates a PID namespace can start nothing outside it, not even a
            // thread, and the namespace ends with the thread.
            let thread = std::thread::Builder::new().name("kurabe-command".to_owned());
            let enclosed = thread.spawn_scoped(scope, move || {
                let Ok(enclosure) = Enclosure::with_namespaces() else { return Some(run) };
                let ended = run(&enclosure);
                let _ = to_end.send((enclosure, ended));
                // Nothing is sent; the receive ends when the sender is dropped.
                let _ = is_kept.recv();
                None
            });
            let enclosed = enclosed.map_err(|error| Error::no_thread(&error))?;
            if let Ok((mut enclosure, ended)) = ended.recv() {
                let ended = ended.map(|ended| ends(ended, &mut enclosure));
                stop.forget_scopes();
                drop(keep);
                return ended;
            }
            let mut run = enclosed.join().map_err(|_| lost())?.ok_or_else(lost)?;
            let mut enclosure = Enclosure::by_adoption().map_err(|error| {
                Error::os(
                    text!("cannot become the reaper of child processes", "子プロセスの回収役になれません"),
                    &error,
                )
            })?;
            let ended = run(&enclosure).map(|ended| ends(ended, &mut enclosure));
            stop.forget_scopes();
            ended
        });
        tracer.into_iter().for_each(Tracer::join);
        ended
    }

    fn run_in(
        &self,
        (enclosure, tracer): (Option<&Enclosure>, Option<&Tracer>),
        stop: &Stop,
        stops: &mut dyn FnMut(&Enclosure),
    ) -> Result<ForegroundEnd> {
        let [program, arguments @ ..] = self.words else {
            return Err(ErrorKind::Usage.error(text!("no command is given", "コマンドがありません")));
        };
        let mut command = Command::new(program);
        command.args(arguments).envs(self.environment.iter().map(|(name, value)| (name, value)));
        if self.is_silent {
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        }
        self.folder.iter().for_each(|folder| {
            command.current_dir(folder);
        });
        let held = enclosure.map_or(Ok(()), |enclosure| enclosure.hold(&mut command, self.folder.as_deref()));
        die_with_starter(&mut command);
        tracer.inspect(|tracer| tracer.hold(&mut command));
        let ended = held.and_then(|()| wait(command, (enclosure, tracer), stop, stops));
        ended.map_err(|error| {
            if is_missing(program, &error) {
                let message = text!(
                    "cannot run {program}: not installed",
                    "{program} を実行できません。インストールされていません"
                );
                return ErrorKind::Target.error(message).remedy(text!(
                    "check its name, install it, or add its folder to PATH; for shell syntax, use sh -c",
                    "名前を確かめるか、インストールするか、PATH に加えてください。シェルの書き方を使うには sh -c が必要です"
                ));
            }
            Error::os(text!("cannot run {program}", "{program} を実行できません"), &error)
        })
    }
}

fn cannot_trace(error: &std::io::Error) -> Error {
    Error::os(text!("cannot follow the calls of the command", "コマンドの呼び出しを追跡できません"), error)
}

fn wait(
    mut command: Command,
    (enclosure, tracer): (Option<&Enclosure>, Option<&Tracer>),
    stop: &Stop,
    stops: &mut dyn FnMut(&Enclosure),
) -> std::io::Result<ForegroundEnd> {
    let begun = Instant::now();
    let mut child = command.spawn()?;
    let pid = Pid::from_child(&child);
    if let Some(enclosure) = enclosure {
        stop.add_scope(&Arc::new(enclosure.scope(child.id())));
    }
    // The tracer reports the end of a traced command.
    let ends = if tracer.is_none() { pidfd_open(pid, PidfdFlags::empty()).ok() } else { None };
    let mut is_asked = false;
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    let has_ended = || match tracer {
        Some(tracer) => Ok(tracer.end().is_some()),
        None => waitid(WaitId::Pid(pid), options).map(|ended| ended.is_some()),
    };
    while !has_ended()? {
        if stop.is_asked() && !is_asked {
            is_asked = true;
            // It may have ended just now.
            let _ = kill_process(pid, Signal::TERM);
        }
        if let Some(enclosure) = enclosure {
            // A tracer reaps what it traces.
            if tracer.is_none() {
                enclosure.reap(Some(pid));
            }
            if is_asked {
                stops(enclosure);
            }
        }
        match &ends {
            Some(ends) => wait_for_end(ends),
            None => std::thread::sleep(if begun.elapsed() < LOOK { FIRST_LOOK } else { LOOK }),
        }
    }
    let elapsed_ns = begun.elapsed().as_nanos() as u64;
    if let Some(TracedEnd { status, asked_bytes }) = tracer.and_then(Tracer::end) {
        return Ok(ForegroundEnd { status, elapsed_ns, asked_bytes });
    }
    let asked_bytes = asked_bytes(child.id());
    Ok(ForegroundEnd { status: child.wait()?, elapsed_ns, asked_bytes })
}

/// Waits until a process ends, but not longer than an interrupt may go unseen. Its time then ends with it,
/// and not with the interval.
fn wait_for_end(process: &OwnedFd) {
    let longest = Timespec { tv_sec: 0, tv_nsec: LOOK.subsec_nanos().into() };
    // Whether it has ended is asked afterwards, whatever the answer is.
    let _ = poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&longest));
}

/// Returns `wchar` of proc_pid_io(5), for the process and the children it waited for.
pub(crate) fn asked_bytes(process: u32) -> Option<u64> {
    let counts = std::fs::read_to_string(format!("/proc/{process}/io")).ok()?;
    counts.lines().find_map(|line| line.strip_prefix("wchar: ")?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_testkit::needs::needs;
    use std::os::unix::process::ExitStatusExt;

    #[test]
    fn an_enclosed_command_is_killed_with_everything_that_it_started() {
        if !needs("sh") || !needs("setsid") {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let ready = folder.path().join("ready");
        let line = "trap '' TERM HUP INT; (while :; do :; done) & setsid sh -c 'while :; do :; done' & \
                    touch ready; while :; do :; done";
        let words = ["sh", "-c", line].map(str::to_owned);
        let (stop, path) = (Stop::default(), folder.path().to_owned());
        let command = Foreground { words: &words, folder: Some(path), ..Foreground::default() };
        std::thread::scope(|scope| {
            let killing = scope.spawn(|| {
                while !ready.exists() {
                    std::thread::sleep(FIRST_LOOK);
                }
                stop.kill_programs();
            });
            let ends = |ended: ForegroundEnd, enclosure: &mut Enclosure| {
                let begun = Instant::now();
                while !enclosure.left().is_empty() && begun.elapsed() < Duration::from_secs(5) {
                    std::thread::sleep(FIRST_LOOK);
                }
                (ended.status.signal(), enclosure.left().len())
            };
            let ended = command.run_enclosed(&stop, |_| {}, ends).unwrap();
            killing.join().unwrap();
            assert_eq!(ended, (Some(9), 0));
        });
    }
}
