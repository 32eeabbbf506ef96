//! The programs of a step: a timed one between a prepare and a restore.
//!
//! The model: `prepare` runs once; then for each repetition `command` runs and is timed, and `restore` runs; `cleanup` runs
//! at the end, whatever happened, and the folder goes. All programs are listed before the first of them runs, and each is
//! shown before it does. No shell takes part unless the step asks for one.
//!
//! Programs are given paths through the descriptor of the folder, and before each one it is seen to that nobody has put a
//! link there: what runs for minutes must not come to work on somebody else's files because a name was taken meanwhile.
//!
//! A stop by the user ends what prepares and what is timed. `restore` and `cleanup` are left to end by themselves, so that
//! nothing stays half restored (an exported pool, a mount).

use crate::command_line::{Invocation, StepCommands};
use crate::git_material::{FAST_IMPORT, INIT, write_stream};
use crate::run::{Program, Ran, no_shell, run};
use crate::worker::{OtherUser, Worker};
use crate::{folder::Folder, guard::Guard, stop::Stop, work_folder::WorkFolder};
use kurabe_core::profile::{CommandStep, GitMaterial};
use kurabe_core::{Result, Text, text};
use kurabe_host::find_program;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// What is about to happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Coming {
    /// The programs of a step, before the first of them runs.
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

/// Where programs work.
#[derive(Clone, Copy, Debug)]
pub struct Workplace<'a> {
    /// The directory that the user named: its owner is who works there.
    pub target: &'a Folder,
    /// The folder of kurabe's in it.
    pub container: &'a Folder,
}

/// The programs of a step, and the folder with the files that they work on.
#[derive(Debug)]
pub struct Programs {
    guard: Guard,
    folder: WorkFolder,
    lines: StepCommands,
}

impl Programs {
    /// Makes a folder in the container and the material in it, and runs `prepare`.
    ///
    /// # Errors
    /// When the folder cannot be made, a name in a line stands for nothing, a program fails, or the run is stopped; what was
    /// made is gone again.
    pub fn prepare(
        step: &CommandStep,
        workplace: Workplace<'_>,
        stop: &Stop,
        tell: Tell<'_>,
    ) -> Result<Self> {
        let worker = Worker::of(workplace.target)?;
        let folder = WorkFolder::create(workplace.container, worker)?;
        let lines = StepCommands::of(step, &folder.given_places(), &folder.shown_places())?;
        let guard = Guard::start(worker).map_err(|error| no_shell(&error))?;
        let programs = Self { guard, folder, lines };
        let listed = programs.listed(step).and_then(|listed| tell(Coming::Programs(listed)));
        match listed.and_then(|()| programs.make_ready(step, stop, tell)) {
            Ok(()) => Ok(programs),
            Err(error) => {
                // What went wrong first is what counts.
                let _ = programs.close(stop, tell);
                Err(error)
            }
        }
    }

    /// The folder.
    pub fn folder(&self) -> &Folder {
        &self.folder.folder
    }

    /// As whom programs work, if not as who runs kurabe.
    pub fn owner(&self) -> Option<OtherUser> {
        self.folder.worker.other
    }

    /// Shows the timed program.
    ///
    /// # Errors
    /// Those of who hears it.
    pub fn show(&self, tell: Tell<'_>) -> Result<()> {
        show(&self.lines.command.shown, tell)
    }

    /// Reads the file of the timed program, so that it is in memory when the program starts: it may lie on another disk,
    /// and its start is not what is measured.
    pub fn warm(&self) {
        let Some(name) = self.lines.command.words.first() else { return };
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
        self.folder.refuse_links()?;
        run(self.program(&self.lines.command), stop, live)
    }

    /// Runs `restore` up to the first program that fails.
    ///
    /// # Errors
    /// When a program fails.
    pub fn restore(&self, stop: &Stop, tell: Tell<'_>) -> Result<()> {
        self.lines.restore.iter().try_for_each(|one| self.run_to_its_end(one, stop, tell))
    }

