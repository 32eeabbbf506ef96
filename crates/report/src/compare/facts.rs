//! Names of the facts that distinguish runs, their possible effects on the figures, and the names
//! of cells.

use crate::{machine::seen::seen_list, words};
use kurabe_compare::{
    Alone, CellKey, CellName, Difference, Disturbance, Fact, FactValue, KeySource, PivotWords, TargetPart,
    Weight,
};
use kurabe_core::imported::PrintedStatistic;
use kurabe_core::quantity::format_bytes;
use kurabe_core::record::TargetKind;
use kurabe_core::workload::Data;
use kurabe_core::{Error, ErrorKind, Text, mention::ENGINE, text};
use serde::Serialize;

/// Functions that turn the keys, values, effects and cells of a pivot into text.
pub const PIVOT_WORDS: PivotWords = PivotWords { key, value, effect, cell: cell_name };

/// A difference as text.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spoken {
    pub key: &'static str,
    pub name: Text,
    pub baseline: Text,
    pub other: Text,
    pub weight: Weight,
    pub effect: Option<Text>,
}

impl From<&Difference> for Spoken {
    fn from(difference: &Difference) -> Self {
        Self {
            key: difference.fact.word(),
            name: spoken_name(difference),
            baseline: value(difference.baseline.as_ref()),
            other: value(difference.other.as_ref()),
            weight: difference.weight,
            effect: spoken_effect(difference),
        }
    }
}

/// Whether two models differ: which model it is needs no warning there, as it does between a model and a device.
fn is_between_models(difference: &Difference) -> bool {
    difference.fact == Fact::Model && difference.weight == Weight::Notable
}

/// Returns the name of the fact that differs.
pub(crate) fn spoken_name(difference: &Difference) -> Text {
    if is_between_models(difference) { text!("model", "モデル") } else { name(difference.fact) }
}

/// Returns what a difference can do to the figures, where that is known.
pub(crate) fn spoken_effect(difference: &Difference) -> Option<Text> {
    effect(difference.fact).filter(|_| difference.differs() && !is_between_models(difference))
}

/// Wraps an error of the JSON serializer.
pub(crate) fn no_json(error: serde_json::Error) -> Error {
    ErrorKind::Internal.error(text!("cannot write JSON", "JSON を書けません")).because(error)
}

/// Returns the display name of a fact.
pub(crate) fn name(fact: Fact) -> Text {
    match fact {
        Fact::Tool => text!("tool", "ツール"),
        Fact::Statistic => text!("statistic", "統計量"),
        Fact::Model => text!("model or device", "モデルか実機か"),
        Fact::Parameters => text!("changed parameters", "変えたパラメーター"),
        Fact::Seed => text!("seed of the offsets", "アクセス位置の乱数のシード"),
        Fact::Cache => text!("page cache", "ページキャッシュ"),
        Fact::Profile => text!("profile", "プロファイル"),
        Fact::Size => text!("test size", "テストサイズ"),
        Fact::Data => text!("data written", "書き込みデータ"),
        Fact::Time => text!("time per repetition", "1 回の時間"),
        Fact::Target => text!("kind of target", "対象の種類"),
        Fact::Device => text!("device", "デバイス"),
        Fact::Firmware => text!("firmware", "ファームウェア"),
        Fact::Link => text!("link", "接続"),
        Fact::Filesystem => text!("file system", "ファイルシステム"),
        Fact::BlockSize => text!("block size of the file system", "ファイルシステムのブロックサイズ"),
        Fact::Journal => text!("journal", "ジャーナル"),
        Fact::Mount => text!("mount options", "マウントオプション"),
        Fact::Fill => text!("fill level", "使用率"),
        Fact::WriteCache => text!("write cache", "書き込みキャッシュ"),
        Fact::QueueDepth => text!("queue depth of the device", "デバイスのキュー深さ"),
        Fact::Scheduler => text!("I/O scheduler", "I/O スケジューラー"),
        Fact::Temperature => text!("temperature before the run", "測定前の温度"),
        Fact::Layers => text!("layers between", "間にある層"),
        Fact::Machine => text!("machine and system", "マシンと OS"),
        Fact::Kernel => text!("kernel", "カーネル"),
        Fact::Engine => text!("engine", "エンジン"),
        Fact::Kurabe => text!("version of kurabe", "kurabe のバージョン"),
        Fact::Noise => text!("noise", "ほかの処理の影響"),
    }
}

