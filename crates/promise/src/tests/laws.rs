//! Laws that hold for any calls: what no power cut of a correct file system can do is a broken
//! promise, and nothing else is.

use super::*;
use crate::{BrokenKind, BrokenPromise, ReadBytes, RecoveredFile, RecoveredTree, judge};
use proptest::prelude::*;
use std::collections::BTreeMap;

const FILES: u64 = 3;
const LENGTH: u64 = 16;

/// An action on one of few files, which all exist and have a name of their own.
fn any_action() -> impl Strategy<Value = FileAction> {
    let file = 10..10 + FILES;
    prop_oneof![
        6 => (file.clone(), 0..LENGTH, 1..6u64, any::<u8>(), prop::bool::weighted(0.2)).prop_map(
            |(file, from, length, byte, is_synced)| {
                let range = from..(from + length).min(LENGTH);
                let content = bytes(byte, range.end - range.start);
                FileAction::Write { file, range, content, is_synced }
            }
        ),
        3 => (file.clone(), prop::bool::weighted(0.9)).prop_map(|(file, is_ok)| FileAction::Sync { file, is_ok }),
        1 => Just(sync(ROOT)),
        1 => (file.clone(), 0..4u8).prop_map(|(file, name)| FileAction::Link { at: at(&format!("l{name}")), file }),
        1 => (0..4u8).prop_map(|name| unlink(&format!("l{name}"), 0)),
        1 => Just(FileAction::SyncAll),
    ]
}

/// Calls that overlap with up to two earlier ones; the last few may not have returned.
fn any_calls() -> impl Strategy<Value = Vec<FileCall>> {
    (prop::collection::vec((any_action(), 0..3u64), 1..24), 0..3usize).prop_map(|(actions, open)| {
        let count = actions.len();
        let calls = actions.into_iter().enumerate().map(|(index, (action, earlier))| {
            let mut call = call(index, action);
            call.began = call.began.saturating_sub(2 * earlier);
            if index + open >= count {
                call.ended = None;
            }
            call
        });
        calls.collect()
    })
}

fn old_files() -> Vec<BaseFile> {
    (10..10 + FILES).map(|file| base(&format!("f{file}"), file, LENGTH)).collect()
}

/// A change of one byte or of one name.
#[derive(Clone)]
struct Change<T> {
    value: T,
    began: u64,
    ended: Option<u64>,
    is_synced: bool,
}

/// Returns the values that a power cut may leave: those that no durable change replaced for certain.
fn possible<T: Clone>(old: T, changes: &[Change<T>], syncs: &[(u64, bool)]) -> Vec<T> {
    let ended = |change: &Change<T>| change.ended.unwrap_or(u64::MAX);
    let is_durable = |change: &Change<T>| {
        // An error drops what was not durable yet, and later calls succeed without it.
        let first =
            syncs.iter().find(|(began, is_ok)| ended(change) < *began || !*is_ok && *began > change.began);
        change.is_synced && change.ended.is_some()
            || first.is_some_and(|(began, is_ok)| *is_ok && ended(change) < *began)
    };
    let durable: Vec<&Change<T>> = changes.iter().filter(|change| is_durable(change)).collect();
    let is_replaced = |end: u64| durable.iter().any(|change| end < change.began);
    let kept = changes.iter().filter(|change| !is_replaced(ended(change))).map(|change| change.value.clone());
    let old = (durable.is_empty()).then_some(old);
    old.into_iter().chain(kept).collect()
}

fn syncs_of(calls: &[FileCall], number: FileNumber) -> Vec<(u64, bool)> {
    let sync = |call: &FileCall| match call.action {
        FileAction::Sync { file, is_ok } if file == number => Some((call.began, is_ok)),
        FileAction::SyncAll => Some((call.began, true)),
        _ => None,
    };
    calls.iter().filter(|call| call.ended.is_some()).filter_map(sync).collect()
}

