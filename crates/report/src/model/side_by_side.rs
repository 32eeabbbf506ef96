//! Models side by side: capacity, fault tolerance, probability of data loss, speed.

use kurabe_core::quantity::format_bytes_decimal;
use kurabe_core::{Text, number, shown, text};
use kurabe_doc::{Column, Cut, Doc, Paragraph, Role, Table};
use kurabe_study::{KnownMiss, ModelSide};

/// A row: its title, and a function that returns a model's value as text.
type SideRow = (Text, fn(&ModelSide) -> Option<Text>);

/// Returns the rows of the table, in order.
fn rows() -> [SideRow; 13] {
    [
        (text!("capacity", "容量"), |side| Some(Text::same(format_bytes_decimal(side.capacity_bytes)))),
        (text!("drives", "ドライブの台数"), |side| Some(Text::same(side.members.to_string()))),
        (text!("of which may fail", "故障してもよい台数"), |side| {
            let (least, most) = (side.may_fail, side.may_fail_at_best);
            Some(match least == most {
                true => Text::same(least.to_string()),
                false => text!("{least}, at best {most}", "{least} (最良で {most})"),
            })
        }),
        (text!("data lost within a year", "1 年以内にデータを失う確率"), |side| {
            side.loss_per_year.map(chance)
        }),
        (text!("rebuild of a drive takes", "交換したドライブの再構築"), |side| {
            side.rebuild_hours.map(|hours| Text::same(format!("{} h", number::fixed(hours, 1))))
        }),
        (text!("sequential read, 1 MiB Q8", "シーケンシャル読み出し 1 MiB Q8"), |side| {
            rate(side.read_bytes_per_s)
        }),
        (text!("sequential write, 1 MiB Q8", "シーケンシャル書き込み 1 MiB Q8"), |side| {
            rate(side.write_bytes_per_s)
        }),
        (text!("random read, 4 KiB Q1", "ランダム読み出し 4 KiB Q1"), |side| {
            per_s(side.reads_per_s_alone)
        }),
        (text!("random read, 4 KiB Q32", "ランダム読み出し 4 KiB Q32"), |side| {
            per_s(side.reads_per_s_deep)
        }),
        (text!("random write, 4 KiB Q32", "ランダム書き込み 4 KiB Q32"), |side| {
            per_s(side.writes_per_s)
        }),
        (
            text!("safe write, 4 KiB and a flush", "確実な書き込み 4 KiB (毎回フラッシュ)"),
            |side| per_s(side.safe_writes_per_s),
        ),
        (text!("annual failure rate of a drive", "ドライブの年間故障率"), |side| {
            side.failures_per_year.map(|share| Text::same(number::percent(share)))
        }),
        (text!("unreadable bits of those read", "読めないビットの割合"), |side| {
            side.unreadable.map(|share| Text::same(format!("{share:e}")))
        }),
    ]
}

fn rate(bytes_per_s: Option<f64>) -> Option<Text> {
    bytes_per_s.map(|rate| Text::same(number::rate(rate).to_string()))
}

fn per_s(per_s: Option<f64>) -> Option<Text> {
    per_s.map(|per_s| Text::same(format!("{} /s", number::whole(per_s))))
}

/// Formats a probability: in percent, or as one in n if it is small.
fn chance(share: f64) -> Text {
    if share >= 1e-4 {
        return Text::same(number::percent(share));
    }
    if share <= 0.0 {
        return text!("none", "なし");
    }
    // Two digits, because the underlying rates aren't known more precisely.
    let digits = 10f64.powf((1.0 / share).log10().floor() - 1.0);
    let times = number::whole((1.0 / share / digits).round() * digits);
    text!("1 in {times}", "{times} 分の 1")
}

/// Returns the table and its assumptions.
pub fn side_by_side_doc(sides: &[ModelSide]) -> Doc {
    let mut table = Table::of(rows()).cut(Cut::Wrap, Text::default(), |(name, _)| name.clone());
    for side in sides {
        let column = Column::right(shown::line(&side.name)).cut(Cut::Wrap);
        table = table.column(column, |(_, words)| words(side).unwrap_or_else(|| Text::same("–")));
    }
    let mut doc = Doc::of(table.table());
    for side in sides {
        let name = shown::line(&side.name);
        doc.push_all(side.known_misses.iter().map(|KnownMiss { study, reason }| {
            let words = text!(
                "{name} does not reach a published figure of the study {study}: {reason}",
                "{name} は資料 {study} の公表値を再現できません: {reason}";
                reason
            );
            Paragraph::new(words).role(Role::Warn).listed()
        }));
    }
    doc.gap().say(text!(
        "Data are lost if more drives fail than the array tolerates before a spare is rebuilt, or if an \
         unreadable bit without redundancy is met during the rebuild. Assumptions: drives fail \
         independently and at the same rate at any age, a spare is available at once, nothing else uses \
         the array during the rebuild, and the whole drive is read. Drives of one batch, power failures \
         and human error make it worse; an array is not a backup.",
        "データを失うのは、再構築が終わる前に許容台数を超えて故障したとき、または補う手段のない読めないビットに再構築中に当たったときです。ドライブは互いに独立に、使用年数によらず一定の率で故障し、交換は即座に行われ、\
         再構築の間ほかの I/O はなく、ドライブ全体を読むものとします。同じロットの故障、電源、人為ミスは含まないため、実際にはこれより悪くなります。アレイはバックアップの代わりになりません。"
    ));
    doc.say(text!(
        "Rates are computed in virtual time, over a whole hard disk and in a small file on flash. \
         Random writes are 4,096 writes and a flush; the media cache of a shingled disk is full.",
        "速度はモデルの仮想時間での値です。ハードディスクは全域、フラッシュは小さなファイルで測っています。ランダム書き込みは 4,096 回とフラッシュ 1 回です(SMR ディスクはメディアキャッシュが埋まった状態)。"
    ));
    doc
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_doc::Style;

    #[test]
    fn small_chances_are_one_in_so_many() {
        assert_eq!(chance(0.0157).en, number::percent(0.0157));
        assert_eq!(chance(1.0 / 123_456.0).en, "1 in 120,000");
        assert_eq!(chance(0.0).ja, "なし");
    }

    #[test]
    fn what_is_unknown_of_a_model_has_a_dash() {
        let side = ModelSide {
            name: "a".to_owned(),
            title: Text::same("a"),
            capacity_bytes: 3_000_000_000_000,
            members: 4,
            may_fail: 1,
            may_fail_at_best: 2,
            failures_per_year: Some(0.0157),
            unreadable: Some(1e-14),
            rebuild_hours: None,
            loss_per_year: None,
            read_bytes_per_s: Some(2e8),
            write_bytes_per_s: None,
            reads_per_s_alone: Some(80.0),
            reads_per_s_deep: None,
            writes_per_s: None,
            safe_writes_per_s: None,
            known_misses: Vec::new(),
        };
        let page = side_by_side_doc(&[side]).terminal(&Style { width: 100, ..Style::default() });
        assert!(page.contains("1, at best 2") && page.contains("–") && page.contains("1e-14"), "{page}");
    }
}
