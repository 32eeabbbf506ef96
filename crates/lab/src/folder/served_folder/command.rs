//! Runs a command in a served folder, and ends all processes that it started.
//!
//! Processes that a command leaves running get time to finish if they use the disk, and are then
//! killed together with their mounts. Requests until the command's exit belong to the command. If a
//! process uses the disk until it is killed, the command counts as unfinished, because the number
//! of requests depends on the time of the kill.

use super::{PATIENCE, ServedFolder};
use crate::folder::system_tool::POINT;
use crate::folder::without_root::is_without_root;
use crate::handle::RunHandle;
use kurabe_core::{Error, ErrorKind, Result, Text, shown, text};
use kurabe_host::{Descendant, block_number, mounts_of, swap_off, thaw, uses_file_system};
use kurabe_program::{CallLog, Enclosure, Foreground, ForegroundEnd};
use kurabe_serve::{ControlRequest, RequestLog, let_go_of_loops};
use kurabe_sim::{RecordedRequest, RequestKind};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const LOOK: Duration = Duration::from_millis(20);
/// Time for a process that does not use the disk to exit.
const GRACE: Duration = Duration::from_millis(200);
/// A killed process that takes longer than this is waiting for the disk.
const KILL_TAKES: Duration = Duration::from_secs(1);

/// Result of a command.
pub struct CommandEnd {
    /// How it ended.
    pub ended: ForegroundEnd,
    /// Time of its exit, by the clock of the log.
    pub at_ns: u64,
    /// Requests to the disk until then, if they are logged.
    pub requests: Vec<RecordedRequest>,
    /// Later requests by processes that the command left running.
    pub later_requests: Vec<RecordedRequest>,
    /// Processes that had to be killed.
    pub left: LeftBehind,
}

/// Processes that a command left running.
#[derive(Clone, Debug, Default)]
pub struct LeftBehind {
    /// Name and id of each.
    pub processes: Vec<Text>,
    /// Whether they used the disk until they were killed.
    pub are_unfinished: bool,
}

impl LeftBehind {
    /// Refuses an unfinished command.
    ///
    /// # Errors
    /// When processes used the disk until they were killed, because their later requests are
    /// missing.
    pub fn refuse_unfinished(&self) -> Result<()> {
        if !self.are_unfinished {
            return Ok(());
        }
        let left = Text::list(self.processes.clone());
        let message = text!(
            "the command ended, but {left} used the disk until it was killed",
            "コマンドの終了後も、{left} が強制終了されるまでディスクを使い続けました";
            left
        );
        Err(ErrorKind::Io.error(message).remedy(text!(
            "make the command wait for the processes that it starts",
            "起動したプロセスの終了をコマンドが待つようにしてください"
        )))
    }
}

impl ServedFolder {
    /// Runs a command in the folder. A program given by a relative path refers to the current
    /// folder, unless a file with this path was copied in.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn run(
        &self,
        words: &[String],
        environment: &[(&'static str, PathBuf)],
        handle: &RunHandle,
    ) -> Result<CommandEnd> {
        self.run_recorded(words, environment, handle, None)
    }

    /// Runs a command like [`Self::run`], and records its calls.
    ///
    /// # Errors
    /// As [`Self::run`], and when calls cannot be recorded.
    pub fn run_recorded(
        &self,
        words: &[String],
        environment: &[(&'static str, PathBuf)],
        handle: &RunHandle,
        calls: Option<Arc<CallLog>>,
    ) -> Result<CommandEnd> {
        let folder = self.has_file_system().then(|| self.folder());
        let mut environment = environment.to_vec();
        environment.push(("KURABE_DEVICE", self.device.clone()));
        environment.extend(std::env::current_dir().ok().map(|from| ("KURABE_FROM", from)));
        let (mut words, of_run) = (words.to_vec(), handle.clone());
        let is_stuck = Arc::<AtomicBool>::default();
        let caretaker = Caretaker {
            device: self.device.clone(),
            has_file_system: self.has_file_system(),
            can_settle: !self.has_faults() && self.request.power.is_none(),
            log: self.request.log.clone(),
            handle: handle.clone(),
            is_stuck: Arc::clone(&is_stuck),
        };
        let run = move || {
            if let (Some(program), Some(folder)) = (words.first_mut(), &folder)
                && program.contains('/')
                && !folder.join(&*program).exists()
                && let Ok(path) = std::path::absolute(&*program)
            {
                *program = path.to_string_lossy().into_owned();
            }
            let command = Foreground { words: &words, folder, environment, calls, ..Foreground::default() };
            let thaws = |enclosure: &Enclosure| caretaker.thaw(enclosure);
            command
                .run_enclosed(&of_run.stop, thaws, |ended, enclosure| caretaker.look_after(ended, enclosure))
        };
        let has_ended = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let unblock = || self.unblock(handle, &is_stuck, &has_ended);
            let unblocking = std::thread::Builder::new().spawn_scoped(scope, unblock);
            unblocking.map_err(|error| Error::no_thread(&error))?;
            let ended = self.visit(run);
            has_ended.store(true, Ordering::Release);
            ended
        })
    }

    /// Ends hangs, because a command that waits for its device cannot exit. If the run is to stop
    /// while the device has faults, the faults are cleared. A pool that lost power is killed,
    /// because the command would wait for it.
    fn unblock(&self, handle: &RunHandle, is_stuck: &AtomicBool, has_ended: &AtomicBool) {
        let cuts = || self.figures().map_or(0, |figures| figures.cuts.len());
        let before = cuts();
        while !has_ended.load(Ordering::Acquire) {
            let is_over = handle.is_stopped() || is_stuck.load(Ordering::Acquire);
            let is_stopped = is_over && self.has_faults();
            if is_stopped || self.pool.is_some() && cuts() > before {
                if is_stopped {
                    let _ = self.serving.control(ControlRequest::NO_FAULTS);
                }
                self.pool.iter().for_each(|pool| pool.kill());
                return;
            }
            std::thread::sleep(LOOK);
        }
    }
}

/// Ends the processes of a finished command, inside the mount namespace of its disk.
struct Caretaker {
    device: PathBuf,
    has_file_system: bool,
    /// Whether dirty data can be written now.
    can_settle: bool,
    log: Option<Arc<RequestLog>>,
    handle: RunHandle,
    /// Set when killed processes wait for the disk.
    is_stuck: Arc<AtomicBool>,
}

impl Caretaker {
    fn look_after(&self, ended: ForegroundEnd, enclosure: &mut Enclosure) -> CommandEnd {
        let (at_ns, requests) = (self.log.as_ref().map_or(0, |log| log.now_ns()), self.take());
        self.thaw(enclosure);
        let mut later_requests = Vec::new();
        let is_used = self.wait_for_users(enclosure, &mut later_requests);
        let left: Vec<Text> = enclosure.left().iter().map(name).collect();
        self.release(enclosure);
        enclosure.end(|waited| {
            if waited > KILL_TAKES {
                self.is_stuck.store(true, Ordering::Release);
            }
            self.thaw_own();
        });
        let mut is_asked_more = false;
        if is_used {
            self.write_back();
            let more = self.take();
            is_asked_more = more.iter().any(|one| one.request.kind != RequestKind::Flush);
            later_requests.extend(more);
        }
        let left = LeftBehind { are_unfinished: is_asked_more && !left.is_empty(), processes: left };
        CommandEnd { ended, at_ns, requests, later_requests, left }
    }

