//! Probes on the device, and the same probes on a model.

use crate::workload::{ProbeOrder, ProbeWorkload};
use kurabe_core::Result;
use kurabe_core::workload::{Op, OpKind};
use kurabe_engine::ModelBench;
use kurabe_identify::{DeviceBench, Manner, Performed};
use kurabe_program::Stop;
use kurabe_sim::{DeviceSpec, ModelTarget};

/// Operations before the timed ones, from which their number is derived.
const PILOT: usize = 8;
/// The same of a probe whose operations take longer than this.
const PILOT_OF_SLOWEST: usize = 1;
const SLOWEST_NS: f64 = 40e6;
/// Longest time of the fewest operations of a probe: fewer are timed where they would take longer, in ns.
const MOST_OF_LEAST_NS: f64 = 1e9;
/// Pause before each probe, so that the device is idle, in ns.
const REST_NS: u64 = 30_000_000;
/// Pause before a probe that writes, and before the next one.
const REST_OF_WRITES_NS: u64 = 300_000_000;

/// Pause before a probe that reads on a slow device, after one that wrote: its cache is written back meanwhile.
const SETTLING_NS: u64 = 3_000_000_000;

/// A probe with its times on the device.
#[derive(Clone, Debug)]
pub struct MeasuredProbe {
    /// The workload.
    pub workload: ProbeWorkload,
    /// Distinguishes its random places from those of other probes.
    pub number: u64,
    /// Operations before the timed ones.
    pilot: usize,
    /// Timed operations.
    pub count: usize,
    /// Mean time of an operation in each pass, in ns.
    pub times_ns: Vec<f64>,
    /// Width of the distribution of the times in each pass, as a logarithm. Empty where the
    /// width is not compared.
    pub log_widths: Vec<f64>,
    /// Whether the width is compared.
    has_width: bool,
}

/// Times of the operations of a pass.
#[derive(Clone, Copy, Debug)]
struct PassTimes {
    /// Elapsed time over the number of operations, in ns.
    mean_ns: f64,
    /// Logarithm of the distance between the ends of the middle 90 % of the latencies, as a share of their mean,
    /// plus `WIDTH_FLOOR`. Disturbances that affect all operations alike cancel out.
    log_width: f64,
}

/// Width that no device resolves.
const WIDTH_FLOOR: f64 = 0.05;

impl PassTimes {
    fn of(performed: &[Performed]) -> Self {
        let mean_ns = elapsed_ns(performed) as f64 / performed.len().max(1) as f64;
        let mut latencies: Vec<f64> = performed.iter().map(Performed::latency_ns).collect();
        latencies.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = latencies.len().saturating_sub(1) as f64 * share;
            latencies.get(place.round() as usize).copied().unwrap_or(0.0)
        };
        Self { mean_ns, log_width: (WIDTH_FLOOR + (at(0.95) - at(0.05)) / mean_ns).ln() }
    }
}

impl MeasuredProbe {
    /// Returns the logarithm of its time, as the mean of the passes.
    pub fn log_time(&self) -> f64 {
        self.times_ns.iter().map(|time| time.ln()).sum::<f64>() / self.times_ns.len().max(1) as f64
    }

    /// Returns the variance of the logarithms of its times, and the degrees of freedom; `None` with one pass.
    fn variance(&self) -> Option<(f64, f64)> {
        let (mean, freedom) = (self.log_time(), self.times_ns.len() as f64 - 1.0);
        let squares: f64 = self.times_ns.iter().map(|time| (time.ln() - mean).powi(2)).sum();
        (freedom >= 1.0).then(|| (squares / freedom, freedom))
    }

    fn take(&mut self, times: PassTimes) {
        self.times_ns.push(times.mean_ns);
        if self.has_width {
            self.log_widths.push(times.log_width);
        }
    }

    /// Returns the width of its times, as the mean of the passes.
    fn log_width(&self) -> f64 {
        self.log_widths.iter().sum::<f64>() / self.log_widths.len().max(1) as f64
    }

