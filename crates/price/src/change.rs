//! What changed between two bills of a program.
//!
//! The model: a count that is the same in every recording of both bills is compared exactly. One that varies has changed if its
//! intervals lie apart and the means differ by more than the margin; nothing inside them is a change. Of what changed, the
//! cause is named first: what the program does otherwise, by the counts that tell it.

use crate::bill::{Bill, FileBill, Values};
use crate::count::{COUNTS, Count};
use kurabe_core::Text;
use serde::Serialize;

/// Counts that differ by less than this are the same work: what a file system adds varies by that much.
const SAME_WORK: f64 = 0.02;

/// A count that changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Its word.
    pub count: &'static str,
    /// Which.
    #[serde(skip)]
    pub which: Count,
    /// Before.
    pub before: Values,
    /// Now.
    pub now: Values,
}

/// A device on both bills.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PriceChange {
    /// Its model.
    pub model: String,
    /// What it stands for.
    pub title: Text,
    /// Before, in ns.
    pub before_ns: Values,
    /// Now.
    pub now_ns: Values,
    /// Now over before.
    pub ratio: f64,
    /// Whether that is a change.
    pub is_changed: bool,
}

/// What the program does otherwise.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "what")]
pub enum ChangeCause {
    /// It writes the same, and flushes more or less often; the file of which, if one stands out.
    Flushes {
        /// That file.
        file: Option<String>,
        /// Now over before.
        ratio: f64,
        /// Whether every write to it is followed by a flush now, and was not before.
        each_write: bool,
    },
    /// It itself writes more or less, and flushes more or less often: the same work in more or fewer pieces.
    Commits {
        /// That file.
        file: Option<String>,
        /// Of flushes, now over before.
        ratio: f64,
    },
    /// It writes more or less.
    Written {
        /// The file of which.
        file: Option<String>,
        /// Now over before.
        ratio: f64,
    },
    /// It reads more or less.
    Read {
        /// The file of which.
        file: Option<String>,
        /// Now over before.
        ratio: f64,
    },
    /// As much, in more or fewer pieces or in another order.
    Order,
}

/// What changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Changes {
    /// What the program does otherwise; nothing if no count changed.
    pub cause: Option<ChangeCause>,
    /// The counts that changed.
    pub counts: Vec<Change>,
    /// Every device of both panels.
    pub prices: Vec<PriceChange>,
    /// Whether the kernel is another one: what it adds is no change of the program.
    pub other_kernel: bool,
}

impl Changes {
    /// What changed from one bill to another, beyond a margin where it varies.
    pub fn between(before: &Bill, now: &Bill, margin: f64) -> Self {
        let counts: Vec<Change> = COUNTS
            .iter()
            // A journal sends one flush of nothing more or less, as it happens.
            .filter(|(_, which)| *which != Count::EmptyFlushes)
            .filter_map(|(count, which)| {
                let (before, now) = (before.count(*which)?.clone(), now.count(*which)?.clone());
                is_changed(&before, &now, margin).then_some(Change { count, which: *which, before, now })
            })
            .collect();
        let prices = now.prices.iter().filter_map(|price| {
            let other = before.prices.iter().find(|other| other.model == price.model)?;
            Some(PriceChange {
                model: price.model.clone(),
                title: price.title.clone(),
                ratio: price.time_ns.mean() / other.time_ns.mean().max(1.0),
                is_changed: differ_by_more(&other.time_ns, &price.time_ns, margin),
                before_ns: other.time_ns.clone(),
                now_ns: price.time_ns.clone(),
            })
        });
        Self {
            cause: cause(before, now, &counts),
            prices: prices.collect(),
            other_kernel: before.facts.kernel != now.facts.kernel,
            counts,
        }
    }

