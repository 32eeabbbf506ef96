//! The I/O counters of a block device since it appeared, and the difference between two readings.
//!
//! The counters are from the kernel's `stat` file in sysfs. They count completed operations of all
//! processes, with merged ones counted once. They don't distinguish processes. On a device with a
//! cache, the kernel also counts a flush as a write without data. This source needs no privileges
//! and has no overhead, so it is used where block tracepoints are not available. Source: kernel
//! Documentation/block/stat.rst.

use crate::roots::{self, Roots};
use crate::{block::BlockNode, mount::parse_number, noise::parse_disk_stat};
use kurabe_core::{ErrorKind, Result, record::Traffic, text};

/// A reading of the counters of one block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct DeviceCounters {
    /// Totals since the device appeared.
    total: Traffic,
}

impl DeviceCounters {
    /// Reads the counters of a device, given by its kernel name (`sda1`) or its number (`8:1`).
    ///
    /// # Errors
    /// Fails if the device does not exist or has no counters.
    pub fn read(device: &str) -> Result<Self> {
        Self::read_in(&Roots::default(), device)
    }

    fn read_in(roots: &Roots, device: &str) -> Result<Self> {
        let block = match parse_number(device) {
            Some(number) => BlockNode::by_number(roots, number).ok(),
            None => BlockNode::by_name(roots, device),
        };
        let Some(block) = block else {
            return Err(ErrorKind::Target.error(text!(
                "there is no block device {device}",
                "ブロックデバイス {device} はありません"
            )));
        };
        let disk = block.disk().unwrap_or_else(|| block.clone());
        let counts = roots::flag(&disk.directory.join("queue/iostats")) != Some(false);
        let stat = roots::text(&block.directory.join("stat")).filter(|_| counts);
        stat.and_then(|stat| parse(&stat)).map(|total| Self { total }).ok_or_else(|| {
            let name = disk.name;
            ErrorKind::Unsupported
                .error(text!(
                    "the kernel does not count the operations of {device}",
                    "カーネルが {device} の操作を数えていません"
                ))
                .remedy(text!(
                    "enable the counters: echo 1 > /sys/block/{name}/queue/iostats",
                    "カウンターを有効にしてください: echo 1 > /sys/block/{name}/queue/iostats"
                ))
        })
    }

    /// Returns the traffic since an earlier reading.
    pub fn since(&self, earlier: &Self) -> Traffic {
        let (now, then) = (&self.total, &earlier.total);
        Traffic {
            read_operations: now.read_operations.saturating_sub(then.read_operations),
            read_bytes: now.read_bytes.saturating_sub(then.read_bytes),
            write_operations: now.write_operations.saturating_sub(then.write_operations),
            write_bytes: now.write_bytes.saturating_sub(then.write_bytes),
        }
    }
}

/// Operations are fields 1 and 5, counted from 1. The bytes are parsed by the noise module.
fn parse(stat: &str) -> Option<Traffic> {
    let bytes = parse_disk_stat(stat)?;
    let mut fields = stat.split_whitespace();
    Some(Traffic {
        read_operations: fields.next()?.parse().ok()?,
        read_bytes: bytes.read,
        write_operations: fields.nth(3)?.parse().ok()?,
        write_bytes: bytes.written,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    const BEFORE: &str = " 10 1 80 5 20 2 160 9 0 7 14 0 0 0 0 3 1";
    const AFTER: &str = " 13 1 104 5 25 2 208 9 0 7 14 0 0 0 0 4 1";

    #[test]
    fn the_difference_of_two_moments_is_the_traffic() {
        let fake = Fake::new();
        fake.disk("pci/sda", "8:0");
        fake.file("sys/devices/pci/sda/stat", BEFORE);
        let before = DeviceCounters::read_in(&fake.roots, "sda").expect("counters");
        fake.file("sys/devices/pci/sda/stat", AFTER);
        let after = DeviceCounters::read_in(&fake.roots, "8:0").expect("counters");
        let traffic =
            Traffic { read_operations: 3, read_bytes: 24 * 512, write_operations: 5, write_bytes: 48 * 512 };
        assert_eq!(after.since(&before), traffic);
        assert_eq!(before.since(&after), Traffic::default());
    }

    #[test]
    fn a_device_that_does_not_count_is_an_error_with_a_remedy() {
        let fake = Fake::new();
        fake.disk("pci/sda", "8:0");
        let kind = |device| DeviceCounters::read_in(&fake.roots, device).expect_err("no counters").kind();
        assert_eq!(kind("sda"), ErrorKind::Unsupported);
        assert_eq!(kind("sdb"), ErrorKind::Target);
        assert_eq!(kind("8:16"), ErrorKind::Target);
        fake.file("sys/devices/pci/sda/stat", BEFORE);
        fake.file("sys/devices/pci/sda/queue/iostats", "0\n");
        assert_eq!(kind("sda"), ErrorKind::Unsupported);
    }

    #[test]
    fn damaged_counters_are_none() {
        for bad in ["", "1 2 3", "a b c d e f g h", "1 1 99999999999999999999 1 1 1 1"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
