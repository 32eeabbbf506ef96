//! Tests of every kind of claim on fake devices.

use super::inquiry::parse_swaps;
use super::media::Media;
use super::*;
use crate::fake::Fake;
use crate::signature::{Class, Signature};
use std::collections::BTreeMap;
use std::ops::Range;

const DISK: &str = "pci0000:00/ata1/host0/block/sda";
const FIRST: &str = "pci0000:00/ata1/host0/block/sda/sda1";
const SECOND: &str = "pci0000:00/ata1/host0/block/sda/sda2";
const MIB: usize = 1 << 20;

/// The media of a test, empty by default.
#[derive(Default)]
struct FakeMedia {
    magics: BTreeMap<&'static str, (usize, Vec<u8>)>,
    locked: Vec<&'static str>,
    unreadable: Vec<&'static str>,
    named: Vec<(&'static str, Signature)>,
}

/// These media with a fake tree.
struct OnTree<'a> {
    media: &'a FakeMedia,
    roots: &'a Roots,
}

impl Media for OnTree<'_> {
    fn pieces(&self, block: &BlockNode, places: &[Range<u64>]) -> io::Result<Vec<(u64, Vec<u8>)>> {
        if self.media.unreadable.contains(&block.name.as_str()) {
            return Err(io::Error::from(io::ErrorKind::PermissionDenied));
        }
        let size_bytes = block.size_bytes().and_then(|size| usize::try_from(size).ok());
        let mut bytes = vec![0; size_bytes.expect("a small device")];
        if let Some((offset, magic)) = self.media.magics.get(block.name.as_str()) {
            bytes[*offset..offset + magic.len()].copy_from_slice(magic);
        }
        Ok(places
            .iter()
            .map(|place| (place.start, bytes[place.start as usize..place.end as usize].to_vec()))
            .collect())
    }

    fn named_by_libblkid(&self, block: &BlockNode) -> Vec<Signature> {
        let named = self.media.named.iter().filter(|(name, _)| *name == block.name);
        named.map(|(_, signature)| signature.clone()).collect()
    }

    fn exclusive_is_free(&self, block: &BlockNode) -> io::Result<bool> {
        Ok(!self.media.locked.contains(&block.name.as_str()))
    }

    /// A name below /dev is a device. A file is identified by its name up to a `#`, so `x#1` and
    /// `x#2` are two names of one file.
    fn object(&self, path: &Path) -> io::Result<Object> {
        let target = std::fs::read_link(path).unwrap_or_else(|_| path.to_owned());
        let inside =
            target.strip_prefix(&self.roots.root).map_or(target.clone(), |rest| Path::new("/").join(rest));
        if let Some(number) = BlockNode::by_path(self.roots, &inside).and_then(|block| block.number()) {
            return Ok(Object::Device(number));
        }
        if inside.starts_with("/hidden") {
            return Err(io::Error::from(io::ErrorKind::PermissionDenied));
        }
        let name = inside.to_string_lossy().split('#').next().expect("a name").to_owned();
        Ok(Object::Inode((254, 0), name.bytes().fold(7, |sum, byte| sum * 31 % 1_000_003 + u64::from(byte))))
    }

    fn under_loop(&self, block: &BlockNode) -> io::Result<Option<Object>> {
        block.loop_backing().map(|backing| self.object(&backing)).transpose()
    }
}

/// Creates an unused disk of 8 MiB with partitions of 2 and 4 MiB, the second of which extends
/// almost to its end.
fn machine() -> Fake {
    let fake = Fake::new();
    fake.disk(DISK, "8:0");
    fake.file(&format!("sys/devices/{DISK}/size"), "16384\n");
    fake.partition(FIRST, "8:1", 2048, 4096);
    fake.partition(SECOND, "8:2", 8192, 8192 - 34);
    fake.mounts("27 1 254:0 / / rw - ext4 /dev/vda rw\n");
    fake.file("proc/swaps", "Filename Type Size Used Priority\n");
    fake
}

