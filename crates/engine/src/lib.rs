//! The driver and the real devices: from a workload to measured repetitions, on files and block devices.

mod buffer;
mod choose;
mod clock;
mod cold;
mod command;
mod content;
mod copy;
mod copy_loop;
#[cfg(test)]
mod device_fault;
mod device_idle;
#[cfg(test)]
mod device_null;
mod device_threads;
mod device_uring;
mod disturbance;
mod driver;
mod every_operation;
mod fill;
mod fit;
mod gate;
mod ground;
mod held;
mod in_use;
mod listed;
mod mark;
mod measure;
mod model_copy;
mod modelled;
mod orphan;
mod permutation;
mod platform;
mod precondition;
mod readers;
mod real;
mod recorder;
mod repeat_io;
mod repeat_replay;
mod replay;
mod rest;
mod samples;
#[cfg(test)]
#[path = "../tests/sequences/mod.rs"]
mod sequences;
mod session;
mod source;
mod target;
mod task;
mod test_file;
mod traced;
mod traffic;
mod turns;
mod verify;
mod zipf;

pub use buffer::Pages;
pub use choose::EngineChoice;
pub use clock::{measure_clock, monotonic_ns};
pub use device_idle::driver_cost_ns;
pub use device_uring::{RingFacts, WaitMode, probe_ring};
pub use fit::{plan_tasks, planned_time_ns};
pub use kurabe_program::Stop;
pub use mark::RunMark;
pub use measure::Engine;
pub use modelled::{measure_model, model_target, unfilled_notice};
pub use orphan::{Fate, Mandate, take_away};
pub use platform::may_drop_page_cache;
pub use real::{CachePolicy, Settings};
pub use session::{FollowUp, Session};
pub use target::{Target, TargetOptions};
pub use test_file::{Remains, Scratch, Scratches, TestFile, test_file_name};
pub use turns::{Contender, Ended, InTurns, TurnRules, WhyEnded, measure_in_turns};
pub use verify::{FaultKind, ImageCheck, Ledger, SectorFault, WriteList, check_image};
