//! Follows the calls of a command and of everything that it starts, without root.
//!
//! A thread of kurabe traces them. It exists before the command does, because the thread that starts
//! the command cannot start anything else. The command waits until it is traced. The tracer reaps
//! the command, and reports how it ended.

use crate::call_counts::is_marking;
use crate::call_log::CallLog;
use crate::call_table::followed;
use crate::followed_call::BegunCall;
use crate::platform::{
    Onward, StopRule, TraceStop, be_traced, call_result, fail_call, filter, resume, seize, stopped_call,
    trace_stop, wait_for_stop,
};
use crate::traced_thread::TracedThread;
use kurabe_promise::FileCall;
use rustix::fd::OwnedFd;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SocketFlags, SocketType, recvmsg,
    socketpair, sockopt,
};
use std::collections::HashMap;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// How a traced command ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TracedEnd {
    pub(crate) status: ExitStatus,
    /// As in [`crate::ForegroundEnd`].
    pub(crate) asked_bytes: Option<u64>,
}

/// The thread that traces a command.
#[derive(Debug)]
pub(crate) struct Tracer {
    command_side: Mutex<Option<OwnedFd>>,
    rules: Vec<StopRule>,
    end: Arc<Mutex<Option<TracedEnd>>>,
    thread: Option<JoinHandle<()>>,
}

impl Tracer {
    /// Starts the thread, which waits for a command.
    pub(crate) fn start(log: Arc<CallLog>) -> io::Result<Self> {
        let (own, command_side) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        sockopt::set_socket_passcred(&own, true)?;
        let end: Arc<Mutex<Option<TracedEnd>>> = Arc::default();
        let ends = Arc::clone(&end);
        let rules = if log.rules.counts_all { vec![StopRule::Any] } else { followed() };
        let thread = std::thread::Builder::new().name("kurabe-tracer".to_owned()).spawn(move || {
            let Some(command) = hear(&own) else { return };
            let is_traced = seize(command).is_ok();
            let answered = rustix::io::write(&own, &[u8::from(is_traced)]);
            if is_traced && answered.is_ok() {
                TracedCommand::new(&log, command, &ends).run();
            }
        })?;
        Ok(Self { command_side: Mutex::new(Some(command_side)), rules, end, thread: Some(thread) })
    }

    /// Makes a command wait until it is traced.
    pub(crate) fn hold(&self, command: &mut Command) {
        let side = self.command_side.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(side) = side {
            be_traced(command, side, filter(&self.rules));
        }
    }

    /// Returns how the command ended, once it has.
    pub(crate) fn end(&self) -> Option<TracedEnd> {
        *self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no traced process is left.
    pub(crate) fn join(mut self) {
        // Without a command, the thread waits for it.
        drop(self.command_side.lock().unwrap_or_else(PoisonError::into_inner).take());
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Waits for the byte of a command, and returns the command's process id as this process sees it.
fn hear(socket: &OwnedFd) -> Option<u32> {
    let mut byte = [0];
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmCredentials(1))];
    let mut extra = RecvAncillaryBuffer::new(&mut space);
    let mut buffers = [io::IoSliceMut::new(&mut byte)];
    let received = recvmsg(socket, &mut buffers, &mut extra, RecvFlags::empty()).ok()?;
    let sender = extra.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmCredentials(sender) => Some(sender.pid.as_raw_nonzero().get() as u32),
        _ => None,
    });
    sender.filter(|_| received.bytes == 1)
}

struct TracedCommand<'t> {
    log: &'t CallLog,
    command: u32,
    end: &'t Mutex<Option<TracedEnd>>,
    device: u64,
    /// Starts and ends of calls so far.
    position: u64,
    /// Calls that have not returned, by thread.
    begun: HashMap<u32, (u64, BegunCall)>,
    processes: HashMap<u32, u32>,
    unreturned: Vec<FileCall>,
    /// Whether the command's program runs; before that, the calls are those of kurabe.
    has_begun: bool,
    /// Whether the calls of a thread are counted.
    is_counted: HashMap<u32, bool>,
}

impl<'t> TracedCommand<'t> {
    fn new(log: &'t CallLog, command: u32, end: &'t Mutex<Option<TracedEnd>>) -> Self {
        let device = rustix::fs::stat(&log.rules.folder).map_or(0, |stat| stat.st_dev);
        Self {
            log,
            command,
            end,
            device,
            position: 0,
            begun: HashMap::new(),
            processes: HashMap::new(),
            unreturned: Vec::new(),
            has_begun: false,
            is_counted: HashMap::new(),
        }
    }