fn ask_with(fake: &Fake, media: &FakeMedia, name: &str) -> Result<Vec<String>> {
    let block = BlockNode::by_name(&fake.roots, name).expect("the device");
    let media = OnTree { media, roots: &fake.roots };
    let claims = Inquiry { roots: &fake.roots, media: &media, own_pid: 4242 }.claims(&block)?;
    Ok(words_of(claims))
}

fn words_of(claims: Vec<Claim>) -> Vec<String> {
    let device = |claim: &Claim| claim.device.as_ref().map_or(String::new(), |device| format!("{device}: "));
    claims.into_iter().map(|claim| device(&claim) + &claim.by.en).collect()
}

fn ask(fake: &Fake, name: &str) -> Vec<String> {
    ask_with(fake, &FakeMedia::default(), name).expect("an answer")
}

fn contents_of(fake: &Fake, media: &FakeMedia, name: &str) -> Option<String> {
    let block = BlockNode::by_name(&fake.roots, name).expect("the device");
    let media = OnTree { media, roots: &fake.roots };
    Inquiry { roots: &fake.roots, media: &media, own_pid: 4242 }.contents(&block).expect("an answer")
}

#[test]
fn a_device_that_nobody_uses_is_free() {
    let fake = machine();
    for name in ["sda", "sda1", "sda2"] {
        assert!(ask(&fake, name).is_empty(), "{name}");
    }
}

#[test]
fn a_mounted_partition_holds_its_disk_but_not_its_neighbour() {
    let fake = machine();
    fake.mounts("30 27 8:1 / /mnt/a\\040b rw - ext4 /dev/sda1 rw\n");
    assert_eq!(ask(&fake, "sda1"), ["sda1: mounted on /mnt/a b"]);
    assert_eq!(ask(&fake, "sda"), ["sda1: mounted on /mnt/a b"]);
    assert!(ask(&fake, "sda2").is_empty());
}

#[test]
fn a_disk_mounted_whole_holds_its_partitions() {
    let fake = machine();
    fake.mounts("30 27 8:0 / /mnt rw - vfat /dev/sda rw\n");
    assert_eq!(ask(&fake, "sda2"), ["sda: mounted on /mnt"]);
}

#[test]
fn a_mount_whose_source_is_no_path_is_found_by_its_number() {
    let fake = machine();
    fake.mounts("27 1 8:2 / / rw - ext4 /dev/root rw\n");
    assert_eq!(ask(&fake, "sda"), ["sda2: mounted on /"]);
}

#[test]
fn a_mount_with_an_anonymous_number_is_found_by_its_source() {
    let fake = machine();
    fake.link("dev/disk/by-id/usb-x-part1", "dev/sda1");
    fake.mounts("30 27 0:50 / /mnt rw - btrfs /dev/disk/by-id/usb-x-part1 rw\n");
    assert_eq!(ask(&fake, "sda"), ["sda1: mounted on /mnt"]);
    fake.mounts("30 27 0:50 / /mnt rw - bcachefs /dev/sda1:/dev/sda2 rw\n");
    assert_eq!(ask(&fake, "sda2"), ["sda2: mounted on /mnt"]);
}

#[test]
fn mounts_of_every_process_count_and_each_once() {
    let fake = machine();
    for (pid, command) in [(1, "init"), (90, "podman"), (91, "sh")] {
        fake.file(&format!("proc/{pid}/comm"), format!("{command}\n"));
    }
    fake.file("proc/1/mountinfo", "27 1 254:0 / / rw - ext4 /dev/vda rw\n");
    for pid in [90, 91] {
        fake.file(&format!("proc/{pid}/mountinfo"), "30 27 8:2 / /host rw - xfs /dev/elsewhere rw\n");
    }
    assert_eq!(ask(&fake, "sda"), ["sda2: mounted on /host as podman (process 90) sees it"]);
}

#[test]
fn swap_is_a_holder() {
    let fake = machine();
    fake.file(
        "proc/swaps",
        "Filename Type Size Used Priority\n/dev/sda2 partition 1 0 -2\n/swapfile file 1 0 -3\n",
    );
    assert_eq!(ask(&fake, "sda"), ["sda2: in use as swap"]);
    assert_eq!(ask(&fake, "sda2"), ["sda2: in use as swap"]);
    assert!(ask(&fake, "sda1").is_empty());
}

