//! Changes between two bills of a program.
//!
//! The model: a count that is the same in every recording of both bills is compared exactly. A varying
//! count has changed if its intervals do not overlap and the means differ by more than the margin. The
//! report names the cause first: the change in the program's behaviour that the counts show.

use crate::bill::{Bill, FileBill, RepeatedValue};
use crate::count::{COUNTS, Count};
use kurabe_core::Text;
use serde::Serialize;
use std::collections::BTreeSet;

/// Maximum relative difference of counts for the same work. The additional requests of a file system
/// vary by this much.
const SAME_WORK: f64 = 0.02;

/// A count that changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CountChange {
    /// Word of the count.
    pub count: &'static str,
    /// The count.
    #[serde(skip)]
    pub which: Count,
    /// Values in the earlier bill.
    pub before: RepeatedValue,
    /// Values in the current bill.
    pub now: RepeatedValue,
}

/// A system call that is made more or less often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SyscallChange {
    /// Name of the call.
    pub syscall: String,
    /// Number of calls in the earlier bill.
    pub before: RepeatedValue,
    /// Number of calls in the current bill.
    pub now: RepeatedValue,
}

/// A device on both bills.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PriceChange {
    /// Name of the model.
    pub model: String,
    /// Kind of device.
    pub title: Text,
    /// Times in the earlier bill, in ns.
    pub before_ns: RepeatedValue,
    /// Times in the current bill, in ns.
    pub now_ns: RepeatedValue,
    /// Current mean divided by the earlier mean.
    pub ratio: f64,
    /// Whether the difference counts as a change.
    pub is_changed: bool,
}

/// Change in the program's behaviour.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "what")]
pub enum ChangeCause {
    /// It writes the same, and flushes more or less often; with the file, if one stands out.
    Flushes {
        /// The file.
        file: Option<String>,
        /// Current flushes divided by earlier flushes.
        ratio: f64,
        /// Whether a flush follows every write to the file only in the current bill.
        each_write: bool,
    },
    /// It writes more or less, and flushes more or less often: the same work in more or fewer pieces.
    Commits {
        /// The file.
        file: Option<String>,
        /// Current flushes divided by earlier flushes.
        ratio: f64,
    },
    /// It writes more or less.
    Written {
        /// The file.
        file: Option<String>,
        /// Current bytes divided by earlier bytes.
        ratio: f64,
    },
    /// It reads more or less.
    Read {
        /// The file.
        file: Option<String>,
        /// Current bytes divided by earlier bytes.
        ratio: f64,
    },
    /// It transfers the same amount, in more or fewer pieces or in another order.
    Order,
}

/// All changes between two bills.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Changes {
    /// Change in the program's behaviour. `None` if no count changed.
    pub cause: Option<ChangeCause>,
    /// Counts that changed.
    pub counts: Vec<CountChange>,
    /// System calls whose number changed, if both bills have them.
    pub syscalls: Vec<SyscallChange>,
    /// Every device of both panels.
    pub prices: Vec<PriceChange>,
    /// Whether the kernels differ. Additional requests of the kernel are not a change of the program.
    pub other_kernel: bool,
    /// Whether only one of the two was recorded at the pace of a tick, or the ticks differ.
    pub other_tick: bool,
}

