//! Conversion of a section of a job file to a step.

use super::FioAccess;
use super::notes::Notes;
use super::options::OptionReader;
use super::order::{alignment, direction, fio_places, flow, in_order, pattern, processors};
use super::own::OwnStep;
use super::region::{Reach, Region, region, spread};
use super::steady::steady_rounds;
use crate::log::FioLogKind;
use crate::values::{ONE_BY_ONE, PAGE_RANGE_FLAGS};
use kurabe_core::profile::{
    FioForm, IoStep, LARGEST_BLOCK_BYTES, MOST_IODEPTH, MOST_RATE_IOPS, MOST_THREADS, OPTIONS, OptionInput,
    Overrides, Rounds,
};
use kurabe_core::workload::{
    AccessPattern, Arrival, BlockSize, Data, Direction, End, EndSync, OpenLoop, Pattern, SyncRule,
    ThreadShare, Trims,
};
use kurabe_core::{
    Place, Result,
    mention::{ENGINE, PROFILE},
    text,
};

/// fio engines with their own queue.
const QUEUED: [&str; 4] = ["io_uring", "libaio", "posixaio", "null"];

/// Settings of a section.
#[derive(Clone)]
pub(super) struct SectionJob {
    pub(super) step: IoStep,
    /// Whether to bypass the page cache. `None` for a job that only discards, for which it has no
    /// meaning.
    pub(super) direct: Option<bool>,
    pub(super) access: FioAccess,
    pub(super) seed: Option<u64>,
    /// Rounds, if the job ends in a steady state.
    pub(super) rounds: Option<Rounds>,
    /// Whether it waits for all jobs before it. Otherwise it starts with the previous one.
    pub(super) waits: bool,
    /// Whether it names its file. Otherwise it has its own file.
    pub(super) has_file: bool,
    /// Place of the section.
    pub(super) place: Place,
    /// Number of such jobs, and the distance between their starts.
    pub(super) spread: Option<(u64, Reach)>,
    /// Its logs, each with its file name without the job number.
    pub(super) logs: Vec<(FioLogKind, String)>,
    /// Whether the file name includes the job number.
    pub(super) numbers_logs: bool,
}

pub(super) fn read_job(
    reader: &OptionReader<'_>,
    own: Option<&OwnStep>,
    notes: &mut Notes,
) -> Result<SectionJob> {
    note_idle(reader, own, notes);
    let (direction, order) = direction(reader, own)?;
    let (pattern, zones) = pattern(reader, order)?;
    let in_order = in_order(reader, direction, order)?.filter(|_| !pattern.is_sequential());
    let is_interleaved = own.is_some_and(|own| own.is_interleaved) && pattern.is_sequential();
    let jobs = own.map_or_else(|| reader.jobs(), |own| Ok(own.jobs))?;
    let spread = if own.is_none() { spread(reader, jobs)? } else { None };
    let jobs = if spread.is_some() { 1 } else { jobs };
    let region = region(reader, own, pattern, jobs, notes)?;
    let iodepth = iodepth(reader, notes)?;
    let [block_sizes, write_block_sizes] = block_sizes(reader, direction)?;
    let pattern = if is_interleaved { Pattern::Interleaved } else { pattern };
    let mut step = IoStep {
        span_bytes: region.span_bytes,
        span_percent: region.percent,
        data: data(reader)?,
        ..IoStep::plain(pattern, 4096, 1, vec![direction])
    };
    step.access = AccessPattern {
        read_percent: read_percent(reader)?,
        thread_share: region.share,
        end: end(reader, &region, jobs, &block_sizes)?,
        zones,
        trims: order.trims,
        in_order,
        flow: flow(reader, jobs)?,
        alignment_bytes: alignment(reader)?,
        write_block_sizes: if write_block_sizes == block_sizes { Vec::new() } else { write_block_sizes },
        iodepth: own.map_or(iodepth, |own| own.iodepth),
        threads: own.map_or_else(|| u32::try_from(jobs).unwrap_or(MOST_THREADS), |own| own.threads),
        offset_bytes: match own {
            Some(own) => own.offset_bytes,
            None if region.percent.is_some() => 0,
            None => reader.bytes("offset")?.unwrap_or(0),
        },
        open_loop: open_loop(reader, direction, jobs, &block_sizes, notes)?,
        sync: sync(reader)?,
        block_sizes,
        ..step.access
    };
    same_in_fio(reader)?.change_step(&mut step);
    step.label = Some(beside(&step.label(), reader.name, Some(direction)));
    step.fio_places = if own.is_none() { fio_places(reader, &step, notes)? } else { None };
    let rounds = steady_rounds(reader, &mut step, notes)?;
    let (is_mapped, direct) = way(reader, &mut step, notes)?;
    Ok(SectionJob {
        direct: Some(direct).filter(|_| step.trims != Some(Trims::Only)),
        step,
        rounds,
        access: FioAccess {
            target: target(reader)?,
            keeps_cache: !direct && reader.has("invalidate") && !reader.flag("invalidate")?,
            is_mapped,
            verifies: reader.word("verify")?.is_some_and(|method| !["0", "none", "null"].contains(&method)),
        },
        seed: reader.number("randseed", 0..=u64::MAX)?,
        waits: reader.flag("stonewall")? || reader.has("wait_for"),
        has_file: reader.has("filename"),
        place: reader.place(),
        spread,
        logs: logs(reader)?,
        numbers_logs: !reader.has("per_job_logs") || reader.flag("per_job_logs")?,
    })
}

