//! Laws that hold for every importer and any bytes, checked over all fixtures complete, truncated and
//! changed.
//!
//! No input panics. A figure was printed: its characters occur in the file, and its value is finite and
//! not negative. GNOME Disks' files are binary and contain no summary; there the value must be between
//! the samples.

use kurabe_core::Lang;
use kurabe_core::imported::PrintedFigure;
use kurabe_core::record::RunRecord;
use kurabe_interop::{ImportedRun, import};
use kurabe_testkit::{cases, sampled};
use proptest::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Name and bytes of every fixture that is a result, for all importers.
static FIXTURES: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut paths = Vec::new();
    for folder in ["consumer", "lab", "cases/read"] {
        collect(&root.join(folder), &mut paths);
    }
    paths.sort();
    paths
        .into_iter()
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(path).unwrap()))
        .collect()
});

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, paths);
        } else {
            paths.push(path);
        }
    }
}

/// Returns the file's text, if possible, for the search of printed characters.
fn text_of(bytes: &[u8]) -> String {
    let is_utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
    if is_utf16 || bytes.iter().filter(|byte| **byte == 0).count() * 3 > bytes.len() {
        // Figures consist of ASCII characters, so the zeros between them can be removed.
        return bytes.iter().filter(|byte| **byte != 0).map(|byte| char::from(*byte)).collect();
    }
    String::from_utf8_lossy(bytes).into_owned()
}

/// Byte units with decimal names. If a tool uses such a name for another number of bytes, this is a
/// correction.
const DECIMAL_UNITS: [(&str, f64); 6] =
    [("kB", 1e3), ("KB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12), ("kilobytes", 1e3)];

/// Returns whether the characters of a figure are a number in the text, and not part of another one.
fn is_printed(text: &str, figure: &PrintedFigure) -> bool {
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let printed = figure.printed.as_str();
    text.match_indices(printed).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + printed.len()..]);
        let mut behind = after.chars();
        let next = behind.next();
        let goes_on = is_digit(next) || next == Some('.') && is_digit(behind.next());
        let mut ahead = before.chars().rev();
        let last = ahead.next();
        let began = is_digit(last) || last == Some('.') && is_digit(ahead.next());
        !goes_on && !began
    })
    // A device without a line was idle: no tool prints that 0.
    || printed == "0" && figure.value == 0.0
}

fn check_figure(figure: &PrintedFigure, text: Option<&str>, file: &str) {
    assert!(figure.value.is_finite() && figure.value >= 0.0, "{figure:?}");
    assert!(figure.printed.contains(|c: char| c.is_ascii_digit()), "{figure:?}");
    if let Some(text) = text {
        assert!(is_printed(text, figure), "not in {file}: {figure:?}");
    }
    let unit = &figure.unit_printed;
    let decimal = DECIMAL_UNITS.iter().find(|(name, _)| unit.starts_with(name)).map(|(_, bytes)| *bytes);
    // GNOME Disks stores samples, from which the figure is computed.
    let decimal = decimal.filter(|_| text.is_some());
    if let (Some(bytes), Ok(number)) = (decimal, figure.printed.replace(',', ".").parse::<f64>())
        && (figure.value - number * bytes).abs() > figure.value * 1e-9
    {
        assert!(figure.correction.is_some(), "{file}: a conversion that is not stated: {figure:?}");
    }
    if let Some(correction) = &figure.correction {
        assert!(correction.factor.is_finite() && correction.factor > 0.0, "{figure:?}");
    }
}

fn check_run(run: &ImportedRun, text: &str, file: &str) {
    assert!(!run.cells.is_empty() && !run.origin.tool.is_empty() && !run.origin.format.is_empty());
    let binary = run.origin.format == "gnome-disks";
    for (index, cell) in run.cells.iter().enumerate() {
        assert_eq!(cell.index as usize, index);
        assert!(cell.workload.is_none() && cell.engine.is_none() && cell.repetitions.is_empty());
        let imported = cell.imported.as_ref().expect("an imported cell says what was printed");
        assert!(!imported.figures.is_empty() || !imported.series.is_empty(), "{cell:?}");
        assert_ne!(imported.runs, Some(0));
        for figure in &imported.figures {
            check_figure(figure, (!binary).then_some(text), file);
        }
        for series in &imported.series {
            assert!(!series.points.is_empty());
            assert!(
                series.points.iter().all(|(at, value)| at.is_finite() && value.is_finite() && *value >= 0.0)
            );
        }
        if binary {
            let values = || imported.series[0].points.iter().map(|(_, value)| *value);
            let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
            let mean = imported.figures[0].value;
            assert!(low * (1.0 - 1e-9) <= mean && mean <= high * (1.0 + 1e-9), "{low} {mean} {high}");
        }
    }
}

