//! The words of `kurabe run`.

use super::fio::FioWords;
use super::{
    ModelledArgs, WritingArgs, block_size, bytes, choice, duration, duration_or_zero, labels, rate, worded,
};
use crate::lang::{below, t};
use clap::builder::{BoolishValueParser, PossibleValuesParser};
use clap::{Args, ValueHint};
use kurabe_core::profile::{MOST_IODEPTH, MOST_THREADS, ReplayStep, ReplayTiming, Step};
use kurabe_core::workload::{Arrival, Data, Direction, EndSync, Pattern};
use kurabe_core::{Error, ErrorKind, Result, shown, text};
use kurabe_interop::{FioJob, TraceFormat};
use kurabe_lab::{
    CachePolicy, Engine, EngineChoice, Overrides, Pages, Procedure, RunRequest, Settings, StepChange,
    WaitMode, is_job_name, load_job, parse_data, parse_order, target_of_job,
};
use std::path::{Path, PathBuf};

/// Operations in flight of a replay: enough that a device's queue is not the replay's limit.
const DEFAULT_REPLAY_IODEPTH: u32 = 32;

/// Words of options, and what they stand for.
pub const ENGINES: [(&str, EngineChoice); 3] = [
    ("auto", EngineChoice::Auto),
    ("uring", EngineChoice::Fixed(Engine::Uring)),
    ("threads", EngineChoice::Fixed(Engine::Threads)),
];
const WAITS: [(&str, WaitMode); 3] =
    [("sleep", WaitMode::Sleep), ("spin", WaitMode::Spin), ("poll", WaitMode::Poll)];
const PAGES: [(&str, Pages); 2] = [("4k", Pages::Small), ("huge", Pages::Huge)];
const CACHES: [(&str, CachePolicy); 2] = [("drop", CachePolicy::Drop), ("keep", CachePolicy::Keep)];
const PATTERNS: [(&str, (Direction, Pattern)); 7] = [
    ("read", (Direction::Read, Pattern::Sequential)),
    ("write", (Direction::Write, Pattern::Sequential)),
    ("randread", (Direction::Read, Pattern::Random)),
    ("randwrite", (Direction::Write, Pattern::Random)),
    ("rw", (Direction::Mix, Pattern::Sequential)),
    ("readwrite", (Direction::Mix, Pattern::Sequential)),
    ("randrw", (Direction::Mix, Pattern::Random)),
];
const END_SYNCS: [(&str, EndSync); 3] =
    [("none", EndSync::None), ("timed", EndSync::Timed), ("untimed", EndSync::Untimed)];
const TIMINGS: [(&str, ReplayTiming); 5] = [
    ("fast", ReplayTiming::Fast),
    ("closed", ReplayTiming::Closed),
    ("think", ReplayTiming::Think),
    ("readers", ReplayTiming::Readers),
    ("timestamps", ReplayTiming::Timestamps { speed: 1.0 }),
];

const SINGLE_EN: &str = "A single workload, without a profile (fio's words)";
const REPLAY_EN: &str = "A trace, done again";
const REPLAY_JA: &str = "トレースの再生";
const SINGLE_JA: &str = "プロファイルを使わない単独のワークロード(fio の用語)";