/// Notes options without an effect. A description written by kurabe has one.
fn note_idle(reader: &OptionReader<'_>, own: Option<&OwnStep>, notes: &mut Notes) {
    let is_idle = |(name, _): &(&str, _)| own.is_none() || *name != "description";
    reader.idle().filter(is_idle).for_each(|(name, why)| notes.idle(name, why));
}

/// Sets the CPUs of the threads, the use of a mapping, and the use of the page cache.
fn way(reader: &OptionReader<'_>, step: &mut IoStep, notes: &mut Notes) -> Result<(bool, bool)> {
    step.processors = processors(reader)?;
    if step.trims == Some(Trims::BeforeWrites) && step.iodepth > 1 {
        notes.add(text!(
            "rw=trimwrite: one block at a time, because each write waits for its trim",
            "rw=trimwrite: 書き込みは trim の完了を待つので、1 ブロックずつ行います"
        ));
    }
    let direct = reader.flag("direct")? || reader.has("buffered") && !reader.flag("buffered")?;
    if reader.word("ioengine")? != Some("mmap") {
        return Ok((false, direct));
    }
    // As in fio, msync of the pages follows each write, within its time.
    step.sync.o_sync = direct;
    notes.add(text!(
        "ioengine=mmap: pages are faulted in with a system call before they are accessed, so that an I/O \
         error is reported and does not end the program; with direct=1, msync follows each write, and \
         sync= has no effect",
        "ioengine=mmap: 触れる前にページを用意させるので、I/O エラーでプログラムが終わりません。direct=1 では書き込みごとに msync し、\
         sync= は効きません"
    ));
    Ok((true, false))
}

/// Returns the logs of a section. Logs without a name are named after the job.
fn logs(reader: &OptionReader<'_>) -> Result<Vec<(FioLogKind, String)>> {
    let mut logs = Vec::new();
    for (kind, option, names) in FioLogKind::ALL {
        if reader.has(option) {
            let stem = if reader.has_value(option) {
                reader.word(option)?.unwrap_or(reader.name)
            } else {
                reader.name
            };
            logs.extend(names.iter().map(|name| (kind, format!("{stem}_{name}"))));
        }
    }
    Ok(logs)
}

/// Returns the label of a job's cell: its work, with the name of the job. Jobs written by kurabe are
/// named after their work and direction, and the direction has its own column in tables.
pub fn beside(work: &str, job: &str, direction: Option<Direction>) -> String {
    let job = job.trim();
    match direction {
        _ if job.is_empty() => work.to_owned(),
        _ if !job.starts_with(work) => format!("{work} · {job}"),
        Some(direction) => job.strip_suffix(direction.word()).unwrap_or(job).trim_end().to_owned(),
        None => job.to_owned(),
    }
}

/// Returns the target. A file name is relative to the directory, if there is one.
fn target(reader: &OptionReader<'_>) -> Result<Option<String>> {
    let [directory, file] = ["directory", "filename"].map(|name| reader.word(name));
    Ok(match (directory?, file?) {
        (Some(directory), Some(file)) if !file.starts_with('/') => {
            Some(format!("{}/{file}", directory.trim_end_matches('/')))
        }
        (directory, file) => file.or(directory).map(str::to_owned),
    }
    .map(|name| name.replace("\\:", ":")))
}

