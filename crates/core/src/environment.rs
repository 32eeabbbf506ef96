//! The test environment of a run: machine, kernel, and the chain from the path down to the device.
//! It contains only facts. Anything that could not be determined is `None`, never a guess.

use serde::{Deserialize, Serialize};

/// Virtualisation of the machine: hypervisor and container.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Virtualisation {
    /// The hypervisor, such as `kvm`, if the machine is virtual.
    pub machine: Option<String>,
    /// The container, such as `docker`, if there is one.
    pub container: Option<String>,
}

/// Properties of the machine.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Machine {
    /// Manufacturer and model, if the firmware reports them.
    pub model: Option<String>,
    /// CPU model.
    pub cpu_model: Option<String>,
    /// Logical CPUs that kurabe may use.
    pub cpu_count: Option<u32>,
    /// CPU frequency governor, such as `performance`.
    pub cpu_governor: Option<String>,
    /// Memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Kernel name and release.
    pub kernel: Option<String>,
    /// Operating system, as it identifies itself.
    pub os: Option<String>,
    /// Virtual machine or container.
    pub virtualisation: Virtualisation,
}

/// The mechanism that keeps a file system consistent after a crash, at the cost of additional
/// writes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FileSystemJournal {
    /// No journal.
    Absent,
    /// A journal within the file system.
    Internal {
        /// Handling of data, in the file system's terms: `ordered`, `writeback`, `journal`.
        data: Option<String>,
    },
    /// A journal on another device.
    External {
        /// Handling of data, in the file system's terms.
        data: Option<String>,
    },
}

/// The file system that holds the target.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileSystem {
    /// Type, such as `ext4`.
    pub kind: Option<String>,
    /// The mount point.
    pub mount_point: Option<String>,
    /// The mounted source, such as `/dev/sda1`.
    pub source: Option<String>,
    /// Mount options.
    pub options: Option<String>,
    /// Block size in bytes.
    pub block_size_bytes: Option<u64>,
    /// The journal, if the kernel reports it.
    pub journal: Option<FileSystemJournal>,
    /// Size in bytes.
    pub size_bytes: Option<u64>,
    /// Bytes available to this user.
    pub free_bytes: Option<u64>,
}

/// How the device is connected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Link {
    /// PCI Express.
    Pcie {
        /// Current speed of a lane, in GT/s.
        speed_gt_per_s: Option<f64>,
        /// Current number of lanes.
        width: Option<u32>,
        /// Highest speed that the device supports, in GT/s.
        speed_max_gt_per_s: Option<f64>,
        /// Largest number of lanes that the device supports.
        width_max: Option<u32>,
    },
    /// Serial ATA.
    Sata {
        /// Current line rate, in Gbit/s.
        speed_gbit_per_s: Option<f64>,
        /// Line rate limit, in Gbit/s.
        speed_max_gbit_per_s: Option<f64>,
        /// Native command queueing: maximum number of outstanding commands.
        ncq_depth: Option<u32>,
    },
    /// Universal Serial Bus.
    Usb {
        /// Current signalling rate, in Mbit/s.
        speed_mbit_per_s: Option<f64>,
        /// `bot` or `uas`.
        protocol: Option<String>,
        /// USB version that the device reports, such as `3.20`.
        version: Option<String>,
    },
    /// The bus of a memory card.
    CardLines {
        /// Bus timing, as the kernel reports it, such as `sd high-speed`.
        timing: Option<String>,
        /// Bus bandwidth in bytes per second, from clock and width.
        rate_bytes_per_s: Option<f64>,
    },
    /// A volume of a RAID card.
    RaidCard {
        /// The card's driver, such as `megaraid_sas`.
        driver: String,
        /// The link of the card itself.
        slot: Box<Link>,
    },
    /// Paravirtualised I/O of a hypervisor.
    Virtio,
    /// A file or device behind a loop device.
    Loop {
        /// The backing file.
        backing: Option<String>,
        /// Whether the loop device itself uses direct I/O.
        direct: Option<bool>,
    },
    /// Memory.
    Memory,
    /// Any other link, by its kernel name.
    Other {
        /// The kernel's name of the subsystem.
        subsystem: String,
    },
}

