//! Arguments of `kurabe vm`.

use super::help_table::help;
use super::paths::{InputPath, SocketPath, TargetPath};
use crate::lang::below;
use clap::{Args, ValueHint};

#[derive(Debug, Args)]
#[command(after_help = below!("vm"))]
pub struct VmArgs {
    #[arg(value_name = "model:NAME", value_hint = ValueHint::FilePath, help = help("served-model.model"))]
    pub target: TargetPath,
    #[arg(long, value_name = "LAYER.PARAMETER=VALUE", help = help("vm.set"))]
    pub set: Vec<String>,
    #[arg(long, value_name = "LAYER,…", value_delimiter = ',', help = help("vm.without"))]
    pub without: Vec<String>,
    #[arg(long, value_name = "N", default_value_t = 1, help = help("vm.exports"))]
    pub exports: usize,
    #[arg(long, value_name = "PLACE", default_value = "memory", help = help("vm.data"))]
    pub data: String,
    #[arg(long, value_name = "IMAGE", value_hint = ValueHint::FilePath, help = help("vm.guest"))]
    pub guest: Option<InputPath>,
    #[arg(
        long, value_name = "PATH", value_hint = ValueHint::FilePath, default_value = "vm.sock",
        help = help("vm.socket")
    )]
    pub socket: SocketPath,
}
