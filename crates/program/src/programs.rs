//! The programs of a step: a timed one between a prepare and a restore.
//!
//! The model: `prepare` runs once; then for each repetition `command` runs and is timed, and `restore` runs; `cleanup` runs
//! at the end, whatever happened, and the folder goes. All programs are listed before the first of them runs, and each is
//! shown before it does. No shell takes part unless the step asks for one.
//!
//! A stop by the user ends what prepares and what is timed. `restore` and `cleanup` are left to end by themselves, so that
//! nothing stays half restored (an exported pool, a mount).

use crate::command_line::{Lines, Places, shown};
use crate::git_material::{FAST_IMPORT, INIT, write_stream};
use crate::guard::Guard;
use crate::run::{Program, Ran, cannot_start, run};
use crate::stop::Stop;
use crate::work_folder::WorkFolder;
use crate::worker::{Owner, Worker};
use kurabe_core::profile::{CommandStep, GitMaterial};
use kurabe_core::{Result, Text, text};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// What is about to happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Coming {
    /// The programs of a step, before anything is made for it.
    Programs(Listed),
    /// The next of them, or what they work on.
    Next(Text),
}

/// The programs of a step, as one would type them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// Those that run before the first repetition.
    pub prepare: Vec<String>,
    /// The timed one.
    pub command: String,
    /// Those that run after each repetition.
    pub restore: Vec<String>,
    /// Those that run at the end.
    pub cleanup: Vec<String>,
}

/// Hears what is about to run; an error of its own keeps it from running.
pub type Tell<'a> = &'a mut dyn FnMut(Coming) -> Result<()>;

/// The programs of a step, and the folder with the files that they work on.
#[derive(Debug)]
pub struct Programs {
    guard: Guard,
    folder: WorkFolder,
    lines: Lines,
}

impl Programs {
    /// Makes a folder in the container and the material in it, and runs `prepare`.
    ///
    /// # Errors
    /// When the folder cannot be made, a name in a line stands for nothing, a program fails, or the run is stopped; what was
    /// made is gone again.
    pub fn prepare(step: &CommandStep, container: &Path, stop: &Stop, tell: Tell<'_>) -> Result<Self> {
        // The container stands in the target, which exists.
        let worker = Worker::of(container.parent().unwrap_or(container))?;
        let folder = WorkFolder::create(container, worker)?;
        let lines = Lines::of(step, Places { work: folder.work(), origin: folder.origin() })?;
        let guard = Guard::start(worker).map_err(|error| cannot_start(&["sh".to_owned()], &error))?;
        let programs = Self { guard, folder, lines };
        let ready = tell(Coming::Programs(programs.listed(step)))
            .and_then(|()| programs.make_ready(step, stop, tell));
        match ready {
            Ok(()) => Ok(programs),
            Err(error) => {
                // What went wrong first is what counts.
                let _ = programs.close(stop, tell);
                Err(error)
            }
        }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// As whom programs work, if not as who runs kurabe.
    pub fn owner(&self) -> Option<Owner> {
        self.folder.worker().other
    }

    /// Shows the timed program.
    ///
    /// # Errors
    /// Those of who hears it.
    pub fn show(&self, tell: Tell<'_>) -> Result<()> {
        show(&self.lines.command, tell)
    }

    /// Reads the file of the timed program, so that it is in memory when the program starts: it may lie on another disk,
    /// and its start is not what is measured.
    pub fn warm(&self) {
        let Some(name) = self.lines.command.first() else { return };
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

    /// Runs the timed program. `live` hears about ten times a second for how many ns it has run.
    ///
    /// # Errors
    /// `Interrupted` when it was ended for the user; when it cannot be started or says that it failed.
    pub fn time(&self, stop: &Stop, live: &mut dyn FnMut(u64)) -> Result<Ran> {
        run(self.program(&self.lines.command), stop, live)
    }

    /// Runs `restore` up to the first program that fails.
    ///
    /// # Errors
    /// When a program fails.
    pub fn restore(&self, stop: &Stop, tell: Tell<'_>) -> Result<()> {
        self.lines.restore.iter().try_for_each(|words| self.run_to_its_end(words, stop, tell))
    }

    /// Runs `cleanup`, all of it whatever fails, and removes the folder.
    ///
    /// # Errors
    /// When a program fails, or the folder cannot be removed.
    pub fn close(self, stop: &Stop, tell: Tell<'_>) -> Result<()> {
        let mut ending = Ok(());
        for words in &self.lines.cleanup {
            ending = ending.and(self.run_to_its_end(words, stop, tell));
        }
        let path = self.folder.path().display().to_string();
        match (ending, self.folder.remove()) {
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

    fn listed(&self, step: &CommandStep) -> Listed {
        let all = |lines: &[Vec<String>]| lines.iter().map(|words| shown(words)).collect::<Vec<_>>();
        let mut prepare = if step.git.is_some() { all(&self.git_lines()) } else { Vec::new() };
        prepare.extend(all(&self.lines.prepare));
        Listed {
            prepare,
            command: shown(&self.lines.command),
            restore: all(&self.lines.restore),
            cleanup: all(&self.lines.cleanup),
        }
    }

    /// What makes the repository.
    fn git_lines(&self) -> [Vec<String>; 2] {
        let origin = self.folder.origin().display().to_string();
        [INIT, FAST_IMPORT].map(|words| words.map(|word| word.replace("{origin}", &origin)).to_vec())
    }

    fn make_ready(&self, step: &CommandStep, stop: &Stop, tell: Tell<'_>) -> Result<()> {
        if let Some(material) = &step.git {
            self.make_git_material(material, stop, tell)?;
        }
        self.lines.prepare.iter().try_for_each(|words| self.run_shown(self.program(words), stop, tell))
    }

    /// Makes the repository in the folder.
    fn make_git_material(&self, material: &GitMaterial, stop: &Stop, tell: Tell<'_>) -> Result<()> {
        let GitMaterial { files, changed_files, commits } = material;
        tell(Coming::Next(text!(
            "making a git repository of {files} files, and {commits} commits that change {changed_files}",
            "git リポジトリを作成({files} ファイル、{changed_files} ファイルを変えるコミット {commits} 件)"
        )))?;
        let [init, import] = self.git_lines();
        self.run_shown(self.program(&init), stop, tell)?;
        let feed = |to: &mut dyn Write| {
            write_stream(material, &mut BufWriter::with_capacity(1 << 20, to), &|| stop.is_asked())
        };
        self.run_shown(Program { feed: Some(&feed), ..self.program(&import) }, stop, tell)
    }

    fn program<'a>(&'a self, words: &'a [String]) -> Program<'a> {
        let (worker, home, git_config) = (self.folder.worker(), self.folder.path(), self.folder.git_config());
        let guard = Some(&self.guard);
        Program { words, guard, worker, home, git_config, feed: None, to_its_end: false }
    }

    fn run_to_its_end(&self, words: &[String], stop: &Stop, tell: Tell<'_>) -> Result<()> {
        self.run_shown(Program { to_its_end: true, ..self.program(words) }, stop, tell)
    }

    fn run_shown(&self, program: Program<'_>, stop: &Stop, tell: Tell<'_>) -> Result<()> {
        show(program.words, tell)?;
        run(program, stop, &mut |_| {}).map(|_| ())
    }
}

/// Shows a program that is about to run.
fn show(words: &[String], tell: Tell<'_>) -> Result<()> {
    let line = shown(words);
    tell(Coming::Next(text!("running {line}", "実行: {line}")))
}
