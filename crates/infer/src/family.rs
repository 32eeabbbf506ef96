//! Families of devices: device files with free parameters and their ranges.
//!
//! # To add a family
//!
//! - Write `families/NAME.toml`: a device file whose values are the usual ones, then `[family]` with
//!   `capacity`, the parameter that takes the size of the device, and `access`, between which a random
//!   read of 4 KiB takes on every device of the family, and a `[[free]]` entry for each parameter that an
//!   identification varies: its `range`, over which it is logarithmic, or its `choices`. `shows =
//!   "writes"` marks a parameter that only writes show. `draft = true` keeps it from being offered, until its
//!   hidden devices are inferred well.
//! - Add its name to `FAMILIES`, its devices to the hidden ones of the tests, and a mechanism that it
//!   lacks to those that must be refused.

use crate::geometry::Geometry;
use kurabe_core::quantity::parse_duration_ns;
use kurabe_core::random::Random;
use kurabe_core::{DataFile, Error, Result, Text, Value, library, text};
use kurabe_sim::{DeviceSpec, ParameterType, read_device};

/// Name and text of every family.
pub const FAMILIES: &[(&str, &str)] = library!["families", ".toml":
    "usb-stick",
    "sata-ssd",
    "nvme-ssd",
    "cached-ssd",
    "raid-ssd",
    "sata-disk",
    "usb-disk",
    "fat-image",
];

/// Begins the part of a family's file that is not of the device.
const PART: &str = "[family]\n";

/// Values that a free parameter may have.
#[derive(Clone, Debug, PartialEq)]
pub enum FreeRange {
    /// All between these, in the unit of the parameter; their logarithm is uniform.
    Log(f64, f64),
    /// One of these, as written.
    Choice(Vec<String>),
}

/// A parameter that an identification varies.
#[derive(Clone, Debug)]
pub struct FreeParameter {
    /// Its path: `usb.command`.
    pub path: String,
    /// Its values.
    pub range: FreeRange,
    /// Whether only writes show it.
    pub needs_writes: bool,
    /// Type of its values.
    pub kind: ParameterType,
}

impl FreeParameter {
    /// Returns the value at a place of the range from 0 to 1.
    pub fn value_at(&self, place: f64) -> f64 {
        match self.range {
            FreeRange::Log(low, high) => low * (high / low).powf(place.clamp(0.0, 1.0)),
            FreeRange::Choice(_) => place,
        }
    }

    /// Returns a value as it is written in device files.
    pub fn written(&self, value: f64) -> String {
        match self.kind {
            ParameterType::Time => format!("{} ns", value.round()),
            ParameterType::Rate => format!("{} B/s", value.round()),
            ParameterType::Bytes(..) => format!("{} B", value.round()),
            ParameterType::Count(..) | ParameterType::OneOf(_) => format!("{}", value.round()),
            _ => format!("{value:.6}"),
        }
    }
}

/// Values of the free parameters of a family: the place in each range, or the number of the choice.
pub type FamilyPoint = Vec<f64>;

/// A family of devices.
#[derive(Clone, Debug)]
pub struct DeviceFamily {
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: Text,
    /// A device of the family, without the changes of the free parameters.
    pub spec: DeviceSpec,
    /// The free parameters.
    pub free: Vec<FreeParameter>,
    /// Whether hidden devices of it are not inferred well enough yet, so that no device is said to be one.
    pub is_draft: bool,
    /// Path of the parameter that takes the size of the device, if zones do not give it.
    capacity: Option<String>,
    /// Shortest and longest time of a random read of 4 KiB, in ns.
    access_ns: (f64, f64),
}

impl DeviceFamily {
    /// Returns all families.
    ///
    /// # Errors
    /// Never, unless a file is invalid, which a test excludes.
    pub fn all() -> Result<Vec<Self>> {
        FAMILIES.iter().map(|(name, source)| Self::parse(&format!("families/{name}.toml"), source)).collect()
    }

