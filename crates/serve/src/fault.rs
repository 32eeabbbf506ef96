//! Faults of a device other than power cuts: unreadable or unwritable sectors, slow requests,
//! hangs, write protection, and flushes that are acknowledged but not done.
//!
//! Whether a fault affects a request is decided when the request arrives, from its range and the
//! requests since the fault was set. The same requests in the same order therefore meet the same
//! faults. A failing request still passes through the stack and takes its time there; only the data
//! is left unchanged. A read error means that sectors have lost their content: a write makes the
//! drive remap them, and they can be read again. A write error means that the drive has no spare
//! sectors left. While a device hangs, its work continues and its answers are delayed.
//!
//! Not here: a write that is acknowledged from a cache and fails later. The write itself is
//! answered with the error.

use crate::protocol::{NbdCommand, NbdError, NbdRequest};
use kurabe_core::quantity::{format_bytes, parse_bytes, parse_duration_ns};
use kurabe_core::{ErrorKind, Result, Text, text};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A fault as the user specifies it: the effect, the range, and the onset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceFault {
    words: String,
    effect: FaultEffect,
    /// Bytes that it affects; the whole device if `None`.
    place: Option<Range<u64>>,
    /// Export that it affects; every export if `None`.
    export: Option<usize>,
    onset: FaultOnset,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FaultEffect {
    Error { of_reads: bool, of_writes: bool },
    Slow { time_ns: u64 },
    Hang { time_ns: u64 },
    ReadOnly,
    LiesAboutFlush,
}

/// Onset of a fault, counted from the moment it was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FaultOnset {
    Writes(u64),
    Requests(u64),
    WrittenBytes(u64),
    Time(u64),
}

/// Parses the effect of a fault, which is its first word.
fn effect_of(words: &str) -> Result<FaultEffect, Text> {
    let (word, value) = words.split_once(':').map_or((words, None), |(word, value)| (word, Some(value)));
    let time = || parse_duration_ns(value.unwrap_or_default());
    Ok(match (word, value) {
        ("error", None) => FaultEffect::Error { of_reads: true, of_writes: true },
        ("error", Some("read")) => FaultEffect::Error { of_reads: true, of_writes: false },
        ("error", Some("write")) => FaultEffect::Error { of_reads: false, of_writes: true },
        ("slow", _) => FaultEffect::Slow { time_ns: time()? },
        ("hang", _) => FaultEffect::Hang { time_ns: time()? },
        ("read-only", None) => FaultEffect::ReadOnly,
        ("lie-about-flush", None) => FaultEffect::LiesAboutFlush,
        _ => {
            return Err(text!(
                "`{words}` is not a fault; write error, error:read, error:write, slow:TIME, hang:TIME, \
                 read-only or lie-about-flush",
                "`{words}` という故障はありません。error、error:read、error:write、slow:時間、hang:時間、\
                 read-only、lie-about-flush のどれかを書いてください"
            ));
        }
    })
}

/// Parses `1000-writes`, `1000-requests`, `2GiB` or `30s`. Without a unit of time it is a size, and
/// `m` means MiB.
fn onset_of(words: &str) -> Option<FaultOnset> {
    let number = |unit: &str| words.strip_suffix(unit)?.parse().ok();
    let is_time = words.ends_with(['s', 'h', 'n']);
    number("-writes")
        .map(FaultOnset::Writes)
        .or_else(|| number("-requests").map(FaultOnset::Requests))
        .or_else(|| parse_duration_ns(words).ok().filter(|_| is_time).map(FaultOnset::Time))
        .or_else(|| {
            let has_unit = !words.ends_with(|last: char| last.is_ascii_digit());
            parse_bytes(words).ok().filter(|_| has_unit).map(FaultOnset::WrittenBytes)
        })
}

/// Parses `1GiB+64KiB`.
fn place_of(words: &str) -> Option<Range<u64>> {
    let (offset, length) = words.split_once('+')?;
    let from = parse_bytes(offset).ok()?;
    let end = from.checked_add(parse_bytes(length).ok()?)?;
    (end > from).then_some(from..end)
}

