//! JSON of Yet-Another-Bench-Script (`yabs.sh -w`, `-j`).
//!
//! The model: an entry of `fio` is one mix of half reads and half writes with a block size, and each
//! direction is a cell. YABS runs fio's `randrw` with direct I/O, depth 64 and 2 jobs, which its JSON
//! does not contain. `KBps` are fio's KiB/s, as operations times block size show. Results for network
//! and CPU are ignored. Source: yabs.sh of masonr/yet-another-bench-script.

use super::json_tree::{Json, documents};
use super::kit::*;
use super::units::{binary, corrected};
use kurabe_core::environment::{Environment, Machine};

const KEYS: &[&str] = &["\"speed_rw\"", "\"iops_rw\""];
pub(super) const IMPORTER: Importer =
    Importer::of(("YABS JSON", "YABS", &["\"speed_rw\""]), Recognizer::Object(KEYS), read);

/// Directions with their keys.
const DIRECTIONS: [(Direction, &str, &str); 2] =
    [(Direction::Read, "speed_r", "iops_r"), (Direction::Write, "speed_w", "iops_w")];
const PROCEDURE: &str = "fio randrw, half reads, direct, iodepth=64, numjobs=2";

fn read(input: &Input<'_>) -> ImportedRuns {
    let text = parts::text_with(input, KEYS)?;
    let mut runs = Vec::new();
    for document in documents(text) {
        let document = document.map_err(|error| parts::damaged_json(input, "YABS", error))?;
        let mut origin = Origin {
            version: document.text_of("version").map(|version| version.trim_start_matches('v').to_owned()),
            measured_at: document.text_of("time").and_then(date),
            procedure: Some(PROCEDURE.to_owned()),
            ..input.origin("YABS", "yabs-json")
        };
        fact(&mut origin, "direct", "1");
        let cells = document.items_of("fio").iter().flat_map(cells).collect();
        let notices = vec![notice(text!(
            "YABS prints KiB/s as KBps; its rates are multiplied by 1.024",
            "YABS は KiB/s を KBps と表示します。速度は 1.024 倍に補正しました"
        ))];
        runs.push(ImportedRun {
            origin,
            environment: environment(&document),
            cells,
            notices,
            interrupted: false,
        });
    }
    Ok(runs)
}

/// Returns the cells of an entry.
fn cells(entry: &Json) -> Vec<Cell> {
    let block_bytes = entry.text_of("bs").and_then(|size| crate::fio_values::size_bytes(size, 1024));
    let cell_of = |(direction, rate, iops): (Direction, &str, &str)| {
        let reason = text!("fio's KiB/s are printed as KBps", "fio の KiB/s が KBps と表示されます");
        let rate = units::figure(Quantity::Rate, Statistic::Mean, entry.text_of(rate)?, "KBps", 1024.0)?;
        let iops = units::IOPS.figure(Statistic::Mean, entry.text_of(iops));
        let imported = ImportedCell {
            procedure: Some(PROCEDURE.to_owned()),
            block_bytes,
            iodepth: Some(64),
            threads: Some(2),
            sequential: Some(false),
            read_percent: Some(50.0),
            figures: std::iter::once(corrected(rate, binary("KiB/s", reason))).chain(iops).collect(),
            ..ImportedCell::default()
        };
        let label = parts::shape(Some(false), "", block_bytes, Some(64), Some(2));
        Some(cell(format!("{label} 50 % read"), Some(direction), imported))
    };
    let is_known = |entry: &Json| entry.text_of("speed_units").is_none_or(|unit| unit == "KBps");
    DIRECTIONS.into_iter().filter(|_| is_known(entry)).filter_map(cell_of).collect()
}

/// Converts `20230423-134114` to ISO 8601.
fn date(words: &str) -> Option<String> {
    let (date, time) = words.split_once('-').filter(|(date, time)| digits(date) && digits(time))?;
    let part = |words: &str, from: usize, to: usize| words.get(from..to).map(str::to_owned);
    let (year, month, day) = (part(date, 0, 4)?, part(date, 4, 6)?, part(date, 6, 8)?);
    let (hour, minute, second) = (part(time, 0, 2)?, part(time, 2, 4)?, part(time, 4, 6)?);
    dates::from_year_first(&format!("{year}-{month}-{day} {hour}:{minute}:{second}"))
}

fn environment(document: &Json) -> Environment {
    let within = |object: &str, key: &str| document.get(object)?.text_of(key).map(str::to_owned);
    let machine = Machine {
        os: within("os", "distro"),
        kernel: within("os", "kernel"),
        cpu_model: within("cpu", "model"),
        ..Machine::default()
    };
    Environment { machine, ..Environment::default() }
}
