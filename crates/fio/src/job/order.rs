//! Order of the blocks of a section, and its share relative to other sections.

use super::notes::Notes;
use super::options::{OptionReader, size_remedy};
use super::own::OwnStep;
use kurabe_core::profile::{IoStep, LARGEST_BLOCK_BYTES};
use kurabe_core::workload::{
    AccessZone, BlocksInOrder, Direction, FioPlaces, Flow, Pattern, Processors, Trims,
};
use kurabe_core::{Result, text, words::Keyword};
use std::ops::RangeInclusive;

/// Value of `rw=`: whether it is random, and the gap after each block (`rw=read:GAP`) or the number of
/// blocks from each offset (`rw=randread:COUNT`).
#[derive(Clone, Copy)]
pub(super) struct RwOrder {
    is_random: bool,
    gap_bytes: i64,
    blocks_in_order: u32,
    /// Discards instead of writes, or before them.
    pub(super) trims: Option<Trims>,
}

/// Returns reads or writes, and their order. If kurabe wrote the section, the gap after blocks forms
/// one stream of several jobs.
pub(super) fn direction(reader: &OptionReader<'_>, own: Option<&OwnStep>) -> Result<(Direction, RwOrder)> {
    let words = reader.word("rw")?.unwrap_or("read");
    let (word, gap) = words.split_once(':').map_or((words, None), |(word, gap)| (word, Some(gap)));
    let refuse = || {
        reader.wrong("rw").remedy(text!(
            "read, write, trim, rw, trimwrite, each also with the prefix rand, read:GAP and randread:COUNT",
            "read、write、trim、rw、trimwrite、それぞれの頭に rand を付けたもの、read:間隔、randread:個数 が使えます"
        ))
    };
    let (word, trims) = match word.split_once("trim") {
        Some((rand, "")) => (format!("{rand}write"), Some(Trims::Only)),
        Some((rand, "write")) => (format!("{rand}write"), Some(Trims::BeforeWrites)),
        _ => (word.to_owned(), None),
    };
    let (direction, pattern) = <(Direction, Pattern)>::of_word(&word).ok_or_else(refuse)?;
    let is_random = !pattern.is_sequential();
    let mut blocks_in_order = 1;
    let gap_bytes = match gap.filter(|_| own.is_none()) {
        None => 0,
        Some(count) if is_random => {
            blocks_in_order = count.parse().ok().filter(|count| *count > 0).ok_or_else(refuse)?;
            0
        }
        Some(gap) => {
            let (sign, size) = gap.strip_prefix('-').map_or((1, gap), |size| (-1, size));
            let bytes = reader.size(size).and_then(|bytes| i64::try_from(bytes).ok()).ok_or_else(refuse)?;
            sign * bytes
        }
    };
    Ok((direction, RwOrder { is_random, gap_bytes, blocks_in_order, trims }))
}

pub(super) fn pattern(reader: &OptionReader<'_>, order: RwOrder) -> Result<(Pattern, Vec<AccessZone>)> {
    let in_order = match (strided_zones(reader, order)?, order.gap_bytes) {
        (Some(zones), _) => zones,
        (None, 0) => Pattern::Sequential,
        (None, gap_bytes) => Pattern::Strided { run_bytes: None, gap_bytes },
    };
    let words = reader.word("random_distribution")?.unwrap_or("random");
    let (law, parameter) =
        words.split_once(':').map_or((words, None), |(law, parameter)| (law, Some(parameter)));
    let number = |usual: f64| {
        // fio supports a centre after the number, which kurabe places differently.
        let number = parameter.map_or(Some(usual), |word| word.parse().ok())?;
        Some(number).filter(|number: &f64| number.is_finite() && *number > 0.0)
    };
    let mut zones = Vec::new();
    let pattern = match law {
        "random" if reader.flag("norandommap")? => Some(Pattern::Random),
        "random" => Some(Pattern::Permutation),
        "zipf" => number(1.1).map(|exponent| Pattern::Zipf { exponent }),
        "pareto" => number(0.2).filter(|skew| *skew < 1.0).map(|skew| Pattern::Pareto { skew }),
        "normal" => number(10.0).map(|deviation_percent| Pattern::Normal { deviation_percent }),
        "zoned" => {
            zones = parameter.and_then(zones_of).unwrap_or_default();
            Some(Pattern::Random).filter(|_| !zones.is_empty())
        }
        _ => None,
    };
    let remedy = text!(
        "random, zipf:THETA, pareto:SKEW, normal:DEVIATION, or zoned:ACCESSES/SPAN:… with 100 of both in all",
        "random、zipf:THETA、pareto:偏り、normal:標準偏差、または合計がそれぞれ 100 の zoned:アクセス/範囲:… です"
    );
    let pattern = reader.taken(pattern, "random_distribution", remedy)?;
    // Options of random offsets are checked, but apply only to them.
    Ok(if order.is_random { (pattern, zones) } else { (in_order, Vec::new()) })
}

