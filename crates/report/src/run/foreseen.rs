//! Preview of a run: its profile, duration and writes.

use crate::machine::headline::surroundings;
use crate::run::choice::about;
use crate::run::profile::render_profile;
use crate::run::remarks::planned_writes;
use crate::words::{self, present};
use kurabe_core::foreseen::{Foreseen, ForeseenVersus, LongestTime};
use kurabe_core::mention::{DESTROY_DATA_ON, WRITE_EXISTING};
use kurabe_core::profile::{PlannedWrites, Profile};
use kurabe_core::quantity::{NS_PER_S, format_bytes_decimal};
use kurabe_core::{Text, number, shown, text};
use kurabe_doc::{Doc, Paragraph, Style};

/// Renders the preview of a run.
pub fn render_foreseen(profile: &Profile, foreseen: &Foreseen, style: &Style) -> String {
    let lines = price(foreseen).into_iter().chain(how_to_write(foreseen));
    let lines = lines.map(|line| line.take(style.lang) + "\n").collect::<String>();
    place(foreseen, style) + &render_profile(profile, style) + &lines
}

/// Returns the cost of a run in plain sentences: how long it takes, and how much it writes.
pub fn foreseen_sentence(foreseen: &Foreseen) -> Text {
    if foreseen.is_modelled {
        return text!(
            "Computed within seconds; nothing is written.",
            "数秒で計算します。モデルは何も書き込みません。"
        );
    }
    let time = foreseen.planned_ns.map(about).map(|time| text!("about {time}", "約 {time}"; time));
    let writes = match leaves_out(foreseen) {
        true => Some(text!(
            "only reads, because the target holds data",
            "対象にはデータがあるため、読み出しだけを行います"
        )),
        false => planned_writes(foreseen.writes),
    };
    let writes = writes.or_else(|| Some(text!("writes nothing", "書き込みは行いません")));
    Text::sentences(present([time, writes]).iter().map(words::sentence))
}

fn price(foreseen: &Foreseen) -> Vec<Text> {
    let least = foreseen.planned_ns.map(|ns| {
        let time = number::planned_time(ns.checked_next_multiple_of(NS_PER_S).unwrap_or(ns));
        match foreseen.is_modelled {
            true => text!("of the model's time, at least {time}", "モデルの中の時間: {time}以上"; time),
            false => text!("measuring takes at least {time}", "測定時間: {time}以上"; time),
        }
    });
    least.into_iter().chain(written(foreseen)).collect()
}

/// Renders the preview of an interleaved measurement: the shared profile, then each target.
pub fn render_foreseen_versus(profile: &Profile, foreseen: &ForeseenVersus, style: &Style) -> String {
    let mut page = render_profile(profile, style);
    page.push_str(&(longest(foreseen.limit).take(style.lang) + "\n"));
    for side in &foreseen.sides {
        if let Some(name) = &side.variant {
            page.push_str(&format!("\n{}", shown::line(name)));
        }
        page.push_str(&format!("\n{}", place(&side.foreseen, style)));
        if side.shares_test_file {
            let words = text!("  test file: the same as before\n", "  テストファイル: 前と同じ\n");
            page.push_str(words.get(style.lang));
        }
        let lines = written(&side.foreseen).into_iter().chain(how_to_write(&side.foreseen));
        page.extend(lines.map(|line| format!("  {}\n", line.take(style.lang))));
    }
    if let Some(words) = written_by_all(foreseen) {
        page.push_str(&format!("\n{}\n", words.get(style.lang)));
    }
    page
}

/// Returns the cost of an interleaved measurement: its duration and its total writes.
pub fn foreseen_versus_doc(foreseen: &ForeseenVersus) -> Doc {
    std::iter::once(longest(foreseen.limit)).chain(written_by_all(foreseen)).map(Paragraph::new).collect()
}

/// Returns the maximum duration of an interleaved measurement.
fn longest(limit: LongestTime) -> Text {
    let time = number::planned_time(limit.ns());
    match limit {
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

/// Returns the total writes of an interleaved measurement.
pub fn written_by_all(foreseen: &ForeseenVersus) -> Option<Text> {
    let all = foreseen.sides.iter().map(|side| side.foreseen.writes);
    let mut all = all.fold(PlannedWrites::default(), PlannedWrites::and);
    all.time_ns = all.time_ns.min(foreseen.limit.ns());
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
fn written(foreseen: &Foreseen) -> Vec<Text> {
    let cells = foreseen.writing_cells;
    present([
        foreseen.test_file_bytes.map(format_bytes_decimal).map(|bytes| match foreseen.is_modelled {
            true => text!(
                "test file, written before in the model's time: {bytes}",
                "事前にモデルの時間で書き込むテストファイル: {bytes}"
            ),
            false => text!("test file to write: {bytes}", "書き込むテストファイル: {bytes}"),
        }),
        Some(text!("tests that write: {cells}", "書き込みを含む項目: {cells}")),
        leaves_out(foreseen).then_some(text!(
            "they are left out: the target holds data and is only read",
            "これらは測りません(対象にはデータがあるため、読み出しだけを行います)"
        )),
        planned_writes(foreseen.writes),
    ])
}

/// Checks whether write cells are skipped because the target may hold data.
fn leaves_out(foreseen: &Foreseen) -> bool {
    !foreseen.writable && !foreseen.is_modelled && foreseen.writing_cells > 0
}

/// Names the options that allow the skipped write cells. The page doesn't have these options.
fn how_to_write(foreseen: &Foreseen) -> Option<Text> {
    leaves_out(foreseen).then_some(text!(
        "to allow overwriting: {WRITE_EXISTING} (a file), {DESTROY_DATA_ON} NAME (a device)",
        "上書きしてよい場合: {WRITE_EXISTING}(ファイル)、{DESTROY_DATA_ON} NAME(デバイス)"
    ))
}
