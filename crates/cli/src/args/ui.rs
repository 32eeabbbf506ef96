//! Arguments of `kurabe ui`.

use crate::lang::{below, t};
use clap::Args;
use std::net::IpAddr;

#[derive(Debug, Args)]
#[command(after_help = below!("ui"))]
pub struct UiArgs {
    #[arg(long, value_name = "N", default_value_t = 0, help = t("The port; 0 is any free one", "ポート。0 なら空きポート"))]
    pub port: u16,
    #[arg(long, help = t("Print the address, start no browser (as root none is started)", "アドレスだけを表示し、ブラウザーを起動しない(root では常に起動しない)"))]
    pub no_open: bool,
    #[arg(long, value_name = "ADDRESS", requires = "i_know", help = t("Listen on an address that other machines reach", "ほかのマシンから届くアドレスで待ち受ける"))]
    pub listen: Option<IpAddr>,
    #[arg(long, requires = "listen", help = t("With --listen: what goes over the network is not encrypted, and who gets the address can measure here", "--listen と併用。通信が暗号化されず、アドレスにアクセスできる人は誰でもここで測定できることを承知する"))]
    pub i_know: bool,
}
