//! Arguments of `kurabe serve` and `kurabe control`.

use super::help_table::help;
use super::paths::{SocketPath, TargetPath};
use super::shared::{ForceArgs, duration_or_zero, worded};
use crate::lang::{below, t};
use clap::{Args, Subcommand, ValueHint, builder::PossibleValuesParser};
use kurabe_core::output_path::OutputPath;
use kurabe_core::{ErrorKind, Result, text};
use kurabe_lab::{ServedRequest, SyncOfFile, assignments, parse_writes};
use kurabe_serve::{DeviceFault, PowerRules, ServeSettings, attachments_folder};

const TIME_EN: &str = "Time";
const TIME_JA: &str = "時間";
const POWER_EN: &str = "Power cuts";
const POWER_JA: &str = "電源断";

#[derive(Debug, Args)]
#[command(after_help = below!("serve"))]
pub struct ServeArgs {
    #[arg(
        long, value_name = "PATH", value_hint = ValueHint::FilePath, required_unless_present = "port",
        conflicts_with = "port",
        help = help("serve.socket")
    )]
    pub socket: Option<SocketPath>,
    #[arg(long, value_name = "N", help = help("serve.port"))]
    pub port: Option<u16>,
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath, help = help("serve.control"))]
    pub control: Option<SocketPath>,
    #[command(flatten)]
    pub served: ServedArgs,
}

/// The served model and its faults.
#[derive(Debug, Args)]
pub struct ServedModelArgs {
    #[arg(value_name = "model:NAME", help = help("served-model.model"))]
    pub target: TargetPath,
    #[arg(long, value_name = "LAYER.PARAMETER=VALUE", help = help("served-model.set"))]
    pub set: Vec<String>,
    #[arg(
        long, value_name = "WHAT[@WHERE][@WHEN]",
        value_parser = fault,
        help = help("served-model.fault")
    )]
    pub fault: Vec<FaultArg>,
}

/// A fault of the device, or of the calls of a command on it.
#[derive(Clone, Debug)]
pub enum FaultArg {
    Device(DeviceFault),
    Call(SyncOfFile),
}

fn fault(words: &str) -> Result<FaultArg, String> {
    match SyncOfFile::parse_fault(words) {
        Some(call) => Ok(FaultArg::Call(call)),
        None => DeviceFault::parse(words).map(FaultArg::Device).map_err(worded),
    }
}

impl ServedModelArgs {
    /// Returns the changes to the model's parameters.
    ///
    /// # Errors
    /// When a change is malformed.
    pub fn sets(&self) -> Result<Vec<(String, String)>> {
        assignments("--set", &self.set, "flash.program_rate=10MB/s")
    }

    /// Returns the faults of the device, and those of calls.
    pub fn faults(&self) -> (Vec<DeviceFault>, Vec<SyncOfFile>) {
        let (mut of_device, mut of_calls) = (Vec::new(), Vec::new());
        for fault in self.fault.clone() {
            match fault {
                FaultArg::Device(fault) => of_device.push(fault),
                FaultArg::Call(call) => of_calls.push(call),
            }
        }
        (of_device, of_calls)
    }
}

