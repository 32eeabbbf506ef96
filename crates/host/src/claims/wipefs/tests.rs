//! Compares kurabe's own list with libblkid, on planted images and on those that `mkfs` programs
//! create.
#![allow(clippy::print_stderr, reason = "a test that is skipped says why")]

use super::*;
use crate::command::{ProgramOutcome, Runner};
use crate::signature::planted::{kinds_of, planted, with};
use kurabe_testkit::needs::skip;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Large enough for the smallest image of each kind that libblkid accepts, and not a multiple of
/// any block size used at the end.
const SIZE: usize = 48 << 20;

/// Kinds whose planted images are too incomplete for libblkid, which checks more than the magic
/// number. Programs create some of them below. bcachefs is supported from version 2.39 on.
const NOT_NAMED: [&str; 19] = [
    "BitLocker",
    "XFS",
    "NTFS",
    "FAT",
    "ISO 9660",
    "UDF",
    "HFS+",
    "HFSX",
    "APFS",
    "squashfs",
    "JFS",
    "ReiserFS",
    "GPT",
    "ZFS",
    "F2FS",
    "EROFS",
    "exFAT",
    "MBR",
    "bcachefs",
];

/// Returns the kinds that `wipefs` reports for a file. `None` if it is not available.
fn named_in(file: &Path) -> Option<Vec<Signature>> {
    let words: Vec<&str> = WORDS.into_iter().chain([file.to_str().expect("a name")]).collect();
    match Runner::System.run(PROGRAM, &words, LIMIT) {
        ProgramOutcome::Ended(answer) => Some(parse(&answer)),
        _ => None,
    }
}

#[test]
fn libblkid_names_what_is_planted_as_the_own_list_does() {
    let directory = tempfile::tempdir().expect("a directory");
    let (mut names, mut wrong) = (0, Vec::new());
    for (kind, magics) in planted(SIZE) {
        let image = directory.path().join("image");
        let file = File::create(&image).expect("an image");
        file.set_len(SIZE as u64).expect("its size");
        for (offset, magic) in &magics {
            file.write_all_at(magic, *offset as u64).expect("planted");
        }
        let Some(named) = named_in(&image) else {
            skip("wipefs is not installed or does not write JSON");
            return;
        };
        let is_named = named.iter().any(|signature| family(&signature.kind) == family(kind));
        if !is_named && !NOT_NAMED.contains(&kind) {
            wrong.push(format!("{kind} at {}: {named:?}", magics[0].0));
        }
        names += usize::from(is_named);
    }
    assert!(names > 0, "not one is named");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Programs that create something in a file, their arguments before the file, and the resulting
/// kind.
const MAKERS: [(&str, &[&str], &str); 21] = [
    ("mkfs.ext2", &["-q", "-F"], "ext2"),
    ("mkfs.ext3", &["-q", "-F"], "ext3"),
    ("mkfs.ext4", &["-q", "-F"], "ext4"),
    ("mkfs.xfs", &["-q", "-f"], "XFS"),
    ("mkfs.btrfs", &["-q", "-f"], "btrfs"),
    ("mkfs.vfat", &[], "FAT"),
    ("mkfs.exfat", &[], "exFAT"),
    ("mkfs.ntfs", &["-q", "-F"], "NTFS"),
    ("mkfs.f2fs", &["-q", "-f"], "F2FS"),
    ("mkfs.nilfs2", &["-q", "-f"], "NILFS2"),
    ("mkfs.jfs", &["-q"], "JFS"),
    ("mkfs.udf", &[], "UDF"),
    ("mkfs.hfsplus", &[], "HFS+"),
    ("mkfs.gfs2", &["-q", "-O", "-p", "lock_nolock"], "GFS2"),
    ("mkfs.ocfs2", &["-q", "-F", "-M", "local"], "OCFS2"),
    ("mkfs.bcachefs", &["-q", "-f"], "bcachefs"),
    ("mkswap", &["-q"], "swap"),
    ("cryptsetup", &["luksFormat", "--batch-mode", "--key-file", "/proc/version"], "LUKS"),
    ("mkfs.reiserfs", &["-q", "-f", "-f"], "ReiserFS"),
    ("mkfs.minix", &[], "minix"),
    ("mkfs.cramfs", &["/proc/self/fdinfo"], "cramfs"),
];

#[test]
fn the_own_list_and_libblkid_name_what_programs_make() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut made = 0;
    for (program, words, kind) in MAKERS {
        let image = directory.path().join("image");
        let file = File::create(&image).expect("an image");
        file.set_len(400 << 20).expect("its size");
        let maker = Command::new(program).args(words).arg(&image).stdin(Stdio::null()).output();
        if !maker.is_ok_and(|output| output.status.success()) {
            eprintln!("skipped {kind}: {program} is not there, or refuses");
            continue;
        }
        made += 1;
        let named = named_in(&image).unwrap_or_default();
        let mut all = kinds_of(&std::fs::read(&image).expect("the image"));
        let only_libblkid = ["minix", "cramfs"].contains(&kind);
        assert_eq!(all.iter().any(|own| own == kind), !only_libblkid, "{kind}: {all:?}");
        if !named.is_empty() {
            assert!(
                named.iter().any(|signature| family(&signature.kind) == family(kind)),
                "{kind}: {named:?}"
            );
            all.extend(named.into_iter().map(|signature| signature.kind.into_owned()));
        }
    }
    eprintln!("{made} of {} programs made something", MAKERS.len());
}

#[test]
fn an_answer_is_read_and_one_of_another_form_gives_nothing() {
    let answer = br#"{"signatures": [
        {"offset": "0x438", "type": "ext4", "usage": "filesystem"},
        {"offset": "0x218", "type": "LVM2_member", "usage": "raid"},
        {"offset": "0x1fe", "type": "dos", "usage": "partition-table"},
        {"offset": "0x0", "type": "something_new", "usage": "other"},
        {"offset": "nowhere", "type": "ext4", "usage": "filesystem"}, 7]}"#;
    let shown: Vec<String> = parse(answer)
        .into_iter()
        .map(|signature| format!("{} {:?} {}", signature.kind, signature.class, signature.offset_bytes))
        .collect();
    assert_eq!(shown, ["ext4 FileSystem 1080", "LVM Member 536", "MBR Table 510", "something_new Member 0"]);
    for other in ["", "[]", "{\"signatures\": 7}", "# offset,uuid,label,type"] {
        assert!(parse(other.as_bytes()).is_empty(), "{other}");
    }
}

#[test]
fn what_is_of_one_family_is_added_once() {
    let signature =
        |kind: &'static str| Signature { kind: kind.into(), class: Class::FileSystem, offset_bytes: 0 };
    let mut own = vec![signature("ext3"), signature("GPT")];
    add_to(&mut own, ["ext4", "GPT", "minix", "minix"].map(signature).into());
    assert_eq!(own, ["ext3", "GPT", "minix"].map(signature));
    assert_eq!(with(SIZE, &[(0, b"XFSB")]), ["XFS"]);
}
