//! Profiles as files: their reader, and the library that comes with kurabe. Their types are in
//! `kurabe_core::profile`, because records contain them, and so are the options of a workload.

mod library;
mod read;

pub use library::{EVERYDAY, PROFILES, ProfileGroup, profile_named};
pub use read::parse_profile;
