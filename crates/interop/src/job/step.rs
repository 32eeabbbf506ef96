//! A section of a job file as a step.

use super::options::{OptionReader, size_remedy};
use super::{Notes, OwnStep};
use kurabe_core::profile::{IoStep, LARGEST_BLOCK_BYTES, MOST_IODEPTH, MOST_RATE_IOPS, MOST_THREADS};
use kurabe_core::workload::{
    Arrival, BlockSize, Data, Direction, End, EndSync, OpenLoop, Pattern, SyncRule, ThreadShare,
};
use kurabe_core::{Result, mention::ENGINE, text, words::Keyword};

/// Engines of fio with a queue of their own.
const QUEUED: [&str; 3] = ["io_uring", "libaio", "posixaio"];
/// Engines that do one operation after the other, whatever `iodepth` says.
pub(crate) const ONE_BY_ONE: [&str; 5] = ["psync", "sync", "vsync", "pvsync", "pvsync2"];

/// What a section asks for.
pub(super) struct SectionJob {
    pub(super) step: IoStep,
    pub(super) direct: bool,
    pub(super) keeps_cache: bool,
    pub(super) seed: Option<u64>,
    pub(super) target: Option<String>,
}

/// Reads a section.
pub(super) fn read_job(
    reader: &OptionReader<'_>,
    own: Option<&OwnStep>,
    notes: &mut Notes,
) -> Result<SectionJob> {
    let is_idle = |name: &&str| own.is_none() || *name != "description";
    notes.idle.extend(reader.idle().filter(is_idle).map(str::to_owned));
    let (direction, is_random) = direction(reader, own)?;
    let pattern = pattern(reader, is_random)?;
    let is_interleaved = own.is_some_and(|own| own.is_interleaved) && pattern.is_sequential();
    let jobs = own.map_or_else(|| reader.jobs(), |own| Ok(own.jobs))?;
    let region = match own {
        Some(own) => {
            Region { each_bytes: reader.bytes("size")?, span_bytes: Some(own.span_bytes), share: own.share }
        }
        None => region(reader, pattern, jobs, notes)?,
    };
    let iodepth = iodepth(reader, notes)?;
    let block_sizes = block_sizes(reader, direction)?;
    let mut step = IoStep {
        id: None,
        label: None,
        directions: vec![direction],
        read_percent: read_percent(reader)?,
        pattern: if is_interleaved { Pattern::Interleaved } else { pattern },
        thread_share: region.share,
        end: end(reader, &region, jobs, &block_sizes)?,
        block_sizes,
        iodepth: own.map_or(iodepth, |own| own.iodepth),
        threads: own.map_or_else(|| u32::try_from(jobs).unwrap_or(MOST_THREADS), |own| own.threads),
        offset_bytes: match own {
            Some(own) => own.offset_bytes,
            None => reader.bytes("offset")?.unwrap_or(0),
        },
        span_bytes: region.span_bytes,
        rewrite_every_reads: None,
        open_loop: open_loop(reader, direction, jobs, notes)?,
        warm_up_ns: reader.time_ns("ramp_time")?.unwrap_or(0),
        warm_up_passes: 0,
        sync: sync(reader)?,
        data: data(reader)?,
    };
    refuse_the_rest(reader)?;
    step.label = Some(beside(&step.label(), reader.name, Some(direction)));
    let direct = reader.flag("direct")? || reader.has("buffered") && !reader.flag("buffered")?;
    Ok(SectionJob {
        step,
        direct,
        keeps_cache: !direct && reader.has("invalidate") && !reader.flag("invalidate")?,
        seed: reader.number("randseed", 0..=u64::MAX)?,
        target: reader.word("filename")?.or(reader.word("directory")?).map(|name| name.replace("\\:", ":")),
    })
}

