//! fio job files that repeat the work of a run.
//!
//! The model: a run becomes a `[global]` section that defines the target, and a section for every `io`
//! cell, one after the other (`stonewall`). Comments state what fio cannot do, and how DiskSpd and
//! elbencho would do the same. A separate job lays out the test file, because kurabe removed it. fio
//! does not ask before it writes, so jobs are commented out if they would write to a file or a device
//! other than kurabe's own test file.

use super::facts::{of_model, one_line, step};
use super::other_tools;
use kurabe_core::imported::ImportedCell;
use kurabe_core::profile::Step;
use kurabe_core::quantity::{GIB, format_bytes};
use kurabe_core::record::{Cell, RunRecord, TargetKind, TargetRecord};
use kurabe_core::workload::{Data, Direction, End, Pattern, Workload};
use kurabe_core::{ErrorKind, Lang, Result, Text, mention::RUN, shown, text};
use kurabe_fio::{OptionList, WrittenJobs, data_options};
use std::fmt::Write;

/// Name of the file that fio creates in a directory.
const TEST_FILE: &str = "kurabe-fio-test";
/// Limit for names. fio reads lines of at most 4095 bytes.
const LONGEST_NAME_BYTES: usize = 3000;
/// Maximum length of comments. The limit of section names is a quarter of it.
const LONGEST_COMMENT_CHARS: usize = 400;
/// Time of a job if another tool did not print it.
const UNKNOWN_TIME_NS: u64 = 5_000_000_000;

/// Writes the job file.
pub(super) fn write(records: &[RunRecord], lang: Lang) -> Result<String> {
    let mut file = JobFile { out: String::new(), lang };
    file.comment(&text!(
        "fio jobs written by kurabe {}; run them with: fio FILE",
        "kurabe {} が書き出した fio のジョブです。実行方法: fio ファイル名",
        env!("CARGO_PKG_VERSION")
    ));
    file.comment(&text!(
        "kurabe's latencies compare with fio's `lat` (from submission to completion), not with its `clat`",
        "kurabe のレイテンシは fio の `clat` ではなく `lat`(発行から完了まで)に対応します"
    ));
    for record in records {
        file.run(record)?;
    }
    Ok(file.out)
}

struct JobFile {
    out: String,
    lang: Lang,
}

/// Target of the jobs of a run.
struct JobTarget {
    name: String,
    span_bytes: u64,
    direct: bool,
    /// Whether fio creates the file itself. It is laid out before the first job.
    own_file: bool,
}

impl JobFile {
    fn comment(&mut self, text: &Text) {
        let words = one_line(text.get(self.lang));
        let cut: String = words.chars().take(LONGEST_COMMENT_CHARS).collect();
        // Writing to a string does not fail.
        let _ = writeln!(self.out, "# {cut}");
    }

    fn section(&mut self, name: &str, options: &OptionList, commented_out: bool) {
        let lead = if commented_out { "; " } else { "" };
        let _ = writeln!(self.out, "{lead}[{}]", section_name(name));
        for (key, value) in options {
            let _ = writeln!(self.out, "{lead}{key}={value}");
        }
    }

    fn run(&mut self, record: &RunRecord) -> Result<()> {
        let place = place(record)?;
        self.out.push('\n');
        let header = &record.header;
        self.comment(&text!(
            "run {}: {} with profile {}, {}",
            "測定 {}: {}、プロファイル {}、{}",
            header.id,
            header.target_name(),
            header.profile_name(),
            header.measured_at()
        ));
        if let Some(model) = of_model(record) {
            self.comment(&model);
            self.comment(&text!(
                "fio needs a device: set filename= to the one to compare with; jobs that write are commented out",
                "fio には実在のデバイスが必要です。比べたい対象を filename= に書いてください。書き込むジョブはコメントにしてあります"
            ));
        }
        self.procedure(record);
        let direct = u8::from(place.direct).to_string();
        let global =
            vec![("filename", place.name.clone()), ("direct", direct), ("group_reporting", "1".to_owned())];
        self.section("global", &global, false);
        if place.own_file {
            self.lay_out(record, &place);
        }
        for cell in &record.cells {
            self.cell(record, cell, &place);
        }
        Ok(())
    }

