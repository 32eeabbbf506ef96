//! How long a repetition of an interleaved measurement lasts, and the fewest of them.

use super::{SHORTEST_REPETITION_NS, USUAL_REPETITION_NS, VersusRequest};
use kurabe_compare::{FEWEST_BLOCKS, MOST_BLOCKS};
use kurabe_core::environment::BlockDevice;
use kurabe_core::foreseen::LongestTime;
use kurabe_core::record::RunHeader;

impl VersusRequest {
    /// Returns the duration in ns of repetitions that end by time, unless shorter ones are
    /// sufficient.
    pub(super) fn repetition_ns(&self) -> u64 {
        self.repetition_ns.unwrap_or(USUAL_REPETITION_NS)
    }

    /// Returns the shortest and the usual duration of a repetition in ns.
    pub(super) fn repetition_range_ns(&self) -> [u64; 2] {
        let usual_ns = self.repetition_ns();
        [if self.may_be_short() { SHORTEST_REPETITION_NS } else { usual_ns }, usual_ns]
    }

    /// Returns the least time in ns of what takes `usual_ns` with usual repetitions.
    pub(super) fn least_of(&self, usual_ns: u64) -> u64 {
        let [shortest_ns, longest_ns] = self.repetition_range_ns();
        (usual_ns as f64 * (shortest_ns as f64 / longest_ns as f64)) as u64
    }

    /// Returns the number of blocks that are measured regardless of the time. The virtual time of
    /// models costs the user nothing, so it does not end a measurement before the first verdict.
    pub(super) fn fewest_blocks(&self, discarded: u32) -> u32 {
        match self.are_models() && self.given.is_none() {
            true => FEWEST_BLOCKS as u32 + discarded,
            false => 2,
        }
    }

    /// Returns whether repetitions may be shorter than usual. The virtual time of a model costs
    /// nothing, so its repetitions stay as they are, and so do those of a target next to it.
    fn may_be_short(&self) -> bool {
        let any_model = self.targets.iter().any(|target| target.model().is_some());
        self.repetition_ns.is_none() && self.given.is_none() && !any_model
    }

    /// Returns the duration in ns of repetitions where short ones are sufficient: so short that the
    /// last interim analysis fits into the time. `None` if all repetitions have the usual length, as
    /// on hard disks.
    pub(super) fn short_ns(&self, headers: &[RunHeader]) -> Option<u64> {
        let rotates = |device: &BlockDevice| device.turns() == Some(true);
        let any_rotates = headers.iter().any(|header| header.environment.devices.iter().any(rotates));
        let LongestTime::Measuring(time_ns) = self.limit() else { return None };
        if !self.may_be_short() || any_rotates {
            return None;
        }
        let profile = headers.first()?.profile.as_ref()?;
        let tasks = profile.tasks(profile.rules.size_bytes).len() * headers.len();
        let fitting_ns = time_ns / (tasks.max(1) * MOST_BLOCKS) as u64;
        Some(fitting_ns.max(SHORTEST_REPETITION_NS)).filter(|short_ns| *short_ns < USUAL_REPETITION_NS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::environment::Environment;
    use kurabe_profile::profile_named;

    fn short_ns(request: &VersusRequest, rotates: bool) -> Option<u64> {
        let device = BlockDevice { rotational: Some(rotates), ..BlockDevice::default() };
        let environment = Environment { devices: vec![device], ..Environment::default() };
        let header =
            RunHeader { profile: Some(profile_named("quick").unwrap()), environment, ..RunHeader::default() };
        request.short_ns(&[header.clone(), header])
    }

    #[test]
    fn repetitions_are_as_short_as_the_time_requires() {
        let of = |time_s: Option<u64>| VersusRequest {
            targets: vec!["a".into(), "b".into()],
            time_ns: time_s.map(|time_s| time_s * 1_000_000_000),
            ..VersusRequest::default()
        };
        // Six tests on two targets, 896 blocks: 28 ms in five minutes.
        assert_eq!(short_ns(&of(None), false), Some(300_000_000_000 / (12 * 896)));
        assert_eq!(short_ns(&of(Some(10)), false), Some(SHORTEST_REPETITION_NS));
        assert_eq!(short_ns(&of(Some(3600)), false), None);
        assert_eq!(short_ns(&of(Some(10)), true), None, "a hard disk");
        let asked = VersusRequest { repetition_ns: Some(50_000_000), ..of(Some(10)) };
        assert_eq!((short_ns(&asked, false), asked.repetition_range_ns()), (None, [50_000_000; 2]));
        let model = VersusRequest { targets: vec!["a".into(), "model:hdd-nas".into()], ..of(Some(10)) };
        assert_eq!(short_ns(&model, false), None);
    }
}
