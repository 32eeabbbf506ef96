//! A timed program between a prepare and a restore.
//!
//! The model: `prepare` runs once; then for each repetition everything is made cold, `command` runs and is timed, what it
//! left in memory is written back, and `restore` runs; `cleanup` runs at the end, whatever happened, and the folder goes.
//! Each program is shown before it runs. No shell takes part unless the step asks for one.
//!
//! The time is that of the program alone: it is over for its user when it returns. How long it takes until all that it
//! wrote is on the device is told apart (`end_sync_ns`), and the device's traffic is counted until then.
//!
//! A stop by the user ends what prepares and what is timed. `restore` and `cleanup` are left to end by themselves, so that
//! nothing stays half restored (an exported pool, a mount).

use crate::clock::monotonic_ns;
use crate::cold::write_back;
use crate::command_line::{Lines, Places, shown};
use crate::driver::Stop;
use crate::program::{Program, Ran, run};
use crate::real::Real;
use crate::session::{Session, interrupted};
use crate::task::{Attempt, Done};
use crate::traffic::{Watched, interval_of};
use crate::work_folder::WorkFolder;
use kurabe_core::event::Event;
use kurabe_core::profile::CommandStep;
use kurabe_core::record::{Interval, Noise, Repetition, Traffic};
use kurabe_core::{Error, ErrorKind, Result, text};
use std::fs::File;
use std::path::{Path, PathBuf};

/// The folder with the files that programs work on.
pub struct CommandWork {
    folder: WorkFolder,
    lines: Lines,
    /// The device under the folder.
    device: Watched,
}

/// Whether a stop by the user ends a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Interruptible,
    ToItsEnd,
}

impl Session<'_, Real<'_>> {
    /// Makes the folder and the material, and runs `prepare`.
    pub(crate) fn prepare_command(&mut self, step: &CommandStep) -> Result<CommandWork> {
        let container = self.ground.target.work_folder().ok_or_else(no_folder)?.to_owned();
        let folder = WorkFolder::create(&container)?;
        let lines = Lines::of(step, Places { work: folder.work(), origin: folder.origin() })?;
        let device = Watched::under(folder.path());
        let work = CommandWork { folder, lines, device };
        match self.make_ready(step, &work) {
            Ok(()) => Ok(work),
            Err(error) => {
                // What went wrong first is what counts.
                let _ = self.close_command(step, work);
                Err(error)
            }
        }
    }

    fn make_ready(&mut self, step: &CommandStep, work: &CommandWork) -> Result<()> {
        if let Some(material) = &step.git {
            self.make_git_material(&work.folder, material)?;
        }
        for line in &work.lines.prepare {
            self.run_program(line, &work.folder, Ending::Interruptible)?;
        }
        Ok(())
    }

    /// Runs the timed program once and restores what it changed.
    pub(crate) fn repeat_command(
        &mut self,
        step: &CommandStep,
        work: &mut CommandWork,
        attempt: &Attempt,
    ) -> Result<Done> {
        self.show(&work.lines.command)?;
        if step.cold {
            self.make_folder_cold(work.folder.path())?;
            // The program itself may lie on another disk; its start is not what is measured.
            warm_program(&work.lines.command);
        }
        self.check_interrupt()?;
        let started_ns = monotonic_ns() - self.started_ns;
        let (mark, counters) = (self.ground.noise.start(), work.device.read());
        let ran = self.run_watched(work);
        // Not by the work folder, which the program may have removed.
        let synced = ran.as_ref().ok().map(|_| timed_write_back(self.ground.target.path()));
        let (traffic, noise) = (work.device.since(counters), self.ground.noise.finish(mark));
        let mut restored = Ok(());
        for line in &work.lines.restore {
            restored = restored.and_then(|()| self.run_program(line, &work.folder, Ending::ToItsEnd));
        }
        let ran = ran?;
        restored?;
        // What the program and the kernel for it do to the device cannot be told from what others do.
        let noise = Noise { other_read_bytes: None, other_write_bytes: None, ..noise };
        let repetition = Repetition {
            started_ns,
            elapsed_ns: ran.elapsed_ns,
            end_sync_ns: synced.transpose()?,
            cpu: ran.cpu,
            noise,
            traffic,
            ..attempt.of(Repetition::default())
        };
        Ok(Done { engine: None, repetitions: vec![repetition] })
    }

