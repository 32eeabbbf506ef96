//! Runs the programs of a step: a timed one between a prepare and a restore.
//!
//! `prepare` runs once. For each repetition, `command` runs and is timed, and then `restore` runs.
//! `cleanup` runs at the end in any case, and the folder is removed. All programs are listed before
//! the first of them runs, and each is shown before it runs. No shell is involved unless the step
//! requests one.
//!
//! Programs receive paths through the descriptor of the folder. Before each program, the folder is
//! checked for symbolic links, so that a program that runs for minutes never works on other files
//! because a name was replaced.
//!
//! A stop by the user ends the preparing and the timed programs. `restore` and `cleanup` run to
//! their end, so that nothing remains half restored (an exported pool, a mount).

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

/// An action that a program step is about to take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Coming {
    /// The programs of a step, before the first of them runs.
    Programs(Listed),
    /// The next program, or the creation of its material.
    Next(Text),
}

/// The command lines of a step, as a user would type them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// Programs that run before the first repetition.
    pub prepare: Vec<String>,
    /// Timed program.
    pub command: String,
    /// Programs that run after each repetition.
    pub restore: Vec<String>,
    /// Programs that run at the end.
    pub cleanup: Vec<String>,
}

/// Callback that is notified before an action. If it returns an error, the action is not performed.
pub type Tell<'a> = &'a mut dyn FnMut(Coming) -> Result<()>;

/// Place where programs work.
#[derive(Clone, Copy, Debug)]
pub struct Workplace<'a> {
    /// Directory that the user specified; programs run as its owner.
    pub target: &'a Folder,
    /// kurabe's folder in it.
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
    /// Creates a folder in the container and the material in it, and runs `prepare`.
    ///
    /// # Errors
    /// If the folder cannot be created, a name in a line is unknown, a program fails, or the run is
    /// stopped. Everything created so far is then removed.
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
                // The first error is the one to report.
                let _ = programs.close(stop, tell);
                Err(error)
            }
        }
    }

    /// Returns the folder that the programs work in.
    pub fn folder(&self) -> &Folder {
        &self.folder.folder
    }

    /// Returns the user as whom programs run, if it is not the one who runs kurabe.
    pub fn owner(&self) -> Option<OtherUser> {
        self.folder.worker.other
    }

    /// Shows the timed program.
    ///
    /// # Errors
    /// Those of the callback.
    pub fn show(&self, tell: Tell<'_>) -> Result<()> {
        show(&self.lines.command.shown, tell)
    }

    /// Reads the file of the timed program into the page cache. It may be on another disk, and
    /// loading it is not part of the measurement.
    pub fn warm(&self) {
        let Some(name) = self.lines.command.words.first() else { return };
        let on_path = || {
            let path = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
        };
        let file = if name.contains('/') { Some(PathBuf::from(name)) } else { on_path() };
        // A program that cannot be read starts cold; one that is missing is reported when it is
        // run.
        let _ = file.and_then(|file| File::open(file).ok()).map(|mut file| {
            let _ = std::io::copy(&mut file, &mut std::io::sink());
        });
    }

    /// Runs the timed program. `live` is called about ten times a second with the elapsed time in
    /// ns.
    ///
    /// # Errors
    /// `Interrupted` if the user ended it. Also if it cannot be started or fails.
    pub fn time(&self, stop: &Stop, live: &mut dyn FnMut(u64)) -> Result<Ran> {
        self.folder.refuse_links()?;
        run(self.program(&self.lines.command), stop, live)
    }

    /// Runs `restore` up to the first program that fails.
    ///
    /// # Errors
    /// If a program fails.
    pub fn restore(&self, stop: &Stop, tell: Tell<'_>) -> Result<()> {
        self.lines.restore.iter().try_for_each(|one| self.run_to_its_end(one, stop, tell))
    }

    /// Runs all of `cleanup` even if a program fails, and removes the folder.
    ///
    /// # Errors
    /// If a program fails, or the folder cannot be removed.
    pub fn close(self, stop: &Stop, tell: Tell<'_>) -> Result<()> {
        let mut ending = Ok(());
        for one in &self.lines.cleanup {
            ending = ending.and(self.run_to_its_end(one, stop, tell));
        }
        let path = self.folder.folder.path().display().to_string();
        match (ending, self.folder.remove()) {
            // The first error is reported, with a remark that the folder still exists.
            (Err(first), Err(error)) => {
                let why = error.cause().unwrap_or_default();
                Err(first.remedy(text!(
                    "{path} still exists ({why}); stop the processes that use it, then remove it",
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

    /// Returns the commands that create the repository.
    fn git_lines(&self) -> Result<[Invocation; 2]> {
        let (given, named) = (self.folder.given_places(), self.folder.shown_places());
        let invocation = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let mut line = Invocation::of(&words, &given, &named, false)?;
            // This git does not belong to the profile, so its path is resolved here.
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

    /// Creates the repository in the folder.
    fn make_git_material(&self, material: &GitMaterial, stop: &Stop, tell: Tell<'_>) -> Result<()> {
        let GitMaterial { files, changed_files, commits } = material;
        tell(Coming::Next(text!(
            "creating a git repository with {files} files, and {commits} commits that change {changed_files}",
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
