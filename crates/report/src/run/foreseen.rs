//! Preview of a run: its profile, duration and writes.

use crate::machine::headline::surroundings;
use crate::run::choice::about;
use crate::run::profile::render_profile;
use crate::run::remarks::planned_writes;
use crate::words::{self, present};
use kurabe_core::mention::{DESTROY_DATA_ON, WRITE_EXISTING};
use kurabe_core::quantity::{NS_PER_S, format_bytes_decimal};
use kurabe_core::{Result, Text, number, profile::PlannedWrites, shown, text};
use kurabe_doc::{Doc, Paragraph, Style};
use kurabe_lab::versus::{LongestTime, PreparedVersus};
use kurabe_lab::{Foreseen, Prepared};

/// Renders the preview of a run.
///
/// # Errors
///
/// Returns an error if the target does not exist.
pub fn render_foreseen(prepared: &Prepared, style: &Style) -> Result<String> {
    let foreseen = prepared.foresee()?;
    let is_modelled = prepared.is_modelled();
    let lines = price(&foreseen, is_modelled).into_iter().chain(how_to_write(&foreseen, is_modelled));
    let lines = lines.map(|line| line.take(style.lang) + "\n").collect::<String>();
    Ok(place(&foreseen, style) + &render_profile(prepared.profile(), style) + &lines)
}

/// Returns the cost of a run in plain sentences: how long it takes, and how much it writes.
pub fn foreseen_sentence(foreseen: &Foreseen, is_modelled: bool) -> Text {
    if is_modelled {
        return text!(
            "Computed within seconds; nothing is written.",
            "数秒で計算します。モデルは何も書き込みません。"
        );
    }
    let time = foreseen.planned_ns.map(about).map(|time| text!("about {time}", "約 {time}"; time));
    let writes = match leaves_out(foreseen, is_modelled) {
        true => Some(text!(
            "only reads, because the target holds data",
            "対象にはデータがあるため、読み出しだけを行います"
        )),
        false => planned_writes(foreseen.writes),
    };
    let writes = writes.or_else(|| Some(text!("writes nothing", "書き込みは行いません")));
    Text::sentences(present([time, writes]).iter().map(words::sentence))
}

fn price(foreseen: &Foreseen, is_modelled: bool) -> Vec<Text> {
    let least = foreseen.planned_ns.map(|ns| {
        let time = number::planned_time(ns.checked_next_multiple_of(NS_PER_S).unwrap_or(ns));
        match is_modelled {
            true => text!("of the model's time, at least {time}", "モデルの中の時間: {time}以上"; time),
            false => text!("measuring takes at least {time}", "測定時間: {time}以上"; time),
        }
    });
    least.into_iter().chain(written(foreseen, is_modelled)).collect()
}

/// Renders the preview of an interleaved measurement: the shared profile, then each target.
///
/// # Errors
///
/// Returns an error if a target does not exist.
pub fn render_foreseen_versus(prepared: &PreparedVersus, style: &Style) -> Result<String> {
    let runs = prepared.runs();
    let mut page = render_profile(runs[0].profile(), style);
    page.push_str(&(longest(prepared).take(style.lang) + "\n"));
    let variants: Vec<&str> = prepared.variants().collect();
    let foreseen = foreseen_in_turns(prepared)?;
    for (index, (run, (foreseen, shares_file))) in runs.iter().zip(&foreseen).enumerate() {
        if let Some(name) = variants.get(index) {
            page.push_str(&format!("\n{}", shown::line(name)));
        }
        page.push_str(&format!("\n{}", place(foreseen, style)));
        if *shares_file {
            let words = text!("  test file: the same as before\n", "  テストファイル: 前と同じ\n");
            page.push_str(words.get(style.lang));
        }
        let is_modelled = run.is_modelled();
        let lines = written(foreseen, is_modelled).into_iter().chain(how_to_write(foreseen, is_modelled));
        page.extend(lines.map(|line| format!("  {}\n", line.take(style.lang))));
    }
    if let Some(words) = written_in_turns(prepared, &foreseen) {
        page.push_str(&format!("\n{}\n", words.get(style.lang)));
    }
    Ok(page)
}

/// Returns the cost of an interleaved measurement: its duration and its total writes.
///
/// # Errors
///
/// Returns an error if a target does not exist.
pub fn foreseen_versus_doc(prepared: &PreparedVersus) -> Result<Doc> {
    let writes = written_in_turns(prepared, &foreseen_in_turns(prepared)?);
    Ok(std::iter::once(longest(prepared)).chain(writes).map(Paragraph::new).collect())
}

