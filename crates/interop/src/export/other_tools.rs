//! Command lines of DiskSpd and elbencho that repeat a workload, or the reason why they cannot.
//!
//! Sources: microsoft/diskspd c361eed6, `CmdLineParser.cpp` (usage); breuner/elbencho d085b194,
//! `docs/usage/help-all.md`.

use super::facts::single_block_bytes;
use kurabe_core::quantity::{GIB, KIB, MIB};
use kurabe_core::workload::{Data, EndSync, Pattern, ThreadShare, TimeCheck, Workload};
use kurabe_core::{Text, text};

/// Formats a size as both tools write it: `4K`, `1M`, `4096`.
fn size(bytes: u64) -> String {
    for (factor, unit) in [(GIB, "G"), (MIB, "M"), (KIB, "K")] {
        if bytes >= factor && bytes.is_multiple_of(factor) {
            return format!("{}{unit}", bytes / factor);
        }
    }
    bytes.to_string()
}

/// Returns a feature of the workload that neither tool supports.
fn flaw_of_both(workload: &Workload) -> Option<Text> {
    let syncs = workload.sync.every_writes.is_some() || workload.sync.at_end != EndSync::None;
    Some(match workload.pattern {
        _ if single_block_bytes(workload).is_none() => {
            text!("it supports a single block size", "ブロックサイズは一度に 1 つしか指定できません")
        }
        _ if workload.rewrite_every_reads.is_some() => {
            text!("it cannot write back the blocks that it read", "読んだ場所への書き戻しができません")
        }
        _ if workload.trims.is_some() => text!("it cannot discard blocks", "破棄(TRIM)ができません"),
        _ if workload.open_loop.is_some() => text!(
            "it has limits of rate, but no open loop",
            "速度の上限は指定できますが、開ループはできません"
        ),
        _ if workload.writes() && syncs => {
            text!("it has no fsync among its operations", "操作の間に fsync を入れられません")
        }
        _ if workload.end.time_check != TimeCheck::Always => text!(
            "it checks the time continuously, not after a pass or a number of operations",
            "1 周ごと・一定回数ごとの時間確認ができません"
        ),
        Pattern::Permutation => {
            text!("it has no random order without repetition", "重複のないランダム順ができません")
        }
        Pattern::Zipf { .. } => text!("it has no Zipf distribution", "Zipf 分布がありません"),
        _ if workload.plain_order().is_none() => text!(
            "it does not support this pattern of offsets, sizes and pauses",
            "このような位置・大きさ・間隔の並びは指定できません"
        ),
        _ => return None,
    })
}

/// Returns whole seconds, with a note if they were rounded.
fn seconds(time_ns: u64) -> (u64, Option<Text>) {
    let seconds = time_ns.div_ceil(1_000_000_000).max(1);
    let rounded = (!time_ns.is_multiple_of(1_000_000_000))
        .then(|| text!("whole seconds only", "時間は秒単位でしか指定できません"));
    (seconds, rounded)
}

fn with_remarks(line: &str, mut remarks: Vec<Text>) -> Text {
    remarks.dedup();
    if remarks.is_empty() {
        return Text::same(line);
    }
    let remarks = Text::join(remarks, ["; ", "。"]);
    text!("{line}   ({remarks})", "{line}   ({remarks})"; remarks)
}

/// Returns DiskSpd's command line. `own_file` is whether DiskSpd creates its file itself.
pub(super) fn diskspd(workload: &Workload, target: &str, direct: bool, own_file: bool) -> Result<Text, Text> {
    if let Some(flaw) = flaw_of_both(workload) {
        return Err(flaw);
    }
    let (Some(time_ns), None, None) = (workload.end.time_ns, workload.end.bytes, workload.end.passes) else {
        return Err(text!("it ends by time only", "終了条件は時間だけです"));
    };
    let threads = u64::from(workload.threads).max(1);
    let sequential = workload.pattern.is_sequential();
    if !sequential && threads > 1 && workload.thread_share == ThreadShare::Parts {
        return Err(text!(
            "its random threads all cover the whole span",
            "ランダムではすべてのスレッドが全体を対象にします"
        ));
    }
    if matches!(workload.data, Data::Compressible { .. }) && workload.writes() {
        return Err(text!("it has no data of a given compressibility", "圧縮率を指定したデータを書けません"));
    }
    let mut remarks = Vec::new();
    let block = single_block_bytes(workload).unwrap_or_default().max(1);
    let mut line = format!("diskspd -b{} -o{} -t{threads}", size(block), workload.iodepth);
    match workload.pattern {
        Pattern::Interleaved if threads > 1 => line.push_str(" -si"),
        Pattern::Sequential if threads > 1 && workload.thread_share != ThreadShare::Whole => {
            line.push_str(&format!(" -T{}", workload.span_bytes / threads / block * block));
            remarks.push(text!(
                "each thread starts at its part, but continues beyond it",
                "各スレッドは自分の担当範囲から始めますが、その先へも進みます"
            ));
        }
        _ if sequential => {}
        _ => line.push_str(" -r"),
    }
    line.push_str(&format!(" -w{}", 100 - u64::from(workload.read_percent.min(100))));
    line.push_str(match (direct, workload.sync.o_sync) {
        (true, true) => " -Sh",
        (true, false) => " -Su",
        (false, true) => " -Sw",
        (false, false) => " -Sb",
    });
    for (flag, time_ns) in [("-d", time_ns), ("-W", workload.warm_up_ns)] {
        let (seconds, rounded) = if time_ns == 0 { (0, None) } else { seconds(time_ns) };
        line.push_str(&format!(" {flag}{seconds}"));
        remarks.extend(rounded);
    }
    if workload.writes() {
        line.push_str(&match workload.data {
            Data::Zero => " -Z".to_owned(),
            Data::Repeat => format!(" -Z{}", size(block)),
            _ => " -Zr".to_owned(),
        });
    }
    line.push_str(&format!(" -z{} -L", workload.seed));
    if workload.offset_bytes > 0 || !own_file {
        line.push_str(&format!(" -B{}:{}", workload.offset_bytes, workload.span_bytes));
    }
    let target = if own_file {
        line.push_str(&format!(" -c{}", size(workload.offset_bytes.saturating_add(workload.span_bytes))));
        "kurabe-diskspd-test.dat".to_owned()
    } else {
        format!("\"{}\"", target.replace("\\:", ":"))
    };
    Ok(with_remarks(&format!("{line} {target}"), remarks))
}

