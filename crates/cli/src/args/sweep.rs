//! Arguments of `kurabe sweep`.

use super::help_table::help;
use super::options::SweepOptions;
use super::paths::TargetPath;
use super::shared::{PlannedArgs, bytes, duration};
use crate::lang::below;
use clap::{Args, ValueHint, builder::PossibleValuesParser};
use kurabe_core::{ErrorKind, Result, workload::Direction};
use kurabe_lab::{Overrides, Procedure, RunRequest, SweepAxis, SweepPlan};

#[derive(Debug, Args)]
#[command(after_help = below!("sweep"))]
pub struct SweepArgs {
    #[arg(
        value_name = "TARGET", default_value = ".", value_hint = ValueHint::AnyPath,
        help = help("target")
    )]
    pub target: TargetPath,
    #[arg(
        long, value_name = "AXIS", default_value = "all", value_delimiter = ',',
        value_parser = PossibleValuesParser::new(["all", "size", "block-size", "queue-depth", "write"]),
        help = help("sweep.over")
    )]
    pub over: Vec<String>,
    #[arg(long, value_name = "SIZE", value_parser = bytes, help = help("sweep.max"))]
    pub max: Option<u64>,
    #[arg(
        long, value_name = "WHICH", default_value = "both",
        value_parser = PossibleValuesParser::new(["read", "write", "both"]),
        help = help("sweep.direction")
    )]
    pub direction: String,
    #[arg(
        long, value_name = "TIME", default_value = "500ms", value_parser = duration,
        help = help("sweep.time")
    )]
    pub time: u64,
    #[arg(
        long, value_name = "N", default_value_t = 3,
        value_parser = clap::value_parser!(u32).range(1..=100),
        help = help("sweep.runs")
    )]
    pub runs: u32,
    #[command(flatten)]
    pub options: SweepOptions,
    #[command(flatten)]
    pub planned: PlannedArgs,
}

impl SweepArgs {
    /// Returns the request of these arguments.
    ///
    /// # Errors
    /// When a label or a change of a model is malformed.
    pub fn request(&self) -> Result<RunRequest> {
        let moves = |axis: SweepAxis| {
            let word = match axis {
                SweepAxis::WorkingSet => "size",
                SweepAxis::BlockSize => "block-size",
                SweepAxis::QueueDepth => "queue-depth",
                SweepAxis::BytesWritten => "write",
            };
            self.over.iter().any(|over| over == "all" || over == word)
        };
        let overrides = self.options.overrides().map_err(|what| ErrorKind::Usage.error(what))?;
        let plan = SweepPlan {
            // In the order of the axes, without duplicates.
            axes: SweepAxis::ALL.into_iter().filter(|axis| moves(*axis)).collect(),
            directions: match self.direction.as_str() {
                "read" => vec![Direction::Read],
                "write" => vec![Direction::Write],
                _ => vec![Direction::Read, Direction::Write],
            },
            max_bytes: self.max,
            long_write: None,
            time_ns: self.time,
            runs: self.runs,
            direct: overrides.is_direct().unwrap_or(true),
            seed: overrides.seed.unwrap_or(1),
        };
        Ok(RunRequest {
            target: self.target.name(),
            procedure: Procedure::Sweep(plan),
            overrides: Overrides { buffered: overrides.buffered, ..Overrides::default() },
            ..self.planned.request()?
        })
    }
}