/// Returns `zonemode=strided`: a number of bytes of each zone, then the next.
fn strided_zones(reader: &OptionReader<'_>, order: RwOrder) -> Result<Option<Pattern>> {
    match reader.word("zonemode")?.unwrap_or("none") {
        "none" => return Ok(None),
        "strided" if !order.is_random => {}
        _ => {
            return Err(reader.wrong("zonemode").remedy(text!(
                "strided works for sequential reads and writes; for random access to zones, use \
                 `random_distribution=zoned:…`",
                "strided は順番の読み書きで使えます。ランダムなら `random_distribution=zoned:…` です"
            )));
        }
    }
    let size = reader.bytes("zonesize")?.filter(|bytes| *bytes > 0);
    let size = reader.taken(size, "zonemode", size_remedy())?;
    let range = reader.bytes("zonerange")?.unwrap_or(size).max(size);
    let gap = (range - size).saturating_add(reader.bytes("zoneskip")?.unwrap_or(0));
    let gap_bytes = reader.taken(i64::try_from(gap).ok(), "zoneskip", size_remedy())?;
    Ok(Some(Pattern::Strided { run_bytes: Some(size), gap_bytes }))
}

/// Returns the share of blocks in random order that directly follow the previous one.
pub(super) fn in_order(
    reader: &OptionReader<'_>,
    direction: Direction,
    order: RwOrder,
) -> Result<Option<BlocksInOrder>> {
    let random = reader.of_direction("percentage_random", direction)?.map(|[of_reads, _]| of_reads);
    let random = random.map_or(Some(100), |words| words.parse::<u8>().ok().filter(|percent| *percent <= 100));
    let random = reader.taken(random, "percentage_random", text!("0 to 100", "0 から 100 です"))?;
    Ok(match (random, order.blocks_in_order) {
        (100, 1) => None,
        (100, blocks) => Some(BlocksInOrder::Blocks(blocks)),
        (percent, _) => Some(BlocksInOrder::Percent(100 - percent)),
    })
}

/// Returns the share of the operations of concurrent jobs. In fio, each of `numjobs` has it.
pub(super) fn flow(reader: &OptionReader<'_>, jobs: u64) -> Result<Option<Flow>> {
    let weight = reader.number("flow", 0..=1000)?.filter(|weight| *weight > 0);
    let group = reader.number("flow_id", 0..=u64::from(u32::MAX))?.unwrap_or(0) as u32;
    Ok(weight.map(|weight| Flow { weight: u32::try_from(weight * jobs).unwrap_or(u32::MAX), group }))
}

/// Returns the CPUs that the job can use: `0,5,8-15`, or a mask.
pub(super) fn processors(reader: &OptionReader<'_>) -> Result<Option<Processors>> {
    let remedy = text!("shared or split", "shared か split です");
    let one_each = reader.choice("cpus_allowed_policy", &[("shared", false), ("split", true)], remedy)?;
    let mask = reader.number("cpumask", 1..=u64::from(u32::MAX))?;
    let of_mask = |mask: u64| (0..32).filter(|bit| mask >> bit & 1 == 1).collect();
    let range = |part: &str| -> Option<RangeInclusive<u32>> {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let range = first.trim().parse().ok()?..=last.trim().parse().ok()?;
        Some(range).filter(|range| !range.is_empty() && *range.end() <= 8191)
    };
    let listed = match reader.word("cpus_allowed")? {
        Some(words) => {
            let ranges: Option<Vec<_>> = words.split(',').map(range).collect();
            let remedy = text!("numbers and ranges: 0,5,8-15", "0,5,8-15 のように書いてください");
            let ranges = reader.taken(ranges, "cpus_allowed", remedy)?;
            Some(ranges.into_iter().flatten().collect::<Vec<u32>>())
        }
        None => None,
    };
    Ok(listed.or(mask.map(of_mask)).map(|numbers| Processors { numbers, one_each }))
}

