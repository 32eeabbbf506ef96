//! Published figures, each with its source, tool, statistic and unit, from the folder `catalogue/`.
//!
//! A table has a tool, a procedure, a statistic and columns; its rows are devices. An entry is one
//! row together with its table's description, named `TABLE/ROW`. Figures are facts and are stored
//! as printed; the text of the source is not copied.

mod as_run;
mod beside;
mod imported;
mod read;
mod table;
pub(crate) mod work;

pub(crate) use read::check_figure;

pub use beside::{Beside, BesideFigure, beside};
pub use table::{DeviceClass, PublishedColumn, PublishedRow, PublishedStatistic, PublishedTable};
pub use work::RateWork;
use work::{bytes_per_s, unit_of};

use crate::published::Published;
use kurabe_core::workload::Direction;
use kurabe_core::{ErrorKind, Lang, Result, Text, closest, library, mention, text};
use std::sync::LazyLock;

/// Name and text of every catalogue file, in the order in which its tables are listed.
pub const CATALOGUE: &[(&str, &str)] = library!["catalogue", ".toml":
    "scsi-emulators",
    "raid-card",
    "usb-exfat-apfs",
    "sata-usb",
    "toshiba-ssd",
    "today",
    "crystaldiskmark",
    "portable",
    "arrays",
    "hard-disks-today",
    "users"
];

/// A row with its table.
#[derive(Clone, Copy, Debug)]
pub struct CatalogueEntry<'a> {
    /// Table of the row.
    pub table: &'a PublishedTable,
    /// The row itself.
    pub row: &'a PublishedRow,
}

/// A figure with its column and its rate in bytes per second, lowest and highest.
pub type RatedFigure<'a> = (&'a PublishedColumn, Published, (f64, f64));

impl CatalogueEntry<'_> {
    /// Returns the id of the entry: `TABLE/ROW`.
    pub fn id(&self) -> String {
        format!("{}/{}", self.table.id, self.row.id)
    }

    /// Returns the source of the entry.
    pub fn source(&self) -> &str {
        self.row.source.as_deref().unwrap_or(&self.table.source)
    }

    /// Returns the columns for which the entry has a figure.
    pub fn figures(&self) -> impl Iterator<Item = (&PublishedColumn, Published)> {
        let pairs = self.table.columns.iter().zip(&self.row.figures);
        pairs.filter_map(|(column, figure)| Some((column, (*figure)?)))
    }

    /// Returns the fastest figure whose work `is_asked_for` accepts.
    pub fn fastest(&self, is_asked_for: impl Fn(&RateWork) -> bool) -> Option<RatedFigure<'_>> {
        let rated = self.figures().filter_map(|(column, figure)| {
            let (work, unit) = (column.work.filter(&is_asked_for)?, unit_of(&column.unit)?);
            let rate = |value| bytes_per_s(value, unit, work.block_bytes);
            Some((column, figure, (rate(figure.low)?, rate(figure.high.unwrap_or(figure.low))?)))
        });
        rated.max_by(|one, other| one.2.1.total_cmp(&other.2.1))
    }

    /// Returns the figure of samples spread over the whole device in this direction.
    ///
    /// Tools such as GNOME Disks measure no workload of ascending offsets, but the rate of large
    /// transfers as well.
    pub fn over_the_device(&self, direction: Direction) -> Option<RatedFigure<'_>> {
        let key = if direction == Direction::Read { "read" } else { "write" };
        let (column, figure) = self.figures().find(|(one, _)| one.work.is_none() && one.key == key)?;
        let unit = unit_of(&column.unit)?;
        let rate = |value| bytes_per_s(value, unit, None);
        Some((column, figure, (rate(figure.low)?, rate(figure.high.unwrap_or(figure.low))?)))
    }

    /// Returns the access time in ns, if the tool measures it.
    pub fn access_time_ns(&self) -> Option<f64> {
        let is_meant = |(column, _): &(&PublishedColumn, Published)| column.key.starts_with("access");
        let (column, figure) = self.figures().find(is_meant)?;
        let unit_ns = match column.unit.as_str() {
            "ms" => 1e6,
            "µs" => 1e3,
            _ => return None,
        };
        Some(figure.low * unit_ns)
    }

    /// Returns the year of the table, or the year that the source states.
    pub fn year(&self) -> Option<u16> {
        self.table.year.or_else(|| year_in(self.source()))
    }

    /// Returns whether the entry contains every search term, ignoring case.
    fn has(&self, words: &[String]) -> bool {
        let all = self.text();
        words.iter().all(|word| match word.parse::<u64>() {
            // A number does not match as part of another number.
            Ok(_) => tokens(&all).any(|token| token == word),
            Err(_) => all.contains(word),
        })
    }

    /// Returns all text that a search looks at, in lower case.
    fn text(&self) -> String {
        let table = self.table;
        let device = Some(&self.row.device);
        let texts =
            [device, Some(&table.title), Some(&table.procedure), self.row.note.as_ref(), table.host.as_ref()];
        let year = self.year().map(|year| year.to_string()).unwrap_or_default();
        let mut all = format!("{} {} {} {year}", self.id(), table.tool, self.source());
        for word in [table.profile.as_deref(), self.row.model.as_deref()].into_iter().flatten() {
            all.extend([" ", word]);
        }
        for text in texts.into_iter().flatten() {
            all.extend([" ", &text.en, " ", &text.ja]);
        }
        all.to_lowercase()
    }
}

fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|token| !token.is_empty())
}

/// All published figures, by table.
#[derive(Clone, Debug)]
pub struct Catalogue {
    /// Tables of all files.
    pub tables: Vec<PublishedTable>,
}

impl Catalogue {
    /// Returns the built-in catalogue, which is read once.
    ///
    /// # Panics
    /// Never: the files are part of the program, and a test reads them.
    pub fn built_in() -> &'static Self {
        static READ: LazyLock<Catalogue> =
            LazyLock::new(|| Catalogue::load().unwrap_or_else(|error| panic!("{}", error.render(Lang::En))));
        &READ
    }

    /// Reads the built-in catalogue.
    ///
    /// # Errors
    /// If a file is not valid.
    pub fn load() -> Result<Self> {
        let mut tables = Vec::new();
        for (name, source) in CATALOGUE {
            tables.extend(read::read_tables(&format!("catalogue/{name}.toml"), source)?);
        }
        Ok(Self { tables })
    }

    /// Reads one file; `name` is shown in errors.
    ///
    /// # Errors
    /// On the first mistake, with its line.
    pub fn parse(name: &str, source: &str) -> Result<Self> {
        Ok(Self { tables: read::read_tables(name, source)? })
    }

    /// Returns all entries, in order.
    pub fn entries(&self) -> impl Iterator<Item = CatalogueEntry<'_>> {
        self.tables.iter().flat_map(|table| table.rows.iter().map(move |row| CatalogueEntry { table, row }))
    }

    /// Returns the entries that contain every search term in their id, device, tool, procedure,
    /// source, host or note.
    pub fn search(&self, words: &[String]) -> Vec<CatalogueEntry<'_>> {
        let words: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
        self.entries().filter(|entry| entry.has(&words)).collect()
    }

    /// Suggests search terms that find something.
    ///
    /// Terms that no entry contains are replaced by the most similar ones; then trailing terms are
    /// dropped.
    pub fn nearest(&self, words: &[String]) -> Option<String> {
        let all: Vec<String> = self.entries().map(|entry| entry.text()).collect();
        let vocabulary: Vec<&str> = all.iter().flat_map(|text| tokens(text)).collect();
        let near = |word: &String| {
            let is_known = all.iter().any(|text| text.contains(&word.to_lowercase()));
            if is_known {
                word.clone()
            } else {
                closest(&word.to_lowercase(), &vocabulary).unwrap_or(word).to_owned()
            }
        };
        let near: Vec<String> = words.iter().map(near).collect();
        let count = (1..=near.len()).rev().find(|count| !self.search(&near[..*count]).is_empty())?;
        Some(near[..count].join(" "))
    }

    /// Finds a table by its id.
    pub fn table(&self, id: &str) -> Option<&PublishedTable> {
        self.tables.iter().find(|table| table.id == id)
    }

    /// Finds an entry by its id, or by its row's id if that is unique.
    ///
    /// # Errors
    /// If no entry matches, or several do.
    pub fn entry(&self, id: &str) -> Result<CatalogueEntry<'_>> {
        let usage = |what: Text| ErrorKind::Usage.error(what);
        if let Some(entry) = self.entries().find(|entry| entry.id() == id) {
            return Ok(entry);
        }
        let of_row: Vec<CatalogueEntry<'_>> = self.entries().filter(|entry| entry.row.id == id).collect();
        match of_row.as_slice() {
            [entry] => Ok(*entry),
            [] => {
                let ids: Vec<String> = self.entries().map(|entry| entry.id()).collect();
                let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
                let command = mention::CATALOGUE;
                let remedy = match closest(id, &ids) {
                    Some(near) => text!(
                        "did you mean `{near}`? Search with `{command} {id}`, or list all with `{command}`",
                        "`{near}` ではありませんか。`{command} {id}` で検索、`{command}` で一覧できます"
                    ),
                    None => text!("list all of them with `{command}`", "`{command}` で一覧できます"),
                };
                Err(usage(text!(
                    "the catalogue has no entry `{id}`",
                    "カタログに `{id}` という項目はありません"
                ))
                .remedy(remedy))
            }
            several => {
                let all = several.iter().map(CatalogueEntry::id).collect::<Vec<_>>().join(", ");
                Err(usage(text!(
                    "the catalogue has several entries `{id}`",
                    "カタログに `{id}` という項目は複数あります"
                ))
                .remedy(text!("name one of: {all}", "次のどれかを指定してください: {all}")))
            }
        }
    }
}

