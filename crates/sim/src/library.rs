//! The devices that come with kurabe, from the folder `devices/`.
//!
//! # To add a device
//!
//! - Write `devices/NAME.toml`: the layers from the host down, each parameter with its source
//!   (docs/models.md). A computer whose bus others share is a fragment in `devices/fragments/`; a
//!   computer alone is a file in `computers/`, with its name in `COMPUTERS`.
//! - Add its name to `DEVICES`.
//! - Published figures are an entry in `catalogue/` and a row of a study.
//! - An emulator with a memory card, a card, or a computer with a SCSI bus is a part (`parts.rs`): write
//!   `devices/emulators/NAME.toml`, `devices/cards/NAME.toml` or `devices/hosts/NAME.toml`, and add its name
//!   to `EMULATORS`, `CARDS` or `HOSTS`.

use crate::parts::{CARDS, EMULATORS, HOSTS, assembled};
use crate::spec::DeviceSpec;
use kurabe_core::library::{is_path, names, text_named};
use kurabe_core::outside::text_of_file;
use kurabe_core::{Error, ErrorKind, Result, library, mention::MODELS, nearest, nearest_of_many, text};

/// Name and text of every fragment that devices use: computers with their buses, and controllers.
pub const FRAGMENTS: &[(&str, &str)] = library!["devices/fragments", ".toml":
    "adaptec-asynchronous",
    "adaptec-synchronous",
    "journal",
    "power-macintosh-8100",
    "windows-xp-2009",
    "zfs-mirror",
];

/// Name and text of every computer that a device can be attached to: a host alone, by system and
/// I/O interface.
pub const COMPUTERS: &[(&str, &str)] = library!["computers", ".toml":
    "windows-desktop",
    "windows-notebook",
    "windows-pcie3",
    "linux-libaio",
    "linux-io-uring",
    "none",
];

/// Name and text of every device, in listing order.
pub const DEVICES: &[(&str, &str)] = library!["devices", ".toml":
    // SCSI disk emulators.
    "henkan-bancho",
    "henkan-bancho-mac",
    "henkan-bancho-pro",
    "henkan-bancho-pro-mac",
    "scsi2sd-v5",
    "scsi2sd-v5-mac",
    "scsi2sd-v6",
    "scsi2sd-v6-mac",
    "rascsi",
    "rascsi-mac",
    // Disks, MO, ZIP.
    "ibm-dcas-34330",
    "ibm-dcas-34330-mac",
    "quantum-lps-250",
    "quantum-lps-250-mac",
    "fujitsu-mcd3130ss-640",
    "fujitsu-mcd3130ss-640-mac",
    "fujitsu-mcd3130ss-1300",
    "fujitsu-mcd3130ss-1300-mac",
    "iomega-zip100",
    "iomega-zip100-mac",
    "hitachi-hds721616plat80",
    "hitachi-hua722020ala330",
    "wd-red-3tb",
    "seagate-ironwolf-4tb",
    "seagate-exos-x18",
    "seagate-exos-x18-kept",
    "seagate-archive-8tb",
    "toshiba-p300-2tb",
    "seagate-barracuda-2tb-25",
    // SCSI disks that DiskSim was validated on.
    "seagate-cheetah-9lp",
    "quantum-atlas-10k",
    "quantum-atlas-iii",
    "seagate-barracuda-st32171w",
    "hp-c2247a",
    // RAID cards and their SSDs.
    "raid-9260",
    "raid-9260-cached",
    "raid-9260-mixed",
    // Software RAID and pools of today.
    "md-raid1-2",
    "md-raid10-4",
    "md-raid5-4",
    "md-raid6-8",
    "raidz1-3",
    "raidz2-6",
    // USB sticks and boxes, port multipliers.
    "samsung-fit-plus-exfat",
    "samsung-fit-plus-apfs",
    "hua722020-sata",
    "hua722020-usb",
    "mirror3-sata-fbs",
    "mirror3-sata-cbs",
    "mirror3-usb",
    "mirror3-usb-uas",
    // SSDs.
    "intel-x25m-g1",
    "intel-x25m-g2",
    "samsung-mccoe64g5mpp",
    "samsung-870-evo",
    "samsung-980",
    "crucial-p1",
    "samsung-870-qvo",
    "wd-black-sn770",
    "samsung-980-pro",
    "samsung-990-pro",
    "samsung-9100-pro",
    "hp-fx900",
    "crucial-t700",
    "samsung-pm963",
    "intel-optane-p4800x",
    "mqsim-512g",
    "toshiba-hg2-agta0104",
    "toshiba-hg2-agya0201",
    "toshiba-hg3",
    "ocz-core-v2",
    "ocz-vertex",
    // Memory cards.
    "samsung-evo-plus-sd",
    "sandisk-extreme-a1-sd",
    "raspberry-pi-a2-sd",
    "asus-c201-emmc",
    // Volumes of a provider.
    "ebs-gp3",
    "ebs-gp2",
    "ebs-io2",
    "ebs-st1",
    "google-pd-balanced",
    // Anything else.
    "ideal-ram-disk",
];

