//! The driver and the real devices: from a workload to measured repetitions, on files and block devices.

mod by_hand;
mod clock;
mod context;
mod disturbance;
mod drive;
mod fit;
mod ground;
mod interleaved;
mod modelled;
mod platform;
mod real;
#[cfg(test)]
#[path = "../tests/sequences/mod.rs"]
mod sequences;
mod session;
mod steps;
mod target;
mod task;
mod verify;

pub use by_hand::{BenchRules, ModelBench, on_target};
pub use clock::{measure_clock, monotonic_ns, wake_time_ns};
pub use drive::buffer::Pages;
pub use drive::device_idle::driver_cost_ns;
pub use drive::device_uring::{RingFacts, WaitMode, probe_ring};
pub use drive::measure::Engine;
pub use fit::{plan_tasks, planned_time_ns};
pub use interleaved::{
    BlocksSoFar, Ended, InterleavedRules, InterleavedSession, InterleavedTarget, WhyEnded,
    measure_interleaved,
};
pub use kurabe_program::Stop;
pub use modelled::{Modelled, model_target, unfilled_notice};
pub use platform::may_drop_page_cache;
pub use real::{CachePolicy, Settings};
pub use session::{FollowUp, Session, Settling, SettlingTime, add_steps};
pub use steps::choose::EngineChoice;
pub use target::common::OthersFile;
pub use target::mark::RunMark;
pub use target::orphan::{Fate, Mandate, take_away};
pub use target::test_file::{Remains, Scratch, Scratches, TestFile, test_file_name};
pub use target::{Target, TargetOptions};
pub use verify::{FaultKind, ImageCheck, Ledger, SectorFault, WriteList, check_image};