    fn ops(&self, span_bytes: u64, pass: usize, from: usize, to: usize) -> Vec<Op> {
        // Later passes go on where the one before ended, so that no memory of the device has it.
        let skipped = pass * (self.pilot + self.count);
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
    /// The passes in the order of the device, each as the index of its probe and its number: what a pass
    /// writes changes the times of later ones.
    sequence: Vec<(usize, usize)>,
    /// Whether a random access takes as long as one that moves a head.
    pub is_slow: bool,
    /// Whether the last probe wrote.
    did_just_write: bool,
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
/// Weight of the noise of all probes against the scatter of one, in degrees of freedom.
const FREEDOM_OF_NOISE: f64 = 3.0;
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

    /// Returns the number of timed operations of a pass, in the time that its first ones leave.
    fn count(&self, workload: &ProbeWorkload, (pilot, pilot_ns): (usize, u64)) -> usize {
        let each_ns = pilot_ns as f64 / pilot as f64;
        let left_ns = (self.time_ns - pilot_ns as f64).max(0.0);
        // Slow operations are those of mechanics, whose single times scatter.
        let most = if each_ns > SLOW_NS { 3 * self.most } else { self.most };
        let most = most.max(workload.depth * 4).min(limit_of_bytes(workload).max(workload.depth * 2));
        let affordable = ((MOST_OF_LEAST_NS / each_ns) as usize).max(1);
        let least = self.least.max(workload.depth * 2).min(affordable).min(most);
        ((left_ns / each_ns) as usize).clamp(least, most)
    }
}

fn elapsed_ns(performed: &[Performed]) -> u64 {
    let start = performed.iter().map(|one| one.start_ns).min().unwrap_or(0);
    let end = performed.iter().map(|one| one.end_ns).max().unwrap_or(0);
    end.saturating_sub(start).max(1)
}

fn perform(bench: &mut dyn DeviceBench, workload: &ProbeWorkload, ops: &[Op]) -> Result<Vec<Performed>> {
    bench.perform(ops, Manner::deep(workload.depth))
}

/// Performs a pass of a probe.
fn pass(
    bench: &mut dyn DeviceBench,
    probe: &MeasuredProbe,
    span_bytes: u64,
    pass: usize,
) -> Result<PassTimes> {
    let writes = probe.workload.does_write();
    bench.rest(if writes { REST_OF_WRITES_NS } else { REST_NS })?;
    let (first, further) = (PILOT_OF_SLOWEST, probe.pilot);
    for (from, to) in [(0, first), (first, further)] {
        if from < to {
            perform(bench, &probe.workload, &probe.ops(span_bytes, pass, from, to))?;
        }
    }
    let ops = probe.ops(span_bytes, pass, probe.pilot, probe.pilot + probe.count);
    let times = PassTimes::of(&perform(bench, &probe.workload, &ops)?);
    if writes {
        bench.rest(REST_OF_WRITES_NS)?;
    }
    Ok(times)
}

/// Performs the operations before the timed ones, fewer if they are slow. Returns their number and time.
fn pilot(bench: &mut dyn DeviceBench, workload: &ProbeWorkload, ops: &[Op]) -> Result<(usize, u64)> {
    let (first, further) = ops.split_at(PILOT_OF_SLOWEST);
    let first_ns = elapsed_ns(&perform(bench, workload, first)?);
    if first_ns as f64 > SLOWEST_NS * first.len() as f64 {
        return Ok((first.len(), first_ns));
    }
    Ok((ops.len(), first_ns + elapsed_ns(&perform(bench, workload, further)?)))
}

impl Measurements {
    /// Begins with a device. Of one without mechanics, which is as fast everywhere, the first part is
    /// enough.
    ///
    /// # Errors
    /// When the device fails, or the user stops the program.
    pub fn begin(bench: &mut dyn DeviceBench) -> Result<Self> {
        let span_bytes = bench.facts().span_bytes;
        let workload = ProbeWorkload::random(4096, 1);
        let (count, probing_ns) = pilot(bench, &workload, &workload.ops(span_bytes, FIRST, PILOT))?;
        let is_slow = probing_ns as f64 > SLOW_NS * count as f64;
        let span_bytes = if is_slow { span_bytes } else { span_bytes.min(MOST_SPAN_BYTES) };
        Ok(Self { span_bytes, is_slow, probing_ns, ..Self::default() })
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
        let is_alone = workload.depth == 1 && workload.order == ProbeOrder::Random && !workload.does_write();
        let mut probe = MeasuredProbe {
            workload,
            number,
            pilot: PILOT,
            count: 0,
            times_ns: Vec::new(),
            log_widths: Vec::new(),
            has_width: self.is_slow && is_alone,
        };
        let writes = workload.does_write();
        self.settle(bench, writes)?;
        bench.rest(if writes { REST_OF_WRITES_NS } else { REST_NS })?;
        let pilot_ns;
        (probe.pilot, pilot_ns) = pilot(bench, &workload, &probe.ops(self.span_bytes, 0, 0, PILOT))?;
        probe.count = limits.count(&workload, (probe.pilot, pilot_ns));
        let ops = probe.ops(self.span_bytes, 0, probe.pilot, probe.pilot + probe.count);
        let times = PassTimes::of(&perform(bench, &workload, &ops)?);
        if writes {
            bench.rest(REST_OF_WRITES_NS)?;
        }
        probe.take(times);
        self.sequence.push((self.probes.len(), 0));
        self.charge(&probe, (times.mean_ns * probe.count as f64) as u64 + pilot_ns);
        self.probes.push(probe);
        Ok(())
    }

