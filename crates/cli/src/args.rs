//! The command line, in both languages.
//!
//! # To add a command
//!
//! - Add a variant of `Command` with its arguments in `args/`, in both languages, and its group of the help
//!   (`args/groups.rs`).
//! - Write a file that makes a request, calls the lab and prints a `Doc`, and add its line to `dispatch`.
//! - Write `help/NAME.en.txt` and `help/NAME.ja.txt` with examples, and an end-to-end test.
//!
//! An option of a command is a field of its `Args`, with help in both languages.

mod attach;
mod card;
mod exchange;
mod fio;
mod fit;
mod groups;
pub mod help_words;
mod options;
mod paths;
mod pivot;
mod price;
mod ranks;
mod report;
mod run;
mod serve;
mod shared;
mod study;
mod sweep;
mod ui;
mod vary;
mod versus;
mod vm;
mod what;

pub use attach::{AttachArgs, DetachArgs};
pub use card::CardArgs;
pub use exchange::ExchangeArgs;
pub use fio::{FioArgs, FioRun, sorted_words};
pub use fit::FitArgs;
pub use pivot::{ListArgs, PivotArgs};
pub use price::{MarkArgs, OnArgs, PriceArgs};
pub use report::ReportArgs;
pub use run::RunArgs;
pub use serve::{ControlAction, ControlArgs, ServeArgs, ServedArgs, ServedModelArgs};
pub use study::{CatalogueAction, CatalogueArgs, StudyAction, StudyArgs, StudyRunArgs};
pub use sweep::SweepArgs;
pub use ui::UiArgs;
pub use versus::VersusArgs;
pub use vm::VmArgs;
pub use what::WhatArgs;

use crate::lang::{below, t};
use clap::builder::{OsStringValueParser, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueHint};
use kurabe_core::output_path::OutputPath;
use kurabe_lab::{StorePlace, parse_percent};
use kurabe_report::Unaccepted;
use kurabe_store::StoreName;
use paths::{InputPath, TargetPath};
pub use shared::{ForceArgs, JudgedArgs};
use shared::{unaccepted, worded};

/// kurabe.
#[derive(Debug, Parser)]
#[command(
    name = "kurabe",
    version = concat!(env!("CARGO_PKG_VERSION"), " (", env!("KURABE_BUILD"), ")"),
    about = t(
        "Measure storage the way reviewers do, and save every result with its full test environment.",
        "レビュアーと同じ手順でストレージを測り、条件ごと記録します。"
    ),
    help_template = groups::template(),
    after_help = below!("kurabe")
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
        value_parser = OsStringValueParser::new().map(StoreName::from),
        help = t(
            "The store, or the address of a database to read (postgres://…) [default: $KURABE_DB, or kurabe.db in the user's data directory]",
            "保存先、または読み出すデータベースのアドレス(postgres://…) [既定: $KURABE_DB、なければユーザーデータディレクトリの kurabe.db]"
        )
    )]
    pub db: Option<StoreName>,
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

