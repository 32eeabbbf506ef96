//! Lines of a job file, and the values of its options.

use crate::import::size_bytes;
use kurabe_core::mention::{REPLAY, RUN};
use kurabe_core::profile::{MOST_THREADS, OPTIONS};
use kurabe_core::{Error, ErrorKind, Place, Result, Text, closest, text};
use std::ops::{Range, RangeInclusive};

/// Options that are understood, beside those that are in the table of a workload's options.
const OTHERS: &str = "bssplit buffer_compress_chunk buffer_compress_percentage create_only dedupe_percentage directory \
    end_fsync filename hipri invalidate io_size io_submit_mode ioengine kb_base norandommap nrfiles \
    number_ios offset_increment percentage_random random_distribution randrepeat randseed rate_process \
    refill_buffers rwmixwrite scramble_buffers stonewall sync thinktime time_based zero_buffers \
    fdatasync rate";

/// Options of how fio reports, makes its files or takes its time, which kurabe does in its own way.
const IDLE: &str = "allow_file_create allrandrepeat bwavgtime clat_percentiles clocksource create_fsync create_on_open \
    create_serialize description disable_bw_measurement disable_clat disable_lat disable_slat exitall \
    exitall_on_error fallocate file_service_type fixedbufs group_reporting gtod_reduce iopsavgtime \
    lat_percentiles log_avg_msec log_hist_msec log_max_value log_offset log_unix_epoch name new_group \
    overwrite per_job_logs percentile_list random_generator registerfiles significant_figures \
    slat_percentiles softrandommap stats thread unified_rw_reporting unit_base unlink write_bw_log \
    write_iops_log write_lat_log";

/// Names of all options that are understood.
pub(super) fn understood() -> Vec<&'static str> {
    let of_workload = OPTIONS.iter().flat_map(|option| option.fio.iter().copied());
    of_workload.chain(OTHERS.split(' ')).collect()
}

fn is_idle(name: &str) -> bool {
    IDLE.split(' ').any(|idle| idle == name)
}

/// Options that are on where they have no value.
const BARE: [&str; 6] = ["hipri", "norandommap", "refill_buffers", "stonewall", "time_based", "zero_buffers"];

/// Other names of options.
const ALIASES: [(&str, &str); 7] = [
    ("readwrite", "rw"),
    ("blocksize", "bs"),
    ("timeout", "runtime"),
    ("io_limit", "io_size"),
    ("fileoffset", "offset"),
    ("wait_for_previous", "stonewall"),
    ("gtod_cpu", "gtod_reduce"),
];

/// An option as written.
#[derive(Clone, Debug)]
pub(super) struct Written<'s> {
    name: &'s str,
    value: Option<&'s str>,
    range: Range<usize>,
}

/// A section with its own options behind those of the `[global]` sections before it.
pub(super) struct JobSection<'s> {
    pub(super) name: &'s str,
    pub(super) range: Range<usize>,
    options: Vec<Written<'s>>,
}

/// The sections but `[global]`, in order.
pub(super) fn sections<'s>(file: &str, source: &'s str) -> Result<Vec<JobSection<'s>>> {
    let mut global: Vec<Written<'s>> = Vec::new();
    let mut sections: Vec<JobSection<'s>> = Vec::new();
    let mut is_global = None;
    let mut from = 0;
    for whole in source.split_inclusive('\n') {
        let start = from + (whole.len() - whole.trim_start().len());
        from += whole.len();
        let line = whole.trim();
        let range = start..start + line.len();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|(name, _)| name)
        {
            is_global = Some(name == "global");
            if name != "global" {
                sections.push(JobSection { name, range, options: global.clone() });
            }
            continue;
        }
        let (name, value) = match line.split_once('=') {
            Some((name, value)) => (name.trim(), Some(value.trim())),
            None => (line, None),
        };
        let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, name)| name);
        let option = Written { name, value, range: range.clone() };
        match (is_global, sections.last_mut()) {
            (Some(true), _) => global.push(option),
            (Some(false), Some(section)) => section.options.push(option),
            _ => {
                return Err(ErrorKind::DataFile
                    .error(text!(
                        "an option stands before the first section",
                        "最初のセクションより前にオプションがあります"
                    ))
                    .at(Place::of(file, source, range))
                    .remedy(text!(
                        "write [global] or [name of a job] above it",
                        "その上に [global] か [ジョブ名] を書いてください"
                    )));
            }
        }
    }
    Ok(sections)
}

/// The options of a section.
pub(super) struct OptionReader<'s> {
    file: &'s str,
    source: &'s str,
    pub(super) name: &'s str,
    section: Range<usize>,
    options: &'s [Written<'s>],
    kb_base: u64,
}

impl<'s> OptionReader<'s> {
    /// The reader of a section, all of whose options are known.
    pub(super) fn of(file: &'s str, source: &'s str, section: &'s JobSection<'s>) -> Result<Self> {
        let JobSection { name, range, options } = section;
        let mut reader = Self { file, source, name, section: range.clone(), options, kb_base: 1024 };
        for option in options {
            reader.check(option)?;
        }
        if let Some(base) = reader.number("kb_base", 1000..=1024)? {
            reader.kb_base = base;
        }
        Ok(reader)
    }