/// Reads the options whose value fio's job files have in the same form.
fn same_in_fio(reader: &OptionReader<'_>) -> Result<Overrides> {
    let mut overrides = Overrides::default();
    for option in OPTIONS {
        let Some(name) = option.fio.first().filter(|name| reader.has(name)) else { continue };
        let above_zero = |ns: u64| (ns > 0).then_some(OptionInput::Number(ns));
        let input = match option.fio_form {
            FioForm::Other => None,
            FioForm::Number => reader.number(name, 0..=u64::from(u32::MAX))?.map(OptionInput::Number),
            FioForm::Real | FioForm::Word => reader.word(name)?.map(OptionInput::Words),
            FioForm::Flag => reader.flag(name)?.then_some(OptionInput::On(true)),
            FioForm::Seconds => reader.time_ns(name)?.and_then(above_zero),
            FioForm::Micros => reader.micros_ns(name)?.and_then(above_zero),
        };
        if let Some(input) = input {
            overrides.set(option.name, input).map_err(|remedy| reader.wrong(name).remedy(remedy))?;
        }
    }
    Ok(overrides)
}

/// Returns the sizes of reads and of writes. For one direction, both are the same.
fn block_sizes(reader: &OptionReader<'_>, direction: Direction) -> Result<[Vec<BlockSize>; 2]> {
    let block = |words: &str| {
        let bytes = reader.size(words).filter(|bytes| (1..=LARGEST_BLOCK_BYTES).contains(bytes))?;
        u32::try_from(bytes).ok()
    };
    let one = |words: &str| Some(vec![BlockSize { size_bytes: block(words)?, weight: 1 }]);
    let range = |words: &str| {
        let (least, most) = words.split_once('-')?;
        ascending_sizes(block(least)?, block(most)?)
    };
    let split = |words: &str| -> Option<Vec<BlockSize>> {
        let parts = words.split(':').map(|part| {
            let (size, percent) = part.split_once('/').unwrap_or((part, ""));
            let percent = if percent.is_empty() { Some(None) } else { percent.parse::<u32>().ok().map(Some) };
            Some((block(size)?, percent?.filter(|percent| *percent <= 100)))
        });
        let parts: Vec<(u32, Option<u32>)> = parts.collect::<Option<_>>()?;
        // Sizes without a share get equal parts of the remainder.
        let taken: u64 = parts.iter().filter_map(|(_, percent)| percent.map(u64::from)).sum();
        let left = 100u64.checked_sub(taken)? as u32;
        let open = parts.iter().filter(|(_, percent)| percent.is_none()).count().max(1) as u32;
        let weight = |percent: Option<u32>| percent.map_or(left, |percent| percent * open);
        let sizes = parts
            .iter()
            .map(|(size_bytes, percent)| BlockSize { size_bytes: *size_bytes, weight: weight(*percent) });
        let sizes: Vec<BlockSize> = sizes.filter(|size| size.weight > 0).collect();
        Some(sizes).filter(|sizes| !sizes.is_empty())
    };
    type ReadSizes<'a> = &'a dyn Fn(&str) -> Option<Vec<BlockSize>>;
    let (name, read): (&str, ReadSizes<'_>) = match () {
        () if reader.has("bssplit") => ("bssplit", &split),
        () if reader.has("bsrange") => ("bsrange", &range),
        () => ("bs", &one),
    };
    let [reads, writes] = reader.of_direction(name, direction)?.unwrap_or(["4k"; 2]).map(read);
    let remedy = text!(
        "sizes up to 1 GiB: bs=4k, bsrange=4k-64k, bssplit=4k/90:64k/10",
        "大きさは 1 GiB までで、bs=4k、bsrange=4k-64k、bssplit=4k/90:64k/10 のように書いてください"
    );
    reader.taken(reads.zip(writes).map(|(reads, writes)| [reads, writes]), name, remedy)
}

/// Returns every multiple of the minimum size up to the maximum, with equal shares. If there are too
/// many, each size is twice the previous one.
fn ascending_sizes(least: u32, most: u32) -> Option<Vec<BlockSize>> {
    const MOST_SIZES: u32 = 256;
    let weight = 1;
    let doubling = most / least > MOST_SIZES;
    let next = |size: &u32| if doubling { size.checked_mul(2) } else { size.checked_add(least) };
    let sizes = std::iter::successors(Some(least), next).take_while(|size| *size <= most);
    let sizes: Vec<BlockSize> = sizes.map(|size_bytes| BlockSize { size_bytes, weight }).collect();
    Some(sizes).filter(|sizes| !sizes.is_empty())
}

fn read_percent(reader: &OptionReader<'_>) -> Result<u8> {
    let reads = reader.number("rwmixread", 0..=100)?;
    let writes = reader.number("rwmixwrite", 0..=100)?.map(|percent| 100 - percent);
    Ok(reads.or(writes).unwrap_or(50) as u8)
}

