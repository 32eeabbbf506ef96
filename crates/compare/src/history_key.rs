//! Key of runs that are repetitions of the same measurement: the same work on the same device in
//! the same place.
//!
//! Names of steps and procedures, and the tool, do not count as work. Another tool records less
//! about the place and the device. Its results belong to a series of kurabe's if exactly one has
//! the same cells on devices with the same names. Otherwise they form a separate series.

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
    /// The tool that measured, unless it was kurabe.
    tool: Option<String>,
    place: String,
    /// Serial numbers if the devices report them, otherwise everything known that distinguishes
    /// them.
    devices: Vec<String>,
    /// Kernel names of the devices.
    device_names: Vec<String>,
    /// Type and mount point of the file system, and the mounted source if no serial number is
    /// known.
    mount: Option<[String; 3]>,
    /// All parameters of a modelled stack, so that a changed device file counts as another device.
    layers: Vec<LayerRecord>,
    /// Procedure of the run, including the flags of the command line.
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

    /// Returns whether it was measured in this environment: on one of its devices, or on its file
    /// system if no devices are recorded.
    pub(crate) fn is_at(&self, here: &Environment) -> bool {
        let devices = devices(here);
        match devices.is_empty() && self.devices.is_empty() {
            true => self.mount.is_some() && self.mount == mount(here),
            false => devices.iter().any(|device| self.devices.contains(device)),
        }
    }

    /// Returns whether this result of another tool is the same measurement as a series of kurabe's.
    pub(crate) fn belongs_to(&self, series: &Self) -> bool {
        self.tool.is_some()
            && series.tool.is_none()
            && !self.device_names.is_empty()
            && (&self.device_names, &self.cells, &self.cache)
                == (&series.device_names, &series.cells, &series.cache)
    }
}

/// Returns the profile without its names and other properties that do not affect the work.
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
    // The steps already contain these rules.
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

/// Returns the identity of a device: its serial number, or else the other properties that
/// distinguish it.
pub fn device_identity(device: &BlockDevice) -> String {
    let size = device.size_bytes.map(|bytes| bytes.to_string());
    match &device.serial {
        Some(serial) => serial.clone(),
        None => {
            [Some(device.name.clone()), device.model.clone(), size].map(Option::unwrap_or_default).join(" ")
        }
    }
}
