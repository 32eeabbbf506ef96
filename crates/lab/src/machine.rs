//! Facts about a machine, without a judgement: supported features, and kurabe's overhead.

use crate::made::open_noted;
use kurabe_core::Result;
use kurabe_core::made::MadeFile;
use kurabe_core::record::Instrument;
use kurabe_engine::{
    RingFacts, TargetOptions, driver_cost_ns, may_drop_page_cache, measure_clock, probe_ring,
};
use kurabe_store::Store;
use std::path::{Path, PathBuf};

/// Queue depths at which the overhead of the driver is measured.
const IODEPTHS: [u32; 4] = [1, 8, 32, 128];

/// Facts about this machine.
#[derive(Debug)]
pub struct MachineFacts {
    /// Features of io_uring, or why it is not available.
    pub ring: Result<RingFacts>,
    /// The path that was examined.
    pub path: PathBuf,
    /// Whether I/O on the path is direct, and its alignment in bytes; or why the path cannot be
    /// used.
    pub direct: Result<(bool, u32)>,
    /// Whether the page cache may be dropped.
    pub may_drop_page_cache: bool,
    /// Resolution and cost of the clock.
    pub clock: Instrument,
    /// Queue depths, and the driver's overhead per operation in ns with full recording.
    pub driver_costs_ns: Vec<(u32, f64)>,
    /// Block devices, each with the reason if it cannot be read.
    pub devices: Vec<(PathBuf, Option<std::io::Error>)>,
    /// Helper programs, with their version if installed.
    pub tools: Vec<(&'static str, Option<String>)>,
}

impl MachineFacts {
    /// Examines the machine, and what it allows on a path. The file of the trial there is listed in
    /// the store, so that it is removed after a kill.
    ///
    /// # Errors
    /// When the overhead of the driver cannot be measured.
    pub fn gather(path: &Path, store: Option<&dyn Store>) -> Result<Self> {
        Ok(Self {
            ring: probe_ring(),
            path: path.to_owned(),
            direct: try_direct(path, store.filter(|store| !store.is_read_only())),
            may_drop_page_cache: may_drop_page_cache(),
            clock: measure_clock(),
            driver_costs_ns: IODEPTHS
                .into_iter()
                .map(|iodepth| driver_cost_ns(iodepth).map(|cost_ns| (iodepth, cost_ns)))
                .collect::<Result<_>>()?,
            devices: kurabe_host::block_devices()
                .into_iter()
                .map(|path| (path.clone(), std::fs::File::open(path).err()))
                .collect(),
            tools: kurabe_host::tools(),
        })
    }
}

fn try_direct(path: &Path, store: Option<&dyn Store>) -> Result<(bool, u32)> {
    const TRIAL_BYTES: u64 = 128 << 10;
    let run = format!("doctor{}", std::process::id());
    let note = |made: Option<&MadeFile>| store.map_or(Ok(()), |store| store.note_made_file(&run, made));
    let mut options = TargetOptions { direct: true, size_bytes: TRIAL_BYTES, ..TargetOptions::default() };
    let target = open_noted(path, &run, &mut options, &mut |made| note(Some(&made)))?;
    let direct = (target.facts().direct, target.facts().alignment_bytes);
    match target.close().into_iter().next() {
        Some(remains) => Err(remains.error),
        None => note(None).map(|()| direct),
    }
}
