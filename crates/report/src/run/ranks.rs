//! Measurements by several processes: the ranks, the balance of their shares, and the slowest rank.

use kurabe_core::record::{Cell, RankShare, RanksRecord, RunRecord};
use kurabe_core::{Text, number, text};

/// Describes the ranks in one sentence, and each cell in another.
pub(crate) fn ranks(record: &RunRecord) -> Vec<Text> {
    let Some(ranks) = &record.header.ranks else { return Vec::new() };
    let mut sentences = vec![who(ranks)];
    sentences.extend(record.cells.iter().filter_map(|cell| of_cell(ranks, cell)));
    sentences
}

fn who(ranks: &RanksRecord) -> Text {
    let (count, hosts) = (ranks.ranks.len(), ranks.hosts.len());
    let names = ranks.hosts.iter().map(|host| host.name.as_str()).collect::<Vec<_>>().join(", ");
    let bound_ns = ranks.ranks.iter().map(|rank| rank.clock_bound_ns).max().unwrap_or(0);
    let bound = number::latency_ns(bound_ns);
    text!(
        "{count} ranks on {hosts} hosts ({names}); their clocks agree to ±{bound}",
        "{hosts} ホスト({names})の {count} ランク。時計のずれは ±{bound} まで補正"
    )
}

/// Describes the last counted repetition, because each repetition has its own slowest rank, and a
/// mean of those would describe no rank.
fn of_cell(ranks: &RanksRecord, cell: &Cell) -> Option<Text> {
    let ranked = cell.counted().last()?.ranks.as_deref()?;
    let moves_bytes = ranked.shares.iter().any(|share| share.bytes > 0);
    let words = |bytes_per_s, per_s| match moves_bytes {
        true => number::rate(bytes_per_s).to_string(),
        false => number::iops(per_s).to_string(),
    };
    let rate = |share: &RankShare| words(share.rate_bytes_per_s(), share.rate_iops());
    let by_rate = ranked.by_rate();
    let (slowest, fastest) = (by_rate.first()?, by_rate.last()?);
    let (slow, fast) = (named(ranks, slowest), named(ranks, fastest));
    let (slow_rate, fast_rate, skew) = (rate(slowest), rate(fastest), number::latency_ns(ranked.skew_ns()));
    let worst = number::latency_ns(by_rate.iter().map(|share| share.worst_ns).max()?);
    let fairness = ranked.fairness().map_or_else(|| number::NONE.to_owned(), |share| number::fixed(share, 3));
    let together = ranked.at_work.map(|at_work| words(at_work.bytes_per_s, at_work.operations_per_s));
    let together = together.unwrap_or_else(|| number::NONE.to_owned());
    let first_done = number::latency_ns(ranked.first_done_ns()?);
    let place = crate::words::cell(cell);
    Some(text!(
        "{place}: {together} while all were at work; the first was done after {first_done}; slowest \
         {slow} with {slow_rate}, fastest {fast} with {fast_rate}, fairness {fairness}, longest wait \
         {worst}; all began within {skew}",
        "{place}: 全ランクの稼働中は {together}、最初の完了は {first_done} 後。最も遅いのは{slow}({slow_rate})、最も速いのは{fast}({fast_rate})\
         、公平性 {fairness}、最長の待ち {worst}、開始のずれ {skew}";
        place, slow, fast
    ))
}

fn named(ranks: &RanksRecord, share: &RankShare) -> Text {
    let rank = share.rank;
    let place = ranks.ranks.iter().find(|place| place.rank == rank);
    match place.and_then(|place| ranks.hosts.get(place.host as usize)) {
        Some(host) => text!("rank {rank} on {}", "ランク {rank}({})", host.name),
        None => text!("rank {rank}", "ランク {rank}"),
    }
}
