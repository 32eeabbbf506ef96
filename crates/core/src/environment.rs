//! What a run stood on: machine, kernel, and the chain from the path down to the device. Facts only; what could
//! not be found out is `None`, never a guess.

use serde::{Deserialize, Serialize};

/// A virtual machine or a container.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Virtualisation {
    /// The hypervisor, such as `kvm`, if the machine is virtual.
    pub machine: Option<String>,
    /// The container, such as `docker`, if there is one.
    pub container: Option<String>,
}

/// The machine.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Machine {
    /// Maker and model, if firmware tells.
    pub model: Option<String>,
    /// CPU model.
    pub cpu_model: Option<String>,
    /// Logical CPUs that kurabe may use.
    pub cpu_count: Option<u32>,
    /// Frequency governor, such as `performance`.
    pub cpu_governor: Option<String>,
    /// Memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Kernel name and release.
    pub kernel: Option<String>,
    /// Operating system, as it calls itself.
    pub os: Option<String>,
    /// Virtual machine or container.
    pub virtualisation: Virtualisation,
}

/// What keeps a file system whole over a crash, and costs writes for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FileSystemJournal {
    /// It has none.
    Absent,
    /// In the file system itself.
    Internal {
        /// What becomes of data, as the file system calls it: `ordered`, `writeback`, `journal`.
        data: Option<String>,
    },
    /// On another device.
    External {
        /// As above.
        data: Option<String>,
    },
}

/// The file system that holds the target.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileSystem {
    /// Type, such as `ext4`.
    pub kind: Option<String>,
    /// Where it is mounted.
    pub mount_point: Option<String>,
    /// What is mounted, such as `/dev/sda1`.
    pub source: Option<String>,
    /// Mount options.
    pub options: Option<String>,
    /// Block size in bytes.
    pub block_size_bytes: Option<u64>,
    /// Its journal, where the kernel tells.
    pub journal: Option<FileSystemJournal>,
    /// Size in bytes.
    pub size_bytes: Option<u64>,
    /// Free bytes for this user.
    pub free_bytes: Option<u64>,
}

/// How the device is connected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Link {
    /// PCI Express.
    Pcie {
        /// Transfers per second of a lane now, in GT/s.
        speed_gt_per_s: Option<f64>,
        /// Lanes now.
        width: Option<u32>,
        /// The most the device can.
        speed_max_gt_per_s: Option<f64>,
        /// The most lanes the device can.
        width_max: Option<u32>,
    },
    /// Serial ATA.
    Sata {
        /// Line rate now, in Gbit/s.
        speed_gbit_per_s: Option<f64>,
        /// Line rate limit, in Gbit/s.
        speed_max_gbit_per_s: Option<f64>,
        /// Native command queueing: commands that may be outstanding.
        ncq_depth: Option<u32>,
    },
    /// Universal Serial Bus.
    Usb {
        /// Signalling rate now, in Mbit/s.
        speed_mbit_per_s: Option<f64>,
        /// `bot` or `uas`.
        protocol: Option<String>,
        /// USB version the device claims, such as `3.20`.
        version: Option<String>,
    },
    /// The lines of a memory card.
    CardLines {
        /// What they do, as the kernel says it, such as `sd high-speed`.
        timing: Option<String>,
        /// Bytes per second that they carry: clock and width.
        rate_bytes_per_s: Option<f64>,
    },
    /// A volume of a RAID card.
    RaidCard {
        /// The card's driver, such as `megaraid_sas`.
        driver: String,
        /// The card's own connection.
        slot: Box<Link>,
    },
    /// Virtual I/O of a hypervisor.
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
    /// Something else, by its kernel name.
    Other {
        /// The kernel's name for the subsystem.
        subsystem: String,
    },
}

/// Health as the device itself reports it.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceHealth {
    /// Which tool told, such as `smartctl 7.3`.
    pub source: String,
    /// Temperature in °C.
    pub temperature_celsius: Option<i32>,
    /// Rated life used, in percent.
    pub wear_percent: Option<u32>,
    /// Hours powered on.
    pub power_on_hours: Option<u64>,
    /// Bytes written over its life.
    pub written_bytes: Option<u64>,
}

/// How the model of a device begins that is no device, but a model that kurabe serves; behind it stands the model's name.
pub const SERVED_MODEL: &str = "model:";

/// A block device of the chain.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockDevice {
    /// Kernel name, such as `nvme0n1`.
    pub name: String,
    /// Partition of the chain on it, such as `nvme0n1p2`, if the target is on one.
    pub partition: Option<String>,
    /// Model as the device tells it.
    pub model: Option<String>,
    /// Firmware version.
    pub firmware: Option<String>,
    /// Salted hash of the serial number, the same for the same device in the same store; or the number itself
    /// if the user asked for it.
    pub serial: Option<String>,
    /// Size in bytes.
    pub size_bytes: Option<u64>,
    /// Whether it turns.
    pub rotational: Option<bool>,
    /// I/O scheduler.
    pub scheduler: Option<String>,
    /// Requests that the kernel queues (`nr_requests`).
    pub queue_requests: Option<u32>,
    /// Commands that the device takes at once.
    pub queue_depth: Option<u32>,
    /// `write back` or `write through`.
    pub write_cache: Option<String>,
    /// Logical sector in bytes.
    pub logical_sector_bytes: Option<u32>,
    /// Physical sector in bytes.
    pub physical_sector_bytes: Option<u32>,
    /// Largest request that the kernel sends, in bytes.
    pub largest_request_bytes: Option<u64>,
    /// Read-ahead in bytes.
    pub read_ahead_bytes: Option<u64>,
    /// Whether it can be taken out.
    pub removable: Option<bool>,
    /// Its connection.
    pub link: Option<Link>,
    /// Health before the run.
    pub health: Option<DeviceHealth>,
}

impl BlockDevice {
    /// What it is a model of, if kurabe serves it.
    pub fn served_model(&self) -> Option<&str> {
        self.model.as_deref()?.strip_prefix(SERVED_MODEL)
    }

    /// Whether it turns, as far as that can be known: what stands before the medium says that it turns, whatever it is.
    pub fn turns(&self) -> Option<bool> {
        self.rotational.filter(|_| !self.is_hidden())
    }

    /// Who sells it as a volume over a network, by the model that it tells the kernel.
    pub fn provider(&self) -> Option<&'static str> {
        // As the providers' guides name their NVMe and SCSI devices.
        const PROVIDERS: [(&str, &str); 4] = [
            ("Amazon Elastic Block Store", "Amazon EBS"),
            ("nvme_card-pd", "Google Persistent Disk"),
            ("PersistentDisk", "Google Persistent Disk"),
            ("MSFT NVMe Accelerator", "Azure"),
        ];
        let model = self.model.as_deref()?.trim();
        PROVIDERS.iter().find(|(start, _)| model.starts_with(start)).map(|(_, provider)| *provider)
    }

    /// Whether something else stands before the medium: a hypervisor, a file, memory.
    pub fn is_hidden(&self) -> bool {
        matches!(self.link, Some(Link::Virtio | Link::Loop { .. } | Link::Memory))
    }
}

/// Everything a run stood on.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Environment {
    /// The machine.
    pub machine: Machine,
    /// The file system, if the target is in one.
    pub file_system: Option<FileSystem>,
    /// Layers between file system and devices, from the top, such as `dm-0 (crypt)`.
    pub layers: Vec<String>,
    /// The devices at the bottom; several for RAID and the like.
    pub devices: Vec<BlockDevice>,
    /// What could not be found out, and why (such as "smartctl: not installed").
    pub missing: Vec<String>,
}
