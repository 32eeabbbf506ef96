//! Arguments of runs by several processes.

use super::help_table::help;
use super::shared::{choice, duration};
use crate::lang::t;
use clap::Args;
use kurabe_core::record::RankLayout;
use kurabe_lab::PartyPlan;
use std::time::Duration;

/// Layouts of a shared file, by name.
const LAYOUTS: [(&str, RankLayout); 2] =
    [("segmented", RankLayout::Segmented), ("strided", RankLayout::Strided)];
/// Time after which a rank that sends no message is considered lost.
const PATIENCE: Duration = Duration::from_secs(60);

const RANKS_EN: &str = "Several processes (kurabe-mpi)";
const RANKS_JA: &str = "複数のプロセス(kurabe-mpi)";

/// Words of runs by several processes.
#[derive(Clone, Debug, Args)]
pub struct RankArgs {
    #[arg(
        long, value_name = "LAYOUT", num_args = 0..=1, require_equals = true,
        default_missing_value = "segmented", value_parser = choice(&LAYOUTS),
        help_heading = t(RANKS_EN, RANKS_JA),
        help = help("rank.shared")
    )]
    pub shared: Option<RankLayout>,
    #[arg(long, help_heading = t(RANKS_EN, RANKS_JA), help = help("rank.reorder"))]
    pub reorder: bool,
    #[arg(
        long, value_name = "TIME", value_parser = duration,
        help_heading = t(RANKS_EN, RANKS_JA),
        help = help("rank.patience")
    )]
    pub patience: Option<u64>,
}

impl RankArgs {
    /// Returns the option that is valid only with several processes, if one was given.
    pub fn given(&self) -> Option<&'static str> {
        let given = [
            (self.shared.is_some(), "--shared"),
            (self.reorder, "--reorder"),
            (self.patience.is_some(), "--patience"),
        ];
        given.into_iter().find_map(|(is_given, word)| is_given.then_some(word))
    }

    /// Returns how the processes work together.
    pub fn plan(&self) -> PartyPlan {
        PartyPlan {
            layout: self.shared.unwrap_or_default(),
            reorder: self.reorder,
            patience: self.patience.map_or(PATIENCE, Duration::from_nanos),
        }
    }
}
