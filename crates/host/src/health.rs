//! Health data that the device itself reports, through smartctl or nvme-cli.
//!
//! kurabe has no SMART code. It runs smartctl, and for NVMe devices nvme-cli if smartctl gives no
//! answer, and parses their JSON leniently: missing or implausible values are `None`. Wear is taken
//! only from fields whose meaning is determined by their name. Field names: smartmontools' JSON,
//! nvme-cli's `smart-log`.

use crate::command::{ProgramOutcome, Runner};
use crate::roots::Roots;
use kurabe_core::environment::{BlockDevice, DeviceHealth, Link};
use serde_json::Value;
use std::time::Duration;

/// Time limit of a tool. A disk that must first spin up takes longer and is skipped.
const LIMIT: Duration = Duration::from_secs(5);

/// Bytes per data unit in NVMe's health log: 1000 blocks of 512 bytes (NVMe base specification,
/// health log).
const NVME_UNIT_BYTES: u64 = 512_000;

/// ATA attributes whose normalised value decreases from 100 to 0 over the rated life, by number and
/// smartmontools' name. Other disks use the same numbers for other attributes, so the name must
/// also match.
const WEAR_ATTRIBUTES: [(u64, &str); 4] = [
    (177, "Wear_Leveling_Count"),
    (202, "Percent_Lifetime_Remain"),
    (231, "SSD_Life_Left"),
    (233, "Media_Wearout_Indicator"),
];

/// ATA attributes that count host writes, by smartmontools' name, with the bytes per count.
const WRITTEN_ATTRIBUTES: [(&str, u64); 4] = [
    ("Total_LBAs_Written", 512),
    ("Host_Writes_32MiB", 32 << 20),
    ("Host_Writes_GiB", 1 << 30),
    ("Lifetime_Writes_GiB", 1 << 30),
];

/// Parses an integer that JSON contains as a number or as text (nvme-cli's 128-bit counters).
fn whole(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64().or_else(|| {
            let number = number.as_f64()?;
            (0.0..1.8e19).contains(&number).then_some(number as u64)
        }),
        Value::String(text) => text.replace(',', "").trim().parse().ok(),
        _ => None,
    }
}

fn at(value: &Value, pointer: &str) -> Option<u64> {
    whole(value.pointer(pointer)?)
}

/// Returns a plausible temperature. Many devices report 0 or less if they have no sensor.
fn celsius(degrees: u64) -> Option<i32> {
    i32::try_from(degrees).ok().filter(|degrees| (1..=150).contains(degrees))
}

fn percent(share: u64) -> Option<u32> {
    // NVMe counts up to 255 after the rated life has ended.
    u32::try_from(share).ok().filter(|&share| share <= 255)
}

/// Returns whether any value is known.
fn tells(health: &DeviceHealth) -> bool {
    health.temperature_celsius.is_some()
        || health.wear_percent.is_some()
        || health.power_on_hours.is_some()
        || health.written_bytes.is_some()
}

/// Returns the wear if all ATA attributes agree on it. Contradictory attributes are ignored.
fn ata_wear(report: &Value) -> Option<u32> {
    let table = report.pointer("/ata_smart_attributes/table")?.as_array()?;
    let mut shares_left: Vec<u64> = table
        .iter()
        .filter_map(|row| {
            let (id, name) = (at(row, "/id")?, row.get("name")?.as_str()?);
            WEAR_ATTRIBUTES.contains(&(id, name)).then(|| at(row, "/value")).flatten()
        })
        .filter(|&left| left <= 100)
        .collect();
    shares_left.dedup();
    match shares_left.as_slice() {
        [left] => percent(100 - left),
        _ => None,
    }
}

fn ata_written(report: &Value) -> Option<u64> {
    let table = report.pointer("/ata_smart_attributes/table")?.as_array()?;
    table.iter().find_map(|row| {
        let name = row.get("name")?.as_str()?;
        let (_, unit) = WRITTEN_ATTRIBUTES.iter().find(|(attribute, _)| *attribute == name)?;
        at(row, "/raw/value")?.checked_mul(*unit)
    })
}

