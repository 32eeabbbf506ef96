//! Arguments of `kurabe ui`.

use super::help_table::help;
use crate::lang::below;
use clap::Args;
use std::net::IpAddr;

#[derive(Debug, Args)]
#[command(after_help = below!("ui"))]
pub struct UiArgs {
    #[arg(long, value_name = "N", default_value_t = 0, help = help("ui.port"))]
    pub port: u16,
    #[arg(long, help = help("ui.no-open"))]
    pub no_open: bool,
    #[arg(long, value_name = "ADDRESS", requires = "i_know", help = help("ui.listen"))]
    pub listen: Option<IpAddr>,
    #[arg(long, requires = "listen", help = help("ui.i-know"))]
    pub i_know: bool,
}
