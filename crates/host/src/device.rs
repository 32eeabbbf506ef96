//! A bottom device: its identity and its kernel settings, from sysfs and udev's database.
//!
//! The identity is taken from the best source available. NVMe and virtio provide it in sysfs. For
//! an ATA disk, the `model` in sysfs is truncated to 16 characters, so its IDENTIFY data (VPD page
//! 89h) or udev's database has priority. Attributes: kernel Documentation/ABI/stable/sysfs-block.

use crate::link::{link, nvme_controllers};
use crate::roots::{self, Roots};
use crate::{block::BlockNode, subject::ObserveOptions};
use kurabe_core::environment::{BlockDevice, Link};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;

/// Hexadecimal digits of a hashed serial number: 64 bits, enough to distinguish the devices of one
/// store.
const SERIAL_DIGITS: usize = 16;

/// The identity that a device reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Identity {
    pub model: Option<String>,
    pub firmware: Option<String>,
    pub serial: Option<String>,
}

impl Identity {
    /// Fills unknown fields from another source.
    fn or(self, other: Self) -> Self {
        Self {
            model: self.model.or(other.model),
            firmware: self.firmware.or(other.firmware),
            serial: self.serial.or(other.serial),
        }
    }
}

/// Returns the salted hash of a serial number, as records store it.
pub fn serial_in_store(serial: &str, salt: &[u8]) -> String {
    keep_serial(serial, &ObserveOptions { with_serial: false, salt })
}

/// Returns the serial number as stored in the record: plain if the user requested it, otherwise a
/// salted hash.
fn keep_serial(serial: &str, options: &ObserveOptions<'_>) -> String {
    if options.with_serial {
        return serial.to_owned();
    }
    let mut hash = Sha256::new();
    hash.update((options.salt.len() as u64).to_le_bytes());
    hash.update(options.salt);
    hash.update(serial.as_bytes());
    let mut digits: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    digits.truncate(SERIAL_DIGITS);
    digits
}

