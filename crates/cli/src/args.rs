//! The command line, in both languages.

mod card;
mod report;
mod study;

pub use card::CardArgs;
pub use report::{FORMATS, ReportArgs};
pub use study::{CatalogueAction, CatalogueArgs, StudyAction, StudyArgs, StudyRunArgs};

use crate::lang::t;
use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueHint};
use kurabe_core::Text;
use kurabe_core::profile::{MOST_IODEPTH, MOST_THREADS, parse_block_size};
use kurabe_core::quantity::{parse_bytes, parse_duration_ns};
use std::path::PathBuf;

/// kurabe.
#[derive(Debug, Parser)]
#[command(
    name = "kurabe",
    version,
    about = t(
        "Measure storage as reviewers do, and keep the result with all that it stood on.",
        "レビュアーと同じ手順でストレージを測り、条件ごと記録します。"
    ),
    after_help = t(
        "First steps:\n  kurabe run                measure the storage here, in about a minute\n  \
         kurabe run --profile quick /mnt/usb\n  kurabe profiles           what it can measure like\n  \
         kurabe models             devices that are not at hand: kurabe run model:NAME\n  \
         kurabe list               the runs so far\n  kurabe import result.txt  what another tool measured\n  \
         kurabe record /mnt/usb -o trace.iolog -- COMMAND\n                            what a command does to a device, to replay it\n  \
         kurabe doctor             what this machine allows\n\n\
         Exit codes: 0 done, 2 wrong command line, 3 wrong profile, 4 unusable target, 5 no permission, 6 refused to \
         protect data, 7 no space, 8 the target failed, 9 the store, 10 not supported, 11 import, 12 no such run, \
         130 interrupted, 1 anything else.",
        "はじめに:\n  kurabe run                このディレクトリのストレージを測る(約 1 分)\n  \
         kurabe run --profile quick /mnt/usb\n  kurabe profiles           再現できる測り方の一覧\n  \
         kurabe models             手元にないデバイスのモデル(kurabe run model:名前)\n  \
         kurabe list               これまでの測定\n  kurabe import result.txt  ほかのツールの結果を取り込む\n  \
         kurabe record /mnt/usb -o trace.iolog -- コマンド\n                            コマンドの I/O を記録し、あとで再生する\n  \
         kurabe doctor             このマシンでできること\n\n\
         終了コード: 0 完了、2 コマンドラインの誤り、3 プロファイルの誤り、4 測れない対象、5 権限なし、6 データ保護のため拒否、\
         7 空き不足、8 対象の I/O エラー、9 保存先、10 未対応、11 取り込み、12 該当する測定なし、130 中断、1 その他。"
    )
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub global: Global,
}

