//! Limits of a cloud volume: operations and bytes per second, with burst credits.
//!
//! The model: two token buckets, one of operations and one of bytes. Each fills at its rate, up to
//! its credits, and is drained by the requests that pass, at its peak rate at most. Requests pass
//! in order of arrival, when both buckets allow it. An operation longer than the unit counts as
//! several. A bucket without credits is a plain limit.
//!
//! Not modelled: short sequential requests that a provider counts as one, and resources that the
//! volume shares with others.

use crate::build::{Builder, parameters, words};
use crate::layer::{Below, Built, Layer, LayerKind};
use crate::settings::{Live, Setting};
use crate::vocabulary::page;
use crate::world::{Child, JobId, LayerId, RequestKind, World};
use kurabe_core::Result;

/// Limits of a cloud volume: `limiter` in device files.
pub const LIMITER: LayerKind = LayerKind::new(page!("limiter"), "limiter", Below::One, PARAMETERS, build);

/// Upper limit of all amounts, so that sums stay exact.
const MOST: f64 = 1e15;

parameters! {
    struct Values, PARAMETERS from "limiter" {
        "operations" operations_per_s: Number(1.0, MOST), needed.live();
        "operations_peak" operations_peak_per_s: Number(0.0, MOST), usual("0", "assumed: no more than \
            operations").live();
        "operation_credits" operation_credits: Number(0.0, MOST), usual("0", "assumed: none").live();
        "unit" unit_bytes: SOME_SIZE, usual("256 KiB", "assumed: as EBS counts on SSDs").live();
        "rate" bytes_per_s: Rate, needed.live();
        "rate_peak" bytes_peak_per_s: Rate, usual("1 B/s", "assumed: no more than rate").live();
        "rate_credits" rate_credits_bytes: SIZE, usual("0 B", "assumed: none").live();
    }
}

words! {
    struct Words from "limiter" {
        operations: cause("operations-limit");
        bytes: cause("rate-limit");
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    /// Credits used, and the time to which this applies.
    used: f64,
    at_ns: u64,
    /// Time at which the last request has passed at the peak rate.
    passed_ns: u64,
}

impl Bucket {
    /// Returns the time at which an amount that arrives now is admitted. The bucket fills at a rate
    /// and is drained at the peak rate at most.
    fn take(&mut self, now_ns: u64, amount: f64, per_s: f64, peak_per_s: f64, credits: f64) -> u64 {
        let refilled = |used: f64, from_ns: u64, to_ns: u64| {
            (used - per_s * to_ns.saturating_sub(from_ns) as f64 / 1e9).max(0.0)
        };
        let mut start_ns = now_ns.max(self.passed_ns);
        let mut used = refilled(self.used, self.at_ns, start_ns);
        if used > credits {
            // Wait until no more than the credits is used.
            start_ns = start_ns.saturating_add(((used - credits) / per_s * 1e9) as u64);
            used = credits;
        }
        self.used = used + amount;
        self.at_ns = start_ns;
        self.passed_ns = start_ns.saturating_add((amount / peak_per_s.max(per_s) * 1e9) as u64);
        start_ns
    }
}

#[derive(Clone)]
struct Limiter {
    below: LayerId,
    operations: Bucket,
    bytes: Bucket,
    values: Values,
    words: Words,
}

fn build(builder: &mut Builder<'_>) -> Result<Built> {
    let limiter = Limiter {
        below: builder.only_below(),
        operations: Bucket::default(),
        bytes: Bucket::default(),
        values: Values::new(builder),
        words: Words::new(builder),
    };
    Ok(Built::new(limiter, builder.below_bytes()))
}

impl Layer for Limiter {
    fn arrive(&mut self, job: JobId, world: &mut World) {
        let (request, now_ns) = (world.request(job), world.now_ns());
        let values = &self.values;
        let mut start_ns = now_ns;
        if matches!(request.kind, RequestKind::Read | RequestKind::Write) {
            let length_bytes = u64::from(request.length_bytes);
            let operations = length_bytes.div_ceil(values.unit_bytes).max(1) as f64;
            let counted_ns = self.operations.take(
                now_ns,
                operations,
                values.operations_per_s,
                values.operations_peak_per_s,
                values.operation_credits,
            );
            world.charge(job, self.words.operations, counted_ns);
            let (bytes, credits) = (length_bytes as f64, values.rate_credits_bytes as f64);
            let moved_ns =
                self.bytes.take(now_ns, bytes, values.bytes_per_s, values.bytes_peak_per_s, credits);
            world.charge(job, self.words.bytes, moved_ns);
            start_ns = counted_ns.max(moved_ns);
        }
        world.send_at(start_ns, Some(job), self.below, request, 0);
    }

    fn returned(&mut self, child: Child, world: &mut World) {
        if let Some(job) = child.parent {
            world.finish(job);
        }
    }

    fn change(&mut self, setting: &Setting) {
        self.values.change(setting);
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{account, device, request, run};
    use crate::stack::Stack;
    use crate::world::RequestKind;

    /// Returns the seconds for `count` requests of a length, 64 in flight.
    fn seconds(limiter: &str, count: usize, length_bytes: u32) -> f64 {
        let spec = device(&[limiter, "constant capacity=1_GiB access=1_us rate=1_TB/s parallel=64"]);
        let mut stack = Stack::new(&spec, 1).unwrap();
        let requests = vec![request(RequestKind::Read, 0, length_bytes); count];
        let ends_ns = run(&mut stack, &requests, 64);
        account(&mut stack);
        ends_ns.into_iter().max().unwrap() as f64 / 1e9
    }

    fn assert_near(value: f64, expected: f64) {
        assert!((value / expected - 1.0).abs() < 0.01, "{value} s, expected {expected} s");
    }

    #[test]
    fn operations_and_bytes_are_limited() {
        let limiter = "limiter operations=1000 rate=100_MB/s";
        assert_near(seconds(limiter, 2001, 4096), 2.0);
        // An operation of 1 MiB counts as four of 256 KiB, but the limit of bytes is reached first.
        assert_near(seconds(limiter, 101, 1 << 20), 1.048);
        assert_near(seconds("limiter operations=1000 rate=10_GB/s", 251, 1 << 20), 1.0);
    }

    #[test]
    fn credits_are_spent_at_the_peak_rate_and_then_the_plain_rate_is_left() {
        let limiter = "limiter operations=100 operations_peak=1000 operation_credits=900 rate=10_GB/s";
        // 1000 at the peak rate use the 900 credits and the 100 that accrue during that second.
        assert_near(seconds(limiter, 1000, 4096), 1.0);
        assert_near(seconds(limiter, 1200, 4096), 3.0);
    }
}
