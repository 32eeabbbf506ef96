//! The command line, in both languages.
//!
//! # To add a command
//!
//! - Add a variant of `Command` with its arguments in `args/`, in both languages, and its group of the help
//!   (`args/groups.rs`).
//! - Write a file that makes a request, calls the lab and prints a `Doc`, and add its line to `dispatch`.
//! - Write `help/NAME.en.txt` and `help/NAME.ja.txt` with examples, and an end-to-end test.
//!
//! An option of a command is a field of its `Args`, with help in both languages.

mod attach;
mod card;
mod compare;
mod exchange;
mod fio;
mod fit;
mod global;
mod groups;
mod help_table;
pub mod help_words;
mod options;
mod paths;
mod pivot;
mod price;
mod ranks;
mod report;
mod run;
mod serve;
mod shared;
mod study;
mod sweep;
mod ui;
mod vary;
mod versus;
mod vm;
mod what;

pub use attach::{AttachArgs, DetachArgs};
pub use card::CardArgs;
pub use compare::CompareArgs;
pub use exchange::ExchangeArgs;
pub use fio::{FioArgs, FioRun, sorted_words};
pub use fit::FitArgs;
pub use global::Global;
pub use pivot::ListArgs;
pub use price::{MarkArgs, OnArgs, PriceArgs};
pub use report::ReportArgs;
pub use run::RunArgs;
pub use serve::{ControlAction, ControlArgs, ServeArgs, ServedArgs, ServedModelArgs};
pub use study::{CatalogueAction, CatalogueArgs, StudyAction, StudyArgs, StudyNewArgs, StudyRunArgs};
pub use sweep::SweepArgs;
pub use ui::UiArgs;
pub use versus::VersusArgs;
pub use vm::VmArgs;
pub use what::WhatArgs;

use crate::lang::below;
use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueHint};
use help_table::help;
use kurabe_core::Result;
use kurabe_core::output_path::OutputPath;
use kurabe_lab::parse_percent;
use paths::{InputPath, TargetPath};
use shared::worded;
pub use shared::{ForceArgs, JudgedArgs};

/// kurabe.
#[derive(Debug, Parser)]
#[command(
    name = "kurabe", version = concat!(env!("CARGO_PKG_VERSION"), " (", env!("KURABE_BUILD"), ")"),
    about = help("kurabe"), help_template = groups::template(), after_help = below!("kurabe")
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub global: Global,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    #[command(aliases = ["measure", "bench"], about = help("command.run"))]
    Run(Box<RunArgs>),
    #[command(about = help("command.fio"))]
    Fio(Box<FioArgs>),
    #[command(about = help("command.sweep"))]
    Sweep(SweepArgs),
    #[command(about = help("command.list"))]
    List(ListArgs),
    #[command(alias = "info", about = help("command.show"))]
    Show(ShowArgs),
    #[command(about = help("command.why"))]
    Why(WhyArgs),
    #[command(about = help("command.what"))]
    What(WhatArgs),
    #[command(about = help("command.compare"))]
    Compare(CompareArgs),
    #[command(about = help("command.versus"))]
    Versus(VersusArgs),
    #[command(about = help("command.recommend"))]
    Recommend(RecommendArgs),
    #[command(about = help("command.fit"))]
    Fit(FitArgs),
    #[command(about = help("command.history"))]
    History(HistoryArgs),
    #[command(about = help("command.report"))]
    Report(ReportArgs),
    #[command(about = help("command.card"))]
    Card(CardArgs),
    #[command(about = help("command.rm"))]
    Rm(RunIds),
    #[command(about = help("command.label"))]
    Label(LabelArgs),
    #[command(about = help("command.export"))]
    Export(ExportArgs),
    #[command(about = help("command.check"))]
    Check(CheckArgs),
    #[command(about = help("command.import"))]
    Import(ImportArgs),
    #[command(about = help("command.push"), after_help = below!("push"))]
    Push(ExchangeArgs),
    #[command(about = help("command.pull"), after_help = below!("pull"))]
    Pull(ExchangeArgs),
    #[command(about = help("command.record"))]
    Record(RecordArgs),
    #[command(about = help("command.price"))]
    Price(Box<PriceArgs>),
    #[command(about = help("command.on"))]
    On(Box<OnArgs>),
    #[command(about = help("command.mark"))]
    Mark(MarkArgs),
    #[command(about = help("command.study"))]
    Study(StudyArgs),
    #[command(about = help("command.catalogue"))]
    Catalogue(CatalogueArgs),
    #[command(about = help("command.profiles"))]
    Profiles(ProfilesArgs),
    #[command(about = help("command.models"))]
    Models(ModelsArgs),
    #[command(about = help("command.serve"))]
    Serve(Box<ServeArgs>),
    #[command(about = help("command.attach"))]
    Attach(Box<AttachArgs>),
    #[command(alias = "stop", about = help("command.detach"))]
    Detach(DetachArgs),
    #[command(about = help("command.control"))]
    Control(ControlArgs),
    #[command(aliases = ["gui", "web"], about = help("command.ui"))]
    Ui(UiArgs),
    #[command(about = help("command.vm"))]
    Vm(VmArgs),
    #[command(about = help("command.doctor"))]
    Doctor(DoctorArgs),
    #[command(about = help("command.completions"))]
    Completions {
        #[arg(help = help("completions.shell"))]
        shell: clap_complete::Shell,
    },
    #[command(about = help("command.man"))]
    Man {
        #[arg(value_name = "COMMAND", help = help("man.command"))]
        command: Option<String>,
    },
}