    /// Runs `cleanup`, all of it whatever fails, and removes the folder.
    ///
    /// # Errors
    /// When a program fails, or the folder cannot be removed.
    pub fn close(self, stop: &Stop, tell: Tell<'_>) -> Result<()> {
        let mut ending = Ok(());
        for one in &self.lines.cleanup {
            ending = ending.and(self.run_to_its_end(one, stop, tell));
        }
        let path = self.folder.folder.path().display().to_string();
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

    fn listed(&self, step: &CommandStep) -> Result<Listed> {
        let shown_lines =
            |lines: &[Invocation]| lines.iter().map(|one| one.shown.clone()).collect::<Vec<_>>();
        let mut prepare = if step.git.is_some() { shown_lines(&self.git_lines()?) } else { Vec::new() };
        prepare.extend(shown_lines(&self.lines.prepare));
        Ok(Listed {
            prepare,
            command: self.lines.command.shown.clone(),
            restore: shown_lines(&self.lines.restore),
            cleanup: shown_lines(&self.lines.cleanup),
        })
    }

    /// What makes the repository.
    fn git_lines(&self) -> Result<[Invocation; 2]> {
        let (given, named) = (self.folder.given_places(), self.folder.shown_places());
        let invocation = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let mut line = Invocation::of(&words, &given, &named, false)?;
            // This git is not a program of the profile.
            if let (Some(name), Some(path)) = (line.words.first_mut(), find_program(&words[0])) {
                *name = path.to_string_lossy().into_owned();
            }
            Ok(line)
        };
        Ok([invocation(&INIT)?, invocation(&FAST_IMPORT)?])
    }

    fn make_ready(&self, step: &CommandStep, stop: &Stop, tell: Tell<'_>) -> Result<()> {
        if let Some(material) = &step.git {
            self.make_git_material(material, stop, tell)?;
        }
        self.lines.prepare.iter().try_for_each(|one| self.run_shown(self.program(one), stop, tell))
    }

    /// Makes the repository in the folder.
    fn make_git_material(&self, material: &GitMaterial, stop: &Stop, tell: Tell<'_>) -> Result<()> {
        let GitMaterial { files, changed_files, commits } = material;
        tell(Coming::Next(text!(
            "making a git repository of {files} files, and {commits} commits that change {changed_files}",
            "git リポジトリを作成({files} ファイル、{changed_files} ファイルを変えるコミット {commits} 件)"
        )))?;
        let [init, import] = self.git_lines()?;
        self.run_shown(self.program(&init), stop, tell)?;
        let feed = |to: &mut dyn Write| {
            write_stream(material, &mut BufWriter::with_capacity(1 << 20, to), &|| stop.is_asked())
        };
        self.run_shown(Program { feed: Some(&feed), ..self.program(&import) }, stop, tell)
    }

    fn program<'a>(&'a self, invocation: &'a Invocation) -> Program<'a> {
        let Invocation { words, shown } = invocation;
        let folder = &self.folder;
        Program {
            words,
            shown,
            guard: Some(&self.guard),
            worker: folder.worker,
            home: &folder.given_path,
            git_config: &folder.git_config,
            feed: None,
            to_its_end: false,
        }
    }

    fn run_to_its_end(&self, invocation: &Invocation, stop: &Stop, tell: Tell<'_>) -> Result<()> {
        self.run_shown(Program { to_its_end: true, ..self.program(invocation) }, stop, tell)
    }

    fn run_shown(&self, program: Program<'_>, stop: &Stop, tell: Tell<'_>) -> Result<()> {
        show(program.shown, tell)?;
        self.folder.refuse_links()?;
        run(program, stop, &mut |_| {}).map(|_| ())
    }
}

/// Shows a program that is about to run.
fn show(line: &str, tell: Tell<'_>) -> Result<()> {
    tell(Coming::Next(text!("running {line}", "実行: {line}")))
}
