//! Capacity of a connection: its line rate less the line code, and the share that remains for data
//! in practice.
//!
//! Sources: Serial ATA 3.x and USB 2.0 (8 of 10 bits, 13 bulk packets of 512 bytes in a
//! microframe), USB 3.2 (8b/10b at 5 Gbit/s, 128b/132b above), PCI Express base specification
//! (8b/10b up to 5 GT/s, 128b/130b from 8 GT/s on). The share that remains for data is what good
//! devices reach.

use kurabe_core::environment::Link;
use kurabe_core::{Text, number, text};

/// From this share of what good devices reach on a connection, the connection may be the limit.
const AT_CEILING: f64 = 0.93;
/// From this share, a rate in one direction is sufficient evidence, because nothing else ends this
/// close.
const QUITE_AT_CEILING: f64 = 0.98;
/// Below this share of what good devices reach, the connection has room.
const ROOM: f64 = 0.9;
/// Like `ROOM`, for operations one at a time on a packet-based connection.
const ROOM_BETWEEN: f64 = 0.6;
/// Like `ROOM`, for connections on which only the line itself ends this close to its capacity.
const ROOM_ON_EXACT_LINES: f64 = 0.96;
/// Below this share, the connection has room whatever packets and commands cost.
const MUCH_ROOM: f64 = 0.5;
/// Rates that differ by no more than this share count as equal.
const SAME: f64 = 0.06;
/// Share of PCI Express packets that remains for data: 128, 256 and 512 bytes with headers of 24
/// bytes.
const PACKET_SHARES: [f64; 3] = [128.0 / 152.0, 256.0 / 280.0, 512.0 / 536.0];
/// A rate at most this far below such a share is that of full packets, which nothing exceeds. Flash
/// and controllers may end at any rate.
const FULL_PACKETS: f64 = 0.003;

/// Capacity of a connection.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ceiling {
    /// Name, such as `SATA at 6 Gbit/s`.
    pub(crate) name: Text,
    /// Bytes per second after the line code, an upper bound for every device.
    pub(crate) raw: f64,
    /// Bytes of data per second that good devices reach.
    pub(crate) usual: f64,
    /// Whether only the line itself ends at this share, because the share does not depend on packet
    /// sizes.
    pub(crate) exact: bool,
    /// Whether data is sent in packets of a few fixed sizes.
    pub(crate) packets: bool,
    /// Whether it is a network.
    pub(crate) network: bool,
    /// Whether it carries one command at a time, so that its rate depends on the bridge.
    pub(crate) one_command: bool,
    /// Raw rate at the device's own maximum, such as PCIe 3 ×4, if the connection runs below it.
    pub(crate) could: Option<f64>,
}

/// A rate limited by its connection, with the evidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AtCeiling {
    /// Bytes per second.
    pub(crate) rate: f64,
    /// The rate of the other direction, if both are equal.
    pub(crate) both_ways: Option<f64>,
}

impl Ceiling {
    /// Creates a connection on which only the line ends, with the share that good devices reach.
    fn exact(name: Text, raw: f64, share: f64) -> Self {
        let usual = raw * share;
        Self {
            name,
            raw,
            usual,
            exact: true,
            packets: false,
            network: false,
            one_command: false,
            could: None,
        }
    }

    /// Returns whether a device whose connection is unknown may be limited by this one, if its rate is
    /// between these two.
    pub(crate) fn may_end(&self, [slowest, fastest]: [f64; 2], alone: bool) -> bool {
        !self.has_room(fastest, alone) && slowest <= self.raw
    }

    /// Returns the evidence if a rate ends where this connection does, although the connection of the
    /// device is unknown. Several connections are possible, so both directions have to end there, or
    /// the rate is exactly that of full packets. `is_one_of_few` is whether the kind of the connection
    /// is known; then one direction at the rate of good devices is sufficient.
    pub(crate) fn ends_unknown(
        &self,
        rate: f64,
        other: Option<f64>,
        is_one_of_few: bool,
    ) -> Option<AtCeiling> {
        let is_at = |share: f64| self.exact && rate >= self.usual * share && rate <= self.raw;
        let is_alone = is_one_of_few && is_at(QUITE_AT_CEILING) && rate * QUITE_AT_CEILING <= self.usual;
        let is_full =
            |share: &f64| self.packets && (1.0 - FULL_PACKETS..=1.0).contains(&(rate / (self.raw * share)));
        let both_ways = other.filter(|other| is_at(AT_CEILING) && (other / rate - 1.0).abs() <= SAME);
        let ends = both_ways.is_some() || is_alone || (is_one_of_few && PACKET_SHARES.iter().any(is_full));
        ends.then_some(AtCeiling { rate, both_ways })
    }