    /// Writes how many times kurabe ran each cell.
    fn procedure(&mut self, record: &RunRecord) {
        let Some(profile) = &record.header.profile else {
            let Some(origin) = &record.header.origin else { return };
            self.comment(&text!(
                "imported from {}; measured as: {}; parameters not given here are unknown",
                "{} から取り込んだ結果です。測定方法: {}。ここにない条件は不明です",
                origin.tool_name(),
                origin.procedure.as_deref().unwrap_or("–")
            ));
            return;
        };
        let rules = &profile.rules;
        self.comment(&text!(
            "kurabe ran every test {} times after {} discarded runs and shows the {} of them; fio runs a \
             job once: run this file as many times",
            "kurabe は各セルを、捨てる {1} 回のあとに {0} 回測定し、その {2} を表示します。fio はジョブを 1 回しか実行しないため、\
             このファイルを同じ回数だけ実行してください",
            rules.runs,
            rules.discarded_runs,
            record.header.statistic().word()
        ));
        if rules.interval_ns > 0 {
            self.comment(&text!(
                "kurabe paused for {} between tests; fio does not",
                "kurabe はセルの間に {} の休みを入れますが、fio は入れません",
                kurabe_core::number::latency_ns(rules.interval_ns)
            ));
        }
        if profile.rounds.is_some() {
            self.comment(&text!(
                "kurabe repeated all tests in rounds until the device was steady; these are the tests of one round",
                "kurabe はデバイスが定常状態になるまで全セルを繰り返しました。ここにあるのは 1 周分です"
            ));
        }
        if !profile.preconditions.is_empty() {
            self.comment(&text!(
                "kurabe prepared the device with {} steps that are not among these jobs",
                "kurabe は事前に {} 個の手順でデバイスを準備しましたが、それらはこのジョブに含まれません",
                profile.preconditions.len()
            ));
        }
    }

    /// Writes a job that only creates the test file, with the run's data.
    fn lay_out(&mut self, record: &RunRecord, place: &JobTarget) {
        self.out.push('\n');
        self.comment(&text!(
            "the test file; fio does not delete it: remove it afterwards",
            "テストファイル。fio は消さないので、終わったら削除してください"
        ));
        let mut options: OptionList = vec![
            ("create_only", "1".to_owned()),
            ("rw", "write".to_owned()),
            ("overwrite", "1".to_owned()),
            ("bs", (1 << 20).to_string()),
            ("size", place.span_bytes.to_string()),
        ];
        let data = record.header.profile.as_ref().map_or(Data::Random, |profile| profile.rules.data);
        options.extend(data_options(data, 1 << 20));
        self.section("test file", &options, false);
    }

    fn cell(&mut self, record: &RunRecord, cell: &Cell, place: &JobTarget) {
        self.out.push('\n');
        let name = match cell.direction {
            Some(direction) if !cell.label.ends_with(direction.word()) => {
                format!("{} {}", cell.label, direction.word())
            }
            _ => cell.label.clone(),
        };
        let (workload, notes) = match (&cell.workload, &cell.imported) {
            (Some(workload), _) => (Ok(workload.clone()), Vec::new()),
            (None, Some(imported)) => printed_workload(imported, cell.direction, place),
            (None, None) => (Err(not_a_workload(step(record, cell))), Vec::new()),
        };
        let workload = match workload {
            Ok(workload) => workload,
            Err(why) => {
                self.comment(&text!("{name}: {why}", "{name}: {why}"; why));
                return;
            }
        };
        let is_beside = step(record, cell).is_some_and(Step::is_beside);
        self.job(&name, &workload, cell, &notes, (place, is_beside));
    }

