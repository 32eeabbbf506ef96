//! Locates tracefs, and removes the instances that dead processes left in it.

use crate::platform::PrivateMount;
use kurabe_core::{Error, ErrorKind, Result, text};
use kurabe_host::process_exists;
use kurabe_host::roots::{self, Roots};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Prefix of the names of our instances, followed by the process id and a counter.
const PREFIX: &str = "kurabe-";

#[derive(Debug)]
pub(crate) struct Tracefs {
    directory: PathBuf,
    /// Held as long as it is used.
    private: Option<PrivateMount>,
}

impl Tracefs {
    /// Finds tracefs, or mounts it for this process only.
    pub(crate) fn find(roots: &Roots) -> Result<Self> {
        for folder in ["kernel/tracing", "kernel/debug/tracing"] {
            let directory = roots.sys.join(folder);
            if directory.join("instances").is_dir() {
                return Ok(Self { directory, private: None });
            }
        }
        match PrivateMount::tracefs() {
            Ok(private) => Ok(Self { directory: private.path(), private: Some(private) }),
            Err(error) => Err(refusal(&error)),
        }
    }

    pub(crate) fn is_private(&self) -> bool {
        self.private.is_some()
    }

    /// Returns a directory for a new instance, which does not exist yet.
    pub(crate) fn new_instance(&self) -> PathBuf {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        self.instances().join(format!("{PREFIX}{}-{count}", std::process::id()))
    }

    fn instances(&self) -> PathBuf {
        self.directory.join("instances")
    }

    /// Removes the instances of processes that no longer exist, and returns their number.
    pub(crate) fn remove_orphans(&self) -> usize {
        remove_orphans_in(&self.instances(), process_exists)
    }
}

/// A live instance that is being read cannot be removed, so the process id of another container
/// does no harm.
fn remove_orphans_in(instances: &Path, exists: impl Fn(u32) -> bool) -> usize {
    roots::names(instances)
        .iter()
        .filter(|name| owner(name).is_some_and(|pid| !exists(pid)))
        .filter(|name| std::fs::remove_dir(instances.join(name)).is_ok())
        .count()
}

/// Returns the process that created an instance, if it was kurabe.
fn owner(name: &str) -> Option<u32> {
    name.strip_prefix(PREFIX)?.split('-').next()?.parse().ok()
}

/// Removes recordings that killed processes left in the kernel, and returns their number.
///
/// Does nothing if tracefs is unavailable. [`crate::BlockTrace::start`] does the same.
pub fn remove_orphaned_traces() -> usize {
    Tracefs::find(&Roots::default()).map_or(0, |tracefs| tracefs.remove_orphans())
}

/// Creates the error for unavailable tracing.
pub(crate) fn refusal(error: &std::io::Error) -> Error {
    let permission = error.kind() == std::io::ErrorKind::PermissionDenied;
    let kind = if permission { ErrorKind::Permission } else { ErrorKind::Unsupported };
    let made = Error::new(
        kind,
        text!(
            "cannot record operations of the block device: the kernel's tracing is unavailable",
            "カーネルのトレース機能が使えないため、ブロックデバイスに届く操作を記録できません"
        ),
    )
    .because(error);
    if permission {
        made.remedy(text!(
            "run as root, outside a container",
            "コンテナーの外で、root として実行してください"
        ))
    } else {
        made.remedy(text!(
            "use a kernel with block tracepoints (CONFIG_TRACING), and mount tracefs: mount -t tracefs \
             nodev /sys/kernel/tracing",
            "ブロック層のトレースポイントを持つカーネル(CONFIG_TRACING)を使い、tracefs をマウントしてください: mount -t tracefs nodev /sys/kernel/tracing"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn only_instances_of_dead_processes_of_ours_go() {
        let fake = Fake::new();
        let instances = fake.roots.sys.join("kernel/tracing/instances");
        for name in ["kurabe-12-0", "kurabe-13", "kurabe-14-1", "kurabe-x", "other-12"] {
            fake.directory(&format!("sys/kernel/tracing/instances/{name}"));
        }
        assert_eq!(remove_orphans_in(&instances, |pid| pid == 14), 2);
        assert_eq!(roots::names(&instances), ["kurabe-14-1", "kurabe-x", "other-12"]);
        assert_eq!(remove_orphans_in(&instances.join("none"), |_| false), 0);
    }

    #[test]
    fn it_is_found_where_it_is_mounted_and_names_are_new() {
        let fake = Fake::new();
        fake.directory("sys/kernel/debug/tracing/instances");
        let tracefs = Tracefs::find(&fake.roots).expect("found");
        assert!(!tracefs.is_private());
        let (first, second) = (tracefs.new_instance(), tracefs.new_instance());
        assert_ne!(first, second);
        let name = roots::base(&first);
        assert_eq!(owner(&name), Some(std::process::id()), "{name}");
    }
}
