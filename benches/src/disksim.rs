//! Accuracy of the disk models compared with measurements of the real disks, and speed compared
//! with DiskSim.
//!
//! The model: a folder has the traces with which DiskSim was validated (and, for DiskSim, its
//! parameter files). Each is replayed on the library's model of the drive with the pauses of the
//! trace, and the distribution of the latencies is compared with the measured one (the demerit). A
//! second replay uses data-sheet figures alone: three seek times instead of the measured curve, a
//! single overhead for each kind of command, and a layout without measured skews and bad sectors.
//! Other parameter files with traces in the folder are imported and replayed unchanged. If
//! DiskSim's binary is available, it replays the same traces, interleaved. Its demerit comes from
//! its `rms`, and the ratio of CPU time is that of one run, including the parsing of parameters and
//! trace on both sides.

use crate::Result;
use crate::child;
use crate::options::Flags;
use crate::statistics::median;
use crate::table::{figure, layout};
use kurabe_core::record::LatencyRecord;
use kurabe_core::trace::Trace;
use kurabe_engine::Stop;
use kurabe_interop::{TraceFormat, read_trace};
use kurabe_lab::import_device;
use kurabe_sim::{DeviceSpec, ModelTarget, load_device, read_device};
use kurabe_stats::{Histogram, cell_latency, demerit};
use rustix::time::{ClockId, clock_gettime};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// Environment variable of the folder, used if the flag is missing.
pub const FOLDER: &str = "KURABE_DISKSIM_TRACES";
/// Environment variable of DiskSim's binary, used if the flag is missing.
pub const BINARY: &str = "KURABE_DISKSIM";
const HELP: &str =
    "flags: --traces FOLDER ($KURABE_DISKSIM_TRACES)  --disksim BINARY ($KURABE_DISKSIM)  --rounds N (3)";

const REPLAY: &str = "schema = 1\nname = \"replay\"\ntitle = { en = \"replay\", ja = \"replay\" }\nstatistic = \"mean\"\n\
    [rules]\nsize = \"1 GiB\"\nruns = 1\ntime = \"1 s\"\nwhole_device = true\n[[step]]\nkind = \"replay\"\ntrace = \"x\"\ntiming = \"think\"\n";

