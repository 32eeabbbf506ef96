//! Merging of parts of one repetition that several threads or processes performed concurrently.
//!
//! Each part is recorded from the common start, as if it were the only one. Operations, bytes and
//! CPU times are added, and the series are added interval by interval. Overlapping stalls become
//! one. For observations of the same machine (noise, the device's own counters), the largest value
//! counts. The result depends neither on the order nor on the grouping of the parts, and equals
//! what a single process would have recorded.
//!
//! Non-goals: figures from the kernel's tracepoints, because percentiles can't be merged, and
//! per-rank figures, which `kurabe-ranks` reports.

use super::{CpuUse, Interval, LatencyRecord, Noise, OpsRecord, Repetition, Series, Stall, Traffic};
use std::collections::BTreeMap;

impl LatencyRecord {
    /// Merges latencies into one histogram.
    pub fn together<'a>(records: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut buckets: BTreeMap<u64, u64> = BTreeMap::new();
        let mut sum = Self::default();
        for record in records.into_iter().filter(|record| record.count > 0) {
            sum.min_ns = if sum.count == 0 { record.min_ns } else { sum.min_ns.min(record.min_ns) };
            sum.max_ns = sum.max_ns.max(record.max_ns);
            sum.count = sum.count.saturating_add(record.count);
            sum.sum_ns = sum.sum_ns.saturating_add(record.sum_ns);
            for (lowest_ns, count) in &record.buckets {
                let sum = buckets.entry(*lowest_ns).or_default();
                *sum = sum.saturating_add(*count);
            }
        }
        sum.buckets = buckets.into_iter().collect();
        sum
    }
}

impl OpsRecord {
    fn merge(&mut self, other: &Self) {
        self.submitted = self.submitted.saturating_add(other.submitted);
        self.completed = self.completed.saturating_add(other.completed);
        self.failed = self.failed.saturating_add(other.failed);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.latency = LatencyRecord::together([&self.latency, &other.latency]);
    }
}

impl Interval {
    /// Adds the operations of another part in the same interval.
    pub fn merge(&mut self, other: &Self) {
        self.read_bytes = self.read_bytes.saturating_add(other.read_bytes);
        self.read_operations = self.read_operations.saturating_add(other.read_operations);
        self.read_worst_ns = self.read_worst_ns.max(other.read_worst_ns);
        self.write_bytes = self.write_bytes.saturating_add(other.write_bytes);
        self.write_operations = self.write_operations.saturating_add(other.write_operations);
        self.write_worst_ns = self.write_worst_ns.max(other.write_worst_ns);
        self.trim_bytes = self.trim_bytes.saturating_add(other.trim_bytes);
        self.trim_operations = self.trim_operations.saturating_add(other.trim_operations);
        self.trim_worst_ns = self.trim_worst_ns.max(other.trim_worst_ns);
    }
}

impl Series {
    /// Intervals of different lengths can't be added, so the series with the longer intervals is
    /// kept.
    fn merge(&mut self, other: &Self) {
        if other.interval_ns > self.interval_ns {
            self.intervals.clear();
            self.interval_ns = other.interval_ns;
        }
        if other.interval_ns == self.interval_ns {
            let count = self.intervals.len().max(other.intervals.len());
            self.intervals.resize(count, Interval::default());
            self.intervals.iter_mut().zip(&other.intervals).for_each(|(sum, part)| sum.merge(part));
        }
    }
}

impl Stall {
    /// Merges a stall that overlaps this one in time, which is the same stall seen by another
    /// operation. Returns whether it overlapped.
    pub fn join(&mut self, other: &Self) -> bool {
        let (end_ns, other_end_ns) = (self.end_ns(), other.end_ns());
        if other.at_ns > end_ns || self.at_ns > other_end_ns {
            return false;
        }
        let waited = |stall: &Self| (stall.longest(), stall.kind as u8, stall.offset_bytes);
        if waited(other) > waited(self) {
            (self.kind, self.offset_bytes) = (other.kind, other.offset_bytes);
        }
        self.longest_ns = self.longest().max(other.longest());
        self.at_ns = self.at_ns.min(other.at_ns);
        self.length_ns = end_ns.max(other_end_ns) - self.at_ns;
        self.operations = self.operations.saturating_add(other.operations);
        true
    }

