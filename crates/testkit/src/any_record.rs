//! Any record that can be. A tape of random numbers is read while the record is built; where it ends, everything
//! is zero, empty or absent, so that a shorter tape is a simpler record and proptest shrinks well.

mod profile;
mod tape;

use crate::sample::sample_header;
use kurabe_core::environment::{
    BlockDevice, DeviceHealth, Environment, FileSystem, FileSystemJournal, Link, Machine, Virtualisation,
};
use kurabe_core::imported::{
    Correction, FigureOf, ImportedCell, Origin, PrintedFigure, PrintedSeries, PrintedStatistic, Quantity,
    SeriesAxis,
};
use kurabe_core::model::{
    CauseRecord, CounterRecord, LayerCount, LayerRecord, ModelRecord, ParameterRecord, TimeAccount, TimeShare,
};
use kurabe_core::profile::{
    AccessOrder, AccessTimeStep, CommandStep, CopyStep, Derived, Formula, GitMaterial, IoStep, Order,
    PositionalStep, PrintedUnit, Profile, ReplayStep, ReplayTiming, Rounds, Rules, Statistic, Step, Tracked,
    TrackedCell,
};
use kurabe_core::record::{
    Cell, CpuUse, EngineRecord, FillRecord, Instrument, Interval, LatencyRecord, Measure, Noise, Notice,
    NoticeKind, OpsRecord, RECORD_SCHEMA, Repetition, RunHeader, RunRecord, RunStatus, Sample, Series,
    ServedRecord, Stall, TargetKind, TargetRecord, Traffic, VersusRecord,
};
use kurabe_core::split::{KernelSplit, RequestSize, TimeSplit};
use kurabe_core::workload::{
    Arrival, BlockSize, Data, Direction, End, EndSync, OpKind, OpenLoop, Pattern, SyncRule, ThreadShare,
    TimeCheck, Workload,
};
use proptest::prelude::*;
use tape::Tape;

/// A strategy for whole records, closed ones; about a third of them come from another tool.
pub fn any_record() -> impl Strategy<Value = RunRecord> {
    prop::collection::vec(any::<u64>(), 0..600).prop_map(|tape| Tape(tape.into_iter()).record())
}

impl Tape {
    fn health(&mut self) -> DeviceHealth {
        DeviceHealth {
            source: self.string(),
            temperature_celsius: self.option(|tape| tape.u32() as i32),
            wear_percent: self.option(Self::u32),
            power_on_hours: self.option(Self::u64),
            written_bytes: self.option(Self::u64),
        }
    }

    fn link(&mut self) -> Link {
        match self.u64() % 7 {
            0 => Link::Memory,
            1 => Link::Pcie {
                speed_gt_per_s: self.option(Self::f64),
                width: self.option(Self::u32),
                speed_max_gt_per_s: self.option(Self::f64),
                width_max: self.option(Self::u32),
            },
            2 => Link::Sata {
                speed_gbit_per_s: self.option(Self::f64),
                speed_max_gbit_per_s: self.option(Self::f64),
                ncq_depth: self.option(Self::u32),
            },
            3 => Link::Usb {
                speed_mbit_per_s: self.option(Self::f64),
                protocol: self.option(Self::string),
                version: self.option(Self::string),
            },
            4 => Link::Virtio,
            5 => Link::Loop { backing: self.option(Self::string), direct: self.option(Self::bool) },
            _ => Link::Other { subsystem: self.string() },
        }
    }

    fn device(&mut self) -> BlockDevice {
        BlockDevice {
            name: self.string(),
            partition: self.option(Self::string),
            model: self.option(Self::string),
            firmware: self.option(Self::string),
            serial: self.option(Self::string),
            size_bytes: self.option(Self::u64),
            rotational: self.option(Self::bool),
            queue_depth: self.option(Self::u32),
            link: self.option(Self::link),
            health: self.option(Self::health),
            ..BlockDevice::default()
        }
    }

