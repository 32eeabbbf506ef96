//! The words of `kurabe study` and `kurabe catalogue`.

use crate::lang::t;
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
#[command(after_help = t(
    "Examples:\n  \
     kurabe study run scsi-emulators              an article's tables, in seconds\n  \
     kurabe study run --all                       all five articles\n  \
     kurabe study run raid-strip --axis raid.strip=8KiB..1MiB\n                                               \
     a sweep, with its curve\n  \
     kurabe study run scsi-emulators --set fat-image.cluster=32KiB\n  \
     kurabe study run sata-usb --on sata=/mnt/a --on usb=/mnt/b\n                                               \
     the same on devices of your own\n\n\
     What a figure is:\n  \
     source      repeats what the model was given\n  \
     calibrated  was fitted to this very figure\n  \
     predicted   was fitted to nothing\n  \
     measured    is from a device of yours",
    "例:\n  \
     kurabe study run scsi-emulators              記事の表を数秒で計算する\n  \
     kurabe study run --all                       5 つの記事すべて\n  \
     kurabe study run raid-strip --axis raid.strip=8KiB..1MiB\n                                               \
     値を振って曲線を描く\n  \
     kurabe study run scsi-emulators --set fat-image.cluster=32KiB\n  \
     kurabe study run sata-usb --on sata=/mnt/a --on usb=/mnt/b\n                                               \
     同じ内容を手元の機器で測る\n\n\
     値の区分:\n  \
     出典  モデルに与えた値そのもの\n  \
     較正  その公表値に合わせた値\n  \
     予測  どの公表値にも合わせていない値\n  \
     実測  手元の機器の値"
))]
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
    after_help = t(
    "Examples:\n  \
     kurabe catalogue                       everything\n  \
     kurabe catalogue rascsi gnome          entries with both words\n  \
     kurabe catalogue show scsi-gnome/rascsi-1gb\n  \
     kurabe show last --beside scsi-gnome/rascsi-1gb",
    "例:\n  \
     kurabe catalogue                       全項目\n  \
     kurabe catalogue rascsi gnome          両方の語を含む項目\n  \
     kurabe catalogue show scsi-gnome/rascsi-1gb\n  \
     kurabe show last --beside scsi-gnome/rascsi-1gb"
)
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