fn possible_byte(calls: &[FileCall], number: FileNumber, offset: u64) -> Vec<u8> {
    let change = |call: &FileCall| match &call.action {
        FileAction::Write { file, range, content: CallBytes::Bytes(all), is_synced }
            if *file == number && range.contains(&offset) =>
        {
            Some(Change { value: all[0], began: call.began, ended: call.ended, is_synced: *is_synced })
        }
        _ => None,
    };
    possible(b'o', &calls.iter().filter_map(change).collect::<Vec<_>>(), &syncs_of(calls, number))
}

fn possible_name(calls: &[FileCall], name: &str) -> Vec<Option<FileNumber>> {
    let change = |call: &FileCall| {
        let value = match &call.action {
            FileAction::Link { at, file } if at.name == name => Some(*file),
            FileAction::Unlink { at, .. } if at.name == name => None,
            _ => return None,
        };
        Some(Change { value, began: call.began, ended: call.ended, is_synced: false })
    };
    possible(None, &calls.iter().filter_map(change).collect::<Vec<_>>(), &syncs_of(calls, ROOT))
}

/// Files after a power cut: the content of each file, and the names.
type Left = (BTreeMap<FileNumber, Vec<u8>>, BTreeMap<String, FileNumber>);

/// One of the states that a power cut may leave.
fn cut(calls: &[FileCall], mut draw: impl FnMut(usize) -> usize) -> Left {
    let content = (10..10 + FILES).map(|file| {
        let bytes = (0..LENGTH).map(|offset| {
            let all = possible_byte(calls, file, offset);
            all[draw(all.len())]
        });
        (file, bytes.collect())
    });
    let content = content.collect::<Vec<_>>().into_iter().collect();
    let mut names: BTreeMap<String, FileNumber> =
        (10..10 + FILES).map(|file| (format!("f{file}"), file)).collect();
    for name in ["l0", "l1", "l2", "l3"] {
        let all = possible_name(calls, name);
        if let Some(file) = all[draw(all.len())] {
            names.insert(name.to_owned(), file);
        }
    }
    (content, names)
}

fn broken(calls: &[FileCall], (content, names): &Left) -> Vec<BrokenPromise> {
    let read = |path: &str, range: Range<u64>| {
        let bytes = &content[&names[path]];
        Some(bytes[range.start as usize..(range.end as usize).min(bytes.len())].to_vec())
    };
    let file = |(name, file): (&String, &FileNumber)| RecoveredFile {
        path: name.clone(),
        at: at(name),
        file: *file,
        size_bytes: content[file].len() as u64,
    };
    let tree =
        RecoveredTree { files: names.iter().map(file).collect(), has_stable_numbers: true, read: &read };
    judge(ROOT, &old_files(), calls, &[], &tree).0
}

proptest! {
    #[test]
    fn nothing_that_a_power_cut_may_do_breaks_a_promise(
        calls in any_calls(), draws in prop::collection::vec(any::<prop::sample::Index>(), 128),
    ) {
        let mut draws = draws.into_iter().cycle();
        let left = cut(&calls, |count| draws.next().unwrap().index(count));
        prop_assert_eq!(broken(&calls, &left), []);
    }

    /// Only one value is possible, and no call overlaps with those of the file.
    #[test]
    fn a_lost_byte_and_a_lost_name_that_are_promised_break_it(
        actions in prop::collection::vec(any_action(), 1..24), file in 10..10 + FILES, offset in 0..LENGTH,
        name in 0..4u8,
    ) {
        let calls = calls(actions);
        let mut left = cut(&calls, |count| count - 1);
        prop_assert_eq!(broken(&calls, &left), []);
        if possible_byte(&calls, file, offset).len() == 1 {
            let mut left = left.clone();
            left.0.get_mut(&file).unwrap()[offset as usize] ^= 1;
            let lost = broken(&calls, &left);
            let is_this = |one: &BrokenPromise| (one.kind, one.offset_bytes) == (BrokenKind::BytesLost, Some(offset));
            prop_assert!(lost.iter().any(is_this), "{lost:?}");
        }
        let name = format!("l{name}");
        if let [Some(_)] = possible_name(&calls, &name)[..] {
            left.1.remove(&name);
            let lost = broken(&calls, &left);
            prop_assert!(lost.iter().any(|one| one.kind == BrokenKind::NameLost && one.file == name), "{lost:?}");
        }
    }
}

