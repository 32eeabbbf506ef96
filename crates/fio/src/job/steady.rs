//! Conversion of a job that ends in a steady state to rounds.
//!
//! The model: every second, fio checks the rate of the last `ss_dur`. It ends the job if no sample
//! deviates from the mean by more than the limit, or if the line through the samples has a smaller
//! slope. Here `ss_dur` is a window of as many rounds as in the SNIA test, whose limit is derived from
//! fio's. The figures are those of the window.

use super::notes::Notes;
use super::options::OptionReader;
use kurabe_core::profile::{IoStep, Rounds, Tracked, TrackedCell};
use kurabe_core::workload::End;
use kurabe_core::{Result, text};

/// Number of rounds of the SNIA test.
const WINDOW: u32 = 5;
/// Maximum number of repetitions in a record.
const MOST_ROUNDS: u32 = 100_000;
/// Value of a quantity without a limit.
const ANY_PERCENT: f64 = 1e6;

/// Returns the rounds of a section, and changes its step to one round. `None` if it does not request a
/// steady state.
pub(super) fn steady_rounds(
    reader: &OptionReader<'_>,
    step: &mut IoStep,
    notes: &mut Notes,
) -> Result<Option<Rounds>> {
    let Some(words) = reader.word("steadystate")? else { return Ok(None) };
    let read = || {
        let (criterion, limit) = words.split_once(':')?;
        let (tracked, is_slope) = match criterion {
            "iops" => (Tracked::Iops, false),
            "bw" => (Tracked::Rate, false),
            "iops_slope" => (Tracked::Iops, true),
            "bw_slope" => (Tracked::Rate, true),
            _ => return None,
        };
        // fio also supports a limit in operations or bytes per second, which kurabe does not.
        let percent = limit.strip_suffix('%')?.parse::<f64>().ok();
        Some((tracked, is_slope, percent.filter(|percent| *percent > 0.0 && *percent <= 100.0)?))
    };
    let remedy = text!(
        "iops:2%, bw:2%, iops_slope:0.3% or bw_slope:0.3%",
        "iops:2%、bw:2%、iops_slope:0.3%、bw_slope:0.3% です"
    );
    let (tracked, is_slope, percent) = reader.taken(read(), "steadystate", remedy)?;
    let duration_ns = reader.time_ns("steadystate_duration")?.filter(|time_ns| *time_ns > 0);
    let remedy = text!(
        "set how long it must be steady: steadystate_duration=30s",
        "安定を確かめる長さを steadystate_duration=30s のように書いてください"
    );
    let duration_ns = reader.taken(duration_ns, "steadystate", remedy)?;
    let interval_ns = reader.time_ns("steadystate_check_interval")?.unwrap_or(1_000_000_000).max(1);
    let each_ns = (duration_ns / u64::from(WINDOW)).max(1);
    let most_ns = step.end.time_ns.unwrap_or(u64::MAX);
    // fio's limits apply to samples, and several of them form a window. The slope is limited from each
    // sample to the next.
    let samples = (duration_ns / interval_ns).max(2) as f64;
    let [excursion_percent, slope_percent] =
        if is_slope { [ANY_PERCENT, percent * (samples - 1.0)] } else { [2.0 * percent, ANY_PERCENT] };
    step.end = End { time_ns: Some(each_ns), ..End::default() };
    step.warm_up_ns = step.warm_up_ns.max(reader.time_ns("steadystate_ramp_time")?.unwrap_or(0));
    // A round continues elsewhere and does not start again.
    step.fio_places = None;
    notes.add(text!(
        "steadystate={words}: rounds of a fifth of steadystate_duration, until five consecutive rounds \
         are within the limit; the figures are from these rounds",
        "steadystate={words}: steadystate_duration の 5 分の 1 のラウンドを、5 回続けて範囲に収まるまで繰り返し、その 5 回の値を示します"
    ));
    let direction = step.directions[0];
    Ok(Some(Rounds {
        most: u32::try_from(most_ns / each_ns).unwrap_or(u32::MAX).clamp(WINDOW, MOST_ROUNDS),
        window: WINDOW,
        excursion_percent,
        slope_percent,
        tracked_cells: vec![TrackedCell { label: step.label(), direction }],
        tracked,
    }))
}
