//! Scores of inferred devices, and their table.

use crate::hidden::{Hidden, NoisyBench, tried_families};
use kurabe_core::random::Random;
use kurabe_engine::ModelBench;
use kurabe_infer::{
    DeviceFamily, InferenceLimits, InferredDevice, InferredValue, ProbeWorkload, ProbeWrites, ValueInterval,
    infer,
};
use kurabe_program::Stop;
use kurabe_sim::ModelTarget;
use std::fmt::Write;

/// Noise of the times.
const NOISE: f64 = 0.02;
/// Operations of a held-out workload.
const HELD_COUNT: usize = 240;
/// Error of a held-out figure that is shown.
const FAR: f64 = 0.03;
const KIB: u32 = 1024;

/// Scores of all devices so far.
#[derive(Clone, Debug, Default)]
pub struct Score {
    pub devices: usize,
    pub foreign: usize,
    pub right: usize,
    pub refused: usize,
    pub refused_foreign: usize,
    pub stated_right: usize,
    pub stated_inside: usize,
    pub stated_wrong: usize,
    pub held_inside: usize,
    /// Errors of held-out figures, as shares.
    pub errors: Vec<f64>,
    pub device_s: Vec<f64>,
    pub computing_s: Vec<f64>,
    /// A line for each device.
    pub lines: String,
}

/// Workloads that no probe has.
fn held_out() -> Vec<ProbeWorkload> {
    use ProbeWorkload as Probe;
    vec![
        Probe::random(20 * KIB, 2),
        Probe::sequential(32 * KIB, 1),
        Probe::random(128 * KIB, 8),
        Probe::sequential(512 * KIB, 4),
        Probe::random(640 * KIB, 1),
        Probe::random(12 * KIB, 16),
        Probe::random(16 * KIB, 8).with(ProbeWrites::Percent(20)),
        Probe::random(20 * KIB, 2).writing(),
        Probe::sequential(512 * KIB, 4).writing(),
        Probe::sequential(64 * KIB, 1).with(ProbeWrites::Turns(12)),
        Probe::random(128 * KIB, 1).writing(),
    ]
}

/// CPU time of this thread, in s.
fn cpu_s() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}

/// Infers a hidden device and adds its scores.
pub fn scored(hidden: &Hidden, seed: u64, limits: InferenceLimits, score: &mut Score) {
    let mut model = ModelTarget::new(&hidden.spec, 99).unwrap();
    let stop = Stop::default();
    let bench = Box::new(ModelBench::new(&mut model, true, &stop));
    let mut bench = NoisyBench { bench, noise: NOISE, random: Random::new(seed, 77) };
    let families = tried_families();
    let begun_s = cpu_s();
    let device = infer(&mut bench, &families, (seed, limits), &mut |_| {}).unwrap();
    let computing_s = cpu_s() - begun_s;
    let device_s = device.measured.probing_ns as f64 / 1e9;
    score.devices += 1;
    score.refused += usize::from(!device.is_explained);
    score.device_s.push(device_s);
    score.computing_s.push(computing_s);
    let word = if device.is_explained { "as" } else { "REFUSED, nearest" };
    let mut line = format!(
        "{:34} {word} {:10} misfit {:5.2}, {:2} probes, {device_s:5.1} s, {computing_s:4.1} s of computing;",
        hidden.label,
        device.family.name,
        device.misfit,
        device.residuals.len()
    );
    match &hidden.truth {
        None => {
            score.foreign += 1;
            score.refused_foreign += usize::from(!device.is_explained);
        }
        Some((family, _)) if family.name != device.family.name || !device.is_explained => {
            line += &format!(" WRONG; worst {:?}", device.residuals[0]);
        }
        Some((family, point)) => {
            score.right += 1;
            compare(score, &device, family, point, &mut line);
            predict(score, &device, hidden, &mut line);
        }
    }
    #[allow(clippy::print_stdout, reason = "a line for each device shows how far the bench is")]
    {
        println!("{line}");
    }
    writeln!(score.lines, "{line}").unwrap();
}

