//! Groups of flags and value parsers that several commands use.

use super::help_table::help;
use super::paths::DevicePath;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};
use kurabe_compare::NAME_LABEL;
use kurabe_core::{Text, profile::OptionKind, quantity::parse_above_zero, text};
use kurabe_lab::{RunRequest, Writing, assignments, parse_label, parse_percent};
use kurabe_report::Unaccepted;

/// Changes of a target that is a model.
#[derive(Debug, Args)]
pub struct ModelledArgs {
    #[arg(long, value_name = "LAYER.PARAMETER=VALUE", help = help("modelled.set"))]
    pub set: Vec<String>,
    #[arg(long, value_name = "LAYER,…", value_delimiter = ',', help = help("modelled.without"))]
    pub without: Vec<String>,
    #[arg(long, help = help("no-fill"))]
    pub no_fill: bool,
}

impl ModelledArgs {
    pub(super) fn sets(&self) -> kurabe_core::Result<Vec<(String, String)>> {
        assignments("--set", &self.set, "raid.strip=256KiB")
    }
}

/// Files and devices that a run may write to, other than its own.
#[derive(Debug, Args)]
pub struct WritingArgs {
    #[arg(long, help_heading = help("heading.writing"), help = help("writing.write-existing"))]
    pub write_existing: bool,
    #[arg(
        long, value_name = "DEVICE", value_hint = ValueHint::FilePath,
        help_heading = help("heading.writing"),
        help = help("writing.destroy-data-on")
    )]
    pub destroy_data_on: Option<DevicePath>,
}

impl WritingArgs {
    pub(super) fn writing(&self) -> Writing {
        Writing {
            existing_file: self.write_existing,
            destroy_data_on: self.destroy_data_on.as_ref().map(|device| device.0.clone()),
        }
    }
}

/// Consent to replace existing output files.
#[derive(Clone, Copy, Debug, Args)]
pub struct ForceArgs {
    #[arg(long, help = help("force.force"))]
    pub force: bool,
}

/// Arguments of a run whose procedure the command determines.
#[derive(Debug, Args)]
pub struct PlannedArgs {
    #[arg(long, value_name = "KEY=VALUE", help = help("label"))]
    pub label: Vec<String>,
    #[command(flatten)]
    pub modelled: ModelledArgs,
    #[command(flatten)]
    pub writing: WritingArgs,
    #[arg(long, help = help("dry-run"))]
    pub dry_run: bool,
}

impl PlannedArgs {
    /// Returns a request with these settings only.
    pub(super) fn request(&self) -> kurabe_core::Result<RunRequest> {
        Ok(RunRequest {
            labels: labels(&self.label, None)?,
            sets: self.modelled.sets()?,
            without: self.modelled.without.clone(),
            no_fill: self.modelled.no_fill,
            writing: self.writing.writing(),
            ..RunRequest::default()
        })
    }
}

/// Arguments for comparing runs.
#[derive(Clone, Debug, Args)]
pub struct JudgedArgs {
    #[arg(
        long, value_name = "PERCENT", default_value = "5%",
        value_parser = |words: &str| parse_percent(words).map_err(worded),
        help = help("margin")
    )]
    pub margin: f64,
    #[arg(long, value_name = "WHAT", value_delimiter = ',', help = help("judged.about"))]
    pub about: Vec<String>,
}

/// Parses a condition of `--fail-on`.
pub(super) fn unaccepted(word: &str) -> Result<Unaccepted, String> {
    match word.trim().split_once(':') {
        Some(("slower", percent)) => {
            parse_percent(percent).map(|beyond| Unaccepted::Slower { beyond: Some(beyond) }).map_err(worded)
        }
        None if word == "slower" => Ok(Unaccepted::Slower { beyond: None }),
        None if word == "unclear" => Ok(Unaccepted::Unclear),
        None if word == "different" => Ok(Unaccepted::Different),
        _ => Err(worded(text!(
            "expected slower, slower:PERCENT, unclear or different",
            "slower、slower:割合、unclear、different のどれかを書いてください"
        ))),
    }
}

/// Returns the labels, including the name of the run.
pub(super) fn labels(
    words: &[String],
    name: Option<&String>,
) -> kurabe_core::Result<Vec<(String, Option<String>)>> {
    let name = name.map(|name| Ok((NAME_LABEL.to_owned(), Some(name.clone()))));
    words.iter().map(|label| parse_label(label)).chain(name).collect()
}

/// Returns a parser for a fixed list of words, each with its value.
pub(super) fn choice<T: Clone + Send + Sync>(
    words: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    let value =
        move |chosen: String| words.iter().find(|(word, _)| *word == chosen).unwrap_or(&words[0]).1.clone();
    PossibleValuesParser::new(words.iter().map(|(word, _)| *word)).map(value)
}

pub(super) fn worded(text: Text) -> String {
    text.take(crate::lang::lang())
}

pub(super) fn bytes(words: &str) -> Result<u64, String> {
    OptionKind::Bytes.number(words).map_err(worded)
}

pub(super) fn duration(words: &str) -> Result<u64, String> {
    OptionKind::Time.number(words).map_err(worded)
}

pub(super) fn duration_or_zero(words: &str) -> Result<u64, String> {
    OptionKind::Pause.number(words).map_err(worded)
}

pub(super) fn rate(words: &str) -> Result<f64, String> {
    parse_above_zero(words).map_err(worded)
}
