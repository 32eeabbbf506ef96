//! Features missing from a build are reported in one line with the remedy, and nothing is written.

use crate::lab::{Lab, text};

#[cfg(not(feature = "png"))]
#[test]
#[ignore = "slow"]
fn without_png_pictures_are_svg() {
    let lab = Lab::new();
    let run = lab.model_run("1us");
    let picture = lab.beside("card.png");
    for command in ["card", "report"] {
        lab.kurabe(&[command, &run, "-o", text(&picture)])
            .is_refusal(10, &["this build does not include PNG", "cargo install", "--features png"]);
    }
    let refused = lab.kurabe(&["card", &run, "-o", text(&picture), "--lang", "ja"]);
    assert_eq!(refused.code(), Some(10), "{refused:?}");
    assert!(refused.err.contains("このビルドには PNG の機能がありません"), "{refused:?}");
    assert!(!picture.exists());
    let written = lab.kurabe(&["card", &run]).ok().out;
    assert!(written.contains(&format!("kurabe-{run}.svg")), "{written}");
}

#[cfg(not(feature = "tables"))]
#[test]
fn without_tables_there_is_no_folder() {
    let lab = Lab::new();
    lab.model_run("1us");
    let folder = lab.beside("tables");
    lab.kurabe(&["export", "--format", "parquet", text(&folder)])
        .is_refusal(10, &["this build does not include Parquet", "--features tables"]);
    assert!(!folder.exists());
}

#[cfg(not(feature = "postgres"))]
#[test]
fn without_postgresql_a_shared_store_is_refused() {
    let lab = Lab::new();
    lab.model_run("1us");
    for words in [&["push", "postgres://localhost/runs"][..], &["list", "--db", "postgres://localhost/runs"]]
    {
        lab.kurabe(words).is_refusal(9, &["this build does not include PostgreSQL", "--features postgres"]);
    }
}