/// Returns elbencho's command line for a file or device of this size.
pub(super) fn elbencho(
    workload: &Workload,
    target: &str,
    direct: bool,
    size_bytes: u64,
) -> Result<Text, Text> {
    let flaw = flaw_of_both(workload).or_else(|| flaw_of_elbencho(workload));
    if let Some(flaw) = flaw {
        return Err(flaw);
    }
    let mut remarks = Vec::new();
    let reads = workload.read_percent;
    let mut line = match reads {
        100 => "elbencho -r".to_owned(),
        0 => "elbencho -w".to_owned(),
        _ => format!("elbencho -w --rwmixpct {reads}"),
    };
    if !workload.pattern.is_sequential() {
        line.push_str(" --rand");
    }
    let block = single_block_bytes(workload).unwrap_or_default().max(1);
    line.push_str(&format!(" -b {} -t {} --iodepth {}", size(block), workload.threads, workload.iodepth));
    if direct {
        line.push_str(" --direct");
    }
    if workload.data == Data::Repeat && workload.writes() {
        line.push_str(" --blockvarpct 0");
    }
    line.push_str(&format!(" -s {}", size(workload.span_bytes)));
    let amount = workload.amount_bytes();
    if let Some(bytes) = amount.filter(|_| !workload.pattern.is_sequential()) {
        line.push_str(&format!(" --randamount {bytes}"));
    }
    if let Some(time_ns) = workload.end.time_ns {
        let (seconds, rounded) = seconds(time_ns);
        remarks.extend(rounded);
        line.push_str(&format!(" --timelimit {seconds}"));
        if amount.is_none() {
            line.push_str(" --infloop");
        }
    }
    let target = target.replace("\\:", ":").replace('\'', "'\\''");
    if reads > 0 {
        let size = size(size_bytes);
        remarks.push(text!(
            "the complete file must exist: elbencho -w -b 1M -s {size} '{target}'",
            "ファイル全体が先に必要です: elbencho -w -b 1M -s {size} '{target}'"
        ));
    }
    Ok(with_remarks(&format!("{line} --lat '{target}'"), remarks))
}

fn flaw_of_elbencho(workload: &Workload) -> Option<Text> {
    let is_one = workload.threads <= 1;
    let bytes = workload.amount_bytes();
    Some(match (workload.pattern, workload.thread_share) {
        _ if workload.offset_bytes > 0 => {
            text!("it always starts at the beginning of the target", "常に対象の先頭から始まります")
        }
        _ if workload.warm_up_ns > 0 => text!("it has no warm-up", "ウォームアップがありません"),
        _ if workload.sync.o_sync => {
            text!("it does not open its target with O_SYNC", "O_SYNC で開くことができません")
        }
        _ if workload.writes() && matches!(workload.data, Data::Zero | Data::Compressible { .. }) => {
            text!("its data is random", "書き込むデータはランダムだけです")
        }
        (Pattern::Interleaved, _) | (Pattern::Sequential, ThreadShare::Whole) if !is_one => text!(
            "its sequential threads each have their own part",
            "シーケンシャルではスレッドごとに範囲が分かれます"
        ),
        (Pattern::Random, ThreadShare::Parts) if !is_one => text!(
            "its random threads all cover the whole span",
            "ランダムではすべてのスレッドが全体を対象にします"
        ),
        (pattern, _)
            if pattern.is_sequential() && bytes.is_some_and(|bytes| bytes != workload.span_bytes) =>
        {
            text!(
                "in sequential mode it covers the span exactly once, or runs until a time limit",
                "シーケンシャルでは範囲をちょうど 1 周するか、時間まで繰り返すかのどちらかです"
            )
        }
        _ => return None,
    })
}
