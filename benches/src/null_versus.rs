//! The null experiment: the same target on both sides, by the rules of `kurabe versus`. It counts
//! how often the sides are called different, how often not different, and how often the time is not
//! sufficient. It also measures how soon a true difference is found.
//!
//! The model: three grounds. Computed noise with a known truth: independent, autocorrelated,
//! drifting, with spikes, bimodal. Models: two of the same kind with different seeds. A directory
//! of this machine, with its real noise: kurabe runs there as its users run it, with two test
//! files. A trial is a family of cells: one false alarm in any of them counts.

mod steady;

use crate::Result;
use crate::options::Flags;
use crate::table::layout;
use crate::tools::build_kurabe;
use kurabe_compare::{FEWEST_BLOCKS, InterimResults, Referee};
use kurabe_core::event::Event;
use kurabe_core::profile::{Profile, Step};
use kurabe_core::random::Random;
use kurabe_core::record::{Cell, RunHeader, RunRecord};
use kurabe_engine::{BlocksSoFar, InterleavedRules, InterleavedTarget, Session, Stop, measure_interleaved};
use kurabe_profile::profile_named;
use kurabe_sim::{ModelTarget, device_named};
use kurabe_stats::{Blocked, Sides, Verdict, judge};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

const HELP: &str = "flags: --trials N (1000, computed noise)  --model-trials N (40)  --disk-trials N (4)  \
                    --disk-time TIME (5min)  --directory PATH (.)  --steady-trials N (0; 10 s each, for 1 %)  \
                    --steady-null-trials N (0)";
/// Default margin of `kurabe versus`.
const MARGIN: f64 = 0.05;
/// Cells of a family of computed noise, as many as in the profile `quick`.
const CELLS: usize = 6;
/// Pairs of blocks that fit into five minutes: six cells of 100 ms on two targets.
const PAIRS: usize = 125;
/// Time of a repetition on a model, as in `kurabe versus`.
const REPETITION_NS: u64 = 100_000_000;
/// Time of all repetitions on models, as in `kurabe versus`.
const TIME_NS: u64 = 300_000_000_000;

/// Models of the null experiment: a solid-state drive, a hard disk, a RAID and a USB stick.
const MODELS: [&str; 4] =
    ["samsung-870-evo", "hitachi-hua722020ala330", "raid-9260", "samsung-fit-plus-exfat"];

/// Counts of the verdicts on the cells of several families.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    families: u64,
    alarmed_families: u64,
    same: u64,
    different: u64,
    open: u64,
    blocks: Vec<usize>,
}

impl Tally {
    fn add(&mut self, verdicts: &[(Verdict, usize)]) {
        let different = |verdict: &Verdict| matches!(verdict, Verdict::Faster | Verdict::Slower);
        self.families += 1;
        self.alarmed_families += u64::from(verdicts.iter().any(|(verdict, _)| different(verdict)));
        for (verdict, blocks) in verdicts {
            match verdict {
                Verdict::Same => self.same += 1,
                Verdict::NotEnough { .. } => self.open += 1,
                Verdict::Faster | Verdict::Slower => self.different += 1,
            }
            self.blocks.push(*blocks);
        }
    }

    /// Returns name, families, shares of cells, families with any alarm, and the median number of
    /// blocks.
    fn row(&self, name: &str) -> Vec<String> {
        let cells = (self.same + self.different + self.open).max(1) as f64;
        let percent = |count: u64, of: f64| format!("{:.1} %", 100.0 * count as f64 / of);
        let mut blocks = self.blocks.clone();
        blocks.sort_unstable();
        vec![
            name.to_owned(),
            self.families.to_string(),
            percent(self.same, cells),
            percent(self.different, cells),
            percent(self.open, cells),
            percent(self.alarmed_families, self.families.max(1) as f64),
            blocks.get(blocks.len() / 2).copied().unwrap_or(0).to_string(),
        ]
    }
}

const HEAD: [&str; 7] =
    ["", "families", "no difference", "different", "not enough", "families with an alarm", "blocks, median"];

