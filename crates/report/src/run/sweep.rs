//! Output of a sweep: for each axis a table of bars with the changes marked between the rows, and
//! below it the findings.
//!
//! The model: reads and writes are side by side, because readers compare them at the same place on
//! the axis. Bars begin at zero, so that a level looks level. The rate of the long write over time
//! is a column chart, like other time series.

use crate::words;
use kurabe_compare::{cache_bytes, written_bytes};
use kurabe_core::mention::{MAX, OVER, TIME};
use kurabe_core::quantity::{format_bytes, format_bytes_decimal};
use kurabe_core::{Text, number, record::RunRecord, text};
use kurabe_doc::curve::{CurveValues, DrawnCurve};
use kurabe_doc::{BarRow, BarTable, Doc, Paragraph, Role};
use kurabe_explain::{Confidence, Finding, FindingName, SweepAxis, SweepCurve, explain_sweep};

/// Returns the curves and findings of a sweep. Empty for other runs.
pub(crate) fn doc(record: &RunRecord) -> Doc {
    let explained = explain_sweep(record);
    let mut doc = Doc::new();
    for (axis, sequential) in SweepAxis::ALL.into_iter().flat_map(|axis| [(axis, true), (axis, false)]) {
        let same = |curve: &&SweepCurve| curve.axis == axis && curve.sequential == sequential;
        let curves: Vec<&SweepCurve> = explained.iter().filter(same).collect();
        if !curves.is_empty() {
            doc.append(section(&curves, record)).gap();
        }
    }
    doc
}

/// Returns the findings of a sweep, one line each with the evidence. Empty for other runs.
pub(crate) fn findings(record: &RunRecord) -> Vec<Text> {
    let sweep = explain_sweep(record);
    let findings = sweep.iter().flat_map(|curve| curve.findings.iter().map(move |one| (curve, one)));
    let words = |(curve, finding): (&SweepCurve, &Finding)| {
        let (title, direction) = (title(curve), words::direction(finding.direction));
        let (words, evidence) = (&finding.text, evidence(finding));
        text!(
            "{title} · {direction}: {words} ({evidence})",
            "{title} · {direction}: {words}({evidence})";
            title, direction, words, evidence
        )
    };
    findings.map(words).collect()
}

fn section(curves: &[&SweepCurve], record: &RunRecord) -> Doc {
    let mut doc = Doc::new();
    doc.heading(3, title(curves[0]));
    match curves[0].axis {
        SweepAxis::BytesWritten => doc.push_all(curves.iter().map(|curve| course(curve))),
        _ => doc.push(bars(curves)),
    };
    let findings: Vec<&Finding> = curves.iter().flat_map(|curve| &curve.findings).collect();
    if findings.is_empty() {
        let error = number::percent(curves.iter().map(|curve| curve.error).fold(0.0, f64::max));
        let words = text!(
            "no distinct change (the points are accurate to ±{error})",
            "目立つ変化はありません(各点の誤差 ±{error})"
        );
        doc.push(Paragraph::aside(words));
        let is_long_write = curves[0].axis == SweepAxis::BytesWritten;
        doc.push_all(is_long_write.then(|| within_caches(record)).flatten().map(Paragraph::aside));
    }
    for finding in findings {
        let (direction, words) = (words::direction(finding.direction), &finding.text);
        let words = text!("{direction}: {words}", "{direction}: {words}"; direction, words);
        let role = if finding.confidence == Confidence::None { Role::Warn } else { Role::Plain };
        doc.push(Paragraph::new(words).role(role).indent(2, 4));
        doc.push(Paragraph::new(evidence(finding)).role(Role::Quiet).indent(6, 6));
    }
    doc
}

/// Returns that caches may have taken in all that a long write without a change wrote.
fn within_caches(record: &RunRecord) -> Option<Text> {
    let (written, cache) = (written_bytes(record), cache_bytes(record));
    let [written_words, cache_words] = [written, cache].map(format_bytes_decimal);
    (written < cache).then(|| match record.header.model {
        Some(_) => text!(
            "its caches hold {cache_words}, and {written_words} were written: {OVER} write alone \
             continues beyond them",
            "キャッシュの容量は {cache_words}、書き込み量は {written_words} です。{OVER} write だけを指定すると、その先まで測ります"
        ),
        None => text!(
            "caches of such drives hold up to {cache_words}, and {written_words} were written: a longer \
             {TIME} or a larger {MAX} may still show a change",
            "この種のドライブのキャッシュは最大 {cache_words}、書き込み量は {written_words} です。{TIME} か {MAX} を大きくすると、変化が現れることがあります"
        ),
    })
}

fn title(curve: &SweepCurve) -> Text {
    match (curve.axis, curve.sequential) {
        (SweepAxis::WorkingSet, _) => text!(
            "working set: random 4 KiB, one at a time, over so many bytes",
            "ワーキングセット: この範囲へのランダム 4 KiB、キュー深さ 1",
        ),
        (SweepAxis::BlockSize, true) => text!(
            "block size: in ascending order, one at a time",
            "ブロックサイズ: シーケンシャル、キュー深さ 1",
        ),
        (SweepAxis::BlockSize, false) => {
            text!("block size: in random order, one at a time", "ブロックサイズ: ランダム、キュー深さ 1")
        }
        (SweepAxis::QueueDepth, _) => text!("queue depth: random 4 KiB", "キュー深さ: ランダム 4 KiB"),
        (SweepAxis::BytesWritten, _) => {
            text!("long write: rate over the bytes written", "連続書き込み: 書き込んだ量と速さ")
        }
    }
}