impl Command {
    /// Turns a comparison that names targets into their measurement.
    ///
    /// # Errors
    /// As [`CompareArgs::of_targets`].
    pub fn measure_targets(&mut self) -> Result<()> {
        let Self::Compare(args) = self else { return Ok(()) };
        if let Some(versus) = args.of_targets()? {
            *self = Self::Versus(versus);
        }
        Ok(())
    }

    /// Returns whether the command measures storage or removes files that a killed measurement left
    /// on it. Such storage may not respond.
    pub fn may_wait_for_storage(&self) -> bool {
        match self {
            Self::Study(args) => matches!(args.action, StudyAction::Run(_)),
            Self::Record(_) | Self::Price(_) | Self::On(_) | Self::Mark(_) => false,
            Self::Serve(_) | Self::Attach(_) | Self::Detach(_) | Self::Control(_) | Self::Vm(_) => false,
            Self::Catalogue(_) | Self::Profiles(_) | Self::Models(_) => false,
            Self::Completions { .. } | Self::Man { .. } => false,
            _ => true,
        }
    }
}

#[derive(Debug, Args)]
pub struct ShowArgs {
    #[arg(default_value = "last", value_name = "RUN", help = help("one-run"))]
    pub run: String,
    #[arg(long, value_name = "ENTRY", help = help("show.beside"))]
    pub beside: Option<String>,
    #[arg(long, help = help("show.details"))]
    pub details: bool,
    #[arg(
        long, value_name = "NAME", num_args = 0..=1, conflicts_with_all = ["json", "details", "beside"],
        help = help("show.chart")
    )]
    pub chart: Option<Option<String>>,
}

#[derive(Debug, Args)]
#[command(after_help = below!("why"))]
pub struct WhyArgs {
    #[arg(default_value = "last", value_name = "RUN", help = help("one-run"))]
    pub run: String,
    #[arg(
        long, value_name = "TARGET", conflicts_with = "run", value_hint = ValueHint::AnyPath,
        help = help("why.probe")
    )]
    pub probe: Option<TargetPath>,
    #[arg(long, value_name = "N|LABEL", help = help("why.cell"))]
    pub cell: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = below!("recommend"))]
pub struct RecommendArgs {
    #[arg(required = true, value_name = "RUN", help = help("several-runs"))]
    pub runs: Vec<String>,
    #[arg(long = "for", value_name = "USE|FILE", help = help("recommend.purpose"))]
    pub purpose: String,
}

#[derive(Debug, Args)]
pub struct HistoryArgs {
    #[arg(value_name = "WORD", help = help("history.word"))]
    pub word: Option<String>,
    #[arg(long, value_name = "WORD", conflicts_with = "word", help = help("history.device"))]
    pub device: Option<String>,
    #[arg(long, short, value_name = "NAME", help = help("of-profile"))]
    pub profile: Option<String>,
    #[arg(
        long, value_name = "PERCENT", default_value = "5%",
        value_parser = |words: &str| parse_percent(words).map_err(worded),
        help = help("margin")
    )]
    pub margin: f64,
}

