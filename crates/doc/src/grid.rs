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
pub struct Grid {
    pub headings: Vec<Text>,
    pub rows: Vec<GridRow>,
}

/// A row: its name in two parts that are aligned separately (`RND 4 KiB`, `Q32 T1`), and its cells
/// by heading.
#[derive(Clone, Debug, PartialEq)]
pub struct GridRow {
    pub name: [Text; 2],
    pub cells: Vec<Option<GridCell>>,
}

/// The lines of a cell, and the optional sparkline behind the first line.
#[derive(Clone, Debug, PartialEq)]
pub struct GridCell {
    pub lines: Vec<GridLine>,
    pub course: Option<Vec<f64>>,
}

/// A line of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct GridLine {
    pub role: Role,
    pub figure: Figure,
    pub remark: GridRemark,
}

/// Text behind the figure of a line.
#[derive(Clone, Debug, PartialEq)]
pub enum GridRemark {
    Words(Text),
    /// Percentiles with their latencies, on one line or on separate lines.
    Percentiles(Vec<(&'static str, String)>),
}

impl GridLine {
    pub fn new(role: Role, figure: Figure, remark: impl Into<Text>) -> Self {
        Self { role, figure, remark: GridRemark::Words(remark.into()) }
    }
}
