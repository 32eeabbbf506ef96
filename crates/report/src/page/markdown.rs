//! The report as Markdown: for an issue on GitHub, a page of Qiita, a wiki.
//!
//! The model: the same order and the same words as the page. Of several runs the cells stand below each other with the
//! verdict in words. What is long is folded, which both sites understand. Figures keep their units by spaces that do not
//! break.

use super::rows::Row;
use super::{Report, Why, method, run_name, sections, table};
use crate::compare::{fairness_words, verdict};
use crate::sweep_curves;
use crate::why::is_brief;
use kurabe_compare::Pair;
use kurabe_core::number;
use kurabe_core::{Lang, text};
use kurabe_interop::escape_markdown as escaped;
use std::fmt::Write;

/// Up to this many runs are columns; of more, each is a line.
const COLUMNS: usize = 4;

impl Report<'_> {
    /// The text.
    pub fn markdown(&self) -> String {
        let style = &self.style;
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(out, "## {}\n", escaped(&self.title()));
        let _ = writeln!(out, "**{}**\n", escaped(&style.say(&self.answer())));
        let rows = self.rows();
        match self.pairs.as_slice() {
            [] => self.of_one_run(&mut out),
            [pair] => self.of_a_pair(&mut out, pair, &rows),
            _ => self.of_several(&mut out, &rows),
        }
        self.why_part(&mut out);
        self.stutter_part(&mut out, &rows);
        for pair in &self.pairs {
            self.fairness_part(&mut out, pair);
        }
        for place in 0..self.runs.len() {
            self.run_part(&mut out, place);
        }
        let _ = writeln!(out, "\nkurabe {}", env!("CARGO_PKG_VERSION"));
        out
    }

    fn of_one_run(&self, out: &mut String) {
        self.runs_list(out);
        let (heads, lines) = table::figures(self, 0);
        let _ =
            writeln!(out, "| {} |", heads.iter().map(|head| escaped(head)).collect::<Vec<_>>().join(" | "));
        let _ = writeln!(out, "|:--|{}", "--:|".repeat(heads.len().saturating_sub(1)));
        for line in lines {
            let words = |(place, words): (usize, &String)| match place {
                0 => escaped(words),
                _ => escaped(words).replace(' ', "\u{a0}"),
            };
            let line: Vec<String> = line.iter().enumerate().map(words).collect();
            let _ = writeln!(out, "| {} |", line.join(" | "));
        }
        out.push('\n');
        for note in method::footnotes(self.runs[0], &self.style) {
            let _ = writeln!(out, "- {}", escaped(&note));
        }
        self.notices(out, 0);
    }

    /// Remarks of a run.
    fn notices(&self, out: &mut String, place: usize) {
        for remark in method::notices(self.runs[place], &self.style) {
            let mark = if remark.warns { "⚠ " } else { "" };
            let _ = writeln!(out, "\n{mark}{}", escaped(&remark.line()));
        }
    }

    /// Why the cells are as fast as they are: of one run in full, of two and of many cells the most telling sentence of
    /// each. Of more runs it stands in what is folded.
    fn why_part(&self, out: &mut String) {
        if self.runs.len() > sections::TOLD_WHY {
            return;
        }
        let found: Vec<Vec<Why>> = (0..self.runs.len()).map(|place| method::why(self, place)).collect();
        if found.iter().all(Vec::is_empty) {
            return;
        }
        let _ = writeln!(out, "\n### {}\n", self.style.pick("Why", "理由"));
        for (run, found) in self.runs.iter().zip(&found).filter(|(_, found)| !found.is_empty()) {
            let several = self.runs.len() > 1;
            if several {
                let _ = writeln!(out, "**{}**\n", escaped(&run.header.id));
            }
            let shown = sweep_curves::findings(run, &self.style);
            for finding in &shown {
                let _ = writeln!(out, "- {}", escaped(finding));
            }
            let folded = is_brief(found.len());
            if folded {
                out.push_str(if shown.is_empty() { "" } else { "\n" });
                let title = sections::cells_told(found.len(), &self.style);
                let _ = writeln!(out, "<details><summary>{}</summary>\n", escaped_html(&title));
            }
            reasons(out, found, several || folded, self.style.lang);
            out.push_str(if folded { "\n</details>\n\n" } else { "\n" });
        }
    }

    fn runs_list(&self, out: &mut String) {
        for (place, run) in self.runs.iter().enumerate() {
            let header = &run.header;
            let mut facts = vec![
                run_name(run, &self.style),
                header.profile_name(),
                number::date_minute(header.measured_at()),
            ];
            facts.extend(run.labels.iter().map(|(key, value)| format!("{key}={value}")));
            if place == 0 && self.runs.len() > 1 {
                facts.push(self.style.pick("baseline", "基準").to_owned());
            }
            facts.retain(|fact| !fact.is_empty());
            let _ = writeln!(out, "- **{}** · {}", escaped(&header.id), escaped(&facts.join(" · ")));
        }
        out.push('\n');
    }

    fn of_a_pair(&self, out: &mut String, pair: &Pair, rows: &[Row<'_>]) {
        let style = &self.style;
        self.runs_list(out);
        let heads = [
            style.pick("Cell", "項目").to_owned(),
            format!("{} ({})", pair.baseline, style.pick("baseline", "基準")),
            pair.other.clone(),
            style.say(&crate::compare::against(pair)),
        ];
        let _ = writeln!(out, "| {} |\n|:--|--:|--:|:--|", heads.map(|head| escaped(&head)).join(" | "));
        for row in rows {
            let words = row.entries[1].as_ref().and_then(|entry| entry.against).map_or_else(
                || {
                    let run = if row.entries[0].is_some() { &pair.baseline } else { &pair.other };
                    style.say(&text!("only {run} has it", "{run} にしかない"))
                },
                |cell| style.say(&verdict(cell).1),
            );
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} |",
                escaped(&row.name),
                shown(row, 0),
                shown(row, 1),
                escaped(&words)
            );
        }
        out.push('\n');
        let tails = crate::tails::sentences(pair).iter().map(|words| style.say(words)).collect::<Vec<_>>();
        for sentence in &tails {
            let _ = writeln!(out, "- {}", escaped(sentence));
        }
        if !tails.is_empty() {
            out.push('\n');
        }
    }

    fn of_several(&self, out: &mut String, rows: &[Row<'_>]) {
        self.runs_list(out);
        let entry = |row: &Row<'_>, place: usize| {
            let against = row.entries[place].as_ref().and_then(|entry| entry.against);
            match against {
                Some(cell) => {
                    format!("{}<br>{}", shown(row, place), escaped(&self.style.say(&verdict(cell).1)))
                }
                None => shown(row, place),
            }
        };
        let (names, lines): (Vec<String>, Vec<Vec<String>>) = if self.runs.len() <= COLUMNS {
            let line = |row: &Row<'_>| {
                let figures = (0..self.runs.len()).map(|place| entry(row, place));
                [escaped(&row.name)].into_iter().chain(figures).collect()
            };
            (self.runs.iter().map(|run| run.header.id.clone()).collect(), rows.iter().map(line).collect())
        } else {
            let line = |place: usize| {
                let figures = rows.iter().map(|row| entry(row, place));
                [escaped(&self.runs[place].header.id)].into_iter().chain(figures).collect()
            };
            (rows.iter().map(|row| escaped(&row.name)).collect(), (0..self.runs.len()).map(line).collect())
        };
        let first = self.style.pick("Cell", "項目");
        let first = if self.runs.len() <= COLUMNS { first } else { self.style.pick("Run", "測定") };
        let _ = writeln!(out, "| {first} | {} |", names.join(" | "));
        let _ = writeln!(out, "|:--|{}", "--:|".repeat(names.len()));
        for line in lines {
            let _ = writeln!(out, "| {} |", line.join(" | "));
        }
        out.push('\n');
    }

    fn stutter_part(&self, out: &mut String, rows: &[Row<'_>]) {
        let style = &self.style;
        let (beside, lines) = (sections::beside_lines(self), sections::stutter_lines(self, rows));
        if lines.is_empty() && beside.is_empty() {
            return;
        }
        let _ = writeln!(out, "\n### {}\n", style.pick("Stutter", "停滞"));
        for words in beside {
            let _ = writeln!(out, "- {}", escaped(&words));
        }
        let felt: Vec<_> = lines.iter().filter(|line| line.felt.is_some()).collect();
        if felt.is_empty() {
            let _ = writeln!(out, "\n{}", style.say(&sections::no_stall(rows)));
        }
        for line in felt {
            let _ = writeln!(out, "- {}", escaped(&line.sentence(self.runs.len() > 1, style)));
        }
        out.push('\n');
    }

    fn fairness_part(&self, out: &mut String, pair: &Pair) {
        let style = &self.style;
        let (one, two) = (&pair.baseline, &pair.other);
        let title =
            style.say(&text!("What else differed: {one} and {two}", "ほかに違う条件: {one} と {two}"));
        let (sentence, rest) = fairness_words(&pair.differences, &self.about);
        let folded = self.pairs.len() > 1;
        if folded {
            let _ = writeln!(out, "<details><summary>{}</summary>\n", escaped_html(&title));
        } else {
            let _ = writeln!(out, "### {}\n", escaped(&title));
        }
        let _ = writeln!(out, "{}\n", escaped(&style.say(&sentence)));
        if !rest.is_empty() {
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} |\n|:--|:--|:--|:--|",
                style.pick("What differs", "違い"),
                escaped(one),
                escaped(two),
                style.pick("What it can do", "影響")
            );
        }
        for difference in rest {
            let mut effect = sections::weight(difference.weight, style).to_owned();
            if let Some(words) = &difference.effect {
                effect = format!("{effect}: {}", style.say(words));
            }
            let words = [
                style.say(&difference.name),
                style.say(&difference.baseline),
                style.say(&difference.other),
                effect,
            ];
            let _ = writeln!(out, "| {} |", words.map(|words| escaped(&words)).join(" | "));
        }
        out.push_str(if folded { "\n</details>\n\n" } else { "\n" });
    }

    /// Method, environment and notices of a run, folded.
    fn run_part(&self, out: &mut String, place: usize) {
        let (run, style) = (self.runs[place], &self.style);
        let id = &run.header.id;
        let title = style.say(&text!("Method and environment of {id}", "{id} の測定方法と環境"));
        let _ = writeln!(out, "<details><summary>{}</summary>\n", escaped_html(&title));
        for (key, items) in method::fields(run, style).iter().chain(&method::environment(run, style)) {
            let _ = writeln!(out, "- {}: {}", escaped(key), escaped(&items.join(" · ")));
        }
        if let Some(command) = method::again(run) {
            let fence = "`".repeat(longest_run_of_ticks(&command).max(2) + 1);
            let _ = writeln!(out, "\n{fence}sh\n{}\n{fence}", command.replace(['\n', '\r'], " "));
        }
        // Of one run they stand below the table.
        if self.runs.len() > 1 {
            self.notices(out, place);
        }
        let told_here = self.runs.len() > sections::TOLD_WHY;
        let found = if told_here { method::why(self, place) } else { Vec::new() };
        if !found.is_empty() {
            let _ = writeln!(out, "\n{}\n", self.style.pick("Why:", "理由:"));
            reasons(out, &found, true, style.lang);
        }
        out.push_str("\n</details>\n\n");
    }
}

/// What is told of each cell: all of it, or the first sentence.
fn reasons(out: &mut String, found: &[Why], briefly: bool, lang: Lang) {
    for why in found {
        let sentences = if briefly { &why.sentences[..why.sentences.len().min(1)] } else { &why.sentences };
        let words: Vec<String> = sentences.iter().map(|words| escaped(words)).collect();
        let _ = writeln!(out, "- {}: {}", escaped(&why.cell), words.join(lang.pick(" ", "")));
    }
}

/// A figure of a row.
fn shown(row: &Row<'_>, place: usize) -> String {
    let value = row.entries[place].as_ref().and_then(|entry| entry.value);
    value.map_or(number::NONE.to_owned(), |value| row.figure(value).to_string().replace(' ', "\u{a0}"))
}

fn longest_run_of_ticks(words: &str) -> usize {
    words.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Words inside of an HTML element that Markdown leaves alone.
fn escaped_html(words: &str) -> String {
    let mut html = super::html::Html::new();
    html.words(words);
    html.finish()
}