#[derive(Debug, Args)]
pub struct RunIds {
    #[arg(required = true, value_name = "RUN", help = help("several-runs"))]
    pub runs: Vec<String>,
    #[arg(long, help = help("run-ids.force"))]
    pub force: bool,
    #[arg(long, short, help = help("run-ids.yes"))]
    pub yes: bool,
}

#[derive(Debug, Args)]
#[command(after_help = below!("check"))]
pub struct CheckArgs {
    #[arg(
        value_name = "IMAGE", requires = "verify", value_hint = ValueHint::AnyPath,
        help = help("check.image")
    )]
    pub image: Option<TargetPath>,
    #[arg(
        long, value_name = "FILE", requires = "image", value_hint = ValueHint::FilePath,
        help = help("check.verify")
    )]
    pub verify: Option<InputPath>,
}

#[derive(Debug, Args)]
pub struct LabelArgs {
    #[arg(value_name = "RUN", help = help("one-run"))]
    pub run: String,
    #[arg(required = true, value_name = "KEY=VALUE", help = help("label.labels"))]
    pub labels: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = below!("export"))]
pub struct ExportArgs {
    #[arg(value_name = "RUN", help = help("export.runs"))]
    pub runs: Vec<String>,
    #[arg(
        long, short, value_name = "FORMAT", default_value = "json",
        value_parser = PossibleValuesParser::new([
            "json", "fio", "fio-json", "fio-terse", "cdm-text", "csv", "parquet", "markdown", "openmetrics", "bencher",
            "github-bigger", "github-smaller",
        ]),
        help = help("export.format")
    )]
    pub format: String,
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, help = help("export.output"))]
    pub output: Option<OutputPath>,
    #[command(flatten)]
    pub force: ForceArgs,
}

#[derive(Debug, Args)]
pub struct ImportArgs {
    #[arg(
        required = true, value_name = "FILE", value_hint = ValueHint::FilePath,
        help = help("import.files")
    )]
    pub files: Vec<InputPath>,
    #[arg(long, value_name = "RUN", help = help("import.to"))]
    pub to: Option<String>,
    #[command(flatten)]
    pub force: ForceArgs,
}

#[derive(Debug, Args)]
#[command(after_help = below!("record"))]
pub struct RecordArgs {
    #[arg(
        value_name = "TARGET", default_value = ".", value_hint = ValueHint::AnyPath,
        help = help("record.target")
    )]
    pub target: TargetPath,
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, help = help("record.output"))]
    pub output: Option<OutputPath>,
    #[command(flatten)]
    pub force: ForceArgs,
    #[arg(long, help = help("record.all-devices"))]
    pub all_devices: bool,
    #[arg(last = true, required = true, value_name = "COMMAND", help = help("record.command"))]
    pub command: Vec<String>,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct ProfilesArgs {
    #[command(subcommand)]
    pub action: Option<ProfilesAction>,
    #[arg(long, conflicts_with = "name", help = help("profiles.all"))]
    pub all: bool,
    #[command(flatten)]
    pub shown: ProfileShown,
}

#[derive(Debug, Subcommand)]
pub enum ProfilesAction {
    #[command(about = help("profiles.show"), arg_required_else_help = true)]
    Show(ProfileShown),
}

#[derive(Debug, Args)]
pub struct ProfileShown {
    #[arg(value_name = "NAME|FILE", help = help("profile-shown.name"))]
    pub name: Option<String>,
    #[arg(long, requires = "name", help = help("profile-shown.toml"))]
    pub toml: bool,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct ModelsArgs {
    #[command(subcommand)]
    pub action: Option<ModelsAction>,
    #[arg(long, conflicts_with = "name", help = help("models.all"))]
    pub all: bool,
    #[command(flatten)]
    pub shown: ModelShown,
}

#[derive(Debug, Subcommand)]
pub enum ModelsAction {
    #[command(
        about = help("models.show"), arg_required_else_help = true, after_help = below!("models-show")
    )]
    Show(ModelShown),
    #[command(
        about = help("models.compare"), arg_required_else_help = true,
        after_help = below!("models-compare")
    )]
    Compare(ModelsCompared),
}

#[derive(Debug, Args)]
pub struct ModelsCompared {
    #[arg(value_name = "NAME|FILE", required = true, help = help("models-compared.names"))]
    pub names: Vec<String>,
    #[arg(long, value_name = "LAYER.PARAMETER=VALUE", help = help("models-compared.set"))]
    pub set: Vec<String>,
}