/// Returns the bytes written of a SCSI disk, which reports units of 10^9 bytes as text such as
/// `1234.567`.
fn scsi_written(report: &Value) -> Option<u64> {
    let text = report.pointer("/scsi_error_counter_log/write/gigabytes_processed")?.as_str()?;
    let gigabytes: f64 = text.trim().parse().ok()?;
    (0.0..1e9).contains(&gigabytes).then_some((gigabytes * 1e9) as u64)
}

/// Parses smartctl's JSON. Returns the reason if it contains no health data.
pub(crate) fn parse_smartctl(json: &[u8]) -> Result<DeviceHealth, String> {
    let report: Value = serde_json::from_slice(json).map_err(|_| "its output is not JSON".to_owned())?;
    let version = match (at(&report, "/smartctl/version/0"), at(&report, "/smartctl/version/1")) {
        (Some(major), Some(minor)) => format!("smartctl {major}.{minor}"),
        _ => "smartctl".to_owned(),
    };
    let health = DeviceHealth {
        source: version,
        temperature_celsius: at(&report, "/temperature/current").and_then(celsius),
        wear_percent: [
            "/nvme_smart_health_information_log/percentage_used",
            "/endurance_used/current_percent",
            "/scsi_percentage_used_endurance_indicator",
        ]
        .iter()
        .find_map(|pointer| at(&report, pointer))
        .and_then(percent)
        .or_else(|| ata_wear(&report)),
        power_on_hours: at(&report, "/power_on_time/hours")
            .or_else(|| at(&report, "/nvme_smart_health_information_log/power_on_hours")),
        written_bytes: at(&report, "/nvme_smart_health_information_log/data_units_written")
            .and_then(|units| units.checked_mul(NVME_UNIT_BYTES))
            .or_else(|| ata_written(&report))
            .or_else(|| scsi_written(&report)),
        temperatures: Vec::new(),
    };
    if tells(&health) {
        return Ok(health);
    }
    let message = report
        .pointer("/smartctl/messages")
        .and_then(Value::as_array)
        .and_then(|messages| messages.iter().find_map(|message| message.get("string")?.as_str()))
        .unwrap_or("it reports nothing about this device");
    Err(message.to_owned())
}

/// Parses nvme-cli's `smart-log`. Returns the reason if it contains no health data.
pub(crate) fn parse_nvme(json: &[u8]) -> Result<DeviceHealth, String> {
    let log: Value = serde_json::from_slice(json).map_err(|_| "its output is not JSON".to_owned())?;
    let health = DeviceHealth {
        source: "nvme smart-log".to_owned(),
        temperature_celsius: at(&log, "/temperature")
            .and_then(|kelvin| kelvin.checked_sub(273))
            .and_then(celsius),
        wear_percent: at(&log, "/percent_used").or_else(|| at(&log, "/percentage_used")).and_then(percent),
        power_on_hours: at(&log, "/power_on_hours"),
        written_bytes: at(&log, "/data_units_written").and_then(|units| units.checked_mul(NVME_UNIT_BYTES)),
        temperatures: Vec::new(),
    };
    if tells(&health) { Ok(health) } else { Err("it reports nothing about this device".to_owned()) }
}

/// Health data in a file that smartctl or nvme-cli wrote, with what identifies the drive.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct HealthReport {
    /// The drive as far as the file describes it. The serial number is the printed one.
    pub device: BlockDevice,
    /// Unix time of the report.
    pub measured_unix_s: Option<i64>,
}

/// Returns the health report in the bytes of a file. `None` if the file is of another kind.
///
/// # Errors
/// Fails with the tool's reason if it contains neither health data nor the speed of the link.
pub fn health_report(bytes: &[u8]) -> Option<Result<HealthReport, String>> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if !bytes.trim_ascii_start().starts_with(b"{") {
        return None;
    }
    let report: Value = serde_json::from_slice(bytes).ok()?;
    let has = |key: &str| report.get(key).is_some();
    // A list of devices (`--scan`) is not a report.
    let is_smartctl = has("smartctl") && !has("devices")
        || has("ata_smart_attributes")
        || has("nvme_smart_health_information_log");
    let is_nvme = has("critical_warning") && (has("percent_used") || has("avail_spare"));
    match () {
        () if is_smartctl => Some(of_smartctl(&report, bytes)),
        () if is_nvme => Some(parse_nvme(bytes).map(|health| HealthReport {
            device: BlockDevice { health: Some(health), ..BlockDevice::default() },
            measured_unix_s: None,
        })),
        () => None,
    }
}

