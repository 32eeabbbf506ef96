//! The identity of this process, and whether another process is still alive.
//!
//! Process numbers are reused, so a process is identified by its number, its start time in clock
//! ticks since boot, the boot, and the PID namespace of the number. It can only be looked up within
//! the same namespace. A store may be shared with containers and other machines, whose processes
//! are not visible from here. In that case the answer is neither alive nor dead. Sources:
//! proc_pid_stat(5) field 22, random(4) `boot_id`, pid_namespaces(7), machine-id(5).

use crate::platform;
use crate::roots::{self, Roots};
use kurabe_core::process::ProcessIdentity;
use sha2::{Digest, Sha256};

/// Returns the fields of a process's `stat` after its name, from field 3. The name is in
/// parentheses and may itself contain blanks and parentheses, so the last `)` ends it.
pub(crate) fn fields_after_name(stat: &str) -> Option<Vec<&str>> {
    let (_, rest) = stat.rsplit_once(')')?;
    Some(rest.split_whitespace().collect())
}

/// Returns field `number` of a `stat` line, counted from 1 as in the manual, for numbers above 2.
pub(crate) fn stat_field<'a>(fields: &[&'a str], number: usize) -> Option<&'a str> {
    fields.get(number.checked_sub(3)?).copied()
}

/// `PF_EXITING` of `linux/sched.h`.
const EXITING: u64 = 4;

/// Parses the start of a process in clock ticks since boot. Returns `None` for a process that is
/// not alive: a zombie, or one that is exiting, however long that takes.
pub(crate) fn parse_start_ticks(stat: &str) -> Option<u64> {
    let fields = fields_after_name(stat)?;
    let flags: u64 = stat_field(&fields, 9)?.parse().ok()?;
    if matches!(stat_field(&fields, 3), Some("Z" | "X" | "x")) || flags & EXITING != 0 {
        return None;
    }
    stat_field(&fields, 22)?.parse().ok()
}

/// Returns whether the `status` of a process shows that it was killed and still waits in the
/// kernel.
pub(crate) fn is_killed(status: &str) -> bool {
    const KILL: u64 = 1 << 8;
    let pending = status
        .lines()
        .filter_map(|line| line.strip_prefix("SigPnd:").or_else(|| line.strip_prefix("ShdPnd:")));
    pending.filter_map(|mask| u64::from_str_radix(mask.trim(), 16).ok()).any(|mask| mask & KILL != 0)
}

/// Whether a process is alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Liveness {
    /// The process is alive, or a process with its number exists about which the kernel reports
    /// nothing else.
    Alive,
    /// The process has ended, or was killed and is waiting to end.
    Dead,
    /// The process belongs to another machine, container or PID namespace, or too little is known
    /// about it.
    Elsewhere,
}

pub(crate) fn boot_id(roots: &Roots) -> String {
    roots::text(&roots.proc.join("sys/kernel/random/boot_id")).unwrap_or_default()
}

/// Returns the identity of this process.
pub fn own_identity() -> ProcessIdentity {
    identity_in(&Roots::default(), std::process::id(), &platform::host_name())
}

fn identity_in(roots: &Roots, pid: u32, host_name: &str) -> ProcessIdentity {
    let stat = roots::text(&roots.proc.join("self/stat"));
    ProcessIdentity {
        pid,
        start_ticks: stat.and_then(|stat| parse_start_ticks(&stat)).unwrap_or(0),
        boot_id: boot_id(roots),
        pid_namespace: pid_namespace(roots),
        host_id: host_id(roots, host_name),
    }
}

/// Parses the number in `pid:[4026531836]`.
fn pid_namespace(roots: &Roots) -> Option<u64> {
    let link = std::fs::read_link(roots.proc.join("self/ns/pid")).ok()?;
    link.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?.parse().ok()
}

