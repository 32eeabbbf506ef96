//! Answers about a device: a line for each property, with its evidence.

use kurabe_core::quantity::format_bytes_decimal;
use kurabe_core::record::TargetKind;
use kurabe_core::target_name::MODEL_PREFIX;
use kurabe_core::{Text, number, shown, text};
use kurabe_doc::{Doc, Paragraph, Role};
use kurabe_identify::{
    Certainty, DeviceIdentity, DeviceProperty, EvidenceFigure, FigureUnit, PropertyAnswer, PropertyFinding,
    SettledBy,
};
use kurabe_infer::InferenceStage;
use kurabe_lab::{IdentifiedTarget, IdentityPlan, IdentityStage};
use kurabe_report::words;

/// Renders the answers about a device.
pub fn identity_doc(identified: &IdentifiedTarget) -> Doc {
    let IdentifiedTarget { target, model, identity, .. } = identified;
    let name = model.as_ref().map_or_else(|| target.given.clone(), |model| format!("{MODEL_PREFIX}{model}"));
    let mut doc = Doc::new();
    doc.push(Paragraph::new(headline(&shown::line(&name), identity)).role(Role::Strong)).gap();
    for finding in &identity.findings {
        let role = match (finding.certainty, finding.answer) {
            (Certainty::Unclear, _) => Role::Quiet,
            (_, Some(PropertyAnswer::FakeCapacity { .. } | PropertyAnswer::FromMemory)) => Role::Bad,
            _ => Role::Plain,
        };
        doc.push(Paragraph::new(finding_line(finding)).role(role).indent(2, 4));
        for aside in evidence_line(finding).into_iter().chain(finding.settling.map(settling_words)) {
            doc.push(Paragraph::aside(aside).indent(4, 6));
        }
    }
    doc
}

fn headline(name: &str, identity: &DeviceIdentity) -> Text {
    let size = format_bytes_decimal(identity.span_bytes);
    let time = number::long_time(identity.probing_ns);
    let written = format_bytes_decimal(identity.written_bytes);
    let place = if identity.is_device {
        Text::same(format!("{name}, {size}"))
    } else {
        text!("{name}, a file of {size}", "{name}、{size} のファイル")
    };
    text!(
        "{place}: probed for {time}, {written} written",
        "{place}: 調査時間 {time}、書き込み量 {written}"; place
    )
}

/// Says what an identification reads and writes, and for how long.
pub fn identity_plan_doc(plan: &IdentityPlan) -> Doc {
    let written = format_bytes_decimal(plan.most_written_bytes);
    let time = number::long_time(plan.longest_writing_ns);
    let mut doc = Doc::new();
    let mut say = |text: Text| {
        doc.push(Paragraph::new(words::sentence(&text)));
    };
    if let Some(bytes) = plan.test_file_bytes {
        let size = kurabe_core::quantity::format_bytes(bytes);
        say(text!(
            "a test file of {size} is created and removed",
            "{size} のテストファイルを作り、最後に削除します"
        ));
    }
    match (plan.kind, plan.most_written_bytes) {
        (TargetKind::Model, _) => {
            say(text!("a model is read and written in virtual time", "モデルを仮想時間で読み書きします"));
        }
        (_, 0) => {
            let time = number::long_time(plan.longest_reading_ns);
            say(text!(
                "the probes only read, for up to {time}",
                "調査は読み出しだけで、{time} 以内に終わります"
            ));
        }
        (TargetKind::Directory, _) => say(text!(
            "the probes write up to {written} to it, in up to {time}",
            "調査でファイルに最大 {written} を書き込みます(最長 {time})"
        )),
        _ => say(text!(
            "the probes write up to {written}, in up to {time}; this is wear, and all data on the \
             target are lost",
            "調査で最大 {written} を書き込みます(最長 {time})。その分だけ摩耗し、対象のデータはすべて失われます"
        )),
    }
    doc
}

/// Returns the stage of an identification for a line of progress.
pub fn stage_words(stage: IdentityStage) -> Text {
    match stage {
        IdentityStage::Property(property) => property_words(property),
        IdentityStage::Inference(InferenceStage::Probing { done, planned }) => {
            let next = done + 1;
            text!("parameters: probe {next} of {planned}", "パラメーター: 調査 {next} / {planned}")
        }
        IdentityStage::Inference(InferenceStage::Searching) => {
            text!("parameters: searching", "パラメーター: 探索中")
        }
    }
}