/// Returns the maximum duration of an interleaved measurement.
fn longest(prepared: &PreparedVersus) -> Text {
    let time = number::planned_time(longest_ns(prepared));
    match prepared.limit() {
        LongestTime::Measuring(_) => text!(
            "measuring takes at most, all targets together: {time}",
            "測定時間: 最長 {time}(全対象の合計)"; time
        ),
        LongestTime::Computing(_) => text!(
            "models get the repetitions that they need; computing takes at most {time}",
            "モデルは必要な回数だけ繰り返します。計算にかかる時間は最長 {time}です"; time
        ),
    }
}

fn longest_ns(prepared: &PreparedVersus) -> u64 {
    let (LongestTime::Measuring(ns) | LongestTime::Computing(ns)) = prepared.limit();
    ns
}

/// Returns the preview of each interleaved target, and whether it uses the test file of an earlier
/// one.
fn foreseen_in_turns(prepared: &PreparedVersus) -> Result<Vec<(Foreseen, bool)>> {
    let of_run = |(index, run): (usize, &Prepared)| {
        let mut foreseen = run.foresee()?;
        if foreseen.writes.time_ns > 0 {
            // The number of repetitions is decided during the measurement. The maximum duration is
            // the upper bound for the writing time.
            foreseen.writes.time_ns = longest_ns(prepared);
        }
        let shared = foreseen.test_file_bytes.take_if(|_| prepared.shares_test_file(index));
        foreseen.writes.bytes = foreseen.writes.bytes.saturating_sub(shared.unwrap_or(0));
        Ok((foreseen, shared.is_some()))
    };
    prepared.runs().iter().enumerate().map(of_run).collect()
}

/// Returns the total writes of an interleaved measurement.
fn written_in_turns(prepared: &PreparedVersus, foreseen: &[(Foreseen, bool)]) -> Option<Text> {
    let mut all = foreseen.iter().fold(PlannedWrites::default(), |all, (one, _)| all.and(one.writes));
    all.time_ns = all.time_ns.min(longest_ns(prepared));
    let words = planned_writes(all)?;
    Some(text!("all targets together: {words}", "全対象の合計: {words}"; words))
}

/// Describes the target, its storage, and its free space.
fn place(foreseen: &Foreseen, style: &Style) -> String {
    let target = shown::path(&foreseen.target);
    let environment = &foreseen.environment;
    let has_storage = environment.file_system.is_some() || !environment.devices.is_empty();
    let free_bytes = environment.file_system.as_ref().and_then(|file_system| file_system.free_bytes);
    let lines = present([
        Some(text!("target: {target}\n", "測定対象: {target}\n")),
        has_storage
            .then(|| surroundings(environment))
            .map(|storage| text!("storage: {storage}\n", "ストレージ: {storage}\n"; storage)),
        free_bytes.map(format_bytes_decimal).map(|free| text!("free: {free}\n", "空き容量: {free}\n")),
    ]);
    lines.into_iter().map(|line| line.take(style.lang)).collect()
}

/// Describes the writes on a target, one line per item.
fn written(foreseen: &Foreseen, is_modelled: bool) -> Vec<Text> {
    let cells = foreseen.writing_cells;
    present([
        foreseen.test_file_bytes.map(format_bytes_decimal).map(|bytes| match is_modelled {
            true => text!(
                "test file, written before in the model's time: {bytes}",
                "事前にモデルの時間で書き込むテストファイル: {bytes}"
            ),
            false => text!("test file to write: {bytes}", "書き込むテストファイル: {bytes}"),
        }),
        Some(text!("tests that write: {cells}", "書き込みを含む項目: {cells}")),
        leaves_out(foreseen, is_modelled).then_some(text!(
            "they are left out: the target holds data and is only read",
            "これらは測りません(対象にはデータがあるため、読み出しだけを行います)"
        )),
        planned_writes(foreseen.writes),
    ])
}

/// Checks whether write cells are skipped because the target may hold data.
fn leaves_out(foreseen: &Foreseen, is_modelled: bool) -> bool {
    !foreseen.writable && !is_modelled && foreseen.writing_cells > 0
}

/// Names the options that allow the skipped write cells. The page doesn't have these options.
fn how_to_write(foreseen: &Foreseen, is_modelled: bool) -> Option<Text> {
    leaves_out(foreseen, is_modelled).then_some(text!(
        "to allow overwriting: {WRITE_EXISTING} (a file), {DESTROY_DATA_ON} NAME (a device)",
        "上書きしてよい場合: {WRITE_EXISTING}(ファイル)、{DESTROY_DATA_ON} NAME(デバイス)"
    ))
}