/// Reads the flags and runs the bench.
///
/// # Errors
/// Returns an error if a flag is invalid, or a measurement fails.
pub fn main(out: &mut impl Write) -> Result<()> {
    let steady = ["steady-null-trials", "steady-trials"];
    let valued = ["trials", "model-trials", "disk-trials", "disk-time", "directory", steady[0], steady[1]];
    let flags = Flags::from_environment(&valued, &[], HELP)?;
    let (mut trials, mut model_trials, mut disk_trials) = (1000, 40, 4);
    let (mut time, mut directory) = ("5min".to_owned(), PathBuf::from("."));
    flags.set("trials", &mut trials)?;
    flags.set("model-trials", &mut model_trials)?;
    flags.set("disk-trials", &mut disk_trials)?;
    flags.set("disk-time", &mut time)?;
    flags.set("directory", &mut directory)?;
    let mut steady_trials = [0, 0];
    for (name, trials) in steady.into_iter().zip(&mut steady_trials) {
        flags.set(name, trials)?;
    }
    if trials > 0 {
        computed(trials, out)?;
    }
    if model_trials > 0 {
        models(model_trials, out)?;
    }
    if disk_trials > 0 {
        let kurabe = build_kurabe()?;
        writeln!(out, "\nThe same directory twice, {}, {time} each:", directory.display())?;
        disk(&kurabe, &directory, disk_trials, &time, out)?;
    }
    if steady_trials != [0, 0] {
        steady::steady(&build_kurabe()?, &directory, steady_trials, out)?;
    }
    Ok(())
}

/// A noise process over time; returns the logarithm of a disturbance at each call.
type Noise = fn(&mut Random, &mut f64) -> f64;

/// Noise processes, each with a spread of about 5 % of a repetition.
const NOISES: [(&str, Noise); 6] = [
    ("independent, 5 %", |random, _| 0.05 * normal(random)),
    ("independent, 10 %", |random, _| 0.1 * normal(random)),
    ("hangs together (AR 0.9), 5 %", |random, state| {
        *state = 0.9 * *state + 0.05 * (1.0_f64 - 0.81).sqrt() * normal(random);
        *state
    }),
    ("drift of 50 % over the run, 5 %", |random, state| {
        *state -= 0.5 / (4 * PAIRS) as f64;
        *state + 0.05 * normal(random)
    }),
    ("spikes, one in ten takes three times as long", |random, _| {
        0.03 * normal(random) - if random.below(10) == 0 { 3.0_f64.ln() } else { 0.0 }
    }),
    ("two states 20 % apart, lasting for about ten repetitions", |random, state| {
        if random.below(10) == 0 {
            *state = 0.2 - *state;
        }
        *state + 0.03 * normal(random)
    }),
];

/// Draws a standard normal value (Box and Muller).
fn normal(random: &mut Random) -> f64 {
    (-2.0 * random.unit().ln()).sqrt() * (std::f64::consts::TAU * random.unit()).cos()
}

/// Judges a family of cells with this true ratio; all cells end together, when the time for these
/// pairs is up.
fn family(random: &mut Random, noise: Noise, ratio: f64) -> Vec<(Verdict, usize)> {
    let cells: Vec<Sides> = (0..CELLS)
        .map(|_| {
            let (mut baseline, mut other, mut state) = (Vec::new(), Vec::new(), 0.0);
            for _ in 0..PAIRS {
                let times: Vec<f64> = (0..4).map(|_| noise(random, &mut state)).collect();
                let (a, b) = if random.below(2) == 0 { ([0, 3], [1, 2]) } else { ([1, 2], [0, 3]) };
                baseline.extend(a.map(|at| times[at].exp()));
                other.extend(b.map(|at| ratio * times[at].exp()));
            }
            Sides { baseline, other, higher_is_better: true, computed: false }
        })
        .collect();
    judge(&cells, MARGIN, 1).into_iter().flatten().map(verdict_and_blocks).collect()
}

fn verdict_and_blocks(judged: Blocked) -> (Verdict, usize) {
    (judged.compared.verdict, 2 * judged.course.block_pairs)
}

fn computed(trials: u64, out: &mut impl Write) -> Result<()> {
    for (title, ratio) in
        [("Equal sides", 1.0), ("The other side is 10 % faster", 1.1), ("The other side is 30 % faster", 1.3)]
    {
        let mut rows = vec![HEAD.map(str::to_owned).to_vec()];
        for (name, noise) in NOISES {
            let mut tally = Tally::default();
            for trial in 0..trials {
                tally.add(&family(&mut Random::new(1, trial), noise, ratio));
            }
            rows.push(tally.row(name));
        }
        writeln!(out, "\n{title}, computed noise, {CELLS} cells, at most {} blocks:", 2 * PAIRS)?;
        write!(out, "{}", layout(&rows))?;
    }
    Ok(())
}

fn models(trials: u64, out: &mut impl Write) -> Result<()> {
    let mut rows = vec![HEAD.map(str::to_owned).to_vec()];
    for name in MODELS {
        let mut tally = Tally::default();
        for trial in 0..trials {
            tally.add(&on_models(name, trial)?);
        }
        rows.push(tally.row(name));
    }
    writeln!(out, "\nThe same model twice; the models' seeds differ:")?;
    write!(out, "{}", layout(&rows))?;
    Ok(())
}