/// Describes the effect of a difference on the figures, if it is known.
fn effect(fact: Fact) -> Option<Text> {
    Some(match fact {
        Fact::Tool => text!(
            "similar tools measure differently: if possible, compare runs of the same tool",
            "見た目が似たツールでも測り方は違います。できれば同じツールの結果どうしを比べてください"
        ),
        Fact::Statistic => text!(
            "the best of several runs exceeds their mean, so best is compared with best where only that \
             was printed",
            "最良値は平均より高く出ます。最良値しか表示されていない項目では、最良値どうしを比べています"
        ),
        Fact::Model => text!(
            "a model's figures are computed, not measured",
            "モデルの値は計算であり、実測ではありません"
        ),
        Fact::Seed => text!(
            "other offsets on the modelled disk: they change the figures about as much as another \
             repetition would",
            "モデル上のアクセス位置が変わります。値の違いは繰り返しのばらつきと同じ程度です"
        ),
        Fact::Cache => text!(
            "through the page cache, memory is measured as well",
            "ページキャッシュ経由ではメモリーの速さも含まれます"
        ),
        Fact::Size => {
            text!("a small test may fit into a cache", "小さいテストはキャッシュに収まることがあります")
        }
        Fact::Journal => text!(
            "journal writes are added to the data, most of all with syncs",
            "ジャーナルの分だけ書き込みが増えます(sync が多いほど影響します)"
        ),
        Fact::Fill => {
            text!("a full flash drive writes more slowly", "フラッシュは空きが少ないと書き込みが遅くなります")
        }
        Fact::Temperature => {
            text!("hot drives throttle themselves", "高温のドライブは速度を落とすことがあります")
        }
        Fact::Machine => text!(
            "processor, operating system and drivers affect every figure",
            "どの値にも CPU、OS、ドライバーの違いが含まれます"
        ),
        Fact::Engine => text!(
            "the I/O engine can cost more than the storage: {ENGINE} selects the same one",
            "カーネルまでの経路の差がストレージの差より大きいこともあります。{ENGINE} で揃えられます"
        ),
        Fact::Noise => text!(
            "a disturbed run is slower and less steady; measure again when the machine is quiet",
            "ほかの処理の影響があると遅く不安定になります。マシンが静かなときに測り直してください"
        ),
        _ => return None,
    })
}

/// Returns a fact's value as text. A missing value is shown as unknown.
pub(crate) fn value(value: Option<&FactValue>) -> Text {
    let Some(value) = value else { return text!("not told", "不明") };
    match value {
        FactValue::Name(name) => seen_list(name),
        FactValue::RealDevice => text!("a device", "実機"),
        FactValue::Unchanged => text!("none", "なし"),
        FactValue::Direct(true) => text!("avoided", "避ける"),
        FactValue::Direct(false) => text!("used", "使う"),
        FactValue::Data(Data::Random) => text!("random", "ランダム"),
        FactValue::Data(Data::Zero) => text!("zeros", "ゼロ"),
        FactValue::Data(Data::Repeat) => text!("one block repeated", "同じブロックの繰り返し"),
        FactValue::Data(Data::Compressible { percent }) => text!("{percent} % zeros", "ゼロ {percent} %"),
        FactValue::Journal(journal) => words::journal(journal),
        FactValue::Target(TargetKind::Directory) => {
            text!("a file in a directory", "ディレクトリ内のファイル")
        }
        FactValue::Target(TargetKind::File) => text!("a file", "ファイル"),
        FactValue::Target(TargetKind::BlockDevice) => text!("a whole device", "デバイス全体"),
        FactValue::Target(TargetKind::CharacterDevice) => {
            text!("a character device", "キャラクターデバイス")
        }
        FactValue::Target(TargetKind::Model) => text!("a model", "モデル"),
        FactValue::EveryRepetition => text!("every repetition", "各回の値"),
        FactValue::Printed(statistic) => printed(*statistic),
        FactValue::Disturbed(true) => text!("disturbed", "あり"),
        FactValue::Disturbed(false) => text!("quiet", "なし"),
        FactValue::Disturbance(None) => text!("quiet", "ほぼなし"),
        FactValue::Disturbance(Some(Disturbance { cpus, waited_share })) => {
            let percent = waited_share * 100.0;
            text!(
                "other work used up to {cpus:.1} CPUs; programs waited for a CPU up to {percent:.0} % of the time",
                "ほかの処理が最大で CPU {cpus:.1} 個分を使い、CPU の空き待ちが最大で時間の {percent:.0} %"
            )
        }
    }
}

/// Returns the display name of the statistic that another tool printed.
fn printed(statistic: PrintedStatistic) -> Text {
    match statistic {
        PrintedStatistic::Mean => text!("one mean", "平均値のみ"),
        PrintedStatistic::Median => text!("one median", "中央値のみ"),
        PrintedStatistic::Percentile(percent) => {
            text!("the {percent} % percentile", "{percent} パーセンタイル")
        }
        _ => text!("the best of several runs", "複数回の最良値"),
    }
}

