//! Objects that processes have open for writing, mapped, or locked.
//!
//! A descriptor in /proc/PID/fd refers to its object regardless of the object's current name: a
//! node outside /dev, a second name, a deleted name, or a path in another mount namespace.
//! Therefore objects are compared, never names. A shared writable mapping outlives its descriptor
//! and is found in /proc/PID/maps. Locks are reported with the descriptor that holds them, and in
//! /proc/locks if the process itself is hidden.
//!
//! The following can't be detected: descriptors of processes that this user may not inspect,
//! descriptors in transit between two processes, and those registered with a ring and then closed.
//! Formats: proc(5), proc_pid_fdinfo(5), proc_pid_maps(5), proc_locks(5).

use crate::mount::parse_number;
use crate::platform::{self, Number, Object};
use crate::roots::{self, Roots};
use rustix::fs::{AtFlags, CWD, StatxFlags};
use std::path::{Path, PathBuf};

/// A process by number and program name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Process id.
    pub pid: u32,
    /// Name of its program.
    pub command: String,
}

/// How a process holds an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    /// A writable descriptor.
    Descriptor,
    /// A shared writable mapping.
    Mapping,
    /// A lock by flock(2) or fcntl(2).
    Lock,
}

/// An object that a process holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub process: Process,
    pub object: Object,
    pub hold: Hold,
}

/// Asks the operating system for the object of a path.
pub(crate) type LookAt<'a> = &'a dyn Fn(&Path) -> std::io::Result<Object>;

/// Returns the process with a number.
pub(crate) fn process(roots: &Roots, pid: u32) -> Process {
    let command = roots::words(&roots.proc.join(format!("{pid}/comm"))).unwrap_or_else(|| "?".to_owned());
    Process { pid, command }
}

/// Returns the number of this process in /proc, which may belong to an outer PID namespace.
pub(crate) fn own_pid(roots: &Roots) -> u32 {
    let own = roots::link_name(&roots.proc.join("self")).and_then(|name| name.parse().ok());
    own.unwrap_or_else(std::process::id)
}

/// Returns the numbers of all visible processes.
pub(crate) fn pids(roots: &Roots) -> Vec<u32> {
    roots::names(&roots.proc).iter().filter_map(|name| name.parse().ok()).collect()
}

/// Returns the processes that hold any of the objects, as far as this user may know. Ignores the
/// process `but`.
pub(crate) fn holding(roots: &Roots, look_at: LookAt<'_>, objects: &[Object], but: Option<u32>) -> Vec<Held> {
    let others = pids(roots).into_iter().filter(|pid| Some(*pid) != but);
    others.flat_map(|pid| held_by(roots, look_at, objects, pid)).collect()
}

/// Returns which of the objects a process holds.
fn held_by(roots: &Roots, look_at: LookAt<'_>, objects: &[Object], pid: u32) -> Vec<Held> {
    let directory = roots.proc.join(pid.to_string());
    let mut holds = Vec::new();
    for table in descriptor_tables(&directory) {
        descriptors(&table, look_at, objects, &mut holds);
    }
    mappings(&directory, look_at, objects, &mut holds);
    let mut objects = Vec::new();
    for (object, hold) in holds {
        let held = Held { process: process(roots, pid), object, hold };
        if !objects.contains(&held) {
            objects.push(held);
        }
    }
    objects
}

/// A descendant of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descendant {
    /// The process.
    pub process: Process,
    /// Its number in its own PID namespace, which it and its siblings use.
    pub own_pid: u32,
}

