//! Default output of `blkparse`.
//!
//! Format: blkparse(1), `%D %2c %8s %5T.%9t %5p %2a %3d` and then, depending on the action, ` %S + %n
//! [%C]`: device, CPU, number, time in s, process, action, letters, sector, sectors, program. A flush
//! without data has no sector; a command that is neither a read nor a write has its bytes there. The
//! statistics at the end begin with `CPU0 (`. blkparse sorts by time.
//!
//! Only one action is used: `Q`, as queued, or `D`, as issued to the device. A flush before a write
//! becomes a sync before it.

use super::builder::{SECTOR_BYTES, TraceBuilder, discards, operation, sync};
use super::lines::{LineReader, TraceLine};
use crate::import::digits;
use kurabe_core::trace::{BlockLetters, BlockVerb};
use kurabe_core::{Result, text, workload::OpKind};

/// Action of an operation that was queued.
pub(super) const QUEUED: &str = "Q";
/// Action of an operation that was issued to the device.
pub(super) const ISSUED: &str = "D";

/// Actions that blkparse prints (blkparse(1), "trace actions").
const ACTIONS: [&str; 19] =
    ["A", "B", "C", "D", "F", "G", "I", "M", "P", "Q", "R", "S", "T", "U", "UT", "X", "m", "W", "Z"];

/// Returns whether a line looks like one of blkparse.
pub(super) fn fits(line: &str) -> bool {
    let mut fields = line.split_whitespace();
    let device = fields.next().and_then(|word| word.split_once(','));
    device.is_some_and(|(major, minor)| digits(major) && digits(minor))
        && fields.next().is_some_and(digits)
        && fields.next().is_some_and(digits)
        && fields.next().is_some_and(|time| super::lines::decimal_ns(time, 1).is_some() && time.contains('.'))
}

/// Reads the operations at one point. Without a point, reads them as queued, or as issued if no line
/// shows a queued operation: a text that was filtered to `D`.
pub(super) fn read(
    lines: &mut LineReader<'_>,
    builder: &mut TraceBuilder,
    point: Option<&str>,
) -> Result<()> {
    let mut action = point.unwrap_or(ISSUED);
    // An incomplete line can be the last one of an excerpt. Before another line, it is damage.
    let mut cut = None;
    let (mut excerpts, mut names_programs) = (0, false);
    begin(builder, action);
    while let Some(line) = lines.next()?.filter(|line| !is_statistics(line.text)) {
        if is_excerpt_mark(line.text) {
            excerpts += 1;
            cut = None;
            continue;
        }
        if let Some(error) = cut.take() {
            return Err(error);
        }
        let may_be_queued = point.is_none() && action == ISSUED;
        if may_be_queued && line.text.split_whitespace().nth(5) == Some(QUEUED) {
            action = QUEUED;
            *builder = TraceBuilder::new(builder.most_operations);
            begin(builder, action);
        }
        if is_cut(line.text, names_programs) {
            excerpts += 1;
            cut = Some(line.miscounted(line.text.split_whitespace().count(), WHOLE_FIELDS));
            continue;
        }
        names_programs |= line.text.contains('[');
        read_line(line, builder, action)?;
    }
    for _ in 0..excerpts {
        builder
            .leave_out(text!("truncated lines, or lines that mark an excerpt", "途中で切れた行と省略の印"))?;
    }
    Ok(())
}

/// The vertical ellipsis, which the program's own font does not contain.
const VERTICAL_ELLIPSIS: u32 = 0x22ee;

/// Returns whether a line marks skipped lines: `...`, `……`, `[...]`, `(snip)`.
pub(crate) fn is_excerpt_mark(line: &str) -> bool {
    let line = line.trim();
    let word = line.trim_matches(|c: char| !c.is_alphanumeric());
    if ["snip", "snipped", "cut", "omitted", "略", "中略"].contains(&word) {
        return word.len() < line.len();
    }
    !line.is_empty() && line.chars().all(|c| ".…[]()<> ".contains(c) || u32::from(c) == VERTICAL_ELLIPSIS)
}