/// A drive with which DiskSim was validated.
struct Drive {
    device: &'static str,
    /// File name of its trace and parameters, without the extension.
    files: &'static str,
    /// Data-sheet figures instead of measured ones: seeks to the next cylinder, on average, and
    /// full stroke; overheads of a hit, a read and a write. In ms, rounded as in data sheets: seeks
    /// to 0.1, overheads to 0.01.
    sheet: [&'static str; 6],
    /// Promised demerit in percent with the data-sheet parameters.
    sheet_percent: f64,
}

const DRIVES: [Drive; 5] = [
    Drive {
        device: "seagate-cheetah-9lp",
        files: "cheetah9LP",
        sheet: ["0.8", "5.5", "10.7", "0.07", "0.28", "0.75"],
        sheet_percent: 5.0,
    },
    Drive {
        device: "quantum-atlas-10k",
        files: "atlas10k",
        sheet: ["1.2", "5.6", "11.2", "0.18", "0", "0.19"],
        sheet_percent: 5.0,
    },
    Drive {
        device: "seagate-barracuda-st32171w",
        files: "barracuda",
        sheet: ["1.9", "9.3", "17.2", "0.08", "0.61", "1.01"],
        sheet_percent: 5.5,
    },
    Drive {
        device: "quantum-atlas-iii",
        files: "atlas_III",
        sheet: ["1.7", "8.3", "15.5", "0.37", "0", "0.41"],
        sheet_percent: 6.0,
    },
    Drive {
        device: "hp-c2247a",
        files: "hp_c2247a",
        sheet: ["2.9", "11.5", "19.8", "0.95", "0.56", "0.82"],
        sheet_percent: 10.0,
    },
];

impl Drive {
    /// Returns the parameters that replace measured figures by the data sheet.
    fn sheet_sets(&self) -> Vec<(String, String)> {
        let keys = [
            "seek_single",
            "seek_average",
            "seek_full",
            "read_hit_overhead",
            "read_overhead",
            "write_overhead",
        ];
        let values = keys.into_iter().zip(self.sheet).map(|(key, ms)| (key, format!("{ms} ms")));
        let none =
            ["seek_table", "overheads", "zone_skews", "slips", "spares"].map(|key| (key, "[]".to_owned()));
        // The same curve for all five: it is closer to each measured one than the default, without
        // any parameter to choose.
        let curve = std::iter::once(("seek_curve", "coasting".to_owned()));
        none.into_iter()
            .chain(values)
            .chain(curve)
            .map(|(key, value)| (format!("disk.{key}"), value))
            .collect()
    }
}

/// Options of the bench.
pub struct Options {
    /// Folder of traces and parameters.
    pub traces: PathBuf,
    /// DiskSim's binary.
    pub disksim: Option<PathBuf>,
    /// Number of rounds for the speed; the median counts.
    pub rounds: u32,
}

/// Measures and prints everything.
///
/// # Errors
/// Returns an error if a trace cannot be read, a model fails, or DiskSim fails.
pub fn run(options: &Options, out: &mut dyn Write) -> Result<()> {
    let head = [
        "demerit %",
        "measured ms",
        "model ms",
        "model",
        "sheet",
        "promised",
        "DiskSim",
        "requests/CPU s",
        "× DiskSim",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for drive in &DRIVES {
        let path = options.traces.join(format!("{}.trace", drive.files));
        if !path.exists() {
            writeln!(out, "skipped {}: no {}", drive.device, path.display())?;
            continue;
        }
        rows.push(row(drive.device, drive.files, Some(drive), &path, options)?);
    }
    for path in others(&options.traces)? {
        let files = path.file_stem().unwrap_or_default().to_string_lossy();
        rows.push(row(&files, &files, None, &path, options)?);
    }
    Ok(write!(out, "{}", layout(&rows))?)
}

/// Returns the traces of the folder that have a parameter file and do not belong to a drive above.
fn others(folder: &Path) -> Result<Vec<PathBuf>> {
    let paths: std::io::Result<Vec<PathBuf>> =
        std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect();
    let mut paths = paths?;
    paths.retain(|path| {
        let is_above = DRIVES.iter().any(|drive| path.file_stem().is_some_and(|stem| stem == drive.files));
        // The trace for DiskSim's `ascii.parv` has another format.
        let is_measured =
            path.extension().is_some_and(|ending| ending == "trace") && !path.ends_with("ascii.trace");
        is_measured && !is_above && path.with_extension("parv").exists()
    });
    paths.sort();
    Ok(paths)
}

fn row(
    device: &str,
    files: &str,
    drive: Option<&Drive>,
    path: &Path,
    options: &Options,
) -> Result<Vec<String>> {
    let spec = match drive {
        Some(drive) => load_device(drive.device).map_err(|error| words(&error))?,
        None => imported(&path.with_extension("parv"))?,
    };
    let (mut own_ns, mut ratios) = (Vec::new(), Vec::new());
    let (mut last, mut theirs) = (None, None);
    for _ in 0..options.rounds.max(1) {
        let before_ns = cpu_ns();
        let trace = Arc::new(trace_of(path)?);
        let modelled = replayed(&spec, &[], &trace)?;
        let took_ns = (cpu_ns() - before_ns).max(1) as f64;
        own_ns.push(took_ns);
        if let Some(binary) = &options.disksim {
            let (rms_ms, cpu_ns) = disksim(binary, files, &options.traces)?;
            ratios.push(cpu_ns / took_ns);
            theirs = Some(rms_ms);
        }
        last = Some((trace, modelled));
    }
    let Some((trace, modelled)) = last else { return Err("no round".into()) };
    let mut histogram = Histogram::default();
    trace.operations.iter().for_each(|operation| histogram.record(u64::from(operation.took_ns)));
    let measured = histogram.to_record();
    let percent = |latency: &LatencyRecord| {
        demerit(&measured, latency).map_or(f64::NAN, |demerit| demerit.share() * 100.0)
    };
    let mean_ms = |latency: &LatencyRecord| latency.mean_ns().unwrap_or(f64::NAN) / 1e6;
    let sheet = match drive {
        Some(drive) => percent(&replayed(&spec, &drive.sheet_sets(), &trace)?),
        None => f64::NAN,
    };
    let promised = drive.map_or(f64::NAN, |drive| drive.sheet_percent);
    let missed = if sheet > promised { " MISSED" } else { "" };
    Ok(vec![
        device.to_owned(),
        figure(mean_ms(&measured), 2),
        figure(mean_ms(&modelled), 2),
        figure(percent(&modelled), 1),
        figure(sheet, 1),
        format!("{}{missed}", figure(promised, 1)),
        figure(theirs.map_or(f64::NAN, |rms_ms| rms_ms / mean_ms(&measured) * 100.0), 1),
        figure(trace.operations.len() as f64 * 1e9 / median(&own_ns), 0),
        figure(if ratios.is_empty() { f64::NAN } else { median(&ratios) }, 1),
    ])
}

fn trace_of(path: &Path) -> Result<Trace> {
    let file = std::io::BufReader::new(std::fs::File::open(path)?);
    let format = TraceFormat::from_word("disksim-validate").map_err(|error| error.what().en.clone())?;
    Ok(read_trace(&path.display().to_string(), file, Some(format))
        .map_err(|error| error.what().en.clone())?)
}

fn words(error: &kurabe_core::Error) -> String {
    error.what().en.clone()
}

/// Returns the device that a parameter file describes.
fn imported(path: &Path) -> Result<DeviceSpec> {
    let source = std::fs::read(path)?;
    let device = import_device(path, &source).ok_or("no parameter file")?.map_err(|error| words(&error))?;
    Ok(read_device(&device.name, &device.toml).map_err(|error| words(&error))?)
}

/// Returns the latencies of the trace on the model.
fn replayed(spec: &DeviceSpec, sets: &[(String, String)], trace: &Arc<Trace>) -> Result<LatencyRecord> {
    let mut spec = spec.clone();
    for (parameter, value) in sets {
        spec.set(parameter, value).map_err(|error| words(&error))?;
    }
    let mut model = ModelTarget::new(&spec, 1).map_err(|error| words(&error))?;
    let profile = kurabe_profile::parse_profile("replay.toml", REPLAY).map_err(|error| words(&error))?;
    let traces = [Some(Arc::clone(trace))];
    let (cells, _) = kurabe_virtual::measure(&mut model, &profile, &traces, &Stop::default())
        .map_err(|error| words(&error))?;
    Ok(cells.first().map(cell_latency).ok_or("the replay gave no cell")?)
}

/// Runs DiskSim on the same trace. Returns the distance from the measurement in ms, and its CPU
/// time.
fn disksim(binary: &Path, files: &str, folder: &Path) -> Result<(f64, f64)> {
    let place = tempfile::tempdir()?;
    let out = place.path().join("out");
    let file = |ending: &str| format!("{files}.{ending}");
    let binary = binary.canonicalize()?;
    let mut command = Command::new(&binary);
    command.current_dir(folder).arg(file("parv")).arg(&out).args(["validate", &file("trace"), "0"]);
    let ended = child::run(&mut command)?;
    let rms = binary.with_file_name("rms");
    let rms_ended = child::run(Command::new(rms).arg(&out).arg(&out).args(["-1", "-1", "1"]))?;
    let distance = rms_ended.stdout.split_once('=').and_then(|(_, words)| words.split_whitespace().next());
    let distance = distance.and_then(|word| word.parse().ok());
    Ok((distance.ok_or_else(|| format!("rms said {:?}", rms_ended.stdout))?, ended.user_ns as f64))
}

/// Returns the CPU time of this process, user and system.
fn cpu_ns() -> u64 {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    used.tv_sec as u64 * 1_000_000_000 + used.tv_nsec as u64
}

/// Reads the flags and runs the bench.
///
/// # Errors
/// Returns the errors of [`run`], and an error for invalid flags.
pub fn main(out: &mut dyn Write) -> Result<()> {
    let flags = Flags::from_environment(&["traces", "disksim", "rounds"], &[], HELP)?;
    let from_environment = |name: &str| std::env::var_os(name).map(PathBuf::from).unwrap_or_default();
    let mut options = Options { traces: from_environment(FOLDER), disksim: None, rounds: 3 };
    let mut disksim = from_environment(BINARY);
    flags.set("traces", &mut options.traces)?;
    flags.set("disksim", &mut disksim)?;
    flags.set("rounds", &mut options.rounds)?;
    if options.traces.as_os_str().is_empty() {
        return Ok(writeln!(
            out,
            "not compared: the traces that DiskSim was validated with are not in kurabe; name their \
             folder with --traces or ${FOLDER}"
        )?);
    }
    if !disksim.as_os_str().is_empty() {
        options.disksim = Some(disksim);
    } else {
        writeln!(out, "DiskSim itself is left out: name its binary with --disksim or ${BINARY}")?;
    }
    run(&options, out)
}