/// Returns the display name of a pivot key.
fn key(source: &KeySource) -> Text {
    match source {
        KeySource::Fact(fact) => name(*fact),
        KeySource::Label(label) => Text::same(label.clone()),
        KeySource::Target => text!("target", "対象"),
        KeySource::Date => text!("date", "日付"),
        KeySource::Month => text!("month", "月"),
        KeySource::Run => text!("run", "測定"),
    }
}

/// Returns the direction and label of a cell with a note on the other parameters, as in
/// `read RND 4 KiB Q1 T1 #2`.
pub(crate) fn cell_name(cell: &CellName) -> Text {
    words::directed(cell.direction, &full_label(&cell.key, &cell.label))
}

/// Returns the parameters that distinguish a cell from the nearest cell of the other run, as in
/// ` (block size 4 KiB / 8 KiB)`. Empty if there is no such cell.
pub(crate) fn unlike(alone: &Alone) -> Text {
    let Some(nearest) = &alone.nearest else { return Text::default() };
    let [own, other] = [&alone.name.key, &nearest.key].map(|key| match key {
        CellKey::Io { sequential, block_bytes, iodepth, threads, direction, .. } => vec![
            (text!("order", "順序"), if *sequential { "SEQ" } else { "RND" }.to_owned()),
            (text!("block size", "ブロックサイズ"), format_bytes(*block_bytes)),
            (text!("queue depth", "キュー深さ"), iodepth.to_string()),
            (text!("threads", "スレッド数"), threads.to_string()),
            (text!("reads and writes", "読み書き"), direction.clone()),
        ],
        CellKey::Named { .. } => Vec::new(),
    });
    let unlike = own.into_iter().zip(other).filter(|(own, other)| own != other);
    let unlike = unlike
        .map(|((name, own), (_, other))| text!("{name} {own} / {other}", "{name} {own} / {other}"; name));
    let unlike = Text::list(unlike);
    text!(" ({unlike})", "({unlike})"; unlike)
}

/// Returns a step's label with a note on the parameters that it omits, as in `RND 4 KiB Q1 T1 #2`.
pub(crate) fn full_label(key: &CellKey, label: &str) -> Text {
    Text::join([Text::same(label), note(key, label)], ["", ""])
}

/// Returns the suffix for parameters that a cell's label omits: ` in 64 KiB`, ` #2`. Usually empty.
pub(crate) fn note(key: &CellKey, label: &str) -> Text {
    let mut notes = Vec::new();
    if let CellKey::Io { within, warm_up_passes, times_as_long, beside, .. } = key {
        if !beside.is_empty() {
            notes.push(text!(" beside {beside}", " ({beside} と同時)"));
        }
        if let Some(TargetPart { offset_bytes: from @ 1.., .. }) = within {
            let from = format_bytes(*from);
            notes.push(text!(" from {from}", " ({from} から)"));
        }
        let length = within.as_ref().and_then(|within| within.length_bytes).map(format_bytes);
        if let Some(length) = length.filter(|length| !label.contains(length.as_str())) {
            notes.push(text!(" in {length}", " ({length} の範囲)"));
        }
        if *warm_up_passes > 0 && within.is_none() {
            notes.push(text!(" warmed up", " (事前に読み書き)"));
        }
        if *times_as_long > 1 {
            notes.push(text!(" for {times_as_long} times as long", " ({times_as_long} 倍の時間)"));
        }
    }
    if let CellKey::Io { nth: nth @ 1.., .. } | CellKey::Named { nth: nth @ 1.., .. } = key {
        let number = nth.saturating_add(1);
        notes.push(text!(" #{number}", " #{number}"));
    }
    Text::join(notes, ["", ""])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_followed_by_what_it_does_not_tell() {
        let key = |length_bytes: Option<u64>, times_as_long, nth| CellKey::Io {
            sequential: false,
            block_bytes: 4096,
            iodepth: 1,
            threads: 1,
            direction: "read".to_owned(),
            within: length_bytes.map(|bytes| TargetPart { offset_bytes: 0, length_bytes: Some(bytes) }),
            warm_up_passes: 0,
            times_as_long,
            beside: String::new(),
            nth,
        };
        let noted = |key| note(&key, "RND 4 KiB Q1 T1").en;
        assert_eq!(noted(key(None, 1, 0)), "");
        assert_eq!(noted(key(Some(64 << 10), 1, 0)), " in 64 KiB");
        assert_eq!(noted(key(None, 20, 0)), " for 20 times as long");
        assert_eq!(noted(key(Some(4096), 1, 1)), " #2", "the label tells the span already");
    }
}
