//! kurabe under an MPI launcher: every process is a rank, and rank 0 stores the record of all. No
//! other part of kurabe uses MPI.
//!
//! Messages are sent buffered, so a sender never waits for a receiver that is measuring. They are
//! received by polling, because a blocking MPI call cannot be interrupted and keeps a processor
//! busy. All MPI calls are made on the main thread.

use kurabe_core::{ErrorKind, Result};
use kurabe_ranks::Communicator;
use mpi::Threading;
use mpi::environment::Universe;
use mpi::topology::{Process, SimpleCommunicator};
use mpi::traits::{Communicator as _, Destination as _, MatchedReceiveVec as _, Source as _};
use std::cell::Cell;
use std::num::NonZeroU64;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Buffer for messages in flight, enough for thousands of repetitions.
const BUFFER_BYTES: usize = 64 << 20;
/// Time for which the poll for a message repeats without a pause. A round trip within a host is
/// shorter.
const EAGER: Duration = Duration::from_micros(30);
/// Pause between polls after that.
const REST: Duration = Duration::from_micros(50);

struct MpiWorld {
    world: SimpleCommunicator,
    given_up: Cell<bool>,
}

impl Communicator for MpiWorld {
    fn rank(&self) -> u32 {
        self.world.rank().unsigned_abs()
    }

    fn size(&self) -> u32 {
        self.world.size().unsigned_abs()
    }

    fn host(&self) -> String {
        mpi::environment::processor_name().unwrap_or_default()
    }

    fn now_ns(&self) -> u64 {
        kurabe_lab::monotonic_ns()
    }

    fn send(&self, to: u32, bytes: Vec<u8>) -> Result<()> {
        let to: Process<'_> = self.world.process_at_rank(to as i32);
        to.buffered_send(&bytes[..]);
        Ok(())
    }

    fn receive(&self, limit: Duration) -> Result<Option<(u32, Vec<u8>)>> {
        let begun = Instant::now();
        loop {
            if let Some(probed) = self.world.any_process().immediate_matched_probe() {
                let (bytes, status): (Vec<u8>, _) = probed.matched_receive_vec();
                return Ok(Some((status.source_rank().unsigned_abs(), bytes)));
            }
            match begun.elapsed() {
                past if past >= limit => return Ok(None),
                past if past < EAGER => std::thread::yield_now(),
                _ => std::thread::sleep(REST),
            }
        }
    }

    fn give_up(&self) {
        self.given_up.set(true);
    }
}

fn main() -> ExitCode {
    // Threads started later inherit this. They start a repetition at a given time, and Linux
    // otherwise adds 50 µs to a sleep.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    let Some((mut universe, _)) = mpi::initialize_with_threading(Threading::Funneled) else {
        return ExitCode::from(ErrorKind::Unsupported.exit_code());
    };
    universe.set_buffer_size(BUFFER_BYTES);
    run(&universe)
}

fn run(universe: &Universe) -> ExitCode {
    let world = MpiWorld { world: universe.world(), given_up: Cell::new(false) };
    let code = kurabe::run_program(Some(&world));
    if world.given_up.get() {
        // Finalizing MPI would wait for a rank that no longer responds.
        world.world.abort(ErrorKind::RankLost.exit_code().into());
    }
    code
}
