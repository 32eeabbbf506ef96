//! What a chart shows, apart from how it is drawn.

use kurabe_core::{number, quantity::format_bytes};

/// Numbers beyond this are taken for none: no storage has them, and sums of them overflow.
const LARGEST: f64 = 1e21;

/// The number, if it is one that can be shown.
pub(crate) fn shown(value: f64) -> Option<f64> {
    (value.is_finite() && value.abs() <= LARGEST).then_some(value)
}

/// A chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// What it shows, as a heading.
    pub title: String,
    /// Lines below it: what it stands on, how to read it.
    pub notes: Vec<String>,
    /// The drawing.
    pub plot: Plot,
}

/// The kinds of drawings.
#[derive(Clone, Debug, PartialEq)]
pub enum Plot {
    /// Bars with intervals: the cells of runs side by side.
    Bars(Bars),
    /// Lines or dots over a place, a time, a size, a depth or a percentile.
    Lines(Lines),
    /// Ratios with intervals against 1.
    Forest(Forest),
    /// A value over two categories, as block size × queue depth.
    Heat(Heat),
    /// Where the time went: each row a bar of parts, as shares of its sum.
    Shares(Shares),
}

/// An axis of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What stands along it, without the unit.
    pub label: String,
    /// What its numbers are.
    pub unit: Unit,
    /// How they are spread.
    pub scale: Scale,
}

impl Axis {
    /// An axis.
    pub fn new(label: impl Into<String>, unit: Unit, scale: Scale) -> Self {
        Self { label: label.into(), unit, scale }
    }

    /// A number of it in words. A percentile is not rounded as a share is: 99.99 % is not 100 %.
    pub(crate) fn words(&self, value: f64) -> String {
        match self.scale {
            Scale::Tail => format!("{} %", number::percentile(value)),
            _ => self.unit.words(value),
        }
    }
}

/// What a number is, and so how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes per second, written in MB/s.
    Rate,
    /// Operations per second.
    Iops,
    /// A latency in ns.
    Latency,
    /// A time within a run in ns.
    Moment,
    /// A size in bytes, written in binary units.
    Bytes,
    /// A plain count.
    Count,
    /// A ratio: how many times.
    Factor,
    /// A share from 0 to 1, written in percent.
    Share,
}

impl Unit {
    /// A number in words: `312.4 MB/s`, `41.2 µs`, `4 KiB`, `1.25 ×`.
    pub fn words(self, value: f64) -> String {
        match self {
            Unit::Rate => number::rate(value).to_string(),
            Unit::Iops => number::iops(value).to_string(),
            Unit::Latency => number::latency(value).to_string(),
            Unit::Moment => number::moment(value.max(0.0) as u64),
            Unit::Bytes => format_bytes(value.max(0.0) as u64),
            Unit::Count => number::whole(value),
            Unit::Factor => format!("{} ×", number::fixed(value, 2)),
            Unit::Share => number::percent(value),
        }
    }
}

/// How the numbers of an axis are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly, from zero.
    Linear,
    /// By their logarithm.
    Log,
    /// Percentiles from 0 to 1 (as shares): by the logarithm of what is left to 1, so that 99 % and 99.9 % stand apart.
    Tail,
}

/// Groups of bars.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// The series, one colour each; usually runs.
    pub series: Vec<String>,
    /// The groups, from the top; usually cells.
    pub groups: Vec<BarGroup>,
    /// The axis of the values.
    pub axis: Axis,
}

/// Bars that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct BarGroup {
    /// Its name.
    pub label: String,
    /// One for each series; `None` where there is no value.
    pub bars: Vec<Option<Bar>>,
}

/// A bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// Its length.
    pub value: f64,
    /// Its interval, if there is one.
    pub interval: Option<(f64, f64)>,
}

/// Lines over an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Lines {
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis at the left.
    pub y: Axis,
    /// A second one at the right, for lines that say so.
    pub right: Option<Axis>,
    /// The lines.
    pub lines: Vec<ChartLine>,
    /// Places on the horizontal axis that mean something, as change points.
    pub marks: Vec<Mark>,
    /// Stretches of the horizontal axis that mean something, as stalls.
    pub stretches: Vec<ShadedBand>,
}

