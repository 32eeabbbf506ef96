//! The test environment of a run, claims on devices, and noise during a run.
//!
//! Small functions read facts from Linux's sysfs and procfs below [`Roots`], so tests can use a
//! tree in a temporary directory instead of the real machine. Facts that can't be determined are
//! `None` or a line in `Environment::missing`, never a guess. Only [`claims`] returns an error in
//! that case, because a write depends on it. On another operating system, every fact is `None` and
//! `claims` fails.
//!
//! Opening targets, dropping caches and deciding whether to write belong to the engine. Comparisons
//! belong to stats.

mod block;
mod block_devices;
mod chain;
mod claims;
mod command;
mod counters;
mod device;
mod devices_under;
mod family;
mod health;
mod identity;
mod journal;
mod link;
mod machine;
mod memory;
mod mount;
mod noise;
mod observe;
mod place;
mod places;
mod platform;
mod processes;
mod random;
pub mod roots;
mod signature;
mod subject;
mod temperature;
mod tools;

#[cfg(any(test, feature = "fuzzing"))]
mod any_bytes;
#[cfg(test)]
mod fake;
#[cfg(test)]
mod never_panics;

#[cfg(feature = "fuzzing")]
pub use any_bytes::parse_all;
pub use block::{BlockNode, SECTOR_BYTES};
pub use block_devices::block_devices;
pub use claims::{Claim, claims, contents};
pub use command::{find_program, system_program};
pub use counters::DeviceCounters;
pub use device::serial_in_store;
pub use devices_under::{devices_right_under, devices_under};
pub use health::{HealthReport, health, health_report};
pub use identity::{Liveness, life_of, own_identity};
pub use memory::available_memory_bytes;
pub use mount::{Mount, mounts_at, mounts_of};
pub use noise::{
    NoiseMark, NoiseWatch, OTHER_BYTES_FLOOR, OTHER_BYTES_SHARE, OTHER_CPUS_BUSY, PRESSURE_SHARE,
    STEAL_SHARE, noise_remarks,
};
pub use observe::observe;
pub use place::{folder_facts, has_lasting_inodes, mounted_elsewhere};
pub use places::{CandidateDirectory, StorageMount, storage_mounts};
pub use platform::{
    Number, block_number, discard, file_extents, loop_status, process_exists, set_write_hint, swap_off, thaw,
    write_pages,
};
pub use processes::{
    Descendant, Process, descendants, this_process_holds, users_of_file_system, uses_file_system,
};
pub use random::random_bytes;
pub use roots::Roots;
pub use subject::ObserveOptions;
pub use temperature::Thermometer;
pub use tools::{tool_version, tools};
