//! Laws that hold for every importer and any bytes, checked over all fixtures whole, cut and changed.
//!
//! Nothing panics. A figure that is read was printed: its characters stand in the file, its value is finite and not
//! negative. GNOME Disks' files are binary and store no figure; there the value must lie between the samples.

use kurabe_core::Lang;
use kurabe_core::imported::PrintedFigure;
use kurabe_core::record::RunRecord;
use kurabe_interop::{ImportedRun, import};
use kurabe_testkit::{cases, sampled};
use proptest::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Name and bytes of every fixture that is a result, whoever wrote its importer.
static FIXTURES: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut paths = Vec::new();
    for folder in ["consumer", "lab"] {
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

/// The file's text, as far as it is one, for a look-up of printed characters.
fn text_of(bytes: &[u8]) -> String {
    let is_utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
    if is_utf16 || bytes.iter().filter(|byte| **byte == 0).count() * 3 > bytes.len() {
        // Characters of figures are ASCII: the zeros between them say nothing.
        return bytes.iter().filter(|byte| **byte != 0).map(|byte| char::from(*byte)).collect();
    }
    String::from_utf8_lossy(bytes).into_owned()
}

fn check_figure(figure: &PrintedFigure, text: Option<&str>) {
    assert!(figure.value.is_finite() && figure.value >= 0.0, "{figure:?}");
    assert!(figure.printed.contains(|c: char| c.is_ascii_digit()), "{figure:?}");
    if let Some(text) = text {
        assert!(text.contains(&figure.printed), "not in the file: {figure:?}");
    }
    if let Some(correction) = &figure.correction {
        assert!(correction.factor.is_finite() && correction.factor > 0.0, "{figure:?}");
    }
}

fn check_run(run: &ImportedRun, text: &str) {
    assert!(!run.cells.is_empty() && !run.origin.tool.is_empty() && !run.origin.format.is_empty());
    let binary = run.origin.format == "gnome-disks";
    for (index, cell) in run.cells.iter().enumerate() {
        assert_eq!(cell.index as usize, index);
        assert!(cell.workload.is_none() && cell.engine.is_none() && cell.repetitions.is_empty());
        let imported = cell.imported.as_ref().expect("an imported cell says what was printed");
        assert!(!imported.figures.is_empty() || !imported.series.is_empty(), "{cell:?}");
        assert_ne!(imported.runs, Some(0));
        for figure in &imported.figures {
            check_figure(figure, (!binary).then_some(text));
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

/// Imports, checks what comes, and says whether something came.
fn law(name: &str, bytes: &[u8]) -> bool {
    match import(name, bytes) {
        Ok(runs) => {
            assert!(!runs.is_empty());
            let text = text_of(bytes);
            for run in runs {
                check_run(&run, &text);
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

/// Fixtures that are there to be refused carry it in their names.
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
