//! A run request as plain data, shared by the command line, the page and study files.

use kurabe_core::issue::{CachePolicy, Engine, EngineChoice};
use kurabe_core::profile::{Overrides, Profile, Step};
use kurabe_core::target_name::TargetName;
use kurabe_explain::SweepPlan;
use kurabe_fio::FioJob;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A procedure on a target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunRequest {
    /// A directory, a file, a block device, or `model:NAME`.
    pub target: TargetName,
    /// Procedure to execute.
    pub procedure: Procedure,
    /// Changes to the procedure, and how operations are issued.
    pub overrides: Overrides,
    /// Whether each write is stamped and listed, so that an image can be checked later.
    pub verify: bool,
    /// Whether each write is stamped, and read back at the end of the run.
    pub reads_back: bool,
    /// Whether each cell gets an additional repetition with the kernel's tracepoints.
    pub kernel_trace: bool,
    /// Labels of the run as key and value. A key without a value sets no label.
    pub labels: Vec<(String, Option<String>)>,
    /// Changed parameters of a model: `layer.parameter` and value.
    pub sets: Vec<(String, String)>,
    /// Layers of a model to leave out.
    pub without: Vec<String>,
    /// Whether a model gets no test file, so that reads find old data.
    pub no_fill: bool,
    /// Permissions to write.
    pub writing: Writing,
    /// Whether the serial numbers of devices are recorded in plain text.
    pub with_serial: bool,
}

impl Default for RunRequest {
    fn default() -> Self {
        Self {
            target: TargetName::from("."),
            procedure: Procedure::default(),
            overrides: Overrides::default(),
            verify: false,
            reads_back: false,
            kernel_trace: false,
            labels: Vec::new(),
            sets: Vec::new(),
            without: Vec::new(),
            no_fill: false,
            writing: Writing::default(),
            with_serial: false,
        }
    }
}

impl RunRequest {
    /// Applies the settings of a fio job to this request.
    pub fn with_job(self, job: FioJob) -> Self {
        let cache = if job.access.keeps_cache { Some(CachePolicy::Keep) } else { self.overrides.cache };
        let engine = if job.access.is_mapped {
            Some(EngineChoice::Fixed(Engine::Mmap))
        } else {
            self.overrides.engine
        };
        let overrides = Overrides { cache, engine, ..self.overrides };
        let reads_back = job.access.verifies;
        Self { procedure: Procedure::Given(Box::new(job.profile)), overrides, reads_back, ..self }
    }
}

/// Returns the file of a fio job. If it does not exist, returns its directory, where kurabe creates
/// its own test file instead.
pub fn target_of_job(job: &FioJob) -> Option<PathBuf> {
    let path = PathBuf::from(job.access.target.as_ref()?);
    // If a device does not exist, no file is created in /dev; opening the device reports the error.
    if path.exists() || path.starts_with("/dev") {
        return Some(path);
    }
    Some(match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => PathBuf::from("."),
        Some(parent) => parent.to_owned(),
        None => path,
    })
}

/// Procedure of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Procedure {
    /// The default profile.
    #[default]
    Usual,
    /// The profile with this name, or in the file at this path.
    Named(String),
    /// This profile. Its traces may be those that come with kurabe.
    Given(Box<Profile>),
    /// A single step with the default rules. If it replays a trace, that is a file.
    Single(Box<Step>),
    /// A sweep, which adds points where a curve changes.
    Sweep(SweepPlan),
}

/// Permissions to write other than to kurabe's own files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Writing {
    /// The target, if it is an existing file.
    pub existing_file: bool,
    /// The block device whose data may be destroyed.
    pub destroy_data_on: Option<PathBuf>,
}
