//! Arguments of `kurabe serve` and `kurabe control`.

use super::paths::{SocketPath, TargetPath};
use super::shared::{ForceArgs, duration_or_zero, worded};
use crate::lang::{below, t};
use clap::{Args, Subcommand, ValueHint, builder::PossibleValuesParser};
use kurabe_core::Result;
use kurabe_core::output_path::OutputPath;
use kurabe_lab::{ServedRequest, assignments, parse_writes};
use kurabe_serve::{DeviceFault, PowerRules, attachments_folder};

const TIME_EN: &str = "Time";
const TIME_JA: &str = "時間";
const POWER_EN: &str = "Power cuts";
const POWER_JA: &str = "電源断";

#[derive(Debug, Args)]
#[command(after_help = below!("serve"))]
pub struct ServeArgs {
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath, required_unless_present = "port", conflicts_with = "port", help = t("A Unix socket, made anew, for this user alone", "Unix ソケット(新しく作り、このユーザーだけが使える)"))]
    pub socket: Option<SocketPath>,
    #[arg(long, value_name = "N", help = t("A TCP port of 127.0.0.1, for every user of this machine; 0 is any free one", "127.0.0.1 の TCP ポート(このマシンの全ユーザーが使える)。0 なら空きポート"))]
    pub port: Option<u16>,
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath, help = t("The socket for `kurabe control` [default: SOCKET.control; none with --port]", "`kurabe control` 用のソケット [既定: ソケット名.control。--port ではなし]"))]
    pub control: Option<SocketPath>,
    #[command(flatten)]
    pub served: ServedArgs,
}

/// The model that is served, and what is wrong with it, whoever uses it.
#[derive(Debug, Args)]
pub struct ServedModelArgs {
    #[arg(value_name = "model:NAME", help = t("The model (see `kurabe models`), or model:FILE.toml", "モデル(`kurabe models` を参照)、または model:ファイル.toml"))]
    pub target: TargetPath,
    #[arg(long, value_name = "LAYER.PARAMETER=VALUE", help = t("Change a parameter of the model, as in flash.program_rate=10MB/s (may be repeated)", "モデルのパラメーターを変える。例: flash.program_rate=10MB/s(繰り返し可)"))]
    pub set: Vec<String>,
    #[arg(long, value_name = "WHAT[@WHERE][@WHEN]", value_parser = |words: &str| DeviceFault::parse(words).map_err(worded), help = t("Something is wrong with the device, as in error:read@1GiB+64KiB, slow:200ms, hang:10s@after-1000-writes, read-only@after-2GiB, lie-about-flush (may be repeated)", "デバイスの故障。例: error:read@1GiB+64KiB、slow:200ms、hang:10s@after-1000-writes、read-only@after-2GiB、lie-about-flush(繰り返し可)"))]
    pub fault: Vec<DeviceFault>,
}

impl ServedModelArgs {
    /// Returns the changes to the model's parameters.
    ///
    /// # Errors
    /// When a change is malformed.
    pub fn sets(&self) -> Result<Vec<(String, String)>> {
        assignments("--set", &self.set, "flash.program_rate=10MB/s")
    }
}

/// What is said of a served model, whatever way programs get to it.
#[derive(Debug, Args)]
pub struct ServedArgs {
    #[command(flatten)]
    pub model: ServedModelArgs,
    #[arg(long, value_name = "LAYER,…", value_delimiter = ',', help = t("Leave layers out, such as the file system or the mirror that a real one stands for", "層を省く。例: 本物を載せるのでモデルのファイルシステムやミラーは省く"))]
    pub without: Vec<String>,
    #[arg(long, value_name = "N", default_value_t = 1, help = t("Serve so many of the disks on a shared bus, as exports 0, 1, 2 …; attached, a device each", "共有バス上のディスクを N 台、エクスポート 0、1、2… として公開する(attach ではデバイスが 1 台ずつ)"))]
    pub exports: usize,
    #[arg(long, value_name = "PLACE", default_value = "memory", help = t("Where the bytes are: memory, file:PATH (kept), over:IMAGE (only read, changes in memory) or pattern (computed; writes are forgotten)", "データの置き場所: memory、file:パス(残る)、over:イメージ(読むだけ。変更はメモリー上)、pattern(計算で作る。書き込みは捨てる)"))]
    pub data: String,
    #[arg(long, help = t("With file:, a file that is there already and that kurabe did not make may be written to", "file: で、kurabe が作ったものではない既存のファイルへの書き込みを許す"))]
    pub write_existing: bool,
    #[arg(long, value_name = "N", default_value_t = 1, help = t("Seed of what is random in the model and in a power cut", "モデルと電源断の乱数のシード"))]
    pub seed: u64,
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help = t("Write model, figures and lateness to this file at the end (JSON); - is standard output", "終了時に、モデル、数値、遅れをこのファイルに書く(JSON。- は標準出力)"))]
    pub record: Option<OutputPath>,
    #[command(flatten)]
    pub force: ForceArgs,

    #[arg(long, value_name = "TIME", value_parser = duration_or_zero, default_value = "50us", help_heading = t(TIME_EN, TIME_JA), help = t("Wait awake for the last stretch before an answer is due; 0 always sleeps, and answers some 50 µs later", "応答時刻の直前は眠らずに待つ。0 なら常に眠り、応答は 50 µs ほど遅れる"))]
    pub spin: u64,
    #[arg(long, value_name = "TIME", value_parser = duration_or_zero, help_heading = t(TIME_EN, TIME_JA), help = t("What a round trip of the socket costs, which clients are not charged with [default: measured at the start]", "ソケットの往復にかかる時間(クライアントには負担させない)[既定: 開始時に測る]"))]
    pub round_trip: Option<u64>,

    #[arg(long, help_heading = t(POWER_EN, POWER_JA), help = t("Keep what `kurabe control SOCKET cut` needs: what was overwritten and not flushed", "`kurabe control ソケット cut` に備え、フラッシュ前に上書きされた内容を残しておく"))]
    pub power_cuts: bool,
    #[arg(long, value_name = "N-writes", value_parser = |words: &str| parse_writes(words).map_err(worded), help_heading = t(POWER_EN, POWER_JA), help = t("Cut power after so many acknowledged writes: what the model's caches hold is lost or not by the seed, clients are dropped, and who connects again finds what is left", "N 回の書き込みに応答したところで電源を断つ。モデルのキャッシュ内のデータが残るかはシードで決まり、接続は切れ、再接続すると残ったデータが見える"))]
    pub cut_after: Option<u64>,
    #[arg(long, help_heading = t(POWER_EN, POWER_JA), help = t("A write that a cut meets may be there in part", "電源断にあった書き込みは一部だけ残ることもある"))]
    pub torn: bool,
}