fn iodepth(reader: &OptionReader<'_>, notes: &mut Notes) -> Result<u32> {
    let asked = reader.number("iodepth", 1..=u64::from(MOST_IODEPTH))?.unwrap_or(1) as u32;
    let engine = reader.word("ioengine")?;
    if let Some(name) = engine.filter(|name| *name != "mmap") {
        notes.add(text!(
            "ioengine={name}: kurabe chooses the engine itself (change it with {ENGINE})",
            "ioengine={name}: 発行の方法は kurabe が選びます({ENGINE} で指定)"
        ));
    }
    match engine.unwrap_or("psync") {
        name if QUEUED.contains(&name) => Ok(asked),
        name if ONE_BY_ONE.contains(&name) => {
            if asked > 1 {
                notes.add(text!(
                    "iodepth={asked} of [{}] is effectively 1: fio's engine {name} runs one operation at \
                     a time (ioengine=io_uring has a queue)",
                    "[{}] の iodepth={asked} は実際には 1 です。fio のエンジン {name} は操作を 1 つずつ行います(キューがあるのは \
                     ioengine=io_uring など)",
                    reader.name
                ));
            }
            Ok(1)
        }
        _ => Err(reader.wrong("ioengine").remedy(text!(
            "io_uring, libaio, posixaio, psync, sync, vsync, pvsync, pvsync2 and mmap have counterparts; \
             for file-name operations, use {PROFILE} mdtest-easy",
            "対応があるのは io_uring、libaio、posixaio、psync、sync、vsync、pvsync、pvsync2、mmap です。\
             ファイル名の操作は {PROFILE} mdtest-easy で測れます"
        ))),
    }
}

fn end(reader: &OptionReader<'_>, region: &Region, jobs: u64, blocks: &[BlockSize]) -> Result<End> {
    let time_ns = reader.time_ns("runtime")?.filter(|time_ns| *time_ns > 0);
    if reader.flag("time_based")? {
        if time_ns.is_none() {
            let what = text!("`time_based` has no runtime", "`time_based` に runtime がありません");
            return Err(reader
                .error("time_based", what)
                .remedy(text!("write runtime=30", "runtime=30 のように書いてください")));
        }
        return Ok(End { time_ns, ..End::default() });
    }
    let loops = reader.number("loops", 1..=u64::from(u32::MAX))?.unwrap_or(1);
    let of_all = |each: u64| each.saturating_mul(jobs).saturating_mul(loops);
    let operations = match (reader.number("number_ios", 1..=u64::MAX)?, blocks) {
        (None, _) => None,
        (Some(count), [block]) => Some(of_all(count.saturating_mul(u64::from(block.size_bytes)))),
        (Some(_), _) => {
            return Err(reader.wrong("number_ios").remedy(text!(
                "use io_size= together with bssplit=",
                "bssplit= とは io_size= を使ってください"
            )));
        }
    };
    // Jobs that choose random blocks of one common span each process as many bytes as it has.
    let drawn = jobs > 1 && region.share == ThreadShare::Usual && region.span_bytes == region.each_bytes;
    let bytes = reader.bytes("io_size")?.map(of_all).or(region.each_bytes.filter(|_| drawn).map(of_all));
    let bytes = bytes.into_iter().chain(operations).min();
    let passes = if drawn { loops.saturating_mul(jobs) } else { loops };
    let passes = if bytes.is_none() { Some(u32::try_from(passes).unwrap_or(u32::MAX)) } else { None };
    Ok(End { time_ns, bytes, passes, ..End::default() })
}

fn open_loop(
    reader: &OptionReader<'_>,
    direction: Direction,
    jobs: u64,
    blocks: &[BlockSize],
    notes: &mut Notes,
) -> Result<Option<OpenLoop>> {
    let arrivals = [("linear", Arrival::Even), ("poisson", Arrival::Poisson)];
    let remedy = text!("linear or poisson", "linear か poisson です");
    let arrival = reader.choice("rate_process", &arrivals, remedy)?;
    let (name, bytes) = match (reader.has("rate_iops"), reader.has("rate")) {
        (true, _) => ("rate_iops", 1.0),
        (false, true) => ("rate", mean_bytes(blocks)),
        (false, false) => return Ok(None),
    };
    let Some(rates) = reader.of_direction(name, direction)? else { return Ok(None) };
    let [reads, writes] = rates.map(|word| match word {
        "" => Some(0.0),
        word => reader.size(word).map(|number| number as f64 / bytes),
    });
    let each = match direction {
        Direction::Read => reads,
        Direction::Write => writes,
        // A single rate applies to each of them.
        Direction::Mix => reads.zip(writes).map(|(reads, writes)| reads + writes),
    };
    if each == Some(0.0) {
        return Ok(None);
    }
    let rate_iops = each.map(|each| each * jobs as f64).filter(|rate| *rate > 0.0 && *rate <= MOST_RATE_IOPS);
    let remedy = text!("a number, or READS,WRITES", "数値か、読み,書き です");
    let rate_iops = reader.taken(rate_iops, name, remedy)?;
    notes.add(text!(
        "{name}: kurabe counts a latency from the time at which an operation was due, fio from the time \
         at which it was issued",
        "{name}: kurabe のレイテンシは発行予定時刻から、fio は実際の発行時刻から数えます"
    ));
    Ok(Some(OpenLoop { rate_iops, arrival }))
}

