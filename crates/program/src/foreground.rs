//! A command of the user's own: it has his terminal, his environment and his rights, and is only waited for.
//!
//! The model: the terminal's keys reach it as well as kurabe. It ends with kurabe when that is killed. What it and all that it
//! waited for wrote is asked of the kernel after its end, before its number is given away.

use crate::platform::die_with_starter;
use crate::stop::Stop;
use kurabe_core::{Error, ErrorKind, Result, text};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
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
        let [program, arguments @ ..] = self.words else {
            return Err(ErrorKind::Usage.error(text!("no command is given", "コマンドがありません")));
        };
        let mut command = Command::new(program);
        command.args(arguments).envs(self.environment.iter().map(|(name, value)| (name, value)));
        self.folder.iter().for_each(|folder| {
            command.current_dir(folder);
        });
        die_with_starter(&mut command);
        self.wait(command, stop).map_err(|error| {
            let made = Error::os(text!("cannot run {program}", "{program} を実行できません"), &error);
            match error.kind() {
                std::io::ErrorKind::NotFound => made.remedy(text!(
                    "check its name; a line of the shell needs sh -c",
                    "名前を確かめてください。シェルの書き方を使うには sh -c が必要です"
                )),
                _ => made,
            }
        })
    }

    fn wait(&self, mut command: Command, stop: &Stop) -> std::io::Result<ForegroundEnd> {
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
            std::thread::sleep(if begun.elapsed() < LOOK { FIRST_LOOK } else { LOOK });
        }
        let elapsed_ns = begun.elapsed().as_nanos() as u64;
        let asked_bytes = asked_bytes(&child);
        Ok(ForegroundEnd { status: child.wait()?, elapsed_ns, asked_bytes })
    }
}

/// `wchar` of proc_pid_io(5): of the process and of those that were waited for.
fn asked_bytes(child: &std::process::Child) -> Option<u64> {
    let counts = std::fs::read_to_string(format!("/proc/{}/io", child.id())).ok()?;
    counts.lines().find_map(|line| line.strip_prefix("wchar: ")?.trim().parse().ok())
}
