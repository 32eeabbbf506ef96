//! `kurabe record`: what a command does to the devices under a path, as a trace.
//!
//! The model: the kernel's block tracepoints see what file system and page cache leave for the device. Recording ends
//! after what the command left behind in memory is written back, so that the trace holds its writes. Where the kernel
//! does not allow it, the devices' own counters tell the sums, and that is said.

use crate::args::{Global, RecordArgs};
use crate::files::write_out;
use crate::lang::t;
use crate::output::{print, print_json, say};
use crate::signals::Signals;
use kurabe_core::number::latency_ns;
use kurabe_core::quantity::format_bytes_decimal;
use kurabe_core::record::Traffic;
use kurabe_core::trace::Trace;
use kurabe_core::{Error, ErrorKind, Result, Text, text};
use kurabe_host::{DeviceCounters, devices_under};
use kurabe_interop::write_iolog_v3;
use kurabe_trace::{BlockTrace, RecordedTrace};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

/// How often an interrupt is looked at while the command runs. Its times are the kernel's, so this blurs nothing.
const LOOK: Duration = Duration::from_millis(20);

/// Runs the command.
///
/// # Errors
/// When nothing can be recorded there, or the command cannot be run or fails.
pub fn record(args: &RecordArgs, global: &Global) -> Result<()> {
    let target = args.target.canonicalize().map_err(|error| {
        let shown = args.target.display();
        Error::os(text!("cannot use {shown} as a target", "{shown} を対象にできません"), &error)
    })?;
    args.output.as_deref().map_or(Ok(()), check_output)?;
    let devices = devices_under(&target);
    let signals = Signals::listen()?;
    // What others left in memory must not count.
    write_back(&target)?;
    let counters = Counters::read(&devices);
    match BlockTrace::start(&devices) {
        Ok(trace) => {
            if trace.mounted_privately() && !global.quiet {
                say(t(
                    "kurabe: tracefs is not mounted; it was mounted for kurabe alone",
                    "kurabe: tracefs が未マウントのため、kurabe 専用にマウントしました",
                ));
            }
            let status = run(&args.command, &signals)?;
            write_back(&target)?;
            let recorded = trace.stop()?;
            show(&recorded, args, global)?;
            check(status, &args.command, &signals)
        }
        Err(error) => {
            if counters.is_empty() || args.output.is_some() {
                return Err(error);
            }
            say(&error.render(crate::lang::lang()));
            say(t(
                "kurabe: counting what the devices do instead; there will be sums, but no trace",
                "kurabe: 代わりにデバイスのカウンターを使います(合計だけで、トレースは残りません)",
            ));
            let status = run(&args.command, &signals)?;
            write_back(&target)?;
            counters.show(global)?;
            check(status, &args.command, &signals)
        }
    }
}

/// Finds out before the command runs, perhaps for hours, whether its trace can be kept.
fn check_output(output: &Path) -> Result<()> {
    let shown = output.display();
    if output.symlink_metadata().is_ok() {
        return Err(Error::new(
            ErrorKind::Refused,
            text!("{shown} exists already", "{shown} はすでにあります"),
        )
        .remedy(text!(
            "choose another name; nothing is overwritten",
            "別の名前を指定してください。上書きはしません"
        )));
    }
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).map_err(|error| {
        Error::os(text!("cannot write {shown}", "{shown} に書けません"), &error.into()).remedy(text!(
            "name a file in a folder that exists and that you may write to",
            "書き込みできる既存のフォルダーの中のファイルを指定してください"
        ))
    })
}

/// The counters of some devices at one moment.
struct Counters(Vec<((u32, u32), DeviceCounters)>);

impl Counters {
    fn read(devices: &[(u32, u32)]) -> Self {
        Self(
            devices
                .iter()
                .filter_map(|&(major, minor)| {
                    Some(((major, minor), DeviceCounters::read(&format!("{major}:{minor}")).ok()?))
                })
                .collect(),
        )
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn show(&self, global: &Global) -> Result<()> {
        for ((major, minor), before) in &self.0 {
            let device = format!("{major}:{minor}");
            let traffic = DeviceCounters::read(&device)?.since(before);
            if global.json {
                print_json(&serde_json::json!({ "event": "counted", "device": device, "traffic": traffic }))?;
                continue;
            }
            let Traffic { read_operations, read_bytes, write_operations, write_bytes } = traffic;
            print(&format!(
                "{device}  {}\n",
                sides(read_operations, read_bytes, write_operations, write_bytes)
            ))?;
        }
        Ok(())
    }
}

fn sides(reads: u64, read_bytes: u64, writes: u64, write_bytes: u64) -> String {
    let (read_bytes, write_bytes) = (format_bytes_decimal(read_bytes), format_bytes_decimal(write_bytes));
    text!(
        "{reads} reads ({read_bytes}), {writes} writes ({write_bytes})",
        "読み出し {reads} 回({read_bytes})、書き込み {writes} 回({write_bytes})"
    )
    .take(crate::lang::lang())
}

/// Writes back what the file system of a path, or a block device itself, holds in memory.
fn write_back(target: &Path) -> Result<()> {
    let written = std::fs::File::open(target).and_then(|file| {
        rustix::fs::syncfs(&file)?;
        // Of a block device `syncfs` writes back the file system that holds its name.
        if file.metadata()?.file_type().is_block_device() { file.sync_all() } else { Ok(()) }
    });
    written.map_err(|error| {
        Error::os(text!("cannot write back what is in memory", "メモリー上のデータを書き戻せません"), &error)
    })
}

/// Runs the command to its end, with our standard streams. The terminal's Ctrl-C reaches it, too.
fn run(words: &[String], signals: &Signals) -> Result<ExitStatus> {
    let [program, arguments @ ..] = words else {
        return Err(Error::new(ErrorKind::Usage, text!("no command is given", "コマンドがありません")));
    };
    let cannot = |error: std::io::Error| {
        let made = Error::os(text!("cannot run {program}", "{program} を実行できません"), &error);
        match error.kind() {
            std::io::ErrorKind::NotFound => made.remedy(text!(
                "check its name; a line of the shell needs sh -c",
                "名前を確かめてください。シェルの書き方を使うには sh -c が必要です"
            )),
            _ => made,
        }
    };
    let mut child = Command::new(program).args(arguments).spawn().map_err(cannot)?;
    let status = wait(&mut child, signals);
    status.map_err(cannot)
}

fn wait(child: &mut Child, signals: &Signals) -> std::io::Result<ExitStatus> {
    let mut asked = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if signals.handle.is_stopped() && !asked {
            asked = true;
            // It may have ended just now.
            if let Some(pid) = rustix::process::Pid::from_raw(child.id() as i32) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
            }
        }
        std::thread::sleep(LOOK);
    }
}