/// Returns all descendants of a process, including adopted ones. Zombies are excluded.
pub fn descendants(of: u32) -> Vec<Descendant> {
    let roots = Roots::default();
    let mut parents = Vec::new();
    for pid in pids(&roots) {
        let stat = roots::text(&roots.proc.join(format!("{pid}/stat"))).unwrap_or_default();
        if let Some((state, parent)) = state_and_parent(&stat) {
            parents.push((pid, parent, state));
        }
    }
    let mut family = vec![of];
    let mut next = 0;
    while let Some(parent) = family.get(next).copied() {
        family.extend(parents.iter().filter(|(_, of, _)| *of == parent).map(|(pid, ..)| *pid));
        next += 1;
    }
    let lives = |pid: &u32| parents.iter().any(|(of, _, state)| of == pid && !matches!(state, 'Z' | 'X'));
    let describe = |pid: u32| {
        let status = roots::text(&roots.proc.join(format!("{pid}/status"))).unwrap_or_default();
        let own_pid = own_number(&status).unwrap_or(pid);
        Descendant { process: process(&roots, pid), own_pid }
    };
    family.into_iter().skip(1).filter(lives).map(describe).collect()
}

/// Parses the state and parent in /proc/PID/stat. The name before them may contain anything.
fn state_and_parent(stat: &str) -> Option<(char, u32)> {
    let mut words = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    Some((words.next()?.chars().next()?, words.next()?.parse().ok()?))
}

/// Parses the last number of `NSpid` in /proc/PID/status, which is that of the innermost namespace.
fn own_number(status: &str) -> Option<u32> {
    let line = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    line.split_ascii_whitespace().next_back()?.parse().ok()
}

/// Returns the other processes that use the file system of a folder, as far as this user may know:
/// their current directory, root, program, a mapping or an open file is on it, by any path.
pub fn users_of_file_system(folder: &Path) -> Vec<Process> {
    let roots = Roots::default();
    let own = own_pid(&roots);
    let Some(number) = number_of(folder) else { return Vec::new() };
    let others = pids(&roots).into_iter().filter(|pid| *pid != own && is_on(&roots, *pid, number));
    others.map(|pid| process(&roots, pid)).collect()
}

/// Returns whether a process uses the file system of a folder.
pub fn uses_file_system(pid: u32, folder: &Path) -> bool {
    number_of(folder).is_some_and(|number| is_on(&Roots::default(), pid, number))
}

/// Returns the device number of a path's object without querying its server.
fn number_of(path: &Path) -> Option<Number> {
    let facts = rustix::fs::statx(CWD, path, AtFlags::STATX_DONT_SYNC, StatxFlags::empty()).ok()?;
    Some((facts.stx_dev_major, facts.stx_dev_minor))
}

fn is_on(roots: &Roots, pid: u32, number: Number) -> bool {
    let process = roots.proc.join(pid.to_string());
    let links = ["cwd", "root", "exe"].map(|link| process.join(link));
    let open = roots::names(&process.join("fd")).into_iter().map(|name| process.join("fd").join(name));
    let (major, minor) = number;
    let mapped = format!(" {major:02x}:{minor:02x} ");
    links.into_iter().chain(open).any(|link| number_of(&link) == Some(number))
        || roots::text(&process.join("maps")).is_some_and(|maps| maps.contains(&mapped))
}

/// Returns whether this process itself has a file open for writing, mapped or locked. The file is
/// identified by device and inode number before it is opened, because closing any descriptor of it
/// would release the locks that this process holds on it (fcntl_locking(2)).
pub fn this_process_holds(device: u64, inode: u64) -> bool {
    let objects = [platform::inode(device, inode)];
    let roots = Roots::default();
    !held_by(&roots, &platform::object, &objects, own_pid(&roots)).is_empty()
}

/// Returns the directories of a process with separate `fd` tables. Threads share one, unless a
/// thread has copied it or the first thread has ended.
fn descriptor_tables(process: &Path) -> Vec<PathBuf> {
    let main = roots::names(&process.join("fd"));
    let mut tables = vec![process.to_owned()];
    for thread in roots::names(&process.join("task")) {
        let thread = process.join("task").join(thread);
        if Some(thread.file_name()) != Some(process.file_name()) && roots::names(&thread.join("fd")) != main {
            tables.push(thread);
        }
    }
    tables
}

