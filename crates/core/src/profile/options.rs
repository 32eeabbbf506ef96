//! The options of a workload. Each row has a name, a value type, a help text, and whether the
//! option has any effect on a model.
//!
//! A row of the table determines the field of [`Overrides`], the flag with fio's names as aliases,
//! the key in an `io` step of a profile (if the step reads it from here), and whether
//! configurations of one target may differ in it. [`Overrides::change_step`] applies workload
//! options to a step. The lab applies the others to the profile, the device and the files. fio job
//! files have their own table in `interop`.
//!
//! # To add an option
//!
//! - Add its row to the table. Profiles, flags, `--vary`, the page and fio jobs read it from there.
//! - Apply it in [`Overrides::change_step`], and obey it in `engine`.
//! - Test the operations that it changes. Describe it in docs/profiles.md.

use crate::data_file::{DataTable, Value};
use crate::issue::{CachePolicy, Engine, EngineChoice, Pages, Settings, WaitMode};
use crate::quantity::{parse_above_zero, parse_bytes, parse_duration_ns};
use crate::words::{Keyword, all_words};
use crate::workload::{Arrival, BlockSize, Data, Direction, End, EndSync, OpenLoop, Pattern};
use crate::{error::Result, profile::IoStep, text, text::Text};
use serde::{Deserialize, Serialize};

/// Maximum number of operations in flight per thread.
pub const MOST_IODEPTH: u32 = 4096;
/// Maximum number of threads.
pub const MOST_THREADS: u32 = 1024;
/// Highest rate of an open loop, in operations per second: one per nanosecond, which is the
/// resolution of due times.
pub const MOST_RATE_IOPS: f64 = 1e9;
/// Largest block size, in bytes.
pub const LARGEST_BLOCK_BYTES: u64 = 1 << 30;

/// The type of an option's value.
#[derive(Clone, Copy, Debug)]
pub enum OptionKind {
    /// A size above zero.
    Bytes,
    /// A block size.
    Block,
    /// A duration above zero.
    Time,
    /// A duration, which may be zero.
    Pause,
    /// An integer in this inclusive range.
    Count(u32, u32),
    /// Any non-negative integer.
    Number,
    /// A number above zero.
    Rate,
    /// No value. Naming the option turns it on, and no value turns it off.
    Switch,
    /// On or off.
    Flag,
    /// One of these keywords.
    Choice(fn() -> Vec<&'static str>),
    /// The data to write.
    Data,
    /// An order of offsets.
    Order,
}

/// The part of a run that an option applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionPart {
    /// A workload: each `io` step of a profile, or the only step of a run without one.
    Workload,
    /// The rules of a profile.
    Rules,
    /// How operations are issued.
    Issue,
    /// Steps of some profiles that are not workloads.
    OtherSteps,
}

/// The description of one option.
#[derive(Clone, Copy, Debug)]
pub struct WorkloadOption {
    /// The option's name.
    pub name: &'static str,
    /// Help text, in English and Japanese.
    pub help: (&'static str, &'static str),
    /// The part of a run that it applies to.
    pub part: OptionPart,
    /// The type of its value.
    pub kind: OptionKind,
    /// Placeholder for its value in usage messages, such as `SIZE`.
    pub value_name: &'static str,
    /// The default value, if it can be written as a keyword.
    pub usual: Option<&'static str>,
    /// fio's names for it, which become aliases of the flag.
    pub fio: &'static [&'static str],
    /// Its key in an `io` step of a profile.
    pub key: Option<&'static str>,
    /// Whether it has no effect on a model, which has neither a kernel nor a page cache.
    pub idle_on_models: bool,
    /// Whether configurations of one target may differ in it.
    pub may_differ: bool,
}

/// An option with default properties, the base of all rows.
const PLAIN: WorkloadOption = WorkloadOption {
    name: "",
    help: ("", ""),
    part: OptionPart::Workload,
    kind: Number,
    value_name: "",
    usual: None,
    fio: &[],
    key: None,
    idle_on_models: false,
    may_differ: true,
};

