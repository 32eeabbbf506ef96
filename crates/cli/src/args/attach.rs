//! Arguments of `kurabe attach` and `kurabe detach`.

use super::paths::DevicePath;
use super::serve::ServedArgs;
use super::shared::choice;
use crate::lang::{below, t};
use clap::{Args, ValueHint};
use kurabe_serve::AttachBy;

const WAYS: [(&str, AttachBy); 3] =
    [("auto", AttachBy::Auto), ("nbd", AttachBy::Nbd), ("fuse", AttachBy::Fuse)];

#[derive(Debug, Args)]
#[command(after_help = below!("attach"))]
pub struct AttachArgs {
    #[arg(long, help = t("Stay in the foreground until Ctrl-C or `kurabe detach`", "Ctrl-C か `kurabe detach` までフォアグラウンドで動く"))]
    pub foreground: bool,
    #[arg(long, value_parser = choice(&WAYS), value_name = "WAY", hide_possible_values = true, default_value = "auto", help = t("What makes the device: nbd (the kernel's driver: fewer threads on the way, knows FUA), fuse (FUSE and a loop device: no module) or auto (nbd where it is loaded and has enough free devices)", "デバイスの作り方: nbd(カーネルのドライバー。経由するスレッドが少なく FUA も使える)、fuse(FUSE とループデバイス。モジュール不要)、auto(nbd が読み込み済みで空きが足りれば nbd)"))]
    pub by: AttachBy,
    #[command(flatten)]
    pub served: ServedArgs,
}

#[derive(Debug, Args)]
#[command(after_help = below!("detach"))]
pub struct DetachArgs {
    #[arg(value_name = "DEVICE", value_hint = ValueHint::FilePath, help = t("A device that `kurabe attach` printed", "`kurabe attach` が表示したデバイス"))]
    pub device: DevicePath,
}