#[test]
fn whatever_is_built_on_it_is_a_holder() {
    for (upper, files, words) in [
        (
            "virtual/block/dm-0",
            vec![("dm/name", "luks-home"), ("dm/uuid", "CRYPT-LUKS2-1-x")],
            "dm-0 (crypt, luks-home)",
        ),
        ("virtual/block/dm-0", vec![("dm/name", "vg-lv"), ("dm/uuid", "LVM-x")], "dm-0 (lvm, vg-lv)"),
        ("virtual/block/md0", vec![("md/level", "raid1"), ("md/raid_disks", "2")], "md0 (raid1, 2 devices)"),
        (
            "virtual/block/bcache0",
            vec![("bcache/cache_mode", "writethrough [writeback]")],
            "bcache0 (bcache, writeback)",
        ),
    ] {
        let fake = machine();
        fake.disk(upper, "252:0");
        fake.files(&format!("sys/devices/{upper}"), &files);
        fake.stack(upper, SECOND);
        assert_eq!(ask(&fake, "sda2"), [format!("sda2: held by {words}")]);
        assert_eq!(ask(&fake, "sda"), [format!("sda2: held by {words}")]);
        assert!(ask(&fake, "sda1").is_empty());
        let name = upper.rsplit('/').next().expect("a name");
        assert!(ask(&fake, name).is_empty(), "what it is built on does not hold {name}");
    }
}

#[test]
fn a_loop_device_on_a_partition_is_a_holder() {
    let fake = machine();
    fake.disk("virtual/block/loop3", "7:3");
    fake.file("sys/devices/virtual/block/loop3/loop/backing_file", "/dev/sda1\n");
    assert_eq!(ask(&fake, "sda"), ["sda1: used by loop device loop3"]);
    assert!(ask(&fake, "loop3").is_empty(), "a loop device does not hold itself");
    fake.mounts("30 27 8:1 / /mnt rw - ext4 /dev/sda1 rw\n");
    assert_eq!(ask(&fake, "loop3"), ["sda1: mounted on /mnt"], "it would write to a mounted partition");
}

#[test]
fn loop_devices_over_one_file_share_their_holders() {
    let fake = machine();
    for (name, number) in [("loop0", "7:0"), ("loop1", "7:1")] {
        fake.disk(&format!("virtual/block/{name}"), number);
        fake.file(&format!("sys/devices/virtual/block/{name}/loop/backing_file"), "/srv/x.img\n");
    }
    fake.mounts("30 27 7:1 / /mnt rw - ext4 /dev/loop1 rw\n");
    assert_eq!(ask(&fake, "loop0"), ["loop1: mounted on /mnt"]);
}

/// Adds loop devices to a machine, given by name and backing file.
fn with_loops(loops: &[(&str, &str)]) -> Fake {
    let fake = machine();
    for (minor, (name, backing)) in loops.iter().enumerate() {
        fake.disk(&format!("virtual/block/{name}"), &format!("7:{minor}"));
        fake.file(&format!("sys/devices/virtual/block/{name}/loop/backing_file"), format!("{backing}\n"));
    }
    fake
}

#[test]
fn loop_devices_over_two_names_of_one_file_share_their_holders() {
    let fake = with_loops(&[("loop0", "/srv/x#1"), ("loop1", "/mnt/other/x"), ("loop2", "/srv/x#2")]);
    fake.mounts("30 27 7:2 / /mnt rw - ext4 /dev/loop2 rw\n");
    assert_eq!(ask(&fake, "loop0"), ["loop2: mounted on /mnt"]);
    assert!(ask(&fake, "loop1").is_empty(), "another file");
}

