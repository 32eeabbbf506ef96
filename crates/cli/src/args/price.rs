//! Arguments of `kurabe price`, `kurabe on` and `kurabe mark`.

use super::help_table::help;
use super::paths::InputPath;
use super::serve::ServedModelArgs;
use super::shared::{ForceArgs, choice, unaccepted, worded};
use crate::lang::below;
use clap::{Args, ValueHint};
use kurabe_core::output_path::OutputPath;
use kurabe_core::{quantity::parse_bytes, words::Keyword};
use kurabe_lab::{CutPlace, FileSystemKind, SyncOfFile, parse_percent, parse_writes};
use kurabe_report::Unaccepted;

/// The folder on a device of kurabe's in which a command runs.
#[derive(Debug, Args)]
pub struct FolderArgs {
    #[arg(
        long, value_name = "KIND", value_parser = choice(FileSystemKind::WORDS), default_value = "ext4",
        help = help("folder.fs")
    )]
    pub fs: FileSystemKind,
    #[arg(
        long, value_name = "SIZE", value_parser = |words: &str| parse_bytes(words).map_err(worded),
        default_value = "1GiB",
        help = help("folder.size")
    )]
    pub size: u64,
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath, help = help("folder.with"))]
    pub with: Vec<InputPath>,
    #[arg(last = true, required = true, value_name = "COMMAND", help = help("folder.command"))]
    pub command: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = below!("price"))]
pub struct PriceArgs {
    #[arg(long, value_name = "NAME|FILE", default_value = "everyday", help = help("price.panel"))]
    pub panel: String,
    #[arg(
        long, value_name = "N", default_value_t = 3,
        value_parser = clap::value_parser!(u16).range(1..=100),
        help = help("price.runs")
    )]
    pub runs: u16,
    #[arg(long, help = help("price.pauses"))]
    pub pauses: bool,
    #[arg(long, help = help("price.syscalls"))]
    pub syscalls: bool,
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help = help("price.save"))]
    pub save: Option<OutputPath>,
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help = help("price.against"))]
    pub against: Option<InputPath>,
    #[arg(
        long, value_name = "PERCENT", default_value = "1%", requires = "against",
        value_parser = |words: &str| parse_percent(words).map_err(worded),
        help = help("price.margin")
    )]
    pub margin: f64,
    #[arg(
        long, value_name = "slower|different", value_delimiter = ',', requires = "against",
        value_parser = unaccepted,
        help = help("price.fail-on")
    )]
    pub fail_on: Vec<Unaccepted>,
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help = help("price.budget"))]
    pub budget: Option<InputPath>,
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help = help("price.markdown"))]
    pub markdown: Option<OutputPath>,
    #[arg(
        long, value_name = "FILE", requires = "budget", value_hint = ValueHint::FilePath,
        help = help("price.junit")
    )]
    pub junit: Option<OutputPath>,
    #[command(flatten)]
    pub force: ForceArgs,
    #[command(flatten)]
    pub folder: FolderArgs,
}

#[derive(Debug, Args)]
#[command(after_help = below!("on"))]
pub struct OnArgs {
    #[command(flatten)]
    pub model: ServedModelArgs,
    #[arg(long, value_name = "LAYER,…", value_delimiter = ',', help = help("on.without"))]
    pub without: Vec<String>,
    #[arg(long, value_name = "N", default_value_t = 1, help = help("on.seed"))]
    pub seed: u64,
    #[arg(long, help = help("on.in-time"))]
    pub in_time: bool,
    #[arg(
        long, value_name = "N-writes|N-fsync@FILE", num_args = 0..=1, default_missing_value = "anywhere",
        value_parser = cut_place,
        help = help("on.cut-power")
    )]
    pub cut_power: Option<CutPlace>,
    #[arg(long, value_name = "COMMAND", requires = "cut_power", help = help("on.check"))]
    pub check: Option<String>,
    #[arg(
        long, value_name = "N", default_value_t = 1, requires = "cut_power",
        value_parser = clap::value_parser!(u64).range(1..=100_000),
        help = help("on.seeds")
    )]
    pub seeds: u64,
    #[arg(long, requires = "cut_power", help = help("on.torn"))]
    pub torn: bool,
    #[command(flatten)]
    pub folder: FolderArgs,
}

/// Parses where power is cut: `anywhere`, a number of writes such as `100-writes`, or before a call
/// such as `fsync@wal` and `3-fsync@wal`.
fn cut_place(words: &str) -> Result<CutPlace, String> {
    if words == "anywhere" {
        return Ok(CutPlace::Anywhere);
    }
    if let Some((call, file)) = words.split_once('@') {
        let number = match call.strip_suffix("fsync") {
            Some("") => Some(1),
            Some(number) => {
                number.strip_suffix('-').and_then(|number| number.parse().ok()).filter(|number| *number > 0)
            }
            None => None,
        };
        if let Some(number) = number.filter(|_| !file.is_empty()) {
            return Ok(CutPlace::Before(SyncOfFile { file: file.to_owned(), number: Some(number) }));
        }
    }
    parse_writes(words).map(CutPlace::After).map_err(worded)
}

#[derive(Debug, Args)]
pub struct MarkArgs {
    #[arg(value_name = "NAME", help = help("mark.name"))]
    pub name: String,
}
