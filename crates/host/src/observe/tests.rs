//! Tests of all kinds of chains on fake machines.

use super::*;
use crate::command::ProgramOutcome;
use crate::fake::Fake;
use crate::platform::Number;
use crate::subject::{Subject, SubjectKind, stored};
use kurabe_core::environment::{BlockDevice, Link};

const OPTIONS: ObserveOptions<'_> = ObserveOptions { with_serial: true, salt: b"" };

/// Observes a path whose files have a device number. `others` gives the numbers of other paths.
fn see(fake: &Fake, path: &str, dev: Number, others: &[(&str, Number)]) -> Environment {
    let look = |asked: &Path| {
        let listed = others.iter().find(|(other, _)| Path::new(other) == asked);
        match listed {
            Some((_, dev)) => Some(stored(asked, *dev)),
            None => (asked == Path::new(path)).then(|| stored(asked, dev)),
        }
    };
    let runner = |_: &str, _: &[&str]| ProgramOutcome::NotInstalled;
    observe_in(&fake.roots, Path::new(path), &look, &Runner::Prepared(&runner), &OPTIONS)
}

fn see_block(fake: &Fake, number: Number) -> Environment {
    let look = |asked: &Path| {
        Some(Subject { path: asked.to_owned(), kind: SubjectKind::Block(number), dev: (0, 6), space: None })
    };
    let runner = |_: &str, _: &[&str]| ProgramOutcome::NotInstalled;
    observe_in(&fake.roots, Path::new("/dev/x"), &look, &Runner::Prepared(&runner), &OPTIONS)
}

fn names(environment: &Environment) -> Vec<&str> {
    environment.devices.iter().map(|device| device.name.as_str()).collect()
}

fn only(environment: &Environment) -> &BlockDevice {
    assert_eq!(environment.devices.len(), 1, "{environment:#?}");
    &environment.devices[0]
}

fn nvme() -> Fake {
    let fake = Fake::new();
    let card = "sys/devices/pci0000:00/0000:00:1d.0/0000:03:00.0";
    fake.files(
        card,
        &[
            ("current_link_speed", "8.0 GT/s PCIe"),
            ("current_link_width", "4"),
            ("max_link_speed", "16.0 GT/s PCIe"),
            ("max_link_width", "4"),
        ],
    );
    let controller = format!("{card}/nvme/nvme0");
    fake.files(
        &controller,
        &[
            ("model", "Samsung SSD 980 PRO 1TB                 "),
            ("serial", "S5GXNF0R123456      "),
            ("firmware_rev", "5B2QGXA7"),
            ("transport", "pcie"),
            ("sqsize", "1023"),
        ],
    );
    let disk = "pci0000:00/0000:00:1d.0/0000:03:00.0/nvme/nvme0/nvme0n1";
    fake.disk(disk, "259:0");
    fake.partition(&format!("{disk}/nvme0n1p2"), "259:2", 2048, 1000);
    fake.link(&format!("sys/devices/{disk}/device"), &controller);
    fake.files(
        &format!("sys/devices/{disk}/queue"),
        &[
            ("rotational", "0"),
            ("scheduler", "[none] mq-deadline kyber"),
            ("nr_requests", "1023"),
            ("write_cache", "write back"),
            ("logical_block_size", "512"),
            ("physical_block_size", "512"),
            ("max_sectors_kb", "1280"),
            ("read_ahead_kb", "128"),
        ],
    );
    fake.mounts("27 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw,errors=remount-ro\n");
    fake
}

