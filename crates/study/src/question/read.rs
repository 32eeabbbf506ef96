//! Reads questions and resolves every name in them against the tables of the study.

use super::{Among, Article, Ask, Becomes, Conclusion, FigureSet, Goes, Question, QuestionHead};
use crate::axis::is_same_value;
use crate::study::{Part, StudyRow, read_unique};
use kurabe_compare::Use;
use kurabe_core::{DataTable, Result, Value, nearest, text};
use kurabe_explain::{LimitKind, names_cell};

const KEYS: [&str; 18] = [
    "id", "title", "ask", "rows", "along", "figures", "for", "from", "to", "at_most", "at_least", "margin",
    "why", "article", "part", "row", "at", "cell",
];
/// Keys that every question may have.
const COMMON_KEYS: [&str; 4] = ["id", "title", "ask", "article"];
const ARTICLE_KEYS: [&str; 10] =
    ["says", "best", "first", "last", "is", "is_not", "keep", "break", "reason", "why"];

/// Values of the key `ask`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum QuestionKind {
    Best,
    Change,
    Order,
    Line,
    Keeps,
    Reason,
    Untold,
}

const KINDS: [(&str, QuestionKind); 7] = [
    ("best", QuestionKind::Best),
    ("change", QuestionKind::Change),
    ("order", QuestionKind::Order),
    ("line", QuestionKind::Line),
    ("keeps", QuestionKind::Keeps),
    ("reason", QuestionKind::Reason),
    ("untold", QuestionKind::Untold),
];

/// Reads the questions of a study with these tables.
pub(crate) fn read_questions(list: &[Value<'_>], parts: &[Part]) -> Result<Vec<Question>> {
    read_unique(
        list,
        |value| read_question(value, parts),
        |question| Some(&question.id),
        |id| text!("another question has the id `{id}`", "id `{id}` は別の問いで使われています"),
    )
}

fn read_question(value: &Value<'_>, parts: &[Part]) -> Result<Question> {
    let table = value.table(&KEYS)?;
    let kind = table.require("ask")?.choice(&KINDS)?;
    check_keys(&table, kind)?;
    let figures = read_figures(&table, kind, parts)?;
    let asked: Vec<&Part> = figures.iter().filter_map(|set| part_of(parts, &set.part)).collect();
    let among = read_among(&asked, &table, kind)?;
    let ask = match kind {
        QuestionKind::Best => match table.get("for") {
            Some(name) => Ask::BestFor(Box::new(
                Use::load(name.string()?).map_err(|error| name.error_of_named(&error))?,
            )),
            None => Ask::Best,
        },
        QuestionKind::Change => {
            let choices = choices(&asked, &among);
            let named = |key: &str| one_of(&table.require(key)?, &choices);
            Ask::Change { from: named("from")?, to: named("to")? }
        }
        QuestionKind::Order => Ask::Order,
        QuestionKind::Line => Ask::Line,
        QuestionKind::Keeps => {
            let limit = |key: &str| table.read(key, Value::number);
            Ask::Keeps { at_most: limit("at_most")?, at_least: limit("at_least")? }
        }
        QuestionKind::Reason => {
            let part = find_part(&table.require("part")?, parts)?;
            Ask::Reason { at: read_at(&table, part)?, cell: read_cell(&table, part)? }
        }
        QuestionKind::Untold => Ask::Untold(table.require("why")?.text()?),
    };
    if ask == (Ask::Keeps { at_most: None, at_least: None }) {
        table.require("at_most")?;
    }
    let choices = choices(&asked, &among);
    let article = table.read("article", |article| read_article(article, kind, &choices))?;
    let margin = table.read("margin", Value::positive)?;
    Ok(Question {
        head: QuestionHead { id: table.words("id")?, title: table.require("title")?.text()? },
        ask,
        among,
        figures,
        margin: margin.map(|percent| percent / 100.0),
        article,
    })
}

impl QuestionKind {
    /// Returns the keys that have a meaning for this kind, in addition to those of every question.
    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Best => &["along", "rows", "figures", "for", "part", "margin"],
            Self::Change => &["along", "rows", "figures", "from", "to", "margin"],
            Self::Order => &["rows", "figures"],
            Self::Line => &["along", "rows", "figures", "margin"],
            Self::Keeps => &["rows", "figures", "at_most", "at_least"],
            Self::Reason => &["part", "row", "at", "cell"],
            Self::Untold => &["why"],
        }
    }
}

