//! The file of a study that compares devices: a table for each direction of a profile, with a row
//! for each device, and the question which of them is the best.

use crate::study::load_profile;
use kurabe_core::profile::{Profile, TaskCell};
use kurabe_core::record::Measure;
use kurabe_core::shown;
use kurabe_core::toml_text::{bilingual, quoted};
use kurabe_core::workload::Direction;
use kurabe_core::{ErrorKind, Result, Text, text};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A device to compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedDevice {
    /// Name that the user gives it.
    pub name: Option<String>,
    /// A folder on it, a file, or the device itself.
    pub path: PathBuf,
}

/// A table of the template: id, title, and the columns as key, name, formula, unit and decimals.
struct TemplateTable {
    id: &'static str,
    title: Text,
    columns: Vec<(String, Text, String, &'static str, u32)>,
}

/// Returns the file of a study that compares devices with a profile.
///
/// # Errors
/// If there are fewer than two devices, two have the same name, a path is not valid UTF-8, or the
/// profile does not exist.
pub fn study_of_devices(
    name: &str,
    title: Option<&str>,
    profile_name: &str,
    devices: &[ComparedDevice],
) -> Result<String> {
    let profile = load_profile(profile_name)?.with_step_names();
    let ids = ids(devices)?;
    let usual = text!("Which of these devices is the fastest?", "いちばん速いのはどれか");
    let title = title.map_or(usual, Text::same);
    let head = text!(
        "`label` names a row; without it, a row has the name of its device.",
        "行の名前は `label` で付けます(なければ機器の型番になります)。"
    );
    let mut toml = format!("# {}\n# {}\n", head.en, head.ja);
    toml.push_str(&format!("schema = 1\nname = {}\ntitle = {}\n", quoted(name), bilingual(&title)));
    let tables = tables(&profile);
    for table in &tables {
        toml.push_str(&part(table, profile_name, devices, &ids)?);
    }
    let (figures, rows) = (
        tables.iter().map(|table| format!("{{ part = \"{}\" }}", table.id)).collect::<Vec<_>>().join(", "),
        ids.iter().map(|id| quoted(id)).collect::<Vec<_>>().join(", "),
    );
    let question = text!("The best over all tests", "全項目を通して最もよいもの");
    toml.push_str(&format!(
        "\n[[question]]\nid = \"best\"\ntitle = {}\nask = \"best\"\nrows = [{rows}]\nfigures = [{figures}]\n",
        bilingual(&question)
    ));
    Ok(toml)
}

/// Returns the ids of the rows: the names of the devices, or their numbers.
fn ids(devices: &[ComparedDevice]) -> Result<Vec<String>> {
    if devices.len() < 2 {
        return Err(ErrorKind::Usage
            .error(text!("a comparison needs more than one device", "対象が 1 つでは比べられません")));
    }
    let id = |(number, device): (usize, &ComparedDevice)| {
        device.name.clone().unwrap_or_else(|| format!("device{}", number + 1))
    };
    let ids: Vec<String> = devices.iter().enumerate().map(id).collect();
    let mut seen = BTreeSet::new();
    match ids.iter().find(|id| !seen.insert(*id)) {
        None => Ok(ids),
        Some(id) => Err(ErrorKind::Usage
            .error(text!("two devices have the name `{id}`", "`{id}` という名前が 2 回指定されています"))),
    }
}

/// Returns the tables: reads, writes, and what is neither.
fn tables(profile: &Profile) -> Vec<TemplateTable> {
    let mut tables = [
        ("read", text!("Reads", "読み出し")),
        ("write", text!("Writes", "書き込み")),
        ("other", text!("Other tests", "そのほかの項目")),
    ]
    .map(|(id, title)| TemplateTable { id, title, columns: Vec::new() });
    let mut seen = BTreeSet::new();
    for task in profile.tasks(profile.rules.size_bytes) {
        for cell in &task.cells {
            let Some(step) = profile.steps.get(task.step_index).and_then(|step| step.id()) else { continue };
            if !seen.insert((step.to_owned(), cell.part.clone())) {
                continue;
            }
            let place = match cell.direction {
                Some(Direction::Read) => 0,
                Some(Direction::Write) => 1,
                _ => 2,
            };
            tables[place].columns.push(column(step, cell));
        }
    }
    tables.into_iter().filter(|table| !table.columns.is_empty()).collect()
}

fn column(step: &str, cell: &TaskCell) -> (String, Text, String, &'static str, u32) {
    let (formula, unit, decimals) = match cell.measure {
        Measure::Rate => ("MB_per_s", "MB/s", 1),
        Measure::Operations => ("IOPS", "IOPS", 0),
        Measure::AccessTime => ("ms", "ms", 3),
        Measure::Duration => ("s", "s", 2),
    };
    let key = format!("{step}_{}", cell.part);
    (key, Text::same(&cell.label), format!("{step}.{}.{formula}", cell.part), unit, decimals)
}

fn part(table: &TemplateTable, profile: &str, devices: &[ComparedDevice], ids: &[String]) -> Result<String> {
    let TemplateTable { id, title, columns } = table;
    let mut toml =
        format!("\n[[part]]\nid = \"{id}\"\ntitle = {}\nprofile = {}\n", bilingual(title), quoted(profile));
    toml.push_str("devices = \"rows\"\ncolumn = [\n");
    for (key, name, figure, unit, decimals) in columns {
        let (key, name, figure) = (quoted(key), bilingual(name), quoted(figure));
        toml.push_str(&format!(
            "    {{ key = {key}, name = {name}, figure = {figure}, unit = \"{unit}\", decimals = {decimals} }},\n"
        ));
    }
    toml.push_str("]\n");
    for (device, id) in devices.iter().zip(ids) {
        let label = device.name.as_ref().map(|name| format!("label = {}\n", bilingual(&Text::same(name))));
        let (id, target) = (quoted(id), quoted(words(&device.path)?));
        let label = label.unwrap_or_default();
        toml.push_str(&format!("\n[[part.row]]\nid = {id}\non = {id}\n{label}target = {target}\n"));
    }
    Ok(toml)
}

fn words(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| {
        let path = shown::path(path);
        ErrorKind::Usage.error(text!(
            "{path}: this name is not valid UTF-8, so a study file cannot contain it",
            "{path}: UTF-8 ではない名前はスタディのファイルに書けません"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Catalogue;
    use crate::study::Study;
    use kurabe_profile::PROFILES;

    fn device(name: Option<&str>, path: &str) -> ComparedDevice {
        ComparedDevice { name: name.map(str::to_owned), path: path.into() }
    }

    #[test]
    fn every_profile_makes_a_study_that_is_read_and_has_every_cell() {
        let catalogue = Catalogue::built_in();
        let devices = [device(Some("a \"b\""), "/media/a\\b\n"), device(None, "/media/c")];
        for (profile, _) in PROFILES {
            let toml = study_of_devices("mine", None, profile, &devices).unwrap();
            let study = Study::parse("mine.toml", &toml, catalogue)
                .unwrap_or_else(|error| panic!("{profile}: {}\n{toml}", error.render(Default::default())));
            for part in &study.parts {
                let targets: Vec<_> = part.rows.iter().map(|row| row.target.clone().unwrap()).collect();
                assert_eq!(targets, [PathBuf::from("/media/a\\b\n"), PathBuf::from("/media/c")]);
                let labels: Vec<_> = part.rows.iter().map(|row| row.label.clone()).collect();
                assert_eq!(labels, [Some(Text::same("a \"b\"")), None]);
            }
            assert_eq!(study.questions.len(), 1);
        }
    }

    #[test]
    fn one_device_is_no_comparison_and_names_are_different() {
        let error =
            |devices: &[ComparedDevice]| study_of_devices("mine", None, "quick", devices).unwrap_err().kind();
        assert_eq!(error(&[device(None, "/a")]), ErrorKind::Usage);
        assert_eq!(error(&[device(Some("a"), "/a"), device(Some("a"), "/b")]), ErrorKind::Usage);
    }
}