    /// Returns the stalls in order of time, with overlapping ones merged.
    pub fn joined(mut stalls: Vec<Self>) -> Vec<Self> {
        stalls.sort_unstable_by_key(|stall| {
            (stall.at_ns, stall.length_ns, stall.kind as u8, stall.offset_bytes)
        });
        stalls.dedup_by(|stall, before| before.join(stall));
        stalls
    }

    fn end_ns(&self) -> u64 {
        self.at_ns.saturating_add(self.length_ns)
    }

    /// Returns the longest latency of an operation. Early versions stored only the length of the
    /// whole stall.
    fn longest(&self) -> u64 {
        if self.longest_ns == 0 { self.length_ns } else { self.longest_ns }
    }
}

impl CpuUse {
    fn merge(&mut self, other: &Self) {
        self.user_ns = self.user_ns.saturating_add(other.user_ns);
        self.system_ns = self.system_ns.saturating_add(other.system_ns);
    }
}

impl Noise {
    /// Returns the maximum of two observations of the same machine.
    #[must_use]
    pub fn most(mut self, other: &Self) -> Self {
        self.merge(other);
        self
    }

    fn merge(&mut self, other: &Self) {
        self.other_read_bytes = self.other_read_bytes.max(other.other_read_bytes);
        self.other_write_bytes = self.other_write_bytes.max(other.other_write_bytes);
        self.steal_share = most(self.steal_share, other.steal_share);
        self.io_pressure_share = most(self.io_pressure_share, other.io_pressure_share);
        self.cpu_pressure_share = most(self.cpu_pressure_share, other.cpu_pressure_share);
        self.memory_pressure_share = most(self.memory_pressure_share, other.memory_pressure_share);
        self.other_cpus_busy = most(self.other_cpus_busy, other.other_cpus_busy);
        self.suspended_ns = self.suspended_ns.max(other.suspended_ns);
    }
}

fn most(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    one.into_iter().chain(other).max_by(f64::total_cmp)
}

impl Traffic {
    fn merge(&mut self, other: &Self) {
        self.read_operations = self.read_operations.max(other.read_operations);
        self.read_bytes = self.read_bytes.max(other.read_bytes);
        self.write_operations = self.write_operations.max(other.write_operations);
        self.write_bytes = self.write_bytes.max(other.write_bytes);
    }
}

impl Repetition {
    /// Adds another part of the same repetition. The times of both are relative to the same start.
    pub fn merge(&mut self, other: &Self) {
        self.index = self.index.min(other.index);
        self.discarded |= other.discarded;
        self.seed = self.seed.min(other.seed);
        self.started_ns = self.started_ns.min(other.started_ns);
        self.turn = self.turn.into_iter().chain(other.turn).min();
        self.elapsed_ns = self.elapsed_ns.max(other.elapsed_ns);
        self.first_done_ns = self.first_done_ns.into_iter().chain(other.first_done_ns).min();
        self.read.merge(&other.read);
        self.write.merge(&other.write);
        self.sync.merge(&other.sync);
        self.trim.merge(&other.trim);
        self.end_sync_ns = self.end_sync_ns.max(other.end_sync_ns);
        self.unserved_operations = self.unserved_operations.saturating_add(other.unserved_operations);
        self.series.merge(&other.series);
        self.merge_stalls(other);
        self.cpu.merge(&other.cpu);
        self.generator_share = self.generator_share.max(other.generator_share);
        self.generator_bound |= other.generator_bound;
        self.noise.merge(&other.noise);
        self.samples.extend_from_slice(&other.samples);
        self.samples.sort_unstable_by_key(|sample| (sample.offset_bytes, sample.bytes, sample.elapsed_ns));
        self.places.extend_from_slice(&other.places);
        self.traffic = match (self.traffic.take(), other.traffic) {
            (Some(mut own), Some(theirs)) => {
                own.merge(&theirs);
                Some(own)
            }
            (own, theirs) => own.or(theirs),
        };
        if let Some(account) = &other.account {
            self.account.get_or_insert_default().add(account);
        }
        (self.kernel, self.ranks) = (None, None);
    }

