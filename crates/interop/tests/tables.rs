//! Runs as tables: docs/scale.md describes every column, and a Parquet reader finds the contents of the
//! record.
//!
//! To rewrite the page's tables: `KURABE_WRITE_DOCS=1 cargo test -p kurabe-interop --test main tables`

use crate::generated_page;
use kurabe_core::Lang;
use kurabe_core::record::{Interval, RunRecord};
use kurabe_interop::{EXPORT_TABLES, ExportTable, ParquetTables, described};
use kurabe_testkit::any_record;
use kurabe_testkit::sample::{sample_foreign, sample_kinds, sample_record};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use proptest::prelude::*;
use std::fs::File;
use std::path::Path;

const PAGES: [(Lang, &str); 2] = [
    (Lang::En, concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scale.md")),
    (Lang::Ja, concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/ja/scale.md")),
];
const BEGIN: &str = "<!-- tables -->\n";
const END: &str = "<!-- end of tables -->";

fn tables(lang: Lang) -> String {
    let heads = match lang {
        Lang::En => "| column | type | unit | what it is |",
        Lang::Ja => "| 列 | 型 | 単位 | 意味 |",
    };
    let words = |name: &str| {
        let text = described(name);
        assert!(!text.get(lang).is_empty(), "columns.txt says nothing of `{name}`");
        text.get(lang).to_owned()
    };
    // A column of several tables is described in the first of them.
    let see = |table: &str| match lang {
        Lang::En => format!("see `{table}`"),
        Lang::Ja => format!("`{table}` を参照"),
    };
    let mut out = String::new();
    for table in EXPORT_TABLES {
        let lines = words(&format!("table {}", table.name));
        out += &format!("\n### {}.parquet\n\n{lines}\n\n{heads}\n|---|---|---|---|\n", table.name);
        for column in table.columns {
            let unit = column.unit().unwrap_or_default();
            let has_it = |other: &&ExportTable| other.columns.iter().any(|one| one.0 == column.0);
            let first = EXPORT_TABLES.iter().find(has_it).map_or(table.name, |table| table.name);
            let meaning = if first == table.name { words(column.0) } else { see(first) };
            out += &format!("| `{}` | {} | {unit} | {meaning} |\n", column.0, column.kind());
        }
    }
    out + "\n"
}

#[test]
fn the_page_has_every_column_as_it_is_described() {
    for (lang, path) in PAGES {
        generated_page::holds(path, [BEGIN, END], &tables(lang), "tables");
    }
}

fn write(folder: &Path, runs: &[RunRecord]) {
    let mut tables =
        ParquetTables::begin(|name| File::create_new(folder.join(format!("{name}.parquet")))).unwrap();
    runs.iter().for_each(|run| tables.add(run).unwrap());
    tables.end().unwrap();
}

fn read(folder: &Path, table: &str) -> Vec<Row> {
    let file =
        SerializedFileReader::new(File::open(folder.join(format!("{table}.parquet"))).unwrap()).unwrap();
    file.get_row_iter(None).unwrap().map(Result::unwrap).collect()
}

fn field<'r>(row: &'r Row, name: &str) -> &'r Field {
    row.get_column_iter().find(|(own, _)| *own == name).map(|(_, field)| field).expect("a column")
}

fn words(word: &str) -> Field {
    Field::Str(word.to_owned())
}

#[test]
fn a_reader_of_parquet_finds_what_the_records_hold() {
    let folder = tempfile::tempdir().unwrap();
    let runs = [sample_record(), sample_kinds(), sample_foreign()];
    write(folder.path(), &runs);
    let of = |table| read(folder.path(), table);
    let identities: Vec<Field> = of("runs").iter().map(|row| field(row, "run").clone()).collect();
    assert_eq!(identities, runs.clone().map(|run| Field::Str(run.header.identity)));
    let sources: Vec<Field> = of("runs").iter().map(|row| field(row, "source").clone()).collect();
    assert_eq!(sources, ["measured", "measured", "imported"].map(words));
    let cells = of("cells");
    let derived = cells.iter().filter(|row| *field(row, "measure") == words("derived")).count();
    assert_eq!(cells.len() - derived, runs.iter().map(|run| run.cells.len()).sum::<usize>());
    assert_eq!(*field(&cells[0], "step"), Field::Str(runs[0].cells[0].label.clone()));
    // Values that another tool printed, and values that it did not.
    let printed = &cells[cells.len() - runs[2].cells.len()];
    assert_eq!(*field(printed, "rate_bytes_per_s"), Field::Double(3_512_345_600.0));
    assert_eq!(*field(printed, "engine"), Field::Null);
    let repetition = &of("repetitions")[1];
    let own = &runs[0].cells[0].repetitions[1];
    assert_eq!(*field(repetition, "discarded"), Field::Bool(own.discarded));
    assert_eq!(*field(repetition, "elapsed_ns"), Field::Double(own.elapsed_ns as f64));
    assert_eq!(*field(repetition, "latency_ns_max"), Field::Double(own.read.latency.max_ns as f64));
    let worst = of("percentiles").into_iter().find(|row| {
        *field(row, "percentile") == Field::Double(100.0)
            && *field(row, "repetition_index") == Field::ULong(1)
    });
    assert_eq!(*field(&worst.unwrap(), "latency_ns"), Field::Double(own.read.latency.max_ns as f64));
    let samples: usize = runs
        .iter()
        .flat_map(|run| &run.cells)
        .flat_map(|cell| &cell.repetitions)
        .map(|one| one.samples.len())
        .sum();
    assert!(samples > 0);
    assert_eq!(of("operations").len(), samples);
}

#[test]
fn many_lines_are_several_row_groups() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = sample_record();
    let many = 70_000;
    let series = &mut run.cells[0].repetitions[0].series;
    series.interval_ns = u64::MAX / 2;
    series.intervals = (0..many).map(|read_bytes| Interval { read_bytes, ..Interval::default() }).collect();
    write(folder.path(), &[run]);
    let file = SerializedFileReader::new(File::open(folder.path().join("series.parquet")).unwrap()).unwrap();
    assert_eq!(file.metadata().row_group(0).num_rows(), 65_536);
    assert_eq!(file.num_row_groups(), 2);
    let rows = read(folder.path(), "series");
    let last = rows.iter().rfind(|row| *field(row, "cell_index") == Field::ULong(0)).unwrap();
    assert!((0..rows.len()).any(|at| *field(&rows[at], "read_bytes") == Field::ULong(many - 1)));
    assert_ne!(*field(last, "at_ns"), Field::Null);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tables_of_any_records_are_read_whole(runs in proptest::collection::vec(any_record(), 0..4)) {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &runs);
        let repetitions: usize =
            runs.iter().flat_map(|run| &run.cells).map(|cell| cell.repetitions.len()).sum();
        prop_assert_eq!(read(folder.path(), "runs").len(), runs.len());
        prop_assert_eq!(read(folder.path(), "repetitions").len(), repetitions);
        for table in EXPORT_TABLES {
            for row in read(folder.path(), table.name) {
                prop_assert_eq!(row.len(), table.columns.len());
                let is_finite = |field: &Field| !matches!(field, Field::Double(value) if !value.is_finite());
                prop_assert!(row.get_column_iter().all(|(_, field)| is_finite(field)));
            }
        }
    }
}
