//! Description that kurabe writes to `description=` of a section if fio needs several jobs for one step
//! of kurabe: a queue depth formed by system threads, or one stream shared by several threads.
//!
//! The model: fio stores the text and ignores it. It counts only while the section and those that
//! belong to it still have the stated number of jobs. If a user changes a job by hand, its other
//! options count.

use kurabe_core::{words::Keyword, workload::ThreadShare};

/// Prefix of the text.
const MARK: &str = "kurabe:";

/// A step that corresponds to several fio jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OwnStep {
    pub(crate) threads: u32,
    pub(crate) iodepth: u32,
    pub(crate) offset_bytes: u64,
    pub(crate) span_bytes: u64,
    pub(crate) share: ThreadShare,
    /// Whether threads take the blocks of one stream alternately.
    pub(crate) is_interleaved: bool,
    /// Number of fio jobs in all sections together.
    pub(crate) jobs: u64,
}

impl OwnStep {
    /// Returns the value of `description=`.
    pub(crate) fn words(&self) -> String {
        let Self { threads, iodepth, offset_bytes, span_bytes, share, is_interleaved, jobs } = self;
        let (share, turn) = (share.word(), u8::from(*is_interleaved));
        format!(
            "{MARK} threads={threads} iodepth={iodepth} offset={offset_bytes} span={span_bytes} share={share} \
             interleaved={turn} jobs={jobs}"
        )
    }

    /// Parses a `description=`. `None` if kurabe did not write it.
    pub(crate) fn read(description: &str) -> Option<Self> {
        let words: Vec<(&str, &str)> = description
            .strip_prefix(MARK)?
            .split_whitespace()
            .filter_map(|word| word.split_once('='))
            .collect();
        let of = |key: &str| words.iter().find(|(name, _)| *name == key).map(|(_, value)| *value);
        let step = Self {
            threads: of("threads")?.parse().ok()?,
            iodepth: of("iodepth")?.parse().ok()?,
            offset_bytes: of("offset")?.parse().ok()?,
            span_bytes: of("span")?.parse().ok()?,
            share: ThreadShare::of_word(of("share")?)?,
            is_interleaved: of("interleaved")? == "1",
            jobs: of("jobs")?.parse().ok()?,
        };
        let (lanes, is_sound) = (u64::from(step.threads) * u64::from(step.iodepth), step.span_bytes > 0);
        let jobs = [lanes, u64::from(step.threads)].contains(&step.jobs) && step.jobs > 0;
        (jobs && is_sound && step.offset_bytes.checked_add(step.span_bytes).is_some()).then_some(step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_they_are_written_and_others_are_nobodys() {
        let step = OwnStep {
            threads: 2,
            iodepth: 4,
            offset_bytes: 4096,
            span_bytes: 1 << 30,
            share: ThreadShare::Parts,
            is_interleaved: true,
            jobs: 8,
        };
        let words = step.words();
        assert_eq!(OwnStep::read(&words), Some(step));
        for other in [
            "",
            "my disk",
            "kurabe: fast",
            &words.replace("jobs=8", "jobs=7"),
            &words.replace("span=1", "span=-1"),
        ] {
            assert_eq!(OwnStep::read(other), None, "{other}");
        }
    }
}
