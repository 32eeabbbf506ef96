//! Helper programs that kurabe can use, for `kurabe doctor`.

use crate::command::{ProgramOutcome, Runner, find_program};
use kurabe_core::shown;
use std::time::Duration;

/// Programs that are looked for.
const TOOLS: [&str; 5] = ["smartctl", "nvme", "wipefs", "git", "fio"];

/// Time that a program gets to tell its version.
const LIMIT: Duration = Duration::from_secs(1);

/// The helper programs by name: the first line of what they say to `--version`; their path if they say nothing
/// in time; `None` if they are not installed.
pub fn tools() -> Vec<(&'static str, Option<String>)> {
    TOOLS.iter().map(|&name| (name, tool_version(name))).collect()
}

/// The first line of what a program says to `--version`, its path if it says nothing in time; `None` if it is not installed.
pub fn tool_version(name: &str) -> Option<String> {
    let path = find_program(name)?;
    let version = match Runner::System.run(name, &["--version"], LIMIT) {
        ProgramOutcome::Ended(output) => first_line(&output),
        ProgramOutcome::NotInstalled | ProgramOutcome::Failed(_) | ProgramOutcome::TimedOut => None,
    };
    Some(version.unwrap_or_else(|| shown::name(path)))
}

/// The first line with anything in it.
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