    fn environment(&mut self) -> Environment {
        Environment {
            machine: Machine {
                model: self.option(Self::string),
                memory_bytes: self.option(Self::u64),
                virtualisation: Virtualisation {
                    machine: self.option(Self::string),
                    container: self.option(Self::string),
                },
                ..Machine::default()
            },
            file_system: self.option(|tape| FileSystem {
                kind: tape.option(Self::string),
                journal: tape.option(|tape| {
                    let data = tape.option(Self::string);
                    tape.pick(&[
                        FileSystemJournal::Absent,
                        FileSystemJournal::Internal { data: data.clone() },
                        FileSystemJournal::External { data },
                    ])
                }),
                free_bytes: tape.option(Self::u64),
                ..FileSystem::default()
            }),
            layers: self.list(2, Self::string),
            devices: self.list(2, Self::device),
            missing: self.list(2, Self::string),
        }
    }

    fn pattern(&mut self) -> Pattern {
        let exponent = self.f64();
        self.pick(&[
            Pattern::Sequential,
            Pattern::Interleaved,
            Pattern::Random,
            Pattern::Permutation,
            Pattern::Zipf { exponent },
        ])
    }

    fn data(&mut self) -> Data {
        let percent = self.percent();
        self.pick(&[Data::Random, Data::Zero, Data::Repeat, Data::Compressible { percent }])
    }

    fn block_sizes(&mut self) -> Vec<BlockSize> {
        let mut sizes = self.list(2, |tape| BlockSize { size_bytes: tape.u32(), weight: tape.u32() });
        sizes.push(BlockSize { size_bytes: 4096, weight: 1 });
        sizes
    }

    fn open_loop(&mut self) -> OpenLoop {
        OpenLoop {
            rate_iops: 0.1 + self.share_percent() * 9e6,
            arrival: self.pick(&[Arrival::Even, Arrival::Poisson]),
        }
    }

    fn end(&mut self) -> End {
        let operations = self.u32();
        End {
            time_ns: self.option(Self::u64),
            bytes: self.option(Self::u64),
            passes: self.option(Self::u32),
            time_check: self.pick(&[TimeCheck::Always, TimeCheck::Pass, TimeCheck::Operations(operations)]),
        }
    }

    fn sync(&mut self) -> SyncRule {
        SyncRule {
            o_sync: self.bool(),
            every_writes: self.option(Self::u32),
            at_end: self.pick(&[EndSync::None, EndSync::Timed, EndSync::Untimed]),
        }
    }

    fn thread_share(&mut self) -> ThreadShare {
        self.pick(&[ThreadShare::Usual, ThreadShare::Parts, ThreadShare::Whole])
    }

    fn workload(&mut self) -> Workload {
        Workload {
            pattern: self.pattern(),
            thread_share: self.thread_share(),
            block_sizes: self.block_sizes(),
            read_percent: self.percent(),
            rewrite_every_reads: self.option(Self::u32),
            iodepth: self.u32(),
            threads: self.u32(),
            offset_bytes: self.u64(),
            span_bytes: self.u64(),
            open_loop: self.option(Self::open_loop),
            warm_up_ns: self.u64(),
            end: self.end(),
            sync: self.sync(),
            data: self.data(),
            seed: self.u64(),
        }
    }

    fn directions(&mut self) -> Vec<Direction> {
        self.list(3, |tape| tape.pick(&Direction::ALL))
    }

