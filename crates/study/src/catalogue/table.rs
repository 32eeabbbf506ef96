//! A published table: its procedure, its columns and its rows.

use super::work::RateWork;
use crate::published::Published;
use kurabe_core::profile::{Formula, Profile};
use kurabe_core::{Text, text};
use kurabe_profile::profile_named;
use serde::Serialize;

/// Declares the values of a key in catalogue files: a variant for each, with its English and
/// Japanese name.
macro_rules! words_of_key {
    ($(#[$doc:meta])* $name:ident { $($(#[$word_doc:meta])* $variant:ident = $word:literal: ($en:literal, $ja:literal),)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum $name {
            $($(#[$word_doc])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// Each value as written in files, with its variant.
            pub const WORDS: &[(&str, Self)] = &[$(($word, Self::$variant)),+];

            /// Returns the name to show to users.
            pub fn name(self) -> Text {
                match self {
                    $(Self::$variant => text!($en, $ja),)+
                }
            }
        }
    };
}

words_of_key! {
    /// How repetitions were combined into the printed figure.
    PublishedStatistic {
        /// Mean.
        Mean = "mean": ("mean", "平均"),
        /// Median.
        Median = "median": ("median", "中央値"),
        /// Best repetition.
        Best = "best": ("best of the runs", "最良の回"),
        /// One measurement.
        Single = "single": ("a single measurement", "1 回の測定"),
        /// Specification by the manufacturer.
        Specified = "specified": ("the maker's specification", "メーカーの仕様値"),
        /// Not stated by the source.
        Unknown = "unknown": ("not told", "記載なし"),
    }
}

words_of_key! {
    /// Class of a device, as users name it when they buy one.
    DeviceClass {
        /// A hard disk with conventional recording.
        HardDisk = "hard-disk": ("a hard disk", "ハードディスク"),
        /// A hard disk with shingled recording.
        SmrDisk = "smr-disk": ("an SMR hard disk", "SMR ハードディスク"),
        /// An SD card, microSD included.
        SdCard = "sd-card": ("an SD card", "SD カード"),
        /// eMMC, soldered to the board.
        Emmc = "emmc": ("an eMMC drive", "eMMC"),
        /// A stick on USB 2, at 480 Mbit/s.
        Usb2Stick = "usb-2-stick": ("a USB 2 stick", "USB 2 メモリー"),
        /// A stick on USB 3.
        Usb3Stick = "usb-3-stick": ("a USB 3 stick", "USB 3 メモリー"),
        /// SSD in an enclosure on USB 3.
        UsbSsd = "usb-ssd": ("an SSD on USB", "USB 接続の SSD"),
        /// An SSD on SATA at 6 Gbit/s.
        SataSsd = "sata-ssd": ("a SATA SSD", "SATA SSD"),
        /// An NVMe SSD on four lanes of PCIe 3.
        NvmePcie3 = "nvme-pcie-3": ("an NVMe SSD on PCIe 3", "PCIe 3.0 の NVMe SSD"),
        /// NVMe SSD on four lanes of PCIe 4.
        NvmePcie4 = "nvme-pcie-4": ("an NVMe SSD on PCIe 4", "PCIe 4.0 の NVMe SSD"),
        /// NVMe SSD on four lanes of PCIe 5.
        NvmePcie5 = "nvme-pcie-5": ("an NVMe SSD on PCIe 5", "PCIe 5.0 の NVMe SSD"),
        /// An SSD with power-loss protection.
        ServerSsd = "server-ssd": ("a server SSD", "サーバー向け SSD"),
        /// SSD with 3D XPoint memory, which is written in place.
        OptaneSsd = "optane-ssd": ("an Optane SSD", "Optane SSD"),
        /// Volume of a cloud provider, with limits on IOPS and throughput.
        CloudVolume = "cloud-volume": ("a cloud volume", "クラウドボリューム"),
    }
}

/// Column of a published table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PublishedColumn {
    /// Key of the column in the rows.
    pub key: String,
    /// Heading.
    pub name: Text,
    /// Unit, as printed.
    pub unit: String,
    /// Number of decimal places.
    pub decimals: usize,
    /// Formula that computes the same figure from a run of the table's profile.
    #[serde(skip)]
    pub figure: Option<Formula>,
    /// Work that was measured, by which cells of any run are matched.
    #[serde(skip)]
    pub work: Option<RateWork>,
}

/// A table of published figures.
///
/// It serializes the facts that all its rows share.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PublishedTable {
    /// Id, unique in the catalogue.
    #[serde(skip)]
    pub id: String,
    /// Title.
    pub title: Text,
    /// Article, document or address.
    #[serde(skip)]
    pub source: String,
    /// Year of publication, if known.
    #[serde(skip)]
    pub year: Option<u16>,
    /// Tool, with its version if known.
    pub tool: String,
    /// Test procedure.
    pub procedure: Text,
    /// kurabe's profile that repeats the procedure, if there is one.
    pub profile: Option<String>,
    /// Size of the test file, if the table states it and it differs from the profile's.
    pub size_bytes: Option<u64>,
    /// How repetitions were combined into a figure.
    pub statistic: PublishedStatistic,
    /// Computer that it was measured on.
    pub host: Option<Text>,
    /// Remarks on the figures.
    #[serde(rename = "table_note")]
    pub note: Option<Text>,
    /// Columns.
    #[serde(skip)]
    pub columns: Vec<PublishedColumn>,
    /// Rows.
    #[serde(skip)]
    pub rows: Vec<PublishedRow>,
}

impl PublishedTable {
    /// Returns the profile that repeats the table's procedure, with names for its steps.
    pub fn profile(&self) -> Option<Profile> {
        Some(profile_named(self.profile.as_deref()?).ok()?.with_step_names())
    }
}

/// Device of a published table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PublishedRow {
    /// Id within the table.
    pub id: String,
    /// Device, as the source names it.
    pub device: Text,
    /// Source of this row, if it differs from the table's.
    pub source: Option<String>,
    /// Model of this device, if there is one.
    pub model: Option<String>,
    /// Device class, if the row is representative of it.
    pub class: Option<DeviceClass>,
    /// Remarks: anomalies and missing information.
    pub note: Option<Text>,
    /// Figures, one place for each column.
    pub figures: Vec<Option<Published>>,
}