impl DeviceFault {
    /// Parses `WHAT[@OFFSET+LENGTH][@export-N][@after-…]`, as in `error:read@1GiB+64KiB` and
    /// `hang:10s@after-1000-writes`.
    ///
    /// # Errors
    /// Names the part that is not valid, and the values that are.
    pub fn parse(words: &str) -> Result<Self, Text> {
        let mut parts = words.split('@');
        let what = parts.next().unwrap_or_default();
        let effect = effect_of(what)?;
        let (mut place, mut export, mut onset) = (None, None, None);
        for part in parts {
            let is_second = if let Some(range) = place_of(part) {
                if !matches!(effect, FaultEffect::Error { .. } | FaultEffect::Slow { .. }) {
                    return Err(text!(
                        "`{what}` concerns the whole device: remove `{part}`",
                        "`{what}` はデバイス全体の故障です。`{part}` を外してください"
                    ));
                }
                place.replace(range).is_some()
            } else if let Some(number) = part.strip_prefix("export-").and_then(|number| number.parse().ok()) {
                export.replace(number).is_some()
            } else if let Some(after) = part.strip_prefix("after-").and_then(onset_of) {
                onset.replace(after).is_some()
            } else {
                return Err(text!(
                    "`{part}` is neither a place nor a time; write OFFSET+LENGTH (1GiB+64KiB), export-N, \
                     or after-N-writes, after-N-requests, after-SIZE (bytes written), after-TIME",
                    "`{part}` は場所にも時期にもなりません。開始位置+長さ(1GiB+64KiB)、export-N、または \
                     after-N-writes、after-N-requests、after-大きさ(書き込み量)、after-時間 と書いてくださ\
                     い"
                ));
            };
            if is_second {
                return Err(text!(
                    "`{part}` is one part too many: a fault has at most one place, one export and one start",
                    "`{part}` は余分です。故障に書ける場所、エクスポート、時期は 1 つずつです"
                ));
            }
        }
        let onset = onset.unwrap_or(FaultOnset::Time(0));
        Ok(Self { words: words.to_owned(), effect, place, export, onset })
    }

    /// Returns the fault as the user wrote it.
    pub fn words(&self) -> &str {
        &self.words
    }

    /// Refuses a fault that no request could meet.
    pub(crate) fn check(&self, exports: usize, size_bytes: u64) -> Result<()> {
        let words = &self.words;
        if let Some(export) = self.export.filter(|export| *export >= exports) {
            let last = exports - 1;
            let message = text!(
                "`{words}`: there is no export {export}",
                "`{words}`: エクスポート {export} はありません"
            );
            let remedy = text!("they are 0 to {last}", "0 から {last} までで指定してください");
            return Err(ErrorKind::Usage.error(message).remedy(remedy));
        }
        if self.place.as_ref().is_some_and(|place| place.start >= size_bytes) {
            let size = format_bytes(size_bytes);
            let message = text!(
                "`{words}` is beyond the end of the device",
                "`{words}` はデバイスの終わりより後ろです"
            );
            let remedy = text!("the size of the device is {size}", "デバイスの大きさは {size} です");
            return Err(ErrorKind::Usage.error(message).remedy(remedy));
        }
        Ok(())
    }
}

/// A fault of a server, with the number of requests that it affected.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FaultFigures {
    /// The fault, as the user wrote it.
    pub fault: String,
    /// Requests that it affected.
    pub requests: u64,
    /// Whether it was lifted.
    pub is_lifted: bool,
}

/// Effect of the faults on a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FaultMet {
    /// Error of the request, returned after the stack has completed it.
    pub(crate) error: Option<NbdError>,
    /// Additional time of the request.
    pub(crate) delay_ns: u64,
    /// Whether a flush or FUA is acknowledged without being done.
    pub(crate) lies: bool,
}

/// Requests that the device received up to a point in time.
#[derive(Clone, Copy, Debug, Default)]
struct DeviceMoment {
    requests: u64,
    writes: u64,
    written_bytes: u64,
    at_ns: u64,
}