impl WorkloadOption {
    /// Returns whether the option is either on or off.
    pub fn is_switch(&self) -> bool {
        matches!(self.kind, Switch | Flag)
    }
}

/// Creates the table of options, and a struct with one field for each value.
macro_rules! options {
    ($($name:literal $field:ident: $type:ty, $part:ident, $kind:expr, $value_name:literal
        $(, $column:ident: $value:expr)*; ($en:literal, $ja:literal);)+) => {
        /// All options, with those of a workload first.
        pub const OPTIONS: &[WorkloadOption] = &[$(WorkloadOption {
            name: $name,
            help: ($en, $ja),
            part: OptionPart::$part,
            kind: $kind,
            value_name: $value_name,
            $($column: $value,)*
            ..PLAIN
        },)+];

        /// Values of options that change a procedure. An absent value changes nothing.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(default, deny_unknown_fields)]
        pub struct Overrides {
            $(#[doc = $en] pub $field: Option<$type>,)+
        }

        impl Overrides {
            /// Parses `words` and sets the option to that value. The default value clears the
            /// option.
            ///
            /// # Errors
            /// Fails if the value is invalid or no such option exists.
            pub fn set(&mut self, name: &str, words: &str) -> Result<(), Text> {
                let unknown = || text!("the option `{name}` does not exist", "`{name}` というオプションはありません");
                let option = option(name).ok_or_else(unknown)?;
                let is_given = option.usual != Some(words);
                match name {
                    $($name => self.$field = <$type>::read(option.kind, words)?.filter(|_| is_given),)+
                    _ => {}
                }
                Ok(())
            }

            /// Returns the options that are set, in the order of the table.
            pub fn given(&self) -> impl Iterator<Item = &'static WorkloadOption> {
                let is_given = [$(self.$field.is_some(),)+];
                OPTIONS.iter().zip(is_given).filter(|(_, is_given)| *is_given).map(|(option, _)| option)
            }
        }
    };
}

use OptionKind::{Block, Bytes, Choice, Count, Flag, Number, Order, Pause, Rate, Switch, Time};

