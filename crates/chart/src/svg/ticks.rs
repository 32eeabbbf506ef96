//! Numbers along an axis: selection and format.
//!
//! The model: candidates from fine to coarse, of which the first whose labels do not overlap is
//! used. The unit is written once, next to the axis label, unless the axis spans several units (ns
//! to s, KiB to GiB): then each number has its own.

use super::canvas::{Align, Canvas};
use super::ink::Ink;
use super::measures::{LABEL, PAD_PX, TICK, inside, room_for, widest};
use super::span::{PixelSpan, round_up};
use crate::font;
use crate::plot::{Axis, Scale, Unit};
use kurabe_core::{number, quantity::format_bytes};

/// Space between the labels of two ticks.
const APART_PX: f64 = 14.0;
const LEVEL_PX: f64 = 32.0;
/// Numbers from here on are written in scientific notation.
const TOO_LONG: f64 = 1e7;

/// A number along an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    pub value: f64,
    pub words: String,
}

/// The numbers and label of an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ticks {
    /// Label of the axis with its unit.
    pub label: String,
    pub ticks: Vec<Tick>,
    /// Positions of tick marks without numbers.
    pub minor: Vec<f64>,
}

/// Direction of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Across,
    Up,
}

/// A unit of an axis: its factor and its name.
type Written = (f64, &'static str);

const TIMES: [Written; 4] = [(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")];
const MOMENTS: [Written; 3] = [(1e9, "s"), (60e9, "min"), (3600e9, "h")];
const SIZES: [Written; 6] = [
    (1.0, "B"),
    (1024.0, "KiB"),
    (1_048_576.0, "MiB"),
    (1_073_741_824.0, "GiB"),
    (1_099_511_627_776.0, "TiB"),
    (1_125_899_906_842_624.0, "PiB"),
];

/// Returns the largest unit of which the value is at least `least`.
fn largest(units: &[Written], value: f64, least: f64) -> Written {
    units.iter().rev().copied().find(|(one, _)| value >= one * least).unwrap_or(units[0])
}

/// Returns the unit for values up to `high`.
fn written(unit: Unit, high: f64) -> Written {
    match unit {
        Unit::Rate => (1e6, "MB/s"),
        Unit::Iops => (1.0, "IOPS"),
        Unit::Latency => largest(&TIMES, high, 1.0),
        Unit::Moment => largest(&MOMENTS, high, 3.0),
        Unit::Bytes => largest(&SIZES, high, 1.0),
        Unit::Count => (1.0, ""),
        Unit::Factor => (1.0, "×"),
        Unit::Share => (0.01, "%"),
        Unit::Celsius => (1.0, "°C"),
    }
}

/// Formats a number with as many decimal places as a step needs.
fn plain(value: f64, step: f64) -> String {
    if value.abs() >= TOO_LONG {
        let places =
            (value.abs().log10().floor() - (step.abs().log10() + 1e-9).floor()).clamp(0.0, 9.0) as usize;
        let words = format!("{value:.places$e}");
        let (number, power) = words.split_once('e').unwrap_or((&words, "0"));
        let number =
            if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number };
        return format!("{number}e{power}");
    }
    // Steps are 1, 2, 5 times a power of ten, or a power of two: 0.25 needs two decimal places.
    let is_whole = |places: &i32| {
        let scaled = step.abs() * 10f64.powi(*places);
        scaled >= 1.0 - 1e-9 && (scaled - scaled.round()).abs() < 1e-6 * scaled
    };
    let digits = (0..=9).find(is_whole).unwrap_or(9) as usize;
    let words = number::fixed(value, digits);
    if words.trim_start_matches('-').chars().all(|c| c == '0' || c == '.') { "0".to_owned() } else { words }
}

/// Formats a number with at most three significant digits.
fn short(value: f64) -> String {
    if value.abs() >= TOO_LONG {
        return plain(value, value / 100.0);
    }
    let digits = (2.0 - (value.abs().max(1e-15).log10() + 1e-9).floor()).clamp(0.0, 17.0) as usize;
    let words = number::fixed(value, digits);
    if words.contains('.') { words.trim_end_matches('0').trim_end_matches('.').to_owned() } else { words }
}

/// Returns the label of an axis with its unit.
fn with_unit(label: &str, word: &str) -> String {
    match (label.trim(), word) {
        (label, "") => label.to_owned(),
        ("", word) => word.to_owned(),
        (label, word) => format!("{label} ({word})"),
    }
}

/// Returns the numbers of an axis.
pub(crate) fn ticks(axis: &Axis, span: &PixelSpan, way: Way) -> Ticks {
    match span.scale {
        Scale::Linear => linear(axis, span, way),
        Scale::Log => log(axis, span, way),
        Scale::Tail => tail(axis, span, way),
    }
}

fn linear(axis: &Axis, span: &PixelSpan, way: Way) -> Ticks {
    let (one, word) = written(axis.unit, span.low.abs().max(span.high.abs()));
    let (low, high) = (span.low / one, span.high / one);
    let binary = axis.unit == Unit::Bytes && high - low < 100.0;
    let candidates = [12.0, 10.0, 8.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0].into_iter().map(|count| {
        let rough = (high - low) / count;
        let mut step = if binary { 2f64.powf(rough.log2().ceil()) } else { round_up(rough) };
        if axis.unit == Unit::Count {
            step = step.max(1.0);
        }
        let first = (low / step - 1e-9).ceil();
        let count = ((high / step + 1e-9).floor() - first).clamp(0.0, 100.0) as u32;
        let at = |index: u32| (first + f64::from(index)) * step;
        (0..=count).map(|index| Tick { value: at(index) * one, words: plain(at(index), step) }).collect()
    });
    let ticks = choose(candidates, span, way);
    Ticks { label: with_unit(&axis.label, word), ticks, minor: Vec::new() }
}

fn log(axis: &Axis, span: &PixelSpan, way: Way) -> Ticks {
    let top = written(axis.unit, span.high);
    let mixed = match axis.unit {
        Unit::Bytes => true,
        Unit::Latency | Unit::Moment => span.low < top.0 / 10.0,
        _ => false,
    };
    let words = |value: f64| {
        let (one, word) = if mixed { written(axis.unit, value * (1.0 + 1e-9)) } else { top };
        let words = short(value / one);
        match axis.unit {
            Unit::Bytes if value < 1e18 => format_bytes(value.round() as u64),
            _ if mixed => format!("{words} {word}"),
            _ => words,
        }
    };
    let tick = |value: f64| Tick { value, words: words(value) };
    let doubles =
        axis.unit == Unit::Bytes || (axis.unit == Unit::Count && span.high <= 65_536.0 && span.low >= 1.0);
    let places = match axis.unit {
        _ if doubles => powers_of_two(span),
        Unit::Factor => factors(span).into_iter().chain(decades(span)).collect(),
        _ => decades(span),
    };
    let minor = if doubles { Vec::new() } else { minor(span) };
    let mut ticks =
        choose(places.into_iter().map(|places| places.into_iter().map(tick).collect()), span, way);
    if ticks.len() < 2 && !doubles {
        // The range is less than a step of 1, 2, 5: the numbers at its ends show this.
        let Ticks { label, ticks, .. } = linear(axis, span, way);
        return Ticks { label, ticks, minor };
    }
    ticks.dedup_by(|b, a| a.words == b.words);
    Ticks { label: with_unit(&axis.label, if mixed { "" } else { top.1 }), ticks, minor }
}

/// Returns powers of two, then of four, sixteen and so on.
fn powers_of_two(span: &PixelSpan) -> Vec<Vec<f64>> {
    let (first, last) = (span.low.max(1.0).log2() - 1e-9, span.high.max(1.0).log2() + 1e-9);
    let of = |step: u32| -> Vec<f64> {
        (0..=70)
            .step_by(step as usize)
            .map(f64::from)
            .filter(|p| *p >= first && *p <= last)
            .map(f64::exp2)
            .collect()
    };
    [1, 2, 3, 4, 5, 6, 10, 20].into_iter().map(of).collect()
}

/// Returns ratios near 1, from fine to coarse.
fn factors(span: &PixelSpan) -> Vec<Vec<f64>> {
    let sets: [&[f64]; 4] = [
        &[0.9, 0.92, 0.94, 0.96, 0.98, 1.0, 1.02, 1.04, 1.06, 1.08, 1.1],
        &[0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.15, 1.2, 1.3, 1.4],
        &[0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.5],
        &[0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0],
    ];
    // A set that ends well inside the axis would leave the ends of the axis without numbers.
    let reaches = |set: &&[f64]| span.high <= set[set.len() - 1] * 1.3 && span.low >= set[0] / 1.3;
    let held = |set: &[f64]| set.iter().copied().filter(|value| span.holds(*value)).collect();
    sets.into_iter().filter(reaches).map(held).collect()
}

/// Returns integer steps, then 1-2-5, decades, every second decade and so on.
fn decades(span: &PixelSpan) -> Vec<Vec<f64>> {
    let (first, last) = (span.low.log10().floor() as i32, span.high.log10().ceil() as i32);
    let of = |steps: &[f64], every: usize| -> Vec<f64> {
        (first..=last)
            .filter(|power| power.rem_euclid(every as i32) == 0)
            .flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)))
            .filter(|value| span.holds(*value) || span.holds(value * (1.0 - 1e-9)))
            .collect()
    };
    let mut candidates = vec![of(&[1.0, 2.0, 5.0], 1), of(&[1.0], 1)];
    candidates.extend([2, 3, 4, 5, 6].map(|every| of(&[1.0], every)));
    if last - first <= 1 {
        candidates.insert(0, of(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], 1));
    }
    candidates
}