#[derive(Debug, Args)]
#[command(after_help = below!("run"))]
pub struct RunArgs {
    #[arg(
        value_name = "TARGET", default_value = ".", value_hint = ValueHint::AnyPath,
        help = t("What to measure: a directory (a test file is made in it and removed), a file, a block device, or model:NAME (see `kurabe models`)",
                 "測る対象: ディレクトリ(中にテストファイルを作り、後で消す)、ファイル、ブロックデバイス、または model:名前(`kurabe models` を参照)")
    )]
    pub target: PathBuf,
    /// The target, where a job file of fio stands in its place.
    #[arg(value_name = "TARGET", hide = true, value_hint = ValueHint::AnyPath)]
    pub behind_job: Option<PathBuf>,
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
    #[arg(long, value_name = "KIND", value_parser = |words: &str| parse_data(words).map_err(worded), help = t("What is written: random, zero, repeat, or compressible:PERCENT of zeros", "書く内容: random、zero、repeat、compressible:ゼロの割合(%)"))]
    pub data: Option<Data>,
    #[arg(long, value_name = "N", help = t("Seed of offsets and data", "オフセットとデータの乱数のシード"))]
    pub seed: Option<u64>,
    #[arg(long, value_name = "KEY=VALUE", help = t("Label the run (may be repeated)", "測定にラベルを付ける(繰り返し可)"))]
    pub label: Vec<String>,
    #[arg(long, value_name = "NAME", help = t("What to call the run in comparisons and pictures (the label `name`)", "比較や図での測定の呼び名(ラベル name になります)"))]
    pub name: Option<String>,
    #[command(flatten)]
    pub modelled: ModelledArgs,

    #[arg(long, value_name = "ENGINE", default_value = "auto", value_parser = choice(&ENGINES), help_heading = t("How operations are issued", "発行の方法"), help = t("io_uring, pread/pwrite in threads, or whichever shows the storage", "io_uring、スレッドでの pread/pwrite、または実力が出るほうを自動で選ぶ"))]
    pub engine: EngineChoice,
    #[arg(long, value_name = "MODE", default_value = "sleep", value_parser = choice(&WAITS), help_heading = t("How operations are issued", "発行の方法"), help = t("How completions are awaited: asleep, spinning, or polled by the kernel (io_uring)", "完了の待ち方: 眠って待つ、回って待つ、カーネルがポーリング(io_uring)"))]
    pub wait: WaitMode,
    #[arg(long, value_name = "PAGES", default_value = "4k", value_parser = choice(&PAGES), help_heading = t("How operations are issued", "発行の方法"), help = t("Pages under the I/O buffers", "I/O バッファのページ"))]
    pub pages: Pages,
    #[arg(long, num_args = 0..=1, require_equals = true, value_name = "0|1", hide_possible_values = true, default_missing_value = "1", value_parser = BoolishValueParser::new(), conflicts_with = "buffered", help_heading = t("How operations are issued", "発行の方法"), help = t("Around the page cache, whatever the profile says", "プロファイルにかかわらずページキャッシュを避ける"))]
    pub direct: Option<bool>,
    #[arg(long, num_args = 0..=1, require_equals = true, value_name = "0|1", hide_possible_values = true, default_missing_value = "1", value_parser = BoolishValueParser::new(), help_heading = t("How operations are issued", "発行の方法"), help = t("Through the page cache; also where direct I/O is refused", "ページキャッシュ経由で測る(ダイレクト I/O が使えない場合にも)"))]
    pub buffered: Option<bool>,
    #[arg(long, value_name = "POLICY", default_value = "drop", value_parser = choice(&CACHES), help_heading = t("How operations are issued", "発行の方法"), help = t("Page cache before each buffered repetition", "バッファ経由の各回の前にページキャッシュを破棄するか残すか"))]
    pub cache: CachePolicy,
    #[arg(long, help_heading = t("How operations are issued", "発行の方法"), help = t("After each cell's repetitions one more that does not count, in which the kernel's tracepoints split the time into queues and device (root); see `kurabe why`", "各項目の後に集計外の 1 回を加え、カーネルのトレースポイントで時間をキューとデバイスに分ける(root が必要)。結果は `kurabe why` で表示"))]
    pub trace: bool,

    #[command(flatten)]
    pub writing: WritingArgs,
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = t("What may be written", "書き込みの許可"), help = t("Stamp each write and list them in FILE, for `kurabe check IMAGE --verify FILE` after a power cut", "書き込みごとに印を付け、その一覧を FILE に書く。電源断の後に `kurabe check イメージ --verify FILE` で照合できる"))]
    pub verify: Option<PathBuf>,

    #[arg(long, value_name = "PATTERN", value_parser = choice(&PATTERNS), conflicts_with = "profile", help_heading = t(SINGLE_EN, SINGLE_JA), help = t("Reads or writes, ascending or random", "読み書きと順序"))]
    pub rw: Option<(Direction, Pattern)>,
    #[arg(long, value_name = "SIZE", value_parser = block_size, conflicts_with = "profile", help_heading = t(SINGLE_EN, SINGLE_JA), help = t("Block size [default: 4k]", "ブロックの大きさ [既定: 4k]"))]
    pub bs: Option<u32>,
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_IODEPTH)), conflicts_with = "profile", help_heading = t(SINGLE_EN, SINGLE_JA), help = t("Operations in flight per thread [default: 1]", "スレッドごとの同時発行数 [既定: 1]"))]
    pub iodepth: Option<u32>,
    #[arg(long, alias = "numjobs", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_THREADS)), conflicts_with = "profile", help_heading = t(SINGLE_EN, SINGLE_JA), help = t("Threads [default: 1]", "スレッド数 [既定: 1]"))]
    pub threads: Option<u32>,
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100), conflicts_with = "profile", help_heading = t(SINGLE_EN, SINGLE_JA), help = t("Share of reads of rw and randrw [default: 50]", "rw と randrw の読み出しの割合 [既定: 50]"))]
    pub rwmixread: Option<u8>,
    #[arg(long, value_name = "ORDER", value_parser = |words: &str| parse_order(words).map_err(worded), conflicts_with = "profile", help_heading = t(SINGLE_EN, SINGLE_JA), help = t("Another order of offsets: interleaved, permutation, zipf or zipf:EXPONENT", "オフセットの順序: interleaved、permutation、zipf、zipf:指数"))]
    pub order: Option<Pattern>,
    #[arg(long, value_name = "SIZE", value_parser = bytes, conflicts_with = "profile", help_heading = t(SINGLE_EN, SINGLE_JA), help = t("First byte of the span", "範囲の先頭"))]
    pub offset: Option<u64>,
    #[arg(long, value_name = "SIZE", value_parser = bytes, conflicts_with = "profile", help_heading = t(SINGLE_EN, SINGLE_JA), help = t("End a repetition after this many bytes", "このバイト数で 1 回を終える"))]
    pub bytes: Option<u64>,
    #[arg(long, alias = "loops", value_name = "N", value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "profile", help_heading = t(SINGLE_EN, SINGLE_JA), help = t("End a repetition after covering the span this many times", "範囲をこの回数まわったら 1 回を終える"))]
    pub passes: Option<u32>,
    #[arg(long, aliases = ["ramp-time", "ramp_time"], value_name = "TIME", value_parser = duration_or_zero, conflicts_with = "profile", help_heading = t(SINGLE_EN, SINGLE_JA), help = t("Time before recording starts", "記録を始める前の慣らし時間"))]
    pub warm_up: Option<u64>,
    #[arg(long, alias = "rate_iops", value_name = "IOPS", value_parser = rate, conflicts_with = "profile", help_heading = t(SINGLE_EN, SINGLE_JA), help = t("Open loop: operations per second; latency counts from when each was due", "オープンループ: 毎秒の I/O 数(レイテンシは予定時刻から数える)"))]
    pub rate: Option<f64>,
    #[arg(long, requires = "rate", help_heading = t(SINGLE_EN, SINGLE_JA), help = t("Arrivals of the open loop as a Poisson process", "オープンループの到着をポアソン過程にする"))]
    pub poisson: bool,
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "profile", help_heading = t(SINGLE_EN, SINGLE_JA), help = t("fsync after every N writes", "N 回の書き込みごとに fsync"))]
    pub fsync: Option<u32>,
    #[arg(long, value_name = "WHEN", value_parser = choice(&END_SYNCS), conflicts_with = "profile", help_heading = t(SINGLE_EN, SINGLE_JA), help = t("fsync at the end of a repetition, inside or outside its time [default: none]", "1 回の終わりに fsync(時間に含める、含めない)[既定: none]"))]
    pub end_fsync: Option<EndSync>,
    #[arg(long, conflicts_with = "profile", help_heading = t(SINGLE_EN, SINGLE_JA), help = t("Open with O_SYNC", "O_SYNC で開く"))]
    pub o_sync: bool,

    #[arg(long, value_name = "FILE", conflicts_with_all = ["profile", "rw", "bs", "time"], value_hint = ValueHint::FilePath, help_heading = t(REPLAY_EN, REPLAY_JA), help = t("The trace: fio iolog, blkparse text, MSR Cambridge, SPC, MQSim, SSDSim or DiskSim", "トレース: fio iolog、blkparse テキスト、MSR Cambridge、SPC、MQSim、SSDSim、DiskSim"))]
    pub replay: Option<PathBuf>,
    #[arg(long, value_name = "TIMING", requires = "replay", default_value = "fast", value_parser = choice(&TIMINGS), help_heading = t(REPLAY_EN, REPLAY_JA), help = t("As fast as it goes, with the trace's pauses between the starts of operations, with those from the end of one to the start of the next (for all, or for each unit of the trace by itself), or each operation at its time", "可能な限り速く(fast)、開始から次の開始までの間隔を保って(closed)、終了から次の開始までの間隔を全体で(think)、またはトレースのファイルごとに保って(readers)、または各操作を元の時刻に(timestamps)"))]
    pub timing: ReplayTiming,
    #[arg(long, value_name = "FACTOR", requires = "replay", value_parser = rate, help_heading = t(REPLAY_EN, REPLAY_JA), help = t("With --timing timestamps: 2 is twice as fast [default: 1]", "--timing timestamps の速さ。2 なら 2 倍速 [既定: 1]"))]
    pub speed: Option<f64>,
    #[arg(long, value_name = "FORMAT", requires = "replay", value_parser = PossibleValuesParser::new(TraceFormat::ALL.map(TraceFormat::word)), help_heading = t(REPLAY_EN, REPLAY_JA), help = t("Format of the trace, where its content does not tell", "トレースの形式(内容から判別できない場合)"))]
    pub trace_format: Option<String>,

    #[arg(long, value_name = "SIZE", value_parser = block_size, requires = "profile", help_heading = t("Single steps of profiles", "プロファイルの一部だけ変える"), help = t("Copies: bytes read before they are written", "コピー: 一度に読んで書くバイト数"))]
    pub chunk: Option<u32>,
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000), requires = "profile", help_heading = t("Single steps of profiles", "プロファイルの一部だけ変える"), help = t("git-pull: files in the repository; a tenth of them changes", "git-pull: リポジトリのファイル数(その 1 割が変わる)"))]
    pub files: Option<u32>,

    #[arg(long, help_heading = t("What is kept", "記録"), help = t("Keep the serial numbers of devices, not only a salted hash", "デバイスのシリアル番号をハッシュでなくそのまま記録する"))]
    pub with_serial: bool,
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "dry_run", help_heading = t("What is kept", "記録"), help = t("Write a line for each operation to this new CSV file: what, where, when, its latency, and of a model where its time went by layer", "操作ごとに 1 行を新しい CSV ファイルに書く(種類、位置、時刻、レイテンシ。モデルでは層ごとの時間の内訳も)"))]
    pub per_request: Option<PathBuf>,
    #[arg(long, help = t("Show the plan and what would be written; measure nothing", "計画と書き込む量を示すだけで、測定しない"))]
    pub dry_run: bool,
    #[command(flatten)]
    pub fio: FioWords,
}

