//! Saved benchmarks of GNOME Disks, as versions up to 46 store them in
//! `~/.cache/gnome-disks/benchmarks`.
//!
//! The model: one GVariant of type `a{sv}` in the byte order of the machine that wrote it, with
//! `version` 1 (which indicates the byte order), `timestamp-usec`, `device-size`, `sample-size` and
//! three lists of (offset, value): read and write rates in bytes per second, and access times in
//! seconds. The file contains no summary. GNOME Disks shows the arithmetic mean of the samples, rates
//! with `g_format_size` and times as `%.2f msec`, and the figures here do the same. Source:
//! GNOME/gnome-disk-utility 4dcc56cf, `gdubenchmarkdialog.c` (`maybe_save_data`, `get_max_min_avg`).
//! The reader was checked against GLib byte for byte.

use super::dates::from_epoch;
use super::gvariant::{ByteOrder, GVariant, dictionary, samples};
use super::kit::*;
use kurabe_core::quantity::format_bytes;

pub(super) const IMPORTER: Importer =
    Importer::of(("GNOME Disks benchmark", "GNOME Disks", &["gnome-disks"]), Recognizer::File, read);

const SUFFIX: &str = ".gnome-disks-benchmark";

fn read(input: &Input<'_>) -> ImportedRuns {
    let has = |key: &[u8]| input.bytes.windows(key.len()).any(|window| window == key);
    // Keys end with a zero byte, which does not occur in text.
    if input.text().is_some() || !(has(b"timestamp-usec\0") && has(b"read-samples\0")) {
        return not_mine(text!(
            "the keys `timestamp-usec` and `read-samples` are missing",
            "キー `timestamp-usec` と `read-samples` がありません"
        ));
    }
    let saved = Saved::open(input.bytes)?;
    let timestamp_us = saved.number("timestamp-usec", "x")?.cast_signed();
    let device_bytes = saved.number("device-size", "t")?;
    let sample_bytes = saved.number("sample-size", "t")?;
    let mut cells = Vec::new();
    for list in &SAMPLES {
        let samples = saved.samples(list.0)?;
        if !samples.is_empty() {
            cells.push(list_cell(list, samples, sample_bytes)?);
        }
    }
    if cells.is_empty() {
        return Err(broken(text!("{} contains no sample", "{} に測定点がありません", input.name)).into());
    }
    let mut origin = Origin {
        measured_at: u64::try_from(timestamp_us).ok().and_then(|us| from_epoch(us / 1_000_000)),
        target: input.name.strip_suffix(SUFFIX).map(str::to_owned),
        procedure: Some(format!("samples of {} spread over the device", format_bytes(sample_bytes))),
        ..input.origin("GNOME Disks", "gnome-disks")
    };
    for (key, bytes) in [("device-size", device_bytes), ("sample-size", sample_bytes)] {
        fact(&mut origin, key, bytes.to_string());
    }
    Ok(vec![ImportedRun { origin, cells, ..ImportedRun::default() }])
}

/// Contents of the file.
struct Saved {
    order: ByteOrder,
    entries: Vec<(String, GVariant)>,
}