/// A fault that is set on the server.
#[derive(Debug)]
struct SetFault {
    fault: DeviceFault,
    since: DeviceMoment,
    /// Sectors in its range that still return errors.
    bad: Vec<Range<u64>>,
    /// Period in which no answer is sent, once it is known.
    hangs_ns: Option<Range<u64>>,
    requests: u64,
    is_lifted: bool,
}

impl SetFault {
    /// Returns the time at which the fault began, or `None` if it has not begun.
    fn began_ns(&self, now: &DeviceMoment) -> Option<u64> {
        let came = match self.fault.onset {
            FaultOnset::Writes(count) => now.writes - self.since.writes >= count,
            FaultOnset::Requests(count) => now.requests - self.since.requests >= count,
            FaultOnset::WrittenBytes(bytes) => now.written_bytes - self.since.written_bytes >= bytes,
            FaultOnset::Time(time_ns) => {
                let began_ns = self.since.at_ns.saturating_add(time_ns);
                return (now.at_ns >= began_ns).then_some(began_ns);
            }
        };
        came.then_some(now.at_ns)
    }

    /// Returns whether the fault is active for an export.
    fn concerns(&self, export: usize) -> bool {
        !self.is_lifted && self.fault.export.is_none_or(|own| own == export)
    }

    /// Starts the hang, if the fault is one.
    fn hang(&mut self, began_ns: u64) {
        if let FaultEffect::Hang { time_ns } = self.fault.effect {
            self.hangs_ns.get_or_insert(began_ns..began_ns.saturating_add(time_ns));
        }
    }

    /// Applies the fault to a request, and returns whether it has an effect.
    fn meet(&mut self, request: &NbdRequest, met: &mut FaultMet) -> bool {
        let asked = bytes_of(request);
        let overlaps = |bad: &Range<u64>| bad.start < asked.end && asked.start < bad.end;
        let is_here = self.fault.place.is_none() || self.bad.iter().any(overlaps);
        let changes = request.writes() || request.command == NbdCommand::Trim;
        let reads = matches!(request.command, NbdCommand::Read | NbdCommand::Cache);
        match self.fault.effect {
            FaultEffect::Error { of_reads, of_writes } => {
                let fails =
                    self.bad.iter().any(overlaps) && (of_reads && reads || of_writes && request.writes());
                if fails {
                    met.error.get_or_insert(NbdError::Io);
                }
                fails
            }
            FaultEffect::Slow { time_ns } if is_here => {
                met.delay_ns = met.delay_ns.saturating_add(time_ns);
                true
            }
            FaultEffect::ReadOnly if changes => {
                met.error.get_or_insert(NbdError::NotPermitted);
                true
            }
            FaultEffect::LiesAboutFlush => {
                let lies = request.command == NbdCommand::Flush || request.is_fua() && request.writes();
                met.lies |= lies;
                lies
            }
            // A hang counts the requests whose answers it delays.
            FaultEffect::Slow { .. } | FaultEffect::ReadOnly | FaultEffect::Hang { .. } => false,
        }
    }

    /// Makes sectors that were written readable again.
    fn heal(&mut self, written: &Range<u64>) {
        if (self.fault.effect == FaultEffect::Error { of_reads: true, of_writes: false }) {
            let left = |bad: &Range<u64>| {
                let (before, after) =
                    (bad.start..bad.end.min(written.start), bad.start.max(written.end)..bad.end);
                [before, after].into_iter().filter(|rest| !rest.is_empty())
            };
            self.bad = self.bad.iter().flat_map(left).collect();
        }
    }
}

fn bytes_of(request: &NbdRequest) -> Range<u64> {
    request.offset_bytes..request.offset_bytes + u64::from(request.length_bytes)
}

/// Faults of a server, and the requests it has received.
#[derive(Debug, Default)]
pub(crate) struct DeviceFaults {
    set: Vec<SetFault>,
    now: DeviceMoment,
}

impl DeviceFaults {
    /// Sets a fault, counted from `at_ns`.
    pub(crate) fn set(&mut self, fault: DeviceFault, at_ns: u64) {
        let since = DeviceMoment { at_ns, ..self.now };
        let bad = vec![fault.place.clone().unwrap_or(0..u64::MAX)];
        let mut new = SetFault { fault, since, bad, hangs_ns: None, requests: 0, is_lifted: false };
        if let FaultOnset::Time(time_ns) = new.fault.onset {
            // A device hangs even if no request arrives.
            new.hang(at_ns.saturating_add(time_ns));
        }
        self.set.push(new);
    }

