//! A test environment: an empty directory to measure, a separate store and home, and functions that
//! run the binary in it.

#[cfg(feature = "schema")]
use crate::schemas;
use serde_json::Value;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time limit of every program that a test starts.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// A signal sent after this time counts as a new request.
pub const ANOTHER_WISH: Duration = Duration::from_millis(1100);

/// Six small cells that take about a second.
pub const SHORT: [&str; 8] = ["--profile", "quick", "--size", "16m", "--runs", "1", "--time", "100ms"];
/// One small read cell, without the trial that `auto` makes first.
pub const ONE_CELL: [&str; 8] =
    ["--rw", "randread", "--engine", "threads", "--size", "4m", "--time", "100ms"];

/// Returns the binary under test: `KURABE_BIN`, such as the static release binary, or the one that
/// cargo built for the tests.
pub fn binary() -> &'static str {
    static BINARY: LazyLock<String> = LazyLock::new(|| {
        std::env::var("KURABE_BIN").unwrap_or_else(|_| env!("CARGO_BIN_EXE_kurabe").to_owned())
    });
    &BINARY
}

/// The directory to measure, the store and the home of a test. All are removed on drop.
pub struct Lab {
    home: tempfile::TempDir,
}

impl Lab {
    /// Creates an environment on the file system of the temporary directory.
    pub fn new() -> Self {
        let home = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(home.path().join("target")).expect("a directory");
        Self { home }
    }

    /// Returns the directory to measure.
    pub fn target(&self) -> PathBuf {
        self.home.path().join("target")
    }

    /// Returns the path of the store, which the first run creates.
    pub fn store(&self) -> PathBuf {
        self.home.path().join("store/kurabe.db")
    }

    /// Returns a path next to the directory to measure.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// Writes a file next to the directory to measure.
    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.beside(name);
        std::fs::write(&path, contents).expect("a file");
        path
    }

    /// Returns a kurabe command with these arguments, not started yet.
    pub fn command(&self, words: &[&str]) -> Command {
        self.wrapped(&[], words)
    }

    /// Returns a kurabe command that another program, such as `setpriv`, executes.
    pub fn wrapped(&self, before: &[&str], words: &[&str]) -> Command {
        let mut line = before.iter().copied().chain([binary()]);
        let mut command = Command::new(line.next().expect("a program"));
        command.args(line).args(words).stdin(Stdio::null()).current_dir(self.home.path());
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.home.path()).env("KURABE_DB", self.store());
        command.env("KURABE_RUNTIME_DIR", self.beside("run"));
        command.env("LC_ALL", "C").env("NO_COLOR", "1").env("COLUMNS", "120").env("TERM", "xterm-256color");
        command
    }

    /// Runs kurabe and waits for it to exit.
    pub fn kurabe(&self, words: &[&str]) -> Ended {
        Live::start(self.command(words)).end()
    }

    /// Executes `kurabe run` with these arguments on a target.
    pub fn run(&self, target: &Path, words: &[&str]) -> Ended {
        self.kurabe(&[&["run", text(target)], words].concat())
    }

    /// Starts `kurabe run --json --quiet` with these arguments on a target.
    pub fn start(&self, target: &Path, words: &[&str]) -> Live {
        Live::start(self.command(&[&["run", text(target), "--json", "--quiet"], words].concat()))
    }

    /// Executes `kurabe run --json`, which must succeed, and returns the record.
    pub fn measure(&self, target: &Path, words: &[&str]) -> Value {
        let mut lines = self.run(target, &[words, &["--json", "--quiet"]].concat()).ok().json_lines();
        let last = lines.pop().expect("a line");
        assert_eq!(last["event"], "record", "the last line is the record");
        last["run"].clone()
    }

    /// Executes `kurabe run`, which must refuse with this exit code, a single error that contains
    /// all of `says`, and a remedy. Nothing may be left in the directory, and no run in the store.
    pub fn refuses(&self, target: &Path, words: &[&str], code: i32, says: &[&str]) -> Ended {
        let before = names(&self.target());
        let ended = self.run(target, words);
        ended.is_refusal(code, says);
        assert_eq!(names(&self.target()), before, "nothing is left behind");
        assert_eq!(self.list(), [] as [Value; 0], "no run is kept");
        ended
    }

    /// Returns the runs of the store, oldest first, as `kurabe list --json` prints them.
    pub fn list(&self) -> Vec<Value> {
        self.kurabe(&["list", "--json"]).ok().json_lines()
    }

    /// Makes a short run of a model with this access time, and returns its id.
    pub fn model_run(&self, access: &str) -> String {
        let set = format!("memory.access={access}");
        let words = [
            "run",
            "model:ideal-ram-disk",
            "--profile",
            "quick",
            "--time",
            "5ms",
            "--runs",
            "3",
            "--set",
            &set,
        ];
        self.kurabe(&words).ok();
        self.list().last().and_then(|run| run["id"].as_str()).expect("a run").to_owned()
    }

    /// Returns the record of a run.
    pub fn record(&self, run: &str) -> Value {
        self.kurabe(&["show", run, "--json"]).ok().json_lines().remove(0)["run"].clone()
    }
}

