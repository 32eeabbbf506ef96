//! Helper programs that kurabe can use, for `kurabe doctor`.

use crate::command::{ProgramOutcome, Runner, find_program};
use kurabe_core::shown;
use std::time::Duration;

const TOOLS: [&str; 5] = ["smartctl", "nvme", "wipefs", "git", "fio"];

/// Time limit for a program to print its version.
const LIMIT: Duration = Duration::from_secs(1);

/// Returns the helper programs by name, with the first line of their `--version` output, or their
/// path if they print nothing in time. `None` if they are not installed.
pub fn tools() -> Vec<(&'static str, Option<String>)> {
    TOOLS.iter().map(|&name| (name, tool_version(name))).collect()
}

/// Returns the first line of a program's `--version` output, or its path if it prints nothing in
/// time. `None` if it is not installed.
pub fn tool_version(name: &str) -> Option<String> {
    let path = find_program(name)?;
    let version = match Runner::System.run(name, &["--version"], LIMIT) {
        ProgramOutcome::Ended(output) => first_line(&output),
        ProgramOutcome::NotInstalled | ProgramOutcome::Failed(_) | ProgramOutcome::TimedOut => None,
    };
    Some(version.unwrap_or_else(|| shown::name(path)))
}

/// Returns the first non-empty line.
fn first_line(output: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(output);
    text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_is_named_once() {
        let names: Vec<&str> = tools().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, TOOLS);
    }

    #[test]
    fn the_first_line_is_the_version() {
        assert_eq!(first_line(b"\n  fio-3.33 \nmore").as_deref(), Some("fio-3.33"));
        assert_eq!(first_line(b"\n \n"), None);
    }
}