    /// Returns the families whose hidden devices are inferred well.
    ///
    /// # Errors
    /// As [`Self::all`].
    pub fn proven() -> Result<Vec<Self>> {
        Ok(Self::all()?.into_iter().filter(|family| !family.is_draft).collect())
    }

    /// Parses a family's file: a device file, and below the line `[family]` what is free in it.
    fn parse(name: &str, source: &str) -> Result<Self> {
        let at = source.find(PART).unwrap_or(source.len());
        let (device, family) = source.split_at(at);
        let spec = read_device(name, device)?;
        // As many empty lines as precede it, so that errors show the right one.
        let family = "\n".repeat(device.lines().count()) + family;
        let file = DataFile::parse(name, &family)?;
        let root = file.root(&["family", "free"])?;
        let facts = root.require("family")?.table(&["draft", "capacity", "access"])?;
        let times = facts.require("access")?;
        let access_ns = match times.each(|time| time.parsed(parse_duration_ns))?[..] {
            [least, most] => (least as f64, most as f64),
            _ => return Err(no_range(&times)),
        };
        Ok(Self {
            name: spec.name.clone(),
            title: spec.title.clone(),
            is_draft: facts.read("draft", Value::boolean)?.unwrap_or(false),
            capacity: facts.read("capacity", |path| Ok(path.string()?.to_owned()))?,
            free: root.require("free")?.each(|value| free_parameter(value, &spec))?,
            spec,
            access_ns,
        })
    }

    /// Returns whether times depend on the position of moving parts, so that those of single
    /// operations scatter.
    pub fn is_mechanical(&self) -> bool {
        self.spec.all_layers().iter().any(|layer| layer.kind.word == "disk")
    }

    /// Returns whether a device of the family may take so long for a random read of 4 KiB.
    pub fn may_take(&self, access_ns: f64) -> bool {
        (self.access_ns.0..=self.access_ns.1).contains(&access_ns)
    }

    /// Returns the middle of all ranges.
    pub fn middle(&self) -> FamilyPoint {
        self.free
            .iter()
            .map(|one| match &one.range {
                FreeRange::Log(..) => 0.5,
                FreeRange::Choice(list) => (list.len() / 2) as f64,
            })
            .collect()
    }

    /// Draws a point at random, within all ranges.
    pub fn draw(&self, random: &mut Random) -> FamilyPoint {
        self.free
            .iter()
            .map(|one| match &one.range {
                FreeRange::Log(..) => random.unit(),
                FreeRange::Choice(list) => random.below(list.len() as u64) as f64,
            })
            .collect()
    }

    /// Returns the value of a parameter at a point, as it is written in device files.
    pub fn written(&self, index: usize, point: &[f64]) -> String {
        let one = &self.free[index];
        match &one.range {
            FreeRange::Log(..) => one.written(one.value_at(point[index])),
            FreeRange::Choice(list) => list[(point[index] as usize).min(list.len() - 1)].clone(),
        }
    }

    /// Returns the device at a point, with at least this capacity.
    ///
    /// # Errors
    /// When the values do not fit together.
    pub fn device(&self, point: &[f64], span_bytes: u64) -> Result<DeviceSpec> {
        let mut spec = self.spec.clone();
        let mut geometry = Geometry::default();
        for (index, one) in self.free.iter().enumerate() {
            if !geometry.take(&one.path, one.value_at(point[index])) {
                spec.set(&one.path, &self.written(index, point))?;
            }
        }
        if let Some(path) = &self.capacity {
            spec.set(path, &format!("{} B", member_bytes(&spec, span_bytes)))?;
        }
        geometry.put(&mut spec, span_bytes)?;
        Ok(spec)
    }
}

