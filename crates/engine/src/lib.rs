//! The driver and the real devices: from a workload to measured repetitions, on files and block devices.

mod buffer;
mod choose;
mod clock;
mod content;
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
mod measure;
mod permutation;
mod platform;
mod random;
mod recorder;
mod session;
mod source;
mod target;
mod test_file;
mod zipf;

pub use buffer::Pages;
pub use choose::EngineChoice;
pub use clock::{measure_clock, monotonic_ns};
pub use device_idle::driver_cost_ns;
pub use device_uring::{RingFacts, WaitMode, probe_ring};
pub use driver::Stop;
pub use fit::{plan_cells, planned_time_ns};
pub use measure::Engine;
pub use platform::may_drop_page_cache;
pub use session::{CachePolicy, Session, Settings};
pub use target::{Target, TargetOptions};
pub use test_file::{remove_orphan, test_file_name};
