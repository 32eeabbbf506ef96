//! `kurabe report`

use super::help_table::help;
use super::shared::{ForceArgs, JudgedArgs, choice};
use crate::lang::below;
use clap::{Args, ValueHint, builder::PossibleValuesParser};
use kurabe_core::output_path::OutputPath;
use kurabe_core::words::Keyword;
use kurabe_report::ReportFormat;

#[derive(Debug, Args)]
#[command(after_help = below!("report"))]
pub struct ReportArgs {
    #[arg(default_value = "last", value_name = "RUN", help = help("several-runs"))]
    pub runs: Vec<String>,
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, help = help("report.output"))]
    pub output: Option<OutputPath>,
    #[arg(
        long, short, value_name = "FORMAT", value_parser = choice(ReportFormat::WORDS),
        help = help("report.format")
    )]
    pub format: Option<ReportFormat>,
    #[arg(long, value_name = "NAME", help = help("report.chart"))]
    pub chart: Option<String>,
    #[arg(long, value_name = "RUN", help = help("report.baseline"))]
    pub baseline: Option<String>,
    #[arg(long, value_name = "WORDS", help = help("report.title"))]
    pub title: Option<String>,
    #[arg(
        long, value_name = "THEME", default_value = "auto",
        value_parser = PossibleValuesParser::new(["auto", "light", "dark"]),
        help = help("report.theme")
    )]
    pub theme: String,
    #[command(flatten)]
    pub judged: JudgedArgs,
    #[arg(long, help = help("report.without-paths"))]
    pub without_paths: bool,
    #[command(flatten)]
    pub force: ForceArgs,
}
