//! The words of `kurabe attach` and `kurabe detach`.

use super::serve::ServedArgs;
use crate::lang::t;
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum, ValueHint};
use kurabe_serve::AttachBy;
use std::path::PathBuf;

/// `--by`
#[derive(Clone, Copy, Debug)]
pub struct AttachWay(pub AttachBy);

impl ValueEnum for AttachWay {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self(AttachBy::Auto), Self(AttachBy::Nbd), Self(AttachBy::Fuse)]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(match self.0 {
            AttachBy::Auto => "auto",
            AttachBy::Nbd => "nbd",
            AttachBy::Fuse => "fuse",
        }))
    }
}

#[derive(Debug, Args)]
#[command(after_help = t(
    "The device is one of the kernel's own NBD driver where that is loaded (`modprobe\n\
     nbd`), else a loop device on a FUSE file, which needs no module. Both need root.\n\
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
    "カーネルの NBD ドライバーが読み込まれていれば(`modprobe nbd`)そのデバイスを、\n\
     なければ FUSE のファイルに載せたループデバイス(モジュール不要)を使います。\n\
     どちらも root 権限が必要です。モデルと同じ時間をかけて応答し、1 ms 以上かかるモデルなら\n\
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
    #[arg(long, value_enum, value_name = "WAY", hide_possible_values = true, default_value = "auto", help = t("What makes the device: nbd (the kernel's driver: fewer threads on the way, knows FUA), fuse (FUSE and a loop device: no module) or auto (nbd where it is loaded and has enough free devices)", "デバイスの作り方: nbd(カーネルのドライバー。経由するスレッドが少なく FUA も使える)、fuse(FUSE とループデバイス。モジュール不要)、auto(nbd が読み込み済みで空きが足りれば nbd)"))]
    pub by: AttachWay,
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
