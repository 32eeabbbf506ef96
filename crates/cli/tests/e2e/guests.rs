//! A QEMU guest on a served model, started by the exact commands that `kurabe vm` prints.
//!
//! The guest is a boot sector. It reads the eight sectors after itself, prints the contents of the
//! last one on the serial port, prints a sector of the model, writes the former sector there, and
//! powers off.

use crate::lab::{Ended, Lab, Live, binary, names};
use crate::system::system;
use kurabe_testkit::needs::{ATTACH, needs, skip};
use rustix::process::Signal;
use std::process::Command;

/// Text that the guest prints.
const WORDS: &[u8] = b"<read by a guest>\0";
/// Sector of the model that the guest reads and writes.
const MODEL_SECTOR: u64 = 1024;
const SECTOR: usize = 512;

/// 16-bit code at 0x7c00.
const CODE: &[u8] = &[
    0x31, 0xc0, 0x8e, 0xd8, 0x8e, 0xc0, 0x8e, 0xd0, 0xbc, 0x00,
    0x7c, // segments 0, stack below the code
    0xbe, 0x90, 0x7d, 0xb4, 0x42, 0xcd, 0x13, 0x72,
    0x27, // INT 13h, 42h: eight sectors to 0x7e00; on failure to `!`
    0xbe, 0x00, 0x8c, 0xe8, 0x30, 0x00, // print the last one
    0xbe, 0xa0, 0x7d, 0x8a, 0x16, 0xc0, 0x7d, 0xb4, 0x42, 0xcd, 0x13, 0x72,
    0x14, // a sector of the model to 0x9000
    0xbe, 0x00, 0x90, 0xe8, 0x1d, 0x00, // print it
    0xbe, 0xb0, 0x7d, 0x8a, 0x16, 0xc0, 0x7d, 0xb8, 0x00, 0x43, 0xcd, 0x13, 0x73,
    0x05, // 43h: write the last one there
    0xb0, 0x21, 0xe8, 0x14, 0x00, // failed: print `!`
    0xba, 0x04, 0x06, 0xb8, 0x00, 0x20, 0xef, 0xf4, 0xeb, 0xfd, // ACPI off
    0xac, 0x84, 0xc0, 0x74, 0x13, 0xe8, 0x02, 0x00, 0xeb, 0xf6, // print bytes up to a zero
    0x50, 0xba, 0xfd, 0x03, 0xec, 0xa8, 0x20, 0x74, 0xfb, 0x58, 0xba, 0xf8, 0x03, 0xee,
    0xc3, // one byte to COM1
];

/// Returns an address packet of INT 13h: number of sectors, memory address, first sector.
fn packet(count: u8, memory: u16, sector: u64) -> Vec<u8> {
    [&[16, 0, count, 0][..], &memory.to_le_bytes(), &[0; 2], &sector.to_le_bytes()].concat()
}

/// Returns a boot image for the guest. The model is its first or its second disk.
fn image(model_is_first: bool) -> Vec<u8> {
    let mut image = vec![0; 1 << 20];
    let mut put = |at: usize, bytes: &[u8]| image[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, CODE);
    put(0x190, &packet(8, 0x7e00, 1));
    put(0x1a0, &packet(1, 0x9000, MODEL_SECTOR));
    put(0x1b0, &packet(1, 0x7e00 + 7 * SECTOR as u16, MODEL_SECTOR));
    put(0x1c0, &[if model_is_first { 0x80 } else { 0x81 }]);
    put(0x1fe, &[0x55, 0xaa]);
    put(8 * SECTOR, WORDS);
    image
}

/// Returns the commands of a recipe: its indented lines, with continuation lines joined.
fn commands(recipe: &str) -> Vec<String> {
    let joined = recipe.replace(" \\\n    ", " ");
    let starts = |line: &&str| line.starts_with("  kurabe") || line.starts_with("  qemu-system-x86_64 ");
    joined.lines().filter(starts).map(|line| line.trim().to_owned()).collect()
}

/// Returns the arguments of a kurabe command.
fn kurabe_words(command: &str) -> Vec<&str> {
    command.split(' ').skip(1).collect()
}

/// Starts the guest from a shell and returns its output.
fn boot(lab: &Lab, line: &str) -> Ended {
    let mut command = Command::new("timeout");
    command.args(["50", "sh", "-c", line]).current_dir(lab.beside(""));
    Live::start(command).end().ok()
}

fn words_said(guest: &Ended) -> usize {
    let words = String::from_utf8_lossy(&WORDS[..WORDS.len() - 1]);
    assert!(!guest.out.contains('!'), "{guest:#?}");
    guest.out.matches(&*words).count()
}

