//! The environment of a path: the machine and the chain down to its devices, put together.

use crate::chain::{Look, Walk};
use crate::roots::{self, Roots};
use crate::{command::Runner, health, machine, mount, platform, subject::ObserveOptions};
use kurabe_core::{environment::Environment, shown};
use std::path::Path;

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
