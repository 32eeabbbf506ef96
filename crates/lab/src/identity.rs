//! Identifies a device: opens the target as for a run, with the same checks, and leaves nothing.
//!
//! A run is in the store while the target is open, so that a test file is removed even after a kill.
//! The run has no cells, so it is removed at the end.

use crate::clock::random_word;
use crate::inference::{InferenceRequest, InferredTarget, inferred as infer_on};
use crate::journal::Lab;
use crate::open::{Open, OpenTarget};
use crate::prepared::Prepared;
use crate::request::{Procedure, RunRequest};
use kurabe_core::mention::{DESTROY_DATA_ON, WRITE};
use kurabe_core::model::ModelRecord;
use kurabe_core::profile::{Overrides, Profile};
use kurabe_core::record::{TargetKind, TargetRecord};
use kurabe_core::{ErrorKind, Result, text};
use kurabe_engine::{BenchRules, ModelBench, on_target};
use kurabe_explain::PROBE;
use kurabe_identify::{DeviceBench, DeviceIdentity, DeviceProperty, SurveyLimits};
use kurabe_infer::InferenceStage;
use kurabe_profile::profile_named;
use std::path::Path;

/// Largest test file in a directory.
const MOST_FILE_BYTES: u64 = 1 << 30;
/// Smallest one that shows anything.
const LEAST_FILE_BYTES: u64 = 32 << 20;
/// Most bytes of the probes that write, without the long write.
const MARKED_BYTES: u64 = 2 << 30;
/// Time of the probes that read.
const READING_NS: u64 = 60_000_000_000;
/// Most bytes of the probes that infer parameters, and their time.
const INFERENCE_BYTES: u64 = 1 << 30;
const INFERENCE_NS: u64 = 120_000_000_000;
/// Time of the probes that write, without the long write, on a slow device.
const OTHER_WRITING_NS: u64 = 60_000_000_000;

/// Request to identify a device.
#[derive(Clone, Debug, Default)]
pub struct IdentityRequest {
    /// Target, changes of a model, and permissions to write.
    pub run: RunRequest,
    /// Whether probes may write. A model is always written.
    pub writes: bool,
    /// Size of the test file in a directory, if it is not the largest.
    pub file_bytes: Option<u64>,
    /// Whether the parameters of the device are inferred, too.
    pub inference: Option<InferenceRequest>,
}

/// Effects of an identification on its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdentityPlan {
    /// Kind of the target.
    pub kind: TargetKind,
    /// Size of a test file that is created and removed.
    pub test_file_bytes: Option<u64>,
    /// Most bytes that the probes write to the device.
    pub most_written_bytes: u64,
    /// Longest time of the probes that write, in ns.
    pub longest_writing_ns: u64,
    /// Longest time of the probes that read, in ns.
    pub longest_reading_ns: u64,
}

/// A stage of an identification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdentityStage {
    /// The examination of a property.
    Property(DeviceProperty),
    /// A stage of the inference of parameters.
    Inference(InferenceStage),
}

/// A device that was identified.
#[derive(Clone, Debug)]
pub struct IdentifiedTarget {
    /// The target that was examined.
    pub target: TargetRecord,
    /// Name of the model with its changes, if the target is one.
    pub model: Option<String>,
    /// The answers, with their evidence.
    pub identity: DeviceIdentity,
    /// The parameters, if they were requested.
    pub inferred: Option<InferredTarget>,
}

impl IdentityRequest {
    /// Plans the identification of the target.
    ///
    /// # Errors
    /// When the target does not exist, or writes to a device lack the user's consent.
    pub fn prepare(&self) -> Result<Prepared> {
        let path = self.run.target.path();
        let consents = self.run.writing.destroy_data_on.is_some() || self.run.writing.existing_file;
        if consents && !self.writes {
            return Err(ErrorKind::Usage
                .error(text!(
                    "{WRITE} is missing: without it, nothing on the target is written",
                    "{WRITE} がありません。指定しない限り、対象には書き込みません"
                ))
                .remedy(text!(
                    "add {WRITE}, or leave the consent out",
                    "{WRITE} を付けるか、書き込みの許可を外してください"
                )));
        }
        if self.writes && path.is_some_and(|path| !path.is_dir()) && !consents {
            return Err(ErrorKind::Refused
                .error(text!(
                    "writes would destroy the data on the target",
                    "書き込むと、対象のデータは失われます"
                ))
                .remedy(text!(
                    "name the device again with {DESTROY_DATA_ON}, if its data may be lost",
                    "失われてもよければ、{DESTROY_DATA_ON} で同じデバイスを指定してください"
                )));
        }
        let mut profile = profile_named(PROBE)?;
        let file_bytes = self.file_bytes.unwrap_or(MOST_FILE_BYTES).min(MOST_FILE_BYTES);
        profile.rules.size_bytes = file_bytes / 4096 * 4096;
        if profile.rules.size_bytes < LEAST_FILE_BYTES {
            let what = text!(
                "the test file needs {LEAST_FILE_BYTES} B or more",
                "テストファイルには {LEAST_FILE_BYTES} B 以上が必要です"
            );
            return Err(ErrorKind::Usage.error(what));
        }
        let run = RunRequest {
            procedure: Procedure::Given(Box::new(profile)),
            overrides: Overrides::default(),
            ..self.run.clone()
        };
        Prepared::new(run)
    }

