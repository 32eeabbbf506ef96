//! `kurabe report`

use super::margin;
use crate::lang::t;
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueHint};
use std::path::PathBuf;

/// The forms of a report.
pub const FORMATS: [&str; 6] = ["html", "md", "svg", "png", "csv", "json"];

#[derive(Debug, Args)]
#[command(after_help = t(
    "Formats:\n  \
     html  one page without network: answer, tables that sort, charts, records;\n        \
     `kurabe import report.html` takes them in again\n  \
     md    for an issue on GitHub or an article\n  \
     svg, png  the main chart, or that of --chart\n  \
     csv   a line for each cell and run, with ratio and interval\n  \
     json  answer, comparisons and whole records\n\n\
     Several runs: the first is the baseline, unless --baseline names another.\n\n\
     Examples:\n  \
     kurabe report -o report.html                 the last run\n  \
     kurabe report 7kq 9mz -o report.html         two runs held against each other\n  \
     kurabe report 7kq 9mz k3f --baseline 9mz -o shop.html --title 'Three sticks'\n  \
     kurabe report 7kq --chart positions -o curve.svg\n  \
     kurabe report 7kq 9mz                        Markdown, on standard output",
    "形式:\n  \
     html  ネットワーク不要の 1 ファイル(結論、表、グラフ、測定記録)\n        \
     (`kurabe import report.html` で取り込める)\n  \
     md    GitHub の Issue や Qiita などの記事に\n  \
     svg、png  主なグラフ、または --chart のもの\n  \
     csv   項目と測定ごとに 1 行(比と区間つき)\n  \
     json  結論、比較、測定記録のすべて\n\n\
     測定が複数なら最初のものが基準です(--baseline で変えられます)。\n\n\
     例:\n  \
     kurabe report -o report.html                 最後の測定\n  \
     kurabe report 7kq 9mz -o report.html         2 つの測定の比較\n  \
     kurabe report 7kq 9mz k3f --baseline 9mz -o shop.html --title '3 本の USB'\n  \
     kurabe report 7kq --chart positions -o curve.svg\n  \
     kurabe report 7kq 9mz                        Markdown を標準出力に"
))]
pub struct ReportArgs {
    #[arg(default_value = "last", value_name = "RUN", help = t("Ids, or unique beginnings of them", "測定の ID(先頭の一意な部分でも可)"))]
    pub runs: Vec<String>,
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, help = t("The file; its ending tells the format; - is standard output", "書き出すファイル(拡張子で形式が決まる。- は標準出力)"))]
    pub output: Option<PathBuf>,
    #[arg(long, short, value_name = "FORMAT", value_parser = PossibleValuesParser::new(FORMATS), help = t("Format [default: by the file's ending, else md]", "形式 [既定: 拡張子に従い、なければ md]"))]
    pub format: Option<String>,
    #[arg(long, value_name = "NAME", help = t("Which chart svg and png hold: forest, positions, series … [default: the main one]", "svg と png にするグラフ: forest、positions、series など [既定: 主なもの]"))]
    pub chart: Option<String>,
    #[arg(long, value_name = "RUN", help = t("The run that the others are held against [default: the first]", "基準にする測定 [既定: 最初のもの]"))]
    pub baseline: Option<String>,
    #[arg(long, value_name = "WORDS", help = t("The heading [default: what was measured]", "見出し [既定: 測った対象]"))]
    pub title: Option<String>,
    #[arg(long, value_name = "THEME", default_value = "auto", value_parser = PossibleValuesParser::new(["auto", "light", "dark"]), help = t("Colours; auto follows the reader's system (png: light)", "配色。auto は読む人の設定に従う(png は light)"))]
    pub theme: String,
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = margin, help = t("Differences up to this do not matter", "この割合までの差は問題にしない"))]
    pub margin: f64,
    #[arg(long, value_name = "WHAT", value_delimiter = ',', help = t("What you ask about, such as filesystem, firmware, link, device", "比べたい条件。例: filesystem、firmware、link、device"))]
    pub about: Vec<String>,
    #[arg(long, help = t("Without the paths of this machine: /path-1 instead of /home/…", "このマシンのパスを伏せる(/home/… を /path-1 に)"))]
    pub without_paths: bool,
    #[arg(long, help = t("Replace the file if it is there", "ファイルがあれば置き換える"))]
    pub force: bool,
}