    fn check(&self, option: &Written<'_>) -> Result<()> {
        let (name, place) = (option.name, option.range.clone());
        let understood = understood();
        if understood.contains(&name) || is_idle(name) {
            // fio would put the value of a variable, or a sum, in its place.
            return match option.value {
                Some(value) if value.contains(['$', '(']) => Err(self
                    .error_at(place, text!("`{value}` is not worked out here", "`{value}` は展開できません"))
                    .remedy(text!("write its value", "値をそのまま書いてください"))),
                _ => Ok(()),
            };
        }
        let remedy = match closest(name, &understood) {
            _ if name == "read_iolog" => text!(
                "a trace is done again with `{RUN} {REPLAY} FILE`",
                "トレースの再生は `{RUN} {REPLAY} ファイル` です"
            ),
            Some(nearest) => text!(
                "did you mean `{nearest}`? Otherwise take it out if the figures do not depend on it",
                "`{nearest}` ではありませんか。違う場合、結果に影響しないなら消してください"
            ),
            None => text!(
                "take it out if the figures do not depend on it; a profile in TOML may say what is meant (docs/profiles.md)",
                "結果に影響しないなら消してください。TOML のプロファイルで書けることもあります(docs/profiles.md)"
            ),
        };
        Err(self
            .error_at(place, text!("kurabe does not understand `{name}`", "`{name}` は解釈できません"))
            .remedy(remedy))
    }

    /// Options that are taken and change nothing.
    pub(super) fn idle(&self) -> impl Iterator<Item = &'s str> + '_ {
        self.options.iter().map(|option| option.name).filter(|name| is_idle(name))
    }

    /// The last writing of an option.
    fn written(&self, name: &str) -> Option<&'s Written<'s>> {
        self.options.iter().rev().find(|option| option.name == name)
    }

    /// Whether an option is there.
    pub(super) fn has(&self, name: &str) -> bool {
        self.written(name).is_some()
    }

    /// An error at an option, or at the section if it has none such.
    pub(super) fn error(&self, name: &str, what: Text) -> Error {
        self.error_at(self.written(name).map_or(self.section.clone(), |option| option.range.clone()), what)
    }

    fn error_at(&self, range: Range<usize>, what: Text) -> Error {
        ErrorKind::DataFile.error(what).at(Place::of(self.file, self.source, range))
    }

    /// The error at the section.
    pub(super) fn section_error(&self, what: Text) -> Error {
        self.error_at(self.section.clone(), what)
    }

    /// The error of a value that cannot be done.
    pub(super) fn wrong(&self, name: &str) -> Error {
        let value = self.written(name).and_then(|option| option.value).unwrap_or("");
        self.error(name, text!("kurabe cannot do `{name}={value}`", "`{name}={value}` は行えません"))
    }

    /// Refuses the value of an option unless it can be done, with what would do.
    pub(super) fn require(&self, can_be_done: bool, name: &str, remedy: Text) -> Result<()> {
        if can_be_done { Ok(()) } else { Err(self.wrong(name).remedy(remedy)) }
    }

    /// The words of an option.
    pub(super) fn word(&self, name: &str) -> Result<Option<&'s str>> {
        let Some(option) = self.written(name) else { return Ok(None) };
        match option.value {
            Some(value) if !value.is_empty() => Ok(Some(value)),
            _ => Err(self
                .error(name, text!("`{name}` has no value", "`{name}` に値がありません"))
                .remedy(text!("write {name}=VALUE", "{name}=値 と書いてください"))),
        }
    }

    fn parsed<T>(
        &self,
        name: &str,
        remedy: Text,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>> {
        let Some(word) = self.word(name)? else { return Ok(None) };
        parse(word).map(Some).ok_or_else(|| {
            let what = text!("`{word}` is no value of `{name}`", "`{word}` は `{name}` の値ではありません");
            self.error(name, what).remedy(remedy)
        })
    }

    /// A whole number.
    pub(super) fn number(&self, name: &str, limits: RangeInclusive<u64>) -> Result<Option<u64>> {
        let (low, high) = (limits.start(), limits.end());
        let remedy = text!("a whole number from {low} to {high}", "{low} から {high} までの整数です");
        self.parsed(name, remedy, |word| word.parse().ok().filter(|number| limits.contains(number)))
    }

    /// How many jobs the section is.
    pub(super) fn jobs(&self) -> Result<u64> {
        Ok(self.number("numjobs", 1..=u64::from(MOST_THREADS))?.unwrap_or(1))
    }

    /// On or off; some are on without a value.
    pub(super) fn flag(&self, name: &str) -> Result<bool> {
        match self.written(name).map(|option| option.value) {
            None => Ok(false),
            Some(None) if BARE.contains(&name) => Ok(true),
            Some(_) => Ok(self.number(name, 0..=1)? == Some(1)),
        }
    }

    /// Bytes, as fio writes them.
    pub(super) fn bytes(&self, name: &str) -> Result<Option<u64>> {
        self.parsed(name, size_remedy(), |word| self.size(word))
    }

    /// A size of fio's.
    pub(super) fn size(&self, word: &str) -> Option<u64> {
        size_bytes(word, self.kb_base)
    }

    /// A time in ns; a bare number is seconds.
    pub(super) fn time_ns(&self, name: &str) -> Result<Option<u64>> {
        let remedy = text!("a time such as 30, 30s, 500ms, 5m", "30、30s、500ms、5m のように書いてください");
        self.parsed(name, remedy, time_ns)
    }
}

/// What a size looks like.
pub(super) fn size_remedy() -> Text {
    text!("a size such as 4k, 1m, 16g", "4k、1m、16g のように書いてください")
}

/// A time of fio's in ns; a bare number is seconds.
pub(crate) fn time_ns(word: &str) -> Option<u64> {
    let digits = word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len());
    let factor: u64 = match word[digits..].trim() {
        "us" | "usec" => 1_000,
        "ms" | "msec" => 1_000_000,
        "" | "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return None,
    };
    word[..digits].parse::<u64>().ok()?.checked_mul(factor)
}