/// Returns positions of a logarithmic axis without a number; none where they would be too dense.
fn minor(span: &PixelSpan) -> Vec<f64> {
    let (first, last) = (span.low.log10().floor() as i32, span.high.log10().ceil() as i32);
    if last - first > 6 {
        return Vec::new();
    }
    (first..=last)
        .flat_map(|power| (1..=9).map(move |step| f64::from(step) * 10f64.powi(power)))
        .filter(|value| span.holds(*value))
        .collect()
}

fn tail(axis: &Axis, span: &PixelSpan, way: Way) -> Ticks {
    let mut places = vec![0.0, 0.5];
    places.extend((1..=9).map(|nines| 1.0 - 10f64.powi(-nines)));
    places.push(1.0);
    let ticks = places
        .into_iter()
        .filter(|place| span.holds(*place) || *place == 1.0)
        .map(|value| Tick { value, words: number::percentile(value) })
        .collect();
    let (_, word) = written(axis.unit, 1.0);
    Ticks { label: with_unit(&axis.label, word), ticks: apart(ticks, span, way), minor: Vec::new() }
}

/// Returns the first candidate with at least two numbers that do not overlap.
fn choose(candidates: impl Iterator<Item = Vec<Tick>>, span: &PixelSpan, way: Way) -> Vec<Tick> {
    let mut last = Vec::new();
    for candidate in candidates {
        if candidate.len() >= 2 && stand_apart(&candidate, span, way) {
            return candidate;
        }
        if !candidate.is_empty() {
            last = candidate;
        }
    }
    apart(last, span, way)
}

