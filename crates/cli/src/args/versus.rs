//! Arguments of `kurabe versus`.

use super::help_table::help;
use super::options::VersusOptions;
use super::paths::{DevicePath, TargetPath};
use super::shared::{duration, labels, unaccepted, worded};
use super::vary::{commands, variants};
use crate::lang::below;
use clap::{Args, ValueHint};
use kurabe_core::target_name::TargetName;
use kurabe_core::{ErrorKind, Result};
use kurabe_lab::parse_percent;
use kurabe_lab::versus::{VersusRequest, VersusWriting};
use kurabe_report::Unaccepted;

#[derive(Debug, Default, Args)]
#[command(after_help = below!("versus"))]
pub struct VersusArgs {
    #[arg(
        value_name = "TARGET", required_unless_present = "command", value_hint = ValueHint::AnyPath,
        help = help("versus.targets")
    )]
    pub targets: Vec<TargetPath>,
    #[arg(
        last = true, value_name = "COMMAND", conflicts_with_all = ["vary", "profile", "repetition", "no_fill"],
        value_hint = ValueHint::CommandWithArguments, help = help("versus.command")
    )]
    pub command: Vec<String>,
    #[arg(long, value_name = "KEY=VALUE,VALUE…", help = help("versus.vary"))]
    pub vary: Vec<String>,
    #[arg(long, short, value_name = "NAME|FILE", default_value = "quick", help = help("versus.profile"))]
    pub profile: String,
    #[arg(long, value_name = "TIME", value_parser = duration, help = help("versus.time"))]
    pub time: Option<u64>,
    #[arg(long, value_name = "TIME", value_parser = duration, help = help("versus.repetition"))]
    pub repetition: Option<u64>,
    #[arg(
        long, value_name = "PERCENT", default_value = "5%",
        value_parser = |words: &str| parse_percent(words).map_err(worded),
        help = help("margin")
    )]
    pub margin: f64,
    #[arg(
        long, value_name = "slower[:PERCENT]|unclear|different", value_delimiter = ',',
        value_parser = unaccepted,
        help = help("fail-on")
    )]
    pub fail_on: Vec<Unaccepted>,
    #[command(flatten)]
    pub options: VersusOptions,
    #[arg(long, value_name = "KEY=VALUE", help = help("versus.label"))]
    pub label: Vec<String>,
    #[arg(long, help = help("versus.dry-run"))]
    pub dry_run: bool,
    #[arg(long, help = help("no-fill"))]
    pub no_fill: bool,
    #[arg(long, help = help("versus.write-existing"))]
    pub write_existing: bool,
    #[arg(
        long, value_name = "DEVICE", value_hint = ValueHint::FilePath,
        help = help("versus.destroy-data-on")
    )]
    pub destroy_data_on: Vec<DevicePath>,
}

impl VersusArgs {
    /// Returns the request of these arguments.
    ///
    /// # Errors
    /// When a label is malformed.
    pub fn request(&self) -> Result<VersusRequest> {
        let varies_direct = self.vary.iter().any(|words| words.trim_start_matches('-').starts_with("direct"));
        let is_common = |name: &str| name == "engine" || name == "buffered" && !varies_direct;
        let common = self.options.given().filter(|(name, _)| is_common(name));
        let common: Vec<(&str, String)> = common.map(|(name, words)| (name, words.to_owned())).collect();
        let mut targets: Vec<TargetName> = self.targets.iter().map(TargetPath::name).collect();
        let variants = match self.command.as_slice() {
            [] => variants(&self.vary, &common)?,
            words => {
                if targets.is_empty() {
                    targets.push(".".into());
                }
                commands(words)?
            }
        };
        Ok(VersusRequest {
            targets,
            variants,
            profile: self.profile.clone(),
            given: None,
            time_ns: self.time,
            repetition_ns: self.repetition,
            margin: self.margin,
            overrides: self.options.overrides().map_err(|what| ErrorKind::Usage.error(what))?,
            labels: labels(&self.label, None)?,
            no_fill: self.no_fill,
            writing: VersusWriting {
                existing_files: self.write_existing,
                devices: self.destroy_data_on.iter().map(|device| device.0.clone()).collect(),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;
    use kurabe_testkit::needs::needs;

    #[test]
    fn without_words_it_is_what_everybody_else_gets() {
        let cli = Cli::try_parse_from(["kurabe", "versus", "a", "b"]).unwrap();
        let Command::Versus(args) = cli.command else { panic!("{cli:?}") };
        let targets = vec!["a".into(), "b".into()];
        assert_eq!(args.request().unwrap(), VersusRequest { targets, ..VersusRequest::default() });
    }

    #[test]
    fn the_command_line_of_a_form_asks_for_what_the_form_asks_for() {
        if !needs("sh") {
            return;
        }
        let forms = [
            r#"{"target":"/mnt/a b","vary":[["bs","4k, 16k"],["engine",""]]}"#,
            r#"{"target":"/mnt/ssd","profile":"cdm-9","size":"64MiB","time":"2min","vary":[["bs","4 KiB,64KiB"],["iodepth","1,8"]]}"#,
            r#"{"target":"/mnt/ssd","profile":"quick","vary":[["threads","1,4"],["engine","uring,threads"],["buffered","no,yes"]]}"#,
            r#"{"target":"/dev/sda","profile":"quick","vary":[["buffered","no,yes"]]}"#,
            r#"{"target":"/mnt/a","profile":"quick","size":"16MiB","against":"/mnt/it's b, model:ideal-ram-disk"}"#,
        ];
        for form in forms {
            let (command, of_form) = kurabe_ui::versus_of_form(form).unwrap();
            // The arguments that a shell passes.
            let printed = format!("printf '%s\\n' {command}");
            let output = std::process::Command::new("sh").args(["-c", &printed]).output().unwrap();
            let typed = String::from_utf8(output.stdout).unwrap();
            let cli = Cli::try_parse_from(typed.lines()).unwrap_or_else(|error| panic!("{command}: {error}"));
            let Command::Versus(args) = cli.command else { panic!("{command}") };
            assert_eq!(args.request().unwrap(), of_form, "{command}");
        }
    }
}
