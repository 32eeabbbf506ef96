//! Probes on the device, and the same probes on a model.

use crate::workload::ProbeWorkload;
use kurabe_core::Result;
use kurabe_core::workload::{Op, OpKind};
use kurabe_engine::ModelBench;
use kurabe_identify::{DeviceBench, Manner, Performed};
use kurabe_program::Stop;
use kurabe_sim::{DeviceSpec, ModelTarget};

/// Operations before the timed ones, from which their number is derived.
const PILOT: usize = 8;
/// Pause before each probe, so that the device is idle, in ns.
const REST_NS: u64 = 30_000_000;
/// Pause before a probe that writes, and before the next one.
const REST_OF_WRITES_NS: u64 = 300_000_000;

/// A probe with its times on the device.
#[derive(Clone, Debug)]
pub struct MeasuredProbe {
    /// The workload.
    pub workload: ProbeWorkload,
    /// Distinguishes its random places from those of other probes.
    pub number: u64,
    /// Timed operations.
    pub count: usize,
    /// Mean time of an operation in each pass, in ns.
    pub times_ns: Vec<f64>,
}

impl MeasuredProbe {
    /// Returns the logarithm of its time, as the mean of the passes.
    pub fn log_time(&self) -> f64 {
        self.times_ns.iter().map(|time| time.ln()).sum::<f64>() / self.times_ns.len().max(1) as f64
    }

    fn ops(&self, span_bytes: u64, pass: usize, from: usize, to: usize) -> Vec<Op> {
        // Later passes go on where the one before ended, so that no memory of the device has it.
        let skipped = pass * (PILOT + self.count);
        let ops = self.workload.ops(span_bytes, self.number, skipped + to);
        ops[skipped + from..].to_vec()
    }
}

/// All that was measured on the device.
#[derive(Clone, Debug, Default)]
pub struct Measurements {
    /// Bytes that the probes may cover.
    pub span_bytes: u64,
    /// The probes, in order.
    pub probes: Vec<MeasuredProbe>,
    /// Time of the probes on the device, in ns.
    pub probing_ns: u64,
    /// Bytes written to it.
    pub written_bytes: u64,
}

/// Part of a device without mechanics that probes cover.
const MOST_SPAN_BYTES: u64 = 8 << 30;
/// Number of the operations that show whether a device has mechanics.
const FIRST: u64 = 20_000;
/// First number of probes that are not measured.
const PLANNED: u64 = 10_000;
/// Time of an operation from which it is called slow, in ns.
const SLOW_NS: f64 = 3e6;
/// Most bytes of a pass of a probe.
const MOST_BYTES: usize = 8 << 20;

fn limit_of_bytes(workload: &ProbeWorkload) -> usize {
    (MOST_BYTES / workload.block_bytes as usize).max(10)
}

/// Limits of a probe.
#[derive(Clone, Copy, Debug)]
pub struct ProbeLimits {
    /// Time of a pass of a probe, in ns.
    pub time_ns: f64,
    /// Fewest operations.
    pub least: usize,
    /// Most operations.
    pub most: usize,
}

impl ProbeLimits {
    /// The limits unless the caller gives others.
    pub const USUAL: Self = Self { time_ns: 1.5e9, least: 8, most: 32 };

    fn count(&self, workload: &ProbeWorkload, each_ns: f64) -> usize {
        // Slow operations are those of mechanics, whose single times scatter.
        let most = if each_ns > SLOW_NS { 3 * self.most } else { self.most };
        let most = most.max(workload.depth * 4).min(limit_of_bytes(workload).max(workload.depth * 2));
        ((self.time_ns / each_ns) as usize).clamp(self.least.max(workload.depth * 2).min(most), most)
    }
}

fn elapsed_ns(performed: &[Performed]) -> u64 {
    let start = performed.iter().map(|one| one.start_ns).min().unwrap_or(0);
    let end = performed.iter().map(|one| one.end_ns).max().unwrap_or(0);
    end.saturating_sub(start).max(1)
}

fn perform(bench: &mut dyn DeviceBench, workload: &ProbeWorkload, ops: &[Op]) -> Result<u64> {
    Ok(elapsed_ns(&bench.perform(ops, Manner::deep(workload.depth))?))
}

/// Performs a pass of a probe. Returns the time of an operation.
fn pass(bench: &mut dyn DeviceBench, probe: &MeasuredProbe, span_bytes: u64, pass: usize) -> Result<f64> {
    let writes = probe.workload.does_write();
    bench.rest(if writes { REST_OF_WRITES_NS } else { REST_NS })?;
    perform(bench, &probe.workload, &probe.ops(span_bytes, pass, 0, PILOT))?;
    let time = perform(bench, &probe.workload, &probe.ops(span_bytes, pass, PILOT, PILOT + probe.count))?;
    if writes {
        bench.rest(REST_OF_WRITES_NS)?;
    }
    Ok(time as f64 / probe.count as f64)
}