/// A list of samples: its key, the name of its series, direction, quantity, and the factor and name of
/// the unit.
type SampleList = (&'static str, &'static str, Direction, Quantity, f64, &'static str);
const SAMPLES: [SampleList; 3] = [
    ("read-samples", "rate", Direction::Read, Quantity::Rate, 1.0, "bytes/s"),
    ("write-samples", "rate", Direction::Write, Quantity::Rate, 1.0, "bytes/s"),
    ("access-time-samples", "access time", Direction::Read, Quantity::Latency, 1e9, "s"),
];

fn damaged(key: &str) -> Error {
    broken(text!("the value of `{key}` is missing or of another type", "`{key}` の値がないか、型が違います"))
}

impl Saved {
    fn open(bytes: &[u8]) -> Result<Self> {
        let entries = dictionary(bytes).ok_or_else(|| {
            broken(text!(
                "the file is not a complete GVariant of type a{{sv}}",
                "完全な a{{sv}} 型の GVariant ではありません"
            ))
        })?;
        let mut saved = Self { order: u64::from_le_bytes, entries };
        match saved.bytes("version", "i").and_then(|bytes| <[u8; 4]>::try_from(bytes).ok()) {
            Some([1, 0, 0, 0]) => {}
            Some([0, 0, 0, 1]) => saved.order = u64::from_be_bytes,
            Some(other) => {
                return Err(broken(text!(
                    "version {} of the format is not supported (supported: 1)",
                    "形式のバージョン {} は未知です(既知は 1)",
                    i32::from_le_bytes(other)
                )));
            }
            None => return Err(damaged("version")),
        }
        Ok(saved)
    }

    /// Returns the bytes of a value of a type.
    fn bytes(&self, key: &str, kind: &str) -> Option<&[u8]> {
        let entry = self.entries.iter().find(|(name, value)| name == key && value.kind == kind);
        entry.map(|(_, value)| value.bytes.as_slice())
    }

    fn number(&self, key: &str, kind: &str) -> Result<u64> {
        let bytes = self.bytes(key, kind).and_then(|bytes| bytes.try_into().ok());
        bytes.map(self.order).ok_or_else(|| damaged(key))
    }

    fn samples(&self, key: &str) -> Result<Vec<(u64, f64)>> {
        let samples = self.bytes(key, "a(td)").and_then(|bytes| samples(bytes, self.order));
        // Times are stored in ns.
        let is_sound = |(_, value): &(u64, f64)| (value * 1e9).is_finite() && *value >= 0.0;
        samples.filter(|samples| samples.iter().all(is_sound)).ok_or_else(|| damaged(key))
    }
}

fn list_cell(list: &SampleList, samples: Vec<(u64, f64)>, sample_bytes: u64) -> Result<Cell> {
    let (_, name, direction, quantity, factor, unit) = list;
    let count = samples.len();
    let mean = samples.iter().map(|(_, value)| value).sum::<f64>() / count as f64;
    let (label, procedure, block_bytes, sequential, (printed, unit_printed)) = match quantity {
        // Same labels as the steps of the GNOME Disks profile, so that the cells match.
        Quantity::Latency => {
            let procedure = format!("{count} reads of a page at random offsets");
            (
                "access 4 KiB".to_owned(),
                procedure,
                None,
                Some(false),
                (format!("{:.2}", mean * 1e3), "msec".to_owned()),
            )
        }
        _ => {
            let (sample, (number, unit)) = (format_bytes(sample_bytes), shown_size(mean));
            let printed = (number, format!("{unit}/s"));
            let procedure = format!("{count} samples of {sample}");
            (format!("{count} × {sample}"), procedure, Some(sample_bytes), None, printed)
        }
    };
    let figure = figure_of_value(*quantity, Statistic::Mean, mean * factor, &printed, &unit_printed);
    let figure = figure.ok_or_else(|| damaged(name))?;
    let points = samples.into_iter().map(|(offset, value)| (offset as f64, value * factor)).collect();
    let imported = ImportedCell {
        procedure: Some(procedure),
        block_bytes,
        sequential,
        figures: vec![PrintedFigure { of: Some(FigureOf::Samples), ..figure }],
        series: units::series(*quantity, name, unit, SeriesAxis::Offset, points).into_iter().collect(),
        ..ImportedCell::default()
    };
    Ok(cell(label, Some(*direction), imported))
}

/// Formats a size as `g_format_size` does: decimal units, one decimal.
fn shown_size(bytes: f64) -> (String, &'static str) {
    for (factor, unit) in [(1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")] {
        if bytes.trunc() >= factor {
            return (format!("{:.1}", bytes.trunc() / factor), unit);
        }
    }
    (format!("{:.0}", bytes.trunc()), "bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_shown_as_glib_does() {
        assert_eq!(shown_size(999.9), ("999".to_owned(), "bytes"));
        assert_eq!(shown_size(1000.0), ("1.0".to_owned(), "kB"));
        assert_eq!(shown_size(523_456_789.0), ("523.5".to_owned(), "MB"));
        assert_eq!(shown_size(7_012_345_678.0), ("7.0".to_owned(), "GB"));
    }
}
