//! `kurabe doctor`: what this machine allows, and what kurabe itself costs.

use crate::args::{DoctorArgs, Global};
use crate::output::{print, print_json, style};
use kurabe_core::{Result, Text, text};
use kurabe_engine::{
    Target, TargetOptions, driver_cost_ns, may_drop_page_cache, measure_clock, probe_ring, test_file_name,
};
use kurabe_report::{Check, Doctor, Mark, Section, render_doctor};
use std::path::Path;

/// Runs the command.
///
/// # Errors
/// When standard output takes nothing more.
pub fn doctor(args: &DoctorArgs, global: &Global) -> Result<()> {
    let found = Doctor { sections: vec![engines(), path(&args.path), instrument()?, devices(), tools()] };
    if global.json { print_json(&found) } else { print(&render_doctor(&found, &style())) }
}

fn line(mark: Mark, what: Text, value: Text) -> Check {
    Check { mark, what, value, remedy: None }
}

fn engines() -> Section {
    let mut lines = Vec::new();
    match probe_ring() {
        Ok(facts) => {
            let features = facts.features.join(", ");
            lines.push(line(Mark::Good, Text::same("io_uring"), Text::same(features)));
            for refused in facts.fallbacks {
                lines.push(line(
                    Mark::Note,
                    text!("io_uring goes without", "io_uring で使えない機能"),
                    Text::same(refused),
                ));
            }
        }
        Err(error) => lines.push(Check {
            mark: Mark::Bad,
            what: Text::same("io_uring"),
            value: Text::same(error.to_string()),
            remedy: error.remedy_text().cloned(),
        }),
    }
    lines.push(line(Mark::Good, text!("threads", "スレッド"), text!("pread and pwrite", "pread と pwrite")));
    Section { title: text!("Engines", "エンジン"), lines }
}

/// Direct I/O and the page cache for a path.
fn path(path: &Path) -> Section {
    const TRIAL_BYTES: u64 = 128 << 10;
    let options = TargetOptions {
        direct: true,
        size_bytes: TRIAL_BYTES,
        test_file_name: test_file_name("doctor", std::process::id().into()),
        ..TargetOptions::default()
    };
    let what = text!("direct I/O", "ダイレクト I/O");
    let direct = match Target::open(path, &options) {
        Ok(target) => {
            let unit = target.alignment_bytes();
            let value = text!("yes, in units of {unit} bytes", "可({unit} バイト単位)");
            line(if target.is_direct() { Mark::Good } else { Mark::Note }, what, value)
        }
        Err(error) => {
            Check { mark: Mark::Bad, what, value: error.what().clone(), remedy: error.remedy_text().cloned() }
        }
    };
    let cache = if may_drop_page_cache() {
        line(Mark::Good, text!("dropping the page cache", "ページキャッシュの破棄"), text!("allowed", "可"))
    } else {
        Check {
            mark: Mark::Note,
            what: text!("dropping the page cache", "ページキャッシュの破棄"),
            value: text!(
                "not allowed; posix_fadvise is used for the test file",
                "不可(テストファイルには posix_fadvise を使います)"
            ),
            remedy: Some(text!(
                "only buffered runs need it; run them as root",
                "バッファ経由の測定でだけ必要です。必要なら root で実行してください"
            )),
        }
    };
    let shown = path.display();
    Section { title: text!("This path: {shown}", "このパス: {shown}"), lines: vec![direct, cache] }
}

fn instrument() -> Result<Section> {
    /// Above this a reading of the clock disturbs fast storage.
    const DEAR_CLOCK_NS: f64 = 100.0;
    let clock = measure_clock();
    let (resolution, cost) = (clock.clock_resolution_ns, clock.clock_cost_ns);
    let mut lines = vec![Check {
        mark: if cost > DEAR_CLOCK_NS { Mark::Note } else { Mark::Good },
        what: text!("clock", "時計"),
        value: text!("resolution {resolution} ns, a reading costs {cost:.0} ns", "分解能 {resolution} ns、1 回の読み取り {cost:.0} ns"),
        remedy: (cost > DEAR_CLOCK_NS).then(|| {
            text!(
                "a slow clock source: see /sys/devices/system/clocksource (tsc is the fast one)",
                "クロックソースが遅いようです。/sys/devices/system/clocksource を確認してください(速いのは tsc)"
            )
        }),
    }];
    for iodepth in [1, 8, 32, 128] {
        let cost = driver_cost_ns(iodepth)?;
        lines.push(line(
            Mark::Good,
            text!("driver at queue depth {iodepth}", "ドライバー(キュー深さ {iodepth})"),
            text!(
                "{cost:.0} ns per operation, everything recorded",
                "1 操作あたり {cost:.0} ns(すべて記録した場合)"
            ),
        ));
    }
    Ok(Section { title: text!("The instrument", "測定器としての kurabe"), lines })
}

/// Block devices and whether they may be read.
fn devices() -> Section {
    let mut names: Vec<String> = std::fs::read_dir("/sys/block")
        .map(|entries| {
            entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
        })
        .unwrap_or_default();
    names.sort();
    let lines = names
        .into_iter()
        .map(|name| Path::new("/dev").join(name))
        .filter(|device| device.exists())
        // A loop or zram device without a size is not in use.
        .filter(|device| block_size_sectors(device).is_none_or(|sectors| sectors > 0))
        .map(|device| {
            let shown = Text::same(device.display().to_string());
            match std::fs::File::open(&device) {
                Ok(_) => line(Mark::Good, shown, text!("may be read", "読み出し可")),
                Err(error) => {
                    line(Mark::Note, shown, text!("may not be read ({error})", "読み出し不可({error})"))
                }
            }
        })
        .collect();
    Section { title: text!("Block devices", "ブロックデバイス"), lines }
}

/// Size of a block device in sectors of 512 bytes, if the kernel tells.
fn block_size_sectors(device: &Path) -> Option<u64> {
    let size = Path::new("/sys/block").join(device.file_name()?).join("size");
    std::fs::read_to_string(size).ok()?.trim().parse().ok()
}

fn tools() -> Section {
    let lines = kurabe_host::tools()
        .into_iter()
        .map(|(name, version)| match version {
            Some(version) => line(Mark::Good, Text::same(name), Text::same(version)),
            None => line(
                Mark::Note,
                Text::same(name),
                text!("not installed; kurabe works without it", "未インストール(なくても動きます)"),
            ),
        })
        .collect();
    Section { title: text!("Other tools", "ほかのツール"), lines }
}