#[test]
fn loop_devices_on_one_another_are_followed_to_the_bottom_and_to_the_top() {
    let fake = with_loops(&[("loop0", "/srv/x"), ("loop1", "/dev/loop0"), ("loop2", "/dev/loop1")]);
    assert!(ask(&fake, "loop2").is_empty(), "none of them is used");
    assert_eq!(ask(&fake, "loop0"), ["loop0: used by loop device loop1"]);
    fake.mounts("30 27 7:0 / /mnt rw - ext4 /dev/loop0 rw\n");
    assert_eq!(ask(&fake, "loop2"), ["loop0: mounted on /mnt"]);
    let fake = with_loops(&[("loop0", "/srv/x#1"), ("loop1", "/dev/loop0"), ("loop2", "/srv/x#2")]);
    assert_eq!(ask(&fake, "loop2"), ["loop0: used by loop device loop1"]);
}

#[test]
fn a_loop_device_that_hides_its_file_is_an_error_and_never_free() {
    let fake = with_loops(&[("loop0", "/srv/x"), ("loop1", "/hidden/y")]);
    for name in ["loop0", "loop1", "sda"] {
        let error = ask_with(&fake, &FakeMedia::default(), name).expect_err("no answer");
        assert_eq!(error.kind(), ErrorKind::Permission, "{name}");
    }
}

fn ask_about_file(fake: &Fake, path: &str, has_writer: Option<bool>) -> Result<Vec<String>> {
    let media = OnTree { media: &FakeMedia::default(), roots: &fake.roots };
    let object = media.object(Path::new(path)).expect("an object");
    let asked = Asked { shown: path, object, in_tables: object, has_writer };
    let inquiry = Inquiry { roots: &fake.roots, media: &media, own_pid: 4242 };
    inquiry.claims_on_file(&asked).map(words_of)
}

#[test]
fn a_file_under_a_loop_device_is_held_and_so_is_whatever_uses_the_device() {
    let fake = with_loops(&[("loop0", "/srv/x#1"), ("loop1", "/dev/loop0")]);
    fake.mounts("30 27 7:1 / /mnt rw - ext4 /dev/loop1 rw\n");
    let claims = ask_about_file(&fake, "/srv/x#2", None).expect("an answer");
    assert_eq!(claims, ["loop0: used by loop device loop1", "used by loop device loop0"]);
    assert!(ask_about_file(&fake, "/srv/y", Some(false)).expect("an answer").is_empty());
}

#[test]
fn a_file_that_somebody_writes_to_locks_or_swaps_to_is_held() {
    let fake = machine();
    fake.file("proc/70/comm", "qemu\n");
    fake.raw_link("proc/70/fd/3", "/srv/x#renamed (deleted)");
    fake.file("proc/70/fdinfo/3", "flags:\t0100000\n");
    let ask = || ask_about_file(&fake, "/srv/x", Some(false)).expect("an answer");
    assert!(ask().is_empty(), "a reader");
    fake.file("proc/70/fdinfo/3", "flags:\t0100000\nlock:\t1: FLOCK  ADVISORY  READ 70 fe:00:1 0 EOF\n");
    assert_eq!(ask(), ["locked by qemu (process 70)"]);
    fake.file("proc/70/fdinfo/3", "flags:\t0100002\n");
    assert_eq!(ask(), ["open for writing in qemu (process 70)"]);
    fake.file("proc/70/fdinfo/3", "");
    fake.file("proc/swaps", "Filename Type\n/srv/x#other\\040name file 1 0 -2\n");
    assert_eq!(ask(), ["in use as swap"]);
}

#[test]
fn a_thread_with_descriptors_of_its_own_is_looked_at() {
    let fake = machine();
    fake.file("proc/70/comm", "worker\n");
    fake.directory("proc/70/fd");
    fake.raw_link("proc/70/task/72/fd/3", "/dev/sda");
    fake.file("proc/70/task/72/fdinfo/3", "flags:\t0100002\n");
    assert_eq!(ask(&fake, "sda"), ["sda: open for writing in worker (process 70)"]);
}