/// Returns the name of a property.
fn property_words(property: DeviceProperty) -> Text {
    match property {
        DeviceProperty::Memory => text!("who answers", "応答元"),
        DeviceProperty::Medium => text!("medium", "媒体"),
        DeviceProperty::Command => text!("command and rate", "コマンド時間と速度"),
        DeviceProperty::Queue => text!("queue", "キュー"),
        DeviceProperty::Strip => text!("strips", "ストリップ"),
        DeviceProperty::Capacity => text!("capacity", "容量"),
        DeviceProperty::WriteCache => text!("write cache", "書き込みキャッシュ"),
        DeviceProperty::Flush => text!("flush", "フラッシュ"),
        DeviceProperty::Shingled => text!("tracks", "記録方式"),
        DeviceProperty::FastRegion => text!("sustained writes", "連続書き込み"),
    }
}

fn finding_line(finding: &PropertyFinding) -> Text {
    let property = property_words(finding.property);
    let answer = match &finding.answer {
        Some(answer) => answer_words(answer),
        None => text!("unclear", "不明"),
    };
    match finding.certainty {
        Certainty::Likely => {
            text!("{property}: {answer} (likely)", "{property}: {answer}(推定)"; property, answer)
        }
        Certainty::Certain | Certainty::Unclear => {
            text!("{property}: {answer}", "{property}: {answer}"; property, answer)
        }
    }
}

fn time(ns: f64) -> String {
    number::latency_ns(ns.round() as u64)
}

fn answer_words(answer: &PropertyAnswer) -> Text {
    match *answer {
        PropertyAnswer::FromMemory => text!(
            "memory: reads do not reach the device, so figures are those of memory",
            "メモリー。読み出しはデバイスに届かず、測定値はメモリーのもの"
        ),
        PropertyAnswer::RepeatsFromMemory => text!(
            "the device the first time, memory of this computer afterwards",
            "初回はデバイス、2 回目以降はこのコンピューターのメモリー"
        ),
        PropertyAnswer::FromDevice => text!("the device", "デバイス"),
        PropertyAnswer::Rotates { rpm, usual_rpm } => {
            let measured = number::count(rpm.round() as u64);
            match usual_rpm.map(|usual| number::count(u64::from(usual))) {
                Some(usual) => text!(
                    "hard disk, {usual} revolutions per minute ({measured} measured)",
                    "ハードディスク、{usual} 回転/分(実測 {measured})"
                ),
                None => text!(
                    "rotating, {measured} revolutions per minute measured",
                    "回転する媒体、実測 {measured} 回転/分"
                ),
            }
        }
        PropertyAnswer::NoRotation => text!("solid state: nothing rotates", "回転しない媒体(フラッシュなど)"),
        PropertyAnswer::Command { small_read_ns, rate_bytes_per_s, faster_than } => {
            command_words(small_read_ns, rate_bytes_per_s, faster_than)
        }
        PropertyAnswer::SeveralCommands { gain } => {
            let gain = number::ratio(gain);
            text!(
                "several commands at once: {gain} times as many reads at queue depth 32",
                "複数のコマンドを同時に処理(キュー深さ 32 の読み出しは {gain} 倍)"
            )
        }
        PropertyAnswer::OneCommand => text!(
            "one command at a time: a deeper queue brings nothing",
            "一度に 1 コマンド(キューを深くしても速くならない)"
        ),
        PropertyAnswer::Strips { strip_bytes, members } => strip_words(strip_bytes, members),
        PropertyAnswer::NoStrips => text!("none", "なし"),
        _ => write_answer_words(answer),
    }
}

fn command_words(small_read_ns: f64, rate_bytes_per_s: f64, faster_than: Option<&str>) -> Text {
    let (small, rate) = (time(small_read_ns), number::rate(rate_bytes_per_s));
    match faster_than {
        Some(link) => text!(
            "{small} for 4 KiB, {rate} in order; the link is faster than {link}",
            "4 KiB に {small}、シーケンシャルは {rate}。接続は {link} より速い"
        ),
        None => text!("{small} for 4 KiB, {rate} in order", "4 KiB に {small}、シーケンシャルは {rate}"),
    }
}

