//! Where something can be measured: file systems, drives and models, as the page lists them.

use kurabe_core::environment::Environment;
use kurabe_core::quantity::format_bytes_decimal;
use kurabe_core::{Text, shown, text};
use kurabe_host::{ObserveOptions, observe};
use kurabe_report::surroundings;
use std::path::{Path, PathBuf};

/// A place to measure.
#[derive(Clone, Debug)]
pub(crate) struct TargetOffer {
    /// What a request names.
    pub(crate) target: String,
    /// What it stands on.
    pub(crate) storage: Text,
    /// What is free there, or how large it is.
    pub(crate) room: Option<Text>,
    /// Why it cannot be measured, or not be written.
    pub(crate) limit: Option<Text>,
    /// Whether it can be measured at all.
    pub(crate) is_usable: bool,
    /// Whether it is a whole drive, which is only read.
    pub(crate) is_drive: bool,
}

/// The file systems of this machine.
pub(crate) fn directories() -> Vec<TargetOffer> {
    let mut own: Vec<PathBuf> = std::env::current_dir().into_iter().collect();
    own.extend(std::env::var_os("HOME").map(PathBuf::from));
    own.push(std::env::temp_dir());
    let places = kurabe_host::places(&own);
    places.into_iter().map(|place| directory(&place.directory, place.is_writable)).collect()
}

fn directory(path: &Path, is_writable: bool) -> TargetOffer {
    let environment = observed(path);
    let free = environment.file_system.as_ref().and_then(|file_system| file_system.free_bytes);
    let limit = text!("nothing can be written there", "ここには書き込めません");
    TargetOffer {
        target: shown::path(path).to_string(),
        storage: surroundings(&environment),
        room: free.map(format_bytes_decimal).map(|free| text!("{free} free", "空き {free}")),
        limit: (!is_writable).then_some(limit),
        is_usable: is_writable,
        is_drive: false,
    }
}

/// The drives of this machine, which the page only reads.
pub(crate) fn drives() -> Vec<TargetOffer> {
    kurabe_host::readable_devices()
        .into_iter()
        .map(|(path, refusal)| drive(&path, refusal.as_ref()))
        .collect()
}

fn drive(path: &Path, refusal: Option<&std::io::Error>) -> TargetOffer {
    let environment = observed(path);
    let bytes = environment.devices.iter().find_map(|device| device.size_bytes);
    TargetOffer {
        target: shown::path(path).to_string(),
        storage: surroundings(&environment),
        room: bytes.map(format_bytes_decimal).map(Text::same),
        limit: Some(match refusal {
            Some(error) => text!("cannot be read: {error}", "読み出せません: {error}"),
            None => text!("reads only", "読み出しのみ"),
        }),
        is_usable: refusal.is_none(),
        is_drive: true,
    }
}

/// Who uses a drive, so that it could not be written now; or why that cannot be found out.
pub(crate) fn holder(path: &Path) -> Option<Text> {
    let file = std::fs::File::open(path).ok()?;
    match kurabe_host::claims(&file, path) {
        Ok(claims) => claims.into_iter().next().map(|claim| claim.by),
        Err(error) => Some(error.what().clone()),
    }
}

fn observed(path: &Path) -> Environment {
    observe(path, &ObserveOptions { with_serial: false, salt: &[] })
}
