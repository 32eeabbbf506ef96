//! The first sentence about results of other tools: memory, an offered rate and durable writes are
//! called so, and a run without a date has none.

use kurabe_core::record::RunRecord;
use kurabe_report::Assessment;
use std::path::Path;

fn record(name: &str) -> RunRecord {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../interop/tests/fixtures");
    let bytes = std::fs::read(folder.join(name)).unwrap();
    let run = kurabe_interop::import(name, &bytes).unwrap().remove(0);
    run.into_record("0.0.0", "2026-01-31T12:00:00Z", &[])
}

#[test]
fn the_first_sentence_calls_memory_rates_and_syncs_by_their_names() {
    for (name, sentence) in [
        (
            "cases/read/fio-3.21-rate-iops-300.txt",
            "Measured at an offered rate (rate_iops=300), not at the limit of the device.",
        ),
        ("cases/read/dd-dsync-ten-sectors.txt", "Durable writes up to 1,400 IOPS."),
        ("cases/read/pg_test_fsync-17.txt", "Durable writes up to 552 IOPS."),
        (
            "cases/read/kdiskmark-3.1.3-ntfs3g-cached.txt",
            "Reads of 6,462.3 MB/s were perhaps answered by a cache, because writes reach only 11.3 MB/s.",
        ),
        (
            "cases/read/iozone-macos-cached-card.txt",
            "Reads of 1,985.0 MB/s were perhaps answered by a cache, because writes reach only 82.2 MB/s.",
        ),
        (
            "cases/read/iozone-throughput-children-parent.txt",
            "Writes up to 665.5 MB/s; the page cache may have answered, so this says little about the drive.",
        ),
        ("cases/read/iostat-x-flush-columns.txt", "Reads up to 42.5 MB/s, writes up to 10.9 MB/s."),
        ("consumer/hdparm.txt", "Reads up to 267.8 MB/s."),
    ] {
        let assessment = Assessment::of(&record(name)).unwrap_or_else(|| panic!("nothing is said of {name}"));
        assert_eq!(assessment.sentence.en, sentence, "{name}");
    }
}

#[test]
fn timings_of_memory_alone_are_of_no_drive() {
    let mut record = record("consumer/hdparm.txt");
    record.cells.retain(|cell| cell.label.contains("cached"));
    let sentence = Assessment::of(&record).unwrap().sentence.en;
    assert_eq!(sentence, "This is the speed of the computer's memory, not of a drive.");
}

#[test]
fn an_import_without_a_date_is_not_dated_by_its_import() {
    assert_eq!(record("cases/read/dd-conv-fsync-zfs.txt").header.measured_at(), "");
    assert_eq!(record("cases/read/iostat-cciss-slash-name.txt").header.measured_at(), "2020");
}