impl RunArgs {
    /// What they ask for.
    ///
    /// # Errors
    /// When words do not go together.
    pub fn request(&self) -> Result<RunRequest> {
        self.check_replay_words()?;
        self.check_verify_words()?;
        let job = self.job()?;
        let procedure = match (&self.profile, &self.replay) {
            (Some(name), _) => Procedure::Named(name.clone()),
            (None, Some(trace)) => Procedure::Single(Box::new(Step::Replay(self.replay_step(trace)))),
            (None, None) if self.is_single() => {
                Procedure::Single(Box::new(Step::Io(self.step_change().single_step(self.time))))
            }
            (None, None) => Procedure::Usual,
        };
        let request = RunRequest {
            target: self.fio.filename.as_ref().unwrap_or(&self.target).clone(),
            procedure,
            overrides: self.overrides(),
            settings: self.settings(),
            verify: self.verify.is_some(),
            kernel_trace: self.trace,
            labels: labels(&self.label, self.name.as_ref())?,
            sets: self.modelled.sets()?,
            no_fill: self.modelled.no_fill,
            writing: self.writing.writing(),
            with_serial: self.with_serial,
        };
        let Some(job) = job else { return Ok(request) };
        let target = self.behind_job.clone().or_else(|| target_of_job(&job));
        let target = target.unwrap_or_else(|| PathBuf::from("."));
        Ok(RunRequest { target, ..request }.with_job(job))
    }

