//! Arbitrary valid records.
//!
//! serde deserializes them from a tape of random numbers, so a new field of the record needs no
//! change here. Constraints beyond the field types are implemented in this file. A shorter tape
//! gives a simpler record, so proptest shrinks well.

mod tape;

use kurabe_core::imported::{ImportedCell, Origin};
use kurabe_core::profile::{IoStep, Profile, Step};
use kurabe_core::record::{Instrument, LatencyRecord, RECORD_SCHEMA, RunRecord, RunStatus, TargetRecord};
use kurabe_core::workload::{BlockSize, Workload};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::hash::{DefaultHasher, Hash, Hasher};
use tape::Tape;

/// Returns a strategy for complete records of runs that have ended; about a third of them come from
/// another tool.
pub fn any_record() -> impl Strategy<Value = RunRecord> {
    prop::collection::vec(any::<u64>(), 0..900).prop_map(record)
}

fn record(numbers: Vec<u64>) -> RunRecord {
    let mut tape = Tape::new(numbers);
    let mut record: RunRecord = tape.any();
    if record.status == RunStatus::Running {
        record.status = RunStatus::Complete;
    }
    let steps = record.header.profile.as_ref().map_or(u32::MAX, |profile| profile.steps.len() as u32);
    let mut next_index = 0;
    for cell in &mut record.cells {
        next_index += tape.below(3) as u32;
        cell.index = next_index;
        next_index += 1;
        cell.step_index %= steps;
        if tape.is_foreign {
            *cell = crate::imported_cell(
                cell.index,
                &cell.label,
                cell.direction,
                cell.imported.take().unwrap_or_default(),
            );
        }
        for repetition in &mut cell.repetitions {
            repetition.discarded |= repetition.kernel.is_some();
        }
    }
    if let Some(rounds) = record.header.profile.as_mut().and_then(|profile| profile.rounds.as_mut()) {
        rounds.window = rounds.window.max(2);
        rounds.most = rounds.most.max(rounds.window);
    }
    if let Some(versus) = &mut record.header.versus {
        versus.targets.extend([String::new(), "b".to_owned()]);
        versus.place %= versus.targets.len() as u32;
        if !versus.variants.is_empty() {
            versus.variants = versus.targets.iter().map(|target| format!("{target}=")).collect();
        }
    }
    record.header.identity = identity(&record);
    record
}

/// Returns an identity that is different for every content.
pub fn identity(record: &RunRecord) -> String {
    let mut hasher = DefaultHasher::new();
    format!("{record:?}").hash(&mut hasher);
    format!("0190a1b2-c3d4-7e5f-8000-{:012x}", hasher.finish() >> 16)
}

impl Tape {
    /// Returns the value of a field with constraints beyond its type.
    fn special(&mut self, structure: &str, field: &str) -> Option<Value> {
        let foreign = self.is_foreign;
        Some(match (structure, field) {
            ("RunHeader", "schema") => json!(RECORD_SCHEMA),
            ("RunHeader", "id") => json!("k7f"),
            ("RunHeader", "identity") => json!(""),
            ("RunHeader", "target") => self.only_if::<TargetRecord>(!foreign),
            ("RunHeader", "profile") => self.only_if::<Profile>(!foreign),
            ("RunHeader", "instrument") => self.only_if::<Instrument>(!foreign),
            ("RunHeader", "origin") => self.only_if::<Origin>(foreign),
            ("RunHeader", "started_at") | ("RunRecord", "ended_at") => json!(self.time()),
            ("RunRecord", "labels") => {
                let count = self.below(4);
                (0..count).map(|_| (self.key(), json!(self.words()))).collect()
            }
            ("Cell", "imported") => self.only_if::<ImportedCell>(foreign),
            // Usually one that a formula names.
            ("Cell", "part") if self.below(4) > 0 => {
                json!(self.pick(&["read", "write", "within", "command"]))
            }
            (step, "id") if step.ends_with("Step") && self.below(3) > 0 => {
                json!(self.pick(&["a", "b", "copy"]))
            }
            ("Derived", "formula") => {
                json!(self.pick(&["1", "a.read.MB_per_s / b.write.MB_per_s", "(copy.within.s - 2) * 0.5"]))
            }
            ("PrintedUnit", "bytes") => json!(self.number().max(1)),
            ("Profile", "steps") => {
                let mut steps: Vec<Step> = self.any();
                steps.push(self.any());
                json!(steps)
            }
            (_, "block_sizes") => {
                let mut sizes: Vec<BlockSize> = self.any();
                sizes.push(BlockSize { size_bytes: 4096, weight: 1 });
                json!(sizes)
            }
            (_, "latency" | "late") => json!(self.latency()),
            _ => return None,
        })
    }

