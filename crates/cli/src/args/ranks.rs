//! Arguments of runs by several processes.

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
    #[arg(long, value_name = "LAYOUT", num_args = 0..=1, require_equals = true, default_missing_value = "segmented", value_parser = choice(&LAYOUTS), help_heading = t(RANKS_EN, RANKS_JA), help = t("One file for all ranks, each with a part of its own: in one piece (segmented), or every n-th block (strided)", "全ランクで 1 つのファイルを使い、それぞれの担当部分を読み書きする。連続した部分(segmented)か n ブロックおき(strided)"))]
    pub shared: Option<RankLayout>,
    #[arg(long, help_heading = t(RANKS_EN, RANKS_JA), help = t("Each rank reads what the next one wrote", "各ランクは、次のランクが書いたものを読む"))]
    pub reorder: bool,
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = t(RANKS_EN, RANKS_JA), help = t("A rank that gives no sign for so long is lost; the others go on [default: 60s]", "この時間応答のないランクは失われたものとし、残りで続ける [既定: 60s]"))]
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
