//! Data behaves like an array of bytes, and files without permission are not written to.

use super::*;
use kurabe_core::ErrorKind;
use proptest::prelude::*;
use std::path::Path;

const SIZE: u64 = 100_000;

#[derive(Clone, Debug)]
enum DataChange {
    Write(u64, Vec<u8>),
    Zero(u64, u64, bool),
}

fn any_changes() -> impl Strategy<Value = Vec<DataChange>> {
    let place = (0..SIZE, 1u64..20_000).prop_map(|(from, length)| (from, length.min(SIZE - from)));
    let write = (place.clone(), any::<u8>())
        .prop_map(|((from, length), byte)| DataChange::Write(from, vec![byte.max(1); length as usize]));
    let zero =
        (place, any::<bool>()).prop_map(|((from, length), keeps)| DataChange::Zero(from, length, keeps));
    prop::collection::vec(prop_oneof![3 => write, 1 => zero], 1..12)
}

/// Applies the changes to data and to an array, and compares them.
fn compare(data: &DiskData, array: &mut [u8], changes: &[DataChange]) {
    for change in changes {
        match change {
            DataChange::Write(from, bytes) => {
                data.write(*from, bytes).unwrap();
                array[*from as usize..][..bytes.len()].copy_from_slice(bytes);
            }
            DataChange::Zero(from, length, keeps) => {
                data.zero(*from, *length, *keeps).unwrap();
                array[*from as usize..][..*length as usize].fill(0);
            }
        }
    }
    let mut read = vec![1; array.len()];
    data.read(0, &mut read).unwrap();
    assert!(read == array, "the bytes differ");
    let extents = data.extents(0, SIZE as u32);
    let mut at = 0;
    for extent in &extents {
        let bytes = &array[at..at + extent.length_bytes as usize];
        assert!(extent.kind == ExtentKind::Data || bytes.iter().all(|byte| *byte == 0), "{at} {extent:?}");
        at += bytes.len();
    }
    assert_eq!(at, array.len());
}

proptest! {
    #[test]
    fn memory_is_an_array(changes in any_changes()) {
        compare(&DiskData::memory(SIZE, u64::MAX).unwrap(), &mut [0; SIZE as usize], &changes);
    }

    #[test]
    fn an_image_shines_through_and_is_never_written(changes in any_changes(), length in 0u64..SIZE) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("image");
        let image: Vec<u8> = (0..length).map(|at| (at % 251) as u8 + 1).collect();
        std::fs::write(&path, &image).unwrap();
        let data = DataPlace::Over(path.clone()).open(SIZE, 1, false).unwrap().disks.remove(0);
        let mut array = image.clone();
        array.resize(SIZE as usize, 0);
        compare(&data, &mut array, &changes);
        prop_assert!(std::fs::read(&path).unwrap() == image);
    }

    #[test]
    fn a_pattern_is_the_same_however_it_is_read(from in 0u64..1000, length in 1usize..300, cut in 0usize..300) {
        let data = DataPlace::Pattern.open(1 << 50, 1, false).unwrap().disks.remove(0);
        let mut whole = vec![0; length];
        data.read(from, &mut whole).unwrap();
        let (front, behind) = (&mut vec![0; cut.min(length)], &mut vec![0; length - cut.min(length)]);
        data.read(from, front).unwrap();
        data.read(from + front.len() as u64, behind).unwrap();
        prop_assert_eq!([&front[..], &behind[..]].concat(), whole);
    }
}

#[test]
fn a_device_of_two_terabytes_costs_what_was_written() {
    let data = DiskData::memory(2_000_000_000_000, u64::MAX).unwrap();
    let far = 1_999_999_000_000;
    data.write(far, &[7; 4096]).unwrap();
    let mut read = vec![1; 1 << 20];
    for at in 0..64 {
        data.read(at << 30, &mut read).unwrap();
        assert!(read.iter().all(|byte| *byte == 0));
    }
    assert!(data.room_bytes() <= 16 << 10, "{}", data.room_bytes());
    assert!(data.is_hole(0, 1 << 40) && !data.is_hole(far, 4096));
    data.zero(far & !4095, 8192, false).unwrap();
    assert_eq!(data.room_bytes(), 0);
}

