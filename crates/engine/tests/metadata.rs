//! The `metadata` step on real files: what is done to each and recorded, and that nothing is left
//! behind.

use crate::copy_common::{Ran, run_among};
use kurabe_core::company::Company;
use kurabe_core::event::Event;
use kurabe_core::record::Measure;
use kurabe_core::{ErrorKind, Result, workload::Workload};
use kurabe_engine::{Stop, TargetOptions, test_file_name};
use std::path::Path;
use std::sync::{Barrier, Mutex};

fn run_step(dir: &Path, step: &str, hear: &dyn Fn(&Event, &Stop)) -> Ran {
    run_step_among(None, dir, step, hear)
}

fn run_step_among(
    company: Option<&dyn Company>,
    dir: &Path,
    step: &str,
    hear: &dyn Fn(&Event, &Stop),
) -> Ran {
    let profile = format!(
        "schema = 1\nname = \"metadata-test\"\ntitle = {{ en = \"test\", ja = \"試験\" }}\nstatistic = \"mean\"\n\
         [rules]\nsize = \"1 MiB\"\nruns = 2\ntime = \"1 s\"\n[[step]]\nkind = \"metadata\"\n{step}\n"
    );
    let options = TargetOptions {
        size_bytes: 1 << 20,
        test_file_name: test_file_name("metadatatest", 1),
        no_test_file: true,
        work_folder: true,
        ..TargetOptions::default()
    };
    run_among(company, dir, &options, &profile, hear)
}

fn is_empty(dir: &Path) -> bool {
    std::fs::read_dir(dir).unwrap().count() == 0
}

#[test]
fn every_part_does_every_file_once_and_nothing_is_left() {
    // A part, and the number of reads and writes that it counts, with their bytes.
    let done = [
        ("create", 0, 0, 60, 60 * 3901),
        ("find", 60, 0, 0, 0),
        ("stat", 60, 0, 0, 0),
        ("read", 60, 60 * 3901, 0, 0),
        ("rename", 0, 0, 60, 0),
        ("unlink", 0, 0, 60, 0),
    ];
    for place in
        ["shared = true\nneighbours = true", "neighbours = true", "shared = false\ncold = true\nsync = true"]
    {
        let dir = tempfile::tempdir().unwrap();
        let parts = done.map(|(part, ..)| format!("{part:?}")).join(", ");
        let step = format!("files = 20\nthreads = 3\nwrite_size = \"3901\"\nparts = [{parts}]\n{place}");
        let ran = run_step(dir.path(), &step, &|_, _| {});
        ran.result.as_ref().unwrap();
        let cells = ran.cells();
        assert_eq!(cells.len(), done.len());
        for (cell, (part, reads, read_bytes, writes, write_bytes)) in cells.iter().zip(done) {
            assert_eq!((cell.part.as_str(), cell.measure), (part, Measure::Operations));
            assert_eq!(cell.engine.as_ref().unwrap().issuing_threads, 3);
            for one in &cell.repetitions {
                assert_eq!((one.read.completed, one.read.bytes), (reads, read_bytes), "{part}");
                assert_eq!((one.write.completed, one.write.bytes), (writes, write_bytes), "{part}");
                assert_eq!(one.read.latency.count + one.write.latency.count, 60);
                assert!(one.elapsed_ns >= one.read.latency.max_ns.max(one.write.latency.max_ns));
                assert!(one.first_done_ns.unwrap() <= one.elapsed_ns);
            }
        }
        assert!(is_empty(dir.path()), "something is left");
    }
}

#[test]
fn parts_that_are_left_out_are_no_cells_and_their_files_go_too() {
    let dir = tempfile::tempdir().unwrap();
    let ran = run_step(dir.path(), "files = 5\nparts = [\"create\", \"rename\"]", &|_, _| {});
    ran.result.as_ref().unwrap();
    assert_eq!(ran.cells().iter().map(|cell| cell.part.as_str()).collect::<Vec<_>>(), ["create", "rename"]);
    assert!(is_empty(dir.path()), "something is left");
}

#[test]
fn a_stop_in_the_middle_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let ran = run_step(dir.path(), "files = 10000000\nthreads = 2", &|event, stop| {
        if matches!(event, Event::Progress { .. }) {
            stop.ask();
        }
    });
    assert_eq!(ran.result.as_ref().unwrap_err().kind(), ErrorKind::Interrupted);
    assert!(is_empty(dir.path()), "something is left");
}

/// One of two cooperating processes.
struct OneOfTwo<'t> {
    place: u32,
    both: &'t Barrier,
    folder: &'t Mutex<(String, u64)>,
}

impl Company for OneOfTwo<'_> {
    fn meet(&self, _run_started_ns: u64) -> Result<u64> {
        self.both.wait();
        Ok(0)
    }

    fn place(&self) -> (u32, u32) {
        (self.place, 2)
    }

    fn common_folder(&self, made: Option<(String, u64)>) -> Result<(String, u64)> {
        assert_eq!(made.is_some(), self.place == 0);
        if let Some(made) = made {
            *self.folder.lock().unwrap() = made;
        }
        self.both.wait();
        Ok(self.folder.lock().unwrap().clone())
    }

    fn part(&self, workload: Workload, _is_cell: bool) -> Workload {
        workload
    }
}

#[test]
fn those_who_work_together_do_it_to_each_others_files_and_leave_nothing() {
    for place in ["shared = true\nneighbours = true", "neighbours = true", "shared = true", ""] {
        let (both, folder) = (Barrier::new(2), Mutex::default());
        let dirs = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let step = format!("files = 20\nthreads = 2\nwrite_size = \"3901\"\n{place}");
        let ran = std::thread::scope(|scope| {
            let one = |place: u32| {
                let (step, both, folder, dir) = (&step, &both, &folder, &dirs[place as usize]);
                scope.spawn(move || {
                    let company = OneOfTwo { place, both, folder };
                    run_step_among(Some(&company), dir.path(), step, &|_, _| {})
                })
            };
            [0, 1].map(one).map(|one| one.join().unwrap())
        });
        for (ran, dir) in ran.iter().zip(&dirs) {
            ran.result.as_ref().unwrap();
            for one in ran.cells().iter().flat_map(|cell| &cell.repetitions) {
                assert_eq!(one.read.completed + one.write.completed, 40, "{place}");
            }
            assert!(is_empty(dir.path()), "{place}: something is left");
        }
        assert_eq!(!folder.lock().unwrap().0.is_empty(), !place.is_empty(), "{place}");
    }
}