/// Arguments of a served model, independent of the way programs access it.
#[derive(Debug, Args)]
pub struct ServedArgs {
    #[command(flatten)]
    pub model: ServedModelArgs,
    #[arg(long, value_name = "LAYER,…", value_delimiter = ',', help = help("served.without"))]
    pub without: Vec<String>,
    #[arg(long, value_name = "N", default_value_t = 1, help = help("served.exports"))]
    pub exports: usize,
    #[arg(long, value_name = "PLACE", default_value = "memory", help = help("served.data"))]
    pub data: String,
    #[arg(long, help = help("served.write-existing"))]
    pub write_existing: bool,
    #[arg(long, value_name = "N", default_value_t = 1, help = help("served.seed"))]
    pub seed: u64,
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help = help("served.record"))]
    pub record: Option<OutputPath>,
    #[command(flatten)]
    pub force: ForceArgs,

    #[arg(
        long, value_name = "TIME", value_parser = duration_or_zero, default_value = "50us",
        help_heading = t(TIME_EN, TIME_JA),
        help = help("served.spin")
    )]
    pub spin: u64,
    #[arg(
        long, value_name = "TIME", value_parser = duration_or_zero,
        help_heading = t(TIME_EN, TIME_JA),
        help = help("served.round-trip")
    )]
    pub round_trip: Option<u64>,

    #[arg(long, help_heading = t(POWER_EN, POWER_JA), help = help("served.power-cuts"))]
    pub power_cuts: bool,
    #[arg(
        long, value_name = "N-writes", value_parser = |words: &str| parse_writes(words).map_err(worded),
        help_heading = t(POWER_EN, POWER_JA),
        help = help("served.cut-after")
    )]
    pub cut_after: Option<u64>,
    #[arg(long, help_heading = t(POWER_EN, POWER_JA), help = help("on.torn"))]
    pub torn: bool,
}

impl ServedArgs {
    /// Returns the request of these arguments.
    ///
    /// # Errors
    /// When a change of the model is malformed.
    pub fn request(&self) -> Result<ServedRequest> {
        let (faults, calls) = self.model.faults();
        if let Some(call) = calls.first() {
            let words = call.fault_words();
            let message = text!(
                "{words} concerns the calls of a command, which a served disk does not see",
                "{words} はコマンドの呼び出しの故障で、ディスクからは見えません"
            );
            return Err(ErrorKind::Usage
                .error(message)
                .remedy(text!("use it with `kurabe on`", "`kurabe on` で使ってください")));
        }
        let cuts_power = self.power_cuts || self.cut_after.is_some() || self.torn;
        Ok(ServedRequest {
            target: self.model.target.name(),
            sets: self.model.sets()?,
            without: self.without.clone(),
            data: self.data.clone(),
            settings: ServeSettings {
                seed: self.seed,
                exports: self.exports,
                write_existing: self.write_existing,
                spin_ns: self.spin,
                round_trip_ns: self.round_trip,
                power: cuts_power.then_some(PowerRules {
                    after_writes: self.cut_after,
                    seed: self.seed,
                    torn: self.torn,
                }),
                faults,
            },
            noted_in: attachments_folder().ok(),
        })
    }
}

#[derive(Debug, Args)]
#[command(after_help = below!("control"))]
pub struct ControlArgs {
    #[arg(value_name = "SOCKET", value_hint = ValueHint::FilePath, help = help("control.socket"))]
    pub socket: SocketPath,
    #[command(subcommand)]
    pub action: ControlAction,
}

#[derive(Debug, Subcommand)]
pub enum ControlAction {
    #[command(about = help("control.stats"))]
    Stats {
        #[arg(long, help = help("control.watch"))]
        watch: bool,
    },
    #[command(about = help("control.set"))]
    Set {
        #[arg(value_name = "LAYER.PARAMETER=VALUE", help = help("control.assignment"))]
        assignment: String,
    },
    #[command(about = help("control.member"))]
    Member {
        #[arg(value_name = "N", help = help("control.member-2"))]
        member: usize,
        #[arg(
            value_name = "STATE", value_parser = PossibleValuesParser::new(["offline"]),
            help = help("control.state")
        )]
        state: String,
        #[arg(long, value_name = "NAME", help = help("control.layer"))]
        layer: Option<String>,
    },
    #[command(about = help("control.wear"))]
    Wear {
        #[arg(long, value_name = "NAME", help = help("control.layer-2"))]
        layer: Option<String>,
    },
    #[command(about = help("control.cut"))]
    Cut {
        #[arg(
            long, value_name = "N-writes",
            value_parser = |words: &str| parse_writes(words).map_err(worded),
            help = help("control.after")
        )]
        after: Option<u64>,
    },
    #[command(about = help("control.fault"))]
    Fault {
        #[arg(value_name = "WHAT[@WHERE][@WHEN]|none", help = help("control.fault-2"))]
        fault: String,
    },
    #[command(about = help("control.power-on"))]
    PowerOn,
}
