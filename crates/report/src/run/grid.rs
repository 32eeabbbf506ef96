//! The table of a run: steps down, directions across.
//!
//! The model: a cell is a few lines of `number unit remark`, and numbers stand under each other through the whole
//! table, so that a column of figures can be compared at a glance. The first of these arrangements that fits the
//! width is taken: directions side by side, directions below each other, names on lines of their own; with as many
//! percentiles as there is room for.

use crate::doc::layout::{Line, clip, display_width, pad_left, pad_right, wrap};
use crate::doc::spark::{course, sparkline};
use crate::doc::{Role, Style};
use crate::run::figures::Figures;
use crate::run::{imported, replay, times};
use crate::words;
use kurabe_core::imported::ImportedCell;
use kurabe_core::number::{self, Figure};
use kurabe_core::profile::{PrintedUnit, Statistic};
use kurabe_core::record::{Cell, Measure, RunHeader};
use kurabe_core::shown;
use kurabe_core::text;
use kurabe_core::workload::Direction;

/// Between columns of the table, if there is room.
const GAP: usize = 3;
const GAP_TIGHT: usize = 2;
/// Between a unit and its remark, and between a remark and the course.
const REMARK_GAP: usize = 2;
/// Sign of a cell in which kurabe was the limit.
pub(crate) const GENERATOR_SIGN: &str = "*";
const COURSE_SHORTEST: usize = 8;
const COURSE_LONGEST: usize = 12;

/// One line of a cell.
struct CellLine {
    number: String,
    unit: String,
    remark: String,
    role: Role,
    /// Whether the course stands behind the remark.
    course: bool,
}

/// A cell as it is laid out.
struct CellBlock {
    lines: Vec<CellLine>,
    course: Vec<f64>,
}

/// Which percentiles stand in a cell.
#[derive(Clone, Copy, PartialEq)]
enum Percentiles {
    Three,
    Two,
    /// Two on lines of their own.
    Split,
}

impl Percentiles {
    fn shown(self) -> &'static [(&'static str, f64)] {
        match self {
            Self::Three => &[("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)],
            Self::Two | Self::Split => &[("p50", 0.5), ("p99.9", 0.999)],
        }
    }
}

/// A step: its name in two parts that align (`RND 4 KiB`, `Q32 T1`) and its cells by direction.
struct StepRow {
    name: (String, String),
    cells: Vec<Option<CellBlock>>,
}

struct Grid {
    headings: Vec<String>,
    rows: Vec<StepRow>,
}

/// Widths that hold for every cell.
struct Widths {
    number: usize,
    unit: usize,
    remark: usize,
    course: usize,
}

impl Widths {
    fn remark_at(&self) -> usize {
        self.number + 1 + self.unit + REMARK_GAP
    }

    fn course_at(&self) -> usize {
        self.remark_at() + if self.remark > 0 { self.remark + REMARK_GAP } else { 0 }
    }
}

/// The rules by which a table is made.
#[derive(Clone, Copy)]
pub(crate) struct GridRules<'a> {
    /// The profile's statistic.
    pub(crate) statistic: Statistic,
    /// The tool's own unit of rates, if it is another.
    pub(crate) as_printed: Option<&'a PrintedUnit>,
}

impl<'a> GridRules<'a> {
    pub(crate) fn of(header: &'a RunHeader) -> Self {
        match &header.profile {
            Some(profile) => Self { statistic: profile.statistic, as_printed: profile.as_printed.as_ref() },
            None => Self { statistic: Statistic::Mean, as_printed: None },
        }
    }
}

/// The lines of the table; none if there are no cells for it.
pub(crate) fn render(cells: &[Cell], rules: GridRules<'_>, style: &Style) -> Vec<String> {
    let listed = imported::listed(cells);
    let cells: Vec<&Cell> = cells
        .iter()
        .filter(|cell| cell.direction.is_some() && !times::is_here(cell) && !replay::is_here(cell))
        .filter(|cell| !listed.iter().any(|other| std::ptr::eq(*other, *cell)))
        .collect();
    if cells.is_empty() {
        return Vec::new();
    }
    let cells = cells.as_slice();
    for (percentiles, gap) in [
        (Percentiles::Three, GAP),
        (Percentiles::Two, GAP),
        (Percentiles::Split, GAP),
        (Percentiles::Split, GAP_TIGHT),
    ] {
        if let Some(lines) = Grid::new(cells, rules, percentiles, style).side_by_side(gap, style) {
            return lines;
        }
    }
    for percentiles in [Percentiles::Three, Percentiles::Two] {
        if let Some(lines) = Grid::new(cells, rules, percentiles, style).stacked(style, false) {
            return lines;
        }
    }
    let grid = Grid::new(cells, rules, Percentiles::Two, style);
    grid.stacked(style, true).unwrap_or_default()
}