#[test]
fn a_mapping_without_a_descriptor_is_found() {
    let fake = machine();
    fake.file("proc/70/comm", "database\n");
    let object = OnTree { media: &FakeMedia::default(), roots: &fake.roots }.object(Path::new("/srv/x"));
    let Ok(Object::Inode(_, inode)) = object else { panic!("a file") };
    fake.file("proc/70/maps", format!("7f00-7f01 rw-s 00000000 fe:00 {inode} /srv/x\n"));
    fake.raw_link("proc/70/map_files/7f00-7f01", "/srv/x");
    assert_eq!(
        ask_about_file(&fake, "/srv/x", Some(true)).expect("an answer"),
        ["mapped for writing in database (process 70)"]
    );
    fake.file("proc/71/maps", "7f02-7f03 rw-s 00000000 00:06 9 /dev/sda\n");
    fake.raw_link("proc/71/map_files/7f02-7f03", "/dev/sda");
    assert_eq!(ask(&fake, "sda"), ["sda: mapped for writing in ? (process 71)"]);
}

#[test]
fn what_cannot_be_seen_is_told_by_the_kernels_own_tables() {
    let fake = machine();
    assert_eq!(
        ask_about_file(&fake, "/srv/x", Some(true)).expect("an answer"),
        ["open for writing in the kernel or in a program that is not visible from here"]
    );
    let object = OnTree { media: &FakeMedia::default(), roots: &fake.roots }.object(Path::new("/srv/x"));
    let Ok(Object::Inode(_, inode)) = object else { panic!("a file") };
    fake.file("proc/locks", format!("1: POSIX  ADVISORY  WRITE 99 fe:00:{inode} 0 EOF\n"));
    fake.file("proc/99/comm", "smbd\n");
    assert_eq!(
        ask_about_file(&fake, "/srv/x", Some(false)).expect("an answer"),
        ["locked by smbd (process 99)"]
    );
}

#[test]
fn the_store_that_this_process_has_open_is_held_by_itself() {
    let fake = machine();
    fake.raw_link("proc/4242/fd/7", "/srv/kurabe.db");
    fake.file("proc/4242/fdinfo/7", "flags:\t0100002\nlock:\t1: POSIX  ADVISORY  READ 4242 fe:00:1 0 EOF\n");
    assert_eq!(
        ask_about_file(&fake, "/srv/kurabe.db", Some(true)).expect("an answer"),
        ["opened by kurabe itself, as its store or as another target"]
    );
}

#[test]
fn a_hidden_loop_device_matters_to_a_file_unless_the_kernel_says_that_nobody_writes() {
    let fake = with_loops(&[("loop0", "/hidden/y")]);
    assert!(ask_about_file(&fake, "/srv/x", Some(false)).expect("an answer").is_empty());
    assert!(ask_about_file(&fake, "/srv/x", None).is_err());
}

#[test]
fn a_member_of_a_mounted_btrfs_is_held_under_any_name() {
    let fake = machine();
    fake.link("sys/fs/btrfs/0123-uuid/devices/sda2", &format!("sys/devices/{SECOND}"));
    fake.directory("sys/fs/btrfs/features");
    assert_eq!(ask(&fake, "sda"), ["sda2: part of the mounted btrfs 0123-uuid"]);
}

#[test]
fn a_process_that_writes_holds_and_one_that_reads_does_not() {
    let fake = machine();
    let open = |pid: u32, flags: &str| {
        fake.raw_link(&format!("proc/{pid}/fd/9"), "/dev/sda");
        fake.file(&format!("proc/{pid}/fdinfo/9"), format!("pos:\t0\nflags:\t{flags}\nmnt_id:\t1\n"));
        fake.file(&format!("proc/{pid}/comm"), "qemu-system-x86\n");
    };
    open(70, "0100000");
    open(4242, "0100002");
    assert!(ask(&fake, "sda").is_empty(), "a reader, and kurabe itself");
    open(71, "0140002");
    assert_eq!(ask(&fake, "sda"), ["sda: open for writing in qemu-system-x86 (process 71)"]);
    assert_eq!(ask(&fake, "sda1"), ["sda: open for writing in qemu-system-x86 (process 71)"]);
}

#[test]
fn the_kernels_lock_holds_what_nothing_else_shows() {
    let fake = machine();
    let media = FakeMedia { locked: vec!["sda"], ..FakeMedia::default() };
    let claims = ask_with(&fake, &media, "sda").expect("an answer");
    assert_eq!(claims.len(), 1);
    assert!(claims[0].starts_with("sda: locked by the kernel"), "{claims:?}");
}

