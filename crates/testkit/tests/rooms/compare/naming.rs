//! Names of runs in a comparison.

use kurabe_compare::{NAME_LABEL, names};
use kurabe_core::record::RunRecord;
use kurabe_testkit::sample::{sample_modelled, sample_record};

/// Returns a run on a model with this number of changed parameters.
fn modelled(changed: usize) -> RunRecord {
    let mut run = sample_modelled();
    let layers = &mut run.header.model.as_mut().expect("a model").layers;
    for (place, parameter) in layers.iter_mut().flat_map(|layer| &mut layer.parameters).enumerate() {
        parameter.changed = place < changed;
    }
    run
}

fn on_device(model: &str, target: &str) -> RunRecord {
    let mut run = sample_record();
    run.labels.remove(NAME_LABEL);
    run.header.environment.devices.truncate(1);
    run.header.environment.devices[0].model = Some(model.to_owned());
    is_at(&mut run, target);
    run
}

fn is_at(run: &mut RunRecord, target: &str) {
    let record = run.header.target.as_mut().expect("a target");
    (record.given, record.path) = (target.to_owned(), target.to_owned());
}

fn named(runs: &[RunRecord]) -> Vec<String> {
    names(&runs.iter().collect::<Vec<_>>()).into_iter().map(|name| name.en).collect()
}

#[test]
fn the_shortest_of_device_and_target_that_tells_runs_apart_is_their_name() {
    let devices = [on_device("A1", "/mnt/some/where"), on_device("B2", "/mnt/some/where/else")];
    assert_eq!(named(&devices), ["A1", "B2"]);
    let targets = [on_device("A1", "/a"), on_device("A1", "/b")];
    assert_eq!(named(&targets), ["/a", "/b"]);
}

#[test]
fn what_was_changed_in_one_model_tells_its_runs_apart() {
    let called = named(&[modelled(0), modelled(1)]);
    assert!(
        called[0].starts_with("model:") && called[1].contains(" = ") && !called[1].contains("model:"),
        "{called:?}"
    );
    let mut other = modelled(0);
    other.header.model.as_mut().expect("a model").name = "another".to_owned();
    is_at(&mut other, "model:another");
    let called = named(&[modelled(0), modelled(1), other]);
    assert!(called[1].starts_with(&format!("{}, ", called[0])) && called[2] == "model:another", "{called:?}");
}

#[test]
fn a_name_that_the_user_gave_stands_and_equal_ones_have_their_ids() {
    let mut runs = [on_device("A1", "/a"), on_device("A1", "/a"), on_device("A1", "/a")];
    for (run, id) in runs.iter_mut().zip(["x1", "x2", "x3"]) {
        run.header.id = id.to_owned();
    }
    assert_eq!(named(&runs), ["/a (x1)", "/a (x2)", "/a (x3)"]);
    for run in &mut runs[..2] {
        run.labels.insert(NAME_LABEL.to_owned(), "before".to_owned());
    }
    let called = named(&runs);
    assert_eq!(called[..2], ["before (x1)", "before (x2)"]);
    assert_eq!(called[2], "A1");
}
