//! System programs that create and mount file systems.

use kurabe_core::{Error, ErrorKind, Result, shown, text};
use kurabe_host::system_program;
use std::path::Path;

/// Mount point. In other namespaces this is an empty folder.
pub(crate) const POINT: &str = "/run/kurabe-disk";

/// Runs a system program to its end. Its error output is shown if it fails.
pub(crate) fn program(name: &str, words: &[&str], package: &str) -> Result<()> {
    let done = system_program(name, words).and_then(|mut command| command.output());
    let done = done.map_err(|error| cannot_run(name, package, &error))?;
    if done.status.success() {
        return Ok(());
    }
    let error = String::from_utf8_lossy(&done.stderr);
    let error = shown::line(error.trim().lines().next().unwrap_or_default());
    Err(ErrorKind::Io.error(text!("{name} failed: {error}", "{name} が失敗しました: {error}")))
}

/// Returns the error for a system program that cannot be run, with the package to install.
pub(crate) fn cannot_run(name: &str, package: &str, error: &std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::NotFound => ErrorKind::Target
            .error(text!("{name} is not installed", "{name} がインストールされていません"))
            .remedy(text!(
                "install it (Debian package {package})",
                "インストールしてください。Debian では {package} パッケージにあります"
            )),
        _ => Error::os(text!("cannot run {name}", "{name} を実行できません"), error),
    }
}

pub(crate) fn cannot_fill(path: &Path, error: &std::io::Error) -> Error {
    let path = shown::path(path);
    Error::os(text!("cannot create {path}", "{path} を作れません"), error)
}

pub(crate) fn cannot_unmount(error: &std::io::Error) -> Error {
    Error::os(text!("cannot unmount the disk", "ディスクをアンマウントできません"), error)
}
