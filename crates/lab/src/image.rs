//! Compares an image or a device with the list of writes of a run.

use kurabe_core::outside::{Outside, bytes_of_file};
use kurabe_core::{Error, Result, shown, text};
use kurabe_engine::{ImageCheck, WriteList};
use serde::Serialize;
use std::fs::File;
use std::path::Path;

/// The writes in a list, and how many of them the image holds.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImageReport {
    /// Number of writes that the run issued.
    pub writes: u64,
    /// Result of the comparison.
    #[serde(flatten)]
    pub check: ImageCheck,
}

/// Compares an image with the list in a file. `progress` receives the bytes compared so far and the
/// total.
///
/// # Errors
/// When the list is malformed, or either file cannot be read.
pub fn check_image(image: &Path, list: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<ImageReport> {
    let cannot_read = |path: &Path| {
        let path = shown::path(path);
        text!("cannot read {path}", "{path} を読めません")
    };
    let list = WriteList::parse(list, &bytes_of_file(list, cannot_read(list), Outside::Import)?)?;
    let failed = |error: std::io::Error| Error::os(cannot_read(image), &error);
    let file = File::open(image).map_err(failed)?;
    let (all_bytes, mut done_bytes) = (list.written_bytes(), 0);
    let mut add = |bytes: u64| {
        done_bytes += bytes;
        progress(done_bytes, all_bytes);
    };
    let check = kurabe_engine::check_image(&file, &list, &mut add).map_err(failed)?;
    Ok(ImageReport { writes: list.writes, check })
}
