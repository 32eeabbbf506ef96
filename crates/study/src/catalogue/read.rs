//! Reads catalogue files.

use super::table::{DeviceClass, PublishedColumn, PublishedRow, PublishedStatistic, PublishedTable};
use super::work::{RateWork, task_of};
use crate::published::Published;
use kurabe_core::profile::{Formula, Name, Profile};
use kurabe_core::{DataFile, Result, Text, Value, quantity::parse_bytes, text};
use kurabe_profile::profile_named;

const TABLE_KEYS: [&str; 13] = [
    "id",
    "title",
    "source",
    "year",
    "tool",
    "procedure",
    "profile",
    "size",
    "statistic",
    "host",
    "note",
    "column",
    "row",
];
const COLUMN_KEYS: [&str; 6] = ["key", "name", "unit", "decimals", "figure", "work"];
const ROW_KEYS: [&str; 6] = ["id", "device", "source", "model", "class", "note"];

/// Reads the tables of a file.
pub(super) fn read_tables(name: &str, source: &str) -> Result<Vec<PublishedTable>> {
    let file = DataFile::parse(name, source)?;
    let root = file.root(&["schema", "source", "table"])?;
    root.require("schema")?.integer(1..=1)?;
    let shared = root.read("source", Value::string)?;
    root.require("table")?.each(|value| read_table(value, shared))
}

fn read_table(value: &Value<'_>, shared_source: Option<&str>) -> Result<PublishedTable> {
    let table = value.table(&TABLE_KEYS)?;
    let profile = table.read("profile", read_profile)?;
    let columns = table.require("column")?.each(|value| read_column(value, profile.as_ref()))?;
    let rows = table.require("row")?;
    let mut table = PublishedTable {
        id: table.words("id")?,
        title: table.require("title")?.text()?,
        source: match (table.get("source"), shared_source) {
            (None, Some(source)) => source.to_owned(),
            _ => table.words("source")?,
        },
        year: table.read("year", |value| value.integer(1950..=2100))?.map(|year| year as u16),
        tool: table.words("tool")?,
        procedure: table.require("procedure")?.text()?,
        profile: profile.map(|profile| profile.name),
        size_bytes: table.read("size", |value| value.parsed(parse_bytes))?,
        statistic: table.require("statistic")?.choice(PublishedStatistic::WORDS)?,
        host: table.read("host", Value::text)?,
        note: table.read("note", Value::text)?,
        rows: rows.each(|value| read_row(value, &columns))?,
        columns,
    };
    let works: Vec<Option<RateWork>> = table
        .columns
        .iter()
        .map(|column| {
            let of_figure = || RateWork::of_figure(column.figure.as_ref()?, &table);
            column.work.or_else(of_figure)
        })
        .collect();
    for (column, work) in table.columns.iter_mut().zip(works) {
        column.work = work;
    }
    Ok(table)
}

fn read_profile(value: &Value<'_>) -> Result<Profile> {
    let profile = profile_named(value.string()?).map(Profile::with_step_names);
    profile.map_err(|error| value.error_of_named(&error))
}

fn read_column(value: &Value<'_>, profile: Option<&Profile>) -> Result<PublishedColumn> {
    let table = value.table(&COLUMN_KEYS)?;
    let figure = table.get("figure");
    if let (Some(figure), None) = (&figure, profile) {
        return Err(figure.error(&text!(
            "`figure` has no effect without `profile`",
            "`figure` は `profile` がないと効果がありません"
        )));
    }
    Ok(PublishedColumn {
        key: table.words("key")?,
        name: table.require("name")?.text()?,
        unit: table.words("unit")?,
        decimals: table.read("decimals", |value| value.integer(0..=6))?.unwrap_or(0) as usize,
        figure: match (figure, profile) {
            (Some(figure), Some(profile)) => Some(read_figure(&figure, profile)?),
            _ => None,
        },
        work: table.read("work", RateWork::read)?,
    })
}

/// Reads a formula whose names are cells of the profile.
pub(crate) fn read_figure(value: &Value<'_>, profile: &Profile) -> Result<Formula> {
    let formula = value.parsed(Formula::parse)?;
    check_figure(&formula, profile).map_err(|what| value.error(&what))?;
    Ok(formula)
}

/// Checks that every name in a formula is a cell of the profile.
pub(crate) fn check_figure(formula: &Formula, profile: &Profile) -> std::result::Result<(), Text> {
    let tasks = profile.tasks(profile.rules.size_bytes);
    for name in formula.names() {
        if task_of(&tasks, profile, name).is_none() {
            let (Name { step, part, .. }, profile) = (name, &profile.name);
            return Err(text!(
                "the profile {profile} has no test {step}.{part}",
                "プロファイル {profile} に {step}.{part} という項目はありません"
            ));
        }
    }
    Ok(())
}

/// Reads a device name that is the same in both languages, or has one form for each.
fn read_device(value: &Value<'_>) -> Result<Text> {
    value.string().map(Text::same).or_else(|_| value.text())
}

fn read_row(value: &Value<'_>, columns: &[PublishedColumn]) -> Result<PublishedRow> {
    let mut keys = ROW_KEYS.to_vec();
    keys.extend(columns.iter().map(|column| column.key.as_str()));
    let table = value.table(&keys)?;
    Ok(PublishedRow {
        id: table.words("id")?,
        device: read_device(&table.require("device")?)?,
        source: table.read("source", Value::words)?,
        model: table.read("model", Value::words)?,
        class: table.read("class", |value| value.choice(DeviceClass::WORDS))?,
        note: table.read("note", Value::text)?,
        figures: columns
            .iter()
            .map(|column| table.read(&column.key, Published::read))
            .collect::<Result<Vec<_>>>()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = r#"
schema = 1
source = "somebody"

[[table]]
id = "t"
title = { en = "a table", ja = "表" }
tool = "a tool"
procedure = { en = "done", ja = "測定" }
profile = "gnome-disks-46"
statistic = "mean"
column = [{ key = "read", name = { en = "read", ja = "読み出し" }, unit = "kB/s", figure = "step1.read.kB_per_s" }]
row = [{ id = "a", device = "A", read = 845.9 }]
"#;

    #[test]
    fn a_table_is_read() {
        let tables = read_tables("small.toml", SMALL).unwrap();
        assert_eq!(tables[0].source, "somebody");
        assert_eq!(tables[0].rows[0].figures, [Some(Published::exact(845.9))]);
    }

    #[test]
    fn a_class_has_one_word_in_files_and_in_json() {
        for (word, class) in DeviceClass::WORDS {
            assert_eq!(serde_json::to_value(class).unwrap(), *word);
        }
    }

    #[test]
    fn a_mistake_shows_its_line_and_says_what_to_do() {
        for (good, bad, line, what) in [
            ("tool =", "tol =", 8, "unknown key"),
            ("read = 845.9", "raed = 845.9", 13, "unknown key"),
            ("read = 845.9", "read = -1", 13, "above zero"),
            ("step1.read", "step9.read", 12, "no test step9.read"),
            ("gnome-disks-46", "gnome-disk", 10, "no profile"),
            ("profile = \"gnome-disks-46\"", "", 12, "has no effect without `profile`"),
            ("\"mean\"", "\"men\"", 11, "not a valid value"),
        ] {
            let error = read_tables("small.toml", &SMALL.replace(good, bad)).unwrap_err();
            assert!(error.what().en.contains(what), "{bad}: {error}");
            assert_eq!(error.place().unwrap().line, line, "{bad}: {error:?}");
        }
    }
}
