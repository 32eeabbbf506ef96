//! Runs through the interface of the lab: several in one process, each with its own handle. Results
//! are stored before they are reported as progress.

use kurabe_core::ErrorKind;
use kurabe_core::event::Event;
use kurabe_core::record::RunStatus;
use kurabe_lab::{
    Done, Envelope, Lab, Listener, Prepared, Procedure, RunHandle, RunRequest, Stream, StreamEvent,
};
use kurabe_store::{Runs, SqliteStore};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// A directory for a store and a target.
struct Workplace(tempfile::TempDir);

impl Workplace {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir(place.target()).unwrap();
        place
    }

    fn target(&self) -> PathBuf {
        self.0.path().join("target")
    }

    fn store(&self) -> SqliteStore {
        SqliteStore::open(&self.0.path().join("kurabe.db"), kurabe_compare::DIGESTER).unwrap()
    }

    /// Measures to the end with its own stream and store, as a thread of a server would.
    fn measure(&self, request: RunRequest, handle: &RunHandle, listener: Listener) -> Done {
        let (store, stream) = (self.store(), Stream::default());
        stream.listen(listener);
        let lab = Lab { store: &store, stream: &stream, handle, command: &[] };
        Prepared::new(request).unwrap().open(&lab).unwrap().measure()
    }
}

/// Returns a request for one cell of random reads with this number of repetitions of 1 MiB.
fn reads(target: &Path, runs: u32) -> RunRequest {
    let source = format!(
        "schema = 1\nname = \"reads\"\ntitle = {{ en = \"reads\", ja = \"reads\" }}\nstatistic = \"mean\"\n\
         [rules]\nsize = \"4 MiB\"\nruns = {runs}\ntime = \"1 s\"\norder = \"by-step\"\ndirect = false\n\
         [[step]]\nkind = \"io\"\npattern = \"random\"\nblock_size = \"4 KiB\"\ndirections = [\"read\"]\n\
         bytes = \"1 MiB\"\n"
    );
    let profile = kurabe_profile::parse_profile("reads.toml", &source).unwrap();
    RunRequest {
        target: target.into(),
        procedure: Procedure::Given(Box::new(profile)),
        ..RunRequest::default()
    }
}

fn nobody() -> Listener {
    Box::new(|_| Ok(()))
}

#[test]
fn runs_side_by_side_are_stopped_apart() {
    let place = Workplace::new();
    let model = Path::new("model:ideal-ram-disk");
    let handles: [RunHandle; 3] = Default::default();
    let stopper = handles[0].clone();
    // Stopped from its own event, after the third repetition of a million.
    let stop_third: Listener = Box::new(move |envelope: &Envelope| {
        if let StreamEvent::Run(Event::RepetitionDone { repetition, .. }) = &envelope.event
            && repetition.index == 2
        {
            stopper.stop();
        }
        Ok(())
    });
    let [stopped, whole, real] = std::thread::scope(|scope| {
        let stopped = scope.spawn(|| place.measure(reads(model, 1_000_000), &handles[0], stop_third));
        let whole = scope.spawn(|| place.measure(reads(model, 20), &handles[1], nobody()));
        let real = scope.spawn(|| place.measure(reads(&place.target(), 5), &handles[2], nobody()));
        [stopped, whole, real].map(|thread| thread.join().unwrap())
    });
    assert_eq!(stopped.outcome.unwrap_err().kind(), ErrorKind::Interrupted);
    let record = stopped.record.unwrap();
    assert_eq!((record.status, record.cells[0].repetitions.len()), (RunStatus::Interrupted, 3));
    for (done, runs) in [(whole, 20), (real, 5)] {
        done.outcome.unwrap();
        let record = done.record.unwrap();
        assert_eq!((record.status, record.cells[0].repetitions.len()), (RunStatus::Complete, runs));
    }
    assert!(!handles[1].is_stopped() && !handles[2].is_stopped());
    assert_eq!(std::fs::read_dir(place.target()).unwrap().count(), 0, "no test file stays");
    assert_eq!(place.store().list().unwrap().len(), 3);
}

