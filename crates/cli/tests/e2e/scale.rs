//! docs/scale.md: the tables of a store, queried in DuckDB and pandas exactly as in the page.

use crate::lab::{Lab, SHORT, names, text};
use crate::system::{python_with, system};
use kurabe_testkit::needs::needs;
use std::process::Command;

const PAGES: [&str; 2] = ["/../../docs/scale.md", "/../../docs/ja/scale.md"];

/// Returns the code blocks of a page in a language.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let page = std::fs::read_to_string(format!("{}{page}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let begin = format!("```{language}\n");
    let parts = page.split(&begin).skip(1);
    parts.map(|part| part.split("```").next().unwrap().to_owned()).collect()
}

/// Creates a store with two runs, and their tables in the folder `tables` next to it.
fn tabulated() -> Lab {
    let lab = Lab::new();
    for firmware in ["firmware=1", "firmware=2"] {
        lab.run(&lab.target(), &[&SHORT[..], &["--label", firmware]].concat()).ok();
    }
    lab.kurabe(&["export", "--format", "parquet", text(&lab.beside("tables"))]).ok();
    lab
}

#[test]
fn the_questions_of_the_page_have_answers() {
    let Some(python) = python_with(&["duckdb", "pandas", "pyarrow"]) else { return };
    let lab = tabulated();
    let asked = |script: &str| {
        let done = Command::new(&python).args(["-c", script]).current_dir(lab.beside("")).output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
        assert!(done.status.success(), "{script}\n{out}{err}");
        out.into_owned()
    };
    let (sql, pandas) = (blocks(PAGES[0], "sql"), blocks(PAGES[0], "python"));
    assert_eq!((sql.len(), pandas.len()), (2, 1));
    for question in sql {
        let rows = asked(&format!("import duckdb; print(len(duckdb.sql('''{question}''').fetchall()))"));
        assert!(rows.trim().parse::<u32>().unwrap() > 0, "{question}: {rows}");
    }
    for question in pandas {
        let answer = asked(&question);
        assert!(answer.lines().count() > 1 && !answer.contains("Empty"), "{question}: {answer}");
    }
    // The same number of runs and cells as in the list of the store.
    let count = "import duckdb; print(duckdb.sql(\"SELECT count(DISTINCT run), count(*) FROM \
        'tables/cells.parquet'\").fetchall()[0])";
    assert_eq!(asked(count).trim(), "(2, 12)");
}

#[test]
fn both_pages_ask_the_same() {
    for language in ["sql", "python"] {
        assert_eq!(blocks(PAGES[0], language), blocks(PAGES[1], language));
    }
}

#[test]
fn the_folder_is_there_whole_or_not_at_all() {
    let lab = tabulated();
    let tables = ["cells", "operations", "percentiles", "repetitions", "runs", "series"];
    let folder = lab.beside("tables");
    let mut files = names(&folder);
    files.sort();
    assert_eq!(files, tables.map(|table| format!("{table}.parquet")));
    lab.kurabe(&["export", "--format", "parquet", text(&folder)]).is_refusal(6, &["already exists"]);
    // A run that is named alone, and one that does not exist.
    let some = lab.beside("some");
    lab.kurabe(&["export", "last", "--format", "parquet", "-o", text(&some)]).ok();
    assert_eq!(names(&some).len(), tables.len());
    lab.kurabe(&["export", "zzzz", "--format", "parquet", "-o", text(&lab.beside("no"))])
        .is_refusal(12, &["zzzz"]);
    lab.kurabe(&["export", "--format", "parquet", text(&lab.beside("no/tables"))])
        .is_refusal(4, &["create the folder first"]);
    lab.kurabe(&["export", "--format", "parquet"]).is_refusal(2, &["name a new folder"]);
    // A run in the middle of the store is damaged.
    let sql = "UPDATE cells SET cell = 'x' WHERE rowid = (SELECT max(rowid) FROM cells)";
    if needs("sqlite3") {
        system("sqlite3", &[text(&lab.store()), sql]).expect("sqlite3 changes it");
        lab.kurabe(&["export", "--format", "parquet", text(&lab.beside("no"))]).is_refusal(9, &["damaged"]);
    }
    let beside = names(&lab.beside(""));
    assert!(!beside.iter().any(|name| name.starts_with("no")), "{beside:?}");
}