/// Returns the text in which the figures of a run were printed. A line end inside a figure is not part of
/// it, but only if the run says that lines were joined.
fn printed_text(run: &ImportedRun, text: &str) -> String {
    let joins = run.notices.iter().any(|notice| notice.text.get(Lang::En).contains("they were joined again"));
    if joins { format!("{text}\n{}", text.replace('\n', "")) } else { text.to_owned() }
}

/// Imports bytes and checks the result. Returns whether there was one.
fn law(name: &str, bytes: &[u8]) -> bool {
    match import(name, bytes) {
        Ok(runs) => {
            assert!(!runs.is_empty());
            let text = text_of(bytes);
            for run in runs {
                check_run(&run, &printed_text(&run, &text), name);
                let record = run.into_record("0.0.0", "2026-01-01T00:00:00Z", &[]);
                let json = serde_json::to_string(&record).unwrap();
                assert_eq!(serde_json::from_str::<RunRecord>(&json).unwrap().cells.len(), record.cells.len());
            }
            true
        }
        Err(error) => {
            assert!(!error.render(Lang::En).is_empty() && !error.render(Lang::Ja).is_empty());
            false
        }
    }
}

/// Returns whether a fixture must be refused, which its name shows.
fn is_bad(name: &str) -> bool {
    ["broken", "damaged", "error", "invalid", "truncated"].iter().any(|word| name.contains(word))
}

#[test]
fn every_fixture_is_read() {
    assert!(FIXTURES.len() >= 30, "{}", FIXTURES.len());
    for (name, bytes) in FIXTURES.iter() {
        assert_eq!(
            law(name, bytes),
            !is_bad(name),
            "{name}: {:?}",
            import(name, bytes).err().map(|error| error.to_string())
        );
    }
}

#[test]
fn a_time_that_is_finite_only_in_seconds_is_damage() {
    let (name, whole) = FIXTURES.iter().find(|(name, _)| name.starts_with("gnome-disks-big-endian")).unwrap();
    let mut bytes = whole.clone();
    // The exponent of a sample: 10^299 s.
    bytes[1776] = 126;
    assert!(!law(name, &bytes));
}

#[test]
fn every_fixture_is_recognised_by_its_content_not_its_name() {
    for (name, bytes) in FIXTURES.iter().filter(|(name, _)| !is_bad(name)) {
        let formats = |name: &str| import(name, bytes).map(|runs| runs[0].origin.format.clone()).ok();
        assert_eq!(formats("x"), formats(name), "{name}");
    }
}

#[test]
fn cut_fixtures_keep_the_laws() {
    for (name, bytes) in FIXTURES.iter() {
        let step = (bytes.len() / 100).max(1);
        for end in sampled((0..bytes.len()).step_by(step), 12) {
            law(name, &bytes[..end]);
        }
    }
}

#[test]
fn damaged_fixtures_keep_the_laws() {
    let mut others = [b'9', b'-', b' ', b'"', b'\n', 0xff].into_iter().cycle();
    for (name, bytes) in FIXTURES.iter() {
        let step = (bytes.len() / 30).max(1);
        for at in sampled((0..bytes.len()).step_by(step), 6) {
            let mut changed = bytes.clone();
            changed[at] = others.next().unwrap();
            law(name, &changed);
            let mut without = bytes.clone();
            without.drain(at..(at + step).min(bytes.len()));
            law(name, &without);
        }
    }
}

/// Returns a text wrapped between words, as mail programs do.
fn wrapped_at_words(text: &str, width: usize) -> String {
    let mut wrapped = String::new();
    for line in text.lines() {
        let mut rest = line;
        while rest.chars().count() > width {
            let end = rest.char_indices().nth(width).map_or(rest.len(), |(at, _)| at);
            let Some(at) = rest[..end].rfind(' ').filter(|at| !rest[..*at].trim().is_empty()) else { break };
            wrapped += rest[..at].trim_end();
            wrapped.push('\n');
            rest = rest[at..].trim_start();
        }
        wrapped += rest;
        wrapped.push('\n');
    }
    wrapped
}

/// Returns a text in quoted-printable, in lines of 76 characters.
fn quoted_printable(text: &str) -> String {
    let mut encoded = String::new();
    for line in text.lines() {
        let mut width = 0;
        for byte in line.bytes() {
            let sign = if byte == b'=' || !byte.is_ascii() {
                format!("={byte:02X}")
            } else {
                char::from(byte).to_string()
            };
            if width + sign.len() > 75 {
                encoded += "=\n";
                width = 0;
            }
            width += sign.len();
            encoded += &sign;
        }
        encoded.push('\n');
    }
    encoded
}