#[test]
fn a_cell_is_in_the_store_before_it_is_told() {
    let place = Workplace::new();
    let store = Mutex::new(place.store());
    let seen = Arc::new(Mutex::new(0));
    let count = Arc::clone(&seen);
    let listener: Listener = Box::new(move |envelope: &Envelope| {
        let stored = store.lock().unwrap().load(&envelope.run)?;
        match &envelope.event {
            // The target is stored as well before any progress is reported.
            StreamEvent::Run(Event::RunStarted { header, .. }) => assert_eq!(stored.header, **header),
            StreamEvent::Run(Event::CellDone { cell }) => {
                assert_eq!(stored.cells, [(**cell).clone()]);
                *count.lock().unwrap() += 1;
            }
            StreamEvent::Run(Event::RunDone { status, .. }) => assert_eq!(stored.status, *status),
            _ => {}
        }
        Ok(())
    });
    place.measure(reads(&place.target(), 2), &RunHandle::default(), listener).outcome.unwrap();
    assert_eq!(*seen.lock().unwrap(), 1);
}

#[test]
fn a_modelled_workload_tells_its_progress() {
    let place = Workplace::new();
    let progress = Arc::new(Mutex::new((0, 0)));
    let sum = Arc::clone(&progress);
    let listener: Listener = Box::new(move |envelope: &Envelope| {
        if let StreamEvent::Run(Event::Progress { elapsed_ns, interval, .. }) = &envelope.event {
            let mut sum = sum.lock().unwrap();
            assert!(*elapsed_ns > sum.0, "time goes on");
            *sum = (*elapsed_ns, sum.1 + interval.read_bytes);
        }
        Ok(())
    });
    // A very old disk, for which this takes seconds.
    let request = reads(Path::new("model:ibm-dcas-34330"), 1);
    let record = place.measure(request, &RunHandle::default(), listener).record.unwrap();
    let repetition = &record.cells[0].repetitions[0];
    let (elapsed_ns, read_bytes) = *progress.lock().unwrap();
    assert!(elapsed_ns > 0 && elapsed_ns <= repetition.elapsed_ns);
    assert!(read_bytes > repetition.read.bytes / 2 && read_bytes <= repetition.read.bytes);
}

#[test]
fn what_cannot_be_opened_leaves_nothing() {
    let place = Workplace::new();
    let (store, stream, handle) = (place.store(), Stream::default(), RunHandle::default());
    let lab = Lab { store: &store, stream: &stream, handle: &handle, command: &[] };
    let missing = Prepared::new(reads(&place.target().join("nowhere"), 1)).unwrap();
    assert_eq!(missing.open(&lab).err().unwrap().kind(), ErrorKind::Target);
    assert!(store.list().unwrap().is_empty() && stream.since(0).is_empty());
}

#[test]
fn a_request_is_plain_data() {
    assert_eq!(serde_json::from_str::<RunRequest>("{}").unwrap(), RunRequest::default());
    let mut request = reads(Path::new("/mnt/usb"), 3);
    request.overrides.direct = Some(true);
    request.writing.destroy_data_on = Some("/dev/sdz".into());
    request.labels.push(("owner".to_owned(), Some("me".to_owned())));
    let words = serde_json::to_string(&request).unwrap();
    assert_eq!(serde_json::from_str::<RunRequest>(&words).unwrap(), request);
    assert!(serde_json::from_str::<RunRequest>(r#"{"traget":"/mnt"}"#).is_err());
}

#[test]
fn a_model_gets_a_test_file_unless_it_is_left_out() {
    let place = Workplace::new();
    let filled = reads(Path::new("model:ideal-ram-disk"), 1);
    let unfilled = RunRequest { no_fill: true, ..filled.clone() };
    for (request, bytes) in [(filled, Some(4 << 20)), (unfilled, None)] {
        let prepared = Prepared::new(request.clone()).unwrap();
        assert_eq!(prepared.foresee().unwrap().test_file_bytes, bytes, "the plan tells it");
        let record = place.measure(request, &RunHandle::default(), nobody()).record.unwrap();
        assert_eq!(record.fill.map(|fill| fill.written_bytes), bytes);
        let has_notice = record.notices.iter().any(|notice| notice.text.en.contains("--no-fill"));
        assert_eq!(has_notice, bytes.is_none(), "{:?}", record.notices);
    }
    let real = RunRequest { no_fill: true, ..reads(&place.target(), 1) };
    assert_eq!(Prepared::new(real).err().unwrap().kind(), ErrorKind::Usage);
}
