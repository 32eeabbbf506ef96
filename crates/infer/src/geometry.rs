//! The zones of a disk as two free parameters: the rate of its outermost track, and that of its
//! innermost one as a share of it.
//!
//! The model: sectors per track fall linearly over `ZONES` zones of as many cylinders each, and the
//! disk has as many cylinders as its capacity needs.

use kurabe_core::Result;
use kurabe_sim::{DeviceSpec, ParameterType};

/// Number of zones that a disk is given.
const ZONES: u64 = 16;
/// Bytes of a sector.
const SECTOR_BYTES: f64 = 512.0;
/// Paths of the two parameters, which are not those of a layer.
const OUTER_RATE: &str = "zones.outer_rate";
const INNER_SHARE: &str = "zones.inner_share";

/// Rates of a disk's tracks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Geometry {
    outer_bytes_per_s: Option<f64>,
    inner_share: Option<f64>,
}

impl Geometry {
    /// Returns the type of one of its parameters.
    pub(crate) fn kind(path: &str) -> Option<ParameterType> {
        match path {
            OUTER_RATE => Some(ParameterType::Rate),
            INNER_SHARE => Some(ParameterType::Number(0.0, 1.0)),
            _ => None,
        }
    }

    /// Reads a value of one of its parameters: a rate in MB/s, or a share.
    pub(crate) fn number(path: &str, written: &str) -> Option<Result<f64>> {
        Self::kind(path)?;
        let number = written.trim_end_matches(" MB/s").parse::<f64>().unwrap_or(0.0);
        Some(Ok(if path == OUTER_RATE { number * 1e6 } else { number }))
    }

    /// Takes a value if the path is one of its parameters.
    pub(crate) fn take(&mut self, path: &str, value: f64) -> bool {
        match path {
            OUTER_RATE => self.outer_bytes_per_s = Some(value),
            INNER_SHARE => self.inner_share = Some(value),
            _ => return false,
        }
        true
    }

    /// Gives a disk the zones.
    pub(crate) fn put(self, spec: &mut DeviceSpec, span_bytes: u64) -> Result<()> {
        let Some(rate) = self.outer_bytes_per_s else { return Ok(()) };
        let share = self.inner_share.unwrap_or(0.5);
        let number = |path: &str| spec.get(path).and_then(|value| value.parse::<f64>().ok()).unwrap_or(1.0);
        let outer = rate / (number("disk.rotation") / 60.0) / SECTOR_BYTES;
        let of_zone = |zone: u64| outer * (1.0 - (1.0 - share) * zone as f64 / (ZONES - 1) as f64);
        let sectors: f64 = (0..ZONES).map(|zone| of_zone(zone).round()).sum();
        let each = (span_bytes as f64 / SECTOR_BYTES / number("disk.heads") / sectors).ceil() as u64 + 1;
        let rows: Vec<String> =
            (0..ZONES).map(|zone| format!("[{}, {}]", zone * each, of_zone(zone).round())).collect();
        spec.set("disk.zones", &format!("[{}]", rows.join(", ")))?;
        spec.set("disk.cylinders", &(each * ZONES).to_string())?;
        spec.set("disk.capacity", "0 B")
    }
}