#[test]
fn an_nvme_partition_with_ext4() {
    let seen = see(&nvme(), "/home/u/x", (259, 2), &[]);
    let file_system = seen.file_system.as_ref().expect("a file system");
    assert_eq!(file_system.kind.as_deref(), Some("ext4"));
    assert_eq!(file_system.mount_point.as_deref(), Some("/"));
    assert_eq!(file_system.source.as_deref(), Some("/dev/nvme0n1p2"));
    assert_eq!(file_system.options.as_deref(), Some("rw,relatime,errors=remount-ro"));
    assert_eq!(
        (file_system.block_size_bytes, file_system.size_bytes, file_system.free_bytes),
        (Some(4096), Some(1 << 30), Some(1 << 29))
    );
    assert!(seen.layers.is_empty());
    let expected = BlockDevice {
        name: "nvme0n1".to_owned(),
        partition: Some("nvme0n1p2".to_owned()),
        model: Some("Samsung SSD 980 PRO 1TB".to_owned()),
        firmware: Some("5B2QGXA7".to_owned()),
        serial: Some("S5GXNF0R123456".to_owned()),
        size_bytes: Some(1 << 30),
        rotational: Some(false),
        scheduler: Some("none".to_owned()),
        queue_requests: Some(1023),
        queue_depth: Some(1023),
        write_cache: Some("write back".to_owned()),
        logical_sector_bytes: Some(512),
        physical_sector_bytes: Some(512),
        largest_request_bytes: Some(1280 << 10),
        read_ahead_bytes: Some(128 << 10),
        removable: Some(false),
        link: Some(Link::Pcie {
            speed_gt_per_s: Some(8.0),
            width: Some(4),
            speed_max_gt_per_s: Some(16.0),
            width_max: Some(4),
        }),
        health: None,
    };
    assert_eq!(only(&seen), &expected);
    assert_eq!(seen.missing, ["health of nvme0n1: smartctl: not installed; nvme: not installed"]);
}

#[test]
fn an_nvme_namespace_with_native_multipath_finds_its_controller() {
    let fake = nvme();
    let subsystem = "virtual/nvme-subsystem/nvme-subsys0";
    fake.disk(&format!("{subsystem}/nvme1n1"), "259:9");
    fake.link(&format!("sys/devices/{subsystem}/nvme1n1/device"), &format!("sys/devices/{subsystem}"));
    fake.files(&format!("sys/devices/{subsystem}"), &[("model", "Shared"), ("serial", "S1")]);
    fake.link(
        &format!("sys/devices/{subsystem}/nvme0"),
        "sys/devices/pci0000:00/0000:00:1d.0/0000:03:00.0/nvme/nvme0",
    );
    let seen = see_block(&fake, (259, 9));
    let device = only(&seen);
    assert_eq!(device.model.as_deref(), Some("Shared"));
    assert_eq!(device.queue_depth, Some(1023));
    assert!(matches!(device.link, Some(Link::Pcie { width: Some(4), .. })), "{:?}", device.link);
}

#[test]
fn a_block_device_itself_starts_the_chain() {
    let seen = see_block(&nvme(), (259, 2));
    assert_eq!(seen.file_system, None);
    assert_eq!(only(&seen).partition.as_deref(), Some("nvme0n1p2"));
    assert_eq!(only(&see_block(&nvme(), (259, 0))).partition, None);
}

fn sata_disk(fake: &Fake, port: u32, name: &str, number: &str) -> String {
    let ata = format!("pci0000:00/0000:00:17.0/ata{port}");
    let target = format!("{ata}/host{port}/target{port}:0:0/{port}:0:0:0");
    let disk = format!("{target}/block/{name}");
    fake.disk(&disk, number);
    fake.link(&format!("sys/devices/{disk}/device"), &format!("sys/devices/{target}"));
    fake.files(
        &format!("sys/devices/{target}"),
        &[("vendor", "ATA     "), ("model", "WDC WD40EFRX-68N"), ("rev", "0A82"), ("queue_depth", "32")],
    );
    fake.files(
        &format!("sys/devices/{ata}/link{port}/ata_link/link{port}"),
        &[("sata_spd", "3.0 Gbps"), ("hw_sata_spd_limit", "6.0 Gbps"), ("sata_spd_limit", "3.0 Gbps")],
    );
    disk
}

