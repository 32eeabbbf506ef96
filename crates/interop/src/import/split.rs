//! Splitting of a text into results: assignment of lines to tools.
//!
//! The model: a text can be a page, a mail or the log of a shell, with results of several tools one
//! after the other, and other words between them. Each importer of texts decides whether a line is its
//! own, or whether a result of its tool begins there. Lines between two lines of one tool belong to it
//! as well. A line of another tool, or the start of another result, ends the block. JSON objects belong
//! to the tool whose keys they contain. Each block is read separately, so that no result takes figures
//! or the name of another.

use super::clean::cleaned;
use super::input::cut;
use super::json_tree::object;
use super::parts::cut_at;
use super::room;
use super::shapes::{LineMark, LineShapes};
use super::unread;
use super::words::digits;
use super::{Importer, Input};
use std::borrow::Cow;

/// How an importer recognizes its input.
pub(crate) enum Recognizer {
    /// It sees the complete file.
    File,
    /// By the shapes of lines.
    Shapes(LineShapes),
    /// By a function that returns the role of a line, if shapes are not sufficient.
    Lines(fn(&str) -> LineMark),
    /// By the keys of a JSON object, which must contain all of them.
    Object(&'static [&'static str]),
}

/// A text in lines, and its blocks.
pub(super) struct Blocks<'a> {
    whole: &'a Input<'a>,
    lines: Vec<(usize, Cow<'a, str>)>,
    /// Start of each block.
    starts: Vec<BlockStart>,
}

/// Start of a block.
struct BlockStart {
    importer: u8,
    /// Line by which it was recognized.
    at: usize,
    /// Line of the command above it, or the same line.
    from: usize,
}

/// A part of a text, and its importer.
pub(super) struct TextPart<'a> {
    pub(super) importer: &'static Importer,
    /// Line of the file by which it was recognized.
    pub(super) line: usize,
    pub(super) input: Input<'a>,
}

