//! Timing accuracy of a served model: fio over NBD, a client with almost no cost of its own, and
//! fio on an ext4 file of an attached device (FUSE and a loop device), compared with the same
//! requests in virtual time.
//!
//! The model: each case serves a device in this process, and fio sends requests to it for some
//! seconds. The same stack then gets the requests logged by fio in virtual time, with the same
//! number in flight. The ratio of the two rates is compared. Next to it are the lateness that the
//! server reports, and that of a bare loop of sleeps and spins with events at the same rate,
//! measured directly afterwards: anything beyond that is due to the server. The initial angle of a
//! disk is random on both sides.

use crate::Result;
use crate::child;
use crate::options::Flags;
use crate::serve_beside::{has_nbdkit, with_nbdkit};
use crate::serve_client::random_reads;
use crate::serve_device;
use crate::serve_same::{Asked, bare_lateness_ns, in_virtual_time};
use crate::statistics::percentile;
use crate::table::{figure, layout};
use kurabe_serve::{Address, AttachBy, DataPlace, ServeRequest, ServeSettings, Serving};
use kurabe_sim::{DeviceSpec, load_device};
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Number of columns of the table.
const COLUMNS: usize = 11;
const HELP: &str = "flags: --seconds N (4)  --only WORDS (all)";
/// Span of fio over NBD.
const SPAN_BYTES: u64 = 1 << 30;
/// Size of the file, which must be written first.
const FILE_BYTES: u64 = 64 << 20;

/// A device, and the requests of fio.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    device: &'static str,
    set: &'static [(&'static str, &'static str)],
    without: &'static [&'static str],
    pattern: &'static str,
    bytes: u32,
    depth: u32,
    way: Way,
    /// Promised deviation from virtual time; infinite if the model takes no time.
    promised: f64,
}

/// Path from fio to the device.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Nbd,
    /// A client with almost no cost of its own instead of fio.
    Bare,
    /// A file on ext4 on an attached device.
    Ext4,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Self::Nbd => "NBD",
            Self::Bare => "NBD, bare",
            Self::Ext4 => "ext4",
        }
    }

    fn span_bytes(self) -> u64 {
        match self {
            Self::Nbd | Self::Bare => SPAN_BYTES,
            Self::Ext4 => FILE_BYTES,
        }
    }
}

/// File in which fio logs its requests.
const LIST: &str = "asked.log";

const NULL: &[(&str, &str)] = &[("memory.access", "0"), ("memory.rate", "1000GB/s")];

const CASES: &[Case] = &[
    case("disk 4 KiB random read", "hitachi-hds721616plat80", "randread", 4096, 1, 0.03),
    case("disk 4 KiB random read", "hitachi-hds721616plat80", "randread", 4096, 32, 0.01),
    case("disk 1 MiB read", "hitachi-hds721616plat80", "read", 1 << 20, 1, 0.03),
    Case {
        without: &["filesystem"],
        ..case("stick 4 KiB random read", "samsung-fit-plus-exfat", "randread", 4096, 1, 0.03)
    },
    Case {
        without: &["filesystem"],
        ..case("stick 4 KiB random read", "samsung-fit-plus-exfat", "randread", 4096, 32, 0.01)
    },
    case("SSD 4 KiB random read", "samsung-870-evo", "randread", 4096, 1, 0.1),
    case("SSD 4 KiB random read", "samsung-870-evo", "randread", 4096, 32, 0.1),
    bare(case("SSD 4 KiB random read", "samsung-870-evo", "randread", 4096, 1, 0.05)),
    bare(case("SSD 4 KiB random read", "samsung-870-evo", "randread", 4096, 32, 0.05)),
    Case {
        set: NULL,
        ..case("nothing, 4 KiB random read", "ideal-ram-disk", "randread", 4096, 32, f64::INFINITY)
    },
    Case {
        set: NULL,
        ..bare(case("nothing, 4 KiB random read", "ideal-ram-disk", "randread", 4096, 32, f64::INFINITY))
    },
    Case { set: NULL, ..case("nothing, 1 MiB read", "ideal-ram-disk", "read", 1 << 20, 8, f64::INFINITY) },
    Case { set: NULL, ..case("nothing, 1 MiB write", "ideal-ram-disk", "write", 1 << 20, 8, f64::INFINITY) },
    on_ext4(case("disk 4 KiB random read", "hitachi-hds721616plat80", "randread", 4096, 1, 0.05)),
    on_ext4(case("disk 4 KiB random read", "hitachi-hds721616plat80", "randread", 4096, 32, 0.05)),
    on_ext4(case("disk 1 MiB read", "hitachi-hds721616plat80", "read", 1 << 20, 1, 0.05)),
    on_ext4(Case {
        without: &["filesystem"],
        ..case("stick 4 KiB random read", "samsung-fit-plus-exfat", "randread", 4096, 1, 0.1)
    }),
];

