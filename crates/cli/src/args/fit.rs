//! Arguments of `kurabe fit`.

use super::help_table::help;
use super::paths::TargetPath;
use super::shared::{PlannedArgs, bytes};
use crate::lang::below;
use clap::{Args, ValueHint};
use kurabe_compare::{FitGround, Use, WriteCaches, fit_profile};
use kurabe_core::{ErrorKind, Result, text};
use kurabe_lab::{Procedure, RunRequest, largest_count, model_record};

#[derive(Debug, Args)]
#[command(after_help = below!("fit"))]
pub struct FitArgs {
    #[arg(value_name = "TARGET", value_hint = ValueHint::AnyPath, help = help("target"))]
    pub target: TargetPath,
    #[arg(long = "for", value_name = "USE|FILE", help = help("recommend.purpose"))]
    pub purpose: String,
    #[arg(
        long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024),
        help = help("fit.count")
    )]
    pub count: Option<u32>,
    #[arg(long, value_name = "SIZE", value_parser = bytes, help = help("fit.size"))]
    pub size: Option<u64>,
    #[command(flatten)]
    pub planned: PlannedArgs,
}

impl FitArgs {
    /// Returns the number of instances of the use, 1 by default.
    pub fn count(&self) -> u32 {
        self.count.unwrap_or(1)
    }

    /// Returns the request to measure the workloads of this use.
    ///
    /// # Errors
    /// When a count is given for a use without one, or no limit of the use can be checked; when a
    /// label or a change of a model is malformed.
    pub fn request(&self, purpose: &Use) -> Result<RunRequest> {
        let name = &purpose.name;
        if self.count.is_some() && !purpose.counts() {
            let what =
                text!("the use `{name}` has nothing to count", "用途 `{name}` には数えるものがありません");
            let remedy = text!("remove --count", "--count を外してください");
            return Err(ErrorKind::Usage.error(what).remedy(remedy));
        }
        if !purpose.can_be_judged() {
            let what = text!(
                "the use `{name}` has no limit that a measurement can check",
                "用途 `{name}` には、測定で確かめられる条件がありません"
            );
            let remedy = text!(
                "rank stored runs for it with kurabe recommend; etcd, nas and others have limits",
                "保存した測定の順位は kurabe recommend で分かります。条件があるのは etcd や nas などです"
            );
            return Err(ErrorKind::Usage.error(what).remedy(remedy));
        }
        let planned = self.planned.request()?;
        let profile = fit_profile(purpose, self.count(), self.ground(&planned)?);
        Ok(RunRequest {
            target: self.target.name(),
            procedure: Procedure::Given(Box::new(profile)),
            ..planned
        })
    }

    /// Returns the target's caches, if it is a model, and the size of the test.
    fn ground(&self, planned: &RunRequest) -> Result<FitGround> {
        let model = match self.target.name().model() {
            Some(name) => Some(WriteCaches::of(&model_record(name, &planned.sets, &planned.without)?)),
            None => None,
        };
        Ok(FitGround { model, size_bytes: self.size })
    }

    /// Returns how many of what the use counts a model serves, if the user doesn't give a count.
    ///
    /// # Errors
    /// As [`Self::request`].
    pub fn largest_count(&self, purpose: &Use) -> Result<Option<u32>> {
        let planned = self.planned.request()?;
        let target = self.target.name();
        let name = target.model().filter(|_| purpose.counts() && self.count.is_none());
        let Some(name) = name.filter(|_| planned.without.is_empty()) else { return Ok(None) };
        largest_count(name, &planned.sets, purpose, self.ground(&planned)?).map(Some)
    }
}