/// Returns the text of a fixed-length field without surrounding blanks and control characters.
/// `None` if it is empty.
fn field(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_matches(|c: char| c.is_whitespace() || c.is_control());
    (!text.is_empty()).then(|| text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Parses the identity in VPD page 89h (ATA information). IDENTIFY DEVICE starts at byte 60, and
/// its texts have the two bytes of each word swapped. Words 10-19 are the serial number, 23-26 the
/// firmware, 27-46 the model (ACS-4, table 45; SAT-4, 12.4.2).
pub(crate) fn parse_ata_page(page: &[u8]) -> Identity {
    let text = |first: usize, last: usize| {
        let bytes = page.get(60 + first * 2..60 + last * 2 + 2)?;
        let swapped: Vec<u8> = bytes.chunks_exact(2).flat_map(|word| [word[1], word[0]]).collect();
        field(&swapped)
    };
    if page.get(1) != Some(&0x89) {
        return Identity::default();
    }
    Identity { model: text(27, 46), firmware: text(23, 26), serial: text(10, 19) }
}

/// Parses the serial number in VPD page 80h: a header of four bytes, followed by text (SPC-5,
/// 7.7.18).
pub(crate) fn parse_serial_page(page: &[u8]) -> Option<String> {
    if page.get(1) != Some(&0x80) {
        return None;
    }
    let length = usize::from(u16::from_be_bytes([*page.get(2)?, *page.get(3)?]));
    let end = page.len().min(4 + length);
    field(page.get(4..end)?)
}

/// Decodes udev's escapes: `\x20` is a blank.
fn unescape_udev(text: &str) -> String {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let hex = match tail {
            [b'x', a, b, ..] if first == b'\\' => {
                std::str::from_utf8(&[*a, *b]).ok().and_then(|digits| u8::from_str_radix(digits, 16).ok())
            }
            _ => None,
        };
        out.push(hex.unwrap_or(first));
        rest = &tail[if hex.is_some() { 3 } else { 0 }..];
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Parses the identity in udev's database, a file of `E:KEY=value` lines.
pub(crate) fn parse_udev(database: &str) -> Identity {
    let pairs: BTreeMap<&str, &str> = database
        .lines()
        .filter_map(|line| line.strip_prefix("E:")?.split_once('='))
        .filter(|(_, value)| !value.is_empty())
        .collect();
    let model = pairs
        .get("ID_MODEL_ENC")
        .map(|text| unescape_udev(text))
        .or_else(|| pairs.get("ID_MODEL").map(|text| text.replace('_', " ")));
    Identity {
        model: model.and_then(|model| field(model.as_bytes())),
        firmware: pairs.get("ID_REVISION").and_then(|text| field(text.as_bytes())),
        serial: pairs.get("ID_SERIAL_SHORT").and_then(|text| field(text.as_bytes())),
    }
}

fn identity(roots: &Roots, disk: &BlockNode) -> Identity {
    let dir = &disk.directory;
    let device = dir.join("device");
    let page = |name: &str| roots::read_bytes(&device.join(name)).unwrap_or_default();
    let udev = disk
        .number()
        .and_then(|(major, minor)| roots::text(&roots.run.join(format!("udev/data/b{major}:{minor}"))))
        .map(|database| parse_udev(&database))
        .unwrap_or_default();
    // SCSI separates vendor and model. ATA devices have "ATA" in the vendor field.
    let vendor =
        roots::words(&device.join("vendor")).filter(|vendor| vendor != "ATA" && !vendor.starts_with("0x"));
    let scsi_model = roots::words(&device.join("model")).map(|model| match vendor {
        Some(vendor) => format!("{vendor} {model}"),
        None => model,
    });
    let sysfs = Identity {
        model: scsi_model.or_else(|| roots::words(&device.join("name"))),
        firmware: ["firmware_rev", "rev", "fwrev"].iter().find_map(|name| roots::words(&device.join(name))),
        serial: roots::words(&device.join("serial"))
            .or_else(|| roots::words(&dir.join("serial")))
            .or_else(|| parse_serial_page(&page("vpd_pg80"))),
    };
    let sysfs = Identity { model: sysfs.model.and_then(|model| field(model.as_bytes())), ..sysfs };
    if disk.name.starts_with("nvme") {
        sysfs.or(udev)
    } else {
        parse_ata_page(&page("vpd_pg89")).or(udev).or(sysfs)
    }
}

/// Returns the number of commands that the device accepts concurrently.
fn queue_depth(disk: &BlockNode) -> Option<u32> {
    if let Some(depth) = roots::number(&disk.directory.join("device/queue_depth")) {
        return Some(depth);
    }
    // An NVMe queue of `sqsize` + 1 slots holds `sqsize` commands.
    let controllers = nvme_controllers(&disk.directory);
    controllers.iter().find_map(|controller| roots::number(&controller.join("sqsize")))
}

/// Describes a bottom device, except for its health.
pub(crate) fn describe(
    roots: &Roots,
    disk: &BlockNode,
    partition: Option<String>,
    options: &ObserveOptions<'_>,
) -> BlockDevice {
    let queue = |name: &str| disk.directory.join("queue").join(name);
    let kib = |file: &Path| roots::number::<u64>(file).and_then(|kib| kib.checked_mul(1024));
    let identity = identity(roots, disk);
    let depth = queue_depth(disk);
    let link = match link(roots, disk) {
        Some(Link::Sata { speed_gbit_per_s, speed_max_gbit_per_s, .. }) => {
            // A depth of 1 means that the disk has no native command queueing.
            Some(Link::Sata {
                speed_gbit_per_s,
                speed_max_gbit_per_s,
                ncq_depth: depth.filter(|&depth| depth > 1),
            })
        }
        link => link,
    };
    BlockDevice {
        name: disk.name.clone(),
        partition,
        model: identity.model,
        firmware: identity.firmware,
        serial: identity.serial.map(|serial| keep_serial(&serial, options)),
        size_bytes: disk.size_bytes(),
        rotational: roots::flag(&queue("rotational")),
        scheduler: roots::text(&queue("scheduler")).and_then(|schedulers| roots::chosen(&schedulers)),
        queue_requests: roots::number(&queue("nr_requests")),
        queue_depth: depth,
        write_cache: roots::words(&queue("write_cache")),
        logical_sector_bytes: roots::number(&queue("logical_block_size")),
        physical_sector_bytes: roots::number(&queue("physical_block_size")),
        largest_request_bytes: kib(&queue("max_sectors_kb")),
        read_ahead_bytes: kib(&queue("read_ahead_kb")),
        removable: roots::flag(&disk.directory.join("removable")),
        link,
        health: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASHED: ObserveOptions<'_> = ObserveOptions { with_serial: false, salt: b"salt" };

    #[test]
    fn a_serial_number_is_hashed_with_its_salt() {
        let kept = keep_serial("S5H9NS0N", &HASHED);
        assert_eq!(kept.len(), SERIAL_DIGITS);
        assert!(kept.bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert_eq!(kept, keep_serial("S5H9NS0N", &HASHED));
        assert_ne!(kept, keep_serial("S5H9NS0M", &HASHED));
        assert_ne!(kept, keep_serial("S5H9NS0N", &ObserveOptions { salt: b"other", ..HASHED }));
        assert_ne!(
            keep_serial("ltS5", &ObserveOptions { salt: b"sa", ..HASHED }),
            keep_serial("S5", &HASHED),
            "salt and number do not run into each other"
        );
        assert_eq!(keep_serial("S5", &ObserveOptions { with_serial: true, ..HASHED }), "S5");
    }

    #[test]
    fn an_ata_page_tells_the_whole_model() {
        let mut page = vec![0_u8; 572];
        page[1] = 0x89;
        let mut put = |word: usize, count: usize, text: &str| {
            let padded = format!("{text:<width$}", width = count * 2);
            for (at, pair) in padded.as_bytes().chunks_exact(2).enumerate() {
                page[60 + (word + at) * 2] = pair[1];
                page[60 + (word + at) * 2 + 1] = pair[0];
            }
        };
        put(10, 10, "S3Z8NB0K123456");
        put(23, 4, "RVT01B6Q");
        put(27, 20, "Samsung SSD 860 EVO 500GB");
        let identity = parse_ata_page(&page);
        assert_eq!(identity.model.as_deref(), Some("Samsung SSD 860 EVO 500GB"));
        assert_eq!(identity.firmware.as_deref(), Some("RVT01B6Q"));
        assert_eq!(identity.serial.as_deref(), Some("S3Z8NB0K123456"));
        assert_eq!(parse_ata_page(&page[..100]), Identity { serial: identity.serial, ..Identity::default() });
    }

    #[test]
    fn a_serial_page_is_cut_at_its_length() {
        assert_eq!(parse_serial_page(b"\0\x80\0\x04AB12trailing").as_deref(), Some("AB12"));
        assert_eq!(parse_serial_page(b"\0\x80\xff\xff AB ").as_deref(), Some("AB"));
        assert_eq!(parse_serial_page(b"\0\x80\0\0"), None);
        assert_eq!(parse_serial_page(b"\0\x83\0\x04AB12"), None);
    }

    #[test]
    fn udevs_database_tells_model_revision_and_serial() {
        let identity = parse_udev(
            "S:disk/by-id/x\nE:ID_MODEL=cut_off\nE:ID_MODEL_ENC=Ultra\\x20Fit\\x20\\x20\n\
             E:ID_REVISION=1.00\nE:ID_SERIAL_SHORT=4C53\n",
        );
        assert_eq!(identity.model.as_deref(), Some("Ultra Fit"));
        assert_eq!(identity.firmware.as_deref(), Some("1.00"));
        assert_eq!(identity.serial.as_deref(), Some("4C53"));
        assert_eq!(unescape_udev("a\\xzz\\x2"), "a\\xzz\\x2");
    }
}
