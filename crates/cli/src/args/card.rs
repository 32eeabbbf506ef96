//! Arguments of `kurabe card`.

use super::shared::ForceArgs;
use crate::lang::{below, t};
use clap::{Args, ValueHint, builder::PossibleValuesParser};
use kurabe_core::output_path::OutputPath;

#[derive(Debug, Args)]
#[command(after_help = below!("card"))]
pub struct CardArgs {
    #[arg(default_value = "last", value_name = "RUN", help = t("A run's id, a unique beginning of it, or a label that no other run has", "測定の ID(先頭の一意な部分や、1 つの測定だけが持つラベルでも可)"))]
    pub run: String,
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, help = t("A file that ends in .png or .svg; - is standard output, as PNG [default: kurabe-ID.png here]", "書き出すファイル(.png か .svg。- は標準出力に PNG)[既定: ここに kurabe-ID.png]"))]
    pub output: Option<OutputPath>,
    #[arg(long, value_name = "THEME", default_value = "light", value_parser = PossibleValuesParser::new(["light", "dark"]), help = t("Light or dark background", "背景の明暗"))]
    pub theme: String,
    #[command(flatten)]
    pub force: ForceArgs,
}