    fn run(mut self) {
        let (mut asked_bytes, command) = (None, self.command);
        loop {
            let has_begun = self.has_begun;
            let ends = |thread: u32| {
                if thread == command {
                    asked_bytes = crate::foreground::asked_bytes(thread);
                }
                // The starter reaps a command that could not be run.
                thread != command || has_begun
            };
            let Some((thread, status)) = wait_for_stop(ends) else { break };
            let onward = match trace_stop(status) {
                TraceStop::Call if self.log.rules.counts_all => self.count(thread),
                TraceStop::Call => self.call(thread),
                TraceStop::CallEnd => {
                    self.call_end(thread, call_result(thread));
                    Onward::Run(0)
                }
                TraceStop::NewProgram => {
                    self.has_begun = true;
                    self.is_counted.remove(&thread);
                    Onward::Run(0)
                }
                TraceStop::Start => Onward::Run(0),
                TraceStop::Group => Onward::StayStopped,
                TraceStop::Signal(signal) => Onward::Run(signal),
                TraceStop::Ended => {
                    self.call_end(thread, None);
                    self.processes.remove(&thread);
                    self.is_counted.remove(&thread);
                    if thread == command {
                        let end = TracedEnd { status: ExitStatus::from_raw(status), asked_bytes };
                        *self.end.lock().unwrap_or_else(PoisonError::into_inner) = Some(end);
                    }
                    continue;
                }
            };
            resume(thread, onward);
        }
        self.unreturned.drain(..).for_each(|call| self.log.add(call));
    }

    fn count(&mut self, thread: u32) -> Onward {
        let is_counted =
            self.has_begun && *self.is_counted.entry(thread).or_insert_with(|| !is_marking(thread));
        if let (true, Some((number, _))) = (is_counted, stopped_call(thread)) {
            self.log.count(number);
        }
        Onward::Run(0)
    }

    fn call(&mut self, thread: u32) -> Onward {
        let Some(call) = stopped_call(thread) else { return Onward::Run(0) };
        let traced = TracedThread { thread, device: self.device };
        match BegunCall::examine(traced, call, self.log) {
            Ok(None) => Onward::Run(0),
            Ok(Some(begun)) => {
                self.position += 1;
                self.begun.insert(thread, (self.position, begun));
                Onward::ToCallEnd
            }
            Err(()) => {
                // A program that cannot be changed here makes its call.
                let _ = fail_call(thread, libc::EIO);
                Onward::Run(0)
            }
        }
    }

