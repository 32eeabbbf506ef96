//! The exact limit of a modelled cell, compared with what would happen without it.
//!
//! The limit of a modelled cell is right by definition if the operations become noticeably faster
//! when the layer that it names becomes ten times as fast: its times a tenth, its rates tenfold. A
//! limit may also name two causes, or a rule by which a layer lets one operation through at a time.

use crate::explain::blind::{measured_on, profile};
use kurabe_core::model::{CauseClass, ModelRecord, TimeShare};
use kurabe_core::record::{Cell, Repetition, RunRecord};
use kurabe_explain::counted_causes;
use kurabe_sim::{DEVICES, DeviceSpec, ModelTarget, ParameterType, Setting, device_named};
use kurabe_testkit::sampled;
use std::collections::BTreeMap;

/// Factor by which a layer is made faster.
const FASTER: f64 = 10.0;
/// A rate that rises by 10 %, rounded to whole percent, was limited by the layer.
const GAIN: f64 = 1.095;
/// Layers below which devices continue to work while a link carries data. A link at its fastest
/// generation is removed instead of made faster.
const LINKS: [&str; 3] = ["sata", "usb", "pcie"];

/// Returns the value of a parameter with which its layer is ten times as fast. `None` if the
/// parameter has no effect on its speed.
fn faster(setting: &Setting) -> Option<String> {
    let key = setting.parameter.key;
    let number = setting.number().unwrap_or(0.0);
    let waits = ["idle_after", "flush_interval", "txg", "bitmap_delay", "noise_gap"];
    match setting.parameter.kind {
        ParameterType::Time if waits.contains(&key) => None,
        // Zero stands for the usual time of the kind of cells.
        ParameterType::Time if key == "read_time" && number == 0.0 => Some("5 us".to_owned()),
        ParameterType::Time => Some(format!("{} ns", (number / FASTER).round())),
        ParameterType::Rate => Some(format!("{} B/s", (number * FASTER).round())),
        // Nanoseconds per byte of an asynchronous bus.
        ParameterType::Number(..) if key.ends_with("_in") || key.ends_with("_out") => {
            Some((number / FASTER).to_string())
        }
        ParameterType::Number(..) if key == "rotation" || key.starts_with("operations") => {
            Some((number * FASTER).to_string())
        }
        ParameterType::Word(words) if key == "generation" => words.last().map(|word| (*word).to_owned()),
        // A map of the file replaces the walk.
        ParameterType::Word(_) if key == "remedy" => Some("link-map".to_owned()),
        // Times in the second column, or in the only one.
        ParameterType::Rows([.., "ms" | "microseconds"]) => faster_rows(setting),
        _ => None,
    }
}

/// Returns rows of numbers whose last column is a tenth.
fn faster_rows(setting: &Setting) -> Option<String> {
    let rows: Vec<Vec<f64>> = serde_json::from_str(&setting.written).ok()?;
    let faster = rows.into_iter().map(|mut row| {
        if let Some(time) = row.last_mut() {
            *time /= FASTER;
        }
        row
    });
    Some(format!("{:?}", faster.collect::<Vec<_>>()))
}

/// Makes a layer ten times as fast. Returns `false` if it has nothing to make faster.
fn make_faster(spec: &mut DeviceSpec, layer: &str) -> bool {
    let layers = spec.all_layers();
    let Some(spec_layer) = layers.iter().find(|one| one.name == layer) else { return false };
    let is_link = LINKS.contains(&spec_layer.kind.word);
    let changes: Vec<(String, String)> = spec_layer
        .settings
        .iter()
        .filter_map(|setting| Some((format!("{layer}.{}", setting.parameter.key), faster(setting)?)))
        .collect();
    let mut is_changed = is_link && spec.remove_layer(layer).is_ok();
    for (path, value) in changes {
        // A value that the others forbid stays.
        is_changed |= spec.set(&path, &value).is_ok();
    }
    is_changed
}

/// Returns the bytes per nanosecond of a cell, or of its samples.
fn rate(cell: &Cell) -> f64 {
    let elapsed_ns = |one: &Repetition| match &one.samples[..] {
        [] => one.elapsed_ns,
        samples => samples.iter().map(|sample| sample.elapsed_ns).sum(),
    };
    let elapsed_ns: f64 = cell.counted().map(|one| elapsed_ns(one) as f64).sum();
    let bytes = |one: &Repetition| one.read.bytes as f64 + one.write.bytes as f64;
    cell.counted().map(bytes).sum::<f64>() / elapsed_ns
}

