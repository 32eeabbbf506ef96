//! The truth about a fake: from its parameters, or from the state of its model.

use kurabe_core::device::Transfer;
use kurabe_core::model::{Model, ModelRecord};
use kurabe_core::quantity::parse_bytes;
use kurabe_core::random::Random;
use kurabe_identify::PropertyAnswer;
use kurabe_sim::{DeviceSpec, ModelTarget, Request, RequestKind, Stack};

/// The properties of a fake with which answers are compared.
pub struct Truth {
    record: ModelRecord,
    spec: DeviceSpec,
    /// Whether acknowledged writes are lost by a power cut, and whether a flush prevents that.
    is_volatile: bool,
    flush_helps: bool,
    /// Rate at depth 32 over the rate at depth 1.
    gain: f64,
}

fn perform(stack: &mut Stack, requests: &[Request], depth: usize) -> Vec<u64> {
    let (mut sent, mut done, mut starts) = (0, 0, vec![0; requests.len()]);
    let mut times = vec![0; requests.len()];
    while done < requests.len() {
        while sent < requests.len() && sent - done < depth {
            starts[sent] = stack.now_ns();
            stack.submit(stack.now_ns(), requests[sent], sent as u64);
            sent += 1;
        }
        match stack.take_completion() {
            Some(one) => {
                assert!(matches!(one.outcome, Transfer::Ok(_)));
                times[one.token as usize] = one.at_ns - starts[one.token as usize];
                done += 1;
            }
            None => stack.advance(stack.next_wake_ns().unwrap()),
        }
    }
    times
}

/// Returns operations at random places, of a counterfeit in what it really has.
fn random_ops(stack: &Stack, kind: RequestKind, count: usize) -> Vec<Request> {
    let is_kept = stack.kept_at(stack.capacity_bytes() - 4096).is_some();
    let bytes = if is_kept { stack.capacity_bytes() } else { 1 << 30 };
    let (mut random, blocks) = (Random::new(99, 7), bytes / 4096);
    (0..count).map(|_| Request::new(kind, random.below(blocks) * 4096, 4096)).collect()
}

impl Truth {
    pub fn of(spec: &DeviceSpec) -> Self {
        let record = ModelTarget::new(spec, 1).unwrap().record();
        let mut stack = Stack::new(spec, 3).unwrap();
        let lost = |stack: &Stack| stack.at_risk().lost.bytes();
        let mut is_volatile = false;
        for write in random_ops(&stack, RequestKind::Write, 24) {
            perform(&mut stack, &[write], 1);
            is_volatile |= lost(&stack) > 0;
        }
        let mut flush_helps = true;
        for write in random_ops(&stack, RequestKind::Write, 24) {
            perform(&mut stack, &[write], 1);
            perform(&mut stack, &[Request::new(RequestKind::Flush, 0, 0)], 1);
            flush_helps &= lost(&stack) == 0;
        }
        let rate = |depth: usize| {
            let mut stack = Stack::new(spec, 5).unwrap();
            let begun_ns = stack.now_ns();
            let reads = random_ops(&stack, RequestKind::Read, 600 * if depth > 1 { 2 } else { 1 });
            perform(&mut stack, &reads, depth);
            reads.len() as f64 / (stack.now_ns() - begun_ns) as f64
        };
        let gain = rate(32) / rate(1);
        Self { record, spec: spec.clone(), is_volatile, flush_helps, gain }
    }

    /// Returns a parameter of the first layer of a kind.
    fn parameter(&self, kind: &str, key: &str) -> Option<&str> {
        let layer = self.record.layers.iter().find(|layer| layer.kind == kind)?;
        layer.parameters.iter().find(|parameter| parameter.key == key).map(|parameter| &*parameter.value)
    }

    fn number(&self, kind: &str, key: &str) -> Option<f64> {
        self.parameter(kind, key)?.replace(',', "").parse().ok()
    }

    fn bytes(&self, kind: &str, key: &str) -> Option<u64> {
        parse_bytes(self.parameter(kind, key)?).ok()
    }

    fn has(&self, kind: &str) -> bool {
        self.record.layers.iter().any(|layer| layer.kind == kind)
    }

    fn rotation(&self) -> Option<f64> {
        ["disk", "removable", "magneto-optical"].iter().find_map(|kind| self.number(kind, "rotation"))
    }

    /// Returns the most bytes per second of the link, if the stack names one.
    fn link(&self) -> Option<f64> {
        let of = |word: &str| match word {
            "usb-1" => 1.5e6,
            "usb-2" => 60e6,
            "usb-3" => 500e6,
            "usb-3.1" => 1.25e9,
            "ata-33" => 33.3e6,
            "ata-66" => 66.7e6,
            "ata-100" => 100e6,
            "ata-133" => 133.3e6,
            "sata-1" => 150e6,
            "sata-2" => 300e6,
            "sata-3" => 600e6,
            other => panic!("{other}"),
        };
        let serial = self.parameter("usb", "generation").or_else(|| self.parameter("sata", "generation"));
        serial.map(of).filter(|_| !self.has("md"))
    }

