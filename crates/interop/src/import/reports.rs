//! Tools that report on devices periodically: iostat and zpool iostat.
//!
//! The model: a report has a row of columns per device, and a cell is all columns of one direction of a
//! device. The first of several reports covers the time since boot and is not part of the figures. Both
//! tools can omit it (`-y`). In iostat's text this is visible; in the other formats it is not, and then
//! the first interval is lost, which a note states. A single report is read and marked as such. A tool
//! may print no row for an idle device (`iostat -z`). Such a device counts as 0 in that interval. A
//! tool that prints rows of zeros does not omit idle devices, so a missing row means that the device
//! did not exist, and a note gives the number of intervals that list it.

use super::kit::*;
use super::parts::NotImported;
use super::room;
use std::collections::HashSet;

/// A column of a report.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ReportColumn {
    /// Name of the column in the tool.
    pub(super) name: String,
    pub(super) unit: ToolUnit,
    /// Its direction. `None` for the device as a whole.
    pub(super) direction: Option<Direction>,
    /// Word that distinguishes its cell from others without a direction: `discard`.
    pub(super) part: &'static str,
}

/// Fields of a device in a report, in the order of its columns. A log has a row for each device and
/// second, so the fields are stored in a single text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DeviceFields {
    pub(super) device: Box<str>,
    /// All fields, concatenated.
    text: Box<str>,
    /// End of each field in the text.
    ends: Box<[u32]>,
}

impl DeviceFields {
    fn new<'a>(device: &str, fields: impl Iterator<Item = &'a str>) -> Self {
        let (mut text, mut ends) = (String::new(), Vec::new());
        for field in fields {
            // A field of this length is not a number.
            text += if field.len() > FIELD_LONGEST { "" } else { field };
            ends.push(text.len() as u32);
        }
        Self { device: device.into(), text: text.into(), ends: ends.into() }
    }

    /// Returns the field of a column.
    fn get(&self, at: usize) -> Option<&str> {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.text.get(start as usize..*self.ends.get(at)? as usize)
    }

    pub(super) fn fields(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len()).filter_map(|at| self.get(at))
    }
}

/// Maximum length of a field. Numbers in reports are shorter.
const FIELD_LONGEST: usize = 1 << 10;

/// All devices at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct DeviceReport {
    /// ISO 8601, if printed.
    pub(super) time: Option<String>,
    pub(super) rows: Vec<DeviceFields>,
}

impl DeviceReport {
    /// Returns whether the first row is one of a device.
    pub(super) fn begins_with(&self, device: &str) -> bool {
        self.rows.first().is_some_and(|row| *row.device == *device)
    }
}

/// Bytes of a row without its fields: it is in a list of rows, in the rows of its device, and its field
/// in a list of points.
const ROW_BYTES: usize = 2 * size_of::<DeviceFields>() + 48 + 112;

/// Adds a report without rows.
pub(super) fn add_report(reports: &mut Vec<DeviceReport>, time: Option<String>) {
    // Lists grow to twice their length.
    if room::take(2 * size_of::<DeviceReport>() + 64) {
        reports.push(DeviceReport { time, rows: Vec::new() });
    }
}

/// Adds a row to the last report.
pub(super) fn add_row<'a>(reports: &mut [DeviceReport], device: &str, fields: impl Iterator<Item = &'a str>) {
    let row = DeviceFields::new(device, fields);
    let bytes = row.device.len() + row.text.len() + size_of_val(&*row.ends);
    if let Some(report) = reports.last_mut().filter(|_| room::take(ROW_BYTES + bytes)) {
        report.rows.push(row);
    }
}

/// Meaning of the first report of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum First {
    /// The time since boot, unless the tool was started with an option that omits it, which the output
    /// does not show.
    SinceBoot,
    /// An interval: the output shows that the tool omitted the report since boot.
    Interval,
}

/// Reporting rules of a tool.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReportRules {
    pub(super) first: First,
    /// Whether the tool can print no row for an idle device.
    pub(super) may_omit_idle: bool,
}

