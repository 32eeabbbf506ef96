//! Import of results of other tools, which are recognized by their content.
//!
//! The model: importers whose tool writes separate files see the complete file first. A text is then
//! split into the blocks that its lines indicate (`split`), and each block goes to the importer that
//! recognizes those lines. So a page or the log of a shell can contain results of several tools, and
//! each becomes a separate run. An importer that recognizes a block but cannot read it reports the
//! line. This is the error if the file contains nothing else; otherwise the block is reported as
//! skipped. Nothing is guessed: values that a tool did not print are absent.
//!
//! # To add an importer
//!
//! - Write `import/NAME.rs` (`use super::kit::*`) with the shapes of its lines (`shapes.rs`) and a
//!   `read` that returns runs, `NotMine` or `Broken`. Its head names the source or the sample from which the
//!   format is known.
//! - Add its line to `TEXTS`, or to `FILES` if its tool writes files that contain nothing else.
//! - Put a small real file into `tests/fixtures/` and test its exact values. The laws over all fixtures
//!   find it there.
//! - Add its row to docs/tools.md.

mod amorphous;
mod asssd;
pub(crate) mod biosnoop;
mod bonnie;
mod bonnie_text;
mod bsd_iostat;
mod btt;
mod cdm;
mod cdm_list;
mod clean;
mod dates;
mod dd;
mod diskspd_text;
mod diskspd_xml;
mod elbencho;
mod fio_groups;
mod fio_job;
mod fio_json;
mod fio_options;
mod fio_text;
mod gnome_disks;
mod gvariant;
mod hdparm;
mod hdtune;
mod importer;
mod input;
mod io500;
mod ioping;
mod ior;
mod iostat;
mod iozone;
mod json_tree;
mod kdiskmark;
mod kit;
mod layout;
mod mark_tool;
mod marks;
mod mdtest;
mod parts;
mod pg_test_fsync;
mod rados;
mod reports;
mod result_line;
mod room;
mod sar;
mod shapes;
mod signatures;
mod split;
mod sysbench;
mod units;
mod unread;
mod words;
mod yabs;
mod zpool_iostat;

pub use importer::ImportedRun;
use importer::Importer;
pub(crate) use input::Input;
use input::Unwrapped;
use kurabe_core::mention::{REPLAY, RUN};
use parts::NotImported;
pub(crate) use parts::place_of_line;
use split::{Blocks, TextPart};
pub(crate) use words::digits;

use kurabe_core::record::{Cell, Notice};
use kurabe_core::{Error, ErrorKind, Result, Text, shown, text};

/// Importers of whole files, the most specific first.
static FILES: [Importer; 8] = [
    gnome_disks::IMPORTER,
    ioping::JSON,
    ioping::RAW,
    elbencho::CSV,
    elbencho::LIVE,
    diskspd_xml::IMPORTER,
    ior::CSV,
    fio_json::FILE,
];

/// Importers of parts of texts.
static TEXTS: [Importer; 30] = [
    fio_json::IMPORTER,
    elbencho::JSON,
    iostat::JSON,
    ior::JSON,
    yabs::IMPORTER,
    yabs::TEXT,
    marks::IMPORTER,
    asssd::IMPORTER,
    hdtune::IMPORTER,
    hdparm::IMPORTER,
    ioping::TEXT,
    dd::IMPORTER,
    fio_text::TERSE,
    fio_text::NORMAL,
    diskspd_text::IMPORTER,
    bsd_iostat::IMPORTER,
    iostat::TEXT,
    zpool_iostat::TEXT,
    bonnie::IMPORTER,
    bonnie_text::TEXT,
    iozone::IMPORTER,
    ior::TEXT,
    mdtest::IMPORTER,
    io500::IMPORTER,
    sysbench::IMPORTER,
    pg_test_fsync::IMPORTER,
    biosnoop::IMPORTER,
    btt::IMPORTER,
    rados::IMPORTER,
    cdm_list::IMPORTER,
];

/// Importers of whole files with few signs of their tool.
static LAST: [Importer; 1] = [zpool_iostat::SCRIPTED];

/// Number of results that a note lists as skipped. Further ones are only counted.
const LEFT_OUT_NAMED: usize = 20;
/// Number of errors of blocks that are kept. With `--output-format=terse,json`, some of them are
/// dropped again.
const LEFT_OUT_KEPT: usize = 2000;

