//! The test environment of a path: the machine and the chain down to its devices.

use crate::chain::{PathInspector, Walk};
use crate::roots::Roots;
use crate::{command::Runner, health, machine, mount, platform, subject::ObserveOptions};
use kurabe_core::{environment::Environment, shown};
use std::path::Path;

/// Returns the test environment of a path, as far as it can be determined.
///
/// Runs smartctl and nvme for the devices' health if they are installed (at most 5 s each). Never
/// fails. Unknown facts are `None`, and are listed in `missing` if the user can change that.
pub fn observe(path: &Path, options: &ObserveOptions<'_>) -> Environment {
    let look = |path: &Path| platform::subject(path).ok();
    observe_in(&Roots::default(), path, &look, &Runner::System, options)
}

/// Returns the test environment on any tree, like [`observe`].
pub(crate) fn observe_in(
    roots: &Roots,
    path: &Path,
    look: PathInspector<'_>,
    runner: &Runner<'_>,
    options: &ObserveOptions<'_>,
) -> Environment {
    let machine = machine::machine(roots, &mount::seen(roots));
    let mut environment = Environment { machine, ..Environment::default() };
    match look(path) {
        Some(subject) => Walk::new(roots, look, Some(options)).walk_subject(&subject, 0, &mut environment),
        None => environment.missing.push(format!("{}: cannot be examined", shown::path(path))),
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
