//! Ratios with intervals relative to 1.

use super::row::{Ink, InkedLine, widest};
use crate::plot::{Forest, ForestRow, RatioVerdict};
use kurabe_core::display::{clip, display_width, pad_right, wrap};
use kurabe_core::number;

const SHORTEST: usize = 20;
const LONGEST: usize = 60;
/// Maximum width of the text next to the plot; longer text is wrapped.
const WORDS: usize = 44;

pub(super) fn draw(forest: &Forest, width: usize) -> Vec<InkedLine> {
    if forest.rows.is_empty() {
        return Vec::new();
    }
    let label_width = widest(forest.rows.iter().map(|row| &row.label)).min(width * 2 / 5);
    let words_width = widest(forest.rows.iter().map(|row| &row.words)).min(WORDS);
    let beside = width >= 2 + label_width + 1 + SHORTEST + 2 + words_width;
    let tail = if beside { words_width + 2 } else { 0 };
    let length = width.saturating_sub(2 + label_width + 1 + tail).clamp(SHORTEST, LONGEST);
    let scale = RatioScale::of(forest, length);
    let mut rows = Vec::new();
    for row in &forest.rows {
        let label = pad_right(&clip(&row.label, label_width), label_width + 1);
        let mut line = InkedLine::indented(Ink::Plain, &label);
        scale.put(row, &mut line);
        let lines = wrap(&row.words, if beside { words_width } else { width.saturating_sub(4) });
        let mut lines = lines.iter();
        if beside && let Some(first) = lines.next() {
            line.put(Ink::Plain, "  ");
            line.put(ink(row.outcome), first);
        }
        rows.push(line);
        let indent = if beside { 2 + label_width + 1 + length + 2 } else { 4 };
        rows.extend(
            lines.map(|rest| InkedLine::of(Ink::Plain, &" ".repeat(indent)).and(ink(row.outcome), rest)),
        );
    }
    rows.extend(scale.axis(2 + label_width + 1));
    rows.push(
        InkedLine::of(Ink::Plain, &" ".repeat(2 + label_width + 1)).and(Ink::Quiet, &forest.axis_label),
    );
    rows
}

fn ink(outcome: RatioVerdict) -> Ink {
    match outcome {
        RatioVerdict::Better => Ink::Good,
        RatioVerdict::Worse => Ink::Bad,
        RatioVerdict::Same => Ink::Plain,
        RatioVerdict::Open => Ink::Warn,
    }
}

/// A logarithmic axis with 1 at its centre.
struct RatioScale {
    /// Logarithm of the ratio at the right end.
    reach: f64,
    margin: f64,
    length: usize,
}

impl RatioScale {
    fn of(forest: &Forest, length: usize) -> Self {
        let ratios = forest.rows.iter().filter_map(|row| row.ratio);
        let ends = ratios.flat_map(|(value, low, high)| [value, low, high]);
        let farthest = ends.map(|ratio| ratio.ln().abs()).filter(|far| far.is_finite()).fold(0.0, f64::max);
        let margin = if forest.margin.is_finite() { forest.margin.max(0.0) } else { 0.0 };
        // The range that does not matter takes at most half of the plot.
        Self { reach: (farthest * 1.05).max((1.0 + margin).ln() * 2.0).max(0.02), margin, length }
    }

    fn column(&self, ratio: f64) -> usize {
        let share = ((ratio.ln() / self.reach).clamp(-1.0, 1.0) + 1.0) / 2.0;
        (share * (self.length - 1) as f64).round() as usize
    }

    fn put(&self, row: &ForestRow, line: &mut InkedLine) {
        let mut drawn = vec![(Ink::Quiet, ' '); self.length];
        let band = self.column(1.0 / (1.0 + self.margin))..=self.column(1.0 + self.margin);
        drawn[band].fill((Ink::Quiet, '░'));
        drawn[self.column(1.0)] = (Ink::Quiet, '│');
        let usable = |ratio: &f64| ratio.is_finite() && *ratio > 0.0;
        if let Some((value, low, high)) = row.ratio.filter(|(value, ..)| usable(value)) {
            if usable(&low) && usable(&high) && low <= high {
                drawn[self.column(low)..=self.column(high)].fill((ink(row.outcome), '━'));
            }
            drawn[self.column(value)] = (ink(row.outcome), '●');
        }
        for (ink, sign) in drawn {
            line.put(ink, sign.encode_utf8(&mut [0; 4]));
        }
    }

    /// Draws round ratios below the plot.
    fn axis(&self, start: usize) -> Vec<InkedLine> {
        let most = self.reach.exp();
        let round: &[f64] = match most {
            most if most > 30.0 => &[10.0, 100.0, 1000.0],
            most if most > 4.0 => &[2.0, 5.0, 10.0],
            most if most > 1.6 => &[1.5, 2.0, 3.0],
            most if most > 1.15 => &[1.1, 1.2, 1.4],
            _ => &[1.02, 1.05, 1.1],
        };
        let both = round.iter().filter(|ratio| **ratio <= most).flat_map(|ratio| [1.0 / ratio, *ratio]);
        let mut ratios: Vec<f64> = both.chain([1.0]).collect();
        ratios.sort_by(f64::total_cmp);
        let mut rule = vec!['─'; self.length];
        let mut labels = InkedLine::default();
        labels.pad_to(start);
        for ratio in ratios {
            let column = self.column(ratio);
            let name = if ratio < 0.1 { number::fixed(ratio, 3) } else { number::fixed(ratio, 2) };
            let name =
                if name.contains('.') { name.trim_end_matches('0').trim_end_matches('.') } else { &name };
            let at = (start + column).saturating_sub(display_width(name) / 2);
            if labels.width > start && at < labels.width + 1 {
                continue;
            }
            rule[column] = '┴';
            labels.pad_to(at);
            labels.put(Ink::Quiet, name);
        }
        let line =
            InkedLine::of(Ink::Plain, &" ".repeat(start)).and(Ink::Quiet, &rule.iter().collect::<String>());
        vec![line, labels]
    }
}
