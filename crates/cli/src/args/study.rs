//! Arguments of `kurabe study` and `kurabe catalogue`.

use super::help_table::help;
use super::paths::NamedTarget;
use super::shared::ForceArgs;
use crate::lang::below;
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueHint};
use kurabe_core::output_path::OutputPath;

#[derive(Debug, Args)]
pub struct StudyArgs {
    #[command(subcommand)]
    pub action: StudyAction,
}

#[derive(Debug, Subcommand)]
pub enum StudyAction {
    #[command(about = help("study.list"))]
    List,
    #[command(about = help("study.show"))]
    Show {
        #[arg(value_name = "NAME|FILE", help = help("study.name"))]
        name: String,
        #[arg(long, help = help("study.toml"))]
        toml: bool,
    },
    #[command(about = help("study.new"))]
    New(StudyNewArgs),
    #[command(about = help("study.run"))]
    Run(StudyRunArgs),
}

#[derive(Debug, Args)]
#[command(after_help = below!("study-new"))]
pub struct StudyNewArgs {
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath, help = help("study-new.file"))]
    pub file: OutputPath,
    #[arg(value_name = "[NAME=]TARGET", num_args = 2.., required = true, help = help("study-new.targets"))]
    pub targets: Vec<NamedTarget>,
    #[arg(long, short, value_name = "NAME|FILE", default_value = "default", help = help("study-new.profile"))]
    pub profile: String,
    #[arg(long, value_name = "WORDS", help = help("study-new.title"))]
    pub title: Option<String>,
    #[command(flatten)]
    pub force: ForceArgs,
}

#[derive(Debug, Args)]
#[command(after_help = below!("study-run"))]
pub struct StudyRunArgs {
    #[arg(value_name = "NAME|FILE", required_unless_present = "all", help = help("study-run.name"))]
    pub name: Option<String>,
    #[arg(long, conflicts_with_all = ["name", "axis", "set", "on", "part"], help = help("study-run.all"))]
    pub all: bool,
    #[arg(long, value_name = "PART", help = help("study-run.part"))]
    pub part: Vec<String>,
    #[arg(long, value_name = "LAYER.PARAMETER=VALUES", help = help("study-run.axis"))]
    pub axis: Vec<String>,
    #[arg(long, value_name = "LAYER.PARAMETER=VALUE", help = help("study-run.set"))]
    pub set: Vec<String>,
    #[arg(long, value_name = "NAME=PATH", help = help("study-run.on"))]
    pub on: Vec<String>,
    #[arg(long, value_name = "N", help = help("study-run.seed"))]
    pub seed: Option<u64>,
    #[arg(
        long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024),
        help = help("study-run.threads")
    )]
    pub threads: Option<u16>,
    #[arg(long, conflicts_with = "json", help = help("study-run.markdown"))]
    pub markdown: bool,
    #[arg(
        long, short, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["all", "markdown"],
        help = help("study-run.output")
    )]
    pub output: Option<OutputPath>,
    #[arg(
        long, value_name = "THEME", default_value = "auto", requires = "output",
        value_parser = PossibleValuesParser::new(["auto", "light", "dark"]),
        help = help("report.theme")
    )]
    pub theme: String,
    #[command(flatten)]
    pub force: ForceArgs,
}

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = below!("catalogue")
)]
pub struct CatalogueArgs {
    #[command(subcommand)]
    pub action: Option<CatalogueAction>,
    #[arg(value_name = "WORD", help = help("catalogue.words"))]
    pub words: Vec<String>,
}

#[derive(Debug, Subcommand)]
pub enum CatalogueAction {
    #[command(about = help("catalogue.show"))]
    Show {
        #[arg(value_name = "ENTRY", help = help("catalogue.id"))]
        id: String,
    },
}