    /// Measures a pass of these probes again.
    ///
    /// # Errors
    /// When the device fails, or the user stops the program.
    pub fn repeat(&mut self, bench: &mut dyn DeviceBench, indices: std::ops::Range<usize>) -> Result<()> {
        for index in indices {
            self.settle(bench, self.probes[index].workload.does_write())?;
            let probe = &self.probes[index];
            let number = probe.times_ns.len();
            let times = pass(bench, probe, self.span_bytes, number)?;
            self.sequence.push((index, number));
            self.probes[index].take(times);
            let probe = self.probes[index].clone();
            self.charge(&probe, (times.mean_ns * (probe.count + probe.pilot) as f64) as u64);
        }
        Ok(())
    }

    /// Lets a slow device write back what it has before it reads.
    fn settle(&mut self, bench: &mut dyn DeviceBench, writes: bool) -> Result<()> {
        if self.is_slow && std::mem::replace(&mut self.did_just_write, writes) && !writes {
            bench.rest(SETTLING_NS)?;
            self.probing_ns += SETTLING_NS;
        }
        Ok(())
    }

    fn charge(&mut self, probe: &MeasuredProbe, time_ns: u64) {
        self.probing_ns +=
            time_ns + if probe.workload.does_write() { 2 * REST_OF_WRITES_NS } else { REST_NS };
        let ops =
            probe.ops(self.span_bytes, probe.times_ns.len().saturating_sub(1), 0, probe.pilot + probe.count);
        let writes = ops.iter().filter(|op| op.kind == OpKind::Write);
        self.written_bytes += writes.map(|op| u64::from(op.length_bytes)).sum::<u64>();
    }

    /// Returns the noise of a pass: the scatter of the logarithms of times about their mean, of the median probe.
    /// Positions, collisions and full buffers scatter the times of some probes by far more.
    pub fn noise(&self) -> f64 {
        let of = |probe: &MeasuredProbe| {
            let (variance, freedom) = probe.variance()?;
            // The median of a chi-squared distribution, by Wilson and Hilferty.
            Some(variance / (1.0 - 2.0 / (9.0 * freedom)).powi(3))
        };
        let mut variances: Vec<f64> = self.probes.iter().filter_map(of).collect();
        variances.sort_by(f64::total_cmp);
        variances.get(variances.len() / 2).copied().unwrap_or(0.0).sqrt()
    }

    /// Returns the variance of a time of each probe: that of the noise, or more if its own passes scatter by more.
    /// On a slow device it is always that of the noise, because the model shows how much a probe scatters.
    pub(crate) fn variances(&self) -> Vec<f64> {
        let noise = self.noise();
        let of = |probe: &MeasuredProbe| {
            let passes = probe.times_ns.len().max(1) as f64;
            match probe.variance() {
                Some((variance, freedom)) if !self.is_slow => {
                    let sum = FREEDOM_OF_NOISE * noise * noise + freedom * variance;
                    (sum / (FREEDOM_OF_NOISE + freedom)).max(noise * noise) / passes
                }
                _ => noise * noise / passes,
            }
        };
        self.probes.iter().map(of).collect()
    }

