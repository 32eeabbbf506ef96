//! The generator of hidden devices, and a bench with noise.

use kurabe_core::Result;
use kurabe_core::random::Random;
use kurabe_core::workload::Op;
use kurabe_identify::{BenchFacts, DeviceBench, Manner, Performed};
use kurabe_infer::{DeviceFamily, FamilyPoint};
use kurabe_sim::{DeviceSpec, ModelTarget, device_named};

/// A device whose parameters the bench does not tell.
pub struct Hidden {
    pub label: String,
    pub spec: DeviceSpec,
    /// The family with the true point; none if it has a mechanism that no family has.
    pub truth: Option<(DeviceFamily, FamilyPoint)>,
}

/// Size of a device of a family.
fn span_bytes(family: &DeviceFamily) -> u64 {
    match &*family.name {
        "fat-image" => 1_000_000_000,
        _ if family.is_mechanical() => 2_000_000_000_000,
        _ => 32_000_000_000,
    }
}

/// Returns the families that are fitted: the proven ones, and the drafts that `KURABE_HIDDEN_DRAFTS`
/// names, or `all`.
pub fn tried_families() -> Vec<DeviceFamily> {
    let named = std::env::var("KURABE_HIDDEN_DRAFTS").unwrap_or_default();
    let is_tried = |one: &DeviceFamily| !one.is_draft || named == "all" || is_among(&one.name, &named);
    DeviceFamily::all().unwrap().into_iter().filter(is_tried).collect()
}

/// Returns the families of the hidden devices: the fitted ones, or those that `KURABE_HIDDEN_ONLY` names.
fn hidden_families() -> Vec<DeviceFamily> {
    let named = std::env::var("KURABE_HIDDEN_ONLY").unwrap_or_default();
    let is_hidden = |one: &DeviceFamily| named.is_empty() || is_among(&one.name, &named);
    tried_families().into_iter().filter(is_hidden).collect()
}

fn is_among(name: &str, names: &str) -> bool {
    names.split(',').any(|one| one == name)
}

fn family(name: &str) -> DeviceFamily {
    DeviceFamily::all().unwrap().into_iter().find(|family| family.name == name).unwrap()
}

/// Returns the hidden device with this number, of a draft only if those are tried, too.
pub fn hidden(seed: u64, number: u64) -> Hidden {
    let families = hidden_families();
    let family = families[number as usize % families.len()].clone();
    let mut random = Random::new(seed, number);
    let (point, spec) = std::iter::repeat_with(|| family.draw(&mut random))
        .find_map(|point| {
            let spec = family.device(&point, span_bytes(&family)).ok()?;
            ModelTarget::new(&spec, 1).ok().map(|_| (point, spec))
        })
        .unwrap();
    Hidden { label: format!("{number} {}", family.name), spec, truth: Some((family, point)) }
}

/// Returns the device with this number whose mechanism no family has.
pub fn foreign(seed: u64, number: u64) -> Hidden {
    let of = |name: &str, changes: &[(&str, &str)]| {
        let family = family(name);
        let point = family.draw(&mut Random::new(seed, 1000 + number));
        let mut spec = family.device(&point, span_bytes(&family)).unwrap();
        for (path, value) in changes {
            spec.set(path, value).unwrap();
        }
        spec
    };
    let (label, spec) = match number % 10 {
        0 => (
            "stick with superblocks",
            of("usb-stick", &[("flash.superblock", "4 MiB"), ("flash.unit", "64 KiB")]),
        ),
        1 => ("library: card", device_named("sandisk-extreme-a1-sd").unwrap()),
        2 => ("library: limited volume", device_named("ebs-gp3").unwrap()),
        3 => (
            "SSD whose map does not fit",
            of("sata-ssd", &[("ssd.mapping", "cached"), ("ssd.mapping_cache", "64 KiB")]),
        ),
        4 => ("library: shingled disk", device_named("seagate-archive-8tb").unwrap()),
        5 => ("stick with a log", of("usb-stick", &[("flash.log", "16 MiB"), ("flash.unit", "256 KiB")])),
        6 => ("library: RAID card with a cache", device_named("raid-9260-cached").unwrap()),
        7 => ("emulator with a cache of tracks", of("fat-image", &[("fat-image.tracks", "16")])),
        8 => ("library: RAID-Z", device_named("raidz1-3").unwrap()),
        _ => ("stick on USB 1", of("usb-stick", &[("usb.generation", "usb-1")])),
    };
    Hidden { label: format!("{number} {label}"), spec, truth: None }
}

/// A bench whose times are disturbed: those of a call together, as by the state of a machine.
pub struct NoisyBench<'b> {
    pub bench: Box<dyn DeviceBench + 'b>,
    pub noise: f64,
    pub random: Random,
}

fn normal(random: &mut Random) -> f64 {
    (-2.0 * random.unit().ln()).sqrt() * (std::f64::consts::TAU * random.unit()).cos()
}

impl DeviceBench for NoisyBench<'_> {
    fn facts(&self) -> BenchFacts {
        self.bench.facts()
    }

    fn rest(&mut self, length_ns: u64) -> Result<()> {
        self.bench.rest(length_ns)
    }

    fn perform(&mut self, ops: &[Op], manner: Manner) -> Result<Vec<Performed>> {
        let factor = (self.noise * normal(&mut self.random)).exp();
        let mut performed = self.bench.perform(ops, manner)?;
        let first = performed.iter().map(|one| one.start_ns).min().unwrap_or(0);
        let later = |at: u64| first + ((at - first) as f64 * factor) as u64;
        for one in &mut performed {
            (one.start_ns, one.end_ns) = (later(one.start_ns), later(one.end_ns));
        }
        Ok(performed)
    }

    fn forget(&mut self) -> Result<bool> {
        self.bench.forget()
    }
}
