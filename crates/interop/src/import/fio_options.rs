//! fio's job options, as far as they describe a cell. Source: fio's HOWTO, sections "Parameter types"
//! and "Job parameters".

use super::json_tree::Json;
use super::kit::*;
use kurabe_core::{words::Keyword, workload::Pattern};
use kurabe_fio::{ONE_BY_ONE, size_bytes, time_ns};

/// Maximum number of options. fio has fewer, so a job with more of them is damaged.
const OPTIONS_MOST: usize = 1000;

/// Options of a job: the global ones and its own, which take precedence.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct JobOptions {
    in_order: Vec<(String, String)>,
    /// Whether all given options are present, so that fio's defaults apply to the others.
    pub(super) are_all: bool,
    /// Whether fio ran on Linux, where the default engine waits for each operation.
    on_linux: bool,
    /// Whether each of several threads has separate figures. Without `group_reporting`, fio prints as
    /// many jobs as threads, and no combined figure.
    pub(super) threads_apart: bool,
    /// Measured share of reads of the job in percent, if the requested share is unknown.
    pub(super) read_percent: Option<f64>,
}

/// Engines that use the page cache unless told otherwise.
const CACHED: [&str; 10] =
    ["psync", "sync", "vsync", "pvsync", "pvsync2", "libaio", "io_uring", "posixaio", "mmap", "windowsaio"];

impl JobOptions {
    /// Returns the `global options` of the document combined with the `job options` of the job.
    pub(super) fn of(document: &Json, job: &Json) -> Self {
        let members = |json: Option<&Json>| -> Vec<(String, String)> {
            let members = json.map_or(&[][..], Json::members).iter().take(OPTIONS_MOST);
            members.map(|(key, value)| (key.clone(), repeated(value.text().unwrap_or("")))).collect()
        };
        let own = members(job.get("job options"));
        let mut in_order = members(document.get("global options"));
        in_order.retain(|(key, _)| !own.iter().any(|(name, _)| name == key));
        in_order.extend(own);
        // fio reads the counters of disks only on Linux.
        let on_linux = document.get("disk_util").is_some();
        Self { in_order, are_all: true, on_linux, ..Self::default() }
    }

    /// Returns an incomplete set of options.
    pub(super) fn of_pairs<const COUNT: usize>(pairs: [(&str, &str); COUNT]) -> Self {
        let mut options = Self::default();
        pairs.into_iter().for_each(|(name, value)| options.add(name, value));
        options
    }

    pub(super) fn add(&mut self, name: &str, value: &str) {
        self.in_order.push((name.to_owned(), value.to_owned()));
    }

    /// Returns an option by one of its names.
    pub(super) fn get(&self, names: &[&str]) -> Option<&str> {
        self.in_order.iter().find(|(name, _)| names.contains(&name.as_str())).map(|(_, value)| value.as_str())
    }

    /// Returns all options on one line, as given to fio.
    pub(super) fn line(&self) -> Option<String> {
        let words = self
            .in_order
            .iter()
            .map(|(name, value)| if value.is_empty() { name.clone() } else { format!("{name}={value}") });
        // A line break would start the options of another job.
        let line = words.collect::<Vec<_>>().join(" ").replace('\r', "\\r").replace('\n', "\\n");
        (!line.is_empty()).then(|| repeated(&line))
    }

    /// Sets the properties of a cell in a direction (`read`, `write`, `trim`, `mixed`). A missing
    /// option has fio's default, unless there are no options at all: fio 2 prints none.
    pub(super) fn describe(&self, direction: &str, cell: &mut ImportedCell) {
        cell.procedure = self.line();
        let Some(pattern) = self.get(&["rw", "readwrite"]) else {
            cell.block_bytes = self.get(&["bs", "blocksize"]).and_then(|_| self.block_bytes(direction));
            return;
        };
        cell.block_bytes = self.block_bytes(direction);
        cell.iodepth = self.iodepth();
        cell.threads = self.threads().filter(|_| !self.threads_apart);
        cell.one_of_threads = self.threads().filter(|_| self.threads_apart);
        (cell.offset_bytes, cell.span_bytes) = (self.place_bytes("offset"), self.span_bytes());
        cell.sequential = sequential(pattern);
        let share = self.read_percent.unwrap_or_else(|| self.asked_read_percent());
        let is_mix = matches!(<(Direction, Pattern)>::of_word(base(pattern)), Some((Direction::Mix, _)));
        cell.read_percent = Some(share).filter(|share| is_mix && (0.0..=100.0).contains(share));
    }