    /// Returns the number of the statistics that are compared: a time for each probe, then the widths.
    pub fn statistics(&self) -> usize {
        self.probes.len() + self.probes.iter().filter(|probe| probe.has_width).count()
    }

    /// Returns the place of the width of a probe among the statistics.
    fn place_of_width(&self, index: usize) -> Option<usize> {
        let before = self.probes[..index].iter().filter(|probe| probe.has_width).count();
        self.probes[index].has_width.then_some(self.probes.len() + before)
    }

    /// Returns the measured statistics: the logarithms of the times, then those of the widths.
    pub fn logs(&self) -> Vec<f64> {
        let widths = self.probes.iter().filter(|probe| probe.has_width).map(MeasuredProbe::log_width);
        self.probes.iter().map(MeasuredProbe::log_time).chain(widths).collect()
    }

    /// Returns the statistics that a device would show, as the mean of so many passes.
    ///
    /// # Errors
    /// When the parameters of the device do not fit together.
    pub fn on_model(&self, spec: &DeviceSpec, passes: usize) -> Result<Vec<f64>> {
        let stop = Stop::default();
        let mut model = ModelTarget::new(spec, 1)?;
        let mut bench = ModelBench::new(&mut model, true, &stop);
        let mut logs = vec![0.0; self.statistics()];
        let mut state = Self { is_slow: self.is_slow, ..Self::default() };
        for (index, number) in self.sequence.iter().copied().filter(|one| one.1 < passes) {
            let probe = &self.probes[index];
            state.settle(&mut bench, probe.workload.does_write())?;
            let times = pass(&mut bench, probe, self.span_bytes, number)?;
            logs[index] += times.mean_ns.ln() / passes as f64;
            if let Some(width) = self.place_of_width(index) {
                logs[width] += times.log_width / passes as f64;
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
            pilot: PILOT,
            count: (count + 2 * workload.depth).min(limit_of_bytes(workload)),
            times_ns: vec![1.0],
            log_widths: Vec::new(),
            has_width: false,
        };
        Self {
            probes: workloads.iter().enumerate().map(probe).collect(),
            sequence: (0..workloads.len()).map(|index| (index, 0)).collect(),
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::DeviceFamily;
    use crate::workload::ProbeWrites;
    use kurabe_core::random::Random;

    /// Measures probes in two batches, as a session does.
    fn measured(spec: &DeviceSpec, passes: usize) -> Measurements {
        let (stop, random) = (Stop::default(), ProbeWorkload::random(16384, 1));
        let mut model = ModelTarget::new(spec, 1).unwrap();
        let mut bench = ModelBench::new(&mut model, true, &stop);
        let mut measured = Measurements::begin(&mut bench).unwrap();
        let sequential = ProbeWorkload::sequential(1 << 16, 4);
        for batch in [[random, sequential.writing()], [random.with(ProbeWrites::Percent(50)), sequential]] {
            let before = measured.probes.len();
            batch.into_iter().for_each(|one| measured.add(&mut bench, one, ProbeLimits::USUAL).unwrap());
            for _ in 1..passes {
                measured.repeat(&mut bench, before..measured.probes.len()).unwrap();
            }
        }
        measured
    }

    #[test]
    fn a_model_with_the_parameters_of_the_device_takes_exactly_its_times() {
        for family in DeviceFamily::all().unwrap().into_iter().filter(|one| !one.is_mechanical()) {
            let mut random = Random::new(3, 0);
            let valid = |spec: &DeviceSpec| ModelTarget::new(spec, 1).is_ok();
            let mut drawn = std::iter::repeat_with(|| family.device(&family.draw(&mut random), 1 << 30));
            let spec = drawn.find_map(|spec| spec.ok().filter(valid)).unwrap();
            let measured = measured(&spec, 2);
            let logs = measured.on_model(&spec, 2).unwrap();
            for (index, (log, target)) in logs.iter().zip(measured.logs()).enumerate() {
                assert!((log - target).abs() < 1e-6, "{} {index}: {log} {target}", family.name);
            }
        }
    }
}
