//! The environment of a path: the machine and the chain down to its devices, put together.

use crate::chain::{Look, Walk};
use crate::command::Runner;
use crate::mount;
use crate::platform::{self, Number};
use crate::roots::{self, Roots};
use crate::{health, machine};
use kurabe_core::environment::Environment;
use kurabe_core::shown;
use std::path::{Path, PathBuf};

/// What to keep of what is seen.
#[derive(Clone, Copy, Debug)]
pub struct ObserveOptions<'a> {
    /// Keep serial numbers themselves; otherwise a salted hash.
    pub with_serial: bool,
    /// Salt of the hash, one per store, so that hashes of different stores cannot be matched.
    pub salt: &'a [u8],
}

/// What a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SubjectKind {
    /// A block device with its number.
    Block(Number),
    /// A file or directory in a file system.
    Stored,
    /// A character device, a pipe and so on: nothing lies under it.
    Other,
}

/// Room of a file system, from statvfs(3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Space {
    pub block_size_bytes: u64,
    pub size_bytes: u64,
    pub free_bytes: u64,
}

/// A path, links resolved, with what the operating system says about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Subject {
    pub path: PathBuf,
    pub kind: SubjectKind,
    /// Device number of the file system that holds it.
    pub dev: Number,
    pub space: Option<Space>,
}

/// What a path stands on, as far as it can be found out.
///
/// Asks smartctl and nvme for the devices' health if they are installed (at most 5 s each). Never fails; what
/// stayed unknown is `None`, and said in `missing` where a person could change it.
pub fn observe(path: &Path, options: &ObserveOptions<'_>) -> Environment {
    let look = |path: &Path| platform::subject(path).ok();
    observe_in(&Roots::default(), path, &look, &Runner::System, options)
}

/// [`observe`] on any tree.
pub(crate) fn observe_in(
    roots: &Roots,
    path: &Path,
    look: Look<'_>,
    runner: &Runner<'_>,
    options: &ObserveOptions<'_>,
) -> Environment {
    let mounts = mount::parse(&roots::read_bytes(&roots.proc.join("self/mountinfo")).unwrap_or_default());
    let mut environment = Environment { machine: machine::machine(roots, &mounts), ..Environment::default() };
    match look(path) {
        Some(subject) => {
            Walk { roots, mounts: &mounts, look, options }.walk_subject(&subject, &mut environment);
        }
        None => environment.missing.push(format!("{}: cannot be looked at", shown::path(path))),
    }
    for device in &mut environment.devices {
        match health::device_health(roots, runner, device) {
            Ok(health) => device.health = health,
            Err(reason) => environment.missing.push(reason),
        }
    }
    environment
}

#[cfg(test)]
mod tests;

#[cfg(test)]
/// A file or directory in the file system with this device number.
pub(crate) fn stored(path: &Path, dev: (u32, u32)) -> Subject {
    Subject {
        path: path.to_owned(),
        kind: SubjectKind::Stored,
        dev,
        space: Some(Space { block_size_bytes: 4096, size_bytes: 1 << 30, free_bytes: 1 << 29 }),
    }
}
