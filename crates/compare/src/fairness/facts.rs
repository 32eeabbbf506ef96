//! The facts of a run by which it is told apart from another: how each is read from the record, what it weighs, what it does.

use super::{Fact, Weight, engine_effect, engine_name};
use crate::key::shared_span_bytes;
use kurabe_core::environment::{BlockDevice, Environment, FileSystem, Link};
use kurabe_core::imported::Origin;
use kurabe_core::model::ModelRecord;
use kurabe_core::profile::Rules;
use kurabe_core::quantity::{format_bytes, format_time_setting};
use kurabe_core::record::{RunRecord, TargetKind};
use kurabe_core::workload::Data;
use kurabe_core::{Text, text};

/// How a fact is read from a record; nothing where the record does not tell it.
type Reader = fn(&RunRecord) -> Option<Text>;

fn fact(key: &'static str, name: Text, weight: Weight, of: Reader) -> Fact {
    Fact { key, name, weight, effect: None, of }
}

fn with(key: &'static str, name: Text, weight: Weight, effect: Text, of: Reader) -> Fact {
    Fact { key, name, weight, effect: Some(effect), of }
}

/// All facts in the order of [`super::KEYS`], without the noise, which is told of the repetitions.
pub(super) fn facts() -> Vec<Fact> {
    [of_the_procedure(), of_the_storage(), of_the_computer()].into_iter().flatten().collect()
}

/// How was it measured?
fn of_the_procedure() -> Vec<Fact> {
    vec![
        with(
            "tool",
            text!("tool", "ツール"),
            Weight::Decisive,
            text!(
                "tools that look alike measure differently: compare runs of one tool where you can",
                "見た目が似たツールでも測り方は違います。できれば同じツールの結果どうしを比べてください"
            ),
            tool,
        ),
        with(
            "statistic",
            text!("statistic", "統計量"),
            Weight::Decisive,
            text!(
                "the best of several runs is above their mean; so the best is compared with the best where only that was printed",
                "最良値は平均より高く出ます。最良値しか表示されていない項目では、最良値どうしを比べています"
            ),
            statistic,
        ),
        with(
            "model",
            text!("model or device", "モデルか実機か"),
            Weight::Decisive,
            text!(
                "a model's figures are computed, not measured",
                "モデルの値は計算であり、実測ではありません"
            ),
            |run| {
                Some(
                    run.header
                        .model
                        .as_ref()
                        .map_or_else(|| text!("a device", "実機"), |model| Text::same(model.name.clone())),
                )
            },
        ),
        fact(
            "parameters",
            text!("changed parameters", "変えたパラメーター"),
            Weight::Notable,
            |run| run.header.model.as_ref().map(changes),
        ),
        with(
            "seed",
            text!("seed of the places", "アクセス位置の乱数の種"),
            Weight::Minor,
            text!(
                "other places on the modelled disk: the figures differ by it as far as repetitions do",
                "モデル上のアクセス位置が変わります。値の違いは繰り返しのばらつきと同じ程度です"
            ),
            seed,
        ),
        with(
            "cache",
            text!("page cache", "ページキャッシュ"),
            Weight::Decisive,
            text!(
                "through the page cache, memory is measured, too",
                "ページキャッシュ経由ではメモリーの速さも含まれます"
            ),
            |run| {
                rule(
                    run,
                    |rules| {
                        if rules.direct { text!("avoided", "避ける") } else { text!("used", "使う") }
                    },
                )
            },
        ),
        fact("profile", text!("profile", "プロファイル"), Weight::Notable, profile),
        with(
            "size",
            text!("test size", "テストサイズ"),
            Weight::Notable,
            text!("a small test may fit a cache", "小さいテストはキャッシュに収まることがあります"),
            size,
        ),
        fact("data", text!("data written", "書き込みデータ"), Weight::Notable, |run| {
            rule(run, |rules| data_words(rules.data))
        }),
        fact("time", text!("time per repetition", "1 回の時間"), Weight::Minor, |run| {
            rule(run, |rules| Text::same(format_time_setting(rules.time_ns)))
        }),
    ]
}

