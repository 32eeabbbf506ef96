//! Profiles and their steps.

use super::*;

impl Tape {
    pub(super) fn io_step(&mut self) -> IoStep {
        IoStep {
            id: self.id(),
            label: self.option(Self::string),
            directions: self.directions(),
            read_percent: self.percent(),
            pattern: self.pattern(),
            thread_share: self.thread_share(),
            block_sizes: self.block_sizes(),
            iodepth: self.u32(),
            threads: self.u32(),
            offset_bytes: self.u64(),
            span_bytes: self.option(Self::u64),
            rewrite_every_reads: self.option(Self::u32),
            open_loop: self.option(Self::open_loop),
            warm_up_ns: self.u64(),
            warm_up_passes: self.u32(),
            end: self.end(),
            sync: self.sync(),
            data: self.option(Self::data),
        }
    }

    pub(super) fn positional_step(&mut self) -> PositionalStep {
        PositionalStep {
            id: self.id(),
            label: self.option(Self::string),
            samples: self.u32(),
            sample_bytes: self.u32(),
            pre_read_bytes: self.u32(),
            alignment_bytes: self.u32(),
            directions: self.directions(),
            sync: self.bool(),
        }
    }

    pub(super) fn access_time_step(&mut self) -> AccessTimeStep {
        AccessTimeStep {
            id: self.id(),
            label: self.option(Self::string),
            samples: self.u32(),
            block_bytes: self.u32(),
            alignment_bytes: self.u32(),
            direction: self.pick(&Direction::ALL),
            order: self.pick(&[AccessOrder::Glib, AccessOrder::Uniform]),
            seed: self.u64(),
            first_discarded: self.bool(),
            by_distance: self.bool(),
            span_bytes: self.option(Self::u64),
        }
    }

    pub(super) fn words(&mut self) -> Vec<Vec<String>> {
        self.list(2, |tape| tape.list(2, Self::string))
    }

    pub(super) fn command_step(&mut self) -> CommandStep {
        CommandStep {
            id: self.id(),
            label: self.option(Self::string),
            git: self.option(|tape| GitMaterial {
                files: tape.u32(),
                changed_files: tape.u32(),
                commits: tape.u32(),
            }),
            prepare: self.words(),
            command: self.list(2, Self::string),
            restore: self.words(),
            cleanup: self.words(),
            shell: self.bool(),
            cold: self.bool(),
        }
    }

    pub(super) fn replay_step(&mut self) -> ReplayStep {
        let speed = self.f64();
        ReplayStep {
            id: self.id(),
            label: self.option(Self::string),
            trace: self.string(),
            format: self.option(Self::string),
            timing: self.pick(&[
                ReplayTiming::Fast,
                ReplayTiming::Closed,
                ReplayTiming::Think,
                ReplayTiming::Readers,
                ReplayTiming::Timestamps { speed },
            ]),
            iodepth: self.u32(),
        }
    }

    /// A step's id; often one that a formula names.
    pub(super) fn id(&mut self) -> Option<String> {
        self.option(|tape| match tape.u64() % 4 {
            0 => tape.string(),
            _ => tape.pick(&["a", "b", "copy"]).to_owned(),
        })
    }

    /// A cell's part; often one that a formula names.
    pub(super) fn part(&mut self) -> String {
        match self.u64() % 4 {
            0 => self.string(),
            _ => self.pick(&["read", "write", "within", "command"]).to_owned(),
        }
    }

    pub(super) fn step(&mut self) -> Step {
        match self.u64() % 6 {
            0 => Step::Io(self.io_step()),
            1 => Step::Positional(self.positional_step()),
            2 => Step::AccessTime(self.access_time_step()),
            3 => Step::Copy(CopyStep {
                id: self.id(),
                label: self.option(Self::string),
                chunk_bytes: self.u32(),
            }),
            4 => Step::Command(self.command_step()),
            _ => Step::Replay(self.replay_step()),
        }
    }

    pub(super) fn rounds(&mut self) -> Rounds {
        let window = self.u32().max(2);
        Rounds {
            most: self.u32().max(window),
            window,
            excursion_percent: self.positive(),
            slope_percent: self.positive(),
            tracked_cells: self
                .list(2, |tape| TrackedCell { label: tape.string(), direction: tape.pick(&Direction::ALL) }),
            tracked: self.pick(&[Tracked::Iops, Tracked::Rate, Tracked::Latency]),
        }
    }

    pub(super) fn derived(&mut self) -> Derived {
        let formula = self.pick(&["1", "a.read.MB_per_s / b.write.MB_per_s", "(copy.within.s - 2) * 0.5"]);
        Derived {
            label: self.text(),
            formula: Formula::parse(formula).unwrap(),
            meaning: self.option(Self::text),
        }
    }

    pub(super) fn profile(&mut self) -> Profile {
        let rules = Rules {
            size_bytes: self.u64(),
            whole_device: self.bool(),
            size_at_least_bytes: self.option(Self::u64),
            fill_time_limit_ns: self.option(Self::u64),
            runs: self.u32(),
            discarded_runs: self.u32(),
            time_ns: self.u64(),
            write_limit_bytes: self.option(Self::u64),
            interval_ns: self.u64(),
            order: self.pick(&[Order::ByDirection, Order::ByStep]),
            direct: self.bool(),
            data: self.data(),
            same_offsets: self.bool(),
            seed: self.u64(),
        };
        let mut steps = self.list(2, Self::step);
        steps.push(self.step());
        Profile {
            name: self.string(),
            title: self.text(),
            source: self.option(Self::string),
            differs: self.option(Self::text),
            statistic: self.pick(&[Statistic::Mean, Statistic::Median, Statistic::Best]),
            as_printed: self.option(|tape| PrintedUnit { unit: tape.string(), bytes: tape.u64().max(1) }),
            rules,
            rounds: self.option(Self::rounds),
            preconditions: self.list(1, Self::io_step),
            steps,
            derived: self.list(2, Self::derived),
        }
    }
}
