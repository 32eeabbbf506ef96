//! Whether a run is good: beside each cell the kinds of devices whose published figures it is like, and the nearest of them.
//!
//! The model: what `kurabe_study` finds in the catalogue, in words. Cells that memory answered are left out, because they
//! say nothing of a device.

use crate::doc::{Column, Cut, Doc, Entry, Paragraph, Role, Table};
use crate::words;
use kurabe_core::record::RunRecord;
use kurabe_core::{Text, mention::CATALOGUE, number, text};
use kurabe_explain::{LimitKind, limits};
use kurabe_study::catalogue::{Band, Catalogue, CellStanding, NearFigure, standings};

/// What stands beside the cells of a run, for every output: without cells that memory answered.
pub fn run_standings(record: &RunRecord, catalogue: &Catalogue) -> Vec<CellStanding> {
    let mut all = standings(record, catalogue);
    if !all.is_empty() {
        // What bounds a cell is asked of all cells, so only where something stands beside published figures.
        let limits = limits(record);
        all.retain(|standing| limits[standing.cell_index].limit.kind != LimitKind::HostMemory);
    }
    all
}

/// The table, and what it is made of; `None` if there is nothing in it.
pub fn standings_doc(standings: &[CellStanding]) -> Option<Doc> {
    if standings.is_empty() {
        return None;
    }
    let columns = [
        Column::left(text!("beside published figures", "公表値との比較")).cut(Cut::Wrap),
        Column::right(text!("this run", "この測定")),
        Column::left(text!("like", "近い種類")).cut(Cut::Wrap),
        Column::left(text!("nearest", "最も近い公表値")).cut(Cut::Wrap),
    ];
    let rows = standings.iter().map(|standing| {
        [
            words::directed(Some(standing.direction), &Text::same(standing.label.clone())).into(),
            Entry::new(Role::Strong, number::rate(standing.bytes_per_s)),
            band_words(standing).into(),
            standing.nearest.as_ref().map(near_words).unwrap_or_default().into(),
        ]
    });
    let note = text!(
        "makers' sheets are best cases of new drives; sources: {CATALOGUE}",
        "メーカーの仕様値は新品での最良の値です。出典は {CATALOGUE} で確認できます"
    );
    let table = Table::new(columns, rows).indent(2).stacks();
    Some(Doc::of(table).push(Paragraph::aside(note).role(Role::Quiet)).done())
}

/// The kinds of devices that a cell is like, or between which it lies.
pub fn band_words(standing: &CellStanding) -> Text {
    let rate = standing.bytes_per_s;
    let (alike, others): (Vec<&Band>, Vec<&Band>) = standing.bands.iter().partition(|band| band.holds(rate));
    if !alike.is_empty() {
        return Text::list(alike.into_iter().map(of_band));
    }
    let below = others.iter().rev().find(|band| band.high_bytes_per_s < rate).map(|band| of_band(band));
    let above = others.iter().find(|band| band.low_bytes_per_s > rate).map(|band| of_band(band));
    match (below, above) {
        (Some(below), Some(above)) => {
            text!("between {below} and {above}", "{below}と{above}の間"; below, above)
        }
        (Some(below), None) => text!("above {below}", "{below}より上"; below),
        (None, Some(above)) => text!("below {above}", "{above}より下"; above),
        (None, None) => Text::default(),
    }
}

fn of_band(band: &Band) -> Text {
    let (name, low, high) =
        (band.class.name(), number::rate(band.low_bytes_per_s), number::rate(band.high_bytes_per_s));
    if low == high {
        return text!("{name} ({low})", "{name}({low})"; name);
    }
    text!("{name} ({low} to {high})", "{name}({low}〜{high})"; name)
}

fn near_words(near: &NearFigure) -> Text {
    let (device, rate) = (&near.device, number::rate(near.bytes_per_s));
    match near.tool.as_str() {
        "unknown" => text!("{device}: {rate}", "{device}: {rate}"; device),
        "specification" => text!("{device}: {rate}, specified", "{device}: {rate}(仕様値)"; device),
        tool => text!("{device}: {rate}, {tool}", "{device}: {rate}({tool})"; device),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::Lang;
    use kurabe_core::workload::Direction;
    use kurabe_study::catalogue::DeviceClass;

    fn standing(mb_per_s: f64) -> CellStanding {
        let band = |class, low: f64, high: f64| Band {
            class,
            low_bytes_per_s: low * 1e6,
            high_bytes_per_s: high * 1e6,
            entries: Vec::new(),
        };
        CellStanding {
            cell_index: 0,
            label: "SEQ 1 MiB Q8 T1".to_owned(),
            direction: Direction::Read,
            bytes_per_s: mb_per_s * 1e6,
            bands: vec![
                band(DeviceClass::HardDisk, 100.0, 120.0),
                band(DeviceClass::Usb3Stick, 300.0, 400.0),
                band(DeviceClass::SataSsd, 560.0, 560.0),
            ],
            nearest: None,
        }
    }

    #[test]
    fn a_cell_is_like_a_kind_or_lies_between_two() {
        let words = |mb_per_s| band_words(&standing(mb_per_s)).take(Lang::En);
        assert_eq!(words(110.0), "hard disk (100.0 MB/s to 120.0 MB/s)");
        assert_eq!(words(550.0), "SATA SSD (560.0 MB/s)");
        assert_eq!(
            words(200.0),
            "between hard disk (100.0 MB/s to 120.0 MB/s) and USB 3 stick (300.0 MB/s to 400.0 MB/s)"
        );
        assert_eq!(words(2.0), "below hard disk (100.0 MB/s to 120.0 MB/s)");
        assert_eq!(words(3000.0), "above SATA SSD (560.0 MB/s)");
    }
}