impl Measurements {
    /// Begins with a device. Of one without mechanics, which is as fast everywhere, the first part is
    /// enough.
    ///
    /// # Errors
    /// When the device fails, or the user stops the program.
    pub fn begin(bench: &mut dyn DeviceBench) -> Result<Self> {
        let span_bytes = bench.facts().span_bytes;
        let ops = ProbeWorkload::random(4096, 1).ops(span_bytes, FIRST, PILOT);
        let each_ns = perform(bench, &ProbeWorkload::random(4096, 1), &ops)? as f64 / PILOT as f64;
        let span_bytes = if each_ns > SLOW_NS { span_bytes } else { span_bytes.min(MOST_SPAN_BYTES) };
        Ok(Self { span_bytes, probing_ns: (each_ns * PILOT as f64) as u64, ..Self::default() })
    }

    /// Measures a probe for the first time.
    ///
    /// # Errors
    /// When the device fails, or the user stops the program.
    pub fn add(
        &mut self,
        bench: &mut dyn DeviceBench,
        workload: ProbeWorkload,
        limits: ProbeLimits,
    ) -> Result<()> {
        let number = self.probes.len() as u64;
        let mut probe = MeasuredProbe { workload, number, count: PILOT, times_ns: Vec::new() };
        let writes = workload.does_write();
        bench.rest(if writes { REST_OF_WRITES_NS } else { REST_NS })?;
        let pilot_ns = perform(bench, &workload, &probe.ops(self.span_bytes, 0, 0, PILOT))?;
        probe.count = limits.count(&workload, pilot_ns as f64 / PILOT as f64);
        let ops = probe.ops(self.span_bytes, 0, PILOT, PILOT + probe.count);
        let time_ns = perform(bench, &workload, &ops)?;
        if writes {
            bench.rest(REST_OF_WRITES_NS)?;
        }
        probe.times_ns.push(time_ns as f64 / probe.count as f64);
        self.charge(&probe, time_ns + pilot_ns);
        self.probes.push(probe);
        Ok(())
    }

    /// Measures a pass of these probes again.
    ///
    /// # Errors
    /// When the device fails, or the user stops the program.
    pub fn repeat(&mut self, bench: &mut dyn DeviceBench, indices: std::ops::Range<usize>) -> Result<()> {
        for index in indices {
            let probe = &self.probes[index];
            let time = pass(bench, probe, self.span_bytes, probe.times_ns.len())?;
            self.probes[index].times_ns.push(time);
            let probe = self.probes[index].clone();
            self.charge(&probe, (time * (probe.count + PILOT) as f64) as u64);
        }
        Ok(())
    }

    fn charge(&mut self, probe: &MeasuredProbe, time_ns: u64) {
        self.probing_ns +=
            time_ns + if probe.workload.does_write() { 2 * REST_OF_WRITES_NS } else { REST_NS };
        let ops = probe.ops(self.span_bytes, probe.times_ns.len().saturating_sub(1), 0, PILOT + probe.count);
        let writes = ops.iter().filter(|op| op.kind == OpKind::Write);
        self.written_bytes += writes.map(|op| u64::from(op.length_bytes)).sum::<u64>();
    }

    /// Returns the noise of a pass: the scatter of the logarithms of times about their means.
    pub fn noise(&self) -> f64 {
        let (mut squares, mut freedom) = (0.0, 0.0);
        for probe in &self.probes {
            let mean = probe.log_time();
            squares += probe.times_ns.iter().map(|time| (time.ln() - mean).powi(2)).sum::<f64>();
            freedom += probe.times_ns.len() as f64 - 1.0;
        }
        if freedom < 1.0 { 0.0 } else { (squares / freedom).sqrt() }
    }

    /// Returns the logarithms of the times that a device would show, as the mean of so many passes.
    ///
    /// # Errors
    /// When the parameters of the device do not fit together.
    pub fn on_model(&self, spec: &DeviceSpec, passes: usize) -> Result<Vec<f64>> {
        let stop = Stop::default();
        let mut model = ModelTarget::new(spec, 1)?;
        let mut bench = ModelBench::new(&mut model, true, &stop);
        let mut logs = vec![0.0; self.probes.len()];
        for number in 0..passes {
            for (log, probe) in logs.iter_mut().zip(&self.probes) {
                *log += pass(&mut bench, probe, self.span_bytes, number)?.ln() / passes as f64;
            }
        }
        Ok(logs)
    }

    /// Returns the same with probes that were not measured, of so many operations.
    #[must_use]
    pub fn planned(&self, workloads: &[ProbeWorkload], count: usize) -> Self {
        let probe = |(number, workload): (usize, &ProbeWorkload)| MeasuredProbe {
            workload: *workload,
            number: PLANNED + number as u64,
            count: (count + 2 * workload.depth).min(limit_of_bytes(workload)),
            times_ns: vec![1.0],
        };
        Self { probes: workloads.iter().enumerate().map(probe).collect(), ..self.clone() }
    }
}