/// Returns the capacity of each member of an array with this capacity; the capacity itself without one.
fn member_bytes(spec: &DeviceSpec, span_bytes: u64) -> u64 {
    let number = |path: &str| spec.get(path).and_then(|value| value.parse::<u64>().ok());
    let (Some(level), Some(members)) = (number("md.level"), number("md.members")) else { return span_bytes };
    let with_data = match level {
        0 => members,
        1 => 1,
        10 => members / 2,
        5 => members - 1,
        _ => members - 2,
    };
    // Room for what the array keeps for itself, and for its last stripe.
    (span_bytes / with_data.max(1)).next_multiple_of(1 << 30) + (1 << 30)
}

fn free_parameter(value: &Value<'_>, spec: &DeviceSpec) -> Result<FreeParameter> {
    let table = value.table(&["parameter", "range", "choices", "shows"])?;
    let path = table.require("parameter")?;
    let written = path.string()?;
    let kind = kind_of(spec, written).ok_or_else(|| no_parameter(&path, written))?;
    let number = |value: &Value<'_>| -> Result<f64> {
        let mut spec = spec.clone();
        match Geometry::number(written, value.written()) {
            Some(number) => number,
            None => {
                spec.set(written, value.written())?;
                number_of(&spec, written).ok_or_else(|| no_parameter(value, written))
            }
        }
    };
    let range = match (table.get("range"), table.get("choices")) {
        (Some(range), None) => match &range.each(number)?[..] {
            [low, high] if *low > 0.0 && high > low => FreeRange::Log(*low, *high),
            _ => return Err(no_range(&range)),
        },
        (None, Some(list)) => {
            FreeRange::Choice(list.elements().iter().map(|one| one.written().to_owned()).collect())
        }
        _ => {
            return Err(
                value.error(&text!("expected `range` or `choices`", "`range` か `choices` を書きます"))
            );
        }
    };
    let needs_writes = table.read("shows", |shows| shows.choice(&[("writes", true), ("reads", false)]))?;
    Ok(FreeParameter { path: written.to_owned(), range, needs_writes: needs_writes.unwrap_or(false), kind })
}

fn no_range(value: &Value<'_>) -> Error {
    value.error(&text!("expected two values, the lower first", "小さい順に 2 つの値を書きます"))
}

fn no_parameter(value: &Value<'_>, path: &str) -> Error {
    value.error(&text!(
        "the device has no parameter `{path}`",
        "デバイスに `{path}` というパラメーターはありません"
    ))
}

fn kind_of(spec: &DeviceSpec, path: &str) -> Option<ParameterType> {
    if let Some(kind) = Geometry::kind(path) {
        return Some(kind);
    }
    let (layer, key) = path.split_once('.')?;
    let layers = spec.all_layers();
    let layer = layers.iter().find(|one| one.name == layer)?;
    layer.kind.parameters.iter().find(|parameter| parameter.key == key).map(|parameter| parameter.kind)
}

fn number_of(spec: &DeviceSpec, path: &str) -> Option<f64> {
    let (layer, key) = path.split_once('.')?;
    let layers = spec.all_layers();
    let layer = layers.iter().find(|one| one.name == layer)?;
    layer.settings.iter().find(|setting| setting.parameter.key == key)?.number()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_sim::Stack;

    /// Smaller than the largest file of a FAT file system.
    const SPAN_BYTES: u64 = 4_000_000_000;

    #[test]
    fn devices_of_every_family_can_be_built() {
        for family in DeviceFamily::all().unwrap() {
            let mut random = Random::new(1, 0);
            let built: Vec<_> = (0..20)
                .filter_map(|_| {
                    let spec = family.device(&family.draw(&mut random), SPAN_BYTES).unwrap();
                    // Some choices do not fit together: a RAID 5 of two drives.
                    Stack::new(&spec, 1).ok()
                })
                .collect();
            assert!(built.len() >= 10, "{}: {}", family.name, built.len());
            for stack in built {
                assert!(stack.capacity_bytes() >= SPAN_BYTES, "{}", family.name);
            }
        }
    }
}