impl Lines {
    /// Lines without anything marked, all of the left axis.
    pub fn new(x: Axis, y: Axis, lines: Vec<ChartLine>) -> Self {
        Self { x, y, right: None, lines, marks: Vec::new(), stretches: Vec::new() }
    }

    /// The upright axis of a line.
    pub(crate) fn axis_of(&self, line: &ChartLine) -> &Axis {
        self.right.as_ref().filter(|_| line.at_right).unwrap_or(&self.y)
    }
}

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartLine {
    /// Its name.
    pub name: String,
    /// How it is drawn.
    pub style: LineStyle,
    /// Whether its values belong to the right axis.
    pub at_right: bool,
    /// Place and value, in the order of the places. Values that are not finite are gaps.
    pub points: Vec<(f64, f64)>,
}

impl ChartLine {
    /// A line of the left axis.
    pub fn new(name: impl Into<String>, style: LineStyle, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), style, at_right: false, points }
    }
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineStyle {
    /// Points joined.
    Joined,
    /// Points joined, each of them marked: few points that were measured one by one.
    Marked,
    /// Points alone: samples.
    Dots,
    /// A value holds until the next point.
    Steps,
}

/// A place that means something.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Where.
    pub x: f64,
    /// What it is.
    pub label: String,
}

/// A stretch that means something.
#[derive(Clone, Debug, PartialEq)]
pub struct ShadedBand {
    /// Its start.
    pub from: f64,
    /// Its end.
    pub to: f64,
    /// What it is, for who points at it.
    pub label: String,
}

/// Ratios with intervals.
#[derive(Clone, Debug, PartialEq)]
pub struct Forest {
    /// What the ratio is, as `speed of 9mz against 7kq`.
    pub axis_label: String,
    /// The rows, from the top.
    pub rows: Vec<ForestRow>,
    /// Ratios from `1/(1+margin)` to `1+margin` do not matter.
    pub margin: f64,
}

/// A ratio.
#[derive(Clone, Debug, PartialEq)]
pub struct ForestRow {
    /// Its name.
    pub label: String,
    /// Ratio and its interval; `None` if it cannot be said.
    pub ratio: Option<(f64, f64, f64)>,
    /// What may be said of it.
    pub outcome: RatioVerdict,
    /// The same in words.
    pub words: String,
}

/// What may be said of a ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RatioVerdict {
    /// Faster.
    Better,
    /// Slower.
    Worse,
    /// No difference that matters.
    Same,
    /// Not known.
    Open,
}

/// A value over two categories.
#[derive(Clone, Debug, PartialEq)]
pub struct Heat {
    /// What the columns are.
    pub x_label: String,
    /// The columns.
    pub columns: Vec<String>,
    /// What the rows are.
    pub y_label: String,
    /// The rows, from the top.
    pub rows: Vec<String>,
    /// Values by row, then by column.
    pub values: Vec<Vec<Option<f64>>>,
    /// What the values are.
    pub axis: Axis,
}

/// Where the time went.
#[derive(Clone, Debug, PartialEq)]
pub struct Shares {
    /// The parts, one colour each, in the order in which they are drawn.
    pub parts: Vec<String>,
    /// The rows, from the top.
    pub rows: Vec<ShareRow>,
    /// What the values are, and what their shares are of.
    pub axis: Axis,
}

/// A bar of parts.
#[derive(Clone, Debug, PartialEq)]
pub struct ShareRow {
    /// Its name.
    pub label: String,
    /// One value for each part; 0 where it has none.
    pub values: Vec<f64>,
}

impl ShareRow {
    /// The parts; what is no number or less than nothing is nothing.
    pub(crate) fn parts(&self) -> impl Iterator<Item = f64> {
        self.values.iter().map(|value| shown(*value).unwrap_or(0.0).max(0.0))
    }

    /// All of them.
    pub(crate) fn whole(&self) -> f64 {
        self.parts().sum()
    }
}