/// Names of common kinds of drives, each with the device that represents it.
pub const KINDS_OF_DRIVES: &[(&str, &str)] = &[
    ("hdd-7200", "hitachi-hua722020ala330"),
    ("hdd-nas", "wd-red-3tb"),
    ("hdd-nearline", "seagate-exos-x18"),
    ("hdd-smr", "seagate-archive-8tb"),
    ("hdd-2.5", "seagate-barracuda-2tb-25"),
    ("ssd-sata", "samsung-870-evo"),
    ("ssd-nvme", "samsung-990-pro"),
    ("ssd-nvme-dramless", "wd-black-sn770"),
    ("ssd-qlc", "crucial-p1"),
    ("ssd-enterprise", "samsung-pm963"),
    ("ssd-optane", "intel-optane-p4800x"),
    ("sd-a1", "sandisk-extreme-a1-sd"),
    ("sd-a2", "raspberry-pi-a2-sd"),
    ("emmc", "asus-c201-emmc"),
    ("usb-stick", "samsung-fit-plus-exfat"),
];

/// Folders of the files that a device can use, with their names and texts.
const FOLDERS: &[(&str, &[(&str, &str)])] = &[
    ("devices", DEVICES),
    ("devices/fragments", FRAGMENTS),
    ("devices/emulators", EMULATORS),
    ("devices/cards", CARDS),
    ("devices/hosts", HOSTS),
    ("computers", COMPUTERS),
];

/// Returns a device that comes with kurabe, by its name or by the kind of drive it represents.
///
/// # Errors
/// Returns an error that suggests the nearest name if there is no such device.
pub fn device_named(name: &str) -> Result<DeviceSpec> {
    if let Some(device) = assembled(name) {
        return device;
    }
    let name = KINDS_OF_DRIVES.iter().find(|(kind, _)| *kind == name).map_or(name, |(_, device)| device);
    let (file, source) = embedded("devices", DEVICES, name)
        .ok_or_else(|| no_model(name, &[KINDS_OF_DRIVES, DEVICES].concat()))?;
    DeviceSpec::parse(&file, source, &find)
}

/// Returns a device by name, or from the user's own file if `name` looks like a path.
///
/// # Errors
/// Returns an error if the device does not exist or its file is invalid.
pub fn load_device(name: &str) -> Result<DeviceSpec> {
    if is_path(name) { read_device(name, &read_file(name)?) } else { device_named(name) }
}

/// Parses a device from the text of its file; `name` is shown in errors.
///
/// # Errors
/// Returns the first error, with its line.
pub fn read_device(name: &str, source: &str) -> Result<DeviceSpec> {
    DeviceSpec::parse(name, source, &find)
}

/// Finds a device or a fragment for a file that uses it: one of the library, or a path relative to
/// that file.
pub(crate) fn find(name: &str, user: &str) -> Result<(String, String)> {
    if is_path(name) {
        let path = std::path::Path::new(user).with_file_name(name).to_string_lossy().into_owned();
        let source = read_file(&path)?;
        return Ok((path, source));
    }
    let device = FOLDERS.iter().find_map(|(folder, files)| embedded(folder, files, name));
    let all = || FOLDERS.iter().flat_map(|(_, files)| files.iter().copied()).collect::<Vec<_>>();
    let (file, source) = device.ok_or_else(|| no_model(name, &all()))?;
    Ok((file, source.to_owned()))
}

/// Returns name and text of a computer, by its name or the path of the user's own file.
pub(crate) fn find_computer(name: &str) -> Result<(String, String)> {
    if is_path(name) {
        return Ok((name.to_owned(), read_file(name)?));
    }
    let (file, source) = embedded("computers", COMPUTERS, name).ok_or_else(|| {
        ErrorKind::Usage
            .error(text!("the computer `{name}` does not exist", "`{name}` というコンピューターはありません"))
            .remedy(nearest(name, &names(COMPUTERS)))
    })?;
    Ok((file, source.to_owned()))
}

fn read_file(path: &str) -> Result<String> {
    text_of_file(path, &text!("cannot read the device file {path}", "デバイスファイル {path} を読めません"))
}

fn embedded(folder: &str, files: &[(&str, &'static str)], name: &str) -> Option<(String, &'static str)> {
    Some((format!("{folder}/{name}.toml"), text_named(files, name)?))
}

fn no_model(name: &str, files: &[(&str, &str)]) -> Error {
    let what = text!("the model `{name}` does not exist", "`{name}` というモデルはありません");
    ErrorKind::Usage.error(what).remedy(nearest_of_many(name, &names(files), MODELS))
}
