//! Results of other tools, recognised by their content.
//!
//! The model: a file is first shown to those importers whose tool writes files of its own, whole. A text is then split into
//! the blocks that its lines tell of (`split`), and each block goes to the importer that knows those lines; so a page or
//! the log of a shell may hold results of several tools, and each becomes a run of its own. An importer that knows a
//! block as its own but cannot read it says so with the line: that is the error if nothing else is in the file, else the
//! block is named as left out. Nothing is guessed: what a tool did not print is absent.

mod amorphous;
mod asssd;
mod bonnie;
mod cdm;
mod clean;
mod consumer;
mod dates;
mod dd;
mod diskspd_text;
mod diskspd_xml;
mod elbencho;
mod fio_json;
mod fio_normal;
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
mod marks;
mod mdtest;
mod parts;
mod reports;
mod result_line;
mod split;
mod sysbench;
mod yaml;
mod zpool_iostat;

pub(crate) use fio_options::size_bytes;
pub(crate) use input::Input;
use split::{Claim, split};

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
    /// How it knows its parts of a text; one whose tool writes files of its own sees them whole.
    pub(crate) claim: Claim,
    /// Words that are in a text of its tool, and in few others.
    pub(crate) names: &'static [&'static str],
}

const fn file(
    what: &'static str,
    read: fn(&Input<'_>) -> Outcome,
    names: &'static [&'static str],
) -> Importer {
    Importer { what, read, claim: Claim::File, names }
}

/// Importers of whole files, the most particular first.
static FILES: [Importer; 8] = [
    gnome_disks::IMPORTER,
    jdiskmark::IMPORTER,
    ioping::JSON,
    ioping::RAW,
    file("elbencho CSV", elbencho::read_csv, &["elbencho"]),
    file("elbencho live CSV", elbencho::read_live, &["elbencho"]),
    file("DiskSpd XML", diskspd_xml::read, &["<Results>"]),
    file("IOR CSV", ior::read_csv, &["bw(MiB/s)"]),
];

/// Importers of parts of texts.
static TEXTS: [Importer; 20] = [
    fio_json::IMPORTER,
    elbencho::JSON,
    iostat::JSON,
    ior::JSON,
    marks::IMPORTER,
    asssd::IMPORTER,
    hdtune::IMPORTER,
    hdparm::IMPORTER,
    ioping::TEXT,
    dd::IMPORTER,
    fio_terse::IMPORTER,
    fio_normal::IMPORTER,
    diskspd_text::IMPORTER,
    iostat::TEXT,
    zpool_iostat::TEXT,
    bonnie::IMPORTER,
    iozone::IMPORTER,
    ior::TEXT,
    mdtest::IMPORTER,
    sysbench::IMPORTER,
];

/// Whole files that tell little of their tool.
static LAST: [Importer; 1] = [file("zpool iostat -H", zpool_iostat::read_scripted, &[])];

/// Results that a remark names as left out; more are counted.
const LEFT_OUT_NAMED: usize = 20;

/// Reads a file of another tool: every result in it as a run. `name` is the file's name, used in errors and kept in the
/// record. Results that cannot be read beside others that can are named in a remark of the first run.
///
/// # Errors
/// When no importer knows it (the error names the nearest kind and what is missing), or the one that does cannot read it.
pub fn import(name: &str, bytes: &[u8]) -> Result<Vec<ImportedRun>> {
    let input = Input::new(name, bytes);
    if let Some(read) = whole(&input, &FILES) {
        return read;
    }
    let (mut runs, mut left_out) = (Vec::new(), Vec::new());
    let blocks = split(&input, &TEXTS);
    for block in blocks {
        match (block.importer.read)(&block.input) {
            Outcome::Runs(mut of_block) => runs.append(&mut of_block),
            Outcome::Broken(error) => left_out.push((block, error)),
            Outcome::NotMine(_) => {}
        }
    }
    // With `--output-format=normal,json` both tell of the same run.
    if runs.iter().any(|run| run.origin.tool == "fio") {
        left_out.retain(|(block, _)| block.importer.what != fio_normal::IMPORTER.what);
    }
    let beyond = left_out.len().saturating_sub(LEFT_OUT_NAMED);
    let mut notices: Vec<Notice> = left_out
        .iter()
        .take(LEFT_OUT_NAMED)
        .map(|(block, error)| {
            let what = block.importer.what;
            let cause = error.what();
            let line = block.line;
            parts::notice(text!(
                "left out of this file: {what} from line {line} on: {cause}",
                "このファイルから取り込まなかったもの: {line} 行目からの {what}({cause})"; cause
            ))
        })
        .collect();
    if beyond > 0 {
        notices.push(parts::notice(text!(
            "left out of this file besides: {beyond} more that cannot be read",
            "このほかに、読めない {beyond} 件を取り込んでいません"
        )));
    }
    match (runs.first_mut(), left_out.into_iter().next()) {
        (Some(first), _) => {
            first.notices.extend(notices);
            Ok(runs)
        }
        (None, Some((_, error))) => Err(error),
        (None, None) => whole(&input, &LAST).unwrap_or_else(|| Err(unknown(name, &input))),
    }
}

