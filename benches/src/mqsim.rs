//! The model `mqsim-512g` compared with MQSim, under the same loads.
//!
//! The model: MQSim is a separate program (github.com/CMU-SAFARI/MQSim, `make`). It runs with its
//! own `ssdconfig.xml`, except for `Ideal_Mapping_Table`, because its cache of the mapping table
//! has individual entries and that of the model whole pages. Requests per second are the depth
//! divided by the mean response time, which MQSim prints in whole microseconds; its own IOPS figure
//! divides by whole seconds. Without MQSim, nothing is compared and a message says so.

use crate::Result;
use crate::model_speed::{Case, requests_per_s};
use crate::options::Flags;
use crate::table::{figure, layout};
use kurabe_sim::RequestKind;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

const HELP: &str =
    "flags: --mqsim DIRECTORY (where MQSim was built: MQSim and ssdconfig.xml)  --requests N (20000)";

/// A load, and the tolerance of the model.
struct Beside {
    case: Case,
    within_percent: f64,
}

const fn beside(
    name: &'static str,
    kind: RequestKind,
    bytes: u32,
    random: bool,
    depth: u64,
    within_percent: f64,
) -> Beside {
    // The cost of the model is measured in another bench.
    let case = Case { name, device: "mqsim-512g", set: &[], kind, bytes, random, depth, target_per_s: 0.0 };
    Beside { case, within_percent }
}

const LOADS: &[Beside] = &[
    beside("8 KiB random reads, depth 1", RequestKind::Read, 8192, true, 1, 2.0),
    beside("4 KiB random reads, depth 1", RequestKind::Read, 4096, true, 1, 2.0),
    beside("8 KiB random reads, depth 32", RequestKind::Read, 8192, true, 32, 15.0),
    beside("4 KiB random reads, depth 32", RequestKind::Read, 4096, true, 32, 15.0),
    beside("128 KiB reads in order, depth 1", RequestKind::Read, 131_072, false, 1, 15.0),
    beside("128 KiB reads in order, depth 8", RequestKind::Read, 131_072, false, 8, 15.0),
    beside("8 KiB random writes, depth 1", RequestKind::Write, 8192, true, 1, 5.0),
    beside("8 KiB random writes, depth 32", RequestKind::Write, 8192, true, 32, 5.0),
    beside("128 KiB writes in order, depth 8", RequestKind::Write, 131_072, false, 8, 5.0),
];

/// Reads the flags and runs the bench.
///
/// # Errors
/// Returns an error if a flag is unknown, or MQSim does not run.
pub fn main(out: &mut dyn Write) -> Result<()> {
    let flags = Flags::from_environment(&["mqsim", "requests"], &[], HELP)?;
    let (mut directory, mut requests) = (String::new(), 20_000u64);
    flags.set("mqsim", &mut directory)?;
    flags.set("requests", &mut requests)?;
    run(Path::new(&directory), requests, out)
}

/// Runs both and prints the results.
///
/// # Errors
/// Returns an error if MQSim exists and does not run.
pub fn run(directory: &Path, requests: u64, out: &mut dyn Write) -> Result<()> {
    if !directory.join("MQSim").is_file() {
        let place = directory.display();
        let why = "build github.com/CMU-SAFARI/MQSim with make, and name its directory with --mqsim";
        return Ok(writeln!(out, "not compared: there is no MQSim in `{place}`: {why}")?);
    }
    let head = ["requests per second", "MQSim", "model", "difference", "bar"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for Beside { case, within_percent } in LOADS {
        let theirs = ask_mqsim(directory, case, requests)?;
        let ours = requests_per_s(case, requests)?;
        let percent = (ours / theirs - 1.0) * 100.0;
        let missed = if percent.abs() > *within_percent { " MISSED" } else { "" };
        rows.push(vec![
            case.name.to_owned(),
            figure(theirs, 0),
            figure(ours, 0),
            format!("{percent:+.1} %"),
            format!("{within_percent} %{missed}"),
        ]);
    }
    Ok(write!(out, "{}", layout(&rows))?)
}

/// Returns the requests per second of MQSim.
fn ask_mqsim(directory: &Path, load: &Case, requests: u64) -> Result<f64> {
    let folder = tempfile::tempdir()?;
    let (config, workload) = (folder.path().join("ssd.xml"), folder.path().join("load.xml"));
    let own = std::fs::read_to_string(directory.join("ssdconfig.xml"))?;
    let ideal = own.replace("<Ideal_Mapping_Table>false", "<Ideal_Mapping_Table>true");
    std::fs::write(&config, ideal)?;
    std::fs::write(&workload, scenario(load, requests))?;
    let status = Command::new(directory.join("MQSim"))
        .arg("-i")
        .arg(&config)
        .arg("-w")
        .arg(&workload)
        // It waits for a key before it exits.
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()?;
    let answer = std::fs::read_to_string(folder.path().join("load_scenario_1.xml"))
        .map_err(|error| format!("MQSim left no result ({status}): {error}"))?;
    let mean_us: f64 = between(&answer, "<Device_Response_Time>", "</")
        .ok_or("MQSim's result has no mean response time")?
        .parse()?;
    Ok(load.depth as f64 / mean_us * 1e6)
}

fn between<'t>(text: &'t str, from: &str, to: &str) -> Option<&'t str> {
    let rest = &text[text.find(from)? + from.len()..];
    Some(&rest[..rest.find(to)?])
}

fn scenario(load: &Case, requests: u64) -> String {
    let reads = if load.kind == RequestKind::Read { 100 } else { 0 };
    let order = if load.random { "RANDOM_UNIFORM" } else { "STREAMING" };
    let (sectors, depth) = (load.bytes / 512, load.depth);
    let words = [
        ("Priority_Class", "HIGH".to_owned()),
        ("Device_Level_Data_Caching_Mode", "WRITE_CACHE".to_owned()),
        ("Channel_IDs", "0,1,2,3,4,5,6,7".to_owned()),
        ("Chip_IDs", "0,1,2,3".to_owned()),
        ("Die_IDs", "0,1".to_owned()),
        ("Plane_IDs", "0,1".to_owned()),
        ("Initial_Occupancy_Percentage", "75".to_owned()),
        ("Working_Set_Percentage", "50".to_owned()),
        ("Synthetic_Generator_Type", "QUEUE_DEPTH".to_owned()),
        ("Read_Percentage", reads.to_string()),
        ("Address_Distribution", order.to_owned()),
        ("Percentage_of_Hot_Region", "0".to_owned()),
        ("Generated_Aligned_Addresses", "true".to_owned()),
        ("Address_Alignment_Unit", sectors.to_string()),
        ("Request_Size_Distribution", "FIXED".to_owned()),
        ("Average_Request_Size", sectors.to_string()),
        ("Variance_Request_Size", "0".to_owned()),
        ("Seed", "798".to_owned()),
        ("Average_No_of_Reqs_in_Queue", depth.to_string()),
        ("Intensity", "32768".to_owned()),
        ("Stop_Time", "0".to_owned()),
        ("Total_Requests_To_Generate", requests.to_string()),
    ];
    let flow: String = words.iter().map(|(key, value)| format!("<{key}>{value}</{key}>\n")).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"us-ascii\"?>\n<MQSim_IO_Scenarios><IO_Scenario>\n\
         <IO_Flow_Parameter_Set_Synthetic>\n{flow}</IO_Flow_Parameter_Set_Synthetic>\n\
         </IO_Scenario></MQSim_IO_Scenarios>\n"
    )
}