fn profile(seed: u64) -> Result<Profile> {
    let mut profile = profile_named("quick")?;
    profile.rules.seed = seed;
    profile.rules.time_ns = REPETITION_NS;
    for step in &mut profile.steps {
        if let Step::Io(step) = step
            && let Some(time_ns) = &mut step.end.time_ns
        {
            *time_ns = REPETITION_NS;
        }
    }
    Ok(profile)
}

/// Measures and judges a family of cells on two models that differ only in their seeds.
pub fn on_models(name: &str, trial: u64) -> Result<Vec<(Verdict, usize)>> {
    // The same offsets on both sides, as in `kurabe versus`; the random decisions within the model
    // differ.
    let profile = profile(trial + 1)?;
    let mut models = Vec::new();
    for side in [1, 2] {
        models.push(ModelTarget::new(&device_named(name)?, 2 * trial + side)?);
    }
    let records = RefCell::new([0, 1].map(|_| RunRecord::begun(RunHeader::default())));
    let stop = Stop::default();
    let mut listeners = [0, 1].map(|place| {
        let records = &records;
        move |event: Event| {
            records.borrow_mut()[place].apply(&event);
            Ok(())
        }
    });
    let mut targets: Vec<Box<dyn InterleavedTarget + '_>> = Vec::new();
    for (model, listener) in models.iter_mut().zip(&mut listeners) {
        let session = Session::on_model(model, name, &profile, &stop, listener);
        targets.push(kurabe_virtual::interleaved(session.with_traces(vec![None; profile.steps.len()])));
    }
    let lists = || -> Vec<Vec<Cell>> { records.borrow().iter().map(|record| record.cells.clone()).collect() };
    let mut referee = Referee::new(MARGIN, 0, vec![true; 2]);
    let mut decide = |so_far: BlocksSoFar| Ok(referee.decide(so_far.done, so_far.cell_count, lists));
    let time_used = |spent_ns: &[u64]| spent_ns.iter().sum::<u64>() as f64 / TIME_NS as f64;
    let rules = InterleavedRules {
        order_seed: trial,
        own_spans: false,
        settling: None,
        short_ns: None,
        fewest_blocks: FEWEST_BLOCKS as u32,
    };
    measure_interleaved(&mut targets, rules, &time_used, &stop, &mut decide).why?;
    let lists = lists();
    Ok(InterimResults::of(&lists, &[true; 2], lists[0].len(), MARGIN)
        .others
        .into_iter()
        .flatten()
        .flatten()
        .map(verdict_and_blocks)
        .collect())
}

fn disk(kurabe: &Path, directory: &Path, trials: u64, time: &str, out: &mut impl Write) -> Result<()> {
    let mut tally = Tally::default();
    let mut cells: BTreeMap<String, Tally> = BTreeMap::new();
    for _ in 0..trials {
        let family = on_disk(kurabe, directory, time)?;
        for (name, verdict) in &family {
            cells.entry(name.clone()).or_default().add(&[*verdict]);
        }
        let verdicts: Vec<(Verdict, usize)> = family.into_iter().map(|(_, verdict)| verdict).collect();
        tally.add(&verdicts);
    }
    let mut rows = vec![HEAD.map(str::to_owned).to_vec()];
    rows.extend(cells.iter().map(|(name, tally)| tally.row(name)));
    rows.push(tally.row("all cells"));
    write!(out, "{}", layout(&rows))?;
    Ok(())
}

/// Runs `kurabe versus` on a directory and itself. Returns the cells by name, with their verdict
/// and number of blocks.
pub fn on_disk(kurabe: &Path, directory: &Path, time: &str) -> Result<Vec<(String, (Verdict, usize))>> {
    let store = tempfile::tempdir()?;
    let output = Command::new(kurabe)
        .args(["versus", "--json", "--quiet", "--time", time])
        .args([directory, directory])
        .arg("--db")
        .arg(store.path().join("kurabe.db"))
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let text = String::from_utf8(output.stdout)?;
    let last: Value = serde_json::from_str(text.lines().last().ok_or("no result")?)?;
    compared_cells(&last)
}

/// Returns the cells of the last line of `kurabe versus --json` by name, with their verdict and number
/// of blocks.
fn compared_cells(last: &Value) -> Result<Vec<(String, (Verdict, usize))>> {
    let cells = last["comparisons"][0]["cells"].as_array().ok_or("no cells")?;
    let read = |cell: &Value| {
        let name =
            format!("{} {}", cell["direction"].as_str().unwrap_or(""), cell["label"].as_str().unwrap_or(""));
        let verdict = match cell["compared"]["verdict"].as_str() {
            Some("same") => Verdict::Same,
            Some("faster") => Verdict::Faster,
            Some("slower") => Verdict::Slower,
            _ => Verdict::NotEnough { more: None },
        };
        (name, (verdict, 2 * cell["course"]["block_pairs"].as_u64().unwrap_or(0) as usize))
    };
    Ok(cells.iter().map(read).collect())
}