#[test]
fn memory_has_an_end_and_room_that_was_given_back_can_be_written() {
    let data = DiskData::memory(1 << 30, 1 << 20).unwrap();
    let piece = vec![1; 16 << 20];
    let failed = (0..64).find(|at| data.write(at << 24, &piece).is_err());
    // The limit is checked every 64 MiB.
    assert!(failed.is_some_and(|at| at <= 8), "{failed:?}");
    data.zero(0, 1 << 30, false).unwrap();
    data.write(0, &piece).unwrap();
}

fn open(place: &DataPlace, write_existing: bool) -> Result<DiskData, ErrorKind> {
    let opened = place.open(SIZE, 1, write_existing);
    opened.map(|mut opened| opened.disks.remove(0)).map_err(|error| error.kind())
}

fn file(path: &Path) -> DataPlace {
    DataPlace::parse(&format!("file:{}", path.display())).unwrap()
}

#[test]
fn a_file_that_kurabe_made_is_used_again_and_no_other_one() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, theirs) = (folder.path().join("ours"), folder.path().join("theirs"));
    let data = open(&file(&ours), false).unwrap();
    data.write(5, b"kept").unwrap();
    // It is locked while it is served.
    assert_eq!(open(&file(&ours), false).unwrap_err(), ErrorKind::Refused);
    drop(data);
    let mut read = [0; 4];
    open(&file(&ours), false).unwrap().read(5, &mut read).unwrap();
    assert_eq!(&read, b"kept");
    std::fs::write(&theirs, "precious").unwrap();
    assert_eq!(open(&file(&theirs), false).unwrap_err(), ErrorKind::Refused);
    assert_eq!(std::fs::read(&theirs).unwrap(), b"precious");
    open(&file(&theirs), true).unwrap().read(0, &mut read).unwrap();
    assert_eq!(&read, b"prec");
    // The file is not truncated, with permission or without.
    std::fs::write(&theirs, vec![1; SIZE as usize + 1]).unwrap();
    assert_eq!(open(&file(&theirs), true).unwrap_err(), ErrorKind::Target);
    assert_eq!(std::fs::metadata(&theirs).unwrap().len(), SIZE + 1);
}

#[test]
fn what_is_no_file_is_refused_and_a_file_in_use_is_too() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(open(&file(folder.path()), true).unwrap_err(), ErrorKind::Refused);
    assert_eq!(open(&DataPlace::Over(folder.path().into()), false).unwrap_err(), ErrorKind::Target);
    assert_eq!(open(&DataPlace::Over("/dev/zero".into()), false).unwrap_err(), ErrorKind::Target);
    let held = folder.path().join("held");
    let writer = std::fs::File::create(&held).unwrap();
    assert_eq!(open(&file(&held), true).unwrap_err(), ErrorKind::Refused);
    drop(writer);
    open(&file(&held), true).unwrap();
    for words in ["", "file:", "over:", "disk", "file"] {
        assert_eq!(DataPlace::parse(words).unwrap_err().kind(), ErrorKind::Usage, "{words}");
    }
}

#[test]
fn a_full_disk_is_an_error_of_the_write() {
    // A process limit would end the test, so `/dev/full` provides the error of a full file system.
    let full = std::fs::OpenOptions::new().read(true).write(true).open("/dev/full").unwrap();
    let data = DiskData { size_bytes: SIZE, storage: DataStorage::File(Sparse::in_file(full)) };
    assert_eq!(data.write(0, &[1; 512]).unwrap_err().kind(), io::ErrorKind::StorageFull);
}