    /// Lifts all faults, and forgets those that affected no request.
    pub(crate) fn lift(&mut self) {
        self.set.retain(|set| set.requests > 0);
        self.set.iter_mut().for_each(|set| set.is_lifted = true);
    }

    /// Returns the effect of the faults on a request that arrives at `at_ns`.
    pub(crate) fn meet(&mut self, request: &NbdRequest, export: usize, at_ns: u64) -> FaultMet {
        self.now.at_ns = at_ns;
        let mut met = FaultMet::default();
        let now = self.now;
        for set in self.set.iter_mut().filter(|set| set.concerns(export)) {
            if let Some(began_ns) = set.began_ns(&now) {
                set.hang(began_ns);
                set.requests += u64::from(set.meet(request, &mut met));
            }
        }
        self.now.requests += 1;
        if request.writes() {
            self.now.writes += 1;
            self.now.written_bytes += u64::from(request.length_bytes);
            if met.error.is_none() {
                let written = bytes_of(request);
                self.set.iter_mut().filter(|set| set.concerns(export)).for_each(|set| set.heal(&written));
            }
        }
        met
    }

    /// Returns the time at which an answer due at `due_ns` is sent, which is after the hangs that
    /// delay it.
    pub(crate) fn leaves_ns(&mut self, due_ns: u64, export: usize) -> u64 {
        let mut leaves_ns = due_ns;
        let hangs_until = |set: &mut SetFault, at_ns: u64| {
            let hangs = set.hangs_ns.clone().filter(|hangs| hangs.contains(&at_ns))?;
            set.requests += 1;
            Some(hangs.end)
        };
        while let Some(end_ns) =
            self.set.iter_mut().filter(|set| set.concerns(export)).find_map(|set| hangs_until(set, leaves_ns))
        {
            leaves_ns = end_ns;
        }
        leaves_ns
    }