/// Number of fields of a line with its program.
const WHOLE_FIELDS: usize = 11;

/// Returns whether a line ends before its operation does. If other lines name their programs, a line
/// without one may have lost digits.
fn is_cut(line: &str, names_programs: bool) -> bool {
    let fields: Vec<&str> = line.split_whitespace().collect();
    match fields.get(7..) {
        None => fields.len() < 7,
        Some([sector] | [sector, "+"]) => digits(sector) && matches!(fields[5], QUEUED | ISSUED),
        Some([_, "+", _]) => names_programs,
        Some(_) => false,
    }
}

fn begin(builder: &mut TraceBuilder, action: &str) {
    builder.begin(if action == QUEUED { "blkparse-queued" } else { "blkparse-issued" });
}

/// Returns whether a line is `CPU0 (sda):`, or `Total (sda):` with a single CPU.
fn is_statistics(line: &str) -> bool {
    let named = line.strip_prefix("CPU").map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    named.or_else(|| line.strip_prefix("Total")).is_some_and(|rest| rest.starts_with(" ("))
}

fn read_line(line: TraceLine<'_>, builder: &mut TraceBuilder, point: &str) -> Result<()> {
    let fields: Vec<&str> = line.text.split_whitespace().collect();
    let [device, _cpu, _number, time, _process, action, letters, rest @ ..] = &fields[..] else {
        return Err(line.miscounted(fields.len(), 7));
    };
    if !fits(line.text) {
        return Err(line.wrong(device, &text!("the start of a line of blkparse", "blkparse の行の先頭")));
    }
    if !ACTIONS.contains(action) {
        return Err(line.wrong(action, &text!("an action of blkparse", "blkparse のアクション")));
    }
    if *action != point {
        return Ok(());
    }
    let at_ns = line.time_ns(time, 1_000_000_000)?;
    let Some(parsed) = BlockLetters::parse(letters) else {
        return Err(line.wrong(letters, &text!("a kind of operation", "操作の種類")));
    };
    let place = match rest {
        [sector, "+", sectors, ..] => Some((*sector, *sectors)),
        _ => None,
    };
    // Skipped operations also define their unit.
    builder.unit(line, device)?;
    push(line, builder, device, at_ns, (parsed, place))
}

fn push(
    line: TraceLine<'_>,
    builder: &mut TraceBuilder,
    unit: &str,
    at_ns: u64,
    (letters, place): (BlockLetters, Option<(&str, &str)>),
) -> Result<()> {
    let kind = match letters.verb {
        BlockVerb::Read => OpKind::Read,
        BlockVerb::Write => OpKind::Write,
        BlockVerb::Flush => return builder.push(line, unit, sync(at_ns)),
        BlockVerb::Other if letters.flush_before && place.is_none() => {
            return builder.push(line, unit, sync(at_ns));
        }
        BlockVerb::Discard => return builder.leave_out(discards()),
        BlockVerb::Other => return builder.leave_out(other_commands()),
    };
    if letters.flush_before {
        builder.push(line, unit, sync(at_ns))?;
    }
    let Some((sector, sectors)) = place else {
        return if letters.flush_before { Ok(()) } else { builder.leave_out(other_commands()) };
    };
    let extent = line.extent((sector, SECTOR_BYTES), (sectors, SECTOR_BYTES))?;
    if letters.flush_before && extent.1 == 0 {
        return Ok(());
    }
    if letters.forced {
        builder.leave_out(text!(
            "forced unit access (FUA) of writes, which are recorded as plain writes",
            "書き込みの FUA 指定(書き込み自体は通常の書き込みとして残します)"
        ))?;
    }
    builder.push(line, unit, operation(at_ns, kind, extent))
}

fn other_commands() -> kurabe_core::Text {
    text!("commands that are neither reads nor writes", "読み書き以外のコマンド")
}