impl Global {
    /// Where runs are stored.
    pub fn store(&self) -> StorePlace {
        StorePlace(self.db.clone())
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    #[command(aliases = ["measure", "bench"], about = t("Measure a directory, a file or a block device", "ディレクトリ、ファイル、ブロックデバイスを測る"))]
    Run(Box<RunArgs>),
    #[command(about = t("fio's command line or job file, with an answer, on anything", "fio のコマンドラインやジョブファイルを、実機でもモデルでも実行する"))]
    Fio(Box<FioArgs>),
    #[command(about = t("Where caches end, what block sizes and queue depths bring, and why", "キャッシュの終わり、ブロックサイズとキュー深さの効き方、その理由"))]
    Sweep(SweepArgs),
    #[command(about = t("List the stored runs", "保存した測定の一覧"))]
    List(ListArgs),
    #[command(alias = "info", about = t("Show a stored run", "保存した測定を表示"))]
    Show(ShowArgs),
    #[command(about = t("What limited each test of a run, with the evidence; where the time of a modelled run went", "各項目のボトルネックと根拠。モデルの測定では時間の内訳も示す"))]
    Why(WhyArgs),
    #[command(about = t(
        "What a device really is: disk or flash, fake capacity, caches, SMR, each with its evidence",
        "デバイスの正体(ディスクかフラッシュか、容量偽装、キャッシュ、SMR)を根拠付きで示す"
    ))]
    What(WhatArgs),
    #[command(about = t("Compare stored runs test by test, or all of them by what they differ in (--by)", "測定を項目ごとに比べる。--by なら、すべての測定を条件ごとに並べる"))]
    Compare(CompareArgs),
    #[command(about = t("Measure two or more targets in turns until it is clear which is faster", "2 つ以上の対象を交互に測り、どちらが速いかがはっきりするまで続ける"))]
    Versus(VersusArgs),
    #[command(about = t("Which of several stored runs suits a use, and how firm that is", "複数の測定のうち、用途に向くのはどれか。順位の確かさも示す"))]
    Recommend(RecommendArgs),
    #[command(about = t("Is this storage fit for a use: etcd, a recorder of 16 cameras, an SD card's class? One sentence, and an exit code", "このストレージは用途に使えるか(etcd、カメラ 16 台の録画機、SD カードのクラスなど)。1 文と終了コードで答える"))]
    Fit(FitArgs),
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
    #[command(about = t("Write runs as JSON, CSV, Markdown, a fio job, CrystalDiskMark's text, or metrics for dashboards", "測定を JSON、CSV、Markdown、fio ジョブ、CrystalDiskMark のテキスト、監視ツール用の数値で書き出す"))]
    Export(ExportArgs),
    #[command(about = t("Check that what is stored is what was written: the store, or an image", "書いた内容がそのまま残っているか確かめる(保存先、またはイメージ)"))]
    Check(CheckArgs),
    #[command(about = t("Take in exported runs, results of other tools, and disks of DiskSim as device files", "書き出した測定、ほかのツールの結果、DiskSim のディスク(デバイスファイルにする)を取り込む"))]
    Import(ImportArgs),
    #[command(about = t("Send runs to a database that machines share: PostgreSQL", "測定を共有データベース(PostgreSQL)に送る"), after_help = below!("push"))]
    Push(ExchangeArgs),
    #[command(about = t("Take runs from a database that machines share: PostgreSQL", "共有データベース(PostgreSQL)から測定を受け取る"), after_help = below!("pull"))]
    Pull(ExchangeArgs),
    #[command(about = t("Record what a command does to the device under a directory, to replay it", "コマンドがデバイスに対して行う I/O を記録し、再生できるようにする"))]
    Record(RecordArgs),
    #[command(about = t("What a command asks of its storage, counted exactly, and what that takes on devices of every kind", "コマンドがストレージに求める I/O を正確に数え、各種デバイスでの所要時間を示す"))]
    Price(Box<PriceArgs>),
    #[command(about = t("Run a command in a folder that is on a modelled disk, in real time, or cut the power under it", "モデルのディスク上のフォルダーで、コマンドを実時間で実行する(電源断のテストもできる)"))]
    On(Box<OnArgs>),
    #[command(about = t("Begin a phase of the bill, within a command under `kurabe price`", "`kurabe price` で実行中のコマンドの中で、明細のフェーズを始める"))]
    Mark(MarkArgs),
    #[command(about = t("Run an article's whole experiment on models or on your own devices", "記事の実験全体をモデルや手元の機器で実行する"))]
    Study(StudyArgs),
    #[command(about = t("Published figures with their sources: list, search, show", "出典付きの公表値の一覧、検索、表示"))]
    Catalogue(CatalogueArgs),
    #[command(about = t("List the profiles, or show one", "プロファイルの一覧と内容"))]
    Profiles(ProfilesArgs),
    #[command(about = t("List the models of devices, or show what one is made of", "デバイスのモデルの一覧と、その構成"))]
    Models(ModelsArgs),
    #[command(about = t("Serve a model as a block device: NBD, for QEMU, fio, nbd-client and others", "モデルをブロックデバイスとして公開する(NBD。QEMU、fio、nbd-client などから使える)"))]
    Serve(Box<ServeArgs>),
    #[command(about = t("Make a model a block device of this machine: mkfs, mount, measure", "モデルをこのマシンのブロックデバイスにする(mkfs、mount、測定ができる)"))]
    Attach(Box<AttachArgs>),
    #[command(alias = "stop", about = t("Take away a device of `kurabe attach`", "`kurabe attach` のデバイスを切り離す"))]
    Detach(DetachArgs),
    #[command(about = t("Ask a served model how it goes, change it, cut its power", "公開中のモデルの状況確認、設定変更、電源断"))]
    Control(ControlArgs),
    #[command(aliases = ["gui", "web"], about = t("Everything in a browser on this machine: measure, compare, change models", "このマシンのブラウザーで使う(測定、比較、モデルの変更)"))]
    Ui(UiArgs),
    #[command(about = t("What to type for a QEMU guest on a model; kurabe starts nothing itself", "モデルを QEMU のゲストで使うためのコマンドを表示する(kurabe は何も起動しない)"))]
    Vm(VmArgs),
    #[command(about = t("What this machine allows, and what kurabe itself costs", "このマシンでできることと、kurabe 自身のコスト"))]
    Doctor(DoctorArgs),
    #[command(about = t("Print shell completions", "シェル補完を出力"))]
    Completions {
        #[arg(help = t("The shell", "シェル"))]
        shell: clap_complete::Shell,
    },
    #[command(about = t("Print the manual page, or that of a command", "マニュアルページを出力(コマンドごとのページも)"))]
    Man {
        #[arg(value_name = "COMMAND", help = t("The command: kurabe man run", "コマンド。例: kurabe man run"))]
        command: Option<String>,
    },
}

