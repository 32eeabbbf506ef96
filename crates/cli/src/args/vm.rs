//! Arguments of `kurabe vm`.

use super::paths::{InputPath, SocketPath, TargetPath};
use crate::lang::{below, t};
use clap::{Args, ValueHint};

#[derive(Debug, Args)]
#[command(after_help = below!("vm"))]
pub struct VmArgs {
    #[arg(value_name = "model:NAME", value_hint = ValueHint::FilePath, help = t("The model (see `kurabe models`), or model:FILE.toml", "モデル(`kurabe models` を参照)、または model:ファイル.toml"))]
    pub target: TargetPath,
    #[arg(long, value_name = "LAYER.PARAMETER=VALUE", help = t("As for `kurabe serve`", "`kurabe serve` と同じ"))]
    pub set: Vec<String>,
    #[arg(long, value_name = "LAYER,…", value_delimiter = ',', help = t("As for `kurabe serve`: what the guest's own stands for", "`kurabe serve` と同じ。ゲスト側のものに置き換わる層を省く"))]
    pub without: Vec<String>,
    #[arg(long, value_name = "N", default_value_t = 1, help = t("So many disks of a shared bus, each a disk of the guest", "共有バス上のディスクを N 台、それぞれゲストのディスクにする"))]
    pub exports: usize,
    #[arg(long, value_name = "PLACE", default_value = "memory", help = t("As for `kurabe serve`; with file:PATH or over:IMAGE the guest starts from the model", "`kurabe serve` と同じ。file:パス、over:イメージならゲストはモデルから起動する"))]
    pub data: String,
    #[arg(long, value_name = "IMAGE", value_hint = ValueHint::FilePath, help = t("The image that the guest starts from, .qcow2 or raw [default: guest.qcow2, or the model]", "ゲストが起動するイメージ(.qcow2 または raw)[既定: guest.qcow2、またはモデル]"))]
    pub guest: Option<InputPath>,
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath, default_value = "vm.sock", help = t("The socket between the two", "両者をつなぐソケット"))]
    pub socket: SocketPath,
}
