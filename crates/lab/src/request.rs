//! What is asked of a run, as plain data: whoever asks (a command line, a page, a file) says the same in the same words.

use kurabe_core::issue::{CachePolicy, Engine, EngineChoice};
use kurabe_core::profile::{Overrides, Profile, Step};
use kurabe_explain::SweepPlan;
use kurabe_interop::FioJob;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A run: a procedure on a target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunRequest {
    /// A directory, a file, a block device, or `model:NAME`.
    pub target: PathBuf,
    /// What is done there.
    pub procedure: Procedure,
    /// What is changed of the procedure, and how operations are issued.
    pub overrides: Overrides,
    /// Whether each write is stamped and listed, so that an image can be checked later.
    pub verify: bool,
    /// Whether each write is stamped, and read back at the end of the run.
    pub reads_back: bool,
    /// Whether each cell gets a repetition more that the kernel's tracepoints follow.
    pub kernel_trace: bool,
    /// Labels of the run: key and value; a key without a value is no label.
    pub labels: Vec<(String, Option<String>)>,
    /// Changed parameters of a model: `layer.parameter` and value.
    pub sets: Vec<(String, String)>,
    /// Layers of a model that are left out.
    pub without: Vec<String>,
    /// Whether a model gets no test file: what is read was written long ago.
    pub no_fill: bool,
    /// What may be written.
    pub writing: Writing,
    /// Whether the serial numbers of devices are kept as they are.
    pub with_serial: bool,
}

impl Default for RunRequest {
    fn default() -> Self {
        Self {
            target: PathBuf::from("."),
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
    /// The same of a target, with what a job of fio says.
    pub fn with_job(self, job: FioJob) -> Self {
        let cache = if job.keeps_cache { Some(CachePolicy::Keep) } else { self.overrides.cache };
        let engine =
            if job.is_mapped { Some(EngineChoice::Fixed(Engine::Mmap)) } else { self.overrides.engine };
        let overrides = Overrides { cache, engine, ..self.overrides };
        let reads_back = job.verifies;
        Self { procedure: Procedure::Given(Box::new(job.profile)), overrides, reads_back, ..self }
    }
}

/// Where a job of fio has its file; the directory of one that is not there, because fio would make the file, and kurabe makes
/// its own there.
pub fn target_of_job(job: &FioJob) -> Option<PathBuf> {
    let path = PathBuf::from(job.target.as_ref()?);
    // In the place of a device that is not there nothing is made in /dev: opening it says so.
    if path.exists() || path.starts_with("/dev") {
        return Some(path);
    }
    Some(match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => PathBuf::from("."),
        Some(parent) => parent.to_owned(),
        None => path,
    })
}

/// What a run does.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Procedure {
    /// The default profile.
    #[default]
    Usual,
    /// The profile of this name, or of the file with this path.
    Named(String),
    /// This profile. Its traces may be those that come with kurabe.
    Given(Box<Profile>),
    /// One step, with the rules that hold where nothing else is said. Its trace, if it replays one, is a file.
    Single(Box<Step>),
    /// A sweep, which measures further points where a curve changes.
    Sweep(SweepPlan),
}

/// What a run may write beside files of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Writing {
    /// The target, if it is an existing file.
    pub existing_file: bool,
    /// The block device whose data may be destroyed.
    pub destroy_data_on: Option<PathBuf>,
}