/// Returns the mean block size.
fn mean_bytes(blocks: &[BlockSize]) -> f64 {
    let sum = |of: fn(&BlockSize) -> f64| blocks.iter().map(of).sum::<f64>();
    sum(|block| f64::from(block.size_bytes) * f64::from(block.weight)) / sum(|block| f64::from(block.weight))
}

fn sync(reader: &OptionReader<'_>) -> Result<SyncRule> {
    let (not, is, is_of_data) = ((false, false), (true, false), (true, true));
    let ways = [("0", not), ("none", not), ("1", is), ("sync", is), ("dsync", is_of_data)];
    let remedy = text!("0, 1, none, sync or dsync", "0、1、none、sync、dsync です");
    let (o_sync, is_dsync) = reader.choice("sync", &ways, remedy)?;
    let every =
        |name| reader.number(name, 0..=u64::from(u32::MAX)).map(|every| every.filter(|every| *every > 0));
    let (all, data_only) = (every("fsync")?, every("fdatasync")?);
    let remedy = text!("one of fsync= and fdatasync=", "fsync= と fdatasync= のどちらか一方にしてください");
    reader.require(all.is_none() || data_only.is_none(), "fdatasync", remedy)?;
    let (page_range_flags, page_range_writes) = page_range(reader)?.unzip();
    let remedy = text!(
        "alone: the other options flush the device, but this one does not",
        "単独で指定してください。ほかはデバイスまで書き出しますが、これは書き出しません"
    );
    let is_alone =
        all.or(data_only).is_none() && !reader.flag("end_fsync")? && !reader.flag("fsync_on_close")?;
    reader.require(page_range_flags.is_none() || is_alone, "sync_file_range", remedy)?;
    let at_end = reader.flag("end_fsync")? || reader.flag("fsync_on_close")?;
    Ok(SyncRule {
        o_sync,
        data_only: is_dsync || data_only.is_some(),
        every_writes: all.or(data_only).map(|every| every as u32).or(page_range_writes),
        page_range_flags,
        at_end: if at_end { EndSync::Timed } else { EndSync::None },
    })
}

/// Parses `sync_file_range=wait_before,write:8`: the flags, and the number of writes.
fn page_range(reader: &OptionReader<'_>) -> Result<Option<(u32, u32)>> {
    let Some(words) = reader.word("sync_file_range")? else { return Ok(None) };
    let flag = |word: &str| PAGE_RANGE_FLAGS.iter().find(|(name, _)| *name == word).map(|(_, flag)| *flag);
    let read = || {
        let (names, writes) = words.rsplit_once(':')?;
        let flags = names.split(',').map(flag).sum::<Option<u32>>()?;
        Some((flags, writes.parse().ok().filter(|writes| *writes > 0)?))
    };
    let remedy = text!(
        "write:8, or wait_before,write,wait_after:8",
        "write:8 か wait_before,write,wait_after:8 のように書いてください"
    );
    reader.taken(read().map(Some), "sync_file_range", remedy)
}

/// Returns the written data. `None` if the job does not specify it.
fn data(reader: &OptionReader<'_>) -> Result<Option<Data>> {
    let percent = reader.number("buffer_compress_percentage", 0..=100)?.unwrap_or(0) as u8;
    if percent > 0 {
        return Ok(Some(Data::Compressible { percent }));
    }
    match reader.number("dedupe_percentage", 0..=100)?.unwrap_or(0) {
        0 => {}
        100 => return Ok(Some(Data::Repeat)),
        _ => return Err(reader.wrong("dedupe_percentage").remedy(text!("0 or 100", "0 か 100 です"))),
    }
    if reader.flag("zero_buffers")? {
        return Ok(Some(Data::Zero));
    }
    let is_random = reader.flag("refill_buffers")? || reader.flag("scramble_buffers")?;
    Ok(is_random.then_some(Data::Random))
}
