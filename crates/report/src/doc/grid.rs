//! A grid of cells: rows down, a column for each heading, and in each cell a few lines of a number, its unit and a remark.
//!
//! The model: numbers stand under each other through the whole grid, so that a column of figures can be compared at a
//! glance. How many percentiles are shown, and whether columns stand side by side, is left to who lays it out.

use super::Role;
use kurabe_core::{Text, number::Figure};

/// A grid; without headings it is a list of one column.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Grid {
    pub(crate) headings: Vec<Text>,
    pub(crate) rows: Vec<GridRow>,
}

/// A row: its name in two parts that align (`RND 4 KiB`, `Q32 T1`) and its cells by heading.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GridRow {
    pub(crate) name: [Text; 2],
    pub(crate) cells: Vec<Option<GridCell>>,
}

/// The lines of a cell, and the course over time that stands behind the first, if it may have one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GridCell {
    pub(crate) lines: Vec<GridLine>,
    pub(crate) course: Option<Vec<f64>>,
}

/// A line of a cell.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GridLine {
    pub(crate) role: Role,
    pub(crate) figure: Figure,
    pub(crate) remark: GridRemark,
}

/// What stands behind the figure of a line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum GridRemark {
    Words(Text),
    /// Percentiles with their latencies, which share the line or have lines of their own.
    Percentiles(Vec<(&'static str, String)>),
}

impl GridLine {
    pub(crate) fn new(role: Role, figure: Figure, remark: impl Into<Text>) -> Self {
        Self { role, figure, remark: GridRemark::Words(remark.into()) }
    }
}