/// Health data that the device itself reports.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceHealth {
    /// The tool that read it, such as `smartctl 7.3`.
    pub source: String,
    /// Temperature in °C.
    pub temperature_celsius: Option<i32>,
    /// Used share of the rated life, in percent.
    pub wear_percent: Option<u32>,
    /// Hours powered on.
    pub power_on_hours: Option<u64>,
    /// Bytes written over the device's lifetime.
    pub written_bytes: Option<u64>,
    /// Temperatures over the run, in order of time. Only in the health after a run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub temperatures: Vec<TemperatureSample>,
}

/// A temperature of the hottest device below a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TemperatureSample {
    /// Time in ns, from the start of the run.
    pub at_ns: u64,
    /// Temperature in °C.
    pub celsius: i32,
}

/// A block device in the chain.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockDevice {
    /// Kernel name, such as `nvme0n1`.
    pub name: String,
    /// The partition that holds the target, such as `nvme0n1p2`, if any.
    pub partition: Option<String>,
    /// Model name, as the device reports it.
    pub model: Option<String>,
    /// Firmware version.
    pub firmware: Option<String>,
    /// Salted hash of the serial number, equal for the same device in the same store. The plain
    /// number if the user requested it.
    pub serial: Option<String>,
    /// Size in bytes.
    pub size_bytes: Option<u64>,
    /// Whether the kernel reports the device as rotational.
    pub rotational: Option<bool>,
    /// I/O scheduler.
    pub scheduler: Option<String>,
    /// Number of requests that the kernel queues (`nr_requests`).
    pub queue_requests: Option<u32>,
    /// Number of commands that the device accepts concurrently.
    pub queue_depth: Option<u32>,
    /// `write back` or `write through`.
    pub write_cache: Option<String>,
    /// Logical sector size in bytes.
    pub logical_sector_bytes: Option<u32>,
    /// Physical sector size in bytes.
    pub physical_sector_bytes: Option<u32>,
    /// Largest request that the kernel sends, in bytes.
    pub largest_request_bytes: Option<u64>,
    /// Read-ahead in bytes.
    pub read_ahead_bytes: Option<u64>,
    /// Whether the medium is removable.
    pub removable: Option<bool>,
    /// The link through which the device is connected.
    pub link: Option<Link>,
    /// Health data from before the run.
    pub health: Option<DeviceHealth>,
}

impl BlockDevice {
    /// Returns the name of the model, if kurabe serves this device.
    pub fn served_model(&self) -> Option<&str> {
        self.model.as_deref()?.strip_prefix(crate::target_name::MODEL_PREFIX)
    }

    /// Returns whether the device is rotational, as far as that can be determined. Layers that hide
    /// the medium are reported as rotational whatever the medium is, so they return `None`.
    pub fn turns(&self) -> Option<bool> {
        self.rotational.filter(|_| !self.is_hidden())
    }

    /// Returns the cloud provider whose network volume this is, based on the model name that the
    /// kernel reports.
    pub fn provider(&self) -> Option<&'static str> {
        // Model names of the NVMe and SCSI devices, from the providers' guides.
        const PROVIDERS: [(&str, &str); 4] = [
            ("Amazon Elastic Block Store", "Amazon EBS"),
            ("nvme_card-pd", "Google Persistent Disk"),
            ("PersistentDisk", "Google Persistent Disk"),
            ("MSFT NVMe Accelerator", "Azure"),
        ];
        let model = self.model.as_deref()?.trim();
        PROVIDERS.iter().find(|(start, _)| model.starts_with(start)).map(|(_, provider)| *provider)
    }

    /// Returns whether the medium is hidden by a hypervisor, a file or memory.
    pub fn is_hidden(&self) -> bool {
        matches!(self.link, Some(Link::Virtio | Link::Loop { .. } | Link::Memory))
    }
}

/// The complete test environment of a run.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Environment {
    /// The machine.
    pub machine: Machine,
    /// The file system, if the target is in one.
    pub file_system: Option<FileSystem>,
    /// Layers between the file system and the devices, from the top, such as `dm-0 (crypt)`.
    pub layers: Vec<String>,
    /// The devices at the bottom. RAID and similar layers have several.
    pub devices: Vec<BlockDevice>,
    /// Facts that could not be determined, with the reason (such as "smartctl: not installed").
    pub missing: Vec<String>,
}