#[test]
fn signatures_of_members_are_claims() {
    let uberblock = 0x00ba_b10c_u64.to_le_bytes().to_vec();
    for (kind, offset, magic) in [
        ("LVM", 512, b"LABELONE".to_vec()),
        ("LUKS", 0, b"LUKS\xba\xbe".to_vec()),
        ("Linux RAID (md)", 4096, [0xfc, 0x4e, 0x2b, 0xa9, 1, 0, 0, 0].to_vec()),
        ("ZFS", 128 << 10, uberblock),
        ("swap", 4086, b"SWAPSPACE2".to_vec()),
        ("bcache", 4096 + 24, b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81".to_vec()),
    ] {
        let fake = machine();
        let media = FakeMedia { magics: BTreeMap::from([("sda1", (offset, magic))]), ..FakeMedia::default() };
        let claims = [format!("sda1: carries a signature of {kind}")];
        assert_eq!(ask_with(&fake, &media, "sda1").expect("an answer"), claims);
        assert_eq!(ask_with(&fake, &media, "sda").expect("an answer"), claims);
        assert!(ask_with(&fake, &media, "sda2").expect("an answer").is_empty());
    }
}

#[test]
fn what_libblkid_alone_knows_counts_as_well() {
    let fake = machine();
    let named =
        |kind: &'static str, class, offset_bytes| Signature { kind: kind.into(), class, offset_bytes };
    let media = FakeMedia {
        named: vec![
            ("sda1", named("jbd", Class::Member, 1080)),
            ("sda2", named("minix", Class::FileSystem, 1040)),
            // On the disk, but within its second partition.
            ("sda", named("via_raid_member", Class::Member, 5 << 20)),
        ],
        ..FakeMedia::default()
    };
    assert_eq!(ask_with(&fake, &media, "sda").expect("an answer"), ["sda1: carries a signature of jbd"]);
    assert!(ask_with(&fake, &media, "sda2").expect("an answer").is_empty(), "content is not a claim");
    assert_eq!(contents_of(&fake, &media, "sda").as_deref(), Some("(sda1: jbd, sda2: minix)"));
}

#[test]
fn a_member_that_is_a_whole_disk_holds_its_partitions() {
    let fake = machine();
    // Version 1.0 is located after the last partition, where firmware RAID of a mirror would also
    // put it.
    let magic = [0xfc, 0x4e, 0x2b, 0xa9, 1, 0, 0, 0].to_vec();
    let media =
        FakeMedia { magics: BTreeMap::from([("sda", (8 * MIB - 8192, magic))]), ..FakeMedia::default() };
    assert_eq!(
        ask_with(&fake, &media, "sda1").expect("an answer"),
        ["sda: carries a signature of Linux RAID (md)"]
    );
}

#[test]
fn a_signature_within_the_last_partition_is_not_the_disks() {
    let fake = machine();
    // The 64 KiB block before the end of the disk lies in sda2.
    let magic = [0xfc, 0x4e, 0x2b, 0xa9, 0, 0, 0, 0].to_vec();
    let media =
        FakeMedia { magics: BTreeMap::from([("sda", (8 * MIB - 65536, magic))]), ..FakeMedia::default() };
    assert!(ask_with(&fake, &media, "sda1").expect("an answer").is_empty());
}

#[test]
fn an_unmounted_file_system_is_content_and_no_claim() {
    let fake = machine();
    let media = FakeMedia {
        magics: BTreeMap::from([
            ("sda1", (0, b"XFSB".to_vec())),
            ("sda2", (0x10040, b"_BHRfS_M".to_vec())),
            ("sda", (512, b"EFI PART".to_vec())),
        ]),
        ..FakeMedia::default()
    };
    for name in ["sda", "sda1", "sda2"] {
        assert!(ask_with(&fake, &media, name).expect("an answer").is_empty(), "{name}");
    }
    assert_eq!(contents_of(&fake, &media, "sda1").as_deref(), Some("XFS"));
    assert_eq!(contents_of(&fake, &media, "sda2").as_deref(), Some("btrfs"));
    assert_eq!(contents_of(&fake, &media, "sda").as_deref(), Some("GPT (sda1: XFS, sda2: btrfs)"));
    assert_eq!(contents_of(&fake, &FakeMedia::default(), "sda1"), None);
}

#[test]
fn what_cannot_be_read_is_an_error_and_never_free() {
    let fake = machine();
    let media = FakeMedia { unreadable: vec!["sda1"], ..FakeMedia::default() };
    for name in ["sda1", "sda"] {
        let error = ask_with(&fake, &media, name).expect_err("no answer");
        assert_eq!(error.kind(), ErrorKind::Permission, "{name}");
    }
    let block = BlockNode::by_name(&fake.roots, "sda1").expect("the device");
    let on_tree = OnTree { media: &media, roots: &fake.roots };
    let inquiry = Inquiry { roots: &fake.roots, media: &on_tree, own_pid: 1 };
    assert!(inquiry.contents(&block).is_err());
    fake.mounts("30 27 8:1 / /mnt rw - ext4 /dev/sda1 rw\n");
    assert_eq!(ask_with(&fake, &media, "sda").expect("held"), ["sda1: mounted on /mnt"], "held all the same");
}

#[test]
fn missing_tables_are_an_error() {
    let fake = machine();
    std::fs::remove_file(fake.roots.proc.join("self/mountinfo")).expect("removed");
    assert!(ask_with(&fake, &FakeMedia::default(), "sda").is_err(), "no table of mounts");
    let fake = machine();
    std::fs::remove_dir(fake.roots.sys.join("class/block/sda1/holders")).expect("removed");
    assert!(ask_with(&fake, &FakeMedia::default(), "sda").is_err(), "no list of holders");
    let fake = machine();
    std::fs::remove_file(fake.roots.proc.join("swaps")).expect("removed");
    assert!(ask(&fake, "sda").is_empty(), "a kernel without swap");
}

#[test]
fn an_empty_drive_is_free() {
    let fake = machine();
    fake.disk("virtual/block/sr0", "11:0");
    fake.file("sys/devices/virtual/block/sr0/size", "0\n");
    assert!(ask(&fake, "sr0").is_empty());
}

#[test]
fn a_path_that_is_no_block_device_is_an_error() {
    for path in ["/dev/null", "/"] {
        let file = File::open(path).expect("a descriptor");
        assert_eq!(claims(&file, Path::new(path)).expect_err("an error").kind(), ErrorKind::Target, "{path}");
    }
    for path in ["/dev/null", "/", "/no/such/device"] {
        assert_eq!(contents(Path::new(path)).expect_err("an error").kind(), ErrorKind::Target, "{path}");
    }
}

#[test]
fn tables_of_swap_are_read() {
    let swaps = b"Filename\t\t\t\tType\n/dev/sda2                             partition\t1\n/my\\040swap\tfile\n\nx\n";
    assert_eq!(parse_swaps(swaps), [Path::new("/dev/sda2"), Path::new("/my swap")]);
}

#[test]
fn who_is_about_to_close_a_file_does_not_hold_it_and_who_keeps_it_open_does() {
    let writer = || Claim::new(None, By::Writer(Process { pid: 70, command: "started".to_owned() }));
    let unseen = || Claim::new(None, By::UnseenWriter);
    let lock = || Claim::new(None, By::Lock(None));
    let ask = |looks: &[Vec<Claim>]| {
        let looks = std::cell::RefCell::new(looks.iter());
        let pauses = std::cell::Cell::new(0);
        let look = || Ok(looks.borrow_mut().next().expect("no look more than needed").clone());
        let claims = settled(look, || pauses.set(pauses.get() + 1)).expect("an answer");
        (claims, pauses.get())
    };
    assert_eq!(ask(&[vec![]]), (vec![], 0));
    assert_eq!(ask(&[vec![writer()], vec![unseen()], vec![]]), (vec![], 2));
    assert_eq!(ask(&[vec![writer(), lock()]]), (vec![writer(), lock()], 0));
    assert_eq!(ask(&vec![vec![unseen()]; LOOKS]), (vec![unseen()], LOOKS - 1));
}