/// The lines of the list of imported cells; see [`imported::listed`].
pub(crate) fn render_list(cells: &[Cell], style: &Style) -> Vec<String> {
    let rows: Vec<StepRow> = imported::listed(cells)
        .into_iter()
        .filter_map(|cell| {
            let lines = imported_lines(cell.imported.as_ref()?, style);
            let name = (style.say(&imported::name(cell)), String::new());
            Some(StepRow { name, cells: vec![Some(CellBlock { lines, course: Vec::new() })] })
        })
        .collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let mut grid = Grid { headings: vec![String::new()], rows };
    grid.align_decimals();
    grid.side_by_side(GAP, style).or_else(|| grid.stacked(style, true)).unwrap_or_default()
}

impl Grid {
    fn new(cells: &[&Cell], rules: GridRules<'_>, percentiles: Percentiles, style: &Style) -> Self {
        let directions: Vec<Direction> = Direction::ALL
            .into_iter()
            .filter(|direction| cells.iter().any(|cell| cell.direction == Some(*direction)))
            .collect();
        let mut steps: Vec<(u32, &str)> =
            cells.iter().map(|cell| (cell.step_index, cell.label.as_str())).collect();
        steps.sort_unstable();
        steps.dedup();
        let rows = steps
            .into_iter()
            .map(|(step_index, label)| StepRow {
                name: split_name(label),
                cells: directions
                    .iter()
                    .map(|direction| {
                        let cell = cells.iter().rfind(|cell| {
                            cell.step_index == step_index
                                && cell.label == label
                                && cell.direction == Some(*direction)
                        });
                        cell.map(|cell| CellBlock {
                            lines: cell_lines(cell, rules, percentiles, style),
                            course: course(cell),
                        })
                    })
                    .collect(),
            })
            .collect();
        let headings = directions.iter().map(|direction| heading(cells, *direction, style)).collect();
        let mut grid = Self { headings, rows };
        grid.align_decimals();
        grid
    }

    fn blocks(&self) -> impl Iterator<Item = &CellBlock> {
        self.rows.iter().flat_map(|row| row.cells.iter().flatten())
    }

    /// Rates get as many places behind the point as the rate with the most, blanks for what is missing.
    fn align_decimals(&mut self) {
        let places = |line: &CellLine| line.number.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        let is_rate = |line: &CellLine| line.unit == "MB/s";
        let most =
            self.blocks().flat_map(|block| &block.lines).filter(|line| is_rate(line)).map(places).max();
        let most = most.unwrap_or(0);
        for line in
            self.rows.iter_mut().flat_map(|row| row.cells.iter_mut().flatten()).flat_map(|b| &mut b.lines)
        {
            if is_rate(line) && line.number.contains('.') {
                let missing = most - places(line);
                line.number.push_str(&" ".repeat(missing));
            }
        }
    }

    /// The widths, the course as long as the cell's other lines allow, within its limits.
    fn widths(&self) -> Widths {
        let lines = || self.blocks().flat_map(|block| &block.lines);
        let most = |of: &dyn Fn(&CellLine) -> usize| lines().map(of).max().unwrap_or(0);
        let mut widths = Widths {
            number: most(&|line| display_width(&line.number)),
            unit: most(&|line| display_width(&line.unit)),
            remark: most(&|line| if line.course { display_width(&line.remark) } else { 0 }),
            course: 0,
        };
        if self.blocks().any(|block| !block.course.is_empty()) {
            let others =
                widths.remark_at() + most(&|line| if line.course { 0 } else { display_width(&line.remark) });
            let room = others.saturating_sub(widths.course_at());
            widths.course = room.clamp(COURSE_SHORTEST, COURSE_LONGEST);
        }
        widths
    }

    fn cell_width(&self, widths: &Widths) -> usize {
        let remarks = self.blocks().flat_map(|block| &block.lines).map(|line| display_width(&line.remark));
        let with_remarks = widths.remark_at() + remarks.max().unwrap_or(0);
        with_remarks.max(widths.course_at() + widths.course)
    }

    /// The names, both parts aligned.
    fn names(&self) -> Vec<String> {
        let first = self.rows.iter().map(|row| display_width(&row.name.0)).max().unwrap_or(0);
        self.rows
            .iter()
            .map(|row| match row.name.1.as_str() {
                "" => row.name.0.clone(),
                second => format!("{} {second}", pad_right(&row.name.0, first)),
            })
            .collect()
    }

