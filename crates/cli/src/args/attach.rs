//! Arguments of `kurabe attach` and `kurabe detach`.

use super::help_table::help;
use super::paths::DevicePath;
use super::serve::ServedArgs;
use super::shared::choice;
use crate::lang::below;
use clap::{Args, ValueHint};
use kurabe_serve::AttachBy;

const WAYS: [(&str, AttachBy); 3] =
    [("auto", AttachBy::Auto), ("nbd", AttachBy::Nbd), ("fuse", AttachBy::Fuse)];

#[derive(Debug, Args)]
#[command(after_help = below!("attach"))]
pub struct AttachArgs {
    #[arg(long, help = help("attach.foreground"))]
    pub foreground: bool,
    #[arg(
        long, value_parser = choice(&WAYS), value_name = "WAY", hide_possible_values = true,
        default_value = "auto",
        help = help("attach.by")
    )]
    pub by: AttachBy,
    #[command(flatten)]
    pub served: ServedArgs,
}

#[derive(Debug, Args)]
#[command(after_help = below!("detach"))]
pub struct DetachArgs {
    #[arg(value_name = "DEVICE", value_hint = ValueHint::FilePath, help = help("detach.device"))]
    pub device: DevicePath,
}