/// Returns the runs of several processes, each of which begins with its own report since boot. A command
/// without output has no run.
pub(super) fn each(processes: &[Input<'_>], read: impl Fn(&Input<'_>) -> ImportedRuns) -> ImportedRuns {
    let mut runs = Vec::new();
    for process in processes {
        match read(process) {
            Ok(mut of_process) => runs.append(&mut of_process),
            Err(NotImported::NotMine(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(runs)
}

/// Returns whether a line is a command of iostat or `zpool iostat` with the option `-y`, which omits the
/// report since boot.
pub(super) fn omits_boot(line: &str) -> bool {
    let is_option = |word: &str| word.starts_with('-') && !word.starts_with("--") && word.contains('y');
    let words = || line.split_whitespace();
    words().any(|word| word == "iostat" || word.ends_with("/iostat")) && words().any(is_option)
}

/// Returns a run of reports with the same columns.
pub(super) fn run(
    mut origin: Origin,
    columns: &[ReportColumn],
    mut reports: Vec<DeviceReport>,
    rules: ReportRules,
) -> ImportedRun {
    if !rules.may_omit_idle || reports.iter().all(|report| report.rows.is_empty()) {
        reports.retain(|report| !report.rows.is_empty());
    }
    let mut notices = Vec::new();
    let mut since_boot = None;
    if rules.first == First::SinceBoot && reports.len() > 1 {
        let rest = reports.len() - 1;
        since_boot = Some(reports.remove(0));
        notices.push(notice(text!(
            "the first report covers the time since boot and was skipped; reports that count: {rest} \
             (with `-y`, which the output does not show, this loses one interval)",
            "最初の報告は起動時からの平均なので除きました。数えるのは残りの {rest} 件です(`-y` を付けた場合は、出力からは分からない\
             ため、1 区間が失われます)"
        )));
    }
    if reports.len() > 1 {
        notices.push(notice(units::of_intervals()));
    } else if rules.first == First::SinceBoot && notices.is_empty() {
        notices.push(notice(text!(
            "the file holds a single report, which is the average since boot (of a pool: since its \
             import) unless the tool was started with an option that omits it",
            "報告が 1 件だけです。ツールに省くよう指示していなければ、これは起動時(プールではインポート時)からの平均です"
        )));
    }
    let omits_idle = rules.may_omit_idle && omits_idle(columns, &reports);
    notices.extend(absent(&reports, since_boot.as_ref().filter(|_| omits_idle), omits_idle));
    origin.measured_at = reports.first().and_then(|report| report.time.clone()).or(origin.measured_at);
    let rows = reports
        .iter()
        .enumerate()
        .flat_map(|(number, report)| report.rows.iter().map(move |row| (&*row.device, (number, row))));
    let devices = parts::grouped(rows);
    let times: Option<Vec<f64>> =
        reports.iter().map(|report| dates::seconds_of_iso(report.time.as_deref()?)).collect();
    // Rates come first, because the first figure of a cell is its main one.
    let mut columns: Vec<(usize, &ReportColumn)> = columns.iter().enumerate().collect();
    columns.sort_by_key(|(at, column)| (column.unit.quantity != Quantity::Rate, *at));
    let mut parts: Vec<(Option<Direction>, &str)> = Vec::new();
    for (_, column) in &columns {
        if !parts.contains(&(column.direction, column.part)) {
            parts.push((column.direction, column.part));
        }
    }
    let mut cells = Vec::new();
    for (device, mut rows) in devices {
        rows.dedup_by_key(|(number, _)| *number);
        let is_filled = omits_idle && rows.len() < reports.len();
        if is_filled {
            room::take(reports.len() * POINT_BYTES);
        }
        if room::is_spent() {
            break;
        }
        let filled = is_filled.then_some(reports.len());
        for (direction, part) in &parts {
            cells.extend(cell(device, (&rows, filled), (*direction, part), &columns, times.as_deref()));
        }
    }
    ImportedRun { origin, cells, notices, ..ImportedRun::default() }
}

/// Bytes of a point for a device without a row in a report.
const POINT_BYTES: usize = 64;
/// Number of devices that a note lists. Further ones are only counted.
const DEVICES_NAMED: usize = 20;

/// Maximum number of rows for which all missing rows are added …
const FEW_ROWS: usize = 10_000;
/// … and the maximum number of rows including missing ones per row of a larger log, so that a log
/// cannot take many times its length.
const MOST_PER_ROW: usize = 4;

/// Returns whether a missing row means that the device was idle, which is so if no row consists of
/// zeros. If nearly all rows are missing, they are not added.
fn omits_idle(columns: &[ReportColumn], reports: &[DeviceReport]) -> bool {
    let devices: HashSet<&str> =
        reports.iter().flat_map(|report| &report.rows).map(|row| &*row.device).collect();
    let rows: usize = reports.iter().map(|report| report.rows.len()).sum();
    if devices.len().saturating_mul(reports.len()) > FEW_ROWS.max(MOST_PER_ROW * rows) {
        return false;
    }
    let counts = |column: &ReportColumn| matches!(column.unit.quantity, Quantity::Rate | Quantity::Iops);
    let is_idle = |row: &DeviceFields| {
        let fields = columns.iter().zip(row.fields()).filter(|(column, _)| counts(column));
        fields.into_iter().all(|(column, field)| column.unit.value(field) == Some(0.0))
    };
    !reports.iter().flat_map(|report| &report.rows).any(is_idle)
}

/// Returns notes on devices that are missing in some reports. `since_boot` is the skipped report.
fn absent(reports: &[DeviceReport], since_boot: Option<&DeviceReport>, omits_idle: bool) -> Vec<Notice> {
    let listed =
        reports.iter().enumerate().flat_map(|(at, report)| report.rows.iter().map(move |row| (at, row)));
    let listed = parts::grouped(listed.map(|(at, row)| (&*row.device, at)));
    let before = since_boot.into_iter().flat_map(|report| &report.rows).map(|row| (&*row.device, usize::MAX));
    let all: Vec<(&str, usize)> = parts::grouped(
        listed.iter().flat_map(|(device, at)| at.iter().map(move |at| (*device, *at))).chain(before),
    )
    .into_iter()
    .map(|(device, mut at)| {
        at.retain(|at| *at != usize::MAX);
        at.dedup();
        (device, at.len())
    })
    .collect();
    let count = reports.len();
    let mut notices = Vec::new();
    for (in_reports, devices) in parts::grouped(all.iter().map(|(device, listed)| (*listed, *device))) {
        if in_reports == count {
            continue;
        }
        let named = names(&devices);
        notices.push(notice(match (omits_idle, in_reports) {
            (true, 0) => text!(
                "idle in all {count} intervals, so without a line (`-z`): {named}",
                "{count} 区間のすべてで I/O がなく、行がないもの(`-z`): {named}"
            ),
            (true, _) => text!(
                "listed in {in_reports} of {count} intervals: {named}; a device without a line was idle \
                 (`-z`) and counts as 0 in that interval",
                "{count} 区間のうち {in_reports} 区間だけに行があるもの: {named}。行のない区間は I/O なし(`-z`)として 0 で数えます"
            ),
            (false, _) => text!(
                "listed in {in_reports} of {count} intervals: {named}; its figures cover only these intervals",
                "{count} 区間のうち {in_reports} 区間だけに行があるもの: {named}。値はその区間だけのものです"
            ),
        }));
    }
    notices
}

fn names(devices: &[&str]) -> String {
    let named = devices[..devices.len().min(DEVICES_NAMED)].join(", ");
    if devices.len() > DEVICES_NAMED { format!("{named}, …") } else { named }
}

fn cell(
    device: &str,
    (rows, filled): (&[(usize, &DeviceFields)], Option<usize>),
    (direction, part): (Option<Direction>, &str),
    columns: &[(usize, &ReportColumn)],
    times: Option<&[f64]>,
) -> Option<Cell> {
    let axis = if times.is_some() { SeriesAxis::Time } else { SeriesAxis::Number };
    let mut imported = ImportedCell::default();
    for &(at, column) in columns {
        if column.direction != direction || column.part != part {
            continue;
        }
        let place = |number: usize| times.map_or(number as f64, |times| times[number] * 1e9);
        let printed = rows.iter().filter_map(|(number, row)| Some((*number, row.get(at)?)));
        let points: Vec<(f64, &str)> = match filled.filter(|_| is_zero_of_idle(column.unit.quantity)) {
            Some(count) => {
                let mut fields = vec!["0"; count];
                printed.for_each(|(number, field)| fields[number] = field);
                fields.iter().enumerate().map(|(number, field)| (place(number), *field)).collect()
            }
            None => printed.map(|(number, field)| (place(number), field)).collect(),
        };
        if let [(_, only)] = points.as_slice() {
            imported.figures.extend(column.unit.figure_of(
                column.name.clone().into(),
                Statistic::Mean,
                *only,
            ));
        } else {
            units::add_intervals(&mut imported, column.unit, &column.name, axis, &points);
        }
    }
    if !imported.figures.iter().any(|figure| figure.value > 0.0) && matches!(part, "discard" | "flush") {
        return None; // No discards, no flushes: nothing to tell.
    }
    let label = match (direction, part) {
        (Some(_), _) => device.to_owned(),
        (None, "") => format!("{device} all"),
        (None, part) => format!("{device} {part}"),
    };
    Some(parts::cell(label, direction, imported))
}

/// Returns whether an idle device has the value 0 for a quantity. It has no latency and no request
/// size.
fn is_zero_of_idle(quantity: Quantity) -> bool {
    matches!(quantity, Quantity::Rate | Quantity::Iops | Quantity::Share | Quantity::QueueLength)
}