    fn call_end(&mut self, thread: u32, result: Option<i64>) {
        let Some((began, begun)) = self.begun.remove(&thread) else { return };
        let traced = TracedThread { thread, device: self.device };
        let process = *self.processes.entry(thread).or_insert_with(|| traced.process());
        let name = begun.name;
        let actions = begun.complete(traced, result, self.log);
        self.position += 1;
        let ended = result.map(|_| self.position);
        for action in actions {
            let call = FileCall { began, ended, process, thread, name, action };
            match ended {
                Some(_) => self.log.add(call),
                None => self.unreturned.push(call),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call_log::{BeforeSync, CallRules, RecordedCalls, SyncOfFile};
    use crate::foreground::Foreground;
    use crate::stop::Stop;
    use kurabe_promise::{CallBytes, FileAction};
    use kurabe_testkit::needs::needs;
    use std::path::Path;

    /// Runs a command in a folder, and returns its exit code and its calls.
    fn record(folder: &Path, rules: CallRules, words: &[&str]) -> (Option<i32>, RecordedCalls) {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let log = Arc::new(CallLog::new(CallRules { folder: folder.to_owned(), ..rules }));
        let command = Foreground {
            words: &words,
            folder: Some(folder.to_owned()),
            environment: Vec::new(),
            calls: Some(Arc::clone(&log)),
            is_silent: false,
        };
        let end = |ended: crate::ForegroundEnd, enclosure: &mut crate::Enclosure| {
            enclosure.end(|_| {});
            ended.status.code()
        };
        let code = command.run_enclosed(&Stop::default(), |_| {}, end).unwrap();
        (code, log.take())
    }

    /// Calls as lines, with names instead of numbers.
    fn lines(folder: &Path, calls: &[FileCall]) -> Vec<String> {
        let mut names: HashMap<u64, String> = HashMap::new();
        names.insert(rustix::fs::stat(folder).unwrap().st_ino, ".".to_owned());
        let mut line = |call: &FileCall| {
            if let FileAction::Create { at, file, .. } = &call.action {
                names.insert(*file, at.name.clone());
            }
            // Other files of the device, such as programs, are followed as well.
            let named = |file: &u64| names.get(file).cloned();
            let words = match &call.action {
                FileAction::Create { at, .. } => format!("create {}", at.name),
                FileAction::Write { file, range, content: CallBytes::Bytes(bytes), is_synced } => {
                    let text = String::from_utf8_lossy(bytes);
                    let synced = if *is_synced { " synced" } else { "" };
                    format!("write {} {} {}{synced}", named(file)?, range.start, text.trim())
                }
                FileAction::Sync { file, is_ok } => format!("sync {} {is_ok}", named(file)?),
                FileAction::Resize { file, size_bytes } => format!("resize {} {size_bytes}", named(file)?),
                FileAction::Rename { from, to, .. } => format!("rename {} {}", from.name, to.name),
                FileAction::Link { at, .. } => format!("link {}", at.name),
                FileAction::Unlink { at, .. } => format!("unlink {}", at.name),
                FileAction::Scramble { file } => format!("scramble {}", named(file)?),
                FileAction::Read { file } => format!("read {}", named(file)?),
                other => format!("{other:?}"),
            };
            Some(format!("{}: {words}", call.name))
        };
        calls.iter().filter_map(&mut line).collect()
    }

    #[test]
    fn calls_of_a_shell_and_of_all_that_it_starts_are_recorded_in_order() {
        if !needs("sh") || !needs("mv") || !needs("dd") {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let line = "echo one > a; (echo two >> a; mv a b) & wait; \
                    echo xyz | dd of=b bs=2 count=1 seek=1 conv=notrunc,fsync status=none; exit 3";
        let (code, recorded) = record(folder, CallRules::default(), &["sh", "-c", line]);
        assert_eq!((code, recorded.unfollowed), (Some(3), None));
        let expected =
            ["create a", "write a 0 one", "write a 4 two", "rename a b", "write a 2 xy", "sync a true"];
        let lines = lines(folder, &recorded.calls);
        let words: Vec<&str> = lines.iter().filter_map(|line| Some(line.split_once(": ")?.1)).collect();
        let words: Vec<&str> = words.into_iter().filter(|word| !word.starts_with("read")).collect();
        assert_eq!(words, expected);
        assert!(recorded.calls.iter().all(|call| call.ended.is_some_and(|ended| ended > call.began)));
        // A program that is not installed is reported as without recording.
        let log = Arc::new(CallLog::new(CallRules { folder: folder.to_owned(), ..CallRules::default() }));
        let words = ["no-such-program".to_owned()];
        let missing = Foreground { words: &words, calls: Some(log), ..Foreground::default() };
        let error = missing.run_enclosed(&Stop::default(), |_| {}, |_, _| ()).unwrap_err();
        assert!(error.what().en.contains("not installed"), "{error:?}");
    }

    /// Checks the calls of one thread on its file.
    fn check_own_file(lines: &[String], name: &str) {
        let own: Vec<&String> = lines.iter().filter(|line| line.split(' ').nth(2) == Some(name)).collect();
        let expected = |i: usize| {
            let at = 4 * i;
            [
                format!("write: write {name} {at} {i:04}"),
                format!("pwrite64: write {name} {} {}", 400 + at, i + 1000),
                format!("writev: write {name} {} abcd", at + 4),
            ]
        };
        let expected: Vec<String> = [format!("openat: create {name}")]
            .into_iter()
            .chain((0..50).flat_map(expected))
            .chain([format!("ftruncate: resize {name} 700"), format!("fdatasync: sync {name} true")])
            .collect();
        assert_eq!(own[..expected.len()], expected.iter().collect::<Vec<_>>(), "{name}");
    }

    /// Writes in threads and forks, each to its own file, then to some more files.
    const PROGRAM: &str = "
import os, threading, mmap
def work(n):
    f = os.open(f'f{n}', os.O_RDWR | os.O_CREAT, 0o600)
    for i in range(50):
        os.write(f, b'%04d' % i)
        os.pwrite(f, b'%04d' % (i + 1000), 400 + 4 * i)
        os.writev(f, [b'ab', b'cd'])
        os.lseek(f, 4 * (i + 1), 0)
    os.ftruncate(f, 700)
    os.fdatasync(f)
    os.close(f)
threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
[thread.start() for thread in threads]
children = []
for n in range(4, 6):
    child = os.fork()
    if child == 0:
        work(n)
        os._exit(0)
    children.append(child)
[thread.join() for thread in threads]
[os.waitpid(child, 0) for child in children]
f = os.open('log', os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_DSYNC, 0o600)
os.write(f, b'one')
os.write(f, b'two')
os.rename('log', 'log.1')
os.link('log.1', 'log.2')
os.unlink('log.1')
d = os.open('.', os.O_RDONLY)
os.fsync(d)
m = os.open('f0', os.O_RDWR)
mmap.mmap(m, 100)
g = os.open('copy', os.O_WRONLY | os.O_CREAT, 0o600)
os.sendfile(g, m, 0, 8)
";

    /// Each thread writes to its own file with every form of write, while the others do the same.
    #[test]
    fn every_form_of_write_is_recorded_with_its_place_and_bytes_in_threads_and_forks() {
        if !needs("python3") {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let (code, recorded) = record(folder, CallRules::default(), &["python3", "-c", PROGRAM]);
        assert_eq!(code, Some(0));
        let lines = lines(folder, &recorded.calls);
        (0..6).for_each(|n| check_own_file(&lines, &format!("f{n}")));
        let rest: Vec<&str> =
            lines.iter().skip_while(|line| !line.ends_with("create log")).map(String::as_str).collect();
        let expected = [
            "openat: create log",
            "write: write log 0 one synced",
            "write: write log 3 two synced",
            "rename: rename log log.1",
            "link: link log.2",
            "unlink: unlink log.1",
            "fsync: sync . true",
            "openat: read f0",
            "mmap: scramble f0",
            "openat: create copy",
            "sendfile: write copy 0 00000001",
        ];
        // Other architectures have other calls for the same.
        let words = |line: &&str| line.split_once(": ").map(|(_, words)| words.to_owned());
        assert_eq!(
            rest.iter().filter_map(words).collect::<Vec<_>>(),
            expected.iter().filter_map(words).collect::<Vec<_>>()
        );
        let processes: std::collections::BTreeSet<u32> =
            recorded.calls.iter().map(|call| call.process).collect();
        let threads: std::collections::BTreeSet<u32> =
            recorded.calls.iter().map(|call| call.thread).collect();
        // A shim in front of Python may start more processes.
        assert!(processes.len() >= 3, "{processes:?}");
        assert_eq!(threads.len() - processes.len(), 4, "{threads:?}");
    }

    #[test]
    fn every_call_of_threads_and_forks_is_counted_by_its_name() {
        if !needs("python3") {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let rules = CallRules { folder: folder.path().to_owned(), counts_all: true, ..CallRules::default() };
        let words = ["python3", "-c", PROGRAM].map(str::to_owned);
        let log = Arc::new(CallLog::new(rules));
        let command = Foreground {
            words: &words,
            folder: Some(folder.path().to_owned()),
            calls: Some(Arc::clone(&log)),
            ..Foreground::default()
        };
        let code = command.run_enclosed(&Stop::default(), |_| {}, |ended, _| ended.status.code()).unwrap();
        let counted = log.counted();
        let number = |name: &str| counted.get(name).copied().unwrap_or(0);
        let counts = ["pwrite64", "writev", "ftruncate", "fdatasync", "fsync", "sendfile"].map(number);
        assert_eq!((code, counts), (Some(0), [300, 300, 6, 6, 1, 1]), "{counted:?}");
        // Python makes more of these when it starts.
        assert!(number("openat") + number("open") >= 11 && number("write") >= 302, "{counted:?}");
        assert!(log.take().calls.is_empty());
    }

    #[test]
    fn a_chosen_fsync_fails_or_waits_for_work() {
        if !needs("dd") || !needs("sh") {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let seen = Arc::<Mutex<Vec<bool>>>::default();
        let (sees, wal) = (Arc::clone(&seen), folder.join("wal"));
        let call = SyncOfFile { file: "wal".to_owned(), number: Some(2) };
        let work = move || sees.lock().unwrap().push(std::fs::read(&wal).is_ok_and(|bytes| bytes == b"bb"));
        let rules = CallRules {
            failing: vec![call.clone()],
            before: Some(BeforeSync { call, work: Box::new(work) }),
            ..CallRules::default()
        };
        let write = |word: &str| {
            format!("echo {word} | dd of=wal bs=2 count=1 conv=notrunc,fsync status=none 2>/dev/null")
        };
        let line = format!("{}; echo $? >&3; {}; echo $? >&3", write("aa"), write("bb"));
        let line = format!("exec 3> codes; {line}");
        let (_, recorded) = record(folder, rules, &["sh", "-c", &line]);
        assert_eq!(std::fs::read_to_string(folder.join("codes")).unwrap(), "0\n1\n");
        assert_eq!((recorded.failed, &*seen.lock().unwrap()), (1, &vec![true]));
    }
}