/// Returns half of the space that a label takes along its axis.
fn half(tick: &Tick, way: Way) -> f64 {
    match way {
        Way::Across => (room_for(&tick.words, TICK) + APART_PX) / 2.0,
        Way::Up => LEVEL_PX / 2.0,
    }
}

fn stand_apart(ticks: &[Tick], span: &PixelSpan, way: Way) -> bool {
    ticks.windows(2).all(|pair| match (span.at(pair[0].value), span.at(pair[1].value)) {
        (Some(a), Some(b)) => (b - a).abs() >= half(&pair[0], way) + half(&pair[1], way),
        _ => true,
    })
}

/// Returns the numbers that do not overlap, from the first on.
fn apart(ticks: Vec<Tick>, span: &PixelSpan, way: Way) -> Vec<Tick> {
    let mut kept: Vec<Tick> = Vec::new();
    for tick in ticks {
        if kept.last().is_none_or(|last| stand_apart(&[last.clone(), tick.clone()], span, way)) {
            kept.push(tick);
        }
    }
    kept
}

/// Returns the width of the numbers next to a vertical axis; numbers wider than `most` are
/// truncated.
pub(super) fn gutter(ticks: &mut Ticks, most: f64) -> f64 {
    for tick in &mut ticks.ticks {
        tick.words = font::fit(&tick.words, TICK.size, false, most);
    }
    widest(ticks.ticks.iter().map(|tick| &tick.words), TICK, most * 1.05)
}

/// Draws a horizontal axis below a plot: tick marks, numbers, label. Returns its lower edge.
pub(super) fn across(canvas: &mut Canvas, ticks: &Ticks, span: &PixelSpan, bottom: f64) -> f64 {
    for tick in &ticks.ticks {
        let Some(x) = span.at(tick.value) else { continue };
        canvas.line((x, bottom), (x, bottom + 4.0), Ink::Axis, "");
        let x = inside(canvas.width, 2.0, &tick.words, TICK, x);
        let words = font::fit(&tick.words, TICK.size, false, canvas.width - 4.0);
        canvas.text(x, bottom + 17.0, Align::Middle, TICK, Ink::Quiet, &words);
    }
    let (left, right) = (span.from.min(span.to), span.from.max(span.to));
    canvas.line((left, bottom), (right, bottom), Ink::Axis, "");
    let is_labelled = label_across(canvas, &ticks.label, f64::midpoint(left, right), bottom + 37.0);
    bottom + if is_labelled { 42.0 } else { 22.0 }
}

