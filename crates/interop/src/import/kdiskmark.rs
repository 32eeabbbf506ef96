//! Text of KDiskMark.
//!
//! The model: the format of CrystalDiskMark 7 with another heading and footer (`mainwindow.cpp`). The
//! rate is fio's `bw`, which is in KiB/s, divided by 1000 and printed as MB/s (`benchmark.cpp`), so it
//! is 2.34 % too low. Before 1.5, it was divided by 1024 and is MiB/s. Both are corrected. In the
//! Default profile, the figures are means of the runs, in the others the best of them. The latency is
//! fio's mean completion latency. The figure of a mix is not the total, but the means of reads and
//! writes weighted by their shares (`(totalRead * p + totalWrite * (100 - p)) / 100`). Source:
//! JonMagon/KDiskMark e78d3c75 (3.3.0), 2c6f285 (the change of 1.5), and the text in its README.

use super::dates::from_year_first;
use super::kit::*;
use super::mark_tool::MarkTool;
use super::result_line::{FigureRules, Results};
use super::units::binary;
use kurabe_core::imported::Correction;

const HEADING: &str = "KDiskMark ({}){}";

pub(super) const TOOL: MarkTool = MarkTool {
    name: "KDiskMark",
    format: "kdiskmark-text",
    heading: HEADING,
    details: &[
        (&[HEADING], &[Detail::Version]),
        (&["Flexible I/O Tester ({}){}"], &[Detail::Fact("Flexible I/O Tester")]),
        (&["Date"], &[Detail::Date(from_year_first)]),
        (&["OS"], &[Detail::Os]),
        (&["Target"], &[Detail::Target]),
        (&["Profile"], &[Detail::Fact("Profile")]),
        (&["Test"], &[Detail::RunsInBrackets, Detail::Fact("Test")]),
    ],
    rules,
    notices,
};

fn notices(details: &RunDetails, results: &Results) -> Vec<Notice> {
    let version = version(details);
    let correction = correction(version);
    let mut notices = vec![notice(text!(
        "KDiskMark {version} prints {} as MB/s; its rates are multiplied by {}",
        "KDiskMark {version} は {} を MB/s と表示します。速度は {} 倍に補正しました",
        correction.unit,
        correction.factor
    ))];
    if results.cells.iter().any(|cell| cell.direction == Some(Direction::Mix)) {
        notices.push(notice(text!(
            "KDiskMark's figures of a mix are the rates of the reads and of the writes, each times its \
             share (70 % and 30 %), added up: 39 to 42 % below the total amount transferred; they are not \
             compared with figures of other tools",
            "KDiskMark の混合の値は、読み出しと書き込みの速度にそれぞれの割合(70 % と 30 %)を掛けて足したもので、実際の合計より \
             39〜42 % 低くなります。ほかのツールの値とは比較しません"
        )));
    }
    notices
}

fn version(details: &RunDetails) -> &str {
    details.origin.version.as_deref().unwrap_or_default()
}

/// Returns the correction of a version's rates.
fn correction(version: &str) -> Correction {
    let mut parts = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    if (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) < (1, 5) {
        let reason = text!(
            "fio's KiB/s divided by 1024 is MiB/s, printed as MB/s",
            "fio の KiB/s を 1024 で割った値は MiB/s ですが、MB/s と表示されます"
        );
        return binary("MiB/s", reason);
    }
    Correction {
        factor: 1.024,
        unit: "KiB/s / 1000".to_owned(),
        reason: text!(
            "fio's KiB/s is divided by 1000 and printed as MB/s",
            "fio の KiB/s を 1000 で割った値が MB/s と表示されます"
        ),
    }
}

/// Returns the rules for the figures of a profile.
fn rules(details: &RunDetails) -> FigureRules {
    let profile = details.origin.facts.get("Profile").map(|profile| profile.trim_end_matches(" [+Mix]"));
    let (rate, latency) = match profile {
        Some("Default") => (Statistic::Mean, Statistic::Mean),
        Some("Peak Performance" | "Real World Performance" | "Demo") => {
            (Statistic::Highest, Statistic::Lowest)
        }
        _ => (Statistic::Unknown, Statistic::Unknown),
    };
    FigureRules {
        rate,
        latency,
        latency_of: FigureOf::RunMeanCompletionLatency,
        correction: Some(correction(version(details))),
        mix_is_total: false,
    }
}
