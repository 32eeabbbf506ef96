//! Passes the commit, if available, and the target to the program at build time.

use std::process::Command;

/// Environment variable that names the commit, for sources that are not in a git repository.
const COMMIT: &str = "KURABE_COMMIT";

/// Returns the trimmed output of git, or `None` if git is missing, fails or prints nothing.
fn git(words: &[&str]) -> Option<String> {
    let output = Command::new("git").args(words).output().ok().filter(|output| output.status.success())?;
    let printed = String::from_utf8(output.stdout).ok()?;
    Some(printed.trim().to_owned()).filter(|printed| !printed.is_empty())
}

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed={COMMIT}");
    // The log of HEAD grows with each commit and each checkout.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo:rerun-if-changed={log}");
    }
    let commit = std::env::var(COMMIT).ok().or_else(|| git(&["rev-parse", "--short=12", "HEAD"]));
    let target = std::env::var("TARGET").unwrap_or_default();
    let parts: Vec<String> = commit.into_iter().chain([target]).collect();
    println!("cargo:rustc-env=KURABE_BUILD={}", parts.join(" "));
}