options! {
    "rw" rw: (Direction, Pattern), Workload, Choice(all_words::<(Direction, Pattern)>), "PATTERN", fio: &["rw"];
        ("Reads or writes, in ascending or random order", "読み書きと順序");
    "bs" block_bytes: u32, Workload, Block, "SIZE", fio: &["bs"];
        ("Block size [default: 4k]", "ブロックサイズ [既定: 4k]");
    "iodepth" iodepth: u32, Workload, Count(1, MOST_IODEPTH), "N", fio: &["iodepth"], key: Some("iodepth");
        ("Operations in flight per thread [default: 1]", "スレッドごとの同時発行数 [既定: 1]");
    "threads" threads: u32, Workload, Count(1, MOST_THREADS), "N", fio: &["numjobs"], key: Some("threads");
        ("Threads [default: 1]", "スレッド数 [既定: 1]");
    "rwmixread" read_percent: u32, Workload, Count(0, 100), "PERCENT", fio: &["rwmixread"], key: Some("read_percent");
        ("Percentage of reads for rw and randrw [default: 50]", "rw と randrw の読み出しの割合 [既定: 50]");
    "order" order: Pattern, Workload, Order, "ORDER";
        ("Order of offsets: interleaved, permutation, zipf or zipf:EXPONENT",
         "オフセットの順序: interleaved、permutation、zipf、zipf:指数");
    "offset" offset_bytes: u64, Workload, Bytes, "SIZE", fio: &["offset"];
        ("First byte of the span", "範囲の先頭");
    "bytes" end_bytes: u64, Workload, Bytes, "SIZE", key: Some("bytes");
        ("End a repetition after this many bytes", "このバイト数で 1 回を終える");
    "passes" passes: u32, Workload, Count(1, u32::MAX), "N", fio: &["loops"], key: Some("passes");
        ("End a repetition after this many passes over the span", "範囲をこの回数まわったら 1 回を終える");
    "warm-up" warm_up_ns: u64, Workload, Pause, "TIME", fio: &["ramp_time"], key: Some("warm_up");
        ("Time before recording starts", "記録を始める前のウォームアップ時間");
    "rate" rate_iops: f64, Workload, Rate, "IOPS", fio: &["rate_iops"], key: Some("rate_iops");
        ("Open loop: operations per second; latency counts from the due time of each operation",
         "オープンループ: 毎秒の I/O 数(レイテンシは予定時刻から数える)");
    "poisson" poisson: bool, Workload, Switch, "";
        ("Make the arrivals of the open loop a Poisson process", "オープンループの到着をポアソン過程にする");
    "fsync" sync_every_writes: u32, Workload, Count(1, u32::MAX), "N", fio: &["fsync"], key: Some("sync_every_writes");
        ("fsync after every N writes", "N 回の書き込みごとに fsync");
    "end-fsync" end_sync: EndSync, Workload, Choice(all_words::<EndSync>), "WHEN", key: Some("sync_at_end");
        ("fsync at the end of a repetition, inside or outside the measured time [default: none]",
         "1 回の終わりに fsync(時間に含める、含めない)[既定: none]");
    "o-sync" o_sync: bool, Workload, Switch, "", key: Some("o_sync");
        ("Open with O_SYNC", "O_SYNC で開く");
    "size" size_bytes: u64, Rules, Bytes, "SIZE", fio: &["size"];
        ("Size of the test file, or number of bytes of the target to use", "テストファイルの大きさ、または対象のうち使う範囲");
    "runs" runs: u32, Rules, Count(1, 1_000_000), "N", may_differ: false;
        ("Repetitions per test", "各項目の回数");
    "time" time_ns: u64, Rules, Time, "TIME", fio: &["runtime"], may_differ: false;
        ("Time per repetition", "1 回の時間");
    "interval" interval_ns: u64, Rules, Pause, "TIME";
        ("Pause between tests", "項目の間の休み");
    "data" data: Data, Rules, OptionKind::Data, "KIND";
        ("Data to write: random, zero, repeat, or compressible:PERCENT of zeros",
         "書く内容: random、zero、repeat、compressible:ゼロの割合(%)");
    "seed" seed: u64, Rules, Number, "N";
        ("Seed of offsets and data", "オフセットとデータの乱数のシード");
    "engine" engine: EngineChoice, Issue, Choice(all_words::<EngineChoice>), "ENGINE", usual: Some("auto"), idle_on_models: true;
        ("Engine: io_uring, pread/pwrite in threads, mmap (through the page cache), or automatically \
            whichever of the first two does not slow the storage down",
         "エンジン: io_uring、スレッドでの pread/pwrite、mmap(ページキャッシュ経由)、または自動(前の 2 つのうちストレージの性能を引き出せるほう)");
    "wait" wait: WaitMode, Issue, Choice(all_words::<WaitMode>), "MODE", usual: Some("sleep"), idle_on_models: true;
        ("Waiting for completions: sleep, spin, or poll in the kernel (io_uring)",
         "完了の待ち方: スリープ、スピン、カーネルでのポーリング(io_uring)");
    "pages" pages: Pages, Issue, Choice(all_words::<Pages>), "PAGES", usual: Some("4k"), idle_on_models: true;
        ("Page size of the I/O buffers", "I/O バッファーのページ");
    "direct" direct: bool, Issue, Flag, "0|1", fio: &["direct"], idle_on_models: true;
        ("Bypass the page cache, overriding the profile", "ページキャッシュを使わない(プロファイルより優先)");
    "buffered" buffered: bool, Issue, Flag, "0|1", fio: &["buffered"], idle_on_models: true;
        ("Use the page cache; also works where direct I/O is refused",
         "ページキャッシュ経由で測る(ダイレクト I/O が使えない場合にも)");
    "cache" cache: CachePolicy, Issue, Choice(all_words::<CachePolicy>), "POLICY", usual: Some("drop"), idle_on_models: true;
        ("Drop or keep the page cache before each buffered repetition",
         "バッファー経由の各回の前にページキャッシュを破棄するか残すか");
    "chunk" chunk_bytes: u32, OtherSteps, Block, "SIZE", idle_on_models: true;
        ("Copies: bytes read before each write", "コピー: 一度に読んで書くバイト数");
    "files" files: u32, OtherSteps, Count(1, 10_000_000), "N";
        ("git-pull: files in the repository, of which a tenth changes. mdtest: files per thread",
         "git-pull: リポジトリのファイル数(その 1 割が変わる)。mdtest: スレッドごとのファイル数");
}

