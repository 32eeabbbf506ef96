//! The simplest medium: every request takes a fixed time plus a time for its bytes, several in
//! parallel. It represents media without a mechanism worth modelling, and serves as a medium in
//! tests.
//!
//! The model: a part of the access time may be exponentially distributed, as that of work which
//! ends at any moment with the same probability. Writes may have a rate of their own.

use crate::build::{Builder, parameters, words};
use crate::layer::{Below, Built, Layer, LayerKind};
use crate::settings::{Live, Setting};
use crate::timeline::{Timeline, transfer_ns};
use crate::vocabulary::page;
use crate::world::{JobId, RequestKind, World};
use kurabe_core::Result;
use kurabe_core::random::Random;

/// Constant medium: `constant` in device files.
pub const CONSTANT: LayerKind =
    LayerKind::new(page!("constant"), "constant", Below::Nothing, PARAMETERS, build);

parameters! {
    struct Values, PARAMETERS from "constant" {
        "capacity" capacity_bytes: SOME_SIZE, needed;
        "access" access_ns: Time, needed.live();
        "rate" rate_bytes_per_s: Rate, needed.live();
        "write_rate" write_bytes_per_s: Rate, usual("1000 TB/s", "assumed: as rate").live();
        "scatter" scatter_ns: Time, usual("0 ns", "assumed: all requests are alike");
        "parallel" parallel: Count(1, 1024), usual("1", "assumed");
    }
}

#[derive(Clone)]
struct Constant {
    servers: Vec<Timeline>,
    random: Random,
    values: Values,
    words: Words,
}

words! {
    struct Words from "constant" {
        waiting: line("waiting");
        access: cause("access");
        transfer: cause("transfer");
    }
}

fn build(builder: &mut Builder<'_>) -> Result<Built> {
    let values = Values::new(builder);
    let capacity_bytes = values.capacity_bytes;
    let servers = vec![Timeline::default(); values.parallel as usize];
    let alone = servers.len() == 1;
    let constant = Constant { servers, random: builder.random(), values, words: Words::new(builder) };
    Ok(Built::new(constant, capacity_bytes).in_turn_if(alone))
}

impl Constant {
    /// Returns the time of a request before its bytes.
    fn access_ns(&mut self) -> u64 {
        let Values { access_ns, scatter_ns, .. } = self.values;
        if scatter_ns == 0 {
            return access_ns;
        }
        access_ns.saturating_add((-(scatter_ns as f64) * self.random.unit().ln()) as u64)
    }

    /// Returns the rate of the bytes of a request.
    fn bytes_per_s(&self, kind: RequestKind) -> f64 {
        let Values { rate_bytes_per_s, write_bytes_per_s, .. } = self.values;
        if kind == RequestKind::Write { rate_bytes_per_s.min(write_bytes_per_s) } else { rate_bytes_per_s }
    }
}

impl Layer for Constant {
    fn arrive(&mut self, job: JobId, world: &mut World) {
        let request = world.request(job);
        let bytes = match request.kind {
            RequestKind::Read | RequestKind::Write => u64::from(request.length_bytes),
            RequestKind::Flush | RequestKind::Trim | RequestKind::WriteZeroes => 0,
        };
        let transfer_ns = transfer_ns(bytes, self.bytes_per_s(request.kind));
        let access_ns = self.access_ns();
        let Some(server) = self.servers.iter_mut().min_by_key(|server| server.free_ns()) else { return };
        let (start_ns, end_ns) = server.take(world.now_ns(), access_ns.saturating_add(transfer_ns));
        world.charge(job, self.words.waiting, start_ns);
        world.charge(job, self.words.access, end_ns - transfer_ns);
        world.charge(job, self.words.transfer, end_ns);
        world.finish_at(end_ns, job);
    }

    fn change(&mut self, setting: &Setting) {
        self.values.change(setting);
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{device, request, run};
    use crate::stack::Stack;
    use crate::world::RequestKind;

    /// Returns the times of single 4 KiB requests in ns, in ascending order.
    fn times_ns(kind: RequestKind, medium: &str) -> Vec<u64> {
        let mut stack = Stack::new(&device(&[&format!("constant capacity=1_MiB {medium}")]), 1).unwrap();
        let mut from_ns = 0;
        let mut one = |_| {
            let end_ns = run(&mut stack, &[request(kind, 0, 4096)], 1)[0];
            end_ns - std::mem::replace(&mut from_ns, end_ns)
        };
        let mut times: Vec<u64> = (0..20_000).map(&mut one).collect();
        times.sort_unstable();
        times
    }

    #[test]
    fn scattered_times_have_their_mean_and_a_tail() {
        let times = times_ns(RequestKind::Read, "access=1_us scatter=2_us rate=1_TB/s");
        let mean = times.iter().sum::<u64>() as f64 / times.len() as f64;
        // Tolerances: four standard errors of 20,000 draws, and of the quantile.
        assert!((mean / 3004.0 - 1.0).abs() < 0.02, "{mean}");
        let of_hundred = |rank: usize| times[times.len() * rank / 100] as f64 - 1004.0;
        assert!((of_hundred(99) / (2000.0 * 100f64.ln()) - 1.0).abs() < 0.07, "{}", of_hundred(99));
        assert!(times[0] >= 1004);
    }

    #[test]
    fn writes_may_be_slower_than_reads_and_never_faster() {
        for (write_rate, expected_ns) in [("100_MB/s", 40_960), ("1_TB/s", 4096)] {
            let medium = format!("access=0_ns rate=1_GB/s write_rate={write_rate}");
            assert_eq!(times_ns(RequestKind::Write, &medium)[0], expected_ns);
            assert_eq!(times_ns(RequestKind::Read, &medium)[0], 4096);
        }
    }
}
