//! Modelled storage in virtual time: stacks of layers, without a clock and without I/O.
//!
//! A [`Stack`] is built from a [`DeviceSpec`], which is read from a TOML file. The caller submits
//! requests with their time, asks for the time of the next event, advances the time, and takes
//! completions. So the same model can serve kurabe's driver, a real block device, or another
//! program's simulation.

mod account;
mod agenda;
mod array;
mod build;
mod card;
mod coarse;
mod constant;
mod counterfeit;
mod disk;
mod fat_image;
mod filesystem;
#[cfg(test)]
mod fixture;
mod host;
mod journal;
mod kinds;
mod layer;
mod library;
mod limiter;
mod link;
mod md;
mod mirror;
mod model;
mod page_cache;
mod parts;
mod pcie;
mod port_multiplier;
mod raid;
mod raidz;
mod ranges;
mod recorded;
mod sata;
mod schema;
mod scsi;
mod settings;
mod shingle;
mod spec;
mod ssd;
mod stack;
mod timeline;
mod usb;
mod use_order;
mod vdev_queue;
mod vocabulary;
mod world;
mod written;
mod zfs;

pub use account::{Cause, Counter, UNEXPLAINED, Words};
pub use array::{ArrayFacts, Redundancy, array_facts, rebuild_s};
pub use build::Builder;
pub use kinds::KINDS;
pub use kurabe_core::device::{ErrorNumber, Transfer};
pub use layer::{Below, Build, Built, CloneLayer, Control, Layer, LayerKind, Volatile};
pub use library::{COMPUTERS, DEVICES, FRAGMENTS, KINDS_OF_DRIVES, device_named, load_device, read_device};
pub use model::{ModelDevice, ModelTarget};
pub use parts::{CARDS, EMULATORS, HOSTS, assembled_source, combinations, emulator_price, part_notes};
pub use ranges::{AtRisk, Range, Ranges};
pub use recorded::{RecordedRequest, ReplayRules, Replayed, TimesCommit, replay};
pub use schema::{Parameter, ParameterScale, ParameterType, Relation};
pub use settings::{LayerSettings, Setting};
pub use spec::{COMPUTER, DeviceSpec, LayerSpec, MemberSpec};
pub use stack::Stack;
pub use timeline::{Timeline, transfer_ns};
pub use world::{Child, CompletedRequest, JobId, LayerId, Request, RequestKind, World};