/// Returns a curve's value as shown: rates for block sizes, because that is what readers look for.
fn shown(axis: SweepAxis, (x, y): (f64, f64)) -> (f64, String) {
    match axis {
        SweepAxis::WorkingSet => (y, number::latency(y).to_string()),
        SweepAxis::BlockSize => (x / y * 1e9, number::rate(x / y * 1e9).to_string()),
        SweepAxis::QueueDepth => (y, number::iops(y).to_string()),
        SweepAxis::BytesWritten => (y, number::rate(y).to_string()),
    }
}

fn place(axis: SweepAxis, x: f64) -> String {
    match axis {
        SweepAxis::QueueDepth => number::whole(x),
        SweepAxis::WorkingSet | SweepAxis::BlockSize | SweepAxis::BytesWritten => format_bytes(x as u64),
    }
}

/// Returns bars over the places of an axis, with a column for each direction and marks between the
/// rows where a curve changes.
fn bars(curves: &[&SweepCurve]) -> BarTable {
    let axis = curves[0].axis;
    let mut places: Vec<f64> = curves.iter().flat_map(|curve| &curve.points).map(|point| point.0).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let most =
        |curve: &SweepCurve| curve.points.iter().map(|point| shown(axis, *point).0).fold(0.0, f64::max);
    let mut rows = Vec::new();
    for (index, x) in places.iter().enumerate() {
        let bar = |curve: &&SweepCurve| {
            let (value, words) = shown(axis, *curve.points.iter().find(|point| point.0 == *x)?);
            // A measured value always has a visible bar.
            Some((words, (value / most(curve)).max(f64::MIN_POSITIVE)))
        };
        rows.push(BarRow::Bars(place(axis, *x), curves.iter().map(bar).collect()));
        let next = places.get(index + 1).copied().unwrap_or(f64::INFINITY);
        let findings = curves.iter().flat_map(|curve| &curve.findings);
        rows.extend(findings.filter_map(|finding| {
            let x = finding.x.filter(|at| at >= x && *at < next)?;
            let (direction, name) = (words::direction(finding.direction), name(finding.name));
            let words = text!("{direction}: {name}", "{direction}: {name}"; direction, name);
            Some(BarRow::Mark(place(axis, rounded(x)), words))
        }));
    }
    BarTable { columns: curves.iter().map(|curve| words::direction(curve.direction)).collect(), rows }
}

/// Rounds a place to the precision that the measurement supports.
fn rounded(x: f64) -> f64 {
    if x < 16.0 {
        return x.round();
    }
    let unit = 2f64.powf(x.log2().floor() - 3.0);
    (x / unit).round() * unit
}

fn course(curve: &SweepCurve) -> DrawnCurve {
    let until = curve.points.last().map_or(0.0, |point| point.0);
    let edges = [0.0, until].map(|place| format_bytes_decimal(place as u64));
    DrawnCurve { points: curve.points.clone(), until, values: CurveValues::Rate, edges }
}

/// Returns the name of a cause, as used in a mark.
pub(crate) fn name(cause: FindingName) -> Text {
    match cause {
        FindingName::HostCache => text!("the computer's memory", "コンピューターのメモリー"),
        FindingName::DriveCache => text!("drive cache", "ドライブのキャッシュ"),
        FindingName::ControllerCache => text!("controller cache", "コントローラーのキャッシュ"),
        FindingName::MappingCache => text!("mapping cache", "対応表のキャッシュ"),
        FindingName::WriteCache => text!("write cache", "書き込みキャッシュ"),
        FindingName::MediaCache => text!("media cache", "メディアキャッシュ"),
        FindingName::SlcCache => text!("SLC cache", "SLC キャッシュ"),
        FindingName::LinkCeiling => text!("link ceiling", "接続の上限"),
        FindingName::Parallelism => text!("parallelism", "並行動作"),
        FindingName::OneAtATime => text!("one at a time", "1 件ずつ"),
        FindingName::ChainWalk => text!("chain walk", "チェーンの探索"),
        FindingName::SeekCurve => text!("seek curve", "シーク曲線"),
        FindingName::MappingUnit => text!("mapping unit", "マッピング単位"),
        FindingName::Strip => text!("strip", "ストリップ"),
        FindingName::Unknown => text!("unknown", "不明"),
    }
}

/// Describes the evidence for a finding, its confidence, and the range in which the change lies.
fn evidence(finding: &Finding) -> Text {
    let sure = match finding.confidence {
        Confidence::Firm => text!("strong evidence", "確実"),
        Confidence::Likely => text!("likely", "推定"),
        Confidence::None => text!("unknown", "不明"),
    };
    let words = &finding.evidence;
    let words = text!("{sure}: {words}", "{sure}: {words}"; sure, words);
    let [low, high] = [finding.low, finding.high].map(|x| Some(place(finding.axis, rounded(x?))));
    let ends = low.zip(high).filter(|(low, high)| low != high);
    let between = ends.map(|(low, high)| text!("between {low} and {high}", "{low} から {high} の間"));
    Text::join(std::iter::once(words).chain(between), [" · "; 2])
}