/// What a cell of a job does, and beside it what the job is called. Jobs that kurabe wrote are called by their work, and by the
/// direction, which stands beside it in any table.
pub(crate) fn beside(work: &str, job: &str, direction: Option<Direction>) -> String {
    let job = job.trim();
    match direction {
        _ if job.is_empty() => work.to_owned(),
        _ if !job.starts_with(work) => format!("{work} · {job}"),
        Some(direction) => job.strip_suffix(direction.word()).unwrap_or(job).trim_end().to_owned(),
        None => job.to_owned(),
    }
}

/// Reads or writes, and whether at random; the hole behind each block (`rw=read:HOLE`) is kurabe's own.
fn direction(reader: &OptionReader<'_>, own: Option<&OwnStep>) -> Result<(Direction, bool)> {
    let words = reader.word("rw")?.unwrap_or("read");
    let word = words.split_once(':').filter(|_| own.is_some()).map_or(words, |(word, _)| word);
    let (direction, pattern) = <(Direction, Pattern)>::of_word(word).ok_or_else(|| {
        reader.wrong("rw").remedy(text!(
                "read, write, rw, randread, randwrite and randrw are done, without a number behind them; trims are not",
                "使えるのは read、write、rw、randread、randwrite、randrw です(後ろの数値と trim は不可)"
            ))
    })?;
    Ok((direction, !pattern.is_sequential()))
}

fn pattern(reader: &OptionReader<'_>, is_random: bool) -> Result<Pattern> {
    reader.require(
        !is_random || reader.number("percentage_random", 0..=100)?.is_none_or(|percent| percent == 100),
        "percentage_random",
        text!("100, or rw=read and rw=write", "100 にするか、rw=read、rw=write にしてください"),
    )?;
    let is_free = reader.flag("norandommap")?;
    let distribution = reader.word("random_distribution")?.unwrap_or("random");
    let zipf = |theta: &str| {
        let exponent = theta.parse().ok().filter(|exponent: &f64| exponent.is_finite() && *exponent > 0.0);
        exponent.map(|exponent| Pattern::Zipf { exponent })
    };
    let pattern = match distribution.split_once(':') {
        None if distribution == "random" => {
            Some(if is_free { Pattern::Random } else { Pattern::Permutation })
        }
        None if distribution == "zipf" => zipf("1.1"),
        Some(("zipf", theta)) => zipf(theta),
        _ => None,
    };
    let pattern = pattern.ok_or_else(|| {
        reader.wrong("random_distribution").remedy(text!("random or zipf:THETA", "random か zipf:THETA です"))
    })?;
    Ok(if is_random { pattern } else { Pattern::Sequential })
}

/// What part of the target the jobs of a section cover.
struct Region {
    /// Bytes of each job; all of the target if absent.
    each_bytes: Option<u64>,
    span_bytes: Option<u64>,
    share: ThreadShare,
}

fn region(reader: &OptionReader<'_>, pattern: Pattern, jobs: u64, notes: &mut Notes) -> Result<Region> {
    let size = reader.word("size")?.filter(|size| *size != "100%");
    let is_share = size.is_some_and(|size| size.ends_with('%'));
    reader.require(!is_share, "size", text!("bytes, or 100%", "バイト数か 100% です"))?;
    let each_bytes = if size.is_some() { reader.bytes("size")? } else { None };
    reader.require(each_bytes != Some(0), "size", size_remedy())?;
    let has_one_name = reader.word("filename")?.is_none_or(|name| !name.replace("\\:", "").contains(':'));
    let remedy = text!("one file or device", "ファイルかデバイスを 1 つ指定してください");
    reader.require(has_one_name, "filename", remedy)?;
    let has_one_file = reader.number("nrfiles", 1..=u64::MAX)?.is_none_or(|files| files == 1);
    reader.require(has_one_file, "nrfiles", text!("one file", "ファイルは 1 つです"))?;
    let increment = reader.bytes("offset_increment")?.unwrap_or(0);
    let own_files = jobs > 1 && !reader.has("filename");
    if own_files {
        notes.add(text!(
            "without filename= each of fio's jobs has a file of its own; here each has a part of one file",
            "fio では filename= がなければジョブごとに別のファイルを使いますが、ここでは 1 つのファイルを分け合います"
        ));
    }
    let apart = jobs > 1 && (increment > 0 || own_files);
    reader.require(
        increment == 0 || !own_files && Some(increment) == each_bytes,
        "offset_increment",
        text!("as much as size=, with a filename=", "filename= を指定し、size= と同じ値にしてください"),
    )?;
    let is_usual = match pattern {
        Pattern::Sequential | Pattern::Interleaved => apart,
        Pattern::Random | Pattern::Zipf { .. } => !apart,
        Pattern::Permutation => false,
    };
    let share = match apart {
        _ if is_usual || jobs == 1 => ThreadShare::Usual,
        true => ThreadShare::Parts,
        false => ThreadShare::Whole,
    };
    let span_bytes = match each_bytes {
        Some(each) if apart => Some(each.saturating_mul(jobs)),
        each => each,
    };
    Ok(Region { each_bytes, span_bytes, share })
}