/// Refuses keys that have no effect for this kind of question.
fn check_keys(table: &DataTable<'_>, kind: QuestionKind) -> Result<()> {
    for key in KEYS {
        if COMMON_KEYS.contains(&key) || kind.keys().contains(&key) {
            continue;
        }
        let Some(value) = table.get(key) else { continue };
        let word = KINDS.iter().find(|(_, other)| *other == kind).map_or("", |(word, _)| word);
        return Err(value.error(&text!(
            "`{key}` has no effect with `ask = \"{word}\"`",
            "`{key}` は `ask = \"{word}\"` では効果がありません"
        )));
    }
    if let (Some(with), true) = (table.get("figures"), table.get("for").is_some()) {
        return Err(with.error(&text!(
            "`figures` has no effect next to `for`: a use selects its own tests from `part`",
            "用途は `part` の項目を自分で選ぶので、`for` があると `figures` は効果がありません"
        )));
    }
    Ok(())
}

fn part_of<'p>(parts: &'p [Part], id: &str) -> Option<&'p Part> {
    parts.iter().find(|part| part.id == id)
}

fn find_part<'p>(value: &Value<'_>, parts: &'p [Part]) -> Result<&'p Part> {
    let ids: Vec<&str> = parts.iter().map(|part| part.id.as_str()).collect();
    let place = value.place_among(&ids, |word| {
        text!("the study has no table `{word}`", "このスタディに `{word}` という表はありません")
    })?;
    Ok(&parts[place])
}

fn read_figures(table: &DataTable<'_>, kind: QuestionKind, parts: &[Part]) -> Result<Vec<FigureSet>> {
    if kind == QuestionKind::Untold {
        return Ok(Vec::new());
    }
    if kind == QuestionKind::Reason || table.get("for").is_some() {
        let part = find_part(&table.require("part")?, parts)?;
        return Ok(vec![FigureSet { part: part.id.clone(), columns: Vec::new(), weight: 1.0 }]);
    }
    let list = table.require("figures")?;
    let sets = list.each(|value| read_figure_set(value, parts))?;
    let count: usize = sets.iter().map(|set| set.columns.len()).sum();
    if kind == QuestionKind::Order && count != 2 {
        return Err(list.error(&text!(
            "an order is compared with another: expected two columns, not {count}",
            "順序は 2 つの列で比べます。{count} 列が指定されています"
        )));
    }
    Ok(sets)
}

fn read_figure_set(value: &Value<'_>, parts: &[Part]) -> Result<FigureSet> {
    let table = value.table(&["part", "columns", "weight"])?;
    let part = find_part(&table.require("part")?, parts)?;
    let keys: Vec<&str> = part.columns.iter().map(|column| column.head.key.as_str()).collect();
    let columns = match table.get("columns") {
        None => keys.iter().map(|key| (*key).to_owned()).collect(),
        Some(list) => list.each(|key| one_of(key, &keys))?,
    };
    let weight = table.read("weight", Value::positive)?.unwrap_or(1.0);
    Ok(FigureSet { part: part.id.clone(), columns, weight })
}

/// Reads which of the rows with this id is meant: a value for each axis of the part.
fn read_at(table: &DataTable<'_>, part: &Part) -> Result<Vec<String>> {
    if part.axes.is_empty() && table.get("at").is_none() {
        return Ok(Vec::new());
    }
    let list = table.require("at")?;
    let (given, expected) = (list.elements(), part.axes.len());
    if given.len() != expected {
        let part = &part.id;
        return Err(list
            .error(&text!(
                "`{part}` has {expected} axes, and `at` needs one value for each",
                "`{part}` の軸は {expected} 本です。`at` には軸ごとに 1 つの値を指定します"
            ))
            .remedy(text!("write `at = [\"VALUE\", …]`", "`at = [\"値\", …]` と書いてください")));
    }
    let values = |axis: usize| part.axes[axis].values.iter().map(String::as_str).collect::<Vec<_>>();
    given.iter().enumerate().map(|(axis, value)| one_of(value, &values(axis))).collect()
}

/// Finds the one cell of a part's profile that matches the text, as in `kurabe why`: part and
/// label.
fn read_cell(table: &DataTable<'_>, part: &Part) -> Result<String> {
    let value = table.require("cell")?;
    let words = value.string()?;
    let tasks = part.profile.tasks(part.profile.rules.size_bytes);
    let cells = tasks.iter().flat_map(|task| &task.cells);
    let names: Vec<String> = cells.map(|cell| format!("{} {}", cell.part, cell.label)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let fitting: Vec<&str> = names.iter().copied().filter(|name| names_cell(words, name)).collect();
    let profile = &part.profile.name;
    match fitting.as_slice() {
        [one] => Ok((*one).to_owned()),
        // One name may be the beginning of another.
        several if several.contains(&words) => Ok(words.to_owned()),
        [] => Err(value
            .error(&text!("{profile} has no test `{words}`", "{profile} に `{words}` という項目はありません"))
            .remedy(nearest(words, &names))),
        several => Err(value
            .error(&text!("`{words}` names several tests", "`{words}` に当てはまる項目が複数あります"))
            .remedy(nearest(words, several))),
    }
}

/// Reads a word that must be in a list.
fn one_of(value: &Value<'_>, words: &[&str]) -> Result<String> {
    let word = value.string()?;
    match words.iter().find(|one| is_same_value(one, word)) {
        Some(one) => Ok((*one).to_owned()),
        None => Err(value
            .error(&text!("`{word}` does not exist here", "ここに `{word}` はありません"))
            .remedy(nearest(word, words))),
    }
}

fn all_of(value: &Value<'_>, words: &[&str]) -> Result<Vec<String>> {
    value.each(|word| one_of(word, words))
}

/// Returns the row ids that every table has.
fn row_ids<'p>(parts: &[&'p Part]) -> Vec<&'p str> {
    let ids = |part: &'p Part| part.rows.iter().filter_map(|row: &StudyRow| row.id.as_deref());
    let Some((first, others)) = parts.split_first() else { return Vec::new() };
    ids(first).filter(|id| others.iter().all(|part| ids(part).any(|other| other == *id))).collect()
}

