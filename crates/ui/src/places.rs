//! Places to measure: file systems, drives and models, as listed on the page.

use kurabe_core::environment::Environment;
use kurabe_core::quantity::format_bytes_decimal;
use kurabe_core::{Lang, Text, shown, text};
use kurabe_host::{ObserveOptions, StorageMount, block_devices, observe, storage_mounts};
use kurabe_lab::{GivenUp, within};
use kurabe_report::surroundings;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a page waits for a response from storage. Working storage responds much faster.
const PROBE_TIME: Duration = Duration::from_secs(10);

/// A place to measure.
#[derive(Clone, Debug, Default)]
pub(crate) struct TargetOffer {
    /// The target for a request.
    pub(crate) target: String,
    /// The underlying storage.
    pub(crate) storage: Text,
    /// Free space or capacity.
    pub(crate) room: Option<Text>,
    /// Why it can't be measured, or can't be written.
    pub(crate) limit: Option<Text>,
    /// Whether it can be measured at all.
    pub(crate) is_usable: bool,
    /// Whether it is a whole drive, which is only read.
    pub(crate) is_drive: bool,
}

impl TargetOffer {
    /// Returns the underlying storage and the free space in a line.
    pub(crate) fn line(&self, lang: Lang) -> String {
        let facts = std::iter::once(&self.storage).chain(&self.room);
        Text::join(facts.cloned(), [" · "; 2]).take(lang)
    }
}

/// Returns the file systems of this machine.
pub(crate) fn directories() -> Vec<TargetOffer> {
    let mut own: Vec<PathBuf> = std::env::current_dir().into_iter().collect();
    own.extend(std::env::var_os("HOME").map(PathBuf::from));
    own.push(std::env::temp_dir());
    let mounts = storage_mounts(&own);
    side_by_side(PROBE_TIME, &mounts, StorageMount::path, |mount| {
        mount.directory().map(|candidate| directory(&candidate.directory, candidate.is_writable))
    })
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
        ..TargetOffer::default()
    }
}

/// Returns the drives of this machine. The page only reads them.
pub(crate) fn drives() -> Vec<TargetOffer> {
    side_by_side(PROBE_TIME, &block_devices(), PathBuf::as_path, |path| Some(drive(path)))
}

fn drive(path: &Path) -> TargetOffer {
    let refusal = File::open(path).err();
    let environment = observed(path);
    let bytes = environment.devices.iter().find_map(|device| device.size_bytes);
    TargetOffer {
        target: shown::path(path).to_string(),
        storage: surroundings(&environment),
        room: bytes.map(format_bytes_decimal).map(Text::same),
        limit: Some(match &refusal {
            Some(error) => text!("cannot be read: {error}", "読み出せません: {error}"),
            None => text!("reads only", "読み出しのみ"),
        }),
        is_usable: refusal.is_none(),
        is_drive: true,
    }
}

/// Examines all storage concurrently. Storage that doesn't respond within `limit` is listed as not
/// responding, so that a hanging device does not block the page.
fn side_by_side<S: Clone + Send + 'static>(
    limit: Duration,
    storage: &[S],
    path: impl Fn(&S) -> &Path,
    look: fn(&S) -> Option<TargetOffer>,
) -> Vec<TargetOffer> {
    let looks = storage.iter().cloned().map(|one| move |_: &GivenUp| look(&one)).collect();
    let offers = storage.iter().zip(within(limit, looks));
    offers.filter_map(|(one, offer)| offer.unwrap_or_else(|| Some(silent(path(one), limit)))).collect()
}

fn silent(path: &Path, limit: Duration) -> TargetOffer {
    let limit_s = limit.as_secs();
    TargetOffer {
        target: shown::path(path).to_string(),
        storage: text!("no answer", "応答なし"),
        limit: Some(text!(
            "it did not answer within {limit_s} s",
            "{limit_s} 秒以内に応答がありませんでした"
        )),
        ..TargetOffer::default()
    }
}

/// Returns the user of a drive that prevents writing to it, or the reason why that can't be
/// determined.
pub(crate) fn holder(path: &Path) -> Option<Text> {
    let file = File::open(path).ok()?;
    match kurabe_host::claims(&file, path) {
        Ok(claims) => claims.into_iter().next().map(|claim| claim.by),
        Err(error) => Some(error.what().clone()),
    }
}

fn observed(path: &Path) -> Environment {
    observe(path, &ObserveOptions { with_serial: false, salt: &[] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    #[test]
    fn storage_that_hangs_is_offered_as_such_and_holds_nobody_up() {
        let storage = [PathBuf::from("/hangs"), PathBuf::from("/hangs/too"), std::env::temp_dir()];
        // If the places were examined sequentially, the last one would not be reached.
        static ALL_BEGUN: Barrier = Barrier::new(3);
        let offers = side_by_side(Duration::from_secs(2), &storage, PathBuf::as_path, |path| {
            ALL_BEGUN.wait();
            while path.starts_with("/hangs") {
                std::thread::park();
            }
            Some(directory(path, true))
        });
        let usable: Vec<bool> = offers.iter().map(|offer| offer.is_usable).collect();
        assert_eq!(usable, [false, false, true]);
        assert!(offers[0].limit.as_ref().is_some_and(|limit| limit.en.contains("did not answer within 2 s")));
    }
}
