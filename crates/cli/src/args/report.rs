//! `kurabe report`

use super::shared::{ForceArgs, JudgedArgs, choice};
use crate::lang::{below, t};
use clap::{Args, ValueHint, builder::PossibleValuesParser};
use kurabe_core::output_path::OutputPath;
use kurabe_core::words::Keyword;
use kurabe_report::ReportFormat;

#[derive(Debug, Args)]
#[command(after_help = below!("report"))]
pub struct ReportArgs {
    #[arg(default_value = "last", value_name = "RUN", help = t("Ids, unique beginnings of them, or labels that one run has", "測定の ID(先頭の一意な部分や、1 つの測定だけが持つラベルでも可)"))]
    pub runs: Vec<String>,
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, help = t("The file; its ending tells the format; - is standard output", "書き出すファイル(拡張子で形式が決まる。- は標準出力)"))]
    pub output: Option<OutputPath>,
    #[arg(long, short, value_name = "FORMAT", value_parser = choice(ReportFormat::WORDS), help = t("Format [default: by the file's ending, else md]", "形式 [既定: 拡張子に従い、なければ md]"))]
    pub format: Option<ReportFormat>,
    #[arg(long, value_name = "NAME", help = t("Which chart svg and png hold: forest, positions, series … [default: the main one]", "svg と png にするグラフ: forest、positions、series など [既定: 主なもの]"))]
    pub chart: Option<String>,
    #[arg(long, value_name = "RUN", help = t("The run that the others are held against [default: the first]", "基準にする測定 [既定: 最初のもの]"))]
    pub baseline: Option<String>,
    #[arg(long, value_name = "WORDS", help = t("The heading [default: what was measured]", "見出し [既定: 測った対象]"))]
    pub title: Option<String>,
    #[arg(long, value_name = "THEME", default_value = "auto", value_parser = PossibleValuesParser::new(["auto", "light", "dark"]), help = t("Colours; auto follows the reader's system (png: light)", "配色。auto は読む人の設定に従う(png は light)"))]
    pub theme: String,
    #[command(flatten)]
    pub judged: JudgedArgs,
    #[arg(long, help = t("Without the paths of this machine: /path-1 instead of /home/…", "このマシンのパスを伏せる(/home/… を /path-1 に)"))]
    pub without_paths: bool,
    #[command(flatten)]
    pub force: ForceArgs,
}
