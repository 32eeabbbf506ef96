//! Parts of a text that no importer reads, such as the output of another tool between two results.
//!
//! The model: such a part begins at a line by which its tool is identified (`signatures`), or at the
//! prompt of a command whose output has figures of storage. It ends before the next line of a result,
//! of another such part, or of a prompt. Only texts as people paste them are searched.

use super::input::Input;
use super::{parts, signatures};
use kurabe_core::record::Notice;
use kurabe_core::text;

/// Maximum length in bytes of a text that is searched. Longer ones are files of a program.
const LONGEST: usize = 1 << 20;
/// Number of parts that a note lists.
const NAMED: usize = 8;
/// Words of lines with figures of storage.
const UNITS: [&str; 8] = ["B/s", "B/sec", "iops", "IOPS", "ops/s", "latency", " ms", " us"];

/// A part: the name of its tool, and its first and last line in the file.
#[derive(Debug, PartialEq)]
struct UnreadPart {
    name: String,
    first: usize,
    last: usize,
}

/// The questions that a search for parts asks about the importers.
pub(super) struct Importers {
    /// Returns whether no importer owns a line.
    pub(super) is_message: fn(&str) -> bool,
    /// Returns whether an importer reads the output of a command.
    pub(super) is_read: fn(&str) -> bool,
}

/// Returns the notes on parts that were not read. A file that one of `tools` wrote can also have lines in a
/// form that only identifies the tool.
pub(super) fn notices(input: &Input<'_>, importers: &Importers, tools: &[String]) -> Vec<Notice> {
    let mut parts = parts(input, importers);
    parts.retain(|part| !tools.iter().any(|tool| part.name.starts_with(&**tool)));
    let more = parts.len().saturating_sub(NAMED);
    let mut notices: Vec<Notice> = parts
        .iter()
        .take(NAMED)
        .map(|UnreadPart { name, first, last }| {
            let lines = if first == last {
                text!("line {first}", "{first} 行目")
            } else {
                text!("lines {first} to {last}", "{first} 〜 {last} 行目")
            };
            parts::notice(text!(
                "{lines}: output of {name}, not read",
                "{lines}: {name} の出力のため読んでいません"; lines
            ))
        })
        .collect();
    if more > 0 {
        notices.push(parts::notice(text!(
            "{more} more parts of this file are output of tools that kurabe does not read",
            "このほかに、kurabe が読まないツールの出力が {more} か所あります"
        )));
    }
    notices
}

fn parts(input: &Input<'_>, importers: &Importers) -> Vec<UnreadPart> {
    let Some(text) = input.text().filter(|text| text.len() <= LONGEST) else { return Vec::new() };
    let marks = signatures::line_marks(text);
    let mut parts: Vec<UnreadPart> = Vec::new();
    // The open part, and whether it is known to be one.
    let mut open: Option<(UnreadPart, bool)> = None;
    let mut close = |open: &mut Option<(UnreadPart, bool)>| {
        parts.extend(open.take().filter(|(_, is_sure)| *is_sure).map(|(part, _)| part));
    };
    for (number, line) in input.whole_lines() {
        let tool = marks.tool(line);
        if let Some(tool) = tool {
            match &mut open {
                Some((part, is_sure)) if part.name == tool || !*is_sure => {
                    (part.name, *is_sure) = (tool.to_owned(), true);
                    part.last = number;
                }
                _ => {
                    close(&mut open);
                    open = Some((UnreadPart { name: tool.to_owned(), first: number, last: number }, true));
                }
            }
        } else if let Some(command) = prompt(line) {
            close(&mut open);
            open = command
                .map(|name| (UnreadPart { name: name.to_owned(), first: number + 1, last: number }, false));
        } else if line.trim().starts_with("```") || !(importers.is_message)(line) {
            close(&mut open);
            open = None;
        } else if let Some((part, is_sure)) = open.as_mut().filter(|_| !line.trim().is_empty()) {
            part.last = number;
            let has_digits = line.contains(|c: char| c.is_ascii_digit());
            // The lines above the figures of a tool that is read belong to its result.
            let is_result = has_digits && !(importers.is_read)(&part.name);
            *is_sure |= is_result && UNITS.iter().any(|unit| line.contains(unit));
        }
    }
    close(&mut open);
    parts
}