fn tree_of<'r>(files: &[(&str, FileNumber, u64)], read: &'r ReadBytes<'r>) -> RecoveredTree<'r> {
    let file = |(name, file, size_bytes): &(&str, FileNumber, u64)| RecoveredFile {
        path: (*name).to_owned(),
        at: at(name),
        file: *file,
        size_bytes: *size_bytes,
    };
    RecoveredTree { files: files.iter().map(file).collect(), has_stable_numbers: true, read }
}

#[test]
fn a_broken_promise_names_the_file_and_both_calls() {
    let calls =
        calls([create("log", 11), write(11, 0..10), sync(11), sync(ROOT), write(11, 10..20), sync(11)]);
    let read = |_: &str, range: Range<u64>| Some(vec![b'n'; (range.end.min(15) - range.start) as usize]);
    let (broken, _) = judge(ROOT, &[], &calls, &[], &tree_of(&[("log", 11, 15)], &read));
    let expected = BrokenPromise {
        kind: BrokenKind::BytesLost,
        file: "log".to_owned(),
        offset_bytes: Some(15),
        operation: Some("write(log, 10+10)".to_owned()),
        acknowledged_by: Some("fsync(log)".to_owned()),
        order: 6,
    };
    assert_eq!(broken, [expected]);
    let (broken, _) = judge(ROOT, &[], &calls, &[], &tree_of(&[], &read));
    assert_eq!(
        (broken[0].kind, broken[0].acknowledged_by.as_deref()),
        (BrokenKind::NameLost, Some("fsync(.)"))
    );
}

/// A rollback journal gets the number of the one before it. The old one may be back.
#[test]
fn a_number_that_is_used_again_promises_nothing_about_the_old_name() {
    let journal = |byte: u8| {
        let content = bytes(byte, 8);
        vec![
            create("j", 11),
            FileAction::Write { file: 11, range: 0..8, content, is_synced: false },
            sync(11),
        ]
    };
    let two = [journal(b'1'), vec![sync(ROOT), unlink("j", 11)], journal(b'2')].concat();
    let old = |_: &str, range: Range<u64>| Some(vec![b'1'; (range.end - range.start) as usize]);
    let left = [("j", 11, 8)];
    assert_eq!(judge(ROOT, &[], &calls(two.clone()), &[], &tree_of(&left, &old)).0, []);
    // The name of the second is durable from here on.
    let durable = [two, vec![sync(ROOT)]].concat();
    assert_eq!(judge(ROOT, &[], &calls(durable), &[], &tree_of(&left, &old)).0.len(), 1);
}

#[test]
fn an_unsafe_order_that_lost_data_is_told_from_one_that_did_not() {
    let old = [base("a", 10, 8)];
    let calls = calls([read(10), create("a.gz", 11), write(11, 0..4), unlink("a", 10)]);
    let orders: Vec<_> = hazards(ROOT, &old, &calls).into_iter().map(|hazard| hazard.order).collect();
    let read = |path: &str, range: Range<u64>| {
        let byte = if path == "a" { b'o' } else { b'n' };
        Some(vec![byte; (range.end - range.start) as usize])
    };
    let lost = |files: &[(&str, FileNumber, u64)]| {
        let (broken, lost) = judge(ROOT, &old, &calls, &orders, &tree_of(files, &read));
        assert_eq!(broken, []);
        lost.len()
    };
    assert_eq!(lost(&[("a", 10, 8)]), 0, "the old file is left");
    assert_eq!(lost(&[("a.gz", 11, 4)]), 0, "the new file is complete");
    assert_eq!(lost(&[("a.gz", 11, 0)]), 1);
}