    /// Returns the figures of all faults.
    pub(crate) fn figures(&self) -> Vec<FaultFigures> {
        let figures_of = |set: &SetFault| FaultFigures {
            fault: set.fault.words.clone(),
            requests: set.requests,
            is_lifted: set.is_lifted,
        };
        self.set.iter().map(figures_of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fault(words: &str) -> DeviceFault {
        DeviceFault::parse(words).unwrap_or_else(|error| panic!("{words}: {error:?}"))
    }

    fn set(words: &[&str]) -> DeviceFaults {
        let mut faults = DeviceFaults::default();
        words.iter().for_each(|words| faults.set(fault(words), 1_000));
        faults
    }

    fn request(command: NbdCommand, offset_bytes: u64, length_bytes: u32) -> NbdRequest {
        NbdRequest { command, flags: 0, cookie: 0, offset_bytes, length_bytes }
    }

    fn read(offset_bytes: u64) -> NbdRequest {
        request(NbdCommand::Read, offset_bytes, 4096)
    }

    fn write(offset_bytes: u64) -> NbdRequest {
        request(NbdCommand::Write, offset_bytes, 4096)
    }

    const FLUSH: NbdRequest =
        NbdRequest { command: NbdCommand::Flush, flags: 0, cookie: 0, offset_bytes: 0, length_bytes: 0 };

    proptest! {
        #[test]
        fn any_words_are_a_fault_or_an_error(
            words in "\\PC{0,40}",
            what in "(error|slow|hang|read-only|lie-about-flush)?(:[a-z0-9]{0,6})?",
            more in "(@(after-|export-)?[0-9]{0,20}[+a-zA-Zµ-]{0,10}[0-9]{0,20}[kGiB]{0,3}){0,3}",
        ) {
            for words in [words, what + &more] {
                if let Ok(fault) = DeviceFault::parse(&words) {
                    prop_assert_eq!(fault.words(), words);
                    prop_assert!(fault.place.is_none_or(|place| place.start < place.end));
                }
            }
        }

        /// After some writes, exactly the bytes that were bad and not written since are bad.
        #[test]
        fn a_write_heals_what_it_writes_and_nothing_else(
            writes in prop::collection::vec((0u64..60, 1u64..30), 0..12),
            asked in prop::collection::vec((0u64..60, 1u64..30), 1..12),
        ) {
            let mut faults = set(&["error:read@20B+30B"]);
            let mut bad: Vec<bool> = (0..90).map(|at| (20..50).contains(&at)).collect();
            for (from, length) in writes {
                faults.meet(&request(NbdCommand::Write, from, length as u32), 0, 2_000);
                bad[from as usize..(from + length) as usize].fill(false);
            }
            for (from, length) in asked {
                let met = faults.meet(&request(NbdCommand::Read, from, length as u32), 0, 2_000);
                let is_bad = bad[from as usize..(from + length) as usize].contains(&true);
                prop_assert_eq!(met.error.is_some(), is_bad, "{}+{}", from, length);
            }
        }
    }

    #[test]
    fn faults_are_read_as_they_are_taught() {
        use FaultOnset::{Requests, Time, Writes, WrittenBytes};
        let error = |of_reads, of_writes| FaultEffect::Error { of_reads, of_writes };
        for (words, effect, place, export, onset) in [
            ("error:read@1GiB+64KiB", error(true, false), Some((1 << 30)..(1 << 30) + 65536), None, Time(0)),
            ("error@0+4k@export-2", error(true, true), Some(0..4096), Some(2), Time(0)),
            ("error:write@after-10-requests", error(false, true), None, None, Requests(10)),
            (
                "slow:200ms@0+1GiB",
                FaultEffect::Slow { time_ns: 200_000_000 },
                Some(0..1 << 30),
                None,
                Time(0),
            ),
            (
                "hang:10s@after-1000-writes",
                FaultEffect::Hang { time_ns: 10_000_000_000 },
                None,
                None,
                Writes(1000),
            ),
            (
                "hang:1s@after-5min",
                FaultEffect::Hang { time_ns: 1_000_000_000 },
                None,
                None,
                Time(300_000_000_000),
            ),
            ("read-only@after-2GiB", FaultEffect::ReadOnly, None, None, WrittenBytes(2 << 30)),
            // As elsewhere, m means MiB.
            ("read-only@after-5m", FaultEffect::ReadOnly, None, None, WrittenBytes(5 << 20)),
            ("lie-about-flush", FaultEffect::LiesAboutFlush, None, None, Time(0)),
        ] {
            let expected = DeviceFault { words: words.to_owned(), effect, place, export, onset };
            assert_eq!(fault(words), expected);
        }
        for (words, says) in [
            ("", "`` is not a fault; write error, error:read"),
            ("none", "`none` is not a fault"),
            ("error:reads", "`error:reads` is not a fault"),
            ("read-only:1s", "`read-only:1s` is not a fault"),
            ("slow", "`` is not a time"),
            ("slow:fast", "`fast` is not a time"),
            ("error@1GiB", "`1GiB` is neither a place nor a time"),
            ("error@1GiB+0", "`1GiB+0` is neither a place nor a time"),
            ("error@18446744073709551615+1", "is neither a place nor a time"),
            ("error@after-1000", "`after-1000` is neither a place nor a time"),
            ("error@", "`` is neither a place nor a time"),
            ("hang:1s@0+4k", "`hang:1s` concerns the whole device: remove `0+4k`"),
            ("read-only@0+4k", "remove `0+4k`"),
            ("error@0+4k@4k+4k", "`4k+4k` is one part too many"),
            ("error@after-1s@after-2s", "`after-2s` is one part too many"),
        ] {
            let error = DeviceFault::parse(words).unwrap_err();
            assert!(error.en.contains(says), "{words}: {}", error.en);
        }
    }

    #[test]
    fn errors_are_of_what_they_are_of_and_where() {
        let error = |faults: &mut DeviceFaults, request: &NbdRequest| faults.meet(request, 0, 2_000).error;
        let mut faults = set(&["error:read@8k+4k"]);
        assert_eq!(error(&mut faults, &read(4096)), None);
        assert_eq!(error(&mut faults, &read(8192)), Some(NbdError::Io));
        assert_eq!(error(&mut faults, &request(NbdCommand::Read, 8191, 2)), Some(NbdError::Io));
        assert_eq!(faults.meet(&read(8192), 0, 999).error, None, "it came before");
        assert_eq!(error(&mut faults, &write(8192)), None);
        assert_eq!(error(&mut faults, &read(8192)), None, "another sector is in its place");

        let mut faults = set(&["error@8k+4k"]);
        assert_eq!(error(&mut faults, &write(8192)), Some(NbdError::Io));
        assert_eq!(error(&mut faults, &read(8192)), Some(NbdError::Io), "a write that failed heals nothing");
        assert_eq!(error(&mut faults, &FLUSH), None);
        assert_eq!(error(&mut faults, &request(NbdCommand::Trim, 8192, 4096)), None);

        let mut faults = set(&["read-only@after-8k@export-0"]);
        assert_eq!([write(0), write(8192)].map(|one| error(&mut faults, &one)), [None, None]);
        for command in [NbdCommand::Write, NbdCommand::WriteZeroes, NbdCommand::Trim] {
            assert_eq!(error(&mut faults, &request(command, 0, 512)), Some(NbdError::NotPermitted));
        }
        assert_eq!([read(0), FLUSH].map(|one| error(&mut faults, &one)), [None, None]);
        assert_eq!(faults.meet(&write(0), 1, 2_000).error, None, "another export");
        let only =
            FaultFigures { fault: "read-only@after-8k@export-0".to_owned(), requests: 3, is_lifted: false };
        assert_eq!(faults.figures(), [only]);
    }

    #[test]
    fn what_is_slow_takes_longer_and_what_hangs_answers_when_it_goes_on() {
        let mut faults = set(&["slow:2us@4k+4k", "slow:3us"]);
        assert_eq!(faults.meet(&read(4096), 0, 2_000).delay_ns, 5_000);
        assert_eq!(faults.meet(&read(0), 0, 2_000).delay_ns, 3_000);
        assert_eq!(faults.meet(&FLUSH, 0, 2_000).delay_ns, 3_000);

        // It hangs from 11 to 15 µs. The second write arrives at 14 µs and starts a hang of 2 µs.
        let mut faults = set(&["hang:4us@after-10us", "hang:2us@after-1-writes"]);
        assert_eq!(faults.leaves_ns(10_999, 0), 10_999);
        assert_eq!(faults.leaves_ns(11_000, 0), 15_000, "no request is needed for that");
        faults.meet(&write(0), 0, 13_000);
        assert_eq!(faults.leaves_ns(14_500, 0), 15_000);
        faults.meet(&read(0), 0, 14_000);
        assert_eq!(faults.leaves_ns(14_500, 0), 16_000, "both");
        assert_eq!(faults.leaves_ns(16_000, 0), 16_000);
        assert_eq!(faults.figures().iter().map(|fault| fault.requests).collect::<Vec<_>>(), [3, 1]);
        faults.lift();
        assert_eq!(faults.leaves_ns(14_500, 0), 14_500);
        assert!(faults.figures().iter().all(|fault| fault.is_lifted));
    }

    #[test]
    fn a_liar_lies_about_flushes_and_fua_alone() {
        let mut faults = set(&["lie-about-flush@after-2-requests"]);
        let fua = NbdRequest { flags: 1, ..write(0) };
        let mut lies = |request: &NbdRequest| faults.meet(request, 0, 2_000).lies;
        assert_eq!(
            [FLUSH, fua, FLUSH, fua, write(0), read(0)].map(|one| lies(&one)),
            [false, false, true, true, false, false]
        );
    }

    #[test]
    fn what_nothing_could_meet_is_refused() {
        for (words, is_sound) in [
            ("error@1020k+1G", true),
            ("error@1m+4k", false),
            ("read-only@export-1", true),
            ("read-only@export-2", false),
        ] {
            assert_eq!(fault(words).check(2, 1 << 20).is_ok(), is_sound, "{words}");
        }
    }
}
