//! What of a model is an array: how many members it has, which of them may fail, and how long an empty one takes to be
//! filled.
//!
//! The model: the topmost layer that holds several copies, or parity, is the array; what stands below it is a member. How
//! fast an empty member is filled is taken at eight places of it, for some seconds each in virtual time, because a disk is
//! faster outside.

use crate::layer::{Below, Control};
use crate::settings::Setting;
use crate::spec::{DeviceSpec, LayerSpec};
use crate::stack::Stack;
use kurabe_core::Result;

/// What an array holds beside its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redundancy {
    /// Any so many members may fail.
    Any(u64),
    /// Of each pair of members one may.
    Pairs,
}

/// What of a model is an array. A single drive is one of one member.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayFacts {
    /// The layer of the array, if there is one.
    pub layer: Option<String>,
    /// How many members it has.
    pub members: u64,
    /// What it holds beside its data.
    pub redundancy: Redundancy,
    /// Bytes of a member.
    pub member_bytes: u64,
    /// Failures of a member per year; none where the medium's kind does not say.
    pub failures_per_year: Option<f64>,
    /// Share of the bits read that cannot be read.
    pub unreadable: Option<f64>,
}

/// Where the filling of a member is looked at, and for how long at each.
const PLACES: u64 = 8;
const LOOK_NS: u64 = 3_000_000_000;

/// What of a model is an array.
///
/// # Errors
/// When it cannot be built.
pub fn array_facts(spec: &DeviceSpec) -> Result<ArrayFacts> {
    let number = |layer: &LayerSpec, key: &str| layer.settings.find(key).and_then(Setting::number);
    let all = spec.all_layers();
    let is_array = |layer: &&&LayerSpec| ["md", "raid", "raidz", "mirror"].contains(&layer.kind.word);
    let array = all.iter().find(is_array);
    let record = Stack::new(spec, 0)?.record(spec);
    let instances = |layer: &&LayerSpec| {
        let recorded = record.layers.iter().find(|recorded| recorded.name == layer.name);
        recorded.map_or(0, |recorded| u64::from(recorded.instances))
    };
    let mut media: Vec<&LayerSpec> =
        all.iter().filter(|layer| layer.kind.below == Below::Nothing).copied().collect();
    media.dedup_by(|one, other| one.name == other.name);
    let members = media.iter().map(instances).sum();
    let medium = media.first();
    let redundancy =
        match array.map(|layer| (layer.kind.word, number(layer, "level"), number(layer, "parity"))) {
            Some(("raidz", _, Some(parity))) => Redundancy::Any(parity as u64),
            Some(("mirror", ..)) | Some((_, Some(1.0), _)) => Redundancy::Any(members - 1),
            Some((_, Some(5.0), _)) => Redundancy::Any(1),
            Some((_, Some(6.0), _)) => Redundancy::Any(2),
            Some((_, Some(10.0), _)) => Redundancy::Pairs,
            _ => Redundancy::Any(0),
        };
    let member = medium.map(|medium| DeviceSpec { layers: vec![(*medium).clone()], ..spec.clone() });
    let member_bytes =
        member.map(|member| Stack::new(&member, 0)).transpose()?.map_or(0, |one| one.capacity_bytes());
    let of_medium = |key: &str| medium.and_then(|medium| number(medium, key));
    Ok(ArrayFacts {
        layer: array.map(|layer| layer.name.clone()).filter(|_| members > 1),
        members,
        redundancy,
        member_bytes,
        failures_per_year: of_medium("failures_per_year"),
        unreadable: of_medium("bits_per_error").map(|bits| 1.0 / bits),
    })
}

/// Seconds until an empty member is filled, while nobody else asks for anything; nothing where the model has no filling.
///
/// # Errors
/// When the model cannot be built.
pub fn rebuild_s(spec: &DeviceSpec, facts: &ArrayFacts) -> Result<Option<f64>> {
    let Some(layer) = &facts.layer else { return Ok(None) };
    let part_bytes = facts.member_bytes / PLACES;
    let stack = Stack::new(spec, 0)?;
    let mut seconds = 0.0;
    for place in 0..PLACES {
        let mut stack = stack.clone();
        let at = (part_bytes * place + part_bytes / 2) >> 20 << 20;
        if facts.redundancy == Redundancy::Any(0)
            || stack.control(layer, Control::RebuildMember(0, at)).is_err()
        {
            return Ok(None);
        }
        let mut bytes = 0;
        while let Some(at_ns) = stack.next_wake_ns().filter(|at_ns| *at_ns < LOOK_NS) {
            stack.advance(at_ns);
        }
        for count in stack.take_account().counts.iter().filter(|count| count.counter == "rebuilt-bytes") {
            bytes += count.count;
        }
        seconds += part_bytes as f64 * stack.now_ns() as f64 / 1e9 / bytes.max(1) as f64;
    }
    Ok(Some(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::device;
    use crate::library::device_named;

    #[test]
    fn devices_are_told_as_arrays() {
        let of = |name: &str| {
            let facts = array_facts(&device_named(name).unwrap()).unwrap();
            (facts.members, facts.redundancy)
        };
        assert_eq!(of("wd-red-3tb"), (1, Redundancy::Any(0)));
        assert_eq!(of("md-raid10-4"), (4, Redundancy::Pairs));
        assert_eq!(of("md-raid6-8"), (8, Redundancy::Any(2)));
        assert_eq!(of("raidz2-6"), (6, Redundancy::Any(2)));
        assert_eq!(of("mirror3-sata-fbs"), (3, Redundancy::Any(2)));
        assert_eq!(of("raid-9260"), (4, Redundancy::Any(0)));
        assert_eq!(of("samsung-990-pro"), (1, Redundancy::Any(0)));
    }

    /// A member that takes 1 ms for any block of 64 KiB is filled with 65.5 MB/s.
    #[test]
    fn the_time_to_fill_a_member_is_its_bytes_over_the_rate() {
        let member = "constant capacity=100_GB access=1_ms rate=1000_TB/s parallel=1";
        let spec = device(&["md level=5 members=3 data_offset=0_B", member]);
        let facts = array_facts(&spec).unwrap();
        let seconds = rebuild_s(&spec, &facts).unwrap().unwrap();
        assert!((seconds / (100e9 / 65.536e6) - 1.0).abs() < 0.01, "{seconds}");
    }
}
