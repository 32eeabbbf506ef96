//! A published entry as a run, so that it can be compared with runs and models.
//!
//! Only figures of plain reads and writes are included, because those of other work have no
//! counterpart. A figure without a block size or a depth has a test of its own.

use super::CatalogueEntry;
use super::table::PublishedStatistic;
use super::work::{RateWork, bytes_per_s, unit_of};
use kurabe_core::environment::{BlockDevice, Environment};
use kurabe_core::imported::{ImportedCell, Origin, PrintedFigure, PrintedStatistic, Quantity};
use kurabe_core::quantity::format_bytes;
use kurabe_core::record::{Cell, Measure, RunHeader, RunRecord, RunStatus};

impl CatalogueEntry<'_> {
    /// Returns the entry in the form of an imported run, with the device as the source names it.
    pub fn as_run(&self) -> RunRecord {
        let origin = Origin {
            tool: self.table.tool.clone(),
            format: "catalogue".to_owned(),
            file: self.source().to_owned(),
            measured_at: self.year().map(|year| year.to_string()),
            profile: self.table.profile.clone(),
            ..Origin::default()
        };
        let device = BlockDevice { model: Some(self.row.device.en.clone()), ..BlockDevice::default() };
        let header = RunHeader {
            id: self.id(),
            origin: Some(origin),
            environment: Environment { devices: vec![device], ..Environment::default() },
            ..RunHeader::default()
        };
        let cells = (0..).zip(self.rates()).map(|(index, cell)| Cell { index, step_index: index, ..cell });
        RunRecord { header, status: RunStatus::Complete, cells: cells.collect(), ..RunRecord::default() }
    }

    fn rates(&self) -> impl Iterator<Item = Cell> {
        let statistic = match self.table.statistic {
            PublishedStatistic::Mean => PrintedStatistic::Mean,
            PublishedStatistic::Median => PrintedStatistic::Median,
            PublishedStatistic::Best => PrintedStatistic::Highest,
            _ => PrintedStatistic::Unknown,
        };
        self.figures().filter_map(move |(column, published)| {
            let work = column.work?;
            let value = published.high.unwrap_or(published.low);
            let rate = bytes_per_s(value, unit_of(&column.unit)?, work.block_bytes)?;
            let depth = work.in_flight.filter(|(least, most)| least == most);
            let depth = depth.and_then(|(depth, _)| u32::try_from(depth).ok());
            let figure = PrintedFigure {
                quantity: Quantity::Rate,
                statistic,
                value: rate,
                printed: value.to_string(),
                unit_printed: column.unit.clone(),
                correction: None,
                of: None,
            };
            let imported = ImportedCell {
                block_bytes: work.block_bytes,
                iodepth: depth,
                threads: depth.map(|_| 1),
                sequential: Some(work.sequential),
                figures: vec![figure],
                ..ImportedCell::default()
            };
            Some(Cell {
                label: label(&work, depth).unwrap_or_else(|| column.name.en.clone()),
                direction: Some(work.direction),
                measure: Measure::Rate,
                imported: Some(imported),
                ..Cell::default()
            })
        })
    }
}

/// Returns the label of kurabe's own test of this work, as in `SEQ 1 MiB Q8 T1`.
fn label(work: &RateWork, depth: Option<u32>) -> Option<String> {
    let order = if work.sequential { "SEQ" } else { "RND" };
    Some(format!("{order} {} Q{} T1", format_bytes(work.block_bytes?), depth?))
}

#[cfg(test)]
mod tests {
    use crate::catalogue::Catalogue;

    #[test]
    fn an_entry_has_the_tests_of_its_tool_as_a_run() {
        let run = Catalogue::built_in().entry("cdm-9/samsung-990-pro-2tb").unwrap().as_run();
        let labels: Vec<&str> = run.cells.iter().map(|cell| cell.label.as_str()).collect();
        assert!(labels.contains(&"SEQ 1 MiB Q8 T1") && labels.contains(&"RND 4 KiB Q1 T1"), "{labels:?}");
        let rate = run.cells[0].imported.as_ref().unwrap().figures[0].value;
        assert!((1e9..1e11).contains(&rate), "{rate}");
        assert!(run.header.environment.devices[0].model.as_deref().unwrap().contains("990"));
    }
}