fn of_smartctl(report: &Value, bytes: &[u8]) -> Result<HealthReport, String> {
    let text = |pointer: &str| {
        let words = report.pointer(pointer)?.as_str()?.split_whitespace().collect::<Vec<_>>().join(" ");
        (!words.is_empty()).then_some(words)
    };
    let health = parse_smartctl(bytes);
    let link = sata_link(report);
    if let (Err(why), None) = (&health, &link) {
        return Err(why.clone());
    }
    let name = text("/device/name").map(|name| name.rsplit('/').next().unwrap_or_default().to_owned());
    let device = BlockDevice {
        name: name.unwrap_or_default(),
        model: text("/model_name").or_else(|| text("/scsi_model_name")).or_else(|| text("/product")),
        firmware: text("/firmware_version").or_else(|| text("/revision")),
        serial: text("/serial_number"),
        size_bytes: at(report, "/user_capacity/bytes"),
        rotational: report.pointer("/rotation_rate").and_then(whole).map(|rate| rate > 0),
        link,
        health: health.ok(),
        ..BlockDevice::default()
    };
    let measured_unix_s = report.pointer("/local_time/time_t").and_then(Value::as_i64);
    Ok(HealthReport { device, measured_unix_s })
}

/// Returns the serial connection of an ATA drive, also behind a bridge.
fn sata_link(report: &Value) -> Option<Link> {
    let speed = |which: &str| {
        let words = report.pointer(&format!("/interface_speed/{which}/string"))?.as_str()?;
        words.strip_suffix(" Gb/s")?.parse::<f64>().ok().filter(|speed| (1.0..100.0).contains(speed))
    };
    let current = speed("current")?;
    Some(Link::Sata { speed_gbit_per_s: Some(current), speed_max_gbit_per_s: speed("max"), ncq_depth: None })
}

fn ask(
    runner: &Runner<'_>,
    tool: &str,
    arguments: &[&str],
    parse: fn(&[u8]) -> Result<DeviceHealth, String>,
) -> Result<DeviceHealth, String> {
    let why = match runner.run(tool, arguments, LIMIT) {
        ProgramOutcome::Ended(answer) => match parse(&answer) {
            Ok(health) => return Ok(health),
            Err(why) => why,
        },
        ProgramOutcome::NotInstalled => "not installed".to_owned(),
        ProgramOutcome::TimedOut => format!("no answer within {} s", LIMIT.as_secs()),
        ProgramOutcome::Failed(why) => why,
    };
    Err(format!("{tool}: {why}"))
}

/// Returns whether devices of this kind can report health data.
fn has_health(device: &BlockDevice) -> bool {
    match &device.link {
        Some(Link::Virtio | Link::Loop { .. } | Link::Memory | Link::CardLines { .. }) => false,
        Some(Link::Other { subsystem }) => {
            !matches!(subsystem.as_str(), "xen" | "vmbus" | "nd" | "iscsi" | "block")
        }
        Some(Link::Pcie { .. } | Link::Sata { .. } | Link::Usb { .. } | Link::RaidCard { .. }) => true,
        None => false,
    }
}

/// Returns a device's health. `None` if its kind has no health data.
///
/// # Errors
/// Fails with a line for `Environment::missing` that says which tool failed and why.
pub(crate) fn device_health(
    roots: &Roots,
    runner: &Runner<'_>,
    device: &BlockDevice,
) -> Result<Option<DeviceHealth>, String> {
    if !has_health(device) {
        return Ok(None);
    }
    let node = roots.node(&device.name);
    let node = node.to_string_lossy();
    let mut tried = match ask(runner, "smartctl", &["--json", "-a", &node], parse_smartctl) {
        Ok(health) => return Ok(Some(health)),
        Err(why) => vec![why],
    };
    if device.name.starts_with("nvme") {
        match ask(runner, "nvme", &["smart-log", "-o", "json", &node], parse_nvme) {
            Ok(health) => return Ok(Some(health)),
            Err(why) => tried.push(why),
        }
    }
    Err(format!("health of {}: {}", device.name, tried.join("; ")))
}

/// Returns the health of the devices after a run, for comparison with the health before it.
///
/// With several devices, the result is the highest temperature, wear and hours, and the sum of the
/// bytes written. `None` if no device reports health data.
pub fn health(devices: &[BlockDevice]) -> Option<DeviceHealth> {
    health_in(&Roots::default(), &Runner::System, devices)
}

