//! Periodic rewriting of old data before they lose their charge, in addition to a drive's other
//! work.
//!
//! The model: each die rewrites its rows one by one, evenly over the number of days in which all of
//! them are due; the dies alternate. A row is read, corrected and programmed. Rows that are due are
//! rewritten when the die is idle, and late ones are caught up on. An idle die costs nothing: its
//! refreshes are computed when it is next used.
//!
//! Not modelled: which rows hold data, that data move to another location, and refresh because of
//! many reads.

use super::config::{Config, Reclaimed};
use crate::build::Builder;
use kurabe_core::{Result, text};

const DAY_NS: f64 = 86_400e9;

#[derive(Clone, Debug)]
pub(super) struct Refresh {
    /// Time between consecutive rows of a die.
    step_ns: u64,
    row_ns: u64,
    /// By die: time at which its next row is due.
    due_ns: Vec<u64>,
}

impl Refresh {
    /// # Errors
    /// Returns an error if the days are too few for all rows.
    pub(super) fn new(builder: &Builder<'_>, config: &Config) -> Result<Option<Self>> {
        let days = config.values.refresh_days;
        if days == 0.0 {
            return Ok(None);
        }
        let geometry = &config.geometry;
        let dies = u64::from(geometry.dies);
        let rows = u64::from(geometry.units).div_ceil(u64::from(geometry.units_per_row)).div_ceil(dies);
        let units = u64::from(geometry.units_per_row);
        let row_ns = config.moving_ns(&Reclaimed { rows_read: 1, moved: units, ..Reclaimed::default() });
        let step_ns = (days * DAY_NS / rows as f64) as u64;
        if step_ns <= row_ns {
            let least = rows as f64 * row_ns as f64 / DAY_NS;
            return Err(builder.error(
                "refresh_days",
                &text!(
                    "the dies would do no other work: rewriting all rows takes {least:.3} days",
                    "全データの書き直しだけで {least:.3} 日かかり、ほかの処理ができません"
                ),
            ));
        }
        let due_ns = (1..=dies).map(|die| step_ns / dies * die).collect();
        Ok(Some(Self { step_ns, row_ns, due_ns }))
    }

    /// Returns the number of rows due on a die that has been idle since `free_ns`, and when they
    /// are done; `None` if none is due.
    pub(super) fn take(&mut self, die: u32, free_ns: u64, now_ns: u64) -> Option<(u64, u64)> {
        let due_ns = &mut self.due_ns[die as usize];
        let late_ns = now_ns.checked_sub(*due_ns)?;
        let rows = late_ns / self.step_ns + 1;
        let last_ns = *due_ns + (rows - 1) * self.step_ns;
        *due_ns = last_ns + self.step_ns;
        // A row takes less time than the interval between two, so earlier rows delay the last one
        // only as far as they had to wait for other work themselves.
        let end_ns = (last_ns + self.row_ns).max(free_ns.saturating_add(rows.saturating_mul(self.row_ns)));
        Some((rows, end_ns))
    }
}