    fn side_by_side(&self, gap: usize, style: &Style) -> Option<Vec<String>> {
        let names = self.names();
        let label = names.iter().map(|name| display_width(name)).max().unwrap_or(0);
        let widths = self.widths();
        let heading = self.headings.iter().map(|heading| display_width(heading)).max().unwrap_or(0);
        let cell_width = self.cell_width(&widths).max(heading);
        let column = |index: usize| label + gap + index * (cell_width + gap);
        if column(self.headings.len()) - gap > style.width {
            return None;
        }
        let mut head = Line::new(style);
        for (index, heading) in self.headings.iter().enumerate() {
            // The heading begins where the widest number does.
            head.at(column(index), Role::Strong, heading);
        }
        let mut lines = vec![head.finish()];
        lines.retain(|line| !line.is_empty());
        for (row, name) in self.rows.iter().zip(&names) {
            let height = row.cells.iter().flatten().map(|block| block.lines.len()).max().unwrap_or(0).max(1);
            for line in 0..height {
                let mut out = Line::new(style);
                out.at(0, Role::Plain, if line == 0 { name } else { "" });
                for (index, block) in row.cells.iter().enumerate() {
                    match block {
                        Some(block) => block.put(&mut out, column(index), line, &widths),
                        None if line == 0 => {
                            out.until(column(index) + widths.number, Role::Quiet, number::NONE);
                        }
                        None => {}
                    }
                }
                lines.push(out.finish());
            }
        }
        Some(lines)
    }

    /// Directions below each other; `named_apart` puts names on lines of their own and always fits as well as
    /// anything can.
    fn stacked(mut self, style: &Style, named_apart: bool) -> Option<Vec<String>> {
        let names = self.names();
        let widest = names.iter().map(|name| display_width(name)).max().unwrap_or(0);
        let label = if named_apart { 0 } else { 2 + widest };
        let mut widths = self.widths();
        let column = if named_apart { 4 } else { label + GAP };
        if column + self.cell_width(&widths) > style.width {
            if !named_apart {
                return None;
            }
            let room = style.width.saturating_sub(column + widths.remark_at());
            for line in
                self.rows.iter_mut().flat_map(|row| row.cells.iter_mut().flatten()).flat_map(|b| &mut b.lines)
            {
                line.remark = clip(&line.remark, room);
            }
            widths.course = style.width.saturating_sub(column + widths.course_at()).min(COURSE_SHORTEST);
        }
        let mut lines = Vec::new();
        for (index, heading) in self.headings.iter().enumerate() {
            if index > 0 {
                lines.push(String::new());
            }
            if !heading.is_empty() {
                lines.push(style.paint(Role::Strong, heading));
            }
            for (row, name) in self.rows.iter().zip(&names) {
                let Some(block) = &row.cells[index] else { continue };
                if named_apart {
                    lines.extend(
                        wrap(name, style.width.saturating_sub(2)).iter().map(|name| format!("  {name}")),
                    );
                }
                for line in 0..block.lines.len() {
                    let mut out = Line::new(style);
                    out.at(2, Role::Plain, if line == 0 && !named_apart { name } else { "" });
                    block.put(&mut out, column, line, &widths);
                    lines.push(out.finish());
                }
            }
        }
        Some(lines)
    }
}

impl CellBlock {
    fn put(&self, out: &mut Line<'_>, column: usize, line: usize, widths: &Widths) {
        let Some(line) = self.lines.get(line) else { return };
        // A remark in the tone of its line, unless the line is the main figure.
        let remark = if line.role == Role::Strong { Role::Plain } else { line.role };
        out.at(column, line.role, &pad_left(&line.number, widths.number));
        out.at(column + widths.number + 1, line.role, &line.unit);
        out.at(column + widths.remark_at(), remark, &line.remark);
        if line.course && widths.course > 0 {
            out.at(column + widths.course_at(), Role::Course, &sparkline(&self.course, widths.course));
        }
    }
}

/// The name of a direction; for a mix also its share of reads, if that is the same in every cell.
fn heading(cells: &[&Cell], direction: Direction, style: &Style) -> String {
    let name = style.say(&words::direction(direction)).to_owned();
    let mut shares =
        cells.iter().filter(|cell| cell.direction == Some(direction)).map(|cell| read_percent(cell));
    match shares.next() {
        Some(Some(share)) if direction == Direction::Mix && shares.all(|other| other == Some(share)) => {
            style.say(&text!("{name} ({share} % reads)", "{name}(読み出し {share} %)"))
        }
        _ => name,
    }
}

/// The share of reads of a mix, if it is known; of one that writes blocks back it is not the share that is drawn.
fn read_percent(cell: &Cell) -> Option<f64> {
    let drawn = cell.workload.as_ref().filter(|workload| workload.rewrite_every_reads.is_none());
    let measured = drawn.map(|workload| f64::from(workload.read_percent));
    measured.or_else(|| cell.imported.as_ref()?.read_percent)
}

