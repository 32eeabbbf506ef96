//! What reaches the device under a path while kurabe or a program goes through a file system.
//!
//! The model: the counters of the first device from the top that has some, which for a file system on a partition is the
//! partition. Of a file system on several devices (btrfs, ZFS) it is one of them, or none. Everybody's traffic counts.

use kurabe_core::record::{Interval, Traffic};
use kurabe_host::{DeviceCounters, devices_under};
use std::path::Path;

/// A device that is watched.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    /// Its number, `8:1`; `None` where there is none or it does not count.
    number: Option<String>,
}

impl Watched {
    /// The device under a path.
    pub(crate) fn under(path: &Path) -> Self {
        let number = devices_under(path)
            .into_iter()
            .map(|(major, minor)| format!("{major}:{minor}"))
            .find(|number| DeviceCounters::read(number).is_ok());
        Self { number }
    }

    /// Its counters now.
    pub(crate) fn read(&self) -> Option<DeviceCounters> {
        DeviceCounters::read(self.number.as_ref()?).ok()
    }

    /// What reached it since then.
    pub(crate) fn since(&self, earlier: Option<DeviceCounters>) -> Option<Traffic> {
        Some(self.read()?.since(&earlier?))
    }
}

/// Traffic as an interval of the progress.
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
