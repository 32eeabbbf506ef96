//! The temperature of devices while they are measured: from the kernel's sensors (`hwmon`), or from
//! smartctl where the kernel has none.
//!
//! The sensor of an NVMe device answers next to the measured commands. That of a SATA disk
//! (`drivetemp`) and smartctl send a command which the disk does not queue with others, so they may
//! only be asked while nothing is measured.

use crate::command::Runner;
use crate::health::device_health;
use crate::roots::{Roots, number};
use kurabe_core::environment::BlockDevice;
use std::path::{Path, PathBuf};

/// Sensors of the devices below a target.
#[derive(Clone, Debug, Default)]
pub struct Thermometer {
    roots: Roots,
    /// Files of the kernel's sensors, in thousandths of °C.
    sensors: Vec<PathBuf>,
    /// Whether all sensors may be read during a measurement.
    is_free: bool,
    /// Devices whose temperature only smartctl reports.
    asked: Vec<BlockDevice>,
}

impl Thermometer {
    /// Returns the sensors of devices. smartctl is used for those that it reported a temperature of
    /// before.
    pub fn of(devices: &[BlockDevice]) -> Self {
        Self::in_roots(Roots::default(), devices)
    }

    fn in_roots(roots: Roots, devices: &[BlockDevice]) -> Self {
        let mut thermometer = Self { roots, is_free: true, ..Self::default() };
        for device in devices {
            match sensor(&thermometer.roots, &device.name) {
                Some(sensor) => {
                    thermometer.is_free &= device.name.starts_with("nvme");
                    thermometer.sensors.push(sensor);
                }
                None if device.health.as_ref().is_some_and(|health| health.temperature_celsius.is_some()) => {
                    thermometer.is_free = false;
                    thermometer.asked.push(device.clone());
                }
                None => {}
            }
        }
        thermometer
    }

    /// Returns whether no sensor was found.
    pub fn is_empty(&self) -> bool {
        self.sensors.is_empty() && self.asked.is_empty()
    }

    /// Returns whether reading it does not delay the measured operations.
    pub fn is_free(&self) -> bool {
        self.is_free && !self.is_empty()
    }

    /// Returns whether each reading runs a program, so that it should be rare.
    pub fn is_slow(&self) -> bool {
        !self.asked.is_empty()
    }

    /// Returns where the temperatures come from.
    pub fn source(&self) -> &'static str {
        match (self.sensors.is_empty(), self.asked.is_empty()) {
            (false, true) => "hwmon",
            (true, _) => "smartctl",
            (false, false) => "hwmon, smartctl",
        }
    }

    /// Returns the temperature of the hottest device in °C.
    pub fn celsius(&self) -> Option<i32> {
        let of_sensors = self.sensors.iter().filter_map(|sensor| thousandths(sensor));
        let of_programs = self.asked.iter().filter_map(|device| {
            device_health(&self.roots, &Runner::System, device).ok()??.temperature_celsius
        });
        of_sensors.chain(of_programs).max()
    }
}

/// Reads a sensor. Implausible temperatures are those of a device that has no sensor.
fn thousandths(sensor: &Path) -> Option<i32> {
    let thousandths: i64 = number(sensor)?;
    let celsius = thousandths.checked_add(500)?.div_euclid(1000);
    i32::try_from(celsius).ok().filter(|celsius| (1..=150).contains(celsius))
}

/// Finds the sensor of a device: below the device, or for NVMe below its controller.
fn sensor(roots: &Roots, name: &str) -> Option<PathBuf> {
    let device = roots.block_directory(name).map(|directory| directory.join("device"));
    let controller = name.strip_prefix("nvme").and_then(|rest| {
        let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
        (!number.is_empty()).then(|| roots.sys.join("class/nvme").join(format!("nvme{number}")))
    });
    let places = device.into_iter().chain(controller);
    places.flat_map(|place| [place.join("hwmon"), place]).find_map(|place| {
        let mut sensors: Vec<PathBuf> = std::fs::read_dir(place)
            .ok()?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("hwmon")))
            .map(|path| path.join("temp1_input"))
            .filter(|path| path.is_file())
            .collect();
        sensors.sort();
        sensors.into_iter().next()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;
    use kurabe_core::environment::DeviceHealth;

    fn device(name: &str, temperature_celsius: Option<i32>) -> BlockDevice {
        let health = temperature_celsius
            .map(|degrees| DeviceHealth { temperature_celsius: Some(degrees), ..DeviceHealth::default() });
        BlockDevice { name: name.to_owned(), health, ..BlockDevice::default() }
    }

    #[test]
    fn the_kernels_sensors_of_disks_and_of_nvme_controllers_are_found() {
        let fake = Fake::new();
        fake.disk("pci/ata1/block/sda", "8:0");
        fake.file("sys/devices/pci/ata1/hwmon/hwmon3/temp1_input", "41600\n");
        fake.link("sys/devices/pci/ata1/block/sda/device", "sys/devices/pci/ata1");
        fake.disk("pci/nvme-subsys0/nvme0n1", "259:0");
        fake.file("sys/class/nvme/nvme0/hwmon1/temp1_input", "63400\n");
        let of = |names: &[&str]| {
            let devices: Vec<BlockDevice> = names.iter().map(|name| device(name, None)).collect();
            Thermometer::in_roots(fake.roots.clone(), &devices)
        };
        assert_eq!(of(&["sda"]).celsius(), Some(42));
        assert_eq!(of(&["sda", "nvme0n1"]).celsius(), Some(63));
        assert_eq!((of(&["sda"]).is_free(), of(&["nvme0n1"]).is_free()), (false, true));
        assert!(!of(&["sda", "nvme0n1"]).is_free(), "a command of the disk delays the others");
        assert_eq!(of(&["nvme0n1"]).source(), "hwmon");
        assert!(of(&["sdb"]).is_empty());
    }

    #[test]
    fn smartctl_is_asked_only_where_it_told_a_temperature_before() {
        let fake = Fake::new();
        let of = |celsius| Thermometer::in_roots(fake.roots.clone(), &[device("sdb", celsius)]);
        assert!(of(None).is_empty());
        assert!(of(Some(40)).is_slow() && !of(Some(40)).is_free());
        assert_eq!(of(Some(40)).source(), "smartctl");
    }

    #[test]
    fn an_implausible_temperature_is_none() {
        let fake = Fake::new();
        fake.disk("pci/ata1/block/sda", "8:0");
        fake.link("sys/devices/pci/ata1/block/sda/device", "sys/devices/pci/ata1");
        for words in ["0", "-273150", "900000", "hot", ""] {
            fake.file("sys/devices/pci/ata1/hwmon/hwmon3/temp1_input", words);
            let thermometer = Thermometer::in_roots(fake.roots.clone(), &[device("sda", None)]);
            assert_eq!(thermometer.celsius(), None, "{words}");
        }
    }
}
