//! What else differed between two runs, by weight.
//!
//! The model: a difference is a fact that both records tell and that is not the same, or that one of them cannot tell
//! where it decides. Its weight says what it can do to the figures: decisive ones can make them incomparable (another
//! statistic, a model beside a device, memory beside a disk), notable ones can explain a difference of their size, minor
//! ones are for completeness. The user may have asked for one of them; then it is the comparison's subject, not a doubt.

use crate::cells::CellKey;
use kurabe_core::environment::{BlockDevice, Environment, FileSystem, Link};
use kurabe_core::imported::Origin;
use kurabe_core::model::ModelRecord;
use kurabe_core::profile::Rules;
use kurabe_core::quantity::{format_bytes, format_time_setting};
use kurabe_core::record::{Cell, RunRecord, TargetKind};
use kurabe_core::workload::{Data, Direction};
use kurabe_core::{Text, text};
use serde::Serialize;

/// The words of everything that can differ.
pub const KEYS: &[&str] = &[
    "tool",
    "statistic",
    "model",
    "parameters",
    "cache",
    "profile",
    "size",
    "data",
    "time",
    "target",
    "device",
    "firmware",
    "link",
    "filesystem",
    "mount",
    "fill",
    "write-cache",
    "queue-depth",
    "scheduler",
    "temperature",
    "layers",
    "machine",
    "kernel",
    "engine",
    "kurabe",
    "noise",
];

/// What a difference can do to the figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// It can make the figures incomparable.
    Decisive,
    /// It can explain a difference.
    Notable,
    /// It rarely matters.
    Minor,
}

/// Something that differed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Stable word, as `--by` takes it: `filesystem`, `kernel`.
    pub key: &'static str,
    /// What it is.
    pub name: Text,
    /// In the baseline.
    pub baseline: Text,
    /// In the other run.
    pub other: Text,
    /// What it can do.
    pub weight: Weight,
    /// What it does, where that is known.
    pub effect: Option<Text>,
}

/// A fact of a run, as it is compared.
struct Fact {
    key: &'static str,
    name: Text,
    weight: Weight,
    effect: Option<Text>,
    of: fn(&RunRecord) -> Option<Text>,
}

/// Everything that differed, the weightiest first.
pub fn differences(baseline: &RunRecord, other: &RunRecord) -> Vec<Difference> {
    let another_tool = baseline.header.origin.is_some() != other.header.origin.is_some();
    let both_models = baseline.header.model.is_some() && other.header.model.is_some();
    let mut found: Vec<Difference> = facts()
        .into_iter()
        .filter_map(|fact| {
            let (one, two) = ((fact.of)(baseline), (fact.of)(other));
            let unknown = || text!("not told", "不明");
            let differs = match (&one, &two) {
                (Some(one), Some(two)) => one != two,
                (None, None) => false,
                // What one run does not tell is a doubt only where it decides, and where another tool ran: on which machine?
                _ => fact.weight == Weight::Decisive || (fact.key == "machine" && another_tool),
            };
            differs.then(|| Difference {
                key: fact.key,
                name: fact.name,
                baseline: one.unwrap_or_else(unknown),
                other: two.unwrap_or_else(unknown),
                weight: fact.weight,
                effect: fact.effect,
            })
        })
        .map(|difference| if both_models { between_models(difference) } else { difference })
        .collect();
    found.extend(engines(baseline, other));
    found.extend(noise(baseline, other));
    found.sort_by_key(|difference| difference.weight);
    found
}

/// Two models are computed alike, so that they are two is what is compared and no doubt.
fn between_models(difference: Difference) -> Difference {
    if difference.key != "model" {
        return difference;
    }
    Difference { name: text!("model", "モデル"), weight: Weight::Notable, effect: None, ..difference }
}

/// What a run tells of everything that can differ, by its key; what it does not tell is left out.
pub fn facts_of(run: &RunRecord) -> Vec<(&'static str, Text)> {
    let told = facts().into_iter().filter_map(|fact| Some((fact.key, (fact.of)(run)?)));
    let measured = run.header.origin.is_none() && run.header.model.is_none();
    let noise = measured.then(|| {
        let words =
            if is_noisy(disturbance(run)) { text!("disturbed", "あり") } else { text!("quiet", "なし") };
        ("noise", words)
    });
    told.chain(noise).collect()
}

/// What is known of a key beside its values.
pub(crate) struct About {
    pub key: &'static str,
    pub name: Text,
    pub weight: Weight,
    pub effect: Option<Text>,
}

/// All keys in the order of [`KEYS`].
pub(crate) fn about_all() -> Vec<About> {
    let noise =
        About { key: "noise", name: noise_name(), weight: Weight::Notable, effect: Some(noise_effect()) };
    facts()
        .into_iter()
        .map(|Fact { key, name, weight, effect, .. }| About { key, name, weight, effect })
        .chain([noise])
        .collect()
}