fn block_sizes(reader: &OptionReader<'_>, direction: Direction) -> Result<Vec<BlockSize>> {
    let block = |words: &str| {
        let bytes = reader.size(words).filter(|bytes| (1..=LARGEST_BLOCK_BYTES).contains(bytes))?;
        u32::try_from(bytes).ok()
    };
    if let Some(split) = reader.word("bssplit")? {
        let part = |words: &str| -> Option<BlockSize> {
            let (size, percent) = words.split_once('/')?;
            let weight = percent.parse().ok().filter(|percent| (1..=100).contains(percent))?;
            Some(BlockSize { size_bytes: block(size)?, weight })
        };
        return split.split(':').map(part).collect::<Option<_>>().ok_or_else(|| {
            reader
                .wrong("bssplit")
                .remedy(text!("sizes with percents, as 4k/90:64k/10", "4k/90:64k/10 のように書いてください"))
        });
    }
    let sizes: Vec<&str> = reader.word("bs")?.unwrap_or("4k").split(',').collect();
    let of = |place: usize| sizes.get(place).or(sizes.last()).and_then(|words| block(words));
    let size = match direction {
        Direction::Read => of(0),
        Direction::Write => of(1),
        Direction::Mix => of(0).filter(|read| Some(*read) == of(1)),
    };
    let Some(size_bytes) = size else {
        return Err(reader.wrong("bs").remedy(text!(
            "a size such as 4k, the same for reads and writes of a mix, up to 1 GiB",
            "4k のような大きさで、混合では読み書き同じ値、1 GiB までです"
        )));
    };
    Ok(vec![BlockSize { size_bytes, weight: 1 }])
}

fn read_percent(reader: &OptionReader<'_>) -> Result<u8> {
    let reads = reader.number("rwmixread", 0..=100)?;
    let writes = reader.number("rwmixwrite", 0..=100)?.map(|percent| 100 - percent);
    Ok(reads.or(writes).unwrap_or(50) as u8)
}