fn health_in(roots: &Roots, runner: &Runner<'_>, devices: &[BlockDevice]) -> Option<DeviceHealth> {
    let healths: Vec<DeviceHealth> =
        devices.iter().filter_map(|device| device_health(roots, runner, device).ok().flatten()).collect();
    let first = healths.first()?.clone();
    if healths.len() == 1 {
        return Some(first);
    }
    Some(DeviceHealth {
        source: format!("{}, worst of {} devices", first.source, healths.len()),
        temperature_celsius: healths.iter().filter_map(|health| health.temperature_celsius).max(),
        wear_percent: healths.iter().filter_map(|health| health.wear_percent).max(),
        power_on_hours: healths.iter().filter_map(|health| health.power_on_hours).max(),
        written_bytes: healths
            .iter()
            .map(|health| health.written_bytes)
            .try_fold(0_u64, |sum, written| sum.checked_add(written?)),
        temperatures: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const SMARTCTL_NVME: &str = include_str!("../tests/fixtures/smartctl_nvme.json");
    const SMARTCTL_SATA: &str = include_str!("../tests/fixtures/smartctl_sata_ssd.json");
    const SMARTCTL_REFUSED: &str = include_str!("../tests/fixtures/smartctl_refused.json");
    const NVME_LOG: &str = include_str!("../tests/fixtures/nvme_smart_log.json");

    fn device(name: &str, link: Link) -> BlockDevice {
        BlockDevice { name: name.to_owned(), link: Some(link), ..BlockDevice::default() }
    }

    fn nvme_device() -> BlockDevice {
        let none =
            Link::Pcie { speed_gt_per_s: None, width: None, speed_max_gt_per_s: None, width_max: None };
        device("nvme0n1", none)
    }

    #[test]
    fn smartctl_tells_an_nvme_devices_health() {
        let health = parse_smartctl(SMARTCTL_NVME.as_bytes()).expect("health");
        assert_eq!(health.source, "smartctl 7.3");
        assert_eq!(health.temperature_celsius, Some(41));
        assert_eq!(health.wear_percent, Some(3));
        assert_eq!(health.power_on_hours, Some(1234));
        assert_eq!(health.written_bytes, Some(20_000_000 * 512_000));
    }

    #[test]
    fn smartctl_tells_a_sata_devices_health() {
        let health = parse_smartctl(SMARTCTL_SATA.as_bytes()).expect("health");
        assert_eq!(health.temperature_celsius, Some(33));
        assert_eq!(health.wear_percent, Some(4), "177 Wear_Leveling_Count stands at 96");
        assert_eq!(health.power_on_hours, Some(8760));
        assert_eq!(health.written_bytes, Some(30_000_000_000 * 512));
    }

    #[test]
    fn attributes_that_contradict_each_other_tell_no_wear() {
        let rows = |rows: &str| {
            let json =
                format!(r#"{{"ata_smart_attributes":{{"table":[{rows}]}},"temperature":{{"current":30}}}}"#);
            parse_smartctl(json.as_bytes()).expect("health").wear_percent
        };
        let life = r#"{"id":231,"name":"SSD_Life_Left","value":90}"#;
        assert_eq!(rows(life), Some(10));
        assert_eq!(
            rows(&format!(r#"{life},{{"id":233,"name":"Media_Wearout_Indicator","value":90}}"#)),
            Some(10)
        );
        assert_eq!(
            rows(&format!(r#"{life},{{"id":233,"name":"Media_Wearout_Indicator","value":50}}"#)),
            None
        );
        assert_eq!(
            rows(r#"{"id":231,"name":"Temperature_Celsius","value":90}"#),
            None,
            "the number alone is not enough"
        );
        assert_eq!(rows(r#"{"id":231,"name":"SSD_Life_Left","value":200}"#), None);
    }

    #[test]
    fn a_refusal_is_told_in_smartctls_words() {
        let why = parse_smartctl(SMARTCTL_REFUSED.as_bytes()).expect_err("no health");
        assert!(why.contains("Permission denied"), "{why}");
    }

    #[test]
    fn nvme_cli_counts_in_kelvin_and_in_text() {
        let health = parse_nvme(NVME_LOG.as_bytes()).expect("health");
        assert_eq!(health.temperature_celsius, Some(38));
        assert_eq!(health.wear_percent, Some(101), "beyond the rated life");
        assert_eq!(health.power_on_hours, Some(15_000));
        assert_eq!(health.written_bytes, Some(7_000_000 * 512_000));
    }

    #[test]
    fn a_file_of_smartctl_or_nvme_cli_is_a_health_report() {
        let report = health_report(SMARTCTL_NVME.as_bytes()).expect("smartctl").expect("health");
        assert!(report.device.model.is_some() && report.device.health.is_some(), "{report:?}");
        let log = health_report(NVME_LOG.as_bytes()).expect("nvme-cli").expect("health");
        assert_eq!((log.device.model, log.measured_unix_s), (None, None), "the log does not name the drive");
        let bridge = r#"{"smartctl":{"version":[7,3]},"device":{"name":"/dev/sdb","protocol":"ATA"},
            "model_name":"SSD 1","serial_number":"A1",
            "interface_speed":{"max":{"string":"6.0 Gb/s"},"current":{"string":"3.0 Gb/s"}}}"#;
        let report = health_report(bridge.as_bytes()).expect("smartctl").expect("a link");
        let link =
            Link::Sata { speed_gbit_per_s: Some(3.0), speed_max_gbit_per_s: Some(6.0), ncq_depth: None };
        assert_eq!((report.device.name.as_str(), report.device.link), ("sdb", Some(link)));
        let refused = health_report(SMARTCTL_REFUSED.as_bytes()).expect("smartctl").expect_err("nothing");
        assert!(refused.contains("Permission denied"), "{refused}");
        for other in
            ["{\"fio version\":\"fio-3.33\"}", "[]", "{", "iostat", "{\"smartctl\":{},\"devices\":[]}"]
        {
            assert_eq!(health_report(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn nvme_cli_is_asked_when_smartctl_is_not_there() {
        let answer = |tool: &str, arguments: &[&str]| match tool {
            "nvme" => {
                assert_eq!(arguments, ["smart-log", "-o", "json", "/dev/nvme0n1"]);
                ProgramOutcome::Ended(NVME_LOG.as_bytes().to_vec())
            }
            _ => ProgramOutcome::NotInstalled,
        };
        let health = device_health(&Roots::under(Path::new("/")), &Runner::Prepared(&answer), &nvme_device());
        assert_eq!(health.expect("an answer").expect("health").source, "nvme smart-log");
    }

    #[test]
    fn silence_of_every_tool_is_a_line_with_the_reasons() {
        let answer = |tool: &str, _: &[&str]| match tool {
            "nvme" => ProgramOutcome::TimedOut,
            _ => ProgramOutcome::NotInstalled,
        };
        let why = device_health(&Roots::default(), &Runner::Prepared(&answer), &nvme_device())
            .expect_err("nothing");
        assert_eq!(why, "health of nvme0n1: smartctl: not installed; nvme: no answer within 5 s");
    }

    #[test]
    fn virtual_devices_are_not_asked() {
        let answer = |_: &str, _: &[&str]| -> ProgramOutcome { panic!("asked") };
        for link in [Link::Virtio, Link::Memory, Link::Loop { backing: None, direct: None }] {
            let health = device_health(&Roots::default(), &Runner::Prepared(&answer), &device("x", link));
            assert_eq!(health, Ok(None));
        }
    }

    #[test]
    fn several_devices_are_told_by_the_worst() {
        let answer = |_: &str, arguments: &[&str]| {
            ProgramOutcome::Ended(
                if arguments.contains(&"/dev/sda") { SMARTCTL_SATA } else { SMARTCTL_NVME }
                    .as_bytes()
                    .to_vec(),
            )
        };
        let sata = Link::Sata { speed_gbit_per_s: None, speed_max_gbit_per_s: None, ncq_depth: None };
        let devices = [device("sda", sata), nvme_device()];
        let health = health_in(&Roots::default(), &Runner::Prepared(&answer), &devices).expect("health");
        assert_eq!(health.temperature_celsius, Some(41));
        assert_eq!(health.wear_percent, Some(4));
        assert_eq!(health.written_bytes, Some(20_000_000 * 512_000 + 30_000_000_000 * 512));
        assert!(health.source.ends_with("worst of 2 devices"));
    }
}