/// Returns a path as a command-line argument.
pub fn text(path: &Path) -> &str {
    path.to_str().expect("a path of the tests is UTF-8")
}

/// Returns the names in a directory, sorted.
pub fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(directory)
        .map(|entries| {
            entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
        })
        .unwrap_or_default();
    names.sort();
    names
}

/// Returns the elements of a JSON array.
pub fn list_of(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("an array, not {value}"))
}

/// Returns a whole number in JSON.
pub fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("a whole number, not {value}"))
}

/// Returns the notices of this kind in a record, in English.
pub fn notices(record: &Value, kind: &str) -> Vec<String> {
    list_of(&record["notices"])
        .iter()
        .filter(|notice| notice["kind"] == kind)
        .map(|notice| notice["text"]["en"].as_str().expect("a sentence").to_owned())
        .collect()
}

/// A program that has exited.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    pub out: String,
    pub err: String,
}

impl Ended {
    /// Returns the exit code.
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// Checks that the program succeeded.
    #[track_caller]
    pub fn ok(self) -> Self {
        assert_eq!(self.code(), Some(0), "{self:#?}");
        self
    }

    /// Checks the exit code, and that there is one error with its remedy.
    #[track_caller]
    pub fn is_refusal(&self, code: i32, says: &[&str]) {
        assert_eq!(self.code(), Some(code), "{self:#?}");
        let own = |line: &&str| line.starts_with("kurabe: ") && !line.contains("no test completed");
        let errors: Vec<&str> = self.err.lines().filter(own).collect();
        assert_eq!(errors.len(), 1, "one error: {self:#?}");
        let remedies = self.err.lines().filter(|line| line.starts_with("  remedy: ")).count();
        assert_eq!(remedies, 1, "one remedy: {self:#?}");
        for words in says {
            assert!(self.err.contains(words), "`{words}` is said: {self:#?}");
        }
        assert!(!self.err.contains("panicked"), "{self:#?}");
    }

    /// Parses standard output as lines of JSON, and checks each against its schema if that feature
    /// is built in.
    #[track_caller]
    pub fn json_lines(&self) -> Vec<Value> {
        let parse = |line: &str| {
            let value: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
            assert!(value.is_object(), "{line}");
            #[cfg(feature = "schema")]
            assert!(schemas::is_of_a_form(&value), "no schema has this form: {line}");
            value
        };
        self.out.lines().map(parse).collect()
    }
}

/// A running program. It is killed at the time limit, or on drop.
pub struct Live {
    child: Child,
    out: Arc<Mutex<Vec<u8>>>,
    readers: Vec<JoinHandle<()>>,
    err: Arc<Mutex<Vec<u8>>>,
    deadline: Instant,
}

