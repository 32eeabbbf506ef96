//! The generator of fakes.

use kurabe_core::random::Random;
use kurabe_sim::{DeviceSpec, device_named, read_device};

/// A modelled device that is to be identified.
pub struct Fake {
    pub label: String,
    pub spec: DeviceSpec,
}

const DISKS: &[&str] = &[
    "hitachi-hua722020ala330",
    "wd-red-3tb",
    "seagate-ironwolf-4tb",
    "seagate-exos-x18",
    "hitachi-hds721616plat80",
    "quantum-atlas-10k",
    "seagate-cheetah-9lp",
    "ibm-dcas-34330",
    "iomega-zip100",
];
const SHINGLED: &[&str] = &["seagate-archive-8tb", "toshiba-p300-2tb", "seagate-barracuda-2tb-25"];
const SSDS: &[&str] = &[
    "samsung-870-evo",
    "samsung-870-qvo",
    "crucial-p1",
    "wd-black-sn770",
    "samsung-980",
    "samsung-980-pro",
    "samsung-990-pro",
    "hp-fx900",
    "samsung-pm963",
    "intel-x25m-g2",
    "intel-optane-p4800x",
    "toshiba-hg3",
];
const STICKS: &[&str] = &["samsung-fit-plus-exfat", "samsung-fit-plus-apfs"];
const CARDS: &[&str] =
    &["samsung-evo-plus-sd", "sandisk-extreme-a1-sd", "raspberry-pi-a2-sd", "asus-c201-emmc"];
const EMULATORS: &[&str] = &["henkan-bancho", "scsi2sd-v5", "scsi2sd-v6", "henkan-bancho-pro"];
const ARRAYS: &[&str] = &["md-raid5-4", "md-raid10-4", "md-raid6-8"];

/// Draws from lists and ranges.
struct Draw(Random);

impl Draw {
    fn of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.0.below(list.len() as u64) as usize]
    }

    fn number(&mut self, low: u64, high: u64) -> u64 {
        low + self.0.below(high - low + 1)
    }

    /// Returns a number whose logarithm is uniform.
    fn log(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.0.unit())
    }
}

/// Returns a fake of the family with this number.
pub fn fake(seed: u64, number: u64) -> Fake {
    let mut draw = Draw(Random::new(seed, number));
    match number % 13 {
        0 | 1 => disk(&mut draw),
        2 => base(&mut draw, SHINGLED, &[]),
        3 | 4 => ssd(&mut draw),
        5 | 6 => stick(&mut draw),
        7 => base(&mut draw, CARDS, &[]),
        8 => base(&mut draw, EMULATORS, &[]),
        9 | 10 => array(&mut draw),
        11 => counterfeit(&mut draw),
        _ => behind_memory(&mut draw),
    }
}

/// Returns a device of the library with changed parameters. A change names a kind of layer.
fn with(mut spec: DeviceSpec, changes: &[(&str, &str, String)]) -> Fake {
    let mut label = spec.name.clone();
    for (kind, key, value) in changes {
        let names: Vec<String> = spec
            .all_layers()
            .iter()
            .filter(|layer| layer.kind.word == *kind)
            .map(|layer| layer.name.clone())
            .collect();
        if let Some(name) = names.first() {
            spec.set(&format!("{name}.{key}"), value).unwrap_or_else(|error| panic!("{label}: {error}"));
            label += &format!(" {key}={value}");
        }
    }
    Fake { label, spec }
}

fn base(draw: &mut Draw, list: &[&str], changes: &[(&str, &str, String)]) -> Fake {
    with(device_named(draw.of(list)).unwrap(), changes)
}

fn disk(draw: &mut Draw) -> Fake {
    let rotation = [3_600, 4_200, 5_400, 5_900, 7_200, 10_000, 15_000][draw.number(0, 6) as usize];
    let cached = draw.of(&["true", "false"]);
    let mut changes = vec![("disk", "rotation", rotation.to_string())];
    let spec = device_named(draw.of(DISKS)).unwrap();
    if !spec.name.starts_with("quantum") && !spec.name.starts_with("seagate-cheetah") {
        changes.push(("disk", "write_cache", cached.to_owned()));
    }
    if draw.of(&["one", "as-is"]) == "one" {
        changes.push(("disk", "queue_depth", "1".to_owned()));
    }
    with(spec, &changes)
}

