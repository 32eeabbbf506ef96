//! A command of the user's own: it has his terminal, his environment and his rights, and is only waited for.
//!
//! The model: the terminal's keys reach it as well as kurabe. It ends with kurabe when that is killed. What it and all that it
//! waited for wrote is asked of the kernel after its end, before its number is given away. All that it starts can be enclosed with
//! it; the thread that does so starts nothing else.

use crate::enclosure::Enclosure;
use crate::missing::is_missing;
use crate::platform::die_with_starter;
use crate::stop::Stop;
use kurabe_core::{Error, ErrorKind, Result, text};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// How often an interrupt is looked at while the command runs. Its times are the kernel's, so this blurs nothing.
const LOOK: Duration = Duration::from_millis(20);
/// In the first moments it is looked more often, so that short commands are not made longer.
const FIRST_LOOK: Duration = Duration::from_millis(1);

/// A command, where and with what it runs.
#[derive(Clone, Debug, Default)]
pub struct Foreground<'a> {
    /// The program and its arguments.
    pub words: &'a [String],
    /// The folder in which it starts; that of kurabe, if not said otherwise.
    pub folder: Option<PathBuf>,
    /// What its environment has beside that of kurabe.
    pub environment: Vec<(&'static str, PathBuf)>,
}

/// What became of it.
#[derive(Clone, Copy, Debug)]
pub struct ForegroundEnd {
    /// How it ended.
    pub status: ExitStatus,
    /// From before its start to its end, in ns.
    pub elapsed_ns: u64,
    /// Bytes of its calls that write, pipes and terminals included; none if the kernel does not count them.
    pub asked_bytes: Option<u64>,
}

impl Foreground<'_> {
    /// Runs it to its end; if the run is to stop, it is asked to end, once.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn run(&self, stop: &Stop) -> Result<ForegroundEnd> {
        self.run_in(None, stop, &mut |_| {})
    }

    /// The same, with all that it starts enclosed. `stops` is called again and again after the run is asked to stop, for as long as
    /// the command runs. `ends` is called after its end and looks after the processes that it left; those that remain are killed.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn run_enclosed<T>(
        &self,
        stop: &Stop,
        mut stops: impl FnMut(&Enclosure) + Send,
        ends: impl FnOnce(ForegroundEnd, &mut Enclosure) -> T,
    ) -> Result<T> {
        let mut run = move |enclosure: &Enclosure| self.run_in(Some(enclosure), stop, &mut stops);
        let lost = || ErrorKind::Internal.error(text!("a thread was lost", "スレッドが失われました"));
        std::thread::scope(|scope| {
            let (to_end, ended) = channel();
            let (keep, is_kept) = channel::<()>();
            // The thread that creates a PID namespace can start nothing outside it, not even a thread, and the namespace ends with it.
            let thread = std::thread::Builder::new().name("kurabe-command".to_owned());
            let enclosed = thread.spawn_scoped(scope, move || {
                let Ok(enclosure) = Enclosure::with_namespaces() else { return Some(run) };
                let ended = run(&enclosure);
                let _ = to_end.send((enclosure, ended));
                // Nothing is sent: it is over when the other side is dropped.
                let _ = is_kept.recv();
                None
            });
            let enclosed = enclosed.map_err(|error| Error::no_thread(&error))?;
            if let Ok((mut enclosure, ended)) = ended.recv() {
                let ended = ended.map(|ended| ends(ended, &mut enclosure));
                drop(keep);
                return ended;
            }
            let mut run = enclosed.join().map_err(|_| lost())?.ok_or_else(lost)?;
            let mut enclosure = Enclosure::by_adoption().map_err(|error| {
                Error::os(text!("cannot adopt processes", "プロセスを引き取れません"), &error)
            })?;
            let ended = run(&enclosure)?;
            Ok(ends(ended, &mut enclosure))
        })
    }

    fn run_in(
        &self,
        enclosure: Option<&Enclosure>,
        stop: &Stop,
        stops: &mut dyn FnMut(&Enclosure),
    ) -> Result<ForegroundEnd> {
        let [program, arguments @ ..] = self.words else {
            return Err(ErrorKind::Usage.error(text!("no command is given", "コマンドがありません")));
        };
        let mut command = Command::new(program);
        command.args(arguments).envs(self.environment.iter().map(|(name, value)| (name, value)));
        self.folder.iter().for_each(|folder| {
            command.current_dir(folder);
        });
        let held = enclosure.map_or(Ok(()), |enclosure| enclosure.hold(&mut command, self.folder.as_deref()));
        die_with_starter(&mut command);
        let ended = held.and_then(|()| wait(command, enclosure, stop, stops));
        ended.map_err(|error| {
            if is_missing(program, &error) {
                let message = text!(
                    "cannot run {program}: not installed",
                    "{program} を実行できません。インストールされていません"
                );
                return ErrorKind::Target.error(message).remedy(text!(
                    "check its name, install it, or put it on the PATH; a line of the shell needs sh -c",
                    "名前を確かめるか、インストールするか、PATH に加えてください。シェルの書き方を使うには sh -c が必要です"
                ));
            }
            Error::os(text!("cannot run {program}", "{program} を実行できません"), &error)
        })
    }
}

fn wait(
    mut command: Command,
    enclosure: Option<&Enclosure>,
    stop: &Stop,
    stops: &mut dyn FnMut(&Enclosure),
) -> std::io::Result<ForegroundEnd> {
    let begun = Instant::now();
    let mut child = command.spawn()?;
    let pid = Pid::from_child(&child);
    let mut is_asked = false;
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    while waitid(WaitId::Pid(pid), options)?.is_none() {
        if stop.is_asked() && !is_asked {
            is_asked = true;
            // It may have ended just now.
            let _ = kill_process(pid, Signal::TERM);
        }
        if let Some(enclosure) = enclosure {
            enclosure.reap(Some(pid));
            if is_asked {
                stops(enclosure);
            }
        }
        std::thread::sleep(if begun.elapsed() < LOOK { FIRST_LOOK } else { LOOK });
    }
    let elapsed_ns = begun.elapsed().as_nanos() as u64;
    let asked_bytes = asked_bytes(&child);
    Ok(ForegroundEnd { status: child.wait()?, elapsed_ns, asked_bytes })
}

/// `wchar` of proc_pid_io(5): of the process and of those that were waited for.
fn asked_bytes(child: &std::process::Child) -> Option<u64> {
    let counts = std::fs::read_to_string(format!("/proc/{}/io", child.id())).ok()?;
    counts.lines().find_map(|line| line.strip_prefix("wchar: ")?.trim().parse().ok())
}
