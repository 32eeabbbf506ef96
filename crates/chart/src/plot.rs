//! Content of a chart, independent of its rendering.

use kurabe_core::{number, quantity::format_bytes};

/// Largest number that is shown: no storage figure exceeds it, and sums of larger numbers overflow.
const LARGEST: f64 = 1e21;

/// Returns the number if it can be shown.
pub(crate) fn shown(value: f64) -> Option<f64> {
    (value.is_finite() && value.abs() <= LARGEST).then_some(value)
}

/// A chart: heading, notes and plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// Heading.
    pub title: String,
    /// Lines below the heading: test environment, how to read the chart.
    pub notes: Vec<String>,
    /// Data of the drawing.
    pub plot: Plot,
}

/// The kinds of charts.
#[derive(Clone, Debug, PartialEq)]
pub enum Plot {
    /// Bars with intervals: the cells of several runs next to each other.
    Bars(Bars),
    /// Lines or dots over a position, a time, a size, a depth or a percentile.
    Lines(Lines),
    /// Ratios with intervals, relative to 1.
    Forest(Forest),
    /// A value over two categories, such as block size × queue depth.
    Heat(Heat),
    /// Time by cause: each row is a bar of parts, as shares of its sum.
    Shares(Shares),
}

/// A numeric axis with its label, unit and scale.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Label without the unit.
    pub label: String,
    /// Unit of the numbers.
    pub unit: Unit,
    /// Scale of the axis.
    pub scale: Scale,
}

impl Axis {
    /// Creates an axis with a label, a unit and a scale.
    pub fn new(label: impl Into<String>, unit: Unit, scale: Scale) -> Self {
        Self { label: label.into(), unit, scale }
    }

    /// Formats a number of the axis. A percentile is not rounded like a share: 99.99 % is not 100
    /// %.
    pub(crate) fn words(&self, value: f64) -> String {
        match self.scale {
            Scale::Tail => format!("{} %", number::percentile(value)),
            _ => self.unit.words(value),
        }
    }
}

/// Unit of a number, which determines its format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes per second, written in MB/s.
    Rate,
    /// Operations per second.
    Iops,
    /// A latency in ns.
    Latency,
    /// A point in time within a run, in ns.
    Moment,
    /// A size in bytes, written in binary units.
    Bytes,
    /// A plain count.
    Count,
    /// A ratio.
    Factor,
    /// A share from 0 to 1, written in percent.
    Share,
    /// A temperature in °C.
    Celsius,
}

impl Unit {
    /// Formats a number: `312.4 MB/s`, `41.2 µs`, `4 KiB`, `1.25 ×`.
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
            Unit::Celsius => format!("{} °C", number::whole(value)),
        }
    }
}

/// Scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Linear, from zero.
    Linear,
    /// Logarithmic.
    Log,
    /// Percentiles from 0 to 1 (as shares), on a logarithmic scale of the distance to 1, so that 99
    /// % and 99.9 % are far apart.
    Tail,
}

/// Grouped bars over an axis of values.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// Series, one colour each; usually runs.
    pub series: Vec<String>,
    /// Groups from the top; usually cells.
    pub groups: Vec<BarGroup>,
    /// Axis of the values.
    pub axis: Axis,
}

/// The bars of one group, one per series.
#[derive(Clone, Debug, PartialEq)]
pub struct BarGroup {
    /// Label of the group.
    pub label: String,
    /// One bar per series; `None` if it has no value.
    pub bars: Vec<Option<Bar>>,
}

/// A value with its interval, drawn as a bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// Value.
    pub value: f64,
    /// Confidence interval, if there is one.
    pub interval: Option<(f64, f64)>,
}

/// Lines over an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Lines {
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis on the left.
    pub y: Axis,
    /// Vertical axis on the right, for lines that refer to it.
    pub right: Option<Axis>,
    /// Lines.
    pub lines: Vec<ChartLine>,
    /// Annotated positions on the horizontal axis, such as change points.
    pub marks: Vec<Mark>,
    /// Annotated ranges of the horizontal axis, such as stalls.
    pub stretches: Vec<ShadedBand>,
}