    fn latency(&mut self) -> LatencyRecord {
        let mut values = self.list(6, |tape| {
            let shift = tape.u64() % 64;
            tape.u64() >> shift
        });
        values.sort_unstable();
        let mut buckets: Vec<(u64, u64)> = Vec::new();
        for value in &values {
            let lowest =
                if *value < 256 { *value } else { value >> (value.ilog2() - 7) << (value.ilog2() - 7) };
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

    fn ops(&mut self) -> OpsRecord {
        OpsRecord {
            submitted: self.u64() >> 5,
            completed: self.u64() >> 5,
            failed: self.u64() >> 5,
            bytes: self.u64() >> 5,
            latency: self.latency(),
        }
    }

    fn repetition(&mut self) -> Repetition {
        let kernel = self.option(Self::kernel);
        Repetition {
            index: self.u32(),
            discarded: self.bool() || kernel.is_some(),
            seed: self.u64(),
            started_ns: self.u64(),
            turn: self.option(Self::u32),
            elapsed_ns: self.u64() >> 5,
            first_done_ns: self.option(Self::u64),
            read: self.ops(),
            write: self.ops(),
            sync: self.ops(),
            end_sync_ns: self.option(Self::u64),
            series: Series {
                interval_ns: self.u64(),
                intervals: self.list(2, |tape| Interval {
                    read_bytes: tape.u64(),
                    read_operations: tape.u32(),
                    read_worst_ns: tape.u64(),
                    write_bytes: tape.u64(),
                    write_operations: tape.u32(),
                    write_worst_ns: tape.u64(),
                }),
            },
            stalls: self.list(2, |tape| Stall {
                at_ns: tape.u64(),
                length_ns: tape.u64(),
                kind: tape.pick(&[OpKind::Read, OpKind::Write, OpKind::Sync]),
                offset_bytes: tape.u64(),
                operations: tape.u64(),
                longest_ns: tape.u64(),
            }),
            stall_count: self.u64() >> 5,
            stall_threshold_ns: self.u64(),
            cpu: CpuUse { user_ns: self.u64(), system_ns: self.u64() },
            generator_share: self.f64(),
            generator_bound: self.bool(),
            unserved_operations: self.u64() >> 5,
            noise: self.noise(),
            samples: self.list(3, |tape| Sample {
                offset_bytes: tape.u64() >> 1,
                bytes: tape.u64() >> 6,
                elapsed_ns: tape.u64(),
            }),
            traffic: self.option(|tape| Traffic {
                read_operations: tape.u64(),
                read_bytes: tape.u64() >> 5,
                write_operations: tape.u64(),
                write_bytes: tape.u64() >> 5,
            }),
            account: self.option(Self::account),
            kernel,
        }
    }

    fn noise(&mut self) -> Noise {
        Noise {
            other_read_bytes: self.option(Self::u64),
            other_write_bytes: self.option(Self::u64),
            steal_share: self.option(Self::f64),
            io_pressure_share: self.option(Self::f64),
            cpu_pressure_share: self.option(Self::f64),
            memory_pressure_share: self.option(Self::f64),
            other_cpus_busy: self.option(Self::f64),
            suspended_ns: self.option(Self::u64),
        }
    }

    fn account(&mut self) -> TimeAccount {
        TimeAccount {
            operations: self.u64() >> 5,
            latency_ns: self.u64() >> 5,
            shares: self.list(2, |tape| TimeShare {
                layer: tape.string(),
                cause: tape.string(),
                time_ns: tape.u64() >> 5,
            }),
            counts: self.list(2, |tape| LayerCount {
                layer: tape.string(),
                counter: tape.string(),
                count: tape.u64() >> 5,
            }),
        }
    }

    fn kernel(&mut self) -> KernelSplit {
        let part =
            |tape: &mut Self| TimeSplit { mean_ns: tape.f64().abs(), p50_ns: tape.u64(), p99_ns: tape.u64() };
        KernelSplit {
            devices: self.list(2, Self::string),
            operations: self.u64(),
            unfollowed_operations: self.u64(),
            queue: part(self),
            device: part(self),
            rest_mean_ns: self.option(Self::f64),
            requests: self.u64(),
            merged_requests: self.u64(),
            request_sizes: self.list(3, |tape| RequestSize { size_bytes: tape.u64(), count: tape.u64() }),
            other_requests: self.u64(),
            lost_events: self.u64(),
        }
    }

    fn quantity(&mut self) -> Quantity {
        self.pick(&[
            Quantity::Rate,
            Quantity::Iops,
            Quantity::Latency,
            Quantity::Duration,
            Quantity::Bytes,
            Quantity::Count,
            Quantity::Share,
            Quantity::QueueLength,
            Quantity::Score,
        ])
    }

    fn printed_figure(&mut self) -> PrintedFigure {
        let percent = self.share_percent();
        PrintedFigure {
            quantity: self.quantity(),
            statistic: self.pick(&[
                PrintedStatistic::Mean,
                PrintedStatistic::Median,
                PrintedStatistic::Highest,
                PrintedStatistic::Lowest,
                PrintedStatistic::StandardDeviation,
                PrintedStatistic::Percentile(percent),
                PrintedStatistic::Sum,
                PrintedStatistic::Unknown,
            ]),
            value: self.f64().abs(),
            printed: self.string(),
            unit_printed: self.string(),
            correction: self.option(|tape| Correction {
                factor: tape.positive(),
                unit: tape.string(),
                reason: tape.text(),
            }),
            of: self.option(Self::string).map(FigureOf::from),
        }
    }

    fn printed_series(&mut self) -> PrintedSeries {
        PrintedSeries {
            quantity: self.quantity(),
            name: self.string(),
            unit_printed: self.string(),
            axis: self.pick(&[SeriesAxis::Time, SeriesAxis::Offset, SeriesAxis::Number]),
            points: self.list(3, |tape| (tape.f64(), tape.f64())),
        }
    }

    fn imported_cell(&mut self) -> ImportedCell {
        ImportedCell {
            procedure: self.option(Self::string),
            runs: self.option(Self::u32),
            block_bytes: self.option(Self::u64),
            iodepth: self.option(Self::u32),
            threads: self.option(Self::u32),
            sequential: self.option(Self::bool),
            read_percent: self.option(Self::share_percent),
            offset_bytes: self.option(Self::u64),
            span_bytes: self.option(Self::u64),
            figures: self.list(3, Self::printed_figure),
            series: self.list(2, Self::printed_series),
        }
    }

    fn origin(&mut self) -> Origin {
        Origin {
            tool: self.string(),
            version: self.option(Self::string),
            format: self.string(),
            file: self.string(),
            measured_at: self.option(Self::string),
            target: self.option(Self::string),
            procedure: self.option(Self::string),
            profile: self.option(Self::string),
            facts: self.list(2, |tape| (tape.string(), tape.string())).into_iter().collect(),
        }
    }

    fn engine(&mut self) -> EngineRecord {
        EngineRecord {
            name: self.string(),
            asked: self.string(),
            reason: self.text(),
            features: self.list(2, Self::string),
            fallbacks: self.list(2, Self::string),
            wait: self.string(),
            pages: self.string(),
            issuing_threads: self.u32(),
        }
    }

    fn cell(&mut self) -> Cell {
        Cell {
            index: 0,
            step_index: 0,
            part: self.part(),
            label: self.string(),
            direction: self.option(|tape| tape.pick(&Direction::ALL)),
            measure: self.pick(&[Measure::Rate, Measure::AccessTime, Measure::Duration]),
            workload: self.option(Self::workload),
            engine: self.option(Self::engine),
            repetitions: self.list(2, Self::repetition),
            imported: None,
        }
    }

    fn foreign_cell(&mut self) -> Cell {
        Cell {
            index: 0,
            step_index: 0,
            part: String::new(),
            label: self.string(),
            direction: self.option(|tape| tape.pick(&Direction::ALL)),
            measure: Measure::Rate,
            workload: None,
            engine: None,
            repetitions: Vec::new(),
            imported: Some(self.imported_cell()),
        }
    }

    fn notice(&mut self) -> Notice {
        let kinds = [
            NoticeKind::EngineFallback,
            NoticeKind::CacheDrop,
            NoticeKind::SizeCut,
            NoticeKind::SpanCut,
            NoticeKind::WarmUpCut,
            NoticeKind::WritesLeftOut,
            NoticeKind::GeneratorBound,
            NoticeKind::Noise,
            NoticeKind::ServedModel,
            NoticeKind::Other,
        ];
        let served = self.option(|tape| Box::new(tape.served()));
        Notice { kind: self.pick(&kinds), text: self.text(), served }
    }

    fn served(&mut self) -> ServedRecord {
        ServedRecord {
            model: self.model(),
            served_ns: self.u64(),
            late: self.latency(),
            in_time_share: self.option(Tape::f64),
            mean_service_ns: self.f64(),
            busy_share: self.f64(),
            server_bound_seconds: self.u64(),
            steal_share: self.option(Tape::f64),
            round_trip_ns: self.u64(),
        }
    }

    fn target(&mut self) -> TargetRecord {
        let kinds = [
            TargetKind::Directory,
            TargetKind::File,
            TargetKind::BlockDevice,
            TargetKind::CharacterDevice,
            TargetKind::Model,
        ];
        TargetRecord {
            given: self.string(),
            path: self.string(),
            kind: self.pick(&kinds),
            span_bytes: self.u64(),
            direct: self.bool(),
            alignment_bytes: self.u32(),
            writable: self.bool(),
        }
    }

    fn model(&mut self) -> ModelRecord {
        let layers = self.list(2, |tape| LayerRecord {
            name: tape.string(),
            kind: tape.string(),
            instances: tape.u32(),
            depth: tape.u32(),
            parameters: tape.list(2, |tape| ParameterRecord {
                key: tape.string(),
                value: tape.string(),
                source: tape.string(),
                changed: tape.bool(),
            }),
            causes: tape.list(1, |tape| CauseRecord {
                key: tape.string(),
                name: tape.text(),
                explanation: tape.text(),
                in_line: tape.bool(),
            }),
            counters: tape.list(1, |tape| CounterRecord { key: tape.string(), name: tape.text() }),
        });
        ModelRecord { name: self.string(), title: self.text(), seed: self.u64(), layers }
    }

    fn versus(&mut self) -> VersusRecord {
        let targets = [vec![self.string(), self.string()], self.list(2, Self::string)].concat();
        let place = self.u32() % targets.len() as u32;
        let variants =
            self.option(|tape| targets.iter().map(|_| tape.string()).collect()).unwrap_or_default();
        VersusRecord { group: self.string(), order_seed: self.u64(), targets, place, variants }
    }

    fn header(&mut self, foreign: bool) -> RunHeader {
        let origin = foreign.then(|| self.origin());
        RunHeader {
            schema: RECORD_SCHEMA,
            kurabe_version: self.string(),
            started_at: self.time(),
            command: self.list(3, Self::string),
            target: (!foreign).then(|| self.target()),
            profile: (!foreign).then(|| self.profile()),
            environment: self.environment(),
            instrument: (!foreign)
                .then(|| Instrument { clock_resolution_ns: self.u64(), clock_cost_ns: self.f64() }),
            origin,
            model: self.option(Self::model),
            versus: self.option(Self::versus),
            ..sample_header()
        }
    }

    fn record(&mut self) -> RunRecord {
        // The cells come first, so that a short tape still reaches them.
        let foreign = self.u64() % 3 == 1;
        let mut cells = self.list(3, |tape| if foreign { tape.foreign_cell() } else { tape.cell() });
        let header = self.header(foreign);
        let step_count = header.profile.as_ref().map_or(u32::MAX, |profile| profile.steps.len() as u32);
        let mut next_index = 0;
        for cell in &mut cells {
            next_index += self.u32() % 3;
            cell.index = next_index;
            next_index += 1;
            cell.step_index = self.u32() % step_count;
        }
        RunRecord {
            header,
            status: self.pick(&[RunStatus::Complete, RunStatus::Interrupted, RunStatus::Failed]),
            ended_at: Some(self.time()),
            error: self.option(Self::text),
            labels: self.list(3, |tape| (tape.key(), tape.string())).into_iter().collect(),
            fill: self.option(|tape| FillRecord {
                asked_bytes: tape.u64(),
                written_bytes: tape.u64(),
                elapsed_ns: tape.u64(),
            }),
            notices: self.list(2, Self::notice),
            cells,
            health_after: self.option(Self::health),
        }
    }
}