#[derive(Debug, Args)]
pub struct ModelShown {
    #[arg(value_name = "NAME|WORD|FILE", help = help("model-shown.name"))]
    pub name: Option<String>,
    #[arg(
        long, value_name = "LAYER.PARAMETER=VALUE", requires = "name", conflicts_with = "toml",
        help = help("model-shown.set")
    )]
    pub set: Vec<String>,
    #[arg(long, requires = "name", help = help("model-shown.toml"))]
    pub toml: bool,
}

#[derive(Debug, Args)]
pub struct DoctorArgs {
    #[arg(
        value_name = "PATH", default_value = ".", value_hint = ValueHint::AnyPath,
        help = help("doctor.path")
    )]
    pub path: TargetPath,
    #[arg(long, help = help("doctor.computer"))]
    pub computer: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use kurabe_core::mention::{COMMANDS, FLAGS};
    use kurabe_store::StoreName;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn whatever_a_sentence_mentions_can_be_typed() {
        let (mut commands, mut typed) = (vec![(String::new(), Cli::command())], vec!["--help".to_owned()]);
        while let Some((above, command)) = commands.pop() {
            let path = above + command.get_name();
            typed.extend(command.get_arguments().filter_map(|arg| Some(format!("--{}", arg.get_long()?))));
            commands.extend(command.get_subcommands().map(|below| (format!("{path} "), below.clone())));
            typed.push(path);
        }
        for mention in FLAGS.iter().chain(COMMANDS) {
            assert!(typed.contains(&format!("{mention:#}")), "{mention:#}");
        }
    }

    /// Returns every argument of every command, with the command's name.
    fn arguments() -> Vec<(String, clap::Arg)> {
        let (mut commands, mut arguments) = (vec![Cli::command()], Vec::new());
        while let Some(command) = commands.pop() {
            let name = command.get_name().to_owned();
            arguments.extend(command.get_arguments().map(|argument| (name.clone(), argument.clone())));
            commands.extend(command.get_subcommands().cloned());
        }
        arguments
    }

    #[test]
    fn every_path_argument_has_a_role() {
        use std::any::TypeId;
        let mut roles = paths::roles();
        roles.extend([TypeId::of::<OutputPath>(), TypeId::of::<StoreName>()]);
        for (command, argument) in arguments() {
            let kind = argument.get_value_parser().type_id();
            let is_bare = [TypeId::of::<std::path::PathBuf>(), TypeId::of::<std::ffi::OsString>()];
            assert!(
                !is_bare.iter().any(|bare| kind == *bare),
                "{command} {}: a bare path",
                argument.get_id()
            );
            let has_path_hint = matches!(
                argument.get_value_hint(),
                ValueHint::AnyPath | ValueHint::FilePath | ValueHint::DirPath
            );
            let names = argument.get_value_names().unwrap_or_default();
            let is_named_path = names.iter().any(|name| {
                ["FILE", "PATH", "TARGET", "DEVICE", "IMAGE", "SOCKET", "FOLDER"].contains(&name.as_str())
            });
            if has_path_hint || is_named_path {
                assert!(roles.iter().any(|role| kind == *role), "{command} {}: no role", argument.get_id());
            }
        }
    }

    #[test]
    fn every_command_with_an_output_has_force() {
        let is_output = |argument: &clap::Arg| {
            argument.get_value_parser().type_id() == std::any::TypeId::of::<OutputPath>()
        };
        let outputs: Vec<String> = arguments()
            .into_iter()
            .filter(|(_, argument)| is_output(argument))
            .map(|(name, _)| name)
            .collect();
        assert!(outputs.len() >= 10, "{outputs:?}");
        for command in outputs.iter().map(String::as_str).chain(["fio", "import"]) {
            let has_force = arguments()
                .iter()
                .any(|(name, argument)| name == command && argument.get_long() == Some("force"));
            assert!(has_force, "{command}");
        }
    }

    #[test]
    fn what_stands_below_the_options_fits_a_terminal_of_80_columns() {
        let mut commands = vec![Cli::command()];
        while let Some(command) = commands.pop() {
            let below = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            // Paragraphs without line breaks are wrapped, but examples and tables would become
            // unreadable.
            for line in below.lines().filter(|line| line.starts_with("  ")) {
                assert!(kurabe_report::display_width(line) <= 80, "{}: {line}", command.get_name());
            }
            commands.extend(command.get_subcommands().cloned());
        }
    }
}