impl Command {
    /// Returns whether the command measures storage or removes files that a killed measurement left
    /// on it. Such storage may not respond.
    pub fn may_wait_for_storage(&self) -> bool {
        match self {
            Self::Study(args) => matches!(args.action, StudyAction::Run(_)),
            Self::Record(_) | Self::Price(_) | Self::On(_) | Self::Mark(_) => false,
            Self::Serve(_) | Self::Attach(_) | Self::Detach(_) | Self::Control(_) | Self::Vm(_) => false,
            Self::Catalogue(_) | Self::Profiles(_) | Self::Models(_) => false,
            Self::Completions { .. } | Self::Man { .. } => false,
            _ => true,
        }
    }
}

#[derive(Debug, Args)]
pub struct ShowArgs {
    #[arg(default_value = "last", value_name = "RUN", help = t("A run's id, a unique beginning of it, or a label that no other run has", "測定の ID(先頭の一意な部分や、1 つの測定だけが持つラベルでも可)"))]
    pub run: String,
    #[arg(long, value_name = "ENTRY", help = t("Beside a published entry of `kurabe catalogue`; says when procedure or statistic differ", "`kurabe catalogue` の公表値と並べる(手順や統計量が違えば知らせる)"))]
    pub beside: Option<String>,
    #[arg(long, help = t("Everything: repetitions, percentiles, stalls, engines, environment", "各回、パーセンタイル、停滞、エンジン、環境まですべて"))]
    pub details: bool,
    #[arg(
        long, value_name = "NAME", num_args = 0..=1, conflicts_with_all = ["json", "details", "beside"],
        help = t("Draw the three charts here that matter, or all, or only those of a name: rates, positions, percentiles, series, sweep, heat, time-account, …", "主な 3 つのグラフを端末に描く。all ならすべて、名前を付けるとその種類だけ: rates、positions、percentiles、series、sweep、heat、time-account など")
    )]
    pub chart: Option<Option<String>>,
}