/// Commands before the name of a tool.
const BEFORE_TOOL: [&str; 6] = ["sudo", "time", "env", "nice", "doas", "watch"];
/// Tools whose first argument names a command.
const WITH_COMMANDS: [&str; 5] = ["zpool", "zfs", "nvme", "btrfs", "mdadm"];

/// Returns the command after a shell's prompt. `Some(None)` for a prompt alone.
pub(super) fn prompt(line: &str) -> Option<Option<String>> {
    let line = line.trim();
    let is_place = |words: &str| words.contains('@') && !words.contains(' ') && words.len() < 100;
    let after_place = ["$ ", "# "].iter().find_map(|sign| {
        let (place, command) = line.split_once(sign)?;
        // `[user@host folder]# `
        let bracketed = place.strip_prefix('[').and_then(|place| place.strip_suffix(']'));
        let place = bracketed.map_or(place, |place| place.split(' ').next().unwrap_or(place));
        is_place(place).then_some(command)
    });
    let is_bare = line.ends_with(['$', '#'])
        && is_place(line.trim_start_matches('[').trim_end_matches(['$', '#', ']', '~']));
    let command =
        ["$ ", "\u{276f} ", "\u{279c} "].iter().find_map(|sign| line.strip_prefix(sign)).or(after_place);
    if command.is_none() && is_bare {
        return Some(None);
    }
    let mut words = command?.split_whitespace().filter(|word| !word.starts_with('-') && !word.contains('='));
    let tool =
        words.find(|word| !BEFORE_TOOL.contains(word)).map(|word| word.rsplit('/').next().unwrap_or(word));
    Some(tool.filter(|tool| tool.chars().all(|c| c.is_ascii_alphanumeric() || "-_.+".contains(c))).map(
        |tool| {
            let command = words.next().filter(|word| {
                WITH_COMMANDS.contains(&tool)
                    && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
            });
            command.map_or(tool.to_owned(), |command| format!("{tool} {command}"))
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_names_its_command() {
        for (line, expected) in [
            ("$ sudo smartctl -a /dev/sda", Some("smartctl")),
            ("root@nas:~# zpool status tank", Some("zpool status")),
            ("[root@host ~]# /usr/sbin/nvme list", Some("nvme list")),
            ("user@host:/srv$ LANG=C time lsblk -o NAME", Some("lsblk")),
            ("\u{276f} bench", Some("bench")),
        ] {
            assert_eq!(prompt(line), Some(expected.map(str::to_owned)), "{line}");
        }
        assert_eq!(prompt("user@host:~$"), Some(None));
        for line in ["Cost: 5 $ per month", "# a heading", "me@example.com wrote: 5 # 6", "sda 5 $ 6"] {
            assert_eq!(prompt(line), None, "{line}");
        }
    }

    #[test]
    fn parts_of_other_tools_are_named_with_their_lines() {
        let text = "$ hdparm -t /dev/sda\n\n/dev/sda:\n\
                    \x20Timing buffered disk reads: 456 MB in  3.01 seconds = 151.45 MB/sec\n\
                    $ smbench run\nread 512.5 MB/s\nwrite 4 MB/s\n\n$ cd /\n$ ls\na 1\n\
                    NAME   MAJ:MIN RM   SIZE RO TYPE MOUNTPOINT\nsda 8:0 0 1G 0 disk\n\n$ date\n";
        let input = Input::new("a.txt", text.as_bytes());
        let named: Vec<(String, usize, usize)> = parts(&input, &super::super::OF_TEXTS)
            .into_iter()
            .map(|part| (part.name, part.first, part.last))
            .collect();
        let expected = [("smbench", 6, 7), ("lsblk", 11, 13)];
        assert_eq!(named, expected.map(|(name, first, last)| (name.to_owned(), first, last)));
        let run = &crate::import("a.txt", text.as_bytes()).unwrap()[0];
        let remarks: Vec<&str> = run.notices.iter().map(|notice| notice.text.en.as_str()).collect();
        assert!(remarks.contains(&"lines 6 to 7: output of smbench, not read"), "{remarks:?}");
    }
}
