//! Places to measure: file systems, drives and models, as listed on the page.

use kurabe_core::environment::Environment;
use kurabe_core::quantity::format_bytes_decimal;
use kurabe_core::{Lang, Text, shown, text};
use kurabe_host::{ObserveOptions, StorageMount, block_devices, observe, storage_mounts};
use kurabe_lab::{GivenUp, within};
use kurabe_report::{drive_words, surroundings};
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
    /// The kernel's names of the devices below. Empty if there are none.
    devices: Vec<String>,
    /// Name, bus and size of the drive below.
    drive: Option<Text>,
    facts: Vec<Text>,
    /// Type of the file system.
    kind: Option<String>,
    /// Whether the running system is on it.
    is_system: bool,
}

/// A drive with the file systems on it, or a file system without a drive of this machine.
#[derive(Clone, Debug)]
pub(crate) struct DriveCard {
    /// The name that a person recognizes.
    pub(crate) name: Text,
    /// Bus and size.
    pub(crate) facts: Vec<Text>,
    /// Whether the running system is on it.
    pub(crate) is_system: bool,
    /// The file systems on it.
    pub(crate) directories: Vec<TargetOffer>,
    /// The drive itself.
    pub(crate) whole: Option<TargetOffer>,
}

impl DriveCard {
    /// Returns the place to measure: a directory, otherwise the drive itself.
    pub(crate) fn target(&self) -> Option<&TargetOffer> {
        let is_usable = |place: &&TargetOffer| place.is_usable;
        self.directories.iter().find(is_usable).or_else(|| self.whole.as_ref().filter(is_usable))
    }
}

/// Returns a card for each drive of this machine.
pub(crate) fn drive_cards() -> Vec<DriveCard> {
    cards(directories().into_iter().chain(drives()).collect())
}

fn cards(offers: Vec<TargetOffer>) -> Vec<DriveCard> {
    let mut cards: Vec<(Vec<String>, DriveCard)> = Vec::new();
    for offer in offers {
        let key = if offer.devices.is_empty() { vec![offer.target.clone()] } else { offer.devices.clone() };
        let place = cards.iter().position(|(own, _)| *own == key).unwrap_or_else(|| {
            let name = offer.drive.clone().unwrap_or_else(|| Text::same(&offer.target));
            let facts =
                if offer.facts.is_empty() { vec![offer.storage.clone()] } else { offer.facts.clone() };
            let (directories, whole) = (Vec::new(), None);
            cards.push((key, DriveCard { name, facts, is_system: false, directories, whole }));
            cards.len() - 1
        });
        let card = &mut cards[place].1;
        card.is_system |= offer.is_system;
        if offer.is_drive {
            card.whole = Some(offer);
        } else {
            card.directories.push(offer);
        }
    }
    cards.into_iter().map(|(_, card)| card).collect()
}

impl TargetOffer {
    /// Returns the target, the type of the file system, and the free space.
    pub(crate) fn facts_line(&self) -> Text {
        let kind = self.kind.as_ref().map(Text::same);
        let facts = [Some(Text::same(&self.target)), kind, self.room.clone()];
        Text::join(facts.into_iter().flatten(), [" · "; 2])
    }

    /// Returns the name of the drive and the free space in a line.
    pub(crate) fn line(&self, lang: Lang) -> String {
        let drive = self.drive.clone().unwrap_or_else(|| self.storage.clone());
        Text::join([drive].into_iter().chain(self.room.clone()), [" · "; 2]).take(lang)
    }

    fn of(path: &Path, environment: &Environment) -> Self {
        let words = drive_words(environment);
        let file_system = environment.file_system.as_ref();
        Self {
            target: shown::path(path).to_string(),
            storage: surroundings(environment),
            devices: environment.devices.iter().map(|device| shown::line(&device.name)).collect(),
            drive: words.name.map(|name| name.map(shown::line)),
            facts: words.facts,
            kind: file_system.and_then(|one| one.kind.as_deref()).map(shown::line),
            is_system: file_system.is_some_and(|one| one.mount_point.as_deref() == Some("/")),
            ..Self::default()
        }
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
    let limit = text!("it is not writable", "ここには書き込めません");
    TargetOffer {
        room: free.map(format_bytes_decimal).map(|free| text!("{free} free", "空き {free}")),
        limit: (!is_writable).then_some(limit),
        is_usable: is_writable,
        ..TargetOffer::of(path, &environment)
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
        room: bytes.map(format_bytes_decimal).map(Text::same),
        limit: Some(match &refusal {
            Some(error) => text!("cannot be read: {error}", "読み出せません: {error}"),
            None => text!("reads only", "読み出しのみ"),
        }),
        is_usable: refusal.is_none(),
        is_drive: true,
        ..TargetOffer::of(path, &environment)
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
    fn a_drive_has_one_card_with_the_file_systems_on_it() {
        let on = |target: &str, device: &str| TargetOffer {
            target: target.to_owned(),
            devices: vec![device.to_owned()],
            drive: Some(Text::same(format!("Disk {device}"))),
            is_usable: true,
            ..TargetOffer::default()
        };
        let root = TargetOffer { is_system: true, is_usable: false, ..on("/", "sda") };
        let network = TargetOffer { devices: Vec::new(), drive: None, ..on("/net", "") };
        let whole = TargetOffer { is_drive: true, ..on("/dev/sda", "sda") };
        let spare = TargetOffer { is_drive: true, ..on("/dev/sdb", "sdb") };
        let cards = cards(vec![root, on("/home", "sda"), network, whole, spare]);
        let target = |card: &DriveCard| card.target().map(|place| place.target.clone()).unwrap_or_default();
        let shown: Vec<_> =
            cards.iter().map(|card| (card.name.en.clone(), card.is_system, target(card))).collect();
        let expected =
            [("Disk sda", true, "/home"), ("/net", false, "/net"), ("Disk sdb", false, "/dev/sdb")];
        let expected =
            expected.map(|(name, is_system, target)| (name.to_owned(), is_system, target.to_owned()));
        assert_eq!(shown, expected);
        assert!(cards[0].whole.is_some());
    }

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