#[derive(Debug, Args)]
#[command(after_help = below!("why"))]
pub struct WhyArgs {
    #[arg(default_value = "last", value_name = "RUN", help = t("A run's id, a unique beginning of it, or a label that no other run has", "測定の ID(先頭の一意な部分や、1 つの測定だけが持つラベルでも可)"))]
    pub run: String,
    #[arg(long, value_name = "TARGET", conflicts_with = "run", value_hint = ValueHint::AnyPath, help = t("Read from this target what tells reasons apart (the profile `probe`, about ten seconds), and say what it shows", "理由を切り分けるための読み出しをこの対象で行い(プロファイル probe、約 10 秒)、分かったことを示す"))]
    pub probe: Option<TargetPath>,
    #[arg(long, value_name = "N|LABEL", help = t("Only this test: its number, or words of its name [default: all]", "この項目だけ: 番号か名前の一部 [既定: すべて]"))]
    pub cell: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = below!("compare"))]
pub struct CompareArgs {
    #[arg(value_name = "RUN", required_unless_present = "by", help = t("Two runs or more, the baseline first: ids, unique beginnings of them, or labels that one run has; with --by [default: all]", "2 つ以上の測定(先頭が基準)。ID、先頭の一意な部分、または 1 つの測定だけが持つラベル。--by では省略可 [既定: すべて]"))]
    pub runs: Vec<String>,
    #[command(flatten)]
    pub judged: JudgedArgs,
    #[arg(long, value_name = "slower[:PERCENT]|unclear|different", value_delimiter = ',', conflicts_with = "by", value_parser = unaccepted, help = t("Exit with 13, 14 or 15 and name the test, if another is slower than the baseline for certain by more than PERCENT [default: the margin], if a test is not clear, if one differs by more than the margin; the first that holds counts", "割合 [既定: 許容差] を超えて基準より確実に遅い項目、判断できない項目、許容差を超える差のある項目があれば、その項目を示して終了コード 13、14、15 で終わる(先に書いたものを優先)"))]
    pub fail_on: Vec<Unaccepted>,
    #[arg(long, conflicts_with_all = ["json", "about"], help = t("Draw the ratios with their intervals instead of the table", "表の代わりに、速さの比と信頼区間を図で示す"))]
    pub chart: bool,
    #[arg(long, value_name = "TRACE", conflicts_with_all = ["about", "by"], help = t("Compare one run with what a trace says was measured (DiskSim's validate format): the demerit", "1 つの測定を、トレースに記録された実測値(DiskSim の validate 形式)と比べる: demerit"))]
    pub measured: Option<String>,
    #[command(flatten)]
    pub pivot: PivotArgs,
}

#[derive(Debug, Args)]
#[command(after_help = below!("recommend"))]
pub struct RecommendArgs {
    #[arg(required = true, value_name = "RUN", help = t("Ids, unique beginnings of them, or labels that one run has", "測定の ID(先頭の一意な部分や、1 つの測定だけが持つラベルでも可)"))]
    pub runs: Vec<String>,
    #[arg(long = "for", value_name = "USE|FILE", help = t("The use", "用途"))]
    pub purpose: String,
}

#[derive(Debug, Args)]
pub struct HistoryArgs {
    #[arg(value_name = "WORD", help = t("Only devices, models or targets whose name contains this; a path asks for what is there, however it was named [default: all]", "この語を名前に含むデバイス、モデル、対象だけ。パスを書くと、測定時の呼び名によらず、そこにあるデバイスやファイルシステムの測定 [既定: すべて]"))]
    pub word: Option<String>,
    #[arg(long, value_name = "WORD", conflicts_with = "word", help = t("The same as WORD", "WORD と同じ"))]
    pub device: Option<String>,
    #[arg(long, short, value_name = "NAME", help = t("Only runs of this profile", "このプロファイルの測定だけ"))]
    pub profile: Option<String>,
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = |words: &str| parse_percent(words).map_err(worded), help = t("Differences up to this do not matter", "この割合までの差は問題にしない"))]
    pub margin: f64,
}