/// Reads a file of another tool, and returns every result in it as a run. `name` is the file's name,
/// used in errors and stored in the record. Results that cannot be read next to readable ones are
/// listed in a note of the first run.
///
/// # Errors
/// If no importer recognizes the file (the error names the most similar kind and what is missing), or
/// if its importer cannot read it.
pub fn import(name: &str, bytes: &[u8]) -> Result<Vec<ImportedRun>> {
    room::begin(bytes.len());
    let input = Input::new(name, bytes);
    let text = input.text().filter(|text| text.len() <= WRAPPED_LONGEST);
    let read = match text.and_then(input::unwrapped) {
        Some(joined) => read_either(name, &input, &joined),
        None => read(name, &input),
    };
    let is_plain = read.is_ok();
    let read = match text.filter(|text| text.len() <= PASTED_LONGEST && !room::is_spent()) {
        Some(text) => read_restored(name, text, read),
        None => read,
    };
    if room::is_spent() {
        return Err(room::too_much(input.name));
    }
    let mut runs = read?;
    let tools: Vec<String> = runs.iter().map(|run| run.origin.tool.clone()).collect();
    if let Some(run) = runs.first_mut() {
        if is_plain {
            run.notices.extend(unread::notices(&input, &OF_TEXTS, &tools));
        }
        run.notices.extend(input.had_nan.then(|| {
            parts::notice(text!(
                "values that are not numbers, such as `nan`, are unknown and were skipped",
                "`nan` など数値でない値は不明として取り込んでいません"
            ))
        }));
    }
    Ok(runs)
}

/// Maximum length in bytes of a text that is read again with its layout restored. Longer texts were not
/// pasted.
const PASTED_LONGEST: usize = 128 << 10;

/// Reads a text again with the changes of mail programs and loggers undone, if that results in more
/// figures.
fn read_restored(name: &str, text: &str, plain: Result<Vec<ImportedRun>>) -> Result<Vec<ImportedRun>> {
    let printed = plain.as_ref().map_or(0, |runs| figures(runs));
    for restored in layout::restored(text) {
        let bytes = restored.parts.iter().map(|(_, text)| text.len()).sum();
        if plain.is_ok() && restored.only_if_unread || room::is_spent() || !room::take(bytes) {
            continue;
        }
        let mut runs: Vec<ImportedRun> = Vec::new();
        for (host, text) in restored.parts {
            let Ok(mut of_part) = read(name, &Input::new(name, text.as_bytes())) else { continue };
            if let Some(host) = host {
                of_part.iter_mut().for_each(|run| parts::fact(&mut run.origin, "host", &host));
            }
            runs.append(&mut of_part);
        }
        if figures(&runs) > printed {
            if let Some(run) = runs.first_mut() {
                run.notices.push(parts::notice(restored.note));
            }
            return Ok(runs);
        }
    }
    plain
}

/// Returns the number of figures of runs.
fn figures(runs: &[ImportedRun]) -> usize {
    let cells = runs.iter().flat_map(|run| &run.cells).filter_map(|cell| cell.imported.as_ref());
    cells.map(|cell| cell.figures.len()).sum()
}

/// Maximum length in bytes of a text whose lines are joined. Longer texts were not copied from a
/// terminal.
const WRAPPED_LONGEST: usize = 1 << 20;

/// Reads a text whose lines a terminal may have wrapped: unchanged, or with joined lines if that
/// results in at least as many figures. A wrapped number would be read as a shorter one. Joining the
/// lines of a table that was not wrapped results in fewer figures.
fn read_either(name: &str, input: &Input<'_>, joined: &Unwrapped) -> Result<Vec<ImportedRun>> {
    let plain = read(name, input);
    let may_be_wrong = plain.is_err() || joined.cuts_words;
    if !may_be_wrong || room::is_spent() || !room::take(joined.text.len()) {
        return plain;
    }
    let Ok(mut runs) = read(name, &Input::new(name, joined.text.as_bytes())) else { return plain };
    let is_same = |plain: &[ImportedRun]| {
        plain.len() == runs.len() && plain.iter().zip(&runs).all(|(one, other)| one.cells == other.cells)
    };
    if plain.as_ref().is_ok_and(|plain| figures(plain) > figures(&runs) || is_same(plain)) {
        return plain;
    }
    if let Some(run) = runs.first_mut() {
        run.notices.push(parts::notice(text!(
            "the lines of this file were wrapped at a fixed width, as a terminal does; they were joined again",
            "端末の幅で折り返された行をつなぎ直して読みました"
        )));
    }
    Ok(runs)
}

/// A skipped block: its kind, its first line, its tool and the reason.
struct LeftOut {
    what: &'static str,
    line: usize,
    tool: &'static str,
    error: Error,
}

