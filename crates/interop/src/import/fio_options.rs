//! fio's job options, as far as they tell what a cell is. fio's HOWTO, sections "Parameter types" and "Job parameters".

use super::json_tree::Json;
use super::kit::*;
use crate::fio_values::{ONE_BY_ONE, size_bytes, time_ns};
use kurabe_core::{words::Keyword, workload::Pattern};

/// fio has fewer options than this; a job with more of them is damaged.
const OPTIONS_MOST: usize = 1000;

/// Options of a job: the global ones and its own, which win.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct JobOptions {
    in_order: Vec<(String, String)>,
    /// Whether none is missing that was given, so that fio's defaults hold for all others.
    are_all: bool,
    /// Whether fio ran on Linux, where an engine that is not named waits for each operation.
    on_linux: bool,
    /// Whether each of several threads has figures of its own: without `group_reporting` fio prints as many jobs as
    /// threads, and no figure of them together.
    pub(super) threads_apart: bool,
    /// The share of reads in percent that the job came to, where what it was asked for is not known.
    pub(super) read_percent: Option<f64>,
}

impl JobOptions {
    /// From the `global options` of the document and the `job options` of the job.
    pub(super) fn of(document: &Json, job: &Json) -> Self {
        let members = |json: Option<&Json>| -> Vec<(String, String)> {
            let members = json.map_or(&[][..], Json::members).iter().take(OPTIONS_MOST);
            members.map(|(key, value)| (key.clone(), repeated(value.text().unwrap_or("")))).collect()
        };
        let own = members(job.get("job options"));
        let mut in_order = members(document.get("global options"));
        in_order.retain(|(key, _)| !own.iter().any(|(name, _)| name == key));
        in_order.extend(own);
        // Only there it reads the counters of disks.
        let on_linux = document.get("disk_util").is_some();
        Self { in_order, are_all: true, on_linux, ..Self::default() }
    }

    /// Some of the options, of which the others are not known.
    pub(super) fn of_pairs<const COUNT: usize>(pairs: [(&str, &str); COUNT]) -> Self {
        let mut options = Self::default();
        pairs.into_iter().for_each(|(name, value)| options.add(name, value));
        options
    }

    pub(super) fn add(&mut self, name: &str, value: &str) {
        self.in_order.push((name.to_owned(), value.to_owned()));
    }

    /// An option by one of its names.
    pub(super) fn get(&self, names: &[&str]) -> Option<&str> {
        self.in_order.iter().find(|(name, _)| names.contains(&name.as_str())).map(|(_, value)| value.as_str())
    }

    /// All of them on one line, as fio was told.
    pub(super) fn line(&self) -> Option<String> {
        let words = self
            .in_order
            .iter()
            .map(|(name, value)| if value.is_empty() { name.clone() } else { format!("{name}={value}") });
        // The end of a line is where another job's options begin.
        let line = words.collect::<Vec<_>>().join(" ").replace('\r', "\\r").replace('\n', "\\n");
        (!line.is_empty()).then(|| repeated(&line))
    }

    /// What the options tell of a cell in a direction (`read`, `write`, `trim`, `mixed`). What was not given is fio's
    /// default, if there are any options: fio 2 prints none of them.
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