    /// Returns what the identification does to its target.
    ///
    /// # Errors
    /// When the target does not exist.
    pub fn plan(&self, prepared: &Prepared) -> Result<IdentityPlan> {
        let foreseen = prepared.foresee()?;
        let is_file = prepared.target().path().is_some_and(Path::is_dir);
        let kind = match () {
            () if prepared.is_modelled() => TargetKind::Model,
            () if is_file => TargetKind::Directory,
            () if prepared.target().path().is_some_and(Path::is_file) => TargetKind::File,
            () => TargetKind::BlockDevice,
        };
        let test_file_bytes = foreseen.test_file_bytes.filter(|_| is_file);
        // The device or file, once by its marked blocks, and once by the long write.
        let span_bytes = foreseen.span_bytes;
        let long_bytes = SurveyLimits::REAL.long_write_bytes.min(span_bytes);
        let inferred = |amount: u64| if self.inference.is_some() { amount } else { 0 };
        let all_bytes = long_bytes + MARKED_BYTES.min(span_bytes) + inferred(INFERENCE_BYTES);
        let most_written_bytes = if self.writes { all_bytes } else { 0 };
        let longest_writing_ns = SurveyLimits::REAL.long_write_ns + OTHER_WRITING_NS + inferred(INFERENCE_NS);
        let longest_reading_ns = READING_NS + inferred(INFERENCE_NS);
        Ok(IdentityPlan { kind, test_file_bytes, most_written_bytes, longest_writing_ns, longest_reading_ns })
    }

    /// Identifies the device. `tell` receives each stage before it begins.
    ///
    /// # Errors
    /// When the target cannot be opened, fails, or the user stops the program.
    pub fn identify(
        &self,
        prepared: Prepared,
        lab: &Lab<'_>,
        tell: &mut dyn FnMut(IdentityStage),
    ) -> Result<IdentifiedTarget> {
        let is_model = prepared.is_modelled();
        let profile = self.inference.as_ref().map(InferenceRequest::profile).transpose()?;
        let seed = if is_model { prepared.profile().rules.seed } else { random_word()? };
        let open = prepared.open(lab)?;
        open.identify(seed, self.writes || is_model, profile.as_ref(), tell)
    }
}

impl Open<'_> {
    /// Identifies the device, closes it, and removes the run.
    fn identify(
        self,
        seed: u64,
        writes: bool,
        profile: Option<&Option<Profile>>,
        tell: &mut dyn FnMut(IdentityStage),
    ) -> Result<IdentifiedTarget> {
        let Self { mut journal, mut ground, plan, .. } = self;
        let target = ground.record(&plan.profile);
        let stop = journal.lab.handle.stop.clone();
        let devices = &journal.record.header.environment.devices;
        let is_reordering = |word: &Option<String>| word.as_deref().is_some_and(|word| word != "none");
        let may_reorder = devices.iter().any(|device| is_reordering(&device.scheduler));
        let mut inferred = None;
        let mut infer = |bench: &mut dyn DeviceBench, tell: &mut dyn FnMut(IdentityStage)| -> Result<()> {
            if let Some(profile) = profile {
                let mut tell = |stage| tell(IdentityStage::Inference(stage));
                inferred = Some(infer_on(bench, profile.as_ref(), (seed, &stop), &mut tell)?);
            }
            Ok(())
        };
        let outcome = match &mut ground {
            OpenTarget::Model(_, model) => {
                let first = infer(&mut ModelBench::new(&mut **model, writes, &stop), tell);
                first.and_then(|()| {
                    let mut tell = |property| tell(IdentityStage::Property(property));
                    kurabe_virtual::identify(model, seed, writes, SurveyLimits::MODEL, &stop, &mut tell)
                })
            }
            OpenTarget::Real(real) => {
                on_target(real, BenchRules { seed, writes, may_reorder }, &stop, |bench| {
                    // The long write of the properties changes the state of a device. A new file is
                    // filled by their probes.
                    let is_first = !bench.facts().is_new_file;
                    if is_first {
                        infer(bench, tell)?;
                    }
                    let mut of_property = |property| tell(IdentityStage::Property(property));
                    let identity =
                        kurabe_identify::identify(bench, seed, SurveyLimits::REAL, &mut of_property)?;
                    if !is_first {
                        infer(bench, tell)?;
                    }
                    Ok(identity)
                })
            }
        };
        let model = journal.record.header.model.as_ref().map(ModelRecord::name_with_changes);
        let left = journal.left(ground.close());
        let removed = journal.discard();
        let identity = outcome?;
        left.and(removed)?;
        debug_assert!(target.kind == TargetKind::Model || model.is_none());
        Ok(IdentifiedTarget { target, model, identity, inferred })
    }
}
