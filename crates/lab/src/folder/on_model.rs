//! Runs a command in a folder on a modelled device in real time.

use crate::folder::pricing::{kernel, recorded_run};
use crate::folder::served_folder::{FolderEnd, FolderRequest, ModelFolder, ServedFolder};
use crate::handle::RunHandle;
use kurabe_core::words::Keyword;
use kurabe_core::{Result, Text};
use kurabe_price::{Bill, BillFacts, Panel, PanelDevice};
use kurabe_program::{CallLog, CallRules, ForegroundEnd, SyncOfFile};
use kurabe_serve::{DeviceFault, FaultFigures, PowerRules, RequestLog, ServedFigures};
use kurabe_sim::DeviceSpec;
use std::sync::Arc;

/// A command and the device to run it on.
#[derive(Clone, Debug)]
pub struct OnRequest {
    /// The command and its arguments.
    pub command: Vec<String>,
    /// Device, file system and files.
    pub setup: ModelFolder,
    /// Faults of the device from the start of the command.
    pub faults: Vec<DeviceFault>,
    /// Calls of the command that fail with an I/O error.
    pub failing: Vec<SyncOfFile>,
}

/// Result of a command on a model.
#[derive(Debug)]
pub struct OnDone {
    /// How the command ended.
    pub ended: ForegroundEnd,
    /// The bill on this model, including pauses.
    pub bill: Bill,
    /// Figures of the device.
    pub figures: ServedFigures,
    /// Processes that the command left running, and that were killed.
    pub left: Vec<Text>,
    /// Other users of the device, which was removed while they used it.
    pub held_by: Vec<Text>,
}

/// Runs a command on a model.
///
/// # Errors
/// When the device cannot be created, or the command cannot be started.
pub fn run_on(request: &OnRequest, handle: &RunHandle) -> Result<OnDone> {
    let log = Arc::new(RequestLog::default());
    let folder = request.folder(request.setup.seed, None, Some(&log))?;
    let DeviceSpec { name, title, .. } = &request.setup.spec;
    let device = PanelDevice { model: name.clone(), title: title.clone(), spec: request.setup.spec.clone() };
    let panel = Panel { name: name.clone(), devices: vec![device] };
    let rules =
        CallRules { folder: folder.folder(), failing: request.failing.clone(), ..CallRules::default() };
    let calls = (!request.failing.is_empty()).then(|| Arc::new(CallLog::new(rules)));
    let (command, recording) = recorded_run(&folder, &log, &request.command, calls.clone(), handle)?;
    let FolderEnd { mut figures, left: held_by } = folder.end()?;
    if let Some(calls) = calls {
        let requests = calls.take().failed;
        let met = |call: &SyncOfFile| FaultFigures { fault: call.fault_words(), requests, is_lifted: true };
        figures.faults.extend(request.failing.iter().map(met));
    }
    let facts = BillFacts {
        command: request.command.clone(),
        file_system: request.setup.file_system.word().to_owned(),
        size_bytes: request.setup.size_bytes,
        recorded_on: Some(request.setup.spec.name.clone()),
        kernel: kernel(),
        tick_ns: None,
        faults: request
            .faults
            .iter()
            .map(|fault| fault.words().to_owned())
            .chain(request.failing.iter().map(SyncOfFile::fault_words))
            .collect(),
        keeps_pauses: true,
    };
    let bill = Bill::new(facts, &[recording], &panel)?;
    Ok(OnDone { ended: command.ended, bill, figures, left: command.left.processes, held_by })
}

impl OnRequest {
    pub(crate) fn folder(
        &self,
        seed: u64,
        power: Option<PowerRules>,
        log: Option<&Arc<RequestLog>>,
    ) -> Result<ServedFolder> {
        let folder = ServedFolder::make(FolderRequest {
            setup: ModelFolder { seed, ..self.setup.clone() },
            is_made_in_a_hurry: true,
            // For a power cut, only the data matters, not the timing.
            is_in_time: power.is_none(),
            power,
            log: log.map(Arc::clone),
        })?;
        self.faults.iter().try_for_each(|fault| folder.set_fault(fault))?;
        Ok(folder)
    }
}
