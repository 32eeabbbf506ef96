//! Arguments of `kurabe versus`.

use super::paths::{DevicePath, TargetPath};
use super::shared::{bytes, choice, duration, duration_or_zero, labels, unaccepted, worded};
use super::vary::variants;
use crate::lang::{below, t};
use clap::{Args, ValueHint};
use kurabe_core::{Result, issue::EngineChoice, words::Keyword};
use kurabe_lab::{parse_percent, versus::VersusRequest};
use kurabe_report::Unaccepted;

#[derive(Debug, Args)]
#[command(after_help = below!("versus"))]
pub struct VersusArgs {
    #[arg(
        value_name = "TARGET", required = true, value_hint = ValueHint::AnyPath,
        help = t("What to measure, the baseline first: directories, files, block devices, or model:NAME",
                 "測る対象(最初が基準): ディレクトリ、ファイル、ブロックデバイス、または model:名前")
    )]
    pub targets: Vec<TargetPath>,
    #[arg(long, value_name = "KEY=VALUE,VALUE…", help = t(
        "Compare configurations of one target instead: an option of `kurabe run` with two values or more, the baseline's first (bs=4k,16k), a switch (buffered), or a parameter of a model (fat-image.cluster=16KiB,64KiB); changes every step of the profile; several make the product",
        "1 つの対象の条件を変えて比べる。`kurabe run` のオプションと 2 つ以上の値(先頭が基準。例: bs=4k,16k)、スイッチ(buffered)、モデルのパラメーター(fat-image.cluster=16KiB,64KiB)。プロファイルの全ステップに適用。複数書くと組み合わせをすべて測る"
    ))]
    pub vary: Vec<String>,
    #[arg(long, short, value_name = "NAME|FILE", default_value = "quick", help = t("Profile: a name from `kurabe profiles`, or a TOML file", "プロファイル: `kurabe profiles` の名前か TOML ファイル"))]
    pub profile: String,
    #[arg(long, value_name = "TIME", value_parser = duration, help = t("Longest time of measuring, all targets together [default: 5min; models get the repetitions that they need]", "測定時間の上限(全対象の合計)[既定: 5min。モデルは必要な回数だけ繰り返す]"))]
    pub time: Option<u64>,
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = duration, help = t("Time of each repetition that ends by time, whatever the profile says: many short ones show more than few long ones", "時間で終わる項目の 1 回の時間(プロファイルより優先。長い少数回より、短い多数回のほうがよく分かります)"))]
    pub repetition: u64,
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = duration_or_zero, help = t("Pause before each repetition, on all targets alike", "各回の前の休み(全対象で同じ)"))]
    pub interval: u64,
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = |words: &str| parse_percent(words).map_err(worded), help = t("Differences up to this do not matter", "この割合までの差は問題にしない"))]
    pub margin: f64,
    #[arg(long, value_name = "slower[:PERCENT]|unclear|different", value_delimiter = ',', value_parser = unaccepted, help = t("Exit with 13, 14 or 15 and name the test, if another is slower than the baseline for certain by more than PERCENT [default: the margin], if a test is not clear, if one differs by more than the margin; the first that holds counts", "割合 [既定: 許容差] を超えて基準より確実に遅い項目、判断できない項目、許容差を超える差のある項目があれば、その項目を示して終了コード 13、14、15 で終わる(先に書いたものを優先)"))]
    pub fail_on: Vec<Unaccepted>,
    #[arg(long, value_name = "SIZE", value_parser = bytes, help = t("Size of the test files, or bytes of each target to cover", "テストファイルの大きさ、または各対象のうち使う範囲"))]
    pub size: Option<u64>,
    #[arg(long, value_name = "N", help = t("Seed of the order, and of offsets and data [default: a new order each time]", "順番、オフセット、データの乱数のシード [既定: 順番は毎回新しく決める]"))]
    pub seed: Option<u64>,
    #[arg(long, value_name = "KEY=VALUE", help = t("Label the runs (may be repeated)", "測定にラベルを付ける(繰り返し可)"))]
    pub label: Vec<String>,
    #[arg(long, help = t("Show the plan and what would be written on each target; measure nothing", "計画と各対象に書き込む量を示すだけで、測定しない"))]
    pub dry_run: bool,
    #[arg(long, help = t("Write no test file to a model before it is read: its data are of long ago", "モデルに事前のテストファイルを書き込まない(ずっと前に書かれたデータを読む)"))]
    pub no_fill: bool,
    #[arg(long, value_name = "ENGINE", default_value = "auto", value_parser = choice(EngineChoice::WORDS), help = t("io_uring, pread/pwrite in threads, a mapping (through the page cache), or whichever of the first two shows the storage", "io_uring、スレッドでの pread/pwrite、mmap(ページキャッシュ経由)、または前の 2 つから実力が出るほうを自動で選ぶ"))]
    pub engine: EngineChoice,
    #[arg(long, help = t("Through the page cache, dropped before each repetition; also where direct I/O is refused", "ページキャッシュ経由で測る(各回の前に破棄。ダイレクト I/O が使えない場合にも)"))]
    pub buffered: bool,
    #[arg(long, help = t("Write to targets that are existing files; their contents are lost", "対象が既存のファイルなら書き込む(中身は失われます)"))]
    pub write_existing: bool,
    #[arg(long, value_name = "DEVICE", value_hint = ValueHint::FilePath, help = t("Write to this block device, which must be a target; everything on it is lost (once for each)", "対象であるこのブロックデバイスに書き込む(中身はすべて失われます。デバイスごとに指定)"))]
    pub destroy_data_on: Vec<DevicePath>,
}