/// Returns the option with this name.
pub fn option(name: &str) -> Option<&'static WorkloadOption> {
    OPTIONS.iter().find(|option| option.name == name)
}

/// A type that can be parsed as the value of an option.
trait OptionValue: Sized {
    /// Parses a value. Returns `None` if the value means no change.
    fn read(kind: OptionKind, words: &str) -> Result<Option<Self>, Text>;
}

impl<T: Keyword> OptionValue for T {
    fn read(_: OptionKind, words: &str) -> Result<Option<Self>, Text> {
        let unknown = || {
            let all = all_words::<T>().join(", ");
            text!("`{words}` is not one of {all}", "`{words}` は使えません(使えるもの: {all})")
        };
        T::of_word(words).map(Some).ok_or_else(unknown)
    }
}

impl OptionKind {
    /// Parses an integer value, in bytes for a size and in ns for a duration.
    ///
    /// # Errors
    /// Fails if the text is not a number or is out of range for this kind.
    pub fn number(self, words: &str) -> Result<u64, Text> {
        let within = |least: u64, most: u64| {
            let number = words.parse().ok().filter(|number| (least..=most).contains(number));
            number.ok_or_else(|| {
                text!(
                    "`{words}` is not a number from {least} to {most}",
                    "`{words}` は {least} から {most} までの数ではありません"
                )
            })
        };
        let above_zero = |number: u64, ja: &str| match number {
            0 => Err(text!("it must be above zero", "{ja}")),
            number => Ok(number),
        };
        match self {
            Bytes => above_zero(parse_bytes(words)?, "0 より大きい値が必要です"),
            Time => above_zero(parse_duration_ns(words)?, "0 より長い時間が必要です"),
            Pause => parse_duration_ns(words),
            Block => parse_block_size(words).map(u64::from),
            Count(least, most) => within(least.into(), most.into()),
            _ => within(0, u64::MAX),
        }
    }
}

impl OptionValue for u64 {
    fn read(kind: OptionKind, words: &str) -> Result<Option<Self>, Text> {
        kind.number(words).map(Some)
    }
}

impl OptionValue for u32 {
    fn read(kind: OptionKind, words: &str) -> Result<Option<Self>, Text> {
        Ok(Some(kind.number(words)? as Self))
    }
}

impl OptionValue for f64 {
    fn read(_: OptionKind, words: &str) -> Result<Option<Self>, Text> {
        parse_above_zero(words).map(Some)
    }
}

impl OptionValue for bool {
    fn read(kind: OptionKind, words: &str) -> Result<Option<Self>, Text> {
        match words.to_ascii_lowercase().as_str() {
            "yes" | "on" | "true" | "1" => Ok(Some(true)),
            "no" | "off" | "false" | "0" => Ok(Some(false).filter(|_| !matches!(kind, Switch))),
            _ => Err(text!("use yes or no", "値は yes か no です")),
        }
    }
}

impl OptionValue for Data {
    /// Parses a kind of data; `compressible:30` means 30 % zeros.
    fn read(_: OptionKind, words: &str) -> Result<Option<Self>, Text> {
        let data = match words {
            "random" => Some(Self::Random),
            "zero" => Some(Self::Zero),
            "repeat" => Some(Self::Repeat),
            "compressible" => Some(Self::Compressible { percent: 50 }),
            words => {
                let percent = words.strip_prefix("compressible:").and_then(|percent| percent.parse().ok());
                percent.filter(|percent| *percent <= 100).map(|percent| Self::Compressible { percent })
            }
        };
        data.map(Some).ok_or_else(|| {
            text!(
                "one of: random, zero, repeat, compressible, compressible:0 to compressible:100",
                "random、zero、repeat、compressible、compressible:0 から compressible:100 のいずれか"
            )
        })
    }
}

