//! Options of a fio job for a workload, and the features that fio lacks.
//!
//! Every field of a workload becomes options, notes, or both: here, or by the table of options for values that fio has
//! in the same form. Meanings of the options: fio's HOWTO, version 3.33, and its sources where it is silent.

mod geometry;

use crate::job::OwnStep;
use crate::values::PAGE_RANGE_FLAGS;
use crate::written::geometry::{JobGroup, geometry};
use kurabe_core::issue::{Engine, RecordedEngine, WaitMode};
use kurabe_core::profile::{FioForm, OPTIONS, OptionInput};
use kurabe_core::workload::{
    AccessZone, Arrival, BlockSize, BlocksInOrder, Data, EndSync, FioPlaces, Flow, OpenLoop, Pattern,
    Processors, SyncRule, TimeCheck, Trims, Workload,
};
use kurabe_core::{Text, mention::RUN, record::EngineRecord, text};

/// Largest block whose every byte kurabe changes before it is written again. Larger blocks get a stamp
/// in every 4 KiB, as with fio's `scramble_buffers`.
const REFILLED_BYTES: u32 = 64 << 10;

/// Options of a section, in order.
pub type OptionList = Vec<(&'static str, String)>;

/// A workload as fio jobs.
pub struct WrittenJobs {
    /// A section for each group of jobs that differ only in their offset.
    pub sections: Vec<OptionList>,
    /// Differences between fio and kurabe.
    pub notes: Vec<Text>,
}

/// Engines of kurabe and their counterparts.
const FIO_ENGINES: [(&str, &str); 3] = [("uring", "io_uring"), ("threads", "psync"), ("mmap", "mmap")];

/// Options common to all sections of a workload, while they are collected.
struct JobDraft {
    options: OptionList,
    notes: Vec<Text>,
}

impl WrittenJobs {
    /// Returns the jobs that repeat a workload, with the engine that kurabe used, with or without the
    /// page cache.
    pub fn of(workload: &Workload, engine: Option<&EngineRecord>, direct: bool) -> Self {
        let threads_engine = engine.is_some_and(|engine| {
            [Engine::Threads, Engine::Mmap].iter().any(|one| engine.name == RecordedEngine::Real(*one))
        });
        let lanes = if threads_engine { u64::from(workload.iodepth).max(1) } else { 1 };
        let (groups, notes) = geometry(workload, lanes);
        let jobs: u64 = groups.iter().map(|group| group.jobs).sum();
        let mut draft = JobDraft { options: Vec::new(), notes };
        draft.engine(engine, if threads_engine { 1 } else { workload.iodepth });
        draft.block_sizes(workload);
        draft.order(workload.pattern, &workload.zones, jobs);
        draft.places(workload.in_order, workload.alignment_bytes);
        draft.share(workload.flow);
        draft.processors(workload.processors.as_ref());
        draft.same_options(workload);
        let share = draft.read_share(workload, workload.read_percent, workload.rewrite_every_reads);
        draft.end(workload, jobs);
        draft.cache(workload, direct);
        if let Some(open) = &workload.open_loop {
            draft.rate(open, share, jobs, threads_engine);
        }
        if workload.writes() {
            draft.sync(&workload.sync);
            draft.options.extend(data_options(workload.data, workload.largest_block_bytes()));
        }
        draft.seed(workload.fio_places, workload.seed, workload.pattern);
        if workload.moving_start {
            draft.note(text!(
                "kurabe starts each repetition at a different offset; fio starts at the first byte",
                "kurabe は毎回違う位置から始めますが、fio は先頭から始めます"
            ));
        }
        if workload.end.time_check != TimeCheck::Always {
            draft.note(time_check_note(workload.end.time_check));
        }
        if lanes > 1 || groups.iter().any(|group| group.hole_bytes > 0) {
            draft.set("description", own_step(workload, jobs).words());
        }
        let sections = groups.iter().map(|group| section(group, workload, share, &draft.options)).collect();
        Self { sections, notes: draft.notes }
    }
}

/// Returns the description of several fio jobs as one step, for reading the file back.
fn own_step(workload: &Workload, jobs: u64) -> OwnStep {
    OwnStep {
        threads: workload.threads,
        iodepth: workload.iodepth,
        offset_bytes: workload.offset_bytes,
        span_bytes: workload.span_bytes,
        share: workload.thread_share,
        is_interleaved: workload.pattern == Pattern::Interleaved,
        jobs,
    }
}

/// Returns whether reads can return to a block, so that the state of the page cache matters.
fn covers_again(workload: &Workload) -> bool {
    let all = workload.end.passes == Some(1)
        || workload.amount_bytes().is_some_and(|bytes| bytes <= workload.span_bytes);
    workload.read_percent > 0 && !all
}

/// Returns the options of one group: its work, its region, and the common options.
fn section(group: &JobGroup, workload: &Workload, share: u8, common: &OptionList) -> OptionList {
    let prefix = if workload.pattern.is_sequential() { "" } else { "rand" };
    let word = match (share, workload.trims) {
        (_, Some(Trims::Only)) => "trim",
        (_, Some(Trims::BeforeWrites)) => "trimwrite",
        (100, None) => "read",
        (0, None) => "write",
        _ => "rw",
    };
    let hole = match (workload.pattern, workload.in_order) {
        (Pattern::Strided { run_bytes: None, gap_bytes }, _) => format!(":{gap_bytes}"),
        (_, Some(BlocksInOrder::Blocks(blocks))) => format!(":{blocks}"),
        _ if group.hole_bytes > 0 => format!(":{}", group.hole_bytes),
        _ => String::new(),
    };
    let mut options = vec![("rw", format!("{prefix}{word}{hole}"))];
    if word == "rw" {
        options.push(("rwmixread", share.to_string()));
    }
    options.push(("offset", group.offset_bytes.to_string()));
    options.push(("size", group.size_bytes.to_string()));
    if group.increment_bytes > 0 && group.jobs > 1 {
        options.push(("offset_increment", group.increment_bytes.to_string()));
    }
    options.push(("numjobs", group.jobs.to_string()));
    options.extend(common.iter().cloned());
    options
}

impl JobDraft {
    fn set(&mut self, name: &'static str, value: impl Into<String>) {
        self.options.push((name, value.into()));
    }

    fn turn_on(&mut self, name: &'static str) {
        self.set(name, "1");
    }

    fn note(&mut self, note: Text) {
        self.notes.push(note);
    }

    fn engine(&mut self, engine: Option<&EngineRecord>, iodepth: u32) {
        let name = engine.map_or("uring", |engine| engine.name.word());
        self.set(
            "ioengine",
            FIO_ENGINES.iter().find(|(own, _)| *own == name).map_or("io_uring", |(_, fio)| fio),
        );
        self.set("iodepth", iodepth.to_string());
        let Some(engine) = engine.filter(|engine| engine.name == RecordedEngine::Real(Engine::Uring)) else {
            return;
        };
        for (feature, option) in [("registered-buffers", "fixedbufs"), ("registered-file", "registerfiles")] {
            if engine.features.iter().any(|own| own == feature) {
                self.turn_on(option);
            }
        }
        if engine.wait == WaitMode::Poll {
            self.turn_on("hipri");
        }
    }

    /// Sets the handling of the page cache.
    fn cache(&mut self, workload: &Workload, direct: bool) {
        if !direct && covers_again(workload) {
            self.set("invalidate", "0");
            self.note(text!(
                "kurabe drops the page cache once before the repetition, but fio would drop it before \
                 every pass: this is disabled; drop it first with: sync; echo 1 > \
                 /proc/sys/vm/drop_caches",
                "kurabe はページキャッシュを最初に 1 回だけ破棄しますが、fio は 1 周ごとに破棄するため、しないよう指定しています。\
                 先に sync; echo 1 > /proc/sys/vm/drop_caches で破棄してください"
            ));
        }
    }

    fn processors(&mut self, processors: Option<&Processors>) {
        let Some(Processors { numbers, one_each }) = processors else { return };
        let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
        self.set("cpus_allowed", numbers.join(","));
        if *one_each {
            self.set("cpus_allowed_policy", "split");
        }
    }

    fn block_sizes(&mut self, workload: &Workload) {
        if let ([block], []) = (workload.block_sizes.as_slice(), workload.write_block_sizes.as_slice()) {
            return self.set("bs", block.size_bytes.to_string());
        }
        let mut split = self.split(&workload.block_sizes);
        if !workload.write_block_sizes.is_empty() {
            split = format!("{split},{}", self.split(&workload.write_block_sizes));
        }
        self.set("bssplit", split);
    }

    fn split(&mut self, sizes: &[BlockSize]) -> String {
        let weights: Vec<u32> = sizes.iter().map(|block| block.weight).collect();
        let (percents, exact) = percents(&weights);
        if !exact {
            self.note(text!(
                "fio takes the shares of block sizes in whole percents: they are rounded",
                "fio ではブロックサイズの割合を整数のパーセントで指定するため、丸めています"
            ));
        }
        let shares = sizes.iter().zip(percents).filter(|(_, percent)| *percent > 0);
        let split: Vec<String> =
            shares.map(|(block, percent)| format!("{}/{percent}", block.size_bytes)).collect();
        split.join(":")
    }

    /// Sets the options whose value fio has in the same form.
    fn same_options(&mut self, workload: &Workload) {
        for option in OPTIONS {
            let (Some(name), Some(input)) = (option.fio.first(), option.value_of(&workload.access)) else {
                continue;
            };
            let time = matches!(option.fio_form, FioForm::Seconds | FioForm::Micros);
            match input {
                OptionInput::Number(ns) if time => self.set(name, time_words(ns)),
                OptionInput::Number(number) => self.set(name, number.to_string()),
                OptionInput::Real(number) => self.set(name, number.to_string()),
                OptionInput::On(is_on) => self.set(name, u8::from(is_on).to_string()),
                OptionInput::Words(word) => self.set(name, word),
                OptionInput::Sizes(_) | OptionInput::Zones(_) | OptionInput::Processors(_) => {}
            }
        }
    }

    fn places(&mut self, in_order: Option<BlocksInOrder>, alignment_bytes: Option<u32>) {
        if let Some(BlocksInOrder::Percent(percent)) = in_order {
            self.set("percentage_random", 100u8.saturating_sub(percent).to_string());
        }
        if let Some(bytes) = alignment_bytes {
            self.set("blockalign", bytes.to_string());
        }
    }

    fn seed(&mut self, places: Option<FioPlaces>, seed: u64, pattern: Pattern) {
        match places {
            // fio multiplies the seed by the job's number: with 0, all jobs would use the same offsets.
            None if seed > 0 && !pattern.is_sequential() => self.set("randseed", seed.to_string()),
            Some(FioPlaces { seed: Some(seed), .. }) => self.set("randseed", seed.to_string()),
            _ => {}
        }
        if places.is_some_and(|places| places.is_wide) {
            self.set("random_generator", "tausworthe64");
        }
    }

    fn share(&mut self, flow: Option<Flow>) {
        if let Some(Flow { weight, group }) = flow {
            self.set("flow", weight.to_string());
            self.set("flow_id", group.to_string());
        }
    }

    fn order(&mut self, pattern: Pattern, zones: &[AccessZone], jobs: u64) {
        let distribution = match pattern {
            Pattern::Strided { run_bytes: Some(run_bytes), gap_bytes } => {
                self.set("zonemode", "strided");
                self.set("zonesize", run_bytes.to_string());
                return self.set("zoneskip", gap_bytes.to_string());
            }
            Pattern::Sequential | Pattern::Interleaved | Pattern::Strided { .. } => return,
            Pattern::Permutation if jobs > 1 => return self.note(text!(
                "kurabe's workers visit every block once together; each of fio's jobs visits every block once itself",
                "kurabe では全ワーカーで各ブロックを 1 回ずつ訪れますが、fio ではジョブごとに全ブロックを 1 回ずつ訪れます"
            )),
            Pattern::Permutation => return,
            Pattern::Random if zones.is_empty() => return self.turn_on("norandommap"),
            Pattern::Random => {
                let zone = |zone: &AccessZone| format!("{}/{}", zone.access_percent, zone.span_percent);
                let zones: Vec<String> = zones.iter().map(zone).collect();
                format!("zoned:{}", zones.join(":"))
            }
            Pattern::Pareto { skew } => format!("pareto:{skew}"),
            Pattern::Normal { deviation_percent } => format!("normal:{deviation_percent}"),
            Pattern::Zipf { exponent: 1.0 } => {
                self.note(text!(
                    "fio does not accept the exponent 1: a value close to it is given",
                    "fio は指数 1 を受け付けないため、ごく近い値を指定しています"
                ));
                "zipf:1.0001".to_owned()
            }
            Pattern::Zipf { exponent } => format!("zipf:{exponent}"),
        };
        self.set("random_distribution", distribution);
        self.turn_on("norandommap");
    }

    /// Sets the share of reads in percent.
    fn read_share(&mut self, workload: &Workload, read_percent: u8, rewrite_every: Option<u32>) -> u8 {
        let Some(every) = rewrite_every else {
            if !matches!(read_percent, 0 | 100) && workload.pattern.is_sequential() {
                self.note(text!(
                    "kurabe's reads and writes are one stream of offsets; in a sequential mix fio's have \
                     a position each",
                    "kurabe では読み書きが 1 つのオフセット列を共有しますが、fio のシーケンシャル混合では読みと書きがそれぞれの位置を持ちます"
                ));
            }
            return read_percent.min(100);
        };
        self.note(text!(
            "kurabe writes back every block number {every} that it has read; fio cannot: this job mixes \
             in as many writes at other offsets. For the exact procedure, use `{RUN}` with the same \
             profile",
            "kurabe は {every} 回読むごとにその場所へ書き戻しますが、fio にはその機能がないため、同じ回数の書き込みを別の場所に混ぜて\
             います。正確に再現するには同じプロファイルで `{RUN}` を使ってください"
        ));
        u8::try_from(100 * u64::from(every) / (u64::from(every) + 1)).unwrap_or(99).clamp(1, 99)
    }

    fn end(&mut self, workload: &Workload, jobs: u64) {
        let amount = workload.amount_bytes();
        if let Some(bytes) = amount {
            let grain = u64::from(workload.grain_bytes()).max(1);
            let each = (bytes / jobs.max(1) / grain * grain).max(grain);
            let all = each.saturating_mul(jobs);
            if all != bytes {
                self.note(text!(
                    "kurabe did {bytes} bytes; fio's jobs all do the same amount, together {all} bytes",
                    "kurabe は {bytes} バイトを処理しましたが、fio ではジョブごとに同量ずつ、合計 {all} バイトになります"
                ));
            }
            self.set("io_size", each.to_string());
        }
        if let Some(time_ns) = workload.end.time_ns {
            self.set("runtime", time_words(time_ns));
            if amount.is_none() {
                self.turn_on("time_based");
            }
        }
    }

    fn rate(&mut self, open: &OpenLoop, share: u8, jobs: u64, offload: bool) {
        let each = open.rate_iops / jobs.max(1) as f64;
        let whole = |iops: f64| (iops.round() as u64).max(1);
        let reads = whole(each * f64::from(share) / 100.0);
        let writes = whole(each * f64::from(100 - share) / 100.0);
        // Reads and writes each have their own rate.
        let (rate, sum) = match share {
            100 => (reads.to_string(), reads),
            0 => (format!(",{writes}"), writes),
            _ => (format!("{reads},{writes}"), reads + writes),
        };
        let given = sum.saturating_mul(jobs);
        if given as f64 != open.rate_iops {
            self.note(text!(
                "kurabe's rate is {} operations per second; fio takes a whole number for each job, together {given}",
                "kurabe の頻度は毎秒 {} 回ですが、fio ではジョブごとに整数で指定するため、合計 {given} 回になります",
                open.rate_iops
            ));
        }
        self.note(text!(
            "kurabe counts a latency from the time at which an operation was due; fio from the time at \
             which it was issued, so a stall shows in fewer operations",
            "kurabe のレイテンシは本来の発行予定時刻から数えますが、fio は実際の発行時刻から数えるため、停止の影響が現れる操作が少なく\
             なります"
        ));
        self.set("rate_iops", rate);
        self.set("rate_process", if open.arrival == Arrival::Even { "linear" } else { "poisson" });
        if offload {
            // Submission does not wait for completions. fio supports this only with engines without
            // their own queue.
            self.set("io_submit_mode", "offload");
        }
    }

    fn sync(&mut self, sync: &SyncRule) {
        let (whole, flush) = if sync.data_only { ("dsync", "fdatasync") } else { ("1", "fsync") };
        if sync.o_sync {
            self.set("sync", whole);
        }
        match (sync.every_writes, sync.page_range_flags) {
            (Some(every), Some(flags)) => {
                let names = PAGE_RANGE_FLAGS.iter().filter(|(_, flag)| flags & flag != 0);
                let names = names.map(|(name, _)| *name).collect::<Vec<_>>().join(",");
                self.set("sync_file_range", format!("{names}:{every}"));
            }
            (Some(every), None) => self.set(flush, every.to_string()),
            (None, _) => {}
        }
        match sync.at_end {
            EndSync::None => {}
            EndSync::Timed => self.turn_on("end_fsync"),
            EndSync::Untimed => self.note(text!(
                "kurabe ends with a fsync outside of the measured time; fio's end_fsync counts: run \
                 `sync` after this job instead",
                "kurabe は計測時間の外で最後に fsync しますが、fio の end_fsync は計測時間に含まれます。代わりにこのジョブの後で `sync` を\
                 実行してください"
            )),
        }
    }
}

/// Returns weights as whole percents with the sum 100, by largest remainder, and whether all of them
/// are exact.
fn percents(weights: &[u32]) -> (Vec<u64>, bool) {
    let sum = weights.iter().map(|weight| u64::from(*weight)).sum::<u64>().max(1);
    let mut shares: Vec<u64> = weights.iter().map(|weight| u64::from(*weight) * 100 / sum).collect();
    let rest = |index: &usize| std::cmp::Reverse(u64::from(weights[*index]) * 100 % sum);
    let missing = 100u64.saturating_sub(shares.iter().sum());
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by_key(rest);
    for index in order.into_iter().take(usize::try_from(missing).unwrap_or(0)) {
        shares[index] += 1;
    }
    (shares, weights.iter().all(|weight| (u64::from(*weight) * 100).is_multiple_of(sum)))
}

/// Formats a time in the largest fio unit that keeps it a whole number, at least 1 µs.
fn time_words(time_ns: u64) -> String {
    match time_ns {
        ns if ns.is_multiple_of(1_000_000_000) => format!("{}s", ns / 1_000_000_000),
        ns if ns.is_multiple_of(1_000_000) => format!("{}ms", ns / 1_000_000),
        ns => format!("{}us", (ns / 1000).max(1)),
    }
}

/// Returns the options for the written data.
pub fn data_options(data: Data, largest_block_bytes: u32) -> OptionList {
    let on = |name: &'static str| vec![(name, "1".to_owned())];
    match data {
        Data::Random if largest_block_bytes <= REFILLED_BYTES => on("refill_buffers"),
        Data::Random => on("scramble_buffers"),
        Data::Zero => on("zero_buffers"),
        Data::Repeat => vec![("dedupe_percentage", "100".to_owned())],
        Data::Compressible { percent } => vec![
            ("buffer_compress_percentage", percent.to_string()),
            ("buffer_compress_chunk", "4096".to_owned()),
            ("refill_buffers", "1".to_owned()),
        ],
    }
}

fn time_check_note(check: TimeCheck) -> Text {
    match check {
        TimeCheck::Operations(count) => text!(
            "kurabe checks the time only after every {count} operations, fio continuously: for the same \
             end, set `number_ios` to the operations of a run",
            "kurabe は {count} 回の操作ごとにだけ時間を確認しますが、fio は常に確認します。終わりを揃えるには `number_ios` に 1 回分の操作数を\
             指定してください"
        ),
        _ => text!(
            "kurabe checks the time only after a complete pass over the span, fio continuously: for the \
             same end, remove `runtime` and `time_based` and set `loops` to the passes of a run",
            "kurabe は範囲を 1 周するごとにだけ時間を確認しますが、fio は常に確認します。終わりを揃えるには `runtime` と `time_based` を消し、\
             `loops` に 1 回分の巡回数を指定してください"
        ),
    }
}
