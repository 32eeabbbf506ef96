//! Common imports of all importers, for `use super::kit::*`. Importers name items that only few of them
//! need.

pub(super) use super::importer::{ImportedRun, ImportedRuns, Importer};
pub(super) use super::input::Input;
pub(super) use super::parts::{broken, broken_line, cell, fact, not_mine, notice, without_line};
pub(super) use super::shapes::{Detail, DetailLine, LineMark, LineShapes, RunDetails, fits, holes};
pub(super) use super::split::Recognizer;
pub(super) use super::units::{FigureName, SPREAD, ToolUnit, figure_of_value, figures_of, power};
pub(super) use super::words::{decimal, digits, is_rule, key_value, number, repeated};
pub(super) use super::{dates, parts, units, words};
pub(super) use kurabe_core::imported::{
    FigureOf, ImportedCell, Origin, PrintedFigure, PrintedSeries, PrintedStatistic as Statistic, Quantity,
    SeriesAxis,
};
pub(super) use kurabe_core::record::{Cell, Notice};
pub(super) use kurabe_core::workload::Direction;
pub(super) use kurabe_core::{Error, Result, Text, text};
