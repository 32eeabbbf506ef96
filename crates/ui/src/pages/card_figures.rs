//! The three figures by which a model is known, and which of its parameters move them most.

use crate::shared::Site;
use kurabe_core::profile::{IoStep, Profile, Rules, Step};
use kurabe_core::quantity::MIB;
use kurabe_core::workload::{Direction, Pattern};
use kurabe_core::{Result, Text, number, text};
use kurabe_lab::{Procedure, RunHandle, RunRequest, what_if};
use kurabe_report::{LayerDescription, ParameterDescription, Tile};
use kurabe_sim::DEVICES;
use std::panic::resume_unwind;
use std::sync::OnceLock;

/// Virtual time of a figure: enough for some operations of the slowest models.
const TIME_NS: u64 = 200_000_000;
/// Test file: what the quick profile has.
const SIZE_BYTES: u64 = 256 * MIB;

/// Threads that compute: so many that they end at about the same time.
const THREADS: usize = 7;

/// More sliders than these are no first look.
const MOST_MOVERS: usize = 5;
/// What moves no figure by so much, doubled, does not matter at first.
const LEAST_MOVED: f64 = 0.02;

/// Rates of a model in bytes per second: read in order, read at random one at a time, written at random with many in flight.
pub(crate) type CardFigures = [Option<f64>; 3];

/// Figures come out the same each time, in the order of the models.
static COMPUTED: OnceLock<Vec<CardFigures>> = OnceLock::new();

/// What they are called.
pub(crate) fn names() -> [Text; 3] {
    [
        text!("sequential read", "シーケンシャル読み出し"),
        text!("4 KiB random read", "4 KiB ランダム読み出し"),
        text!("4 KiB random write (32)", "4 KiB ランダム書き込み(32)"),
    ]
}

/// Those of all models, if somebody has asked before.
pub(crate) fn computed() -> Option<&'static Vec<CardFigures>> {
    COMPUTED.get()
}

/// Those of all models, computed if nobody has asked before, and not while real storage is measured.
pub(crate) fn of_all(shared: &Site) -> Result<&'static Vec<CardFigures>> {
    if COMPUTED.get().is_none() {
        shared.desk.refuse_beside_real()?;
    }
    Ok(COMPUTED.get_or_init(|| in_parallel(&DEVICES, |(name, _)| of_model(name, &[]).unwrap_or_default())))
}

/// What comes of each, in their order. What panics fails the page that asked.
fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let work = |part: &[T]| part.iter().map(&work).collect::<Vec<R>>();
    std::thread::scope(|scope| {
        let parts = items.chunks(items.len().div_ceil(THREADS).max(1));
        let parts: Vec<_> = parts.map(|part| scope.spawn(move || work(part))).collect();
        parts.into_iter().flat_map(|part| part.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

/// Those of a model with parameters set; nothing if it cannot be computed so.
fn of_model(name: &str, sets: &[(String, String)]) -> Option<CardFigures> {
    let step = |pattern, block_bytes, iodepth, direction| {
        Step::Io(IoStep::plain(pattern, block_bytes, iodepth, vec![direction]))
    };
    let steps = vec![
        step(Pattern::Sequential, 1 << 20, 8, Direction::Read),
        step(Pattern::Random, 4096, 1, Direction::Read),
        step(Pattern::Random, 4096, 32, Direction::Write),
    ];
    let rules = Rules { size_bytes: SIZE_BYTES, time_ns: TIME_NS, ..Rules::once() };
    let request = RunRequest {
        target: format!("model:{name}").into(),
        procedure: Procedure::Given(Box::new(Profile::of_steps("card", Text::default(), rules, steps))),
        sets: sets.to_vec(),
        ..RunRequest::default()
    };
    let record = what_if(request, &RunHandle::default()).ok()?;
    let rate = |place: usize| Tile::of(record.cells.get(place)?, record.header.statistic()).rate_bytes_per_s;
    Some([rate(0), rate(1), rate(2)])
}

/// A parameter that moves a figure.
pub(crate) struct Mover {
    /// `LAYER.PARAMETER`
    pub(crate) name: String,
    /// By how much.
    pub(crate) words: Text,
    /// How many times as fast its figure is then.
    ratio: f64,
}

/// The parameters of a model that move its figures most, the strongest first: each is doubled by itself, or halved where it can be no
/// more.
pub(crate) fn movers(name: &str, layers: &[&LayerDescription]) -> Vec<Mover> {
    let before = of_model(name, &[]).unwrap_or_default();
    let parameters: Vec<(&str, &ParameterDescription)> = layers
        .iter()
        .flat_map(|layer| layer.parameters.iter().map(|parameter| (layer.name.as_str(), parameter)))
        .collect();
    let mut movers: Vec<Mover> =
        in_parallel(&parameters, |(layer, parameter)| mover(name, &before, layer, parameter))
            .into_iter()
            .flatten()
            .collect();
    movers.sort_by(|one, other| strength(other.ratio).total_cmp(&strength(one.ratio)));
    movers.truncate(MOST_MOVERS);
    movers
}

fn strength(ratio: f64) -> f64 {
    ratio.ln().abs()
}

fn mover(model: &str, before: &CardFigures, layer: &str, parameter: &ParameterDescription) -> Option<Mover> {
    let (number, unit) = (parameter.number.filter(|number| *number > 0.0)?, parameter.unit);
    let (least, most) = parameter.range?;
    let name = format!("{layer}.{}", parameter.key);
    let after = |factor: f64| {
        let value = Some(number * factor).filter(|value| (least..=most).contains(value))?;
        Some((factor, of_model(model, &[(name.clone(), format!("{value} {unit}").trim().to_owned())])?))
    };
    let (factor, after) = after(2.0).or_else(|| after(0.5))?;
    let ratio = |place: usize| Some((place, after[place]? / before[place]?));
    let ratios = (0..before.len()).filter_map(ratio).filter(|(_, ratio)| ratio.is_finite() && *ratio > 0.0);
    let (place, ratio) = ratios.max_by(|one, other| strength(one.1).total_cmp(&strength(other.1)))?;
    let (figure, times) = (&names()[place], number::fixed(ratio, 2));
    let words = match factor > 1.0 {
        true => text!("doubled: {figure} {times} ×", "2 倍にすると{figure}は {times} 倍"; figure),
        false => text!("halved: {figure} {times} ×", "半分にすると{figure}は {times} 倍"; figure),
    };
    (strength(ratio) >= LEAST_MOVED).then_some(Mover { name, words, ratio })
}
