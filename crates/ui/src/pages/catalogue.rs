//! Published figures in one table that can be searched and sorted, and a separate page for each
//! entry.

use super::kit::*;
use kurabe_report::{catalogue_table, entry_doc};
use kurabe_study::catalogue::Catalogue;

const ADDRESS: &str = "/catalogue";

/// Handles `GET /catalogue`.
pub(crate) fn page(_: &App, lang: Lang, Query(asked): Query<Search>) -> Result<Made> {
    let catalogue = Catalogue::built_in();
    let words: Vec<String> = asked.q.split_whitespace().map(str::to_owned).collect();
    let entries = catalogue.search(&words);
    let (count, all) = (entries.len(), catalogue.entries().count());
    let counted = text!("{count} of {all} entries", "{all} 件中 {count} 件");
    let nothing =
        text!("No published figure contains all of these words.", "すべての語を含む公表値はありません。");
    let near = catalogue.nearest(&words).filter(|_| entries.is_empty());
    let near = near.map(|near| (format!("{ADDRESS}?q={}", encoded(&near)), Text::same(near)));
    let page = html! {
        (asked.form(ADDRESS, &text!("Search for", "検索語"), lang))
        div #list {
            (asked.chips(ADDRESS, &chips(), lang))
            p.quiet { (counted.get(lang)) }
            @if entries.is_empty() {
                p.empty { (nothing.get(lang)) } (ways_to(near, lang))
            } @else {
                @let table = written(&catalogue_table(&entries, ADDRESS), lang);
                (to_compare(&html! { div.published { (table) } }, lang))
            }
        }
    };
    Ok(Made::Page(text!("Published figures", "公表値"), page))
}

/// Kinds and tools that users often search for.
fn chips() -> [(&'static str, Text); 9] {
    [
        ("ssd", text!("SSDs", "SSD")),
        ("nvme", text!("NVMe", "NVMe")),
        ("usb", text!("USB", "USB")),
        ("microsd", text!("microSD cards", "microSD カード")),
        ("scsi", text!("SCSI", "SCSI")),
        ("raid", text!("RAID", "RAID")),
        ("crystaldiskmark", text!("CrystalDiskMark", "CrystalDiskMark")),
        ("fio", text!("fio", "fio")),
        ("specification", text!("makers' specifications", "メーカーの仕様値")),
    ]
}

/// Handles `GET /catalogue/ENTRY`.
pub(crate) fn entry(_: &App, lang: Lang, Path(id): Path<String>) -> Result<Made> {
    let entry = Catalogue::built_in().entry(&id)?;
    let differs = entry.table.profile().and_then(|profile| profile.differs);
    let of_table = format!("{ADDRESS}?q={}", entry.table.id);
    let of_table = (of_table, text!("the complete table", "この表のすべての項目"));
    let model = entry.row.model.as_ref();
    let model = model.map(|name| (format!("/models/{name}"), text!("its model", "このデバイスのモデル")));
    let page = html! {
        p.quiet { (entry.id()) }
        div.entry { (written(&entry_doc(&entry), lang)) }
        @if let Some(differs) = differs {
            h2 { (text!("How kurabe's profile differs", "kurabe のプロファイルとの違い").get(lang)) }
            p { (differs.get(lang)) }
        }
        (ways_to(std::iter::once(of_table).chain(model), lang))
    };
    Ok(Made::Page(entry.row.device.clone(), page))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chip_finds_some_entries_and_not_all() {
        let all = Catalogue::built_in().entries().count();
        for (word, _) in chips() {
            let count = Catalogue::built_in().search(&[word.to_owned()]).len();
            assert!((1..all).contains(&count), "{word}: {count}");
        }
    }
}