    /// The job file in the target's place.
    fn job(&self) -> Result<Option<FioJob>> {
        let name = self.target.to_str().filter(|name| is_job_name(name) && self.profile.is_none());
        let Some(name) = name.filter(|_| self.behind_job.is_some() || self.target.is_file()) else {
            let Some(other) = &self.behind_job else { return Ok(None) };
            let (first, second) = (shown::path(&self.target), shown::path(other));
            return Err(Error::new(
                ErrorKind::Usage,
                text!("{first} and {second} are two targets", "{first} と {second} は 2 つの対象です"),
            )
            .remedy(text!(
                "`kurabe versus` compares targets; before a target only a job file of fio (job.fio) may stand",
                "対象どうしを比べるのは `kurabe versus` です。対象の前に書けるのは fio のジョブファイル(job.fio)だけです"
            )));
        };
        let workload = self.workload_words().into_iter().chain([
            ("--rw", self.rw.is_some()),
            ("--bs", self.bs.is_some()),
            ("--iodepth", self.iodepth.is_some()),
            ("--replay", self.replay.is_some()),
        ]);
        if let Some((word, _)) = workload.into_iter().find(|(_, given)| *given) {
            return Err(Error::new(
                ErrorKind::Usage,
                text!("{word} changes nothing beside {name}", "{name} には {word} は効きません"),
            )
            .remedy(text!("write it into the job file", "ジョブファイルに書いてください")));
        }
        load_job(name).map(Some)
    }

