//! Removes the paths of the machine from a run before it is published, because directory names
//! reveal people and their work.
//!
//! The record is converted to JSON, and all of its text is searched. Its target, mount point and
//! store are replaced wherever they occur, as is every other word that looks like an absolute path.
//! The same path gets the same name in the whole record. Devices (`/dev/sda`) are kept, because
//! results are judged by them. The command line is removed completely.

use crate::json;
use kurabe_core::record::{RunRecord, TargetKind};
use kurabe_core::target_name::MODEL_PREFIX;
use kurabe_core::{ErrorKind, Result, text};
use serde_json::Value;

/// Returns the run without paths.
///
/// # Errors
/// If the record cannot be written and read again, which is a defect of kurabe.
pub fn without_paths(record: &RunRecord) -> Result<RunRecord> {
    let defect = |misfit: json::Misfit| {
        let message = text!("cannot make the run without its paths", "パスを伏せた記録を作れません");
        ErrorKind::Internal.error(message).because(misfit.reason)
    };
    let mut names = Names::default();
    let header = &record.header;
    if let Some(target) = header.target.as_ref().filter(|target| target.kind != TargetKind::Model) {
        names.hide(&target.path);
        // `.` and similar strings occur in every text.
        if target.given.contains('/') {
            names.hide(&target.given);
        }
    }
    header
        .versus
        .iter()
        .flat_map(|versus| &versus.targets)
        .filter(|path| path.contains('/'))
        .for_each(|path| names.hide(path));
    header
        .environment
        .file_system
        .iter()
        .filter_map(|one| one.mount_point.as_ref())
        .for_each(|point| names.hide(point));
    // Converted by way of text, like stored records: deserializing from values would add half a
    // megabyte to the program.
    let mut value: Value = json::from_slice(json::to_text(record)?.as_bytes()).map_err(defect)?;
    names.go_through(&mut value);
    let mut record: RunRecord = json::from_slice(value.to_string().as_bytes()).map_err(defect)?;
    record.header.command.clear();
    Ok(record)
}

/// Paths and their replacements. Longer ones come first, so that a path is not replaced in part.
#[derive(Default)]
struct Names(Vec<(String, String)>);

impl Names {
    fn hide(&mut self, path: &str) {
        let is_device = path == "/dev" || path.starts_with("/dev/") || path.starts_with(MODEL_PREFIX);
        if path.len() < 2 || is_device || self.0.iter().any(|(own, _)| own == path) {
            return;
        }
        let name = format!("/path-{}", self.0.len() + 1);
        self.0.push((path.to_owned(), name));
        self.0.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
    }

    fn go_through(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.hidden(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.go_through(value)),
            Value::Object(values) => values.values_mut().for_each(|value| self.go_through(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn hidden(&mut self, text: &str) -> String {
        if !text.contains('/') {
            return text.to_owned();
        }
        let mut out = text.to_owned();
        for (path, name) in &self.0 {
            out = out.replace(path, name);
        }
        for path in absolute(&out) {
            self.hide(&path);
            let name = self.0.iter().find(|(own, _)| *own == path).map(|(_, name)| name.clone());
            out = name.map_or_else(|| out.clone(), |name| out.replace(&path, &name));
        }
        out
    }
}

/// Returns the absolute paths in a text, which begin and end at word boundaries.
fn absolute(text: &str) -> Vec<String> {
    let ends = |character: char| character.is_whitespace() || "\"'`,;()[]{}<>=".contains(character);
    let is_path = |word: &&str| {
        word.starts_with('/') && word.len() > 2 && !word.starts_with("/dev/") && !word.starts_with("/path-")
    };
    text.split(ends)
        .map(|word| word.trim_end_matches(['.', ':']))
        .filter(is_path)
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_testkit::any_record;
    use kurabe_testkit::kinds::run_samples;
    use proptest::prelude::*;

    #[test]
    fn paths_of_the_machine_are_nowhere_and_everything_else_is_as_it_was() {
        let mut record = run_samples();
        record.header.command = vec!["kurabe".to_owned(), "run".to_owned(), "/home/aki/own".to_owned()];
        let target = record.header.target.as_mut().unwrap();
        (target.given, target.path) = ("/home/aki/own".to_owned(), "/home/aki/own".to_owned());
        record.header.environment.file_system.get_or_insert_default().mount_point = Some("/home".to_owned());
        record.header.environment.file_system.get_or_insert_default().source = Some("/dev/sda1".to_owned());
        record.labels.insert("where".to_owned(), "see /srv/secret/plan.txt, and /home/aki/own/x".to_owned());
        let hidden = without_paths(&record).unwrap();
        let text = serde_json::to_string(&hidden).unwrap();
        assert!(!text.contains("aki") && !text.contains("secret") && !text.contains("/home"), "{text}");
        assert_eq!(hidden.header.environment.file_system.unwrap().source.unwrap(), "/dev/sda1");
        assert_eq!(hidden.labels["where"], "see /path-3, and /path-1/x");
        assert_eq!(hidden.cells, record.cells);
        assert!(hidden.header.command.is_empty());
    }

    proptest! {
        #[test]
        fn of_any_record_everything_but_its_words_is_kept(record in any_record()) {
            let hidden = without_paths(&record).unwrap();
            prop_assert_eq!(hidden.cells.len(), record.cells.len());
            prop_assert_eq!(hidden.status, record.status);
            // A path that is already hidden stays unchanged.
            prop_assert_eq!(without_paths(&hidden).unwrap(), hidden);
        }
    }
}