#[derive(Debug, Args)]
pub struct Global {
    /// Where runs are stored.
    #[arg(
        long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath,
        help = t(
            "The store [default: $KURABE_DB, or kurabe.db in the user's data directory]",
            "保存先 [既定: $KURABE_DB、なければユーザーデータディレクトリの kurabe.db]"
        )
    )]
    pub db: Option<PathBuf>,
    #[arg(long, global = true, help = t("JSON on standard output, for scripts", "標準出力に JSON を出す(スクリプト用)"))]
    pub json: bool,
    #[arg(long, short, global = true, help = t("No progress on standard error", "進行状況を表示しない"))]
    pub quiet: bool,
    #[arg(
        long, global = true, value_name = "LANG", value_parser = PossibleValuesParser::new(["en", "ja"]),
        help = t("Language [default: from the locale]", "言語 [既定: ロケールに従う]")
    )]
    pub lang: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    #[command(about = t("Measure a directory, a file or a block device", "ディレクトリ、ファイル、ブロックデバイスを測る"))]
    Run(Box<RunArgs>),
    #[command(about = t("List the stored runs", "保存した測定の一覧"))]
    List,
    #[command(about = t("Show a stored run", "保存した測定を表示"))]
    Show(ShowArgs),
    #[command(about = t("What limited each cell of a run, with the evidence; where the time of a modelled run went", "各項目のボトルネックと根拠。モデルの測定では時間の内訳も示す"))]
    Why(WhyArgs),
    #[command(about = t("Compare two stored runs cell by cell, with a verdict and what else differed", "2 つの測定を項目ごとに比べ、判定と、ほかに違った条件を示す"))]
    Compare(CompareArgs),
    #[command(about = t("Which of several stored runs suits a use, and how firm that is", "複数の測定のうち、用途に向くのはどれか。順位の確かさも示す"))]
    Recommend(RecommendArgs),
    #[command(about = t("The same device and profile over time: faster, slower, stutters more?", "同じデバイスと同じプロファイルの推移(速くなったか、遅くなったか、止まりやすくなったか)"))]
    History(HistoryArgs),
    #[command(about = t("Write a report of runs: a page, Markdown, a picture, CSV or JSON", "測定をレポートにする(HTML、Markdown、画像、CSV、JSON)"))]
    Report(ReportArgs),
    #[command(about = t("A picture of a run to post: PNG or SVG", "測定の要点を 1 枚の画像にする(PNG または SVG、投稿用)"))]
    Card(CardArgs),
    #[command(about = t("Remove stored runs", "保存した測定を削除"))]
    Rm(RunIds),
    #[command(about = t("Label a run: key=value sets, key= removes", "測定にラベルを付ける(key=value で設定、key= で削除)"))]
    Label(LabelArgs),
    #[command(about = t("Write runs as JSON, as a fio job, as CrystalDiskMark's text, as CSV or Markdown", "測定を JSON、fio ジョブ、CrystalDiskMark のテキスト、CSV、Markdown で書き出す"))]
    Export(ExportArgs),
    #[command(about = t("Take in exported runs, and results of other tools", "書き出した測定や、ほかのツールの結果を取り込む"))]
    Import(ImportArgs),
    #[command(about = t("Record what a command does to the device under a directory, to replay it", "コマンドがデバイスに対して行う I/O を記録し、再生できるようにする"))]
    Record(RecordArgs),
    #[command(about = t("Run an article's whole experiment on models or on your own devices", "記事の実験全体をモデルや手元の機器で実行する"))]
    Study(StudyArgs),
    #[command(about = t("Published figures with their sources: list, search, show", "出典つきの公表値の一覧、検索、表示"))]
    Catalogue(CatalogueArgs),
    #[command(about = t("List the profiles, or show one", "プロファイルの一覧と内容"))]
    Profiles(ProfilesArgs),
    #[command(about = t("List the models of devices, or show what one is made of", "デバイスのモデルの一覧と、その構成"))]
    Models(ModelsArgs),
    #[command(about = t("What this machine allows, and what kurabe itself costs", "このマシンでできることと、kurabe 自身のコスト"))]
    Doctor(DoctorArgs),
    #[command(about = t("Print shell completions", "シェル補完を出力"))]
    Completions {
        #[arg(help = t("The shell", "シェル"))]
        shell: clap_complete::Shell,
    },
    #[command(about = t("Print the manual page", "マニュアルページを出力"))]
    Man,
}

const SINGLE_EN: &str = "A single workload, without a profile (fio's words)";
/// The words of the trace formats, as kurabe-interop has them.
const TRACE_FORMATS: [&str; 8] =
    ["fio-iolog", "blkparse", "blkparse-issued", "msr", "spc", "mqsim", "ssdsim", "disksim"];
const REPLAY_EN: &str = "A trace, done again";
const REPLAY_JA: &str = "トレースの再生";
const SINGLE_JA: &str = "プロファイルを使わない単独のワークロード(fio の用語)";

