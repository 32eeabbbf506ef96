//! Arguments of `kurabe price`, `kurabe on` and `kurabe mark`.

use super::paths::InputPath;
use super::serve::ServedModelArgs;
use super::shared::{ForceArgs, choice, unaccepted, worded};
use crate::lang::{below, t};
use clap::{Args, ValueHint};
use kurabe_core::output_path::OutputPath;
use kurabe_core::{quantity::parse_bytes, words::Keyword};
use kurabe_lab::{CutPlace, FileSystemKind, parse_percent, parse_writes};
use kurabe_report::Unaccepted;

/// The folder on a device of kurabe's in which a command runs.
#[derive(Debug, Args)]
pub struct FolderArgs {
    #[arg(long, value_name = "KIND", value_parser = choice(FileSystemKind::WORDS), default_value = "ext4", help = t("The file system that is made for it", "作成するファイルシステム"))]
    pub fs: FileSystemKind,
    #[arg(long, value_name = "SIZE", value_parser = |words: &str| parse_bytes(words).map_err(worded), default_value = "1GiB", help = t("Size of the file system; memory is taken for what is written", "ファイルシステムの大きさ(書き込んだ分だけメモリーを使う)"))]
    pub size: u64,
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath, help = t("Copy this file or folder into the command's folder before (may be repeated)", "開始前に、このファイルまたはフォルダーをコマンドのフォルダーへコピーする(繰り返し可)"))]
    pub with: Vec<InputPath>,
    #[arg(last = true, required = true, value_name = "COMMAND", help = t("The command and its arguments, run without a shell in a folder on that file system", "コマンドと引数(シェルは介さず、そのファイルシステム上のフォルダーで実行)"))]
    pub command: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = below!("price"))]
pub struct PriceArgs {
    #[arg(long, value_name = "NAME|FILE", default_value = "everyday", help = t("The devices: everyday, databases, or a TOML file", "デバイスの一覧: everyday、databases、または TOML ファイル"))]
    pub panel: String,
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=100), help = t("Record the command so often; what is not the same each time gets an interval", "コマンドを記録する回数。毎回同じでない値には区間を示す"))]
    pub runs: u16,
    #[arg(long, help = t("Count the pauses in which the command asks nothing", "コマンドが I/O をしていない時間も含める"))]
    pub pauses: bool,
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help = t("Save the bill to this file, for --against; - is standard output", "明細をこのファイルに保存する(--against 用。- は標準出力)"))]
    pub save: Option<OutputPath>,
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help = t("Say what changed since this bill", "この明細からの変化を示す"))]
    pub against: Option<InputPath>,
    #[arg(long, value_name = "PERCENT", default_value = "1%", requires = "against", value_parser = |words: &str| parse_percent(words).map_err(worded), help = t("Of what is not the same each time, differences up to this do not matter", "毎回同じでない値では、この割合までの差は問題にしない"))]
    pub margin: f64,
    #[arg(long, value_name = "slower|different", value_delimiter = ',', requires = "against", value_parser = unaccepted, help = t("Exit with 13 if it costs more than before, with 15 if anything changed", "以前より高くつくなら終了コード 13、何か変わったら 15 で終わる"))]
    pub fail_on: Vec<Unaccepted>,
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help = t("Exit with 16 if a limit of this TOML file is exceeded", "この TOML ファイルの上限を超えたら終了コード 16 で終わる"))]
    pub budget: Option<InputPath>,
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help = t("Write the bill as Markdown, for a pull request", "明細を Markdown で書く(プルリクエスト用)"))]
    pub markdown: Option<OutputPath>,
    #[arg(long, value_name = "FILE", requires = "budget", value_hint = ValueHint::FilePath, help = t("Write the limits of the budget as test cases, in JUnit's XML", "予算の各上限をテストケースとして JUnit の XML で書く"))]
    pub junit: Option<OutputPath>,
    #[command(flatten)]
    pub force: ForceArgs,
    #[command(flatten)]
    pub folder: FolderArgs,
}

#[derive(Debug, Args)]
#[command(after_help = below!("on"))]
pub struct OnArgs {
    #[command(flatten)]
    pub model: ServedModelArgs,
    #[arg(long, value_name = "LAYER,…", value_delimiter = ',', help = t("Leave layers out, beside the computer and the file system, which are real here", "層を省く(コンピューターとファイルシステムは本物を使うので常に省く)"))]
    pub without: Vec<String>,
    #[arg(long, value_name = "N", default_value_t = 1, help = t("Seed of what is random in the model, and of the first power cut", "モデルの乱数と、最初の電源断のシード"))]
    pub seed: u64,
    #[arg(long, help = t("Exit with 14 if answers took more than 5 % longer than the model says: this machine was too slow or too busy", "応答がモデルより 5 % を超えて遅れたら終了コード 14 で終わる(このマシンが遅いか混んでいる)"))]
    pub in_time: bool,
    #[arg(long, value_name = "N-writes", num_args = 0..=1, default_missing_value = "anywhere", value_parser = cut_place, help = t("Cut the power under the command after so many of its writes [without a number: anywhere, by the seed], and look at what is left; exit with 17 if something is lost", "コマンドの実行中、N 回目の書き込みの後に電源を断ち、残ったデータを調べる [回数を省くとシードで決まる場所]。失われたものがあれば終了コード 17"))]
    pub cut_power: Option<CutPlace>,
    #[arg(long, value_name = "COMMAND", requires = "cut_power", help = t("A line of the shell, run there after each cut: it fails if something is lost; $KURABE_OUTSIDE is a folder that the cut spares [default: the file system must mount]", "電源断のたびに実行するシェルの 1 行。失われたものがあれば失敗すること。$KURABE_OUTSIDE は電源断の影響を受けないフォルダー [既定: マウントできればよい]"))]
    pub check: Option<String>,
    #[arg(long, value_name = "N", default_value_t = 1, requires = "cut_power", value_parser = clap::value_parser!(u64).range(1..=100_000), help = t("So many cuts, each with the next seed", "電源断の回数(シードを 1 つずつ進める)"))]
    pub seeds: u64,
    #[arg(long, requires = "cut_power", help = t("A write that a cut meets may be there in part", "電源断にあった書き込みは一部だけ残ることもある"))]
    pub torn: bool,
    #[command(flatten)]
    pub folder: FolderArgs,
}

/// Parses where power is cut: `anywhere`, or a number of writes such as `100-writes`.
fn cut_place(words: &str) -> Result<CutPlace, String> {
    if words == "anywhere" {
        return Ok(CutPlace::Anywhere);
    }
    parse_writes(words).map(CutPlace::After).map_err(worded)
}

#[derive(Debug, Args)]
pub struct MarkArgs {
    #[arg(value_name = "NAME", help = t("The phase that begins now, on the bill of who records this command; elsewhere nothing happens", "これから始まるフェーズの名前(記録中の明細に載る。記録中でなければ何もしない)"))]
    pub name: String,
}
