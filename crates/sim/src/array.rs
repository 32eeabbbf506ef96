//! The array in a model: number of members, redundancy, and the time to rebuild an empty member.
//!
//! The model: the topmost layer with several copies or parity is the array, and the layers below it
//! are its members. The rebuild rate is sampled at eight positions of the member, each for some
//! seconds of virtual time, because a disk is faster on its outer tracks.

use crate::layer::{Below, Control};
use crate::settings::Setting;
use crate::spec::{DeviceSpec, LayerSpec};
use crate::stack::Stack;
use kurabe_core::Result;

/// Failures that an array survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redundancy {
    /// Any of the members may fail, up to this number.
    Any(u64),
    /// One member of each mirrored pair may fail.
    Pairs,
}

/// The array in a model. A single drive counts as an array with one member.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayFacts {
    /// Name of the array's layer, if there is one.
    pub layer: Option<String>,
    /// Number of members.
    pub members: u64,
    /// Failures that it survives.
    pub redundancy: Redundancy,
    /// Size of a member in bytes.
    pub member_bytes: u64,
    /// Failures of a member per year; `None` if the medium's kind does not specify it.
    pub failures_per_year: Option<f64>,
    /// Probability that a bit is unreadable.
    pub unreadable: Option<f64>,
}

/// Positions at which the rebuild rate is sampled, and the time for each.
const PLACES: u64 = 8;
const LOOK_NS: u64 = 3_000_000_000;

/// Returns the array in a model.
///
/// # Errors
/// Returns an error if the model cannot be built.
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

/// Returns the seconds to rebuild an empty member without other requests; `None` if the model has
/// no rebuild.
///
/// # Errors
/// Returns an error if the model cannot be built.
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

    /// A member that takes 1 ms for any block of 64 KiB is rebuilt at 65.5 MB/s.
    #[test]
    fn the_time_to_fill_a_member_is_its_bytes_over_the_rate() {
        let member = "constant capacity=100_GB access=1_ms rate=1000_TB/s parallel=1";
        let spec = device(&["md level=5 members=3 data_offset=0_B", member]);
        let facts = array_facts(&spec).unwrap();
        let seconds = rebuild_s(&spec, &facts).unwrap().unwrap();
        assert!((seconds / (100e9 / 65.536e6) - 1.0).abs() < 0.01, "{seconds}");
    }
}
