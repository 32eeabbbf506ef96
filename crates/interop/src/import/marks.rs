//! Texts of CrystalDiskMark and of tools with its format: identification of the tool, and of the end of
//! a text.
//!
//! The model: the splitter begins a text at each heading. A text without a heading, such as only the
//! figures in a page, begins again where a section repeats, or where the first test of a text without
//! sections does. Pages print two runs side by side: then each column is a run. The heading names the
//! tool; without one, it is unknown.

use super::kit::*;
use super::mark_tool::{MarkTool, procedure};
use super::parts::cut_at;
use super::result_line::{LineClass, parse, read_all, section_of};
use super::{amorphous, cdm, kdiskmark};

pub(super) const IMPORTER: Importer = Importer::of(
    (
        "CrystalDiskMark text",
        "CrystalDiskMark",
        &["CrystalDiskMark", "CrystalMark", "KDiskMark", "AmorphousDiskMark"],
    ),
    Recognizer::Lines(line_mark),
    read,
);

/// Maximum number of runs side by side.
const COLUMNS_MOST: usize = 16;

const TOOLS: [MarkTool; 2] = [kdiskmark::TOOL, amorphous::TOOL];

fn line_mark(line: &str) -> LineMark {
    if cdm::is_heading(line) || TOOLS.iter().any(|tool| fits(tool.heading, line)) {
        return LineMark::Begins;
    }
    let is_result = !matches!(parse(line), LineClass::Other);
    if is_result || section_of(line).is_some() { LineMark::Belongs } else { LineMark::None }
}

fn read(input: &Input<'_>) -> ImportedRuns {
    let lines: Vec<(usize, &str)> = input.lines().collect();
    let named = lines.iter().any(|(_, line)| line_mark(line) == LineMark::Begins);
    let whole = lines.iter().any(|(_, line)| matches!(parse(line), LineClass::Result(_)));
    let damaged = lines.iter().any(|(_, line)| matches!(parse(line), LineClass::Damaged));
    let ruled = lines.iter().any(|(_, line)| is_rule(line));
    // A word such as `Random` alone does not identify a result. Below a heading or between lines of
    // dashes, it is a truncated line.
    if !(whole || damaged && (named || ruled)) {
        return not_mine(match named {
            true => text!(
                "a line begins with the tool's name, but no result line follows",
                "ツール名で始まる行はありますが、結果の行がありません"
            ),
            false => text!(
                "no line such as `SEQ 1MiB (Q= 8, T= 1): 500.000 MB/s`",
                "`SEQ 1MiB (Q= 8, T= 1): 500.000 MB/s` のような行がありません"
            ),
        });
    }
    let runs = texts(&lines).into_iter().map(|text| columns(input, text));
    Ok(runs.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// Returns the texts that follow each other without a heading.
fn texts<'b, 'l>(lines: &'b [(usize, &'l str)]) -> Vec<&'b [(usize, &'l str)]> {
    let mut starts = vec![0];
    let mut sections: Vec<Direction> = Vec::new();
    let mut first: Option<(String, Option<Direction>)> = None;
    for (at, (_, line)) in lines.iter().enumerate() {
        if let Some((section, _)) = section_of(line) {
            if sections.contains(&section) {
                starts.push(at);
                sections.clear();
            }
            sections.push(section);
        } else if let (true, LineClass::Result(result)) = (sections.is_empty(), parse(line)) {
            let test = (result.label(), result.direction);
            match &first {
                Some(first) if *first == test => starts.push(at),
                Some(_) => {}
                None => first = Some(test),
            }
        }
    }
    cut_at(lines, &starts)
}

/// Returns the run of a text, or one for each of its columns.
fn columns(input: &Input<'_>, lines: &[(usize, &str)]) -> Result<Vec<ImportedRun>> {
    let count = lines.iter().map(|(_, line)| match parse(line) {
        LineClass::Result(result) => result.columns.len(),
        _ => 0,
    });
    let count = count.max().unwrap_or(1).clamp(1, COLUMNS_MOST);
    let titles = titles(lines, count);
    (0..count)
        .map(|column| {
            let mut run = one(input, lines, column)?;
            if count > 1 {
                let (number, title) = (column + 1, titles.get(column).copied().unwrap_or_default());
                fact(&mut run.origin, "Column", format!("{number} {title}").trim());
                run.notices.push(notice(text!(
                    "column {number} of {count} in the text: {title}",
                    "本文の {count} 列のうち {number} 列目: {title}"
                )));
            }
            Ok(run)
        })
        .collect()
}

/// Returns the words above the columns, if their number is that of the columns.
fn titles<'l>(lines: &[(usize, &'l str)], count: usize) -> Vec<&'l str> {
    let above = lines.iter().find_map(|(_, line)| line.trim().strip_prefix("[Read]")).unwrap_or_default();
    let titles =
        above.split("  ").map(|title| title.trim().trim_matches('*')).filter(|title| !title.is_empty());
    Some(titles.collect::<Vec<_>>()).filter(|titles| titles.len() == count).unwrap_or_default()
}

fn one(input: &Input<'_>, lines: &[(usize, &str)], column: usize) -> Result<ImportedRun> {
    let mut run = whole(input, lines, column)?;
    run.notices.extend(unread(lines));
    Ok(run)
}

/// Number of unread lines that a note shows.
const UNREAD_NAMED: usize = 6;

/// Returns a note on lines with a rate that are not result lines of the tool.
fn unread(lines: &[(usize, &str)]) -> Option<Notice> {
    let has_rate =
        |line: &str| holes("{}:{} MB/s{}", line).is_some_and(|[_, rate, _]| number(rate).is_some());
    let is_unread = |line: &str| matches!(parse(line), LineClass::Other) && has_rate(line);
    let unread: Vec<String> = lines
        .iter()
        .filter(|(_, line)| is_unread(line))
        .map(|(number, line)| format!("{number} (`{}`)", repeated(line.trim())))
        .collect();
    let (named, count) = (unread[..unread.len().min(UNREAD_NAMED)].join(", "), unread.len());
    (count > 0).then(|| {
        notice(text!(
            "{count} lines with a rate have an unknown test and were not read: line {named}",
            "試験の名前が分からない速度の行を {count} 行読んでいません: {named}"
        ))
    })
}

fn whole(input: &Input<'_>, lines: &[(usize, &str)], column: usize) -> Result<ImportedRun> {
    let tool = TOOLS.iter().find(|tool| lines.iter().any(|(_, line)| fits(tool.heading, line)));
    let Some(tool) = tool else { return cdm::run(input, lines, column) };
    let mut details = RunDetails::of(input, (tool.name, tool.format), tool.details, lines.iter().copied());
    let results = read_all(input, lines, column, details.setting.runs, &(tool.rules)(&details))?;
    details.origin.procedure = procedure(&details.origin, &["Profile", "Test"]);
    let notices = (tool.notices)(&details, &results);
    Ok(results.into_run(details, notices))
}
