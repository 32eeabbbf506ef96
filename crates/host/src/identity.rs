//! Which process this is, and whether another one still lives.
//!
//! The model: a process number is reused, so a process is its number, its start in clock ticks since boot, and the
//! boot. Only all three together say that the kurabe that started a run is still there.
//! Sources: proc_pid_stat(5) field 22, random(4) `boot_id`.

use crate::platform;
use crate::roots::{self, Roots};

/// The fields of a process's `stat` after its name, from field 3. The name is in parentheses and may hold blanks
/// and parentheses itself, so the last `)` ends it.
pub(crate) fn fields_after_name(stat: &str) -> Option<Vec<&str>> {
    let (_, rest) = stat.rsplit_once(')')?;
    Some(rest.split_whitespace().collect())
}

/// Field `number` (from 1, as the manual counts) of a `stat` line, for numbers above 2.
pub(crate) fn stat_field<'a>(fields: &[&'a str], number: usize) -> Option<&'a str> {
    fields.get(number.checked_sub(3)?).copied()
}

/// Start of a process in clock ticks since boot, if it lives; a zombie does not.
pub(crate) fn parse_start_ticks(stat: &str) -> Option<u64> {
    let fields = fields_after_name(stat)?;
    if matches!(stat_field(&fields, 3), Some("Z" | "X" | "x")) {
        return None;
    }
    stat_field(&fields, 22)?.parse().ok()
}

fn boot_id(roots: &Roots) -> String {
    roots::text(&roots.proc.join("sys/kernel/random/boot_id")).unwrap_or_default()
}

/// This process: its number, its start in clock ticks since boot, and the boot's id. Start 0 and an empty id stand
/// for unknown.
pub fn own_identity() -> (u32, u64, String) {
    own_identity_in(&Roots::default())
}

fn own_identity_in(roots: &Roots) -> (u32, u64, String) {
    let start = roots::text(&roots.proc.join("self/stat")).and_then(|stat| parse_start_ticks(&stat));
    (std::process::id(), start.unwrap_or(0), boot_id(roots))
}

/// Whether the process with this identity still lives. When the kernel shows that a process with the number exists
/// but not when it started (another user's, hidden), the answer is yes: the careful one.
pub fn process_alive(pid: u32, start_ticks: u64, boot_id: &str) -> bool {
    process_alive_in(&Roots::default(), pid, start_ticks, boot_id, platform::process_exists)
}

fn process_alive_in(
    roots: &Roots,
    pid: u32,
    start_ticks: u64,
    boot: &str,
    exists: impl Fn(u32) -> bool,
) -> bool {
    if boot_id(roots) != boot {
        return false;
    }
    match roots::text(&roots.proc.join(format!("{pid}/stat"))) {
        Some(stat) => parse_start_ticks(&stat) == Some(start_ticks),
        None => exists(pid),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    const STAT: &str = "77 (a) b) S) S 1 77 77 0 -1 4194304 99 0 0 0 11 22 0 0 20 0 1 0 123248 3133440";

    #[test]
    fn the_name_may_hold_blanks_and_parentheses() {
        assert_eq!(parse_start_ticks(STAT), Some(123_248));
        let fields = fields_after_name(STAT).expect("fields");
        assert_eq!(stat_field(&fields, 14), Some("11"));
        assert_eq!(stat_field(&fields, 15), Some("22"));
        assert_eq!(stat_field(&fields, 2), None);
    }

    #[test]
    fn a_process_is_its_number_its_start_and_its_boot() {
        let fake = Fake::new();
        fake.file("proc/sys/kernel/random/boot_id", "b-1\n");
        fake.file("proc/77/stat", STAT);
        let alive = |pid, start, boot| process_alive_in(&fake.roots, pid, start, boot, |_| false);
        assert!(alive(77, 123_248, "b-1"));
        assert!(!alive(77, 123_249, "b-1"), "the number was reused");
        assert!(!alive(77, 123_248, "b-2"), "the machine was restarted");
        assert!(!alive(78, 123_248, "b-1"));
        assert!(process_alive_in(&fake.roots, 78, 1, "b-1", |_| true), "hidden, but there");
        fake.file("proc/77/stat", STAT.replace(") S 1", ") Z 1"));
        assert!(!alive(77, 123_248, "b-1"), "a zombie");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_lives() {
        let (pid, start, boot) = own_identity();
        assert!(start > 0 && !boot.is_empty());
        assert!(process_alive(pid, start, &boot));
        assert!(!process_alive(pid, start + 1, &boot));
    }
}
