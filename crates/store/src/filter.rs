//! Filters for the list of runs.

use kurabe_core::{Text, record::RunSummary, text};

/// Conditions for runs. By default all runs match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Name of the profile, or name and version of the other tool.
    pub profile: Option<String>,
    /// Part of the name of the device, model or target, ignoring case.
    pub device: Option<String>,
    /// Labels: key and value.
    pub labels: Vec<(String, String)>,
    /// Earliest time of measurement: a day, year, month or minute in RFC 3339 format, in the run's
    /// own time zone.
    pub since: Option<String>,
    /// Largest number of runs, of which the newest are selected.
    pub last: Option<usize>,
}

impl Filter {
    /// Returns the runs that match, in the given order, the newest last.
    pub fn apply(&self, mut runs: Vec<RunSummary>) -> Vec<RunSummary> {
        runs.retain(|run| self.fits(run));
        if let Some(last) = self.last {
            runs.drain(..runs.len().saturating_sub(last));
        }
        runs
    }

    fn fits(&self, run: &RunSummary) -> bool {
        let profile = self.profile.as_ref().is_none_or(|profile| profile.eq_ignore_ascii_case(&run.profile));
        let labels = self.labels.iter().all(|(key, value)| run.labels.get(key) == Some(value));
        // Times in this format sort alphabetically. A run without a date is not known to be of any day.
        let since = self.since.as_ref().is_none_or(|since| run.measured_at() >= since.as_str());
        profile && labels && since && self.device.as_ref().is_none_or(|word| is_of_device(run, word))
    }
}

fn is_of_device(run: &RunSummary, word: &str) -> bool {
    let word = word.to_lowercase();
    names(run).any(|name| name.to_lowercase().contains(&word))
}

/// Returns the names of a run's target.
pub(crate) fn names(run: &RunSummary) -> impl Iterator<Item = &str> {
    let title = run.model.iter().flat_map(|title| [title.en.as_str(), title.ja.as_str()]);
    run.device.as_deref().into_iter().chain([run.target.as_str()]).chain(title)
}

/// Parses the beginning of a time in RFC 3339 format.
///
/// # Errors
/// Names the expected format.
pub fn parse_since(text: &str) -> Result<String, Text> {
    const FORM: &str = "0000-00-00T00:00:00";
    let fits = text.len() <= FORM.len()
        && text.bytes().zip(FORM.bytes()).all(|(byte, form)| match form {
            b'0' => byte.is_ascii_digit(),
            form => byte == form,
        });
    let month = text.get(5..7).is_none_or(|month| ("01"..="12").contains(&month));
    let day = text.get(8..10).is_none_or(|day| ("01"..="31").contains(&day));
    if fits && [4, 7, 10, 16, 19].contains(&text.len()) && month && day {
        return Ok(text.to_owned());
    }
    Err(text!(
        "expected a date such as 2026-01-31, 2026-01 or 2026",
        "日付を書いてください(例: 2026-01-31、2026-01、2026)",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::record::RunStatus;
    use std::collections::BTreeMap;

    fn run(id: &str, started_at: &str, profile: &str, target: &str) -> RunSummary {
        RunSummary {
            id: id.to_owned(),
            started_at: started_at.to_owned(),
            measured_at: None,
            imported: false,
            status: RunStatus::Complete,
            target: target.to_owned(),
            device: None,
            model: None,
            profile: profile.to_owned(),
            cell_count: 1,
            labels: BTreeMap::new(),
        }
    }

    fn runs() -> Vec<RunSummary> {
        let mut runs = vec![
            run("a", "2026-01-31T23:59:00+09:00", "quick", "/mnt/usb"),
            run("b", "2026-02-01T00:00:00Z", "cdm-9", "model:disk"),
            run("c", "2026-02-02T08:00:00Z", "quick", "/mnt/ssd"),
        ];
        runs[1].model = Some(text!("a Hard Disk", "ハードディスク"));
        runs[2].device = Some("Samsung SSD".to_owned());
        runs[2].labels.insert("owner".to_owned(), "Aki".to_owned());
        runs[0].measured_at = Some("2025-12-24T10:00:00".to_owned());
        runs
    }

    fn ids(filter: &Filter) -> String {
        filter.apply(runs()).into_iter().map(|run| run.id).collect()
    }

    #[test]
    fn runs_are_found_by_what_the_list_shows() {
        assert_eq!(ids(&Filter::default()), "abc");
        assert_eq!(ids(&Filter { profile: Some("Quick".to_owned()), ..Filter::default() }), "ac");
        for (word, fitting) in
            [("USB", "a"), ("hard disk", "b"), ("ハード", "b"), ("samsung", "c"), ("x", "")]
        {
            assert_eq!(
                ids(&Filter { device: Some(word.to_owned()), ..Filter::default() }),
                fitting,
                "{word}"
            );
        }
        let label = |value: &str| vec![("owner".to_owned(), value.to_owned())];
        assert_eq!(ids(&Filter { labels: label("Aki"), ..Filter::default() }), "c");
        assert_eq!(ids(&Filter { labels: label("Ken"), ..Filter::default() }), "");
        for (since, fitting) in [("2026", "bc"), ("2025-12", "abc"), ("2026-02-02", "c"), ("2026-03", "")] {
            assert_eq!(
                ids(&Filter { since: Some(since.to_owned()), ..Filter::default() }),
                fitting,
                "{since}"
            );
        }
        let quick = Some("quick".to_owned());
        assert_eq!(ids(&Filter { profile: quick, last: Some(1), ..Filter::default() }), "c");
        assert_eq!(ids(&Filter { last: Some(9), ..Filter::default() }), "abc");
    }

    #[test]
    fn an_import_without_a_date_is_of_no_day() {
        let mut imported = run("d", "2026-03-01T00:00:00Z", "dd", "/mnt/usb");
        imported.imported = true;
        let since = Filter { since: Some("2026".to_owned()), ..Filter::default() };
        assert!(since.apply(vec![imported.clone()]).is_empty(), "the import's time is not the run's");
        imported.measured_at = Some("2026".to_owned());
        assert_eq!(since.apply(vec![imported]).len(), 1);
    }

    #[test]
    fn a_day_a_month_or_a_year_is_a_date() {
        for text in ["2026", "2026-01", "2026-12-31", "2026-01-31T09:30", "2026-01-31T09:30:00"] {
            assert_eq!(parse_since(text).as_deref(), Ok(text));
        }
        for text in [
            "",
            "26",
            "2026-",
            "2026-13",
            "2026-00",
            "2026-01-32",
            "2026/01",
            "yesterday",
            "2026-1-1",
            "昨日",
        ] {
            assert!(parse_since(text).is_err(), "{text}");
        }
    }
}
