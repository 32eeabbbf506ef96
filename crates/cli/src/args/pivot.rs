//! Arguments of `kurabe compare --by` and `kurabe list`.

use super::shared::worded;
use crate::lang::{below, t};
use clap::Args;
use kurabe_store::parse_since;

const BY_EN: &str = "All runs as a table (--by)";
const BY_JA: &str = "すべての測定を表にする(--by)";

#[derive(Debug, Args)]
pub struct PivotArgs {
    #[arg(long, value_name = "KEY", value_delimiter = ',', help_heading = t(BY_EN, BY_JA), help = t("Lay out the stored runs (or those named) by what they differ in: the last key makes the columns, those before it the rows", "保存した測定(または指定した測定)を条件ごとに並べる: 最後のキーが列、その前のキーが行になる"))]
    pub by: Vec<String>,
    #[arg(long, value_name = "VALUE", requires = "by", help_heading = t(BY_EN, BY_JA), help = t("Hold all others against this value of a key (or KEY=VALUE): ratio, interval, verdict", "キーの値(または キー=値)を基準に、比、区間、判定を示す"))]
    pub baseline: Option<String>,
    #[arg(long, short, value_name = "NAME", requires = "by", help_heading = t(BY_EN, BY_JA), help = t("Only runs of this profile", "このプロファイルの測定だけ"))]
    pub profile: Option<String>,
    #[arg(long, value_name = "WORD", requires = "by", help_heading = t(BY_EN, BY_JA), help = t("Only tests with these words in their name, as in \"read rnd\"", "名前にこの語を含む項目だけ。例: \"read rnd\""))]
    pub cell: Option<String>,
    #[arg(long = "where", value_name = "KEY=VALUE", requires = "by", help_heading = t(BY_EN, BY_JA), help = t("Only runs that have this value (may be repeated)", "この値の測定だけ(繰り返し可)"))]
    pub filters: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = below!("list"))]
pub struct ListArgs {
    #[arg(long, short, value_name = "NAME", help = t("Only runs of this profile", "このプロファイルの測定だけ"))]
    pub profile: Option<String>,
    #[arg(long, value_name = "WORD", help = t("Only devices, models or targets whose name contains this", "この語を名前に含むデバイス、モデル、対象だけ"))]
    pub device: Option<String>,
    #[arg(long, value_name = "KEY=VALUE", help = t("Only runs with this label (may be repeated)", "このラベルの付いた測定だけ(繰り返し可)"))]
    pub label: Vec<String>,
    #[arg(long, value_name = "DATE", value_parser = |words: &str| parse_since(words).map_err(worded), help = t("Only runs from this day on: 2026-01-31, or a month, or a year", "この日(2026-01-31)、月、年以降の測定だけ"))]
    pub since: Option<String>,
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help = t("Only the N newest", "新しいほうから N 件だけ"))]
    pub last: Option<u32>,
    #[arg(long, conflicts_with_all = ["profile", "device", "label", "since", "last"], help = t("Instead of runs: the models that were served, and how well they kept their time", "測定の代わりに、公開したモデルと、時間どおりだった割合を一覧にする"))]
    pub served: bool,
}