    /// Whether it costs more: a device takes longer, or is flushed more often.
    pub fn costs_more(&self) -> bool {
        let more_flushes =
            |change: &Change| change.which == Count::Flushes && change.now.mean() > change.before.mean();
        self.counts.iter().any(more_flushes)
            || self.prices.iter().any(|price| price.is_changed && price.ratio > 1.0)
    }

    /// Whether anything changed.
    pub fn is_any(&self) -> bool {
        !self.counts.is_empty() || self.prices.iter().any(|price| price.is_changed)
    }
}

fn is_changed(before: &Values, now: &Values, margin: f64) -> bool {
    let repeated = before.0.len() > 1 && now.0.len() > 1;
    match before.is_exact() && now.is_exact() && repeated {
        true => before.0[0] != now.0[0],
        false => differ_by_more(before, now, margin),
    }
}

/// Whether intervals lie apart and means differ by more than a margin.
fn differ_by_more(before: &Values, now: &Values, margin: f64) -> bool {
    let repeated = before.0.len() > 1 && now.0.len() > 1;
    let ((mean, half), (other_mean, other_half)) = (before.interval(), now.interval());
    let widths = if repeated { half + other_half } else { 0.0 };
    let difference = (mean - other_mean).abs();
    difference > widths && difference > margin * mean
}

fn cause(before: &Bill, now: &Bill, counts: &[Change]) -> Option<ChangeCause> {
    let ratio = |which: Count| {
        let change = counts.iter().find(|change| change.which == which)?;
        let ratio = change.now.mean() / change.before.mean().max(1.0);
        ((ratio - 1.0).abs() > SAME_WORK).then_some(ratio)
    };
    let file = |of: fn(&FileBill) -> &Values| file_that_stands_out(before, now, of);
    if let Some(flushes) = ratio(Count::Flushes) {
        let file = file(|file| &file.flushes);
        return Some(match ratio(Count::AskedBytes).filter(|asked| (*asked > 1.0) == (flushes > 1.0)) {
            Some(_) => ChangeCause::Commits { file, ratio: flushes },
            None => {
                let waits = |bill: &Bill| file.as_deref().is_some_and(|file| each_write_is_flushed(bill, file));
                ChangeCause::Flushes { ratio: flushes, each_write: waits(now) && !waits(before), file }
            }
        });
    }
    if let Some(ratio) = ratio(Count::WrittenBytes) {
        return Some(ChangeCause::Written { file: file(|file| &file.written_bytes), ratio });
    }
    if let Some(ratio) = ratio(Count::ReadBytes) {
        return Some(ChangeCause::Read { file: file(|file| &file.read_bytes), ratio });
    }
    (!counts.is_empty()).then_some(ChangeCause::Order)
}

/// Whether about every write to a file has a flush of its own.
fn each_write_is_flushed(bill: &Bill, name: &str) -> bool {
    let file = bill.files.iter().find(|file| file.name == name);
    file.is_some_and(|file| file.writes.mean() > 1.0 && file.flushes.mean() > 0.9 * file.writes.mean())
}

/// The file, by name, that has more than half of what changed.
fn file_that_stands_out(before: &Bill, now: &Bill, of: fn(&FileBill) -> &Values) -> Option<String> {
    let mean = |bill: &Bill, name: &str| {
        bill.files.iter().find(|file| file.name == name).map_or(0.0, |file| of(file).mean())
    };
    let names = now.files.iter().chain(&before.files).map(|file| file.name.as_str());
    let mut differences: Vec<(f64, &str)> = names
        .filter(|name| !name.is_empty() && !name.starts_with('('))
        .map(|name| ((mean(now, name) - mean(before, name)).abs(), name))
        .collect();
    differences.sort_by(|one, other| other.0.total_cmp(&one.0));
    differences.dedup_by(|one, other| one.1 == other.1);
    let all: f64 = differences.iter().map(|(difference, _)| difference).sum();
    differences.first().filter(|(most, _)| *most > all / 2.0).map(|(_, name)| (*name).to_owned())
}