impl Lines {
    /// Creates a chart of lines on the left axis, without annotations.
    pub fn new(x: Axis, y: Axis, lines: Vec<ChartLine>) -> Self {
        Self { x, y, right: None, lines, marks: Vec::new(), stretches: Vec::new() }
    }

    /// Returns the vertical axis of a line.
    pub(crate) fn axis_of(&self, line: &ChartLine) -> &Axis {
        self.right.as_ref().filter(|_| line.at_right).unwrap_or(&self.y)
    }
}

/// A line, or a set of dots, over the horizontal axis.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartLine {
    /// Name in the legend.
    pub name: String,
    /// Style.
    pub style: LineStyle,
    /// Whether its values refer to the right axis.
    pub at_right: bool,
    /// Position and value, in ascending order of position. Values that are not finite are gaps.
    pub points: Vec<(f64, f64)>,
}

impl ChartLine {
    /// Creates a line on the left axis.
    pub fn new(name: impl Into<String>, style: LineStyle, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), style, at_right: false, points }
    }
}

/// Style of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineStyle {
    /// Connected points.
    Joined,
    /// Connected points with a marker each: few points that were measured individually.
    Marked,
    /// Points without connection: samples.
    Dots,
    /// Steps: a value holds until the next point.
    Steps,
}

/// A position on an axis, drawn as a line with a label.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Position on the horizontal axis.
    pub x: f64,
    /// Label.
    pub label: String,
}

/// A range of an axis, drawn as a shaded band with a label.
#[derive(Clone, Debug, PartialEq)]
pub struct ShadedBand {
    /// Start.
    pub from: f64,
    /// End.
    pub to: f64,
    /// Label, shown as a tooltip.
    pub label: String,
}

/// A forest plot: ratios with intervals.
#[derive(Clone, Debug, PartialEq)]
pub struct Forest {
    /// Label of the ratio, such as `speed of 9mz against 7kq`.
    pub axis_label: String,
    /// Rows from the top.
    pub rows: Vec<ForestRow>,
    /// Ratios from `1/(1+margin)` to `1+margin` do not matter.
    pub margin: f64,
}

/// A ratio with its label and verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct ForestRow {
    /// Label.
    pub label: String,
    /// Ratio and the ends of its interval; `None` if it is unknown.
    pub ratio: Option<(f64, f64, f64)>,
    /// Verdict.
    pub outcome: RatioVerdict,
    /// Verdict as text.
    pub words: String,
}

/// Verdict on a ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RatioVerdict {
    /// Faster.
    Better,
    /// Slower.
    Worse,
    /// No difference that matters.
    Same,
    /// Unknown.
    Open,
}

/// A value over two categories.
#[derive(Clone, Debug, PartialEq)]
pub struct Heat {
    /// Label of the columns.
    pub x_label: String,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Label of the rows.
    pub y_label: String,
    /// Names of the rows, from the top.
    pub rows: Vec<String>,
    /// Values by row, then by column.
    pub values: Vec<Vec<Option<f64>>>,
    /// Axis of the values.
    pub axis: Axis,
}

/// Bars of parts, such as time by cause.
#[derive(Clone, Debug, PartialEq)]
pub struct Shares {
    /// Parts, one colour each, in drawing order.
    pub parts: Vec<String>,
    /// Rows from the top.
    pub rows: Vec<ShareRow>,
    /// Axis of the values of which the shares are taken.
    pub axis: Axis,
}

/// A bar of parts.
#[derive(Clone, Debug, PartialEq)]
pub struct ShareRow {
    /// Label.
    pub label: String,
    /// One value per part; 0 if it has none.
    pub values: Vec<f64>,
}

impl ShareRow {
    /// Returns the values of the parts; invalid and negative ones count as 0.
    pub(crate) fn parts(&self) -> impl Iterator<Item = f64> {
        self.values.iter().map(|value| shown(*value).unwrap_or(0.0).max(0.0))
    }

    /// Returns the sum of the parts.
    pub(crate) fn whole(&self) -> f64 {
        self.parts().sum()
    }
}