fn ssd(draw: &mut Draw) -> Fake {
    let spec = device_named(draw.of(SSDS)).unwrap();
    let has_region = matches!(
        &*spec.name,
        "samsung-870-qvo"
            | "crucial-p1"
            | "wd-black-sn770"
            | "samsung-980-pro"
            | "samsung-990-pro"
            | "hp-fx900"
    );
    let mut changes = vec![("ssd", "flush_waits", draw.of(&["true", "true", "false"]).to_owned())];
    changes.push(("ssd", "power_loss_protection", draw.of(&["true", "false", "false"]).to_owned()));
    if has_region {
        changes.push(("ssd", "slc_static", "0 B".to_owned()));
        changes.push(("ssd", "slc_dynamic", format!("{} MB", draw.log(2_000.0, 12_000.0) as u64)));
    }
    with(spec, &changes)
}

fn stick(draw: &mut Draw) -> Fake {
    let changes = [
        ("usb", "protocol", draw.of(&["bot", "uas"]).to_owned()),
        ("usb", "command", format!("{} us", draw.log(20.0, 400.0) as u64)),
        ("flash-coarse", "read_rate", format!("{} MB/s", draw.log(15.0, 400.0) as u64)),
        ("flash-coarse", "program_rate", format!("{} MB/s", draw.log(4.0, 200.0) as u64)),
        ("flash-coarse", "access", format!("{} us", draw.log(40.0, 1500.0) as u64)),
        ("flash-coarse", "unit", draw.of(&["4 KiB", "16 KiB", "64 KiB", "256 KiB", "1 MiB"]).to_owned()),
        ("flash-coarse", "read_ahead", draw.of(&["true", "false"]).to_owned()),
        ("flash-coarse", "buffer", draw.of(&["0 B", "64 KiB", "1 MiB"]).to_owned()),
    ];
    base(draw, STICKS, &changes)
}

fn array(draw: &mut Draw) -> Fake {
    let changes = [
        ("md", "chunk", format!("{} KiB", 32 << draw.number(0, 5))),
        ("md", "level", draw.of(&["0", "0", "5", "1"]).to_owned()),
        ("md", "members", draw.number(3, 8).to_string()),
    ];
    base(draw, ARRAYS, &changes)
}

/// Returns a device with a layer above.
fn below(layer: &str, name: &str) -> DeviceSpec {
    let source = format!(
        "schema = 1\nname = \"{name} behind\"\ntitle = {{ en = \"t\", ja = \"t\" }}\n[[layer]]\nkind = \"host\"\n\
         [[layer]]\n{layer}\n[[layer]]\nuse = \"{name}\"\n"
    );
    read_device("fake", &source).unwrap_or_else(|error| panic!("{error}\n{source}"))
}

fn set(key: &str, value: &str) -> String {
    let bare = matches!(value, "true" | "false");
    let value = if bare { value.to_owned() } else { format!("\"{value}\"") };
    format!("{key} = {{ value = {value}, source = \"test\" }}\n")
}

fn counterfeit(draw: &mut Draw) -> Fake {
    let name = draw.of(&["samsung-fit-plus-exfat", "samsung-evo-plus-sd", "sandisk-extreme-a1-sd"]);
    let (kind, real_mib) = (draw.of(&["wraps", "drops"]), draw.log(2_000.0, 16_000.0) as u64);
    let claims_gib = [64, 128, 256, 512, 2048][draw.number(0, 4) as usize];
    let layer = format!(
        "kind = \"counterfeit\"\n{}{}",
        set("claims", &format!("{claims_gib} GiB")),
        set("beyond", kind)
    );
    let real = format!("{real_mib} MiB");
    let changes = [("flash-coarse", "capacity", real.clone()), ("card", "capacity", real)];
    let mut fake = with(below(&layer, name), &changes);
    fake.label = format!("{} claims={claims_gib} GiB {kind}", fake.label);
    fake
}

fn behind_memory(draw: &mut Draw) -> Fake {
    let name = draw.of(&["samsung-870-evo", "wd-red-3tb", "samsung-980", "samsung-evo-plus-sd"]);
    let (access_ns, warm) = match draw.number(0, 4) {
        0 | 1 => (draw.log(400.0, 3_000.0), "true"),
        2 | 3 => (draw.log(400.0, 3_000.0), "false"),
        // The memory of a hypervisor.
        _ => (draw.log(8_000.0, 25_000.0), "false"),
    };
    let size = if warm == "true" { "64 TiB" } else { "16 GiB" };
    let layer = format!(
        "kind = \"page-cache\"\n{}{}{}{}",
        set("size", size),
        set("access", &format!("{} ns", access_ns as u64)),
        set("rate", &format!("{} MB/s", draw.log(3_000.0, 12_000.0) as u64)),
        set("warm", warm)
    );
    let mut fake = with(below(&layer, name), &[]);
    fake.label = format!("{} memory of {} ns, warm={warm}", fake.label, access_ns as u64);
    fake
}
