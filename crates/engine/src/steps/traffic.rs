//! The traffic of the device below a path while kurabe or a program accesses it through a file
//! system.
//!
//! It uses the counters of the first device from the top that has counters, which is the partition
//! for a file system on a partition. For a file system on several devices (btrfs, ZFS), it is one
//! of them, or none. Traffic of all processes counts.

use kurabe_core::record::{Interval, Traffic};
use kurabe_host::{DeviceCounters, devices_under};
use std::path::Path;

/// A device whose traffic is observed.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    /// The device number, such as `8:1`. `None` if there is no device or it has no counters.
    number: Option<String>,
}

impl Watched {
    /// Returns the device below a path.
    pub(crate) fn under(path: &Path) -> Self {
        let number = devices_under(path)
            .into_iter()
            .map(|(major, minor)| format!("{major}:{minor}"))
            .find(|number| DeviceCounters::read(number).is_ok());
        Self { number }
    }

    /// Reads its current counters.
    pub(crate) fn read(&self) -> Option<DeviceCounters> {
        DeviceCounters::read(self.number.as_ref()?).ok()
    }

    /// Returns its traffic since the earlier reading.
    pub(crate) fn since(&self, earlier: Option<DeviceCounters>) -> Option<Traffic> {
        Some(self.read()?.since(&earlier?))
    }
}

/// Converts traffic into an interval of the progress.
pub(crate) fn interval_of(traffic: &Traffic) -> Interval {
    Interval {
        read_bytes: traffic.read_bytes,
        read_operations: u32::try_from(traffic.read_operations).unwrap_or(u32::MAX),
        write_bytes: traffic.write_bytes,
        write_operations: u32::try_from(traffic.write_operations).unwrap_or(u32::MAX),
        ..Interval::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_without_a_device_has_no_traffic() {
        let watched = Watched::under(Path::new("/proc"));
        assert_eq!(watched.since(watched.read()), None);
    }
}
