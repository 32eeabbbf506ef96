//! A timed program as a task of a run.
//!
//! For each repetition, the caches are dropped, the program runs and is timed, its dirty data is
//! written back, and its changes are reverted. The measured time is that of the program alone,
//! because its user considers it finished when it returns. The time until all its data is on the
//! device is recorded separately (`end_sync_ns`), and the device's traffic is counted until then.
//! `kurabe_program` runs the programs.

use crate::context::{Context, progress};
use crate::steps::traffic::{Watched, interval_of};
use crate::task::{Attempt, Repeated};
use crate::{clock::monotonic_ns, real::Real, steps::cold::write_back};
use kurabe_core::record::{Interval, Noise, NoticeKind, Repetition, Traffic};
use kurabe_core::{Error, ErrorKind, Result, event::Event, profile::CommandStep, text};
use kurabe_program::{Coming, Listed, OtherUser, Programs, Ran, Workplace};
use std::fs::File;

/// The programs of a task.
pub struct CommandWork {
    programs: Programs,
    /// The device that contains their folder.
    device: Watched,
}

impl Real<'_> {
    /// Creates the folder and the material, and runs `prepare`.
    pub(crate) fn prepare_command(
        &self,
        context: &mut Context<'_>,
        step: &CommandStep,
    ) -> Result<CommandWork> {
        let cannot = |error| cannot_open(&error);
        let held = self.target.scratch().zip(self.target.container());
        let (scratch, container) = held.ok_or_else(no_folder)?;
        let target = scratch.folder.try_clone().map_err(cannot)?;
        let container = container.try_clone().map_err(cannot)?;
        let place = Workplace { target: &target, container: &container };
        let programs = Programs::prepare(step, place, context.interrupt, &mut preparing(context))?;
        let device = Watched::under(programs.folder().path());
        if let Some(OtherUser { uid, gid }) = programs.owner() {
            context.notice_once(
                NoticeKind::Other,
                text!(
                    "the directory belongs to user {uid}, so its programs run as that user (group {gid}) \
                     and not as root",
                    "ディレクトリの所有者がユーザー {uid} なので、プログラムは root ではなくそのユーザー(グループ {gid})として実行します"
                ),
            )?;
        }
        Ok(CommandWork { programs, device })
    }

    /// Runs the timed program once and reverts its changes.
    pub(crate) fn repeat_command(
        &self,
        context: &mut Context<'_>,
        step: &CommandStep,
        work: &mut CommandWork,
        attempt: &Attempt,
    ) -> Result<Repeated> {
        work.programs.show(&mut preparing(context))?;
        if step.cold {
            self.make_folder_cold(context, work.programs.folder())?;
            work.programs.warm();
        }
        context.interrupt.check()?;
        // Not the work folder, which the program may remove. Opened before the program writes, so
        // that its sync reports every error.
        let written = self.target.scratch().map(|scratch| scratch.folder.readable()).transpose();
        let written = written.map_err(|error| cannot_open(&error))?;
        let started_ns = monotonic_ns() - context.started_ns;
        let (mark, counters) = (self.noise.start(), work.device.read());
        let ran = run_watched(context, work);
        let synced = written.filter(|_| ran.is_ok()).map(|file| timed_write_back(context, file));
        let (traffic, noise) = (work.device.since(counters), self.noise.finish(mark));
        let restored = work.programs.restore(context.interrupt, &mut preparing(context));
        let ran = ran?;
        restored?;
        // Device traffic of the program and of the kernel on its behalf can't be distinguished from
        // that of other processes.
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
        Ok(Repeated { engines: Vec::new(), repetitions: vec![repetition] })
    }

    /// Runs `cleanup` and removes the folder.
    pub(crate) fn close_command(&self, context: &mut Context<'_>, work: CommandWork) -> Result<()> {
        work.programs.close(context.interrupt, &mut preparing(context))
    }
}

/// Returns a function that reports programs before they run.
fn preparing(context: &mut Context<'_>) -> impl FnMut(Coming) -> Result<()> {
    |coming| {
        context.emit(match coming {
            Coming::Next(what) => Event::Preparing { what },
            Coming::Programs(Listed { prepare, command, restore, cleanup }) => {
                Event::Programs { prepare, command, restore, cleanup }
            }
        })
    }
}

/// Runs the timed program and reports the device's traffic during the run.
fn run_watched(context: &mut Context<'_>, work: &CommandWork) -> Result<Ran> {
    context.watched(progress, |interrupt, live| {
        let (mut shown_ns, mut before) = (0, work.device.read());
        work.programs.time(interrupt, &mut |elapsed_ns| {
            let now = work.device.read();
            let traffic: Option<Traffic> = now.zip(before).map(|(now, before)| now.since(&before));
            live(
                elapsed_ns,
                traffic.as_ref().map_or(Interval::default(), interval_of),
                elapsed_ns - shown_ns,
            );
            (shown_ns, before) = (elapsed_ns, now);
        })
    })
}

/// Writes back all dirty data on the file system and returns the duration in ns.
fn timed_write_back(context: &mut Context<'_>, file: File) -> Result<u64> {
    let start_ns = monotonic_ns();
    context.store(move |_| write_back(&file))?;
    Ok(monotonic_ns() - start_ns)
}

fn cannot_open(error: &std::io::Error) -> Error {
    Error::os(text!("cannot open the work folder", "作業フォルダーを開けません"), error)
}

pub(crate) fn no_folder() -> Error {
    ErrorKind::Unsupported
        .error(text!(
            "steps with their own files cannot be combined with steps that need a test file in one profile",
            "専用のファイルを使うステップと、テストファイルを使うステップは、1 つのプロファイルに混ぜられません"
        ))
        .remedy(text!("split it into two profiles", "プロファイルを 2 つに分けてください"))
}