    /// Runs `cleanup`, all of it whatever fails, and removes the folder.
    pub(crate) fn close_command(&mut self, _step: &CommandStep, work: CommandWork) -> Result<()> {
        let mut ending = Ok(());
        for line in &work.lines.cleanup {
            ending = ending.and(self.run_program(line, &work.folder, Ending::ToItsEnd));
        }
        let path = work.folder.path().display().to_string();
        match (ending, work.folder.remove()) {
            // What failed first is told; that the folder is still there must be heard of all the same.
            (Err(first), Err(error)) => {
                let why = error.cause().unwrap_or_default();
                Err(first.remedy(text!(
                    "{path} is still there ({why}); release what holds it, and remove it",
                    "{path} が残っています({why})。使用中のものを解放してから削除してください"
                )))
            }
            (ending, removed) => ending.and(removed),
        }
    }

    /// Shows a program and runs it.
    pub(crate) fn run_program(
        &mut self,
        words: &[String],
        folder: &WorkFolder,
        ending: Ending,
    ) -> Result<()> {
        self.show(words)?;
        let (deaf, interrupt) = (Stop::default(), self.interrupt);
        let stop = if ending == Ending::Interruptible { interrupt } else { &deaf };
        if stop.is_asked() {
            return Err(interrupted());
        }
        let program = Program { words, git_config: folder.git_config(), feed: None };
        run(program, stop, &mut |_| {}).map(|_| ())
    }

    /// Shows a program that is about to run.
    pub(crate) fn show(&mut self, words: &[String]) -> Result<()> {
        let line = shown(words);
        self.emit(Event::Preparing { what: text!("running {line}", "実行: {line}") })
    }

    /// Runs the timed program, and tells meanwhile what reaches the device.
    fn run_watched(&mut self, work: &CommandWork) -> Result<Ran> {
        let (mut failed, emit) = (None, &mut *self.emit);
        let (mut told_ns, mut before) = (0, work.device.read());
        let mut live = |elapsed_ns: u64| {
            let now = work.device.read();
            let traffic: Option<Traffic> = now.zip(before).map(|(now, before)| now.since(&before));
            let interval = traffic.as_ref().map_or(Interval::default(), interval_of);
            let interval_ns = elapsed_ns - told_ns;
            (told_ns, before) = (elapsed_ns, now);
            if failed.is_none() {
                failed = emit(Event::Progress { elapsed_ns, interval, interval_ns }).err();
            }
        };
        let program =
            Program { words: &work.lines.command, git_config: work.folder.git_config(), feed: None };
        let ran = run(program, self.interrupt, &mut live)?;
        failed.map_or(Ok(ran), Err)
    }
}

/// Writes back all that is dirty on the file system, and tells how long that took.
fn timed_write_back(directory: &Path) -> Result<u64> {
    let start_ns = monotonic_ns();
    File::open(directory).and_then(|file| write_back(&file)).map_err(|error| {
        Error::os(
            text!("cannot write back what the program wrote", "プログラムの書き込みを書き戻せません"),
            &error,
        )
    })?;
    Ok(monotonic_ns() - start_ns)
}

/// Reads a program's file, so that it is in memory when the program starts.
fn warm_program(words: &[String]) {
    let Some(name) = words.first() else { return };
    let on_path = || {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
    };
    let file = if name.contains('/') { Some(PathBuf::from(name)) } else { on_path() };
    // A program that cannot be read starts cold; one that is missing is said to be when it is run.
    let _ = file.and_then(|file| File::open(file).ok()).map(|mut file| {
        let _ = std::io::copy(&mut file, &mut std::io::sink());
    });
}

fn no_folder() -> Error {
    Error::new(
        ErrorKind::Unsupported,
        text!(
            "a profile with a `command` step can have no step that needs a test file",
            "`command` ステップと、テストファイルを使うステップは、ひとつのプロファイルに混ぜられません"
        ),
    )
    .remedy(text!("make two profiles of it", "プロファイルを 2 つに分けてください"))
}