impl VersusArgs {
    /// Returns the request of these arguments.
    ///
    /// # Errors
    /// When a label is malformed.
    pub fn request(&self) -> Result<VersusRequest> {
        let mut common = vec![("engine", self.engine.word().to_owned())];
        if self.buffered && !self.vary.iter().any(|words| words.trim_start_matches('-').starts_with("direct"))
        {
            common.push(("buffered", "true".to_owned()));
        }
        Ok(VersusRequest {
            targets: self.targets.iter().map(|target| target.0.clone()).collect(),
            variants: variants(&self.vary, &common)?,
            profile: self.profile.clone(),
            time_ns: self.time,
            repetition_ns: self.repetition,
            interval_ns: self.interval,
            margin: self.margin,
            size_bytes: self.size,
            seed: self.seed,
            labels: labels(&self.label, None)?,
            engine: self.engine,
            buffered: self.buffered,
            no_fill: self.no_fill,
            write_existing: self.write_existing,
            destroy_data_on: self.destroy_data_on.iter().map(|device| device.0.clone()).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;
    use kurabe_testkit::needs::needs;

    #[test]
    fn without_words_it_is_what_everybody_else_gets() {
        let cli = Cli::try_parse_from(["kurabe", "versus", "a", "b"]).unwrap();
        let Command::Versus(args) = cli.command else { panic!("{cli:?}") };
        let targets = vec!["a".into(), "b".into()];
        assert_eq!(args.request().unwrap(), VersusRequest { targets, ..VersusRequest::default() });
    }

    #[test]
    fn the_command_line_of_a_form_asks_for_what_the_form_asks_for() {
        if !needs("sh") {
            return;
        }
        let forms = [
            r#"{"target":"/mnt/a b","vary":[["bs","4k, 16k"],["engine",""]]}"#,
            r#"{"target":"/mnt/ssd","profile":"cdm-9","size":"64MiB","time":"2min","vary":[["bs","4 KiB,64KiB"],["iodepth","1,8"]]}"#,
            r#"{"target":"/mnt/ssd","profile":"quick","vary":[["threads","1,4"],["engine","uring,threads"],["buffered","no,yes"]]}"#,
            r#"{"target":"/dev/sda","profile":"quick","vary":[["buffered","no,yes"]]}"#,
            r#"{"target":"/mnt/a","profile":"quick","size":"16MiB","against":"/mnt/it's b, model:ideal-ram-disk"}"#,
        ];
        for form in forms {
            let (command, of_form) = kurabe_ui::turns_of_form(form).unwrap();
            // The arguments that a shell passes.
            let printed = format!("printf '%s\\n' {command}");
            let output = std::process::Command::new("sh").args(["-c", &printed]).output().unwrap();
            let typed = String::from_utf8(output.stdout).unwrap();
            let cli = Cli::try_parse_from(typed.lines()).unwrap_or_else(|error| panic!("{command}: {error}"));
            let Command::Versus(args) = cli.command else { panic!("{command}") };
            assert_eq!(args.request().unwrap(), of_form, "{command}");
        }
    }
}
