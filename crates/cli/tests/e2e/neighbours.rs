//! Two kurabe processes on one store at the same time.

use crate::lab::{Lab, Live, SHORT, names};

#[test]
#[ignore = "slow"]
fn two_runs_at_once_share_a_store() {
    let lab = Lab::new();
    let directories = [lab.beside("left"), lab.beside("right")];
    let start = |directory: &std::path::PathBuf| {
        std::fs::create_dir(directory).expect("a directory");
        lab.start(directory, &SHORT)
    };
    let lives: Vec<Live> = directories.iter().map(start).collect();
    let mut ids = Vec::new();
    for live in lives {
        let record = live.end().ok().json_lines().pop().expect("a line")["run"].clone();
        assert_eq!(record["cells"].as_array().map(Vec::len), Some(6));
        ids.push(record["header"]["id"].as_str().expect("an id").to_owned());
    }
    assert_ne!(ids[0], ids[1]);
    let runs = lab.list();
    assert_eq!(runs.len(), 2);
    for run in &runs {
        assert_eq!((&run["status"], &run["cell_count"]), (&"complete".into(), &6.into()));
        assert!(ids.iter().any(|id| run["id"] == id.as_str()));
    }
    assert!(directories.iter().all(|directory| names(directory).is_empty()));
}

#[test]
fn many_starts_at_once_make_one_store() {
    let lab = Lab::new();
    let words = ["--rw", "randread", "--size", "64k", "--passes", "1"];
    let lives: Vec<Live> = (0..6).map(|_| lab.start(&lab.target(), &words)).collect();
    for live in lives {
        live.end().ok();
    }
    let mut ids: Vec<_> = lab.list().iter().map(|run| run["id"].to_string()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 6);
    assert!(names(&lab.target()).is_empty());
}