const fn case(
    name: &'static str,
    device: &'static str,
    pattern: &'static str,
    bytes: u32,
    depth: u32,
    promised: f64,
) -> Case {
    Case { name, device, set: &[], without: &[], pattern, bytes, depth, way: Way::Nbd, promised }
}

const fn bare(case: Case) -> Case {
    Case { way: Way::Bare, ..case }
}

const fn on_ext4(case: Case) -> Case {
    Case { way: Way::Ext4, ..case }
}

/// Options of the bench.
pub struct Options {
    /// Seconds per case.
    pub seconds: f64,
    /// Run only cases whose name or path contains this.
    pub only: String,
}

/// Reads the flags and runs the bench.
///
/// # Errors
/// Returns an error if a flag is invalid, or a measurement fails.
pub fn main(out: &mut dyn Write) -> Result<()> {
    let flags = Flags::from_environment(&["seconds", "only"], &[], HELP)?;
    let mut options = Options { seconds: 4.0, only: String::new() };
    flags.set("seconds", &mut options.seconds)?;
    flags.set("only", &mut options.only)?;
    run(&options, out)
}

/// Measures and prints everything.
///
/// # Errors
/// Returns an error if a device cannot be served, or fio fails.
pub fn run(options: &Options, out: &mut dyn Write) -> Result<()> {
    let heads: [&str; COLUMNS] = [
        "fio",
        "over",
        "depth",
        "IOPS",
        "virtual",
        "ratio",
        "in time",
        "late p50",
        "p99",
        "p99.9 us",
        "bare p99.9 us",
    ];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    let missing = serve_device::missing();
    let can = |case: &&Case| case.way != Way::Ext4 || missing.is_none();
    let is_asked = |case: &&Case| case.name.contains(&options.only) || case.way.name() == options.only;
    for case in CASES.iter().filter(is_asked).filter(can) {
        rows.push(measure(case, options.seconds)?);
        if case.way == Way::Nbd && !case.promised.is_finite() && has_nbdkit() {
            rows.push(beside(case, options.seconds)?);
        }
    }
    write!(out, "{}", layout(&rows))?;
    if let Some(missing) = missing {
        writeln!(out, "ext4 on an attached device is skipped: it needs {missing}")?;
    }
    if !has_nbdkit() {
        writeln!(out, "nbdkit's memory beside is skipped: it is not installed")?;
    }
    Ok(writeln!(out, "{} s a case; a ratio that is further from 1 than promised is marked", options.seconds)?)
}

/// Returns whether fio is installed and supports NBD.
pub fn has_fio() -> bool {
    let engines = Command::new("fio").arg("--enghelp").output();
    engines.is_ok_and(|engines| String::from_utf8_lossy(&engines.stdout).contains("nbd"))
}