    /// Returns the evidence if a rate is limited by the connection. The rate must be near what good
    /// devices reach. In addition, the other direction must end at the same rate, which is unusual
    /// for reads and writes of a medium, or only the line can end this close, or the rate is
    /// exactly that of full packets. `other` is the rate of the same work in the other direction.
    pub(crate) fn ends(&self, rate: f64, other: Option<f64>) -> Option<AtCeiling> {
        if rate < self.usual * AT_CEILING || self.is_exceeded(rate) {
            return None;
        }
        let both_ways = other.filter(|other| (other / rate - 1.0).abs() <= SAME);
        let is_full =
            |share: &f64| self.packets && (1.0 - FULL_PACKETS..=1.0).contains(&(rate / (self.raw * share)));
        let alone =
            (self.exact && rate >= self.usual * QUITE_AT_CEILING) || PACKET_SHARES.iter().any(is_full);
        (both_ways.is_some() || alone).then_some(AtCeiling { rate, both_ways })
    }

    /// Returns whether a rate exceeds the connection's capacity, so that the device did not deliver
    /// it.
    pub(crate) fn is_exceeded(&self, rate: f64) -> bool {
        rate > self.raw * (1.0 + SAME)
    }

    /// Returns whether a rate is so far below what good devices reach that the connection is not
    /// the limit. The overhead of packets depends on their size, so this is unknown near the
    /// capacity of a packet-based connection. The same holds for operations one at a time, because
    /// the connection is idle between them.
    pub(crate) fn has_room(&self, rate: f64, alone: bool) -> bool {
        let most = match (self.exact, alone) {
            (true, _) => ROOM_ON_EXACT_LINES,
            (false, true) => ROOM_BETWEEN,
            (false, false) => ROOM,
        };
        rate < self.usual * most
    }

    /// Returns whether the rate is too far below for packet overhead to explain it.
    pub(crate) fn has_much_room(&self, rate: f64) -> bool {
        rate < self.usual * MUCH_ROOM
    }

    /// Describes why a rate counts as limited by the connection.
    pub(crate) fn evidence(&self, at: &AtCeiling) -> Text {
        let (shown, raw) = (number::rate(at.rate), number::rate(self.raw));
        let share = number::percent((at.rate / self.raw).min(1.0));
        let mut evidence = text!(
            "{shown} is {share} of the line rate of {raw}, and fast devices reach little more",
            "{shown} は回線上の上限 {raw} の {share} で、優れたデバイスでもほぼここまでです"
        );
        if let Some(other) = at.both_ways {
            let other = number::rate(other);
            evidence.push(&text!(
                "; the other direction reaches the same rate ({other})",
                "。逆方向も同じ速さ({other})で頭打ちです"
            ));
        }
        evidence
    }
}

/// Returns the capacity of parallel ATA at this rate in MB/s. Bytes are transferred in parallel, so
/// there is no line code.
pub(crate) fn parallel(megabytes_per_s: f64) -> Ceiling {
    let name = text!("ATA/{megabytes_per_s}", "ATA/{megabytes_per_s}");
    Ceiling::exact(name, megabytes_per_s * 1e6, 0.93)
}

