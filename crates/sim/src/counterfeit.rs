//! A device that claims more capacity than it has.
//!
//! The model: the firmware reports `claims` bytes, and the medium below has fewer. Addresses beyond
//! the medium either wrap around to its start, or are dropped: writes are acknowledged and lost,
//! and reads return without data. A dropped request takes the time of the controller alone.
//!
//! Not modelled: a cache that hides the loss until it is full, and firmware that maps addresses
//! beyond the medium in another way.

use crate::build::{Builder, parameters, words};
use crate::layer::{Below, Built, Layer, LayerKind};
use crate::settings::{Live, Setting};
use crate::timeline::{Timeline, transfer_ns};
use crate::vocabulary::page;
use crate::world::{Child, JobId, LayerId, OpenParts, RequestKind, World, is_last_part};
use kurabe_core::{Result, text};

/// Counterfeit capacity: `counterfeit` in device files.
pub const COUNTERFEIT: LayerKind =
    LayerKind::new(page!("counterfeit"), "counterfeit", Below::One, PARAMETERS, build);

parameters! {
    struct Values, PARAMETERS from "counterfeit" {
        "claims" claims_bytes: SOME_SIZE, needed;
        "beyond" beyond: Word(&["wraps", "drops"]), usual("wraps", "assumed: high address bits are ignored");
        "answer" answer_ns: Time, usual("300 us", "assumed: of the order of a command of a USB stick").live();
        "rate" rate_bytes_per_s: Rate, usual("30 MB/s", "assumed: of the order of a USB 2.0 stick").live();
    }
}

words! {
    struct Words from "counterfeit" {
        waiting: line("waiting");
        answer: cause("answer");
        dropped: counter("dropped");
    }
}

#[derive(Clone)]
struct Counterfeit {
    below: LayerId,
    /// Capacity of the medium.
    real_bytes: u64,
    controller: Timeline,
    values: Values,
    words: Words,
    /// Requests that are below, with the number of their parts.
    parts: OpenParts,
}

fn build(builder: &mut Builder<'_>) -> Result<Built> {
    let values = Values::new(builder);
    let real_bytes = builder.below_bytes();
    if values.claims_bytes < real_bytes {
        let what = text!(
            "a counterfeit claims at least what it has: {real_bytes} B are below",
            "容量を偽る装置は、実際の容量以上を名乗ります。下の層は {real_bytes} B です"
        );
        return Err(builder.error("claims", &what));
    }
    let claims_bytes = values.claims_bytes;
    let layer = Counterfeit {
        below: builder.only_below(),
        real_bytes,
        controller: Timeline::default(),
        words: Words::new(builder),
        values,
        parts: OpenParts::default(),
    };
    Ok(Built::new(layer, claims_bytes))
}

impl Counterfeit {
    fn wraps(&self) -> bool {
        self.values.beyond == "wraps"
    }

    /// Divides a range into those parts that reach the medium, with their addresses there.
    fn parts_below(&self, from_bytes: u64, length_bytes: u32) -> Vec<(u64, u32)> {
        let end_bytes = from_bytes + u64::from(length_bytes);
        let (mut at_bytes, mut parts) = (from_bytes, Vec::new());
        while at_bytes < end_bytes {
            let copy = at_bytes / self.real_bytes;
            let next_bytes = end_bytes.min((copy + 1) * self.real_bytes);
            if copy == 0 || self.wraps() {
                parts.push((at_bytes % self.real_bytes, (next_bytes - at_bytes) as u32));
            }
            at_bytes = next_bytes;
        }
        parts
    }
}

impl Layer for Counterfeit {
    fn arrive(&mut self, job: JobId, world: &mut World) {
        let request = world.request(job);
        if request.kind == RequestKind::Flush {
            self.parts.insert(job, 1);
            return world.send(job, self.below, request, 0);
        }
        let parts = self.parts_below(request.offset_bytes, request.length_bytes);
        if parts.is_empty() {
            let transfer_ns = transfer_ns(u64::from(request.length_bytes), self.values.rate_bytes_per_s);
            let (start_ns, end_ns) =
                self.controller.take(world.now_ns(), self.values.answer_ns + transfer_ns);
            world.charge(job, self.words.waiting, start_ns);
            world.charge(job, self.words.answer, end_ns);
            world.count(self.words.dropped, 1);
            return world.finish_at(end_ns, job);
        }
        self.parts.insert(job, parts.len() as u64);
        for (offset_bytes, length_bytes) in parts {
            world.send(job, self.below, request.at(offset_bytes, length_bytes), 0);
        }
    }

    fn returned(&mut self, child: Child, world: &mut World) {
        if let Some(job) = child.parent
            && is_last_part(&mut self.parts, job)
        {
            world.finish(job);
        }
    }

    fn change(&mut self, setting: &Setting) {
        self.values.change(setting);
    }

    fn kept_at(&self, offset_bytes: u64) -> Option<u64> {
        (offset_bytes < self.real_bytes || self.wraps()).then(|| offset_bytes % self.real_bytes)
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{account, device, request, run_apart, try_device};
    use crate::stack::Stack;
    use crate::world::RequestKind;

    fn stack(beyond: &str) -> Stack {
        let fake = format!("counterfeit claims=64_MiB beyond={beyond} answer=10_us rate=1_TB/s");
        let spec = device(&[&fake, "constant capacity=4_MiB access=1_ms rate=1_TB/s"]);
        Stack::new(&spec, 1).unwrap()
    }

    #[test]
    fn addresses_beyond_the_medium_are_kept_elsewhere_or_not_at_all() {
        let (wraps, drops) = (stack("wraps"), stack("drops"));
        assert_eq!(wraps.capacity_bytes(), 64 << 20);
        assert_eq!(wraps.kept_at((4 << 20) + 4096), Some(4096));
        assert_eq!(drops.kept_at((4 << 20) + 4096), None);
        assert_eq!(drops.kept_at(4096), Some(4096));
    }

    #[test]
    fn only_parts_on_the_medium_take_its_time() {
        let across = [request(RequestKind::Write, (4 << 20) - 4096, 8192)];
        let beyond = [request(RequestKind::Write, 32 << 20, 4096)];
        for (kind, times_ns) in [("wraps", [2_000_000, 1_000_000]), ("drops", [1_000_000, 10_000])] {
            let mut stack = stack(kind);
            let near = |time_ns: u64, expected_ns: u64| time_ns.abs_diff(expected_ns) < 100;
            assert!(near(run_apart(&mut stack, &across)[0], times_ns[0]), "{kind}");
            assert!(near(run_apart(&mut stack, &beyond)[0], times_ns[1]), "{kind}");
            account(&mut stack);
        }
    }

    #[test]
    fn a_counterfeit_does_not_claim_less_than_it_has() {
        assert!(
            try_device(&["counterfeit claims=1_MiB", "constant capacity=4_MiB access=1_ms rate=1_MB/s"])
                .map(|spec| Stack::new(&spec, 1).err())
                .is_ok_and(|error| error.is_some())
        );
    }
}