impl OptionValue for Pattern {
    /// Parses a pattern that `rw` can't express, such as `zipf:1.2`.
    fn read(_: OptionKind, words: &str) -> Result<Option<Self>, Text> {
        Ok(Some(match (words, words.split_once(':')) {
            ("interleaved", _) => Self::Interleaved,
            ("permutation", _) => Self::Permutation,
            ("zipf", _) => Self::Zipf { exponent: 1.1 },
            (_, Some(("zipf", exponent))) => Self::Zipf { exponent: parse_above_zero(exponent)? },
            _ => {
                return Err(text!(
                    "one of: interleaved, permutation, zipf, zipf:EXPONENT",
                    "interleaved、permutation、zipf、zipf:指数 のいずれか"
                ));
            }
        }))
    }
}

impl Overrides {
    /// Reads the options that have a key in an `io` step.
    pub(super) fn of_step(table: &DataTable<'_>) -> Result<Self> {
        let mut overrides = Self::default();
        for (option, key) in OPTIONS.iter().filter_map(|option| Some((option, option.key?))) {
            let Some(value) = table.get(key) else { continue };
            let words = match option.kind {
                Count(least, most) => value.integer(least.into()..=most.into())?.to_string(),
                Rate => read_rate(&value)?.to_string(),
                Switch | Flag => value.boolean()?.to_string(),
                Choice(words) => {
                    let words: Vec<_> = words().into_iter().map(|word| (word, word)).collect();
                    value.choice(&words)?.to_owned()
                }
                Bytes => positive_bytes(&value)?.to_string(),
                _ => value.words()?,
            };
            overrides.set(option.name, &words).map_err(|what| value.error(&what))?;
        }
        Ok(overrides)
    }

    /// Returns the settings that determine how operations are issued.
    pub fn settings(&self) -> Settings {
        Settings {
            engine: self.engine.unwrap_or_default(),
            wait: self.wait.unwrap_or_default(),
            pages: self.pages.unwrap_or_default(),
            cache: self.cache.unwrap_or_default(),
        }
    }

    /// Returns whether I/O bypasses the page cache, if an option determines it.
    pub fn is_direct(&self) -> Option<bool> {
        // Mapped pages are part of the page cache.
        let is_mapped = self.engine == Some(EngineChoice::Fixed(Engine::Mmap));
        self.direct.or(self.buffered.map(|is_buffered| !is_buffered)).or(is_mapped.then_some(false))
    }

    /// Returns whether any workload option is set.
    pub fn is_of_workload(&self) -> bool {
        self.given().any(|option| option.part == OptionPart::Workload)
    }

    /// Returns the only step of a run without a profile. By default it performs random reads of 4
    /// KiB, one at a time.
    pub fn single_step(&self) -> IoStep {
        let random_reads = IoStep::plain(Pattern::Random, 4096, 1, vec![Direction::Read]);
        // Stored as requested, even if the step has no mix.
        let read_percent = self.read_percent.map_or(random_reads.read_percent, |percent| percent as u8);
        let mut step = IoStep { read_percent, ..random_reads };
        self.change_step(&mut step);
        if step.end.is_given() {
            step.end.time_ns = self.time_ns;
        }
        step
    }