#[test]
fn a_sata_disk_with_lvm_on_luks() {
    let fake = Fake::new();
    let disk = sata_disk(&fake, 1, "sda", "8:0");
    fake.partition(&format!("{disk}/sda2"), "8:2", 2048, 1000);
    fake.file("run/udev/data/b8:0", "E:ID_MODEL_ENC=WDC\\x20WD40EFRX-68N32N0\nE:ID_SERIAL_SHORT=WD-1\n");
    fake.disk("virtual/block/dm-0", "252:0");
    fake.files("sys/devices/virtual/block/dm-0/dm", &[("name", "luks-1"), ("uuid", "CRYPT-LUKS2-1-luks-1")]);
    fake.disk("virtual/block/dm-1", "252:1");
    fake.files("sys/devices/virtual/block/dm-1/dm", &[("name", "vg-root"), ("uuid", "LVM-abc")]);
    fake.stack("virtual/block/dm-0", &format!("{disk}/sda2"));
    fake.stack("virtual/block/dm-1", "virtual/block/dm-0");
    fake.mounts("27 1 252:1 / / rw - xfs /dev/mapper/vg-root rw\n");
    let seen = see(&fake, "/srv", (252, 1), &[]);
    assert_eq!(seen.layers, ["dm-1 (lvm, vg-root)", "dm-0 (crypt, luks-1)"]);
    let device = only(&seen);
    assert_eq!((device.name.as_str(), device.partition.as_deref()), ("sda", Some("sda2")));
    assert_eq!(device.model.as_deref(), Some("WDC WD40EFRX-68N32N0"), "sysfs cuts it");
    assert_eq!(device.firmware.as_deref(), Some("0A82"));
    assert_eq!(device.serial.as_deref(), Some("WD-1"));
    assert_eq!(
        device.link,
        Some(Link::Sata {
            speed_gbit_per_s: Some(3.0),
            speed_max_gbit_per_s: Some(6.0),
            ncq_depth: Some(32)
        })
    );
}

fn usb_stick(driver: &str) -> Fake {
    let fake = Fake::new();
    let port = "pci0000:00/0000:00:14.0/usb2/2-1";
    let interface = format!("{port}/2-1:1.0");
    let target = format!("{interface}/host6/target6:0:0/6:0:0:0");
    let disk = format!("{target}/block/sdb");
    fake.disk(&disk, "8:16");
    fake.files(&format!("sys/devices/{disk}"), &[("removable", "1")]);
    fake.partition(&format!("{disk}/sdb1"), "8:17", 2048, 1000);
    fake.link(&format!("sys/devices/{disk}/device"), &format!("sys/devices/{target}"));
    fake.files(
        &format!("sys/devices/{target}"),
        &[("vendor", "SanDisk "), ("model", "Ultra Fit       "), ("rev", "1.00")],
    );
    fake.directory("sys/bus/usb/drivers/usb");
    fake.directory(&format!("sys/bus/usb/drivers/{driver}"));
    for place in [port, &interface, "pci0000:00/0000:00:14.0/usb2"] {
        fake.link(&format!("sys/devices/{place}/subsystem"), "sys/bus/usb");
    }
    fake.link(&format!("sys/devices/{interface}/driver"), &format!("sys/bus/usb/drivers/{driver}"));
    fake.link(&format!("sys/devices/{port}/driver"), "sys/bus/usb/drivers/usb");
    fake.files(&format!("sys/devices/{port}"), &[("speed", "5000"), ("version", " 3.20")]);
    fake.files("sys/devices/pci0000:00/0000:00:14.0/usb2", &[("speed", "10000"), ("version", " 3.10")]);
    fake.mounts("30 1 8:17 / /media/u/STICK rw - vfat /dev/sdb1 rw\n");
    fake
}