    /// Waits for processes that use the disk. Returns whether one still does after the grace
    /// period. `later` receives the requests until then.
    fn wait_for_users(&self, enclosure: &Enclosure, later: &mut Vec<RecordedRequest>) -> bool {
        let begun = Instant::now();
        let mut is_settled = false;
        loop {
            let left = enclosure.left();
            let is_used = left.iter().any(|left| self.is_user(left));
            let is_over = begun.elapsed() > if is_used { PATIENCE } else { GRACE };
            if left.is_empty() || is_over || self.handle.is_stopped() {
                return is_used;
            }
            if is_used && begun.elapsed() > GRACE && !is_settled {
                is_settled = true;
                // Dirty data of the command itself does not belong to these processes.
                self.write_back();
                later.extend(self.take());
            }
            std::thread::sleep(LOOK);
        }
    }

    fn is_user(&self, left: &Descendant) -> bool {
        !self.has_file_system || uses_file_system(left.process.pid, Path::new(POINT))
    }

    fn take(&self) -> Vec<RecordedRequest> {
        self.log.as_ref().map(|log| log.take()).unwrap_or_default()
    }

    fn write_back(&self) {
        if self.has_file_system && self.can_settle {
            // Later operations would meet the same error and report it.
            let _ = File::open(POINT).and_then(|point| Ok(rustix::fs::syncfs(&point)?));
        }
    }

    /// Thaws file systems that the command froze, because waiting for a frozen disk would never
    /// end.
    fn thaw(&self, enclosure: &Enclosure) {
        self.thaw_own();
        let (Some(witness), Some(root)) = (enclosure.witness(), enclosure.root()) else { return };
        let number = block_number(&self.device).ok().flatten();
        for mount in mounts_of(witness).unwrap_or_default() {
            if Some(mount.number) == number || Path::new(&mount.source) == self.device {
                let point = root.join(mount.point.strip_prefix("/").unwrap_or(&mount.point));
                let _ = File::open(point).map(|folder| thaw(&folder));
            }
        }
    }

    fn thaw_own(&self) {
        // A FUSE file system cannot be frozen.
        if self.has_file_system && !is_without_root() {
            let _ = File::open(POINT).map(|folder| thaw(&folder));
        }
    }

    /// Detaches swap space and loop devices that the command created on files of the disk.
    fn release(&self, enclosure: &Enclosure) {
        let swaps = std::fs::read_to_string("/proc/swaps").unwrap_or_default();
        for path in swaps.lines().skip(1).filter_map(|line| line.split_whitespace().next()).map(Path::new) {
            if path == self.device || self.has_file_system && path.starts_with(POINT) {
                let _ = swap_off(path);
            }
        }
        let mounts = enclosure.witness().and_then(|witness| mounts_of(witness).ok()).unwrap_or_default();
        let own = mounts.iter().find(|mount| mount.point == Path::new(POINT));
        if let Some(own) = own.filter(|_| self.has_file_system) {
            let _ = let_go_of_loops(Path::new(POINT), own.number);
        }
    }
}

fn name(left: &Descendant) -> Text {
    let (name, number) = (shown::line(&left.process.command), left.own_pid);
    Text::same(format!("{name} ({number})"))
}