    /// fio's word for the only direction of a job that was told as a mix, as `unified_rw_reporting` has it.
    pub(super) fn true_direction(&self, word: &'static str) -> &'static str {
        let asked =
            self.get(&["rw", "readwrite"]).and_then(|pattern| <(Direction, Pattern)>::of_word(base(pattern)));
        match asked {
            Some((only, _)) if word == "mixed" && only != Direction::Mix => only.word(),
            _ => word,
        }
    }

    /// The share of reads in percent that a mix was asked for.
    fn asked_read_percent(&self) -> f64 {
        let percent = |names: &[&str]| self.get(names).and_then(|words| words.parse::<f64>().ok());
        let written = || percent(&["rwmixwrite"]).map(|percent| 100.0 - percent);
        percent(&["rwmixread"]).or_else(written).unwrap_or(50.0)
    }

    /// How long the job was to go on, whatever it had done by then.
    pub(super) fn asked_ns(&self) -> Option<u64> {
        self.get(&["time_based"]).filter(|words| *words != "0")?;
        time_ns(self.get(&["runtime", "timeout"])?)
    }

    /// A place or a length in bytes; shares of the target (`50%`) and ranges are not known here.
    fn place_bytes(&self, name: &str) -> Option<u64> {
        size_bytes(self.get(&[name])?, self.kb_base())
    }

    /// What all jobs of a section cover: each its size, some distance from the one before, or in a file of its own.
    fn span_bytes(&self) -> Option<u64> {
        let (jobs, size_bytes) = (u64::from(self.threads().unwrap_or(1)), self.place_bytes("size")?);
        let apart_bytes = match self.get(&["filename"]) {
            None if self.are_all => size_bytes,
            _ => self.place_bytes("offset_increment").unwrap_or(0),
        };
        apart_bytes.checked_mul(jobs.saturating_sub(1))?.checked_add(size_bytes)
    }

    /// The rate at which operations were offered, as the option that fixes it: `rate_iops=300`.
    pub(super) fn offered(&self) -> Option<String> {
        let given = ["rate_iops", "rate"].into_iter().find_map(|name| Some((name, self.get(&[name])?)));
        let (name, value) = given.filter(|(_, value)| value.contains(|c: char| matches!(c, '1'..='9')))?;
        Some(format!("{name}={value}"))
    }

    fn kb_base(&self) -> u64 {
        if self.get(&["kb_base"]) == Some("1000") { 1000 } else { 1024 }
    }

    /// Whether I/O went past the page cache: `1` or `0`; nothing if there are no options to tell.
    pub(super) fn direct(&self) -> Option<String> {
        let default = || self.get(&["rw", "readwrite"]).filter(|_| self.are_all).map(|_| "0");
        let given = self.get(&["direct"]).or_else(default)?;
        matches!(given, "0" | "1").then(|| given.to_owned())
    }

    /// Operations in flight. Engines that wait for each hold one; which engine runs where none is named depends on the
    /// system.
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

    /// Threads of the job.
    fn threads(&self) -> Option<u32> {
        self.get(&["numjobs"]).map_or(Some(1), |words| words.parse().ok())
    }

    /// What a cell of these options does: `RND 4 KiB Q32 T1`; nothing if they do not tell.
    pub(super) fn shape(&self, cell: &ImportedCell) -> Option<String> {
        cell.sequential.and(cell.block_bytes)?;
        let mut shape = parts::shape(cell.sequential, "", cell.block_bytes, cell.iodepth, cell.threads);
        if let (None, Some(threads)) = (cell.threads, self.threads()) {
            shape += &format!(" one of {threads} threads");
        }
        if let Some(percent) = cell.read_percent {
            shape += &format!(" {percent:.0} % read");
        }
        Some(shape)
    }

    /// `bs` may hold one size, or one each for reads, writes and trims; the last given holds for those after it.
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

/// The pattern without the number or range that may follow it: `randread:8`.
fn base(pattern: &str) -> &str {
    pattern.split(':').next().unwrap_or(pattern)
}

/// Whether a `rw=` goes through the file in order.
fn sequential(pattern: &str) -> Option<bool> {
    let is_random = base(pattern).strip_prefix("rand");
    let word = is_random.unwrap_or(base(pattern));
    let is_known = ["read", "write", "trim", "rw", "readwrite", "trimwrite"].contains(&word);
    is_known.then_some(is_random.is_none())
}

/// The label of a cell: the work alone where the direction tells the rest.
pub(super) fn label(work: &str, word: &str) -> String {
    if direction(word).is_some() { work.to_owned() } else { format!("{work} {word}") }
}

/// kurabe's direction of fio's word.
pub(super) fn direction(word: &str) -> Option<Direction> {
    match word {
        "read" => Some(Direction::Read),
        "write" => Some(Direction::Write),
        "mixed" => Some(Direction::Mix),
        _ => None,
    }
}

/// The percentile of a list, which fio fills up with those of 0 %.
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
