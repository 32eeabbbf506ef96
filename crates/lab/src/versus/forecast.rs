//! Report of which differences an interleaved measurement can find.

use super::Live;
use crate::stream::{ForecastCell, StreamEvent, VersusEvent};
use kurabe_compare::CellForecast;
use kurabe_core::Result;
use kurabe_core::foreseen::LongestTime;
use kurabe_engine::BlocksSoFar;

impl Live<'_, '_> {
    /// Reports which differences the measurement can find, once the first blocks show it.
    pub(super) fn foresee(&mut self, so_far: BlocksSoFar) -> Result<()> {
        let LongestTime::Measuring(time_ns) = self.request.limit() else { return Ok(()) };
        let BlocksSoFar { done, expected, cell_count } = so_far;
        let cells = || self.journals.iter().map(|journal| journal.record.cells.clone()).collect();
        let forecasts = self.referee.forecast(done, expected, cell_count, cells);
        let named = |forecast: CellForecast| {
            let cell = self.journals[0].record.cells.iter().find(|cell| cell.index == forecast.cell)?;
            Some(ForecastCell {
                label: cell.label.clone(),
                direction: cell.direction,
                other: self.journals[forecast.other].id().to_owned(),
                smallest_difference: forecast.smallest_difference,
            })
        };
        let cells: Vec<ForecastCell> = forecasts.into_iter().filter_map(named).collect();
        if cells.is_empty() {
            return Ok(());
        }
        let event = VersusEvent::VersusForecast { time_ns, margin: self.request.margin, cells };
        self.lab.stream.tell(self.journals[0].id(), StreamEvent::Versus(event))
    }
}
