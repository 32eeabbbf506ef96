//! Devices assembled from parts: an emulator of a SCSI disk, the memory card in it, and the computer.
//!
//! The model: `EMULATOR+CARD+COMPUTER` names a device whose file would use the three parts as one
//! (`spec.rs`). The computer has the initiator's share of the bus, the emulator the target's share and
//! its way to the card, and the card what its flash does. Title and note of the device are those of its
//! parts.

use crate::library::{load_device, read_device};
use crate::spec::{DeviceSpec, PART_KEYS};
use kurabe_core::library::{is_path, names, text_named};
use kurabe_core::{DataFile, ErrorKind, Result, Text, library, nearest, text};

/// Name and text of every emulator.
pub const EMULATORS: &[(&str, &str)] = library!["devices/emulators", ".toml":
    "zuluscsi-v1.0",
    "zuluscsi-v1.1",
    "zuluscsi-rp2040",
    "zuluscsi-blaster",
    "bluescsi-v2",
    "scsi2sd-v6-2021",
    "piscsi",
];

/// Name and text of every memory card.
pub const CARDS: &[(&str, &str)] = library!["devices/cards", ".toml":
    "sd-class2",
    "sd-class10",
    "sd-ultra-plus",
    "sd-card-a1",
    "sd-card-a2",
];

/// Name and text of every computer with a SCSI bus.
pub const HOSTS: &[(&str, &str)] = library!["devices/hosts", ".toml":
    "mac-8100",
    "mac-7300",
    "pc-ultra-scsi",
    "amiga-3000",
    "amiga-a4091",
    "falcon",
];

/// Joins the parts in a name.
const PLUS: char = '+';

/// Word that stands for every emulator or every card in [`combinations`].
const ALL: &str = "all";

/// Returns the device of this name if it consists of parts or is one of them.
pub(crate) fn assembled(name: &str) -> Option<Result<DeviceSpec>> {
    let parts: Vec<&str> = name.split(PLUS).collect();
    let is_part = |name: &str| [EMULATORS, CARDS, HOSTS].iter().any(|list| text_named(list, name).is_some());
    if is_path(name) || (parts.len() == 1 && !is_part(name)) {
        return None;
    }
    Some(of_parts(name, &parts))
}

/// Returns the names of the devices that a name with `all` instead of an emulator or a card means; the
/// name itself if it has none.
///
/// # Errors
/// Returns an error if the computer does not exist.
pub fn combinations(name: &str) -> Result<Vec<String>> {
    let [emulator, card, host] = name.split(PLUS).collect::<Vec<_>>()[..] else {
        return Ok(vec![name.to_owned()]);
    };
    if text_named(HOSTS, host).is_none() {
        return Err(no_part(host, HOSTS));
    }
    let (emulators, cards) = (all_or(emulator, EMULATORS), all_or(card, CARDS));
    let of_emulator = |emulator: &str| {
        cards.iter().map(|card| format!("{emulator}{PLUS}{card}{PLUS}{host}")).collect::<Vec<_>>()
    };
    Ok(emulators.into_iter().flat_map(of_emulator).collect())
}

/// Returns the limits of a device, by the part that has them.
///
/// # Errors
/// Returns an error if the device does not exist.
pub fn part_notes(name: &str) -> Result<Vec<(String, Text)>> {
    let mut notes = Vec::new();
    for part in name.split(PLUS) {
        let source = [EMULATORS, CARDS, HOSTS].iter().find_map(|list| text_named(list, part));
        let note = match source {
            Some(source) => part_facts(part, source)?.note,
            None => load_device(name)?.note,
        };
        notes.extend(note.map(|note| (part.to_owned(), note)));
    }
    Ok(notes)
}