/// Returns the year that a source states: in parentheses, or as a part of an address that is a date.
fn year_in(source: &str) -> Option<u16> {
    let (mut depth, mut stated, mut before) = (0_u32, None, ' ');
    let mut rest = source;
    while let Some(letter) = rest.chars().next() {
        let digits = rest.len() - rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
        if digits == 0 {
            depth = match letter {
                '(' => depth + 1,
                ')' => depth.saturating_sub(1),
                _ => depth,
            };
            (before, rest) = (letter, &rest[letter.len_utf8()..]);
            continue;
        }
        let (number, after) = rest.split_at(digits);
        let year = number.parse().ok().filter(|year| digits == 4 && (1980..2100).contains(year));
        let month = after.strip_prefix(['-', '/']).is_some_and(|month| {
            month.len() >= 2 && month.bytes().take(2).all(|letter| letter.is_ascii_digit())
        });
        if depth > 0 || (before == '/' && month) {
            stated = year.or(stated);
        }
        (before, rest) = ('0', after);
    }
    stated
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalogue_is_read_and_its_ids_are_unique() {
        let catalogue =
            Catalogue::load().unwrap_or_else(|error| panic!("{}", error.render(Default::default())));
        let mut ids: Vec<String> = catalogue.entries().map(|entry| entry.id()).collect();
        let count = ids.len();
        assert!(count > 60, "{count}");
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), count);
    }

    #[test]
    fn an_entry_has_the_year_of_its_source_and_figures_of_samples_over_the_device() {
        let entry = |id| Catalogue::built_in().entry(id).unwrap();
        assert_eq!(entry("cdm-8/wd40purx").year().or(Some(2022)), Some(2022));
        let rascsi = entry("scsi-gnome/rascsi-1gb");
        let rate = |direction| rascsi.over_the_device(direction).map(|(.., (low, _))| low);
        assert!(rate(Direction::Read) > Some(1e5) && rate(Direction::Write) > Some(1e5));
        assert!(rascsi.access_time_ns() > Some(1e5), "{:?}", rascsi.access_time_ns());
        assert_eq!(rascsi.year(), None);
        for (source, year) in [
            ("a wiki (21 November 2023)", Some(2023)),
            ("a list of rates (2009-2010)", Some(2010)),
            ("an issue (2026): 1,841,761 bytes/s", Some(2026)),
            ("computerbase.de/2022-11 (Exos X18 and 2X18)", Some(2022)),
            ("blog.spidey01.com/2022/10/15/13", Some(2022)),
            ("_posts/2010-08-28-seagate.md", Some(2010)),
            ("jeffgeerling.com/comment/2019", None),
            ("AnandTech 2010, p. 17", None),
            ("a gist (the year is not stated)", None),
        ] {
            assert_eq!(year_in(source), year, "{source}");
        }
    }

    #[test]
    fn every_file_of_the_folder_is_listed() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../catalogue");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap().replace(".toml", ""))
            .collect();
        let mut listed: Vec<&str> = CATALOGUE.iter().map(|(name, _)| *name).collect();
        files.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, files);
    }

    #[test]
    fn a_search_finds_words_anywhere_and_all_of_them() {
        let catalogue = Catalogue::load().unwrap();
        let ids = |words: &[&str]| -> Vec<String> {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            catalogue.search(&words).iter().map(CatalogueEntry::id).collect()
        };
        assert_eq!(ids(&["GNOME", "rascsi"]), ["scsi-gnome/rascsi-1gb", "scsi-gnome/rascsi-2gb"]);
        assert_eq!(ids(&["変換番長PRO", "macbench"]), ["scsi-macbench/henkan-bancho-pro-1gb"]);
        assert!(ids(&["nothing has this"]).is_empty());
        assert_eq!(ids(&[]).len(), catalogue.entries().count());
        // A version number does not match part of a size or a year.
        let of_version = ids(&["CrystalDiskMark", "9"]);
        assert!(
            of_version[0].starts_with("cdm-9/") && !of_version.contains(&"raid-single/x25m-g2".to_owned())
        );
    }

    #[test]
    fn words_that_find_nothing_have_nearest_ones_that_do() {
        let catalogue = Catalogue::load().unwrap();
        let nearest = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            assert!(catalogue.search(&words).is_empty());
            catalogue.nearest(&words)
        };
        assert_eq!(nearest(&["samsng", "990"]).as_deref(), Some("samsung 990"));
        assert_eq!(nearest(&["crystaldiskmark", "rascsi"]).as_deref(), Some("crystaldiskmark"));
        assert_eq!(nearest(&["@@@"]), None);
    }

    #[test]
    fn a_mistyped_id_gets_the_nearest_and_a_short_one_must_be_unique() {
        let catalogue = Catalogue::load().unwrap();
        let error = catalogue.entry("scsi-gnome/rascsi-1g").unwrap_err();
        assert!(error.remedy_text().unwrap().en.contains("`scsi-gnome/rascsi-1gb`"), "{error:?}");
        assert!(catalogue.entry("rascsi-1gb").unwrap_err().what().en.contains("several"));
        assert_eq!(catalogue.entry("rascsi-2gb").unwrap().id(), "scsi-gnome/rascsi-2gb");
        assert_eq!(catalogue.entry("zzz").unwrap_err().kind(), ErrorKind::Usage);
    }

    #[test]
    fn what_is_kept_back_is_not_there() {
        let catalogue = Catalogue::load().unwrap();
        let kept_back = catalogue.entry("scsi-gnome/rascsi-2gb").unwrap();
        let keys: Vec<&str> = kept_back.figures().map(|(column, _)| column.key.as_str()).collect();
        assert_eq!(keys, ["access"]);
        let mccoe = catalogue.entry("toshiba-delay-ratio/samsung-mccoe64g5mpp").unwrap();
        assert!(mccoe.figures().all(|(column, _)| !column.key.starts_with("copy") && column.key != "ratio"));
    }
}
