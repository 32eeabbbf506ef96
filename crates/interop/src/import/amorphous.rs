//! Text of AmorphousDiskMark (macOS).
//!
//! The model: the format of CrystalDiskMark 5 with `QD` for the queue depth, which consists of that
//! many threads (`DiskMark.m`). Rate and IOPS are the median of the runs. MB is 10^6. Latency is not
//! printed. Before version 3, the tests were `128KiB (QD= 32)` and `4KiB (QD= 32)` in the same format.
//! The date is in UTC. Source: hkatsura/AmorphousDiskMark 73a6972d (4.0.2), `AppDelegate.m`
//! `scoreString`.

use super::dates::from_year_first;
use super::kit::*;
use super::mark_tool::MarkTool;
use super::result_line::FigureRules;

const HEADING: &str = "AmorphousDiskMark {}";

pub(super) const TOOL: MarkTool = MarkTool {
    name: "AmorphousDiskMark",
    format: "amorphousdiskmark-text",
    heading: HEADING,
    details: &[
        (&[HEADING], &[Detail::Version]),
        (&["Date"], &[Detail::Date(from_year_first)]),
        (&["OS"], &[Detail::Os]),
        (&["CPU"], &[Detail::Cpu]),
        (&["Device"], &[Detail::Target]),
        (&["Volume"], &[Detail::Fact("Volume")]),
        (&["Test"], &[Detail::RunsInBrackets, Detail::Fact("Test")]),
    ],
    rules: |_| FigureRules {
        rate: Statistic::Median,
        latency: Statistic::Median,
        latency_of: FigureOf::Latency,
        correction: None,
        mix_is_total: true,
    },
    notices: |_, _| {
        vec![notice(text!(
            "AmorphousDiskMark shows the median of its runs",
            "AmorphousDiskMark は各回の中央値を表示します"
        ))]
    },
};
