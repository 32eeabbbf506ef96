//! An image or a device, held against the list of what a run wrote to it.

use kurabe_core::outside::{Outside, bytes_of_file};
use kurabe_core::{Error, Result, shown, text};
use kurabe_engine::{ImageCheck, WriteList};
use serde::Serialize;
use std::fs::File;
use std::path::Path;

/// What a list says, and what the image holds of it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImageReport {
    /// Writes that the run issued.
    pub writes: u64,
    /// What became of them.
    #[serde(flatten)]
    pub check: ImageCheck,
}

/// Holds an image against the list in a file. `progress` hears of compared bytes and of all there are.
///
/// # Errors
/// When the list is none, or either cannot be read.
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