fn check(status: ExitStatus, words: &[String], signals: &Signals) -> Result<()> {
    if signals.handle.is_stopped() {
        return Err(Error::new(ErrorKind::Interrupted, text!("stopped by the user", "中断されました")));
    }
    if status.success() {
        return Ok(());
    }
    let command = words.join(" ");
    Err(Error::new(
        ErrorKind::Io,
        text!("`{command}` ended with {status}", "`{command}` が {status} で終わりました"),
    )
    .remedy(text!("what it did until then is recorded", "それまでに行った I/O は記録されています")))
}

/// What was recorded, and the trace into its file.
fn show(recorded: &RecordedTrace, args: &RecordArgs, global: &Global) -> Result<()> {
    let trace = &recorded.trace;
    if let Some(output) = &args.output {
        write_out(&write_iolog_v3(trace), Some(output))?;
    }
    let mut latencies: Vec<u64> = recorded.latencies_ns.iter().copied().flatten().collect();
    latencies.sort_unstable();
    let latency = |fraction: f64| {
        let last = latencies.len().checked_sub(1)?;
        Some(latencies[(last as f64 * fraction) as usize])
    };
    let slow = latency(0.5).zip(latency(0.99));
    if global.json {
        let sum = trace.summary();
        return print_json(&serde_json::json!({
            "event": "recorded",
            "devices": trace.units,
            "reads": sum.reads,
            "read_bytes": sum.read_bytes,
            "writes": sum.writes,
            "write_bytes": sum.write_bytes,
            "syncs": sum.syncs,
            "discards": recorded.discards,
            "duration_ns": sum.duration_ns,
            "latency_ns_p50": slow.map(|slow| slow.0),
            "latency_ns_p99": slow.map(|slow| slow.1),
            "lost_events": recorded.lost_events,
            "file": args.output,
        }));
    }
    let lang = crate::lang::lang();
    let mut lines: Vec<String> =
        trace.units.iter().enumerate().map(|(unit, name)| of_unit(trace, unit, name)).collect();
    lines.extend(remarks(recorded, slow).into_iter().map(|remark| remark.take(lang)));
    let next = match &args.output {
        Some(output) => {
            let output = output.display();
            text!(
                "written to {output}; replay it: kurabe run --replay {output} TARGET",
                "{output} に書きました。再生: kurabe run --replay {output} 対象"
            )
        }
        None => text!("--output FILE keeps the trace", "--output FILE でトレースを残せます"),
    };
    lines.push(next.take(lang));
    print(&format!("{}\n", lines.join("\n")))
}

/// What one device of the trace did.
fn of_unit(trace: &Trace, unit: usize, name: &str) -> String {
    let own = trace.operations.iter().filter(|op| op.unit as usize == unit).copied().collect();
    let sum = Trace { operations: own, ..Trace::default() }.summary();
    let mut line = format!("{name}  {}", sides(sum.reads, sum.read_bytes, sum.writes, sum.write_bytes));
    if sum.syncs > 0 {
        let (syncs, plural) = (sum.syncs, if sum.syncs == 1 { "" } else { "es" });
        line.push_str(&text!(", {syncs} flush{plural}", "、フラッシュ {syncs} 回").take(crate::lang::lang()));
    }
    line
}

/// How long it took, with the median and the slow operations, and what the trace lacks.
fn remarks(recorded: &RecordedTrace, slow: Option<(u64, u64)>) -> Vec<Text> {
    let mut remarks = Vec::new();
    if let Some((median_ns, slow_ns)) = slow {
        let time = latency_ns(recorded.trace.summary().duration_ns);
        let (median, slow) = (latency_ns(median_ns), latency_ns(slow_ns));
        remarks.push(text!(
            "over {time}; in the device p50 {median}, p99 {slow}",
            "{time} の間。デバイスでの所要時間 p50 {median}、p99 {slow}"
        ));
    }
    if recorded.lost_events > 0 {
        let lost = recorded.lost_events;
        remarks.push(text!(
            "{lost} events were lost by the kernel: operations are missing",
            "カーネルがイベントを {lost} 件取りこぼしました。欠けた操作があります"
        ));
    }
    if recorded.discards > 0 {
        let (discards, plural) = (recorded.discards, if recorded.discards == 1 { "" } else { "s" });
        remarks.push(text!(
            "{discards} discard{plural}, not in the trace",
            "discard {discards} 件(トレースには含みません)"
        ));
    }
    remarks
}