#[derive(Debug, Args)]
pub struct RunIds {
    #[arg(required = true, value_name = "RUN", help = t("Ids, unique beginnings of them, or labels that one run has", "測定の ID(先頭の一意な部分や、1 つの測定だけが持つラベルでも可)"))]
    pub runs: Vec<String>,
    #[arg(long, help = t("Also runs that another machine or a container may still be measuring", "別のマシンやコンテナーで測定中かもしれないものも削除する"))]
    pub force: bool,
    #[arg(long, short, help = t("Do not ask before several runs, or one that is not named by its id, are removed", "複数の測定や、ID 以外で指定した測定を、確認せずに削除する"))]
    pub yes: bool,
}

#[derive(Debug, Args)]
#[command(after_help = below!("check"))]
pub struct CheckArgs {
    #[arg(value_name = "IMAGE", requires = "verify", value_hint = ValueHint::AnyPath, help = t("An image or a device that a verified run wrote to [default: the store]", "検証付きで書いたイメージかデバイス [既定: 保存先]"))]
    pub image: Option<TargetPath>,
    #[arg(long, value_name = "FILE", requires = "image", value_hint = ValueHint::FilePath, help = t("What was written: the file of `kurabe run --verify FILE`", "書いた内容の一覧(`kurabe run --verify FILE` のファイル)"))]
    pub verify: Option<InputPath>,
}

#[derive(Debug, Args)]
pub struct LabelArgs {
    #[arg(value_name = "RUN", help = t("A run's id, a unique beginning of it, or a label that no other run has", "測定の ID(先頭の一意な部分や、1 つの測定だけが持つラベルでも可)"))]
    pub run: String,
    #[arg(required = true, value_name = "KEY=VALUE", help = t("Labels", "ラベル"))]
    pub labels: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = below!("export"))]
pub struct ExportArgs {
    #[arg(value_name = "RUN", help = t("Ids, unique beginnings of them, or labels that one run has (several: csv, markdown and parquet) [default: last; of parquet all]", "測定の ID(先頭の一意な部分でも可。複数は csv、markdown、parquet のみ) [既定: last、parquet はすべて]"))]
    pub runs: Vec<String>,
    #[arg(long, short, value_name = "FORMAT", default_value = "json", value_parser = PossibleValuesParser::new(["json", "fio", "fio-json", "fio-terse", "cdm-text", "csv", "parquet", "markdown", "openmetrics", "bencher", "github-bigger", "github-smaller"]), help = t("Form of the file", "書き出す形式"))]
    pub format: String,
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, help = t("The file, or - for standard output; of parquet a new folder [default: -]", "書き出すファイル(- は標準出力。parquet では新しいフォルダー)[既定: -]"))]
    pub output: Option<OutputPath>,
    #[command(flatten)]
    pub force: ForceArgs,
}

#[derive(Debug, Args)]
pub struct ImportArgs {
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath, help = t("Files, recognised by their content; - is standard input", "ファイル(形式は内容から判別。- は標準入力)"))]
    pub files: Vec<InputPath>,
    #[command(flatten)]
    pub force: ForceArgs,
}