fn strip_words(strip_bytes: u64, members: Option<u32>) -> Text {
    let strip = kurabe_core::quantity::format_bytes(strip_bytes);
    match members {
        Some(members) => text!("{strip} over {members} drives", "{strip}、ドライブ {members} 台"),
        None => text!("{strip}; the number of drives does not show", "{strip}(ドライブ数は不明)"),
    }
}

fn write_answer_words(answer: &PropertyAnswer) -> Text {
    let bytes = format_bytes_decimal;
    match *answer {
        PropertyAnswer::RealCapacity => text!("real", "本物"),
        PropertyAnswer::FakeCapacity { low_bytes, high_bytes, wraps } => {
            let (low, high) = (bytes(low_bytes), bytes(high_bytes));
            if wraps {
                text!(
                    "FAKE: it holds {low}, and later writes overwrite the start",
                    "偽装: 実際は {low}。超えた分は先頭に上書きされる"
                )
            } else {
                text!(
                    "FAKE: it holds {low} to {high}, and writes beyond are lost",
                    "偽装: 実際は {low} から {high}。超えた分は失われる"
                )
            }
        }
        PropertyAnswer::Volatile => text!(
            "on: acknowledged writes wait in volatile memory until a flush",
            "有効。完了した書き込みも、フラッシュまでは揮発性メモリーにある"
        ),
        PropertyAnswer::WriteThrough => text!(
            "off: a write is acknowledged when it is on the medium",
            "無効。媒体に書き終えてから完了を返す"
        ),
        PropertyAnswer::FreeFlush => text!(
            "a flush costs nothing: there is power-loss protection, or nothing to flush, or flushes \
             are ignored; time cannot distinguish these",
            "フラッシュに時間がかからない。電源断保護がある、書き残しがない、無視している、のどれか(時間では区別できない)"
        ),
        PropertyAnswer::FlushWaits => {
            text!("a flush waits until the data are on the medium", "データが媒体に書かれるまで待つ")
        }
        PropertyAnswer::Shingled => {
            text!("overlapping (SMR, managed by the drive)", "瓦記録(ドライブ管理の SMR)")
        }
        PropertyAnswer::NotShingled => text!("not overlapping", "瓦記録ではない"),
        PropertyAnswer::FastRegion { low_bytes, high_bytes, fast_bytes_per_s, slow_bytes_per_s } => {
            let (low, high) = (bytes(low_bytes), bytes(high_bytes));
            let (fast, slow) = (number::rate(fast_bytes_per_s), number::rate(slow_bytes_per_s));
            text!(
                "{fast} for the first {low} to {high} (SLC cache), {slow} after that",
                "最初の {low} から {high} までは {fast}(SLC キャッシュ)、その後は {slow}"
            )
        }
        PropertyAnswer::NoFastRegion { written_bytes, rate_bytes_per_s } => {
            let (written, rate) = (bytes(written_bytes), number::rate(rate_bytes_per_s));
            text!("{rate}, unchanged over {written}", "{rate}({written} まで変化なし)")
        }
        _ => Text::default(),
    }
}

/// Returns the figures that support an answer.
fn evidence_line(finding: &PropertyFinding) -> Option<Text> {
    let figures: Vec<Text> = finding.evidence.iter().map(figure_words).collect();
    (!figures.is_empty()).then(|| {
        let figures = Text::join(figures, [", ", "、"]);
        text!("evidence: {figures}", "根拠: {figures}"; figures)
    })
}

fn figure_words(figure: &EvidenceFigure) -> Text {
    let value = match figure.unit {
        FigureUnit::Ns => time(figure.value),
        FigureUnit::Bytes => format_bytes_decimal(figure.value as u64),
        FigureUnit::BytesPerS => number::rate(figure.value).to_string(),
        FigureUnit::Ratio => number::ratio(figure.value),
        FigureUnit::Count => number::count(figure.value as u64),
    };
    let name = figure_name(figure.name);
    text!("{name} {value}", "{name} {value}"; name)
}

