//! The driver and the real devices: from a workload to measured repetitions, on files and block devices.

mod buffer;
mod choose;
mod clock;
mod cold;
mod command;
mod command_line;
mod content;
mod copy;
mod copy_loop;
mod device_idle;
#[cfg(test)]
mod device_null;
mod device_threads;
mod device_uring;
mod disturbance;
mod driver;
mod fill;
mod fit;
mod gate;
mod git_material;
mod git_tree;
mod measure;
mod memory;
mod permutation;
mod platform;
mod precondition;
mod program;
mod recorder;
mod repeat_io;
mod repeat_replay;
mod replay;
mod samples;
#[cfg(test)]
mod sequences;
mod session;
mod source;
mod target;
mod task;
mod test_file;
mod traffic;
mod work_folder;
mod zipf;

pub use buffer::Pages;
pub use choose::EngineChoice;
pub use clock::{measure_clock, monotonic_ns};
pub use device_idle::driver_cost_ns;
pub use device_uring::{RingFacts, WaitMode, probe_ring};
pub use driver::Stop;
pub use fit::{plan_tasks, planned_time_ns};
pub use measure::Engine;
pub use platform::may_drop_page_cache;
pub use program::kill_running_program;
pub use session::{CachePolicy, Session, Settings};
pub use target::{Target, TargetOptions};
pub use test_file::{remove_orphan, test_file_name};