fn descriptors(table: &Path, look_at: LookAt<'_>, objects: &[Object], into: &mut Vec<(Object, Hold)>) {
    for descriptor in roots::names(&table.join("fd")) {
        let Ok(object) = look_at(&table.join("fd").join(&descriptor)) else { continue };
        if !objects.contains(&object) {
            continue;
        }
        let facts = roots::text(&table.join("fdinfo").join(&descriptor)).unwrap_or_default();
        if opened_for_writing(&facts) {
            into.push((object, Hold::Descriptor));
        }
        if has_lock(&facts) {
            into.push((object, Hold::Lock));
        }
    }
}

fn mappings(process: &Path, look_at: LookAt<'_>, objects: &[Object], into: &mut Vec<(Object, Hold)>) {
    let maps = roots::read_bytes(&process.join("maps")).unwrap_or_default();
    for mapping in parse_maps(&maps) {
        // Only root may resolve the link. The line itself identifies a file, but does not contain
        // the number of a device.
        let object = look_at(&process.join("map_files").join(&mapping.range)).unwrap_or(mapping.object);
        if objects.contains(&object) || objects.contains(&mapping.object) {
            into.push((object, Hold::Mapping));
        }
    }
}

/// Returns whether /proc/PID/fdinfo/N describes a writable descriptor. Flags are octal, and
/// `O_ACCMODE` is 3 on every architecture of Linux.
pub(crate) fn opened_for_writing(fdinfo: &str) -> bool {
    fdinfo
        .lines()
        .find_map(|line| line.strip_prefix("flags:"))
        .and_then(|flags| u64::from_str_radix(flags.trim(), 8).ok())
        .is_some_and(|flags| flags & 0o3 != 0)
}

/// Returns whether /proc/PID/fdinfo/N describes a lock held by the descriptor. A lease does not
/// count, because a file server gives it up when another process opens the file.
pub(crate) fn has_lock(fdinfo: &str) -> bool {
    fdinfo
        .lines()
        .filter_map(|line| line.strip_prefix("lock:"))
        .any(|lock| parse_locks(lock.as_bytes()).next().is_some())
}

/// A shared writable mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mapping {
    /// Its name in /proc/PID/map_files.
    pub range: String,
    /// The mapped object.
    pub object: Object,
}

/// Parses the shared writable file mappings in /proc/PID/maps.
pub(crate) fn parse_maps(maps: &[u8]) -> impl Iterator<Item = Mapping> {
    maps.split(|&byte| byte == b'\n').filter_map(|line| {
        let line = String::from_utf8_lossy(line);
        let mut words = line.split_ascii_whitespace();
        let (first, last) = words.next()?.split_once('-')?;
        let allowed = words.next()?.as_bytes();
        if allowed.get(1) != Some(&b'w') || allowed.get(3) != Some(&b's') {
            return None;
        }
        let (major, minor) = words.nth(1)?.split_once(':')?;
        let device = (u32::from_str_radix(major, 16).ok()?, u32::from_str_radix(minor, 16).ok()?);
        let inode = words.next()?.parse().ok().filter(|inode| *inode != 0)?;
        // In map_files, the addresses have no leading zeros.
        let range = format!("{}-{}", first.trim_start_matches('0'), last.trim_start_matches('0'));
        Some(Mapping { range, object: Object::Inode(device, inode) })
    })
}

/// A lock in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lock {
    /// The process that took it. `None` for a lock that belongs to an open file description.
    pub pid: Option<u32>,
    /// The locked object.
    pub object: Object,
}

/// Parses the locks in /proc/locks, without waiting requests and leases.
pub(crate) fn parse_locks(locks: &[u8]) -> impl Iterator<Item = Lock> {
    locks.split(|&byte| byte == b'\n').filter_map(|line| {
        let line = String::from_utf8_lossy(line);
        let mut words = line.split_ascii_whitespace().skip(1);
        if !["POSIX", "FLOCK", "OFDLCK"].contains(&words.next()?) {
            return None;
        }
        let pid = words.nth(2)?.parse().ok().filter(|pid| *pid > 0);
        let place = words.next()?;
        let (device, inode) = place.rsplit_once(':')?;
        let (major, minor) = device.split_once(':')?;
        let device = (u32::from_str_radix(major, 16).ok()?, u32::from_str_radix(minor, 16).ok()?);
        Some(Lock { pid, object: Object::Inode(device, inode.parse().ok()?) })
    })
}

