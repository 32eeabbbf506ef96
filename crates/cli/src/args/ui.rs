//! The words of `kurabe ui`.

use crate::lang::t;
use clap::Args;
use std::net::IpAddr;

#[derive(Debug, Args)]
#[command(after_help = t(
    "The page is on this machine alone, and for the browser that opens the address\n\
     first: an address works once. Ctrl-C ends it; a run that goes on is stopped and\n\
     kept. Closing a window stops nothing. The page writes to no device and to no\n\
     existing file.\n\n\
     Examples:\n  \
     kurabe ui\n  \
     kurabe ui --port 8080 --no-open",
    "ページはこのマシンの中だけで開けます。アドレスは 1 回だけ有効で、最初に開いた\n\
     ブラウザーで使えます。Ctrl-C で終了し、測定中なら停止して結果を残します。\n\
     ウィンドウを閉じても測定は続きます。ページからデバイスや既存のファイルに書き\n\
     込むことはありません。\n\n\
     例:\n  \
     kurabe ui\n  \
     kurabe ui --port 8080 --no-open"
))]
pub struct UiArgs {
    #[arg(long, value_name = "N", default_value_t = 0, help = t("The port; 0 is any free one", "ポート。0 なら空きポート"))]
    pub port: u16,
    #[arg(long, help = t("Print the address, start no browser (as root none is started)", "アドレスだけを表示し、ブラウザーを起動しない(root では常に起動しない)"))]
    pub no_open: bool,
    #[arg(long, value_name = "ADDRESS", requires = "i_know", help = t("Listen on an address that other machines reach", "ほかのマシンから届くアドレスで待ち受ける"))]
    pub listen: Option<IpAddr>,
    #[arg(long, requires = "listen", help = t("With --listen: what goes over the network is not encrypted, and who gets the address can measure here", "--listen と併用。通信は暗号化されず、アドレスを知った人はここで測定できることを承知する"))]
    pub i_know: bool,
}
