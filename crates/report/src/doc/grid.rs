//! A grid of cells with rows and headed columns. Each cell has a few lines with a number, its unit
//! and a remark.
//!
//! The model: the numbers of the whole grid are aligned, so that figures in a column can be
//! compared at a glance. The writer decides how many percentiles to show, and whether columns are
//! placed side by side.

use super::Role;
use kurabe_core::{Text, number::Figure};

/// A grid. Without headings, it is a list of one column.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Grid {
    pub(crate) headings: Vec<Text>,
    pub(crate) rows: Vec<GridRow>,
}

/// A row: its name in two parts that are aligned separately (`RND 4 KiB`, `Q32 T1`), and its cells
/// by heading.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GridRow {
    pub(crate) name: [Text; 2],
    pub(crate) cells: Vec<Option<GridCell>>,
}

/// The lines of a cell, and the optional sparkline behind the first line.
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

/// Text behind the figure of a line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum GridRemark {
    Words(Text),
    /// Percentiles with their latencies, on one line or on separate lines.
    Percentiles(Vec<(&'static str, String)>),
}

impl GridLine {
    pub(crate) fn new(role: Role, figure: Figure, remark: impl Into<Text>) -> Self {
        Self { role, figure, remark: GridRemark::Words(remark.into()) }
    }
}