/// Returns the layers of causes. Work that a layer does by writing to those below it is theirs as well.
fn layers_of(model: &ModelRecord, causes: &[TimeShare]) -> Vec<String> {
    let of = |share: &TimeShare| {
        let place = model.layers.iter().position(|layer| layer.name == share.layer).unwrap();
        let is_below = model.cause(share).is_some_and(|cause| cause.class == CauseClass::Writing);
        let count = if is_below { model.layers.len() } else { 1 };
        model.layers[place..].iter().take(count).map(|layer| layer.name.clone()).collect::<Vec<_>>()
    };
    causes.iter().flat_map(of).collect()
}

/// Returns whether a layer's own rule lets one operation through at a time.
fn is_policy(model: &ModelRecord, share: &TimeShare) -> bool {
    model.cause(share).is_some_and(|cause| cause.class == CauseClass::Serial)
}

/// Returns the number of cells of a device, and those whose limit is none: the cell, what is named,
/// and the factor by which the rate rises without it. Two causes are removed together.
fn false_limits(device: &str, (name, repetitions): (&str, u32)) -> (usize, Vec<String>) {
    let mut profile = profile(name, None);
    profile.rules.runs = repetitions;
    let spec = device_named(device).unwrap();
    let run = |spec: &DeviceSpec| ModelTarget::new(spec, 1).map(|model| measured_on(model, &profile));
    let record = run(&spec).unwrap();
    let model = record.header.model.clone().unwrap();
    let mut without: BTreeMap<Vec<String>, Option<RunRecord>> = BTreeMap::new();
    let (mut count, mut wrong) = (0, Vec::new());
    for (index, cell) in record.cells.iter().enumerate() {
        let limit = counted_causes(&model, cell).unwrap();
        count += 1;
        if is_policy(&model, &limit.causes[0]) {
            continue;
        }
        let layers = layers_of(&model, &limit.causes);
        let faster = without.entry(layers.clone()).or_insert_with(|| {
            let mut spec = spec.clone();
            let is_changed =
                layers.iter().fold(false, |changed, layer| make_faster(&mut spec, layer) | changed);
            is_changed.then(|| run(&spec).ok()).flatten()
        });
        let gain = faster.as_ref().map(|record| rate(&record.cells[index]) / rate(cell));
        if gain.is_none_or(|gain| gain < GAIN) {
            let names = limit.causes.iter().map(|cause| format!("{}.{}", cause.layer, cause.cause));
            let names = names.collect::<Vec<_>>().join(" and ");
            wrong.push(format!("{device} {} {}: {names} {gain:?}", cell.part, cell.label));
        }
    }
    (count, wrong)
}

/// Checks that no limit of these devices is false.
fn all_are_limits<'a>(devices: impl IntoIterator<Item = &'a str>, measured: (&str, u32)) {
    let limits: Vec<_> = devices.into_iter().map(|device| false_limits(device, measured)).collect();
    let count: usize = limits.iter().map(|(count, _)| count).sum();
    let wrong: Vec<&String> = limits.iter().flat_map(|(_, wrong)| wrong).collect();
    assert!(wrong.is_empty(), "{} of {count} limits are not the limit: {wrong:#?}", wrong.len());
}

/// Of a hard disk on a slow bus, a drive with flash behind PCI Express, and a medium as fast as its
/// queue.
#[test]
fn without_the_limit_cells_of_well_known_devices_would_be_faster() {
    all_are_limits(["quantum-lps-250-mac", "samsung-pm963", "intel-optane-p4800x"], ("quick", 2));
}

/// Of samples in several pieces, of which each waits for those before it.
#[test]
fn without_the_limit_samples_of_well_known_devices_would_be_faster() {
    all_are_limits(["quantum-lps-250-mac", "intel-optane-p4800x"], ("gnome-disks", 1));
}

#[test]
#[ignore = "slow"]
fn without_its_limit_every_sample_would_be_faster() {
    all_are_limits(sampled(DEVICES, 24).into_iter().map(|(device, _)| *device), ("gnome-disks", 1));
}

#[test]
#[ignore = "slow"]
fn without_its_limit_every_cell_would_be_faster() {
    all_are_limits(sampled(DEVICES, 24).into_iter().map(|(device, _)| *device), ("quick", 10));
}