impl Changes {
    /// Returns the changes between two bills. Varying values must differ by more than the margin.
    pub fn between(before: &Bill, now: &Bill, margin: f64) -> Self {
        let counts: Vec<CountChange> = COUNTS
            .iter()
            // Not deterministic: a journal may send one empty flush more or less, and a write for which
            // the program does not wait comes before a flush or after it.
            .filter(|(_, which)| !matches!(which, Count::EmptyFlushes | Count::JournalFlushes))
            .filter_map(|(count, which)| {
                let (before, now) = (before.count(*which)?.clone(), now.count(*which)?.clone());
                is_changed(&before, &now, margin).then_some(CountChange { count, which: *which, before, now })
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
            syscalls: syscall_changes(before, now, margin),
            other_kernel: before.facts.kernel != now.facts.kernel,
            other_tick: before.facts.tick_ns != now.facts.tick_ns,
            counts,
        }
    }

    /// Returns whether the cost rose: a device takes longer, or is flushed more often.
    pub fn costs_more(&self) -> bool {
        let more_flushes =
            |change: &CountChange| change.which == Count::Flushes && change.now.mean() > change.before.mean();
        self.counts.iter().any(more_flushes)
            || self.prices.iter().any(|price| price.is_changed && price.ratio > 1.0)
    }

    /// Returns whether anything changed.
    pub fn is_any(&self) -> bool {
        !self.counts.is_empty()
            || !self.syscalls.is_empty()
            || self.prices.iter().any(|price| price.is_changed)
    }
}

fn syscall_changes(before: &Bill, now: &Bill, margin: f64) -> Vec<SyscallChange> {
    if before.syscalls.is_empty() || now.syscalls.is_empty() {
        return Vec::new();
    }
    let values = |bill: &Bill, name: &str| {
        let none = || RepeatedValue(vec![0; bill.recordings]);
        bill.syscalls.get(name).cloned().unwrap_or_else(none)
    };
    let names: BTreeSet<&String> = before.syscalls.keys().chain(now.syscalls.keys()).collect();
    let change = |name: &String| {
        let (before, now) = (values(before, name), values(now, name));
        is_changed(&before, &now, margin).then(|| SyscallChange { syscall: name.clone(), before, now })
    };
    names.into_iter().filter_map(change).collect()
}

fn is_changed(before: &RepeatedValue, now: &RepeatedValue, margin: f64) -> bool {
    let repeated = before.0.len() > 1 && now.0.len() > 1;
    match before.is_exact() && now.is_exact() && repeated {
        true => before.0[0] != now.0[0],
        false => differ_by_more(before, now, margin),
    }
}

/// Returns whether intervals do not overlap and means differ by more than a margin.
fn differ_by_more(before: &RepeatedValue, now: &RepeatedValue, margin: f64) -> bool {
    let repeated = before.0.len() > 1 && now.0.len() > 1;
    let ((mean, half), (other_mean, other_half)) = (before.interval(), now.interval());
    let widths = if repeated { half + other_half } else { 0.0 };
    let difference = (mean - other_mean).abs();
    difference > widths && difference > margin * mean
}

fn cause(before: &Bill, now: &Bill, counts: &[CountChange]) -> Option<ChangeCause> {
    let ratio = |which: Count| {
        let change = counts.iter().find(|change| change.which == which)?;
        let ratio = change.now.mean() / change.before.mean().max(1.0);
        ((ratio - 1.0).abs() > SAME_WORK).then_some(ratio)
    };
    let file = |of: fn(&FileBill) -> &RepeatedValue| file_that_stands_out(before, now, of);
    if let Some(flushes) = ratio(Count::Flushes) {
        let file = file(|file| &file.flushes);
        return Some(match ratio(Count::AskedBytes).filter(|asked| (*asked > 1.0) == (flushes > 1.0)) {
            Some(_) => ChangeCause::Commits { file, ratio: flushes },
            None => {
                let waits =
                    |bill: &Bill| file.as_deref().is_some_and(|file| each_write_is_flushed(bill, file));
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

/// Returns whether nearly every write to a file has its own flush.
fn each_write_is_flushed(bill: &Bill, name: &str) -> bool {
    let file = bill.files.iter().find(|file| file.name == name);
    file.is_some_and(|file| file.writes.mean() > 1.0 && file.flushes.mean() > 0.9 * file.writes.mean())
}

/// Returns the name of the file that accounts for more than half of the change.
fn file_that_stands_out(before: &Bill, now: &Bill, of: fn(&FileBill) -> &RepeatedValue) -> Option<String> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bill::BillFacts;
    use crate::panel::Panel;
    use crate::recording::{ProgramRecording, fixture::recorded};
    use kurabe_sim::RequestKind::{self, Flush, Write};

    /// Returns the bill of a program with this number of commits, each with writes to a log of 1 MiB
    /// and possibly to a table after it. Every `flush_every`-th write is flushed.
    fn bill(commits: u64, writes: u64, flush_every: u64, asked_bytes: u64) -> Bill {
        let mut requests: Vec<(RequestKind, u64, u32)> = Vec::new();
        for commit in 0..commits * writes {
            requests.push((Write, commit % 256 * 4096, 4096));
            if (commit + 1) % flush_every == 0 {
                requests.push((Flush, 0, 0));
            }
        }
        let recording = ProgramRecording {
            left_from: requests.len(),
            requests: recorded(&requests),
            files: vec![("log".to_owned(), std::iter::once(0..1 << 20).collect())],
            asked_bytes: Some(asked_bytes),
            ..ProgramRecording::default()
        };
        let facts = BillFacts {
            command: vec!["program".to_owned()],
            file_system: "ext4".to_owned(),
            size_bytes: 1 << 30,
            recorded_on: None,
            faults: Vec::new(),
            kernel: "6".to_owned(),
            tick_ns: None,
            keeps_pauses: false,
        };
        Bill::new(facts, &[recording.clone(), recording], &panel("seagate-ironwolf-4tb")).unwrap()
    }

    fn panel(model: &str) -> Panel {
        Panel::parse("panel", &format!("schema = 1\n[[device]]\nmodel = \"{model}\"")).unwrap()
    }

    #[test]
    fn a_device_without_room_is_named() {
        let facts = bill(1, 1, 1, 4096).facts;
        let beyond =
            ProgramRecording { requests: recorded(&[(Write, 1 << 30, 4096)]), ..ProgramRecording::default() };
        let refused = Bill::new(facts, &[beyond], &panel("iomega-zip100")).unwrap_err();
        assert!(refused.what().en.contains("`iomega-zip100` has a capacity of"), "{refused:?}");
    }

    fn cause(before: &Bill, now: &Bill) -> Option<ChangeCause> {
        let changes = Changes::between(before, now, 0.01);
        assert_eq!(changes.cause.is_some(), changes.is_any());
        changes.cause
    }

    #[test]
    fn the_cause_of_a_change_is_named_with_its_file() {
        let base = bill(100, 4, 4, 1_600_000);
        assert_eq!(cause(&base, &base), None);
        let log = Some("log".to_owned());
        let each = bill(100, 4, 1, 1_600_000);
        let flushed = Some(ChangeCause::Flushes { file: log.clone(), ratio: 4.0, each_write: true });
        assert_eq!(cause(&base, &each), flushed);
        let half = bill(100, 4, 2, 1_600_000);
        let flushed = Some(ChangeCause::Flushes { file: log.clone(), ratio: 0.5, each_write: false });
        assert_eq!(cause(&half, &base), flushed);
        let pieces = bill(400, 4, 4, 6_400_000);
        assert_eq!(cause(&base, &pieces), Some(ChangeCause::Commits { file: log.clone(), ratio: 4.0 }));
        let more = bill(100, 8, 8, 3_200_000);
        assert_eq!(cause(&base, &more), Some(ChangeCause::Written { file: log, ratio: 2.0 }));
        let changes = Changes::between(&base, &each, 0.01);
        assert!(changes.costs_more() && changes.prices[0].ratio > 2.0, "{changes:?}");
        assert!(!Changes::between(&each, &base, 0.01).costs_more());
    }

    #[test]
    fn what_varies_alarms_only_outside_of_its_intervals_and_the_margin() {
        let values = |values: &[u64]| RepeatedValue(values.to_vec());
        for (before, now, changed) in [
            (values(&[100, 100, 100]), values(&[100, 100, 100]), false),
            (values(&[100, 100, 100]), values(&[101, 101, 101]), true),
            (values(&[1000, 1003, 998]), values(&[1004, 1001, 1005]), false),
            (values(&[1000, 1003, 998]), values(&[1060, 1058, 1061]), true),
            // A single value has no interval: only a difference beyond the margin is a change.
            (values(&[1000]), values(&[1009]), false),
            (values(&[1000]), values(&[1020]), true),
        ] {
            assert_eq!(is_changed(&before, &now, 0.01), changed, "{before:?} {now:?}");
        }
    }

    #[test]
    fn a_bill_is_read_as_it_was_saved_and_nothing_else_is_one() {
        let saved = bill(10, 2, 2, 80_000);
        let json = serde_json::to_string(&saved).unwrap();
        assert_eq!(Bill::parse("base.json", &json).unwrap(), saved);
        let later = json.replace("\"kurabe_price\":1", "\"kurabe_price\":2");
        for words in ["", "{}", "[1]", &later] {
            assert!(Bill::parse("base.json", words).is_err(), "{words}");
        }
        let log = &saved.files[0];
        assert_eq!((log.name.as_str(), log.writes.mean(), log.flushes.mean()), ("log", 20.0, 10.0));
        assert!((saved.write_amplification().unwrap() - 20.0 * 4096.0 / 80_000.0).abs() < 1e-9);
    }

    #[test]
    fn a_system_call_more_is_a_change_without_a_cost_if_both_bills_have_calls() {
        let facts = bill(1, 1, 1, 1).facts;
        let bill = |counts: &[Option<u64>]| {
            let recording = |count: &Option<u64>| ProgramRecording {
                syscalls: count.iter().map(|count| [("fsync".to_owned(), *count)].into()).collect(),
                ..ProgramRecording::default()
            };
            let recordings: Vec<_> = counts.iter().map(recording).collect();
            Bill::new(facts.clone(), &recordings, &panel("samsung-870-evo")).unwrap()
        };
        let [two, three, varying, none] =
            [[Some(2); 2], [Some(3); 2], [Some(2), Some(4)], [None; 2]].map(|counts| bill(&counts));
        let changed = |before: &Bill, now: &Bill| {
            let changes = Changes::between(before, now, 0.01);
            assert!(!changes.costs_more() && changes.is_any() != changes.syscalls.is_empty());
            changes.syscalls.iter().map(|change| change.syscall.clone()).collect::<Vec<_>>()
        };
        assert_eq!(changed(&two, &three), ["fsync"]);
        for other in [&two, &varying, &none] {
            assert!(changed(&two, other).is_empty(), "{other:?}");
        }
    }

    #[test]
    fn a_budget_is_kept_or_exceeded_line_by_line() {
        let bill = bill(100, 4, 4, 1_600_000);
        let parse = |words: &str| crate::Budget::parse("io.toml", words, &["seagate-ironwolf-4tb"]);
        let budget = parse(
            "schema = 1\n[counts]\nflushes = 100\nwritten_bytes = \"1 MB\"\n[times]\nseagate-ironwolf-4tb = \"1 ms\"",
        );
        let lines = budget.unwrap().lines(&bill);
        let over: Vec<(&str, bool)> = lines.iter().map(|line| (line.key.as_str(), line.is_over)).collect();
        assert_eq!(over, [("flushes", false), ("written_bytes", true), ("seagate-ironwolf-4tb", true)]);
        for wrong in [
            "",
            "schema = 1\n[counts]\nflushs = 1",
            "schema = 1\n[times]\nother = \"1 s\"",
            "schema = 1\n[counts]\nflushes = \"many\"",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