fn measure(case: &Case, seconds: f64) -> Result<Vec<String>> {
    let folder = tempfile::tempdir()?;
    let address = match case.way {
        Way::Nbd | Way::Bare => Address::Socket(folder.path().join("s.sock")),
        Way::Ext4 => Address::Devices { folder: folder.path().join("run"), by: AttachBy::Fuse },
    };
    let request = ServeRequest {
        spec: spec(case)?,
        address,
        control: None,
        data: DataPlace::Memory,
        log: None,
        settings: ServeSettings::default(),
    };
    let words = |error: kurabe_core::Error| error.to_string();
    let mut serving = Serving::start(&request).map_err(words)?;
    let facts = serving.facts().clone();
    let mut asked = None;
    let iops = match facts.devices.first() {
        None if case.way == Way::Bare => {
            fill(case, &facts.uri.clone().unwrap_or_default(), folder.path())?;
            let (iops, places) =
                random_reads(&folder.path().join("s.sock"), SPAN_BYTES, case.depth, seconds)?;
            asked = Some(Asked::reads(places));
            iops
        }
        None => fio_over_nbd(case, &facts.uri.unwrap_or_default(), seconds, folder.path())?,
        Some(device) => serve_device::with_file(device, folder.path(), FILE_BYTES, |file| {
            let file = format!("--filename={}", file.display());
            fio(case, &["--ioengine=libaio", "--direct=1", "--fallocate=none", &file], seconds, folder.path())
        })?,
    };
    let bare = bare_lateness_ns(seconds, Duration::from_secs_f64(1.0 / iops.max(1.0)));
    serving.detach(|_, _| ()).map_err(words)?;
    serving.end();
    let lateness = serving.wait().map_err(words)?.lateness;
    let (virtual_iops, ratio) = if case.promised.is_finite() {
        let asked = asked.map_or_else(|| Asked::read(&folder.path().join(LIST)), Ok)?;
        let virtual_iops = in_virtual_time(&request.spec, &asked, case.depth)?;
        let ratio = iops / virtual_iops;
        let missed = if (ratio - 1.0).abs() > case.promised { " MISSED" } else { "" };
        (figure(virtual_iops, 0), format!("{}{missed}", figure(ratio, 3)))
    } else {
        ("-".to_owned(), "-".to_owned())
    };
    let us = |ns: u64| figure(ns as f64 / 1e3, 1);
    Ok(vec![
        case.name.to_owned(),
        case.way.name().to_owned(),
        case.depth.to_string(),
        figure(iops, 0),
        virtual_iops,
        ratio,
        format!("{} %", figure(lateness.in_time_share.unwrap_or(0.0) * 100.0, 1)),
        us(lateness.p50_ns),
        us(lateness.p99_ns),
        us(lateness.p999_ns),
        figure(percentile(&bare, 0.999) / 1e3, 1),
    ])
}

fn spec(case: &Case) -> Result<DeviceSpec> {
    let words = |error: kurabe_core::Error| error.to_string();
    let mut spec = load_device(case.device).map_err(words)?;
    for (path, value) in case.set {
        spec.set(path, value).map_err(words)?;
    }
    for layer in case.without {
        spec.remove_layer(layer).map_err(words)?;
    }
    Ok(spec)
}

/// Measures another server of memory for comparison.
fn beside(case: &Case, seconds: f64) -> Result<Vec<String>> {
    let folder = tempfile::tempdir()?;
    let iops = with_nbdkit(folder.path(), SPAN_BYTES, |uri| fio_over_nbd(case, uri, seconds, folder.path()))?;
    let mut row = vec![case.name, "nbdkit"].into_iter().map(str::to_owned).collect::<Vec<_>>();
    row.extend([case.depth.to_string(), figure(iops, 0)]);
    row.resize(COLUMNS, "-".to_owned());
    Ok(row)
}

/// Runs fio over NBD. Where only the server takes time, the memory is filled first: holes are not
/// read, and new memory has to be cleared.
fn fio_over_nbd(case: &Case, uri: &str, seconds: f64, folder: &Path) -> Result<f64> {
    fill(case, uri, folder)?;
    fio(case, &["--ioengine=nbd", &format!("--uri={uri}")], seconds, folder)
}

fn fill(case: &Case, uri: &str, folder: &Path) -> Result<()> {
    if !case.promised.is_finite() {
        let mut command = Command::new("fio");
        command.args(["--name=filled", "--rw=write", "--bs=1m", "--iodepth=8", "--ioengine=nbd"]);
        command.args([format!("--uri={uri}"), format!("--size={SPAN_BYTES}")]);
        child::run(command.current_dir(folder))?;
    }
    Ok(())
}

/// Runs fio and returns its IOPS.
fn fio(case: &Case, way: &[&str], seconds: f64, folder: &Path) -> Result<f64> {
    let mut command = Command::new("fio");
    command.args(["--name=served", "--output-format=json", "--time_based"]).args(way);
    command.args([format!("--rw={}", case.pattern), format!("--bs={}", case.bytes)]);
    command.args([format!("--iodepth={}", case.depth), format!("--runtime={}ms", (seconds * 1e3) as u64)]);
    command.arg(format!("--size={}", case.way.span_bytes())).current_dir(folder);
    if case.promised.is_finite() {
        command.arg(format!("--write_iolog={LIST}"));
    }
    let ended = child::run(&mut command)?;
    let words = &ended.stdout;
    // A message about the connection precedes its JSON.
    let json = words.find('{').map(|at| &words[at..]).ok_or("fio printed no JSON")?;
    let json: serde_json::Value = serde_json::from_str(json)?;
    let side = if case.pattern == "write" { "write" } else { "read" };
    json["jobs"][0][side]["iops"].as_f64().ok_or_else(|| "fio told no IOPS".into())
}
