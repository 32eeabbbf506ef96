//! Where something can be measured: file systems, drives and models, as the page lists them.

use kurabe_core::environment::Environment;
use kurabe_core::quantity::format_bytes_decimal;
use kurabe_core::{Lang, Text, shown, text};
use kurabe_host::{ObserveOptions, StorageMount, block_devices, observe, storage_mounts};
use kurabe_lab::{GivenUp, within};
use kurabe_report::surroundings;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a page waits for storage that is looked at: far longer than any takes that answers at all.
const PROBE_TIME: Duration = Duration::from_secs(10);

/// A place to measure.
#[derive(Clone, Debug, Default)]
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

impl TargetOffer {
    /// What it stands on, and what is free there, in a line.
    pub(crate) fn line(&self, lang: Lang) -> String {
        let facts = std::iter::once(&self.storage).chain(&self.room);
        Text::join(facts.cloned(), [" · "; 2]).take(lang)
    }
}

/// The file systems of this machine.
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

/// The drives of this machine, which the page only reads.
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

/// Looks at all storage at the same time. What gives no answer within `limit` is offered as such, so that storage that
/// hangs takes nothing but itself from the page.
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

/// Who uses a drive, so that it could not be written now; or why that cannot be found out.
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
        // One after the other, the last would not be reached.
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
