//! Available memory, from plain files of Linux. Unknown on other systems.

use crate::{machine::value, roots};
use std::path::Path;

/// Returns the bytes of memory that can be used without swapping, within the limits of this
/// process's control groups. `None` if the system does not report it.
///
/// Source: proc_meminfo(5), `MemAvailable`; kernel Documentation/admin-guide/cgroup-v2.rst,
/// `memory.max`.
pub fn available_memory_bytes() -> Option<u64> {
    let machine = meminfo_bytes(&std::fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable")?;
    let group = std::fs::read_to_string("/proc/self/cgroup").ok();
    let group = group.as_deref().and_then(|text| text.lines().find_map(|line| line.strip_prefix("0::/")));
    let room = group.and_then(|group| room_in_groups(Path::new("/sys/fs/cgroup"), Path::new(group)));
    Some(room.map_or(machine, |room| room.min(machine)))
}

/// Returns one of the amounts that `/proc/meminfo` reports in KiB.
pub(crate) fn meminfo_bytes(meminfo: &str, name: &str) -> Option<u64> {
    value(meminfo, name)?.strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Returns the smallest room that a control group or one of its ancestors leaves. File pages that
/// were not used recently can be dropped, so they count as room.
fn room_in_groups(root: &Path, group: &Path) -> Option<u64> {
    group
        .ancestors()
        .filter_map(|group| {
            let folder = root.join(group);
            let limit = roots::number::<u64>(&folder.join("memory.max"))?;
            let used = roots::number::<u64>(&folder.join("memory.current"))?;
            let stat = std::fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
            let droppable = stat.lines().find_map(|line| line.strip_prefix("inactive_file ")?.parse().ok());
            Some(limit.saturating_sub(used.saturating_sub(droppable.unwrap_or(0))))
        })
        .min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_available_memory_is_read_in_kib() {
        let available = |meminfo| meminfo_bytes(meminfo, "MemAvailable");
        assert_eq!(available("MemTotal: 9 kB\nMemAvailable:    2048 kB\n"), Some(2 << 20));
        assert_eq!(available("MemTotal: 9 kB\n"), None);
        assert_eq!(available("MemAvailable: much\n"), None);
    }

    #[test]
    fn the_tightest_group_counts_and_one_without_a_limit_does_not() {
        let root = tempfile::tempdir().unwrap();
        let group = root.path().join("a/b");
        std::fs::create_dir_all(&group).unwrap();
        let room = || room_in_groups(root.path(), Path::new("a/b"));
        assert_eq!(room(), None);
        std::fs::write(group.join("memory.max"), "max\n").unwrap();
        std::fs::write(group.join("memory.current"), "10\n").unwrap();
        assert_eq!(room(), None);
        std::fs::write(root.path().join("a/memory.max"), "1000\n").unwrap();
        std::fs::write(root.path().join("a/memory.current"), "900\n").unwrap();
        std::fs::write(root.path().join("a/memory.stat"), "anon 1\ninactive_file 300\n").unwrap();
        assert_eq!(room(), Some(400));
        std::fs::write(group.join("memory.max"), "30\n").unwrap();
        assert_eq!(room(), Some(20));
    }
}