/// What the first of these importers says that knows the whole file.
fn whole(input: &Input<'_>, importers: &[Importer]) -> Option<Result<Vec<ImportedRun>>> {
    importers.iter().find_map(|importer| match (importer.read)(input) {
        Outcome::Runs(runs) => Some(Ok(runs)),
        Outcome::Broken(error) => Some(Err(error)),
        Outcome::NotMine(_) => None,
    })
}

/// The error of a file that nobody knows.
fn unknown(name: &str, input: &Input<'_>) -> Error {
    if let Some(format) = crate::trace::recognised(name, input.bytes) {
        return Error::new(
            ErrorKind::Import,
            text!(
                "{name} is a trace ({format}), not a result",
                "{name} は測定結果ではなくトレース({format})です"
            ),
        )
        .remedy(text!(
            "replay it: kurabe run --replay {name} TARGET",
            "再生してください: kurabe run --replay {name} 測定対象"
        ));
    }
    if is_job_file(input) {
        return Error::new(
            ErrorKind::Import,
            text!(
                "{name} is a job file of fio, not a result",
                "{name} は測定結果ではなく fio のジョブファイルです"
            ),
        )
        .remedy(text!("run it: kurabe run {name} TARGET", "実行してください: kurabe run {name} 測定対象"));
    }
    let what = match nearest(input) {
        Some((kind, why)) => text!(
            "{name} is no result that kurabe can read; the nearest kind is {kind}: {why}",
            "{name} は kurabe が読める結果ファイルではありません。最も近い形式は {kind} ですが、{why}"; why
        ),
        None => text!(
            "{name} is no result that kurabe can read: no tool that it knows is named in it",
            "{name} は kurabe が読める結果ファイルではありません。知っているツールの名前が見つかりません"
        ),
    };
    Error::new(ErrorKind::Import, what).remedy(text!(
        "give the file as the tool wrote it, complete and unedited",
        "ツールが書いたままのファイルを指定してください"
    ))
}

/// Whether the file has sections, and its name or what is in them says that these are jobs of fio.
fn is_job_file(input: &Input<'_>) -> bool {
    let has_section = input.lines().any(|(_, line)| line.starts_with('[') && line.trim_end().ends_with(']'));
    let reads = || input.text().is_some_and(|text| crate::job::read_fio_job(input.name, text).is_ok());
    has_section && (crate::job::is_job_name(input.name) || reads())
}

/// The kind of file whose tool is named in the file, or in its name, and what it misses there.
fn nearest(input: &Input<'_>) -> Option<(&'static str, Text)> {
    /// Tools name themselves at the beginning.
    const LOOKED_AT: usize = 64 << 10;
    let start: String = input.text().unwrap_or("").chars().take(LOOKED_AT).collect();
    let words = format!("{}\n{start}", input.name).to_lowercase();
    let named = |importer: &Importer| {
        let lengths = importer.names.iter().filter(|name| words.contains(&name.to_lowercase()));
        lengths.map(|name| name.len()).max()
    };
    let importers = || TEXTS.iter().chain(&FILES);
    let longest = importers().filter_map(named).max()?;
    importers().filter(|importer| named(importer) == Some(longest)).find_map(|importer| {
        match (importer.read)(input) {
            Outcome::NotMine(why) => Some((importer.what, why)),
            Outcome::Broken(error) => Some((importer.what, error.what().clone())),
            Outcome::Runs(_) => None,
        }
    })
}