fn read(name: &str, input: &Input<'_>) -> Result<Vec<ImportedRun>> {
    if let Some(read) = whole(input, &FILES) {
        return read;
    }
    let (mut runs, mut left_out, mut beyond) = (Vec::new(), Vec::new(), 0);
    let blocks = Blocks::of(input, &TEXTS);
    for TextPart { importer, line, input } in blocks.iter(&TEXTS) {
        match importer.runs(&input) {
            Ok(mut of_block) => runs.append(&mut of_block),
            Err(NotImported::Broken(error)) if left_out.len() < LEFT_OUT_KEPT => {
                left_out.push(LeftOut { what: importer.what, line, tool: importer.tool, error });
            }
            Err(NotImported::Broken(_)) => beyond += 1,
            Err(NotImported::NotMine(_)) => {}
        }
        if room::is_spent() {
            return Ok(Vec::new());
        }
        input.end_part();
    }
    drop(blocks);
    // With `--output-format=normal,json`, both describe the same run, and the JSON has exact figures.
    if runs.iter().any(|run| run.origin.tool == "fio" && run.origin.format != fio_text::FORMAT) {
        runs.retain(|run| run.origin.format != fio_text::FORMAT);
        left_out.retain(|left_out: &LeftOut| left_out.tool != fio_text::TERSE.tool);
    }
    let repeated = without_repeats(&mut runs);
    beyond += left_out.len().saturating_sub(LEFT_OUT_NAMED);
    let mut notices: Vec<Notice> = left_out
        .iter()
        .take(LEFT_OUT_NAMED)
        .map(|LeftOut { what, line, error, .. }| {
            let cause = error.what();
            parts::notice(text!(
                "left out of this file: {what} from line {line} on: {cause}",
                "このファイルから取り込まなかったもの: {line} 行目からの {what}({cause})"; cause
            ))
        })
        .collect();
    if beyond > 0 {
        notices.push(parts::notice(text!(
            "{beyond} more unreadable results in this file were skipped",
            "このほかに、読めない {beyond} 件を取り込んでいません"
        )));
    }
    notices.extend(repeated);
    match (runs.first_mut(), left_out.into_iter().next()) {
        (Some(first), _) => {
            first.notices.extend(notices);
            Ok(runs)
        }
        (None, Some(left_out)) => Err(left_out.error),
        (None, None) => whole(input, &LAST).unwrap_or_else(|| Err(unknown(name, input))),
    }
}

/// Removes a result that directly follows the same result of its tool in another format, as bonnie++
/// prints a table and a CSV line, and returns a note on it. Formats round differently.
fn without_repeats(runs: &mut Vec<ImportedRun>) -> Option<Notice> {
    /// Number of cells that two results must share, and the difference by which formats round them.
    const CELLS_LEAST: usize = 3;
    const ROUNDING: f64 = 0.005;
    let before = runs.len();
    runs.dedup_by(|next, own| {
        let is_other_form = own.origin.tool == next.origin.tool && own.origin.format != next.origin.format;
        let main = |cell: &Cell| {
            cell.imported.as_ref()?.figures.first().map(|figure| (figure.quantity, figure.value))
        };
        let same = |cell: &Cell| {
            let named = own.cells.iter().find(|own| (&own.label, &own.part) == (&cell.label, &cell.part))?;
            let ((quantity, own), (other, value)) = main(named).zip(main(cell))?;
            Some(quantity == other && (own - value).abs() <= own * ROUNDING)
        };
        let shared: Vec<bool> = next.cells.iter().filter_map(same).collect();
        is_other_form && shared.len() >= CELLS_LEAST && shared.iter().all(|is_same| *is_same)
    });
    (runs.len() < before).then(|| {
        parts::notice(text!(
            "the text has a result in two formats, of which the first was imported",
            "同じ結果が 2 つの形式で書かれていたため、最初のものだけを取り込みました"
        ))
    })
}

/// Returns the result of the first of these importers that recognizes the whole file.
fn whole(input: &Input<'_>, importers: &[Importer]) -> Option<Result<Vec<ImportedRun>>> {
    importers.iter().find_map(|importer| match importer.runs(input) {
        Ok(runs) => Some(Ok(runs)),
        Err(NotImported::Broken(error)) => Some(Err(error)),
        Err(NotImported::NotMine(_)) => None,
    })
}