    fn job(
        &mut self,
        name: &str,
        workload: &Workload,
        cell: &Cell,
        notes: &[Text],
        (place, is_beside): (&JobTarget, bool),
    ) {
        let job = WrittenJobs::of(workload, cell.engine.as_ref(), place.direct);
        for note in notes.iter().chain(&job.notes) {
            self.comment(note);
        }
        for (tool, line) in [
            ("DiskSpd", other_tools::diskspd(workload, &place.name, place.direct, place.own_file)),
            ("elbencho", other_tools::elbencho(workload, &place.name, place.direct, place.span_bytes)),
        ] {
            match line {
                Ok(line) => self.comment(&line),
                Err(why) => self
                    .comment(&text!("{tool} cannot do this: {why}", "{tool} では再現できません: {why}"; why)),
            }
        }
        let commented_out = workload.writes() && !place.own_file;
        if commented_out {
            self.comment(&text!(
                "THIS JOB OVERWRITES {0}: it is commented out; remove the semicolons only if all data on \
                 it may be lost",
                "このジョブは {0} を上書きするため無効にしてあります。中身が失われてもよい場合だけ、行頭のセミコロンを外してください",
                place.name
            ));
        }
        for (index, options) in job.sections.iter().enumerate() {
            let mut options = options.clone();
            if index == 0 && !is_beside {
                options.insert(0, ("stonewall", "1".to_owned()));
            }
            let name = if index == 0 { name.to_owned() } else { format!("{name}, {}", index + 1) };
            self.section(&name, &options, commented_out);
        }
    }
}

/// Returns the figures printed by another tool as a workload. Notes list the values that the tool did
/// not print.
fn printed_workload(
    imported: &ImportedCell,
    direction: Option<Direction>,
    place: &JobTarget,
) -> (Result<Workload, Text>, Vec<Text>) {
    let unknown = |en: &str, ja: &str| {
        (Err(text!("the tool did not print {en}", "ツールが{ja}を出力していません")), Vec::new())
    };
    let block_bytes = imported.block_bytes.and_then(|bytes| u32::try_from(bytes).ok());
    let Some(block_bytes) = block_bytes.filter(|bytes| *bytes > 0) else {
        return unknown("the block size", "ブロックサイズ");
    };
    let Some(sequential) = imported.sequential else {
        return unknown("whether it was sequential or random", "シーケンシャルかランダムか");
    };
    let Some(direction) = direction else { return unknown("reads or writes", "読み書きの別") };
    let read_percent = match direction {
        Direction::Read => 100,
        Direction::Write => 0,
        Direction::Mix => match imported.read_percent {
            Some(percent) => percent.round().clamp(1.0, 99.0) as u8,
            None => return unknown("the share of reads", "読みの割合"),
        },
    };
    let mut notes = vec![text!(
        "size, time, data and syncs are unknown: {}, {} s, random data and no syncs are assumed here",
        "サイズ・時間・データ・同期の条件は不明です。ここでは {}、{} 秒、ランダムデータ、同期なしとしています",
        format_bytes(place.span_bytes),
        UNKNOWN_TIME_NS / 1_000_000_000
    )];
    if imported.iodepth.is_none() || imported.threads.is_none() {
        notes.push(text!(
            "the tool did not print the queue depth or the number of threads: 1 is assumed for a missing value",
            "キュー深さまたはスレッド数が出力されていません。不明なものは 1 としています"
        ));
    }
    let pattern = if sequential { Pattern::Sequential } else { Pattern::Random };
    let workload = Workload {
        data: Data::Random,
        seed: 0,
        ..Workload::plain(pattern, block_bytes, place.span_bytes.max(u64::from(block_bytes))).with(|access| {
            access.read_percent = read_percent;
            access.iodepth = imported.iodepth.unwrap_or(1).max(1);
            access.threads = imported.threads.unwrap_or(1).max(1);
            access.end = End { time_ns: Some(UNKNOWN_TIME_NS), ..End::default() };
        })
    };
    (Ok(workload), notes)
}