#[derive(Debug, Args)]
#[command(after_help = t(
    "Examples:\n  kurabe run                                the default profile, here\n  \
     kurabe run --profile cdm-9 /mnt/usb       as CrystalDiskMark 9 does\n  \
     kurabe run --bs 4k --iodepth 32 --rw randread --time 10s /mnt/ssd\n  \
     kurabe run --profile git-pull /mnt/usb    a real git pull, cold cache\n  \
     kurabe run --replay trace.iolog /mnt/ssd  what was recorded elsewhere\n  \
     kurabe run /dev/sdb                       reads only; nothing is written\n  \
     kurabe run --destroy-data-on /dev/sdb /dev/sdb",
    "例:\n  kurabe run                                既定のプロファイルでここを測る\n  \
     kurabe run --profile cdm-9 /mnt/usb       CrystalDiskMark 9 と同じ手順\n  \
     kurabe run --bs 4k --iodepth 32 --rw randread --time 10s /mnt/ssd\n  \
     kurabe run --profile git-pull /mnt/usb    本物の git pull をキャッシュなしで\n  \
     kurabe run --replay trace.iolog /mnt/ssd  よそで記録した I/O を再生する\n  \
     kurabe run /dev/sdb                       読み出しだけ(何も書きません)\n  \
     kurabe run --destroy-data-on /dev/sdb /dev/sdb"
))]
pub struct RunArgs {
    #[arg(
        value_name = "TARGET", default_value = ".", value_hint = ValueHint::AnyPath,
        help = t("What to measure: a directory (a test file is made in it and removed), a file, a block device, or model:NAME (see `kurabe models`)",
                 "測る対象: ディレクトリ(中にテストファイルを作り、後で消す)、ファイル、ブロックデバイス、または model:名前(`kurabe models` を参照)")
    )]
    pub target: PathBuf,
    #[arg(long, short, value_name = "NAME|FILE", help = t("Profile: a name from `kurabe profiles`, or a TOML file [default: default]", "プロファイル: `kurabe profiles` の名前か TOML ファイル [既定: default]"))]
    pub profile: Option<String>,
    #[arg(long, value_name = "SIZE", value_parser = bytes, help = t("Size of the test file, or bytes of the target to cover", "テストファイルの大きさ、または対象のうち使う範囲"))]
    pub size: Option<u64>,
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000), help = t("Repetitions per cell", "各項目の回数"))]
    pub runs: Option<u32>,
    #[arg(long, alias = "runtime", value_name = "TIME", value_parser = duration, help = t("Time per repetition", "1 回の時間"))]
    pub time: Option<u64>,
    #[arg(long, value_name = "TIME", value_parser = duration_or_zero, help = t("Pause between cells", "項目の間の休み"))]
    pub interval: Option<u64>,
    #[arg(long, value_name = "KIND", value_parser = data, help = t("What is written: random, zero, repeat, or compressible:PERCENT of zeros", "書く内容: random、zero、repeat、compressible:ゼロの割合(%)"))]
    pub data: Option<kurabe_core::workload::Data>,
    #[arg(long, value_name = "N", help = t("Seed of offsets and data", "オフセットとデータの乱数の種"))]
    pub seed: Option<u64>,
    #[arg(long, value_name = "KEY=VALUE", help = t("Label the run (may be repeated)", "測定にラベルを付ける(繰り返し可)"))]
    pub label: Vec<String>,
    #[arg(long, value_name = "LAYER.PARAMETER=VALUE", help = t("Change a parameter of a model, as in raid.strip=256KiB (may be repeated)", "モデルのパラメーターを変える。例: raid.strip=256KiB(繰り返し可)"))]
    pub set: Vec<String>,

    #[arg(long, value_name = "ENGINE", default_value = "auto", value_parser = PossibleValuesParser::new(["auto", "uring", "threads"]), help_heading = t("How operations are issued", "発行の方法"), help = t("io_uring, pread/pwrite in threads, or whichever shows the storage", "io_uring、スレッドでの pread/pwrite、または実力が出るほうを自動で選ぶ"))]
    pub engine: String,
    #[arg(long, value_name = "MODE", default_value = "sleep", value_parser = PossibleValuesParser::new(["sleep", "spin", "poll"]), help_heading = t("How operations are issued", "発行の方法"), help = t("How completions are awaited: asleep, spinning, or polled by the kernel (io_uring)", "完了の待ち方: 眠って待つ、回って待つ、カーネルがポーリング(io_uring)"))]
    pub wait: String,
    #[arg(long, value_name = "PAGES", default_value = "4k", value_parser = PossibleValuesParser::new(["4k", "huge"]), help_heading = t("How operations are issued", "発行の方法"), help = t("Pages under the I/O buffers", "I/O バッファのページ"))]
    pub pages: String,
    #[arg(long, conflicts_with = "buffered", help_heading = t("How operations are issued", "発行の方法"), help = t("Around the page cache, whatever the profile says", "プロファイルにかかわらずページキャッシュを避ける"))]
    pub direct: bool,
    #[arg(long, help_heading = t("How operations are issued", "発行の方法"), help = t("Through the page cache; also where direct I/O is refused", "ページキャッシュ経由で測る(ダイレクト I/O が使えない場合にも)"))]
    pub buffered: bool,
    #[arg(long, value_name = "POLICY", default_value = "drop", value_parser = PossibleValuesParser::new(["drop", "keep"]), help_heading = t("How operations are issued", "発行の方法"), help = t("Page cache before each buffered repetition", "バッファ経由の各回の前にページキャッシュを破棄するか残すか"))]
    pub cache: String,
    #[arg(long, help_heading = t("How operations are issued", "発行の方法"), help = t("After each cell's repetitions one more that does not count, in which the kernel's tracepoints split the time into queues and device (root); see `kurabe why`", "各項目の後に集計外の 1 回を加え、カーネルのトレースポイントで時間をキューとデバイスに分ける(root が必要)。結果は `kurabe why` で表示"))]
    pub trace: bool,

    #[arg(long, help_heading = t("What may be written", "書き込みの許可"), help = t("Write to the existing file TARGET; its contents are lost", "既存のファイル TARGET に書き込む(中身は失われます)"))]
    pub write_existing: bool,
    #[arg(long, value_name = "DEVICE", value_hint = ValueHint::FilePath, help_heading = t("What may be written", "書き込みの許可"), help = t("Write to the block device TARGET, named again here; everything on it is lost", "ブロックデバイス TARGET に書き込む(同じ名前をここにも書く。中身はすべて失われます)"))]
    pub destroy_data_on: Option<PathBuf>,

    #[arg(long, value_name = "PATTERN", value_parser = PossibleValuesParser::new(["read", "write", "randread", "randwrite", "rw", "readwrite", "randrw"]), conflicts_with = "profile", help_heading = t(SINGLE_EN, SINGLE_JA), help = t("Reads or writes, ascending or random", "読み書きと順序"))]
    pub rw: Option<String>,
    #[arg(long, value_name = "SIZE", value_parser = block_size, conflicts_with = "profile", help_heading = t(SINGLE_EN, SINGLE_JA), help = t("Block size [default: 4k]", "ブロックの大きさ [既定: 4k]"))]
    pub bs: Option<u32>,
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_IODEPTH)), conflicts_with = "profile", help_heading = t(SINGLE_EN, SINGLE_JA), help = t("Operations in flight per thread [default: 1]", "スレッドごとの同時発行数 [既定: 1]"))]
    pub iodepth: Option<u32>,
    #[arg(long, alias = "numjobs", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_THREADS)), conflicts_with = "profile", help_heading = t(SINGLE_EN, SINGLE_JA), help = t("Threads [default: 1]", "スレッド数 [既定: 1]"))]
    pub threads: Option<u32>,
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100), conflicts_with = "profile", help_heading = t(SINGLE_EN, SINGLE_JA), help = t("Share of reads of rw and randrw [default: 50]", "rw と randrw の読み出しの割合 [既定: 50]"))]
    pub rwmixread: Option<u8>,
    #[arg(long, value_name = "ORDER", value_parser = order, conflicts_with = "profile", help_heading = t(SINGLE_EN, SINGLE_JA), help = t("Another order of offsets: interleaved, permutation, zipf or zipf:EXPONENT", "オフセットの順序: interleaved、permutation、zipf、zipf:指数"))]
    pub order: Option<kurabe_core::workload::Pattern>,
    #[arg(long, value_name = "SIZE", value_parser = bytes, conflicts_with = "profile", help_heading = t(SINGLE_EN, SINGLE_JA), help = t("First byte of the span", "範囲の先頭"))]
    pub offset: Option<u64>,
    #[arg(long, value_name = "SIZE", value_parser = bytes, conflicts_with = "profile", help_heading = t(SINGLE_EN, SINGLE_JA), help = t("End a repetition after this many bytes", "このバイト数で 1 回を終える"))]
    pub bytes: Option<u64>,
    #[arg(long, alias = "loops", value_name = "N", value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "profile", help_heading = t(SINGLE_EN, SINGLE_JA), help = t("End a repetition after covering the span this many times", "範囲をこの回数まわったら 1 回を終える"))]
    pub passes: Option<u32>,
    #[arg(long, alias = "ramp-time", value_name = "TIME", value_parser = duration_or_zero, conflicts_with = "profile", help_heading = t(SINGLE_EN, SINGLE_JA), help = t("Time before recording starts", "記録を始める前の慣らし時間"))]
    pub warm_up: Option<u64>,
    #[arg(long, alias = "rate_iops", value_name = "IOPS", value_parser = rate, conflicts_with = "profile", help_heading = t(SINGLE_EN, SINGLE_JA), help = t("Open loop: operations per second; latency counts from when each was due", "オープンループ: 毎秒の操作数(レイテンシは予定時刻から数える)"))]
    pub rate: Option<f64>,
    #[arg(long, requires = "rate", help_heading = t(SINGLE_EN, SINGLE_JA), help = t("Arrivals of the open loop as a Poisson process", "オープンループの到着をポアソン過程にする"))]
    pub poisson: bool,
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "profile", help_heading = t(SINGLE_EN, SINGLE_JA), help = t("fsync after every N writes", "N 回の書き込みごとに fsync"))]
    pub fsync: Option<u32>,
    #[arg(long, value_name = "WHEN", value_parser = PossibleValuesParser::new(["none", "timed", "untimed"]), conflicts_with = "profile", help_heading = t(SINGLE_EN, SINGLE_JA), help = t("fsync at the end of a repetition, inside or outside its time [default: none]", "1 回の終わりに fsync(時間に含める、含めない)[既定: none]"))]
    pub end_fsync: Option<String>,
    #[arg(long, conflicts_with = "profile", help_heading = t(SINGLE_EN, SINGLE_JA), help = t("Open with O_SYNC", "O_SYNC で開く"))]
    pub o_sync: bool,

    #[arg(long, value_name = "FILE", conflicts_with_all = ["profile", "rw", "bs", "time"], value_hint = ValueHint::FilePath, help_heading = t(REPLAY_EN, REPLAY_JA), help = t("The trace: fio iolog, blkparse text, MSR Cambridge, SPC, MQSim, SSDSim or DiskSim", "トレース: fio iolog、blkparse テキスト、MSR Cambridge、SPC、MQSim、SSDSim、DiskSim"))]
    pub replay: Option<PathBuf>,
    #[arg(long, value_name = "TIMING", requires = "replay", default_value = "fast", value_parser = PossibleValuesParser::new(["fast", "closed", "timestamps"]), help_heading = t(REPLAY_EN, REPLAY_JA), help = t("As fast as it goes, with the trace's pauses, or each operation at its time", "可能な限り速く、トレースの待ち時間を保って、または各操作を元の時刻に"))]
    pub timing: String,
    #[arg(long, value_name = "FACTOR", requires = "replay", value_parser = rate, help_heading = t(REPLAY_EN, REPLAY_JA), help = t("With --timing timestamps: 2 is twice as fast [default: 1]", "--timing timestamps の速さ。2 なら 2 倍速 [既定: 1]"))]
    pub speed: Option<f64>,
    #[arg(long, value_name = "FORMAT", requires = "replay", value_parser = PossibleValuesParser::new(TRACE_FORMATS), help_heading = t(REPLAY_EN, REPLAY_JA), help = t("Format of the trace, where its content does not tell", "トレースの形式(内容から判別できない場合)"))]
    pub trace_format: Option<String>,

    #[arg(long, value_name = "SIZE", value_parser = block_size, requires = "profile", help_heading = t("Single steps of profiles", "プロファイルの一部だけ変える"), help = t("Copies: bytes read before they are written", "コピー: 一度に読んで書くバイト数"))]
    pub chunk: Option<u32>,
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000), requires = "profile", help_heading = t("Single steps of profiles", "プロファイルの一部だけ変える"), help = t("git-pull: files in the repository; a tenth of them changes", "git-pull: リポジトリのファイル数(その 1 割が変わる)"))]
    pub files: Option<u32>,

    #[arg(long, help_heading = t("What is kept", "記録"), help = t("Keep the serial numbers of devices, not only a salted hash", "デバイスのシリアル番号をハッシュでなくそのまま記録する"))]
    pub with_serial: bool,
    #[arg(long, help = t("Show the plan and what would be written; measure nothing", "計画と書き込む量を示すだけで、測定しない"))]
    pub dry_run: bool,
}

