//! Devices of this machine that are models: found by their names, asked, changed and taken away.

use kurabe_core::mention::{ATTACH, Mention, SERVE};
use kurabe_core::{Error, ErrorKind, Result, shown, text};
use kurabe_serve::{
    ControlRequest, ServedFigures, ask_server, attachment_of, attachments_folder, clean_attachments,
    control_path, read_answer, refuse_used,
};
use serde_json::Value;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// Refuses whoever is not root, with more words than a refusal by the kernel would have.
///
/// # Errors
/// When this process is not root's.
pub fn refuse_others_than_root() -> Result<()> {
    if rustix::process::geteuid().is_root() {
        return Ok(());
    }
    Err(ErrorKind::Permission
        .error(text!("only root can attach a device", "デバイスを接続できるのは root だけです"))
        .remedy(text!(
            "use sudo, or `{SERVE}`, which needs no rights",
            "sudo を使うか、権限のいらない `{SERVE}` を使ってください"
        )))
}

/// Removes what a killed server of devices left.
///
/// # Errors
/// When that cannot be removed.
pub fn remove_left_devices() -> Result<()> {
    attachments_folder().and_then(|folder| clean_attachments(&folder)).map(|_| ())
}

/// Devices that were taken away.
pub struct Detached {
    /// Their names.
    pub devices: Vec<PathBuf>,
    /// What their server did, if it could be asked.
    pub figures: Option<ServedFigures>,
    /// Whether they had no server any more: a kill had left them.
    pub was_left: bool,
}

/// Takes a device away, with all that were attached with it.
///
/// # Errors
/// When it is not kurabe's, or in use.
pub fn detach(device: &Path) -> Result<Detached> {
    let folder = attachments_folder()?;
    let Some(attached) = attachment_of(&folder, device)? else { return remove_left(&folder, device) };
    refuse_used(&attached.devices)?;
    let figures =
        ask_server(&attached.control, &ControlRequest::Stats).and_then(read_answer::<ServedFigures>).ok();
    attached.end()?;
    // What it could not do itself.
    clean_attachments(&folder)?;
    Ok(Detached { devices: attached.devices.clone(), figures, was_left: false })
}

/// What a kill left, if the device is of that.
fn remove_left(folder: &Path, device: &Path) -> Result<Detached> {
    let cleaned: Vec<PathBuf> = clean_attachments(folder)?;
    let same = |cleaned: &PathBuf| device.canonicalize().is_ok_and(|device| device == *cleaned);
    match cleaned.iter().any(same) {
        true => Ok(Detached { devices: vec![device.to_owned()], figures: None, was_left: true }),
        false => Err(not_ours(device)),
    }
}

/// Asks a server, or tells it something. Either socket of it may be named, or a device.
///
/// # Errors
/// When there is none, or it refuses.
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

/// A device that `kurabe attach` did not make.
fn not_ours(device: &Path) -> Error {
    let shown = shown::path(device);
    ErrorKind::Refused.error(text!(
        "{shown} is no device of `{ATTACH}`",
        "{shown} は `{ATTACH}` のデバイスではありません"
    ))
    .remedy(text!(
        "name the device that `{ATTACH}` printed; `{}` and `nbd-client -d` are for others",
        "`{ATTACH}` が表示したデバイスを指定してください。ほかのものは `{}` や `nbd-client -d` で切り離せます",
        Mention::Shell("losetup --detach")
    ))
}
