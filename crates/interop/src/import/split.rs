//! The results in a text: who wrote which lines.
//!
//! The model: a text may be a page, a mail or the log of a shell, with results of several tools, one after another, and other
//! words between them. Each importer of texts says of a line that it is its own, or that a result of its tool begins there.
//! What lies between two lines of one tool is its too; a line of another tool, or the beginning of another result, ends
//! the block. Objects of JSON belong to the tool whose keys they hold. Each block is read by itself, so that no result takes
//! the figures or the name of another.

use super::clean::cleaned;
use super::json_tree::object;
use super::shapes::{LineMark, LineShapes};
use super::{Importer, Input};
use std::borrow::Cow;

/// How an importer knows what is its own.
pub(crate) enum Recognizer {
    /// It sees the file whole.
    File,
    /// By the shapes of lines.
    Shapes(LineShapes),
    /// By what a line is to it, where shapes cannot say so.
    Lines(fn(&str) -> LineMark),
    /// By keys that an object of JSON holds, all of them.
    Object(&'static [&'static str]),
}

/// A part of a text, and who reads it.
pub(super) struct TextPart<'a> {
    pub(super) importer: &'static Importer,
    /// The line of the file that it was known by first.
    pub(super) line: usize,
    pub(super) input: Input<'a>,
}

/// The blocks of a text in their order; none if it is no text, or nobody knows a line.
pub(super) fn split<'a>(whole: &'a Input<'_>, importers: &'static [Importer]) -> Vec<TextPart<'a>> {
    let lines =
        || whole.lines().flat_map(|(number, line)| cleaned(line).into_iter().map(move |line| (number, line)));
    // A large text of which nobody knows a line is not held a second time, in lines.
    if !lines().any(|(_, line)| begins_object(&line) || owner(&line, importers).is_some()) {
        return Vec::new();
    }
    let lines: Vec<(usize, Cow<'_, str>)> = lines().collect();
    let owners = owners(&lines, importers);
    let mut starts: Vec<(usize, usize)> = Vec::new();
    for (at, owner) in owners.iter().enumerate() {
        let Some((importer, mark)) = owner else { continue };
        if *mark == LineMark::Begins || starts.last().is_none_or(|(_, last)| last != importer) {
            starts.push((at, *importer));
        }
    }
    let ends = starts.iter().skip(1).map(|(at, _)| *at).chain([lines.len()]);
    let blocks = starts.iter().zip(ends).enumerate().map(|(place, ((start, importer), end))| {
        let line = lines[*start].0;
        // What stands before the first result may tell of it.
        let start = if place == 0 { 0 } else { *start };
        let lines: Vec<(usize, &str)> =
            lines[start..end].iter().map(|(number, line)| (*number, line.as_ref())).collect();
        TextPart { importer: &importers[*importer], line, input: whole.part(&lines) }
    });
    blocks.collect()
}

/// The importer of each line by its place in the list, and what the line is to it.
fn owners(lines: &[(usize, Cow<'_, str>)], importers: &[Importer]) -> Vec<Option<(usize, LineMark)>> {
    let mut owners = vec![None; lines.len()];
    let mut objects = Objects::of(lines);
    let mut at = 0;
    while at < lines.len() {
        if let Some((end, text)) = objects.at(at) {
            let owner = importers.iter().position(|importer| match importer.claim {
                Recognizer::Object(words) => words.iter().all(|word| text.contains(word)),
                _ => false,
            });
            owners[at..end].fill(owner.map(|owner| (owner, LineMark::Belongs)));
            at = end;
            continue;
        }
        owners[at] = owner(&lines[at].1, importers);
        at += 1;
    }
    owners
}

/// The importer of a line that is no part of an object.
fn owner(line: &str, importers: &[Importer]) -> Option<(usize, LineMark)> {
    let line = line.trim();
    importers.iter().enumerate().filter(|_| !line.is_empty()).find_map(|(place, importer)| {
        let mark = match &importer.claim {
            Recognizer::Shapes(shapes) => shapes.mark(line),
            Recognizer::Lines(mark) => mark(line),
            Recognizer::File | Recognizer::Object(_) => LineMark::None,
        };
        (mark != LineMark::None).then_some((place, mark))
    })
}

fn begins_object(line: &str) -> bool {
    line.trim_start().starts_with('{')
}

/// The objects of JSON in a text that begin at the start of a line.
struct Objects {
    text: String,
    /// Where each line begins in the text.
    starts: Vec<usize>,
    /// Objects that were begun and are none.
    failed: u32,
}

/// Objects that are damaged or no JSON at all, as of a shell, in one text; each costs a look at the rest of the text.
const FAILED_MOST: u32 = 64;

impl Objects {
    fn of(lines: &[(usize, Cow<'_, str>)]) -> Self {
        let (mut text, mut starts) = (String::new(), Vec::with_capacity(lines.len()));
        let some = lines.iter().any(|(_, line)| begins_object(line));
        for (_, line) in lines.iter().filter(|_| some) {
            starts.push(text.len());
            text += line;
            text.push('\n');
        }
        Self { text, starts, failed: 0 }
    }

    /// The line after the objects that begin at a line, one right behind the other, and their text.
    fn at(&mut self, line: usize) -> Option<(usize, &str)> {
        let start = *self.starts.get(line)?;
        if self.failed >= FAILED_MOST {
            return None;
        }
        let whole = &self.text[start..];
        let mut rest = whole;
        loop {
            match object(rest) {
                Some(Ok((_, after))) => rest = after,
                Some(Err(error)) => {
                    // Nothing but this one follows where the text ends in it.
                    self.failed = if error.is_eof() { FAILED_MOST } else { self.failed + 1 };
                    return Some((line + 1, whole));
                }
                None if rest.len() == whole.len() => return None,
                None => break,
            }
        }
        let end = self.text.len() - rest.len();
        let next = self.starts.partition_point(|start| *start < end);
        Some((next, &self.text[start..end]))
    }
}