fn facts() -> Vec<Fact> {
    let fact = |key, name, weight, of| Fact { key, name, weight, effect: None, of };
    let with = |key, name, weight, effect, of| Fact { key, name, weight, effect: Some(effect), of };
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
            |run| run.header.target.as_ref().map(|target| Text::same(format_bytes(target.span_bytes))),
        ),
        fact("data", text!("data written", "書き込みデータ"), Weight::Notable, |run| {
            rule(run, |rules| data_words(rules.data))
        }),
        fact("time", text!("time per repetition", "1 回の時間"), Weight::Minor, |run| {
            rule(run, |rules| Text::same(format_time_setting(rules.time_ns)))
        }),
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
        fact("kurabe", text!("version of kurabe", "kurabe のバージョン"), Weight::Minor, |run| {
            run.header.origin.is_none().then(|| Text::same(run.header.kurabe_version.clone()))
        }),
    ]
}

/// The cells that both have and whose operations reached the kernel in different ways.
fn engines(baseline: &RunRecord, other: &RunRecord) -> Option<Difference> {
    let name = |cell: &Cell| cell.engine.as_ref().map(|engine| engine.name.clone());
    let mut ways: Vec<(String, String, String)> = Vec::new();
    for cell in &baseline.cells {
        let key = CellKey::of(cell);
        let Some(across) = other.cells.iter().find(|cell| CellKey::of(cell) == key) else { continue };
        let (Some(one), Some(two)) = (name(cell), name(across)) else { continue };
        // A model has no kernel, and that it is one is told as such.
        if one != two && one != "model" && two != "model" {
            let direction = cell.direction.map_or("", Direction::word);
            ways.push((one, two, [direction, &cell.label].join(" ").trim().to_owned()));
        }
    }
    let list = |side: fn(&(String, String, String)) -> &str| {
        Text::same(ways.iter().map(|way| format!("{}: {}", way.2, side(way))).collect::<Vec<_>>().join(", "))
    };
    (!ways.is_empty()).then(|| Difference {
        key: "engine",
        name: text!("engine", "エンジン"),
        baseline: list(|way| &way.0),
        other: list(|way| &way.1),
        weight: Weight::Notable,
        effect: Some(text!(
            "the way to the kernel can cost more than the storage: --engine makes it the same",
            "カーネルまでの経路の差がストレージの差より大きいこともあります。--engine で揃えられます"
        )),
    })
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

/// Other work counts as a disturbance above this many CPUs, or this share of the time.
const BUSY_CPUS: f64 = 0.5;
const NOISY_SHARE: f64 = 0.05;

/// The most that other work took of a run: CPUs, and share of the time.
fn disturbance(run: &RunRecord) -> (f64, f64) {
    let noise = run.cells.iter().flat_map(Cell::counted).map(|repetition| &repetition.noise);
    noise.fold((0.0, 0.0), |(cpus, share), noise| {
        let taken = noise.steal_share.unwrap_or(0.0).max(noise.cpu_pressure_share.unwrap_or(0.0));
        (f64::max(cpus, noise.other_cpus_busy.unwrap_or(0.0)), f64::max(share, taken))
    })
}

fn is_noisy((cpus, share): (f64, f64)) -> bool {
    cpus > BUSY_CPUS || share > NOISY_SHARE
}

fn noise_name() -> Text {
    text!("noise", "外乱")
}

fn noise_effect() -> Text {
    text!(
        "a disturbed run is slower and less steady; measure again when the machine is quiet",
        "外乱があると遅く不安定になります。マシンが静かなときに測り直してください"
    )
}

/// Whether one run was disturbed and the other was not.
fn noise(baseline: &RunRecord, other: &RunRecord) -> Option<Difference> {
    // Another tool tells nothing of it, and around a model nothing goes on.
    let measured = |run: &RunRecord| run.header.origin.is_none() && run.header.model.is_none();
    if !measured(baseline) || !measured(other) {
        return None;
    }
    let (one, two) = (disturbance(baseline), disturbance(other));
    let words = |(cpus, share): (f64, f64)| {
        if !is_noisy((cpus, share)) {
            return text!("quiet", "ほぼなし");
        }
        let percent = share * 100.0;
        text!(
            "other work used up to {cpus:.1} CPUs; programs waited for a CPU up to {percent:.0} % of the time",
            "他の処理が最大で CPU {cpus:.1} 個分を使い、CPU の空き待ちが最大で時間の {percent:.0} %"
        )
    };
    (is_noisy(one) != is_noisy(two)).then(|| Difference {
        key: "noise",
        name: noise_name(),
        baseline: words(one),
        other: words(two),
        weight: Weight::Notable,
        effect: Some(noise_effect()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fact_has_its_key_in_the_list() {
        let keys: Vec<&str> = facts().iter().map(|fact| fact.key).chain(["noise"]).collect();
        assert_eq!(keys, KEYS);
    }
}
