//! Arguments of `kurabe study` and `kurabe catalogue`.

use crate::lang::{below, t};
use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub struct StudyArgs {
    #[command(subcommand)]
    pub action: StudyAction,
}

#[derive(Debug, Subcommand)]
pub enum StudyAction {
    #[command(about = t("List the studies", "スタディの一覧"))]
    List,
    #[command(about = t("Show what a study consists of: tables, targets, parameters", "スタディの構成(表、対象、パラメーター)を表示"))]
    Show {
        #[arg(value_name = "NAME|FILE", help = t("A name, or a TOML file", "名前か TOML ファイル"))]
        name: String,
        #[arg(long, help = t("As TOML, to start a study of your own from", "TOML のまま(自分のスタディの出発点に)"))]
        toml: bool,
    },
    #[command(about = t("Run a study: published, kurabe, error, and what each figure is", "スタディを実行: 公表値、kurabe の値、誤差、値の区分"))]
    Run(StudyRunArgs),
}

#[derive(Debug, Args)]
#[command(after_help = below!("study-run"))]
pub struct StudyRunArgs {
    #[arg(value_name = "NAME|FILE", required_unless_present = "all", help = t("A name from `kurabe study list`, or a TOML file", "`kurabe study list` の名前か TOML ファイル"))]
    pub name: Option<String>,
    #[arg(long, conflicts_with_all = ["name", "axis", "set", "on", "part"], help = t("All studies", "すべてのスタディ"))]
    pub all: bool,
    #[arg(long, value_name = "PART", help = t("Only this table (may be repeated)", "この表だけ(繰り返し可)"))]
    pub part: Vec<String>,
    #[arg(long, value_name = "LAYER.PARAMETER=VALUES", help = t("An axis in the place of the study's, or added: 8KiB..1MiB doubles, 1..8 counts, or a list 1,2,4", "軸の置き換えまたは追加: 8KiB..1MiB は 2 倍ずつ、1..8 は 1 ずつ、1,2,4 は列挙"))]
    pub axis: Vec<String>,
    #[arg(long, value_name = "LAYER.PARAMETER=VALUE", help = t("Change a parameter in every model that has it (may be repeated)", "そのパラメーターを持つ全モデルで値を変える(繰り返し可)"))]
    pub set: Vec<String>,
    #[arg(long, value_name = "NAME=PATH", help = t("Measure a device of your own in the place of the row NAME (may be repeated)", "行 NAME をモデルではなく手元の機器で測る(繰り返し可)"))]
    pub on: Vec<String>,
    #[arg(long, value_name = "N", help = t("Seed of what is random", "乱数のシード"))]
    pub seed: Option<u64>,
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), help = t("Threads for models; the result does not depend on it [default: one per CPU]", "モデルの計算に使うスレッド数(結果は変わらない)[既定: CPU 数]"))]
    pub threads: Option<u16>,
    #[arg(long, conflicts_with = "json", help = t("As Markdown, for an article", "Markdown で出力(記事に貼る)"))]
    pub markdown: bool,
}

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = below!("catalogue")
)]
pub struct CatalogueArgs {
    #[command(subcommand)]
    pub action: Option<CatalogueAction>,
    #[arg(value_name = "WORD", help = t("Only entries with all of these words: device, tool, source, procedure, year", "すべての語を含む項目だけ(機器、ツール、出典、手順、年)"))]
    pub words: Vec<String>,
}

#[derive(Debug, Subcommand)]
pub enum CatalogueAction {
    #[command(about = t("Show an entry: figures, source, procedure, statistic", "項目の値、出典、手順、統計量を表示"))]
    Show {
        #[arg(value_name = "ENTRY", help = t("Its id, as `kurabe catalogue` lists it", "`kurabe catalogue` に出る ID"))]
        id: String,
    },
}