    /// Returns a struct that contains an access pattern. Serde doesn't ask for its fields one by one.
    fn with_access_pattern(&mut self, structure: &str) -> Option<Value> {
        Some(match structure {
            "Workload" => json!(Workload {
                access: self.any(),
                span_bytes: self.any(),
                data: self.any(),
                moving_start: self.any(),
                seed: self.any(),
            }),
            "IoStep" => json!(IoStep {
                id: match self.special("IoStep", "id") {
                    Some(id) => id.as_str().map(str::to_owned),
                    None => self.any(),
                },
                label: self.any(),
                directions: self.any(),
                access: self.any(),
                span_bytes: self.any(),
                span_percent: self.any(),
                beside: self.any(),
                warm_up_passes: self.any(),
                data: self.any(),
            }),
            _ => return None,
        })
    }

    /// Returns a step. It is the only value of a record that encodes its type.
    fn step(&mut self) -> Value {
        json!(match self.below(7) {
            0 => Step::Io(Box::new(self.any())),
            1 => Step::Positional(self.any()),
            2 => Step::AccessTime(self.any()),
            3 => Step::Copy(self.any()),
            4 => Step::Command(self.any()),
            5 => Step::Metadata(self.any()),
            _ => Step::Replay(self.any()),
        })
    }

    fn fraction(&mut self, field: &str) -> f64 {
        let number = self.number();
        let finite = Some(f64::from_bits(number)).filter(|any| any.is_finite()).unwrap_or(0.1);
        let share = number as f64 / u64::MAX as f64;
        match field {
            "read_percent" | "statistic" => share * 100.0,
            "rate_iops" => 0.1 + share * 9e8,
            "value" | "mean_ns" => finite.abs(),
            "factor" | "excursion_percent" | "slope_percent" => finite.abs().max(f64::MIN_POSITIVE),
            _ => finite,
        }
    }

    fn only_if<T: Serialize + for<'de> Deserialize<'de>>(&mut self, is_there: bool) -> Value {
        json!(is_there.then(|| self.any::<T>()))
    }

    fn time(&mut self) -> String {
        let (minute, second) = (self.below(60), self.below(60));
        format!("2026-02-03T04:{minute:02}:{second:02}{}", self.pick(&["Z", ".125+09:00", "-11:30"]))
    }

    fn key(&mut self) -> String {
        let rest: String = (0..self.below(4)).map(|_| *self.pick(&['a', '_', '9', '.', '-'])).collect();
        format!("k{rest}")
    }

    /// Returns a histogram with buckets as defined in docs/record.md.
    fn latency(&mut self) -> LatencyRecord {
        let mut values: Vec<u64> = (0..self.below(7)).map(|_| self.number() >> self.below(64)).collect();
        values.sort_unstable();
        let mut buckets: Vec<(u64, u64)> = Vec::new();
        for value in &values {
            let shift = value.checked_ilog2().unwrap_or(0).saturating_sub(7);
            let lowest = value >> shift << shift;
            match buckets.last_mut() {
                Some((last, count)) if *last == lowest => *count += 1,
                _ => buckets.push((lowest, 1)),
            }
        }
        LatencyRecord {
            count: values.len() as u64,
            min_ns: values.first().copied().unwrap_or(0),
            max_ns: values.last().copied().unwrap_or(0),
            sum_ns: values.iter().fold(0, |sum: u64, value| sum.saturating_add(*value)),
            buckets,
        }
    }
}
