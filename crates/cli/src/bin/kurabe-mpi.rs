//! kurabe under an MPI launcher: every process is a rank, and rank 0 keeps the record of all. The only place that knows MPI.
//!
//! The model: messages are sent buffered, so that nobody waits for a receiver that is measuring, and received by looking for them:
//! a blocking MPI call could not be ended, and keeps a processor busy. All calls are of the main thread.

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

/// Room for messages that are sent and not received yet: thousands of repetitions.
const BUFFER_BYTES: usize = 64 << 20;
/// How long a look for a message is repeated without rest: a round trip within a host is shorter.
const EAGER: Duration = Duration::from_micros(30);
/// Rest between looks after that.
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
    // All threads that are started take it over: they begin a repetition at a time, and 50 µs is what Linux else adds to a sleep.
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
        // The end of MPI would wait for a rank that gives no sign.
        world.world.abort(ErrorKind::RankLost.exit_code().into());
    }
    code
}