/// Compares the stated parameters with the truth.
fn compare(
    score: &mut Score,
    device: &InferredDevice,
    family: &DeviceFamily,
    point: &[f64],
    line: &mut String,
) {
    for (index, one) in device.parameters().iter().enumerate() {
        let truth = family.free[index].value_at(point[index]);
        let (is_inside, is_right) = match &one.value {
            InferredValue::Chosen(word) => {
                let is_right = *word == family.written(index, point);
                (is_right, is_right)
            }
            InferredValue::Stated(interval) => {
                let ValueInterval { low, middle, high } = *interval;
                // Of intervals of 95 % one in twenty misses; wrong is what lies half as far out again.
                let end = if truth > middle { high / middle } else { middle / low };
                let wide = (1.5 * end.ln()).max(0.02);
                ((low..=high).contains(&truth), (truth / middle).ln().abs() <= wide)
            }
            InferredValue::OneOf(_) | InferredValue::Between(_) => continue,
        };
        score.stated_inside += usize::from(is_inside);
        score.stated_right += usize::from(is_right);
        score.stated_wrong += usize::from(!is_right);
        if !is_right {
            write!(line, " WRONG {} {} of {:?}", one.path, family.written(index, point), one.value).unwrap();
        }
    }
}

/// Predicts the held-out workloads.
fn predict(score: &mut Score, device: &InferredDevice, hidden: &Hidden, line: &mut String) {
    let plan = device.measured.planned(&held_out(), HELD_COUNT);
    let truth = plan.on_model(&hidden.spec, 1).unwrap();
    let of = |point: &Vec<f64>| {
        let spec = device.family.device(point, plan.span_bytes).ok()?;
        plan.on_model(&spec, 1).ok()
    };
    let outcomes: Vec<Vec<f64>> =
        device.samples.iter().step_by(device.samples.len() / 30 + 1).filter_map(of).collect();
    let mut inside = 0;
    let mut missed = String::new();
    let mut worst: f64 = 0.0;
    for (index, truth) in truth.iter().enumerate() {
        let values: Vec<f64> = outcomes.iter().map(|outcome| outcome[index].exp()).collect();
        let ValueInterval { low, middle, high } = ValueInterval::of(&values);
        let (error, truth) = (middle.ln() - truth, truth.exp());
        // Times are whole nanoseconds.
        let is_inside = low * 0.9995 <= truth && truth <= high * 1.0005;
        inside += usize::from(is_inside);
        if !is_inside || error.abs() > FAR {
            let half = (high / low).ln() / 2.0;
            write!(missed, " [{index}: {:+.1} of {:.1} %]", error * 100.0, half * 100.0).unwrap();
        }
        worst = if error.abs() > worst.abs() { error } else { worst };
        score.errors.push(error.abs());
    }
    score.held_inside += inside;
    write!(
        line,
        " {inside} of {} held-out figures inside, worst {:+.1} %{missed}",
        truth.len(),
        worst * 100.0
    )
    .unwrap();
}

impl Score {
    fn error_at(&self, share: f64) -> f64 {
        let mut errors = self.errors.clone();
        errors.sort_by(f64::total_cmp);
        errors.get((errors.len().saturating_sub(1) as f64 * share).round() as usize).copied().unwrap_or(1.0)
    }

    pub fn median_error(&self) -> f64 {
        self.error_at(0.5)
    }

    pub fn table(&self) -> String {
        let own = self.devices - self.foreign;
        let stated = self.stated_right + self.stated_wrong;
        let most = |list: &[f64]| list.iter().copied().fold(0.0, f64::max);
        format!(
            "family right: {} of {own}\nforeign devices refused: {} of {}\nstated parameters: {stated}, right {}, \
             in their 95 % interval {}\nheld-out figures: {}, median error {:.2} %, p90 {:.2} %, most {:.1} %; \
             in their 95 % interval {}\nmost device time {:.1} s, most computing {:.1} s",
            self.right,
            self.refused_foreign,
            self.foreign,
            self.stated_right,
            self.stated_inside,
            self.errors.len(),
            self.error_at(0.5) * 100.0,
            self.error_at(0.9) * 100.0,
            self.error_at(1.0) * 100.0,
            self.held_inside,
            most(&self.device_s),
            most(&self.computing_s)
        )
    }
}
