//! Pictures in the README and the documentation: the files in docs/pictures/ are what the code
//! draws.
//!
//! They show runs of models, whose records are the same on every machine. Ids and times of day,
//! which would differ, are set before drawing. `KURABE_WRITE_PICTURES=1` regenerates the pictures.
//! Without it they are only compared, byte by byte.

use crate::lab::{Lab, text};
use kurabe_chart::DRAWS_PNG;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Limit on the total size, because every clone downloads the pictures.
const MOST_BYTES: u64 = 600_000;
const MOMENT: &str = "2026-01-15T09:30:00+00:00";

/// A run: its id in the pictures, and the command.
type Made = (&'static str, &'static [&'static str]);

const RUNS: &[Made] = &[
    ("7kq", &["run", "model:samsung-870-evo", "--profile", "cdm-9", "--time", "500ms"]),
    ("9mz", &["run", "model:hua722020-usb", "--profile", "quick", "--runs", "10", "--time", "700ms"]),
    ("k3f", &["run", "model:hua722020-sata", "--profile", "quick", "--runs", "10", "--time", "700ms"]),
    ("p5d", &["run", "model:hua722020-sata", "--profile", "gnome-disks"]),
    ("t8x", &["run", "model:toshiba-hg2-agta0104", "--profile", "stutter", "--time", "4s"]),
    ("w2c", &["sweep", "model:raid-9260", "--over", "block-size", "--direction", "read"]),
    ("h6n", &["run", "model:intel-x25m-g2", "--profile", "depths.toml"]),
];

/// A profile over block size and queue depth.
const DEPTHS: &str = r#"
schema = 1
name = "depths"
title = { en = "block size and queue depth", ja = "ブロックサイズとキュー深さ" }
statistic = "mean"

[rules]
size = "256 MiB"
runs = 2
time = "200 ms"
direct = true
"#;

/// The command that draws each picture.
const PICTURES: &[(&str, &[&str])] = &[
    ("card-en.png", &["card", "7kq"]),
    ("card-ja.png", &["card", "7kq", "--lang", "ja"]),
    ("rates.svg", &["report", "9mz", "k3f", "--chart", "rates"]),
    ("forest.svg", &["report", "9mz", "k3f"]),
    ("forest-ja.svg", &["report", "9mz", "k3f", "--lang", "ja"]),
    ("percentiles.svg", &["report", "9mz", "k3f", "--chart", "percentiles"]),
    ("positions.svg", &["report", "p5d", "--chart", "positions"]),
    ("series.svg", &["report", "t8x", "--chart", "series"]),
    ("sweep.svg", &["report", "w2c", "--chart", "sweep"]),
    ("heat.svg", &["report", "h6n", "--chart", "heat"]),
    ("time-account.svg", &["report", "7kq", "--chart", "time-account"]),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures")
}

fn depths_profile() -> String {
    let mut profile = DEPTHS.to_owned();
    for depth in [1, 2, 4, 8, 16, 32] {
        profile.push_str(&format!(
            "\n[[step]]\nkind = \"io\"\ndirections = [\"read\"]\npattern = \"random\"\n\
             each_block_size = [\"4 KiB\", \"16 KiB\", \"64 KiB\", \"256 KiB\"]\niodepth = {depth}\n"
        ));
    }
    profile
}

/// Stores the runs with the ids and the time of day of the pictures.
fn make_runs(lab: &Lab) {
    lab.write("depths.toml", depths_profile());
    let other = lab.beside("made.db");
    let mut files = Vec::new();
    for (id, words) in RUNS {
        let elsewhere = ["--quiet", "--db", text(&other)];
        lab.kurabe(&[*words, &elsewhere].concat()).ok();
        let exported = lab.kurabe(&["export", "last", "--db", text(&other)]).ok().out;
        let mut record: Value = serde_json::from_str(&exported).expect("JSON");
        let run = &mut record["run"];
        run["header"]["id"] = (*id).into();
        run["header"]["started_at"] = MOMENT.into();
        run["ended_at"] = MOMENT.into();
        files.push(lab.write(&format!("{id}.json"), record.to_string()));
    }
    for file in &files {
        lab.kurabe(&["import", text(file)]).ok();
    }
}

#[test]
#[ignore = "slow"]
fn the_pictures_of_the_documentation_are_what_is_drawn() {
    let lab = Lab::new();
    make_runs(&lab);
    let writing = std::env::var_os("KURABE_WRITE_PICTURES").is_some();
    let mut stale = Vec::new();
    for (name, words) in PICTURES.iter().filter(|(name, _)| DRAWS_PNG || !name.ends_with(".png")) {
        let drawn = lab.beside(name);
        lab.kurabe(&[*words, &["-o", text(&drawn)]].concat()).ok();
        let drawn = std::fs::read(&drawn).expect("a picture");
        let kept = folder().join(name);
        if writing {
            std::fs::write(&kept, &drawn).expect("docs/pictures can be written");
        } else if std::fs::read(&kept).ok() != Some(drawn) {
            stale.push(*name);
        }
    }
    assert!(
        stale.is_empty(),
        "these pictures in docs/pictures are not what is drawn: {stale:?}; look at the change, then \
         KURABE_WRITE_PICTURES=1 cargo test -p kurabe --test e2e shown::"
    );
}

#[test]
fn the_folder_of_pictures_holds_them_alone_and_is_small() {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder()).expect("docs/pictures") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().into_string().expect("a name");
        if name == "ui" {
            // Pictures of the page are drawn by a browser: crates/ui/tests/pictures.rs.
            continue;
        }
        assert!(PICTURES.iter().any(|(drawn, _)| *drawn == name), "no command draws docs/pictures/{name}");
        bytes += entry.metadata().expect("a file").len();
    }
    assert!(bytes <= MOST_BYTES, "{bytes} bytes in docs/pictures");
}
