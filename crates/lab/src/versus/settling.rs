//! How long the cells of an interleaved measurement are observed until they settle.

use super::VersusRequest;
use kurabe_core::environment::BlockDevice;
use kurabe_core::foreseen::LongestTime;
use kurabe_core::quantity::NS_PER_S;
use kurabe_core::record::RunHeader;
use kurabe_engine::SettlingTime;

/// At most one part in this many of the time is spent on observing how cells settle.
const SETTLING_SHARE: u64 = 4;

/// Returns how long cells may take to settle. The virtual time of a model costs nothing. Small
/// writes take seconds to fill a hard disk's cache of some tens of MB. A solid-state drive's write
/// cache takes too long to fill between two repetitions, and reads do not fill any cache.
/// `None` for a given profile, whose repetitions begin as it says.
pub(super) fn settling_time(request: &VersusRequest, headers: &[RunHeader]) -> Option<SettlingTime> {
    if request.given.is_some() {
        return None;
    }
    let times = headers.iter().map(|header| {
        let turns = |device: &BlockDevice| device.turns() == Some(true);
        let is_watched_long = header.model.is_some() || header.environment.devices.iter().any(turns);
        let [read_ms, write_ms, most_ms] = match is_watched_long {
            true => [800, 6_400, 25_600],
            false => [0, 800, 1_600],
        };
        let [read_ns, write_ns, most_ns] = [read_ms, write_ms, most_ms].map(|ms| ms * NS_PER_S / 1000);
        let warm_up_ns = if is_watched_long { request.repetition_ns() } else { 0 };
        let together_ns = match request.limit() {
            LongestTime::Measuring(time_ns) => time_ns / SETTLING_SHARE,
            LongestTime::Computing(_) => u64::MAX,
        };
        SettlingTime { read_ns, write_ns, most_ns, warm_up_ns, together_ns }
    });
    Some(times.max_by_key(|time| time.most_ns).unwrap_or_default())
}