/// Parses `60/10:30/20:8/30:2/40`: percentages of the accesses and of the span.
fn zones_of(words: &str) -> Option<Vec<AccessZone>> {
    // Zones of writes and of trims, which can follow a comma, are those of reads.
    let parts = words.split(',').next().unwrap_or(words).split(':');
    let mut zones: Vec<AccessZone> = Vec::new();
    for part in parts {
        let (access, span) = part.split_once('/')?;
        // A missing part is the remainder of the zones before it.
        let left = |of: fn(&AccessZone) -> u8| {
            let taken: u32 = zones.iter().map(of).map(u32::from).sum();
            100u32.checked_sub(taken).and_then(|left| u8::try_from(left).ok())
        };
        let percent = |word: &str, of| if word.is_empty() { left(of) } else { word.parse().ok() };
        zones.push(AccessZone {
            access_percent: percent(access, |zone| zone.access_percent)?,
            span_percent: percent(span, |zone| zone.span_percent)?,
        });
    }
    Some(zones).filter(|zones| AccessZone::are_whole(zones))
}

/// Returns the unit of offsets, if it is not the smallest block.
pub(super) fn alignment(reader: &OptionReader<'_>) -> Result<Option<u32>> {
    let Some(words) = reader.word("ba")? else {
        return Ok(if reader.flag("bs_unaligned")? { Some(512) } else { None });
    };
    let bytes = reader.size(words.split(',').next().unwrap_or(words));
    let bytes = bytes.filter(|bytes| (1..=LARGEST_BLOCK_BYTES).contains(bytes));
    reader.taken(bytes.map(|bytes| Some(bytes as u32)), "ba", size_remedy())
}

/// Returns fio's random offsets: those of blocks of one size with uniform probability. Without
/// `randrepeat` and a seed, fio uses random numbers of the system, and kurabe its own.
pub(super) fn fio_places(
    reader: &OptionReader<'_>,
    step: &IoStep,
    notes: &mut Notes,
) -> Result<Option<FioPlaces>> {
    let seed = reader.number("randseed", 0..=u64::MAX)?;
    let repeats = repeats(reader)?;
    let [block] = step.block_sizes[..] else { return Ok(None) };
    let is_even = matches!(step.pattern, Pattern::Random | Pattern::Permutation) && step.zones.is_empty();
    let is_alone = step.in_order.is_none()
        && step.write_block_sizes.is_empty()
        && step.alignment_bytes.is_none_or(|bytes| bytes == block.size_bytes)
        && step.trims != Some(Trims::BeforeWrites);
    let generators = [("tausworthe", Some(false)), ("tausworthe64", Some(true)), ("lfsr", None)];
    let remedy = text!("tausworthe, tausworthe64 or lfsr", "tausworthe、tausworthe64、lfsr です");
    let Some(is_wide) = reader.choice("random_generator", &generators, remedy)? else {
        notes.add(text!(
            "random_generator=lfsr: kurabe chooses the offsets itself",
            "random_generator=lfsr: 位置は kurabe の乱数で選びます"
        ));
        return Ok(None);
    };
    let places = FioPlaces { seed, first_job: 1, is_old: false, is_wide };
    Ok(Some(places).filter(|_| is_even && is_alone && (repeats || seed.is_some())))
}

/// Returns whether each run uses the same offsets.
fn repeats(reader: &OptionReader<'_>) -> Result<bool> {
    Ok(!reader.has("randrepeat") || reader.flag("randrepeat")?)
}

/// Sets the offsets of a job by its number, depending on whether fio is older than 3.35, where
/// `randseed` had no effect together with `randrepeat`.
pub(super) fn number_places(
    reader: &OptionReader<'_>,
    places: FioPlaces,
    first_job: u32,
    is_old: bool,
) -> Result<FioPlaces> {
    let seed = if is_old && repeats(reader)? { None } else { places.seed };
    Ok(FioPlaces { seed, first_job, is_old, ..places })
}