fn iodepth(reader: &OptionReader<'_>, notes: &mut Notes) -> Result<u32> {
    let asked = reader.number("iodepth", 1..=u64::from(MOST_IODEPTH))?.unwrap_or(1) as u32;
    let engine = reader.word("ioengine")?;
    if let Some(name) = engine {
        notes.add(text!(
            "ioengine={name}: kurabe chooses itself how operations are issued ({ENGINE})",
            "ioengine={name}: 発行の方法は kurabe が選びます({ENGINE} で指定)"
        ));
    }
    match engine.unwrap_or("psync") {
        name if QUEUED.contains(&name) => Ok(asked),
        name if ONE_BY_ONE.contains(&name) => {
            if asked > 1 {
                notes.add(text!(
                    "iodepth={asked} of [{}] is 1 in truth: fio's engine {name} does one operation after the other (ioengine=io_uring \
                     has a queue)",
                    "[{}] の iodepth={asked} は実際には 1 です。fio のエンジン {name} は操作を 1 つずつ行います(キューがあるのは \
                     ioengine=io_uring など)",
                    reader.name
                ));
            }
            Ok(1)
        }
        _ => Err(reader.wrong("ioengine").remedy(text!(
            "io_uring, libaio, posixaio, psync, sync, vsync, pvsync and pvsync2 have counterparts",
            "対応があるのは io_uring、libaio、posixaio、psync、sync、vsync、pvsync、pvsync2 です"
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
            return Err(reader
                .wrong("number_ios")
                .remedy(text!("use io_size= beside bssplit=", "bssplit= とは io_size= を使ってください")));
        }
    };
    // Jobs that draw blocks of one common span do as much as it has, each.
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
    notes: &mut Notes,
) -> Result<Option<OpenLoop>> {
    let arrival = match reader.word("rate_process")?.unwrap_or("linear") {
        "linear" => Arrival::Even,
        "poisson" => Arrival::Poisson,
        _ => {
            return Err(reader
                .wrong("rate_process")
                .remedy(text!("linear or poisson", "linear か poisson です")));
        }
    };
    let Some(words) = reader.word("rate_iops")? else { return Ok(None) };
    let rates: Vec<&str> = words.split(',').collect();
    let of = |place: usize| -> Option<u64> {
        let word = rates.get(place).or(rates.first().filter(|_| rates.len() == 1))?;
        if word.is_empty() { Some(0) } else { word.parse().ok() }
    };
    let each = match direction {
        Direction::Read => of(0),
        Direction::Write => of(1),
        Direction::Mix => of(0).zip(of(1)).map(|(reads, writes)| reads.saturating_add(writes)),
    };
    let rate_iops = each.map(|each| each.saturating_mul(jobs) as f64);
    let Some(rate_iops) = rate_iops.filter(|rate| (1.0..=MOST_RATE_IOPS).contains(rate)) else {
        return Err(reader
            .wrong("rate_iops")
            .remedy(text!("a number, or READS,WRITES", "数値か、読み,書き です")));
    };
    notes.add(text!(
        "rate_iops: kurabe counts a latency from the time at which an operation was due, fio from the time at which it was issued",
        "rate_iops: kurabe のレイテンシは発行予定時刻から、fio は実際の発行時刻から数えます"
    ));
    Ok(Some(OpenLoop { rate_iops, arrival }))
}

fn sync(reader: &OptionReader<'_>) -> Result<SyncRule> {
    let o_sync = match reader.word("sync")?.unwrap_or("0") {
        "0" | "none" => false,
        "1" | "sync" => true,
        _ => return Err(reader.wrong("sync").remedy(text!("0, 1, none or sync", "0、1、none、sync です"))),
    };
    let every = reader.number("fsync", 0..=u64::from(u32::MAX))?.filter(|every| *every > 0);
    let at_end = if reader.flag("end_fsync")? { EndSync::Timed } else { EndSync::None };
    Ok(SyncRule { o_sync, every_writes: every.map(|every| every as u32), at_end })
}

/// What is written; nothing if the job does not say.
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

/// Options that would change the work if they were not nothing.
fn refuse_the_rest(reader: &OptionReader<'_>) -> Result<()> {
    for (name, remedy) in [
        ("thinktime", text!("rate_iops= spaces operations", "間隔をあけるには rate_iops= を使ってください")),
        (
            "rate",
            text!(
                "rate_iops= limits operations per second",
                "毎秒の I/O 数を制限するには rate_iops= を使ってください"
            ),
        ),
        ("fdatasync", text!("fsync= is done", "fsync= なら行えます")),
    ] {
        reader.require(reader.word(name)?.is_none_or(|value| value == "0"), name, remedy)?;
    }
    Ok(())
}