/// Writes the centred label of a horizontal axis. Returns whether there is one.
pub(super) fn label_across(canvas: &mut Canvas, label: &str, middle: f64, y: f64) -> bool {
    let label = font::fit(label, LABEL.size, false, (canvas.width - 2.0 * PAD_PX).max(0.0));
    let middle = inside(canvas.width, 4.0, &label, LABEL, middle);
    canvas.text(middle, y, Align::Middle, LABEL, Ink::Text, &label);
    !label.is_empty()
}

/// Draws the grid lines of a horizontal axis behind a plot.
pub(super) fn grid_across(canvas: &mut Canvas, ticks: &Ticks, span: &PixelSpan, (top, bottom): (f64, f64)) {
    for x in ticks.minor.iter().filter_map(|value| span.at(*value)) {
        canvas.line((x, top), (x, bottom), Ink::Grid, r#" stroke-width=".5""#);
    }
    for x in ticks.ticks.iter().filter_map(|tick| span.at(tick.value)) {
        canvas.line((x, top), (x, bottom), Ink::Grid, "");
    }
}

#[cfg(test)]
mod tests {
    use super::super::span::Ends;
    use super::*;
    use proptest::prelude::*;

    fn words(unit: Unit, scale: Scale, low: f64, high: f64) -> (String, Vec<String>) {
        let axis = Axis { label: "axis".to_owned(), unit, scale };
        let span = PixelSpan::over([low, high].into_iter(), scale, Ends::AtValues).between(0.0, 700.0);
        let Ticks { label, ticks, .. } = ticks(&axis, &span, Way::Across);
        (label, ticks.into_iter().map(|tick| tick.words).collect())
    }

    #[test]
    fn each_unit_has_numbers_that_people_expect() {
        use Scale::{Linear, Log, Tail};
        for (unit, scale, (low, high), label, numbers) in [
            (Unit::Rate, Linear, (0.0, 431e6), "axis (MB/s)", "0|50|100|150|200|250|300|350|400"),
            (Unit::Rate, Log, (3e6, 2_000e6), "axis (MB/s)", "5|10|20|50|100|200|500|1,000|2,000"),
            (Unit::Latency, Log, (50e3, 2e9), "axis", "100 µs|1 ms|10 ms|100 ms|1 s"),
            (Unit::Latency, Linear, (0.0, 18.2e6), "axis (ms)", "0|2|4|6|8|10|12|14|16|18"),
            (
                Unit::Bytes,
                Log,
                (4096.0, 1_048_576.0),
                "axis",
                "4 KiB|8 KiB|16 KiB|32 KiB|64 KiB|128 KiB|256 KiB|512 KiB|1 MiB",
            ),
            (Unit::Bytes, Linear, (0.0, 1e12), "axis (GiB)", "0|100|200|300|400|500|600|700|800|900"),
            (Unit::Count, Log, (1.0, 32.0), "axis", "1|2|4|8|16|32"),
            (Unit::Moment, Linear, (0.0, 36e12), "axis (h)", "0|1|2|3|4|5|6|7|8|9|10"),
            (Unit::Celsius, Linear, (0.0, 60.0), "axis (°C)", "0|5|10|15|20|25|30|35|40|45|50|55|60"),
            (Unit::Share, Tail, (0.0, 0.9999), "axis (%)", "0|50|90|99|99.9|99.99|100"),
            (Unit::Factor, Log, (0.4, 2.5), "axis (×)", "0.4|0.5|0.6|0.7|0.8|0.9|1|1.2|1.4|1.6|1.8|2|2.5"),
        ] {
            let (unit_words, ticks) = words(unit, scale, low, high);
            assert_eq!(
                (unit_words.as_str(), ticks.join("|").as_str()),
                (label, numbers),
                "{unit:?} {scale:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn a_number_says_where_it_stands(
            low in 1e-3..1e9f64,
            times in 1.001..1e6f64,
            log in any::<bool>(),
            unit in 0..3usize,
        ) {
            let unit = [Unit::Count, Unit::Rate, Unit::Factor][unit];
            let scale = if log { Scale::Log } else { Scale::Linear };
            let axis = Axis { label: String::new(), unit, scale };
            let span = PixelSpan::over([low, low * times].into_iter(), scale, Ends::AtValues).between(0.0, 600.0);
            for tick in ticks(&axis, &span, Way::Across).ticks {
                let shown: f64 = tick.words.replace(',', "").parse().unwrap();
                let meant = tick.value / written(unit, span.high).0;
                prop_assert!((shown - meant).abs() <= meant.abs() * 1e-6, "{} stands at {}", tick.words, meant);
            }
        }
    }
}