    /// Applies the workload options to a step. Removes its label if that no longer describes the
    /// step.
    pub fn change_step(&self, step: &mut IoStep) {
        let before = step.clone();
        if let Some((direction, pattern)) = self.rw {
            (step.directions, step.pattern) = (vec![direction], pattern);
        }
        step.pattern = self.order.unwrap_or(step.pattern);
        if let Some(size_bytes) = self.block_bytes {
            step.block_sizes = vec![BlockSize { size_bytes, weight: 1 }];
        }
        step.iodepth = self.iodepth.unwrap_or(step.iodepth);
        step.threads = self.threads.unwrap_or(step.threads);
        if step.directions.contains(&Direction::Mix) {
            let percent = self.read_percent.or(self.rw.map(|_| 50));
            step.read_percent = percent.map_or(step.read_percent, |percent| percent as u8);
        }
        step.offset_bytes = self.offset_bytes.unwrap_or(step.offset_bytes);
        step.warm_up_ns = self.warm_up_ns.unwrap_or(step.warm_up_ns);
        if self.end_bytes.is_some() || self.passes.is_some() {
            step.end = End { bytes: self.end_bytes, passes: self.passes, ..End::default() };
        }
        if let Some(rate_iops) = self.rate_iops {
            step.open_loop = Some(OpenLoop { rate_iops, arrival: Arrival::Even });
        }
        if let (Some(true), Some(open_loop)) = (self.poisson, &mut step.open_loop) {
            open_loop.arrival = Arrival::Poisson;
        }
        step.sync.every_writes = self.sync_every_writes.or(step.sync.every_writes);
        step.sync.at_end = self.end_sync.unwrap_or(step.sync.at_end);
        step.sync.o_sync = self.o_sync.unwrap_or(step.sync.o_sync);
        if *step != before {
            step.label = None;
        }
    }
}

fn read_rate(value: &Value<'_>) -> Result<f64> {
    let rate_iops = value.positive()?;
    if rate_iops > MOST_RATE_IOPS {
        return Err(value.error(&text!(
            "a rate is at most {MOST_RATE_IOPS} operations per second",
            "頻度は毎秒 {MOST_RATE_IOPS} 回までです"
        )));
    }
    Ok(rate_iops)
}

/// Parses a size above zero.
pub(super) fn positive_bytes(value: &Value<'_>) -> Result<u64> {
    value.parsed(|words| match parse_bytes(words)? {
        0 => Err(text!("a size above zero is expected here", "ここには 0 より大きい値を書きます")),
        bytes => Ok(bytes),
    })
}

/// Parses a block size from 1 byte to 1 GiB.
///
/// # Errors
/// Fails if the size is 0, too large, or not a size.
pub fn parse_block_size(words: &str) -> Result<u32, Text> {
    match parse_bytes(words)? {
        0 => Err(text!("a block has at least one byte", "ブロックは 1 バイト以上です")),
        size if size > LARGEST_BLOCK_BYTES => {
            Err(text!("a block has at most 1 GiB", "ブロックは 1 GiB までです"))
        }
        size => Ok(size as u32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_of_one_option_and_a_usual_value_is_none() {
        for option in OPTIONS {
            let names =
                |other: &&WorkloadOption| other.name == option.name || other.fio.contains(&option.name);
            assert_eq!(OPTIONS.iter().filter(names).count(), 1, "{}", option.name);
            assert!(!option.help.0.is_empty() && !option.help.1.is_empty());
            let mut overrides = Overrides::default();
            if let Some(word) = option.usual {
                overrides.set(option.name, word).unwrap();
                assert_eq!(overrides, Overrides::default(), "{word}");
            }
        }
    }

    #[test]
    fn a_value_that_is_set_is_given_and_a_wrong_one_is_refused() {
        let mut overrides = Overrides::default();
        for (name, words) in [("bs", "4k"), ("rw", "randread"), ("o-sync", "no"), ("buffered", "off")] {
            overrides.set(name, words).unwrap();
        }
        let given: Vec<&str> = overrides.given().map(|option| option.name).collect();
        assert_eq!(given, ["rw", "bs", "buffered"], "a switch has no word for off");
        assert_eq!((overrides.block_bytes, overrides.is_direct()), (Some(4096), Some(true)));
        for (name, words) in
            [("iodepth", "0"), ("rw", "trim"), ("size", "0"), ("direct", "maybe"), ("iodpeth", "1")]
        {
            assert!(overrides.set(name, words).is_err(), "{name} {words}");
        }
    }
}
