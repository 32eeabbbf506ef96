//! Arguments of `kurabe card`.

use super::help_table::help;
use super::shared::ForceArgs;
use crate::lang::below;
use clap::{Args, ValueHint, builder::PossibleValuesParser};
use kurabe_core::output_path::OutputPath;

#[derive(Debug, Args)]
#[command(after_help = below!("card"))]
pub struct CardArgs {
    #[arg(default_value = "last", value_name = "RUN", help = help("one-run"))]
    pub run: String,
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, help = help("card.output"))]
    pub output: Option<OutputPath>,
    #[arg(
        long, value_name = "THEME", default_value = "light",
        value_parser = PossibleValuesParser::new(["light", "dark"]),
        help = help("card.theme")
    )]
    pub theme: String,
    #[command(flatten)]
    pub force: ForceArgs,
}