/// Memory in bytes for a line of a text.
const LINE_BYTES: usize =
    size_of::<(usize, Cow<'_, str>)>() + size_of::<Option<(u8, LineMark)>>() + size_of::<usize>();

impl<'a> Blocks<'a> {
    /// Returns the blocks of a text in their order. Returns none if the file is not text, if no
    /// importer recognizes a line, or if it has too many lines.
    pub(super) fn of(whole: &'a Input<'a>, importers: &'static [Importer]) -> Self {
        let lines = || {
            whole
                .whole_lines()
                .flat_map(|(number, line)| cleaned(line).into_iter().map(move |line| (number, line)))
        };
        let mut blocks = Self { whole, lines: Vec::new(), starts: Vec::new() };
        // A large text without recognized lines is not stored a second time as lines.
        if !lines().any(|(_, line)| begins_object(&line) || owner(&line, importers).is_some()) {
            return blocks;
        }
        let count = lines().count();
        if !room::take_lines(count, LINE_BYTES) {
            return blocks;
        }
        blocks.lines.reserve_exact(count);
        for (number, line) in lines() {
            if let Cow::Owned(line) = &line {
                room::take(line.capacity().max(16) + 16);
            }
            blocks.lines.push((number, line));
        }
        let mut free_from = 0;
        for (at, owner) in owners(&blocks.lines, importers).iter().enumerate() {
            let Some((importer, mark)) = *owner else { continue };
            if mark == LineMark::Begins || blocks.starts.last().is_none_or(|last| last.importer != importer) {
                let tool = importers[usize::from(importer)].tool;
                let above = at.saturating_sub(COMMAND_ABOVE).max(free_from);
                let command = (above..at).rev().find(|line| is_command(&blocks.lines[*line].1, tool));
                blocks.starts.push(BlockStart { importer, at, from: command.unwrap_or(at) });
                room::take(2 * size_of::<BlockStart>());
            }
            free_from = at + 1;
        }
        blocks
    }

    /// Returns the blocks, each created on demand.
    pub(super) fn iter(&self, importers: &'static [Importer]) -> impl Iterator<Item = TextPart<'_>> {
        let ends = self.starts.iter().skip(1).map(|next| next.from).chain([self.lines.len()]);
        self.starts.iter().zip(ends).enumerate().map(|(place, (BlockStart { importer, at, from }, end))| {
            let line = self.lines[*at].0;
            // The text before the first result can describe it.
            let start = if place == 0 { 0 } else { *from };
            let lines = self.lines[start..end].iter().map(|(number, line)| (*number, line.as_ref()));
            TextPart { importer: &importers[usize::from(*importer)], line, input: self.whole.part(lines) }
        })
    }
}

/// Number of lines above a result in which the command of its tool is searched.
const COMMAND_ABOVE: usize = 40;

/// Returns the parts of a text that begin with commands of a tool, each with the output of one process. Returns
/// none if the text has fewer than two commands.
pub(super) fn at_commands<'i>(input: &'i Input<'_>, tool: &str) -> Vec<Input<'i>> {
    let name = tool.split(' ').next().unwrap_or(tool);
    let is_start = |line: &str| line.contains(name) && is_command(line, tool);
    if input.lines().filter(|(_, line)| is_start(line)).take(2).count() < 2 {
        return Vec::new();
    }
    let lines: Vec<(usize, &str)> = input.lines().collect();
    let starts = (0..lines.len()).filter(|at| is_start(lines[*at].1));
    // The text before the first command belongs to it.
    let starts: Vec<usize> = std::iter::once(0).chain(starts.skip(1)).collect();
    cut_at(&lines, &starts).into_iter().map(|part| input.part(part.iter().copied())).collect()
}

/// Returns whether a line is a command of a tool: with a prompt, or its name with options or numbers.
fn is_command(line: &str, tool: &str) -> bool {
    let name = tool.split(' ').next().unwrap_or(tool);
    let is_tool = |word: &str| word.rsplit('/').next().is_some_and(|word| word.eq_ignore_ascii_case(name));
    let line = cut(line.trim());
    if let Some(Some(command)) = unread::prompt(line) {
        return command.split(' ').next().is_some_and(is_tool);
    }
    let mut words = line.split_whitespace().filter(|word| *word != "sudo");
    let is_named = words.next().is_some_and(is_tool);
    let mut arguments = words.clone();
    is_named
        && (words.any(|word| word.starts_with('-') || word.contains('='))
            || tool == name && arguments.all(digits))
}

/// Returns the importer of each line by its index in the list, and the role of the line.
fn owners(lines: &[(usize, Cow<'_, str>)], importers: &[Importer]) -> Vec<Option<(u8, LineMark)>> {
    let mut owners = vec![None; lines.len()];
    let mut objects = Objects::of(lines);
    let mut at = 0;
    while at < lines.len() {
        if let Some((end, text)) = objects.at(at) {
            let owner = (0_u8..).zip(importers).find(|(_, importer)| match importer.claim {
                Recognizer::Object(words) => words.iter().all(|word| text.contains(word)),
                _ => false,
            });
            owners[at..end].fill(owner.map(|(owner, _)| (owner, LineMark::Belongs)));
            at = end;
            continue;
        }
        owners[at] = owner(&lines[at].1, importers);
        at += 1;
    }
    room::give_back(objects.text.len());
    owners
}

/// Returns the importer of a line outside of objects.
pub(super) fn owner(line: &str, importers: &[Importer]) -> Option<(u8, LineMark)> {
    let line = cut(line.trim());
    (0_u8..).zip(importers).filter(|_| !line.is_empty()).find_map(|(place, importer)| {
        let mark = match &importer.claim {
            Recognizer::Shapes(shapes) => shapes.mark(line),
            Recognizer::Lines(mark) => mark(line),
            Recognizer::File | Recognizer::Object(_) => LineMark::None,
        };
        (mark != LineMark::None).then_some((place, mark))
    })
}

/// Returns a line as it was written, without the text around it.
pub(super) fn cleaned_lines(line: &str) -> impl Iterator<Item = Cow<'_, str>> {
    cleaned(line).into_iter()
}

fn begins_object(line: &str) -> bool {
    line.trim_start().starts_with('{')
}

/// The JSON objects in a text that begin at the start of a line.
struct Objects {
    text: String,
    /// Offset of each line in the text.
    starts: Vec<usize>,
    /// Number of objects that could not be parsed.
    failed: u32,
}

/// Maximum number of damaged objects, or other text such as shell code, in one text. Each costs a scan
/// of the rest of the text.
const FAILED_MOST: u32 = 64;

impl Objects {
    fn of(lines: &[(usize, Cow<'_, str>)]) -> Self {
        let some = lines.iter().any(|(_, line)| begins_object(line));
        let length = if some { lines.iter().map(|(_, line)| line.len() + 1).sum() } else { 0 };
        room::take(length);
        let (mut text, mut starts) = (String::with_capacity(length), Vec::new());
        starts.reserve_exact(if some { lines.len() } else { 0 });
        for (_, line) in lines.iter().filter(|_| some) {
            starts.push(text.len());
            text += line;
            text.push('\n');
        }
        Self { text, starts, failed: 0 }
    }

    /// Returns the line after the consecutive objects that begin at a line, and their text.
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
                    // If the text ends within an object, it is the last one.
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