impl RunArgs {
    /// Whether a word was given that belongs to a single workload.
    pub fn is_single(&self) -> bool {
        self.rw.is_some()
            || self.bs.is_some()
            || self.iodepth.is_some()
            || self.threads.is_some()
            || self.rwmixread.is_some()
            || self.order.is_some()
            || self.offset.is_some()
            || self.bytes.is_some()
            || self.passes.is_some()
            || self.warm_up.is_some()
            || self.rate.is_some()
            || self.fsync.is_some()
            || self.end_fsync.is_some()
            || self.o_sync
    }
}

#[derive(Debug, Args)]
pub struct ShowArgs {
    #[arg(default_value = "last", value_name = "RUN", help = t("A run's id, or any unique beginning of it", "測定の ID(先頭の一意な部分でも可)"))]
    pub run: String,
    #[arg(long, value_name = "ENTRY", help = t("Beside a published entry of `kurabe catalogue`; says when procedure or statistic differ", "`kurabe catalogue` の公表値と並べる(手順や統計量が違えば知らせる)"))]
    pub beside: Option<String>,
    #[arg(long, help = t("Everything: repetitions, percentiles, stalls, engines, environment", "各回、パーセンタイル、停滞、エンジン、環境まですべて"))]
    pub details: bool,
    #[arg(
        long, value_name = "NAME", num_args = 0..=1, conflicts_with_all = ["json", "details", "beside"],
        help = t("Draw its charts here, or only those of a name: rates, positions, percentiles, series, sweep, heat, time-account, …", "グラフを端末に描く。名前を付けるとその種類だけ: rates、positions、percentiles、series、sweep、heat、time-account など")
    )]
    pub chart: Option<Option<String>>,
}