#[derive(Debug, Args)]
#[command(after_help = below!("record"))]
pub struct RecordArgs {
    #[arg(value_name = "TARGET", default_value = ".", value_hint = ValueHint::AnyPath, help = t("A directory, file or block device; the device under it is recorded", "ディレクトリ、ファイル、ブロックデバイス(その下のデバイスを記録)"))]
    pub target: TargetPath,
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, help = t("Write the trace to this file; - is standard output", "トレースをこのファイルに書く(- は標準出力)"))]
    pub output: Option<OutputPath>,
    #[command(flatten)]
    pub force: ForceArgs,
    #[arg(long, help = t("Record the devices beneath it, too: a partition's disk, a loop device's, the members of a RAID. They do the same work once more, so a replay does it several times", "その下のデバイス(パーティションのディスク、ループデバイスの下、RAID のメンバーなど)も記録する。同じ I/O が重なるため、再生では何回も実行される"))]
    pub all_devices: bool,
    #[arg(last = true, required = true, value_name = "COMMAND", help = t("The command and its arguments, run without a shell", "コマンドと引数(シェルは介さない)"))]
    pub command: Vec<String>,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct ProfilesArgs {
    #[command(subcommand)]
    pub action: Option<ProfilesAction>,
    #[arg(long, conflicts_with = "name", help = t("All profiles, not only the everyday ones", "普段の測定だけでなく、すべてのプロファイル"))]
    pub all: bool,
    #[command(flatten)]
    pub shown: ProfileShown,
}

#[derive(Debug, Subcommand)]
pub enum ProfilesAction {
    #[command(about = t("Show a profile", "プロファイルを表示"), arg_required_else_help = true)]
    Show(ProfileShown),
}

#[derive(Debug, Args)]
pub struct ProfileShown {
    #[arg(value_name = "NAME|FILE", help = t("A name, or a TOML file: shown in full", "名前か TOML ファイル(内容を表示)"))]
    pub name: Option<String>,
    #[arg(long, requires = "name", help = t("As TOML, to start a profile of your own from", "TOML のまま(自分のプロファイルの出発点に)"))]
    pub toml: bool,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct ModelsArgs {
    #[command(subcommand)]
    pub action: Option<ModelsAction>,
    #[arg(long, conflicts_with = "name", help = t("All models, those of older devices too", "古い機器も含む、すべてのモデル"))]
    pub all: bool,
    #[command(flatten)]
    pub shown: ModelShown,
}

#[derive(Debug, Subcommand)]
pub enum ModelsAction {
    #[command(
        about = t("Show a model: its stack drawn, every parameter with its source", "モデルを表示(構成図と、全パラメーターの出典)"),
        arg_required_else_help = true,
        after_help = below!("models-show")
    )]
    Show(ModelShown),
    #[command(
        about = t("Models side by side: capacity, what may fail, the chance of losing data, rates", "モデルを並べて比較(容量、故障してもよい台数、データを失う確率、速度)"),
        arg_required_else_help = true,
        after_help = below!("models-compare")
    )]
    Compare(ModelsCompared),
}

#[derive(Debug, Args)]
pub struct ModelsCompared {
    #[arg(value_name = "NAME|FILE", required = true, help = t("Names, or TOML files", "名前か TOML ファイル"))]
    pub names: Vec<String>,
    #[arg(long, value_name = "LAYER.PARAMETER=VALUE", help = t("Change a parameter of all of them, as in disk.failures_per_year=0.03 (may be repeated)", "全モデルのパラメーターを変える。例: disk.failures_per_year=0.03(繰り返し可)"))]
    pub set: Vec<String>,
}

#[derive(Debug, Args)]
pub struct ModelShown {
    #[arg(value_name = "NAME|WORD|FILE", help = t("A name or a TOML file, shown in full; a word lists the models that have it: nas, samsung", "名前か TOML ファイル(内容を表示)。語を書くと、それを含むモデルの一覧(nas、samsung など)"))]
    pub name: Option<String>,
    #[arg(long, value_name = "LAYER.PARAMETER=VALUE", requires = "name", conflicts_with = "toml", help = t("Change a parameter, as in raid.strip=256KiB (may be repeated)", "パラメーターを変える。例: raid.strip=256KiB(繰り返し可)"))]
    pub set: Vec<String>,
    #[arg(long, requires = "name", help = t("As TOML, to start a model of your own from", "TOML のまま(自分のモデルの出発点に)"))]
    pub toml: bool,
}