    /// What they change of a procedure.
    pub(super) fn overrides(&self) -> Overrides {
        Overrides {
            size_bytes: self.size,
            runs: self.runs,
            time_ns: self.time,
            interval_ns: self.interval,
            data: self.data,
            seed: self.seed,
            direct: self.direct.or(self.buffered.map(|buffered| !buffered)),
            chunk_bytes: self.chunk,
            files: self.files,
            steps: StepChange::default(),
        }
    }

    /// What the words of a single workload change where a profile gives the steps.
    pub(super) fn step_change(&self) -> StepChange {
        let (direction, of_rw) = self.rw.unzip();
        StepChange {
            direction,
            pattern: self.order.or(of_rw),
            block_bytes: self.bs,
            iodepth: self.iodepth,
            threads: self.threads,
            read_percent: self.rwmixread.or(of_rw.map(|_| 50)),
            offset_bytes: self.offset,
            warm_up_ns: self.warm_up,
            end_bytes: self.bytes,
            passes: self.passes,
            rate_iops: self.rate,
            arrival: self.poisson.then_some(Arrival::Poisson),
            sync_every_writes: self.fsync,
            end_sync: self.end_fsync,
            o_sync: self.o_sync.then_some(true),
        }
    }

    pub(super) fn settings(&self) -> Settings {
        Settings {
            engine: self.fio.ioengine.unwrap_or(self.engine),
            wait: self.wait,
            pages: self.pages,
            cache: self.cache,
        }
    }

    /// Words that belong to a single workload, and not to a replay, and whether they were given.
    fn workload_words(&self) -> [(&'static str, bool); 11] {
        [
            ("--rwmixread", self.rwmixread.is_some()),
            ("--threads", self.threads.is_some()),
            ("--order", self.order.is_some()),
            ("--offset", self.offset.is_some()),
            ("--bytes", self.bytes.is_some()),
            ("--passes", self.passes.is_some()),
            ("--warm-up", self.warm_up.is_some()),
            ("--rate", self.rate.is_some()),
            ("--fsync", self.fsync.is_some()),
            ("--end-fsync", self.end_fsync.is_some()),
            ("--o-sync", self.o_sync),
        ]
    }

    /// Whether a word was given that belongs to a single workload.
    fn is_single(&self) -> bool {
        self.step_change() != StepChange::default()
    }

    /// Writes are stamped by one engine alone.
    fn check_verify_words(&self) -> Result<()> {
        if self.verify.is_none() || self.settings().engine != EngineChoice::Fixed(Engine::Uring) {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Usage,
            text!("--verify and io_uring do not go together", "--verify と io_uring は同時に使えません"),
        )
        .remedy(text!(
            "leave out --engine: pread and pwrite stamp each write",
            "--engine を外してください。印を付けられるのは pread/pwrite です"
        )))
    }