/// Returns the capacity of a link, or `None` if its rate is unknown or it has none.
pub(crate) fn ceiling(link: &Link) -> Option<Ceiling> {
    match link {
        Link::Sata { speed_gbit_per_s, speed_max_gbit_per_s, .. } => {
            let speed = speed_gbit_per_s.filter(|speed| *speed > 0.0)?;
            let raw = |gbit: f64| gbit * 1e9 * 0.8 / 8.0;
            let could = speed_max_gbit_per_s.filter(|most| *most > speed).map(raw);
            let name = text!("SATA at {speed} Gbit/s", "SATA {speed} Gbit/s");
            Some(Ceiling { could, ..Ceiling::exact(name, raw(speed), 0.92) })
        }
        Link::Usb { speed_mbit_per_s, protocol, .. } => {
            let speed = speed_mbit_per_s.filter(|speed| *speed > 0.0)?;
            let (raw, usual) = match speed {
                speed if speed <= 12.0 => (speed * 1e6 / 8.0, 1.1e6 * speed / 12.0),
                speed if speed <= 480.0 => (speed * 1e6 / 8.0, 42e6),
                speed if speed <= 5000.0 => (speed * 1e6 * 0.8 / 8.0, 420e6),
                speed => {
                    let raw = speed * 1e6 * 128.0 / 132.0 / 8.0;
                    (raw, raw * 0.87)
                }
            };
            let bot = protocol.as_deref().is_some_and(|protocol| protocol.eq_ignore_ascii_case("bot"));
            let (what, what_ja) =
                if bot { (" (one command at a time)", "(コマンドは 1 つずつ)") } else { ("", "") };
            Some(Ceiling {
                name: text!("USB at {speed} Mbit/s{what}", "USB {speed} Mbit/s{what_ja}"),
                raw,
                usual,
                exact: speed <= 480.0,
                packets: false,
                network: false,
                one_command: bot,
                could: None,
            })
        }
        Link::Pcie { speed_gt_per_s, width, speed_max_gt_per_s, width_max } => {
            let (speed, width) = ((*speed_gt_per_s)?, (*width)?);
            let raw = |speed: f64, width: u32| {
                let code = if speed < 8.0 { 0.8 } else { 128.0 / 130.0 };
                speed * 1e9 * code / 8.0 * f64::from(width)
            };
            let most = raw(speed_max_gt_per_s.unwrap_or(speed), width_max.unwrap_or(width));
            let now = raw(speed, width);
            (now > 0.0).then(|| Ceiling {
                name: text!("PCIe at {speed} GT/s ×{width}", "PCIe {speed} GT/s ×{width}"),
                raw: now,
                usual: now * 0.88,
                exact: false,
                packets: true,
                network: false,
                one_command: false,
                could: (most > now * 1.01).then_some(most),
            })
        }
        Link::CardLines { timing, rate_bytes_per_s } => {
            let timing = timing.as_deref().unwrap_or("?");
            let raw = rate_bytes_per_s.filter(|rate| *rate > 0.0)?;
            Some(Ceiling::exact(text!("the card's bus ({timing})", "カードの配線({timing})"), raw, 0.92))
        }
        Link::RaidCard { slot, .. } => ceiling(slot).map(|slot| {
            let name = &slot.name;
            let name = text!("the slot of the RAID card ({name})", "RAID カードのスロット({name})"; name);
            Ceiling { name, ..slot }
        }),
        Link::Virtio | Link::Loop { .. } | Link::Memory | Link::Other { .. } => None,
    }
}