#[derive(Debug, Args)]
#[command(after_help = t(
    "Of a real run: what limited each cell (the connection, seeks, a cache that filled up, too few operations in flight …) as \
     far as the run shows it, with the evidence, and what would tell where it does not. A run with --trace also shows \
     the time in the kernel's queues and in the device.\n\n\
     Of a modelled run: every nanosecond of an operation has a cause: a bus, a head that moves, a table that is walked. The \
     causes stand by layer, from the computer down to the medium, with a sentence on the largest.\n\n\
     Examples:\n  kurabe run --trace /mnt/ssd    measures, and follows operations through the kernel (root)\n  \
     kurabe why                     every cell of it\n  \
     kurabe why last --cell access  only the access time\n  kurabe why k7f --cell 3 --json for scripts",
    "実機の測定では、各項目のボトルネック(接続、シーク、埋まったキャッシュ、同時操作数の不足など)を、測定から\n\
     分かる範囲で根拠とともに示します。分からない場合は、何を測れば分かるかを示します。--trace を付けた測定では、\n\
     カーネルのキューとデバイスの時間も分けて示します。\n\n\
     モデルの測定では、操作にかかった時間のすべてに要因があります(バス、ヘッドの移動、表の探索など)。\n\
     コンピューターから媒体へ層の順に要因を並べ、最大の要因を説明します。\n\n\
     例:\n  kurabe run --trace /mnt/ssd    測定し、操作をカーネル内で追跡する(root が必要)\n  \
     kurabe why                     すべての項目\n  \
     kurabe why last --cell access  アクセス時間だけ\n  kurabe why k7f --cell 3 --json スクリプト用"
))]
pub struct WhyArgs {
    #[arg(default_value = "last", value_name = "RUN", help = t("A run's id, or any unique beginning of it", "測定の ID(先頭の一意な部分でも可)"))]
    pub run: String,
    #[arg(long, value_name = "N|LABEL", help = t("Only this cell: its number, or words of its name [default: all]", "この項目だけ: 番号か名前の一部 [既定: すべて]"))]
    pub cell: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = t(
    "A verdict is one of: faster or slower by so much (with the 95 % interval), no measurable difference (the interval lies\n\
     within the margin), not clear yet (and how many more repetitions would likely settle it).\n\n\
     Examples:\n  kurabe compare 7kq 9mz\n  kurabe compare 7kq 9mz --about filesystem   the file system is what you ask about\n  \
     kurabe compare 7kq last --margin 2%         smaller differences matter, too",
    "判定は、速い・遅い(差と 95 % 区間つき)、測れる差なし(区間が許容差に収まる)、まだ判断できない(あと何回測ればよいか)の\n\
     いずれかです。\n\n\
     例:\n  kurabe compare 7kq 9mz\n  kurabe compare 7kq 9mz --about filesystem   ファイルシステムの違いを調べる場合\n  \
     kurabe compare 7kq last --margin 2%         より小さな差も問題にする"
))]
pub struct CompareArgs {
    #[arg(value_name = "BASELINE", help = t("The run that the other is held against: its id, or any unique beginning", "基準にする測定の ID(先頭の一意な部分でも可)"))]
    pub baseline: String,
    #[arg(value_name = "OTHER", help = t("The other run", "比べる測定"))]
    pub other: String,
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = margin, help = t("Differences up to this do not matter", "この割合までの差は問題にしない"))]
    pub margin: f64,
    #[arg(long, value_name = "WHAT", value_delimiter = ',', help = t("What you ask about, such as filesystem, firmware, link, device", "比べたい条件。例: filesystem、firmware、link、device"))]
    pub about: Vec<String>,
    #[arg(long, conflicts_with_all = ["json", "about"], help = t("Draw the ratios with their intervals instead of the table", "表の代わりに、速さの比と信頼区間を図で示す"))]
    pub chart: bool,
}