#[test]
fn usb_sticks_by_bot_and_by_uas() {
    for (driver, protocol) in [("usb-storage", "bot"), ("uas", "uas")] {
        let seen = see(&usb_stick(driver), "/media/u/STICK/x", (8, 17), &[]);
        let device = only(&seen);
        assert_eq!(
            device.link,
            Some(Link::Usb {
                speed_mbit_per_s: Some(5000.0),
                protocol: Some(protocol.to_owned()),
                version: Some("3.20".to_owned())
            })
        );
        assert_eq!(device.model.as_deref(), Some("SanDisk Ultra Fit"));
        assert_eq!(device.firmware.as_deref(), Some("1.00"));
        assert_eq!(device.removable, Some(true));
    }
}

#[test]
fn a_mirror_of_two_disks() {
    let fake = Fake::new();
    fake.disk("virtual/block/md0", "9:0");
    fake.files(
        "sys/devices/virtual/block/md0/md",
        &[("level", "raid1"), ("raid_disks", "2"), ("chunk_size", "0")],
    );
    for (port, name, number) in [(1, "sda", "8:0"), (2, "sdb", "8:16")] {
        let disk = sata_disk(&fake, port, name, number);
        fake.stack("virtual/block/md0", &disk);
    }
    fake.mounts("30 1 9:0 / /srv rw - ext4 /dev/md0 rw\n");
    let seen = see(&fake, "/srv", (9, 0), &[]);
    assert_eq!(names(&seen), ["sda", "sdb"]);
    assert_eq!(seen.layers, ["md0 (raid1, 2 devices)"]);
}

/// Creates a disk as on the development machine: no DMI, no udev, and a serial number in the disk's
/// own directory.
fn virtio() -> Fake {
    let fake = Fake::new();
    let device = "pci0000:00/0000:00:02.0/virtio1";
    let disk = format!("{device}/block/vda");
    fake.disk(&disk, "254:0");
    fake.files(&format!("sys/devices/{disk}"), &[("serial", "overlayblk")]);
    fake.link(&format!("sys/devices/{disk}/device"), &format!("sys/devices/{device}"));
    fake.files(&format!("sys/devices/{device}"), &[("vendor", "0x1af4"), ("device", "0x0002")]);
    fake.directory("sys/bus/virtio");
    fake.link(&format!("sys/devices/{device}/subsystem"), "sys/bus/virtio");
    fake.files(&format!("sys/devices/{disk}/queue"), &[("scheduler", "none [mq-deadline] kyber bfq")]);
    fake.mounts("27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n");
    fake
}

#[test]
fn a_virtual_disk() {
    let seen = see(&virtio(), "/work", (254, 0), &[]);
    let device = only(&seen);
    assert_eq!(device.link, Some(Link::Virtio));
    assert_eq!((device.model.as_deref(), device.serial.as_deref()), (None, Some("overlayblk")));
    assert_eq!(device.scheduler.as_deref(), Some("mq-deadline"));
    assert!(seen.missing.is_empty(), "a virtual disk has no health: {:?}", seen.missing);
}

#[test]
fn a_volume_of_a_raid_card_has_the_slot_of_the_card() {
    let fake = Fake::new();
    let card = "pci0000:00/0000:00:03.0/0000:01:00.0";
    let disk = format!("{card}/host0/target0:2:0/0:2:0:0/block/sda");
    fake.disk(&disk, "8:0");
    fake.files(&format!("sys/devices/{card}/host0/scsi_host/host0"), &[("proc_name", "megaraid_sas")]);
    let speed = [("current_link_speed", "5.0 GT/s PCIe"), ("current_link_width", "8")];
    fake.files(&format!("sys/devices/{card}"), &speed);
    fake.mounts("27 1 8:0 / / rw,relatime - ext4 /dev/sda rw\n");
    let seen = see(&fake, "/work", (8, 0), &[]);
    let Some(Link::RaidCard { driver, slot }) = &only(&seen).link else { panic!("{seen:?}") };
    assert_eq!(driver, "megaraid_sas");
    assert!(matches!(**slot, Link::Pcie { speed_gt_per_s: Some(5.0), width: Some(8), .. }), "{slot:?}");
}