/// Returns the price of the emulator in a device and where it was published, if that is known.
///
/// # Errors
/// Returns an error if the emulator's file cannot be read.
pub fn emulator_price(name: &str) -> Result<Option<(String, Text)>> {
    let emulator = name.split(PLUS).next().unwrap_or_default();
    match text_named(EMULATORS, emulator) {
        Some(source) => Ok(part_facts(emulator, source)?.price),
        None => Ok(None),
    }
}

/// Returns the part, or all of the list for the word `all`.
fn all_or<'p>(part: &'p str, list: &[(&'p str, &str)]) -> Vec<&'p str> {
    if part == ALL { names(list) } else { vec![part] }
}

fn of_parts(name: &str, parts: &[&str]) -> Result<DeviceSpec> {
    let [emulator, card, host] = parts[..] else {
        let example = format!("{}{PLUS}{}{PLUS}{}", EMULATORS[2].0, CARDS[3].0, HOSTS[0].0);
        return Err(ErrorKind::Usage
            .error(text!(
                "`{name}` is not a whole device: an emulator needs a card and a computer",
                "`{name}` だけではデバイスになりません。エミュレーターにはカードとコンピューターが必要です"
            ))
            .remedy(text!("name all three: {example}", "3 つをつなげて指定してください: {example}")));
    };
    let facts = |part, list| {
        let source = text_named(list, part).ok_or_else(|| no_part(part, list))?;
        part_facts(part, source)
    };
    let emulator_facts = facts(emulator, EMULATORS)?;
    let card_facts = facts(card, CARDS)?;
    let host_facts = facts(host, HOSTS)?;
    let title = [&emulator_facts, &card_facts, &host_facts].map(|facts| facts.title.clone());
    let title = Text::list(title);
    let mut spec = read_device(name, &file_of_parts(name, &title, [host, emulator, card]))?;
    spec.year = [emulator_facts.year, card_facts.year].into_iter().flatten().max();
    let notes = [emulator_facts.note, card_facts.note, host_facts.note];
    let notes: Vec<Text> = notes.into_iter().flatten().collect();
    spec.note = (!notes.is_empty()).then(|| Text::join(notes.iter().cloned(), [" ", ""]));
    Ok(spec)
}

/// Returns the text of a device file; the last of the parts counts most.
fn file_of_parts(name: &str, title: &Text, parts: [&str; 3]) -> String {
    let (en, ja) = (&title.en, &title.ja);
    format!(
        "schema = 1\nname = {name:?}\ntitle = {{ en = {en:?}, ja = {ja:?} }}\n\n[[layer]]\nuse = {parts:?}\n"
    )
}

/// Returns the text of a file of the device that consists of these parts, if the name is one of parts.
#[must_use]
pub fn assembled_source(name: &str) -> Option<String> {
    let spec = assembled(name)?.ok()?;
    let [emulator, card, host] = name.split(PLUS).collect::<Vec<_>>()[..] else { return None };
    Some(file_of_parts(name, &spec.title, [host, emulator, card]))
}

/// Title, year, limits and price of a part.
struct PartFacts {
    title: Text,
    year: Option<u16>,
    note: Option<Text>,
    /// Price and its source.
    price: Option<(String, Text)>,
}

fn part_facts(name: &str, source: &str) -> Result<PartFacts> {
    let file = DataFile::parse(name, source)?;
    let root = file.root(PART_KEYS)?;
    Ok(PartFacts {
        title: root.require("title")?.text()?,
        year: root.read("year", |year| year.integer(1950..=2100))?.map(|year| year as u16),
        note: root.get("note").map(|note| note.text()).transpose()?,
        price: root.read("price", |price| {
            let price = price.table(&["value", "source"])?;
            Ok((price.require("value")?.string()?.to_owned(), price.require("source")?.text()?))
        })?,
    })
}

fn no_part(name: &str, list: &[(&str, &str)]) -> kurabe_core::Error {
    ErrorKind::Usage
        .error(text!("the part `{name}` does not exist", "`{name}` というパーツはありません"))
        .remedy(nearest(name, &names(list)))
}
