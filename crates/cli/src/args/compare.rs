//! Arguments of `kurabe compare`.

use super::help_table::help;
use super::paths::TargetPath;
use super::pivot::PivotArgs;
use super::shared::{JudgedArgs, unaccepted};
use super::versus::VersusArgs;
use crate::lang::below;
use clap::Args;
use kurabe_core::target_name::MODEL_PREFIX;
use kurabe_core::{ErrorKind, Result, shown, text};
use kurabe_lab::versus::VersusRequest;
use kurabe_report::Unaccepted;

#[derive(Debug, Args)]
#[command(after_help = below!("compare"))]
pub struct CompareArgs {
    #[arg(value_name = "RUN", required_unless_present = "by", help = help("compare.runs"))]
    pub runs: Vec<String>,
    #[command(flatten)]
    pub judged: JudgedArgs,
    #[arg(
        long, value_name = "slower[:PERCENT]|unclear|different", value_delimiter = ',',
        conflicts_with = "by", value_parser = unaccepted,
        help = help("fail-on")
    )]
    pub fail_on: Vec<Unaccepted>,
    #[arg(long, conflicts_with_all = ["json", "about"], help = help("compare.chart"))]
    pub chart: bool,
    #[arg(
        long, value_name = "TRACE", conflicts_with_all = ["about", "by"],
        help = help("compare.measured")
    )]
    pub measured: Option<String>,
    #[command(flatten)]
    pub pivot: PivotArgs,
}

/// Returns whether a word names a target and not a stored run.
fn is_target(word: &str) -> bool {
    word == "." || word.contains('/') || word.starts_with(MODEL_PREFIX)
}

impl CompareArgs {
    /// Returns the measurement that these arguments mean, if they name targets instead of stored runs.
    ///
    /// # Errors
    /// When they name both, or an option for stored runs.
    pub fn of_targets(&self) -> Result<Option<VersusArgs>> {
        let Some(target) = self.runs.iter().find(|word| is_target(word)) else { return Ok(None) };
        let remedy = text!(
            "compare stored runs, or measure targets (a word with `/`, `.` or `{MODEL_PREFIX}NAME`)",
            "保存した測定どうしを比べるか、対象(`/` を含む語、`.`、`{MODEL_PREFIX}名前`)どうしを測ってください"
        );
        let shown = shown::line(target);
        if let Some(run) = self.runs.iter().find(|word| !is_target(word)) {
            let run = shown::line(run);
            let what = text!(
                "{shown} is a target, but {run} is not",
                "{shown} は対象ですが、{run} は対象ではありません"
            );
            return Err(ErrorKind::Usage.error(what).remedy(remedy));
        }
        if self.chart || self.measured.is_some() || !self.judged.about.is_empty() || !self.pivot.by.is_empty()
        {
            let what = text!(
                "{shown} is a target, and this option is for stored runs",
                "{shown} は対象ですが、このオプションは保存した測定用です"
            );
            return Err(ErrorKind::Usage.error(what).remedy(remedy));
        }
        Ok(Some(VersusArgs {
            targets: self.runs.iter().map(|word| TargetPath(word.into())).collect(),
            profile: VersusRequest::default().profile,
            margin: self.judged.margin,
            fail_on: self.fail_on.clone(),
            ..VersusArgs::default()
        }))
    }
}