#[derive(Debug, Args)]
#[command(after_help = t(
    "Uses: os-disk, vm-image, database, swap, archive, media-editing, game-library, retro-computer, or a TOML file\n\
     of your own (docs/statistics.md).\n\n\
     Example:\n  kurabe recommend 7kq 9mz --for vm-image",
    "用途: os-disk、vm-image、database、swap、archive、media-editing、game-library、retro-computer、または自作の\n\
     TOML ファイル(docs/statistics.md)。\n\n\
     例:\n  kurabe recommend 7kq 9mz --for vm-image"
))]
pub struct RecommendArgs {
    #[arg(required = true, value_name = "RUN", help = t("Ids, or unique beginnings of them", "測定の ID(先頭の一意な部分でも可)"))]
    pub runs: Vec<String>,
    #[arg(long = "for", value_name = "USE|FILE", help = t("The use", "用途"))]
    pub purpose: String,
}

#[derive(Debug, Args)]
pub struct HistoryArgs {
    #[arg(value_name = "WORD", help = t("Only devices, models or targets whose name contains this [default: all]", "この語を名前に含むデバイス、モデル、対象だけ [既定: すべて]"))]
    pub word: Option<String>,
    #[arg(long, short, value_name = "NAME", help = t("Only runs of this profile", "このプロファイルの測定だけ"))]
    pub profile: Option<String>,
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = margin, help = t("Differences up to this do not matter", "この割合までの差は問題にしない"))]
    pub margin: f64,
}

/// A share in percent: `5%` or `5`.
fn margin(words: &str) -> Result<f64, String> {
    let number = words.trim().trim_end_matches('%').trim().parse::<f64>().ok();
    number.filter(|percent| (0.0..=100.0).contains(percent)).map(|percent| percent / 100.0).ok_or_else(|| {
        t(
            "a percentage from 0 to 100 is expected, such as 5%",
            "0 から 100 までの割合を書いてください(例: 5%)",
        )
        .to_owned()
    })
}

