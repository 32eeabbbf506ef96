//! Results of other tools, recognised by their content.
//!
//! The model: every importer looks at the same input. Most say at once that it is not theirs, and how far they got;
//! the first that knows it reads it. An importer that knows the file as its own but cannot read it says so with the
//! line, and no other is asked. Nothing is guessed: what a tool did not print is absent.

mod amorphous;
mod asssd;
mod bonnie;
mod cdm;
mod consumer;
mod dates;
mod dd;
mod diskspd_text;
mod diskspd_xml;
mod elbencho;
mod fio_json;
mod fio_options;
mod fio_terse;
mod gnome_disks;
mod gvariant;
mod hdparm;
mod hdtune;
mod input;
mod ioping;
mod ior;
mod iostat;
mod iozone;
mod jdiskmark;
mod json_tree;
mod kdiskmark;
mod lab;
mod parts;
mod reports;
mod result_line;
mod yaml;
mod zpool_iostat;

pub(crate) use fio_options::size_bytes;
pub(crate) use input::Input;

use kurabe_core::environment::Environment;
use kurabe_core::imported::Origin;
use kurabe_core::record::{Cell, Notice, RECORD_SCHEMA, RunHeader, RunRecord, RunStatus};
use kurabe_core::{Error, ErrorKind, Result, Text, text};

/// A run that another tool measured.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ImportedRun {
    /// The tool and the file.
    pub origin: Origin,
    /// What the tool told of what it stood on.
    pub environment: Environment,
    /// Cells in the order of the file; at least one.
    pub cells: Vec<Cell>,
    /// What a reader of the figures must know: corrected units, statistics that are no means.
    pub notices: Vec<Notice>,
}

impl ImportedRun {
    /// As a record. The store gives the id; `imported_at` is RFC 3339.
    pub fn into_record(self, kurabe_version: &str, imported_at: &str, command: &[String]) -> RunRecord {
        let header = RunHeader {
            schema: RECORD_SCHEMA,
            kurabe_version: kurabe_version.to_owned(),
            id: String::new(),
            started_at: imported_at.to_owned(),
            command: command.to_vec(),
            target: None,
            profile: None,
            environment: self.environment,
            instrument: None,
            origin: Some(self.origin),
            model: None,
            versus: None,
        };
        RunRecord {
            status: RunStatus::Complete,
            notices: self.notices,
            cells: self.cells,
            ..RunRecord::begun(header)
        }
    }
}

/// What an importer says of an input.
pub(crate) enum Outcome {
    /// It is mine; these are its runs, at least one.
    Runs(Vec<ImportedRun>),
    /// It is not mine; how far I got, such as "no line begins with `CrystalDiskMark`".
    NotMine(Text),
    /// It is mine, but it is damaged or of a version that nobody knows; what and where.
    Broken(Error),
}

impl From<Result<Vec<ImportedRun>>> for Outcome {
    fn from(read: Result<Vec<ImportedRun>>) -> Self {
        match read {
            Ok(runs) => Self::Runs(runs),
            Err(error) => Self::Broken(error),
        }
    }
}

/// An importer.
pub(crate) struct Importer {
    /// What it reads, for people: `fio JSON`.
    pub(crate) what: &'static str,
    /// Looks at an input.
    pub(crate) read: fn(&Input<'_>) -> Outcome,
}

/// All importers, the most particular first.
const IMPORTERS: &[Importer] = &[
    gnome_disks::IMPORTER,
    jdiskmark::IMPORTER,
    kdiskmark::IMPORTER,
    amorphous::IMPORTER,
    asssd::IMPORTER,
    hdtune::IMPORTER,
    cdm::IMPORTER,
    hdparm::IMPORTER,
    ioping::TEXT,
    ioping::JSON,
    ioping::RAW,
    dd::IMPORTER,
    Importer { what: "fio JSON", read: fio_json::read },
    Importer { what: "fio terse", read: fio_terse::read },
    Importer { what: "elbencho JSON", read: elbencho::read_json },
    Importer { what: "elbencho CSV", read: elbencho::read_csv },
    Importer { what: "elbencho live CSV", read: elbencho::read_live },
    Importer { what: "DiskSpd XML", read: diskspd_xml::read },
    Importer { what: "DiskSpd text", read: diskspd_text::read },
    Importer { what: "iostat JSON", read: iostat::read_json },
    Importer { what: "iostat text", read: iostat::read_text },
    Importer { what: "zpool iostat text", read: zpool_iostat::read_text },
    Importer { what: "bonnie++ CSV", read: bonnie::read },
    Importer { what: "iozone", read: iozone::read },
    Importer { what: "IOR JSON", read: ior::read_json },
    Importer { what: "IOR text", read: ior::read_text },
    Importer { what: "IOR CSV", read: ior::read_csv },
    Importer { what: "zpool iostat -H", read: zpool_iostat::read_scripted },
];

/// Reads a file of another tool. `name` is the file's name, used in errors and kept in the record.
///
/// # Errors
/// When no importer knows it (the error lists what was tried and how far each got), or the one that does cannot read it.
pub fn import(name: &str, bytes: &[u8]) -> Result<Vec<ImportedRun>> {
    let input = Input::new(name, bytes);
    let mut tried = Vec::new();
    for importer in IMPORTERS {
        match (importer.read)(&input) {
            Outcome::Runs(runs) => return Ok(runs),
            Outcome::Broken(error) => return Err(error),
            Outcome::NotMine(why) => tried.push((importer.what, why)),
        }
    }
    let list = |line: &dyn Fn(&Text) -> String| {
        tried.iter().map(|(what, why)| format!("\n  {what}: {}", line(why))).collect::<String>()
    };
    let (en, ja) = (list(&|why| why.en.clone()), list(&|why| why.ja.clone()));
    Err(Error::new(
        ErrorKind::Import,
        Text {
            en: format!("{name} is no result that kurabe can read; tried:{en}"),
            ja: format!("{name} は kurabe が読める結果ファイルではありません。試した形式:{ja}"),
        },
    )
    .remedy(text!(
        "give the file as the tool wrote it, complete and unedited",
        "ツールが書いたままのファイルを指定してください"
    )))
}