    /// Returns the repetition with its times relative to a start that was `by_ns` earlier. The
    /// series moves only by whole intervals.
    #[must_use]
    pub fn later(mut self, by_ns: u64) -> Self {
        self.elapsed_ns = self.elapsed_ns.saturating_add(by_ns);
        self.first_done_ns = self.first_done_ns.map(|done_ns| done_ns.saturating_add(by_ns));
        self.stalls.iter_mut().for_each(|stall| stall.at_ns = stall.at_ns.saturating_add(by_ns));
        let idle = by_ns.checked_div(self.series.interval_ns).unwrap_or(0) as usize;
        self.series.intervals.splice(..0, std::iter::repeat_n(Interval::default(), idle));
        self
    }

    fn merge_stalls(&mut self, other: &Self) {
        let unlisted = |part: &Self| part.stall_count.saturating_sub(part.stalls.len() as u64);
        let unlisted = unlisted(self).saturating_add(unlisted(other));
        let all = std::mem::take(&mut self.stalls).into_iter().chain(other.stalls.iter().copied());
        self.stalls = Stall::joined(all.collect());
        self.stall_count = unlisted.saturating_add(self.stalls.len() as u64);
        self.stall_threshold_ns = self.stall_threshold_ns.max(other.stall_threshold_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{LayerCount, TimeAccount, TimeShare};
    use crate::record::Sample;
    use crate::workload::OpKind;
    use proptest::collection::vec;
    use proptest::option::of;
    use proptest::prelude::*;

    fn operations() -> impl Strategy<Value = OpsRecord> {
        vec((0u64..5, 1u64..9), 0..4).prop_map(|buckets| {
            let record = |(lowest_ns, count): &(u64, u64)| LatencyRecord {
                count: *count,
                min_ns: *lowest_ns,
                max_ns: *lowest_ns,
                sum_ns: lowest_ns * count,
                buckets: vec![(*lowest_ns, *count)],
            };
            let latency = LatencyRecord::together(&buckets.iter().map(record).collect::<Vec<_>>());
            let completed = latency.count;
            OpsRecord { submitted: completed + 1, completed, failed: 1, bytes: completed * 512, latency }
        })
    }

    fn stalls() -> impl Strategy<Value = Vec<Stall>> {
        let kinds = prop_oneof![Just(OpKind::Read), Just(OpKind::Write), Just(OpKind::Sync)];
        let stall =
            (0u64..100, 1u64..20, kinds, 0u64..3).prop_map(|(at_ns, length_ns, kind, offset_bytes)| Stall {
                at_ns,
                length_ns,
                longest_ns: length_ns,
                kind,
                offset_bytes,
                operations: 1,
            });
        vec(stall, 0..6).prop_map(Stall::joined)
    }

    fn series() -> impl Strategy<Value = Series> {
        let interval = (0u64..9, 0u32..9, 0u64..9).prop_map(|(bytes, operations, worst_ns)| Interval {
            read_bytes: bytes,
            read_operations: operations,
            read_worst_ns: worst_ns,
            write_bytes: bytes * 2,
            write_operations: operations / 2,
            write_worst_ns: worst_ns + 1,
            trim_bytes: bytes * 3,
            trim_operations: operations / 3,
            trim_worst_ns: worst_ns + 2,
        });
        (1u64..3, vec(interval, 0..4)).prop_map(|(interval_ns, intervals)| Series { interval_ns, intervals })
    }

    fn account() -> impl Strategy<Value = TimeAccount> {
        vec(1u64..9, 1..3).prop_map(|times_ns| TimeAccount {
            operations: 1,
            latency_ns: times_ns.iter().sum(),
            shares: times_ns
                .iter()
                .zip(["bus", "disk"])
                .map(|(time_ns, layer)| TimeShare {
                    layer: layer.into(),
                    cause: "busy".into(),
                    time_ns: *time_ns,
                })
                .collect(),
            counts: vec![LayerCount { layer: "disk".into(), counter: "seeks".into(), count: 1 }],
        })
    }

    prop_compose! {
        fn part()(
            (index, discarded, seed, started_ns, turn) in (0u32..3, any::<bool>(), 0u64..3, 0u64..9, of(0u32..3)),
            (elapsed_ns, first_done_ns, end_sync_ns, unserved_operations)
                in (0u64..99, of(0u64..9), of(0u64..9), 0u64..9),
            (read, write, sync, trim) in (operations(), operations(), operations(), operations()),
            (series, stalls, unlisted, stall_threshold_ns) in (series(), stalls(), 0u64..3, 0u64..9),
            (user_ns, generator_share, generator_bound) in (0u64..9, 0.0..1.0f64, any::<bool>()),
            (other_read_bytes, steal_share, other_cpus_busy, suspended_ns) in
                (of(0u64..9), of(0.0..1.0f64), of(0.0..4.0f64), of(0u64..9)),
            samples in vec((0u64..3, 1u64..9), 0..3),
            (traffic, account) in (of(0u64..9), of(account())),
        ) -> Repetition {
            Repetition {
                index, discarded, seed, started_ns, turn, elapsed_ns, first_done_ns, end_sync_ns, unserved_operations,
                read, write, sync, trim, series, stall_threshold_ns, generator_share, generator_bound, account,
                stall_count: stalls.len() as u64 + unlisted,
                stalls,
                cpu: CpuUse { user_ns, system_ns: user_ns / 2 },
                noise: Noise {
                    other_read_bytes,
                    steal_share,
                    other_cpus_busy,
                    suspended_ns,
                    ..Noise::default()
                },
                samples: samples
                    .into_iter()
                    .map(|(offset_bytes, elapsed_ns)| Sample { offset_bytes, bytes: 512, elapsed_ns })
                    .collect(),
                iodepth: None,
                places: Vec::new(),
                traffic: traffic.map(|read_bytes| Traffic { read_bytes, ..Traffic::default() }),
                kernel: None,
                ranks: None,
            }
        }
    }

    /// Merges two parts. The order of layers in an account is not significant, so it is normalised.
    fn merged(one: &Repetition, other: &Repetition) -> Repetition {
        let mut whole = one.clone();
        whole.merge(other);
        if let Some(account) = &mut whole.account {
            account.shares.sort_by(|a, b| a.layer.cmp(&b.layer));
        }
        whole
    }

    proptest! {
        #[test]
        fn neither_order_nor_grouping_of_parts_matters(a in part(), b in part(), c in part()) {
            prop_assert_eq!(merged(&a, &b), merged(&b, &a));
            prop_assert_eq!(merged(&merged(&a, &b), &c), merged(&a, &merged(&b, &c)));
        }

        #[test]
        fn nothing_is_lost(a in part(), b in part()) {
            let whole = merged(&a, &b);
            for direction in [crate::workload::Direction::Read, crate::workload::Direction::Write] {
                prop_assert_eq!(whole.bytes(direction), a.bytes(direction) + b.bytes(direction));
                prop_assert_eq!(whole.operations(direction), a.operations(direction) + b.operations(direction));
            }
            prop_assert_eq!(whole.read.latency.sum_ns, a.read.latency.sum_ns + b.read.latency.sum_ns);
            prop_assert_eq!(whole.cpu.user_ns, a.cpu.user_ns + b.cpu.user_ns);
            let waits = |part: &Repetition| part.stalls.iter().map(|stall| stall.operations).sum::<u64>();
            prop_assert_eq!(waits(&whole), waits(&a) + waits(&b));
        }
    }
}