#[derive(Debug, Args)]
pub struct RunIds {
    #[arg(required = true, value_name = "RUN", help = t("Ids, or unique beginnings of them", "測定の ID(先頭の一意な部分でも可)"))]
    pub runs: Vec<String>,
}

#[derive(Debug, Args)]
pub struct LabelArgs {
    #[arg(value_name = "RUN", help = t("A run's id, or any unique beginning of it", "測定の ID(先頭の一意な部分でも可)"))]
    pub run: String,
    #[arg(required = true, value_name = "KEY=VALUE", help = t("Labels", "ラベル"))]
    pub labels: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = t(
    "Formats:\n  json      everything; `kurabe import` reads it again\n  fio       a job file that does the same workload; as comments,\n            the command lines of DiskSpd and elbencho\n  \
     cdm-text  the text that CrystalDiskMark copies\n  csv       a line for each cell and repetition\n  markdown  tables for an issue or an article",
    "形式:\n  json      すべて(`kurabe import` で読み戻せます)\n  fio       同じ負荷をかけるジョブファイル\n            (DiskSpd と elbencho のコマンドもコメントに)\n  \
     cdm-text  CrystalDiskMark のコピー用テキスト\n  csv       項目と回ごとに 1 行\n  markdown  Issue や記事に貼る表"
))]
pub struct ExportArgs {
    #[arg(default_value = "last", value_name = "RUN", help = t("Ids, or unique beginnings of them (several: csv and markdown)", "測定の ID(先頭の一意な部分でも可。複数は csv と markdown のみ)"))]
    pub runs: Vec<String>,
    #[arg(long, short, value_name = "FORMAT", default_value = "json", value_parser = PossibleValuesParser::new(["json", "fio", "cdm-text", "csv", "markdown"]), help = t("Form of the file", "書き出す形式"))]
    pub format: String,
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, help = t("Write to a new file instead of standard output", "標準出力でなく新しいファイルに書く"))]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ImportArgs {
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath, help = t("Files, recognised by their content; - is standard input", "ファイル(形式は内容から判別。- は標準入力)"))]
    pub files: Vec<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = t(
    "Example:\n  kurabe record /mnt/usb -o pull.iolog -- git -C /mnt/usb/repo pull\n  kurabe run --replay pull.iolog --timing closed /mnt/ssd\n\n\
     The file is a fio iolog (version 3): fio --read_iolog plays it, too.",
    "例:\n  kurabe record /mnt/usb -o pull.iolog -- git -C /mnt/usb/repo pull\n  kurabe run --replay pull.iolog --timing closed /mnt/ssd\n\n\
     ファイルは fio の iolog(バージョン 3)で、fio --read_iolog でも再生できます。"
))]
pub struct RecordArgs {
    #[arg(value_name = "TARGET", default_value = ".", value_hint = ValueHint::AnyPath, help = t("A directory, file or block device; the devices under it are recorded", "ディレクトリ、ファイル、ブロックデバイス(その下のデバイスを記録)"))]
    pub target: PathBuf,
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, help = t("Write the trace to this new file", "トレースをこの新しいファイルに書く"))]
    pub output: Option<PathBuf>,
    #[arg(last = true, required = true, value_name = "COMMAND", help = t("The command and its arguments, run without a shell", "コマンドと引数(シェルは介さない)"))]
    pub command: Vec<String>,
}

#[derive(Debug, Args)]
pub struct ProfilesArgs {
    #[command(subcommand)]
    pub action: Option<ProfilesAction>,
}

#[derive(Debug, Subcommand)]
pub enum ProfilesAction {
    #[command(about = t("Show a profile", "プロファイルを表示"))]
    Show {
        #[arg(value_name = "NAME|FILE", help = t("A name, or a TOML file", "名前か TOML ファイル"))]
        name: String,
        #[arg(long, help = t("As TOML, to start a profile of your own from", "TOML のまま(自分のプロファイルの出発点に)"))]
        toml: bool,
    },
}

#[derive(Debug, Args)]
pub struct ModelsArgs {
    #[command(subcommand)]
    pub action: Option<ModelsAction>,
}