    /// Returns fio's word for the only direction of a job that was reported as a mix because of
    /// `unified_rw_reporting`.
    pub(super) fn true_direction(&self, word: &'static str) -> &'static str {
        let asked =
            self.get(&["rw", "readwrite"]).and_then(|pattern| <(Direction, Pattern)>::of_word(base(pattern)));
        match asked {
            Some((only, _)) if word == "mixed" && only != Direction::Mix => only.word(),
            _ => word,
        }
    }

    /// Returns the requested share of reads of a mix in percent.
    fn asked_read_percent(&self) -> f64 {
        let percent = |names: &[&str]| self.get(names).and_then(|words| words.parse::<f64>().ok());
        let written = || percent(&["rwmixwrite"]).map(|percent| 100.0 - percent);
        percent(&["rwmixread"]).or_else(written).unwrap_or(50.0)
    }

    /// Returns the requested minimum duration of the job.
    pub(super) fn asked_ns(&self) -> Option<u64> {
        self.get(&["time_based"]).filter(|words| *words != "0")?;
        time_ns(self.get(&["runtime", "timeout"])?)
    }

    /// Parses an offset or a length in bytes. Percentages of the target (`50%`) and ranges are unknown
    /// here.
    fn place_bytes(&self, name: &str) -> Option<u64> {
        size_bytes(self.get(&[name])?, self.kb_base())
    }

    /// Returns the span that all jobs of a section cover together: each has its size, at a distance
    /// from the previous one, or in its own file.
    fn span_bytes(&self) -> Option<u64> {
        let (jobs, size_bytes) = (u64::from(self.threads().unwrap_or(1)), self.place_bytes("size")?);
        let apart_bytes = match self.get(&["filename"]) {
            None if self.are_all => size_bytes,
            _ => self.place_bytes("offset_increment").unwrap_or(0),
        };
        apart_bytes.checked_mul(jobs.saturating_sub(1))?.checked_add(size_bytes)
    }

    /// Returns the option that fixes the rate of operations: `rate_iops=300`.
    pub(super) fn offered(&self) -> Option<String> {
        let given = ["rate_iops", "rate"].into_iter().find_map(|name| Some((name, self.get(&[name])?)));
        let (name, value) = given.filter(|(_, value)| value.contains(|c: char| matches!(c, '1'..='9')))?;
        Some(format!("{name}={value}"))
    }

    fn kb_base(&self) -> u64 {
        if self.get(&["kb_base"]) == Some("1000") { 1000 } else { 1024 }
    }

    /// Returns whether I/O bypassed the page cache: `1` or `0`. `None` without options.
    pub(super) fn direct(&self) -> Option<String> {
        let default = || self.get(&["rw", "readwrite"]).filter(|_| self.are_all).map(|_| "0");
        let given = self.get(&["direct"]).or_else(default)?;
        matches!(given, "0" | "1").then(|| given.to_owned())
    }

    /// Returns whether I/O went through the page cache, and no option syncs it.
    pub(super) fn is_buffered(&self) -> bool {
        const SYNCS: [&str; 5] = ["fsync", "fdatasync", "sync", "end_fsync", "fsync_on_close"];
        let is_set = |name: &&str| self.get(&[name]).is_some_and(|value| value != "0" && value != "none");
        let is_local = self.get(&["ioengine"]).is_none_or(|engine| CACHED.contains(&engine));
        self.direct().as_deref() == Some("0") && is_local && !SYNCS.iter().any(is_set)
    }

    /// Returns the number of operations in flight. Engines that wait for each operation have one. The
    /// default engine depends on the system.
    fn iodepth(&self) -> Option<u32> {
        let given = match self.get(&["iodepth"]) {
            Some(words) => words.parse().ok()?,
            None => 1,
        };
        match self.get(&["ioengine"]) {
            Some(engine) if ONE_BY_ONE.contains(&engine) => Some(1),
            None if self.on_linux => Some(1),
            None => Some(given).filter(|depth| *depth == 1),
            Some(_) => Some(given),
        }
    }

    /// Returns the number of threads of the job.
    fn threads(&self) -> Option<u32> {
        self.get(&["numjobs"]).map_or(Some(1), |words| words.parse().ok())
    }

    /// Returns the name of a cell with these options, such as `RND 4 KiB Q32 T1`. `None` if the options
    /// are insufficient.
    pub(super) fn shape(&self, cell: &ImportedCell) -> Option<String> {
        cell.sequential.and(cell.block_bytes)?;
        let threads = cell.threads.or(self.threads().filter(|threads| *threads == 1));
        let mut shape = parts::shape(cell.sequential, "", cell.block_bytes, cell.iodepth, threads);
        if let (None, Some(threads)) = (threads, self.threads()) {
            shape += &format!(" one of {threads} threads");
        }
        if let Some(percent) = cell.read_percent {
            shape += &format!(" {percent:.0} % read");
        }
        Some(shape)
    }

    /// Returns the block size. `bs` can contain one size, or separate sizes for reads, writes and
    /// trims; the last one also applies to those after it.
    fn block_bytes(&self, direction: &str) -> Option<u64> {
        let words = self.get(&["bs", "blocksize"]).unwrap_or("4k");
        let sizes: Vec<&str> = words.split(',').collect();
        let place = match direction {
            "read" => 0,
            "write" => 1,
            "trim" => 2,
            _ if sizes.len() == 1 => 0,
            _ => return None,
        };
        size_bytes(sizes.get(place).or(sizes.last())?, self.kb_base())
    }
}

/// Returns the pattern without an optional number or range after it: `randread:8`.
fn base(pattern: &str) -> &str {
    pattern.split(':').next().unwrap_or(pattern)
}

/// Returns whether a value of `rw=` is sequential.
fn sequential(pattern: &str) -> Option<bool> {
    let is_random = base(pattern).strip_prefix("rand");
    let word = is_random.unwrap_or(base(pattern));
    let is_known = ["read", "write", "trim", "rw", "readwrite", "trimwrite"].contains(&word);
    is_known.then_some(is_random.is_none())
}

/// Returns the label of a cell: only the work if the direction determines the rest.
pub(super) fn label(work: &str, word: &str) -> String {
    if direction(word).is_some() || word.is_empty() { work.to_owned() } else { format!("{work} {word}") }
}

/// Returns kurabe's direction for fio's word.
pub(super) fn direction(word: &str) -> Option<Direction> {
    match word {
        "read" => Some(Direction::Read),
        "write" => Some(Direction::Write),
        "mixed" => Some(Direction::Mix),
        _ => None,
    }
}

/// Returns the percentile of a list, which fio pads with entries of 0 %.
pub(super) fn percentile(percent: &str) -> Option<Statistic> {
    number(percent).filter(|percent| (0.001..=100.0).contains(percent)).map(Statistic::Percentile)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_follow_kb_base() {
        assert_eq!(size_bytes("4k", 1024), Some(4096));
        assert_eq!(size_bytes("4KB", 1024), Some(4096));
        assert_eq!(size_bytes("4KiB", 1024), Some(4000));
        assert_eq!(size_bytes("4KiB", 1000), Some(4096));
        assert_eq!(size_bytes("1m", 1000), Some(1_000_000));
        assert_eq!(size_bytes("512", 1024), Some(512));
        for words in ["", "k", "4q", "99999999999p", "-4k", "4ii"] {
            assert_eq!(size_bytes(words, 1024), None, "{words}");
        }
    }

    #[test]
    fn options_tell_block_size_by_direction() {
        let job = |bs: &str| {
            let pairs = [("rw", "randrw:4"), ("bs", bs), ("rwmixread", "70")];
            JobOptions::of_pairs(pairs)
        };
        let mut cell = ImportedCell::default();
        job("4k,8k").describe("trim", &mut cell);
        assert_eq!(
            (cell.block_bytes, cell.sequential, cell.read_percent),
            (Some(8192), Some(false), Some(70.0))
        );
        job("4k,8k").describe("mixed", &mut cell);
        assert_eq!(cell.block_bytes, None);
        job("4k").describe("mixed", &mut cell);
        assert_eq!(cell.block_bytes, Some(4096));
        assert_eq!(cell.procedure.as_deref(), Some("rw=randrw:4 bs=4k rwmixread=70"));
    }

    #[test]
    fn options_tell_where_a_job_goes() {
        let job = |offset: &str, size: &str| {
            let mut cell = ImportedCell::default();
            JobOptions::of_pairs([("rw", "read"), ("offset", offset), ("size", size)])
                .describe("read", &mut cell);
            (cell.offset_bytes, cell.span_bytes)
        };
        assert_eq!(job("1m", "2097152"), (Some(1 << 20), Some(2 << 20)));
        assert_eq!(job("10%", "50%"), (None, None), "shares of what nobody told");
        let parts = [("size", "1m"), ("numjobs", "4"), ("offset_increment", "1m")];
        assert_eq!(JobOptions::of_pairs(parts).span_bytes(), Some(4 << 20));
    }
}