/// Returns a text as terminals, mail programs, forums and editors change it. Figures that are still
/// read must be numbers of the original.
fn changes(text: &str) -> Vec<(&'static str, Vec<u8>)> {
    let put = |before: &str, after: &str| -> Vec<u8> {
        text.lines().flat_map(|line| format!("{before}{line}{after}\n").into_bytes()).collect()
    };
    let wrapped: String = text
        .lines()
        .flat_map(|line| {
            let letters: Vec<char> = line.chars().collect();
            let parts: Vec<String> = letters.chunks(80).map(|part| part.iter().collect()).collect();
            if parts.is_empty() { vec![String::new()] } else { parts }
        })
        .flat_map(|line| [line, "\n".to_owned()])
        .collect();
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let mut changes = vec![
        ("colours", put("\u{1b}[1;32m", "\u{1b}[0m")),
        ("Windows' line ends", text.replace('\n', "\r\n").into_bytes()),
        ("UTF-16", [vec![0xff, 0xfe], utf16].concat()),
        ("quoted", put("> ", "")),
        ("bars", put("| ", "")),
        ("a prompt", format!("user@host:~$ tool --option\n{text}user@host:~$ \n").into_bytes()),
        ("wrapped at 80 columns", wrapped.into_bytes()),
        ("decimal commas", text.replace('.', ",").into_bytes()),
    ];
    // Longer texts are files of a program.
    if text.len() <= 16 << 10 {
        changes.extend([
            ("wrapped at words", wrapped_at_words(text, 76).into_bytes()),
            ("wrapped at words and quoted", {
                let quoted: String =
                    wrapped_at_words(text, 72).lines().map(|line| format!("> {line}\n")).collect();
                quoted.into_bytes()
            }),
            ("quoted-printable", quoted_printable(text).into_bytes()),
            ("times of a log", put("2023-10-05T12:34:56.7890123Z ", "")),
            ("the name of a container", put("bench-1  | ", "")),
        ]);
    }
    changes
}

/// Changes that must not affect the import.
const LOSSLESS: [&str; 5] = ["colours", "Windows' line ends", "UTF-16", "quoted", "bars"];

#[test]
fn texts_that_were_pasted_have_no_figure_that_was_not_printed() {
    for (name, bytes) in FIXTURES.iter().filter(|(name, _)| !is_bad(name)) {
        let Ok(text) = std::str::from_utf8(bytes) else { continue };
        let text = text.replace('\r', "");
        let cells = |bytes: &[u8]| {
            import(name, bytes).map(|runs| runs.into_iter().map(|run| run.cells).collect::<Vec<_>>())
        };
        let Ok(plain) = cells(text.as_bytes()) else { continue };
        for (change, bytes) in changes(&text) {
            let Ok(runs) = import(name, &bytes) else {
                assert!(!LOSSLESS.contains(&change) || is_whole(name), "{name} is not read with {change}");
                continue;
            };
            let original = if change == "decimal commas" { text.replace('.', ",") } else { text.clone() };
            runs.iter().for_each(|run| check_run(run, &original, &format!("{name} with {change}")));
            if LOSSLESS.contains(&change) && !(change == "quoted" && is_whole(name)) {
                assert!(cells(&bytes).is_ok_and(|cells| cells == plain), "{name} with {change}");
            }
        }
    }
}

/// Returns whether a file is a table that is read as a whole: quotation marks before its lines change
/// its meaning.
fn is_whole(name: &str) -> bool {
    [".csv", ".tsv", ".xml", "ioping-raw", "ioping.json", "gnome-disks"]
        .iter()
        .any(|word| name.contains(word))
}

fn fixture() -> impl Strategy<Value = usize> {
    0..FIXTURES.len()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases(400)) })]

    #[test]
    fn any_bytes_keep_the_laws(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        law("any", &bytes);
    }

    #[test]
    fn any_lines_of_all_tools_keep_the_laws(
        picks in proptest::collection::vec((fixture(), any::<prop::sample::Index>()), 1..20)
    ) {
        let mut text = String::new();
        for (at, line) in picks {
            let source = text_of(&FIXTURES[at].1);
            let lines: Vec<&str> = source.lines().collect();
            if !lines.is_empty() {
                text += lines[line.index(lines.len())];
                text.push('\n');
            }
        }
        law("lines", text.as_bytes());
    }

    #[test]
    fn changed_fixtures_keep_the_laws(
        at in fixture(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        end in any::<prop::sample::Index>(),
        cut in any::<bool>(),
    ) {
        let (name, whole) = &FIXTURES[at];
        let mut bytes = whole.clone();
        for (place, byte) in changes {
            if !bytes.is_empty() {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
        }
        if cut && !bytes.is_empty() {
            bytes.truncate(end.index(bytes.len()));
        }
        law(name, &bytes);
    }

    #[test]
    fn removed_and_doubled_lines_keep_the_laws(
        at in fixture(),
        line in any::<prop::sample::Index>(),
        double in any::<bool>(),
    ) {
        let (name, bytes) = &FIXTURES[at];
        if let Ok(text) = std::str::from_utf8(bytes) {
            let mut lines: Vec<&str> = text.lines().collect();
            if !lines.is_empty() {
                let line = line.index(lines.len());
                if double { lines.insert(line, lines[line]); } else { lines.remove(line); }
                law(name, lines.join("\n").as_bytes());
            }
        }
    }
}