    /// A trace says itself what is done: words of a workload beside it would change nothing.
    fn check_replay_words(&self) -> Result<()> {
        let has_times = matches!(self.timing, ReplayTiming::Timestamps { .. });
        let speed = ("--speed", self.speed.is_some() && !has_times);
        let iodepth = ("--iodepth", self.iodepth.is_some() && self.timing == ReplayTiming::Think);
        let mut words = self.workload_words().into_iter().chain([speed, iodepth]);
        let Some((word, _)) = words.find(|(_, given)| *given).filter(|_| self.replay.is_some()) else {
            return Ok(());
        };
        Err(Error::new(
            ErrorKind::Usage,
            text!("{word} changes nothing in this replay", "この再生では {word} は効きません"),
        )
        .remedy(text!(
            "leave it out; a replay takes --iodepth, --size, --runs and --timing, and --speed with --timing timestamps",
            "外してください。再生で使えるのは --iodepth、--size、--runs、--timing と、--timing timestamps での --speed です"
        )))
    }

    fn replay_step(&self, trace: &Path) -> ReplayStep {
        ReplayStep {
            id: None,
            label: None,
            trace: trace.display().to_string(),
            format: self.trace_format.clone(),
            timing: match (self.timing, self.speed) {
                (ReplayTiming::Timestamps { .. }, Some(speed)) => ReplayTiming::Timestamps { speed },
                (timing, _) => timing,
            },
            iodepth: self.iodepth.unwrap_or(DEFAULT_REPLAY_IODEPTH),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;
    use kurabe_core::profile::Profile;
    use kurabe_core::quantity::NS_PER_S;
    use kurabe_core::workload::End;

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

    fn planned(words: &[&str]) -> Profile {
        let cli = Cli::parse_from(["kurabe", "run"].iter().chain(words));
        let Command::Run(args) = cli.command else { panic!("run") };
        kurabe_lab::Prepared::new(args.request().unwrap()).unwrap().profile().clone()
    }

    #[test]
    fn fio_words_make_one_workload() {
        let plan =
            planned(&["--rw", "randrw", "--bs", "8k", "--iodepth", "4", "--numjobs", "2", "--time", "3s"]);
        let tasks = plan.tasks(1 << 30);
        assert_eq!(tasks.len(), 1);
        let workload = tasks[0].workload().unwrap();
        assert_eq!((workload.read_percent, workload.iodepth, workload.threads), (50, 4, 2));
        assert_eq!(workload.end.time_ns, Some(3 * NS_PER_S));
        assert_eq!(workload.largest_block_bytes(), 8192);
    }

    #[test]
    fn fios_spellings_are_taken() {
        let words = "kurabe run --name=job1 --filename=/mnt/x --rw=randread --bs=4k --iodepth=8 --numjobs=2 --direct=1 \
                     --ioengine=libaio --time_based --runtime=5s --ramp_time=1s --group_reporting";
        let Command::Run(args) = Cli::try_parse_from(words.split_whitespace()).unwrap().command else {
            panic!()
        };
        let request = args.request().unwrap();
        assert_eq!(request.target, Path::new("/mnt/x"));
        assert_eq!((request.overrides.direct, request.overrides.time_ns), (Some(true), Some(5 * NS_PER_S)));
        assert_eq!(request.settings.engine, EngineChoice::Fixed(Engine::Uring));
        assert_eq!(request.labels, [("name".to_owned(), Some("job1".to_owned()))]);
        let Procedure::Single(step) = request.procedure else { panic!() };
        let Step::Io(step) = *step else { panic!() };
        assert_eq!((step.warm_up_ns, step.threads), (NS_PER_S, 2));
        for refused in ["--ioengine=rados", "--filename=/a /b", "--direct=2"] {
            let words = format!("kurabe run {refused}");
            assert!(Cli::try_parse_from(words.split_whitespace()).is_err(), "{refused}");
        }
    }

    #[test]
    fn flags_override_the_profile() {
        let plan =
            planned(&["--profile", "cdm-9", "--size", "64m", "--runs", "5", "--time", "1s", "--buffered"]);
        assert_eq!((plan.rules.size_bytes, plan.rules.runs, plan.rules.direct), (64 << 20, 5, false));
        assert_eq!(plan.tasks(1 << 30)[0].workload().unwrap().end.time_ns, Some(NS_PER_S));
    }

    #[test]
    fn an_end_by_bytes_is_not_cut_by_the_usual_time() {
        let plan = planned(&["--rw", "write", "--bytes", "1g"]);
        assert_eq!(
            plan.tasks(1 << 30)[0].workload().unwrap().end,
            End { bytes: Some(1 << 30), ..End::default() }
        );
    }
}
