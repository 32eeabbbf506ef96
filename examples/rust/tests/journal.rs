//! Under `kurabe price` its flushes are counted.

use journal::EntryLog;
use std::path::Path;

#[test]
fn entries_are_kept() {
    let path = Path::new("entries");
    let mut journal = EntryLog::open(path).unwrap();
    for number in 0..50 {
        journal.append(&format!("entry {number}")).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap().lines().count(), 50);
}
