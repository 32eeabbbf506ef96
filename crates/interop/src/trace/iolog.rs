//! fio's I/O logs, versions 2 and 3.
//!
//! Format: fio's HOWTO, "Trace file format v2" and "v3", and iolog.c. A line is a file name and an
//! action, with an offset and a length unless the action concerns the file itself. Version 3 puts a
//! time in µs before them (the HOWTO gives no unit; iolog.c writes and reads µs). Names contain no
//! spaces.
//!
//! Waits of version 2 are skipped: the HOWTO defines their number as µs since the previous wait,
//! iolog.c as ms since the start, so their meaning is ambiguous.

use super::builder::{TraceBuilder, discards, operation, sync};
use super::lines::{LineReader, TraceLine};
use kurabe_core::{Result, text, trace::Trace, workload::OpKind};

/// Duration in ns of a time unit in version 3.
const TIME_UNIT_NS: u64 = 1000;
/// Maximum length of a name in fio.
const NAME_LONGEST: usize = 255;

pub(super) fn read(lines: &mut LineReader<'_>, builder: &mut TraceBuilder) -> Result<()> {
    let Some(first) = lines.next()? else { return Ok(()) };
    let timed = match first.text.trim_end() {
        "fio version 2 iolog" => false,
        "fio version 3 iolog" => true,
        other => {
            let versions =
                text!("a supported version of fio's log (2, 3)", "対応している fio ログの版(2、3)");
            return Err(first.wrong(other, &versions));
        }
    };
    builder.trace.timed = timed;
    builder.trace.format = if timed { "fio-iolog-3" } else { "fio-iolog-2" }.to_owned();
    lines.each(|line| read_line(line, timed, builder))
}

fn read_line(line: TraceLine<'_>, timed: bool, builder: &mut TraceBuilder) -> Result<()> {
    let mut fields: Vec<&str> = line.text.split_whitespace().collect();
    let time = if timed { Some(fields.remove(0)) } else { None };
    let at_ns = time.map_or(Ok(0), |time| line.time_ns(time, TIME_UNIT_NS))?;
    match fields[..] {
        [name, action] => match action {
            "add" | "open" | "close" => builder.unit(line, name).map(|_| ()),
            other => Err(line.wrong(other, &text!("add, open or close", "add・open・close のどれか"))),
        },
        [name, action, offset, length] => {
            let extent = line.extent((offset, 1), (length, 1))?;
            let kind = match action {
                "read" => OpKind::Read,
                "write" => OpKind::Write,
                "sync" | "datasync" => return builder.push(line, name, sync(at_ns)),
                "trim" => return builder.leave_out(discards()),
                "wait" if !timed => {
                    return builder.leave_out(text!(
                        "waits, whose unit differs between fio's manual and its code",
                        "待ち時間(単位の説明が fio の文書とプログラムで食い違うもの)"
                    ));
                }
                other => return Err(line.wrong(other, &text!("a fio action", "fio の操作"))),
            };
            builder.push(line, name, operation(at_ns, kind, extent))
        }
        _ => Err(line.miscounted(fields.len() + usize::from(timed), 4 + usize::from(timed))),
    }
}

/// Returns a trace as fio's log of version 3, for `fio --read_iolog`. Times are truncated to whole µs,
/// the unit of that format.
///
/// fio opens the units' names as files. To replay the log elsewhere, use `--replay_redirect` of fio. In
/// names, spaces become underscores, and names are cut at 255 bytes, because fio reads no others.
pub fn write_iolog_v3(trace: &Trace) -> String {
    use std::fmt::Write;
    let names: Vec<String> = trace.units.iter().map(|name| file_name(name)).collect();
    let mut out = String::from("fio version 3 iolog\n");
    // Writing to a string does not fail.
    for action in ["add", "open"] {
        for name in &names {
            let _ = writeln!(out, "0 {name} {action}");
        }
    }
    for operation in &trace.operations {
        let action = operation.kind.word();
        let name = names.get(operation.unit as usize).map_or("unknown", String::as_str);
        let (at_us, offset, length) =
            (operation.at_ns / TIME_UNIT_NS, operation.offset_bytes, operation.length_bytes);
        let _ = writeln!(out, "{at_us} {name} {action} {offset} {length}");
    }
    let end_us = trace.operations.last().map_or(0, |last| last.at_ns / TIME_UNIT_NS);
    for name in &names {
        let _ = writeln!(out, "{end_us} {name} close");
    }
    out
}

fn file_name(name: &str) -> String {
    let mut made: String =
        name.chars().map(|c| if c.is_whitespace() || c.is_control() { '_' } else { c }).collect();
    while made.len() > NAME_LONGEST {
        made.pop();
    }
    if made.is_empty() { "unnamed".to_owned() } else { made }
}
