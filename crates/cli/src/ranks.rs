//! `kurabe-mpi run`: every rank measures its part.
//! Rank 0 stores and prints the combined record; the other ranks print nothing.

use crate::args::{Global, RunArgs};
use crate::run::{in_one_process, measured_with, print_done, say_how_it_differs};
use crate::signals;
use kurabe_core::{Error, ErrorKind, Result, text};
use kurabe_lab::{Communicator, Done, Party, Prepared, RunHandle};

/// Returns the error for a command that `kurabe-mpi` does not support.
pub fn only_runs() -> Error {
    ErrorKind::Usage
        .error(text!(
            "kurabe-mpi supports only run, sweep (on models) and study run",
            "kurabe-mpi で使えるのは run、モデルの sweep、study run だけです"
        ))
        .remedy(text!(
            "use `kurabe` for every other command; `kurabe-mpi run` saves to the same store",
            "`kurabe-mpi run` の結果は同じ保存先に入ります。ほかのコマンドは `kurabe` で実行してください"
        ))
}

/// Runs `kurabe-mpi run`.
///
/// # Errors
/// As `kurabe run`; `RankLost` when some of the ranks did not finish.
pub fn run(
    args: &RunArgs,
    global: &Global,
    command_line: &[String],
    communicator: &dyn Communicator,
) -> Result<()> {
    if args.dry_run {
        return match communicator.rank() {
            0 => in_one_process(args, global, command_line),
            _ => Ok(()),
        };
    }
    check_one_process_outputs(args)?;
    let handle = signals::listen_as(communicator.rank() == 0)?;
    let is_stopped = || handle.is_stopped();
    let party = Party::new(communicator, &is_stopped, args.ranks.plan());
    let of_run = RankedRun { args, command_line, communicator, handle: &handle, party: &party };
    if party.leads() { of_run.lead(global) } else { of_run.follow(global) }
}

/// Refuses outputs that list the operations of a single process.
fn check_one_process_outputs(args: &RunArgs) -> Result<()> {
    let outputs = [("--per-request", args.per_request.is_some()), ("--verify", args.verify.is_some())];
    let Some((flag, _)) = outputs.into_iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
    Err(ErrorKind::Usage
        .error(text!(
            "kurabe-mpi does not support {flag}, which lists the operations of a single process",
            "kurabe-mpi では {flag} を使えません。1 つのプロセスの操作の一覧です"
        ))
        .remedy(text!("use `kurabe run {flag} …`", "`kurabe run {flag} …` を使ってください")))
}

/// The run of this process as one of several ranks.
struct RankedRun<'a> {
    args: &'a RunArgs,
    command_line: &'a [String],
    communicator: &'a dyn Communicator,
    handle: &'a RunHandle,
    party: &'a Party<'a>,
}

impl RankedRun<'_> {
    fn lead(&self, global: &Global) -> Result<()> {
        let request = self.args.request()?;
        say_how_it_differs(&request, global);
        let done = self.measured(Prepared::new(request)?, global)?;
        if self.party.has_silent() {
            self.communicator.give_up();
        }
        print_done(&done, global)?;
        done.outcome
    }

    fn follow(&self, global: &Global) -> Result<()> {
        let place = global.store().of_rank(self.communicator.rank())?;
        let own = Global { db: place.0.clone(), json: false, quiet: true, lang: global.lang.clone() };
        let prepared = self.args.request().and_then(Prepared::new);
        let done = prepared.and_then(|prepared| self.measured(prepared, &own));
        let done = done.inspect_err(|error| self.party.decline(error));
        place.remove_if_empty()?;
        done?.outcome
    }

    fn measured(&self, prepared: Prepared, global: &Global) -> Result<Done> {
        measured_with(prepared, None, self.handle, Some(self.party), global, self.command_line)
    }
}