#[test]
fn a_card_has_the_rate_of_its_lines() {
    let fake = Fake::new();
    let card = "platform/soc/mmc_host/mmc0/mmc0:aaaa";
    fake.disk(&format!("{card}/block/mmcblk0"), "179:0");
    fake.directory("sys/bus/mmc");
    fake.link(&format!("sys/devices/{card}/subsystem"), "sys/bus/mmc");
    let ios = "clock:\t\t50000000 Hz\nactual clock:\t41666667 Hz\nbus width:\t2 (4 bits)\n\
        timing spec:\t7 (sd uhs DDR50)\n";
    fake.files("sys/kernel/debug/mmc0", &[("ios", ios)]);
    fake.mounts("27 1 179:0 / / rw,relatime - ext4 /dev/mmcblk0 rw\n");
    let seen = see(&fake, "/work", (179, 0), &[]);
    let lines =
        Link::CardLines { timing: Some("sd uhs DDR50".to_owned()), rate_bytes_per_s: Some(41666667.0) };
    assert_eq!(only(&seen).link, Some(lines));
}

#[test]
fn a_loop_device_tells_what_is_under_it() {
    let fake = virtio();
    fake.disk("virtual/block/loop0", "7:0");
    fake.files("sys/devices/virtual/block/loop0/loop", &[("backing_file", "/srv/x.img"), ("dio", "1")]);
    fake.mounts("27 1 254:0 / / rw - ext4 /dev/vda rw\n40 27 7:0 / /mnt rw - xfs /dev/loop0 rw\n");
    let seen = see(&fake, "/mnt/f", (7, 0), &[("/srv/x.img", (254, 0))]);
    assert_eq!(seen.file_system.as_ref().and_then(|system| system.kind.as_deref()), Some("xfs"));
    assert_eq!(
        only(&seen).link,
        Some(Link::Loop { backing: Some("/srv/x.img".to_owned()), direct: Some(true) })
    );
    assert_eq!(seen.layers, ["loop0 (loop, /srv/x.img, direct)", "under loop0: ext4 on vda"]);
    let blind = see(&fake, "/mnt/f", (7, 0), &[]);
    assert_eq!(blind.missing, ["devices under loop0: its backing file is not visible from here"]);
}

#[test]
fn zram_is_memory() {
    let fake = Fake::new();
    fake.disk("virtual/block/zram0", "253:0");
    fake.files("sys/devices/virtual/block/zram0", &[("comp_algorithm", "[lzo-rle] lzo lz4")]);
    fake.mounts("30 1 253:0 / /fast rw - ext4 /dev/zram0 rw\n");
    let seen = see(&fake, "/fast", (253, 0), &[]);
    assert_eq!(only(&seen).link, Some(Link::Memory));
    assert_eq!(seen.layers, ["zram0 (zram, lzo-rle)"]);
}

#[test]
fn tmpfs_is_memory() {
    let fake = Fake::new();
    fake.mounts("30 1 0:30 / /tmp rw - tmpfs tmpfs rw,size=1g\n");
    let seen = see(&fake, "/tmp/x", (0, 30), &[]);
    let device = only(&seen);
    assert_eq!((device.name.as_str(), &device.link), ("tmpfs", &Some(Link::Memory)));
    assert_eq!(device.size_bytes, Some(1 << 30));
}