#[derive(Debug, Args)]
pub struct DoctorArgs {
    #[arg(value_name = "PATH", default_value = ".", value_hint = ValueHint::AnyPath, help = t("The directory or device to look at", "調べるディレクトリまたはデバイス"))]
    pub path: TargetPath,
    #[arg(long, help = t("Measure there what this computer takes for an operation, and print it as a file that models can stand in (--set computer=FILE)", "このコンピューターが 1 操作に使う時間をそこで測り、モデルを載せるファイルとして出力する(--set computer=FILE)"))]
    pub computer: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use kurabe_core::mention::{COMMANDS, FLAGS};

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn whatever_a_sentence_mentions_can_be_typed() {
        let (mut commands, mut typed) = (vec![(String::new(), Cli::command())], vec!["--help".to_owned()]);
        while let Some((above, command)) = commands.pop() {
            let path = above + command.get_name();
            typed.extend(command.get_arguments().filter_map(|arg| Some(format!("--{}", arg.get_long()?))));
            commands.extend(command.get_subcommands().map(|below| (format!("{path} "), below.clone())));
            typed.push(path);
        }
        for mention in FLAGS.iter().chain(COMMANDS) {
            assert!(typed.contains(&format!("{mention:#}")), "{mention:#}");
        }
    }

    /// Returns every argument of every command, with the command's name.
    fn arguments() -> Vec<(String, clap::Arg)> {
        let (mut commands, mut arguments) = (vec![Cli::command()], Vec::new());
        while let Some(command) = commands.pop() {
            let name = command.get_name().to_owned();
            arguments.extend(command.get_arguments().map(|argument| (name.clone(), argument.clone())));
            commands.extend(command.get_subcommands().cloned());
        }
        arguments
    }

    #[test]
    fn every_path_argument_has_a_role() {
        use std::any::TypeId;
        let mut roles = paths::roles();
        roles.extend([TypeId::of::<OutputPath>(), TypeId::of::<StoreName>()]);
        for (command, argument) in arguments() {
            let kind = argument.get_value_parser().type_id();
            let is_bare = [TypeId::of::<std::path::PathBuf>(), TypeId::of::<std::ffi::OsString>()];
            assert!(
                !is_bare.iter().any(|bare| kind == *bare),
                "{command} {}: a bare path",
                argument.get_id()
            );
            let has_path_hint = matches!(
                argument.get_value_hint(),
                ValueHint::AnyPath | ValueHint::FilePath | ValueHint::DirPath
            );
            let names = argument.get_value_names().unwrap_or_default();
            let is_named_path = names.iter().any(|name| {
                ["FILE", "PATH", "TARGET", "DEVICE", "IMAGE", "SOCKET", "FOLDER"].contains(&name.as_str())
            });
            if has_path_hint || is_named_path {
                assert!(roles.iter().any(|role| kind == *role), "{command} {}: no role", argument.get_id());
            }
        }
    }

    #[test]
    fn every_command_with_an_output_has_force() {
        let is_output = |argument: &clap::Arg| {
            argument.get_value_parser().type_id() == std::any::TypeId::of::<OutputPath>()
        };
        let outputs: Vec<String> = arguments()
            .into_iter()
            .filter(|(_, argument)| is_output(argument))
            .map(|(name, _)| name)
            .collect();
        assert!(outputs.len() >= 10, "{outputs:?}");
        for command in outputs.iter().map(String::as_str).chain(["fio", "import"]) {
            let has_force = arguments()
                .iter()
                .any(|(name, argument)| name == command && argument.get_long() == Some("force"));
            assert!(has_force, "{command}");
        }
    }

    #[test]
    fn what_stands_below_the_options_fits_a_terminal_of_80_columns() {
        let mut commands = vec![Cli::command()];
        while let Some(command) = commands.pop() {
            let below = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            // Paragraphs without line breaks are wrapped, but examples and tables would become
            // unreadable.
            for line in below.lines().filter(|line| line.starts_with("  ")) {
                assert!(kurabe_report::display_width(line) <= 80, "{}: {line}", command.get_name());
            }
            commands.extend(command.get_subcommands().cloned());
        }
    }
}
