//! Block devices of this machine that are served models: finding, querying, changing and detaching
//! them.

use kurabe_core::mention::{ATTACH, Mention, SERVE};
use kurabe_core::{Error, ErrorKind, Result, shown, text};
use kurabe_serve::{
    ControlRequest, ServedFigures, ask_server, attachment_of, attachments_folder, clean_attachments,
    control_path, read_answer, refuse_used,
};
use serde_json::Value;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// Refuses users other than root, with a clearer error than the kernel's.
///
/// # Errors
/// When this process does not run as root.
pub fn refuse_others_than_root() -> Result<()> {
    if rustix::process::geteuid().is_root() {
        return Ok(());
    }
    Err(ErrorKind::Permission
        .error(text!("only root can attach a device", "デバイスを接続できるのは root だけです"))
        .remedy(text!(
            "use sudo, or use `{SERVE}`, which needs no privileges",
            "sudo を使うか、権限のいらない `{SERVE}` を使ってください"
        )))
}

/// Removes the remains of killed device servers.
///
/// # Errors
/// When they cannot be removed.
pub fn remove_left_devices() -> Result<()> {
    attachments_folder().and_then(|folder| clean_attachments(&folder)).map(|_| ())
}

/// Devices that were detached.
pub struct Detached {
    /// Device nodes.
    pub devices: Vec<PathBuf>,
    /// Figures of their server, if it could be queried.
    pub figures: Option<ServedFigures>,
    /// Whether they had no server any more, because it was killed.
    pub was_left: bool,
}

/// Detaches a device and all devices that were attached with it.
///
/// # Errors
/// When the device does not belong to kurabe, or is in use.
pub fn detach(device: &Path) -> Result<Detached> {
    let folder = attachments_folder()?;
    let Some(attached) = attachment_of(&folder, device)? else { return remove_left(&folder, device) };
    refuse_used(&attached.devices)?;
    let figures =
        ask_server(&attached.control, &ControlRequest::Stats).and_then(read_answer::<ServedFigures>).ok();
    attached.end()?;
    // Removes what the server could not remove itself.
    clean_attachments(&folder)?;
    Ok(Detached { devices: attached.devices.clone(), figures, was_left: false })
}

/// Removes what a killed server left, if the device belongs to it.
fn remove_left(folder: &Path, device: &Path) -> Result<Detached> {
    let cleaned: Vec<PathBuf> = clean_attachments(folder)?;
    let same = |cleaned: &PathBuf| device.canonicalize().is_ok_and(|device| device == *cleaned);
    match cleaned.iter().any(same) {
        true => Ok(Detached { devices: vec![device.to_owned()], figures: None, was_left: true }),
        false => Err(not_ours(device)),
    }
}

/// Queries or changes a server, which is named by either of its sockets or by a device.
///
/// # Errors
/// When no server answers, or it refuses the request.
pub fn control_server(path: &Path, request: &ControlRequest) -> Result<Value> {
    ask_server(&control_socket(path)?, request)
}

fn control_socket(path: &Path) -> Result<PathBuf> {
    if path.metadata().is_ok_and(|facts| facts.file_type().is_block_device()) {
        let attached = attachment_of(&attachments_folder()?, path)?;
        return attached.map(|attached| attached.control).ok_or_else(|| not_ours(path));
    }
    if path.extension().is_some_and(|end| end == "control") {
        return Ok(path.to_owned());
    }
    Ok(control_path(path))
}

/// Returns the error for a device that `kurabe attach` did not create.
fn not_ours(device: &Path) -> Error {
    let shown = shown::path(device);
    ErrorKind::Refused.error(text!(
        "{shown} is not a device of `{ATTACH}`",
        "{shown} は `{ATTACH}` のデバイスではありません"
    ))
    .remedy(text!(
        "name the device that `{ATTACH}` printed; detach other devices with `{}` or `nbd-client -d`",
        "`{ATTACH}` が表示したデバイスを指定してください。ほかのものは `{}` や `nbd-client -d` で切り離せます",
        Mention::Shell("losetup --detach")
    ))
}