impl Live {
    pub fn start(command: Command) -> Self {
        Self::start_after(command, || ())
    }

    /// Starts a program with a longer time limit.
    pub fn start_patiently(command: Command) -> Self {
        let mut live = Self::start(command);
        live.deadline += 4 * TIME_LIMIT;
        live
    }

    /// Starts a program from a new thread after calling `before`. The program inherits properties
    /// of that thread, such as a seccomp filter.
    pub fn start_after(mut command: Command, before: impl FnOnce() + Send) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let start = || {
            before();
            command.spawn()
        };
        let started = std::thread::scope(|scope| scope.spawn(start).join()).expect("a thread");
        let mut child = started.unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
        let (out, err) = (Arc::default(), Arc::default());
        let readers = vec![
            collect(child.stdout.take().expect("a pipe"), &out),
            collect(child.stderr.take().expect("a pipe"), &err),
        ];
        Self { child, out, readers, err, deadline: Instant::now() + TIME_LIMIT }
    }

    /// Returns the process id.
    pub fn pid(&self) -> rustix::process::Pid {
        rustix::process::Pid::from_child(&self.child)
    }

    /// Returns the worker process if there is one, otherwise the process itself.
    pub fn worker_pid(&self) -> rustix::process::Pid {
        let pid = self.pid().as_raw_nonzero();
        let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).expect("a list");
        let first = children.split_whitespace().next().and_then(|child| child.parse().ok());
        first.and_then(rustix::process::Pid::from_raw).unwrap_or_else(|| self.pid())
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(self.pid(), signal).expect("a signal is sent");
    }

    /// Returns standard output so far.
    pub fn out(&self) -> String {
        words_of(&self.out)
    }

    /// Waits until standard output contains a text.
    #[track_caller]
    pub fn wait_for_out(&mut self, words: &str) {
        self.wait_until(words, |live| words_of(&live.out).contains(words));
    }

    /// Waits until standard output contains a text this many times.
    #[track_caller]
    pub fn wait_for_out_times(&mut self, words: &str, times: usize) {
        self.wait_until(words, |live| words_of(&live.out).matches(words).count() >= times);
    }

    /// Waits until standard error contains a text.
    #[track_caller]
    pub fn wait_for_err(&mut self, words: &str) {
        self.wait_until(words, |live| words_of(&live.err).contains(words));
    }

    #[track_caller]
    fn wait_until(&mut self, what: &str, holds: impl Fn(&Self) -> bool) {
        while !holds(self) {
            let over = Instant::now() > self.deadline;
            let ended = self.child.try_wait().expect("a status").is_some() && !holds(self);
            assert!(
                !over && !ended,
                "waiting for `{what}` (time over: {over}, ended: {ended})\n{}\n{}",
                words_of(&self.out),
                words_of(&self.err)
            );
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Waits for the program to exit.
    #[track_caller]
    pub fn end(mut self) -> Ended {
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a status") {
                break status;
            }
            if Instant::now() > self.deadline {
                let _ = self.child.kill();
                let _ = self.child.wait();
                panic!("it hangs\n{}\n{}", words_of(&self.out), words_of(&self.err));
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        for reader in self.readers.drain(..) {
            reader.join().expect("a reader");
        }
        Ended { status, out: words_of(&self.out), err: words_of(&self.err) }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn words_of(bytes: &Mutex<Vec<u8>>) -> String {
    String::from_utf8_lossy(&bytes.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
}

fn collect(mut pipe: impl Read + Send + 'static, into: &Arc<Mutex<Vec<u8>>>) -> JoinHandle<()> {
    let into = Arc::clone(into);
    std::thread::spawn(move || {
        let mut part = [0; 1 << 16];
        while let Ok(length @ 1..) = pipe.read(&mut part) {
            into.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&part[..length]);
        }
    })
}