/// `RND 4 KiB Q32 T1` in the part before and the part from the queue depth.
fn split_name(label: &str) -> (String, String) {
    let label = shown::line(label);
    let at = label
        .rmatch_indices(" Q")
        .map(|(at, _)| at)
        .find(|at| label[at + 2..].starts_with(|c: char| c.is_ascii_digit()));
    match at {
        Some(at) => (label[..at].to_owned(), label[at + 1..].to_owned()),
        None => (label, String::new()),
    }
}

fn line(figure: Figure, remark: String, role: Role) -> CellLine {
    CellLine { number: figure.number, unit: figure.unit.to_owned(), remark, role, course: false }
}

/// The figures that another tool printed.
fn imported_lines(imported: &ImportedCell, style: &Style) -> Vec<CellLine> {
    let lines = imported::table_lines(imported);
    lines.into_iter().map(|one| line(one.figure, style.say(&one.remark), one.role)).collect()
}

fn cell_lines(cell: &Cell, rules: GridRules<'_>, percentiles: Percentiles, style: &Style) -> Vec<CellLine> {
    if let Some(imported) = &cell.imported {
        return imported_lines(imported, style);
    }
    let statistic = rules.statistic;
    let figures = Figures::of(cell, statistic);
    let Some(main) = figures.main else {
        let nothing = Figure { number: number::NONE.to_owned(), unit: "" };
        let mut lines = vec![line(nothing, String::new(), Role::Quiet)];
        lines.extend(failed_line(&figures, style));
        return lines;
    };
    let chosen = words::statistic_of(statistic, figures.counted)
        .map(|words| style.say(&words))
        .filter(|_| figures.counted > 1);
    let mut remark: Vec<String> = chosen.clone().or_else(|| figures.interval()).into_iter().collect();
    if figures.generator_bound {
        remark.push(GENERATOR_SIGN.to_owned());
    }
    let mut lines =
        vec![CellLine { course: true, ..line(figures.value(main), remark.join(" "), Role::Strong) }];
    if let (Some(printed), Measure::Rate) = (rules.as_printed, cell.measure) {
        // Digits as such tools print them.
        let number = format!("{:.2}", main / printed.bytes as f64);
        let words = style.say(&text!("tool's {}", "ツールの {}", shown::line(&printed.unit)));
        lines.push(line(Figure { number, unit: "" }, words, Role::Quiet));
    }
    if chosen.is_some()
        && let Some(mean) = figures.mean
    {
        let interval = figures.interval().unwrap_or_default();
        let words = format!("{} {interval}", style.pick("mean", "平均")).trim_end().to_owned();
        lines.push(line(figures.value(mean.mean), words, Role::Quiet));
    }
    if figures.small_blocks {
        let latencies: Vec<String> = percentiles
            .shown()
            .iter()
            .filter_map(|(name, fraction)| {
                let ns = figures.percentile_ns(*fraction)?;
                // Aligned under each other, whatever their digits.
                let name =
                    if percentiles == Percentiles::Split { pad_right(name, 5) } else { (*name).to_owned() };
                Some(format!("{name} {}", pad_left(&number::latency_ns(ns), 7)))
            })
            .collect();
        let rate = number::iops(figures.rate_iops.unwrap_or(0.0));
        if percentiles == Percentiles::Split {
            let mut latencies = latencies.into_iter();
            lines.push(line(rate, latencies.next().unwrap_or_default(), Role::Quiet));
            let nothing = || Figure { number: String::new(), unit: "" };
            lines.extend(latencies.map(|latency| line(nothing(), latency, Role::Quiet)));
        } else {
            lines.push(line(rate, latencies.join("  "), Role::Quiet));
        }
    }
    if let (Statistic::Best, Measure::Rate, Some(ns)) = (statistic, cell.measure, figures.mean_latency_ns) {
        let words = match &chosen {
            Some(_) => style.pick("mean latency, best", "平均レイテンシの最良値"),
            None => style.pick("mean latency", "平均レイテンシ"),
        };
        lines.push(line(number::latency(ns), words.to_owned(), Role::Quiet));
    }
    lines.extend(failed_line(&figures, style));
    lines
}

fn failed_line(figures: &Figures, style: &Style) -> Option<CellLine> {
    (figures.failed > 0).then(|| {
        let words = if figures.failed == 1 {
            text!("operation failed", "件の I/O が失敗")
        } else {
            text!("operations failed", "件の I/O が失敗")
        };
        let number = Figure { number: number::count(figures.failed), unit: "" };
        line(number, style.say(&words), Role::Bad)
    })
}