/// Returns why a step cannot be a job, and the remedy.
fn not_a_workload(step: Option<&Step>) -> Text {
    match step {
        Some(Step::Positional(step)) => text!(
            "{} samples of {} spread over the target, each after an untimed read: fio has no such step; \
             use `{RUN}` with the same profile",
            "対象全体に散らした {} 個の {} のサンプル(それぞれ計測外の読み出しの後)は fio では表せません。同じプロファイルで `{RUN}` を\
             使ってください",
            step.samples,
            format_bytes(u64::from(step.sample_bytes))
        ),
        Some(Step::AccessTime(step)) => text!(
            "{} single accesses of {}; the nearest in fio is rw=randread bs={} iodepth=1 number_ios={0} norandommap=1, \
             at other places; its `lat` is the access time",
            "{} 回の単独アクセス({})。fio で最も近いのは rw=randread bs={} iodepth=1 number_ios={0} norandommap=1 ですが、\
             場所は異なります。その `lat` がアクセス時間にあたります",
            step.samples,
            format_bytes(u64::from(step.block_bytes)),
            step.block_bytes
        ),
        Some(Step::Copy(_)) => text!(
            "an ordinary copy through the page cache, which fio cannot do; use `{RUN}` with the same \
             profile, or time cp",
            "ページキャッシュ経由の通常のコピーは fio では行えません。同じプロファイルで `{RUN}` を使うか、cp の時間を測ってください"
        ),
        Some(Step::Command(step)) => text!(
            "a timed program, which fio cannot do; use `{RUN}` with the same profile, or hyperfine with: {}",
            "プログラムの実行時間の測定は fio では行えません。同じプロファイルで `{RUN}` を使うか、hyperfine で次を測ってください: {}",
            step.command.join(" ")
        ),
        Some(Step::Stopwatch(_)) => text!(
            "a stopwatch that another computer or a person stops, which fio cannot do; use `{RUN}` with \
             the same profile",
            "別のコンピューターや人が止めるストップウォッチは fio にはありません。同じプロファイルで `{RUN}` を使ってください"
        ),
        Some(Step::Metadata(step)) => text!(
            "file-name operations, which fio cannot measure separately; use `{RUN}` with the same \
             profile, or mdtest -F -n {0} -w {1}",
            "ファイル名の操作は fio だけでは測れません。同じプロファイルで `{RUN}` を使うか、mdtest -F -n {0} -w {1} で測ってください",
            step.files,
            step.write_bytes
        ),
        Some(Step::Replay(step)) => text!(
            "a trace: give fio the trace {} as an I/O log with read_iolog=",
            "トレースの再生です。fio ではトレース {} を I/O ログに変換し、read_iolog= で指定してください",
            step.trace
        ),
        Some(Step::Io(_)) | None => text!(
            "the record does not contain the procedure of this test",
            "どのように測定したかが記録に含まれていません"
        ),
    }
}

fn place(record: &RunRecord) -> Result<JobTarget> {
    Ok(match &record.header.target {
        None => JobTarget { name: TEST_FILE.to_owned(), span_bytes: GIB, direct: true, own_file: true },
        Some(target) => JobTarget {
            name: file_name(target)?,
            span_bytes: target.span_bytes,
            direct: target.direct,
            own_file: target.kind == TargetKind::Directory,
        },
    })
}

/// Returns the measured directory. The record contains the path of kurabe's own test file in it, which
/// was removed.
fn directory(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    match path.rsplit_once('/') {
        Some((directory, name)) if name.starts_with(".kurabe-") => directory,
        _ => path,
    }
}

/// Returns the target as written for fio, which takes `:` as the end of a name.
fn file_name(target: &TargetRecord) -> Result<String> {
    let name = match target.kind {
        TargetKind::Model => TEST_FILE.to_owned(),
        TargetKind::Directory => format!("{}/{TEST_FILE}", directory(&target.path)),
        _ => target.path.clone(),
    };
    let unfit = name.len() > LONGEST_NAME_BYTES
        || name.chars().any(shown::is_escaped)
        || name.trim() != name
        || name.contains(['\\', '$', '"']);
    if unfit {
        return Err(ErrorKind::Unsupported
            .error(text!(
                "fio cannot name the target {0:?} in a job file",
                "fio のジョブファイルには対象 {0:?} の名前を書けません",
                target.path
            ))
            .remedy(text!(
                "use another path to it, such as a symbolic link",
                "シンボリックリンクなど、別のパスを使ってください"
            )));
    }
    Ok(name.replace(':', "\\:"))
}

/// Returns a section name that fio accepts: no brackets, limited length, and never `global`.
fn section_name(name: &str) -> String {
    let plain: String = one_line(name).replace('[', "(").replace(']', ")").chars().take(60).collect();
    if plain.is_empty() { "cell".to_owned() } else { plain }
}