impl ServedArgs {
    /// Returns the request of these arguments.
    ///
    /// # Errors
    /// When a change of the model is malformed.
    pub fn request(&self) -> Result<ServedRequest> {
        let cuts_power = self.power_cuts || self.cut_after.is_some() || self.torn;
        Ok(ServedRequest {
            target: self.model.target.0.clone(),
            sets: self.model.sets()?,
            without: self.without.clone(),
            exports: self.exports,
            data: self.data.clone(),
            write_existing: self.write_existing,
            seed: self.seed,
            spin_ns: self.spin,
            round_trip_ns: self.round_trip,
            power: cuts_power.then_some(PowerRules {
                after_writes: self.cut_after,
                seed: self.seed,
                torn: self.torn,
            }),
            faults: self.model.fault.clone(),
            noted_in: attachments_folder().ok(),
        })
    }
}

#[derive(Debug, Args)]
#[command(after_help = below!("control"))]
pub struct ControlArgs {
    #[arg(value_name = "SOCKET", value_hint = ValueHint::FilePath, help = t("The socket that `kurabe serve` was given, its control socket, or an attached device", "`kurabe serve` に指定したソケット、その制御用ソケット、または attach のデバイス"))]
    pub socket: SocketPath,
    #[command(subcommand)]
    pub action: ControlAction,
}

#[derive(Debug, Subcommand)]
pub enum ControlAction {
    #[command(about = t("How many requests, how late, who was to blame", "要求の数、応答の遅れ、その原因"))]
    Stats {
        #[arg(long, help = t("A line each second until the server ends: that second, and in brackets all so far", "サーバーの終了まで 1 秒ごとに 1 行表示する(その 1 秒の値。かっこ内は開始からの値)"))]
        watch: bool,
    },
    #[command(about = t("Change a live parameter; `kurabe models show` marks them", "動作中に変えられるパラメーターを変える(`kurabe models show` に印がある)"))]
    Set {
        #[arg(value_name = "LAYER.PARAMETER=VALUE", help = t("As in flash.program_rate=10MB/s", "例: flash.program_rate=10MB/s"))]
        assignment: String,
    },
    #[command(about = t("A member of a mirror or a RAID fails", "ミラーや RAID のメンバーを故障させる"))]
    Member {
        #[arg(value_name = "N", help = t("Its place, from 0", "番号(0 から)"))]
        member: usize,
        #[arg(value_name = "STATE", value_parser = PossibleValuesParser::new(["offline"]), help = t("What becomes of it", "どうするか"))]
        state: String,
        #[arg(long, value_name = "NAME", help = t("Its layer [default: the first that has such a member]", "層 [既定: そのメンバーを持つ最初の層]"))]
        layer: Option<String>,
    },
    #[command(about = t("Flash is at once as random writes over all of it leave it in the end", "フラッシュを、ランダム書き込みを続けた後の状態にする"))]
    Wear {
        #[arg(long, value_name = "NAME", help = t("Its layer [default: the first that wears]", "層 [既定: 摩耗する最初の層]"))]
        layer: Option<String>,
    },
    #[command(about = t("Cut power now (of a server with --power-cuts)", "いま電源を断つ(--power-cuts 付きのサーバー)"))]
    Cut {
        #[arg(long, value_name = "N-writes", value_parser = |words: &str| parse_writes(words).map_err(worded), help = t("After so many more acknowledged writes [default: now]", "あと N 回の書き込みに応答したところで断つ [既定: いますぐ]"))]
        after: Option<u64>,
    },
    #[command(about = t("Something is wrong with the device from now on, or nothing any more", "いまから故障させる、または故障をすべて直す"))]
    Fault {
        #[arg(value_name = "WHAT[@WHERE][@WHEN]|none", help = t("As `kurabe serve --fault` takes it; none lifts all, and what they held up is answered", "`kurabe serve --fault` と同じ書き方。none ならすべて直し、止まっていた要求に応答する"))]
        fault: String,
    },
    #[command(about = t("Give an attached device its power back after a cut, once nothing is mounted on it", "電源断の後、マウントを外した接続デバイスに電源を戻す"))]
    PowerOn,
}