/// On what?
fn of_the_storage() -> Vec<Fact> {
    vec![
        fact("target", text!("kind of target", "対象の種類"), Weight::Notable, |run| {
            run.header.target.as_ref().map(|target| target_kind(target.kind))
        }),
        fact("device", text!("device", "デバイス"), Weight::Notable, |run| {
            device(run, |device| device.model.clone())
        }),
        fact("firmware", text!("firmware", "ファームウェア"), Weight::Notable, |run| {
            device(run, |device| device.firmware.clone())
        }),
        fact("link", text!("link", "接続"), Weight::Notable, |run| {
            device(run, |device| device.link.as_ref().map(link_words))
        }),
        fact("filesystem", text!("file system", "ファイルシステム"), Weight::Notable, |run| {
            file_system(run, |system| system.kind.clone())
        }),
        fact("mount", text!("mount options", "マウントオプション"), Weight::Minor, |run| {
            file_system(run, |system| system.options.clone())
        }),
        with(
            "fill",
            text!("fill level", "使用率"),
            Weight::Notable,
            text!(
                "a full flash drive writes more slowly",
                "フラッシュは空きが少ないと書き込みが遅くなります"
            ),
            |run| file_system(run, fill_level),
        ),
        fact("write-cache", text!("write cache", "書き込みキャッシュ"), Weight::Notable, |run| {
            device(run, |device| device.write_cache.clone())
        }),
        fact(
            "queue-depth",
            text!("queue depth of the device", "デバイスのキュー深さ"),
            Weight::Notable,
            |run| device(run, |device| device.queue_depth.map(|depth| depth.to_string())),
        ),
        fact("scheduler", text!("I/O scheduler", "I/O スケジューラ"), Weight::Minor, |run| {
            device(run, |device| device.scheduler.clone())
        }),
        with(
            "temperature",
            text!("temperature before the run", "測定前の温度"),
            Weight::Notable,
            text!("hot drives slow themselves down", "高温のドライブは速度を落とすことがあります"),
            temperature,
        ),
        fact("layers", text!("layers between", "途中の層"), Weight::Notable, |run| {
            observed(run).then(|| Text::same(run.header.environment.layers.join(", ")))
        }),
    ]
}

/// By which machine and programs?
fn of_the_computer() -> Vec<Fact> {
    vec![
        with(
            "machine",
            text!("machine and system", "マシンと OS"),
            Weight::Notable,
            text!(
                "processor, system and drivers are in every figure",
                "どの値にも CPU、OS、ドライバーの違いが含まれます"
            ),
            machine,
        ),
        fact("kernel", text!("kernel", "カーネル"), Weight::Notable, |run| {
            told(run.header.environment.machine.kernel.as_deref())
        }),
        with("engine", text!("engine", "エンジン"), Weight::Notable, engine_effect(), engine),
        fact("kurabe", text!("version of kurabe", "kurabe のバージョン"), Weight::Minor, |run| {
            run.header.origin.is_none().then(|| Text::same(run.header.kurabe_version.clone()))
        }),
    ]
}

/// The ways to the kernel that its cells took. A model has none, and that it is one is told as such.
fn engine(run: &RunRecord) -> Option<Text> {
    let mut names: Vec<&str> = run.cells.iter().filter_map(engine_name).collect();
    names.sort_unstable();
    names.dedup();
    (!names.is_empty()).then(|| Text::same(names.join(", ")))
}

/// Whether the environment was observed at all; an imported run and a model have none.
fn observed(run: &RunRecord) -> bool {
    run.header.environment != Environment::default()
}

/// The parameters of a model that the command line changed.
fn changes(model: &ModelRecord) -> Text {
    let list = model.changes();
    if list.is_empty() { text!("none", "なし") } else { Text::same(list.join(", ")) }
}

/// The seed of a modelled run, which is all that chance there is. A device has chance of its own.
fn seed(run: &RunRecord) -> Option<Text> {
    let profile = run.header.profile.as_ref().filter(|_| run.header.model.is_some())?;
    Some(Text::same(profile.rules.seed.to_string()))
}

/// What the workloads may cover: the target, or the part of it that the profile gives to all of them.
fn size(run: &RunRecord) -> Option<Text> {
    let target = run.header.target.as_ref()?;
    let shared = run.header.profile.as_ref().and_then(shared_span_bytes);
    Some(Text::same(format_bytes(shared.map_or(target.span_bytes, |span| span.min(target.span_bytes)))))
}

fn told(words: Option<&str>) -> Option<Text> {
    words.map(Text::same)
}

fn tool(run: &RunRecord) -> Option<Text> {
    Some(Text::same(run.header.origin.as_ref().map_or("kurabe".to_owned(), Origin::tool_name)))
}

fn profile(run: &RunRecord) -> Option<Text> {
    let name = match (&run.header.profile, &run.header.origin) {
        (Some(profile), _) => Some(profile.name.clone()),
        (None, Some(origin)) => origin.profile.clone(),
        (None, None) => None,
    };
    name.map(Text::same)
}