#[test]
fn an_overlay_in_a_container() {
    let fake = virtio();
    fake.mounts("27 1 0:60 / / rw - overlay overlay rw,lowerdir=/l1:/l2,upperdir=/var/up,workdir=/w\n");
    fake.file(".dockerenv", "");
    let blind = see(&fake, "/x", (0, 60), &[]);
    assert_eq!(blind.layers, ["overlay (upper /var/up)"]);
    assert!(blind.devices.is_empty());
    assert_eq!(blind.missing.len(), 1);
    assert_eq!(blind.machine.virtualisation.container.as_deref(), Some("docker"));
    let through = see(&fake, "/x", (254, 0), &[]);
    assert_eq!(names(&through), ["vda"], "the file has the number of the disk below");
    fake.mounts(
        "1 0 254:0 / /host rw - ext4 /dev/vda rw\n27 1 0:60 / /merged rw - overlay overlay rw,upperdir=/host/up\n",
    );
    let seen = see(&fake, "/merged/x", (0, 60), &[("/host/up", (254, 0))]);
    assert_eq!(names(&seen), ["vda"]);
    assert_eq!(
        seen.file_system.and_then(|system| system.kind).as_deref(),
        Some("overlay"),
        "the file system is what the path is in"
    );
}

#[test]
fn btrfs_over_two_devices_tells_both() {
    let fake = Fake::new();
    for (port, name, number) in [(1, "sda", "8:0"), (2, "sdb", "8:16")] {
        let disk = sata_disk(&fake, port, name, number);
        fake.link(&format!("sys/fs/btrfs/uuid-1/devices/{name}"), &format!("sys/devices/{disk}"));
    }
    fake.mounts("30 1 0:40 /@home /home rw - btrfs /dev/sda rw,subvol=/@home\n");
    let seen = see(&fake, "/home/u", (0, 77), &[]);
    assert_eq!(names(&seen), ["sda", "sdb"]);
    assert_eq!(seen.layers, ["btrfs over 2 devices"]);
}

#[test]
fn what_is_not_on_this_machine_or_not_told_is_said() {
    let fake = Fake::new();
    fake.mounts("30 1 0:40 / /net rw - nfs4 server:/export rw\n31 1 0:41 / /tank rw - zfs tank/data rw\n");
    let net = see(&fake, "/net/x", (0, 40), &[]);
    assert!(net.devices.is_empty());
    assert_eq!(net.missing, ["devices under nfs4 server:/export: not on this machine"]);
    let pool = see(&fake, "/tank/x", (0, 41), &[]);
    assert_eq!(pool.layers, ["zfs pool tank"]);
    assert_eq!(pool.missing.len(), 1);
}

#[test]
fn a_circle_of_devices_ends() {
    let fake = Fake::new();
    for (name, number) in [("dm-0", "252:0"), ("dm-1", "252:1")] {
        fake.disk(&format!("virtual/block/{name}"), number);
        fake.directory(&format!("sys/devices/virtual/block/{name}/dm"));
    }
    fake.stack("virtual/block/dm-0", "virtual/block/dm-1");
    fake.stack("virtual/block/dm-1", "virtual/block/dm-0");
    let seen = see_block(&fake, (252, 0));
    assert!(seen.devices.is_empty());
    assert!(seen.missing[0].ends_with("the stack is too deep"), "{:?}", seen.missing);
}

#[test]
fn a_character_device_has_no_devices() {
    let seen = observe(Path::new("/dev/zero"), &OPTIONS);
    assert!(seen.devices.is_empty());
    assert_eq!(seen.file_system, None);
}

#[test]
fn this_machine_is_observed() {
    let seen = observe(Path::new("."), &OPTIONS);
    assert!(seen.machine.kernel.is_some());
    assert!(seen.machine.memory_bytes.is_some_and(|bytes| bytes > 1 << 20));
    assert!(seen.machine.cpu_count.is_some_and(|count| count > 0));
    let file_system = seen.file_system.expect("a file system");
    assert!(file_system.kind.is_some() && file_system.free_bytes.is_some());
    let nowhere = observe(Path::new("/no/such/path"), &OPTIONS);
    assert_eq!(nowhere.missing.len(), 1);
}