/// Checks that the guest boots, and that after a power cut it finds the data that it wrote and QEMU
/// flushed.
fn boots_and_finds_what_it_wrote(model: &str, more: &[&str], model_is_first: bool) {
    if !needs("qemu-system-x86_64") {
        return;
    }
    let lab = Lab::new();
    let before = image(model_is_first);
    let path = lab.write("disk.img", &before);
    let recipe = lab.kurabe(&[&["vm", model][..], more].concat()).ok().out;
    let [serve, guest, cut] = &commands(&recipe)[..] else { panic!("three commands: {recipe}") };
    let mut live = Live::start(lab.command(&[&["--json"], &kurabe_words(serve)[..]].concat()));
    live.wait_for_out("\"event\":\"serving\"");
    assert_eq!(words_said(&boot(&lab, guest)), 1);
    let report = lab.kurabe(&kurabe_words(cut)).ok().out;
    assert!(report.contains("power cut after 1 writes: 0 of them"), "{report}");
    assert_eq!(words_said(&boot(&lab, guest)), 2);
    live.signal(Signal::INT);
    let figures = &live.end().ok().json_lines().pop().expect("a line")["figures"];
    assert_eq!((&figures["writes"], &figures["errors"]), (&2.into(), &0.into()), "{figures}");
    assert!(figures["flushes"].as_u64() >= Some(2), "{figures}");
    assert!(std::fs::read(path).unwrap() == before, "the image is only read");
}

#[test]
#[ignore = "slow"]
fn a_guest_boots_from_a_model_by_the_words_of_the_recipe() {
    let more = ["--data", "over:disk.img"];
    boots_and_finds_what_it_wrote("model:hitachi-hds721616plat80", &more, true);
}

#[test]
#[ignore = "slow"]
fn a_guest_with_a_system_of_its_own_has_the_model_as_a_second_disk() {
    let more = ["--without", "filesystem", "--guest", "disk.img"];
    boots_and_finds_what_it_wrote("model:samsung-fit-plus-exfat", &more, false);
}

#[test]
#[ignore = "slow"]
fn a_system_starts_from_a_disk_an_ssd_and_the_card_in_turns() {
    if !needs("qemu-system-x86_64") {
        return;
    }
    let can = system("unshare", &["--mount", "true"]).is_some() && std::fs::File::open("/dev/fuse").is_ok();
    if !can {
        skip(ATTACH);
        return;
    }
    let lab = Lab::new();
    let before = image(true);
    let path = lab.write("disk.img", &before);
    let recipe = concat!(env!("CARGO_MANIFEST_DIR"), "/../../recipes/raid-card.sh");
    let marker = String::from_utf8_lossy(&WORDS[..WORDS.len() - 1]);
    let start = |marker: &str, patience_s: &str| {
        let mut command = lab.wrapped(&["sh", recipe], &[]);
        command
            .env("KURABE", binary())
            .env("PARTS", "start")
            .env("ROUNDS", "1")
            .env("TMPDIR", lab.beside(""));
        command.env("IMAGE", &path).env("MARKER", marker).env("PATIENCE", patience_s);
        Live::start_patiently(command).end()
    };
    let table = start(&marker, "200").ok().out;
    assert_eq!(table.lines().filter(|line| line.contains(" of the disk")).count(), 3, "{table}");
    let never = start("what no system says", "1");
    assert!(never.code() == Some(2) && never.err.contains("did not come"), "{never:?}");
    assert!(std::fs::read(&path).unwrap() == before, "the image is only read");
    let left: Vec<String> =
        names(&lab.beside("")).into_iter().filter(|name| name.starts_with("recipe.")).collect();
    assert_eq!(left, [] as [String; 0]);
}

#[test]
fn the_recipe_says_what_is_typed_in_both_languages() {
    let lab = Lab::new();
    let words = ["vm", "model:mirror3-usb", "--without", "zfs,mirror", "--exports", "2", "--socket", "a b,c"];
    let recipe = lab.kurabe(&words).ok().out;
    assert_eq!(
        commands(&recipe),
        [
            "kurabe serve model:mirror3-usb --without zfs,mirror --exports 2 --power-cuts --socket 'a b,c'",
            "qemu-system-x86_64 -accel tcg -m 1G -nographic -drive file=guest.qcow2,format=qcow2,if=virtio \
             -drive 'driver=nbd,server.type=unix,server.path=a b,,c,export=0,if=virtio,cache=none' \
             -drive 'driver=nbd,server.type=unix,server.path=a b,,c,export=1,if=virtio,cache=none'",
            "kurabe control 'a b,c' cut",
        ]
    );
    assert!(recipe.contains("/dev/vdb, /dev/vdc"), "{recipe}");
    let japanese = lab.kurabe(&[&["--lang", "ja"], &words[..]].concat()).ok().out;
    assert_eq!(commands(&japanese), commands(&recipe));
    let json = lab.kurabe(&[&["--json"], &words[..]].concat()).ok().json_lines().remove(0);
    assert_eq!(json["serve"], commands(&recipe)[0], "{json}");
    // Layers that a guest has itself are pointed out.
    let doubled = lab.kurabe(&["vm", "model:samsung-fit-plus-exfat"]).ok().out;
    assert!(doubled.contains("--without filesystem leaves it out"), "{doubled}");
    lab.kurabe(&["vm", "here"]).is_refusal(2, &["model:NAME"]);
    lab.kurabe(&["vm", "model:mirror3-usb", "--exports", "3"]).is_refusal(2, &["--without"]);
}