fn rule(run: &RunRecord, of: impl Fn(&Rules) -> Text) -> Option<Text> {
    run.header.profile.as_ref().map(|profile| of(&profile.rules))
}

/// Processor and operating system; of the latter other tools tell, too.
fn machine(run: &RunRecord) -> Option<Text> {
    let machine = &run.header.environment.machine;
    let words: Vec<&str> =
        [&machine.cpu_model, &machine.os].into_iter().flatten().map(String::as_str).collect();
    (!words.is_empty()).then(|| Text::same(words.join(", ")))
}

/// The statistic by which a figure of the run was made.
fn statistic(run: &RunRecord) -> Option<Text> {
    use kurabe_core::imported::PrintedStatistic as Printed;
    if run.header.profile.is_some() {
        // Repetitions are compared one by one, whatever figure the profile shows.
        return Some(text!("every repetition", "各回の値"));
    }
    let figure = run.cells.iter().find_map(|cell| cell.imported.as_ref()?.figures.first())?;
    Some(match figure.statistic {
        Printed::Mean => text!("one mean", "平均値のみ"),
        Printed::Median => text!("one median", "中央値のみ"),
        Printed::Highest | Printed::Lowest => text!("the best of several runs", "複数回の最良値"),
        Printed::Percentile(percent) => text!("the {percent} % percentile", "{percent} パーセンタイル"),
        Printed::StandardDeviation | Printed::Sum | Printed::Unknown => return None,
    })
}

fn data_words(data: Data) -> Text {
    match data {
        Data::Random => text!("random", "ランダム"),
        Data::Zero => text!("zeros", "ゼロ"),
        Data::Repeat => text!("one block repeated", "同じブロックの繰り返し"),
        Data::Compressible { percent } => text!("{percent} % zeros", "ゼロ {percent} %"),
    }
}

fn target_kind(kind: TargetKind) -> Text {
    match kind {
        TargetKind::Directory => text!("a file in a directory", "ディレクトリ内のファイル"),
        TargetKind::File => text!("a file", "ファイル"),
        TargetKind::BlockDevice => text!("a whole device", "デバイス全体"),
        TargetKind::CharacterDevice => text!("a character device", "キャラクターデバイス"),
        TargetKind::Model => text!("a model", "モデル"),
    }
}

/// A fact of the devices; of several, all values that differ.
fn device(run: &RunRecord, of: impl Fn(&BlockDevice) -> Option<String>) -> Option<Text> {
    let mut values: Vec<String> = run.header.environment.devices.iter().filter_map(of).collect();
    values.dedup();
    (!values.is_empty()).then(|| Text::same(values.join(", ")))
}

fn link_words(link: &Link) -> String {
    let number = |value: &Option<f64>| value.map_or("?".to_owned(), |value| format!("{value}"));
    match link {
        Link::Pcie { speed_gt_per_s, width, .. } => {
            let width = width.map_or("?".to_owned(), |width| width.to_string());
            format!("PCIe {} GT/s x{width}", number(speed_gt_per_s))
        }
        Link::Sata { speed_gbit_per_s, .. } => format!("SATA {} Gbit/s", number(speed_gbit_per_s)),
        Link::Usb { speed_mbit_per_s, protocol, .. } => {
            let protocol = protocol.as_deref().map_or(String::new(), |protocol| format!(" ({protocol})"));
            format!("USB {} Mbit/s{protocol}", number(speed_mbit_per_s))
        }
        Link::Virtio => "virtio".to_owned(),
        Link::Loop { .. } => "loop".to_owned(),
        Link::Memory => "memory".to_owned(),
        Link::Other { subsystem } => subsystem.clone(),
    }
}

fn file_system(run: &RunRecord, of: impl Fn(&FileSystem) -> Option<String>) -> Option<Text> {
    run.header.environment.file_system.as_ref().and_then(of).map(Text::same)
}

/// The fill level in steps of ten percent, so that a few bytes are no difference.
fn fill_level(system: &FileSystem) -> Option<String> {
    let (size, free) = (system.size_bytes?, system.free_bytes?);
    let percent = (size.saturating_sub(free)) as f64 * 100.0 / size.max(1) as f64;
    let tens = (percent / 10.0).floor() as u64 * 10;
    Some(format!("{tens}-{} %", tens + 10))
}

/// The hottest device in steps of ten degrees.
fn temperature(run: &RunRecord) -> Option<Text> {
    let devices = run.header.environment.devices.iter();
    let hottest = devices.filter_map(|device| device.health.as_ref()?.temperature_celsius).max()?;
    let tens = hottest.div_euclid(10) * 10;
    Some(Text::same(format!("{tens}-{} °C", tens + 10)))
}
