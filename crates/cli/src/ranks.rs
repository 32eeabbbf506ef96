//! `kurabe-mpi run`: a run by several processes at once. Rank 0 does what `kurabe run` does; the others are silent.

use crate::args::{Global, RunArgs};
use crate::run::{measured_with, print_done, say_how_it_differs};
use crate::signals;
use kurabe_core::{Error, ErrorKind, Result, text};
use kurabe_lab::{Communicator, Party, Prepared};

/// What `kurabe-mpi` has no words for.
pub fn only_runs() -> Error {
    ErrorKind::Usage.error(text!("kurabe-mpi only runs", "kurabe-mpi で使えるのは run だけです")).remedy(
        text!(
            "`kurabe-mpi run` keeps its runs in the same store; every other command is one of `kurabe`",
            "`kurabe-mpi run` の結果は同じ保存先に入ります。ほかのコマンドは `kurabe` で実行してください"
        ),
    )
}

/// `kurabe run`, or `kurabe-mpi run` if there is a communicator.
///
/// # Errors
/// Those of `kurabe run`; `RankLost` when some of the ranks did not come to the end.
pub fn run(
    args: &RunArgs,
    global: &Global,
    command_line: &[String],
    communicator: Option<&dyn Communicator>,
) -> Result<()> {
    match (communicator, args.ranks.given()) {
        (None, None) => crate::run::run(args, global, command_line),
        (None, Some(word)) => Err(ErrorKind::Usage
            .error(text!("{word} is of several processes", "{word} は複数のプロセス用です"))
            .remedy(text!(
                "start them: mpirun -n 4 kurabe-mpi run {word} …",
                "次のように起動してください: mpirun -n 4 kurabe-mpi run {word} …"
            ))),
        (Some(communicator), _) if communicator.rank() == 0 => lead(args, global, command_line, communicator),
        (Some(communicator), _) => follow(args, global, command_line, communicator),
    }
}

fn lead(
    args: &RunArgs,
    global: &Global,
    command_line: &[String],
    communicator: &dyn Communicator,
) -> Result<()> {
    if args.dry_run {
        return crate::run::run(args, global, command_line);
    }
    let handle = signals::listen()?;
    let is_stopped = || handle.is_stopped();
    let party = Party::new(communicator, &is_stopped, args.ranks.plan());
    let request = args.request()?;
    say_how_it_differs(&request, global);
    let prepared = Prepared::new(request)?;
    let done = measured_with(prepared, None, &handle, Some(&party), global, command_line)?;
    if party.has_silent() {
        communicator.give_up();
    }
    print_done(&done, global)?;
    done.outcome
}

fn follow(
    args: &RunArgs,
    global: &Global,
    command_line: &[String],
    communicator: &dyn Communicator,
) -> Result<()> {
    if args.dry_run {
        return Ok(());
    }
    let handle = signals::listen_as(false)?;
    let is_stopped = || handle.is_stopped();
    let party = Party::new(communicator, &is_stopped, args.ranks.plan());
    let place = global.store().of_rank(communicator.rank())?;
    let own = Global { db: place.0.clone(), json: false, quiet: true, lang: global.lang.clone() };
    let measure = || {
        let prepared = Prepared::new(args.request()?)?;
        measured_with(prepared, None, &handle, Some(&party), &own, command_line)
    };
    let done = measure().inspect_err(|error| party.decline(error));
    place.remove_if_empty()?;
    done?.outcome
}