/// Returns the connections that storage above 150 MB/s commonly has: SATA and SAS (8b/10b), USB, PCI
/// Express of second to fifth generation, lines of eMMC and UHS-II cards, and Ethernet. An adapter in a
/// slot of first generation is not among them: the kernel does not show it as the connection of its
/// disks either.
pub(crate) fn common() -> Vec<Ceiling> {
    let sata = |speed: f64| Link::Sata {
        speed_gbit_per_s: Some(speed),
        speed_max_gbit_per_s: None,
        ncq_depth: None,
    };
    let usb = |speed: f64| Link::Usb { speed_mbit_per_s: Some(speed), protocol: None, version: None };
    let pcie = |(speed, width): (f64, u32)| Link::Pcie {
        speed_gt_per_s: Some(speed),
        width: Some(width),
        speed_max_gt_per_s: None,
        width_max: None,
    };
    let card = |(timing, megabytes_per_s): (&str, f64)| Link::CardLines {
        timing: Some(timing.to_owned()),
        rate_bytes_per_s: Some(megabytes_per_s * 1e6),
    };
    // Of slots with the same rate, the usual one is named.
    let widths = [4, 2, 1, 8].into_iter();
    let slots = widths.flat_map(|width| [5.0, 8.0, 16.0, 32.0].map(|speed| (speed, width)));
    let cards = [("uhs-ii fd156", 156.0), ("hs200", 200.0), ("uhs-ii hd312", 312.0), ("hs400", 400.0)];
    let links = [3.0, 6.0].map(sata).into_iter();
    let links = links.chain([5_000.0, 10_000.0, 20_000.0].map(usb));
    let links = links.chain(slots.map(pcie)).chain(cards.map(card));
    let sas = Ceiling::exact(text!("SAS at 12 Gbit/s", "SAS 12 Gbit/s"), 1.2e9, 0.92);
    // 1,448 of 1,538 bytes of a frame are data of TCP.
    let ethernet = [1.0, 2.5, 5.0, 10.0, 25.0, 100.0].map(|gbit: f64| {
        let name = text!("Ethernet at {gbit} Gbit/s", "Ethernet {gbit} Gbit/s");
        Ceiling { network: true, ..Ceiling::exact(name, gbit * 1e9 / 8.0, 0.941) }
    });
    links.filter_map(|link| ceiling(&link)).chain([sas]).chain(ethernet).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(link: &Link) -> (f64, f64) {
        let rates = ceiling(link).expect("a rate");
        ((rates.raw / 1e6).round(), (rates.usual / 1e6).round())
    }

    #[test]
    fn the_code_of_the_line_is_taken_off() {
        let sata = |speed| Link::Sata {
            speed_gbit_per_s: Some(speed),
            speed_max_gbit_per_s: Some(6.0),
            ncq_depth: None,
        };
        assert_eq!(of(&sata(6.0)), (600.0, 552.0));
        assert_eq!(of(&sata(1.5)), (150.0, 138.0));
        assert!(ceiling(&sata(3.0)).unwrap().could.is_some() && ceiling(&sata(6.0)).unwrap().could.is_none());
        let usb = |speed| Link::Usb { speed_mbit_per_s: Some(speed), protocol: None, version: None };
        assert_eq!(of(&usb(480.0)), (60.0, 42.0));
        assert_eq!(of(&usb(5000.0)), (500.0, 420.0));
        assert_eq!(of(&usb(10_000.0)).0, 1212.0);
        let pcie = |speed, width| Link::Pcie {
            speed_gt_per_s: Some(speed),
            width: Some(width),
            speed_max_gt_per_s: Some(8.0),
            width_max: Some(4),
        };
        assert_eq!(of(&pcie(8.0, 4)).0, 3938.0);
        assert_eq!(of(&pcie(2.5, 1)).0, 250.0);
        assert!(ceiling(&pcie(8.0, 2)).unwrap().could.is_some());
    }

    #[test]
    fn near_its_end_a_packet_link_needs_both_directions() {
        let pcie = ceiling(&Link::Pcie {
            speed_gt_per_s: Some(8.0),
            width: Some(4),
            speed_max_gt_per_s: None,
            width_max: None,
        })
        .unwrap();
        assert_eq!(pcie.ends(3.5e9, None), None);
        assert_eq!(pcie.ends(3.5e9, Some(3.0e9)), None);
        assert_eq!(pcie.ends(3.5e9, Some(3.4e9)), Some(AtCeiling { rate: 3.5e9, both_ways: Some(3.4e9) }));
        assert_eq!(pcie.ends(3.2e9, Some(3.2e9)), None);
        assert!(pcie.ends(3.6e9, None).is_some(), "packets of 256 bytes, full");
        assert_eq!(pcie.ends(4.5e9, Some(4.5e9)), None);
        let sata =
            ceiling(&Link::Sata { speed_gbit_per_s: Some(6.0), speed_max_gbit_per_s: None, ncq_depth: None })
                .unwrap();
        assert_eq!(sata.ends(545e6, None), Some(AtCeiling { rate: 545e6, both_ways: None }));
        assert_eq!(sata.ends(530e6, Some(480e6)), None);
        assert_eq!(sata.ends(530e6, Some(520e6)), Some(AtCeiling { rate: 530e6, both_ways: Some(520e6) }));
    }

    #[test]
    fn what_has_no_rate_has_no_ceiling() {
        assert_eq!(ceiling(&Link::Virtio), None);
        let unknown = Link::Sata { speed_gbit_per_s: None, speed_max_gbit_per_s: Some(6.0), ncq_depth: None };
        assert_eq!(ceiling(&unknown), None);
    }
    #[test]
    fn of_an_unknown_connection_only_lines_and_full_packets_are_recognized() {
        let named = |name: &str| common().into_iter().find(|end| end.name.en == name).expect("it is common");
        let (sata, pcie) = (named("SATA at 6 Gbit/s"), named("PCIe at 16 GT/s ×4"));
        assert!(sata.ends_unknown(540e6, Some(530e6), false).is_some_and(|at| at.both_ways.is_some()));
        assert_eq!(sata.ends_unknown(540e6, Some(480e6), false), None);
        // One direction is sufficient if few connections are possible.
        assert_eq!(sata.ends_unknown(550e6, None, false), None);
        assert!(sata.ends_unknown(550e6, None, true).is_some());
        assert_eq!(sata.ends_unknown(530e6, None, true), None);
        assert!(pcie.ends_unknown(7.2e9, None, true).is_some(), "packets of 256 bytes, full");
        assert_eq!(pcie.ends_unknown(7.0e9, Some(7.0e9), true), None);
    }

    #[test]
    fn between_the_rates_of_connections_none_may_end() {
        let ends = common();
        let may_end = |rates: [f64; 2], alone| ends.iter().any(|end| end.may_end(rates, alone));
        assert!(!may_end([245e6, 245e6], false) && !may_end([4.8e9, 4.8e9], false));
        assert!(may_end([285e6, 285e6], false) && may_end([3.5e9, 3.5e9], false));
        // Commands, or time between operations, may keep a connection idle.
        assert!(may_end([245e6, 280e6], false) && may_end([4.8e9, 4.8e9], true));
    }
}
