//! A profile of any bytes: read without a panic; what is accepted makes sound cells and survives its record.

use kurabe_core::profile::Profile;

pub fn holds(bytes: &[u8]) {
    let source = super::text_of(bytes);
    let Ok(profile) = kurabe_profile::parse_profile("fuzz.toml", source) else { return };
    for span_bytes in [0, 1, 4096, 1 << 30, u64::MAX] {
        for task in profile.tasks(span_bytes) {
            assert!(!task.cells.is_empty());
            let _ = (task.planned_time_ns(), task.planned_writes(span_bytes));
            let Some(workload) = task.workload() else { continue };
            assert!(workload.span_bytes <= span_bytes);
            assert!(workload.smallest_block_bytes() > 0);
            assert!(workload.iodepth > 0 && workload.threads > 0 && workload.read_percent <= 100);
            assert!(workload.block_sizes.iter().all(|block| block.weight > 0));
            let end = workload.end;
            assert!(end.is_given());
        }
    }
    let json = serde_json::to_string(&profile).expect("a profile is JSON");
    let again: Profile = serde_json::from_str(&json).expect("its own JSON is read");
    assert_eq!(again, profile);
}