/// Returns the number that /proc/PID/maps and /proc/locks use for the file system of an open file.
/// It equals the file's own number, except on file systems that use several (subvolumes of btrfs).
pub(crate) fn number_of_file_system(roots: &Roots, descriptor: &str) -> Option<Number> {
    let facts = roots::text(&roots.proc.join("self/fdinfo").join(descriptor))?;
    let mount = facts.lines().find_map(|line| line.strip_prefix("mnt_id:"))?.trim().to_owned();
    let table = roots::read_bytes(&roots.proc.join("self/mountinfo")).ok()?;
    table.split(|&byte| byte == b'\n').find_map(|line| {
        let line = String::from_utf8_lossy(line);
        let mut words = line.split_ascii_whitespace();
        (words.next()? == mount).then(|| parse_number(words.nth(1)?))?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_that_can_write_are_told_from_those_that_cannot() {
        assert!(opened_for_writing("pos:\t0\nflags:\t02\n"));
        assert!(opened_for_writing("flags:\t0100001\n"));
        assert!(!opened_for_writing("flags:\t0100000\n"));
        assert!(!opened_for_writing(""));
    }

    #[test]
    fn locks_are_read_and_waiters_and_leases_are_none() {
        let table = b"1: POSIX  ADVISORY  WRITE 3568 fd:00:2531452 0 EOF\n\
            2: FLOCK  ADVISORY  WRITE 3517 fd:10:2531448 0 EOF\n\
            2: -> FLOCK  ADVISORY  WRITE 3600 fd:10:2531448 0 EOF\n\
            3: LEASE  ACTIVE    READ  3442 fd:00:2531440 0 EOF\n\
            4: OFDLCK ADVISORY  READ  -1 00:2f:77 128 128\n";
        let locks: Vec<Lock> = parse_locks(table).collect();
        assert_eq!(
            locks,
            [
                Lock { pid: Some(3568), object: Object::Inode((0xfd, 0), 2_531_452) },
                Lock { pid: Some(3517), object: Object::Inode((0xfd, 0x10), 2_531_448) },
                Lock { pid: None, object: Object::Inode((0, 0x2f), 77) },
            ]
        );
        assert!(has_lock("flags:\t0100000\nlock:\t1: FLOCK  ADVISORY  WRITE 359 00:13:11691 0 EOF\n"));
        assert!(!has_lock("flags:\t0100000\nlock:\t1: LEASE  ACTIVE    READ 359 00:13:11691 0 EOF\n"));
        assert!(!has_lock("flags:\t0100002\nino:\t7\n"));
    }

    #[test]
    fn mappings_count_when_they_are_shared_and_writable() {
        let maps = b"00400000-0040b000 rw-s 00000000 fe:01 1234 /srv/x.img\n\
            7f00aa000000-7f00aa001000 rw-p 00000000 fe:01 1235 /srv/private\n\
            7f00aa002000-7f00aa003000 r--s 00000000 fe:01 1236 /srv/read only\n\
            7f00aa004000-7f00aa005000 rw-s 00000000 00:00 0\n\
            7f00aa006000-7f00aa007000 rw-s 00001000 00:2f 9 /srv/gone (deleted)\n";
        let mappings: Vec<(String, Object)> =
            parse_maps(maps).map(|mapping| (mapping.range, mapping.object)).collect();
        assert_eq!(
            mappings,
            [
                ("400000-40b000".to_owned(), Object::Inode((0xfe, 1), 1234)),
                ("7f00aa006000-7f00aa007000".to_owned(), Object::Inode((0, 0x2f), 9)),
            ]
        );
    }
}