#[derive(Debug, Subcommand)]
pub enum ModelsAction {
    #[command(
        about = t("Show a model: its stack drawn, every parameter with its source", "モデルを表示(構成図と、全パラメーターの出典)"),
        after_help = t(
            "Examples:\n  kurabe models show ideal-ram-disk\n  kurabe models show ideal-ram-disk --set memory.access=10us\n  \
             kurabe models show ideal-ram-disk --toml > mine.toml\n  kurabe models show mine.toml && kurabe run model:mine.toml",
            "例:\n  kurabe models show ideal-ram-disk\n  kurabe models show ideal-ram-disk --set memory.access=10us\n  \
             kurabe models show ideal-ram-disk --toml > mine.toml\n  kurabe models show mine.toml && kurabe run model:mine.toml"
        )
    )]
    Show {
        #[arg(value_name = "NAME|FILE", help = t("A name, or a TOML file", "名前か TOML ファイル"))]
        name: String,
        #[arg(long, value_name = "LAYER.PARAMETER=VALUE", conflicts_with = "toml", help = t("Change a parameter, as in raid.strip=256KiB (may be repeated)", "パラメーターを変える。例: raid.strip=256KiB(繰り返し可)"))]
        set: Vec<String>,
        #[arg(long, help = t("As TOML, to start a model of your own from", "TOML のまま(自分のモデルの出発点に)"))]
        toml: bool,
    },
}

#[derive(Debug, Args)]
pub struct DoctorArgs {
    #[arg(value_name = "PATH", default_value = ".", value_hint = ValueHint::AnyPath, help = t("The directory or device to look at", "調べるディレクトリまたはデバイス"))]
    pub path: PathBuf,
}

fn said(text: Text) -> String {
    text.take(crate::lang::lang())
}

fn bytes(words: &str) -> Result<u64, String> {
    match parse_bytes(words).map_err(said)? {
        0 => Err(t("it must be above zero", "0 より大きい値が必要です").to_owned()),
        bytes => Ok(bytes),
    }
}

fn block_size(words: &str) -> Result<u32, String> {
    parse_block_size(words).map_err(said)
}

fn duration(words: &str) -> Result<u64, String> {
    match parse_duration_ns(words).map_err(said)? {
        0 => Err(t("it must be above zero", "0 より長い時間が必要です").to_owned()),
        ns => Ok(ns),
    }
}

fn duration_or_zero(words: &str) -> Result<u64, String> {
    parse_duration_ns(words).map_err(said)
}

fn rate(words: &str) -> Result<f64, String> {
    words
        .parse::<f64>()
        .ok()
        .filter(|rate| rate.is_finite() && *rate > 0.0)
        .ok_or_else(|| t("a number above zero is expected", "0 より大きい数が必要です").to_owned())
}

fn data(words: &str) -> Result<kurabe_core::workload::Data, String> {
    use kurabe_core::workload::Data;
    match (words, words.split_once(':')) {
        ("random", _) => Ok(Data::Random),
        ("zero", _) => Ok(Data::Zero),
        ("repeat", _) => Ok(Data::Repeat),
        ("compressible", _) => Ok(Data::Compressible { percent: 50 }),
        (_, Some(("compressible", percent))) if percent.parse::<u8>().is_ok_and(|percent| percent <= 100) => {
            Ok(Data::Compressible { percent: percent.parse().unwrap_or(50) })
        }
        _ => Err(t(
            "one of: random, zero, repeat, compressible, compressible:0 to compressible:100",
            "random、zero、repeat、compressible、compressible:0 から compressible:100 のいずれか",
        )
        .to_owned()),
    }
}

fn order(words: &str) -> Result<kurabe_core::workload::Pattern, String> {
    use kurabe_core::workload::Pattern;
    match (words, words.split_once(':')) {
        ("interleaved", _) => Ok(Pattern::Interleaved),
        ("permutation", _) => Ok(Pattern::Permutation),
        ("zipf", _) => Ok(Pattern::Zipf { exponent: 1.1 }),
        (_, Some(("zipf", exponent))) => rate(exponent).map(|exponent| Pattern::Zipf { exponent }),
        _ => Err(t(
            "one of: interleaved, permutation, zipf, zipf:EXPONENT",
            "interleaved、permutation、zipf、zipf:指数 のいずれか",
        )
        .to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_trace_formats_are_those_that_can_be_read() {
        assert_eq!(TRACE_FORMATS, kurabe_interop::TraceFormat::ALL.map(kurabe_interop::TraceFormat::word));
    }

    #[test]
    fn quantities_are_read_with_their_units() {
        let cli = Cli::parse_from([
            "kurabe",
            "run",
            "--bs",
            "4k",
            "--time",
            "10s",
            "--data",
            "compressible:30",
            "/x",
        ]);
        let Command::Run(run) = cli.command else { panic!("run") };
        assert_eq!((run.bs, run.time), (Some(4096), Some(10_000_000_000)));
        assert!(run.is_single());
        assert!(Cli::try_parse_from(["kurabe", "run", "--size", "0"]).is_err());
        assert!(Cli::try_parse_from(["kurabe", "run", "--profile", "quick", "--bs", "4k"]).is_err());
    }
}
