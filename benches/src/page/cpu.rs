//! CPU time of the page's threads, and of the browser that the bench started (proc_pid_stat(5)).

use crate::Result;
use std::collections::BTreeMap;

/// proc_pid_stat(5): fields 14 and 15 are in ticks of 10 ms.
const TICKS_PER_S: f64 = 100.0;
/// Indices of the fields after the name: the parent, and both times.
const PARENT: usize = 1;
const TIMES: [usize; 2] = [11, 12];

/// CPU time in seconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CpuTime {
    /// Threads of the page.
    pub(super) page_s: f64,
    /// Child processes and their descendants: the browser driver and the browser.
    pub(super) browser_s: f64,
}

impl CpuTime {
    /// Returns the CPU time up to now.
    pub(super) fn now() -> Result<Self> {
        Ok(Self { page_s: page_s()?, browser_s: browser_s()? })
    }

    pub(super) fn since(self, before: Self) -> Self {
        Self { page_s: self.page_s - before.page_s, browser_s: self.browser_s - before.browser_s }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.page_s += other.page_s;
        self.browser_s += other.browser_s;
    }
}

/// Returns the CPU time of the page's threads, identified by their names.
fn page_s() -> Result<f64> {
    let mut sum_s = 0.0;
    for task in std::fs::read_dir("/proc/self/task")? {
        // A thread may exit during this.
        let Ok(stat) = std::fs::read_to_string(task?.path().join("stat")) else { continue };
        let Some((name, fields)) = fields(&stat) else { continue };
        if name.ends_with("(page") || name.ends_with("(page-aside") {
            sum_s += time_s(&fields);
        }
    }
    Ok(sum_s)
}

fn browser_s() -> Result<f64> {
    let mut processes = BTreeMap::new();
    for process in std::fs::read_dir("/proc")? {
        let process = process?;
        let Some(id) = process.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let Ok(stat) = std::fs::read_to_string(process.path().join("stat")) else { continue };
        let Some((_, fields)) = fields(&stat) else { continue };
        let parent: u32 = fields.get(PARENT).and_then(|parent| parent.parse().ok()).unwrap_or(0);
        processes.insert(id, (parent, time_s(&fields)));
    }
    let own = std::process::id();
    let descends = |id: &u32| {
        let parents = std::iter::successors(processes.get(id), |(parent, _)| processes.get(parent));
        parents.into_iter().any(|(parent, _)| *parent == own)
    };
    Ok(processes.iter().filter(|(id, _)| descends(id)).map(|(_, (_, time_s))| time_s).sum())
}

/// Splits a line into the name, with the text before it, and the fields after it.
fn fields(stat: &str) -> Option<(&str, Vec<&str>)> {
    let (name, fields) = stat.rsplit_once(") ")?;
    Some((name, fields.split(' ').collect()))
}

fn time_s(fields: &[&str]) -> f64 {
    let ticks = TIMES.iter().filter_map(|place| fields.get(*place)?.parse::<f64>().ok());
    ticks.sum::<f64>() / TICKS_PER_S
}