/// Reads the choices of a question from the tables.
fn read_among<'p>(parts: &[&'p Part], table: &DataTable<'_>, kind: QuestionKind) -> Result<Among> {
    let ids = row_ids(parts);
    if kind == QuestionKind::Reason {
        return Ok(Among::Rows(vec![one_of(&table.require("row")?, &ids)?]));
    }
    let rows = table.read("rows", |rows| all_of(rows, &ids))?;
    let Some(along) = table.get("along") else {
        if kind == QuestionKind::Line {
            table.require("along")?;
        }
        return Ok(Among::Rows(rows.unwrap_or_else(|| ids.iter().map(|id| (*id).to_owned()).collect())));
    };
    let axes_of = |part: &&'p Part| part.axes.iter().map(|axis| axis.parameter.as_str()).collect::<Vec<_>>();
    let mut shared = parts.first().map(axes_of).unwrap_or_default();
    shared.retain(|axis| parts.iter().all(|part| axes_of(part).contains(axis)));
    Ok(Among::Axis { parameter: one_of(&along, &shared)?, rows: rows.unwrap_or_default() })
}

/// Returns the keys of the choices.
fn choices<'a>(parts: &[&'a Part], among: &'a Among) -> Vec<&'a str> {
    match among {
        Among::Rows(rows) => rows.iter().map(String::as_str).collect(),
        Among::Axis { parameter, .. } => {
            let axes =
                parts.iter().filter_map(|part| part.axes.iter().find(|axis| axis.parameter == *parameter));
            axes.take(1).flat_map(|axis| axis.values.iter().map(String::as_str)).collect()
        }
    }
}

fn read_article(value: &Value<'_>, kind: QuestionKind, choices: &[&str]) -> Result<Article> {
    let table = value.table(&ARTICLE_KEYS)?;
    let list = |key: &str| table.read(key, |list| all_of(list, choices));
    let conclusion = match kind {
        QuestionKind::Best => match (list("best")?, list("first")?, list("last")?) {
            (Some(best), None, None) => Some(Conclusion::Best(best)),
            (None, Some(first), Some(last)) => Some(Conclusion::Groups { first, last }),
            (None, None, None) => None,
            _ => {
                return Err(value.error(&text!(
                    "give `best`, or `first` and `last`",
                    "`best`、または `first` と `last` の両方を指定してください"
                )));
            }
        },
        QuestionKind::Keeps => match (list("keep")?, list("break")?) {
            (None, None) => None,
            (keep, break_it) => Some(Conclusion::Keeps {
                keep: keep.unwrap_or_default(),
                break_it: break_it.unwrap_or_default(),
            }),
        },
        QuestionKind::Change => {
            let of = |key: &str| table.read(key, |is| is.choice(&BECOMES));
            of("is")?.map(Conclusion::Becomes).or(of("is_not")?.map(Conclusion::Never))
        }
        QuestionKind::Order => table.read("is", |is| is.choice(&GOES))?.map(Conclusion::Goes),
        QuestionKind::Line => {
            table.read("is", |is| is.choice(&[("line", true), ("bent", false)]))?.map(Conclusion::OnLine)
        }
        QuestionKind::Reason => table
            .read("reason", |list| list.each(|word| word.choice(&LimitKind::REASONS)))?
            .map(Conclusion::Reason),
        QuestionKind::Untold => None,
    };
    Ok(Article { says: table.require("says")?.text()?, conclusion, why: table.read("why", Value::text)? })
}

const BECOMES: [(&str, Becomes); 3] =
    [("better", Becomes::Better), ("same", Becomes::Same), ("worse", Becomes::Worse)];
const GOES: [(&str, Goes); 3] =
    [("together", Goes::Together), ("opposite", Goes::Opposite), ("neither", Goes::Neither)];