    /// Returns whether an answer is right.
    pub fn accepts(&self, answer: &PropertyAnswer) -> bool {
        let near = |value: f64, truth: f64, share: f64| (value / truth - 1.0).abs() <= share;
        match *answer {
            PropertyAnswer::FromMemory => {
                self.parameter("page-cache", "warm") == Some("true") || self.spec.name == "ideal-ram-disk"
            }
            PropertyAnswer::RepeatsFromMemory => self.parameter("page-cache", "warm") == Some("false"),
            PropertyAnswer::FromDevice => !self.has("page-cache"),
            PropertyAnswer::Rotates { rpm, .. } => {
                self.rotation().is_some_and(|rotation| near(rpm, rotation, 0.005))
            }
            PropertyAnswer::NoRotation => self.rotation().is_none(),
            PropertyAnswer::Command { small_read_ns, rate_bytes_per_s, faster_than } => {
                self.is_predicted(small_read_ns, rate_bytes_per_s) && self.exceeds(faster_than)
            }
            PropertyAnswer::SeveralCommands { .. } => {
                self.gain > 1.2 && self.parameter("usb", "protocol") != Some("bot")
            }
            PropertyAnswer::OneCommand => self.gain < 1.3,
            PropertyAnswer::Strips { strip_bytes, members } => {
                let level = self.parameter("md", "level");
                let count = self.number("md", "members").map(|count| count as u32);
                self.bytes("md", "chunk") == Some(strip_bytes)
                    && level != Some("1")
                    && (members.is_none() || members == count)
            }
            PropertyAnswer::NoStrips => {
                let has_strips = self.has("md") && self.parameter("md", "level") != Some("1");
                !has_strips && !self.has("raid")
            }
            PropertyAnswer::RealCapacity => !self.has("counterfeit"),
            PropertyAnswer::FakeCapacity { low_bytes, high_bytes, wraps } => {
                let real = ["flash-coarse", "card"].iter().find_map(|kind| self.bytes(kind, "capacity"));
                let is_wrapping = self.parameter("counterfeit", "beyond") == Some("wraps");
                real.is_some_and(|real| {
                    self.has("counterfeit")
                        && wraps == is_wrapping
                        && (low_bytes..=high_bytes + 4096).contains(&(real / 4096 * 4096))
                })
            }
            PropertyAnswer::Volatile => self.is_volatile,
            PropertyAnswer::WriteThrough => !self.is_volatile,
            PropertyAnswer::FreeFlush => !self.is_volatile || !self.flush_helps,
            PropertyAnswer::FlushWaits => self.is_volatile && self.flush_helps,
            PropertyAnswer::Shingled => self.has("shingle"),
            PropertyAnswer::NotShingled => !self.has("shingle"),
            PropertyAnswer::FastRegion { low_bytes, high_bytes, .. } => {
                let region = self.fast_region_bytes();
                region > 0
                    && region as f64 > 0.85 * low_bytes as f64
                    && (region as f64) < 1.15 * high_bytes as f64
            }
            PropertyAnswer::NoFastRegion { written_bytes, .. } => {
                let region = self.fast_region_bytes();
                region == 0 || region > written_bytes
            }
        }
    }

    fn fast_region_bytes(&self) -> u64 {
        let of = |key| self.bytes("ssd", key).unwrap_or(0);
        of("slc_static") + of("slc_dynamic")
    }

    /// Returns whether the link carries more than the one that it is said to exceed.
    fn exceeds(&self, faster_than: Option<&str>) -> bool {
        let passed = match faster_than {
            None => return true,
            Some("12 Mb/s") => 1.5e6,
            Some("480 Mb/s") => 60e6,
            Some("1.5 Gb/s") => 150e6,
            Some("3 Gb/s") => 300e6,
            Some("5 Gb/s") => 500e6,
            Some("6 Gb/s") => 600e6,
            Some("10 Gb/s") => 1.25e9,
            Some("32 Gb/s") => 4e9,
            Some(other) => panic!("{other}"),
        };
        self.link().is_none_or(|link| link >= passed)
    }

    /// Returns whether the time of a small read and the rate of large ones are as the answer says.
    fn is_predicted(&self, small_read_ns: f64, rate: f64) -> bool {
        let mut stack = Stack::new(&self.spec, 11).unwrap();
        let (mut random, blocks) = (Random::new(5, 1), stack.capacity_bytes() / 4096);
        let mut times = Vec::new();
        for _ in 0..40 {
            let reread = [Request::new(RequestKind::Read, random.below(blocks) * 4096, 4096); 3];
            times.extend(perform(&mut stack, &reread, 1).split_off(1));
        }
        let small_ns = times.iter().sum::<u64>() as f64 / times.len() as f64;
        let mut stack = Stack::new(&self.spec, 12).unwrap();
        let piece = (1u64 << 20).min(stack.capacity_bytes() / 256 / 4096 * 4096);
        let reads: Vec<_> =
            (0..60).map(|number| Request::new(RequestKind::Read, number * piece, piece as u32)).collect();
        perform(&mut stack, &reads, 8);
        let large = (60 * piece) as f64 / stack.now_ns() as f64 * 1e9;
        let near = |value: f64, truth: f64, share: f64| (value / truth - 1.0).abs() <= share;
        near(small_read_ns, small_ns, 0.15) && near(rate, large, 0.2)
    }
}
