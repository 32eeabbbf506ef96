//! What is said of several drives that are used as one.

use super::{limit, own_rate};
use crate::ceiling::Ceiling;
use crate::cell::CellFacts;
use crate::limits::limit::{Limit, LimitKind, Strength};
use kurabe_core::{number, text};

/// Writes that memory takes which no drive could.
pub(in super::super) fn memory_before_drives(facts: &CellFacts<'_>) -> Limit {
    let (rate, mean) = (number::rate(facts.rate), number::latency(facts.latency_ns));
    limit(
        LimitKind::WriteCache,
        Strength::Likely,
        text!(
            "memory in front of the drives, which takes writes before a drive has them",
            "ドライブの手前のメモリー(ドライブに書く前に書き込みを受け取る)"
        ),
        text!(
            "writes end after {mean}, {rate}: no disk takes them so fast",
            "書き込みは {mean}、{rate} で終わります。どのディスクよりも速い値です"
        ),
    )
}

/// Bytes of several drives, none of which fills its connection.
pub(in super::super) fn drives_rate(facts: &CellFacts<'_>, each: f64, link: &Ceiling) -> Limit {
    let (each, usual) = (number::rate(each), number::rate(link.usual));
    let name = &link.name;
    let evidence = text!(
        "each drive moves about {each}, while its {name} could carry about {usual}, and reads in several places show that they work side by side",
        "ドライブ 1 台あたり約 {each} で、{name} なら約 {usual} まで運べます。複数箇所の読み出しから、ドライブが並行して動くことも分かります"; name
    );
    limit(LimitKind::DeviceRate, Strength::Likely, own_rate(facts, true), evidence)
}
