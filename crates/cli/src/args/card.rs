//! The words of `kurabe card`.

use crate::lang::{below, t};
use clap::{Args, ValueHint, builder::PossibleValuesParser};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = below!("card"))]
pub struct CardArgs {
    #[arg(default_value = "last", value_name = "RUN", help = t("A run's id, a unique beginning of it, or a label that no other run has", "測定の ID(先頭の一意な部分や、1 つの測定だけが持つラベルでも可)"))]
    pub run: String,
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, help = t("A new file that ends in .png or .svg [default: kurabe-ID.png here]", "新しいファイル(.png か .svg)[既定: ここに kurabe-ID.png]"))]
    pub output: Option<PathBuf>,
    #[arg(long, value_name = "THEME", default_value = "light", value_parser = PossibleValuesParser::new(["light", "dark"]), help = t("Light or dark background", "背景の明暗"))]
    pub theme: String,
    #[arg(long, help = t("Overwrite the file if it is there", "ファイルがあれば上書きする"))]
    pub force: bool,
}
