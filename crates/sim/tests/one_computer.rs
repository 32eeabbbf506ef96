//! All figures of the DelayRatio article were measured in one computer, so its models differ only
//! below the host.

use kurabe_core::model::Model;
use kurabe_sim::{ModelTarget, device_named};

const DRIVES: [&str; 9] = [
    "toshiba-hg2-agta0104",
    "toshiba-hg2-agya0201",
    "toshiba-hg3",
    "ocz-core-v2",
    "ocz-vertex",
    "intel-x25m-g1",
    "intel-x25m-g2",
    "samsung-mccoe64g5mpp",
    "hitachi-hds721616plat80",
];

/// Returns a parameter of the host, as shown by `kurabe models show`.
fn of_host(model: &ModelTarget, key: &str) -> String {
    let record = model.record();
    let host = record.layers.iter().find(|layer| layer.kind == "host").unwrap();
    host.parameters.iter().find(|parameter| parameter.key == key).unwrap().value.clone()
}

#[test]
fn one_computer_copies_in_one_way_whatever_the_drive() {
    let models = DRIVES.map(|name| ModelTarget::new(&device_named(name).unwrap(), 1).unwrap());
    let first = models[0].copy_habits();
    // Reads wait for each piece; writes are collected and forwarded.
    assert!(first.read_gap_ns > 0 && first.write_gap_ns == 0, "{first:?}");
    for (name, model) in DRIVES.iter().zip(&models) {
        assert_eq!(model.copy_habits(), first, "{name}");
        assert_eq!(of_host(model, "command_time"), of_host(&models[0], "command_time"), "{name}");
    }
}
