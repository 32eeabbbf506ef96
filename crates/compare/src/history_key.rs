//! What runs share that are repetitions of one another: the same work done to the same device in the same place.
//!
//! The model: names of steps and of procedures are no work, nor is it work by what tool it was done. Another tool tells less of the
//! place and of the device: what it measured belongs to the only series of kurabe's with the same cells on devices of the same
//! names, and is a series of its own where there is none, or there are several.

use crate::fairness::{Fact, FactValue};
use crate::joined::Joined;
use crate::key::{CellKey, CellName, part_of};
use kurabe_core::environment::{BlockDevice, Environment};
use kurabe_core::profile::{IoStep, Order, Profile, Rules, Step};
use kurabe_core::workload::{Data, Pattern, ThreadShare};
use kurabe_core::{Text, imported::Origin, model::LayerRecord, record::RunRecord};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct HistoryKey {
    /// The tool that measured, if it was another one.
    tool: Option<String>,
    place: String,
    /// Serial numbers, as far as devices tell them, and else all that is known to tell one from another.
    devices: Vec<String>,
    /// What the kernel calls them.
    device_names: Vec<String>,
    /// Type and place of the file system, and what is mounted there if no serial number tells.
    mount: Option<[String; 3]>,
    /// Every parameter of a modelled stack, so that a changed device file is another device.
    layers: Vec<LayerRecord>,
    /// What was done, with the flags of the command line.
    procedure: Option<Profile>,
    cells: Vec<CellKey>,
    cache: Option<FactValue>,
}

impl HistoryKey {
    pub(crate) fn of(run: &RunRecord) -> Self {
        let header = &run.header;
        let environment = &header.environment;
        let joined = Joined::of(&run.cells);
        let names = CellName::of_cells(run, &joined.cells);
        let mut cells: Vec<CellKey> = joined.entire().map(|place| names[place].key.clone()).collect();
        cells.sort();
        Self {
            tool: header.origin.as_ref().map(Origin::tool_name),
            place: header.target_name().to_owned(),
            devices: devices(environment),
            device_names: environment.devices.iter().map(|device| device.name.clone()).collect(),
            mount: mount(environment),
            layers: header.model.as_ref().map_or_else(Vec::new, |model| model.layers.clone()),
            procedure: header.profile.as_ref().map(procedure),
            cells,
            cache: Fact::Cache.of(run),
        }
    }

    /// Whether it was measured on what stands here: on one of its devices, or on its file system where that tells none.
    pub(crate) fn is_at(&self, here: &Environment) -> bool {
        let devices = devices(here);
        match devices.is_empty() && self.devices.is_empty() {
            true => self.mount.is_some() && self.mount == mount(here),
            false => devices.iter().any(|device| self.devices.contains(device)),
        }
    }

    /// Whether another tool did what a series of kurabe's is of.
    pub(crate) fn belongs_to(&self, series: &Self) -> bool {
        self.tool.is_some()
            && series.tool.is_none()
            && !self.device_names.is_empty()
            && (&self.device_names, &self.cells, &self.cache)
                == (&series.device_names, &series.cells, &series.cache)
    }
}

/// A profile without its words, nor what differs in them and not in the work.
fn procedure(profile: &Profile) -> Profile {
    let rules = &profile.rules;
    let step = |step: &IoStep| {
        let mut step = IoStep { id: None, label: None, ..step.clone() };
        if !step.end.is_given() {
            step.end.time_ns = Some(rules.time_ns);
        }
        if step.pattern == Pattern::Permutation {
            step.pattern = Pattern::Random;
        }
        if step.threads == 1 {
            step.thread_share = ThreadShare::Usual;
        }
        step.span_bytes =
            part_of(rules, step.offset_bytes, step.span_bytes).and_then(|part| part.length_bytes);
        step.data = step.data.or(Some(rules.data));
        step
    };
    let steps = profile.steps.iter().map(|one| match one {
        Step::Io(io) => Step::Io(Box::new(step(io))),
        other => other.clone(),
    });
    let steps = steps.collect();
    let preconditions = profile.preconditions.iter().map(step).collect();
    // Steps have these rules.
    let rules = Rules { order: Order::ByStep, time_ns: 0, data: Data::Zero, ..rules.clone() };
    let rounds = profile.rounds.clone();
    Profile { preconditions, rounds, ..Profile::of_steps("", Text::default(), rules, steps) }
}

fn devices(environment: &Environment) -> Vec<String> {
    environment.devices.iter().map(device_identity).collect()
}

fn mount(environment: &Environment) -> Option<[String; 3]> {
    let mounted = environment.file_system.as_ref()?;
    let has_serial = environment.devices.iter().any(|device| device.serial.is_some());
    let source = if has_serial { None } else { mounted.source.clone() };
    Some([mounted.kind.clone(), mounted.mount_point.clone(), source].map(Option::unwrap_or_default))
}

/// By what a device is known again: its serial number, or what else tells it from others.
pub fn device_identity(device: &BlockDevice) -> String {
    let size = device.size_bytes.map(|bytes| bytes.to_string());
    match &device.serial {
        Some(serial) => serial.clone(),
        None => {
            [Some(device.name.clone()), device.model.clone(), size].map(Option::unwrap_or_default).join(" ")
        }
    }
}