/// Returns the host id. Cloned machines share their machine id but rarely their name. Machines
/// without an id can't be distinguished.
fn host_id(roots: &Roots, name: &str) -> Option<String> {
    let machine_id = roots::text(&roots.etc.join("machine-id")).filter(|id| id.len() == 32)?;
    let hash = Sha256::digest(format!("kurabe\n{machine_id}\n{name}"));
    Some(hash[..16].iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Returns whether the process with this identity is still alive. If the kernel shows that a
/// process with this number exists but not when it started (another user's, hidden), the answer is
/// `Alive`, which is the safe choice.
pub fn life_of(process: &ProcessIdentity) -> Liveness {
    let own = own_identity();
    life_in(&Roots::default(), &own, process, platform::process_exists)
}

fn life_in(
    roots: &Roots,
    own: &ProcessIdentity,
    process: &ProcessIdentity,
    exists: impl Fn(u32) -> bool,
) -> Liveness {
    if own.boot_id.is_empty() || process.boot_id.is_empty() {
        return Liveness::Elsewhere;
    }
    if own.boot_id != process.boot_id {
        // The same machine has been rebooted since.
        let is_here = process.host_id.is_some() && own.host_id == process.host_id;
        return if is_here { Liveness::Dead } else { Liveness::Elsewhere };
    }
    // Older records have no namespace. Their numbers are assumed to belong to this one.
    if process.pid_namespace.is_some() && own.pid_namespace != process.pid_namespace {
        return Liveness::Elsewhere;
    }
    // A /proc of another namespace shows other processes under these numbers.
    let self_link = std::fs::read_link(roots.proc.join("self")).ok();
    let shows_ours = self_link.is_some_and(|link| link.as_os_str() == own.pid.to_string().as_str());
    let stat = roots::text(&roots.proc.join(format!("{}/stat", process.pid))).filter(|_| shows_ours);
    let lives = match stat {
        Some(stat) => {
            let status = roots::text(&roots.proc.join(format!("{}/status", process.pid)));
            parse_start_ticks(&stat) == Some(process.start_ticks)
                && !status.is_some_and(|status| is_killed(&status))
        }
        None => exists(process.pid),
    };
    if lives { Liveness::Alive } else { Liveness::Dead }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    const STAT: &str = "77 (a) b) S) S 1 77 77 0 -1 4194304 99 0 0 0 11 22 0 0 20 0 1 0 123248 3133440";
    const MACHINE_ID: &str = "0123456789abcdef0123456789abcdef\n";

    #[test]
    fn the_name_may_hold_blanks_and_parentheses() {
        assert_eq!(parse_start_ticks(STAT), Some(123_248));
        let fields = fields_after_name(STAT).expect("fields");
        assert_eq!(stat_field(&fields, 14), Some("11"));
        assert_eq!(stat_field(&fields, 15), Some("22"));
        assert_eq!(stat_field(&fields, 2), None);
    }

    /// Creates a machine on which process 12 is the observer and process 77 runs.
    fn machine() -> Fake {
        let fake = Fake::new();
        std::fs::remove_dir(fake.roots.proc.join("self")).unwrap();
        fake.raw_link("proc/self", "12");
        fake.file("proc/12/stat", STAT.replace("77 (", "12 ("));
        fake.raw_link("proc/12/ns/pid", "pid:[4026531836]");
        fake.file("proc/sys/kernel/random/boot_id", "b-1\n");
        fake.file("proc/77/stat", STAT);
        fake.file("etc/machine-id", MACHINE_ID);
        fake
    }

    fn identity(pid: u32, start_ticks: u64, boot_id: &str, pid_namespace: Option<u64>) -> ProcessIdentity {
        ProcessIdentity { pid, start_ticks, boot_id: boot_id.to_owned(), pid_namespace, host_id: None }
    }

    #[test]
    fn a_process_is_its_number_its_start_its_boot_and_its_namespace() {
        let fake = machine();
        let own = identity_in(&fake.roots, 12, "host");
        assert_eq!((own.start_ticks, own.pid_namespace), (123_248, Some(4_026_531_836)));
        let namespace = own.pid_namespace;
        let life = |process: ProcessIdentity| life_in(&fake.roots, &own, &process, |_| false);
        assert_eq!(life(identity(77, 123_248, "b-1", namespace)), Liveness::Alive);
        assert_eq!(
            life(identity(77, 123_249, "b-1", namespace)),
            Liveness::Dead,
            "the number was used again"
        );
        assert_eq!(life(identity(78, 123_248, "b-1", namespace)), Liveness::Dead);
        assert_eq!(life(identity(78, 123_248, "b-1", Some(7))), Liveness::Elsewhere, "a container");
        assert_eq!(
            life(identity(77, 123_248, "b-1", None)),
            Liveness::Alive,
            "of before namespaces were noted"
        );
        assert_eq!(life(identity(78, 123_248, "b-1", None)), Liveness::Dead);
        assert_eq!(life(identity(78, 123_248, "", namespace)), Liveness::Elsewhere, "a chroot without /proc");
        let hidden = identity(78, 1, "b-1", namespace);
        assert_eq!(life_in(&fake.roots, &own, &hidden, |_| true), Liveness::Alive, "hidden, but there");
        fake.file("proc/77/stat", STAT.replace(") S 1", ") Z 1"));
        assert_eq!(life(identity(77, 123_248, "b-1", namespace)), Liveness::Dead, "a zombie");
        fake.file("proc/77/stat", STAT.replace("4194304", "4194308").replace(") S 1", ") D 1"));
        assert_eq!(life(identity(77, 123_248, "b-1", namespace)), Liveness::Dead, "it exits");
        for (pending, expected) in
            [("SigPnd:\t0000000000000100", Liveness::Dead), ("ShdPnd:\t0000000000004000", Liveness::Alive)]
        {
            fake.file("proc/77/stat", STAT.replace(") S 1", ") D 1"));
            fake.file("proc/77/status", format!("Name:\ta\n{pending}\nSigBlk:\t0000000000000100\n"));
            assert_eq!(life(identity(77, 123_248, "b-1", namespace)), expected, "{pending}");
        }
    }

    #[test]
    fn another_boot_is_the_end_on_the_same_machine_only() {
        let fake = machine();
        let own = identity_in(&fake.roots, 12, "host");
        let life = |process: &ProcessIdentity| life_in(&fake.roots, &own, process, |_| true);
        let before = ProcessIdentity { boot_id: "b-0".to_owned(), ..own.clone() };
        assert_eq!(life(&before), Liveness::Dead);
        let copied = ProcessIdentity { host_id: host_id(&fake.roots, "other"), ..before.clone() };
        assert_eq!(life(&copied), Liveness::Elsewhere, "a copied machine under its own name");
        assert_eq!(life(&ProcessIdentity { host_id: None, ..before.clone() }), Liveness::Elsewhere);
        let nameless = ProcessIdentity { host_id: None, ..own.clone() };
        let unknown = ProcessIdentity { host_id: None, ..before };
        assert_eq!(life_in(&fake.roots, &nameless, &unknown, |_| true), Liveness::Elsewhere);
    }

    #[test]
    fn a_proc_of_another_namespace_is_not_believed() {
        let fake = machine();
        let own = ProcessIdentity { pid: 2, ..identity_in(&fake.roots, 12, "host") };
        let process = ProcessIdentity { pid: 77, start_ticks: 5, ..own.clone() };
        assert_eq!(life_in(&fake.roots, &own, &process, |_| true), Liveness::Alive);
    }

    #[test]
    fn this_process_lives() {
        let own = own_identity();
        assert!(own.start_ticks > 0 && !own.boot_id.is_empty() && own.pid_namespace.is_some());
        assert_eq!(life_of(&own), Liveness::Alive);
        assert_eq!(life_of(&ProcessIdentity { start_ticks: own.start_ticks + 1, ..own }), Liveness::Dead);
    }
}