/// Creates the error for an unrecognized file.
fn unknown(name: &str, input: &Input<'_>) -> Error {
    let word = shown::shell_word(name);
    if let Some(format) = crate::trace::recognised(name, input.bytes) {
        let what = text!(
            "{name} is a trace ({format}), not a result",
            "{name} は測定結果ではなくトレース({format})です"
        );
        let remedy =
            text!("replay it: {RUN} {REPLAY} {word} TARGET", "再生してください: {RUN} {REPLAY} {word} 対象");
        return ErrorKind::Import.error(what).remedy(remedy);
    }
    if is_job_file(input) {
        let what = text!(
            "{name} is a fio job file, not a result",
            "{name} は測定結果ではなく fio のジョブファイルです"
        );
        let remedy = text!("run it: {RUN} {word} TARGET", "実行してください: {RUN} {word} 対象");
        return ErrorKind::Import.error(what).remedy(remedy);
    }
    if let Some(signatures::Identified { name: tool, what, instead }) = signatures::identify(input) {
        let what = text!(
            "{name} is the output of {tool}: {what}",
            "{name} は {tool} の出力です。{what}"; what
        );
        return ErrorKind::Import.error(what).remedy(instead);
    }
    let command = input.lines().find_map(|(_, line)| unread::prompt(line).flatten());
    let what = match nearest(input) {
        Some((kind, why)) => text!(
            "{name} is not a result file that kurabe can read; the most similar kind is {kind}: {why}",
            "{name} は kurabe が読める結果ファイルではありません。最も近い形式は {kind} ですが、{why}"; why
        ),
        None => match command {
            Some(tool) => text!(
                "{name} is not a result file that kurabe can read: it is output of `{tool}`",
                "{name} は kurabe が読める結果ファイルではありません。`{tool}` の出力です"
            ),
            None => text!(
                "{name} is not a result file that kurabe can read: it does not name a known tool",
                "{name} は kurabe が読める結果ファイルではありません。知っているツールの名前が見つかりません"
            ),
        },
    };
    ErrorKind::Import.error(what).remedy(text!(
        "give the file exactly as the tool wrote it, complete and unedited",
        "ツールが書いたままのファイルを指定してください"
    ))
}

/// Returns whether the file is a fio job file, according to its name or its sections.
fn is_job_file(input: &Input<'_>) -> bool {
    let has_section = input.lines().any(|(_, line)| line.starts_with('[') && line.trim_end().ends_with(']'));
    let reads = || {
        input.text().is_some_and(|text| {
            kurabe_fio::read_fio_job(input.name, text, &kurabe_fio::NoSurroundings).is_ok()
        })
    };
    has_section && (kurabe_fio::is_job_name(input.name) || reads())
}

/// Returns whether a name occurs in a text, and not within a longer word: `ior` is not in `behavior`.
fn is_word_of(name: &str, text: &str) -> bool {
    let is_within = |own: Option<char>, next: Option<char>| {
        own.is_some_and(char::is_alphanumeric) && next.is_some_and(char::is_alphanumeric)
    };
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (text[..at].chars().next_back(), text[at + name.len()..].chars().next());
        // A version can follow directly: `fio3.json`.
        let after = after.filter(|after| !after.is_ascii_digit());
        !is_within(name.chars().next(), before) && !is_within(name.chars().next_back(), after)
    })
}

/// Returns the kind of file whose tool is named in the file or in its name, and what is missing there.
fn nearest(input: &Input<'_>) -> Option<(&'static str, Text)> {
    /// Tools print their names at the start.
    const LOOKED_AT: usize = 64 << 10;
    let start: String = input.text().unwrap_or("").chars().take(LOOKED_AT).collect();
    let words = format!("{}\n{start}", input.name).to_lowercase();
    let named = |importer: &Importer| {
        let lengths = importer.names.iter().filter(|name| is_word_of(&name.to_lowercase(), &words));
        lengths.map(|name| name.len()).max()
    };
    let importers = || TEXTS.iter().chain(&FILES);
    let longest = importers().filter_map(named).max()?;
    importers().filter(|importer| named(importer) == Some(longest)).find_map(|importer| {
        match importer.runs(input) {
            Ok(_) => None,
            Err(NotImported::NotMine(why)) => Some((importer.what, why)),
            Err(NotImported::Broken(error)) => Some((importer.what, error.what().clone())),
        }
    })
}

/// The importers of texts, as the search for unread parts needs them.
static OF_TEXTS: unread::Importers = unread::Importers {
    is_message,
    is_read: |command| TEXTS.iter().any(|importer| importer.tool.eq_ignore_ascii_case(command)),
};

/// Returns whether no importer of texts recognizes a line.
fn is_message(line: &str) -> bool {
    split::cleaned_lines(line).all(|line| split::owner(&line, &TEXTS).is_none())
}
