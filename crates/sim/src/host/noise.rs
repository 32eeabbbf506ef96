//! Other work of the processor: interrupts and programs that are running when a completion arrives.
//!
//! The model: the processor alternates between free and busy, for exponentially distributed times.
//! Such a two-state Markov chain is memoryless: its state depends on an earlier one only through
//! the time between. So one draw per completion is exact, however long the pause. A completion that
//! arrives while the processor is busy is noticed when it is free again; all that arrive during one
//! interruption are noticed together.

use kurabe_core::random::Random;

#[derive(Clone)]
pub(super) struct OtherWork {
    gap_ns: f64,
    length_ns: f64,
    random: Random,
    /// Time at which it was last known to be free, or until which it is busy.
    free_ns: u64,
}

impl OtherWork {
    /// Creates the state; `None` if the processor has no other work.
    pub(super) fn new(gap_ns: u64, length_ns: u64, random: Random) -> Option<Self> {
        (gap_ns > 0 && length_ns > 0).then_some(Self {
            gap_ns: gap_ns as f64,
            length_ns: length_ns as f64,
            random,
            free_ns: 0,
        })
    }

    /// Returns the time at which a completion is noticed. `now_ns` must not decrease between calls.
    pub(super) fn noticed_ns(&mut self, now_ns: u64) -> u64 {
        if let Some(passed_ns) = now_ns.checked_sub(self.free_ns) {
            let Self { gap_ns, length_ns, .. } = *self;
            let settled = -(-(passed_ns as f64) * (1.0 / gap_ns + 1.0 / length_ns)).exp_m1();
            let busy = self.random.unit() <= length_ns / (gap_ns + length_ns) * settled;
            let rest_ns = if busy { -length_ns * self.random.unit().ln() } else { 0.0 };
            self.free_ns = now_ns.saturating_add(rest_ns as u64);
        }
        self.free_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::DeviceSpec;
    use crate::stack::Stack;
    use crate::world::{Request, RequestKind};
    use kurabe_core::model::TimeShare;

    fn noise() -> OtherWork {
        OtherWork { gap_ns: 300_000.0, length_ns: 100_000.0, random: Random::new(5, 1), free_ns: 0 }
    }

    #[test]
    fn completions_far_apart_meet_it_as_often_and_for_as_long_as_it_works() {
        let mut noise = noise();
        let delays: Vec<u64> = (1..=100_000)
            .map(|index| index * 10_000_000)
            .map(|at_ns| noise.noticed_ns(at_ns) - at_ns)
            .collect();
        let delayed: Vec<u64> = delays.into_iter().filter(|delay_ns| *delay_ns > 0).collect();
        // A quarter of the completions, by 100 µs more; tolerances are four standard errors of
        // 100,000 draws and of a mean of 25,000.
        assert!((delayed.len() as f64 / 1e5 - 0.25).abs() < 0.0055, "{}", delayed.len());
        let mean_ns = delayed.iter().sum::<u64>() as f64 / delayed.len() as f64;
        assert!((mean_ns / 1e5 - 1.0).abs() < 0.026, "{mean_ns}");
    }

    /// A completion every microsecond observes every interruption from its beginning to its end.
    #[test]
    fn completions_close_together_share_interruptions() {
        let mut noise = noise();
        let (mut ends, mut delayed) = (std::collections::BTreeSet::new(), 0);
        for at_ns in (1..=4_000_000).map(|index| index * 1000) {
            let noticed_ns = noise.noticed_ns(at_ns);
            if noticed_ns > at_ns {
                ends.insert(noticed_ns);
                delayed += 1;
            }
        }
        // 4 s at 400 µs each: 10,000 interruptions, some of them as short as the step; the
        // tolerance is four standard errors.
        assert!((9500..10_500).contains(&ends.len()), "{}", ends.len());
        assert!((f64::from(delayed) / 4e6 - 0.25).abs() < 0.012, "{delayed}");
    }

    #[test]
    fn a_computer_with_other_work_notices_later_and_says_so() {
        let run = |settings: &str| {
            let source = format!(
                r#"
                schema = 1
                name = "test"
                title = {{ en = "test", ja = "test" }}
                [[layer]]
                kind = "host"
                {settings}
                [[layer]]
                kind = "constant"
                capacity = {{ value = "1 MiB", source = "test" }}
                access = {{ value = "1 ms", source = "test" }}
                rate = {{ value = "1 GB/s", source = "test" }}
                "#
            );
            let spec = DeviceSpec::parse("test", &source, &|_, _| unreachable!()).unwrap();
            let mut stack = Stack::new(&spec, 1).unwrap();
            for _ in 0..1000 {
                stack.submit(stack.now_ns(), Request::new(RequestKind::Read, 0, 512), 0);
                while let Some(at_ns) = stack.next_wake_ns() {
                    stack.advance(at_ns);
                }
            }
            let account = stack.take_account();
            let share = |cause| {
                let same = |share: &&TimeShare| share.cause == cause;
                account.shares.iter().filter(same).map(|share| share.time_ns).sum::<u64>()
            };
            (account.latency_ns, share("other-work"), share("unexplained"))
        };
        let settings = |gap: &str, time: &str| {
            format!(
                "noise_gap = {{ value = \"{gap}\", source = \"test\" }}\nnoise_time = {{ value = \
                 \"{time}\", source = \"test\" }}"
            )
        };
        let quiet = run("");
        assert_eq!(quiet.1, 0);
        assert_eq!(run(&settings("1 ms", "0 ns")), quiet);
        assert_eq!(run(&settings("0 ns", "1 ms")), quiet);
        let noisy = run(&settings("1 ms", "100 us"));
        assert_eq!(noisy, run(&settings("1 ms", "100 us")), "the same seed, the same times");
        assert_eq!((noisy.0, noisy.2), (quiet.0 + noisy.1, 0));
        assert!(noisy.1 > 0);
    }
}
