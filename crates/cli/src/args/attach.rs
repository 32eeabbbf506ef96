//! The words of `kurabe attach` and `kurabe detach`.

use super::serve::ServedArgs;
use crate::lang::t;
use clap::{Args, ValueHint};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = t(
    "The device is a loop device on a FUSE file, so no module is needed, but root is.\n\
     It answers in real time, as the model would; models of 1 ms and more hold. It\n\
     stays in the background until `kurabe detach`; what it says then is also in\n\
     /run/kurabe/attach.log. Its name is on standard output, the rest is not. What a\n\
     kill left is removed at the next start.\n\n\
     Examples:\n  \
     dev=$(kurabe attach model:samsung-870-evo)\n  \
     mkfs.ext4 \"$dev\" && mount \"$dev\" /mnt\n  \
     kurabe control \"$dev\" stats\n  \
     umount /mnt && kurabe detach \"$dev\"\n  \
     kurabe attach model:mirror3-usb --without zfs,mirror --exports 3\n  \
     kurabe attach model:toshiba-hg3 --data file:disk.img --foreground",
    "デバイスは FUSE のファイルに載せたループデバイスです。モジュールは不要ですが、\n\
     root 権限が必要です。モデルと同じ時間をかけて応答し、1 ms 以上かかるモデルなら\n\
     時間を守れます。`kurabe detach` までバックグラウンドで動き、最後の表示は\n\
     /run/kurabe/attach.log にも残ります。標準出力にはデバイス名だけを書きます。\n\
     強制終了で残ったものは次の起動時に片付けます。\n\n\
     例:\n  \
     dev=$(kurabe attach model:samsung-870-evo)\n  \
     mkfs.ext4 \"$dev\" && mount \"$dev\" /mnt\n  \
     kurabe control \"$dev\" stats\n  \
     umount /mnt && kurabe detach \"$dev\"\n  \
     kurabe attach model:mirror3-usb --without zfs,mirror --exports 3\n  \
     kurabe attach model:toshiba-hg3 --data file:disk.img --foreground"
))]
pub struct AttachArgs {
    #[arg(long, help = t("Stay in the foreground until Ctrl-C or `kurabe detach`", "Ctrl-C か `kurabe detach` までフォアグラウンドで動く"))]
    pub foreground: bool,
    #[command(flatten)]
    pub served: ServedArgs,
}

#[derive(Debug, Args)]
#[command(after_help = t(
    "What is in use is refused: umount it first. All devices of one `kurabe attach`\n\
     go together.\n\n\
     Examples:\n  \
     kurabe detach /dev/loop3\n  \
     kurabe detach --json /dev/loop3",
    "使用中のデバイスは切り離しません。先に umount してください。1 回の\n\
     `kurabe attach` で接続したデバイスはまとめて切り離されます。\n\n\
     例:\n  \
     kurabe detach /dev/loop3\n  \
     kurabe detach --json /dev/loop3"
))]
pub struct DetachArgs {
    #[arg(value_name = "DEVICE", value_hint = ValueHint::FilePath, help = t("A device that `kurabe attach` printed", "`kurabe attach` が表示したデバイス"))]
    pub device: PathBuf,
}
