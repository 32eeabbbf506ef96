//! The words of `kurabe sweep`.

use super::{bytes, duration, labels};
use crate::lang::t;
use crate::words::assignments;
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueHint};
use kurabe_core::Result;
use kurabe_core::workload::Direction;
use kurabe_lab::{Overrides, Procedure, RunRequest, SweepAxis, SweepPlan, Writing};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = t(
    "What it moves, one at a time:\n  \
     size         random 4 KiB over more and more warm bytes: where caches end\n  \
     block-size   512 B to 8 MiB, ascending and random: link, strip, mapping unit\n  \
     queue-depth  1 to 64: what works side by side\n  \
     write        one long write: caches for writes that fill up\n\
     Where the size shows a change, further sizes around it are measured. Each\n\
     change is named with its evidence, or said to be unknown with what would tell.\n\n\
     Examples:\n  \
     kurabe sweep /mnt/usb\n  \
     kurabe sweep /dev/sdb --max 4GiB          reads only; nothing is written\n  \
     kurabe sweep /mnt/ssd --over write --time 3s   a minute of writes, thrice\n  \
     kurabe sweep . --over size --buffered          with the computer's own cache\n  \
     kurabe sweep model:raid-9260 --over block-size --set raid.strip=256KiB",
    "ひとつずつ変えるもの:\n  \
     size         範囲を広げながらランダム 4 KiB(キャッシュの終わり)\n  \
     block-size   512 B から 8 MiB(接続、ストリップ、マッピング単位)\n  \
     queue-depth  1 から 64(並行して動く部分)\n  \
     write        長い連続書き込み(書き込みキャッシュの終わり)\n\
     サイズで変化が見えたところは、その前後をさらに細かく測ります。\n\
     変化には根拠つきで名前を付け、分からないものは「不明」とし、\n\
     何があれば分かるかを示します。\n\n\
     例:\n  \
     kurabe sweep /mnt/usb\n  \
     kurabe sweep /dev/sdb --max 4GiB          読み出しだけ(何も書きません)\n  \
     kurabe sweep /mnt/ssd --over write --time 3s   1 分間の書き込みを 3 回\n  \
     kurabe sweep . --over size --buffered          ホストのキャッシュも含める\n  \
     kurabe sweep model:raid-9260 --over block-size --set raid.strip=256KiB"
))]
pub struct SweepArgs {
    #[arg(value_name = "TARGET", default_value = ".", value_hint = ValueHint::AnyPath, help = t("What to measure, as in `kurabe run`: a directory, a file, a block device, or model:NAME", "測る対象(`kurabe run` と同じ): ディレクトリ、ファイル、ブロックデバイス、model:名前"))]
    pub target: PathBuf,
    #[arg(long, value_name = "AXIS", default_value = "all", value_delimiter = ',', value_parser = PossibleValuesParser::new(["all", "size", "block-size", "queue-depth", "write"]), help = t("What is moved (several with commas)", "変えるもの(カンマで複数指定可)"))]
    pub over: Vec<String>,
    #[arg(long, value_name = "SIZE", value_parser = bytes, help = t("Largest working set, and size of the test file [default: 1 GiB, less where writing that takes longer than 20 s]", "最大の範囲とテストファイルの大きさ [既定: 1 GiB。書くのに 20 秒以上かかる場合は小さくする]"))]
    pub max: Option<u64>,
    #[arg(long, value_name = "WHICH", default_value = "both", value_parser = PossibleValuesParser::new(["read", "write", "both"]), help = t("Reads, writes or both", "読み出し、書き込み、両方"))]
    pub direction: String,
    #[arg(long, value_name = "TIME", default_value = "500ms", value_parser = duration, help = t("Time per repetition; the long write takes 20 times as long", "1 回の時間(連続書き込みはこの 20 倍)"))]
    pub time: u64,
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100), help = t("Repetitions per point", "各点の回数"))]
    pub runs: u32,
    #[arg(long, value_name = "N", default_value_t = 1, help = t("Seed of offsets and data", "オフセットとデータの乱数のシード"))]
    pub seed: u64,
    #[arg(long, help = t("Through the page cache: the computer's own cache shows, too", "ページキャッシュ経由で測る(コンピューター自身のキャッシュも見える)"))]
    pub buffered: bool,
    #[arg(long, value_name = "KEY=VALUE", help = t("Label the run (may be repeated)", "測定にラベルを付ける(繰り返し可)"))]
    pub label: Vec<String>,
    #[arg(long, value_name = "LAYER.PARAMETER=VALUE", help = t("Change a parameter of a model, as in raid.strip=256KiB (may be repeated)", "モデルのパラメーターを変える。例: raid.strip=256KiB(繰り返し可)"))]
    pub set: Vec<String>,
    #[arg(long, help = t("Write no test file to a model before it is read: its data are of long ago", "モデルに事前のテストファイルを書き込まない(ずっと前に書かれたデータを読む)"))]
    pub no_fill: bool,
    #[arg(long, help_heading = t("What may be written", "書き込みの許可"), help = t("Write to the existing file TARGET; its contents are lost", "既存のファイル TARGET に書き込む(中身は失われます)"))]
    pub write_existing: bool,
    #[arg(long, value_name = "DEVICE", value_hint = ValueHint::FilePath, help_heading = t("What may be written", "書き込みの許可"), help = t("Write to the block device TARGET, named again here; everything on it is lost", "ブロックデバイス TARGET に書き込む(同じ名前をここにも書く。中身はすべて失われます)"))]
    pub destroy_data_on: Option<PathBuf>,
    #[arg(long, help = t("Show the plan and what would be written; measure nothing", "計画と書き込む量を示すだけで、測定しない"))]
    pub dry_run: bool,
}

impl SweepArgs {
    /// What they ask for.
    ///
    /// # Errors
    /// When a label or a change of a model has another form.
    pub fn request(&self) -> Result<RunRequest> {
        let moves = |axis: SweepAxis| {
            let word = match axis {
                SweepAxis::WorkingSet => "size",
                SweepAxis::BlockSize => "block-size",
                SweepAxis::QueueDepth => "queue-depth",
                SweepAxis::BytesWritten => "write",
            };
            self.over.iter().any(|over| over == "all" || over == word)
        };
        let plan = SweepPlan {
            // In the order of the axes, each once.
            axes: SweepAxis::ALL.into_iter().filter(|axis| moves(*axis)).collect(),
            directions: match self.direction.as_str() {
                "read" => vec![Direction::Read],
                "write" => vec![Direction::Write],
                _ => vec![Direction::Read, Direction::Write],
            },
            max_bytes: self.max,
            time_ns: self.time,
            runs: self.runs,
            direct: !self.buffered,
            seed: self.seed,
        };
        Ok(RunRequest {
            target: self.target.clone(),
            procedure: Procedure::Sweep(plan),
            overrides: Overrides { direct: self.buffered.then_some(false), ..Overrides::default() },
            labels: labels(&self.label, None)?,
            sets: assignments("--set", &self.set, "raid.strip=256KiB")?,
            no_fill: self.no_fill,
            writing: Writing {
                existing_file: self.write_existing,
                destroy_data_on: self.destroy_data_on.clone(),
            },
            ..RunRequest::default()
        })
    }
}
