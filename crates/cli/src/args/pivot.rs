//! Arguments of `kurabe compare --by` and `kurabe list`.

use super::help_table::help;
use super::shared::worded;
use crate::lang::{below, t};
use clap::Args;
use kurabe_store::parse_since;

const BY_EN: &str = "Table of all runs (--by)";
const BY_JA: &str = "すべての測定を表にする(--by)";

#[derive(Debug, Args)]
pub struct PivotArgs {
    #[arg(
        long, value_name = "KEY", value_delimiter = ',',
        help_heading = t(BY_EN, BY_JA),
        help = help("pivot.by")
    )]
    pub by: Vec<String>,
    #[arg(
        long, value_name = "VALUE", requires = "by",
        help_heading = t(BY_EN, BY_JA),
        help = help("pivot.baseline")
    )]
    pub baseline: Option<String>,
    #[arg(
        long, short, value_name = "NAME", requires = "by",
        help_heading = t(BY_EN, BY_JA),
        help = help("of-profile")
    )]
    pub profile: Option<String>,
    #[arg(
        long, value_name = "WORD", requires = "by",
        help_heading = t(BY_EN, BY_JA),
        help = help("pivot.cell")
    )]
    pub cell: Option<String>,
    #[arg(
        long = "where", value_name = "KEY=VALUE", requires = "by",
        help_heading = t(BY_EN, BY_JA),
        help = help("pivot.filters")
    )]
    pub filters: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = below!("list"))]
pub struct ListArgs {
    #[arg(long, short, value_name = "NAME", help = help("of-profile"))]
    pub profile: Option<String>,
    #[arg(long, value_name = "WORD", help = help("list.device"))]
    pub device: Option<String>,
    #[arg(long, value_name = "KEY=VALUE", help = help("list.label"))]
    pub label: Vec<String>,
    #[arg(
        long, value_name = "DATE", value_parser = |words: &str| parse_since(words).map_err(worded),
        help = help("list.since")
    )]
    pub since: Option<String>,
    #[arg(
        long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..),
        help = help("list.last")
    )]
    pub last: Option<u32>,
    #[arg(
        long, conflicts_with_all = ["profile", "device", "label", "since", "last"],
        help = help("list.served")
    )]
    pub served: bool,
}