fn figure_name(name: &str) -> Text {
    match name {
        "first_read" => text!("first read", "初回の読み出し"),
        "repeated_read" => text!("repeated read", "再読み出し"),
        "reads" => text!("reads", "読み出し回数"),
        "random_read" => text!("random read", "ランダム読み出し"),
        "spread" => text!("spread of 90 % of them", "その 90 % の幅"),
        "coherence" => {
            text!("agreement with whole revolutions (1 is perfect)", "回転周期との一致度(1 で完全)")
        }
        "intervals" => text!("intervals", "区間数"),
        "sequential" => text!("sequential", "シーケンシャル"),
        "small_reread" => text!("4 KiB again", "4 KiB の再読み出し"),
        "larger_reread" => text!("256 KiB again", "256 KiB の再読み出し"),
        "time_at_depth_1" => text!("one read at depth 1", "深さ 1 の読み出し"),
        "gain_at_depth_4" => text!("gain at depth 4", "深さ 4 での倍率"),
        "gain_at_depth_32" => text!("gain at depth 32", "深さ 32 での倍率"),
        "time_across_a_border" => text!("reads across a border over others", "境界をまたぐ読み出しの時間比"),
        "step_over_its_error" => text!("step over its error", "段差と誤差の比"),
        "step_at" => text!("step at", "段差の位置"),
        "pair_on_one_drive" => {
            text!("two reads on one drive over two drives", "同じドライブでの 2 読み出しの時間比")
        }
        _ => write_figure_name(name),
    }
}

fn write_figure_name(name: &str) -> Text {
    match name {
        "blocks_read" => text!("blocks read back", "読み戻したブロック"),
        "foreign_blocks" => text!("blocks of another address", "別のアドレスのデータ"),
        "lost_blocks" => text!("lost blocks", "失われたブロック"),
        "distance" => text!("distance of their addresses", "アドレスの隔たり"),
        "write" => text!("write", "書き込み"),
        "durable_write" => text!("durable write (FUA)", "永続化する書き込み(FUA)"),
        "flush_without_work" => text!("flush with nothing to do", "書き残しのないフラッシュ"),
        "flush_after_a_write" => text!("flush after a write", "1 回の書き込み後のフラッシュ"),
        "flush_after_1_mib" => text!("flush after 1 MiB", "1 MiB 書き込み後のフラッシュ"),
        "range_read" => text!("32 MiB read", "32 MiB の読み出し"),
        "range_read_after_scattered_writes" => {
            text!("after scattered writes", "散発的な書き込み後の読み出し")
        }
        "scattered_write" => text!("scattered write", "散発的な書き込み 1 回"),
        "scattered_writes" => text!("scattered writes", "散発的な書き込みの回数"),
        "written" => text!("written", "書き込み量"),
        "parts" => text!("parts", "区切り"),
        "first_parts" => text!("at first", "最初"),
        "last_parts" => text!("at last", "最後"),
        other => Text::same(other),
    }
}

fn settling_words(settling: SettledBy) -> Text {
    let way = match settling {
        SettledBy::Writes => text!("writing to the device", "デバイスへの書き込み"),
        SettledBy::WholeDevice => {
            text!("the device itself instead of a file on it", "ファイルではなくデバイス自体の調査")
        }
        SettledBy::LargerRange => text!(
            "reads over a range larger than any memory in question",
            "関係するメモリーより広い範囲の読み出し"
        ),
        SettledBy::ReachMedium => text!("reads that reach the medium", "媒体に届く読み出し"),
        SettledBy::Again => text!("another run on a quiet machine", "負荷のない状態での再調査"),
        SettledBy::PowerCut => text!(
            "cutting the power while the device writes, and checking what is left",
            "書き込み中の電源断と、残ったデータの照合"
        ),
        SettledBy::MoreWritten => text!("writing more", "より多くの書き込み"),
        SettledBy::NoScheduler => text!("turning the I/O scheduler off", "I/O スケジューラーの無効化"),
        SettledBy::VolumeTool => {
            text!("the configuration of the volume, if it is one", "ボリュームであれば、その構成情報")
        }
    };
    words::sentence(&text!("to settle it: {way}", "確かめる方法: {way}"; way))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_property_has_a_name_in_both_languages() {
        for property in DeviceProperty::ALL {
            let words = property_words(property);
            assert!(!words.en.is_empty() && words.en != words.ja, "{words:?}");
        }
    }
}
